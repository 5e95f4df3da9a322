public import Observation
import PropertyList
import Synchronization

/// One key as the readers of one search list see it: its effective value, and the registrar by which
/// `withObservationTracking` and `Observations` learn of a change.
///
/// Safe for any thread. Made at the first read of a key, and there as long as its list. It holds the place of the group's
/// own value, so that who keeps the cell reads without any look-up.
@usableFromInline
final class Cell: Observable, Sendable {
    let key: Key
    /// Given on the command line: it wins over everything but what an administrator forces, for the life of the process.
    private let argument: Value?
    /// Asked at every read, which the value itself is too large for.
    private let hasArgument: Bool
    private let place: Place
    /// It lets go of its cells when it is closed.
    private let list: SearchList
    private let registrar = ObservationRegistrar()

    /// Kept, since making it, or finding a static one, costs as much as the rest of a read.
    private let path: any KeyPath<Cell, Value?> & Sendable = \.value
    private let fork = ForkGuard.mark

    /// Whether there is more to look through than the group and the registered defaults.
    private let layered: Atomic<Bool>

    init(_ key: Key, argument: Value?, place: Place, list: SearchList, isLayered: Bool) {
        (self.key, self.argument, self.place, self.list) = (key, argument, place, list)
        hasArgument = argument != nil
        layered = Atomic(isLayered)
    }

    /// Under the list's lock.
    func setLayered(_ isLayered: Bool) {
        layered.store(isLayered, ordering: .releasing)
    }

    /// The value, noted by whoever is tracking what it reads.
    var value: Value? {
        registrar.access(self, keyPath: path)
        return untracked
    }

    /// Whether the group itself holds the key, noted in the same way, but for itself: what readers see may stay as it is
    /// where this changes, and the other way round.
    var isOwn: Bool {
        registrar.access(self, keyPath: \.isOwn)
        return list.isOwnNow(key)
    }

    /// Whether an administrator has set the key, noted for itself, too.
    var isForced: Bool {
        registrar.access(self, keyPath: \.isForced)
        return list.isForcedNow(key)
    }

    /// What tells one state of the value from another; for who keeps what was made of it.
    @usableFromInline
    struct Stamp: Sendable {
        @usableFromInline var version: UInt64
        @usableFromInline var registrations: UInt64

        @inlinable
        static func == (left: Stamp, right: Stamp) -> Bool {
            left.version == right.version && left.registrations == right.registrations
        }
    }

    /// Notes the access, and says in which state the value is; nil where only looking can tell.
    @usableFromInline
    func noteAccess() -> Stamp? {
        registrar.access(self, keyPath: path)
        guard !fork.isChild, !hasArgument, !layered.load(ordering: .acquiring) else { return nil }
        return Stamp(version: place.version, registrations: ProcessDomains.generation)
    }

    /// The value for who does not want to hear of changes.
    var untracked: Value? {
        if !hasArgument, let value = place.value { return value }
        if hasArgument, list.isForcedNow(key) { return place.value }
        return argument ?? list.below(key)
    }

    /// What a reader sees has changed. Runs the trackers' code: no lock may be held.
    func announce() {
        registrar.willSet(self, keyPath: \.value)
        registrar.didSet(self, keyPath: \.value)
    }

    /// The group holds the key now, or does no more. Runs the trackers' code as well.
    func announceIsOwn() {
        registrar.willSet(self, keyPath: \.isOwn)
        registrar.didSet(self, keyPath: \.isOwn)
    }

    /// An administrator has set the key, or does no more. Runs the trackers' code as well.
    func announceIsForced() {
        registrar.willSet(self, keyPath: \.isForced)
        registrar.didSet(self, keyPath: \.isForced)
    }
}

/// All keys at once: by it who tracks what it reads learns of changes of what it has read as a whole.
///
/// Safe for any thread. Costs nothing until somebody reads that way.
final class WholeList: Observable, Sendable {
    private let registrar = ObservationRegistrar()
    private let isRead = Atomic(false)

    /// Names what is tracked; there is no value in it.
    private var keys: Void { () }

    /// Before the values are read: what changes afterwards is announced.
    func noteAccess() {
        isRead.store(true, ordering: .releasing)
        registrar.access(self, keyPath: \.keys)
    }

    /// Runs the trackers' code: no lock may be held.
    func announce() {
        guard isRead.load(ordering: .acquiring) else { return }
        registrar.willSet(self, keyPath: \.keys)
        registrar.didSet(self, keyPath: \.keys)
    }
}

/// The place of one key's value in one group. Written by the replica, under its lock; read by anybody.
///
/// Numbers and booleans are read without a lock: two loads of the version tell whether what lies between belongs together.
/// Every store within a change releases and every load acquires, so that a reader who sees part of a change sees that its
/// version is odd, or another.
final class Place: Sendable {
    /// What a scalar is made of; `other` is anything else, or nothing.
    private enum Kind: UInt8, AtomicRepresentable {
        case boolean, integer, real, other
    }

    /// Odd while a change is under way.
    private let stamp = Atomic<UInt64>(0)
    private let kind = Atomic(Kind.other)
    private let bits = Atomic<UInt64>(0)
    private let stored: Mutex<Value?>

    init(_ value: Value?) {
        stored = Mutex(value)
        storeScalar(value)
    }

    /// Who reads it first and the value then has that state of the value or a later one.
    var version: UInt64 { stamp.load(ordering: .acquiring) }

    var value: Value? { scalar ?? stored.withLock { $0 } }

    /// The value, if it is a boolean or a number and not just changing.
    var scalar: Value? {
        let before = version
        let kind = kind.load(ordering: .acquiring)
        let bits = bits.load(ordering: .acquiring)
        guard before & 1 == 0, version == before else { return nil }
        switch kind {
        case .boolean: return .boolean(bits != 0)
        case .integer: return .integer(Int64(bitPattern: bits))
        case .real: return .real(Double(bitPattern: bits))
        case .other: return nil
        }
    }

    func store(_ value: Value?) {
        let old = stored.withLock { held in
            stamp.wrappingAdd(1, ordering: .acquiringAndReleasing)
            storeScalar(value)
            stamp.wrappingAdd(1, ordering: .releasing)
            defer { held = value }
            return held
        }
        // What is replaced may be large: it goes when the lock is free again.
        _ = old
    }

    private func storeScalar(_ value: Value?) {
        let (kind, bits): (Kind, UInt64) =
            switch value {
            case .boolean(let flag): (.boolean, flag ? 1 : 0)
            case .integer(let number): (.integer, UInt64(bitPattern: number))
            case .real(let number): (.real, number.bitPattern)
            default: (.other, 0)
            }
        self.kind.store(kind, ordering: .releasing)
        self.bits.store(bits, ordering: .releasing)
    }
}
