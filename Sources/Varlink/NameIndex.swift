/// Finds a name among the members of a large object: an open-addressing hash table of positions.
///
/// Part of a `JSONObject` and as short-lived. A slot holds 32 bits of the hash above and the position plus one below;
/// zero is an empty slot. The hash is Swift's seeded one, so that nobody can prepare names that collide.
struct NameIndex: Sendable {
    private var slots: [UInt64]

    init(of members: [JSONObject.Element]) {
        slots = Array(repeating: 0, count: Self.slotCount(for: members.count))
        for (position, member) in members.enumerated() {
            place(Self.hash(of: member.name), position: position)
        }
    }

    func position(of name: String, in members: [JSONObject.Element]) -> Int? {
        find(name, hash: Self.hash(of: name), in: members)
    }

    /// Enters a name that is to be appended to `members`.
    ///
    /// - Returns: False, and nothing is entered, when the name is there.
    mutating func insert(_ name: String, among members: [JSONObject.Element]) -> Bool {
        let hash = Self.hash(of: name)
        guard find(name, hash: hash, in: members) == nil else { return false }
        if (members.count + 1) * 2 > slots.count { grow() }
        place(hash, position: members.count)
        return true
    }

    private func find(_ name: String, hash: UInt32, in members: [JSONObject.Element]) -> Int? {
        let mask = slots.count - 1
        var slot = Int(hash) & mask
        while slots[slot] != 0 {
            if UInt32(truncatingIfNeeded: slots[slot] >> 32) == hash {
                let position = Self.position(slots[slot])
                if members[position].name.hasSameBytes(as: name) { return position }
            }
            slot = (slot + 1) & mask
        }
        return nil
    }

    private mutating func place(_ hash: UInt32, position: Int) {
        place(UInt64(hash) << 32 | UInt64(position + 1))
    }

    private mutating func place(_ entry: UInt64) {
        let mask = slots.count - 1
        var slot = Int(entry >> 32) & mask
        while slots[slot] != 0 {
            slot = (slot + 1) & mask
        }
        slots[slot] = entry
    }

    private mutating func grow() {
        let entries = slots
        slots = Array(repeating: 0, count: entries.count * 2)
        for entry in entries where entry != 0 {
            place(entry)
        }
    }

    private static func position(_ entry: UInt64) -> Int {
        Int(entry & 0xFFFF_FFFF) - 1
    }

    /// A power of two that leaves at least half of the slots free.
    private static func slotCount(for count: Int) -> Int {
        var slots = 64
        while slots < count * 2 { slots *= 2 }
        return slots
    }

    private static func hash(of name: String) -> UInt32 {
        var hasher = Hasher()
        let bytes = name.utf8.span
        var word: UInt64 = 0
        for index in bytes.indices {
            word = word << 8 | UInt64(bytes[index])
            if index & 7 == 7 {
                hasher.combine(word)
                word = 0
            }
        }
        hasher.combine(word)
        hasher.combine(bytes.count)
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }
}
