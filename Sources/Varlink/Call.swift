/// A call, as a client sends it and a server reads it.
///
/// A plain value. Read strictly: whatever is wrong with the envelope is a violation that closes the connection, while the
/// method and its parameters are for the dispatcher to judge.
package struct Call: Sendable, Equatable {
    /// How many replies the caller expects.
    package enum Mode: Sendable, Equatable {
        case single
        /// None, not even an error.
        case oneway
        /// Several, each but the last with `continues`.
        case more
        /// One, after which the connection leaves Varlink.
        case upgrade
    }

    /// The qualified name, such as `org.varlink.service.GetInfo`.
    package var method: String
    package var parameters: JSONObject
    package var mode: Mode

    package init(method: String, parameters: JSONObject = [:], mode: Mode = .single) {
        self.method = method
        self.parameters = parameters
        self.mode = mode
    }

    /// What stands before the last dot of `method`; empty where there is no dot.
    package var interface: String {
        guard let dot = method.utf8.lastIndex(of: UInt8(ascii: ".")) else { return "" }
        return String(method[..<dot])
    }

    /// What follows the last dot of `method`.
    package var member: String {
        guard let dot = method.utf8.lastIndex(of: UInt8(ascii: ".")) else { return method }
        return String(method[method.utf8.index(after: dot)...])
    }
}

extension Call {
    /// Reads a message, without its NUL.
    package init(parsing message: ArraySlice<UInt8>) throws(ProtocolViolation) {
        try self.init(header: try JSONObject(message: message.span))
    }

    package init(parsing message: [UInt8]) throws(ProtocolViolation) {
        try self.init(header: try JSONObject(message: message.span))
    }

    private init(header: JSONObject) throws(ProtocolViolation) {
        var call = Call(method: "")
        var hasMethod = false
        for (name, value) in header {
            switch name {
            case "method":
                guard let method = value.stringValue else { throw .invalidMember(name) }
                call.method = method
                hasMethod = true
            case "parameters": call.parameters = try JSONObject(parameters: value)
            case "oneway": try call.set(.oneway, value, name)
            case "more": try call.set(.more, value, name)
            case "upgrade": try call.set(.upgrade, value, name)
            // UAPI.20: a member of a vendor carries a dot, and whoever does not know it ignores it.
            case _ where name.utf8.contains(UInt8(ascii: ".")): break
            default: throw .unknownMember(name)
            }
        }
        guard hasMethod else { throw .missingMethod }
        self = call
    }

    private mutating func set(_ mode: Mode, _ value: JSON, _ name: String) throws(ProtocolViolation) {
        guard let isSet = value.booleanValue else { throw .invalidMember(name) }
        guard isSet else { return }
        guard self.mode == .single else { throw .severalFlags }
        self.mode = mode
    }
}

extension Call {
    /// The message, its NUL included.
    package var bytes: [UInt8] {
        if parameters.isEmpty { return Self.bytes(method: method, mode: mode, parameters: nil) }
        var writer = JSONWriter()
        writer.write(parameters)
        return Self.bytes(method: method, mode: mode, parameters: writer.bytes)
    }

    /// The message around parameters that are encoded already, its NUL included.
    package static func bytes(method: String, mode: Mode = .single, parameters: [UInt8]?) -> [UInt8] {
        var writer = JSONWriter(capacity: (parameters?.count ?? 0) + method.utf8.count + 48)
        writer.beginObject()
        writer.member("method", string: method)
        if let parameters { writer.member("parameters", raw: parameters) }
        if let flag = mode.flag { writer.member(flag, boolean: true) }
        writer.endObject()
        writer.endMessage()
        return writer.bytes
    }
}

extension Call.Mode {
    fileprivate var flag: String? {
        switch self {
        case .single: nil
        case .oneway: "oneway"
        case .more: "more"
        case .upgrade: "upgrade"
        }
    }
}

// MARK: - Shared with Reply

extension JSONObject {
    /// The envelope of a message.
    init(message: Span<UInt8>) throws(ProtocolViolation) {
        let json: JSON
        do throws(JSONError) {
            json = try JSON(parsing: message)
        } catch {
            throw .notJSON(error)
        }
        guard case .object(let object) = json else { throw .notAnObject }
        self = object
    }

    /// The value of a member `parameters`: absent, null and `{}` are the same.
    init(parameters: JSON) throws(ProtocolViolation) {
        switch parameters {
        case .null: self.init()
        case .object(let object): self = object
        default: throw .invalidMember("parameters")
        }
    }
}
