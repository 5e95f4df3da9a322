/// What a journal's bytes hold: the sound records from the start on, and what is behind them. A plain value.
package struct RecordScan: Equatable, Sendable {
    /// What follows the last sound record.
    package enum Tail: Equatable, Sendable {
        case none
        /// The last append was cut short (a kill, a power cut, zeros that the file system put there): nothing valid is
        /// behind it, and it was never read by anybody. It may be cut off.
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

    private static func tail(_ span: Span<UInt8>, from end: Int) -> RecordScan.Tail {
        guard end < span.count else { return .none }
        return nextRecord(span, after: end).map(RecordScan.Tail.damaged) ?? .torn(size: span.count - end)
    }

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
