package import GroupModel
import PropertyList
package import Varlink

/// Why a call's parameters were refused.
package enum RequestProblem: Error, Equatable, Sendable {
    case service(ServiceError)
    case settings(GroupError)
}

/// The fields of a call, or of a struct within one, read by name and type; null is the same as absent.
///
/// A plain value that lives as long as one decoding. What is wrong in a nested struct is reported under the name of the
/// parameter that holds it, as systemd's services do.
struct Parameters {
    private let object: JSONObject
    private let parameter: String?

    /// The fields that the interface knows are `names`; any other is refused. `parameter` is to blame for a nested struct.
    init(_ object: JSONObject, knowing names: [String], within parameter: String? = nil) throws(RequestProblem) {
        for (name, _) in object where !names.contains(where: { $0.isIdentical(to: name) }) {
            throw .service(.invalidParameter(parameter ?? name))
        }
        self.object = object
        self.parameter = parameter
    }

    /// A nested struct.
    init(_ json: JSON, knowing names: [String], within parameter: String) throws(RequestProblem) {
        guard let object = json.objectValue else { throw .service(.invalidParameter(parameter)) }
        try self.init(object, knowing: names, within: parameter)
    }

    func refusal(of name: String) -> RequestProblem {
        .service(.invalidParameter(parameter ?? name))
    }

    func json(_ name: String) -> JSON? {
        guard let value = object[name], !value.isNull else { return nil }
        return value
    }

    func optional<Field>(_ name: String, _ read: (JSON) -> Field?) throws(RequestProblem) -> Field? {
        guard let value = json(name) else { return nil }
        guard let field = read(value) else { throw refusal(of: name) }
        return field
    }

    func required<Field>(_ name: String, _ read: (JSON) -> Field?) throws(RequestProblem) -> Field {
        guard let field = try optional(name, read) else { throw refusal(of: name) }
        return field
    }

    func string(_ name: String) throws(RequestProblem) -> String { try required(name, \.stringValue) }
    func integer(_ name: String) throws(RequestProblem) -> Int64 { try required(name, \.integerValue) }

    func optionalStrings(_ name: String) throws(RequestProblem) -> [String]? {
        try optional(name, \.strings)
    }

    func group(_ name: String) throws(RequestProblem) -> GroupIdentifier {
        let text = try string(name)
        do throws(GroupError) {
            return try GroupIdentifier(text)
        } catch {
            throw .settings(error)
        }
    }

    func position(_ name: String) throws(RequestProblem) -> Position? {
        guard let value = json(name) else { return nil }
        guard let position = Position(wire: value) else { throw refusal(of: name) }
        return position
    }
}

extension JSON {
    var strings: [String]? {
        guard let elements = arrayValue else { return nil }
        let texts = elements.compactMap(\.stringValue)
        return texts.count == elements.count ? texts : nil
    }
}
