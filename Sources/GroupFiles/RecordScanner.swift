/// What a journal's bytes hold: the sound records from the start on, and what is behind them. A plain value.
package struct RecordScan: Equatable, Sendable {
    /// What follows the last sound record.
    package enum Tail: Equatable, Sendable {
        case none
        /// Nothing but zeros: the room that the journal has made for the next records (`Journal.makeRoom`).
        case room(size: Int)
        /// The last append was cut short by a kill or a power cut: nothing valid is behind it, but for what was appended
        /// later and reached the disk earlier. None of it was ever acknowledged as durable; it may be cut off. The zeros at
        /// its end do not count.
        case torn(size: Int)
        /// A sound record follows at `next`: this is no interrupted append, something spoilt what was stored.
        case damaged(next: Int)
    }

    /// Where the payloads are; each record begins `Record.headerSize` before.
    package var payloads: [Range<Int>]
    /// Where the sound records end.
    package var end: Int
    package var tail: Tail
}

/// Reads records out of bytes. Pure; never traps, whatever the bytes are.
package enum RecordScanner {
    package static func scan(_ bytes: [UInt8]) -> RecordScan {
        let span = bytes.span
        var payloads: [Range<Int>] = []
        var end = 0
        while let payload = Record.payload(span, at: end) {
            payloads.append(payload)
            end = payload.upperBound + 1
        }
        return RecordScan(payloads: payloads, end: end, tail: tail(span, from: end))
    }

    /// What stands in a file behind its sound records, which end where these bytes begin, at `offset` of the file. The place
    /// that `damaged` gives is counted from there.
    static func tail(_ rest: [UInt8], at offset: Int) -> RecordScan.Tail {
        tail(rest.span, from: 0, at: offset)
    }

    private static func tail(_ span: Span<UInt8>, from end: Int, at offset: Int = 0) -> RecordScan.Tail {
        guard end < span.count else { return .none }
        guard let last = lastNonzero(span, from: end) else { return .room(size: span.count - end) }
        let torn = RecordScan.Tail.torn(size: last + 1 - end)
        guard let next = nextRecord(span, after: end) else { return torn }
        return hasUnwrittenSector(span, end..<next, at: offset) ? torn : .damaged(next: next)
    }

    private static func lastNonzero(_ span: Span<UInt8>, from start: Int) -> Int? {
        var index = span.count
        while index > start {
            index -= 1
            if span[index] != 0 { return index }
        }
        return nil
    }

    /// Whether one of the disk's sectors that end within the range still has the zeros that were there before the records:
    /// no record has a zero in it. The kernel writes pages in any order, so that a power cut may leave such a hole between
    /// what was not synced yet.
    private static func hasUnwrittenSector(_ span: Span<UInt8>, _ range: Range<Int>, at offset: Int) -> Bool {
        let first = sectorSize - (offset + range.lowerBound) % sectorSize
        return stride(from: range.lowerBound + first, through: range.upperBound, by: sectorSize)
            .contains { span[$0 - 1] == 0 }
    }

    /// The least that a disk writes as a whole, in bytes.
    private static let sectorSize = 512

    /// The first sound record behind the broken one at `broken`: where that one's header says that it ends, or behind
    /// any line feed (payloads have none).
    private static func nextRecord(_ span: Span<UInt8>, after broken: Int) -> Int? {
        if let header = Record.header(span, at: broken) {
            let next = broken + Record.overhead + header.length
            if next < span.count, Record.payload(span, at: next) != nil { return next }
        }
        for index in broken..<span.count where span[index] == Record.lineFeed {
            if Record.payload(span, at: index + 1) != nil { return index + 1 }
        }
        return nil
    }
}
