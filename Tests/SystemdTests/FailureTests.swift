import Foundation
import TestSupport
import Testing

@Suite(
    "What fails under a real user manager is started again",
    .enabled(if: UserManager.obstacle == nil, Comment(rawValue: UserManager.obstacle ?? "")))
struct FailureTests {
    private static let group = UserManager.group

    @Test("SIGKILL: the daemon is started again, and an observer goes on without a gap")
    func killed() throws {
        let manager = try UserManager()
        try manager.control("write --create \(Self.group) n 0")
        let observer = try manager.startWatch("--json --count 6")
        #expect(try observer.readErrorLine()?.contains("watching") == true)
        for number in 1...6 {
            try manager.control("write \(Self.group) n \(number)")
            if number.isMultiple(of: 2) {
                try manager.run("systemctl --user kill -s KILL appgroupd.service")
            }
        }
        let lines = try observer.finish().output.split(separator: "\n")
        let revisions = lines.compactMap { line in
            (line.firstMatch(of: #/"revision":(\d+)/#)?.output.1).map(String.init)
        }
        #expect(revisions == ["2", "3", "4", "5", "6", "7"], "\(lines)")
        #expect(try manager.property("NRestarts") != "0")
    }

    @Test("The watchdog ends a daemon whose loop is blocked, though its other threads are well, and it serves again")
    func watchdog() throws {
        let manager = try UserManager()
        try manager.edit(UserManager.service, "[Service]", "WatchdogSec=1s", "TimeoutAbortSec=1s")
        try manager.control("write --create \(Self.group) k 1")
        let pid = try manager.mainProcess
        // Fed by the loop: a second after the watchdog's time it is still there.
        #expect(try !eventually(seconds: 2 / timeoutScale) { try manager.mainProcess != pid })
        let debugger = try manager.start("python3 -c '\(Self.holdThread)' \(pid)")
        #expect(try debugger.readLine() == "held")
        #expect(try eventually { try manager.property("NRestarts") == "1" })
        #expect(manager.journal.contains("watchdog"))
        #expect(try manager.control("read \(Self.group) k") == "1")
        #expect(try manager.mainProcess != pid)
    }

    /// Stops one thread, the first, as a debugger does, until its process is killed.
    private static let holdThread = """
        import ctypes, os, sys
        ptrace = ctypes.CDLL(None).ptrace
        ptrace.argtypes = [ctypes.c_long] * 4
        thread = int(sys.argv[1])
        assert ptrace(0x4206, thread, 0, 0) == 0 and ptrace(0x4207, thread, 0, 0) == 0
        print("held", flush=True)
        while not os.WIFSIGNALED(os.waitpid(thread, 0x40000000)[1]): pass
        """

    @Test("However often it failed, the next client reaches it")
    func crashLoop() throws {
        let manager = try UserManager()
        try manager.edit(
            UserManager.service, "[Service]", "ExecStart=", "ExecStart=/bin/false", "RestartSec=10ms")
        let client = try manager.start("appgroupctl --timeout 120 write --create \(Self.group) k 1")
        #expect(try eventually { Int(try manager.property("NRestarts")) ?? 0 > 25 })
        try manager.edit(UserManager.service, "[Service]", "RestartSec=10ms")
        #expect(try client.finish().code == 0)
        #expect(try manager.property("SubState", of: UserManager.socketUnit) == "running")
    }

    @Test("One that cannot serve tells its clients so at once, and serves when it can again")
    func unusable() throws {
        let manager = try UserManager()
        // A directory is no configuration: status 78, and no restart by itself.
        try manager.run("mkdir -p ~/.config/appgroupd/appgroupd.conf")
        for _ in 1...30 {
            #expect(try manager.attempt("appgroupctl --timeout 20 list").code != 0)
        }
        #expect(try manager.property("ExecMainStatus") == "78")
        #expect(try manager.property("StatusText").contains("appgroupd.conf"))
        #expect(try manager.property("SubState", of: UserManager.socketUnit) == "listening")
        try manager.run("rmdir ~/.config/appgroupd/appgroupd.conf")
        try manager.control("write --create \(Self.group) k 1")
    }

    @Test("A recovery that takes longer than TimeoutStartSec= is not cut off while it goes on")
    func longRecovery() throws {
        let manager = try UserManager()
        try manager.edit(UserManager.service, "[Service]", "TimeoutStartSec=3s")
        try manager.run(
            "mkdir -p ~/.config/appgroupd && printf '[Daemon]\\nHistoryCommits=1000000\\n' >~/.config/appgroupd/appgroupd.conf"
        )
        try manager.control("write --create \(Self.group) n -int 0")
        try write(30_000, manager)
        let pid = try manager.mainProcess
        try manager.run("systemctl --user kill -s KILL appgroupd.service")
        try manager.run(Self.slowStart(after: pid))
        #expect(try manager.wait(for: "ActiveState", toBe: "active"))
        let start = try #require(Int(try manager.property("ExecMainStartTimestampMonotonic")))
        let ready = try #require(Int(try manager.property("ActiveEnterTimestampMonotonic")))
        #expect(ready - start > 3_000_000, "the start was no long one: \(ready - start) µs")
        #expect(try manager.property("NRestarts") == "1")
        #expect(try manager.control("read \(Self.group) n") == "30000")
    }

    /// A journal that is worth a recovery.
    private func write(_ count: Int, _ manager: UserManager) throws {
        let peer = try RawPeer(path: manager.settingsSocket, timeoutSeconds: 60)
        for start in stride(from: 1, through: count, by: 500) {
            let calls = (start..<start + 500).map { number in
                #"{"method":"io.appgroupd.Settings.Write","parameters":{"group":"\#(Self.group)","edits":"#
                    + #"[{"key":"n","value":{"integer":\#(number)}}]}}"#
            }
            try peer.sendMessage(calls.joined(separator: "\0"))
            for _ in calls { _ = try peer.readMessageBytes() }
        }
    }

    /// As on a machine or a disk that lets the daemon get on a twentieth of the time only, until it serves.
    private static func slowStart(after old: Int) -> String {
        let show = "systemctl --user show appgroupd.service --value -p"
        return """
            until pid=$(\(show) MainPID); [ $pid != 0 ] && [ $pid != \(old) ]; do sleep 0.01; done
            while kill -STOP $pid; sleep 0.2; state=$(\(show) SubState); kill -CONT $pid; [ $state = start ]; do
                sleep 0.015
            done
            """
    }
}
