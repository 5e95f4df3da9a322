import AppGroup
import FoundationEssentials

// When what is set is seen, where it goes, and what removes it.

extension Scenario {
    static let writes = [removal, visibility, threads, synchronized, ensured, mistyped, evaluated, codables]

    package static let removal = Scenario("removal") { stage in
        // Registered defaults are the whole process's, and other scenarios may be played in it: a key of its own.
        let key = try await stage.share { _ in "removal.\(UInt64.random(in: .min ... .max))" }
        try await stage.writer { $0.set("own", forKey: key) }
        try await stage.settle()
        try await stage.reader { settings in
            settings.register(defaults: [key: "registered"])
            stage.expect(settings.string(forKey: key), "own")
        }
        try await stage.writer { $0.set(nil, forKey: key) }
        try await stage.settle()
        // From the group only: what is below shows through.
        try await stage.reader { settings in
            stage.expect(settings.string(forKey: key), "registered")
            stage.expect(!settings.exists(key) && settings.contains(key))
        }
        let removals: [@Sendable (GroupDefaults) -> Void] = [
            { $0.removeObject(forKey: "k") }, { $0.set(nil, forKey: "k") }, { $0.set(String?.none, forKey: "k") },
            { $0["k"] = nil }, { $0[GroupDefaults.Key<Int?>("k")] = nil }, { $0.reset(GroupDefaults.Key<Int?>("k")) },
        ]
        for (index, remove) in removals.enumerated() {
            try await stage.writer { $0.set(index, forKey: "k") }
            try await stage.settle()
            try await stage.reader { stage.expect($0.exists("k"), "\(index)") }
            try await stage.writer { remove($0) }
            try await stage.settle()
            try await stage.reader { stage.expect($0.object(forKey: "k") == nil && !$0.exists("k"), "\(index)") }
        }
    }

    package static let visibility = Scenario("visibility") { stage in
        // At once for every reader of the process, also through another object of the same group (R25).
        try await stage.writer { settings in
            let other = stage.another()
            for number in 0..<100 {
                settings.set(number, forKey: "k")
                stage.expect(settings.integer(forKey: "k"), number)
                stage.expect(other.integer(forKey: "k"), number)
            }
            other.set("other", forKey: "by other")
            stage.expect(settings.string(forKey: "by other"), "other")
        }
        try await stage.settle()
        try await stage.reader { settings in
            let other = stage.another()
            for object in [settings, other] {
                stage.expect(object.integer(forKey: "k"), 99)
                stage.expect(object.string(forKey: "by other"), "other")
            }
        }
    }

    package static let threads = Scenario("threads") { stage in
        try await stage.writer { settings in
            await withTaskGroup { group in
                for task in 0..<4 {
                    group.addTask {
                        for number in 1...500 {
                            settings.set("\(task).\(number)", forKey: "shared")
                            settings.set(number, forKey: "own.\(task)")
                            stage.expect(settings.integer(forKey: "own.\(task)"), number)
                            _ = settings.string(forKey: "shared")
                            settings.increment("count")
                        }
                    }
                }
            }
        }
        try await stage.settle()
        let shared = try await stage.share { $0.string(forKey: "shared") ?? "" }
        try await stage.reader { settings in
            for task in 0..<4 { stage.expect(settings.integer(forKey: "own.\(task)"), 500) }
            stage.expect(settings.integer(forKey: "count"), 2000)
            stage.expect(settings.string(forKey: "shared"), shared)
        }
    }

    package static let synchronized = Scenario("synchronized") { stage in
        // Not async: a form that blocks, for programs without a task.
        func synchronize(_ settings: GroupDefaults) throws { try settings.synchronize(within: 60) }
        try await stage.writer { settings in
            for number in 1...200 { settings.set(number, forKey: "k\(number % 7)") }
            settings.set("last", forKey: "k")
            try synchronize(settings)
        }
        // The daemon has it: what it is asked to compare is what was set.
        try await stage.reader { settings in
            stage.expect(try await settings.compareAndSet("k", expected: "last", to: "next"))
            stage.expect(try await settings.compareAndSet("k", expected: "last", to: "wrong") == false)
        }
        try await stage.writer { settings in
            settings.set("durable", forKey: "k")
            try await settings.commit(durable: true)
        }
        try await stage.reader { settings in
            stage.expect(try await settings.compareAndSet("k", expected: "durable", to: nil))
        }
    }

    package static let ensured = Scenario("ensured") { stage in
        let id = GroupDefaults.Key("id", default: "made by the writer")
        let other = GroupDefaults.Key("id", default: "made by the reader")
        try await stage.writer { settings in
            // A default is never written …
            stage.expect(settings[id], "made by the writer")
            stage.expect(!settings.exists("id"))
            let storage = AppStorage(wrappedValue: "made by the writer", "id", store: settings)
            stage.expect(storage.wrappedValue, "made by the writer")
            stage.expect(!settings.exists("id"))
        }
        try await stage.settle()
        try await stage.reader { stage.expect($0.object(forKey: "id") == nil) }
        // … unless that is asked for; then it is everybody's.
        try await stage.writer { $0.ensure(id) }
        try await stage.settle()
        try await stage.reader { settings in
            settings.ensure(other)
            stage.expect(settings[other], "made by the writer")
            stage.expect(settings.string(forKey: "id"), "made by the writer")
        }
    }

    package static let mistyped = Scenario("mistyped") { stage in
        let size = GroupDefaults.Key("size", default: 1.5)
        let table = GroupDefaults.Key("table", default: ["a": 1])
        try await stage.writer { settings in
            settings.set([1, 2], forKey: "size")
            settings.set("text", forKey: "table")
            settings.set("text", forKey: "profile")
        }
        try await stage.settle()
        // The default, and one report for each key; never a crash, however often it is read.
        try await stage.reader { settings in
            let storage = AppStorage(wrappedValue: 2.5, "size", store: settings)
            await stage.expectReports([.wrongType, .wrongType], of: settings) {
                for _ in 0..<3 {
                    stage.expect(settings[size], 1.5)
                    stage.expect(settings[table], ["a": 1])
                    stage.expect(storage.wrappedValue, 2.5)
                }
            }
            await stage.expectError(.wrongType) { _ = try settings.value(Profile.self, forKey: "profile") }
        }
        // What is of the right type again reads as it is.
        try await stage.writer { $0.set(3, forKey: "size") }
        try await stage.settle()
        try await stage.reader { stage.expect($0[size], 3) }
    }

    package static let evaluated = Scenario("evaluated") { stage in
        // Read-modify-write is done where the truth is: what both do is not lost.
        func change(_ settings: GroupDefaults, _ name: String) async throws {
            try await settings.write {
                $0.increment("n", by: 2)
                $0.increment("r", by: 0.5)
                $0.toggle("t")
                $0.append(name, forKey: "list")
                $0.merge([name: 1], forKey: "map")
            }
        }
        try await stage.writer { try await change($0, "writer") }
        try await stage.reader { try await change($0, "reader") }
        try await stage.settle()
        try await stage.reader { settings in
            stage.expect(settings.integer(forKey: "n"), 4)
            stage.expect(settings.double(forKey: "r"), 1)
            stage.expect(settings.object(forKey: "t") as? Bool, false)
            stage.expect(settings.stringArray(forKey: "list"), ["writer", "reader"])
            stage.expect(settings.dictionary(forKey: "map") as? [String: Int], ["writer": 1, "reader": 1])
            await stage.expectError(.wrongType) { try await settings.write { $0.toggle("n") } }
        }
        try await stage.writer { settings in
            stage.expect(try await settings.compareAndSet("owner", expected: nil, to: "writer"))
        }
        try await stage.reader { settings in
            stage.expect(try await settings.compareAndSet("owner", expected: nil, to: "reader") == false)
        }
    }

    package static let codables = Scenario("codables") { stage in
        let profile = Profile(name: "Ada", site: URL(string: "https://example.org/a"), tags: ["x": [1, 2]])
        try await stage.writer { settings in
            try settings.set(profile, forKey: "profile")
            try settings.set([profile], forKey: "profiles")
            // The throwing form for Codable values does not shadow the plain ones: no `try`.
            settings.set("s", forKey: "string")
            settings.set(Date(timeIntervalSinceReferenceDate: 0), forKey: "date")
            settings.set(Data(), forKey: "data")
            settings.set(URL(filePath: "/tmp"), forKey: "url")
        }
        try await stage.settle()
        try await stage.reader { settings in
            stage.expect(try settings.value(Profile.self, forKey: "profile"), profile)
            stage.expect(try settings.value([Profile].self, forKey: "profiles"), [profile])
            stage.expect(try settings.value(Profile.self, forKey: "nowhere"), nil)
            // As structure that anybody can read.
            let stored = settings.dictionary(forKey: "profile")
            stage.expect(stored?["name"] as? String, "Ada")
            stage.expect(stored?["site"] as? String, "https://example.org/a")
            stage.expect(stored?.keys.contains("nickname"), false)
        }
    }
}

/// A value with members of several kinds.
struct Profile: Codable, Equatable, Sendable {
    var name = "nobody"
    var nickname: String?
    var site: URL?
    var tags: [String: [Int]] = [:]
}
