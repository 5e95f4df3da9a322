import Foundation
import GroupModel
import LinuxIO
import PropertyList
import TestSupport

/// The ways in which people's programs save a property list, and a look at what there is.
enum Plist {
    /// A property list with these entries, each value as its XML element.
    static func text(_ entries: KeyValuePairs<String, String>, comment: String = "by hand") -> String {
        let lines = entries.map { "\t<key>\($0.key)</key>\n\t\($0.value)\n" }.joined()
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
            \t<!-- \(comment) -->
            \(lines)</dict>
            </plist>

            """
    }

    /// As editors do: a new file beside it, renamed into place.
    static func replace(_ path: String, with text: String) throws {
        let temporary = path + ".editor"
        try Data(text.utf8).write(to: URL(filePath: temporary))
        try move(temporary, to: path)
    }

    /// Truncated and written, the inode kept.
    static func overwrite(_ path: String, with text: String) throws {
        guard let handle = FileHandle(forWritingAtPath: path) else { throw CocoaError(.fileNoSuchFile) }
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }

    static func move(_ path: String, to newPath: String) throws {
        guard unsafe rename(path, newPath) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    /// Puts what `make` makes at the path it is given into the place of what is there, in one step: while the name is
    /// missing for longer than the settle time, which a busy machine makes of any moment, the file counts as deleted.
    static func exchange(_ path: String, _ make: (String) throws -> Void) throws {
        // A name that no group can have: beside a group's directory it would be taken for one.
        let other = "\(Files.parent(of: path))/.other-\(Files.lastComponent(of: path))"
        try make(other)
        try Files.exchange(other, path)
        try remove(other)
    }

    static func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }

    static func read(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    }

    static func entries(_ path: String) throws -> [Key: Value] {
        try XMLPropertyList(parsing: [UInt8](Data(contentsOf: URL(filePath: path)))).entries
    }

    /// What tells whether the file was written again: inode, size and time of change.
    static func identity(_ path: String) -> [UInt64] {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return [] }
        return [
            UInt64(status.st_ino), UInt64(status.st_size), UInt64(status.st_ctim.tv_sec),
            UInt64(status.st_ctim.tv_nsec),
        ]
    }

    static func mode(_ path: String) -> UInt32 {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? UInt32(status.st_mode & 0o7777) : 0
    }

    static func exists(_ path: String) -> Bool { !identity(path).isEmpty }
}

extension Commit {
    /// The changed keys, sorted.
    var keys: [Key] { changes.map(\.key).sorted() }

    subscript(key: Key) -> Change? { changes.first { $0.key == key } }
}
