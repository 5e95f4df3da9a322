import AppGroupControl
import Foundation
import PropertyList
import TestSupport
import Testing
import Varlink

/// What the tool prints goes back by the tool, and is the same: against the real daemon.
@Suite("Round trips through the daemon")
struct RoundTripTests {
    static let group = "group.com.example.round"

    /// More than ten thousand values, within some hundreds of settings.
    private static func entries(_ random: inout SplitMix64) -> [Key: Value] {
        var entries: [Key: Value] = [:]
        var count = 0
        while count < 10_000 {
            let elements = (0..<40).flatMap { _ in SettingsFileTests.randomEntries(&random).map(\.value) }
            entries[Key("k\(entries.count)")] = .array(elements)
            count += elements.reduce(0) { $0 + leaves($1) }
        }
        return entries
    }

    private static func leaves(_ value: Value) -> Int {
        switch value {
        case .array(let elements): elements.reduce(1) { $0 + leaves($1) }
        case .dictionary(let entries): entries.values.reduce(1) { $0 + leaves($1) }
        default: 1
        }
    }

    private func run(_ arguments: [String], _ daemon: RunningDaemon) -> String {
        let run = CapturedRun(["--socket", daemon.socket, "-q"] + arguments)
        #expect(run.error == "" && run.status == 0, "\(arguments.prefix(4))")
        return String(run.output.dropLast())
    }

    @Test("ten thousand values written, read in each form, and written again")
    func writeAndRead() throws {
        try SplitMix64.withSeed { random in
            let daemon = try RunningDaemon()
            for (key, value) in Self.entries(&random) {
                let name = key.string
                var text = JSONRendering.json(value).description
                let forms: [(read: [String], write: String, parse: (String) throws -> Value)] = [
                    ([], "-json", NotationReading.value), (["--plain"], "-value", NotationReading.value),
                    (["--json"], "-value", { try JSONReading.value(JSON(parsing: $0)) }),
                ]
                for (read, write, parse) in forms {
                    _ = run(["write", Self.group, name, write, text], daemon)
                    text = run(["read", Self.group, name] + read, daemon)
                    #expect(try parse(text) == value, "\(name): \(text.prefix(500))")
                }
            }
        }
    }

    @Test("a group exported, and imported into another one, in each format", arguments: SettingsFile.Format.allCases)
    func exportAndImport(_ format: SettingsFile.Format) throws {
        try SplitMix64.withSeed { random in
            let daemon = try RunningDaemon()
            let entries = Self.entries(&random).mapValues { format.plist.projected($0) }
            let source = try daemon.directory.write(
                "source", String(decoding: SettingsFile(format: .json, entries: entries).encoded, as: UTF8.self))
            let copy = daemon.directory.file("copy")
            _ = run(["import", Self.group, source, "--replace", "--create"], daemon)
            _ = run(["export", Self.group, copy, "--format", format.rawValue], daemon)
            _ = run(["write", "group.other", "gone", "-bool", "true", "--create"], daemon)
            _ = run(["import", "group.other", copy, "--replace"], daemon)
            let read = try JSON(parsing: run(["read", "group.other", "--json"], daemon)).objectValue
            #expect(try JSONReading.entries(#require(read)) == entries)
        }
    }

    @Test("what macOS's defaults export writes, a binary property list, is imported exactly")
    func binary() throws {
        let daemon = try RunningDaemon()
        let file = daemon.directory.file("com.example.plist")
        // plistlib writes the format of CoreFoundation: dates in seconds since 2001, data, UTF-16, 64-bit integers.
        let script = """
            import datetime, plistlib, sys
            values = {"name": "Grüße 設定", "count": 42, "big": 2**63, "low": -2**63, "ratio": 0.1, "on": True, "off": False,
                "seen": datetime.datetime(2026, 11, 30, 9, 0, 0), "icon": b"\\x00\\xff", "list": [1, "2", [3.0]],
                "window": {"width": 640, "title": "é"}}
            plistlib.dump(values, open(sys.argv[1], "wb"), fmt=plistlib.FMT_BINARY)
            """
        let python = try ChildProcess.run("/usr/bin/env", ["python3", "-c", script, file])
        try #require(python.code == 0, "\(python.errors)")
        _ = run(["import", Self.group, file, "--create"], daemon)
        #expect(
            run(["read", Self.group], daemon) == """
                big = 9223372036854775808
                count = 42
                icon = data(AP8=)
                list = [1, "2", [3.0]]
                low = -9223372036854775808
                name = "Grüße 設定"
                off = false
                on = true
                ratio = 0.1
                seen = date(2026-11-30T09:00:00Z)
                window = { title = "é", width = 640 }
                """)
    }

    @Test("for scripts: fields set apart by tabs, lines ended by zero bytes, JSON with record separators")
    func forScripts() throws {
        let daemon = try RunningDaemon()
        _ = run(["write", Self.group, "b c", "-string", "two\nlines\t", "--create"], daemon)
        _ = run(["write", Self.group, "a", "-int", "1"], daemon)
        #expect(run(["read", Self.group, "--plain"], daemon) == "a\t1\n\"b c\"\t\"two\\nlines\\t\"")
        #expect(run(["read", Self.group, "b c", "-z"], daemon) == "two\nlines\t")
        #expect(run(["list", "--null"], daemon) == Self.group)
        #expect(CapturedRun("--socket", daemon.socket, "list", "-z").output == "\(Self.group)\0")
        #expect(run(["read", Self.group, "a", "--json-seq"], daemon) == "\u{1E}1")
        #expect(run(["find", "lines", "--plain"], daemon) == "\(Self.group)\t\"b c\"\t\"two\\nlines\\t\"")
        #expect(
            run(["status", "--plain"], daemon).split(separator: "\t").map(String.init).prefix(3)
                == [Self.group, "2", "2"])
        for verb in ["history", "log", "blame"] {
            let fields = run([verb, Self.group, "a", "--plain"], daemon).split(separator: "\t").map(String.init)
            #expect(fields.contains("2") && fields.contains("a") && fields.contains("1"), "\(verb): \(fields)")
        }
        #expect(run(["diff", Self.group, "1", "2", "--plain"], daemon) == "a\t-\t1")
    }
}
