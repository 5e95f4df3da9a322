package import LinuxIO

/// Why a plist could not be written. The old file stands as it was.
package enum PlistWriteProblem: Error, Equatable, Sendable {
    /// It can be read, but not be replaced (EROFS, EACCES, EPERM): the group is read-only on disk.
    case readOnly(Errno, reason: String)
    case system(SystemError)
    /// The format cannot carry one of the values.
    case unencodable(reason: String)

    init(_ error: SystemError) {
        switch error.errno {
        case .readOnlyFileSystem, .permissionDenied, .notPermitted:
            self = .readOnly(error.errno, reason: error.description)
        default: self = .system(error)
        }
    }
}

/// A new text, whole and on stable storage beside the file that it will replace.
///
/// Between `prepare`, which made it, and `commit` the caller notes `digest` where it survives a crash, so that its own
/// text is not taken for an edit afterwards. Ends with `commit` or `abandon`.
package struct PreparedPlist: Equatable, Sendable {
    /// What will be there.
    package let content: PlistContent
    /// What is there now; nil where there is no file.
    package let base: PlistContent?

    package var digest: Digest { content.digest }
    package var target: String { content.targetPath }
}

/// A whole file under one of our temporary names: what an exchange took out, or what an interrupted one left.
///
/// It is there until `PlistFile.discard(_:)`; nothing else removes it.
package struct PlistLeftover: Equatable, Sendable {
    package let path: String
    package let reading: PlistReading
}

package enum PlistPreparation: Equatable, Sendable {
    case ready(PreparedPlist)
    /// The file has these very bytes already.
    case unchanged(PlistContent)
    /// The file is not the expected one: this is.
    case changed(PlistReading)
    /// Something from before is to be dealt with first.
    case leftover(PlistLeftover)
    case failed(PlistWriteProblem)
}

package struct PlistReplacement: Equatable, Sendable {
    package let content: PlistContent
    /// Where the old text is, if the new one had to be written over it because something is mounted on the file.
    package var backup: String?
    /// To be asked for a late edit some time later; nil where nothing was replaced.
    package var old: ReplacedFile?
}

/// A file that was replaced and has lost its name. Who found it under its name before, but had not opened it yet when we
/// looked for writers, may still write into it; so it is kept open, and looked at once more after a while (a second
/// say) by `PlistFile.lateEdit(in:)`. Closed with its last copy.
package struct ReplacedFile: Equatable, Sendable {
    let file: SharedFile
    let digest: Digest
    let path: String

    package static func == (left: ReplacedFile, right: ReplacedFile) -> Bool { left.file === right.file }
}

package enum PlistCommit: Equatable, Sendable {
    /// The new text is in place and durable.
    case replaced(PlistReplacement)
    /// The new text is in place, but what came out was not what was expected: somebody's edit, which exists in the
    /// leftover only. Or it was, and could not be removed.
    case foreign(PlistContent, PlistLeftover)
    /// Nothing was replaced: the file is not the expected one any more.
    case changed(PlistReading)
    case failed(PlistWriteProblem)
}
