import Foundation
import Testing

/// Every fault of the list that concerns the daemon is in `Tests/FAULTS.md`, with a test or the reason why there is none.
@Suite("Faults") struct FaultTableTests {
    /// What the list has, but for what `SEMANTICS.md` alone speaks of.
    private static let required =
        [1, 2, 3, 4, 6] + Array(9...14) + [16] + Array(21...24) + [32] + Array(37...39) + [41, 43, 45, 71, 73, 76, 77]
        + [80, 81, 83, 84, 86, 87, 88, 90, 92, 94, 95, 97, 100, 102, 103, 104, 105, 108, 112]

    private struct Row {
        var number: Int
        var here: String
        var suites: [String]
    }

    private static func rows() throws -> [Row] {
        try SourceTree.text("Tests/FAULTS.md").split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 5, let id = cells[1].wholeMatch(of: #/R(\d+)/#), let number = Int(id.output.1) else {
                return nil
            }
            let suites = cells[3].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            return Row(number: number, here: cells[2], suites: suites)
        }
    }

    /// `R24`, `r24` at the beginning of a name or of a word.
    private static func numbers(in name: String) -> Set<Int> {
        Set(name.matches(of: #/\b[Rr](\d{2,3})(?!\d)/#).compactMap { Int($0.output.1) })
    }

    @Test func `each fault is in the table once, in order`() throws {
        #expect(try Self.rows().map(\.number) == Self.required)
    }

    @Test func `each row says what is done, and each suite that it names has a test of its number`() throws {
        let tests = Dictionary(grouping: try NamedTest.all(), by: \.suite)
        for row in try Self.rows() {
            #expect(!row.here.isEmpty, "R\(row.number)")
            for suite in row.suites {
                let found = tests[suite, default: []].contains { Self.numbers(in: $0.name).contains(row.number) }
                #expect(found, "no test of \(suite) is named after R\(row.number)")
            }
        }
    }

    @Test func `the suites of the campaigns are there`() throws {
        let suites = Set(try NamedTest.all().map(\.suite))
        let lines = try SourceTree.text("Tests/FAULTS.md").split(separator: "\n").map {
            $0.split(separator: "|", omittingEmptySubsequences: false)
        }
        let rows = lines.filter { $0.count == 4 }.map { $0[2].trimmingCharacters(in: .whitespaces) }.dropFirst(2)
        #expect(rows.count > 15)
        for row in rows {
            for suite in row.split(separator: ",").map({ $0.trimmingCharacters(in: .whitespaces) }) {
                #expect(suites.contains(suite), "there is no suite \(suite)")
            }
        }
    }

    @Test func `numbers are found in names and titles`() {
        #expect(Self.numbers(in: "R24, R86: any number of saves (R100)") == [24, 86, 100])
        #expect(Self.numbers(in: "r95FileWithAMountOnIt") == [95])
        #expect(Self.numbers(in: "R1 r2 order 4") == [])
    }
}
