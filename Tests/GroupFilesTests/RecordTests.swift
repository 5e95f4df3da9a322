import TestSupport
import Testing

@testable import GroupFiles

@Suite struct ChecksumTests {
    /// RFC 3720, B.4, and the check value of the polynomial's catalogue.
    static let published: [(bytes: [UInt8], checksum: UInt32)] = [
        (Array("123456789".utf8), 0xE306_9283),
        (Array(repeating: 0, count: 32), 0x8A91_36AA),
        (Array(repeating: 0xFF, count: 32), 0x62A8_AB43),
        (Array(0..<32), 0x46DD_794E),
        (Array((0..<32).reversed()), 0x113F_DB5C),
        ([], 0),
    ]

    @Test(arguments: published)
    func crc32cHasThePublishedValues(example: (bytes: [UInt8], checksum: UInt32)) {
        #expect(Checksum.crc32c(example.bytes) == example.checksum)
        #expect(Checksum.tableDriven(example.bytes.span, 0..<example.bytes.count) == example.checksum)
    }

    @Test func crc32cIsTheSameFromEveryStartAndLength() {
        let bytes = [UInt8]((0..<64).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) })
        for start in 0..<16 {
            for end in start...bytes.count {
                let expected = bitwise(bytes[start..<end])
                #expect(Checksum.crc32c(bytes.span, start..<end) == expected)
                #expect(Checksum.tableDriven(bytes.span, start..<end) == expected)
            }
        }
    }

    private func bitwise(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var remainder = ~UInt32(0)
        for byte in bytes {
            remainder ^= UInt32(byte)
            for _ in 0..<8 { remainder = remainder & 1 == 0 ? remainder >> 1 : remainder >> 1 ^ 0x82F6_3B78 }
        }
        return ~remainder
    }

    /// XXH64 with seed 0, as xxhsum and Python's xxhash print it.
    @Test(arguments: [
        ("", "ef46db3751d8e999"),
        ("a", "d24ec4f1a98c6e5b"),
        ("abc", "44bc2cf5ad770999"),
        ("Call me Ishmael. Some years ago--never mind how long precisely-", "02a2e85470d6fd96"),
    ])
    func digestIsXXH64(text: String, digest: String) throws {
        #expect(Digest(of: Array(text.utf8)).description == digest)
        #expect(Digest(digest) == Digest(of: Array(text.utf8)))
    }

    @Test(arguments: ["", "0", "EF46DB3751D8E999", "ef46db3751d8e99", "ef46db3751d8e9990", "+f46db3751d8e999"])
    func digestTextHasOneSpelling(text: String) {
        #expect(Digest(text) == nil)
    }
}

@Suite struct RecordTests {
    @Test func recordIsALineOfText() {
        var buffer: [UInt8] = []
        Record.append(Array("123456789".utf8), to: &buffer)
        #expect(String(decoding: buffer, as: UTF8.self) == "00000009 e3069283 123456789\n")
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var bytes: [UInt8]
        var records: [String]
        var tail: RecordScan.Tail

        var testDescription: String { name }
    }

    private static let first = framed("{\"a\":1}")
    private static let second = framed("{\"b\":2}")

    static let cases: [Case] = [
        Case(name: "nothing", bytes: [], records: [], tail: .none),
        Case(name: "two records", bytes: first + second, records: ["{\"a\":1}", "{\"b\":2}"], tail: .none),
        Case(name: "half a record", bytes: first + second.dropLast(3), records: ["{\"a\":1}"], tail: .torn(size: 23)),
        Case(name: "no line feed", bytes: first + second.dropLast(), records: ["{\"a\":1}"], tail: .torn(size: 25)),
        Case(
            name: "zeros", bytes: first + [UInt8](repeating: 0, count: 4096), records: ["{\"a\":1}"],
            tail: .room(size: 4096)),
        Case(
            name: "half a record before zeros", bytes: first + second.dropLast(3) + [UInt8](repeating: 0, count: 600),
            records: ["{\"a\":1}"], tail: .torn(size: 23)),
        Case(
            name: "a sector that was not written",
            bytes: first + [UInt8](repeating: 0, count: 512 - 26) + [10] + second,
            records: ["{\"a\":1}"], tail: .torn(size: 513)),
        Case(
            name: "the end of a record not written", bytes: unwritten(from: 512, to: 1024) + second, records: [],
            tail: .torn(size: 1150)),
        Case(
            name: "zeros that end within a sector", bytes: unwritten(from: 520, to: 1020) + second, records: [],
            tail: .damaged(next: 1124)),
        Case(name: "text", bytes: Array("hello\n".utf8), records: [], tail: .torn(size: 6)),
        Case(name: "upper case", bytes: first + upper(second), records: ["{\"a\":1}"], tail: .torn(size: 26)),
        Case(
            name: "an empty payload", bytes: Array("00000000 00000000 \n".utf8) + first, records: [],
            tail: .damaged(next: 19)),
        Case(
            name: "a broken record before a sound one", bytes: first + flipped(second, at: 20) + first,
            records: ["{\"a\":1}"], tail: .damaged(next: 52)),
        Case(
            name: "a line feed that is none", bytes: flipped(first, at: 25) + second, records: [],
            tail: .damaged(next: 26)),
        Case(
            name: "a length beyond the end", bytes: Array("ffffffff 00000000 x\n".utf8) + first, records: [],
            tail: .damaged(next: 20)),
        Case(
            name: "zeros before a sound record", bytes: first + [UInt8](repeating: 0, count: 9) + [10] + second,
            records: ["{\"a\":1}"], tail: .damaged(next: 36)),
    ]

    @Test(arguments: cases)
    func scannerTellsTornFromDamaged(example: Case) {
        let scan = RecordScanner.scan(example.bytes)
        #expect(scan.payloads.map { String(decoding: example.bytes[$0], as: UTF8.self) } == example.records)
        #expect(scan.tail == example.tail)
        #expect(scan.end == example.records.reduce(0) { $0 + $1.utf8.count + Record.overhead })
    }

    @Test func everyTruncationIsATornTailOfTheWholeRecordsBeforeIt() {
        SplitMix64.withSeed { random in
            let (bytes, payloads) = randomJournal(&random, records: 40)
            for length in 0...bytes.count {
                let cut = Array(bytes[..<length])
                let scan = RecordScanner.scan(cut)
                #expect(scan.payloads.map { Array(cut[$0]) } == Array(payloads.prefix(scan.payloads.count)))
                #expect(scan.end + (scan.tail == .none ? 0 : tornSize(scan)) == length)
            }
        }
    }

    @Test func noFlippedBitGivesAWrongRecord() {
        SplitMix64.withSeed { random in
            let (bytes, payloads) = randomJournal(&random, records: 6)
            for bit in 0..<bytes.count * 8 {
                var flipped = bytes
                flipped[bit / 8] ^= 1 << UInt8(bit % 8)
                let scan = RecordScanner.scan(flipped)
                let found = scan.payloads.map { Array(flipped[$0]) }
                #expect(found == Array(payloads.prefix(found.count)))
                #expect(found.count < payloads.count)
                // In the last record it cannot be told from a torn append; before that it always is.
                if found.count < payloads.count - 1 { #expect(isDamaged(scan)) }
            }
        }
    }

    @Test func noiseIsNeverARecordAndNeverTraps() {
        SplitMix64.withSeed { random in
            for _ in 0..<20_000 {
                var bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                    Array("0123456789abcdef \n{}".utf8).randomElement(using: &random) ?? 0
                }
                if bytes.count > 18 {
                    bytes[8] = UInt8(ascii: " ")
                    bytes[17] = UInt8(ascii: " ")
                    bytes.replaceSubrange(0..<7, with: "0000000".utf8)
                }
                #expect(RecordScanner.scan(bytes).payloads.isEmpty)
            }
        }
    }

    private func randomJournal(_ random: inout SplitMix64, records: Int) -> (bytes: [UInt8], payloads: [[UInt8]]) {
        let payloads = (0..<records).map { _ in
            (0..<Int.random(in: 1...60, using: &random)).map { _ in UInt8.random(in: 32...126, using: &random) }
        }
        var bytes: [UInt8] = []
        for payload in payloads { Record.append(payload, to: &bytes) }
        return (bytes, payloads)
    }

    private func tornSize(_ scan: RecordScan) -> Int {
        if case .torn(let size) = scan.tail { size } else { -1 }
    }

    private func isDamaged(_ scan: RecordScan) -> Bool {
        if case .damaged = scan.tail { true } else { false }
    }
}

func framed(_ text: String) -> [UInt8] {
    var buffer: [UInt8] = []
    Record.append(Array(text.utf8), to: &buffer)
    return buffer
}

private func flipped(_ bytes: [UInt8], at index: Int) -> [UInt8] {
    var bytes = bytes
    bytes[index] ^= 1
    return bytes
}

/// A record with zeros in it.
private func unwritten(from start: Int, to end: Int) -> [UInt8] {
    var bytes = framed(String(repeating: "x", count: 1105))
    for index in start..<end { bytes[index] = 0 }
    return bytes
}

private func upper(_ bytes: [UInt8]) -> [UInt8] {
    Array(String(decoding: bytes, as: UTF8.self).uppercased().utf8)
}
