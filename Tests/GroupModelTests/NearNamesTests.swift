import GroupModel
import TestSupport
import Testing

@Suite("Did you mean")
struct NearNamesTests {
    static let distances: [(String, String, Int?)] = [
        ("", "", 0), ("a", "a", 0), ("theme", "theme", 0), ("theme", "thme", 1), ("theme", "tehme", 1),
        ("theme", "themes", 1), ("theme", "thorn", nil), ("theme", "tehem", 2), ("abc", "", nil), ("", "ab", 2),
        ("group.com.exmaple.app", "group.com.example.app", 1), ("é", "e\u{301}", 2),
    ]

    @Test("counts slips of the keyboard, up to a limit", arguments: distances)
    func distance(_ left: String, _ right: String, _ expected: Int?) {
        #expect(EditDistance.between(left, right, limit: 2) == expected)
        #expect(EditDistance.between(right, left, limit: 2) == expected)
    }

    @Test("one random slip is one slip", arguments: [UInt64](0..<200))
    func oneSlip(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let letters = Array("abcdefgh")
        let name = (0..<12).map { _ in letters[Int.random(in: 0..<8, using: &random)] }
        var other = name
        let place = Int.random(in: 0..<11, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: other.remove(at: place)
        case 1: other.insert("x", at: place)
        case 2: other[place] = "x"
        default: other.swapAt(place, place + 1)
        }
        let expected = name == other ? 0 : 1
        #expect(EditDistance.between(String(name), String(other), limit: 2) == expected, "seed \(seed)")
    }

    static let names: [(String, [String], [String])] = [
        ("group.com.exmaple.app", ["group.com.example.app", "other"], ["group.com.example.app"]),
        ("Group.A", ["group.a"], ["group.a"]),
        ("a", ["b", "A"], ["A"]),
        ("theme", ["theme"], []),
        ("themes", ["theme", "themed", "tomes"], ["theme", "themed"]),
        ("x", [], []),
        (
            "groupname", ["grouqname", "groupnam", "grroupname", "groupnames", "qroupnane"],
            ["groupnam", "groupnames", "grouqname"]
        ),
    ]

    @Test("names the nearest, at most three", arguments: names)
    func near(_ name: String, _ among: [String], _ expected: [String]) {
        #expect(NearNames.of(name, among: among) == expected)
    }

    @Test("asks")
    func question() {
        #expect(NearNames.question([]) { $0 } == "")
        #expect(NearNames.question(["a", "b"]) { "\"\($0)\"" } == #"; did you mean "a" or "b"?"#)
    }
}
