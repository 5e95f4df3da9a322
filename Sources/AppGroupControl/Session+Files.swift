import Glibc
import LinuxIO

/// The files that a command line names; `-` stands for the standard streams.
extension Session {
    /// The largest file that is read, in bytes.
    private static let fileLimit = 1 << 30

    /// For messages.
    static func name(of path: String) -> String { path == "-" ? "standard input" : path }

    func read(_ path: String) throws(Failure) -> [UInt8] {
        do throws(SystemError) {
            return try path == "-"
                ? Files.open("/dev/stdin", .readOnly).readAll(limit: Self.fileLimit)
                : Files.read(path, limit: Self.fileLimit).bytes
        } catch {
            throw .refused("\(Self.name(of: path)) cannot be read: \(error.errno)")
        }
    }

    /// A file is replaced in one step, when all of it is on the disk, and is its owner's alone.
    func write(_ bytes: [UInt8], to path: String) throws(Failure) {
        guard path != "-" else { return try console.write(bytes) }
        let temporary = "\(path).appgroupctl-\(getpid())"
        do throws(SystemError) {
            do throws(SystemError) {
                let file = try Files.open(temporary, [.writeOnly, .create, .exclusive, .noFollow])
                try file.changeMode(0o600)
                try file.writeAll(bytes)
                try file.fsync()
                try Files.rename(temporary, to: path)
            } catch {
                _ = try? Files.unlinkIfPresent(temporary)
                throw error
            }
            try Files.fsyncDirectory(Files.parent(of: path))
        } catch {
            throw .refused("\(path) cannot be written: \(error.errno)")
        }
    }
}
