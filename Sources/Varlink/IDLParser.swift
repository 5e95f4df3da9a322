/// Reads the text of an interface description, in the grammar of UAPI.20 less what systemd 257 and Python's `varlink`
/// refuse, such as `any`: a description that this parser takes can be read by every client.
///
/// A value used for one text. The depth of types is bounded, because each level is a call on the stack.
struct IDLParser {
    typealias Field = InterfaceDescription.Field
    typealias TypeExpression = InterfaceDescription.TypeExpression

    private static let depthLimit = 64

    private var scanner: IDLScanner
    private let dialect: InterfaceDescription.Dialect
    private var types: [InterfaceDescription.TypeDeclaration] = []
    private var methods: [InterfaceDescription.Method] = []
    private var errors: [InterfaceDescription.ErrorDeclaration] = []
    /// Types, methods and errors share one space of names.
    private var names: Set<String> = []
    /// Types may be used before they are declared: they are looked up at the end.
    private var references: [(name: String, offset: Int)] = []

    init(_ text: String, dialect: InterfaceDescription.Dialect) {
        scanner = IDLScanner(text)
        self.dialect = dialect
    }

    mutating func interface() throws(IDLError) -> InterfaceDescription {
        let documentation = scanner.skipComments()
        try scanner.expect("interface")
        try scanner.expectSpace()
        let name = try interfaceName()
        try scanner.endLine()
        while try member() {}
        for (name, offset) in references where !types.contains(where: { $0.name == name }) {
            throw scanner.error(.undefinedType(name), at: offset)
        }
        return InterfaceDescription(
            name: name, documentation: documentation, types: types, methods: methods, errors: errors)
    }

    /// - Returns: False at the end of the text.
    private mutating func member() throws(IDLError) -> Bool {
        let documentation = scanner.skipComments()
        guard scanner.current != nil else { return false }
        let start = scanner.position
        switch scanner.word() {
        case "type": try type(documentation)
        case "method": try method(documentation)
        case "error": try error(documentation)
        default: throw scanner.error(.expected("type, method or error"), at: start)
        }
        try scanner.endLine()
        return true
    }

    private mutating func type(_ documentation: String) throws(IDLError) {
        let name = try memberName()
        skipSpace()
        let type = try structOrEnum(depth: 0)
        types.append(.init(name: name, documentation: documentation, type: type))
    }

    private mutating func method(_ documentation: String) throws(IDLError) {
        let name = try memberName()
        let input = try fields()
        skipSpace()
        try scanner.expect("->")
        let output = try fields()
        methods.append(.init(name: name, documentation: documentation, input: input, output: output))
    }

    private mutating func error(_ documentation: String) throws(IDLError) {
        let name = try memberName()
        let fields = try fields()
        errors.append(.init(name: name, documentation: documentation, fields: fields))
    }

    /// Comments are for the beginning of a member or a field; the full grammar has them wherever there is white space.
    private mutating func skipSpace() {
        switch dialect {
        case .common: scanner.skipSpace()
        case .full: _ = scanner.skipComments()
        }
    }
}

// MARK: - Types

extension IDLParser {
    /// The struct of a method or an error: it may be empty, and is no enum.
    private mutating func fields() throws(IDLError) -> [Field] {
        skipSpace()
        let start = scanner.position
        try scanner.expect("(")
        if try isEmpty() { return [] }
        guard case .structure(let fields) = try content(depth: 0) else {
            throw scanner.error(.expected("fields with types"), at: start)
        }
        return fields
    }

    private mutating func structOrEnum(depth: Int) throws(IDLError) -> TypeExpression {
        guard depth <= Self.depthLimit else { throw scanner.error(.tooDeep) }
        let start = scanner.position
        try scanner.expect("(")
        guard try isEmpty() else { return try content(depth: depth) }
        guard dialect == .full else { throw scanner.error(.ambiguousEmptyType, at: start) }
        return .structure([])
    }

    /// Whether the parenthesis that was opened closes at once.
    private mutating func isEmpty() throws(IDLError) -> Bool {
        let before = scanner
        _ = scanner.skipComments()
        if scanner.skip(")") { return true }
        scanner = before
        return false
    }

    /// What stands within parentheses, at least one field or case, and the closing one.
    private mutating func content(depth: Int) throws(IDLError) -> TypeExpression {
        var fields: [Field] = []
        var cases: [String] = []
        var seen: Set<String> = []
        repeat {
            let documentation = scanner.skipComments()
            let start = scanner.position
            let name = try fieldName()
            guard seen.insert(name).inserted else { throw scanner.error(.duplicateName(name), at: start) }
            skipSpace()
            if cases.isEmpty, scanner.skip(":") {
                skipSpace()
                fields.append(Field(name: name, documentation: documentation, type: try type(depth: depth)))
                skipSpace()
            } else {
                // The first field decides whether this is a struct or an enum.
                guard fields.isEmpty else { throw scanner.error(.expected(":")) }
                cases.append(name)
            }
        } while scanner.skip(",")
        try scanner.expect(")")
        return cases.isEmpty ? .structure(fields) : .enumeration(cases)
    }

    private mutating func type(depth: Int) throws(IDLError) -> TypeExpression {
        guard depth <= Self.depthLimit else { throw scanner.error(.tooDeep) }
        guard scanner.skip("?") else { return try containerOrElement(depth: depth) }
        if scanner.current == UInt8(ascii: "?") { throw scanner.error(.misplacedNullable) }
        return .nullable(try containerOrElement(depth: depth))
    }

    private mutating func containerOrElement(depth: Int) throws(IDLError) -> TypeExpression {
        if scanner.skip("[]") { return .array(try content(ofContainerAt: depth)) }
        if scanner.skip("[string]") { return .map(try content(ofContainerAt: depth)) }
        return try element(depth: depth)
    }

    private mutating func content(ofContainerAt depth: Int) throws(IDLError) -> TypeExpression {
        guard dialect == .common else { return try type(depth: depth + 1) }
        if scanner.current == UInt8(ascii: "?") { throw scanner.error(.misplacedNullable) }
        if scanner.current == UInt8(ascii: "[") { throw scanner.error(.nestedContainer) }
        return try element(depth: depth)
    }

    private mutating func element(depth: Int) throws(IDLError) -> TypeExpression {
        if scanner.current == UInt8(ascii: "(") { return try structOrEnum(depth: depth + 1) }
        let start = scanner.position
        let word = scanner.word("_")
        switch word {
        case "bool": return .bool
        case "int": return .int
        case "float": return .float
        case "string": return .string
        case "object": return .object
        case "": throw scanner.error(.expected("type"), at: start)
        default:
            guard let first = word.utf8.first, IDLScanner.isUppercase(first), !word.utf8.contains(UInt8(ascii: "_"))
            else { throw scanner.error(.unknownType(word), at: start) }
            references.append((word, start))
            return .named(word)
        }
    }
}

// MARK: - Names

extension IDLParser {
    /// `[A-Za-z]([-]*[A-Za-z0-9])*(\.[A-Za-z0-9]([-]*[A-Za-z0-9])*)+`
    private mutating func interfaceName() throws(IDLError) -> String {
        let start = scanner.position
        let name = scanner.word("-.")
        let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let partsAreValid = parts.allSatisfy { part in
            guard let first = part.first, let last = part.last else { return false }
            return IDLScanner.isAlphanumeric(first) && IDLScanner.isAlphanumeric(last)
        }
        guard parts.count > 1, partsAreValid, name.utf8.first.map(IDLScanner.isLetter) == true else {
            throw scanner.error(.invalidName, at: start)
        }
        return name
    }

    /// `[A-Z][A-Za-z0-9]*`, new in this interface.
    private mutating func memberName() throws(IDLError) -> String {
        try scanner.expectSpace()
        let start = scanner.position
        let name = scanner.word("_")
        guard let first = name.utf8.first, IDLScanner.isUppercase(first), !name.utf8.contains(UInt8(ascii: "_")) else {
            throw scanner.error(.invalidName, at: start)
        }
        guard names.insert(name).inserted else { throw scanner.error(.duplicateName(name), at: start) }
        return name
    }

    /// `[A-Za-z](_?[A-Za-z0-9])*`
    private mutating func fieldName() throws(IDLError) -> String {
        let start = scanner.position
        let name = scanner.word("_")
        let parts = name.utf8.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
        guard let first = name.utf8.first, IDLScanner.isLetter(first), !parts.contains(where: \.isEmpty) else {
            throw scanner.error(.invalidName, at: start)
        }
        return name
    }
}
