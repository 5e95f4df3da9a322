import Foundation
import LinuxIO
import PropertyList
import TestSupport

@testable import GroupFiles

/// What the tests of `PlistFile` have in common: a directory of their own and short words for foreign edits.
struct PlistSandbox {
    let directory: TemporaryDirectory
    let file: PlistFile

    init() throws {
        directory = try TemporaryDirectory()
        file = PlistFile(path: directory.file("group.a.plist"))
    }

    var names: [String] { ((try? Files.list(directory.path)) ?? []).sorted() }

    func text() throws -> String { try directory.read("group.a.plist") }

    @discardableResult
    func write(_ text: String) throws -> Digest {
        try directory.write("group.a.plist", text)
        return Digest(of: Array(text.utf8))
    }

    /// As an editor saves: a new file, renamed over the old one.
    func save(_ text: String) {
        _ = try? directory.write("editor", text)
        try? Files.rename(directory.file("editor"), to: file.path)
    }

    /// As a shell's redirection and Foundation's `UserDefaults` do: the same file, emptied and filled.
    func overwrite(_ text: String) {
        guard let opened = try? Files.open(file.path, [.writeOnly, .truncate]) else { return }
        try? opened.writeAll(Array(text.utf8))
    }

    /// Prepares and commits, which must come to `ready`.
    func replace(_ entries: [Key: Value]) throws -> PlistCommit {
        file.commit(try prepare(entries))
    }

    func prepare(_ entries: [Key: Value]) throws -> PreparedPlist {
        let preparation = file.prepare(entries, expecting: file.read().digest)
        guard case .ready(let prepared) = preparation else { throw UnexpectedPreparation(preparation: preparation) }
        return prepared
    }
}

struct UnexpectedPreparation: Error {
    var preparation: PlistPreparation
}

func makeFIFO(_ path: String) -> Bool {
    unsafe mkfifo(path, 0o600) == 0
}

func plist(_ body: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!-- kept -->
    <plist version="1.0">
    <dict>
    \(body)
    </dict>
    </plist>

    """
}

func plist(_ key: String, _ number: Int) -> String {
    plist("    <key>\(key)</key><integer>\(number)</integer> <!-- beside -->")
}

extension PlistReading {
    var problem: PlistProblem? {
        switch self {
        case .content, .absent: nil
        case .damaged(let problem, _, _), .unreachable(let problem, _): problem
        }
    }

    var errno: Errno? {
        if case .unreachable(_, let errno) = self { errno } else { nil }
    }

    var isDamaged: Bool {
        if case .damaged = self { true } else { false }
    }
}

extension PlistCommit {
    var replaced: PlistContent? {
        if case .replaced(let replacement) = self { replacement.content } else { nil }
    }
}
