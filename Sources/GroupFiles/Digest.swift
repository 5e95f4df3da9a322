/// What a plist's content is recognised by: XXH64 with seed 0 over all of its bytes (the length goes into it too).
///
/// It stands in journals, therefore it never changes; `xxhsum -H1` prints the same sixteen digits. It tells our own text
/// from somebody's edit; it is no protection against one who wants two contents taken for one, who has the file anyway.
package struct Digest: Hashable, Sendable, CustomStringConvertible {
    package let value: UInt64

    package init(of bytes: [UInt8]) {
        value = Self.hash(bytes.span)
    }

    /// Nil unless the text is exactly sixteen lower-case hexadecimal digits.
    package init?(_ text: String) {
        let digits = text.utf8
        guard digits.count == 16, digits.allSatisfy({ Hexadecimal.value(of: $0) != nil }) else { return nil }
        guard let value = UInt64(text, radix: 16) else { return nil }
        self.value = value
    }

    /// Sixteen lower-case hexadecimal digits.
    package var description: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

/// A digest of a text that comes in pieces.
struct DigestBuilder {
    private var lanes = Digest.firstLanes
    private var count = 0
    /// Of what was appended so far.
    private(set) var digest = Digest(of: [])

    /// - Parameter piece: a multiple of 32 bytes, unless it is the last one.
    mutating func append(_ piece: Span<UInt8>) {
        precondition(count % Digest.stripeSize == 0, "a piece behind the last one")
        let index = Digest.addStripes(of: piece, to: &lanes)
        count += piece.count
        digest = Digest(lanes, count: count, rest: piece, from: index)
    }
}

extension Digest {
    fileprivate typealias Lanes = (UInt64, UInt64, UInt64, UInt64)

    fileprivate static let stripeSize = 32
    fileprivate static let firstLanes: Lanes = (prime1 &+ prime2, prime2, 0, 0 &- prime1)

    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    private static func hash(_ span: Span<UInt8>) -> UInt64 {
        var lanes = firstLanes
        let index = addStripes(of: span, to: &lanes)
        return Digest(lanes, count: span.count, rest: span, from: index).value
    }

    /// The digest of `count` bytes: the lanes hold all stripes, and what stands from `index` on in the last piece is in none.
    fileprivate init(_ lanes: Lanes, count: Int, rest: Span<UInt8>, from index: Int) {
        var state = count < Self.stripeSize ? Self.prime5 : Self.merged(lanes)
        state = Self.finish(state &+ UInt64(count), rest, from: index)
        state = (state ^ state >> 33) &* Self.prime2
        state = (state ^ state >> 29) &* Self.prime3
        value = state ^ state >> 32
    }

    /// All whole stripes of 32 bytes, in four lanes.
    ///
    /// - Returns: where they end.
    fileprivate static func addStripes(of span: Span<UInt8>, to lanes: inout Lanes) -> Int {
        var sums = lanes
        var index = 0
        while span.count - index >= stripeSize {
            sums.0 = round(sums.0, span.word(at: index))
            sums.1 = round(sums.1, span.word(at: index + 8))
            sums.2 = round(sums.2, span.word(at: index + 16))
            sums.3 = round(sums.3, span.word(at: index + 24))
            index += stripeSize
        }
        lanes = sums
        return index
    }

    private static func merged(_ lanes: Lanes) -> UInt64 {
        var state = rotate(lanes.0, 1) &+ rotate(lanes.1, 7) &+ rotate(lanes.2, 12) &+ rotate(lanes.3, 18)
        state = merge(state, lanes.0)
        state = merge(state, lanes.1)
        state = merge(state, lanes.2)
        return merge(state, lanes.3)
    }

    /// What is left behind the last stripe: words of eight bytes, one of four, single bytes.
    private static func finish(_ start: UInt64, _ span: Span<UInt8>, from position: Int) -> UInt64 {
        var state = start
        var index = position
        while span.count - index >= 8 {
            state = rotate(state ^ round(0, span.word(at: index)), 27) &* prime1 &+ prime4
            index += 8
        }
        if span.count - index >= 4 {
            let low = UInt64(span[index]) | UInt64(span[index + 1]) << 8
            let high = UInt64(span[index + 2]) | UInt64(span[index + 3]) << 8
            state = rotate(state ^ (low | high << 16) &* prime1, 23) &* prime2 &+ prime3
            index += 4
        }
        while index < span.count {
            state = rotate(state ^ UInt64(span[index]) &* prime5, 11) &* prime1
            index += 1
        }
        return state
    }

    @inline(__always)
    private static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
        rotate(lane &+ word &* prime2, 31) &* prime1
    }

    private static func merge(_ state: UInt64, _ lane: UInt64) -> UInt64 {
        (state ^ round(0, lane)) &* prime1 &+ prime4
    }

    @inline(__always)
    private static func rotate(_ word: UInt64, _ bits: UInt64) -> UInt64 {
        word << bits | word >> (64 - bits)
    }
}
