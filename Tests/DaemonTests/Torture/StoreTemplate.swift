import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

/// A store with some history, which each try of a campaign begins with a copy of.
struct StoreTemplate {
    let directory: TemporaryDirectory
    let state: [Key: Value]
    /// Nil for a store that does not exist yet.
    let position: Position?

    private static let allComments = ["<!-- at the top -->", "<!-- about the first -->"]
    private static let text = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!-- at the top -->
        <plist version="1.0">
        <dict>
            <!-- about the first -->
            <key>first</key>   <integer>1</integer>
            <key>single</key>  <integer>0</integer>
        </dict>
        </plist>

        """

    /// What of the file's text was there from the beginning.
    var comments: [String] { position == nil ? [] : Self.allComments }

    /// One with some history and a file that somebody wrote.
    init(_ group: GroupIdentifier, configuration: [String]) throws {
        directory = try TemporaryDirectory("appgroupd-template")
        let daemon = try RunningDaemon(configuration: configuration)
        let peer = try daemon.peer(with: group)
        try Plist.replace(daemon.plist(group.string), with: Self.text)
        try peer.call(.synchronize(group))
        for number in 0..<6 { try peer.write(group, [.set("count", .integer(Int64(number)))]) }
        try peer.call(.synchronize(group))
        let read = try peer.read(group)
        state = read.values
        position = read.position
        try daemon.stop()
        for (from, name) in [(daemon.root, "root"), (daemon.state, "state")] {
            try FileManager.default.copyItem(atPath: from, toPath: directory.file(name))
        }
    }

    /// Where nothing is yet.
    init() throws {
        directory = try TemporaryDirectory("appgroupd-template")
        state = [:]
        position = nil
    }

    /// A daemon on a copy; not running.
    func copy(configuration: [String]) throws -> RunningDaemon {
        try RunningDaemon(configuration: configuration, starts: false) { daemon in
            guard position != nil else { return }
            try FileManager.default.copyItem(atPath: directory.file("root"), toPath: daemon.root)
            try FileManager.default.copyItem(atPath: directory.file("state"), toPath: daemon.state)
        }
    }
}

/// What must hold of a store, whatever happened to the daemon.
enum StoreCheck {
    /// With the daemon dead: the file is one that every program can read.
    ///
    /// - Parameters:
    ///   - daemon: not running.
    ///   - group: whose file it is.
    ///   - comments: what of its text was there from the beginning; nil where the file need not be there yet.
    /// - Returns: what is wrong.
    static func file(_ daemon: RunningDaemon, _ group: GroupIdentifier, _ comments: [String]?) -> [String] {
        let path = daemon.plist(group.string)
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            return comments == nil ? [] : ["there is no plist"]
        }
        if data.isEmpty { return ["the plist is empty"] }
        // Foundation's reader, and not ours.
        let object = unsafe try? PropertyListSerialization.propertyList(from: data, format: nil)
        if object as? [String: Any] == nil { return ["the plist does not parse: \(data.count) bytes"] }
        let text = String(decoding: data, as: UTF8.self)
        return (comments ?? []).filter { !text.contains($0) }.map { "the plist has lost \($0)" }
    }

    /// With the daemon synchronized: the file says what the daemon says, and nothing is left of what was interrupted.
    static func agreement(
        _ daemon: RunningDaemon, _ group: GroupIdentifier, _ values: [Key: Value], _ comments: [String]
    ) throws -> [String] {
        let path = daemon.plist(group.string)
        var problems = file(daemon, group, comments)
        if try Plist.entries(path) != values { problems.append("the plist holds something else than the daemon") }
        let directory = URL(filePath: path).deletingLastPathComponent().path
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        problems += names.filter { $0 != "\(group).plist" }.map { "left beside the plist: \($0)" }
        // A journal may be in the middle of being rewritten.
        var left: [String] = []
        _ = try eventually {
            let names = try FileManager.default.contentsOfDirectory(atPath: daemon.state)
            left = names.filter { $0.contains("damaged") || $0.hasSuffix(".new") }
            return left.isEmpty
        }
        problems += left.map { "left: \($0)" }
        return problems
    }
}
