import GroupClient
import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import Varlink

/// The work of `link`: puts the link in place so that no setting is lost, whoever writes meanwhile. Owned by the tool's
/// one thread.
///
/// The content of a file in the way goes into the group first. Then link and file change their names in one step
/// (RENAME_EXCHANGE), so that at no moment there is neither. What came out is compared with what was read, because a
/// program may have written between the two, and stays under a name that says what it is.
struct Linking {
    private let session: Session
    private let group: GroupIdentifier
    private let path: String
    private let target: String

    /// So often it is tried when others keep changing what stands at the path.
    private static let attempts = 8
    /// A program that had the file open when it was exchanged writes within this time, in seconds.
    private static let settleTime = 0.1

    init(_ session: Session, _ group: GroupIdentifier, path: String, target: String) {
        self.session = session
        self.group = group
        self.path = path
        self.target = target
    }

    func run() throws(Failure) {
        guard target.hasPrefix("/") else { throw Session.unexpectedReply }
        for _ in 0..<Self.attempts {
            if try attempt() { return }
        }
        throw .refused("\(path) keeps changing", advice: "end the program that writes it, and try again")
    }

    private func occupant() throws(Failure) -> LinkPath.Occupant {
        try session.file { () throws(SystemError) in try LinkPath.occupant(of: path, target: target) }
    }

    /// Refuses what `run` would refuse, before anything is done.
    func check() throws(Failure) {
        switch try occupant() {
        case .nothing:
            // The standard place may be new; the one that a user names has to be there.
            guard session.invocation.has(.path), (try? Files.status(Files.parent(of: path)))?.kind != .directory else {
                return
            }
            throw Failure(SystemError(errno: .noSuchFile, call: "symlink", path: path))
        case .file: _ = try readFile()
        case .ourLink: return
        case .otherLink(let destination): throw refusal(of: destination)
        case .unusable(let what): throw refusal(what)
        }
    }

    private func refusal(of destination: String) -> Failure {
        .refused(
            "\(path) is a link to \(quoted(destination)); it is left alone",
            advice: "if the group is to take its place, remove the link first")
    }

    private func refusal(_ what: String) -> Failure {
        .refused("\(path) \(what); it is left alone", advice: "say --path with the name that Foundation uses")
    }

    /// False: what stands at the path changed while we looked.
    private func attempt() throws(Failure) -> Bool {
        switch try occupant() {
        case .nothing: return try makeLink()
        case .file: return try replaceFile()
        case .ourLink:
            try prepareTarget()
            try tell("is linked to \(group) already")
            return true
        case .otherLink(let destination): throw refusal(of: destination)
        case .unusable(let what): throw refusal(what)
        }
    }

    /// Foundation opens the path with O_CREAT | O_TRUNC. Through a link that makes the file even where there is none
    /// yet (an empty group), as long as its directory stands.
    private func prepareTarget() throws(Failure) {
        _ = try session.call(.synchronize(group))
        try session.file { () throws(SystemError) in try Files.makeDirectories(Files.parent(of: target)) }
    }

    private func makeLink() throws(Failure) -> Bool {
        try prepareTarget()
        let isMade = try session.file { () throws(SystemError) in
            // The place that a user names has to be there; the standard one may be new.
            if !session.invocation.has(.path) { try Files.makeDirectories(Files.parent(of: path)) }
            return try Self.makeLink(target, at: path)
        }
        guard isMade else { return false }
        syncDirectory()
        try tell("is linked to \(group)")
        return true
    }

    /// What has become of the path; to programs `{"path", "group", "kept"}`, the last one where a file was there.
    private func tell(_ text: String, kept: String? = nil) throws(Failure) {
        guard session.printsJSON else { return try session.console.print("\(path) \(text)") }
        var object: JSONObject = ["path": .string(path), "group": .string(group.string)]
        if let kept { object["kept"] = .string(kept) }
        try session.print(.object(object))
    }

    /// False: something stands there by now.
    private static func makeLink(_ target: String, at path: String) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try Files.symlink(target, at: path)
            return true
        } catch  where error.errno == .fileExists {
            return false
        }
    }

    /// The link is safe from a power cut, if the file system can do that; it works either way.
    private func syncDirectory() {
        try? Files.fsyncDirectory(Files.parent(of: path))
    }
}

// MARK: - A file in the way

extension Linking {
    private func replaceFile() throws(Failure) -> Bool {
        guard let content = try readFile() else { return false }
        let revision = try mergeFirst(content)
        try prepareTarget()
        let kept = try makeLinkAside()
        guard try exchange(kept) else {
            try session.file { () throws(SystemError) in _ = try Files.unlinkIfPresent(kept) }
            return false
        }
        syncDirectory()
        try tell("is linked to \(group); the file that was there is \(kept)", kept: kept)
        try session.console.flush()
        try mergeWhatCame(after: content, at: revision, in: kept)
        return true
    }

    /// Nil: it is gone by now, or somebody is writing it. A damaged one is not touched; but it may be one that is just being
    /// written, so it gets the settle time.
    private func readFile() throws(Failure) -> PlistContent? {
        let file = PlistFile(path: path)
        let first = file.read()
        var reading = first
        let settled = Deadline(afterSeconds: Self.settleTime)
        while case .damaged = reading, !settled.isOver {
            Deadline(afterSeconds: 0.002).sleep()
            reading = file.read()
        }
        switch reading {
        case .content(let content): return content
        case .absent: return nil
        case .damaged(let problem, _, _):
            guard reading == first else { return nil }
            throw Self.refusal(of: problem)
        case .unreachable(let problem, _): throw .refused("\(problem.path): \(problem.reason)")
        }
    }

    private static func refusal(of problem: PlistProblem) -> Failure {
        let place = [problem.line, problem.column].compactMap { $0.map { ":\($0)" } }.joined()
        return .refused(
            "\(problem.path)\(place): \(problem.reason); it is left alone",
            advice: "mend the file, or move it away, and try again")
    }

    /// The file's values win: they are what the programs that are to take part have stored.
    ///
    /// Gives the revision that the group then has.
    private func mergeFirst(_ content: PlistContent) throws(Failure) -> Int64 {
        let present = try session.read(group)
        for (key, value) in TextRendering.sorted(content.entries) {
            guard let old = present[key], !old.isSameInFile(as: value, content.format) else { continue }
            session.console.note(
                "\(TextRendering.key(key)): \(TextRendering.inline(old)) → \(TextRendering.inline(value)) (from \(path))"
            )
        }
        let differing = content.entries.filter { entry in
            present[entry.key].map { !$0.isSameInFile(as: entry.value, content.format) } ?? true
        }
        let request = writeRequest(differing.map { Edit.set($0.key, $0.value) })
        return try revision(try session.call(.write(request)))
    }

    private func writeRequest(_ edits: [Edit], unchangedSince: Int64? = nil) -> WriteRequest {
        WriteRequest(
            group: group, edits: edits.sorted { $0.key < $1.key }, unchangedSince: unchangedSince, isDurable: true,
            tag: "link")
    }

    private func revision(_ reply: JSONObject) throws(Failure) -> Int64 {
        guard let position = reply["position"].flatMap(Position.init(wire:)) else { throw Session.unexpectedReply }
        return position.revision
    }

    /// The link under the name that the file is to get: after the exchange nothing is left to be done, so that a tool
    /// killed at any moment leaves either the file or the link, and the file under a name that says what it is.
    private func makeLinkAside() throws(Failure) -> String {
        let now = Timestamp(microseconds: ProcessFacts.realtimeMicroseconds()).wholeSeconds.rfc3339
        let base = "\(path).before-link-" + now.filter { $0 != "-" && $0 != ":" }
        for number in 1...100 {
            let name = number == 1 ? base : "\(base)-\(number)"
            let isMade = try session.file { () throws(SystemError) in try Self.makeLink(target, at: name) }
            if isMade { return name }
        }
        throw .refused("there are too many files named \(base)", advice: "remove those that are not needed any more")
    }

    /// False: the file is gone, or something else stands there by now.
    private func exchange(_ kept: String) throws(Failure) -> Bool {
        do throws(SystemError) {
            try Files.exchange(kept, path)
            guard try Files.status(kept, followLinks: false).kind == .regular else {
                try Files.exchange(kept, path)
                return false
            }
            return true
        } catch  where error.errno == .noSuchFile {
            return false
        } catch  where error.errno == .invalidArgument || error.errno == .notImplemented {
            _ = try? Files.unlinkIfPresent(kept)
            throw .refused(
                "the file system of \(path) cannot exchange two names, so the file could be lost; it is left alone",
                advice: "end the programs that use it, move the file away, link, and write its values into the group")
        } catch {
            _ = try? Files.unlinkIfPresent(kept)
            throw Failure(error)
        }
    }

    /// What was written between our reading and the exchange, or after it by a program that still has the file open.
    private func mergeWhatCame(after first: PlistContent, at revision: Int64, in kept: String) throws(Failure) {
        var merged = first
        var revision = revision
        for _ in 0..<Self.attempts {
            Deadline(afterSeconds: Self.settleTime).sleep()
            guard let content = PlistFile(path: kept).read().content else { continue }
            if content.digest == merged.digest { return }
            revision = try mergeLate(Self.edits(from: merged.entries, to: content.entries), at: revision)
            session.console.note("\(path) was written meanwhile; that is in the group too")
            merged = content
        }
        throw .refused(
            "a program goes on writing \(kept), which was \(path)",
            advice: "end it, and compare the file with the group"
        )
    }

    /// A key that changed since then was written through the link already, later than what came out: that one stands.
    private func mergeLate(_ edits: [Edit], at revision: Int64) throws(Failure) -> Int64 {
        var edits = edits
        while true {
            switch try session.outcome(of: .write(writeRequest(edits, unchangedSince: revision))) {
            case .success(let reply): return try self.revision(reply)
            case .failure(.conflict(let keys, _)) where edits.contains(where: { Self.names(keys, $0.key) }):
                edits.removeAll { Self.names(keys, $0.key) }
            case .failure(let error): throw Failure.refused(error)
            }
        }
    }

    /// Byte for byte, which comparing texts is not.
    private static func names(_ keys: [String], _ key: Key) -> Bool {
        keys.contains { Key($0) == key }
    }

    static func edits(from old: [Key: Value], to new: [Key: Value]) -> [Edit] {
        let changed = new.filter { old[$0.key] != $0.value }.map { Edit.set($0.key, $0.value) }
        return changed + old.keys.filter { new[$0] == nil }.map(Edit.remove)
    }
}

extension Value {
    /// Whether the file says this value, as far as its format can: an XML property list has whole seconds only.
    fileprivate func isSameInFile(as other: Value, _ format: PlistFormat) -> Bool {
        format == .xml ? cutToSeconds == other.cutToSeconds : self == other
    }

    private var cutToSeconds: Value {
        switch self {
        case .date(let date): .date(date.wholeSeconds)
        case .array(let elements): .array(elements.map(\.cutToSeconds))
        case .dictionary(let entries): .dictionary(entries.mapValues(\.cutToSeconds))
        default: self
        }
    }
}
