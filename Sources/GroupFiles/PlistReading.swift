package import LinuxIO
package import PropertyList

/// A plist that was read: what it holds, and what it is recognised by. A plain value.
package struct PlistContent: Equatable, Sendable {
    package var entries: [Key: Value]
    package var format: PlistFormat
    package var bytes: [UInt8]
    package var digest: Digest
    /// Of the file that was read, when it was read.
    package var identity: FileIdentity
    package var mode: UInt32
    package var uid: UInt32
    package var gid: UInt32
    /// The file itself, at the end of the links.
    package var targetPath: String
}

extension PlistContent {
    /// Where a key's value stands in the text; nil where the format has no lines.
    package func place(of key: Key) -> (line: Int, column: Int)? {
        guard format == .xml else { return nil }
        return (try? XMLPropertyList(bytes, holding: entries))?.place(of: key)
    }
}

/// What is wrong with a plist, in words for the person who has to mend it.
package struct PlistProblem: Equatable, Sendable {
    package var reason: String
    package var path: String
    package var line: Int?
    package var column: Int?
    package var advice: String?

    package init(reason: String, path: String, line: Int? = nil, column: Int? = nil, advice: String? = nil) {
        self.reason = reason
        self.path = path
        self.line = line
        self.column = column
        self.advice = advice
    }
}

/// What a look at a plist gave. Unreadable is never empty: only `content` and `absent` say what the settings are.
package enum PlistReading: Equatable, Sendable {
    case content(PlistContent)
    /// There is no such file, while its directory stands.
    case absent
    /// There is a file, but it is no property list that we can read. `digest` is nil where it was not read at all.
    case damaged(PlistProblem, digest: Digest?, identity: FileIdentity)
    /// Nobody knows what the settings are: the directory is gone, a link dangles, it may not be read, it is no file.
    case unreachable(PlistProblem, Errno)

    /// What the bytes are recognised by, where there are any.
    package var digest: Digest? {
        switch self {
        case .content(let content): content.digest
        case .damaged(_, let digest, _): digest
        case .absent, .unreachable: nil
        }
    }

    package var content: PlistContent? {
        if case .content(let content) = self { content } else { nil }
    }
}
