import GroupClient
import GroupModel
import GroupProtocol
import PropertyList
import Synchronization
import Varlink

/// Reads that ask the daemon itself, where the replica's word is not enough.
extension DaemonLink {
    typealias Reading = (position: Position, values: [Key: Value])

    /// The replica of a group, if somebody has opened it.
    func openReplica(of group: GroupIdentifier) -> Replica? {
        state.withLock { $0.replicas[group] }
    }

    /// Asks, and waits for the answer in the calling thread.
    func read(_ group: GroupIdentifier, keys: [String]?, _ deadline: Deadline) throws(AppGroupError) -> Reading {
        let gate = Gate()
        let answer = Answer<JSONObject>()
        call(.read(group, keys: keys)) { result in
            answer.store(result)
            gate.open()
        }
        guard gate.wait(until: deadline), let result = answer.result else {
            throw AppGroupError(.timedOut, "appgroupd did not answer in time")
        }
        return try Self.reading(result.get())
    }

    /// The same without blocking a thread, until the task is cancelled.
    func read(_ group: GroupIdentifier, keys: [String]?) async throws(AppGroupError) -> Reading {
        while true {
            do throws(AppGroupError) {
                return try Self.reading(
                    try await Answer<JSONObject>.awaited { answer in
                        call(.read(group, keys: keys)) { answer.store($0) }
                    })
            } catch {
                // The connection broke under it: the next one waits for another.
                guard error.code == .unreachable else { throw error }
            }
        }
    }

    private static func reading(_ parameters: JSONObject) throws(AppGroupError) -> Reading {
        guard let position = parameters["position"].flatMap(Position.init(wire:)),
            let values = parameters["values"].flatMap({ try? [Key: Value](wire: $0) })
        else { throw AppGroupError(.protocolViolation, "appgroupd answered what this version does not understand") }
        // The group's own: what administrators laid over and under it is no state of the group.
        let part = WatchEvent.SnapshotPart(
            group: "", position: position, values: values, reason: "initial", isPartial: false
        ).withLayers(of: parameters)
        return (position, values.filter { !part.managed.contains($0.key) && !part.defaults.contains($0.key) })
    }
}
