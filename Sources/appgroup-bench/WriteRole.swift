/// The writer of one key. With `--wait` it goes on only when it is told; with `--depth` it has that many sets under way.
struct WriteRole {
    private let link: Link
    private let tokens: Tokens
    private let key: String
    private let count: Int
    private let depth: Int
    private let wait: Int
    private let output: String

    init(_ options: Options) throws(BenchError) {
        key = try options.text("key")
        count = try options.number("n", or: 0)
        depth = max(try options.number("depth", or: 1), 1)
        wait = try options.number("wait", or: 0)
        output = options.text("out", or: "")
        tokens = try Tokens(options)
        link = try Link.connect(options.socketPath())
    }

    func run() throws(BenchError) {
        try link.call(Wire.createGroup(Wire.group(of: key)))
        let set = Wire.write(key: key)
        var times = [Int](repeating: 0, count: count * 2)
        var acknowledged = 0
        for index in 0..<count {
            times[2 * index] = now()
            set.set(.value, to: index)
            try link.queue(set)
            try link.flush()
            let needed = index + 1 - (wait > 0 ? 0 : depth - 1)
            while acknowledged < needed {
                acknowledged += try acknowledgements()
                if acknowledged < needed { try link.receive() }
            }
            times[2 * index + 1] = now()
            for _ in 0..<wait { try tokens.take() }
        }
        while acknowledged < count {
            acknowledged += try acknowledgements()
            if acknowledged < count { try link.receive() }
        }
        try TimesFile.write(times, to: output)
    }

    private func acknowledgements() throws(BenchError) -> Int {
        var found = 0
        while let message = try link.nextMessage() {
            if message.isError { throw BenchError("the server said: \(message.text)") }
            found += 1
        }
        return found
    }
}
