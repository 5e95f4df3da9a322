import GroupModel
import GroupProtocol
import TestSupport
import Testing
import Varlink

/// The code held against the `.varlink` file, the one source of the interface.
@Suite struct InterfaceFileTests {
    private let interface: InterfaceDescription

    init() throws {
        interface = try InterfaceDescription(parsing: SettingsInterface.description)
    }

    @Test func hasTheNameThatTheDaemonServes() {
        #expect(interface.name == SettingsInterface.name)
        #expect(SettingsInterface.name == "io.appgroupd.Settings")
    }

    @Test func everyMethodIsServedAndEveryServedMethodIsThere() {
        #expect(Set(interface.methods.map(\.name)) == Set(SettingsMethod.allCases.map(\.rawValue)))
    }

    @Test(arguments: SettingsMethod.allCases)
    func streamsSayThatTheyRequireMore(method: SettingsMethod) {
        let documentation = interface.method(named: method.rawValue)?.documentation
        #expect(documentation?.contains("[Requires 'more' flag]") == method.isStream)
    }

    @Test func everyTypeAndMethodIsDocumented() {
        for type in interface.types { #expect(!type.documentation.isEmpty, "\(type.name)") }
        for method in interface.methods { #expect(!method.documentation.isEmpty, "\(method.name)") }
    }

    private static let errors: [GroupError] = [
        .noSuchGroup("g"), .invalidGroup("g", reason: "r"), .invalidKey("k", reason: "r"),
        .invalidValue(key: "k", reason: "r"), .wrongType(key: "k", expected: "array", found: "string"),
        .conflict(keys: ["a", "e\u{301}", ""], revision: .max), .forced(keys: ["a"]),
        .readOnly(group: "g", reason: "r"),
        .tooLarge(subject: "s", limit: 1, size: .max), .storageFailed(reason: "r", errno: 28),
        .notPermitted(reason: "r"),
    ]

    @Test func everyErrorIsThereAndEveryErrorOfTheFileIsInTheCode() {
        let names = Self.errors.map { String($0.wireName.dropFirst(SettingsInterface.name.count + 1)) }
        #expect(Set(names) == Set(interface.errors.map(\.name)))
        #expect(names.count == interface.errors.count)
    }

    @Test(arguments: errors)
    func anErrorHasTheParametersOfTheFile(error: GroupError) throws {
        let name = String(error.wireName.dropFirst(SettingsInterface.name.count + 1))
        #expect(error.wireName == SettingsInterface.name + "." + name)
        #expect(interface.matches(parameters: error.wireParameters, error: name))
        #expect(Set(error.wireParameters.map(\.name)) == Set(interface.error(named: name)?.fields.map(\.name) ?? []))
        let reply = try Reply(parsing: Array(error.replyBytes.dropLast()))
        #expect(GroupError(reply) == error)
        #expect(!reply.continues)
    }

    @Test func whatIsNoErrorOfOursIsNone() {
        #expect(GroupError(Reply()) == nil)
        #expect(GroupError(Reply(error: "org.varlink.service.MethodNotFound")) == nil)
        #expect(GroupError(Reply(error: "io.appgroupd.Settings.Unheard")) == nil)
        #expect(GroupError(Reply(error: "io.appgroupd.SettingsNoSuchGroup")) == nil)
        #expect(GroupError(Reply(error: "NoSuchGroup")) == nil)
    }

    @Test(arguments: SettingsMethod.allCases)
    func requestsAreWhatTheFileSaysAndReadBack(method: SettingsMethod) throws {
        try SplitMix64.withSeed { random throws in
            for _ in 0..<300 {
                let request = random.request(method)
                let call = try Call(parsing: Array(request.callBytes.dropLast()))
                #expect(call.interface == SettingsInterface.name)
                #expect(call.member == method.rawValue)
                #expect(request.method == method)
                #expect(call.mode == (method.isStream ? .more : .single))
                #expect(interface.firstInvalidParameter(of: call.parameters, method: method.rawValue) == nil)
                #expect(try Request(method, call.parameters) == request)
            }
        }
    }

    @Test func repliesAreWhatTheFileSays() throws {
        try SplitMix64.withSeed { random throws in
            for _ in 0..<300 {
                let commit = random.commit()
                let watch = try JSONWriter.object {
                    $0.beginObject()
                    $0.member("commit")
                    $0.write(commit)
                    $0.member("coalesced", integer: 3)
                    $0.endObject()
                }
                #expect(interface.matches(outputs: watch, method: "Watch"))
                let position = random.position()
                let values = random.entries()
                let read = try JSONWriter.object {
                    $0.beginObject()
                    $0.member("position")
                    $0.write(position)
                    $0.member("values")
                    $0.write(values)
                    $0.endObject()
                }
                #expect(interface.matches(outputs: read, method: "Read"))
            }
        }
    }

    @Test func theRepliesOfADocumentWatchAreWhatTheFileSaysAndReadBack() throws {
        try SplitMix64.withSeed { random throws in
            for _ in 0..<300 {
                let change = DocumentChange(
                    path: random.text(), kind: random.pick(DocumentChange.Kind.allCases), time: random.timestamp(),
                    origin: random.origin())
                for event in [.established, .rescan, .change(change)] as [DocumentEvent] {
                    let reply = try Reply(parsing: Array(event.message.dropLast()))
                    #expect(reply.continues)
                    #expect(interface.matches(outputs: reply.parameters, method: "WatchDocuments"))
                    #expect(DocumentEvent(wire: reply.parameters) == event)
                }
            }
        }
    }

    @Test func theStatusIsWhatTheFileSaysAndReadsBack() throws {
        try SplitMix64.withSeed { random throws in
            for _ in 0..<200 {
                let status = random.status()
                let object = try JSONWriter.object { $0.write(status) }
                #expect(interface.matches(outputs: object, method: "Status"))
                #expect(DaemonStatus(wire: object) == status)
            }
        }
    }
}

extension SplitMix64 {
    fileprivate mutating func problem() -> Problem {
        Problem(
            reason: text(), path: maybe { $0.text() }, line: maybe { $0.pick([1, .max]) },
            column: maybe { $0.pick([1, 80]) }, advice: maybe { $0.text() })
    }

    fileprivate mutating func status() -> DaemonStatus {
        let groups = (0..<Int.random(in: 0...3, using: &self)).map { _ in
            GroupStatus(
                group: group(), position: position(), keys: pick([0, 1_000_000]), bytes: pick([0, 4 << 20]),
                watchers: 3,
                plist: pick(PlistCondition.allCases), watching: pick(GroupStatus.Watching.allCases),
                problem: maybe { $0.problem() })
        }
        return DaemonStatus(
            version: text(), uptime: pick([0, 0.5, 1e9, 17]), durability: pick(Durability.allCases), clients: 1,
            watches: 2, commits: pick([0, .max]), groups: groups,
            problems: (0..<Int.random(in: 0...2, using: &self)).map { _ in problem() }, root: text(), state: text())
    }
}
