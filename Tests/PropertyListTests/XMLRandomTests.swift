import PropertyList
import TestSupport
import Testing

@Suite("Random property lists")
struct XMLRandomTests {
    private func entries(_ bytes: [UInt8]) throws -> [Key: Value] {
        try XMLPropertyList(parsing: bytes).entries
    }

    @Test("round-trip exactly")
    func roundTrip() throws {
        try SplitMix64.withSeed { (generator: inout SplitMix64) throws in
            var random = RandomPropertyList(generator: generator)
            for _ in 0..<2000 {
                let wanted = random.entries()
                #expect(try entries(XMLPropertyList.document(wanted)) == wanted)
            }
        }
    }

    @Test("lose nothing but fractions of seconds")
    func wholeSeconds() throws {
        try SplitMix64.withSeed { (generator: inout SplitMix64) throws in
            var random = RandomPropertyList(generator: generator, hasWholeSeconds: false)
            for _ in 0..<500 {
                let wanted = random.entries()
                let list = try XMLPropertyList(parsing: XMLPropertyList.document(wanted))
                #expect(list.entries == wanted.mapValues(\.inWholeSeconds))
                #expect(list.edited(to: wanted) == XMLPropertyList.document(wanted))
            }
        }
    }

    /// Some keys set, some removed, some added, nested dictionaries changed from within.
    private func changed(_ entries: [Key: Value], _ random: inout RandomPropertyList, depth: Int = 0) -> [Key: Value] {
        var result = entries
        for key in entries.keys.sorted() {
            switch random.count(9) {
            case 0: result[key] = nil
            case 1: result[key] = random.value(depth: depth)
            case 2...4:
                guard case .dictionary(let inner) = entries[key] else { continue }
                result[key] = .dictionary(changed(inner, &random, depth: depth + 1))
            default: break
            }
        }
        return random.chance(60) ? result.merging(random.entries(3, depth: depth)) { $1 } : result
    }

    @Test("keep their text and comments when they are edited, and hold what was wanted")
    func edits() throws {
        try SplitMix64.withSeed { (generator: inout SplitMix64) throws in
            var random = RandomPropertyList(generator: generator)
            for _ in 0..<3000 {
                let decorated = DecoratedPropertyList(random.entries(), random: random)
                random = decorated.random
                let list = try XMLPropertyList(parsing: [UInt8](decorated.text))
                #expect(list.edited(to: list.entries) == [UInt8](decorated.text))
                let wanted = changed(list.entries, &random)
                let text = list.edited(to: wanted)
                #expect(try entries(text) == wanted, "\(decorated.text)\n\(text.text)")
                expectKept(decorated, list.entries, wanted, in: text.text)
            }
        }
    }

    /// Every comment that does not stand in a changed value, and every untouched entry, is still there, in order.
    private func expectKept(_ file: DecoratedPropertyList, _ old: [Key: Value], _ new: [Key: Value], in text: String) {
        let bytes = Array(text.utf8)
        for (key, piece) in file.pieces where new[key] == old[key] {
            #expect(bytes.firstRange(of: Array(piece.utf8)) != nil, "\(piece)\n\(text)")
        }
        let gone = file.pieces.filter { new[$0.key] != old[$0.key] }.map { Array($0.value.utf8) }
        var at = 0
        for comment in file.comments.map({ Array($0.utf8) })
        where !gone.contains(where: { $0.firstRange(of: comment) != nil }) {
            guard let range = bytes[at...].firstRange(of: comment) else {
                Issue.record("\(comment) is gone from\n\(file.text)\n\(text)")
                return
            }
            at = range.upperBound
        }
    }

    @Test("whose entries have lines of their own change in these lines only")
    func lines() throws {
        try SplitMix64.withSeed { (generator: inout SplitMix64) throws in
            var random = RandomPropertyList(generator: generator)
            for _ in 0..<1000 {
                var file = LineFile(&random)
                let list = try XMLPropertyList(parsing: [UInt8](file.text))
                var changes: [(key: Key, value: Value?)] = []
                for _ in 0..<random.count(4) {
                    let key =
                        random.chance(50)
                        ? Key(random.string()) : random.pick(Array(list.entries.keys).sorted() + ["new"])
                    guard !changes.contains(where: { $0.key == key }) else { continue }
                    changes.append((key, random.chance(40) ? nil : .string(random.string())))
                }
                let text = list.edited(changes).text
                for (key, value) in changes { file.set(key, value) }
                #expect(text.isIdentical(to: file.text), "\(text)\n\(file.text)")
            }
        }
    }
}

/// The naive model of a file: a list of blocks, each some lines, of which an edit replaces, removes or appends whole ones.
private struct LineFile {
    private var blocks: [(key: Key?, text: String)] = []
    private let newline: String
    private let indentation: String
    private let end: String

    init(_ random: inout RandomPropertyList) {
        newline = random.pick(["\n", "\r\n"])
        indentation = random.pick(["\t", "  ", "      "])
        end = random.pick(["", newline])
        blocks.append((nil, "<plist>\(newline)<dict>\(newline)"))
        set("first", .string(""))
        for (key, value) in random.entries().sorted(by: { $0.key < $1.key }) {
            guard case .string(let string) = value else { continue }
            if random.chance(30) { blocks.append((nil, "\(indentation)<!-- about it -->\(newline)")) }
            set(key, .string(string))
            if random.chance(20) {
                blocks.append((nil, random.pick([newline, "\(indentation)<!-- after it -->\(newline)"])))
            }
        }
    }

    var text: String { blocks.map(\.text).joined() + "</dict>\(newline)</plist>\(end)" }

    mutating func set(_ key: Key, _ value: Value?) {
        let index = blocks.firstIndex { $0.key == key }
        guard let value else {
            if let index { blocks.remove(at: index) }
            return
        }
        let elements =
            [XMLPropertyList.fragment(.string(key.string)).text.replacing("string>", with: "key>")]
            + [XMLPropertyList.fragment(value).text]
        let block = elements.map { indentation + $0 + newline }.joined()
        if let index {
            blocks[index].text = block
        } else {
            // Blank lines before the end stay there.
            let end = (blocks.lastIndex { $0.text != newline } ?? 0) + 1
            blocks.insert((key, block), at: end)
        }
    }
}
