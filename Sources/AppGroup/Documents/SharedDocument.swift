public import FoundationEssentials
import GroupClient
import GroupProtocol
import Synchronization

/// A file in a group's `Documents` that several programs read, write and watch: one value, saved as a whole.
///
///     let container = try GroupContainer(suiteName: "group.com.example.app")
///     let notes = try SharedDocument<[Note]>("notes.json", in: container)
///     try notes.update(default: []) { $0.append(Note(title: "Milk")) }
///     for await change in notes.changes { show(change.content ?? []) }
///
/// The file belongs to everybody: other programs of the group, editors, `git`. So nothing that somebody else saved is
/// overwritten unseen: ``save(_:overwriting:)`` throws `conflict` when the file is not what this object last read or saved,
/// and ``update(_:)`` begins again with what is there. A file that does not parse is `damaged`, never empty, and is left
/// alone.
///
/// Loading and saving need no daemon; changes by others are told with its help, and none is missed while it is away: the
/// file is compared when it is back.
///
/// Safe for any thread. Loading and saving block for as long as the disk takes.
public final class SharedDocument<Content: Codable & Sendable>: Sendable {
    /// The file. A link there is followed.
    public let url: URL

    let file: DocumentFile
    let format: DocumentFormat<Content>
    let feed: DocumentFeed
    let state = Mutex(State())

    struct State {
        /// What this object last read or saved; nil: neither yet.
        var base: DocumentFile.Content?
        /// How often it has saved: what was read before a save is no news after it.
        var saves: UInt64 = 0
        var observers: [UInt64: Observer] = [:]
        var nextObserver: UInt64 = 1
        /// The number at the feed, while there are observers.
        var feedNumber: UInt64?
    }

    /// Opens a document; the file need not be there, and is not looked at yet.
    ///
    /// - Parameters:
    ///   - name: the file's path below `Documents`, such as `notes.json` or `drafts/today.json`. No part of it begins with
    ///     a dot.
    ///   - container: the group's directory.
    ///   - format: how the content is written.
    /// - Throws: ``AppGroupError`` `invalidPath`.
    public init(
        _ name: String, in container: GroupContainer, format: DocumentFormat<Content> = .json
    ) throws(AppGroupError) {
        guard let path = DocumentPath(name) else {
            throw AppGroupError(
                .invalidPath,
                "\"\(name)\" is no name of a document: a relative path is, without empty, hidden or .. parts")
        }
        url = container.documentsURL.appending(path: name, directoryHint: .notDirectory)
        let directory = container.containerURL.path(percentEncoded: false)
        file = DocumentFile(directory: directory + (directory.hasSuffix("/") ? "" : "/") + "Documents", path: path)
        feed = DocumentFeed.of(container.group, container.address)
        self.format = format
    }

    // MARK: Loading

    /// What is in the file.
    ///
    /// - Returns: the content; nil when there is no file.
    /// - Throws: ``AppGroupError``: `damaged`, with the reason, when the file is not in the format or empty;
    ///   `storageFailed` or `tooLarge` when it cannot be read.
    public func load() throws(AppGroupError) -> Content? {
        try read().content
    }

    /// The content, with what it was made from.
    private func read() throws(AppGroupError) -> (content: Content?, source: DocumentFile.Content) {
        if ForkGuard.isChild { throw ForkGuard.error }
        let saves = state.withLock { $0.saves }
        let source = try file.read()
        let content = try content(of: source)
        state.withLock { state in
            if state.saves == saves { state.base = source }
        }
        return (content, source)
    }

    func content(of source: DocumentFile.Content) throws(AppGroupError) -> Content? {
        guard case .bytes(let bytes) = source else { return nil }
        return try format.content(of: bytes, file.place)
    }

    // MARK: Saving

    /// Replaces the file, in one step: whoever reads it sees the old content or the new one, whole. It is on the disk when
    /// this returns. Its mode is kept; a link is followed.
    ///
    /// - Parameters:
    ///   - content: the new content. Equal content is not written again.
    ///   - overwriting: whether to replace whatever is there, seen or not.
    /// - Throws: ``AppGroupError``: `conflict` when the file has changed since this object last read or saved it, or was
    ///   never read and is there; `invalidValue` when the format cannot hold the content; `readOnly` or `storageFailed`
    ///   when the disk does not take it. Then the file is as it was.
    public func save(_ content: Content, overwriting: Bool = false) throws(AppGroupError) {
        let expected: DocumentFile.Content? = overwriting ? nil : state.withLock { $0.base } ?? .absent
        try save(content, expecting: expected)
    }

    private func save(_ content: Content, expecting expected: DocumentFile.Content?) throws(AppGroupError) {
        if ForkGuard.isChild { throw ForkGuard.error }
        let bytes = try format.bytes(of: content, file.place)
        let result = state.withLock { state -> Result<Void, AppGroupError> in
            do throws(AppGroupError) {
                // Under the lock that observers look under: what they see of this save they know for ours.
                try file.replace(with: bytes, expecting: expected)
                state.saves += 1
                state.base = .bytes(bytes)
                for id in state.observers.keys { state.observers[id]?.last = .content(.bytes(bytes)) }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    // MARK: Updating

    /// Reads the file, changes the content, and saves it; when somebody else saves in between, begins again with what is
    /// there then. No save is lost, whoever else saves.
    ///
    ///     try notes.update { notes in notes?.removeAll { $0.isDone } }
    ///
    /// - Parameter change: changes the content, which is nil when there is no file. May be called several times, and should
    ///   therefore do nothing else. Content left nil is not saved.
    /// - Returns: what `change` returned.
    /// - Throws: what ``load()`` and ``save(_:overwriting:)`` throw, but `conflict` only when others save all the time; and
    ///   what `change` throws, which leaves the file as it was.
    @discardableResult
    public func update<Result>(_ change: (inout Content?) throws -> Result) throws -> Result {
        for attempt in 1...Self.attemptLimit {
            let (found, source) = try read()
            var content = found
            let result = try change(&content)
            guard let content else { return result }
            if try isSaved(content, expecting: source) { return result }
            // Somebody made progress. The more often, the longer a pause, so that not all come back at once.
            let longest = 0.0001 * Double(min(attempt, 100))
            Deadline(afterSeconds: Double.random(in: 0...longest)).sleep()
        }
        throw AppGroupError(.conflict, "\(file.place) changes all the time")
    }

    /// False on a conflict.
    private func isSaved(_ content: Content, expecting expected: DocumentFile.Content) throws(AppGroupError) -> Bool {
        do throws(AppGroupError) {
            try save(content, expecting: expected)
            return true
        } catch {
            guard error.code == .conflict else { throw error }
            return false
        }
    }

    /// The same, with a content to begin with when there is no file.
    ///
    ///     try notes.update(default: []) { $0.append(note) }
    ///
    /// - Parameters:
    ///   - initial: what is changed when there is no file.
    ///   - change: changes the content. May be called several times.
    /// - Returns: what `change` returned.
    /// - Throws: as ``update(_:)``.
    @discardableResult
    public func update<Result>(
        default initial: @autoclosure () -> Content, _ change: (inout Content) throws -> Result
    ) throws -> Result {
        try update { content in
            var value = content ?? initial()
            let result = try change(&value)
            content = value
            return result
        }
    }

    /// Conflicts in a row after which it is given up.
    private static var attemptLimit: Int { 1000 }
}
