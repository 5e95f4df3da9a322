import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import ServiceIO

/// How a group's plist stands: what it is known to hold, what is to be done about it, and what is wrong with it.
struct PlistTracking {
    /// What keeps the plist from being the group's living projection.
    enum Obstacle: Equatable {
        case damaged(Problem)
        case readOnly(Problem)
        case unreachable(Problem)

        var event: Log.Event? {
            switch self {
            case .damaged, .unreachable: .damagedFile
            case .readOnly: nil
            }
        }

        var problem: Problem {
            switch self {
            case .damaged(let problem), .readOnly(let problem), .unreachable(let problem): problem
            }
        }
    }

    let file: PlistFile
    var base: PlistBase
    /// Of the content that was last taken notice of; nil for no file.
    var knownDigest: Digest?
    /// Of the content that a projection interrupted by a crash may have put there.
    var projectedDigest: Digest?
    /// Of the last text that we made: where a leftover holds it, it is no edit, whatever has become of the file since.
    var ownText: Digest?
    /// Whether there is a leftover that cannot be read, merged or removed for now. As long as it is there the projection counts
    /// as under way: whoever comes upon it, after a kill too, must know what the file had before.
    var isLeftoverStuck = false
    /// Of one that is in the journal already, and only cannot be removed.
    var mergedLeftover: Digest?
    var format = PlistFormat.xml
    var obstacle: Obstacle?
    /// Why the last projection did not get to the disk, where trying again may help.
    var lastFailure: SystemError?
    /// Of the text that is known to be damaged.
    var damagedDigest: Digest?
    /// Where the last repair put the damaged text; nil where it made no copy.
    var repairedCopy: String?
    /// What a foreign edit looked like that our exchange took out: the next projection is made from it.
    var baseText: [UInt8]?

    /// Whether a job of the worker is about this plist. There is one at a time.
    var isBusy = false
    var needsRecovery = true
    var needsRead = true
    var needsWrite = false
    /// A deletion or a damaged file is believed at the second look only: an editor may be in the middle of saving.
    var isSettling = false
    var hasSettled = false
    /// The file that was replaced last, with what it held: it may still get an edit from one who had found it before.
    var late: (file: ReplacedFile, entries: [Key: Value])?
    /// One that was replaced since.
    var nextLate: (file: ReplacedFile, entries: [Key: Value])?
    var needsLateLook = false
    /// What the file holds that a projection under way replaces.
    var replacedEntries: [Key: Value] = [:]
    /// Where something may happen to it.
    var places = PlistPlaces()
    /// Those who wait until the file is read and written.
    var waiters: [(GroupError?) -> Void] = []

    init(file: PlistFile, replay: Replay) {
        self.file = file
        base = replay.base
        knownDigest = replay.knownDigest
        projectedDigest = replay.projectedDigest
        ownText = replay.ownText
    }

    /// Whether an event of this name in one of the directories may concern the file. Without a name it is one of the
    /// directory itself.
    func isConcerned(by name: String) -> Bool {
        name.isEmpty || places.names.isEmpty || places.names.contains(name)
    }

    /// Whether nothing is left to do for now.
    var isSettled: Bool {
        !isBusy && !needsRecovery && !needsRead && !needsWrite && !isSettling
            && (!base.hasUnwritten || obstacle != nil || lastFailure != nil)
    }
}

extension Problem {
    init(_ problem: PlistProblem) {
        self.init(
            reason: problem.reason, path: problem.path, line: problem.line, column: problem.column,
            advice: problem.advice)
    }

    /// One line for logs and errors.
    var text: String {
        var place = path.map { "\($0)" } ?? ""
        if let line { place += ":\(line)" }
        if let column { place += ":\(column)" }
        let start = place.isEmpty ? reason : "\(place): \(reason)"
        return advice.map { "\(start); \($0)" } ?? start
    }
}
