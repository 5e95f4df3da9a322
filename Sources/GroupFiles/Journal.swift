package import LinuxIO

/// A group's journal: an append-only file of records (`Record`), the truth about the group.
///
/// Owned by the loop thread, which appends; only `SyncHandle`, which shares the descriptor, goes to a worker. The file
/// that is open here is the one under the path until `adopt` has put a rewritten one there, which retires this object.
package final class Journal {
    package let path: String
    /// Where the next record goes. Tracked here and not asked of the kernel (no O_APPEND): after a failed append the
    /// next one goes over what that one left.
    package private(set) var size: UInt64
    /// The first failed fsync. The kernel tells of lost pages once and takes them for clean afterwards, therefore no
    /// later fsync of this file means anything: nothing may be acknowledged as durable until `adopt` has replaced it.
    package private(set) var syncFailure: SystemError?

    let file: SharedFile
    /// Up to where the file is known to be on stable storage.
    package private(set) var syncedSize: UInt64
    /// That the file is under its path may be lost in a power cut: `adopt` put it there.
    private var isNameUnsynced = false
    /// Up to where the file has zeros behind the records; no further than `size` where it has none.
    private var roomEnd: UInt64
    /// The size when this object was made.
    private let initialSize: UInt64
    /// The disk has no room to spare.
    private var isRoomRefused = false
    /// A failed append may have left bytes behind `size`, and cutting them off failed too.
    private var hasDebris = false
    private var isRetired = false
    /// A record that goes in front of the first one that is appended.
    private var preface: [UInt8]?
    /// What records that are not synced yet say of a file that others write.
    private var reliance = Reliance()

    private struct Reliance {
        var file: PlistFile?
        /// Which one it is, for who has synced an earlier one.
        var number = 0
    }

    init(path: String, file: SharedFile, size: UInt64, syncedSize: UInt64, roomEnd: UInt64 = 0) {
        self.path = path
        self.file = file
        self.size = size
        self.syncedSize = syncedSize
        self.roomEnd = roomEnd
        initialSize = size
    }

    /// Whether there is something that a power cut could take.
    package var hasUnsyncedBytes: Bool { syncedSize < size || isNameUnsynced }
}

// MARK: - Appending

extension Journal {
    /// Writes records by one call.
    ///
    /// All or nothing: on an error the file ends where it ended before.
    ///
    /// - Returns: where the first of them is.
    package func write(_ line: RecordLine) throws(SystemError) -> UInt64 {
        precondition(!isRetired, "append to a journal that was replaced: \(path)")
        try removeDebris()
        var bytes = line.bytes
        if let preface {
            bytes = []
            Record.append(preface, to: &bytes)
            bytes += line.bytes
        }
        do throws(SystemError) {
            try file.descriptor.pwriteAll(bytes, at: Int64(size))
        } catch {
            hasDebris = true
            try? removeDebris()
            throw SystemError(errno: error.errno, call: error.call, path: path)
        }
        size += UInt64(bytes.count)
        preface = nil
        return size - UInt64(line.bytes.count)
    }

    /// Has a record written in front of the next one, by the same call; an idle journal is left as it is.
    package func begin(with payload: [UInt8]) { preface = payload }

    /// Adds records in one write. Gives the offset of each.
    package func append(_ payloads: [[UInt8]]) throws(SystemError) -> [UInt64] {
        var line = RecordLine()
        let places = payloads.map { payload in line.add { $0.append(contentsOf: payload) } }
        let offset = try write(line)
        return places.map { offset + UInt64(RecordLine.start(ofPayload: $0)) }
    }

    /// Before anything is written behind it: a half record with a good one after it would read as damage.
    private func removeDebris() throws(SystemError) {
        guard hasDebris else { return }
        do throws(SystemError) {
            try file.descriptor.truncate(to: Int64(size))
        } catch {
            throw SystemError(errno: error.errno, call: error.call, path: path)
        }
        hasDebris = false
        roomEnd = size
    }
}

// MARK: - Room

extension Journal {
    /// Below this nothing is filled in: most groups get a few writes and then none for long. In bytes.
    private static let leastRoom: UInt64 = 4 << 10
    /// So much is filled in at a time at most, in bytes.
    private static let mostRoom: UInt64 = 256 << 10
    private static let mostRoomOfNext: UInt64 = 4 << 20
    /// Rooms end where a page of memory does.
    private static let pageSize: UInt64 = 4 << 10

    /// Before records that somebody waits for are synced: fills in zeros behind them, for the next ones. To write over them
    /// leaves the file as long as it is, so that an fdatasync is one write of the disk and no transaction of the file
    /// system, which takes several times as long.
    ///
    /// As much is filled in as this object has appended, within bounds: so at most half of what a journal takes is room. It
    /// needs no room to go on: where the disk refuses it, records are appended as ever, and meet the error themselves.
    package func makeRoom() {
        let wanted = min(size - initialSize, Self.mostRoom)
        guard wanted >= Self.leastRoom, roomEnd < size + Self.leastRoom, !isRoomRefused, !hasDebris else { return }
        let start = max(roomEnd, size)
        let end = (size + wanted + Self.pageSize) & ~(Self.pageSize - 1)
        do throws(SystemError) {
            try file.descriptor.pwriteAll([UInt8](repeating: 0, count: Int(end - start)), at: Int64(start))
            roomEnd = end
        } catch {
            isRoomRefused = true
            cutBehindRecords()
        }
    }

    /// How much room a journal that takes this one's place should have from the beginning on, in bytes: as much as this one
    /// got to hold, if it needed any.
    package var roomForNext: Int { roomEnd > initialSize ? Int(min(size - initialSize, Self.mostRoomOfNext)) : 0 }

    /// Cuts off the room: the journal is a text again, to its end. Nothing is lost where that fails.
    package func dropRoom() {
        if roomEnd > size { cutBehindRecords() }
    }

    /// What stays where that fails are zeros.
    private func cutBehindRecords() {
        guard (try? file.descriptor.truncate(to: Int64(size))) != nil else { return }
        roomEnd = size
    }
}

// MARK: - Reading

extension Journal {
    /// The payload of the record at an offset that `append`, `open` or `adopt` gave.
    package func read(at offset: UInt64) throws(JournalError) -> [UInt8] {
        do throws(SystemError) {
            // Most records are short: one call gives header and payload.
            var bytes = try file.descriptor.pread(count: 4096, at: Int64(clamping: offset))
            if let header = Record.header(bytes.span, at: 0), header.length <= size {
                let whole = header.length + Record.overhead
                if whole > bytes.count, bytes.count == 4096 {
                    let rest = try file.descriptor.pread(count: whole - 4096, at: Int64(clamping: offset) + 4096)
                    bytes.append(contentsOf: rest)
                }
            }
            if let payload = Record.payload(bytes.span, at: 0) { return Array(bytes[payload]) }
        } catch {
            throw .system(SystemError(errno: error.errno, call: error.call, path: path))
        }
        throw .damaged(offset: offset, reason: "no sound record here")
    }
}

// MARK: - Stable storage

extension Journal {
    /// Makes a journal's bytes survive a power cut. Sendable: `sync` blocks, and belongs on a worker thread.
    package struct SyncHandle: Sendable {
        let file: SharedFile
        let reliance: PlistFile?
        let relianceNumber: Int
        /// Where the file's name is, if that is to be made durable too.
        let directory: String?
        /// What the journal held when the handle was made: `sync` covers at least that.
        package let size: UInt64

        /// Whether the file that is open here is the one under this path: somebody may have removed it, or moved it away.
        /// What cannot be looked at counts as there.
        package func isInPlace(_ path: String) -> Bool {
            do throws(SystemError) {
                let own = try file.descriptor.status().identity
                return try Files.statusIfPresent(path, followLinks: false)?.identity == own
            } catch {
                return true
            }
        }

        package func sync() -> Result<Void, SystemError> {
            reliance?.makeDurable()
            do throws(SystemError) {
                try file.descriptor.fdatasync()
                if let directory { try Files.fsyncDirectory(directory) }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
    }

    package var syncHandle: SyncHandle {
        SyncHandle(
            file: file, reliance: reliance.file, relianceNumber: reliance.number,
            directory: isNameUnsynced ? Files.parent(of: path) : nil, size: size)
    }

    /// A record tells what somebody put into this plist, and whoever that was need not have synced it. The plist is made
    /// durable first, at the next sync: else a power cut could bring back the text before, and that would look like an edit
    /// which takes everything back that came in between.
    package func rely(on file: PlistFile) {
        reliance = Reliance(file: file, number: reliance.number + 1)
    }

    /// What must be made durable before a copy of this journal is.
    package var reliedOn: PlistFile? { reliance.file }

    /// Whether the handle is of this file, and not of one that it has replaced.
    package func isCurrent(_ handle: SyncHandle) -> Bool { handle.file === file }

    /// Notes how a `sync` ended. One that was begun before the journal was replaced says nothing about this file, and
    /// is passed over.
    package func finish(_ handle: SyncHandle, _ result: Result<Void, SystemError>) {
        guard handle.file === file else { return }
        if handle.relianceNumber == reliance.number { reliance.file = nil }
        switch result {
        case .success:
            guard syncFailure == nil else { return }
            syncedSize = max(syncedSize, handle.size)
            if handle.directory != nil { isNameUnsynced = false }
        case .failure(let error): noteSyncFailure(error)
        }
    }

    /// It was put under its path just now.
    func noteNewName() {
        isNameUnsynced = true
    }

    private func noteSyncFailure(_ error: SystemError) {
        syncFailure = syncFailure ?? SystemError(errno: error.errno, call: error.call, path: path)
    }

    func retire() {
        isRetired = true
    }
}
