import LinuxIO
import PropertyList
import TestSupport
import Testing

@testable import GroupFiles

@Suite struct RecordReaderTests {
    /// The reader sees the file through a window; what it finds is what the whole text has, wherever the text ends and
    /// whatever is wrong with it.
    @Test func `a file in pieces reads like the whole`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("g.journal")
        try SplitMix64.withSeed { random in
            for round in 0..<30 {
                var text: [UInt8] = []
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    let sizes = [1, 50, 5000, 64 * 1024 - 19, 64 * 1024, 300_000]
                    let size = sizes.randomElement(using: &random) ?? 1
                    Record.append([UInt8](repeating: 0x61, count: size), to: &text)
                }
                switch round % 3 {
                case 0: text.removeLast(Int.random(in: 0..<text.count, using: &random))
                case 1: text[Int.random(in: 0..<text.count, using: &random)] ^= 1
                default: break
                }
                try Self.check(text, path)
            }
        }
    }

    @Test func `reading can begin at any record`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("g.journal")
        let journal = try Journal.create(path, payloads: [Array("header".utf8)]).journal
        let offsets = try journal.append([Array("one".utf8), Array("two".utf8)])
        let records = try Journal.soundRecords(path, from: offsets[1])
        #expect(records == [StoredRecord(offset: offsets[1], payload: Array("two".utf8))])
        #expect(try Journal.soundRecords(path, from: journal.size).isEmpty)
        #expect(try Journal.soundRecords(path, from: .max).isEmpty)
    }

    private static func check(_ text: [UInt8], _ path: String) throws {
        try Files.unlinkIfPresent(path)
        let file = try Files.open(path, [.readWrite, .create])
        try file.writeAll(text)
        let scan = RecordScanner.scan(text)
        var reader = RecordReader(size: text.count, from: 0)
        var payloads: [Range<Int>] = []
        var isSame = true
        let count = try reader.readRecords(of: file) { payload, offset in
            let start = Int(offset) + Record.headerSize
            payloads.append(start..<start + payload.count)
            isSame = isSame && payload.indices.allSatisfy { payload[$0] == text[start + $0] }
        }
        #expect(payloads == scan.payloads)
        #expect(count == scan.payloads.count)
        #expect(isSame)
        #expect(reader.end == scan.end)
        #expect(try reader.tail(of: file) == scan.tail)
    }

    @Test func `a digest of pieces is the digest of the whole`() {
        let text = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        for size in [0, 1, 31, 32, 33, 63, 64, 100, 1000] {
            for piece in [32, 64, 320] {
                var builder = DigestBuilder()
                for start in stride(from: 0, to: size, by: piece) {
                    builder.append(text[start..<min(size, start + piece)].span)
                }
                #expect(builder.digest == Digest(of: Array(text[..<size])))
            }
        }
    }
}
