import AppGroup
import FoundationEssentials

// What is set reads back as what it is, and as other types by the table of coercions.

extension Scenario {
    static let values = [absent, scalars, collections, refusals, urls, keys, coercions, sizes]

    package static let absent = Scenario("absent") { stage in
        try await stage.reader { settings in
            stage.expect(settings.object(forKey: "k") == nil)
            stage.expect(settings.string(forKey: "k"), nil)
            stage.expect(settings.array(forKey: "k") == nil)
            stage.expect(settings.dictionary(forKey: "k") == nil)
            stage.expect(settings.stringArray(forKey: "k"), nil)
            stage.expect(settings.data(forKey: "k"), nil)
            stage.expect(settings.date(forKey: "k"), nil)
            stage.expect(settings.url(forKey: "k"), nil)
            stage.expect(settings.int64(forKey: "k"), nil)
            stage.expect(settings.uint64(forKey: "k"), nil)
            stage.expect(settings.bool(forKey: "k"), false)
            stage.expect(settings.integer(forKey: "k"), 0)
            stage.expect(settings.double(forKey: "k"), 0)
            stage.expect(settings.float(forKey: "k"), 0)
            stage.expect(!settings.contains("k") && !settings.exists("k") && !settings.objectIsForced(forKey: "k"))
        }
        try await stage.writer { settings in
            settings.set(0, forKey: "zero")
            settings.set(false, forKey: "false")
            settings.set("", forKey: "empty")
        }
        try await stage.settle()
        // Zero, false and the empty text are there, and can be told from what is not.
        try await stage.reader { settings in
            for key in ["zero", "false", "empty"] {
                stage.expect(settings.exists(key) && settings.contains(key), key)
                stage.expect(settings.object(forKey: key) != nil, key)
            }
            stage.expect(settings.int64(forKey: "zero"), 0)
            stage.expect(settings[GroupDefaults.Key<Bool?>("false")], false)
            stage.expect(settings[GroupDefaults.Key<Bool?>("k")], nil)
        }
    }

    package static let scalars = Scenario("scalars") { stage in
        let date = Date(timeIntervalSinceReferenceDate: 812_345_678.123456)
        try await stage.writer { settings in
            settings.set(Int.max, forKey: "max")
            settings.set(UInt64.max, forKey: "umax")
            settings.set(Int64.min, forKey: "min")
            settings.set(1, forKey: "one")
            settings.set(1.0, forKey: "real")
            settings.set(true, forKey: "true")
            settings.set(Float(12.34), forKey: "float")
            settings.set("text\r\n größer 😀 <&>", forKey: "text")
            settings.set(date, forKey: "date")
        }
        try await stage.settle()
        try await stage.reader { settings in
            stage.expect(settings.object(forKey: "max") as? Int, .max)
            stage.expect(settings.object(forKey: "umax") as? UInt64, .max)
            stage.expect(settings.uint64(forKey: "umax"), .max)
            stage.expect(settings.int64(forKey: "min"), .min)
            // Integer 1, real 1.0 and true are three values.
            stage.expect(settings.object(forKey: "one") as? Int, 1)
            stage.expect(settings.object(forKey: "one") as? Bool, nil)
            stage.expect(settings.object(forKey: "real") as? Double, 1)
            stage.expect(settings.object(forKey: "real") as? Int, nil)
            stage.expect(settings.object(forKey: "true") as? Bool, true)
            stage.expect(settings.object(forKey: "true") as? Int, nil)
            stage.expect(settings.integer(forKey: "true"), 1)
            // There is no Float among the values: its rounding shows.
            stage.expect(settings.double(forKey: "float"), 12.340000152587890625)
            stage.expect(settings.float(forKey: "float"), 12.34)
            stage.expect(settings.string(forKey: "text"), "text\r\n größer 😀 <&>")
            stage.expect(settings.date(forKey: "date"), date)
        }
    }

    package static let collections = Scenario("collections") { stage in
        let date = Date(timeIntervalSinceReferenceDate: 1.5)
        try await stage.writer { settings in
            settings.set(["a", "b"], forKey: "strings")
            settings.set([1, "b", [true]], forKey: "mixed")
            settings.set(["x": 1, "y": ["z": date, "": [Data([1])]]], forKey: "nested")
            settings.set([], forKey: "none")
            settings.set([:], forKey: "no entries")
            settings.set(Data([0, 255]), forKey: "data")
        }
        try await stage.settle()
        try await stage.reader { settings in
            stage.expect(settings.stringArray(forKey: "strings"), ["a", "b"])
            stage.expect(settings.array(forKey: "strings") as? [String], ["a", "b"])
            stage.expect(settings.stringArray(forKey: "mixed"), nil)
            stage.expect((settings.array(forKey: "mixed")?[2] as? [Any])?.first as? Bool, true)
            stage.expect(settings.array(forKey: "none")?.count, 0)
            stage.expect(settings.dictionary(forKey: "no entries")?.count, 0)
            stage.expect(settings.dictionary(forKey: "nested")?["x"] as? Int, 1)
            let inner = settings.dictionary(forKey: "nested")?["y"] as? [String: Any]
            stage.expect(inner?["z"] as? Date, date)
            stage.expect((inner?[""] as? [Any])?.first as? Data, Data([1]))
            stage.expect(settings.data(forKey: "data"), Data([0, 255]))
            // Exactly its own type, or nothing.
            stage.expect(settings.string(forKey: "data"), nil)
            stage.expect(settings.data(forKey: "strings"), nil)
            stage.expect(settings.dictionary(forKey: "strings") == nil)
            stage.expect(settings.array(forKey: "nested") == nil)
            stage.expect(settings.date(forKey: "strings"), nil)
            // What was read is a copy: changing it changes nothing.
            var copy = settings.dictionary(forKey: "nested")
            copy?["x"] = 2
            stage.expect(settings.dictionary(forKey: "nested")?["x"] as? Int, 1)
        }
    }

    package static let refusals = Scenario("refusals") { stage in
        try await stage.writer { settings in
            settings.set("before", forKey: "k")
            let refused: [Any] = [
                [1: 2], Set([1]), (1, 2), ["a": Int?.none as Any] as [String: Any], [URL(filePath: "/tmp")] as [Any],
                "a\u{0}b", Date(timeIntervalSinceReferenceDate: .nan),
            ]
            for (index, value) in refused.enumerated() {
                await stage.expectReports([.invalidValue], of: settings, "\(index)") {
                    settings.set(value as Any?, forKey: "k")
                }
                await stage.expectError(.invalidValue, "\(index)") { try settings.setValue(value, forKey: "k") }
            }
            // Nothing of it: neither the sound half of a value nor the sound half of a write.
            await stage.expectError(.invalidValue) {
                try await settings.write {
                    $0["sound"] = 1
                    $0["k"] = ["a": 1, "b": Set([1])] as [String: Any]
                }
            }
            stage.expect(settings.string(forKey: "k"), "before")
        }
        try await stage.settle()
        try await stage.reader { settings in
            stage.expect(settings.string(forKey: "k"), "before")
            stage.expect(settings.ownKeys, ["k"])
        }
    }

    package static let urls = Scenario("urls") { stage in
        let texts = [
            "https://example.org/a?b#c", "https://user:secret@example.org:8080/%20x?q=1&r=%C3%A9", "file:///tmp/a%20b",
            "mailto:someone@example.org", "docs/page.html", "data:text/plain,hello",
        ]
        try await stage.writer { settings in
            for text in texts { settings.set(URL(string: text), forKey: text) }
            settings.set(URL(string: "b/c", relativeTo: URL(string: "https://example.org/a/")), forKey: "relative")
            // As `defaults`, Apple's UserDefaults and Foundation's leave them.
            settings.set("https://example.org/typed", forKey: "typed")
            settings.set("/tmp/a b:c", forKey: "path")
            settings.set("~/x", forKey: "tilde")
            settings.set(5, forKey: "number")
        }
        try await stage.settle()
        try await stage.reader { settings in
            for text in texts {
                stage.expect(settings.url(forKey: text), URL(string: text))
                stage.expect(settings.string(forKey: text), text)
            }
            stage.expect(settings.url(forKey: "relative")?.absoluteString, "https://example.org/a/b/c")
            stage.expect(settings.url(forKey: "typed")?.host, "example.org")
            stage.expect(settings.url(forKey: "path")?.isFileURL, true)
            stage.expect(settings.url(forKey: "path")?.path, "/tmp/a b:c")
            stage.expect(settings.url(forKey: "tilde")?.path.hasSuffix("/x"), true)
            stage.expect(settings.url(forKey: "tilde")?.path.hasPrefix("/"), true)
            stage.expect(settings.url(forKey: "number"), nil)
        }
    }

    package static let keys = Scenario("keys") { stage in
        let keys = ["", "a.b", "@x", "a/b", "mit Umlaut ü", "😀", "a b", "-x", "$", "\"", "a\nb", "*", "a\\b"]
        try await stage.writer { settings in
            for (index, key) in keys.enumerated() { settings.set(index, forKey: key) }
        }
        try await stage.settle()
        try await stage.reader { settings in
            for (index, key) in keys.enumerated() { stage.expect(settings.object(forKey: key) as? Int, index, key) }
            stage.expect(Set(settings.ownKeys), Set(keys))
        }
        // Byte for byte: the two spellings of é are two keys, here and there.
        try await stage.writer { settings in
            settings.set("composed", forKey: "caf\u{E9}")
            settings.set("decomposed", forKey: "cafe\u{301}")
        }
        try await stage.settle()
        try await stage.reader { settings in
            stage.expect(settings.string(forKey: "caf\u{E9}"), "composed")
            stage.expect(settings.string(forKey: "cafe\u{301}"), "decomposed")
            stage.expect(settings.ownKeys.count, keys.count + 2)
        }
        try await stage.writer { $0.removeObject(forKey: "cafe\u{301}") }
        try await stage.settle()
        try await stage.reader { settings in
            stage.expect(settings.string(forKey: "caf\u{E9}"), "composed")
            stage.expect(settings.string(forKey: "cafe\u{301}"), nil)
        }
    }

    package static let sizes = Scenario("sizes") { stage in
        // A value of a megabyte less the room for its form, and small keys beside it.
        let large = String(repeating: "x", count: 1_000_000)
        try await stage.writer { settings in
            settings.set(large, forKey: "large")
            settings.set(1, forKey: "small")
        }
        try await stage.settle()
        try await stage.reader { settings in
            stage.expect(settings.string(forKey: "large")?.count, large.count)
            stage.expect(settings.integer(forKey: "small"), 1)
        }
        guard stage.hasDaemon else { return }
        // What is too large is refused, and told, and taken back; what is small goes on working.
        try await stage.writer { settings in
            await stage.expectError(.tooLarge) { try await settings.write { $0["large"] = large + large } }
            settings.set(2, forKey: "small")
            try await settings.commit()
        }
        try await stage.settle()
        try await stage.reader { settings in
            stage.expect(settings.string(forKey: "large")?.count, large.count)
            stage.expect(settings.integer(forKey: "small"), 2)
        }
    }
}
