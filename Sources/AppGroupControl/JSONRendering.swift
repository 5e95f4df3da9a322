package import PropertyList
package import Varlink

/// Values as plain JSON, for programs; nothing of them is lost.
///
/// Strings, integers, reals, booleans, arrays and dictionaries are JSON's own (`1` is an integer, `1.0` a real). What
/// JSON has no form for is an object of one member: `{"date": "2026-11-30T09:00:00Z"}`, `{"data": "base64"}`,
/// `{"number": "18446744073709551615"}` for integers above Int64.max and for `nan`, `+infinity`, `-infinity`. So that
/// these are unmistakable, a dictionary with just one entry of such a name is wrapped: `{"dictionary": {"date": …}}`.
package enum JSONRendering {
    private static let tags: Set<Key> = ["date", "data", "number", "dictionary"]

    package static func json(_ value: Value) -> JSON {
        switch value {
        case .string(let text): .string(text)
        case .integer(let number): .integer(number)
        case .unsignedInteger(let number): ["number": .string(String(number))]
        case .real(let number) where number.isFinite: .real(number)
        case .real: ["number": .string(TextRendering.inline(value))]
        case .boolean(let flag): .boolean(flag)
        case .date(let date): ["date": .string(date.rfc3339)]
        case .data(let bytes): ["data": .string(String(decoding: Base64.encode(bytes), as: UTF8.self))]
        case .array(let elements): .array(elements.map(json))
        case .dictionary(let entries):
            entries.count == 1 && entries.keys.allSatisfy(tags.contains)
                ? ["dictionary": .object(object(entries))] : .object(object(entries))
        }
    }

    /// The entries of a group, or of a dictionary: sorted, one member a key.
    package static func object(_ entries: [Key: Value]) -> JSONObject {
        JSONObject(TextRendering.sorted(entries).map { ($0.key.string, json($0.value)) })
    }
}
