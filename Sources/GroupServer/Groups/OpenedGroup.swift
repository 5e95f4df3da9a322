import GroupCore
import GroupFiles
import GroupModel
import LinuxIO
import ServiceIO

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
    /// is set aside, never deleted, and what is sound of it goes on in another epoch.
    init(_ group: GroupIdentifier, path: String, timeText: String) throws(Failure) {
        switch Self.open(path, of: group) {
        case .success(let opened):
            self = opened
            do throws(SystemError) {
                try begin(in: ProcessFacts.bootID)
            } catch {
                throw .system(error)
            }
        case .failure(.unusable(.journal(.absent), _)): try self.init(creating: path, of: group)
        case .failure(.unusable(.journal(.damaged(let offset, let reason)), _)):
            try self.init(
                replacing: path, of: group, until: offset, because: "byte \(offset): \(reason)", timeText: timeText)
        case .failure(.unusable(.journal(let error), _)): throw .journal(error)
        case .failure(.unusable(.replay(.nonsense(let reason)), let offset)):
            try self.init(replacing: path, of: group, until: offset, because: reason, timeText: timeText)
        case .failure(.unusable(.system(let error), _)): throw .system(error)
        }
    }

    private enum OpeningFailure: Error {
        /// With the place of the first record that does not make sense.
        case unusable(JournalUseFailure, at: UInt64)
    }

    /// Replays records as they are handed over, up to the first that does not make sense.
    private struct Replaying {
        let group: GroupIdentifier
        var replay: Replay?
        var failure: (Replay.Failure, at: UInt64)?
        var work = LongWork()

        mutating func take(_ payload: Span<UInt8>, _ offset: UInt64) {
            guard failure == nil else { return }
            work.goesOn()
            do throws(Replay.Failure) {
                if replay == nil {
                    replay = try Replay(group, header: payload)
                } else {
                    try replay?.add(payload, at: offset)
                }
            } catch {
                failure = (error, offset)
            }
        }
    }

    private static func open(_ path: String, of group: GroupIdentifier) -> Result<OpenedGroup, OpeningFailure> {
        var replaying = Replaying(group: group)
        do throws(JournalError) {
            let opened = try Journal.open(path) { replaying.take($0, $1) }
            if let failure = replaying.failure { return .failure(.unusable(.replay(failure.0), at: failure.at)) }
            do throws(Replay.Failure) {
                return .success(try OpenedGroup(opened, replaying.replay))
            } catch {
                return .failure(.unusable(.replay(error), at: 0))
            }
        } catch {
            return .failure(.unusable(.journal(error), at: 0))
        }
    }

    /// Whether the records before this place are a journal by themselves.
    private static func isUsable(_ path: String, of group: GroupIdentifier, until end: UInt64) -> Bool {
        var replaying = Replaying(group: group)
        do {
            try Journal.readSoundRecords(path) { if $1 < end { replaying.take($0, $1) } }
            try replaying.replay?.end()
            return replaying.replay != nil && replaying.failure == nil
        } catch {
            return false
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

    /// After a loss of power positions may name revisions that are lost, and that will be those of other commits: in another
    /// epoch nobody resumes from them. The journal says so before anybody is told of it.
    mutating func begin(in boot: String?) throws(SystemError) {
        guard let boot, boot != replay.boot else { return }
        guard replay.mayHaveLost(in: boot) else {
            return journal.begin(with: JournalEntry.epoch(replay.state.position.epoch, boot: boot).encoded)
        }
        let epoch = try Epoch.random()
        _ = try journal.append([JournalEntry.epoch(epoch, boot: boot).encoded])
        replay.begin(epoch)
        notice =
            (notice.map { $0 + "; " } ?? "") + "the machine went down under the daemon: "
            + "\(replay.state.identifier) goes on in another epoch, at revision \(replay.state.revision)"
    }

    private init(creating path: String, of group: GroupIdentifier) throws(Failure) {
        do throws(SystemError) {
            let header: [UInt8]
            (journal, header) = try Self.createJournal(path, of: group)
            replay = try Replay.beginning(group, header: header)
            isNew = true
        } catch {
            throw .system(error)
        }
    }

    /// Makes the journal of a group that begins; it is on stable storage then. Blocks.
    @discardableResult
    static func createJournal(
        _ path: String, of group: GroupIdentifier
    ) throws(SystemError) -> (journal: Journal, header: [UInt8]) {
        let epoch = try Epoch.random()
        let header = JournalEntry.header(group: group.string, epoch: epoch).encoded
        let beginning = JournalEntry.epoch(epoch, boot: ProcessFacts.bootID).encoded
        return (try Journal.create(path, payloads: [header, beginning]).journal, header)
    }

    private init(
        replacing path: String, of group: GroupIdentifier, until end: UInt64, because reason: String, timeText: String
    ) throws(Failure) {
        let start = "the journal of \(group) is damaged (\(reason)); it was set aside as"
        if Self.isUsable(path, of: group, until: end) {
            let aside = try Self.keepSoundRecords(of: path, until: end, timeText: timeText)
            guard case .success(let opened) = Self.open(path, of: group) else {
                throw .journal(.damaged(offset: 0, reason: "the sound records of \(aside) do not read"))
            }
            self = opened
            isDamaged = true
            notice = """
                \(start) \(aside), and the group goes on with what is sound of it, up to revision \
                \(opened.replay.state.revision), and what its property list holds
                """
            return
        }
        let aside: String
        do throws(SystemError) {
            aside = try Journal.setAside(path, time: timeText)
        } catch {
            throw .system(error)
        }
        try self.init(creating: path, of: group)
        isDamaged = true
        notice = "\(start) \(aside), and the group begins anew with what its property list holds"
    }

    /// In another epoch: what followed may have been told to somebody.
    private static func keepSoundRecords(
        of path: String, until end: UInt64, timeText: String
    ) throws(Failure) -> String {
        let epoch: Epoch
        do throws(SystemError) {
            epoch = try Epoch.random()
        } catch {
            throw .system(error)
        }
        do throws(JournalError) {
            return try Journal.replaceDamaged(
                path, until: end, adding: JournalEntry.epoch(epoch, boot: ProcessFacts.bootID).encoded, time: timeText)
        } catch {
            throw .journal(error)
        }
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
