import GroupFiles
import GroupModel
import LinuxIO

/// The slow part of a group's beginning, for the worker: its directories and its journal, each on stable storage before the
/// next relies on it.
struct GroupBeginning: Sendable {
    var group: GroupIdentifier
    var container: Container
    var journalPath: String
    /// The root and the state directory, as long as their own names may be lost in a power cut.
    var places: [String]
    /// Otherwise the directory is there by somebody's hand, and the group is one even where its layout cannot be made.
    var isAsked: Bool

    /// Without the directories there is no group. That the journal was not made is not told: whoever opens it meets the reason.
    ///
    /// - Returns: whether the names of the places are on stable storage now.
    func make() -> Result<Bool, Container.Failure> {
        let path = container.path(of: group)
        // One that went again is not made anew.
        guard isAsked || (try? Files.status(path))?.kind == .directory else {
            return .failure(.notADirectory(path: path))
        }
        do throws(Container.Failure) {
            try container.create(group)
        } catch {
            if isAsked { return .failure(error) }
        }
        guard (try? Files.statusIfPresent(journalPath)) == nil else { return .success(false) }
        Self.makeDurable(places)
        do throws(SystemError) {
            try container.makeDurable(group)
            try OpenedGroup.createJournal(journalPath, of: group)
        } catch {}
        return .success(true)
    }

    /// Before there is a journal: one that a power cut leaves without a root tells that the root is not mounted. They may have
    /// been made by a daemon that was killed before it synced them.
    static func makeDurable(_ places: [String]) {
        if let root = places.first { try? Files.fsyncDirectory(root) }
        for path in places { Files.fsyncWay(to: path) }
    }
}

/// The slow part of a group's end.
struct GroupRemoval: Sendable {
    var group: GroupIdentifier
    var container: Container
    var journalPath: String
    /// Where the journal goes.
    var directory: String
    var time: String

    /// Gives the journal's new path.
    func finish() -> Result<String, SystemError> {
        do throws(SystemError) {
            // A disk that refuses that keeps no journal in its place: a group made again would come back with all that is in it.
            try? container.makeTrashDurable()
            return .success(try Journal.retire(journalPath, into: directory, as: "\(group).journal", time: time))
        } catch {
            return .failure(error)
        }
    }
}
