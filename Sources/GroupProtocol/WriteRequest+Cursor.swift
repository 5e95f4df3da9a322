package import GroupModel
package import PropertyList
package import Varlink

extension WriteRequest {
    /// Reads an ordinary call of `Write` (one reply, scalar values, nothing null, nothing wrong) straight from its bytes.
    ///
    /// Nil for every other message, which is then to be read as a `Call`: that takes whatever is sound, and says what is
    /// not. Where this is not nil, the other way comes to the same.
    ///
    /// - Parameters:
    ///   - message: without its NUL.
    ///   - group: one that the caller knows, and probably the one that is named: then no text is made for it.
    package init?(ordinaryCall message: Span<UInt8>, probably group: GroupIdentifier?) {
        var cursor = JSONCursor()
        do throws(JSONCursor.Unexpected) {
            self = try cursor.writeCall(in: message, probably: group)
        } catch {
            return nil
        }
    }
}

// MARK: - The envelope

extension JSONCursor {
    private static let method = Name("method")
    private static let parameters = Name("parameters")
    private static let methodName = SettingsInterface.name + "." + SettingsMethod.write.rawValue
    /// As nearly all programs begin, up to the group: taken in one piece.
    private static let usualHead = Array(#"{"method":"\#(methodName)","parameters":{"group":"#.utf8)

    fileprivate mutating func writeCall(
        in bytes: Span<UInt8>, probably group: GroupIdentifier?
    ) throws(Unexpected) -> WriteRequest {
        var hasMethod = skip(Self.usualHead, in: bytes)
        var request: WriteRequest?
        var hasMember = true
        if hasMethod {
            request = try writeParameters(from: Self.group, in: bytes, probably: group)
            hasMember = try another(until: "}", in: bytes)
        } else {
            try open("{", in: bytes)
        }
        while hasMember {
            let name = try name(in: bytes)
            if name == Self.method, !hasMethod {
                guard skip(Self.methodName, in: bytes) else { throw Unexpected() }
                hasMethod = true
            } else if name == Self.parameters, request == nil {
                try open("{", in: bytes)
                request = try writeParameters(from: try self.name(in: bytes), in: bytes, probably: group)
            } else {
                throw Unexpected()
            }
            hasMember = try another(until: "}", in: bytes)
        }
        try end(in: bytes)
        guard hasMethod, let request else { throw Unexpected() }
        return request
    }
}

// MARK: - The parameters

/// What has come of them.
private struct WriteFields {
    var group: GroupIdentifier?
    var edits: [Edit]?
    var unchangedSince: Int64?
    var isDurable: Bool?
    var tag: String?
}

extension JSONCursor {
    private static let group = Name("group")
    private static let edits = Name("edits")
    private static let ifUnchangedSince = Name("ifUnchangedSince")
    private static let durable = Name("durable")
    private static let tag = Name("tag")

    /// From behind the name of the first of them on.
    private mutating func writeParameters(
        from first: Name, in bytes: Span<UInt8>, probably group: GroupIdentifier?
    ) throws(Unexpected) -> WriteRequest {
        var fields = WriteFields()
        var name = first
        while true {
            try field(name, in: bytes, of: &fields, probably: group)
            guard try another(until: "}", in: bytes) else { break }
            name = try self.name(in: bytes)
        }
        guard let group = fields.group, let edits = fields.edits else { throw Unexpected() }
        return WriteRequest(
            group: group, edits: edits, unchangedSince: fields.unchangedSince, isDurable: fields.isDurable ?? false,
            tag: fields.tag)
    }

    private mutating func field(
        _ name: Name, in bytes: Span<UInt8>, of fields: inout WriteFields, probably group: GroupIdentifier?
    ) throws(Unexpected) {
        if name == Self.group, fields.group == nil {
            fields.group = try self.group(in: bytes, probably: group)
        } else if name == Self.edits, fields.edits == nil {
            fields.edits = try edits(in: bytes)
        } else if name == Self.tag, fields.tag == nil {
            fields.tag = try string(in: bytes)
        } else if name == Self.ifUnchangedSince, fields.unchangedSince == nil {
            fields.unchangedSince = try integer(in: bytes)
        } else if name == Self.durable, fields.isDurable == nil {
            fields.isDurable = try boolean(in: bytes)
        } else {
            throw Unexpected()
        }
    }

    private mutating func group(
        in bytes: Span<UInt8>, probably known: GroupIdentifier?
    ) throws(Unexpected) -> GroupIdentifier {
        if let known, skip(known.string, in: bytes) { return known }
        guard let group = try? GroupIdentifier(try string(in: bytes)) else { throw Unexpected() }
        return group
    }

    private mutating func integer(in bytes: Span<UInt8>) throws(Unexpected) -> Int64 {
        guard let integer = try number(in: bytes).integerValue else { throw Unexpected() }
        return integer
    }
}

// MARK: - The edits

extension JSONCursor {
    private static let key = Name("key")
    private static let operation = Name("operation")
    private static let value = Name("value")

    private mutating func edits(in bytes: Span<UInt8>) throws(Unexpected) -> [Edit] {
        try open("[", in: bytes)
        var edits = [try edit(in: bytes)]
        while try another(until: "]", in: bytes) { edits.append(try edit(in: bytes)) }
        return edits
    }

    private mutating func edit(in bytes: Span<UInt8>) throws(Unexpected) -> Edit {
        var key: Key?
        var operation: Edit.Operation?
        var value: Value?
        try open("{", in: bytes)
        repeat {
            let name = try name(in: bytes)
            if name == Self.key, key == nil {
                key = Key(try string(in: bytes))
            } else if name == Self.value, value == nil {
                value = try scalar(in: bytes)
            } else if name == Self.operation, operation == nil {
                operation = Edit.Operation(rawValue: try string(in: bytes))
                guard operation != nil else { throw Unexpected() }
            } else {
                throw Unexpected()
            }
        } while try another(until: "}", in: bytes)
        guard let key else { throw Unexpected() }
        return Edit(key: key, operation: operation ?? (value == nil ? .remove : .set), value: value)
    }
}

// MARK: - The values

extension JSONCursor {
    private static let string = Name("string")
    private static let integer = Name("integer")
    private static let real = Name("real")
    private static let boolean = Name("boolean")

    /// Any value of the interface's type `Value`.
    package mutating func value(in bytes: Span<UInt8>) throws(Unexpected) -> Value {
        var attempt = self
        if let value = try? attempt.scalar(in: bytes) {
            self = attempt
            return value
        }
        guard let value = try? Value(wire: try json(in: bytes)) else { throw Unexpected() }
        return value
    }

    private mutating func scalar(in bytes: Span<UInt8>) throws(Unexpected) -> Value {
        try open("{", in: bytes)
        let name = try name(in: bytes)
        let value: Value
        if name == Self.string {
            value = .string(try string(in: bytes))
        } else if name == Self.integer {
            value = .integer(try integer(in: bytes))
        } else if name == Self.boolean {
            value = .boolean(try boolean(in: bytes))
        } else if name == Self.real, let number = try number(in: bytes).realValue {
            value = .real(number)
        } else {
            throw Unexpected()
        }
        guard try !another(until: "}", in: bytes) else { throw Unexpected() }
        return value
    }
}
