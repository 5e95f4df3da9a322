/// Many keys with their values and a number each, the revision that they got last: keys and values as bytes in one row, and
/// a hash table of places in it.
///
/// A `Dictionary` of a hundred thousand short settings has two objects for each, 25 MiB in all; this has none, and takes a
/// quarter of that. Values are made when they are asked for. A value type: whoever copies it shares the arrays until one
/// of both is changed.
package struct EntryTable: Sendable {
    private struct Entry {
        var revision: Int64
        /// Of the key in `bytes`; the value's packed form stands behind it.
        var offset: Int
        var keySize: UInt32
        var valueSize: UInt32

        var key: Range<Int> { offset..<offset + Int(keySize) }
        var value: Range<Int> { offset + Int(keySize)..<offset + Int(keySize) + Int(valueSize) }
        var size: Int { Int(keySize) + Int(valueSize) }
    }

    /// In no order: the last one takes the place of one that is removed.
    private var entries: [Entry] = []
    /// Open addressing. Of an entry the 32 bits of its hash, which is also where it wants to be, and its index + 1; 0 is
    /// a free place. Four of five are taken at most, and the number is a power of two.
    private var slots: [UInt64] = []
    private var bytes: [UInt8] = []
    /// How much of `bytes` belongs to no entry any more.
    private var garbage = 0

    /// Garbage below this is not worth the work, in bytes.
    private static let leastGarbage = 64 << 10

    package init() {}

    package var count: Int { entries.count }

    /// What the keys and the packed values take, in bytes.
    package var storedSize: Int { bytes.count - garbage }

    /// Makes room for so many entries of so many bytes in all: to grow step by step means to copy everything several times.
    package mutating func reserve(count: Int, storedSize: Int) {
        entries.reserveCapacity(count)
        bytes.reserveCapacity(storedSize)
        var size = 8
        while count * 5 > size * 4 { size *= 2 }
        if size > slots.count { resize(to: size) }
    }
}

// MARK: - Looking up

extension EntryTable {
    package subscript(key: Key) -> Value? {
        guard let slot = slot(of: key) else { return nil }
        return value(at: index(in: slot))
    }

    package func revision(of key: Key) -> Int64? {
        slot(of: key).map { entries[index(in: $0)].revision }
    }

    package func contains(_ key: Key) -> Bool { slot(of: key) != nil }

    /// What stands at the places from 0 to `count`, in no order; a change moves it.
    package func key(at index: Int) -> Key { Key(String(copying: bytes.span.extracting(entries[index].key))) }

    package func value(at index: Int) -> Value { Value(packed: bytes.span.extracting(entries[index].value)) }

    /// Where the key with these bytes is; a change moves it.
    package func index(ofKey utf8: Span<UInt8>) -> Int? {
        slot(of: utf8, hash(utf8)).map(index(in:))
    }

    package func revision(at index: Int) -> Int64 { entries[index].revision }

    /// Gives the UTF-8 of the string there to `body`, without making a string of it; nil where the value is none.
    package func withString<Result>(at index: Int, _ body: (Span<UInt8>) -> Result) -> Result? {
        let packed = bytes.span.extracting(entries[index].value)
        return Value.isString(packed: packed) ? body(packed.extracting(droppingFirst: 1)) : nil
    }

    private func index(in slot: Int) -> Int { Int(truncatingIfNeeded: slots[slot] & 0xFFFF_FFFF) - 1 }

    private func slot(of key: Key) -> Int? {
        let text = key.string.utf8.span
        return slot(of: text, hash(text))
    }

    private func slot(ofEntry index: Int) -> Int? {
        let text = bytes.span.extracting(entries[index].key)
        return slot(of: text, hash(text))
    }

    private func slot(of text: Span<UInt8>, _ hash: UInt32) -> Int? {
        guard !slots.isEmpty else { return nil }
        let mask = slots.count - 1
        var slot = Int(hash) & mask
        while slots[slot] != 0 {
            if UInt32(truncatingIfNeeded: slots[slot] >> 32) == hash {
                let entry = entries[index(in: slot)]
                if bytes.span.extracting(entry.key).isIdentical(to: text) { return slot }
            }
            slot = (slot + 1) & mask
        }
        return nil
    }

    private func hash(_ text: Span<UInt8>) -> UInt32 { UInt32(truncatingIfNeeded: KeyHash.hash(text) >> 32) }
}

// MARK: - Changing

extension EntryTable {
    /// - Returns: the revision that the key had, if it was there.
    @discardableResult
    package mutating func update(_ key: Key, _ value: Value, revision: Int64) -> Int64? {
        let text = key.string.utf8.span
        let hash = hash(text)
        let size = value.packedSize
        if let slot = slot(of: text, hash) {
            return replace(index(in: slot), key, value, size, revision)
        }
        let entry = Entry(
            revision: revision, offset: bytes.count, keySize: UInt32(text.count), valueSize: UInt32(size))
        makeRoom(text.count + size)
        bytes.append(contentsOf: key.string.utf8)
        value.pack(to: &bytes)
        insert(entry, hash)
        return nil
    }

    private mutating func replace(
        _ index: Int, _ key: Key, _ value: Value, _ size: Int, _ revision: Int64
    ) -> Int64 {
        let old = entries[index]
        entries[index].revision = revision
        if size == Int(old.valueSize) {
            overwrite(at: old.value.lowerBound, with: value)
            return old.revision
        }
        garbage += old.size
        makeRoom(Int(old.keySize) + size)
        entries[index].offset = bytes.count
        entries[index].valueSize = UInt32(size)
        bytes.append(contentsOf: key.string.utf8)
        value.pack(to: &bytes)
        collectGarbage()
        return old.revision
    }

    /// Puts another string, which is UTF-8, in the place of the string that is there.
    package mutating func replaceString(at index: Int, with text: Span<UInt8>, revision: Int64) {
        var entry = entries[index]
        entry.revision = revision
        if text.count + 1 == Int(entry.valueSize) {
            bytes.overwrite(at: entry.value.lowerBound + 1, with: text)
        } else {
            garbage += entry.size
            makeRoom(Int(entry.keySize) + 1 + text.count)
            let start = bytes.count
            // The key and the tag are those of before.
            for place in entry.offset...entry.value.lowerBound {
                let byte = bytes[place]
                bytes.append(byte)
            }
            bytes.append(copying: text)
            entry.offset = start
            entry.valueSize = UInt32(text.count + 1)
        }
        entries[index] = entry
        collectGarbage()
    }

    /// In the place of one of the same size.
    private mutating func overwrite(at offset: Int, with value: Value) {
        let end = bytes.count
        value.pack(to: &bytes)
        var index = offset
        for source in end..<bytes.count {
            bytes[index] = bytes[source]
            index += 1
        }
        bytes.removeLast(bytes.count - end)
    }

    /// - Returns: the revision that the key had, if it was there.
    @discardableResult
    package mutating func remove(_ key: Key) -> Int64? {
        guard let slot = slot(of: key) else { return nil }
        let index = index(in: slot)
        let old = entries[index]
        free(slot)
        garbage += old.size
        let last = entries.count - 1
        if index < last {
            if let its = self.slot(ofEntry: last) { slots[its] = (slots[its] & ~0xFFFF_FFFF) | UInt64(index + 1) }
            let entry = entries[last]
            entries[index] = entry
        }
        entries.removeLast()
        collectGarbage()
        return old.revision
    }

    /// Closes the gap: those behind it move to where they would rather be.
    private mutating func free(_ slot: Int) {
        let mask = slots.count - 1
        var gap = slot
        var next = (slot + 1) & mask
        while slots[next] != 0 {
            let wish = Int(slots[next] >> 32) & mask
            // How far it stands from its wish, and how far the gap does.
            if (next - wish) & mask >= (next - gap) & mask {
                let word = slots[next]
                slots[gap] = word
                gap = next
            }
            next = (next + 1) & mask
        }
        slots[gap] = 0
    }

    private mutating func insert(_ entry: Entry, _ hash: UInt32) {
        if (entries.count + 1) * 5 > slots.count * 4 { grow() }
        entries.append(entry)
        place(UInt64(hash) << 32 | UInt64(entries.count))
    }

    private mutating func place(_ word: UInt64) {
        let mask = slots.count - 1
        var slot = Int(word >> 32) & mask
        while slots[slot] != 0 { slot = (slot + 1) & mask }
        slots[slot] = word
    }

    private mutating func grow() {
        resize(to: max(8, slots.count * 2))
    }

    private mutating func resize(to count: Int) {
        let old = slots
        slots = [UInt64](repeating: 0, count: count)
        for word in old where word != 0 { place(word) }
    }

    /// Growing by a quarter: the room that is not used yet may be a good part of what a large group takes.
    private mutating func makeRoom(_ size: Int) {
        let needed = bytes.count + size
        if needed > bytes.capacity { bytes.reserveCapacity(max(needed, bytes.capacity + bytes.capacity / 4)) }
    }

    private mutating func collectGarbage() {
        guard garbage > max(Self.leastGarbage, bytes.count / 2) else { return }
        var kept: [UInt8] = []
        kept.reserveCapacity(bytes.count - garbage)
        for index in entries.indices {
            let entry = entries[index]
            entries[index].offset = kept.count
            kept.append(contentsOf: bytes[entry.offset..<entry.offset + entry.size])
        }
        bytes = kept
        garbage = 0
    }
}
