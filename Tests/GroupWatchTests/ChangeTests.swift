import Foundation
import GroupWatch
import LinuxIO
import TestSupport
import Testing

extension WatcherTests {
    /// What editors and tools do to a file, and what is told of it.
    struct Changes {
        struct Operation: CustomTestStringConvertible, Sendable {
            let command: String
            let expected: [(String, WatchEventKind)]
            var testDescription: String { command }

            init(_ command: String, _ expected: (String, WatchEventKind)...) {
                self.command = command
                self.expected = expected
            }
        }

        static let operations = [
            Operation("printf 2 > seen/a", ("a", .closedAfterWriting)),
            Operation("printf 2 >> seen/a", ("a", .closedAfterWriting)),
            Operation(": > seen/a", ("a", .closedAfterWriting)),
            Operation("printf 2 > seen/new", ("new", .created), ("new", .closedAfterWriting)),
            Operation("rm seen/a", ("a", .deleted)),
            Operation("chmod 640 seen/a", ("a", .attributes)),
            Operation("touch -d 2001-01-01 seen/a", ("a", .attributes), ("a", .closedAfterWriting)),
            Operation("mkdir seen/d", ("d", .created)),
            Operation("ln -s a seen/l", ("l", .created)),
            Operation("chmod 711 seen", ("", .attributes)),
            Operation("mv outside seen/a", ("a", .movedIn)),
            Operation("mv seen/a outside2", ("a", .movedOut)),
            Operation("mv seen/a seen/b", ("a", .movedOut), ("b", .movedIn)),
        ]

        @Test("Each operation is told once, as what it is", arguments: operations)
        func operation(_ operation: Operation) throws {
            let fixture = try Fixture()
            try fixture.directory.quickWrite("seen/a")
            try fixture.directory.quickWrite("outside")
            try fixture.watch(fixture.seen)
            try shell("cd \(fixture.directory.path); \(operation.command)")
            let changes = try fixture.changes()
            let expected = operation.expected.map { Change($0.0, $0.1) }
            // touch opens for writing first or last, by version.
            #expect(changes.count == expected.count && expected.allSatisfy(changes.contains), "\(changes)")
        }

        @Test("A file renamed into place is seen each time (R24, R86, R87)")
        func renamedIntoPlace() throws {
            let fixture = try Fixture()
            try fixture.directory.quickWrite("seen/a")
            try fixture.watch(fixture.seen)
            for round in 1...3 {
                try fixture.directory.write("seen/a.tmp", "\(round)")
                try Files.rename(fixture.directory.file("seen/a.tmp"), to: fixture.directory.file("seen/a"))
                #expect(try fixture.changes().suffix(2) == [Change("a.tmp", .movedOut), Change("a", .movedIn)])
            }
        }

        @Test("vim's saves are seen, with and without a backup copy", arguments: ["yes", "no"])
        func vim(_ backupCopy: String) throws {
            let fixture = try Fixture()
            try fixture.directory.write("seen/a", "1\n")
            try fixture.watch(fixture.seen)
            for round in 1...2 {
                let edit = "-c 'set backupcopy=\(backupCopy)' -c 's/.*/\(round)x/' -c wq"
                try shell("vim -es -u NONE \(edit) \(fixture.seen)/a")
                #expect(try fixture.directory.read("seen/a") == "\(round)x\n")
                #expect(try fixture.changes().contains(Change("a", .closedAfterWriting)))
            }
        }

        @Test("sed -i is seen twice in a row")
        func sed() throws {
            let fixture = try Fixture()
            try fixture.directory.write("seen/a", "1\n")
            try fixture.watch(fixture.seen)
            for _ in 1...2 {
                try shell("sed -i s/1/1/ \(fixture.seen)/a")
                #expect(try fixture.changes().last == Change("a", .movedIn))
            }
        }

        @Test("Opening, reading and listing are no changes (R100)")
        func reading() throws {
            let fixture = try Fixture()
            try fixture.directory.write("seen/a", "1\n")
            try fixture.watch(fixture.seen)
            try shell("cd \(fixture.seen); cat a; ls -la .; stat a; head -c1 a; find .; cat a > /dev/null")
            #expect(try fixture.changes() == [])
        }

        @Test("A name that is not UTF-8 is told with replacement characters")
        func invalidName() throws {
            let fixture = try Fixture()
            try fixture.watch(fixture.seen)
            try shell(#"cd \#(fixture.seen); : > "$(printf 'a\377b')"; : > "$(printf 'caf\303\251')""#)
            #expect(
                try fixture.changes() == [
                    Change("a\u{FFFD}b", .created), Change("a\u{FFFD}b", .closedAfterWriting),
                    Change("café", .created), Change("café", .closedAfterWriting),
                ]
            )
        }

        @Test("The longest name there can be")
        func longName() throws {
            let fixture = try Fixture()
            try fixture.watch(fixture.seen)
            let name = String(repeating: "n", count: 255)
            try fixture.directory.quickWrite("seen/\(name)")
            #expect(try fixture.changes().contains(Change(name, .closedAfterWriting)))
        }

        @Test("A watched cookie directory shows what others do there, never the cookie")
        func cookieDirectory() throws {
            let fixture = try Fixture()
            let cookies = fixture.directory.file("cookies")
            try fixture.watch(cookies)
            for _ in 1...5 { #expect(try fixture.drain() == []) }
            try fixture.directory.quickWrite("cookies/x")
            #expect(try fixture.drain().contains(.changed(directory: cookies, name: "x", kind: .closedAfterWriting)))
            #expect(try Files.list(cookies) == ["x"])
        }
    }
}
