import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Varlink

extension SplitMix64 {
    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: elements.indices, using: &self)]
    }

    mutating func maybe<Element>(_ make: (inout SplitMix64) -> Element) -> Element? {
        Bool.random(using: &self) ? make(&self) : nil
    }

    /// Texts that have to be escaped, that look like names of fields, that are canonically equal, of every plane.
    mutating func text() -> String {
        pick([
            "", "a", "a.b", "string", "integer", "\u{E9}", "e\u{301}", "\u{212A}", "\"", "\\", "/", "\u{0}", "\u{1F}",
            "\n\r\t", "\u{7F}", "\u{85}", "\u{2028}", "\u{FFFF}", "\u{1F600}", "\u{10FFFF}", "</plist>", "*?\\",
            String(repeating: "k", count: 1024),
        ])
    }

    mutating func value(depth: Int = 0) -> Value {
        switch Int.random(in: 0..<(depth < 4 ? 11 : 8), using: &self) {
        case 0: return .string(text())
        case 1: return .integer(pick([0, 1, -1, .max, .min, 9_007_199_254_740_993]))
        case 2: return .integer(Int64(truncatingIfNeeded: next() >> UInt64.random(in: 0..<64, using: &self)))
        case 3: return .unsigned(pick([UInt64(Int64.max) + 1, .max, next() | 1 << 63]))
        case 4: return .real(pick([0, -0.0, 1, 1e300, .leastNonzeroMagnitude, .nan, .infinity, -.infinity, 0.1]))
        case 5: return .real(Double(bitPattern: next()))
        case 6: return .date(timestamp())
        case 7:
            return pick([
                .boolean(true), .boolean(false), .data([]), .data([0]), .data([1, 2]), .data([255, 254, 253]),
            ])
        case 8: return .array((0..<Int.random(in: 0...3, using: &self)).map { _ in value(depth: depth + 1) })
        default: return .dictionary(entries(depth: depth + 1))
        }
    }

    mutating func entries(depth: Int = 0) -> [Key: Value] {
        var entries: [Key: Value] = [:]
        for _ in 0..<Int.random(in: 0...3, using: &self) { entries[Key(text())] = value(depth: depth) }
        return entries
    }

    mutating func timestamp() -> Timestamp {
        let range = Timestamp.representable
        return pick([
            range.lowerBound, range.upperBound, Timestamp(microseconds: 0), Timestamp(microseconds: -1),
            Timestamp(microseconds: 1_796_000_000_123_456),
            Timestamp(
                microseconds: .random(in: range.lowerBound.microseconds...range.upperBound.microseconds, using: &self)),
        ])
    }

    mutating func group() -> GroupIdentifier { Sample.group(pick(["a", "group.com.example.app", "A_-.9"])) }

    mutating func edit() -> Edit {
        var edit = Edit(key: Key(text()), operation: pick(Edit.Operation.allCases), value: maybe { $0.value() })
        if edit.operation == .merge { edit.otherwise = maybe { $0.value() } }
        return edit
    }

    mutating func texts() -> [String] { (0..<Int.random(in: 0...3, using: &self)).map { _ in text() } }

    mutating func position() -> Position {
        Position(epoch: Epoch(high: next(), low: next()), revision: pick([0, 1, .max]))
    }

    mutating func origin() -> Origin {
        Origin(
            kind: pick(Origin.Kind.allCases), client: maybe { $0.text() }, processId: maybe { $0.pick([0, 1, .max]) },
            unit: maybe { $0.text() }, tag: maybe { $0.text() })
    }

    mutating func commit() -> Commit {
        let changes = (0..<Int.random(in: 1...4, using: &self)).map { _ in
            Change(key: Key(text()), old: maybe { $0.value() }, new: maybe { $0.value() })
        }
        return Commit(
            group: group(), revision: pick([1, 2, .max]), time: timestamp(), origin: origin(), changes: changes)
    }

    mutating func request(_ method: SettingsMethod) -> Request {
        switch method {
        case .listGroups: .listGroups
        case .status: .status(observers: pick([true, false]))
        case .createGroup: .createGroup(group())
        case .tryOut:
            .tryOut(
                TryRequest(
                    group: group(), edits: [.set(Key(text()), value()), .remove(Key(text()))],
                    seconds: pick([0.1, 30, 2_592_000]), tag: maybe { $0.text() }))
        case .endTrial: .endTrial(group(), revision: pick([1, .max]), keeps: pick([true, false]))
        case .deleteGroup: .deleteGroup(group())
        case .repair: .repair(group())
        case .describe: .describe(group(), maybe { Key($0.text()) })
        case .logLevel: .logLevel(maybe { $0.pick(LogVerbosity.allCases) })
        case .explain: .explain(group(), Key(text()))
        case .read: .read(group(), keys: maybe { $0.texts() })
        case .reset: .reset(group(), tag: maybe { $0.text() })
        case .synchronize: .synchronize(maybe { $0.group() })
        case .write:
            .write(
                WriteRequest(
                    group: group(), edits: (0..<Int.random(in: 0...4, using: &self)).map { _ in edit() },
                    isReset: Int.random(in: 0..<4, using: &self) == 0,
                    unchangedSince: maybe { $0.pick([0, -1, .max, .min]) }, isDurable: .random(using: &self),
                    tag: maybe { $0.text() }))
        case .watch:
            .watch(
                ["a", "b", "A"].shuffled(using: &self).prefix(Int.random(in: 0...3, using: &self)).map {
                    WatchedGroup(group: Sample.group($0), keys: maybe { $0.texts() }, since: maybe { $0.position() })
                })
        case .watchDocuments:
            .watchDocuments(
                group(), path: maybe { $0.pick(["notes.json", "a/b c/é", "x"]) }.flatMap(DocumentPath.init))
        case .history:
            .history(
                HistoryRequest(
                    group: group(), keys: maybe { $0.texts() }, limit: maybe { $0.pick([0, 1, .max]) },
                    before: maybe { $0.pick([0, 1, .max, .min]) }))
        }
    }
}

enum Sample {
    static func group(_ name: String) -> GroupIdentifier {
        guard let group = try? GroupIdentifier(name) else { preconditionFailure("no identifier: \(name)") }
        return group
    }
}

extension JSONWriter {
    /// What one piece of writing gives, read again.
    static func json(_ write: (inout JSONWriter) -> Void) throws -> JSON {
        var writer = JSONWriter(capacity: 128)
        write(&writer)
        return try JSON(parsing: writer.bytes.span)
    }

    static func object(_ write: (inout JSONWriter) -> Void) throws -> JSONObject {
        try json(write).objectValue ?? [:]
    }
}

extension JSON {
    init(text: String) throws { try self.init(parsing: Array(text.utf8).span) }
}
