import AppGroup
import Observation
import Synchronization

/// Subscribes and cancels again and again, in every form there is, and says what is left of it.
enum Churn {
    static func run(group: String) async {
        let settings = GroupDefaults(suiteName: group)
        settings.set(0, forKey: "key")
        await cycles(200, settings)
        let (descriptors, memory) = (ProcessFacts.descriptors.all, ProcessFacts.residentSize)
        await cycles(1000, settings)
        Report.say("descriptors \(descriptors) \(ProcessFacts.descriptors.all)")
        Report.say("memory \(memory) \(ProcessFacts.residentSize)")
    }

    private static func cycles(_ count: Int, _ settings: GroupDefaults) async {
        for number in 0..<count {
            let calls = Atomic(0)
            let token = settings.observe("key") { _ in calls.add(1, ordering: .relaxed) }
            let pattern = settings.observe(matching: "k*", initial: true) { _ in }
            let main = settings.observe("key", onMain: { _ in })
            let property = AppStorage(wrappedValue: 0, "key", store: settings)
            let binding = property.projectedValue.onChange { _, _ in }
            let tasks = tasks(settings)
            withObservationTracking {
                _ = settings.integer(forKey: "key") + property.wrappedValue + settings.ownKeys.count
            } onChange: {
            }
            settings.set(number, forKey: "key")
            for task in tasks { task.cancel() }
            token.cancel()
            pattern.cancel()
            main.cancel()
            binding.cancel()
            for task in tasks { await task.value }
            if number % 50 == 0 { await commit(settings) }
        }
        await commit(settings)
    }

    private static func tasks(_ settings: GroupDefaults) -> [Task<Void, Never>] {
        let (changes, commits) = (settings.changes(matching: "*"), settings.commits())
        let (errors, states) = (settings.errors, settings.connectionStates)
        let values = settings.values(for: "key", as: Int.self)
        return [
            Task.detached { for await _ in changes {} },
            Task.detached { for await _ in commits {} },
            Task.detached { for await _ in errors {} },
            Task.detached { for await _ in states {} },
            Task.detached { for await _ in values {} },
        ]
    }

    private static func commit(_ settings: GroupDefaults) async {
        do throws(AppGroupError) { try await settings.commit() } catch { Report.complain("commit: \(error)") }
    }
}
