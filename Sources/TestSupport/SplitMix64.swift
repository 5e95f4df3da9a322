import Foundation

/// A small random generator with a seed, so that a failed random test can be run again as it was.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension SplitMix64 {
    /// Runs a random test with a fresh seed, or with that of `APPGROUP_TEST_SEED`. The seed is printed first, so that it
    /// is known even when the test crashes.
    package static func withSeed<Result, Failure: Error>(
        function: String = #function,
        _ body: (inout SplitMix64) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var generator = SplitMix64(seed: announcedSeed(function))
        return try body(&generator)
    }

    /// The same for a test that waits.
    package static func withSeed<Result>(
        function: String = #function,
        _ body: (inout SplitMix64) async throws -> Result
    ) async throws -> Result {
        var generator = SplitMix64(seed: announcedSeed(function))
        return try await body(&generator)
    }

    private static func announcedSeed(_ function: String) -> UInt64 {
        let given = ProcessInfo.processInfo.environment["APPGROUP_TEST_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0...UInt64.max)
        print("\(function): APPGROUP_TEST_SEED=\(seed)")
        return seed
    }
}
