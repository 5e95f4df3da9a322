import Varlink

/// SplitMix64: the same numbers from the same seed, everywhere.
struct TestRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A seed that differs from run to run, printed so that a failure can be repeated.
    static func printedSeed(_ test: String = #function) -> UInt64 {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed of \(test): \(seed)")
        return seed
    }
}

extension TestRandom {
    /// A tree with values of every kind.
    mutating func json(depth: Int = 0) -> JSON {
        switch Int.random(in: 0..<(depth < 5 ? 9 : 7), using: &self) {
        case 0: .null
        case 1: .boolean(.random(using: &self))
        case 2: .integer(Int64(bitPattern: next()))
        case 3: .integer(Int64.random(in: -1000...1000, using: &self))
        case 4: .real(finiteReal())
        case 5: .real(Double(Int.random(in: -100...100, using: &self)))
        case 6: .string(text())
        case 7: .array((0..<Int.random(in: 0...6, using: &self)).map { _ in json(depth: depth + 1) })
        default: .object(object(depth: depth))
        }
    }

    mutating func object(depth: Int = 0) -> JSONObject {
        let isLarge = Int.random(in: 0..<20, using: &self) == 0
        let count = Int.random(in: 0...(isLarge ? 60 : 6), using: &self)
        return JSONObject((0..<count).map { _ in (text(), json(depth: isLarge ? 5 : depth + 1)) })
    }

    mutating func finiteReal() -> Double {
        while true {
            let value = Double(bitPattern: next())
            if value.isFinite { return value }
        }
    }

    /// Scalars of every plane, with those that need care among them often.
    mutating func text() -> String {
        var scalars = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...12, using: &self) {
            scalars.append(scalar())
        }
        return String(scalars)
    }

    private mutating func scalar() -> Unicode.Scalar {
        let limits: [UInt32] = [0x20, 0x7F, 0x80, 0x800, 0x1_0000, 0x11_0000]
        while true {
            let code = UInt32.random(in: 0..<limits[Int.random(in: 0..<limits.count, using: &self)], using: &self)
            if let scalar = Unicode.Scalar(code) { return scalar }
        }
    }
}

extension JSON {
    var text: String { description }
}
