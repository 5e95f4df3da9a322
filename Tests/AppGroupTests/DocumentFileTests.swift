import Foundation
import TestSupport
import Testing

@testable import AppGroup

/// The file of a document: what its writers leave behind, how it is read, and dates in it.
@Suite("Document files") struct DocumentFileTests {
    @Test func `a killed writer leaves the old file or the new one`() throws {
        let world = try DocumentWorld()
        let document = try world.document()
        try document.save([Note(title: "a")])
        // What a writer leaves that was killed before its rename: a file that its name tells the number of.
        try world.shell(
            """
            printf '[{"ti' > half
            mv half ".notes.json.appgroup-$(python3 -c '
            import os
            n, digits = os.stat("half").st_ino, ""
            while n: n, d = divmod(n, 36); digits = "0123456789abcdefghijklmnopqrstuvwxyz"[d] + digits
            print(digits, end="")')-x"
            """)
        #expect(try world.names.count == 2)
        #expect(try world.document().load() == [Note(title: "a")])
        try document.save([Note(title: "b")])
        #expect(try document.load() == [Note(title: "b")])
        #expect(try world.names == ["notes.json"], "it is cleaned up by the next save")
    }

    @Test func `only what a dead writer of this document left is cleaned up`() throws {
        let world = try DocumentWorld()
        let document = try world.document()
        try document.save([Note(title: "a")])
        let others = [
            ".notes.json.appgroup-1-x", ".notes.json.appgroup-", ".other.json.appgroup-1-x", ".notes.json.swp",
        ]
        for name in others { try world.write("?", to: name) }
        // One that is being written: its writer holds its lock.
        let live = try DocumentCalls.writeNew(in: world.documents, [1], mode: 0o600) { number in
            "\(world.documents)/.notes.json.appgroup-\(String(number, radix: 36))-live"
        }
        try document.save([Note(title: "b")])
        #expect(
            try world.names == (others + ["notes.json", String(live.path.split(separator: "/").last ?? "")]).sorted())
        withExtendedLifetime(live) {}
    }

    @Test func `a writer's file is gone with it, however it ends`() throws {
        let world = try DocumentWorld()
        let document = try world.document()
        try document.save([Note(title: "a")])
        var live: DocumentCalls.Temporary? = try DocumentCalls.writeNew(in: world.documents, [1], mode: 0o600) {
            number in
            "\(world.documents)/.notes.json.appgroup-\(String(number, radix: 36))-dead"
        }
        withExtendedLifetime(live) {}
        // The kernel closes what a killed process had open.
        live = nil
        try document.save([Note(title: "b")])
        #expect(try world.names == ["notes.json"])
    }

    struct Entry: Codable, Equatable, Sendable {
        var date: Date
    }

    @Test func `dates are ISO 8601 in JSON, and other forms are read`() throws {
        let world = try DocumentWorld()
        let document = try SharedDocument<[Entry]>("dates.json", in: world.container)
        let date = Date(timeIntervalSince1970: 1_796_063_835)
        let entries = [Entry(date: date), Entry(date: date + 0.25), Entry(date: .distantPast - 1e12)]
        try document.save(entries)
        let text = try String(contentsOfFile: world.path("dates.json"), encoding: .utf8)
        #expect(text.contains("\"2026-11-30T18:37:15Z\""))
        #expect(text.contains("\"2026-11-30T18:37:15.25Z\""))
        #expect(try SharedDocument<[Entry]>("dates.json", in: world.container).load() == entries)
        try world.write(
            "[{\"date\": \(date.timeIntervalSinceReferenceDate)}, {\"date\": \"2026-11-30T19:37:15+01:00\"}]",
            to: "dates.json")
        #expect(try document.load() == [Entry(date: date), Entry(date: date)])
        try world.write("[{\"date\": \"2026-11-30T18:37:15.123456789Z\"}]", to: "dates.json")
        #expect(abs(try #require(document.load()?.first).date.timeIntervalSince(date) - 0.1234) < 0.001)
        try world.write("[{\"date\": \"yesterday\"}]", to: "dates.json")
        let error = #expect(throws: AppGroupError.self) { try document.load() }
        #expect(error?.code == .damaged)
        #expect(error?.description.contains("[0].date") == true, "\(String(describing: error))")
    }

    @Test func `a date comes back equal, whatever its fraction`() throws {
        let world = try DocumentWorld()
        let document = try SharedDocument<[Entry]>("dates.json", in: world.container)
        let seconds = (0..<1000).map { _ in Double.random(in: -1e9...1e9) } + [0, 0.1, -0.1, 0.9999999]
        let entries = seconds.map { Entry(date: Date(timeIntervalSinceReferenceDate: $0)) }
        try document.save(entries)
        #expect(try SharedDocument<[Entry]>("dates.json", in: world.container).load() == entries)
    }

    @Test func `a large document is read as it is`() throws {
        let world = try DocumentWorld()
        // Around the sizes at which reads come to an end.
        for size in [0, 1, 65_535, 65_536, 65_537, 3_000_000] {
            let bytes = [UInt8](repeating: 7, count: size)
            try Data(bytes).write(to: URL(filePath: world.path("data")))
            #expect(try DocumentCalls.read(world.path("data"), limit: 1 << 30) == bytes)
            if size > 0 {
                #expect(throws: DocumentCalls.Failure.self) {
                    try DocumentCalls.read(world.path("data"), limit: size - 1)
                }
            }
        }
    }
}
