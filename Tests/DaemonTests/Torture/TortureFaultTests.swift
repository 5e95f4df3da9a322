import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

/// Each call of the daemon on its files fails, one after the other: once, some in a row, or all of them from there on, until
/// it is killed and started on a sound disk. While it starts, takes writes, writes the file, takes edits of it, rewrites its
/// journal, makes and deletes a group. It says so to whoever is concerned, and loses nothing.
@Suite(.serialized) struct TortureFaultTests {
    /// How many points the short form tries, spread over all of them.
    private static let shortCount = 30
    private static let errors: [Int32] = [EIO, ENOSPC, EDQUOT, EMFILE]

    @Test func nothingIsLostWhicheverCallFails() throws {
        try SplitMix64.withSeed { random in
            let whole = try FaultRun(at: 0, count: 0, EIO).run()
            let count = whole.calls
            try #require(count > 150 && whole.problems.isEmpty, "\(count) calls, \(whole.problems)")
            let all = Array(1...count + count / 10)
            let points = Torture.isLong ? all : Array(all.shuffled(using: &random).prefix(Self.shortCount))
            var (refused, problems) = (0, [String]())
            for point in points {
                let errno = Self.errors.randomElement(using: &random) ?? EIO
                let lengths = [1, Int.random(in: 2...6, using: &random), FaultRun.lasting]
                let length = lengths.randomElement(using: &random) ?? 1
                let outcome = try FaultRun(at: point, count: length, errno).run()
                refused += outcome.refused
                let name = "\(length == FaultRun.lasting ? "all" : "\(length)") from \(point) with errno \(errno)"
                problems += outcome.problems.map { "\(name): \($0)" }
            }
            #expect(problems == [])
            Torture.report(
                "calls on files that fail",
                tried: "faults at \(points.count) of \(all.count) calls, \(refused) calls of the client refused",
                found: Torture.outcome(problems))
        }
    }
}

/// One daemon, one fault, and one client that knows at each moment what there must be.
private final class FaultRun {
    struct Outcome {
        var calls = 0
        var refused = 0
        var problems: [String] = []
    }

    /// All calls from a point on.
    static let lasting = 1_000_000_000

    private let group = KillScript.group
    /// Whether the disk is broken for good.
    private let isLasting: Bool
    private let kernel: FakeKernel
    private let daemon: RunningDaemon
    private var values: [Key: Value] = [:]
    private var outcome = Outcome()

    init(at number: Int, count: Int, _ errno: Int32) throws {
        isLasting = count == Self.lasting
        kernel = try FakeKernel()
        daemon = try RunningDaemon(
            configuration: KillScript.configuration + ["PollIntervalSec=20ms", "SettleSec=0.2"],
            environment: kernel.environment, starts: false)
        try kernel.fail(from: number, count: count, errno, in: daemon)
    }

    func run() throws -> Outcome {
        try start()
        var peer = try SettingsPeer(daemon)
        if try peer.refusal(of: .createGroup(group)) != nil {
            outcome.refused += 1
            if isLasting { peer = try repair() }
            try insist(peer, .createGroup(group))
        }
        let follower = Follower(socket: daemon.socket, group: group)
        let observer = Background { try follower.run() }
        do {
            try script(peer)
        } catch {
            outcome.problems.append("\(error): \(try daemon.stop().errors.suffix(1000))")
            return outcome
        }
        if isLasting { peer = try repair() } else { try kernel.obey() }
        try insist(peer, .synchronize(group))
        try write(peer, [.set(Follower.end, .boolean(true))])
        let trace = try observer.value()
        outcome.problems += trace.problems
        if trace.replica != values { outcome.problems.append("the observer has something else") }
        try insist(peer, .synchronize(group))
        try judge(peer)
        return outcome
    }

    /// It may refuse to start, with a reason; then it must start the next time.
    private func start() throws {
        try daemon.launch()
        guard let process = daemon.process else { return }
        var hasEnded = false
        let serves = eventually {
            hasEnded = (try? process.waitForEnd(seconds: 0)) != nil
            return hasEnded || (try? SettingsPeer(daemon).groups()) != nil
        }
        guard hasEnded || !serves else { return }
        let ended = try process.finish()
        outcome.refused += 1
        if ended.code == 0 || ended.errors.isEmpty || !serves {
            outcome.problems.append("it ends with \(ended.ending) and says \(ended.errors)")
        }
        try kernel.obey()
        try daemon.start()
    }

    /// The daemon is killed, and started on a sound disk.
    private func repair() throws -> SettingsPeer {
        try daemon.kill()
        try kernel.obey()
        try daemon.start()
        return try SettingsPeer(daemon)
    }

    private func script(_ peer: SettingsPeer) throws {
        try write(peer, [.set("single", .integer(1))])
        try write(peer, [.set("durable", .string("kept"))], isDurable: true)
        try edit("by rename", peer) { try Plist.replace($0, with: $1) }
        // Enough for a rewrite of the journal.
        for number in 0..<20 { try write(peer, [.set("count", .integer(Int64(number)))], isDurable: number == 10) }
        try insist(peer, .synchronize(group))
        try edit("in place", peer) { try Plist.overwrite($0, with: $1) }
        try write(peer, [.set("left", .integer(1)), .set("right", .integer(1)), .remove("single")])
        try insist(peer, .createGroup(KillScript.visitor))
        try insist(peer, .deleteGroup(KillScript.visitor))
        try write(peer, [.set("last", .boolean(true))])
        try insist(peer, .synchronize(group))
    }

    /// A refused write has changed nothing, unless it says that it has.
    private func write(_ peer: SettingsPeer, _ edits: [Edit], isDurable: Bool = false) throws {
        let request = WriteRequest(group: group, edits: edits, isDurable: isDurable)
        let refusal = try peer.refusal(of: .write(request))
        var isThere = refusal == nil
        if let refusal {
            outcome.refused += 1
            guard case .storageFailed(let reason, let errno) = refusal, errno != 0 || isLasting else {
                outcome.problems.append("a write is refused with \(refusal)")
                return
            }
            isThere = reason.hasPrefix("written, but perhaps not on stable storage")
        }
        if isThere { values = KillScript.applied(edits, to: values) }
        // An edit of the file may be waiting for a disk that can be read.
        if isLasting { return }
        let found = try peer.read(group).values
        if found != values {
            outcome.problems.append("after \(edits) (\(refusal.map { "\($0)" } ?? "served")): \(found), not \(values)")
        }
    }

    /// Until it is served; a fault is over soon.
    private func insist(_ peer: SettingsPeer, _ request: Request) throws {
        if isLasting, try !kernel.rules.isEmpty {
            if try peer.refusal(of: request) != nil { outcome.refused += 1 }
            return
        }
        var refusals: [GroupError] = []
        let isServed = try eventually(seconds: 20) {
            guard let refusal = try peer.refusal(of: request) else { return true }
            // One that was carried out, and could not be made durable.
            if case .deleteGroup = request, case .noSuchGroup = refusal, !refusals.isEmpty { return true }
            refusals.append(refusal)
            Thread.sleep(forTimeInterval: 0.01)
            return false
        }
        outcome.refused += refusals.count
        if !isServed { outcome.problems.append("\(request) is refused: \(refusals.suffix(2))") }
    }

    private func edit(_ name: String, _ peer: SettingsPeer, _ save: (String, String) throws -> Void) throws {
        try insist(peer, .synchronize(group))
        let path = daemon.plist(group.string)
        // All writes before it may have been refused.
        if !Plist.exists(path) { try Plist.replace(path, with: Plist.text([:])) }
        let text = try Plist.read(path)
        try save(path, text.replacing("</dict>", with: "\t<key>\(name)</key>\n\t<true/>\n</dict>"))
        values[Key(name)] = .boolean(true)
        try insist(peer, .synchronize(group))
    }

    private func judge(_ peer: SettingsPeer) throws {
        // One that could not even be removed goes at the next start.
        let unfinished = "left: \(group).journal.new"
        outcome.problems += try StoreCheck.agreement(daemon, group, values, []).filter { $0 != unfinished }
        let position = try peer.read(group).position
        let ended = try daemon.stop()
        if ended.code != 0 { outcome.problems.append("it ends with \(ended.ending): \(ended.errors.suffix(500))") }
        outcome.calls = (try? kernel.callCount) ?? 0
        try daemon.start()
        let read = try SettingsPeer(daemon).read(group)
        if read.values != values { outcome.problems.append("after a restart: \(read.values), not \(values)") }
        if read.position != position {
            outcome.problems.append("after a restart at \(String(describing: read.position))")
        }
        outcome.problems += try StoreCheck.agreement(daemon, group, values, [])
        try daemon.kill()
    }
}
