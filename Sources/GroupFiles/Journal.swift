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
    private var syncedSize: UInt64
    /// A failed append may have left bytes behind `size`, and cutting them off failed too.
    private var hasDebris = false
    private var isRetired = false
    /// The frame of the last append, kept for the next.
    private var buffer: [UInt8] = []

    /// What the buffer may keep between appends. One snapshot shall not hold its megabytes for ever.
    private static let keptCapacity = 256 * 1024

    init(path: String, file: SharedFile, size: UInt64, syncedSize: UInt64) {
        self.path = path
        self.file = file
        self.size = size
        self.syncedSize = syncedSize
    }

    /// Whether there is something that a power cut could take.
    package var hasUnsyncedBytes: Bool { syncedSize < size }
}

// MARK: - Appending

extension Journal {
    /// Adds records in one write. Gives the offset of each.
    ///
    /// All or nothing: on an error the file ends where it ended before, and what was refused is not in it. Costs no
    /// memory beyond the message.
    package func append(_ payloads: [[UInt8]]) throws(SystemError) -> [UInt64] {
        precondition(!isRetired, "append to a journal that was replaced: \(path)")
        try removeDebris()
        let offsets = frame(payloads)
        defer { if buffer.capacity > Self.keptCapacity { buffer = [] } }
        do throws(SystemError) {
            try file.descriptor.pwriteAll(buffer, at: Int64(size))
        } catch {
            hasDebris = true
            try? removeDebris()
            throw SystemError(errno: error.errno, call: error.call, path: path)
        }
        size += UInt64(buffer.count)
        return offsets
    }

    private func frame(_ payloads: [[UInt8]]) -> [UInt64] {
        buffer.removeAll(keepingCapacity: true)
        buffer.reserveCapacity(payloads.reduce(0) { $0 + $1.count + Record.overhead })
        var offsets: [UInt64] = []
        offsets.reserveCapacity(payloads.count)
        for payload in payloads {
            offsets.append(size + UInt64(buffer.count))
            Record.append(payload, to: &buffer)
        }
        return offsets
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
        /// What the journal held when the handle was made: `sync` covers at least that.
        package let size: UInt64

        package func sync() -> Result<Void, SystemError> {
            do throws(SystemError) {
                return .success(try file.descriptor.fdatasync())
            } catch {
                return .failure(error)
            }
        }
    }

    package var syncHandle: SyncHandle { SyncHandle(file: file, size: size) }

    /// Notes how a `sync` ended. One that was begun before the journal was replaced says nothing about this file, and
    /// is passed over.
    package func finish(_ handle: SyncHandle, _ result: Result<Void, SystemError>) {
        guard handle.file === file else { return }
        switch result {
        case .success: if syncFailure == nil { syncedSize = max(syncedSize, handle.size) }
        case .failure(let error): noteSyncFailure(error)
        }
    }

    func noteSyncFailure(_ error: SystemError) {
        syncFailure = syncFailure ?? SystemError(errno: error.errno, call: error.call, path: path)
    }

    func retire() {
        isRetired = true
    }
}
