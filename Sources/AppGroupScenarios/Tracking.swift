import AppGroup
import Observation

// `withObservationTracking` on whatever is read.

extension Scenario {
    static let tracking = [tracked, trackedWhole]

    package static let tracked = Scenario("tracked") { stage in
        var fired = Log()
        func track(_ read: () -> Void) {
            let log = Log()
            withObservationTracking(read) { log.add("fired") }
            fired = log
        }
        let reads: [@Sendable (GroupDefaults) -> Void] = [
            { _ = $0.bool(forKey: "isDark") }, { _ = $0.object(forKey: "isDark") },
            { _ = $0[GroupDefaults.Key("isDark", default: false)] },
            { _ = AppStorage(wrappedValue: false, "isDark", store: $0).wrappedValue },
            { _ = AppStorage(wrappedValue: false, "isDark", store: $0).projectedValue.wrappedValue },
        ]
        for read in reads {
            // For a set, another one, and a removal.
            for value in [true, false, nil] {
                try await stage.reader { settings in track { read(settings) } }
                try await stage.writer { $0.set(value, forKey: "isDark") }
                try await stage.reader { _ in
                    await fired.wait(for: 1)
                    stage.expect(fired.entries, ["fired"])
                }
            }
        }
        // Not for another key, nor for what it is already.
        try await stage.writer { $0.set(true, forKey: "isDark") }
        try await stage.settle()
        try await stage.reader { settings in track { _ = settings.bool(forKey: "isDark") } }
        try await stage.writer { settings in
            settings.set(true, forKey: "isDark")
            settings.set(true, forKey: "isDarker")
        }
        try await stage.settle()
        try await stage.reader { _ in stage.expect(fired.entries, []) }
    }

    package static let trackedWhole = Scenario("trackedWhole") { stage in
        let key = try await stage.share { _ in "trackedWhole.\(UInt64.random(in: .min ... .max))" }
        var fired = Log()
        func track(_ read: () -> Void) {
            let log = Log()
            withObservationTracking(read) { log.add("fired") }
            fired = log
        }
        try await stage.reader { $0.register(defaults: [key: 5]) }
        // Whether the group holds it changes, and what readers see does not.
        try await stage.reader { settings in track { _ = settings.exists(key) } }
        try await stage.writer { $0.set(5, forKey: key) }
        try await stage.reader { settings in
            await fired.wait(for: 1)
            stage.expect(settings.exists(key))
            track { _ = AppStorage(wrappedValue: 0, key, store: settings).projectedValue.exists }
        }
        try await stage.writer { $0.removeObject(forKey: key) }
        try await stage.reader { settings in
            await fired.wait(for: 1)
            stage.expect(!settings.exists(key))
        }
        // What is read as a whole, for keys that nobody has named.
        let reads: [@Sendable (GroupDefaults) -> Void] = [
            { _ = $0.ownKeys }, { _ = $0.ownDictionary() }, { _ = $0.dictionaryRepresentation() },
            { _ = $0.persistentDomain(forName: $0.suiteName) },
        ]
        for (index, read) in reads.enumerated() {
            for value in [1, 2, nil] {
                try await stage.reader { settings in track { read(settings) } }
                try await stage.writer { $0.set(value, forKey: "whole.\(index)") }
                try await stage.reader { _ in
                    await fired.wait(for: 1)
                    stage.expect(fired.entries, ["fired"])
                }
            }
        }
    }
}
