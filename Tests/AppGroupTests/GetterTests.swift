import Foundation
import PropertyList
import TestSupport
import Testing

@testable import AppGroup

/// What is set reads back as what it is, here and in another process.
@Suite struct GetterTests {
    @Test(arguments: WorldKind.allCases) func `U10 U14–U18 what is nowhere is nil, 0 or false`(kind: WorldKind) throws {
        let settings = try SettingWorld(kind).reader
        #expect(settings.object(forKey: "k") == nil)
        #expect(settings.string(forKey: "k") == nil)
        #expect(settings.array(forKey: "k") == nil)
        #expect(settings.dictionary(forKey: "k") == nil)
        #expect(settings.stringArray(forKey: "k") == nil)
        #expect(settings.data(forKey: "k") == nil)
        #expect(settings.date(forKey: "k") == nil)
        #expect(settings.url(forKey: "k") == nil)
        #expect(settings.int64(forKey: "k") == nil)
        #expect(settings.uint64(forKey: "k") == nil)
        #expect(!settings.bool(forKey: "k"))
        #expect(settings.integer(forKey: "k") == 0)
        #expect(settings.double(forKey: "k") == 0)
        #expect(settings.float(forKey: "k") == 0)
        #expect(!settings.contains("k"))
        #expect(!settings.exists("k"))
        #expect(!settings.objectIsForced(forKey: "k"))
    }

    @Test(arguments: WorldKind.allCases) func `U03 U05 L17 L19 scalars keep their types`(kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        let (writer, reader) = (world.writer, world.reader)
        writer.set(Int.max, forKey: "max")
        writer.set(UInt64.max, forKey: "umax")
        writer.set(Int64.min, forKey: "min")
        writer.set(1, forKey: "one")
        writer.set(1.0, forKey: "real")
        writer.set(true, forKey: "true")
        writer.set(Float(12.34), forKey: "float")
        writer.set("text", forKey: "text")
        try await world.settle()
        #expect(reader.integer(forKey: "max") == .max)
        #expect(reader.int64(forKey: "max") == .max)
        #expect(reader.bool(forKey: "max"))
        #expect(reader.string(forKey: "max") == "9223372036854775807")
        #expect(reader.object(forKey: "max") as? Int == .max)
        #expect(reader.uint64(forKey: "umax") == .max)
        #expect(reader.object(forKey: "umax") as? UInt64 == .max)
        #expect(reader.int64(forKey: "min") == .min)
        #expect(reader.object(forKey: "one") as? Bool == nil)
        #expect(reader.object(forKey: "one") as? Int == 1)
        #expect(reader.object(forKey: "true") as? Int == nil)
        #expect(reader.object(forKey: "true") as? Bool == true)
        #expect(reader.object(forKey: "real") as? Double == 1)
        #expect(reader.object(forKey: "real") as? Int == nil)
        #expect(reader.integer(forKey: "true") == 1)
        #expect(reader.double(forKey: "float") == 12.340000152587890625)
        #expect(reader.float(forKey: "float") == 12.34)
        #expect(reader.string(forKey: "text") == "text")
    }

    @Test(arguments: WorldKind.allCases)
    func `U04 U12 U13 L21 collections, data and dates`(kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        let (writer, reader) = (world.writer, world.reader)
        let date = Date(timeIntervalSinceReferenceDate: 812_345_678.123456)
        writer.set(["a", "b"], forKey: "strings")
        writer.set([1, "b", [true]], forKey: "mixed")
        writer.set(["x": 1, "y": ["z": date]], forKey: "nested")
        writer.set(Data([0, 255]), forKey: "data")
        writer.set(date, forKey: "date")
        try await world.settle()
        #expect(reader.stringArray(forKey: "strings") == ["a", "b"])
        #expect(reader.array(forKey: "strings")?.count == 2)
        #expect(reader.stringArray(forKey: "mixed") == nil)
        #expect((reader.array(forKey: "mixed")?[2] as? [Any])?.first as? Bool == true)
        #expect(reader.dictionary(forKey: "nested")?["x"] as? Int == 1)
        let inner = reader.dictionary(forKey: "nested")?["y"] as? [String: Any]
        #expect(inner?["z"] as? Date == date)
        #expect(reader.data(forKey: "data") == Data([0, 255]))
        #expect(reader.date(forKey: "date") == date)
        // Nothing but its own type.
        #expect(reader.string(forKey: "data") == nil)
        #expect(reader.data(forKey: "strings") == nil)
        #expect(reader.dictionary(forKey: "strings") == nil)
        #expect(reader.date(forKey: "strings") == nil)
        // A copy that is changed changes nothing.
        var copy = try #require(reader.dictionary(forKey: "nested"))
        copy["x"] = 2
        #expect(reader.dictionary(forKey: "nested")?["x"] as? Int == 1)
    }

    static let urls = [
        "https://example.org/a?b#c", "https://user:secret@example.org:8080/%20x?q=1&r=%C3%A9", "file:///tmp/a%20b",
        "mailto:someone@example.org", "docs/page.html", "data:text/plain,hello",
    ]

    @Test(arguments: WorldKind.allCases)
    func `R62 L20 a URL comes back exactly, and is plain text`(kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        for text in Self.urls { world.writer.set(URL(string: text), forKey: text) }
        let relative = URL(string: "b/c", relativeTo: URL(string: "https://example.org/a/"))
        world.writer.set(relative, forKey: "relative")
        try await world.settle()
        for text in Self.urls {
            #expect(world.reader.url(forKey: text) == URL(string: text))
            #expect(world.reader.string(forKey: text) == text)
        }
        #expect(world.reader.url(forKey: "relative")?.absoluteString == "https://example.org/a/b/c")
    }

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

    @Test(arguments: [urls[0], "https://example.org/" + String(repeating: "x/", count: 200), "https://example.org/é"])
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

    @Test(arguments: WorldKind.allCases) func `L24 any key is a key`(kind: WorldKind) async throws {
        let keys = ["", "a.b", "@x", "a/b", "mit Umlaut ü", "😀", "a b", "-x", "$", "\"", "a\nb"]
        let world = try SettingWorld(kind)
        for (index, key) in keys.enumerated() { world.writer.set(index, forKey: key) }
        try await world.settle()
        for (index, key) in keys.enumerated() { #expect(world.reader.object(forKey: key) as? Int == index) }
        #expect(Set(world.reader.ownKeys) == Set(keys))
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
