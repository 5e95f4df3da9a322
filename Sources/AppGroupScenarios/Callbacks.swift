import AppGroup
import Synchronization

// Observation by callback and by tracking: what a callback may do, where it runs, and how it ends.

extension Scenario {
    static let callbacks = [called, corrected, unhindered, lastReference, ended, executors]

    package static let called = Scenario("called") { stage in
        let (plain, initial) = (Log(), Log())
        var tokens: [ObservationToken] = []
        try await stage.writer { $0.set("a", forKey: "k") }
        try await stage.settle()
        try await stage.reader { settings in
            tokens = [
                settings.observe("k") { plain.add($0) },
                settings.observe(matching: "?", initial: true) { initial.add($0) },
            ]
            stage.expect(initial.entries, ["k: - a initial"])
        }
        try await stage.writer { $0.set("b", forKey: "k") }
        try await stage.reader { settings in
            await plain.wait(for: 1)
            await initial.wait(for: 2)
            // By this process as by any other.
            settings.set("c", forKey: "k")
            await plain.wait(for: 2)
            await initial.wait(for: 3)
            stage.expect(plain.entries, ["k: a b", "k: b c"])
            stage.expect(initial.entries, ["k: - a initial", "k: a b", "k: b c"])
            tokens = []
        }
        try await stage.writer { $0.set("d", forKey: "k") }
        try await stage.settle()
        try await stage.reader { _ in stage.expect(plain.entries.count + initial.entries.count, 5) }
        withExtendedLifetime(tokens) {}
    }

    package static let corrected = Scenario("corrected") { stage in
        // An observer that writes what it sees comes to an end: an equal value is no change.
        let log = Log()
        var token: ObservationToken?
        try await stage.reader { settings in
            token = settings.observe("volume") { [weak settings] change in
                log.add(change)
                settings?.set(min(change.new?.integer ?? 0, 10), forKey: "volume")
            }
        }
        try await stage.writer { $0.set(50, forKey: "volume") }
        try await stage.reader { settings in
            await log.wait(for: 2)
            try await settings.commit()
        }
        try await stage.settle()
        try await stage.reader { settings in
            stage.expect(log.entries, ["volume: - 50", "volume: 50 10"])
            stage.expect(settings.integer(forKey: "volume"), 10)
        }
        try await stage.writer { stage.expect($0.integer(forKey: "volume"), 10) }
        withExtendedLifetime(token) {}
    }

    package static let unhindered = Scenario("unhindered") { stage in
        // A callback reads, writes, observes, cancels itself and others, on whichever thread it is.
        let log = Log()
        let held = Mutex<[ObservationToken]>([])
        try await stage.reader { settings in
            let first = settings.observe("k") { [weak settings] change in
                guard let settings else { return }
                log.add("first \(settings.string(forKey: "k") ?? "-")")
                settings.set("written", forKey: "other")
                log.add("other \(settings.string(forKey: "other") ?? "-")")
                let new = settings.observe("later") { log.add($0) }
                let tokens = held.withLock { tokens in
                    defer { tokens = [new] }
                    return tokens
                }
                for token in tokens { token.cancel() }
            }
            let second = settings.observe("k") { _ in log.add("second") }
            held.withLock { $0 = [first, second] }
        }
        try await stage.writer { $0.set("a", forKey: "k") }
        try await stage.reader { _ in await log.wait(for: 2) }
        try await stage.writer { settings in
            settings.set("b", forKey: "k")
            settings.set("c", forKey: "later")
        }
        try await stage.reader { settings in
            await log.wait(for: 3)
            // The second was cancelled by the first before it was called; the first has cancelled itself.
            stage.expect(log.entries, ["first a", "other written", "later: - c"])
            stage.expect(settings.string(forKey: "other"), "written")
            held.withLock { $0 = [] }
        }
    }

    package static let lastReference = Scenario("lastReference") { stage in
        // The last references to the observation and to what it observes go within the callback.
        let log = Log()
        let held = Mutex<(GroupDefaults?, ObservationToken?)>((nil, nil))
        try await stage.reader { _ in
            let settings = stage.another()
            let token = settings.observe("k") { change in
                let references = held.withLock { held in
                    defer { held = (nil, nil) }
                    return held
                }
                references.1?.cancel()
                log.add(change)
            }
            held.withLock { $0 = (settings, token) }
        }
        try await stage.writer { settings in
            settings.set("a", forKey: "k")
            settings.set("b", forKey: "k")
        }
        try await stage.settle()
        try await stage.reader { settings in
            await log.wait(for: 1)
            stage.expect(log.entries.count, 1)
            // The thread that called goes on: the group is still read, written and observed.
            let changes = settings.changes(for: "after").makeAsyncIterator()
            settings.set("x", forKey: "after")
            stage.expect(await changes.next()?.new?.string, "x")
        }
    }

    package static let ended = Scenario("ended") { stage in
        let log = Log()
        let last = Log()
        var tokens: [ObservationToken] = []
        try await stage.reader { settings in
            let cancelled = settings.observe("k") { log.add($0) }
            cancelled.cancel()
            cancelled.cancel()
            do {
                let dropped = settings.observe("k") { log.add($0) }
                withExtendedLifetime(dropped) {}
            }
            // A sequence ends with its task.
            let task = Task { for await change in settings.changes(for: "k") { log.add(change) } }
            task.cancel()
            await task.value
            tokens = [settings.observe("k") { last.add($0) }]
        }
        try await stage.writer { $0.set("a", forKey: "k") }
        try await stage.reader { _ in
            await last.wait(for: 1)
            stage.expect(log.entries, [])
            tokens = []
        }
        withExtendedLifetime(tokens) {}
    }

    package static let executors = Scenario("executors") { stage in
        // Where the subscriber says: on the main actor, whichever thread or process brought the change about.
        let log = Log()
        var tokens: [ObservationToken] = []
        try await stage.reader { settings in
            tokens = [
                settings.observe(
                    "k", initial: true,
                    onMain: { change in
                        MainActor.assertIsolated()
                        log.add(change)
                    })
            ]
            await log.wait(for: 1)
        }
        try await stage.writer { settings in
            await Task.detached { settings.set("a", forKey: "k") }.value
        }
        try await stage.reader { _ in
            await log.wait(for: 2)
            stage.expect(log.entries, ["k: - - initial", "k: - a"])
            tokens = []
        }
        withExtendedLifetime(tokens) {}
    }
}
