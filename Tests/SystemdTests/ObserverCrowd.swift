import Foundation
import Synchronization
import TestSupport

/// Many that watch the group, each on a connection of its own, all read by one thread, which holds each message against what
/// must come next: the commit one revision on, with the value that `Writer` wrote there. What is told in between, twice or not
/// at all, and an end of the connection, is a trouble.
final class ObserverCrowd: Sendable {
    private struct Member {
        let peer: RawPeer
        let number: Int
        var revision: Int64
    }

    /// All at revision 1, the group's first value. Every fourth watches some keys only, which all commits touch.
    private static func member(_ socket: String, _ number: Int) throws -> Member {
        let peer = try RawPeer(path: socket, timeoutSeconds: 60)
        let keys = number % 4 == 0 ? #","keys":["n","other.*"]"# : ""
        try peer.sendMessage(
            #"{"method":"io.appgroupd.Settings.Watch","parameters":{"watches":[{"group":""#
                + UserManager.group + #"""# + keys + #"}]},"more":true}"#)
        _ = try peer.readMessage()
        return Member(peer: peer, number: number, revision: 1)
    }

    private let slowestRevision = Atomic<Int64>(1)
    private let lastRevision = Atomic<Int64>(.max)
    private let toldCount = Atomic<Int64>(0)
    private let troublesFound = Mutex<[String]>([])
    private let done = DispatchSemaphore(value: 0)

    /// All watch when it returns.
    init(_ count: Int, at socket: String) throws {
        // Only the thread has them from here on.
        nonisolated(unsafe) let members = try (0..<count).map { try Self.member(socket, $0) }
        let thread = Thread { [self] in
            defer { done.signal() }
            follow(unsafe members)
        }
        thread.start()
    }

    /// What all have been told of.
    var slowest: Int64 { slowestRevision.load(ordering: .relaxed) }

    /// Waits until all have been told of this commit, the last.
    ///
    /// - Returns: what was not as it should be, of each that had a trouble the first; and how many messages came.
    func finish(at last: Int64) -> (troubles: [String], told: Int64) {
        lastRevision.store(last, ordering: .relaxed)
        done.wait()
        return (troublesFound.withLock { $0 }, toldCount.load(ordering: .relaxed))
    }

    // MARK: The thread

    private func follow(_ all: [Member]) {
        var members = all
        var deadline = ContinuousClock.now + .seconds(60 * timeoutScale)
        while !members.isEmpty {
            let ready = Self.ready(members)
            if !ready.isEmpty { deadline = .now + .seconds(60 * timeoutScale) }
            var ended: Set<Int> = []
            for index in ready where !advance(&members[index]) { ended.insert(members[index].number) }
            let last = lastRevision.load(ordering: .relaxed)
            let isLate = ContinuousClock.now > deadline
            for member in members where isLate && member.revision < last {
                note("\(member.number): nothing more after revision \(member.revision)")
            }
            members.removeAll { ended.contains($0.number) || isLate || $0.revision >= last }
            slowestRevision.store(members.map(\.revision).min() ?? last, ordering: .relaxed)
        }
    }

    /// Which of them have something to read, within a tenth of a second.
    private static func ready(_ members: [Member]) -> [Int] {
        var polled = members.map { pollfd(fd: $0.peer.descriptor, events: Int16(POLLIN), revents: 0) }
        _ = unsafe poll(&polled, nfds_t(polled.count), 100)
        return polled.indices.filter { polled[$0].revents != 0 }
    }

    /// - Returns: false where it has come to its end.
    private func advance(_ member: inout Member) -> Bool {
        do {
            for message in try member.peer.readArrivedMessages() {
                toldCount.wrappingAdd(1, ordering: .relaxed)
                let expected = member.revision + 1
                guard Self.number(behind: "\"revision\":", in: message) == expected,
                    Self.number(behind: "\"new\":{\"integer\":", in: message) == expected - 1
                else {
                    let text = String(decoding: message, as: UTF8.self)
                    note("\(member.number): after revision \(member.revision) \(text)")
                    return false
                }
                member.revision = expected
            }
            return true
        } catch {
            note("\(member.number): after revision \(member.revision) \(error)")
            return false
        }
    }

    private func note(_ trouble: String) { troublesFound.withLock { $0.append(trouble) } }

    /// Without taking the message apart, and by the C library: there are hundreds of thousands of them.
    private static func number(behind name: String, in message: [UInt8]) -> Int64? {
        unsafe (message + [0]).withUnsafeBytes { bytes in
            let text = unsafe bytes.assumingMemoryBound(to: CChar.self)
            guard let base = text.baseAddress, let place = unsafe strstr(base, name) else { return nil }
            return Int64(unsafe strtoll(place + name.utf8.count, nil, 10))
        }
    }
}
