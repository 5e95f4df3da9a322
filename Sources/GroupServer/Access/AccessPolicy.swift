import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList

/// Which groups sandboxed applications may use: `policy.conf` with its drop-ins, read like `appgroupd.conf`. Ordinary
/// processes of the user may use all; an application that no section names may use none. A plain value.
///
///     [Flatpak org.example.App]
///     Groups=group.org.example.* group.shared
struct AccessPolicy: Equatable, Sendable {
    static let fileName = "policy.conf"

    private struct Grant: Equatable, Sendable {
        var globs: [Glob]
        /// For people: where it stands.
        var place: String
    }

    /// By the section's name.
    private var grants: [String: [Grant]] = [:]
    /// One line each, `file:line: text`.
    private(set) var warnings: [String] = []

    init() {}

    init(_ files: [ConfigurationFile]) {
        for file in files { read(file) }
    }

    private mutating func read(_ file: ConfigurationFile) {
        var section: String?
        for (index, line) in file.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated()
        {
            let line = line.drop { $0 == " " || $0 == "\t" }
            let place = "\(file.path):\(index + 1)"
            guard let first = line.first, first != "#", first != ";" else { continue }
            if first == "[" {
                section = Self.section(line)
                if section == nil {
                    warnings.append("\(place): expected [Flatpak APPLICATION] or [Snap NAME], not \(line)")
                }
            } else if line.hasPrefix("Groups=") {
                guard let section else { continue }
                let patterns = line.dropFirst(7).split(whereSeparator: { $0 == " " || $0 == "\t" }).map(String.init)
                // An empty assignment takes back what was granted so far.
                if patterns.isEmpty { grants[section] = [] }
                grants[section, default: []].append(Grant(globs: patterns.map(Glob.init), place: place))
            } else {
                warnings.append("\(place): expected Groups=, not \(line)")
            }
        }
    }

    private static func section(_ line: Substring) -> String? {
        guard line.last == "]" else { return nil }
        let words = line.dropFirst().dropLast().split(separator: " ").map(String.init)
        guard words.count == 2, words[0] == "Flatpak" || words[0] == "Snap" else { return nil }
        return "\(words[0]) \(words[1])"
    }
}

extension AccessPolicy {
    /// Why an application may not use a group: the rule, for people. Nil where it may.
    func denial(of group: GroupIdentifier, to confinement: Confinement) -> String? {
        guard let section = confinement.section else { return "\(confinement) may use no group" }
        let key = Key(group.string)
        guard let grants = grants[section] else {
            return "\(confinement) may use no group: no section [\(section)] in \(Self.fileName) grants it one"
        }
        if grants.contains(where: { $0.globs.contains { $0.matches(key) } }) { return nil }
        let places = grants.map(\.place).joined(separator: ", ")
        return "\(confinement) may not use \(group): [\(section)] at \(places) does not grant it"
    }
}

extension Confinement {
    fileprivate var section: String? {
        switch self {
        case .flatpak(let name): "Flatpak \(name)"
        case .snap(let name): "Snap \(name)"
        case .unknown: nil
        }
    }
}
