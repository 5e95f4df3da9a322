/// The plist of a group, by its path: reads it, and replaces it without losing what somebody else put there meanwhile.
///
/// A value without state, for any thread; all of it blocks, so in the daemon it runs on a worker. It knows nothing
/// about merging: it reports what it found, and the caller decides. One process at a time writes (the daemon's lock
/// sees to that); others may do to the file whatever they like at any time.
package struct PlistFile: Sendable {
    package let path: String
    /// Where the backup goes before a file is written in place; beside the file where this is nil.
    package var backupDirectory: String?
    /// What is read and written at most, in bytes.
    package var sizeLimit: Int

    /// An order above the largest group that the daemon takes.
    package static let defaultSizeLimit = 64 << 20

    package init(path: String, backupDirectory: String? = nil, sizeLimit: Int = PlistFile.defaultSizeLimit) {
        self.path = path
        self.backupDirectory = backupDirectory
        self.sizeLimit = sizeLimit
    }

    /// Whether a name in a watched directory is one of our own temporary files, which are nobody's edit.
    package static func isOwnTemporary(_ name: String) -> Bool {
        name.hasPrefix(".") && PlistTemporaries.suffixes.contains { name.hasSuffix($0) }
    }
}
