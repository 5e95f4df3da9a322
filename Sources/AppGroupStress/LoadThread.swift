import AppGroup
import Glibc
import Synchronization

/// One thread of the load. What is its own it knows at any time; what it shares it only changes.
struct LoadThread {
    /// Shared lists grow with every element, and each change carries them: so not too many.
    private static let appendLimit = 60

    /// Each save waits for the disk.
    private static let saveLimit = 20

    private let settings: GroupDefaults
    private let document: LoadDocument
    private let tally: Load.Tally
    private let name: String
    private let isDaemonKilled: Bool
    private var random: SplitMix
    private var own = 0
    /// How often in a row it has not waited for the daemon.
    private var haste = 0
    private var appended = 0
    private var saved = 0
    private var tokens: [ObservationToken] = []
    private var tasks: [Task<Void, Never>] = []

    init(
        _ settings: GroupDefaults, _ document: LoadDocument, _ tally: Load.Tally, _ name: String, seed: UInt64,
        isDaemonKilled: Bool
    ) {
        self.document = document
        (self.settings, self.tally, self.name, self.isDaemonKilled) = (settings, tally, name, isDaemonKilled)
        random = SplitMix(state: seed)
    }

    mutating func run() {
        var count = 0
        while !tally.isOver.load(ordering: .relaxed) {
            step()
            count += 1
            // Not faster than the daemon takes it for ever: what waits would only grow.
            if count % 128 == 0 { pause() }
            if count % 512 == 0 { save() }
        }
        save()
        for task in tasks { task.cancel() }
        tokens = []
        // Last, so that what it holds at the end is known.
        own += 1
        settings.set(own, forKey: "own.\(name)")
        checkOwn()
        tally.operations.add(count, ordering: .relaxed)
        Report.say("own \(name) \(own)")
        Report.say("list \(name) \(appended)")
        Report.say("document \(name) \(saved)")
    }

    private mutating func step() {
        switch random.next() % 20 {
        case 0...3: setOwn()
        case 4...6: increment()
        case 7: append()
        case 8...10: setShared()
        case 11: settings.removeObject(forKey: sharedKey())
        case 12: settings.toggle("flag")
        case 13: settings.merge([name: own], forKey: "dictionary")
        case 14: subscribe()
        case 15: unsubscribe()
        case 16: writeTogether()
        default: read()
        }
    }

    /// Waits until the daemon has caught up. Where it is killed on the way, not for long: then writes are to wait for it,
    /// as long as they do not become more and more.
    private mutating func pause() {
        let isPatient = !isDaemonKilled || haste >= 8
        do throws(AppGroupError) {
            try settings.synchronize(within: isPatient ? 60 : 0.1)
            haste = 0
        } catch {
            haste += 1
            if isPatient, error.code != .unreachable { Report.complain("synchronize: \(error)") }
        }
    }

    private mutating func save() {
        document.look()
        guard saved < Self.saveLimit else { return }
        saved += 1
        document.count(name)
    }

    // MARK: Writing

    private mutating func setOwn() {
        own += 1
        settings.set(own, forKey: "own.\(name)")
        checkOwn()
    }

    private func checkOwn() {
        let seen = settings.integer(forKey: "own.\(name)")
        if seen != own { Report.complain("own.\(name) is \(seen) after it was set to \(own)") }
    }

    private mutating func increment() {
        settings.increment("count.\(random.next() % 3)")
        tally.increments.add(1, ordering: .relaxed)
    }

    private mutating func append() {
        guard appended < Self.appendLimit else { return }
        appended += 1
        settings.append(appended, forKey: "list.\(name)")
        if appended <= 5 {
            settings.append("\(name)#\(appended)", forKey: "list")
            tally.appends.add(1, ordering: .relaxed)
        }
    }

    private mutating func setShared() {
        let key = sharedKey()
        switch random.next() % 4 {
        case 0: settings.set("text of \(name)", forKey: key)
        case 1: settings.set(Double(own) / 3, forKey: key)
        case 2: settings.set([own, own + 1], forKey: key)
        default: settings.set(own, forKey: key)
        }
    }

    /// One commit: nobody sees one half of it.
    private mutating func writeTogether() {
        own += 1
        do throws(AppGroupError) {
            try settings.write {
                $0["own.\(name)"] = own
                $0.increment("count.0")
                $0.increment("count.1", by: 2)
                $0[sharedKeyOf(own)] = name
            }
            tally.increments.add(3, ordering: .relaxed)
        } catch {
            Report.complain("write: \(error)")
        }
        checkOwn()
    }

    private mutating func sharedKey() -> String { "shared.\(random.next() % 12)" }
    private func sharedKeyOf(_ number: Int) -> String { "shared.\(number % 12)" }

    // MARK: Reading

    private mutating func read() {
        let key = sharedKey()
        _ = settings.string(forKey: key)
        _ = settings.double(forKey: key)
        _ = settings.object(forKey: "list")
        _ = settings.bool(forKey: "flag")
        if random.next() % 200 == 0 { _ = settings.dictionaryRepresentation() }
        checkOwn()
    }

    // MARK: Observing

    private mutating func subscribe() {
        let key = sharedKey()
        guard tokens.count + tasks.count < 8 else { return unsubscribe() }
        switch random.next() % 3 {
        case 0:
            // A callback that reads and writes.
            let (settings, name) = (settings, name)
            tokens.append(
                settings.observe(key) { change in
                    _ = settings.object(forKey: change.key)
                    // Not every one: all that observe would write whenever one of them writes.
                    if let revision = change.revision, revision % 16 == 0 {
                        settings.set(revision, forKey: "echo.\(name)")
                    }
                })
        case 1: tokens.append(settings.observe(matching: "shared.*", initial: true) { _ in })
        default:
            let changes = settings.changes(for: key, initial: true)
            tasks.append(Task.detached { for await change in changes { _ = change.new?.string } })
        }
    }

    private mutating func unsubscribe() {
        if random.next() % 2 == 0, !tokens.isEmpty {
            tokens.removeFirst().cancel()
        } else if !tasks.isEmpty {
            tasks.removeFirst().cancel()
        }
    }
}

/// A small random generator with a seed.
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
