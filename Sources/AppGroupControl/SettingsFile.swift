import GroupFiles
package import PropertyList
import Varlink

/// The settings of a group as the text of a file: what `export` writes, and `import`, `apply` and `edit` read.
package struct SettingsFile {
    package enum Format: String, CaseIterable, Sendable {
        case xml, binary, json

        /// What a value loses in it is what it loses in a property list of this format.
        package var plist: PlistFormat { self == .xml ? .xml : .binary }
    }

    package var format: Format
    package var entries: [Key: Value]

    package init(format: Format, entries: [Key: Value]) {
        self.format = format
        self.entries = entries
    }

    /// Which format it is, the content tells; the path is for the error.
    package init(parsing bytes: [UInt8], from path: String) throws(Failure) {
        let path = Session.name(of: path)
        format = try Self.format(of: bytes, path)
        let limit = max(bytes.count, XMLPropertyList.defaultByteLimit)
        do throws(PropertyListError) {
            switch format {
            case .xml: entries = try XMLPropertyList(parsing: bytes, byteLimit: limit).entries
            case .binary: entries = try BinaryPropertyList.entries(parsing: bytes, byteLimit: limit)
            case .json: entries = [:]
            }
        } catch {
            throw .refused("\(path) is no property list: \(error)")
        }
        if format == .json { entries = try Self.entries(json: bytes, path) }
    }

    private static func format(of bytes: [UInt8], _ path: String) throws(Failure) -> Format {
        if BinaryPropertyList.isBinary(bytes) { return .binary }
        let marks: [UInt8] = [0xEF, 0xBB, 0xBF, 0x09, 0x0A, 0x0D, 0x20]
        switch bytes.first(where: { !marks.contains($0) }) {
        case nil: throw .refused("\(path) is empty")
        case UInt8(ascii: "{"), UInt8(ascii: "["): return .json
        // A text in UTF-16, of which the XML reader says what is wrong.
        case UInt8(ascii: "<"), 0xFE, 0xFF: return .xml
        default: throw .refused("\(path) is neither a property list (XML or binary) nor JSON")
        }
    }

    private static func entries(json bytes: [UInt8], _ path: String) throws(Failure) -> [Key: Value] {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        let json: JSON
        do throws(JSONError) {
            json = try JSON(parsing: text)
        } catch {
            let before = text.prefix(error.offset)
            let line = before.count { $0 == UInt8(ascii: "\n") } + 1
            let column =
                before.count - (before.lastIndex(of: UInt8(ascii: "\n")).map { $0 - before.startIndex + 1 } ?? 0) + 1
            throw .refused("\(path):\(line):\(column): this is no JSON: \(error.reason.text) here")
        }
        guard let object = json.objectValue else { throw .refused("\(path) holds no JSON object") }
        do throws(JSONReading.Problem) {
            return try JSONReading.entries(object)
        } catch {
            throw .refused("\(path): \(error.path) cannot be a value: \(error.reason)")
        }
    }

    package var encoded: [UInt8] {
        get throws(Failure) {
            switch format {
            case .xml: return XMLPropertyList.document(entries)
            case .json: return Self.json(entries)
            case .binary:
                do throws(PropertyListError) {
                    return try BinaryPropertyList.document(entries)
                } catch {
                    throw .refused("the values cannot be written in this format: \(error)")
                }
            }
        }
    }

    /// One line a key, sorted, so that versions of it can be compared.
    private static func json(_ entries: [Key: Value]) -> [UInt8] {
        let lines = TextRendering.sorted(entries).map {
            "  \(JSON.string($0.key.string)): \(JSONRendering.json($0.value))"
        }
        return Array((lines.isEmpty ? "{}\n" : "{\n" + lines.joined(separator: ",\n") + "\n}\n").utf8)
    }

    /// How many of the values lose something in the format.
    package var lossCount: Int {
        entries.values.filter { format.plist.projected($0) != $0 }.count
    }
}
