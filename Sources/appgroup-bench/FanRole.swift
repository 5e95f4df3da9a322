/// Many observers of one key in one process: when the last of them has each value.
final class FanRole {
    private let observers: [Link]
    /// The value each observer waits for; a newer one covers it.
    private var expected: [Int]
    /// How many observers have each value.
    private var holders: [Int]
    private var seen: [Int]
    private var arrivals = 0
    private let tokens: Tokens
    private let signals: Bool
    private let output: String

    init(_ options: Options) throws(BenchError) {
        let count = try options.number("n", or: 0)
        observers = try ObserverCrowd.gather(options)
        expected = [Int](repeating: 0, count: observers.count)
        holders = [Int](repeating: 0, count: count)
        seen = [Int](repeating: 0, count: count)
        tokens = try Tokens(options)
        signals = try options.number("wait", or: 0) > 0
        output = options.text("out", or: "")
    }

    func run() throws(BenchError) {
        let links = LinkSet()
        for (index, link) in observers.enumerated() { try links.add(link.descriptor, token: index) }
        say("READY")
        while seen.last == 0 {
            for index in 0..<(try links.wait()) { try take(links.token(index)) }
        }
        try TimesFile.write(seen, to: output)
        say(#"{"arrivals": \#(arrivals), "t_end": \#(seen.last ?? 0)}"#)
    }

    private func take(_ observer: Int) throws(BenchError) {
        let link = observers[observer]
        try link.receive(waits: false)
        while let message = try link.nextMessage() {
            guard let number = message.sequence(), number < seen.count else { continue }
            arrivals += 1
            while expected[observer] <= number {
                try note(expected[observer])
                expected[observer] += 1
            }
        }
    }

    private func note(_ number: Int) throws(BenchError) {
        holders[number] += 1
        guard holders[number] == observers.count else { return }
        seen[number] = now()
        if signals { try tokens.give() }
    }
}

/// Many observers that nothing is told.
struct HoldRole {
    private let observers: [Link]

    init(_ options: Options) throws(BenchError) {
        observers = try ObserverCrowd.gather(options)
    }

    func run() throws(BenchError) {
        say("READY")
        StandardInput.waitForEnd()
        withExtendedLifetime(observers) {}
    }
}

enum ObserverCrowd {
    /// Connected and watching, one after another.
    static func gather(_ options: Options) throws(BenchError) -> [Link] {
        let key = try options.text("key")
        let path = try options.socketPath()
        let watch = Wire.watch(key: key)
        var links: [Link] = []
        for index in 0..<(try options.number("subs", or: 1)) {
            let link = try Link.connect(path)
            if index == 0 { try link.call(Wire.createGroup(Wire.group(of: key))) }
            try link.call(watch)
            links.append(link)
        }
        return links
    }
}
