import Foundation

/// A directory of the test's own, gone with everything in it when the object goes.
package final class TemporaryDirectory: Sendable {
    package let path: String

    /// Under /tmp whatever $TMPDIR says: the paths of sockets are short.
    package init(_ label: String = "appgroup-test") throws {
        path = "/tmp/\(label)-\(UUID().uuidString.prefix(12))"
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false,
            attributes: attributes
        )
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of something in it.
    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file into it, and gives its path. It is closed then, in every process.
    @discardableResult
    package func write(_ name: String, _ text: String) throws -> String {
        try Forks.keptOut { try Data(text.utf8).write(to: URL(filePath: file(name))) }
        return file(name)
    }

    package func read(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: file(name))), as: UTF8.self)
    }

    package func exists(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: file(name))
    }
}
