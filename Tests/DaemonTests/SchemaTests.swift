import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("Schemas")
struct SchemaTests {
    private static let group = "group.com.example.app"
    static let example = """
        {
          "unknownKeys": "refuse",
          "keys": {
            "theme": { "type": "string", "allowed": ["light", "dark"], "default": "light", "summary": "How windows look" },
            "size": { "type": "integer", "minimum": 6, "maximum": 72, "description": "In points." },
            "color": { "pattern": "#[0-9a-f]{6}" },
            "list": { "type": "array", "maximum": 2 },
            "ui.*": { "type": "boolean" }
          }
        }
        """

    @Test("every writer is held against it, and told which rule is broken")
    func writes() throws {
        let daemon = try RunningDaemon { try $0.putSchema(Self.example) }
        let peer = try daemon.peer(with: .example)
        #expect(try peer.read(.example).values == ["theme": .string("light")])
        let refusals: [(Edit, GroupError)] = [
            (
                .set("theme", .string("blue")),
                .invalidValue(key: "theme", reason: #"the group's schema wants one of "light", "dark""#)
            ),
            (
                .set("theme", .integer(1)),
                .invalidValue(key: "theme", reason: "the group's schema wants a value of type string, not integer")
            ),
            (.set("size", .integer(5)), .invalidValue(key: "size", reason: "the group's schema wants at least 6")),
            (
                .set("color", .string("x #00ff00")),
                .invalidValue(key: "color", reason: "the group's schema wants a text that matches #[0-9a-f]{6}")
            ),
            (
                .set("list", .array([.integer(1), .integer(2), .integer(3)])),
                .invalidValue(key: "list", reason: "the group's schema wants an array with a count of at most 2")
            ),
            (
                .set("ui.dark", .string("yes")),
                .invalidValue(key: "ui.dark", reason: "the group's schema wants a value of type boolean, not string")
            ),
            (
                .set("thme", .string("dark")),
                .invalidKey("thme", reason: #"the group's schema has no such key; did you mean "theme"?"#)
            ),
        ]
        for (edit, error) in refusals {
            #expect(throws: error) { try peer.write(.example, [edit]) }
        }
        try peer.write(
            .example, [.set("theme", .string("dark")), .set("size", .integer(72)), .set("color", .string("#00ff00"))])
        #expect(throws: GroupError.invalidValue(key: "size", reason: "the group's schema wants at most 72")) {
            try peer.write(.example, [Edit(key: "size", operation: .increment, value: .integer(1))])
        }
        try peer.write(.example, [.remove("theme"), .set("ui.dark", .boolean(true))])
        #expect(try peer.read(.example, keys: ["theme"]).values == ["theme": .string("light")])
    }

    @Test(
        "an edit of the file that breaks a rule leaves the last good values, is reported, and counts once it is mended")
    func fileEdits() throws {
        let daemon = try RunningDaemon { try $0.putSchema(Self.example) }
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("size", .integer(12))])
        try peer.synchronize()
        try Plist.replace(daemon.plist(Self.group), with: Plist.text(["size": "<integer>5</integer>"]))
        #expect(try eventually { try peer.status(of: .example)?.plist == .damaged })
        #expect(try peer.status(of: .example)?.problem?.reason.contains("at least 6") == true)
        #expect(try peer.read(.example).values["size"] == .integer(12))
        // The administrator's rule is another one now: what was saved is fine.
        try daemon.putSchema(Self.example.replacing("\"minimum\": 6", with: "\"minimum\": 5"))
        #expect(try eventually { try peer.read(.example).values["size"] == .integer(5) })
        #expect(try peer.status(of: .example)?.problem == nil)
    }

    @Test("a schema that is none leaves the last one in force, and status says why")
    func damagedSchema() throws {
        let daemon = try RunningDaemon { try $0.putSchema(Self.example) }
        let peer = try daemon.peer(with: .example)
        try daemon.putSchema(Self.example.replacing("integer", with: "intger"))
        #expect(try eventually { try peer.status()?.problems.isEmpty == false })
        #expect(try peer.status()?.problems.first?.reason.contains("not intger") == true)
        #expect(throws: GroupError.self) { try peer.write(.example, [.set("size", .integer(5))]) }
    }

    @Test("describe tells what there is")
    func describe() throws {
        let daemon = try RunningDaemon { try $0.putSchema(Self.example) }
        _ = try daemon.peer(with: .example)
        let outcome = try daemon.control(["describe", Self.group])
        #expect(
            outcome.output.hasSuffix(
                """
                schemas/\(Self.group).json; other keys are refused
                color: matching "#[0-9a-f]{6}"
                list: array, at most 2
                size: integer, at least 6, at most 72
                    In points.
                theme: string, one of "light", "dark", default "light"
                    How windows look
                "ui.*": boolean

                """))
        #expect(try daemon.control(["describe", Self.group, "ui.dark"]).output == "\"ui.*\": boolean\n")
        #expect(try daemon.control(["describe", Self.group, "other"]).code == 1)
    }
}

extension RunningDaemon {
    func putSchema(_ text: String) throws {
        let path = "\(configurationDirectory(.administrator))/schemas/group.com.example.app.json"
        try FileManager.default.createDirectory(
            at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
        try Plist.replace(path, with: text)
    }
}
