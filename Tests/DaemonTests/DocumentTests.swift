import Foundation
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("Watching documents")
struct DocumentTests {
    fileprivate struct World {
        let daemon: RunningDaemon
        let peer: SettingsPeer
        let documents: String

        /// The settle time is long, since the steps of a shell take long on a busy machine.
        init(configuration: [String] = []) throws {
            daemon = try RunningDaemon(configuration: ["SettleSec=0.4"] + configuration)
            peer = try daemon.peer(with: .example)
            documents = "\(daemon.root)/group.com.example.app/Documents"
        }

        /// A peer that watches, the first reply read.
        func watcher(path: String? = nil) throws -> SettingsPeer {
            let watcher = try SettingsPeer(daemon)
            try watcher.send(.watchDocuments(.example, path: path.flatMap(DocumentPath.init)))
            #expect(try watcher.receive() == Reply(continues: true))
            return watcher
        }

        /// What a program of its own does in the directory.
        func shell(_ script: String) throws {
            let outcome = try ChildProcess.run("/bin/sh", ["-e", "-c", "cd '\(documents)'\n" + script])
            try #require(outcome.code == 0, "\(outcome.errors)")
        }

        /// Writes a last file, and gives what was told before it. A change that is told again, since its second half came
        /// late, counts once.
        func news(of watcher: SettingsPeer) throws -> [String] {
            let marker = "marker-\(UInt64.random(in: .min ... .max))"
            try shell("echo > \(marker)")
            var lines: [String] = []
            while true {
                let event = try watcher.documentEvent()
                switch event {
                case .change(let change) where change.path == marker: return lines
                case .change(let change):
                    let line = "\(change.kind.rawValue) \(change.path)"
                    if line != lines.last { lines.append(line) }
                case .rescan: lines.append("rescan")
                case .established: lines.append("nothing")
                }
            }
        }

        /// The next change, as a line.
        func next(_ watcher: SettingsPeer) throws -> String {
            switch try watcher.documentEvent() {
            case .change(let change): "\(change.kind.rawValue) \(change.path)"
            case .rescan: "rescan"
            case .established: "nothing"
            }
        }
    }

    @Test("every reply is what the interface says")
    func conformance() throws {
        let world = try World()
        let watcher = try SettingsPeer(world.daemon)
        try watcher.send(.watchDocuments(.example, path: nil))
        var replies = [try watcher.receive()]
        try world.shell("echo 1 > notes.json")
        replies.append(try watcher.receive())
        try world.shell("echo 2 > notes.json")
        replies.append(try watcher.receive())
        try world.shell("rm notes.json")
        replies.append(try watcher.receive())
        for reply in replies {
            #expect(reply.continues)
            #expect(reply.error == nil)
            #expect(
                settingsInterface.matches(outputs: reply.parameters, method: "WatchDocuments"), "\(reply.parameters)")
        }
        let changes = replies.map { $0.parameters["change"]?.objectValue }
        #expect(changes.map { $0?["kind"]?.stringValue } == [nil, "created", "changed", "deleted"])
        #expect(changes[1]?["path"] == "notes.json")
        #expect(changes[1]?["origin"] == ["kind": "file"])
        #expect(changes[1]?["time"]?.stringValue.flatMap { Timestamp(rfc3339: $0) } != nil)
    }

    @Test("without more it is ExpectedMore, of an unknown group NoSuchGroup, and the connection goes on")
    func refusals() throws {
        let world = try World()
        let reply = try world.peer.ask("WatchDocuments", #"{"group":"group.com.example.app"}"#)
        #expect(reply.error == "org.varlink.service.ExpectedMore")
        let unknown = GroupIdentifier(known: "no.such")
        #expect(try world.peer.refusal(of: .watchDocuments(unknown, path: nil)) == .noSuchGroup("no.such"))
        #expect(try world.peer.groups() == ["group.com.example.app"])
    }

    /// What programs do, and what is told of it.
    static let scripts: [(name: String, before: String, script: String, news: [String])] = [
        ("a new file", "", "echo a > a", ["created a"]),
        ("a file written anew", "echo 1 > a", "echo 2 > a", ["changed a"]),
        ("an addition", "echo 1 > a", "echo 2 >> a", ["changed a"]),
        ("a rename over it", "echo 1 > a", "echo 2 > .a.tmp; mv .a.tmp a", ["changed a"]),
        ("a rename into place", "", "echo 2 > .a.tmp; mv .a.tmp a", ["created a"]),
        ("a file with a second name", "echo 1 > a", "ln a b; sleep 1", ["created b"]),
        ("a deletion", "echo 1 > a", "rm a; sleep 1", ["deleted a"]),
        ("a deletion and a new file at once", "echo 1 > a", "rm a; echo 1 > a", ["changed a"]),
        ("a backup by rename, as vim makes it", "echo 1 > a", "mv a .a~; echo 2 > a; rm .a~", ["changed a"]),
        ("another name", "echo 1 > a", "mv a b; sleep 1", ["created b", "deleted a"]),
        ("hidden files", "", "echo 1 > .a.swp; mkdir .git; echo 1 > .git/a; rm .a.swp", []),
        ("an empty file", "", ": > a", ["created a"]),
        ("what is no file", "", "mkfifo f; ln -s nowhere l", []),
        ("a file that was only read", "echo 1 > a", "cat a", []),
        ("a nested file", "mkdir -p d/e", "echo 1 > d/e/f", ["created d/e/f"]),
        ("a new directory with a file", "", "mkdir d; echo 1 > d/f; sleep 1", ["created d/f"]),
        ("a name of many bytes", "", "echo 1 > 'n\u{e9}w \"file\" \u{1F600}'", ["created n\u{e9}w \"file\" \u{1F600}"]),
    ]

    @Test("tells what programs do", arguments: scripts.indices)
    func script(index: Int) throws {
        let (name, before, script, news) = Self.scripts[index]
        let world = try World()
        if !before.isEmpty { try world.shell(before) }
        let watcher = try world.watcher()
        try world.shell(script)
        let told = try world.news(of: watcher)
        #expect(told == news, "\(name)")
    }

    @Test("directories made, filled, moved and removed while it watches")
    func directories() throws {
        let world = try World()
        let watcher = try world.watcher()
        try world.shell("mkdir -p a/b/c && echo 1 > a/b/c/deep")
        #expect(try world.next(watcher) == "created a/b/c/deep")
        try world.shell("echo 1 > a/b/second")
        #expect(try world.next(watcher) == "created a/b/second")
        try world.shell("mv a/b x")
        var told: Set<String> = []
        for _ in 0..<4 { told.insert(try world.next(watcher)) }
        #expect(told == ["created x/c/deep", "created x/second", "deleted a/b/c/deep", "deleted a/b/second"])
        try world.shell("echo 2 > x/c/deep")
        #expect(try world.next(watcher) == "changed x/c/deep")
        try world.shell("rm -r x")
        told = [try world.next(watcher), try world.next(watcher)]
        #expect(told == ["deleted x/c/deep", "deleted x/second"])
    }

    @Test("a path names the only file of interest")
    func path() throws {
        let world = try World()
        let watcher = try world.watcher(path: "d/notes.json")
        try world.shell("echo 1 > notes.json; mkdir d; echo 1 > d/other; echo 1 > d/notes.json; echo 2 > notes.json")
        #expect(try world.next(watcher) == "created d/notes.json")
        try world.shell("echo 1 > d/other; echo 2 > d/notes.json")
        #expect(try world.next(watcher) == "changed d/notes.json")
    }

    @Test("the directory itself is replaced, removed and made again")
    func directoryReplaced() throws {
        let world = try World()
        try world.shell("echo 1 > a; echo 1 > b")
        let watcher = try world.watcher()
        try world.shell("mkdir ../new; echo 2 > ../new/a; mv ../Documents ../old; mv ../new ../Documents")
        var told: Set = [try world.next(watcher), try world.next(watcher)]
        #expect(told == ["changed a", "deleted b"])
        try world.shell("echo 3 > a")
        #expect(try world.next(watcher) == "changed a")
        try world.shell("rm -r ../Documents")
        #expect(try world.next(watcher) == "deleted a")
        try FileManager.default.createDirectory(atPath: world.documents, withIntermediateDirectories: false)
        try world.shell("echo 4 > a")
        told = [try world.next(watcher)]
        #expect(told == ["created a"])
    }

    @Test("the group's directory is exchanged with another one, deeper directories and all")
    func containerExchanged() throws {
        let world = try World()
        let container = "\(world.daemon.root)/group.com.example.app"
        let copy = world.daemon.directory.file("copy")
        try world.shell("echo 1 > a; mkdir d; echo 1 > d/b; cp -R '\(container)' '\(copy)'")
        let watcher = try world.watcher()
        for round in 1...5 {
            try world.shell("echo '\(round) there' > \(copy)/Documents/d/b")
            try Files.exchange(copy, container)
            var told: Set<String> = []
            while !told.contains("changed d/b") { told.insert(try world.next(watcher)) }
            #expect(told.isSubset(of: ["changed a", "changed d/b"]))
            try world.shell("echo '\(round) here' > \(container)/Documents/d/b")
            while try world.next(watcher) != "changed d/b" {}
            #expect(try world.news(of: watcher).allSatisfy { $0 == "changed d/b" || $0 == "changed a" })
        }
    }

    @Test("the watch outlives its group")
    func groupDeleted() throws {
        let world = try World()
        try world.shell("echo 1 > a")
        let watcher = try world.watcher()
        try world.peer.call(.deleteGroup(.example))
        #expect(try world.next(watcher) == "deleted a")
        try world.peer.create(.example)
        try world.shell("echo 1 > a")
        #expect(try world.next(watcher) == "created a")
    }

    @Test("a file behind links is followed to where it is")
    func links() throws {
        let world = try World()
        let dotfiles = world.daemon.directory.file("dotfiles")
        try FileManager.default.createDirectory(atPath: dotfiles, withIntermediateDirectories: false)
        try world.shell("echo 1 > '\(dotfiles)/notes'; ln -s '\(dotfiles)/notes' notes.json")
        let watcher = try world.watcher()
        try world.shell("echo 2 > '\(dotfiles)/notes'")
        #expect(try world.next(watcher) == "changed notes.json")
        try world.shell("echo 3 > '\(dotfiles)/.tmp'; mv '\(dotfiles)/.tmp' '\(dotfiles)/notes'")
        #expect(try world.next(watcher) == "changed notes.json")
    }

    @Test("an observer that does not read gets one change a file, and a rescan where even that is too much")
    func slowObserver() throws {
        let world = try World(configuration: ["MaxQueueSize=64K"])
        let watcher = try world.watcher()
        // More than the socket's buffer, the chunk and the queue hold together.
        try world.shell("i=0; while [ $i -lt 6000 ]; do echo > file-with-a-name-of-some-length-$i; i=$((i+1)); done")
        var hasRescan = false
        var count = 0
        while !hasRescan {
            switch try watcher.documentEvent() {
            case .rescan: hasRescan = true
            case .change: count += 1
            case .established: Issue.record("nothing told")
            }
            if count > 6000 { break }
        }
        #expect(hasRescan)
    }

    @Test("settings and documents of one group are watched side by side, and either watch ends alone")
    func sideBySide() throws {
        let world = try World()
        let settings = try world.daemon.watcher(of: .example)
        let watcher = try world.watcher()
        try world.shell("echo 1 > a")
        #expect(try world.next(watcher) == "created a")
        watcher.peer.close()
        #expect(try eventually { try world.peer.status()?.watches == 1 })
        try Plist.replace(
            world.daemon.plist("group.com.example.app"), with: Plist.text(["k": "<string>v</string>"]))
        #expect(try settings.nextCommit().changes.map(\.key) == ["k"])
        let again = try world.watcher()
        try world.shell("echo 2 > a")
        #expect(try world.next(again) == "changed a")
    }

    @Test("the kernel's descriptors are given back with the last observer")
    func watchesEnd() throws {
        let world = try World()
        try world.shell("mkdir -p a/b/c/d")
        try world.peer.synchronize()
        let before = try world.inotifyWatches()
        let watcher = try world.watcher()
        let during = try world.inotifyWatches()
        #expect(during == before + 5)
        watcher.peer.close()
        #expect(try eventually { try world.inotifyWatches() == before })
    }
}

extension DocumentTests.World {
    /// How many watches the daemon holds, by the kernel's word.
    fileprivate func inotifyWatches() throws -> Int {
        let pid = try #require(daemon.process?.pid)
        var count = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fdinfo") {
            let text = (try? String(contentsOfFile: "/proc/\(pid)/fdinfo/\(name)", encoding: .utf8)) ?? ""
            count += text.split(separator: "\n").count { $0.hasPrefix("inotify wd:") }
        }
        return count
    }
}

extension SettingsPeer {
    func documentEvent() throws -> DocumentEvent {
        let parameters = try checked(receive())
        guard let event = DocumentEvent(wire: parameters) else {
            throw Unexpected(reply: Reply(parameters: parameters))
        }
        return event
    }
}

@Suite("Watching documents without the kernel's help")
struct PolledDocumentTests {
    @Test("where no watches are left the files are polled, and the same is told")
    func polling() throws {
        let mounted = try MountedDaemon(
            configuration: ["PollIntervalSec=0.05"], ofUsers: true,
            mounts: "echo 5 > /proc/sys/user/max_inotify_watches")
        let peer = try mounted.daemon.peer(with: .example)
        let documents = "\(mounted.daemon.root)/group.com.example.app/Documents"
        try Data("1".utf8).write(to: URL(filePath: "\(documents)/a"))
        let watcher = try SettingsPeer(mounted.daemon)
        try watcher.send(.watchDocuments(.example, path: nil))
        #expect(try watcher.documentEvent() == .established)
        func next() throws -> String {
            guard case .change(let change) = try watcher.documentEvent() else { return "no change" }
            return "\(change.kind.rawValue) \(change.path)"
        }
        try Data("22".utf8).write(to: URL(filePath: "\(documents)/a"))
        #expect(try next() == "changed a")
        try FileManager.default.createDirectory(atPath: "\(documents)/d", withIntermediateDirectories: false)
        try Data("1".utf8).write(to: URL(filePath: "\(documents)/d/b"))
        #expect(try next() == "created d/b")
        try FileManager.default.removeItem(atPath: "\(documents)/a")
        #expect(try next() == "deleted a")
        #expect(try peer.groups() == ["group.com.example.app"])
        let log = try mounted.stop().errors
        #expect(log.contains("\(documents) cannot be watched, and is polled"), "\(log)")
    }
}
