import Foundation
import TestSupport
import Testing

/// `ExitIdleSec=`, under a real user manager from the installed files.
@Suite(
    "A daemon that nobody needs ends, and is started on demand",
    .enabled(if: UserManager.obstacle == nil, Comment(rawValue: UserManager.obstacle ?? "")))
struct IdleTests {
    private static let group = UserManager.group

    private static func manager(idle time: String) throws -> UserManager {
        let manager = try UserManager()
        let place = "$HOME/.config/appgroupd"
        try manager.run(
            "mkdir -p \(place) && printf '[Daemon]\\nExitIdleSec=\(time)\\n' >\(place)/appgroupd.conf")
        return manager
    }

    @Test("It writes everything out; an edit made while it is not there is found when the next client starts it")
    func edit() throws {
        let manager = try Self.manager(idle: "200ms")
        try manager.control("write --create \(Self.group) theme light")
        #expect(try manager.wait(for: "ActiveState", toBe: "inactive"))
        #expect(try manager.property("Result") == "success")
        #expect(try manager.property("ExecMainStatus") == "0")
        #expect(try manager.property("NRestarts") == "0")
        #expect(try manager.property("SubState", of: UserManager.socketUnit) == "listening")
        #expect(manager.journal.contains("nobody is connected"))
        let text = try String(contentsOfFile: manager.plist, encoding: .utf8)
        #expect(text.contains("<string>light</string>"))

        try Data(text.replacing("light", with: "dark").utf8).write(to: URL(filePath: manager.plist))
        #expect(try manager.control("read \(Self.group) theme") == "dark")
        #expect(try manager.control("log --json --limit 1 \(Self.group)").contains(#""kind":"file""#))
        #expect(try manager.wait(for: "ActiveState", toBe: "inactive"))
    }

    @Test("An observer keeps it, and a change that is to be taken back, until that is done")
    func needs() throws {
        let manager = try Self.manager(idle: "50ms")
        try manager.control("write --create \(Self.group) n -int 1")
        let observer = try manager.startWatch("--json --count 1")
        #expect(try observer.readErrorLine()?.contains("watching") == true)
        let pid = try manager.mainProcess
        #expect(try !eventually(seconds: 1 / timeoutScale) { try manager.mainProcess != pid })
        let client = try RawPeer(path: manager.settingsSocket, timeoutSeconds: 60)
        let reply = try client.call(
            #"{"method":"io.appgroupd.Settings.Try","parameters":{"group":"\#(Self.group)","seconds":2.5,"#
                + #""edits":[{"key":"n","value":{"integer":2}}]}}"#)
        #expect(reply.contains(#""revision":2"#), "\(reply)")
        client.close()
        #expect(try observer.finish().code == 0)
        // The observer has gone, and the daemon is there to keep its promise.
        #expect(try manager.wait(for: "ActiveState", toBe: "inactive"))
        #expect(try String(contentsOfFile: manager.plist, encoding: .utf8).contains("<integer>1</integer>"))
        #expect(try manager.property("ExecMainPID") == "\(pid)")
    }

    @Test("Whoever connects while it ends is served, by it or by the next one")
    func races() throws {
        let manager = try Self.manager(idle: "1ms")
        try manager.control("write --create \(Self.group) n -int 0")
        let pauses = SplitMix64.withSeed { random in
            (1...60).map { _ in Double.random(in: 0...0.12, using: &random) }
        }
        var daemons: Set<String> = []
        for (number, pause) in zip(1..., pauses) {
            Thread.sleep(forTimeInterval: pause)
            let client = try RawPeer(path: manager.settingsSocket, timeoutSeconds: 60)
            let reply = try client.call(
                #"{"method":"io.appgroupd.Settings.Read","parameters":{"group":"\#(Self.group)"}}"#)
            #expect(reply.contains(#""n":{"integer":\#((number - 1) / 20)}"#), "\(number): \(reply)")
            if number.isMultiple(of: 20) {
                let reply = try client.call(
                    #"{"method":"io.appgroupd.Settings.Write","parameters":{"group":"\#(Self.group)","#
                        + #""edits":[{"key":"n","value":{"integer":\#(number / 20)}}]}}"#)
                #expect(reply.contains(#""changed":["n"]"#), "\(reply)")
            }
            daemons.insert(try manager.property("ExecMainPID"))
        }
        // The test is none where it hardly ever ended.
        #expect(daemons.count > 5)
        #expect(try manager.property("NRestarts") == "0")
    }
}
