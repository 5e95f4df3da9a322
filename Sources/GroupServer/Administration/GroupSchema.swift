import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import Varlink

/// A group's schema in force, with its expressions made ready. Owned by the group's host, on the loop's thread.
final class GroupSchema {
    let schema: Schema
    private var expressions: [String: RegularExpression] = [:]

    init(_ schema: Schema) {
        self.schema = schema
        for pattern in schema.rules.compactMap(\.pattern) { expressions[pattern] = RegularExpression(pattern) }
    }

    /// - Throws: the rule that one of the new values breaks.
    func check(_ changes: [Change]) throws(GroupError) {
        for change in changes {
            guard let new = change.new else { continue }
            try schema.check(change.key, new) { pattern, text in expressions[pattern]?.matchesWhole(text) ?? true }
        }
    }
}

/// A schema as it was read, with its file.
struct SchemaFile: Equatable, Sendable {
    var path: String
    var schema: Schema
    var time: Timestamp
    var user: UInt32
}

extension SchemaFile {
    /// Reads `GROUP.plist` or `GROUP.json`.
    static func read(_ path: String, sizeLimit: Int) -> Result<SchemaFile, Problem> {
        do throws(SystemError) {
            let (bytes, status) = try Files.read(path, limit: sizeLimit)
            return entries(path, bytes, sizeLimit: sizeLimit).flatMap { entries in
                do throws(SchemaProblem) {
                    let schema = try Schema(entries)
                    for pattern in schema.rules.compactMap(\.pattern) where RegularExpression(pattern) == nil {
                        throw SchemaProblem(text: "\(pattern) is no POSIX extended regular expression")
                    }
                    let time = Timestamp(microseconds: status.mtimeNanoseconds / 1000)
                    return .success(SchemaFile(path: path, schema: schema, time: time, user: status.uid))
                } catch {
                    return .failure(Problem(reason: error.text, path: path))
                }
            }
        } catch {
            return .failure(Problem(reason: "the file cannot be read: \(error.errno)", path: path))
        }
    }

    private static func entries(_ path: String, _ bytes: [UInt8], sizeLimit: Int) -> Result<[Key: Value], Problem> {
        if path.hasSuffix(".json") {
            guard let json = try? JSON(parsing: bytes.span), case .dictionary(let entries)? = Value(plain: json) else {
                return .failure(Problem(reason: "the file is no JSON object", path: path))
            }
            return .success(entries)
        }
        switch PlistFile(path: path, sizeLimit: sizeLimit).read() {
        case .content(let content): return .success(content.entries)
        case .damaged(let problem, _, _), .unreachable(let problem, _): return .failure(Problem(problem))
        case .absent: return .failure(Problem(reason: "the file is gone", path: path))
        }
    }
}

extension Value {
    /// From JSON without types: what a person writes. Nil for null, which is no value.
    fileprivate init?(plain json: JSON) {
        switch json {
        case .string(let text): self = .string(text)
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .real(number)
        case .boolean(let flag): self = .boolean(flag)
        case .array(let elements):
            let values = elements.compactMap { Value(plain: $0) }
            guard values.count == elements.count else { return nil }
            self = .array(values)
        case .object(let object):
            var entries: [Key: Value] = [:]
            for (name, element) in object {
                guard let value = Value(plain: element) else { return nil }
                entries[Key(name)] = value
            }
            self = .dictionary(entries)
        case .null: return nil
        }
    }
}
