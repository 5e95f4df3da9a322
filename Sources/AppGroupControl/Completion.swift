import GroupModel
import PropertyList

/// What may stand where the cursor is, for the shells: from the table of verbs and options, and from the live daemon.
struct Completion {
    private let session: Session
    private let current: String
    private var verb: Verb?
    private var arguments: [String] = []
    /// The option whose value the current word is.
    private var option: Option?
    private var optionsEnded = false

    /// What a shell may be kept waiting, in seconds.
    static let seconds = 2.0

    /// `words` are those before the cursor without the program's name, and last the one that the cursor is in.
    init(_ words: [String], _ session: Session) {
        self.session = session
        current = words.last ?? ""
        for word in words.dropLast() { take(word) }
    }

    private mutating func take(_ word: String) {
        if option != nil {
            option = nil
        } else if !optionsEnded, word == "--" {
            optionsEnded = true
        } else if !optionsEnded, let known = options.first(where: { $0.names.contains(word) }) {
            option = known.valueName == nil ? nil : known
        } else if !optionsEnded, verb != nil, !isWithinValue, word.hasPrefix("--") {
            return
        } else if verb == nil {
            verb = Verb.named(word)
        } else {
            arguments.append(word)
        }
    }

    private var options: [Option] { Option.global + (verb?.options ?? []) }

    private var isWithinValue: Bool {
        verb.map { $0.takesValue && arguments.count >= $0.arguments.count } ?? false
    }

    /// Sorted; nothing where the shell knows better (files), or nothing is known.
    var candidates: [String] {
        all.filter { $0.hasPrefix(current) && !$0.utf8.contains(UInt8(ascii: "\n")) }
    }

    private var all: [String] {
        if let option { return option.name == Option.format.name ? SettingsFile.Format.allCases.map(\.rawValue) : [] }
        if !optionsEnded, current.hasPrefix("-") {
            return options.flatMap(\.names).filter { $0.hasPrefix("--") }
                + (isWithinValue ? ValueFlag.allCases.map(\.rawValue) : [])
        }
        guard let verb else { return Verb.all.map(\.name) }
        return isWithinValue ? values : argument(of: verb)
    }

    private func argument(of verb: Verb) -> [String] {
        // The last argument may be repeated.
        let isOpen = verb.argumentCount.most == nil
        let place = isOpen ? min(arguments.count, verb.arguments.count - 1) : arguments.count
        guard place < verb.arguments.count else { return [] }
        switch verb.arguments[place].name {
        case "GROUP", "GROUP|FILE": return (try? session.groupNames()) ?? []
        case "KEY", "GLOB", "OLD": return keys.map(\.key.string)
        case "REVISION": return revisions
        case "VERB": return Verb.all.map(\.name)
        case "SHELL": return CompletionScript.allCases.map(\.rawValue)
        default: return []
        }
    }

    private var group: GroupIdentifier? { arguments.first.flatMap { try? GroupIdentifier($0) } }

    private var keys: [(key: Key, value: Value)] {
        guard let group, let values = try? session.read(group) else { return [] }
        return TextRendering.sorted(values)
    }

    private var revisions: [String] {
        guard let group, let commits = try? session.page(of: group, before: nil, limit: 50) else { return [] }
        return commits.map { String($0.revision) }
    }

    /// The present value, to be changed; a boolean's other one, too.
    private var values: [String] {
        guard arguments.count == 2, let present = keys.first(where: { $0.key == Key(arguments[1]) })?.value else {
            return []
        }
        switch present {
        case .boolean: return ["false", "true"]
        case .array, .dictionary: return []
        default: return [TextRendering.bare(present)]
        }
    }
}
