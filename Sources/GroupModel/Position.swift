/// The random identity of a group's journal: 128 bits, written as 32 lower-case hexadecimal digits.
///
/// A revision means nothing without it: after a lost journal, or a group deleted and made again, revisions start anew.
package struct Epoch: Hashable, Sendable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Nil unless the text is exactly 32 lower-case hexadecimal digits.
    package init?(_ text: some StringProtocol) {
        let digits = text.utf8
        guard digits.count == 32, digits.allSatisfy(Self.isLowerHexDigit),
            let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }

    package var description: String { Self.hexadecimal(high) + Self.hexadecimal(low) }

    private static func isLowerHexDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

/// Where a reader of a group stands. A position of another epoch means "start again from a snapshot".
package struct Position: Hashable, Sendable {
    package var epoch: Epoch
    /// 0 for a group without a commit, then 1, 2, 3 …
    package var revision: Int64

    package init(epoch: Epoch, revision: Int64) {
        self.epoch = epoch
        self.revision = revision
    }
}
