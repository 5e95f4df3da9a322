import FoundationEssentials
import PropertyList

/// Turns a `Codable` value into a property-list value: members become entries of a dictionary, elements those of an array,
/// and `Date`, `Data` and `URL` have the form that the setters give them. No key is added, nothing is packed into a blob:
/// what is stored reads and edits like any other setting.
///
/// A property list has no nil: optional members that are nil are left out (as `encodeIfPresent` does), a nil inside an array
/// or as a dictionary's entry is an error. Used once for one value, in the caller's thread.
enum PropertyListValueEncoder {
    static func encode(_ value: some Encodable) throws(AppGroupError) -> Value {
        do {
            let slot = Slot()
            try SlotEncoder(slot, []).encode(value)
            return try slot.finished([])
        } catch let error as AppGroupError {
            throw error
        } catch let EncodingError.invalidValue(_, context) {
            throw AppGroupError(.invalidValue, "\(context.debugDescription)\(place(context.codingPath))")
        } catch {
            throw AppGroupError(.invalidValue, "the value does not encode: \(error)")
        }
    }

    /// Where in a value something is, for people: ` at friends[2].name`.
    static func place(_ path: [any CodingKey]) -> String {
        guard !path.isEmpty else { return "" }
        var text = ""
        for key in path {
            if let index = key.intValue, key is PathIndex {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
        return " at \(text)"
    }
}

/// The place of an element in an array, as a coding key.
struct PathIndex: CodingKey {
    let index: Int

    init(_ index: Int) { self.index = index }
    init(intValue: Int) { index = intValue }
    init?(stringValue: String) { return nil }
    var intValue: Int? { index }
    var stringValue: String { String(index) }
}

/// The key of what a superclass encodes.
struct SuperKey: CodingKey {
    init() {}
    init?(stringValue: String) { return nil }
    init?(intValue: Int) { return nil }
    var intValue: Int? { nil }
    var stringValue: String { "super" }
}

/// A value in the making. Shared by the containers that were asked for one place; lives as long as one encoding.
private final class Slot {
    enum Content {
        case empty
        case value(Value)
        case array([Slot])
        case dictionary([Key: Slot])
    }

    var content = Content.empty
    /// Two kinds of containers were asked for: what the type does wrong shows at the end, since asking cannot throw.
    private var isTorn = false

    func becomeArray() {
        switch content {
        case .array: break
        case .empty: content = .array([])
        case .value, .dictionary: isTorn = true
        }
    }

    func becomeDictionary() {
        switch content {
        case .dictionary: break
        case .empty: content = .dictionary([:])
        case .value, .array: isTorn = true
        }
    }

    func put(_ value: Value) {
        guard case .empty = content else {
            isTorn = true
            return
        }
        content = .value(value)
    }

    var count: Int {
        guard case .array(let slots) = content else { return 0 }
        return slots.count
    }

    func appendSlot() -> Slot {
        let slot = Slot()
        guard case .array(var slots) = content else { return slot }
        content = .empty
        slots.append(slot)
        content = .array(slots)
        return slot
    }

    func slot(_ key: String) -> Slot {
        guard case .dictionary(var slots) = content else { return Slot() }
        let slot = Slot()
        content = .empty
        slots[Key(key)] = slot
        content = .dictionary(slots)
        return slot
    }

    /// The slot of a container for this key: the same one when it is asked for again.
    func container(_ key: String) -> Slot {
        guard case .dictionary(let slots) = content, let slot = slots[Key(key)] else { return slot(key) }
        return slot
    }

    func finished(_ path: [any CodingKey]) throws -> Value {
        guard !isTorn else { throw Self.problem("the type encodes itself in two ways at once", path) }
        switch content {
        case .empty: throw Self.problem("the type encodes nothing", path)
        case .value(let value): return value
        case .array(let slots):
            return .array(try slots.enumerated().map { try $1.finished(path + [PathIndex($0)]) })
        case .dictionary(let slots):
            var entries: [Key: Value] = [:]
            for (key, slot) in slots { entries[key] = try slot.finished(path + [TextKey(key.string)]) }
            return .dictionary(entries)
        }
    }

    static func problem(_ text: String, _ path: [any CodingKey]) -> EncodingError {
        .invalidValue((), EncodingError.Context(codingPath: path, debugDescription: text))
    }
}

/// Any text as a coding key.
struct TextKey: CodingKey {
    let stringValue: String

    init(_ text: String) { stringValue = text }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { return nil }
    var intValue: Int? { nil }
}

/// The encoder of one place.
private struct SlotEncoder: Encoder {
    let slot: Slot
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ slot: Slot, _ path: [any CodingKey]) {
        self.slot = slot
        codingPath = path
    }

    func encode(_ value: some Encodable) throws {
        // Before its own encoding: Date would become a number, URL a dictionary.
        switch value {
        case let date as Date: try put(date)
        case let data as Data: try put(data)
        case let url as URL: try put(url)
        default: try value.encode(to: self)
        }
    }

    func put(_ value: some GroupDefaultsStorable) throws {
        guard let stored = value.storedValue else {
            throw Slot.problem("a property list cannot carry this \(type(of: value))", codingPath)
        }
        slot.put(stored.value)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        slot.becomeDictionary()
        return KeyedEncodingContainer(KeyedSlots(slot: slot, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        slot.becomeArray()
        return UnkeyedSlots(slot: slot, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleSlot(encoder: self) }
}

private struct SingleSlot: SingleValueEncodingContainer {
    let encoder: SlotEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() throws { throw Slot.problem("a property list has no nil", codingPath) }
    func encode(_ value: Bool) throws { try encoder.put(value) }
    func encode(_ value: String) throws { try encoder.put(value) }
    func encode(_ value: Double) throws { try encoder.put(value) }
    func encode(_ value: Float) throws { try encoder.put(value) }
    func encode(_ value: Int) throws { try encoder.put(value) }
    func encode(_ value: Int8) throws { try encoder.put(value) }
    func encode(_ value: Int16) throws { try encoder.put(value) }
    func encode(_ value: Int32) throws { try encoder.put(value) }
    func encode(_ value: Int64) throws { try encoder.put(value) }
    func encode(_ value: UInt) throws { try encoder.put(value) }
    func encode(_ value: UInt8) throws { try encoder.put(value) }
    func encode(_ value: UInt16) throws { try encoder.put(value) }
    func encode(_ value: UInt32) throws { try encoder.put(value) }
    func encode(_ value: UInt64) throws { try encoder.put(value) }
    func encode(_ value: some Encodable) throws { try encoder.encode(value) }
}

private struct UnkeyedSlots: UnkeyedEncodingContainer {
    let slot: Slot
    let codingPath: [any CodingKey]
    var count: Int { slot.count }

    private func next() -> SlotEncoder {
        let path = codingPath + [PathIndex(count)]
        return SlotEncoder(slot.appendSlot(), path)
    }

    func encodeNil() throws {
        throw Slot.problem("a property list has no nil", codingPath + [PathIndex(count)])
    }

    func encode(_ value: Bool) throws { try next().put(value) }
    func encode(_ value: String) throws { try next().put(value) }
    func encode(_ value: Double) throws { try next().put(value) }
    func encode(_ value: Float) throws { try next().put(value) }
    func encode(_ value: Int) throws { try next().put(value) }
    func encode(_ value: Int8) throws { try next().put(value) }
    func encode(_ value: Int16) throws { try next().put(value) }
    func encode(_ value: Int32) throws { try next().put(value) }
    func encode(_ value: Int64) throws { try next().put(value) }
    func encode(_ value: UInt) throws { try next().put(value) }
    func encode(_ value: UInt8) throws { try next().put(value) }
    func encode(_ value: UInt16) throws { try next().put(value) }
    func encode(_ value: UInt32) throws { try next().put(value) }
    func encode(_ value: UInt64) throws { try next().put(value) }
    func encode(_ value: some Encodable) throws { try next().encode(value) }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        next().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }
    func superEncoder() -> any Encoder { next() }
}

private struct KeyedSlots<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let slot: Slot
    let codingPath: [any CodingKey]

    private func at(_ key: some CodingKey) -> SlotEncoder {
        SlotEncoder(slot.slot(key.stringValue), codingPath + [key])
    }

    private func container(at key: some CodingKey) -> SlotEncoder {
        SlotEncoder(slot.container(key.stringValue), codingPath + [key])
    }

    /// Left out: absence is how a dictionary says nil, and what `decodeNil(forKey:)` and `decodeIfPresent` read as nil.
    func encodeNil(forKey key: Key) throws {}

    func encode(_ value: Bool, forKey key: Key) throws { try at(key).put(value) }
    func encode(_ value: String, forKey key: Key) throws { try at(key).put(value) }
    func encode(_ value: Double, forKey key: Key) throws { try at(key).put(value) }
    func encode(_ value: Float, forKey key: Key) throws { try at(key).put(value) }
    func encode(_ value: Int, forKey key: Key) throws { try at(key).put(value) }
    func encode(_ value: Int8, forKey key: Key) throws { try at(key).put(value) }
    func encode(_ value: Int16, forKey key: Key) throws { try at(key).put(value) }
    func encode(_ value: Int32, forKey key: Key) throws { try at(key).put(value) }
    func encode(_ value: Int64, forKey key: Key) throws { try at(key).put(value) }
    func encode(_ value: UInt, forKey key: Key) throws { try at(key).put(value) }
    func encode(_ value: UInt8, forKey key: Key) throws { try at(key).put(value) }
    func encode(_ value: UInt16, forKey key: Key) throws { try at(key).put(value) }
    func encode(_ value: UInt32, forKey key: Key) throws { try at(key).put(value) }
    func encode(_ value: UInt64, forKey key: Key) throws { try at(key).put(value) }
    func encode(_ value: some Encodable, forKey key: Key) throws { try at(key).encode(value) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        container(at: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        container(at: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { at(SuperKey()) }
    func superEncoder(forKey key: Key) -> any Encoder { at(key) }
}
