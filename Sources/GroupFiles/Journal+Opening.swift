package import LinuxIO
import PropertyList

extension Journal {
    /// Not Sendable, like the journal in it: it goes to the loop thread as a whole.
    package struct Opened {
        package var journal: Journal
        /// How much of an interrupted append was cut off.
        package var repairedBytes: Int
    }

    /// What a journal that is opened may have, in bytes; compaction keeps it far below.
    static let sizeLimit: Int64 = 1 << 30

    /// Opens a journal and reads all of it: hands each record's payload and offset to `take`, in order. A torn tail is cut
    /// off and the cut made durable; anything else that is wrong is an error, and then nothing is modified, although
    /// `take` may have had the records before.
    ///
    /// Of the file no more is in memory than the longest record and a little.
    package static func open(
        _ path: String, take: (Span<UInt8>, UInt64) -> Void
    ) throws(JournalError) -> Opened {
        let file = try openFile(path, .readWrite)
        let (count, end, tail) = try scan(file, path, take)
        if case .damaged(let next) = tail {
            throw .damaged(offset: end, reason: "no sound record here, but one follows at byte \(next)")
        }
        // A journal appears with its first record in it (`create`): one without is no interrupted append.
        guard count > 0 else {
            throw .damaged(
                offset: 0, reason: tail == .none ? "the file is empty" : "no sound record at its beginning")
        }
        var (repaired, room) = (0, UInt64(0))
        if case .room(let size) = tail { room = UInt64(size) }
        do throws(SystemError) {
            if case .torn(let size) = tail {
                try file.descriptor.truncate(to: Int64(end))
                try file.descriptor.fsync()
                repaired = size
            }
            // What a compaction left that did not come to its end.
            try Files.unlinkIfPresent(newPath(of: path))
        } catch {
            throw .system(SystemError(errno: error.errno, call: error.call, path: path))
        }
        // What was read may not be on the disk yet, if the one who wrote it was killed.
        let journal = Journal(
            path: path, file: file, size: end, syncedSize: repaired > 0 ? end : 0, roomEnd: end + room)
        return Opened(journal: journal, repairedBytes: repaired)
    }

    /// What can be read of a journal, without a change to it: hands over the sound records, from the one at `offset` on up
    /// to the first that is not sound.
    package static func readSoundRecords(
        _ path: String, from offset: UInt64 = 0, take: (Span<UInt8>, UInt64) -> Void
    ) throws(JournalError) {
        let file = try openFile(path, .readOnly)
        _ = try reading(path) { () throws(SystemError) in try records(of: file, path, from: offset, take) }
    }

    /// The same of a journal that is open, wherever its file has gone.
    package static func readSoundRecords(
        of handle: SyncHandle, path: String, from offset: UInt64, take: (Span<UInt8>, UInt64) -> Void
    ) throws(JournalError) {
        _ = try reading(path) { () throws(SystemError) in try records(of: handle.file, path, from: offset, take) }
    }

    static func newPath(of path: String) -> String { path + ".new" }

    private static func openFile(_ path: String, _ flags: Files.OpenFlags) throws(JournalError) -> SharedFile {
        do throws(SystemError) {
            return SharedFile(try Files.openRegular(path, [flags, .noFollow]))
        } catch  where error.errno == .noSuchFile {
            throw .absent
        } catch {
            throw .system(SystemError(errno: error.errno, call: error.call, path: path))
        }
    }

    private static func scan(
        _ file: SharedFile, _ path: String, _ take: (Span<UInt8>, UInt64) -> Void
    ) throws(JournalError) -> (count: Int, end: UInt64, tail: RecordScan.Tail) {
        try reading(path) { () throws(SystemError) in
            let (count, reader) = try records(of: file, path, from: 0, take)
            return (count, UInt64(reader.end), try reader.tail(of: file.descriptor))
        }
    }

    private static func records(
        of file: SharedFile, _ path: String, from offset: UInt64, _ take: (Span<UInt8>, UInt64) -> Void
    ) throws(SystemError) -> (count: Int, reader: RecordReader) {
        // What there is now is all that is asked for, whoever goes on appending.
        let size = try file.descriptor.status().size
        guard size <= sizeLimit else { throw SystemError(errno: .fileTooLarge, call: "read", path: path) }
        var reader = RecordReader(size: Int(size), from: Int(clamping: offset))
        return (try reader.readRecords(of: file.descriptor, take), reader)
    }

    private static func reading<Result>(
        _ path: String, _ body: () throws(SystemError) -> Result
    ) throws(JournalError) -> Result {
        do throws(SystemError) {
            return try body()
        } catch {
            throw .system(SystemError(errno: error.errno, call: error.call, path: path))
        }
    }
}

extension Journal {
    /// Puts a damaged journal out of the way, under a name that is not taken yet. Gives that name.
    package static func setAside(_ path: String, time: String) throws(SystemError) -> String {
        let newPath = try Files.setAside(path, as: "\(path).damaged-\(time)")
        try Files.fsyncDirectory(Files.parent(of: path))
        return newPath
    }

    /// Puts in place of a damaged journal its sound records up to a place, with one more behind them; the damaged one is kept
    /// under a name that is not taken yet. Gives that name. At every moment there is a journal, the one or the other.
    package static func replaceDamaged(
        _ path: String, until end: UInt64, adding payload: [UInt8], time: String
    ) throws(JournalError) -> String {
        var failure: JournalError?
        do throws(SystemError) {
            let rewrite = try JournalRewrite.write(for: path) { (records) throws(SystemError) in
                failure = copy(path, until: end, to: &records)
                if failure != nil { throw SystemError(errno: .inputOutput, call: "read", path: path) }
                try records.append(payload)
            }
            do throws(SystemError) {
                let aside = try Files.linkAside(path, as: "\(path).damaged-\(time)")
                try Files.rename(newPath(of: path), to: path)
                try Files.fsyncDirectory(Files.parent(of: path))
                return aside
            } catch {
                rewrite.discard()
                throw error
            }
        } catch {
            throw failure ?? .system(error)
        }
    }

    private static func copy(_ path: String, until end: UInt64, to records: inout RecordWriter) -> JournalError? {
        var failure: SystemError?
        do throws(JournalError) {
            try readSoundRecords(path) { payload, offset in
                guard failure == nil, offset < end else { return }
                do throws(SystemError) {
                    try records.append([UInt8](copying: payload))
                } catch {
                    failure = error
                }
            }
        } catch {
            return error
        }
        return failure.map(JournalError.system)
    }

    /// Puts the journal of a group that was deleted into `directory`, under this name or a free one like it; beside where
    /// it was, when the directory is on another file system. Gives that name. It must not stay in its place: a
    /// group made again under the name would come back with all that was deleted.
    package static func retire(
        _ path: String, into directory: String, as name: String, time: String
    ) throws(SystemError) -> String {
        let newPath = try putAway(path, in: directory, as: name, time: time)
        try Files.fsyncDirectory(Files.parent(of: newPath))
        try Files.fsyncDirectory(Files.parent(of: path))
        return newPath
    }

    private static func putAway(
        _ path: String, in directory: String, as name: String, time: String
    ) throws(SystemError) -> String {
        do throws(SystemError) {
            return try Files.setAside(path, as: Files.join(directory, name))
        } catch  where error.errno == .crossDevice {
            return try Files.setAside(path, as: "\(path).deleted-\(time)")
        }
    }
}

extension Files {
    /// How many names with a number behind are tried before EEXIST is the answer.
    private static let setAsideLimit = 1000

    /// Renames to `newPath`, or to `newPath-2`, `-3` … where that is taken. Nothing is ever overwritten.
    static func setAside(_ path: String, as newPath: String) throws(SystemError) -> String {
        for number in 1...setAsideLimit {
            let candidate = number == 1 ? newPath : "\(newPath)-\(number)"
            if try renameUnlessTaken(path, to: candidate) { return candidate }
        }
        throw SystemError(errno: .fileExists, call: "rename", path: newPath)
    }

    /// Gives a file a second name, `newPath` or one like it that is free. Gives that name.
    static func linkAside(_ path: String, as newPath: String) throws(SystemError) -> String {
        for number in 1...setAsideLimit {
            let candidate = number == 1 ? newPath : "\(newPath)-\(number)"
            do throws(SystemError) {
                try link(path, to: candidate)
                return candidate
            } catch  where error.errno == .fileExists {
                continue
            } catch  where [.notPermitted, .notSupported].contains(error.errno) {
                // No second names on this file system: then there is a moment without the first one.
                return try setAside(path, as: newPath)
            }
        }
        throw SystemError(errno: .fileExists, call: "link", path: newPath)
    }

    /// False when there is something under the new name.
    static func renameUnlessTaken(_ path: String, to newPath: String) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try renameNoReplace(path, to: newPath)
        } catch  where error.errno == .fileExists {
            return false
        } catch  where error.isUnsupportedRename {
            // The names are ours, and the daemon's lock keeps others of our kind away: looking first will do.
            guard try statusIfPresent(newPath, followLinks: false) == nil else { return false }
            try rename(path, to: newPath)
        }
        return true
    }
}

extension SystemError {
    /// The file system (or the kernel) has no renameat2 with flags.
    var isUnsupportedRename: Bool {
        [.invalidArgument, .notImplemented, .notSupported].contains(errno)
    }
}
