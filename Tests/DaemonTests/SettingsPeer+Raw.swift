import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Varlink

/// The interface as its own text tells it, which every reply is held against.
let settingsInterface: InterfaceDescription = {
    do throws(IDLError) {
        return try InterfaceDescription(parsing: SettingsInterface.description)
    } catch {
        preconditionFailure("\(error)")
    }
}()

extension SettingsPeer {
    /// Sends this text as a message, and gives the next reply.
    func ask(_ text: String) throws -> Reply {
        try peer.sendMessage(text)
        return try receive()
    }

    /// A call of our interface, from the text of its parameters.
    func ask(_ method: String, _ parameters: String) throws -> Reply {
        try ask(#"{"method":"io.appgroupd.Settings.\#(method)","parameters":\#(parameters)}"#)
    }

    /// The error that a request is answered with; nil when it was served.
    func refusal(of request: Request) throws -> GroupError? {
        try send(request)
        let reply = try receive()
        if let error = GroupError(reply) { return error }
        if reply.error != nil { throw Unexpected(reply: reply) }
        return nil
    }

    func refusal(of group: GroupIdentifier, _ edits: [Edit]) throws -> GroupError? {
        try refusal(of: .write(WriteRequest(group: group, edits: edits)))
    }

    func history(
        _ group: GroupIdentifier, keys: [String]? = nil, limit: Int64? = nil, before: Int64? = nil
    ) throws -> [Commit] {
        let request = HistoryRequest(group: group, keys: keys, limit: limit, before: before)
        return try call(.history(request))["commits"]?.arrayValue?.compactMap(Commit.init(wire:)) ?? []
    }

    func groups() throws -> [String] {
        try call(.listGroups)["groups"]?.arrayValue?.compactMap(\.stringValue) ?? []
    }

    func synchronize(_ group: GroupIdentifier? = .example) throws { try call(.synchronize(group)) }

    /// The next event of a watch that must be a snapshot.
    func snapshot() throws -> WatchEvent.SnapshotPart {
        let event = try event()
        guard case .snapshot(let snapshot) = event else { throw UnexpectedEvent(description: "\(event)") }
        return snapshot
    }

    /// The next event of a watch that must be a commit.
    func nextCommit() throws -> Commit {
        let event = try event()
        guard case .commit(let commit, _) = event else { throw UnexpectedEvent(description: "\(event)") }
        return commit
    }

    /// The next event of a watch that must be a deletion.
    func deletion() throws -> String {
        let event = try event()
        guard case .deleted(let group) = event else { throw UnexpectedEvent(description: "\(event)") }
        return group
    }

    func isEstablished() throws -> Bool {
        if case .established = try event() { true } else { false }
    }

    struct UnexpectedEvent: Error, CustomStringConvertible {
        let description: String
    }
}

extension RunningDaemon {
    /// A peer with the group there already.
    func peer(with group: GroupIdentifier) throws -> SettingsPeer {
        let peer = try SettingsPeer(self)
        try peer.create(group)
        return peer
    }

    /// A peer that watches the group, its snapshot read.
    func watcher(of group: GroupIdentifier, keys: [String]? = nil) throws -> SettingsPeer {
        let peer = try SettingsPeer(self)
        try peer.watch([WatchedGroup(group: group, keys: keys)])
        _ = try peer.snapshot()
        return peer
    }
}
