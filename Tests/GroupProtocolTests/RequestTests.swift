import GroupModel
import GroupProtocol
import PropertyList
import Testing
import Varlink

@Suite struct RequestTests {
    private func read(_ method: SettingsMethod, _ text: String) throws -> Request {
        try Request(method, try JSON(text: text).objectValue ?? [:])
    }

    /// Unknown, missing or of another type: the error names the parameter at the top level.
    @Test(
        arguments: [
            (.listGroups, #"{"x":1}"#, "x"), (.listGroups, #"{"x":null}"#, "x"), (.status, #"{"group":"a"}"#, "group"),
            (.createGroup, "{}", "group"), (.createGroup, #"{"group":null}"#, "group"),
            (.createGroup, #"{"group":1}"#, "group"),
            (.createGroup, #"{"group":"a","Group":"a"}"#, "Group"), (.deleteGroup, #"{"group":["a"]}"#, "group"),
            (.read, #"{"group":"a","keys":"b"}"#, "keys"), (.read, #"{"group":"a","keys":[1]}"#, "keys"),
            (.read, #"{"group":"a","keys":[null]}"#, "keys"), (.read, #"{"keys":[]}"#, "group"),
            (.read, #"{"group":"a","key":"b"}"#, "key"), (.reset, #"{"group":"a","tag":1}"#, "tag"),
            (.synchronize, #"{"group":1}"#, "group"), (.synchronize, #"{"groups":[]}"#, "groups"),
            (.write, #"{"group":"a"}"#, "edits"), (.write, #"{"edits":[]}"#, "group"),
            (.write, #"{"group":"a","edits":{}}"#, "edits"),
            (.write, #"{"group":"a","edits":[1]}"#, "edits"), (.write, #"{"group":"a","edits":[null]}"#, "edits"),
            (.write, #"{"group":"a","edits":[{}]}"#, "edits"), (.write, #"{"group":"a","edits":[{"key":1}]}"#, "edits"),
            (.write, #"{"group":"a","edits":[{"key":"k","operation":"add"}]}"#, "edits"),
            (.write, #"{"group":"a","edits":[{"key":"k","operation":1}]}"#, "edits"),
            (.write, #"{"group":"a","edits":[{"key":"k","operation":"Set"}]}"#, "edits"),
            (.write, #"{"group":"a","edits":[{"key":"k","values":{}}]}"#, "edits"),
            (.write, #"{"group":"a","edits":[{"key":"k","value":"text"}]}"#, "edits"),
            (.write, #"{"group":"a","edits":[{"key":"k","value":{"text":"a"}}]}"#, "edits"),
            (.write, #"{"group":"a","edits":[{"key":"k","value":{"array":[1]}}]}"#, "edits"),
            (.write, #"{"group":"a","edits":[],"ifUnchangedSince":1.0}"#, "ifUnchangedSince"),
            (.write, #"{"group":"a","edits":[],"ifUnchangedSince":"1"}"#, "ifUnchangedSince"),
            (.write, #"{"group":"a","edits":[],"durable":1}"#, "durable"),
            (.write, #"{"group":"a","edits":[],"tag":{}}"#, "tag"),
            (.watch, "{}", "watches"), (.watch, #"{"watches":{}}"#, "watches"),
            (.watch, #"{"watches":["a"]}"#, "watches"),
            (.watch, #"{"watches":[{}]}"#, "watches"), (.watch, #"{"watches":[{"group":"a","x":1}]}"#, "watches"),
            (.watch, #"{"watches":[{"group":"a"},{"group":"b"},{"group":"a"}]}"#, "watches"),
            (.watch, #"{"watches":[{"group":"a","keys":["x"]},{"group":"a","keys":["y"]}]}"#, "watches"),
            (.watch, #"{"watches":[{"group":"a","keys":"*"}]}"#, "watches"),
            (.watch, #"{"watches":[{"group":"a","since":1}]}"#, "watches"),
            (.watch, #"{"watches":[{"group":"a","since":{"epoch":"x","revision":1}}]}"#, "watches"),
            (.watch, #"{"watches":[{"group":"a","since":{"epoch":"00000000000000000000000000000001"}}]}"#, "watches"),
            (
                .watch,
                #"{"watches":[{"group":"a","since":{"epoch":"00000000000000000000000000000001","revision":1,"x":1}}]}"#,
                "watches"
            ),
            (.watchDocuments, "{}", "group"), (.watchDocuments, #"{"group":"a","path":1}"#, "path"),
            (.watchDocuments, #"{"group":"a","path":""}"#, "path"),
            (.watchDocuments, #"{"group":"a","path":"/etc/passwd"}"#, "path"),
            (.watchDocuments, #"{"group":"a","path":"../x"}"#, "path"),
            (.watchDocuments, #"{"group":"a","path":"a/../x"}"#, "path"),
            (.watchDocuments, #"{"group":"a","path":"a//x"}"#, "path"),
            (.watchDocuments, #"{"group":"a","path":"a/"}"#, "path"),
            (.watchDocuments, #"{"group":"a","path":".hidden"}"#, "path"),
            (.watchDocuments, #"{"group":"a","path":"a\u0000b"}"#, "path"),
            (.history, #"{"group":"a","limit":"1"}"#, "limit"), (.history, #"{"group":"a","limit":-1}"#, "limit"),
            (.history, #"{"group":"a","before":1.5}"#, "before"), (.history, "{}", "group"),
        ] as [(SettingsMethod, String, String)])
    func isAnInvalidParameter(method: SettingsMethod, text: String, parameter: String) {
        #expect(throws: RequestProblem.service(.invalidParameter(parameter))) { try read(method, text) }
    }

    @Test(
        arguments: [
            (.read, #"{"group":"a","keys":null}"#, .read(Sample.group("a"), keys: nil)),
            (.read, #"{"group":"a","keys":[]}"#, .read(Sample.group("a"), keys: [])),
            (.reset, #"{"tag":null,"group":"a"}"#, .reset(Sample.group("a"), tag: nil)),
            (.synchronize, #"{"group":null}"#, .synchronize(nil)), (.synchronize, "{}", .synchronize(nil)),
            (
                .history, #"{"group":"a","keys":null,"limit":null,"before":null}"#,
                .history(HistoryRequest(group: Sample.group("a")))
            ),
            (.watch, #"{"watches":[]}"#, .watch([])),
            (
                .watchDocuments, #"{"group":"a","path":null}"#, .watchDocuments(Sample.group("a"), path: nil)
            ),
            (
                .watch, #"{"watches":[{"group":"a","keys":null,"since":null},{"group":"A"}]}"#,
                .watch([WatchedGroup(group: Sample.group("a")), WatchedGroup(group: Sample.group("A"))])
            ),
            (
                .write,
                #"{"group":"a","edits":[],"reset":null,"ifUnchangedSince":null,"durable":null,"tag":null}"#,
                .write(WriteRequest(group: Sample.group("a"), edits: []))
            ),
        ] as [(SettingsMethod, String, Request)])
    func nullEqualsAbsent(method: SettingsMethod, text: String, request: Request) throws {
        #expect(try read(method, text) == request)
    }

    @Test(
        arguments: [
            (#"{"key":"k","value":{"integer":1}}"#, .set("k", .integer(1))),
            (#"{"key":"k","operation":null,"value":{"integer":1}}"#, .set("k", .integer(1))),
            (#"{"key":"k"}"#, .remove("k")), (#"{"key":"k","value":null}"#, .remove("k")),
            (#"{"key":"","operation":"set"}"#, Edit(key: "", operation: .set, value: nil)),
            (
                #"{"key":"k","operation":"remove","value":{"integer":1}}"#,
                Edit(key: "k", operation: .remove, value: .integer(1))
            ),
            (#"{"key":"k","operation":"toggle"}"#, Edit(key: "k", operation: .toggle, value: nil)),
        ] as [(String, Edit)])
    func withoutOperationAnEditSetsOrRemoves(text: String, edit: Edit) throws {
        let request = try read(.write, #"{"group":"a","edits":["# + text + "]}")
        #expect(request == .write(WriteRequest(group: Sample.group("a"), edits: [edit])))
    }

    @Test(
        arguments: [
            (.createGroup, #"{"group":"../etc"}"#), (.read, #"{"group":""}"#),
            (.watch, #"{"watches":[{"group":".a"}]}"#),
            (.synchronize, #"{"group":"a/b"}"#), (.write, #"{"group":"a..b","edits":[]}"#),
        ] as [(SettingsMethod, String)])
    func aBadIdentifierIsAnErrorOfTheInterface(method: SettingsMethod, text: String) {
        let problem = #expect(throws: RequestProblem.self) { try read(method, text) }
        guard case .settings(.invalidGroup) = problem else {
            Issue.record("\(String(describing: problem))")
            return
        }
    }

    @Test(arguments: [#"{"integer":1.0}"#, #"{"data":"AA"}"#, #"{"date":"now"}"#, "{}", #"{"array":[{"number":"5"}]}"#])
    func aBadContentIsAnErrorOfItsKey(value: String) {
        let text = #"{"group":"a","edits":[{"key":"good","value":{"integer":1}},{"key":"é","value":"# + value + "}]}"
        let problem = #expect(throws: RequestProblem.self) { try read(.write, text) }
        guard case .settings(.invalidValue("é", _)) = problem else {
            Issue.record("\(String(describing: problem))")
            return
        }
    }
}
