import TestSupport
import Testing
import Varlink

/// One commit as an observer sees it.
struct SeenCommit: Equatable {
    let revision: Int64
    let kind: String
    /// The new value by key; null where it was removed.
    let changes: JSONObject
}

/// A watch over all of a group, on a connection of its own.
final class Observer {
    private let client: SettingsClient
    /// The values of the snapshot with which it began.
    let initial: JSONObject

    init(_ daemon: RunningDaemon, _ group: String) throws {
        client = try SettingsClient(daemon)
        try client.send("Watch", ["watches": [["group": .string(group)]]], mode: .more)
        let snapshot = try client.receive()["snapshot"]?.objectValue
        initial = try #require(snapshot?["values"]?.objectValue)
    }

    /// The next commit; waits for it.
    func next() throws -> SeenCommit {
        while true {
            guard let commit = try client.receive()["commit"]?.objectValue else { continue }
            let changes = try #require(commit["changes"]?.arrayValue).compactMap(\.objectValue)
            return SeenCommit(
                revision: try #require(commit["revision"]?.integerValue),
                kind: try #require(commit["origin"]?.objectValue?["kind"]?.stringValue),
                changes: JSONObject(try changes.map { (try #require($0["key"]?.stringValue), $0["new"] ?? .null) }))
        }
    }
}
