package import LinuxIO

extension Journal {
    /// A record as `open` finds it.
    package struct StoredRecord: Equatable, Sendable {
        /// What `read(at:)` takes.
        package var offset: UInt64
        /// A part of the file's bytes, which it shares with the other records.
        package var payload: ArraySlice<UInt8>
    }

    /// Not Sendable, like the journal in it: it goes to the loop thread as a whole.
    package struct Opened {
        package var journal: Journal
        /// At least one.
        package var records: [StoredRecord]
        /// How much of an interrupted append was cut off.
        package var repairedBytes: Int
    }

    /// What a journal that is opened may have, in bytes; compaction keeps it far below.
    static let sizeLimit: Int64 = 1 << 30

    /// Opens a journal and reads all of it. A torn tail is cut off and the cut made durable; anything else that is
    /// wrong is an error, and then nothing is modified.
    package static func open(_ path: String) throws(JournalError) -> Opened {
        let (file, bytes) = try load(path)
        let scan = try soundScan(bytes)
        var repaired = 0
        do throws(SystemError) {
            if case .torn(let size) = scan.tail {
                try file.descriptor.truncate(to: Int64(scan.end))
                try file.descriptor.fsync()
                repaired = size
            }
            // What a compaction left that did not come to its end.
            try Files.unlinkIfPresent(newPath(of: path))
        } catch {
            throw .system(SystemError(errno: error.errno, call: error.call, path: path))
        }
        // What was read may not be on the disk yet, if the one who wrote it was killed.
        let end = UInt64(scan.end)
        let journal = Journal(path: path, file: file, size: end, syncedSize: repaired > 0 ? end : 0)
        return Opened(journal: journal, records: records(scan, bytes), repairedBytes: repaired)
    }

    /// What can be read of a journal, without a change to it: the sound records up to the first that is not. For one
    /// that `open` refuses.
    package static func soundRecords(_ path: String) throws(JournalError) -> [StoredRecord] {
        let bytes = try load(path, .readOnly).bytes
        return records(RecordScanner.scan(bytes), bytes)
    }

    static func newPath(of path: String) -> String { path + ".new" }

    private static func load(
        _ path: String, _ flags: Files.OpenFlags = .readWrite
    ) throws(JournalError) -> (file: SharedFile, bytes: [UInt8]) {
        do throws(SystemError) {
            let file = try Files.openRegular(path, [flags, .noFollow])
            // Nobody else writes to it: what there is now is all.
            let size = try file.status().size
            guard size <= sizeLimit else { throw SystemError(errno: .fileTooLarge, call: "read", path: path) }
            let bytes = try file.pread(count: Int(size), at: 0)
            return (SharedFile(file), bytes)
        } catch  where error.errno == .noSuchFile {
            throw .absent
        } catch {
            throw .system(SystemError(errno: error.errno, call: error.call, path: path))
        }
    }

    private static func soundScan(_ bytes: [UInt8]) throws(JournalError) -> RecordScan {
        let scan = RecordScanner.scan(bytes)
        if case .damaged(let next) = scan.tail {
            throw .damaged(
                offset: UInt64(scan.end), reason: "no sound record here, but one follows at byte \(next)"
            )
        }
        // A journal appears with its first record in it (`create`): one without is no interrupted append.
        guard !scan.payloads.isEmpty else {
            throw .damaged(offset: 0, reason: bytes.isEmpty ? "the file is empty" : "no sound record at its beginning")
        }
        return scan
    }

    private static func records(_ scan: RecordScan, _ bytes: [UInt8]) -> [StoredRecord] {
        scan.payloads.map {
            StoredRecord(offset: UInt64($0.lowerBound - Record.headerSize), payload: bytes[$0])
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
