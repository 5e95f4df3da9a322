import GroupCore
import GroupFiles
import GroupModel
import LinuxIO

/// A group's journal, opened and replayed: what a `GroupHost` begins with.
struct OpenedGroup {
    var journal: Journal
    var replay: Replay
    /// What people should know, if something was wrong.
    var notice: String?
    /// Whether that is more than an interrupted write.
    var isDamaged = false
    /// Whether the group began with this.
    var isNew = false

    enum Failure: Error {
        /// The journal can be neither read nor replaced; the group cannot be served.
        case journal(JournalError)
        case system(SystemError)
    }

    /// Opens the journal, or begins a new one: where there is none, or where it is damaged beyond its tail. A damaged one
    /// is set aside, never deleted.
    init(_ group: GroupIdentifier, path: String, timeText: String) throws(Failure) {
        switch Self.open(path, of: group) {
        case .success(let opened): self = opened
        case .failure(.journal(.absent)): try self.init(creating: path, of: group)
        case .failure(.journal(.damaged(let offset, let reason))):
            try self.init(replacing: path, of: group, because: "byte \(offset): \(reason)", timeText: timeText)
        case .failure(.journal(let error)): throw .journal(error)
        case .failure(.replay(.nonsense(let reason))):
            try self.init(replacing: path, of: group, because: reason, timeText: timeText)
        case .failure(.system(let error)): throw .system(error)
        }
    }

    private static func open(_ path: String, of group: GroupIdentifier) -> Result<OpenedGroup, JournalUseFailure> {
        var replay: Replay?
        var failure: Replay.Failure?
        var work = LongWork()
        func take(_ payload: Span<UInt8>, _ offset: UInt64) {
            guard failure == nil else { return }
            work.goesOn()
            do throws(Replay.Failure) {
                if replay == nil {
                    replay = try Replay(group, header: payload)
                } else {
                    try replay?.add(payload, at: offset)
                }
            } catch {
                failure = error
            }
        }
        do throws(JournalError) {
            let opened = try Journal.open(path, take: take)
            do throws(Replay.Failure) {
                if let failure { throw failure }
                return .success(try OpenedGroup(opened, replay))
            } catch {
                return .failure(.replay(error))
            }
        } catch {
            return .failure(.journal(error))
        }
    }

    private init(_ opened: Journal.Opened, _ replay: Replay?) throws(Replay.Failure) {
        guard var replay else { throw .nonsense("it has no header") }
        try replay.end()
        journal = opened.journal
        self.replay = replay
        if opened.repairedBytes > 0 {
            notice =
                "an interrupted write of \(opened.repairedBytes) bytes was cut off the journal of "
                + replay.state.identifier.string
        }
    }

    private init(creating path: String, of group: GroupIdentifier) throws(Failure) {
        do throws(SystemError) {
            let epoch = try Epoch.random()
            let header = JournalEntry.header(group: group.string, epoch: epoch).encoded
            journal = try Journal.create(path, payloads: [header]).journal
            replay = try Replay.beginning(group, header: header)
            isNew = true
        } catch {
            throw .system(error)
        }
    }

    private init(
        replacing path: String, of group: GroupIdentifier, because reason: String, timeText: String
    ) throws(Failure) {
        let aside: String
        do throws(SystemError) {
            aside = try Journal.setAside(path, time: timeText)
        } catch {
            throw .system(error)
        }
        try self.init(creating: path, of: group)
        isDamaged = true
        notice = """
            the journal of \(group) is damaged (\(reason)); it was set aside as \(aside), \
            and the group begins anew with what its property list holds
            """
    }
}

extension Replay {
    fileprivate static func beginning(_ group: GroupIdentifier, header: [UInt8]) throws(SystemError) -> Replay {
        do throws(Failure) {
            return try Replay(group, header: header)
        } catch {
            throw SystemError(errno: .invalidArgument, call: "journal header")
        }
    }
}

extension Epoch {
    static func random() throws(SystemError) -> Epoch {
        let bytes = try ProcessFacts.randomBytes(16)
        let halves = [bytes[..<8], bytes[8...]].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        return Epoch(high: halves[0], low: halves[1])
    }
}
