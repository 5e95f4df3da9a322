#if DEBUG
    import CShims
    import Glibc
    import Synchronization

    /// What a test makes the kernel answer: debug builds only, no trace of it in a release.
    ///
    /// A plan holds for the time of `run`, and by default for the calling thread only, so that tests run side by side.
    package struct FaultPlan: Sendable {
        package enum Effect: Sendable {
            /// The call is not made; it fails with this. `.interrupted` shows that it is started again.
            case fail(Errno)
            /// At most that many bytes of a read, write, pwrite, send pass.
            case short(Int)
            /// This process is gone, as after a power cut: SIGKILL before the call.
            case die
            /// Something happens between our last call and this one.
            case run(@Sendable () -> Void)
        }

        package struct Fault: Sendable {
            package let call: String
            /// The first call that it hits, counted from 1.
            package let at: Int
            /// How many calls in a row it hits.
            package let times: Int
            package let effect: Effect

            package init(_ call: String, at: Int = 1, times: Int = 1, _ effect: Effect) {
                self.call = call
                self.at = at
                self.times = times
                self.effect = effect
            }

            func hits(_ number: Int) -> Bool { number >= at && number - at < times }
        }

        package enum Scope: Sendable {
            case thisThread, allThreads
        }

        private let id: UInt64
        private let thread: Int32?
        private let faults: [Fault]
        /// Calls seen so far, by name.
        private var counts: [String: Int] = [:]

        private struct Active {
            var plans: [FaultPlan] = []
            var nextID: UInt64 = 0
        }

        /// Protected by its mutex; effects run outside it.
        private static let active = Mutex(Active())
        /// Read without the mutex, so that a debug build without a plan stays quick.
        private static let activeCount = Atomic<Int>(0)

        /// Runs `body` with the faults in force, and gives back what it gives.
        @discardableResult
        package static func run<Result, Failure: Error>(
            _ faults: [Fault],
            scope: Scope = .thisThread,
            _ body: () throws(Failure) -> Result
        ) throws(Failure) -> Result {
            let thread: Int32? = scope == .thisThread ? cshim_gettid() : nil
            let id = active.withLock { active in
                active.nextID += 1
                active.plans.append(FaultPlan(id: active.nextID, thread: thread, faults: faults))
                return active.nextID
            }
            activeCount.add(1, ordering: .relaxed)
            defer {
                activeCount.subtract(1, ordering: .relaxed)
                active.withLock { $0.plans.removeAll { $0.id == id } }
            }
            return try body()
        }

        private init(id: UInt64, thread: Int32?, faults: [Fault]) {
            self.id = id
            self.thread = thread
            self.faults = faults
        }

        static func failure(of call: String) -> Errno? {
            guard activeCount.load(ordering: .relaxed) > 0 else { return nil }
            for effect in effects(of: call, isTransfer: false) {
                switch effect {
                case .fail(let errno): return errno
                case .die: kill(getpid(), SIGKILL)
                case .run(let action): action()
                case .short: break
                }
            }
            return nil
        }

        static func allowedCount(of call: String, _ count: Int) -> Int {
            guard activeCount.load(ordering: .relaxed) > 0 else { return count }
            var allowed = count
            for case .short(let limit) in effects(of: call, isTransfer: true) { allowed = min(allowed, limit) }
            return allowed
        }

        /// The effects on this call. The look at the length counts apart from the call itself, which follows it.
        private static func effects(of call: String, isTransfer: Bool) -> [Effect] {
            let counter = isTransfer ? call + " length" : call
            let thread = cshim_gettid()
            return active.withLock { active in
                var effects: [Effect] = []
                for index in active.plans.indices where active.plans[index].applies(to: thread) {
                    active.plans[index].counts[counter, default: 0] += 1
                    let number = active.plans[index].counts[counter] ?? 0
                    effects += active.plans[index].faults.filter { $0.call == call && $0.hits(number) }.map(\.effect)
                }
                return effects
            }
        }

        private func applies(to thread: Int32) -> Bool { self.thread == nil || self.thread == thread }
    }
#endif
