import FoundationEssentials

/// Reads the `NSURL` that Apple's `UserDefaults` stores for a URL: a keyed archive in a binary property list.
///
/// Only what is needed for that: the root object, its `NS.relative` text and its `NS.base`, which is another one. Pure; any
/// bytes may come, and every offset is checked.
struct ArchivedURL {
    private let bytes: [UInt8]
    private let offsets: [Int]
    private let referenceSize: Int
    private let top: Int

    static func url(_ bytes: [UInt8]) -> URL? {
        guard let archive = ArchivedURL(bytes), let archived = archive.dictionary(archive.top),
            let top = archived["$top"].flatMap(archive.dictionary), let root = top["root"].flatMap(archive.identifier),
            let objects = archived["$objects"].flatMap(archive.array)
        else { return nil }
        return archive.url(root, in: objects, levels: 8)
    }

    /// So many bases may follow each other at most: an archive may name itself.
    private func url(_ identifier: Int, in objects: [Int], levels: Int) -> URL? {
        guard levels > 0, objects.indices.contains(identifier), let object = dictionary(objects[identifier]),
            let relative = object["NS.relative"].flatMap(self.identifier), objects.indices.contains(relative),
            let text = string(objects[relative])
        else { return nil }
        // Object 0 of a keyed archive is nil.
        guard let base = object["NS.base"].flatMap(self.identifier), base != 0 else { return URL(string: text) }
        guard let base = url(base, in: objects, levels: levels - 1) else { return nil }
        return URL(string: text, relativeTo: base)?.absoluteURL
    }
}

// MARK: - The binary property list

extension ArchivedURL {
    private init?(_ bytes: [UInt8]) {
        let trailer = bytes.count - 32
        guard bytes.starts(with: "bplist00".utf8), trailer >= 9, bytes.count <= 1 << 20 else { return nil }
        let offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        self.bytes = bytes
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let count = Self.number(bytes, trailer + 8, 8), let top = Self.number(bytes, trailer + 16, 8),
            let table = Self.number(bytes, trailer + 24, 8), table >= 8, table <= trailer, top < count,
            count <= (trailer - table) / offsetSize
        else { return nil }
        self.top = top
        offsets = (0..<count).map { Self.number(bytes, table + $0 * offsetSize, offsetSize) ?? bytes.count }
    }

    /// A big-endian number; nil where it is out of the bytes or too large.
    private static func number(_ bytes: [UInt8], _ start: Int, _ size: Int) -> Int? {
        guard start >= 0, size >= 1, size <= 8, start <= bytes.count - size else { return nil }
        return Int(exactly: bytes[start..<start + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// An object's kind, how much it has of it, and where that begins.
    private func object(_ number: Int) -> (kind: UInt8, count: Int, start: Int)? {
        guard offsets.indices.contains(number), bytes.indices.contains(offsets[number]) else { return nil }
        let offset = offsets[number]
        let (kind, short) = (bytes[offset] >> 4, Int(bytes[offset] & 0x0F))
        guard short == 0x0F, kind != 0 else { return (kind, short, offset + 1) }
        guard bytes.indices.contains(offset + 1), bytes[offset + 1] & 0xF0 == 0x10, bytes[offset + 1] & 0x0F <= 3
        else { return nil }
        let size = 1 << Int(bytes[offset + 1] & 0x0F)
        guard let count = Self.number(bytes, offset + 2, size), count <= bytes.count else { return nil }
        return (kind, count, offset + 2 + size)
    }

    private func references(_ start: Int, _ count: Int) -> [Int]? {
        guard count <= (bytes.count - start) / referenceSize else { return nil }
        return (0..<count).map { Self.number(bytes, start + $0 * referenceSize, referenceSize) ?? -1 }
    }

    private func dictionary(_ number: Int) -> [String: Int]? {
        guard let (kind, count, start) = object(number), kind == 0xD, let keys = references(start, count),
            let values = references(start + count * referenceSize, count)
        else { return nil }
        var entries: [String: Int] = [:]
        for (key, value) in zip(keys, values) {
            guard let key = string(key) else { return nil }
            entries[key] = value
        }
        return entries
    }

    private func array(_ number: Int) -> [Int]? {
        guard let (kind, count, start) = object(number), kind == 0xA else { return nil }
        return references(start, count)
    }

    /// The object that a reference of the archive (a UID) stands for.
    private func identifier(_ number: Int) -> Int? {
        guard let (kind, size, start) = object(number), kind == 0x8 else { return nil }
        return Self.number(bytes, start, size + 1)
    }

    private func string(_ number: Int) -> String? {
        guard let (kind, count, start) = object(number), start <= bytes.count else { return nil }
        switch kind {
        case 0x5 where count <= bytes.count - start:
            return String(decoding: bytes[start..<start + count], as: UTF8.self)
        case 0x6 where count <= (bytes.count - start) / 2:
            let units = (0..<count).map { UInt16(bytes[start + 2 * $0]) << 8 | UInt16(bytes[start + 2 * $0 + 1]) }
            return String(decoding: units, as: UTF16.self)
        default: return nil
        }
    }
}
