import Glibc

/// Reads of single keys by the socket, one at a time, in a random order.
struct ReadRole {
    private let link: Link
    private let keys: Int
    private let batches: Int
    private let read: Template

    init(_ options: Options) throws(BenchError) {
        keys = max(try options.number("keys", or: 1000), 1)
        batches = try options.number("count", or: 1)
        read = Wire.read(prefix: try options.text("prefix"))
        link = try Link.connect(options.socketPath())
    }

    func run() throws(BenchError) {
        let order = RandomOrder.numbers(below: keys)
        var results: [String] = []
        for batch in -1..<batches {
            let start = now()
            for key in order {
                read.set(.key, to: key)
                try link.queue(read)
                try link.flush()
                let message = try link.reply()
                guard !message.isError, message.isValueThere else { throw BenchError("key \(key): \(message.text)") }
            }
            if batch >= 0 { results.append(String(Double(now() - start) / Double(keys))) }
        }
        say("[\(results.joined(separator: ", "))]")
    }
}

enum RandomOrder {
    /// The order of the other peers' clients: xorshift.
    static func numbers(below count: Int) -> [Int] {
        var state: UInt64 = 88_172_645_463_325_252
        return (0..<count).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(count))
        }
    }
}

/// Tries until the server answers with a stored value: how long a start takes.
struct ProbeRole {
    private let path: String
    private let read: Template
    /// Whether the key is set if it is not there.
    private let prepares: Bool
    private let create: Template
    private let write: Template

    init(_ options: Options) throws(BenchError) {
        path = try options.socketPath()
        let key = try options.text("key")
        read = Wire.read(key: key)
        prepares = try options.number("prepare", or: 0) > 0
        create = Wire.createGroup(Wire.group(of: key))
        write = Wire.write(key: key)
    }

    func run() throws(BenchError) {
        let limit = now() + 60_000_000_000
        say("READY")
        while now() < limit {
            if hasAnswer() { return say("\(now())") }
            _ = usleep(200)
        }
        throw BenchError("no answer in 60 s")
    }

    /// Whatever goes wrong is tried again: the server may be on its way.
    private func hasAnswer() -> Bool {
        guard let link = Link.open(path) else { return false }
        do throws(BenchError) {
            try link.queue(read)
            try link.flush()
            if try link.reply().isValueThere { return true }
            if prepares {
                try link.call(create)
                try link.call(write)
            }
            return false
        } catch {
            return false
        }
    }
}

extension Message {
    /// The reply to a `Read` of one key names a value.
    var isValueThere: Bool { offset(of: #"":{"string":""#) != nil }
}
