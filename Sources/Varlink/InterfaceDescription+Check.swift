/// Whether parameters are what the interface says: linear in their size, whatever they hold.
extension InterfaceDescription {
    /// The name of the first parameter of a call that is unknown, missing or not of its type, which is what the error
    /// `InvalidParameter` tells; nil when all is well, or when the interface has no method of this (bare) name.
    package func firstInvalidParameter(of parameters: JSONObject, method: String) -> String? {
        self.method(named: method).flatMap { firstInvalidMember(of: parameters, fields: $0.input) }
    }

    /// As `firstInvalidParameter(of:method:)`, for what the method returns. Clients ignore outputs that they do not
    /// know; our own replies are to have none that the interface does not name.
    package func firstInvalidOutput(of outputs: JSONObject, method: String) -> String? {
        self.method(named: method).flatMap { firstInvalidMember(of: outputs, fields: $0.output) }
    }

    /// Whether a reply is what the method, which must exist, is said to return.
    package func matches(outputs: JSONObject, method: String) -> Bool {
        guard let method = self.method(named: method) else { return false }
        return firstInvalidMember(of: outputs, fields: method.output) == nil
    }

    /// Whether the parameters of an error, which must exist and is named without its interface, are what it is said to
    /// carry.
    package func matches(parameters: JSONObject, error: String) -> Bool {
        guard let error = self.error(named: error) else { return false }
        return firstInvalidMember(of: parameters, fields: error.fields) == nil
    }

    /// Members in their order come first, then fields that are missing.
    private func firstInvalidMember(of object: JSONObject, fields: [Field]) -> String? {
        for (name, value) in object {
            guard let field = fields.first(where: { $0.name.hasSameBytes(as: name) }) else { return name }
            if !conforms(value, to: field.type) { return name }
        }
        // From here on there are no more members than fields.
        for field in fields where !field.type.isNullable && object[field.name] == nil {
            return field.name
        }
        return nil
    }

    /// Whether a member that is null counts as absent is for its field to say: `null` conforms to a nullable type only.
    private func conforms(_ value: JSON, to type: TypeExpression) -> Bool {
        switch (type, value) {
        case (.bool, .boolean), (.int, .integer), (.float, .integer), (.float, .real), (.string, .string),
            (.object, .object), (.nullable, .null):
            true
        case (.nullable(let type), _): conforms(value, to: type)
        case (.named(let name), _): self.type(named: name).map { conforms(value, to: $0) } ?? false
        case (.array(let type), .array(let elements)): elements.allSatisfy { conforms($0, to: type) }
        case (.map(let type), .object(let object)): object.allSatisfy { conforms($0.value, to: type) }
        case (.structure(let fields), .object(let object)): firstInvalidMember(of: object, fields: fields) == nil
        case (.enumeration(let cases), .string(let text)): cases.contains { $0.hasSameBytes(as: text) }
        default: false
        }
    }
}

extension InterfaceDescription.TypeExpression {
    /// Whether the field may be absent, or null, which is the same.
    package var isNullable: Bool {
        if case .nullable = self { true } else { false }
    }
}
