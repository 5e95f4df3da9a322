import Foundation
import LinuxIO
import PropertyList
import Synchronization
import TestSupport
import Testing

@testable import GroupFiles

/// Somebody edits the file over and over, in every way there is, while it is replaced over and over. Each edit must come
/// to light: as content that was read, or as what an exchange brought out.
@Suite struct PlistRaceTests {
    enum Manner: CaseIterable {
        /// A new file renamed over the old one.
        case save
        /// Emptied, then written in two pieces.
        case truncate
        /// Deleted, then made anew.
        case recreate
        /// Overwritten without emptying it, cut afterwards.
        case patch
    }

    @Test func noEditIsLost() throws {
        try race(edits: 1500, manners: Manner.allCases, withoutExchange: false)
    }

    /// A file that is renamed into place in the last microseconds before ours is lost there: the kernel offers nothing.
    @Test func withoutExchangeNoEditInPlaceIsLost() throws {
        try race(edits: 500, manners: [.truncate, .patch], withoutExchange: true)
    }

    private func race(edits: Int, manners: [Manner], withoutExchange: Bool) throws {
        try SplitMix64.withSeed { random in
            let directory = try MemoryDirectory()
            let editor = Editor(path: directory.path + "/group.a.plist", seed: random.next(), manners: manners)
            let projector = Projector(file: PlistFile(path: editor.path))
            let thread = Thread { editor.run(edits: edits) }
            thread.start()
            // The editor is woken right before the replacement: there the windows are narrow.
            let wake = FaultPlan.Effect.run { editor.wake() }
            let faults: [FaultPlan.Fault] =
                withoutExchange
                ? [.init("rename", times: .max, wake), .init("exchange", times: .max, .fail(.invalidArgument))]
                : [.init("exchange", times: .max, wake), .init("renameNoReplace", times: .max, wake)]
            FaultPlan.run(faults) {
                while !editor.isDone { projector.step { editor.note($0) } }
            }
            #expect(editor.lost == nil)
            #expect(projector.problems == [])
            print(
                "edits \(edits), replacements \(projector.replacements), brought out \(projector.foreign), late \(projector.late)"
            )
            #expect(projector.replacements > 0)
        }
    }
}

/// The one who edits. Runs on a thread of its own; what it shares is in the mutex.
private final class Editor: Sendable {
    private struct State {
        var seen = -1
        var isDone = false
        var lost: Int?
    }

    let path: String
    private let seed: UInt64
    private let manners: [PlistRaceTests.Manner]
    private let state = Mutex(State())
    private let wakeUps = Atomic<Int>(0)

    init(path: String, seed: UInt64, manners: [PlistRaceTests.Manner]) {
        self.path = path
        self.seed = seed
        self.manners = manners
        try? Data(plist("edit", -1).utf8).write(to: URL(filePath: path))
    }

    var isDone: Bool { state.withLock { $0.isDone } }
    var lost: Int? { state.withLock { $0.lost } }

    /// Takes notice of settings that came to light.
    func note(_ entries: [Key: Value]) {
        guard case .integer(let number)? = entries["edit"] else { return }
        state.withLock { $0.seen = max($0.seen, Int(number)) }
    }

    func wake() {
        wakeUps.add(1, ordering: .relaxed)
    }

    func run(edits: Int) {
        var random = SplitMix64(seed: seed)
        for number in 0..<edits {
            pause(&random)
            let filler = String(repeating: "<!-- x -->", count: Int.random(in: 0..<40, using: &random))
            let text = Array(plist("<key>edit</key><integer>\(number)</integer>" + filler).utf8)
            edit(manners.randomElement(using: &random) ?? .save, text)
            guard waitUntilSeen(number) else { break }
        }
        state.withLock { $0.isDone = true }
    }

    /// Until some moment of a replacement: any, or shortly after we were woken.
    private func pause(_ random: inout SplitMix64) {
        if Bool.random(using: &random) {
            let before = wakeUps.load(ordering: .relaxed)
            let deadline = ProcessFacts.monotonicMicroseconds() + 20_000
            while wakeUps.load(ordering: .relaxed) == before, ProcessFacts.monotonicMicroseconds() < deadline {}
            for _ in 0..<Int.random(in: 0..<300, using: &random) { _ = random.next() }
        } else {
            for _ in 0..<Int.random(in: 0..<4000, using: &random) { _ = random.next() }
        }
    }

    /// Long, because a projector that waits for writers may take a second.
    private func waitUntilSeen(_ number: Int) -> Bool {
        let deadline = ProcessFacts.monotonicMicroseconds() + 20_000_000
        while ProcessFacts.monotonicMicroseconds() < deadline {
            if state.withLock({ $0.seen >= number }) { return true }
            usleep(20)
        }
        state.withLock { $0.lost = number }
        return false
    }

    private func edit(_ manner: PlistRaceTests.Manner, _ text: [UInt8]) {
        let half = text.count / 2
        switch manner {
        case .save:
            write(path + ".editor", [.create, .truncate], [text])
            try? Files.rename(path + ".editor", to: path)
        case .truncate: write(path, [.create, .truncate], [Array(text[..<half]), Array(text[half...])])
        case .recreate:
            try? Files.unlink(path)
            write(path, [.create, .truncate], [Array(text[..<half]), Array(text[half...])])
        case .patch: write(path, [.create], [Array(text[..<half]), Array(text[half...])])
        }
    }

    private func write(_ path: String, _ flags: Files.OpenFlags, _ pieces: [[UInt8]]) {
        guard let file = try? Files.open(path, flags.union(.writeOnly)) else { return }
        for piece in pieces { try? file.writeAll(piece) }
        try? file.truncate(to: Int64(pieces.reduce(0) { $0 + $1.count }))
    }
}

/// The one who replaces: what the daemon does, without its merge. Each replacement counts one of its own keys up.
private final class Projector {
    private let file: PlistFile
    private var known: Digest?
    private var entries: [Key: Value] = [:]
    private var counter: Int64 = 0
    var replacements = 0
    var foreign = 0
    var late = 0
    private var olds: [ReplacedFile] = []
    var problems: [String] = []

    init(file: PlistFile) {
        self.file = file
    }

    func step(_ note: ([Key: Value]) -> Void) {
        if olds.count > 200, let edit = file.lateEdit(in: olds.removeFirst())?.content {
            late += 1
            note(edit.entries)
        }
        counter += 1
        entries["counter"] = .integer(counter)
        switch file.prepare(entries, expecting: known) {
        case .ready(let prepared): commit(prepared, note)
        case .unchanged: problems.append("unchanged")
        case .changed(let reading): take(reading, note)
        case .leftover(let leftover): settle(leftover, note)
        case .failed(let problem): problems.append("\(problem)")
        }
    }

    private func commit(_ prepared: PreparedPlist, _ note: ([Key: Value]) -> Void) {
        switch file.commit(prepared) {
        case .replaced(let replacement):
            replacements += 1
            known = replacement.content.digest
            if let old = replacement.old { olds.append(old) }
        case .foreign(let content, let leftover):
            foreign += 1
            known = content.digest
            settle(leftover, note)
        case .changed(let reading): take(reading, note)
        case .failed(let problem): problems.append("\(problem)")
        }
    }

    private func settle(_ leftover: PlistLeftover, _ note: ([Key: Value]) -> Void) {
        var next: PlistLeftover? = leftover
        while let leftover = next {
            if let content = leftover.reading.content {
                entries = content.entries
                note(entries)
            }
            do {
                next = try file.discard(leftover)
            } catch {
                problems.append("\(error)")
                next = nil
            }
        }
    }

    private func take(_ reading: PlistReading, _ note: ([Key: Value]) -> Void) {
        switch reading {
        case .content(let content):
            (known, entries) = (content.digest, content.entries)
            note(entries)
        case .absent: known = nil
        case .damaged, .unreachable: break
        }
    }
}

/// In memory, where fsync costs nothing, so that many rounds fit into a test.
private final class MemoryDirectory {
    let path = "/dev/shm/appgroup-test-\(UUID().uuidString.prefix(12))"

    init() throws {
        try Files.makeDirectory(path)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
