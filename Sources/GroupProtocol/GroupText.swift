package import GroupModel
package import PropertyList
package import Varlink

/// What the commits of one group, and the replies to those who write to it, have in common, encoded once.
///
/// A value of whoever keeps the group, changed in place and never copied: the texts are counted up from use to use. What it
/// makes is byte for byte what `JSONWriter` makes of the parts.
package struct GroupText: Sendable {
    package let group: GroupIdentifier
    package let epoch: Epoch
    private let commitStart: [UInt8]
    private let replyStart: [UInt8]
    private var commitHead: CommitHead?
    private var replyHead: CountedText

    /// A commit up to the place where a tag would stand.
    fileprivate struct CommitHead: Sendable {
        /// And on to the key of the first change, which is what follows where there is no tag.
        var text: CountedText
        var time: Timestamp
        var origin: OriginText
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
    package mutating func write(
        _ changes: [Change], revision: Int64, time: Timestamp, origin: OriginText, tag: String?,
        to writer: inout JSONWriter
    ) {
        writeHead(revision, time, origin, hasTag: tag != nil, to: &writer.bytes)
        if let tag {
            writer.rest([], awaitsValue: false)
            writer.member(.tag, string: tag)
            writer.rest(Self.changesHead, awaitsValue: true)
        }
        writer.rest([], awaitsValue: true)
        for place in changes.indices {
            if place > 0 { writer.beginObject(.key) }
            writer.writeRest(of: changes[place])
        }
        writer.endArray()
        writer.endObject()
    }

    /// The same for a string in the place of another one, behind what `bytes` has: its texts are taken from the message as
    /// they are.
    ///
    /// - Returns: where the key is among the bytes, with its quotes.
    package mutating func write(
        _ set: OrdinarySet, of message: Span<UInt8>, old: Span<UInt8>, revision: Int64, time: Timestamp,
        origin: OriginText, to bytes: inout [UInt8]
    ) -> Range<Int> {
        if JSONWriter.isPlain(old) {
            return write(set, of: message, escaped: old, revision, time, origin, to: &bytes)
        }
        return write(set, of: message, escaped: JSONWriter.escaped(old).span, revision, time, origin, to: &bytes)
    }

    /// By one growth of the bytes: a text that is put together piece by piece costs more for each piece than for its bytes.
    private mutating func write(
        _ set: OrdinarySet, of message: Span<UInt8>, escaped old: Span<UInt8>, _ revision: Int64, _ time: Timestamp,
        _ origin: OriginText, to bytes: inout [UInt8]
    ) -> Range<Int> {
        countHead(to: revision, time, origin)
        let keySize = set.key.quoted.count
        // All pieces: a little more than there will be.
        let size =
            (commitHead?.text.bytes.count ?? 0) + pieces.bytes.count + (set.tag?.quoted.count ?? 0) + keySize
            + old.count + set.text.quoted.count
        var keyEnd = bytes.count
        bytes.append(addingCapacity: size) { output in
            appendHead(hasTag: set.tag != nil, to: &output)
            let row = pieces.bytes.span
            if let tag = set.tag {
                output.append(copying: row.extracting(pieces.tag))
                output.append(copying: message.extracting(tag.quoted))
                output.append(copying: row.extracting(pieces.changes))
            }
            output.append(copying: message.extracting(set.key.quoted))
            keyEnd += output.count
            output.append(copying: row.extracting(pieces.old))
            output.append(copying: old)
            output.append(copying: row.extracting(pieces.new))
            output.append(copying: message.extracting(set.text.quoted))
            output.append(copying: row.extracting(pieces.end))
        }
        return (keyEnd - keySize)..<keyEnd
    }

    /// What stands around the texts of a replaced string, and behind the key in a reply.
    ///
    /// Of the object and not static: what is static is asked each time whether it is there already.
    private struct Pieces: Sendable {
        let bytes: [UInt8]
        let tag: Range<Int>
        let changes: Range<Int>
        let old: Range<Int>
        let new: Range<Int>
        let end: Range<Int>
        let replyEnd: Range<Int>

        init() {
            var row = PieceRow()
            tag = row.add(#","tag":"#.utf8)
            changes = row.add(GroupText.changesHead)
            old = row.add(#","old":{"string":""#.utf8)
            new = row.add(#""},"new":{"string":"#.utf8)
            end = row.add("}}]}".utf8)
            replyEnd = row.add("]}}\u{0}".utf8)
            bytes = row.bytes
        }
    }

    private let pieces = Pieces()
    /// The end of the origin, and the changes up to the key of the first: there is one at least.
    fileprivate static let changesHead = Array(#"},"changes":[{"key":"#.utf8)
    private static let changedHead = Array(#"},"changed":["#.utf8)

    /// The message that answers a write whose commit, or that of the one before it, has this revision.
    package mutating func writeReply(_ revision: Int64, changed changes: [Change], to bytes: inout [UInt8]) {
        countReplyHead(to: revision)
        bytes.append(contentsOf: replyHead.bytes)
        JSONWriter.append(to: &bytes) { writer in
            for place in changes.indices { writer.string(changes[place].key.string) }
        }
        bytes.append(copying: pieces.bytes.span.extracting(pieces.replyEnd))
    }

    /// The same for one key, which is encoded already.
    package mutating func writeReply(_ revision: Int64, changedKey key: Span<UInt8>, to bytes: inout [UInt8]) {
        countReplyHead(to: revision)
        let size = replyHead.bytes.count + key.count + pieces.replyEnd.count
        bytes.append(addingCapacity: size) { output in
            output.append(copying: replyHead.bytes.span)
            output.append(copying: key)
            output.append(copying: pieces.bytes.span.extracting(pieces.replyEnd))
        }
    }

    private mutating func countReplyHead(to revision: Int64) {
        if !replyHead.count(to: revision) { replyHead = CountedText(replyStart, revision, Self.changedHead) }
    }

    private mutating func writeHead(
        _ revision: Int64, _ time: Timestamp, _ origin: OriginText, hasTag: Bool, to bytes: inout [UInt8]
    ) {
        countHead(to: revision, time, origin)
        bytes.append(addingCapacity: commitHead?.text.bytes.count ?? 0) { appendHead(hasTag: hasTag, to: &$0) }
    }

    private mutating func countHead(to revision: Int64, _ time: Timestamp, _ origin: OriginText) {
        if commitHead?.follow(revision, time, origin) == true { return }
        commitHead = CommitHead(commitStart, revision, time, origin)
    }

    /// The head that was counted up last.
    private func appendHead(hasTag: Bool, to output: inout OutputSpan<UInt8>) {
        guard let head = commitHead?.text.bytes.span else { return }
        output.append(copying: hasTag ? head.extracting(droppingLast: pieces.changes.count) : head)
    }
}

extension GroupText.CommitHead {
    private static let timeName = Array(#","time":""#.utf8)

    init(_ start: [UInt8], _ revision: Int64, _ time: Timestamp, _ origin: OriginText) {
        var rest = Self.timeName
        time.appendRFC3339Microseconds(to: &rest)
        let digitsEnd = rest.count - 1
        rest.append(UInt8(ascii: "\""))
        let end = origin.head + GroupText.changesHead
        text = CountedText(start, revision, rest + end)
        self.time = time
        self.origin = origin
        // Six digits and the Z end the time.
        let offset = text.bytes.count - end.count - rest.count
        fraction = (offset + digitsEnd - 6)..<(offset + digitsEnd)
    }

    /// - Returns: whether the text now is that of this commit, else it is to be made anew.
    mutating func follow(_ revision: Int64, _ next: Timestamp, _ origin: OriginText) -> Bool {
        if origin !== self.origin {
            guard origin.head == self.origin.head else { return false }
            // Another connection of the same process: the next of its commits is not compared again.
            self.origin = origin
        }
        if next != time {
            guard next.microseconds >= 0, next.wholeSeconds == time.wholeSeconds else { return false }
            text.put(next.microseconds % 1_000_000, at: fraction)
            time = next
        }
        return text.count(to: revision)
    }
}

extension Range<Int> {
    /// With the quotes around it.
    fileprivate var quoted: Range<Int> { (lowerBound - 1)..<(upperBound + 1) }
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
