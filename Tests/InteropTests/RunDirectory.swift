import Foundation
import TestSupport

/// What the whole run of the suite shares and what is dear to make: the virtual environment, a compiled program. Made
/// where it is first asked for, gone when the test program ends.
enum RunDirectory {
    private static let directory: TemporaryDirectory? = {
        let directory = try? TemporaryDirectory("appgroup-interop")
        // A global is never released.
        atexit { RunDirectory.remove() }
        return directory
    }()

    struct NotMade: Error, CustomStringConvertible {
        let description: String
    }

    static var path: String {
        get throws {
            guard let directory else { throw NotMade(description: "no directory can be made under /tmp") }
            return directory.path
        }
    }

    private static func remove() {
        if let directory { try? FileManager.default.removeItem(atPath: directory.path) }
    }

    /// A file that the tests bring along, by its name in `Fixtures/interop`.
    static func fixture(_ name: String) -> String {
        repository("Tests/Fixtures/interop/\(name)")
    }

    /// A file of this repository.
    static func repository(_ path: String) -> String {
        // Tests/InteropTests/RunDirectory.swift
        var root = URL(filePath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        return root.appending(path: path).path
    }
}
