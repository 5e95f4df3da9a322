import Foundation
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import TestSupport
import Varlink

/// Plays one client of a daemon whose power will be cut, and knows after each reply what must survive from then on.
final class PowerScript {
    static let group = GroupIdentifier.example
    static let visitor = GroupIdentifier(known: "group.com.example.visitor")
    /// What is edited by hand, by nobody who syncs: it may be lost, or come a little later.
    static let edits: [Key] = ["by rename", "in place"]
    static let syncInterval = 100_000
    static let historyCommits = 8

    /// What a reply promised.
    struct Promise {
        /// That this revision is on stable storage.
        var durable: Int64
        /// That it is there within the sync interval.
        var acknowledged: Int64
        /// Whether the other group must be there; nil where either is right.
        var hasVisitor: Bool?
    }

    /// One for each message that was received.
    private(set) var promises: [Promise] = []
    /// The state at each revision.
    private(set) var states: [Int64: [Key: Value]]
    private(set) var recordings: [String] = []
    /// When a rewrite of the journal that was held went on, in microseconds of the monotonic clock.
    private(set) var rewriteGoesOn = 0

    private let peer: SettingsPeer
    private let daemon: RunningDaemon
    private let isPower: Bool
    private var revision: Int64
    private var durable: Int64 = 0
    private var hasVisitor: Bool?

    init(_ daemon: RunningDaemon, isPower: Bool, from state: [Key: Value], at revision: Int64) throws {
        self.daemon = daemon
        self.isPower = isPower
        self.revision = revision
        durable = revision
        states = [revision: state]
        peer = try SettingsPeer(daemon)
    }

    func run() throws {
        try peer.create(Self.group)
        promise()
        try write([.set("single", .integer(1))])
        try write([.set("durable", .string("kept"))], isDurable: true)
        try edit("by rename", Self.rename)
        // So many that the journal is rewritten while more of them come.
        for _ in 0..<4 { try burst(count: 6) }
        try edit("in place", Self.overwrite)
        try write([.set("left", .integer(1)), .set("right", .integer(1)), .remove("single")])
        try visit()
        // Without waiting for the disk, for longer than the interval.
        for number in 0..<(isPower ? 2 : 40) {
            try write([.set("last", .integer(Int64(number)))])
            if !isPower { Thread.sleep(forTimeInterval: 0.02) }
        }
    }

    /// A durable write is told to be safe while the journal is being rewritten: the file that was synced for it is not the
    /// one that is there afterwards.
    func syncWhileRewriting(_ kernel: FakeKernel) throws {
        try peer.create(Self.group)
        promise()
        try write([.set("single", .integer(1))])
        try kernel.obey("hang .journal.new")
        // More than twice the history that is kept: the rewrite begins, and stops before it is on the disk.
        try burst(count: 3 * Self.historyCommits)
        guard eventually({ kernel.hasHung }) else { throw Stuck(description: "the journal is not rewritten") }
        try write([.set("durable", .string("kept"))], isDurable: true)
        rewriteGoesOn = Int(ProcessFacts.monotonicMicroseconds())
        try kernel.obey()
        let new = daemon.journal(Self.group.string) + ".new"
        guard eventually({ !Plist.exists(new) }) else { throw Stuck(description: "the rewrite does not end") }
        _ = try peer.groups()
        promise()
    }

    struct Stuck: Error, CustomStringConvertible {
        let description: String
    }

    private func promise() {
        promises.append(Promise(durable: durable, acknowledged: revision, hasVisitor: hasVisitor))
    }

    private func noted(_ reply: Position?, _ edits: [Edit], isDurable: Bool = false) {
        let before = states[revision] ?? [:]
        revision = reply?.revision ?? 0
        states[revision] = KillScript.applied(edits, to: before)
        if isPower || isDurable { durable = revision }
        promise()
    }

    private func write(_ edits: [Edit], isDurable: Bool = false) throws {
        noted(try peer.write(Self.group, edits, durable: isDurable).position, edits, isDurable: isDurable)
    }

    private func burst(count: Int) throws {
        let edits = (0..<count).map { [Edit.set(Key("burst.\($0)"), .integer(Int64($0)))] }
        for edit in edits { try peer.send(.write(WriteRequest(group: Self.group, edits: edit))) }
        for edit in edits {
            noted(try peer.checked(peer.receive())["position"].flatMap(Position.init(wire:)), edit)
        }
    }

    private func synchronize() throws {
        try peer.call(.synchronize(Self.group))
        durable = revision
        promise()
    }

    /// Another program saves the file, traced like the daemon, since the disk has its changes too.
    private func edit(_ name: String, _ script: String) throws {
        try synchronize()
        let recording = daemon.directory.file("edit-\(recordings.count)")
        let outcome = try ChildProcess.run(
            builtProgram("AppGroupTracer"),
            ["--record", recording, "--", "/usr/bin/python3", "-c", Self.prelude + script]
                + [daemon.plist(Self.group.string), name])
        if outcome.code != 0 { throw TracedDaemon.Failed(description: outcome.errors) }
        recordings.append(recording)
        try synchronize()
        let (position, values) = try peer.read(Self.group)
        revision = position?.revision ?? 0
        states[revision] = values
        durable = revision
        promise()
    }

    private static let prelude = """
        import os, sys
        path, name = sys.argv[1:]
        text = open(path).read().replace("</dict>", "\\t<key>" + name + "</key>\\n\\t<true/>\\n</dict>")

        """
    private static let rename = "open(path + '~', 'w').write(text); os.rename(path + '~', path)\n"
    private static let overwrite = "open(path, 'w').write(text)\n"

    private func visit() throws {
        try peer.create(Self.visitor)
        promise()
        try peer.write(Self.visitor, [.set("x", .integer(1))], durable: true)
        hasVisitor = true
        promise()
        // From the next reply on it may be deleted at any moment.
        _ = try peer.groups()
        hasVisitor = nil
        promise()
        try peer.call(.deleteGroup(Self.visitor))
        hasVisitor = false
        promise()
    }
}
