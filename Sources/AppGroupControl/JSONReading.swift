package import PropertyList
package import Varlink

/// Values from the JSON that `JSONRendering` makes, and from any other JSON: the inverse of it.
package enum JSONReading {
    /// What cannot be a value, and where: the names and numbers that lead there.
    package struct Problem: Error, Equatable, Sendable {
        package var path: String
        package var reason: String

        func within(_ step: String) -> Problem {
            Problem(path: path.isEmpty ? step : "\(step) → \(path)", reason: reason)
        }
    }

    package static func entries(_ object: JSONObject) throws(Problem) -> [Key: Value] {
        var entries: [Key: Value] = [:]
        for (name, json) in object {
            do throws(Problem) {
                entries[Key(name)] = try value(json)
            } catch {
                throw error.within(quoted(name))
            }
        }
        return entries
    }

    package static func value(_ json: JSON) throws(Problem) -> Value {
        switch json {
        case .string(let text): return .string(text)
        case .integer(let number): return .integer(number)
        case .real(let number): return .real(number)
        case .boolean(let flag): return .boolean(flag)
        case .null: throw problem("a property list has no null")
        case .array(let elements): return .array(try values(elements))
        case .object(let object):
            if let value = try tagged(object) { return value }
            return .dictionary(try entries(object))
        }
    }

    private static func values(_ elements: [JSON]) throws(Problem) -> [Value] {
        var values: [Value] = []
        for (index, element) in elements.enumerated() {
            do throws(Problem) {
                values.append(try value(element))
            } catch {
                throw error.within("\(index)")
            }
        }
        return values
    }

    /// An object of one member that stands for what JSON has no form for.
    private static func tagged(_ object: JSONObject) throws(Problem) -> Value? {
        guard object.count == 1, let (name, content) = object.first else { return nil }
        switch name {
        case "date":
            guard let date = content.stringValue.flatMap({ Timestamp(rfc3339: $0) }) else {
                throw problem(#"{"date": …} takes a text such as "2026-11-30T09:00:00Z""#)
            }
            return .date(date)
        case "data":
            guard let bytes = content.stringValue.flatMap({ Base64.decode($0.utf8) }) else {
                throw problem(#"{"data": …} takes a text in base64 with padding"#)
            }
            return .data(bytes)
        case "number": return try number(content)
        case "dictionary":
            guard let entries = content.objectValue else { throw problem(#"{"dictionary": …} takes an object"#) }
            return .dictionary(try self.entries(entries))
        default: return nil
        }
    }

    private static func number(_ content: JSON) throws(Problem) -> Value {
        switch content.stringValue {
        case "nan": return .real(.nan)
        case "+infinity": return .real(.infinity)
        case "-infinity": return .real(-.infinity)
        case let text?:
            if let number = UInt64(text) { return .unsigned(number) }
        case nil: break
        }
        throw problem(#"{"number": …} takes "18446744073709551615", "nan", "+infinity" or "-infinity""#)
    }

    private static func problem(_ reason: String) -> Problem { Problem(path: "", reason: reason) }
}
