import CShims
import FoundationEssentials
import GroupClient
import GroupModel
import GroupProtocol
import PropertyList
import Synchronization
import Varlink

extension GroupDefaults {
    /// The settings of this program: the group named after it.
    ///
    /// The name is the last part of the path by which the program was started, with every character that a group identifier
    /// has not replaced by `_`; `_` goes before a leading dot or hyphen. Two programs of one name share their settings.
    public static let standard = GroupDefaults(suiteName: domainName(ofProgram: CommandLine.arguments.first ?? ""))

    static func domainName(ofProgram path: String) -> String {
        let name = path.utf8.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? []
        var bytes = name.prefix(GroupIdentifier.byteLimit - 1).map(allowed)
        for index in bytes.indices.dropFirst() where bytes[index] == UInt8(ascii: ".") {
            if bytes[index - 1] == UInt8(ascii: ".") { bytes[index] = UInt8(ascii: "_") }
        }
        if bytes.isEmpty { return "program" }
        if [UInt8(ascii: "."), UInt8(ascii: "-")].contains(bytes[0]) { bytes.insert(UInt8(ascii: "_"), at: 0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func allowed(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            byte
        default: UInt8(ascii: "_")
        }
    }
}

// MARK: - Registered defaults

extension GroupDefaults {
    /// Gives defaults for keys that are nowhere else: the last place of the search list.
    ///
    ///     settings.register(defaults: ["fontSize": 12, "theme": "light"])
    ///
    /// They hold for this process only, for all groups, and are never stored: every program registers its own at its start
    /// (a widget does not see those of its app; ``ensure(_:)`` stores a default for everybody). Later registrations win.
    /// Whoever observes a key that this gives another value is told.
    ///
    /// - Parameter defaults: property-list values. If one of them is none, nothing is registered, and ``errors`` says which.
    public func register(defaults: [String: Any]) {
        reporting { () throws(AppGroupError) in
            if ForkGuard.isChild { throw ForkGuard.error }
            ProcessDomains.shared.register(try propertyListValues(defaults))
        }
    }

    private func propertyListValues(_ values: [String: Any]) throws(AppGroupError) -> [PropertyList.Key: Value] {
        var result: [PropertyList.Key: Value] = [:]
        for (key, value) in values { result[PropertyList.Key(key)] = try propertyListValue(value, key) }
        return result
    }
}

// MARK: - Suites

extension GroupDefaults {
    /// Looks into another group, too, for keys that this one does not have: after the suites that were added before, and
    /// before the registered defaults. For reading only; sets go to this group.
    ///
    /// Changes in it are observed like this group's own, where nothing hides them. A name that is no group identifier is
    /// reported by ``errors``.
    public func addSuite(named suiteName: String) {
        reporting { () throws(AppGroupError) in
            guard let suite = try replica(named: suiteName, isMade: true) else { return }
            suite.waitUntilReady(Deadline(afterSeconds: Self.firstReadLimit))
            searchList.addSuite(suite)
        }
    }

    /// The same for a group that is open, such as one in memory.
    public func addSuite(_ suite: GroupDefaults) {
        suite.waitForFirstState()
        searchList.addSuite(suite.backend.replica)
    }

    /// Undoes ``addSuite(named:)``.
    public func removeSuite(named suiteName: String) {
        reporting { () throws(AppGroupError) in
            if let suite = try replica(named: suiteName, isMade: false) { searchList.removeSuite(suite) }
        }
    }

    /// Undoes ``addSuite(_:)``.
    public func removeSuite(_ suite: GroupDefaults) {
        searchList.removeSuite(suite.backend.replica)
    }
}

// MARK: - Whole domains

extension GroupDefaults {
    /// All that readers see: arguments, this group, suites and registered defaults in one dictionary.
    public func dictionaryRepresentation() -> [String: Any] {
        if ForkGuard.isChild { return [:] }
        waitForFirstState()
        return Value.propertyList(searchList.allValues)
    }

    /// What this group itself holds, and nothing else.
    public func ownDictionary() -> [String: Any] {
        Value.propertyList(ownValues)
    }

    /// The keys that this group itself holds, in the order of their bytes.
    public var ownKeys: [String] {
        ownValues.keys.sorted().map(\.string)
    }

    private var ownValues: [PropertyList.Key: Value] {
        if ForkGuard.isChild { return [:] }
        waitForFirstState()
        return searchList.ownValues
    }

    /// What a group holds, and nothing else.
    ///
    /// Asks the daemon where the group is not open in this process, for at most two seconds; the group is not made by it.
    ///
    /// - Returns: nil when there is no such group, it cannot be reached (``errors`` says so), or it is empty.
    public func persistentDomain(forName name: String) -> [String: Any]? {
        var values: [PropertyList.Key: Value] = [:]
        reporting { () throws(AppGroupError) in values = try domain(named: name) }
        return values.isEmpty ? nil : Value.propertyList(values)
    }

    /// Replaces all that a group holds, as one commit: keys that are not in `domain` are removed, also those that this
    /// process has not heard of yet.
    ///
    /// - Parameters:
    ///   - domain: property-list values. If one of them is none, nothing changes, and ``errors`` says which.
    ///   - name: the group; it is made when it does not exist.
    public func setPersistentDomain(_ domain: [String: Any], forName name: String) {
        reporting { () throws(AppGroupError) in
            let new = try propertyListValues(domain)
            let target = try open(name)
            target.waitForFirstState()
            let edits = new.sorted { $0.key < $1.key }.map { Edit.set($0.key, $0.value) }
            try target.submit(.replacement(edits))
        }
    }

    /// Removes all that a group holds, as one commit. The group itself stays.
    public func removePersistentDomain(forName name: String) {
        reporting { () throws(AppGroupError) in
            // Not to make a group in order to empty it.
            guard try !domain(named: name).isEmpty else { return }
            let target = try open(name)
            target.waitForFirstState()
            try target.submit(.reset)
        }
    }
}

// MARK: - Other groups

extension GroupDefaults {
    private static func identifier(_ name: String) throws(AppGroupError) -> GroupIdentifier {
        do throws(GroupError) { return try GroupIdentifier(name) } catch { throw AppGroupError(error) }
    }

    /// A group of the same world: the same daemon, or the same test. One that is not open is opened if it is to be made,
    /// and nil otherwise.
    private func replica(named name: String, isMade: Bool) throws(AppGroupError) -> Replica? {
        if ForkGuard.isChild { throw ForkGuard.error }
        let group = try Self.identifier(name)
        switch backend {
        case .daemon(let link, _): return isMade ? link.replica(of: group) : link.openReplica(of: group)
        case .memory(let memory): return memory.group(group, isMade: isMade)?.replica
        case .invalid(_, let error): throw error
        }
    }

    private func open(_ name: String) throws(AppGroupError) -> GroupDefaults {
        if ForkGuard.isChild { throw ForkGuard.error }
        if name == suiteName { return self }
        let group = try Self.identifier(name)
        switch backend {
        case .daemon(let link, _): return GroupDefaults(suiteName: name, link: link)
        case .memory(let memory):
            guard let other = memory.group(group, isMade: true) else { return self }
            return GroupDefaults(suiteName: name, backend: .memory(other))
        case .invalid(_, let error): throw error
        }
    }

    private func domain(named name: String) throws(AppGroupError) -> [PropertyList.Key: Value] {
        if let replica = try replica(named: name, isMade: false) {
            // Its own values are noted by who tracks what it reads.
            if replica === backend.replica { return ownValues }
            replica.waitUntilReady(Deadline(afterSeconds: Self.firstReadLimit))
            return replica.ownValues
        }
        guard case .daemon(let link, _) = backend else { return [:] }
        do throws(AppGroupError) {
            let deadline = Deadline(afterSeconds: Self.firstReadLimit)
            return try link.read(try Self.identifier(name), keys: nil, deadline).values
        } catch {
            guard error.code == .noSuchGroup else { throw error }
            return [:]
        }
    }
}
