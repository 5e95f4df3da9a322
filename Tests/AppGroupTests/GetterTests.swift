import Foundation
import PropertyList
import TestSupport
import Testing

@testable import AppGroup

/// What is set reads back as what it is, here and in another process.
@Suite struct GetterTests {
    @Test func `U06 U07 L20 Apple's and Foundation's forms of file URLs are read`() throws {
        let settings = GroupDefaults.inMemory()
        let home = try #require(ProcessInfo.processInfo.environment["HOME"])
        settings.set("/tmp/a b:c", forKey: "path")
        settings.set("~/x", forKey: "tilde")
        settings.set("~other/x", forKey: "other")
        settings.set("", forKey: "empty")
        settings.set(5, forKey: "number")
        #expect(settings.url(forKey: "path")?.isFileURL == true)
        #expect(settings.url(forKey: "path")?.path == "/tmp/a b:c")
        #expect(settings.url(forKey: "tilde")?.path == "\(home)/x")
        #expect(settings.url(forKey: "other") == nil)
        #expect(settings.url(forKey: "empty") == nil)
        #expect(settings.url(forKey: "number") == nil)
    }

    @Test(arguments: [
        "https://example.org/a?b#c", "https://example.org/" + String(repeating: "x/", count: 200),
        "https://example.org/é",
    ])
    func `U06 Apple's archived URL is read`(text: String) throws {
        // What NSKeyedArchiver makes is made here by hand: plistlib writes its UIDs, Foundation on Linux archives no NSURL.
        let script = """
            import plistlib, sys
            from plistlib import UID
            text = sys.argv[1]
            objects = ["$null", {"$class": UID(5), "NS.base": UID(2), "NS.relative": UID(4)},
                {"$class": UID(5), "NS.base": UID(0), "NS.relative": UID(3)}, text, "?x=1",
                {"$classname": "NSURL", "$classes": ["NSURL", "NSObject"]}]
            archive = {"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": UID(int(sys.argv[2]))},
                "$objects": objects}
            sys.stdout.buffer.write(plistlib.dumps(archive, fmt=plistlib.FMT_BINARY).hex().encode())
            """
        let base = URL(string: text)
        for (root, expected) in [(2, base), (1, base.flatMap { URL(string: "?x=1", relativeTo: $0) })] {
            let output = try ChildProcess.run("/usr/bin/python3", ["-c", script, text, String(root)], environment: [:])
            let hex = Array(output.output.utf8)
            let bytes = stride(from: 0, to: hex.count - 1, by: 2).compactMap {
                UInt8(String(decoding: hex[$0...$0 + 1], as: UTF8.self), radix: 16)
            }
            let settings = GroupDefaults.inMemory()
            settings.set(Data(bytes), forKey: "url")
            #expect(settings.url(forKey: "url")?.absoluteString == expected?.absoluteString)

            // Damaged ones give nil or something, never a trap.
            var random = SplitMix64(seed: 62)
            for _ in 0..<3000 {
                var damaged = bytes
                for _ in 0...Int.random(in: 0..<4, using: &random) {
                    let place = Int.random(in: 0..<damaged.count, using: &random)
                    damaged[place] = .random(in: 0...255, using: &random)
                }
                if Bool.random(using: &random) { damaged.removeLast(Int.random(in: 0..<damaged.count, using: &random)) }
                _ = ArchivedURL.url(damaged)
            }
        }
    }

    @Test(arguments: WorldKind.allCases) func `R69 L23 keys are compared byte for byte`(kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        world.writer.set("composed", forKey: "caf\u{E9}")
        world.writer.set("decomposed", forKey: "cafe\u{301}")
        try await world.settle()
        #expect(world.reader.string(forKey: "caf\u{E9}") == "composed")
        #expect(world.reader.string(forKey: "cafe\u{301}") == "decomposed")
        #expect(world.reader.ownKeys.count == 2)
        // Swift's dictionaries see one of the two, always the same one.
        #expect(world.reader.ownDictionary().count == 1)
        #expect(world.reader.ownDictionary().values.first as? String == "decomposed")
    }
}
