import Foundation
import TestSupport
import Testing

@Suite(
    "What the journal has",
    .enabled(if: UserManager.obstacle == nil, Comment(rawValue: UserManager.obstacle ?? "")))
struct JournalTests {
    private static let group = UserManager.group
    private static let damagedFile = "f3dd1748fc8b4a88badb94b89fd350fb"

    /// The fields of the newest entry that matches.
    private func entry(_ matches: String, _ manager: UserManager) throws -> [String: String] {
        let line = try manager.run("journalctl -q -o json -n 1 \(matches)")
        guard !line.isEmpty else { return [:] }
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return (object ?? [:]).compactMapValues { $0 as? String }
    }

    @Test("Entries have fields to search by, no value, and explanations; the level changes while the daemon runs")
    func entries() throws {
        let manager = try UserManager()
        try manager.control("write --create \(Self.group) k unheard-of-1")
        #expect(try manager.control("log-level") == "info")
        #expect(try manager.control("log-level debug") == "debug")
        try manager.control("write \(Self.group) k unheard-of-2")
        var found: [String: String] = [:]
        #expect(
            try eventually {
                found = try entry("APPGROUP_KEY=k", manager)
                return !found.isEmpty
            })
        #expect(found["APPGROUP_GROUP"] == Self.group)
        #expect(found["APPGROUP_REVISION"] == "2")
        #expect(found["APPGROUP_ORIGIN"]?.hasPrefix("appgroupctl[") == true)
        #expect(found["PRIORITY"] == "7")
        #expect(found["SYSLOG_IDENTIFIER"] == "appgroupd")
        #expect(found["CODE_FILE"]?.hasPrefix("GroupServer/") == true)

        try Data("no property list".utf8).write(to: URL(filePath: manager.plist), options: .atomic)
        #expect(
            try eventually {
                found = try entry("MESSAGE_ID=\(Self.damagedFile)", manager)
                return !found.isEmpty
            })
        #expect(found["APPGROUP_GROUP"] == Self.group)
        #expect(found["APPGROUP_PATH"] == manager.plist)
        let explained = try manager.run("journalctl -q -x -o short MESSAGE_ID=\(Self.damagedFile)")
        #expect(explained.contains("Subject: A property list of group \(Self.group) cannot be read"))
        #expect(explained.contains("appgroupctl repair GROUP"))
        #expect(try !manager.run("journalctl -q -o export").contains("unheard-of"))
    }
}
