import GroupModel
import GroupProtocol
import PropertyList
import Varlink

// A connection that breaks may take replies with it. Which of those writes were applied the history tells, by their tags, as
// far back as it is kept. What it does not reach is sent again where that does no harm, and given up where it would count
// twice.

extension DaemonLink.State {
    /// So many commits at a time: those that are looked for are among the newest, most often.
    private static let historyPart: Int64 = 256

    mutating func askHistory(of replica: Replica, before: Int64? = nil, found: [UInt64: Int64] = [:]) {
        let request = HistoryRequest(group: replica.group, limit: Self.historyPart, before: before)
        calls?.enqueue(Request.history(request).callBytes)
        outstanding.append(.history(replica, found: found, before: before))
    }

    /// Which of the writes whose replies were lost are commits. What is not there, as far back as they can be, was not
    /// applied.
    mutating func historyCame(
        _ replica: Replica, _ reply: Reply, _ earlier: [UInt64: Int64], _ before: Int64?
    ) -> [DaemonLink.Effect] {
        var (found, oldest) = (earlier, before ?? .max)
        let commits = reply.parameters["commits"]?.arrayValue ?? []
        for commit in commits {
            guard let fields = commit.objectValue, let revision = fields["revision"]?.integerValue else { continue }
            oldest = min(oldest, revision)
            let tag = fields["origin"]?.objectValue?["tag"]?.stringValue
            if let number = replica.inspect({ $0.number(ofTag: tag) }) { found[number] = revision }
        }
        if !commits.isEmpty, replica.inspect({ $0.isUnknown(before: oldest, besides: found) }) {
            askHistory(of: replica, before: oldest, found: found)
            return []
        }
        guard oldest < .max else {
            // Nothing is kept, or nothing was ever written: the position tells which.
            calls?.enqueue(Request.read(replica.group, keys: []).callBytes)
            outstanding.append(.position(replica))
            return []
        }
        return resolve(replica, found, keptFrom: oldest)
    }

    mutating func positionCame(_ replica: Replica, _ reply: Reply) -> [DaemonLink.Effect] {
        let position = reply.parameters["position"].flatMap(Position.init(wire:))
        // A group that is not there any more has taken the writes with it, if it had them.
        return resolve(replica, [:], keptFrom: position.map { $0.revision + 1 } ?? 0)
    }

    private mutating func resolve(
        _ replica: Replica, _ found: [UInt64: Int64], keptFrom oldest: Int64
    ) -> [DaemonLink.Effect] {
        replica.enqueueStep { $0.resolveUnknown(found: found, keptFrom: oldest) }
        var effects: [DaemonLink.Effect] = [.tell(replica)]
        for (number, keys) in replica.inspect({ $0.undecided }) {
            effects += refused(replica, number, .outcomeUnknown(keys))
        }
        pump(replica)
        return effects + answered(replica)
    }
}

extension AppGroupError {
    static func outcomeUnknown(_ keys: [String]) -> AppGroupError {
        AppGroupError(
            .outcomeUnknown,
            "the connection to appgroupd was lost with the answer, and its history does not reach back to this write: it "
                + "may have been made or not; read the group to see",
            keys: keys)
    }
}
