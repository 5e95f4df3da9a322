import GroupCore
package import GroupModel
import GroupProtocol
import PropertyList
import Varlink

/// The reading of a journal's records, for who tries it with what no daemon has written.
package enum JournalReading {
    /// Replays payloads as a start does, up to the first that makes no sense.
    ///
    /// - Returns: the revision that they led to, and how many keys there are; nil where the first is no header of the group.
    package static func replay(_ payloads: [[UInt8]], of group: GroupIdentifier) -> (revision: Int64, keys: Int)? {
        guard let header = payloads.first, var replay = try? Replay(group, header: header) else { return nil }
        for (offset, payload) in payloads.dropFirst().enumerated() {
            guard (try? replay.add(payload, at: UInt64(offset))) != nil else { break }
        }
        return (replay.state.revision, replay.state.count)
    }

    /// What is wrong with how one payload is read: the reader of many records must find in it what the one of trees does,
    /// and what is written of it must read as the same.
    package static func contradiction(in payload: [UInt8], of group: GroupIdentifier) -> String? {
        let entry = JournalEntry(payload.span)
        if let change = JournalEntry.StateChange(payload.span, of: group) {
            guard case .commit(let commit)? = entry else { return "a commit for the one reader only" }
            let isTheSame = commit.revision == change.revision && commit.changes == change.changes
            return isTheSame ? nil : "\(change) for the one reader, \(commit) for the other"
        }
        guard let entry else { return nil }
        let encoded = entry.encoded
        let again = JournalEntry(encoded.span)?.encoded
        return again?.sorted() == encoded.sorted() ? nil : "\(entry) is written as what reads otherwise"
    }
}
