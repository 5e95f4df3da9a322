import Testing

/// Every row of the semantics is in `Tests/SEMANTICS.md`, with the tests that show it or the reason why none does.
@Suite("Semantics") struct SemanticsTableTests {
    /// The rows of the reference: what there is to say something about.
    static let required: [String] = {
        let settings = Array(1...18) + Array(20...24) + Array(30...58) + Array(60...62) + Array(70...74)
        let faults = Array(22...31) + [38] + Array(42...45) + [48, 50, 52, 53] + Array(55...60) + [62, 64, 66, 67, 69]
        let numbers: [(String, [Int])] = [
            ("U", settings), ("C", Array(1...12)), ("G", Array(1...13)), ("A", Array(1...18)), ("W", Array(1...11)),
            ("R", faults),
        ]
        return numbers.flatMap { letter, numbers in numbers.map { letter + ($0 < 10 ? "0\($0)" : "\($0)") } }
    }()

    /// Of these each test says by its name which it shows.
    static let named: Set<Character> = ["U", "A", "R"]

    @Test func `each row is in the table once, in order`() throws {
        #expect(try SemanticsTable.read().rows.map(\.id) == Self.required)
    }

    @Test func `each row says what is done, and has a test or a reason`() throws {
        for row in try SemanticsTable.read().rows {
            #expect(!row.here.isEmpty, "\(row.id)")
            #expect(["all", "some", "none"].contains(row.backEnds), "\(row.id): \(row.backEnds)")
            #expect(row.suites.isEmpty == (row.backEnds == "none"), "\(row.id)")
            let isReasonWanted = row.backEnds == "some" && Self.named.contains(row.id.first ?? "-")
            #expect(!isReasonWanted || !row.reason.isEmpty, "\(row.id) is not tried against all back ends: why?")
        }
    }

    @Test func `each suite that a row names has a test of that name`() throws {
        let tests = Dictionary(grouping: try NamedTest.all(), by: \.suite)
        for row in try SemanticsTable.read().rows {
            for suite in row.suites {
                let found = tests[suite, default: []]
                #expect(!found.isEmpty, "\(row.id): there is no suite \(suite)")
                guard Self.named.contains(row.id.first ?? "-") else { continue }
                #expect(found.contains { $0.ids.contains(row.id) }, "no test of \(suite) is named \(row.id)")
            }
        }
    }

    @Test func `what is tried against all back ends is`() throws {
        let shown = try NamedTest.all().filter(\.hasAllBackEnds).reduce(into: Set<String>()) { $0.formUnion($1.ids) }
        let claimed = try SemanticsTable.read().rows.filter { $0.backEnds == "all" }.map(\.id)
        #expect(claimed.count > 80, "the table was not understood")
        #expect(Set(claimed).subtracting(shown) == [])
    }

    @Test func `no test names a row that is not in the table`() throws {
        let known = Set(Self.required)
        let settings: Set<Character> = ["U", "A"]
        for test in try NamedTest.all() {
            let unknown = test.ids.filter { settings.contains($0.first ?? "-") && !known.contains($0) }
            #expect(unknown == [], "\(test.suite): \(test.name)")
        }
    }

    @Test func `tests are found, however they are named`() {
        let text = """
            @Test(arguments: BackEnd.allCases)
            func `U01 U02 one`(_ backEnd: BackEnd) {}
            @Test func `U03 two`() {}
            @Test(arguments: [1, 2]) func `three`(_ number: Int) {}
            @Test("R22, R23: four", arguments: [1])
            func four() {}
            @Test func five() {}
            """
        let tests = NamedTest.tests(of: text, suite: "S")
        #expect(tests.map(\.name) == ["U01 U02 one", "U03 two", "three", "R22, R23: four", "five"])
        #expect(tests.map(\.hasAllBackEnds) == [true, false, false, false, false])
        #expect(tests.map { $0.ids.sorted() } == [["U01", "U02"], ["U03"], [], ["R22", "R23"], []])
    }
}
