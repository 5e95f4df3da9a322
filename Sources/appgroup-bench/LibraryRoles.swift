import AppGroup
import Glibc
import Synchronization

/// The observer, the writer and the reader as a program has them: by the library `AppGroup`, which finds the daemon in
/// `$XDG_RUNTIME_DIR`.
enum LibraryRoles {
    /// - Returns: whether there is such a role.
    static func play(_ role: String, _ options: Options) throws(BenchError) -> Bool {
        switch role {
        case "watch": try LibraryWatch(options).run()
        case "write": try LibraryWrite(options).run()
        case "read": try LibraryRead(options).run()
        default: return false
        }
        return true
    }

    static func value(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(Wire.sequenceDigits - digits.count, 0)) + digits + Wire.valueSuffix
    }

    /// The library's own time-out is for programs; a measurement that has no daemon shall say so.
    static func open(_ group: String) throws(BenchError) -> GroupDefaults {
        let settings = GroupDefaults(suiteName: group)
        do {
            try settings.synchronize()
        } catch {
            throw BenchError("\(error)")
        }
        return settings
    }
}

/// Notes in a callback when each value arrives.
private struct LibraryWatch {
    private let settings: GroupDefaults
    private let key: String
    private let count: Int
    private let tokens: Tokens
    private let output: String

    init(_ options: Options) throws(BenchError) {
        key = try options.text("key")
        count = try options.number("n", or: 0)
        tokens = try Tokens(options)
        output = options.text("out", or: "")
        settings = try LibraryRoles.open(Wire.group(of: key))
    }

    func run() throws(BenchError) {
        let seen = Notes(count)
        let tokens = tokens
        let finished = try ChildProcess.pipe()
        let observation = settings.observe(key) { change in
            let time = now()
            guard let number = change.new?.string.flatMap({ Int($0.prefix(Wire.sequenceDigits)) }) else { return }
            let isLast = seen.note(number, time)
            try? tokens.give()
            if isLast { try? Tokens(finished.write).give() }
        }
        say("READY")
        try Tokens(finished.read).take()
        observation.cancel()
        try TimesFile.write(seen.times, to: output)
    }
}

/// Filled by the library's thread, read by the main one.
private final class Notes: Sendable {
    private let storage: Mutex<[Int]>

    init(_ count: Int) {
        storage = Mutex([Int](repeating: 0, count: count))
    }

    var times: [Int] { storage.withLock { $0 } }

    /// - Returns: whether it was the last.
    func note(_ number: Int, _ time: Int) -> Bool {
        storage.withLock { times in
            guard times.indices.contains(number), times[number] == 0 else { return false }
            times[number] = time
            return number == times.count - 1
        }
    }
}

/// Sets and waits until the daemon has acknowledged.
private struct LibraryWrite {
    private let settings: GroupDefaults
    private let key: String
    private let count: Int
    private let wait: Int
    private let tokens: Tokens
    private let output: String

    init(_ options: Options) throws(BenchError) {
        key = try options.text("key")
        count = try options.number("n", or: 0)
        wait = try options.number("wait", or: 0)
        tokens = try Tokens(options)
        output = options.text("out", or: "")
        settings = try LibraryRoles.open(Wire.group(of: key))
    }

    func run() throws(BenchError) {
        var times = [Int](repeating: 0, count: count * 2)
        for index in 0..<count {
            times[2 * index] = now()
            settings.set(LibraryRoles.value(index), forKey: key)
            do {
                try settings.synchronize()
            } catch {
                throw BenchError("\(error)")
            }
            times[2 * index + 1] = now()
            for _ in 0..<wait { try tokens.take() }
        }
        try TimesFile.write(times, to: output)
    }
}

/// Reads of the copy that the process holds.
private struct LibraryRead {
    private let settings: GroupDefaults
    private let keys: [String]
    private let batches: Int

    init(_ options: Options) throws(BenchError) {
        let prefix = try options.text("prefix")
        let count = max(try options.number("keys", or: 1000), 1)
        keys = RandomOrder.numbers(below: count).map { number in
            let digits = String(number)
            return prefix + String(repeating: "0", count: max(Wire.keyDigits - digits.count, 0)) + digits
        }
        batches = try options.number("count", or: 1)
        settings = try LibraryRoles.open(Wire.group(of: prefix))
    }

    /// A function of its own: what is counted is what happens within.
    @inline(never)
    func run() throws(BenchError) {
        var results: [String] = []
        for batch in -1..<batches {
            var length = 0
            let start = now()
            for key in keys { length &+= settings.string(forKey: key)?.utf8.count ?? -1_000_000 }
            let end = now()
            if length < 0 { throw BenchError("a key is missing") }
            if batch >= 0 { results.append(String(Double(end - start) / Double(keys.count))) }
        }
        say("[\(results.joined(separator: ", "))]")
    }
}
