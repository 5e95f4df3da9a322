package import PropertyList
package import Varlink

/// Why a JSON value is no `Value` of the interface.
package enum WireValueProblem: Error, Equatable, Sendable {
    /// Not the shape that the interface describes: no object, an unknown field, an array where a text belongs.
    case structure
    /// The right shape with a wrong content; the text says what was expected.
    case content(String)
}

extension JSONWriter {
    /// A value as the interface's tagged type `Value`.
    package mutating func write(_ value: Value) {
        switch value {
        case .string(let text):
            beginObject(.string)
            string(text)
        case .integer(let number):
            beginObject(.integer)
            integer(number)
        case .real(let number) where number.isFinite:
            beginObject(.real)
            real(number)
        case .boolean(let flag):
            beginObject(.boolean)
            boolean(flag)
        case .array(let elements):
            beginObject(.array)
            beginArray()
            for element in elements { write(element) }
            endArray()
        case .dictionary(let entries):
            beginObject(.dictionary)
            write(entries)
        case .unsignedInteger, .real, .date, .data: beginText(of: value)
        }
        endObject()
    }

    /// The values that JSON can carry as texts only.
    private mutating func beginText(of value: Value) {
        switch value {
        case .unsignedInteger(let number):
            beginObject(.number)
            string(String(number))
        case .real(let number):
            beginObject(.number)
            string(NonFinite.name(of: number))
        case .date(let date):
            beginObject(.date)
            string(date.rfc3339)
        case .data(let bytes):
            beginObject(.data)
            string(String(decoding: Base64.encode(bytes), as: UTF8.self))
        default: preconditionFailure("\(value.kind) is no text")
        }
    }

    /// A map of the interface's type `[string]Value`, in the order of the keys.
    package mutating func write(_ values: [Key: Value]) {
        beginObject()
        for key in values.keys.sorted() {
            guard let value = values[key] else { continue }
            member(key.string)
            write(value)
        }
        endObject()
    }
}

extension Value {
    package init(wire json: JSON) throws(WireValueProblem) {
        guard case .object(let object) = json else { throw .structure }
        var set: (name: String, value: JSON)?
        for (name, value) in object {
            if value.isNull {
                // Null is the same as absent, but only for a field that there is.
                guard Value.fieldNames.contains(name) else { throw .structure }
                continue
            }
            guard set == nil else {
                throw .content("a value has exactly one field, this one has both \(set?.name ?? "") and \(name)")
            }
            set = (name, value)
        }
        guard let set else { throw .content("a value has exactly one field, this one has none") }
        self = try Value.field(set.name, set.value)
    }

    private static let fieldNames: Set = [
        "string", "integer", "real", "boolean", "date", "data", "array", "dictionary", "number",
    ]

    private static func field(_ name: String, _ json: JSON) throws(WireValueProblem) -> Value {
        switch name {
        case "string": return .string(try text(json))
        case "integer": return try integer(json)
        case "real":
            guard let number = json.realValue else { throw .structure }
            return .real(number)
        case "boolean":
            guard let flag = json.booleanValue else { throw .structure }
            return .boolean(flag)
        case "date":
            guard let date = Timestamp(rfc3339: try text(json)) else {
                throw .content("a date reads like 2026-11-30T09:00:00Z, with at most six digits of fraction")
            }
            return .date(date)
        case "data":
            guard let bytes = Base64.decode(try text(json).utf8) else { throw .content("data is base64 with padding") }
            return .data(bytes)
        case "array":
            guard let elements = json.arrayValue else { throw .structure }
            var values: [Value] = []
            values.reserveCapacity(elements.count)
            for element in elements { values.append(try Value(wire: element)) }
            return .array(values)
        case "dictionary": return .dictionary(try [Key: Value](wire: json))
        case "number": return try number(try text(json))
        default: throw .structure
        }
    }

    private static func text(_ json: JSON) throws(WireValueProblem) -> String {
        guard let text = json.stringValue else { throw .structure }
        return text
    }

    private static func integer(_ json: JSON) throws(WireValueProblem) -> Value {
        switch json {
        case .integer(let number): return .integer(number)
        case .real:
            throw .content(
                "an integer has no point or exponent and lies within 64 bits: use real, or number above Int64.max")
        default: throw .structure
        }
    }

    private static func number(_ text: String) throws(WireValueProblem) -> Value {
        if let number = NonFinite.number(named: text) { return .real(number) }
        guard let number = UInt64(text), number > UInt64(Int64.max), String(number) == text else {
            throw .content(
                "number is an integer above 9223372036854775807 up to 18446744073709551615, nan, +infinity or -infinity"
            )
        }
        return .unsignedInteger(number)
    }
}

extension [Key: Value] {
    package init(wire json: JSON) throws(WireValueProblem) {
        guard case .object(let object) = json else { throw .structure }
        self.init(minimumCapacity: object.count)
        for (name, value) in object {
            self[Key(name)] = try Value(wire: value)
        }
    }
}

/// The reals that JSON has no numbers for, by the names that property lists use.
private enum NonFinite {
    static func name(of number: Double) -> String {
        if number.isNaN { return "nan" }
        return number > 0 ? "+infinity" : "-infinity"
    }

    static func number(named name: String) -> Double? {
        switch name {
        case "nan": .nan
        case "+infinity": .infinity
        case "-infinity": -.infinity
        default: nil
        }
    }
}
