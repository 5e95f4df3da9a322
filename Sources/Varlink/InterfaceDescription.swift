/// A Varlink interface as its description text tells it: what the server checks parameters against, and what tests check
/// the dispatcher and its replies against.
///
/// A plain value, made once from the text at start.
package struct InterfaceDescription: Sendable, Equatable {
    /// The name of a type, with a struct or an enum behind it.
    package struct TypeDeclaration: Sendable, Equatable {
        package let name: String
        package let documentation: String
        package let type: TypeExpression
    }

    package struct Method: Sendable, Equatable {
        package let name: String
        package let documentation: String
        package let input: [Field]
        package let output: [Field]
    }

    package struct ErrorDeclaration: Sendable, Equatable {
        package let name: String
        package let documentation: String
        package let fields: [Field]
    }

    package struct Field: Sendable, Equatable {
        package let name: String
        package let documentation: String
        package let type: TypeExpression
    }

    package indirect enum TypeExpression: Sendable, Equatable {
        case bool
        case int
        case float
        case string
        case object
        case named(String)
        case array(TypeExpression)
        /// A map from strings.
        case map(TypeExpression)
        case nullable(TypeExpression)
        case structure([Field])
        case enumeration([String])
    }

    package let name: String
    /// The comment above, without its number signs.
    package let documentation: String
    package let types: [TypeDeclaration]
    package let methods: [Method]
    package let errors: [ErrorDeclaration]
    private let typesByName: [String: TypeExpression]

    init(
        name: String, documentation: String, types: [TypeDeclaration], methods: [Method], errors: [ErrorDeclaration]
    ) {
        self.name = name
        self.documentation = documentation
        self.types = types
        self.methods = methods
        self.errors = errors
        typesByName = Dictionary(types.map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
    }

    package func type(named name: String) -> TypeExpression? { typesByName[name] }

    /// By its name within the interface, such as `GetInfo`.
    package func method(named name: String) -> Method? { methods.first { $0.name.hasSameBytes(as: name) } }

    package func error(named name: String) -> ErrorDeclaration? { errors.first { $0.name.hasSameBytes(as: name) } }
}

extension InterfaceDescription {
    /// How much of the language is taken.
    package enum Dialect: Sendable {
        /// What every implementation reads: one `?` in front, then one `[]` or `[string]`, no empty type `()`, comments
        /// only where a member or a field begins. This is what sd-varlink of systemd 257 takes.
        case common
        /// The whole grammar of varlink.org, such as `[]?[string]T`.
        case full
    }

    package init(parsing text: String, dialect: Dialect = .common) throws(IDLError) {
        var parser = IDLParser(text, dialect: dialect)
        self = try parser.interface()
    }
}

/// Why a text is no interface description, and where.
package struct IDLError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// What should stand here, such as `->`.
        case expected(String)
        case invalidName
        case duplicateName(String)
        case undefinedType(String)
        case unknownType(String)
        /// Every implementation takes `?` only in front of the whole type, and `??` never.
        case misplacedNullable
        case nestedContainer
        /// `()` could be a struct or an enum.
        case ambiguousEmptyType
        case tooDeep
        case lineBreakExpected
    }

    package let reason: Reason
    /// Counted from 1, the column in characters.
    package let line: Int
    package let column: Int
}
