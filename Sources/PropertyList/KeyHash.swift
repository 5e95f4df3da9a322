/// The hash of a key's bytes: a multiplication for eight of them, and no call of `Hasher`, which is made for parts of any
/// type.
///
/// It depends on a number drawn at random for the process, as `Hasher` does, so that nobody can choose keys that collide.
package enum KeyHash {
    private static let seed = UInt64(truncatingIfNeeded: Hasher().finalize()) | 1

    package static func hash(_ bytes: Span<UInt8>) -> UInt64 {
        let seed = seed
        let count = bytes.count
        var hash = mix(seed ^ UInt64(truncatingIfNeeded: count), seed)
        guard count >= 8 else {
            var rest: UInt64 = 0
            for index in 0..<count { rest = rest << 8 | UInt64(bytes[index]) }
            return mix(hash ^ rest, seed)
        }
        var index = 0
        while index + 8 <= count {
            hash = mix(hash ^ bytes.word(at: index), seed)
            index += 8
        }
        // The rest together with some bytes before it, which is one step instead of up to seven.
        return index == count ? hash : mix(hash ^ bytes.word(at: count - 8), seed)
    }

    /// Both halves of the product: each bit of the number gets into most bits of the result.
    @inline(__always)
    private static func mix(_ number: UInt64, _ factor: UInt64) -> UInt64 {
        let product = number.multipliedFullWidth(by: factor ^ 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }
}
