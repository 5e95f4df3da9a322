package import GroupModel
import PropertyList
package import Varlink

/// What the commits of one group, and the replies to those who write to it, have in common, encoded once.
///
/// Kept by whoever keeps the group, on one thread; an object, since a value of several texts would be copied at each use.
/// What it makes is byte for byte what `JSONWriter` makes of the parts.
package final class GroupText {
    package let group: GroupIdentifier
    package let epoch: Epoch
    private let commitHead: [UInt8]
    private let replyHead: [UInt8]
    private var time: (of: Timestamp, text: [UInt8])?
    /// Of the commit before, in bytes: the next one is probably no larger.
    private var lastSize = 256
    private static let greatestGuess = 4096

    package init(_ group: GroupIdentifier, _ epoch: Epoch) {
        self.group = group
        self.epoch = epoch
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("group", string: group.string)
        writer.member("revision")
        commitHead = writer.bytes
        writer = JSONWriter()
        writer.beginObject()
        writer.member("parameters")
        writer.beginObject()
        writer.member("position")
        writer.beginObject()
        writer.member("epoch", string: epoch.description)
        writer.member("revision")
        replyHead = writer.bytes
    }

    /// The one encoding of a commit of this group, which the journal keeps and every observer gets.
    package func encoded(_ commit: Commit, from origin: OriginText) -> [UInt8] {
        var writer = JSONWriter(capacity: lastSize + 32)
        writer.part(commitHead, awaitsValue: true)
        writer.integer(commit.revision)
        writer.part(timeText(of: commit.time), awaitsValue: true)
        writer.write(origin, tag: commit.origin.tag)
        writer.member(.changes)
        writer.beginArray()
        for change in commit.changes { writer.write(change) }
        writer.endArray()
        writer.endObject()
        lastSize = min(writer.bytes.count, Self.greatestGuess)
        return writer.bytes
    }

    /// The message that answers a write whose commit, or that of the one before it, has this revision.
    package func writeReply(_ revision: Int64, changed changes: [Change], to writer: inout JSONWriter) {
        writer.part(replyHead, awaitsValue: true)
        writer.integer(revision)
        writer.endObject()
        writer.member(.changed)
        writer.beginArray()
        for change in changes { writer.string(change.key.string) }
        writer.endArray()
        writer.endObject()
        writer.endObject()
        writer.endMessage()
    }

    /// The commits that are made in one turn have one time.
    private func timeText(of time: Timestamp) -> [UInt8] {
        if let known = self.time, known.of == time { return known.text }
        var writer = JSONWriter()
        writer.member("time", string: time.rfc3339Microseconds)
        writer.member("origin")
        self.time = (time, writer.bytes)
        return writer.bytes
    }
}

/// Who makes commits, encoded once for all of them; only the tag is another one each time.
package struct OriginText: Sendable {
    package let origin: Origin
    /// Without the closing brace.
    let head: [UInt8]

    package static let file = OriginText(.file)

    /// The tag of `origin` is not taken.
    package init(_ origin: Origin) {
        var origin = origin
        origin.tag = nil
        self.origin = origin
        var writer = JSONWriter()
        writer.write(origin)
        head = writer.bytes.dropLast()
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ origin: OriginText, tag: String?) {
        part(origin.head, awaitsValue: false)
        if let tag { member(.tag, string: tag) }
        endObject()
    }
}
