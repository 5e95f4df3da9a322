import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import PropertyList
import Varlink

extension GroupHost {
    /// Makes an ordinary set the next commit, on the shortest way: from the bytes of the message to those of the journal and
    /// of the state, without a string or a change in between, unless somebody needs them.
    ///
    /// - Returns: false where it is not as simple as that: nothing has happened then, and the ordinary way says how it is.
    func take(_ set: OrdinarySet, of message: ArraySlice<UInt8>, from connection: Connection) -> Bool {
        let bytes = message.span
        guard plist.obstacle == nil, state.layers.isEmpty, schema == nil, set.isSound(in: bytes) else { return false }
        let (time, origin) = (server.now, connection.origin)
        let revision = state.position.revision + 1
        let isWatched = server.isWatched(identifier)
        var changes: [Change] = []
        var staged: (record: Journal.Staged, key: Range<Int>)?
        let replacement = state.replaceString(
            of: bytes.extracting(set.key), with: bytes.extracting(set.text), limits: server.configuration.limits
        ) { old, lastRevision in
            staged = stage(set, of: message, old: old, revision: revision, time: time, origin: origin)
            if isWatched || !plist.base.hasNoted(lastRevision) { changes = [set.change(in: bytes, old: old)] }
        }
        guard let replacement, let staged else { return false }
        let target = Connection.ReplyTarget(connection: connection.id, serial: connection.openSlot())
        batch.append(
            Batched(
                record: staged.record, revision: revision, time: time, changes: changes, key: staged.key,
                origin: origin, tag: isWatched ? set.tag(in: bytes) : nil, undo: .replacement(replacement),
                reply: PendingReply(
                    target: target, success: .changes, isDurable: server.configuration.durability == .power)))
        server.markDirty(self)
        return true
    }

    private func stage(
        _ set: OrdinarySet, of message: ArraySlice<UInt8>, old: Span<UInt8>, revision: Int64, time: Timestamp,
        origin: OriginText
    ) -> (record: Journal.Staged, key: Range<Int>) {
        var key = 0..<0
        let record = journal.stage { bytes in
            JSONWriter.append(to: &bytes) {
                key = text.write(
                    set, of: message, old: old, revision: revision, time: time, origin: origin, to: &$0)
            }
        }
        return (record, key)
    }
}

extension OrdinarySet {
    fileprivate func change(in message: Span<UInt8>, old: Span<UInt8>) -> Change {
        Change(
            key: Key(String(copying: message.extracting(key))), old: .string(String(copying: old)),
            new: .string(String(copying: message.extracting(text))))
    }
}
