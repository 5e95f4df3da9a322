import GroupFiles
import LinuxIO
import Varlink

/// The work of `unlink`: a copy of the group's property list takes the place of the link, in one step. Owned by the
/// tool's one thread.
struct Unlinking {
    private let session: Session
    private let path: String
    private let target: String

    /// So often a copy is renewed when the group changes while it is made.
    private static let attempts = 8

    init(_ session: Session, path: String, target: String) {
        self.session = session
        self.path = path
        self.target = target
    }

    func run() throws(Failure) {
        try check()
        let name = "\(path).unlink-\(ProcessFacts.processID)"
        try session.file { () throws(SystemError) in _ = try Files.unlinkIfPresent(name) }
        for _ in 0..<Self.attempts {
            guard let bytes = try content() else { return try removeLink() }
            try session.file { () throws(SystemError) in try Self.write(bytes, to: name) }
            // What was written through the link meanwhile belongs into the copy.
            guard try content() == bytes else { continue }
            try session.file { () throws(SystemError) in
                try Files.rename(name, to: path)
                try Files.fsyncDirectory(Files.parent(of: path))
            }
            return try tell("is a file of its own again", isFile: true)
        }
        _ = try? Files.unlinkIfPresent(name)
        throw .refused("the group keeps changing", advice: "end the programs that write it, and try again")
    }

    private func check() throws(Failure) {
        let occupant = try session.file { () throws(SystemError) in
            try LinkPath.occupant(of: path, target: target)
        }
        switch occupant {
        case .ourLink: return
        case .nothing: throw .refused("there is no \(path)")
        case .otherLink(let destination):
            throw .refused("\(path) is a link to \(quoted(destination)), not to the group; it is left alone")
        case .file, .unusable: throw .refused("\(path) is not linked to the group; it is left alone")
        }
    }

    /// Nil: the group has no file, because it was never written.
    private func content() throws(Failure) -> [UInt8]? {
        try session.file { () throws(SystemError) in
            guard try Files.statusIfPresent(target) != nil else { return nil }
            return try Files.read(target, limit: PlistFile.defaultSizeLimit).bytes
        }
    }

    private static func write(_ bytes: [UInt8], to name: String) throws(SystemError) {
        let file = try Files.open(name, [.writeOnly, .create, .truncate, .noFollow], mode: 0o600)
        try file.writeAll(bytes)
        try file.fsync()
    }

    private func removeLink() throws(Failure) {
        try session.file { () throws(SystemError) in try Files.unlink(path) }
        try tell("is removed; the group has no file yet", isFile: false)
    }

    /// What has become of the path; to programs `{"path", "file"}`, the last one saying whether there is one now.
    private func tell(_ text: String, isFile: Bool) throws(Failure) {
        guard session.printsJSON else { return try session.console.print("\(path) \(text)") }
        try session.print(["path": .string(path), "file": .boolean(isFile)])
    }
}
