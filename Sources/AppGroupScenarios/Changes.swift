import AppGroup

// Which changes are told, in which order, and what they say.

extension Scenario {
    static let changes = [
        everyChange, anyKey, effectiveOnly, registrations, origins, oldValues, together, order, initialValues,
        typedValues, patterns,
    ]

    typealias Changes = GroupDefaults.Updates<GroupDefaults.Change>.Iterator

    package static let everyChange = Scenario("everyChange") { stage in
        var changes: Changes?
        try await stage.reader { changes = $0.changes(for: "theme").makeAsyncIterator() }
        // One after the other, and each arrives by itself: nobody writes, reads or asks in between.
        for (old, new) in [(nil, "dark"), ("dark", "light"), ("light", nil), (nil, "dark")] as [(String?, String?)] {
            try await stage.writer { $0.set(new, forKey: "theme") }
            try await stage.reader { settings in
                let change = await changes?.next()
                stage.expect(change?.key, "theme")
                stage.expect(change?.old?.string, old)
                stage.expect(change?.new?.string, new)
                stage.expect(change?.isInitial, false)
                stage.expect(change?.coalesced, 1)
                stage.expect(settings.string(forKey: "theme"), new)
            }
        }
        // The other way round: the reader's sets arrive at the writer.
        try await stage.reader { $0.set("reader's", forKey: "theme") }
        try await stage.writer { settings in
            for await value in settings.values(for: "theme", as: String.self) where value == "reader's" { break }
            stage.expect(settings.string(forKey: "theme"), "reader's")
        }
    }

    package static let anyKey = Scenario("anyKey") { stage in
        let keys = ["com.example.key", "@count", "a/b", "", "with blank", "größe", "*", "a\\b", "cafe\u{301}"]
        for key in keys {
            var changes: Changes?
            var calls: GroupDefaults.Updates<String?>.Iterator?
            try await stage.reader { settings in
                changes = settings.changes(for: key).makeAsyncIterator()
                calls = settings.values(for: key, as: String.self, initial: false).makeAsyncIterator()
            }
            try await stage.writer { $0.set("x", forKey: key) }
            try await stage.reader { _ in
                stage.expect(await changes?.next()?.key, key)
                stage.expect(await calls?.next(), .some("x"), key)
            }
        }
        // The other spelling of é is another key, and tells nothing of this one.
        var changes: Changes?
        try await stage.reader { changes = $0.changes(for: "cafe\u{301}").makeAsyncIterator() }
        try await stage.writer { settings in
            settings.set(1, forKey: "caf\u{E9}")
            settings.set(2, forKey: "cafe\u{301}")
        }
        try await stage.reader { _ in stage.expect(await changes?.next()?.new?.integer, 2) }
    }

    package static let effectiveOnly = Scenario("effectiveOnly") { stage in
        var changes: Changes?
        try await stage.writer { $0.set(1, forKey: "e.k") }
        try await stage.settle()
        try await stage.reader { changes = $0.changes(matching: "e.*").makeAsyncIterator() }
        try await stage.writer { settings in
            // What it is already, another key, what was never there, and a way and back in one commit.
            settings.set(1, forKey: "e.k")
            settings.set(1, forKey: "other")
            settings.removeObject(forKey: "e.absent")
            try await settings.write {
                $0["e.k"] = 2
                $0["e.k"] = 1
            }
            settings.set(1.0, forKey: "e.k")
        }
        try await stage.reader { _ in
            // A real 1 is another value than an integer 1.
            let change = await changes?.next()
            stage.expect(change?.key, "e.k")
            stage.expect(change?.old?.integer, 1)
            stage.expect(change?.new?.double, 1)
        }
        // Each once.
        try await stage.writer { $0.set("second", forKey: "e.k") }
        try await stage.settle()
        try await stage.writer { $0.set("last", forKey: "e.last") }
        try await stage.reader { _ in
            stage.expect(await changes?.next()?.new?.string, "second")
            stage.expect(await changes?.next()?.key, "e.last")
        }
    }

    package static let registrations = Scenario("registrations") { stage in
        let key = try await stage.share { _ in "registrations.\(UInt64.random(in: .min ... .max))" }
        var changes: Changes?
        func expectChange(_ old: Int?, _ new: Int?) async throws {
            let change = await changes?.next()
            stage.expect(change?.old?.integer, old)
            stage.expect(change?.new?.integer, new)
        }
        try await stage.reader { settings in
            changes = settings.changes(for: key).makeAsyncIterator()
            settings.register(defaults: [key: 5])
            try await expectChange(nil, 5)
        }
        // The registered value, set: nothing that a reader sees.
        try await stage.writer { $0.set(5, forKey: key) }
        try await stage.settle()
        try await stage.reader { $0.register(defaults: [key: 6]) }
        try await stage.writer { $0.set(7, forKey: key) }
        try await stage.reader { _ in try await expectChange(5, 7) }
        // Removed: what is registered shows, and that is what the change says.
        try await stage.writer { $0.removeObject(forKey: key) }
        try await stage.reader { _ in try await expectChange(7, 6) }
        // Removed where it was equal to what is registered: nothing.
        try await stage.writer { $0.set(6, forKey: key) }
        try await stage.settle()
        try await stage.writer { $0.removeObject(forKey: key) }
        try await stage.settle()
        try await stage.writer { $0.set(8, forKey: key) }
        try await stage.reader { _ in try await expectChange(6, 8) }
    }

    package static let origins = Scenario("origins") { stage in
        var changes: Changes?
        try await stage.reader { changes = $0.changes(for: "k").makeAsyncIterator() }
        try await stage.writer { $0.set(1, forKey: "k") }
        try await stage.reader { settings in
            let origin = await changes?.next()?.origin
            stage.expect(origin?.kind, .client)
            stage.expect(origin?.isOwn, stage.isOneProcess)
            stage.expect((origin?.processId ?? 0) > 0)
            stage.expect(origin?.name?.isEmpty, false)
            // One's own echo is marked, whatever the other does.
            settings.set(2, forKey: "k")
            let echo = await changes?.next()
            stage.expect(echo?.new?.integer, 2)
            stage.expect(echo?.origin?.isOwn, true)
        }
    }

    package static let oldValues = Scenario("oldValues") { stage in
        // The old value is never a guess, whoever changes it and however fast: each goes on from the last one told.
        var changes: Changes?
        var last: Int?
        try await stage.writer { $0.set(0, forKey: "k") }
        try await stage.settle()
        try await stage.reader { settings in
            changes = settings.changes(for: "k", initial: true).makeAsyncIterator()
            last = await changes?.next()?.new?.integer
            stage.expect(last, 0)
        }
        try await stage.writer { settings in
            for number in 1...300 { settings.set(number, forKey: "k") }
            try await settings.commit()
        }
        try await stage.reader { settings in
            var stood = 0
            while last != 300 {
                let change = await changes?.next()
                stage.expect(change?.old?.integer, last)
                stage.expect(change?.old == change?.new, false)
                last = change?.new?.integer
                stood += change?.coalesced ?? 0
                if change == nil { break }
            }
            stage.expect(stood > 0 && stood <= 300)
            stage.expect(settings.integer(forKey: "k"), 300)
        }
    }

    package static let together = Scenario("together") { stage in
        var commits: GroupDefaults.Updates<GroupDefaults.Commit>.Iterator?
        func next(with key: String) async -> GroupDefaults.Commit? {
            var commit = await commits?.next()
            while commit?.changes.contains(where: { $0.key == key }) == false { commit = await commits?.next() }
            return commit
        }
        try await stage.reader { commits = $0.commits().makeAsyncIterator() }
        try await stage.writer { settings in
            try await settings.write {
                $0["t.b"] = 2
                $0["t.a"] = 1
                $0["t.c"] = 3
            }
        }
        try await stage.reader { settings in
            let commit = await next(with: "t.a")
            // Never split: with one of them, all of them are there.
            stage.expect(commit?.changes.map(\.key), ["t.a", "t.b", "t.c"])
            stage.expect(commit?.coalesced, 1)
            stage.expect(["t.a", "t.b", "t.c"].map { settings.integer(forKey: $0) }, [1, 2, 3])
        }
    }

    package static let order = Scenario("order") { stage in
        // One order for all keys of a group, that of the revisions.
        var commits: GroupDefaults.Updates<GroupDefaults.Commit>.Iterator?
        try await stage.writer { $0.set(0, forKey: "o.0") }
        try await stage.settle()
        try await stage.reader { commits = $0.commits().makeAsyncIterator() }
        for round in 0..<10 {
            try await stage.writer { settings in
                for number in 1...20 {
                    try await settings.write { $0["o.\(number % 3)"] = round * 20 + number }
                }
            }
            try await stage.reader { settings in
                var (newest, revision) = (round * 20, 0)
                while newest < round * 20 + 20, let commit = await commits?.next() {
                    let values = commit.changes.filter { $0.key.hasPrefix("o.") }.compactMap { $0.new?.integer }
                    guard let last = values.max() else { continue }
                    stage.expect(last > newest, "\(last) after \(newest)")
                    newest = last
                    guard let number = commit.revision else { continue }
                    stage.expect(number > revision, "revision \(number) after \(revision)")
                    revision = number
                }
                stage.expect(newest, round * 20 + 20)
            }
        }
    }

    package static let initialValues = Scenario("initialValues") { stage in
        try await stage.writer { $0.set(1, forKey: "k") }
        try await stage.settle()
        var (plain, changes): (Changes?, Changes?)
        try await stage.reader { settings in
            plain = settings.changes(for: "k").makeAsyncIterator()
            changes = settings.changes(for: "k", initial: true).makeAsyncIterator()
            // Asked for, it comes first, and says that it is no change.
            let initial = await changes?.next()
            stage.expect(initial?.isInitial, true)
            stage.expect(initial?.new?.integer, 1)
            stage.expect(initial?.old, nil)
            let absent = settings.changes(for: "absent", initial: true).makeAsyncIterator()
            let nothing = await absent.next()
            stage.expect(nothing?.isInitial, true)
            stage.expect(nothing?.new, nil)
        }
        try await stage.writer { $0.set(2, forKey: "k") }
        try await stage.reader { _ in
            // Nothing between the two, and not without being asked for.
            for iterator in [plain, changes] {
                let change = await iterator?.next()
                stage.expect(change?.isInitial, false)
                stage.expect(change?.old?.integer, 1)
                stage.expect(change?.new?.integer, 2)
            }
        }
    }

    package static let typedValues = Scenario("typedValues") { stage in
        let size = GroupDefaults.Key("size", default: 12)
        var sizes: GroupDefaults.Updates<Int>.Iterator?
        var names: GroupDefaults.Updates<Theme?>.Iterator?
        var profiles: GroupDefaults.Updates<Profile?>.Iterator?
        try await stage.reader { settings in
            sizes = settings.values(for: size).makeAsyncIterator()
            names = settings.values(for: "theme", as: Theme.self).makeAsyncIterator()
            profiles = settings.values(for: "profile", as: Profile.self, initial: false).makeAsyncIterator()
            stage.expect(await sizes?.next(), 12)
            stage.expect(await names?.next(), .some(nil))
        }
        try await stage.writer { settings in
            // The default, stored, is no other value; nor is the same number as text.
            settings[size] = 12
            try await settings.commit()
            settings.set("12", forKey: "size")
            try await settings.commit()
            settings[size] = 14
            settings.set("dark", forKey: "theme")
            try settings.set(Profile(name: "Ada"), forKey: "profile")
        }
        try await stage.reader { _ in
            stage.expect(await sizes?.next(), 14)
            stage.expect(await names?.next(), .some(.dark))
            stage.expect(await profiles?.next(), .some(Profile(name: "Ada")))
        }
        try await stage.writer { settings in
            settings.reset(size)
            settings.set("purple", forKey: "theme")
        }
        try await stage.reader { _ in
            stage.expect(await sizes?.next(), 12)
            stage.expect(await names?.next(), .some(nil))
        }
    }

    package static let patterns = Scenario("patterns") { stage in
        // Many keys at once, each named; and nothing of those that were not asked for.
        var changes: Changes?
        try await stage.reader { changes = $0.changes(matching: "ui.*").makeAsyncIterator() }
        try await stage.writer { settings in
            settings.set(1, forKey: "network.port")
            settings.set(1, forKey: "ui")
            settings.set(1, forKey: "ui.font.size")
            settings.set(1, forKey: "ui.")
        }
        try await stage.reader { _ in
            var keys: Set<String> = []
            for _ in 0..<2 { keys.insert(await changes?.next()?.key ?? "") }
            stage.expect(keys, ["ui.font.size", "ui."])
        }
    }
}

enum Theme: String, Sendable { case light, dark }
