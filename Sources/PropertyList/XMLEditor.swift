/// Works out which bytes of a property list must be replaced for a set of changes, and replaces them in one pass.
///
/// Used once for one edit. The text was read before, so that scanning it again cannot fail; should it all the same, the
/// edit is left out rather than the file damaged.
struct XMLEditor {
    private let bytes: [UInt8]
    private let newline: [UInt8]
    /// The file says that it is in another encoding than UTF-8: what is added must mean the same in either.
    private let isASCII: Bool
    private var unit: [UInt8] = [0x09]
    private var replacements: [(range: Range<Int>, text: [UInt8])] = []

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        newline = Self.newline(of: bytes)
        isASCII = XMLScanner(bytes).declaresOtherEncoding
    }

    /// What makes `new` of `old`: keys that there were in no order, which their places in the text give them, and new keys
    /// sorted behind them.
    static func changes(from old: [Key: Value], to new: [Key: Value]) -> [(key: Key, value: Value?)] {
        var changes: [(key: Key, value: Value?)] = []
        var added: [(key: Key, value: Value?)] = []
        var kept = 0
        for (key, value) in new {
            guard let before = old[key] else {
                added.append((key, value))
                continue
            }
            kept += 1
            if !value.isWritten(like: before) { changes.append((key, value)) }
        }
        if kept < old.count {
            for key in old.keys where new[key] == nil { changes.append((key, nil)) }
        }
        return changes + added.sorted { $0.key < $1.key }
    }

    /// The edited text.
    var result: [UInt8] {
        let sorted = replacements.sorted {
            ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound)
        }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + sorted.reduce(0) { $0 + $1.text.count })
        var at = 0
        for (range, text) in sorted where range.lowerBound >= at {
            result += bytes[at..<range.lowerBound]
            result += text
            at = range.upperBound
        }
        result += bytes[at...]
        return result
    }

    /// Edits the root dictionary, whose layout tells how the file is indented.
    mutating func edit(root: Int, of entries: [Key: Value], _ changes: [(key: Key, value: Value?)]) {
        let wanted = ChangeSet(changes, of: entries)
        guard !wanted.isEmpty, let layout = try? XMLLayout(of: root, in: bytes, wanting: wanted.contains) else {
            return
        }
        let indentation = bytes.indentation(before: root)
        unit = Self.unit(of: layout, at: indentation, in: bytes)
        edit(layout, of: entries, wanted, default: indentation.map { .lines(indentation: $0) } ?? .inline)
    }

    private static func newline(of bytes: [UInt8]) -> [UInt8] {
        guard let first = bytes.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) else { return [0x0A] }
        guard bytes[first] == 0x0D else { return [0x0A] }
        return first + 1 < bytes.count && bytes[first + 1] == 0x0A ? [0x0D, 0x0A] : [0x0D]
    }

    /// What the entries of the root are indented by against the root; a tab if there is nothing to see it from.
    private static func unit(of layout: XMLLayout, at root: [UInt8]?, in bytes: [UInt8]) -> [UInt8] {
        guard let root, let model = layout.model, let entry = bytes.indentation(before: model.keyStart),
            entry.starts(with: root)
        else { return [0x09] }
        return [UInt8](entry.dropFirst(root.count))
    }
}

// MARK: - One dictionary

extension XMLEditor {
    /// Edits one dictionary; `style` is how it stands in the text itself, for entries of one that has none yet.
    private mutating func edit(
        _ layout: XMLLayout, of entries: [Key: Value], _ changes: ChangeSet, default style: XMLWriter.Layout
    ) {
        var removed: [XMLLayout.Slot] = []
        var seen: Set<Key> = []
        for slot in layout.slots.reversed() {
            let isLast = seen.insert(slot.key).inserted
            switch changes.values[slot.key] {
            case .some(.none): removed.append(slot)
            case .some(.some(let value)) where isLast:
                replace(slot, old: entries[slot.key], new: value)
            default: break
            }
        }
        removed.reverse()
        for range in removals(removed) { replacements.append((range, [])) }
        let added = changes.order.filter { !seen.contains($0) }.compactMap { key in
            changes.values[key].flatMap { $0 }.map { (key, $0) }
        }
        if !added.isEmpty { insert(added, into: layout, without: removed, style: style) }
    }

    /// Replaces one value; between two dictionaries only what differs in them.
    private mutating func replace(_ slot: XMLLayout.Slot, old: Value?, new: Value) {
        let indentation = bytes.indentation(before: slot.keyStart)
        let style: XMLWriter.Layout = indentation.map { .lines(indentation: $0) } ?? .inline
        if case .dictionary(let old) = old, case .dictionary(let new) = new {
            let changes = ChangeSet(Self.changes(from: old, to: new), of: old)
            guard let inner = try? XMLLayout(of: slot.valueStart, in: bytes, wanting: changes.contains) else { return }
            return edit(inner, of: old, changes, default: style)
        }
        var writer = writer(style)
        writer.append(new)
        replacements.append((slot.valueStart..<slot.valueEnd, writer.bytes))
    }

    private func writer(_ layout: XMLWriter.Layout) -> XMLWriter {
        XMLWriter(layout: layout, unit: unit, newline: newline, isASCII: isASCII)
    }

    /// The bytes to take away for entries, neighbours taken together: whole lines where nothing else stands in them,
    /// otherwise the entry and the blanks on one side of it.
    private func removals(_ slots: [XMLLayout.Slot]) -> [Range<Int>] {
        var groups: [Range<Int>] = []
        for slot in slots {
            if let last = groups.last, bytes[last.upperBound..<slot.keyStart].allSatisfy(\.isXMLWhiteSpace) {
                groups[groups.count - 1] = last.lowerBound..<slot.valueEnd
            } else {
                groups.append(slot.keyStart..<slot.valueEnd)
            }
        }
        return groups.map { group in
            var (start, end) = (group.lowerBound, group.upperBound)
            if let indentation = bytes.indentation(before: start) {
                if let lineEnd = bytes.lineEnd(after: end) { return start - indentation.count..<lineEnd }
                while end < bytes.count, bytes[end].isBlank { end += 1 }
            } else {
                while bytes[start - 1].isBlank { start -= 1 }
            }
            return start..<end
        }
    }

    /// Puts new entries after the last thing that stays in the dictionary, be it an entry or a comment.
    private mutating func insert(
        _ entries: [(Key, Value)], into layout: XMLLayout, without removed: [XMLLayout.Slot], style: XMLWriter.Layout
    ) {
        let (entryStyle, before, between) = entryStyle(layout, style)
        var writer = writer(entryStyle)
        if layout.tag.isEmpty { writer.append(">") }
        for (key, value) in entries {
            writer.append(raw: before)
            writer.append(key: key)
            writer.append(raw: between)
            writer.append(value)
        }
        let place = layout.tag.isEmpty ? emptyTagEnd(layout.tag) : contentEnd(layout, without: removed)
        if layout.model == nil, case .lines(let indentation) = style,
            !bytes[place.lowerBound..<layout.contentEnd].contains(where: { $0 == 0x0A || $0 == 0x0D })
        {
            writer.append(raw: newline + indentation)
        }
        if layout.tag.isEmpty { writer.append("</dict>") }
        replacements.append((place, writer.bytes))
    }

    /// How a new entry is laid out, what stands before it, and what between its key and its value: as its model has it.
    private func entryStyle(
        _ layout: XMLLayout, _ style: XMLWriter.Layout
    ) -> (style: XMLWriter.Layout, before: [UInt8], between: [UInt8]) {
        guard let model = layout.model else {
            guard case .lines(let indentation) = style else { return (.inline, [], []) }
            let inner = layout.commentIndentation ?? indentation + unit
            return (.lines(indentation: inner), newline + inner, newline + inner)
        }
        let between = [UInt8](bytes[model.keyEnd..<model.valueStart])
        let isPlain = between.allSatisfy(\.isXMLWhiteSpace)
        if let indentation = bytes.indentation(before: model.keyStart) {
            let before = newline + indentation
            return (.lines(indentation: indentation), before, isPlain ? between : before)
        }
        var start = model.keyStart
        while bytes[start - 1].isBlank { start -= 1 }
        return (.inline, [UInt8](bytes[start..<model.keyStart]), isPlain ? between : [])
    }

    /// The `/>` of `<dict/>` with the blanks before it.
    private func emptyTagEnd(_ tag: XMLTag) -> Range<Int> {
        var start = tag.end - 2
        while bytes[start - 1].isXMLWhiteSpace { start -= 1 }
        return start..<tag.end
    }

    /// The end of the last entry or comment that stays, or of the start tag.
    private func contentEnd(_ layout: XMLLayout, without removed: [XMLLayout.Slot]) -> Range<Int> {
        var end = layout.contentEnd
        var gone = removed[...]
        while true {
            while end > layout.tag.end, bytes[end - 1].isXMLWhiteSpace { end -= 1 }
            guard let last = gone.last, last.valueEnd == end else { return end..<end }
            gone.removeLast()
            end = last.keyStart
        }
    }
}

/// The changes of one dictionary, by key and in order.
private struct ChangeSet {
    private(set) var values: [Key: Value?] = [:]
    private(set) var order: [Key] = []

    /// Where a key is named twice its last change counts; what changes nothing is left out.
    init(_ changes: [(key: Key, value: Value?)], of entries: [Key: Value]) {
        for (key, value) in changes {
            if values.updateValue(value, forKey: key) == nil { order.append(key) }
        }
        for (key, value) in values {
            let old = entries[key]
            let isSame = if let value, let old { value.isWritten(like: old) } else { value == nil && old == nil }
            if isSame { values.removeValue(forKey: key) }
        }
        order.removeAll { values[$0] == nil }
    }

    var isEmpty: Bool { values.isEmpty }

    func contains(_ key: Key) -> Bool { values[key] != nil }
}
