import AppGroup

/// Opens many groups, and says over how many connections.
enum ManyGroups {
    static func run(prefix: String, count: Int) {
        let clock = ContinuousClock()
        var groups: [GroupDefaults] = []
        let opening = clock.measure {
            for number in 0..<count {
                let settings = GroupDefaults(suiteName: "\(prefix).\(number)")
                settings.set(number, forKey: "number")
                groups.append(settings)
            }
            for settings in groups { synchronize(settings) }
        }
        for (number, settings) in groups.enumerated() where settings.integer(forKey: "number") != number {
            Report.complain("group \(number) has \(settings.integer(forKey: "number"))")
        }
        Report.say("sockets \(ProcessFacts.descriptors.sockets)")
        Report.say("milliseconds \(opening / .milliseconds(1))")
        // What others do to them arrives.
        guard let line = readLine() else { return }
        while groups.last?.string(forKey: "word") != line { synchronize(groups[0]) }
        Report.say("descriptors \(ProcessFacts.descriptors.all)")
    }

    private static func synchronize(_ settings: GroupDefaults) {
        do throws(AppGroupError) { try settings.synchronize(within: 60) } catch {
            Report.complain("synchronize: \(error)")
        }
    }
}
