import Foundation
import TestSupport
import Testing
import Varlink

/// Programs that change a text in place or by replacing it, each as its users run it.
struct Editor: Sendable, CustomTestStringConvertible {
    let name: String
    /// For `/bin/sh`. `$FILE` is the plist, `$NEW` a copy of it beside which all three changes are made already, and
    /// `$SCRIPT` is a sed script that makes them.
    let command: String
    var keepsComments = true

    var testDescription: String { name }

    static let all = [
        Editor(name: "vim, backupcopy=yes", command: vim(backupCopy: "yes")),
        Editor(name: "vim, backupcopy=no", command: vim(backupCopy: "no")),
        Editor(name: "sed -i", command: #"sed -i -f "$SCRIPT" "$FILE""#),
        Editor(name: "mv over it", command: #"mv "$NEW" "$FILE""#),
        Editor(name: "mv from beside it", command: #"cp "$NEW" "$FILE.new" && mv "$FILE.new" "$FILE""#),
        Editor(name: "cp over it", command: #"cp "$NEW" "$FILE""#),
        Editor(name: "a shell's redirection", command: #"cat "$NEW" > "$FILE""#),
        Editor(
            name: "git checkout",
            command: #"""
                cd "$(dirname "$FILE")" && git init -q . && git add "$(basename "$FILE")" &&
                git -c user.name=t -c user.email=t@example.com commit -q -m old && cp "$FILE" "$NEW.old" &&
                sed -f "$SCRIPT" "$NEW.old" > "$NEW.edited" &&
                blob=$(git hash-object -w "$NEW.edited") &&
                git update-index --cacheinfo "100600,$blob,$(basename "$FILE")" && git checkout -q -- .
                """#),
        Editor(
            name: "Python's plistlib",
            command: #"""
                python3 - "$FILE" <<'END'
                import plistlib, sys
                with open(sys.argv[1], "rb") as file:
                    entries = plistlib.load(file)
                entries["theme"] = "dark"
                entries["added"] = 7
                del entries["old"]
                with open(sys.argv[1], "wb") as file:
                    plistlib.dump(entries, file)
                END
                """#, keepsComments: false),
    ]

    /// `$VIMSCRIPT` are the same changes, typed.
    private static func vim(backupCopy: String) -> String {
        #"vim -es -u NONE -N -c 'set backupcopy=\#(backupCopy) nofsync' -S "$VIMSCRIPT" -c 'wq' "$FILE""#
    }
}

@Suite("The plist, saved by editors")
struct EditorTests {
    static let group = "group.com.example.app"

    /// As somebody's file may look: own order, comments, blank lines.
    private static let text = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
            <!-- how it looks -->
            <key>theme</key>
            <string>light</string>

            <key>old</key> <true/>
            <key>count</key> <integer>3</integer>  <!-- three -->
        </dict>
        </plist>

        """
    private static let initial: JSONObject = [
        "theme": ["string": "light"], "old": ["boolean": true], "count": ["integer": 3],
    ]
    private static let changed: JSONObject = ["theme": ["string": "dark"], "added": ["integer": 7], "old": .null]

    /// A daemon whose group has that file.
    private final class Desk {
        let daemon: RunningDaemon
        let client: SettingsClient
        let observer: Observer
        let file: String
        private let scratch = try? TemporaryDirectory("editor")

        init() throws {
            daemon = try RunningDaemon()
            client = try SettingsClient(daemon)
            file = daemon.plist(EditorTests.group)
            try client.call("CreateGroup", ["group": .string(EditorTests.group)])
            try client.synchronize(EditorTests.group)
            try EditorTests.text.write(toFile: file, atomically: true, encoding: .utf8)
            try client.synchronize(EditorTests.group)
            observer = try Observer(daemon, EditorTests.group)
        }

        func run(_ editor: Editor) throws {
            let scratch = try #require(scratch)
            let script = "s/>light</>dark</\ns/<key>old<.*/<key>added<\\/key> <integer>7<\\/integer>/\n"
            let vim = "%s/>light</>dark</\n%s/<key>old<.*/<key>added<\\/key> <integer>7<\\/integer>/\n"
            let sed = try scratch.write("changes.sed", script)
            let edited = try ChildProcess.run("/usr/bin/env", ["sed", "-f", sed, file])
            let variables = [
                "FILE": file, "NEW": try scratch.write("new.plist", edited.output), "SCRIPT": sed,
                "VIMSCRIPT": try scratch.write("changes.vim", vim), "HOME": scratch.path,
            ]
            let outcome = try ChildProcess.run("/bin/sh", ["-euc", editor.command], environment: variables)
            #expect(outcome.code == 0, "\(editor.name): \(outcome.output)\(outcome.errors)")
        }

        func text() throws -> String { try String(contentsOfFile: file, encoding: .utf8) }
    }

    @Test("one save is one commit with the right keys, and what is around the values stays", arguments: Editor.all)
    func save(editor: Editor) throws {
        let desk = try Desk()
        #expect(desk.observer.initial == Self.initial)
        let before = try desk.client.read(Self.group).revision
        try desk.run(editor)
        let seen = try desk.observer.next()
        #expect(seen == SeenCommit(revision: before + 1, kind: "file", changes: Self.changed))

        // The next commit is ours: so there was no other, and the group was at no moment empty.
        try desk.client.write(Self.group, [("mark", ["boolean": true])])
        let mark = SeenCommit(revision: before + 2, kind: "client", changes: ["mark": ["boolean": true]])
        #expect(try desk.observer.next() == mark)
        try desk.client.synchronize(Self.group)
        let text = try desk.text()
        #expect(text.contains("<key>mark</key>"))
        if editor.keepsComments {
            for kept in [
                "    <!-- how it looks -->\n", "  <!-- three -->\n", "<string>dark</string>\n\n    <key>added",
            ] {
                #expect(text.contains(kept), "\(text)")
            }
        }
        // Our own writing is nobody's edit.
        #expect(try desk.client.read(Self.group).revision == before + 2)
    }

    @Test("R86: vim saves twice, and both are seen", arguments: ["yes", "no"])
    func saveTwice(backupCopy: String) throws {
        let desk = try Desk()
        for (number, theme) in ["dark", "blue", "red"].enumerated() {
            let outcome = try ChildProcess.run(
                "/usr/bin/env",
                [
                    "vim", "-es", "-u", "NONE", "-N", "-c", "set backup writebackup backupcopy=\(backupCopy)",
                    "-c", "%s/<string>[a-z]*</<string>\(theme)</", "-c", "wq", desk.file,
                ], environment: ["HOME": desk.daemon.directory.path])
            #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
            let seen = try desk.observer.next()
            #expect(seen.kind == "file" && seen.changes == ["theme": ["string": .string(theme)]], "save \(number + 1)")
        }
        #expect(try desk.client.read(Self.group).revision == 4)
    }

    @Test("Python's plistlib makes it binary: that is no change by itself, and it stays binary")
    func binary() throws {
        let desk = try Desk()
        let before = try desk.client.read(Self.group).revision
        let convert = Editor(
            name: "plistlib, binary",
            command: #"""
                python3 - "$FILE" <<'END'
                import plistlib, sys
                with open(sys.argv[1], "rb") as file:
                    entries = plistlib.load(file)
                with open(sys.argv[1], "wb") as file:
                    plistlib.dump(entries, file, fmt=plistlib.FMT_BINARY)
                END
                """#)
        try desk.run(convert)
        try desk.client.synchronize(Self.group)
        #expect(try desk.client.read(Self.group).revision == before)
        try desk.client.write(Self.group, [("count", ["integer": 4])])
        try desk.client.synchronize(Self.group)
        let bytes = try Data(contentsOf: URL(filePath: desk.file))
        #expect(bytes.starts(with: Data("bplist00".utf8)))
        var format = PropertyListSerialization.PropertyListFormat.xml
        let entries = unsafe try PropertyListSerialization.propertyList(from: bytes, options: [], format: &format)
        #expect(entries as? NSDictionary == ["theme": "light", "old": true, "count": 4])
    }

    @Test("half a file in the middle of a save is no edit: the last good values are served, and writes are taken")
    func halfSaved() throws {
        let desk = try Desk()
        let before = try desk.client.read(Self.group)
        let new = Self.text.replacing("light", with: "dark")
        let handle = try #require(FileHandle(forWritingAtPath: desk.file))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(new.utf8.prefix(200)))
        // It waits until the daemon has looked at what there is, and is told that it cannot be read.
        #expect(throws: SettingsClient.Refused.self) { try desk.client.synchronize(Self.group) }
        #expect(try desk.client.read(Self.group).values == before.values)
        try desk.client.write(Self.group, [("count", ["integer": 4])])
        #expect(try desk.observer.next().changes == ["count": ["integer": 4]])
        try handle.write(contentsOf: Data(new.utf8.dropFirst(200)))
        try handle.close()
        // In what was saved the count is still three, which is no change of the file's.
        let seen = try desk.observer.next()
        #expect(seen == SeenCommit(revision: before.revision + 2, kind: "file", changes: ["theme": ["string": "dark"]]))
        try desk.client.synchronize(Self.group)
        #expect(try desk.text() == new.replacing("<integer>3<", with: "<integer>4<"))
    }
}
