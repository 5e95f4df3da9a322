import AppGroup

// Where a setting is looked for, and whole domains.

extension Scenario {
    static let domains = [
        registered, suites, wholeDomains, otherDomains, namesThatAreNone, oneName, suiteNames, arguments, forced,
    ]

    package static let registered = Scenario("registered") { stage in
        let key = try await stage.share { _ in "registered.\(UInt64.random(in: .min ... .max))" }
        try await stage.reader { settings in
            settings.register(defaults: [key: 12, key + ".other": "x"])
            stage.expect(settings.integer(forKey: key), 12)
            stage.expect(stage.another().integer(forKey: key), 12)
            settings.register(defaults: [key: 13])
            stage.expect(settings.integer(forKey: key), 13)
            stage.expect(settings.string(forKey: key + ".other"), "x")
            // Neither stored nor of the group.
            stage.expect(!settings.exists(key) && settings.contains(key))
            stage.expect(settings.ownDictionary()[key] == nil)
            stage.expect(settings.dictionaryRepresentation()[key] as? Int, 13)
            // One value that is none: nothing of it is registered, and it is told.
            await stage.expectReports([.invalidValue], of: settings) {
                settings.register(defaults: [key: 14, "bad": (1, 2)])
            }
            stage.expect(settings.integer(forKey: key), 13)
        }
        // Each process has its own.
        try await stage.writer { stage.expect($0.integer(forKey: key), stage.isOneProcess ? 13 : 0) }
        try await stage.writer { $0.set(1, forKey: key) }
        try await stage.settle()
        try await stage.reader { settings in
            stage.expect(settings.integer(forKey: key), 1)
            settings.register(defaults: [key: 15])
            stage.expect(settings.integer(forKey: key), 1)
        }
        try await stage.writer { $0.removeObject(forKey: key) }
        try await stage.settle()
        try await stage.reader { stage.expect($0.integer(forKey: key), 15) }
    }

    package static let suites = Scenario("suites") { stage in
        let (first, second) = ("group.com.example.first", "group.com.example.second")
        let key = try await stage.share { _ in "suites.\(UInt64.random(in: .min ... .max))" }
        var changes: GroupDefaults.Updates<GroupDefaults.Change>.Iterator?
        func expectChange(_ old: String?, _ new: String?) async throws {
            let change = await changes?.next()
            stage.expect(change?.old?.string, old)
            stage.expect(change?.new?.string, new)
        }
        try await stage.writer { settings in
            settings.setPersistentDomain([key: "first"], forName: first)
            settings.setPersistentDomain([key: "second"], forName: second)
            stage.expect(settings.persistentDomain(forName: first)?[key] as? String, "first")
        }
        try await stage.reader { settings in
            settings.register(defaults: [key: "registered"])
            changes = settings.changes(for: key).makeAsyncIterator()
            settings.addSuite(named: first)
            // Whether the suite is there at once depends on whether its process has opened it before; then it comes.
            try await expectChange("registered", "first")
            settings.addSuite(named: second)
            stage.expect(settings.string(forKey: key), "first")
            stage.expect(!settings.exists(key))
        }
        try await stage.writer { $0.setPersistentDomain([key: "changed"], forName: first) }
        try await stage.reader { _ in try await expectChange("first", "changed") }
        try await stage.writer { $0.set("own", forKey: key) }
        try await stage.reader { _ in try await expectChange("changed", "own") }
        // Hidden by the group's own value: no change of what readers see.
        try await stage.writer { $0.setPersistentDomain([key: "hidden"], forName: first) }
        try await stage.settle()
        try await stage.writer { $0.removeObject(forKey: key) }
        try await stage.reader { _ in try await expectChange("own", "hidden") }
        try await stage.writer { $0.removePersistentDomain(forName: first) }
        try await stage.reader { _ in try await expectChange("hidden", "second") }
        try await stage.reader { settings in
            settings.removeSuite(named: second)
            try await expectChange("second", "registered")
            // Sets have gone to the group only.
            stage.expect(settings.persistentDomain(forName: second)?[key] as? String, "second")
            await stage.expectReports([.invalidGroup], of: settings) { settings.addSuite(named: "../etc") }
        }
    }

    package static let wholeDomains = Scenario("wholeDomains") { stage in
        try await stage.writer { settings in
            stage.expect(settings.persistentDomain(forName: settings.suiteName) == nil)
            settings.set(1, forKey: "gone")
            settings.set(1, forKey: "kept")
            settings.set(1, forKey: "changed")
        }
        try await stage.settle()
        var commits: GroupDefaults.Updates<GroupDefaults.Commit>.Iterator?
        try await stage.reader { commits = $0.commits().makeAsyncIterator() }
        try await stage.writer { settings in
            settings.setPersistentDomain(["kept": 1, "new": ["a": true], "changed": "x"], forName: settings.suiteName)
        }
        try await stage.reader { settings in
            // One commit, and no equal value in it. Other scenarios of this process may register defaults meanwhile.
            var commit = await commits?.next()
            while commit?.changes.contains(where: { $0.key == "gone" }) == false { commit = await commits?.next() }
            stage.expect(commit?.changes.map(\.key), ["changed", "gone", "new"])
            stage.expect(Set(settings.ownDictionary().keys), ["kept", "new", "changed"])
            stage.expect(settings.ownKeys, ["changed", "kept", "new"])
            let domain = settings.persistentDomain(forName: settings.suiteName)
            stage.expect(domain?["kept"] as? Int, 1)
            stage.expect(domain?.count, 3)
        }
        try await stage.writer { settings in
            let name = settings.suiteName
            await stage.expectReports([.invalidValue], of: settings) {
                settings.setPersistentDomain(["x": (1, 2), "y": 1], forName: name)
            }
            stage.expect(settings.ownKeys.count, 3)
            settings.removePersistentDomain(forName: name)
        }
        try await stage.settle()
        try await stage.reader { settings in
            stage.expect(settings.ownKeys, [])
            stage.expect(settings.persistentDomain(forName: settings.suiteName) == nil)
        }
    }

    package static let otherDomains = Scenario("otherDomains") { stage in
        let other = "group.com.example.other"
        // Asking does not make it.
        try await stage.reader { stage.expect($0.persistentDomain(forName: other) == nil) }
        try await stage.writer { settings in
            settings.removePersistentDomain(forName: other)
            stage.expect(settings.persistentDomain(forName: other) == nil)
            settings.setPersistentDomain(["a": 1], forName: other)
            stage.expect(settings.persistentDomain(forName: other)?["a"] as? Int, 1)
            // Not a key of this group.
            stage.expect(settings.object(forKey: "a") == nil)
            // Seen by whoever asks, once the daemon has it.
            settings.addSuite(named: other)
            try await settings.commit()
        }
        try await stage.reader { settings in
            settings.addSuite(named: other)
            for await value in settings.values(for: "a", as: Int.self) where value == 1 { break }
            stage.expect(settings.persistentDomain(forName: other)?["a"] as? Int, 1)
            stage.expect(!settings.exists("a") && settings.contains("a"))
        }
    }

    package static let namesThatAreNone = Scenario("namesThatAreNone") { stage in
        // An error with its reason, never a private store; paths do not leave the root.
        let names = ["", "no/group", "../etc", "/tmp/settings", ".hidden", "a..b", "grüppe", "Apple Global Domain"]
        try await stage.writer { settings in
            for name in names {
                let bad = GroupDefaults(suiteName: name)
                let errors = bad.errors.makeAsyncIterator()
                bad.set(1, forKey: "k")
                stage.expect(await errors.next()?.code, .invalidGroup, name)
                stage.expect(bad.object(forKey: "k") == nil, name)
                stage.expect(bad.ownKeys, [], name)
                await stage.expectError(.invalidGroup, name) { try bad.setValue(1, forKey: "k") }
                await stage.expectError(.invalidGroup, name) { try await bad.write { $0["k"] = 1 } }
                await stage.expectError(.invalidGroup, name) { try await bad.commit() }
                if case .disconnected(let error) = bad.connectionState {
                    stage.expect(error.code, .invalidGroup, name)
                    stage.expect(!error.description.isEmpty, name)
                } else {
                    stage.expect(false, "\(name) is \(bad.connectionState)")
                }
                await stage.expectReports([.invalidGroup], of: settings, name) {
                    stage.expect(settings.persistentDomain(forName: name) == nil, name)
                }
            }
        }
        try await stage.settle()
        try await stage.reader { stage.expect($0.ownKeys, []) }
    }

    package static let oneName = Scenario("oneName", needsOwnProcess: true) { stage in
        // The program's own domain is a group like any other: opened by its name it is the same, and not a second store.
        let name = try await stage.share { _ in GroupDefaults.standard.suiteName }
        try await stage.writer { _ in
            let same = GroupDefaults(suiteName: name)
            GroupDefaults.standard.set("standard", forKey: "k")
            stage.expect(same.string(forKey: "k"), "standard")
            same.set("by name", forKey: "k")
            stage.expect(GroupDefaults.standard.string(forKey: "k"), "by name")
            try await same.commit()
        }
        try await stage.reader { _ in
            let same = GroupDefaults(suiteName: name)
            for await value in same.values(for: "k", as: String.self) where value == "by name" { break }
            stage.expect(GroupDefaults.standard.string(forKey: "k"), "by name")
        }
    }

    package static let suiteNames = Scenario("suiteNames") { stage in
        // A group by name sees itself and the registered defaults, and no other group.
        let key = try await stage.share { _ in "suiteNames.\(UInt64.random(in: .min ... .max))" }
        try await stage.writer { settings in
            settings.setPersistentDomain([key: "another group's"], forName: "group.com.example.neighbour")
            settings.set("this group's", forKey: "k")
        }
        try await stage.settle()
        try await stage.reader { settings in
            stage.expect(settings.object(forKey: key) == nil)
            stage.expect(settings.string(forKey: "k"), "this group's")
            settings.register(defaults: [key: "registered"])
            stage.expect(settings.string(forKey: key), "registered")
            stage.expect(settings.suiteName.isEmpty, false)
        }
    }

    package static let arguments = Scenario(
        "arguments",
        readerArguments: [
            "-k", "argument", "-list", "(a, b)", "-flag", "YES", "-number", "<integer>5</integer>", "-suite", "argued",
        ]
    ) { stage in
        try await stage.writer { settings in
            settings.set("own", forKey: "k")
            settings.setPersistentDomain(["suite": "suite", "below": "suite"], forName: "group.com.example.suite")
        }
        try await stage.settle()
        var changes: GroupDefaults.Updates<GroupDefaults.Change>.Iterator?
        try await stage.reader { settings in
            settings.register(defaults: ["k": "registered", "below": "registered", "last": "registered"])
            settings.addSuite(named: "group.com.example.suite")
            // Argument, group, suite, registered default: the first hit counts.
            stage.expect(settings.string(forKey: "k"), "argument")
            stage.expect(settings.string(forKey: "suite"), "argued")
            stage.expect(settings.string(forKey: "last"), "registered")
            for await value in settings.values(for: "below", as: String.self) where value == "suite" { break }
            stage.expect(settings.ownDictionary()["k"] as? String, "own")
            // A fragment of a property list, and text.
            stage.expect(settings.stringArray(forKey: "list"), ["a", "b"])
            stage.expect(settings.object(forKey: "flag") as? String, "YES")
            stage.expect(settings.bool(forKey: "flag"), true)
            stage.expect(settings.object(forKey: "number") as? Int, 5)
            // Its setter sets the group; its readers go on seeing the argument.
            settings.set("set", forKey: "k")
            stage.expect(settings.string(forKey: "k"), "argument")
            stage.expect(settings.exists("k") && !settings.exists("list"))
            stage.expect(settings.dictionaryRepresentation()["k"] as? String, "argument")
            stage.expect(settings.objectIsForced(forKey: "k"), false)
            try await settings.commit()
            changes = settings.changes(matching: "*").makeAsyncIterator()
        }
        // Never saved, and nobody else's. In one process the writer has it as well.
        try await stage.writer { settings in
            if !stage.isOneProcess {
                for await value in settings.values(for: "k", as: String.self) where value == "set" { break }
            }
            stage.expect(settings.ownDictionary()["k"] as? String, "set")
            stage.expect(settings.ownDictionary()["list"] == nil)
            // What an argument hides is no change.
            settings.set("hidden", forKey: "k")
            settings.removeObject(forKey: "k")
            settings.set(1, forKey: "list")
            settings.set(2, forKey: "seen")
        }
        try await stage.reader { _ in
            let change = await changes?.next()
            stage.expect(change?.key, "seen")
        }
    }

    package static let forced = Scenario("forced") { stage in
        try await stage.writer { $0.set(1, forKey: "k") }
        try await stage.settle()
        try await stage.reader { settings in
            settings.register(defaults: ["forced.registered": 1])
            for key in ["k", "absent", "forced.registered"] {
                stage.expect(settings.objectIsForced(forKey: key), false, key)
            }
        }
    }
}
