import AppGroup
import FoundationEssentials
import Observation
import Synchronization

// `@AppStorage`: the overloads, the default, wrong types, the binding, and who hears of changes.

extension Scenario {
    static let properties = [
        overloads, optionals, defaults, unreadable, equalWrites, external, bindings, chosenStore, models, actors,
    ]

    package static let overloads = Scenario("overloads") { stage in
        let date = Date(timeIntervalSince1970: 1_234_567.25)
        try await stage.reader { settings in
            let form = Form(settings)
            stage.expect(form.int == 10 && form.mode == .fast && form.profile == Profile() && form.theme == .light)
        }
        try await stage.writer { settings in
            let form = Form(settings)
            form.bool = false
            form.int = -7
            form.small = 255
            form.double = 0.1
            form.float = 0.1
            form.string = "größer"
            form.url = URL(string: "https://example.org/a?b#c") ?? form.url
            form.data = Data([0, 255])
            form.date = date
            form.mode = .slow
            form.theme = .dark
            form.tone = .high
            form.list = ["x", "y"]
            form.table = ["x": 1]
            form.profile.name = "Ada"
            form.profiles = [Profile(name: "Bob")]
        }
        try await stage.settle()
        try await stage.reader { settings in
            let form = Form(settings)
            stage.expect(form.bool, false)
            stage.expect(form.int, -7)
            stage.expect(form.small, 255)
            stage.expect(form.double, 0.1)
            stage.expect(form.float, 0.1)
            stage.expect(form.string, "größer")
            stage.expect(form.url.absoluteString, "https://example.org/a?b#c")
            stage.expect(form.data, Data([0, 255]))
            stage.expect(form.date, date)
            stage.expect(form.mode, .slow)
            stage.expect(form.theme, .dark)
            stage.expect(form.tone, .high)
            // An enumeration is its raw value, also where it is Codable.
            stage.expect(settings.string(forKey: "tone"), "high")
            stage.expect(form.list, ["x", "y"])
            stage.expect(form.table, ["x": 1])
            stage.expect(form.profile, Profile(name: "Ada"))
            stage.expect(settings.dictionary(forKey: "profile")?["name"] as? String, "Ada")
            stage.expect(form.profiles, [Profile(name: "Bob")])
        }
    }

    package static let optionals = Scenario("optionals") { stage in
        func areAbsent(_ form: Optionals) -> Bool {
            form.bool == nil && form.int == nil && form.double == nil && form.string == nil && form.url == nil
                && form.data == nil && form.date == nil && form.mode == nil && form.theme == nil && form.list == nil
                && form.profile == nil
        }
        try await stage.reader { stage.expect(areAbsent(Optionals($0))) }
        try await stage.writer { settings in
            let form = Optionals(settings)
            (form.bool, form.int, form.double, form.string) = (false, 0, 0, "")
            (form.url, form.data, form.date) = (URL(string: "a:b"), Data(), Date(timeIntervalSinceReferenceDate: 0))
            (form.mode, form.theme, form.list, form.profile) = (.slow, .dark, [], Profile(name: "Ada"))
        }
        try await stage.settle()
        try await stage.reader { settings in
            let form = Optionals(settings)
            stage.expect(form.bool == false && form.int == 0 && form.double == 0 && form.string?.isEmpty == true)
            stage.expect(form.url?.absoluteString == "a:b" && form.data == Data() && form.date != nil)
            stage.expect(form.mode == .slow && form.theme == .dark && form.list == [] && form.profile?.name == "Ada")
            stage.expect(settings.ownKeys.count, 11)
        }
        try await stage.writer { settings in
            let form = Optionals(settings)
            (form.bool, form.int, form.double, form.string) = (nil, nil, nil, nil)
            (form.url, form.data, form.date) = (nil, nil, nil)
            (form.mode, form.theme, form.list, form.profile) = (nil, nil, nil, nil)
        }
        try await stage.settle()
        try await stage.reader { settings in
            stage.expect(areAbsent(Optionals(settings)))
            stage.expect(settings.ownKeys, [])
        }
    }

    package static let defaults = Scenario("defaults") { stage in
        let key = try await stage.share { _ in "defaults.\(UInt64.random(in: .min ... .max))" }
        try await stage.reader { settings in
            let one = AppStorage(wrappedValue: 1, key, store: settings)
            let two = AppStorage(wrappedValue: 2, key, store: settings)
            // Each wrapper's own, and never written.
            stage.expect([one.wrappedValue, two.wrappedValue], [1, 2])
            stage.expect(settings.object(forKey: key) == nil && !one.projectedValue.exists)
            // A registered default goes before both.
            settings.register(defaults: [key: 5])
            stage.expect([one.wrappedValue, two.wrappedValue], [5, 5])
        }
        try await stage.writer { AppStorage(wrappedValue: 3, key, store: $0).wrappedValue = 6 }
        try await stage.settle()
        try await stage.reader { settings in
            let one = AppStorage(wrappedValue: 1, key, store: settings)
            let two = AppStorage(wrappedValue: 2, key, store: settings)
            stage.expect([one.wrappedValue, two.wrappedValue], [6, 6])
        }
        try await stage.writer { $0.removeObject(forKey: key) }
        try await stage.settle()
        try await stage.reader { settings in
            stage.expect(AppStorage(wrappedValue: 1, key, store: settings).wrappedValue, 5)
            stage.expect(settings.ownKeys, [])
        }
    }

    package static let unreadable = Scenario("unreadable") { stage in
        let stored: [(key: String, value: any Sendable)] = [
            ("text", "3.5"), ("array", [1, 2]), ("dictionary", ["a": 1]), ("data", Data([1])), ("number", 7),
        ]
        try await stage.writer { settings in
            for (key, value) in stored { settings.set(value as Any?, forKey: key) }
            settings.set("purple", forKey: "theme")
            settings.set(99, forKey: "mode")
            settings.set(["name": 5], forKey: "profile")
        }
        try await stage.settle()
        try await stage.reader { settings in
            func read<Value: GroupDefaultsStorable>(_ key: String, _ value: Value) -> Value {
                AppStorage(wrappedValue: value, key, store: settings).wrappedValue
            }
            // Scalars by the getters' table; what cannot be read is the default, with one report for its key.
            await stage.expectReports([.wrongType, .wrongType, .wrongType], of: settings) {
                for _ in 0..<3 {
                    stage.expect(read("text", 1.25), 3.5)
                    stage.expect(read("number", "default"), "7")
                    stage.expect(read("number", false), true)
                    stage.expect(read("array", 1.25), 1.25)
                    stage.expect(read("dictionary", "default"), "default")
                    stage.expect(read("data", true), true)
                }
            }
            let form = Form(settings)
            stage.expect(form.theme, .light)
            stage.expect(form.mode, .fast)
            stage.expect(form.profile, Profile())
        }
    }

    package static let equalWrites = Scenario("equalWrites") { stage in
        var changes: GroupDefaults.Updates<ValueChange<Int>>.Iterator?
        try await stage.reader { settings in
            changes = AppStorage(wrappedValue: 1, "k", store: settings).projectedValue.changes.makeAsyncIterator()
        }
        try await stage.writer { settings in
            let storage = AppStorage(wrappedValue: 1, "k", store: settings)
            // The default, set: it is stored, and for who reads the property nothing has changed.
            storage.wrappedValue = 1
            stage.expect(storage.projectedValue.exists)
            stage.expect(settings.object(forKey: "k") as? Int, 1)
            try await settings.commit()
            storage.wrappedValue = 1
            storage.wrappedValue = 2
        }
        try await stage.reader { settings in
            let change = await changes?.next()
            stage.expect(change.map { [$0.old, $0.new] }, [1, 2])
        }
    }

    package static let external = Scenario("external") { stage in
        for key in ["plain", "with.dot", "@at", "a/b"] {
            var property: AppStorage<String>?
            var other: AppStorage<String>?
            var (log, otherLog) = (Log(), Log())
            func track(_ property: AppStorage<String>?) -> Log {
                let log = Log()
                withObservationTracking {
                    _ = property?.wrappedValue
                } onChange: {
                    log.add("fired")
                }
                return log
            }
            try await stage.reader { settings in
                property = AppStorage(wrappedValue: "default", key, store: settings)
                // A second view of the same key, in another object of the group.
                other = AppStorage(wrappedValue: "default", key, store: stage.another())
            }
            for value in ["new", "newer", nil] {
                try await stage.reader { _ in (log, otherLog) = (track(property), track(other)) }
                try await stage.writer { $0.set(value, forKey: key) }
                try await stage.reader { _ in
                    await log.wait(for: 1)
                    await otherLog.wait(for: 1)
                    // Removed, it is the default again.
                    stage.expect(property?.wrappedValue, value ?? "default", key)
                    stage.expect(other?.wrappedValue, value ?? "default", key)
                }
            }
            // A change by the one view is the other's, too.
            try await stage.reader { _ in
                otherLog = track(other)
                property?.wrappedValue = "inner"
                await otherLog.wait(for: 1)
                stage.expect(other?.wrappedValue, "inner", key)
            }
        }
    }

    package static let bindings = Scenario("bindings") { stage in
        let log = Log()
        var tokens: [ObservationToken] = []
        var form: Form?
        try await stage.reader { settings in
            let made = Form(settings)
            form = made
            tokens = [
                made.$theme.onChange { old, new in log.add("\(old) \(new)") },
                made.$profile.name.onChange { old, new in log.add("\(old) \(new)") },
            ]
        }
        try await stage.writer { settings in
            // A `let`: the setters of the wrapper and of its binding are nonmutating.
            let form = Form(settings)
            form.$theme.wrappedValue = .dark
            form.$profile.nickname.wrappedValue = "no change of the name"
            form.$profile.name.wrappedValue = "Ada"
        }
        try await stage.reader { settings in
            await log.wait(for: 2)
            stage.expect(log.entries, ["light dark", "nobody Ada"])
            stage.expect(form?.profile.nickname, "no change of the name")
            stage.expect(form?.$profile.exists, true)
            form?.$profile.name.reset()
            await log.wait(for: 3)
            form?.$theme.reset()
            await log.wait(for: 4)
            stage.expect(log.entries.suffix(2), ["Ada nobody", "dark light"])
            stage.expect(form?.$theme.exists, false)
            try await settings.commit()
        }
        try await stage.settle()
        try await stage.writer { stage.expect(!$0.exists("theme") && $0.exists("profile")) }
        withExtendedLifetime(tokens) {}
    }

    package static let chosenStore = Scenario("chosenStore", needsOwnProcess: true) { stage in
        struct Appearance {
            @AppStorage("isDarkMode") var isDarkMode = false
            @AppStorage("count") var count: Int? = nil
        }
        // Properties that name no store are in the one that the program has chosen.
        try await stage.writer { settings in
            GroupDefaults.defaultAppStorage = settings
            let appearance = Appearance()
            appearance.isDarkMode = true
            appearance.count = 5
            stage.expect(settings.bool(forKey: "isDarkMode"))
        }
        try await stage.settle()
        try await stage.reader { settings in
            GroupDefaults.defaultAppStorage = settings
            let appearance = Appearance()
            stage.expect(appearance.isDarkMode)
            stage.expect(appearance.count, 5)
        }
    }

    package static let models = Scenario("models") { stage in
        // In a class, an @Observable one and a plain one: tracking and `Observations` follow the writer.
        var model: Model?
        var plain: PlainModel?
        var log = Log()
        try await stage.reader { settings in
            (model, plain) = (Model(settings), PlainModel(settings))
            guard let model else { return }
            let values = Observations { model.count }
            let made = log
            Task { for await value in values { made.add("\(value)") } }
            await log.wait(for: 1)
        }
        try await stage.writer { $0.set(1, forKey: "count") }
        try await stage.reader { _ in
            await log.wait(for: 2)
            stage.expect(log.entries, ["0", "1"])
            stage.expect(model?.count, 1)
            stage.expect(plain?.count, 1)
            log = Log()
            let made = log
            withObservationTracking {
                _ = plain?.count
            } onChange: {
                made.add("fired")
            }
        }
        try await stage.writer { $0.removeObject(forKey: "count") }
        try await stage.reader { _ in
            await log.wait(for: 1)
            stage.expect(plain?.count, 0)
            model?.count = 7
            stage.expect(plain?.count, 7)
        }
        try await stage.settle()
    }

    package static let actors = Scenario("actors") { stage in
        // Written on any thread; whoever is on the main actor hears of it there.
        let log = Log()
        var token: ObservationToken?
        try await stage.reader { settings in
            token = settings.observe(
                "k",
                onMain: { change in
                    MainActor.assertIsolated()
                    log.add(change)
                })
        }
        try await stage.writer { settings in
            let storage = AppStorage(wrappedValue: 0, "k", store: settings)
            let text = AppStorage(wrappedValue: "", "t", store: settings)
            await withTaskGroup { group in
                for writer in 1...4 {
                    group.addTask {
                        for number in 1...200 {
                            storage.wrappedValue = writer * 1000 + number
                            text.wrappedValue = "\(number)"
                            stage.expect(storage.wrappedValue > 0 && !text.wrappedValue.isEmpty)
                        }
                    }
                }
            }
            storage.wrappedValue = -1
        }
        try await stage.settle()
        try await stage.reader { settings in
            while log.entries.last?.hasSuffix(" -1") != true { await log.wait(for: log.entries.count + 1) }
            stage.expect(AppStorage(wrappedValue: 0, "k", store: settings).wrappedValue, -1)
        }
        withExtendedLifetime(token) {}
    }
}
