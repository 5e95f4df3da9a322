import Foundation
import Glibc
import TestSupport
import Testing

@testable import LinuxIO
@testable import ServiceIO

@Suite("Long work")
struct LongWorkTests {
    @Test("is told once in a while, and not before it is long")
    func due() {
        var work = LongWork(startedAt: 100)
        #expect(work.isDue(at: 2_000_099) == false)
        #expect(work.isDue(at: 2_000_100) == true)
        #expect(work.isDue(at: 2_000_101) == false)
        #expect(work.isDue(at: 9_000_000) == true)
    }
}

@Suite("Structured log")
struct StructuredLogTests {
    @Test("an entry has its fields, and no line break in its message")
    func fields() {
        let subject = Log.Subject(group: "g", key: "k\nk", origin: "demo[7]", revision: 12, path: "/p")
        let entry = JournalEntryFields(.notice, "a\nb", .slowClient, subject, Log.Site("Module/File.swift", 7))
        #expect(
            entry.fields.map { String(decoding: $0, as: UTF8.self) } == [
                "MESSAGE=a b", "PRIORITY=5", "SYSLOG_IDENTIFIER=appgroupd", "CODE_FILE=Module/File.swift",
                "CODE_LINE=7",
                "MESSAGE_ID=\(Log.Event.slowClient.rawValue)", "APPGROUP_GROUP=g", "APPGROUP_KEY=k\nk",
                "APPGROUP_ORIGIN=demo[7]", "APPGROUP_REVISION=12", "APPGROUP_PATH=/p",
            ])
    }

    @Test("every id is explained in the catalog, and no other")
    func catalog() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "systemd/appgroupd.catalog")
        let text = try String(contentsOf: file, encoding: .utf8)
        let ids = text.split(separator: "\n").filter { $0.hasPrefix("-- ") }.map { String($0.dropFirst(3)) }
        #expect(ids.sorted() == Log.Event.allCases.map(\.rawValue).sorted())
    }

    @Test("one place says so much and no more, and how often it was cut short")
    func limit() {
        var limit = RateLimit()
        for _ in 0..<20 { #expect(limit.take(at: 0) == .pass(suppressed: 0)) }
        for _ in 0..<5 { #expect(limit.take(at: 29_999_999) == .suppress) }
        #expect(limit.take(at: 30_000_000) == .pass(suppressed: 5))
        #expect(limit.take(at: 30_000_001) == .pass(suppressed: 0))
    }
}

@Suite("Log")
struct LogTests {
    @Test func theJournalGetsItsPrefix() {
        #expect(Log.line(.warning, "text", isJournal: true) == Array("<4>text\n".utf8))
        #expect(Log.line(.debug, "text", isJournal: false) == Array("appgroupd: debug: text\n".utf8))
    }

    @Test func aMessageIsOneLine() {
        #expect(Log.line(.info, "a\n<0>b\u{1B}[1m", isJournal: true) == Array("<6>a <0>b [1m\n".utf8))
        #expect(Log.line(.info, String(repeating: "x", count: 10_000)).count <= 4096)
    }

    @Test func theJournalIsKnownByItsInode() throws {
        let directory = try TemporaryDirectory()
        let file = try Files.open(directory.file("a"), [.readWrite, .create])
        let status = try file.status()
        #expect(Log.names("\(status.device):\(status.inode)", file.rawValue))
        #expect(!Log.names("\(status.device):\(status.inode + 1)", file.rawValue))
        #expect(!Log.names(nil, file.rawValue))
    }

    @Test func aReaderThatDoesNotReadCostsTheLineOnly() throws {
        let ends = try FileDescriptor.makePipe()
        let reader = FileDescriptor(owning: ends.read)
        let writer = FileDescriptor(owning: ends.write)
        let line = Log.line(.info, String(repeating: "x", count: 3000))
        var written = 0
        while Log.put(line, writer.rawValue, timeoutMilliseconds: 0) { written += 1 }
        #expect(written > 5)
        var bytes: [UInt8] = []
        while bytes.count < line.count * written { _ = try reader.append(upTo: 65536, to: &bytes) }
        #expect(Log.put(line, writer.rawValue, timeoutMilliseconds: 0))
    }

    @Test func levelsHaveNames() {
        for level in Log.Level.allCases { #expect(Log.Level(name: level.name) == level) }
        #expect(Log.Level(name: "loud") == nil)
        #expect(Log.Level.error < .debug)
    }
}

/// In processes of their own, because they are about the environment.
@Suite("Service manager")
struct ServiceManagerTests {
    @Test func stateArrivesAtTheNotifySocket() async throws {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let receiver = try datagramReceiver(directory.file("notify"))
            unsafe setenv("NOTIFY_SOCKET", directory.file("notify"), 1)
            ServiceManager.notifyReady(status: "3 groups\nMAINPID=1")
            #expect(datagram(receiver) == "READY=1\nSTATUS=3 groups MAINPID=1")
            ServiceManager.notifyReloading()
            #expect(datagram(receiver).hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
            ServiceManager.notifyStopping(status: "bye")
            #expect(datagram(receiver) == "STOPPING=1\nSTATUS=bye")
            ServiceManager.notifyFailure(.noSpace, status: "full")
            #expect(datagram(receiver) == "ERRNO=28\nSTATUS=full")
        }
    }

    @Test func passedDescriptorsComeWithTheirNamesAndOnce() async {
        await #expect(processExitsWith: .success) {
            let ends = try FileDescriptor.makePipe()
            // The descriptors of systemd are 3 and on, where this test program has its way to report: lent, given back.
            let lent = (dup(3), dup(4))
            dup2(ends.read, 3)
            dup2(ends.write, 4)
            unsafe setenv("LISTEN_PID", "\(getpid())", 1)
            unsafe setenv("LISTEN_FDS", "2", 1)
            unsafe setenv("LISTEN_FDNAMES", "varlink:stored", 1)
            let passed = ServiceManager.takePassedDescriptors()
            let flags = fcntl(3, F_GETFD)
            dup2(lent.0, 3)
            dup2(lent.1, 4)
            #expect(passed.map(\.name) == ["varlink", "stored"])
            #expect(passed.map(\.rawValue) == [3, 4])
            #expect(flags == FD_CLOEXEC)
            #expect(ProcessFacts.environment("LISTEN_FDS") == nil)
            #expect(ServiceManager.takePassedDescriptors() == [])
        }
    }

    @Test func theWatchdogIsOursOnlyWithOurProcessID() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("WATCHDOG_USEC", "2000000", 1)
            unsafe setenv("WATCHDOG_PID", "1", 1)
            #expect(ServiceManager.watchdogMicroseconds() == nil)
            unsafe setenv("WATCHDOG_PID", "\(getpid())", 1)
            #expect(ServiceManager.watchdogMicroseconds() == 2_000_000)
            let isWatched = try EventLoop().enableWatchdog()
            #expect(isWatched)
        }
    }
}

private func datagramReceiver(_ path: String) throws -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    let receiver = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    let result = unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe bind(receiver, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
    try #require(result == 0)
    return receiver
}

private func datagram(_ receiver: Int32) -> String {
    var buffer = [UInt8](repeating: 0, count: 1000)
    let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(receiver, $0.baseAddress, $0.count, 0) }
    return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
}
