import FoundationEssentials
import PropertyList

/// Property-list values as the `Any` of the untyped API, and back.
extension Value {
    /// Why something is no property-list value, and where in it.
    struct NotPropertyList: Error, Equatable {
        /// As `[2]["name"]`; empty for the value itself.
        var path: String
        var reason: String
    }

    /// Takes strings, numbers, booleans, dates, data, arrays, and dictionaries with string keys; also what bridges to
    /// them, such as `NSNumber`. Anything else is refused as a whole, nothing is left out (U02, R66).
    init(propertyList any: Any) throws(NotPropertyList) {
        try self.init(any, path: "", levels: Value.depthLimit)
    }

    private init(_ any: Any, path: String, levels: Int) throws(NotPropertyList) {
        if let storable = any as? any GroupDefaultsStorable, !(any is URL), !Self.isCollection(any) {
            self = try Self.stored(storable, path)
        } else if let scalar = Self.bridged(any) {
            self = scalar
        } else if let elements = any as? [Any] {
            self = .array(try Self.values(elements, path, levels))
        } else if let entries = any as? [String: Any] {
            self = .dictionary(try Self.entries(entries, path, levels))
        } else {
            throw NotPropertyList(path: path, reason: Self.refusal(of: any))
        }
    }

    /// Elements are converted one by one, so that an error can say which of them it is.
    private static func isCollection(_ any: Any) -> Bool { any is [Any] || any is [String: Any] }

    private static func stored(_ storable: any GroupDefaultsStorable, _ path: String) throws(NotPropertyList) -> Value {
        guard let stored = storable.storedValue else {
            let reason = "this \(type(of: storable)) is out of the range of property lists"
            throw NotPropertyList(path: path, reason: reason)
        }
        return stored.value
    }

    /// Objects of Foundation, and strings of other types. A number object tells neither integers from whole reals nor
    /// which width it had; what it does tell is whether it is a boolean.
    private static func bridged(_ any: Any) -> Value? {
        if let text = any as? Substring { return .string(String(text)) }
        if let character = any as? Character { return .string(String(character)) }
        guard type(of: any) is AnyClass else { return nil }
        if String(describing: type(of: any)).contains("Boolean"), let flag = any as? Bool { return .boolean(flag) }
        if let text = any as? String { return .string(text) }
        if let number = any as? Int64 { return .integer(number) }
        if let number = any as? UInt64 { return .unsigned(number) }
        if let number = any as? Double { return .real(number) }
        if let date = any as? Date { return date.storedValue?.value }
        if let data = any as? Data { return data.storedValue?.value }
        return nil
    }

    private static func values(_ elements: [Any], _ path: String, _ levels: Int) throws(NotPropertyList) -> [Value] {
        guard levels > 0 else { throw NotPropertyList(path: path, reason: "it has too many levels") }
        var values: [Value] = []
        values.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            values.append(try Value(element, path: "\(path)[\(index)]", levels: levels - 1))
        }
        return values
    }

    private static func entries(
        _ entries: [String: Any], _ path: String, _ levels: Int
    ) throws(NotPropertyList) -> [Key: Value] {
        guard levels > 0 else { throw NotPropertyList(path: path, reason: "it has too many levels") }
        var values: [Key: Value] = [:]
        values.reserveCapacity(entries.count)
        for (key, entry) in entries {
            values[Key(key)] = try Value(entry, path: "\(path)[\"\(key)\"]", levels: levels - 1)
        }
        return values
    }

    private static func refusal(of any: Any) -> String {
        if isNil(any) { return "a property list has no nil" }
        if any is URL { return "a URL is no property-list value in an Any: use its absoluteString" }
        if any is [AnyHashable: Any] { return "the keys of a dictionary have to be strings" }
        return "a property list has no \(type(of: any))"
    }

    /// Whether this is an empty optional in disguise.
    static func isNil(_ any: Any) -> Bool {
        guard let optional = any as? any OptionalValue else { return false }
        return optional.isAbsent
    }
}

/// Finds the nil in an `Any`.
private protocol OptionalValue {
    var isAbsent: Bool { get }
}

extension Optional: OptionalValue {
    /// Also nil inside an optional, however deep.
    var isAbsent: Bool {
        guard let self else { return true }
        return (self as? any OptionalValue)?.isAbsent ?? false
    }
}

extension Value {
    /// What `object(forKey:)` gives: `String`, `Int`, `UInt64` (above `Int.max`), `Double`, `Bool`, `Date`, `Data`,
    /// `[Any]` or `[String: Any]`, each of which casts to its own type only.
    var propertyList: Any {
        switch self {
        case .string(let text): text
        case .integer(let number): Int(number)
        case .unsignedInteger(let number): number
        case .real(let number): number
        case .boolean(let flag): flag
        case .date(let timestamp): Date(timestamp)
        case .data(let bytes): Data(bytes)
        case .array(let elements): elements.map(\.propertyList)
        case .dictionary(let entries): Value.propertyList(entries)
        }
    }

    /// Swift's dictionaries take canonically equivalent keys for one: of two such keys the one that sorts first is seen.
    static func propertyList(_ entries: [Key: Value]) -> [String: Any] {
        var result: [String: Any] = [:]
        result.reserveCapacity(entries.count)
        for (key, value) in entries { result[key.string] = value.propertyList }
        guard result.count < entries.count else { return result }
        for (key, value) in entries.sorted(by: { $0.key > $1.key }) {
            result.removeValue(forKey: key.string)
            result[key.string] = value.propertyList
        }
        return result
    }
}

// MARK: - Dates

extension Date {
    init(_ timestamp: Timestamp) {
        let (microseconds, overflow) = timestamp.microseconds.subtractingReportingOverflow(Timestamp.reference)
        self.init(timeIntervalSinceReferenceDate: Double(overflow ? timestamp.microseconds : microseconds) / 1_000_000)
    }
}

extension Timestamp {
    /// 2001-01-01, the beginning of Foundation's time, in microseconds since 1970.
    fileprivate static let reference: Int64 = 978_307_200_000_000

    /// To the nearest microsecond; nil for what is out of the years 0001 to 9999.
    init?(_ date: Date) {
        let microseconds = (date.timeIntervalSinceReferenceDate * 1_000_000).rounded()
        guard let exact = Int64(exactly: microseconds) else { return nil }
        let (sum, overflow) = exact.addingReportingOverflow(Self.reference)
        let timestamp = Timestamp(microseconds: sum)
        guard !overflow, Timestamp.representable.contains(timestamp) else { return nil }
        self = timestamp
    }
}
