/// The observer of one key: notes when each value arrives.
struct WatchRole {
    private let link: Link
    private let tokens: Tokens
    private let key: String
    private let output: String
    private var seen: [Int]

    init(_ options: Options) throws(BenchError) {
        key = try options.text("key")
        output = options.text("out", or: "")
        seen = [Int](repeating: 0, count: try options.number("n", or: 0))
        tokens = try Tokens(options)
        link = try Link.connect(options.socketPath())
    }

    mutating func run() throws(BenchError) {
        try link.call(Wire.createGroup(Wire.group(of: key)))
        try link.call(Wire.watch(key: key))
        say("READY")
        var expected = 0
        while expected < seen.count {
            let message = try link.reply()
            let time = now()
            guard let number = message.sequence(), seen.indices.contains(number), seen[number] == 0 else { continue }
            seen[number] = time
            expected = number + 1
            try tokens.give()
        }
        try TimesFile.write(seen, to: output)
    }
}
