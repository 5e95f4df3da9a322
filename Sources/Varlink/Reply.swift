/// A reply, as a client reads it; and the bytes of replies, as a server sends them.
///
/// A plain value. What is sent has only the three members that every client knows, and never a null one: sd-varlink
/// closes on anything else. What is read is taken as strictly as varlinkctl takes it.
package struct Reply: Sendable, Equatable {
    /// The output, or what the error has to say.
    package var parameters: JSONObject
    /// Whether further replies to the same call follow.
    package var continues: Bool
    /// The qualified name of an error.
    package var error: String?

    package init(parameters: JSONObject = [:], continues: Bool = false, error: String? = nil) {
        self.parameters = parameters
        self.continues = continues
        self.error = error
    }
}

extension Reply {
    /// Reads a message, without its NUL.
    package init(parsing message: ArraySlice<UInt8>) throws(ProtocolViolation) {
        try self.init(envelope: try JSONObject(message: message.span))
    }

    package init(parsing message: [UInt8]) throws(ProtocolViolation) {
        try self.init(envelope: try JSONObject(message: message.span))
    }

    private init(envelope: JSONObject) throws(ProtocolViolation) {
        var reply = Reply()
        for (name, value) in envelope {
            switch name {
            case "parameters": reply.parameters = try JSONObject(parameters: value)
            case "continues":
                guard let continues = value.booleanValue else { throw .invalidMember(name) }
                reply.continues = continues
            case "error":
                guard let error = value.stringValue, !error.isEmpty else { throw .invalidMember(name) }
                reply.error = error
            default: throw .unknownMember(name)
            }
        }
        if reply.continues, reply.error != nil { throw .errorContinues }
        self = reply
    }
}

extension Reply {
    /// The message, its NUL included.
    package var bytes: [UInt8] {
        if let error { return Self.bytes(error: error, parameters: parameters) }
        return Self.bytes(parameters: parameters, continues: continues)
    }

    package static func bytes(parameters: JSONObject = [:], continues: Bool = false) -> [UInt8] {
        message { writer in
            if !parameters.isEmpty { writer.member("parameters", .object(parameters)) }
            if continues { writer.member("continues", boolean: true) }
        }
    }

    /// The message around parameters that are encoded already: one JSON object, which is not looked at.
    package static func bytes(parameters raw: [UInt8], continues: Bool = false) -> [UInt8] {
        message(capacity: raw.count + 36) { writer in
            // An empty object has two bytes.
            if raw.count > 2 { writer.member("parameters", raw: raw) }
            if continues { writer.member("continues", boolean: true) }
        }
    }

    package static func bytes(error: String, parameters: JSONObject = [:]) -> [UInt8] {
        message { writer in
            writer.member("error", string: error)
            if !parameters.isEmpty { writer.member("parameters", .object(parameters)) }
        }
    }

    /// The message whose parameters `write` puts out, member by member, without a detour through a tree.
    package static func bytes(
        continues: Bool = false, capacity: Int = 128, writing write: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        message(capacity: capacity) { writer in
            writer.member(.parameters)
            writer.beginObject()
            write(&writer)
            writer.endObject()
            if continues { writer.member("continues", boolean: true) }
        }
    }

    private static func message(capacity: Int = 128, _ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(capacity: capacity)
        writer.beginObject()
        write(&writer)
        writer.endObject()
        writer.endMessage()
        return writer.bytes
    }
}
