package import GroupModel
package import PropertyList
package import Varlink

/// What the commits of one group, and the replies to those who write to it, have in common, encoded once.
///
/// Kept by whoever keeps the group, on one thread; an object, since a value of several texts would be copied at each use.
/// What it makes is byte for byte what `JSONWriter` makes of the parts.
package final class GroupText {
    package let group: GroupIdentifier
    package let epoch: Epoch
    private let commitStart: [UInt8]
    private let replyStart: [UInt8]
    private var commitHead: CommitHead?
    private var replyHead: CountedText

    /// A commit up to the place where a tag would stand.
    fileprivate struct CommitHead {
        var text: CountedText
        var time: Timestamp
        let origin: OriginText
        /// Where the microseconds of the time are in the text.
        let fraction: Range<Int>
    }

    package init(_ group: GroupIdentifier, _ epoch: Epoch) {
        self.group = group
        self.epoch = epoch
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("group", string: group.string)
        writer.member("revision")
        commitStart = writer.bytes
        writer = JSONWriter()
        writer.beginObject()
        writer.member("parameters")
        writer.beginObject()
        writer.member("position")
        writer.beginObject()
        writer.member("epoch", string: epoch.description)
        writer.member("revision")
        replyStart = writer.bytes
        replyHead = CountedText(replyStart, 0, Self.changedHead)
    }

    /// The one encoding of a commit of this group, which the journal keeps and every observer gets.
    package func write(
        _ changes: [Change], revision: Int64, time: Timestamp, origin: OriginText, tag: String?,
        to writer: inout JSONWriter
    ) {
        writeHead(revision, time, origin, to: &writer)
        if let tag { writer.member(.tag, string: tag) }
        writer.rest(Self.changesHead, awaitsValue: true)
        for place in changes.indices {
            if place > 0 { writer.beginObject(.key) }
            writer.writeRest(of: changes[place])
        }
        writer.endArray()
        writer.endObject()
    }

    /// The same for a string in the place of another one: its texts are taken from the message as they are.
    ///
    /// - Returns: where the key is in the writer's bytes, with its quotes.
    package func write(
        _ set: OrdinarySet, of message: ArraySlice<UInt8>, old: Span<UInt8>, revision: Int64, time: Timestamp,
        origin: OriginText, to writer: inout JSONWriter
    ) -> Range<Int> {
        writeHead(revision, time, origin, to: &writer)
        if let tag = set.tag {
            writer.member(.tag)
            writer.raw(message.quoted(tag))
        }
        writer.rest(Self.changesHead, awaitsValue: true)
        let start = writer.bytes.count
        writer.raw(message.quoted(set.key))
        let key = start..<writer.bytes.count
        writer.rest(Self.oldStringHead, awaitsValue: true)
        writer.string(utf8: old)
        writer.rest(Self.newStringHead, awaitsValue: true)
        writer.raw(message.quoted(set.text))
        writer.rest(Self.newStringEnd, awaitsValue: false)
        return key
    }

    private static let oldStringHead = Array(#","old":{"string":"#.utf8)
    private static let newStringHead = Array(#"},"new":{"string":"#.utf8)
    private static let newStringEnd = Array("}}]}".utf8)

    /// The end of the origin, and the changes up to the key of the first: there is one at least.
    private static let changesHead = Array(#"},"changes":[{"key":"#.utf8)
    private static let changedHead = Array(#"},"changed":["#.utf8)

    /// The message that answers a write whose commit, or that of the one before it, has this revision.
    package func writeReply(_ revision: Int64, changed changes: [Change], to writer: inout JSONWriter) {
        writeReplyHead(revision, to: &writer)
        for place in changes.indices { writer.string(changes[place].key.string) }
        writer.rest(Self.replyEnd, awaitsValue: false)
        writer.endMessage()
    }

    /// The same for one key, which is encoded already.
    package func writeReply(_ revision: Int64, changedKey key: ArraySlice<UInt8>, to writer: inout JSONWriter) {
        writeReplyHead(revision, to: &writer)
        writer.raw(key)
        writer.rest(Self.replyEnd, awaitsValue: false)
        writer.endMessage()
    }

    private static let replyEnd = Array("]}}".utf8)

    private func writeReplyHead(_ revision: Int64, to writer: inout JSONWriter) {
        if !replyHead.count(to: revision) { replyHead = CountedText(replyStart, revision, Self.changedHead) }
        writer.part(replyHead.bytes, awaitsValue: true)
    }

    private func writeHead(
        _ revision: Int64, _ time: Timestamp, _ origin: OriginText, to writer: inout JSONWriter
    ) {
        if commitHead?.follow(revision, time, origin) != true {
            commitHead = CommitHead(commitStart, revision, time, origin)
        }
        if let commitHead { writer.part(commitHead.text.bytes, awaitsValue: false) }
    }
}

extension GroupText.CommitHead {
    private static let timeName = Array(#","time":""#.utf8)

    init(_ start: [UInt8], _ revision: Int64, _ time: Timestamp, _ origin: OriginText) {
        var rest = Self.timeName
        time.appendRFC3339Microseconds(to: &rest)
        let end = rest.count - 1
        rest.append(UInt8(ascii: "\""))
        text = CountedText(start, revision, rest + origin.head)
        self.time = time
        self.origin = origin
        // Six digits and the Z end the time, and the text ends as `rest` does.
        let offset = text.bytes.count - origin.head.count - rest.count
        fraction = (offset + end - 6)..<(offset + end)
    }

    /// - Returns: whether the text now is that of this commit, else it is to be made anew.
    mutating func follow(_ revision: Int64, _ next: Timestamp, _ origin: OriginText) -> Bool {
        guard origin === self.origin else { return false }
        if next != time {
            guard next.microseconds >= 0, next.wholeSeconds == time.wholeSeconds else { return false }
            text.put(next.microseconds % 1_000_000, at: fraction)
            time = next
        }
        return text.count(to: revision)
    }
}

extension ArraySlice<UInt8> {
    /// A part with the quotes around it; the range is counted from the start.
    fileprivate func quoted(_ range: Range<Int>) -> ArraySlice<UInt8> {
        self[(startIndex + range.lowerBound - 1)..<(startIndex + range.upperBound + 1)]
    }
}

/// Who makes commits, encoded once for all of them; only the tag is another one each time. An object, since it goes with
/// each commit.
package final class OriginText: Sendable {
    package let origin: Origin
    /// As a member behind another one, without the closing brace.
    let head: [UInt8]

    package static let file = OriginText(.file)
    package static let administrator = OriginText(Origin(kind: .administrator))

    /// The tag of `origin` is not taken.
    package init(_ origin: Origin) {
        var origin = origin
        origin.tag = nil
        self.origin = origin
        var writer = JSONWriter()
        writer.write(origin)
        head = Array(#","origin":"#.utf8) + writer.bytes.dropLast()
    }
}
