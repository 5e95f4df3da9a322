package import LinuxIO

/// A whole new journal beside the old one: for creation and for compaction.
///
/// `write` is the slow part (it writes everything and makes it durable) and may run on a worker while the loop goes on
/// appending to the old journal, and so may `appending`, which adds what came in between. `Journal.adopt` then adds what
/// came during that and puts the new file in place. An object that is dropped before leaves `<journal>.new`, which the
/// next `open` or `write` removes.
package struct JournalRewrite: Sendable {
    package let journalPath: String
    let file: SharedFile
    /// Of its records, in order.
    let offsets: [UInt64]
    let size: UInt64
    /// Where the zeros behind the records end.
    let roomEnd: UInt64

    /// Writes all records to `<journal>.new` and makes them durable. On an error no such file is left.
    package static func write(
        for journalPath: String, payloads: some Sequence<[UInt8]>
    ) throws(SystemError) -> JournalRewrite {
        try write(for: journalPath) { (records) throws(SystemError) in
            for payload in payloads { try records.append(payload) }
        }
    }

    /// The same with the records that `body` appends, one after the other: never all of them are in memory. Behind them go
    /// `room` zeros, for the records that are to come (`Journal.makeRoom`); none where the disk refuses them.
    package static func write(
        for journalPath: String, room: Int = 0, _ body: (inout RecordWriter) throws(SystemError) -> Void
    ) throws(SystemError) -> JournalRewrite {
        let path = Journal.newPath(of: journalPath)
        try Files.unlinkIfPresent(path)
        let file = SharedFile(try Files.open(path, [.readWrite, .create, .exclusive, .noFollow]))
        do throws(SystemError) {
            try file.descriptor.changeMode(0o600)
            var writer = RecordWriter(file: file)
            try body(&writer)
            try writer.flush()
            let roomEnd = writer.makeRoom(room)
            try file.descriptor.fsync()
            return JournalRewrite(
                journalPath: journalPath, file: file, offsets: writer.offsets, size: writer.size, roomEnd: roomEnd)
        } catch {
            try? Files.unlink(path)
            throw SystemError(errno: error.errno, call: error.call, path: path)
        }
    }

    /// The same with more records, which are durable then too. On an error no new file is left.
    package func appending(_ payloads: [[UInt8]]) throws(SystemError) -> JournalRewrite {
        do throws(SystemError) {
            var writer = RecordWriter(file: file, behind: offsets, size: size)
            for payload in payloads { try writer.append(payload) }
            try writer.flush()
            try file.descriptor.fdatasync()
            return JournalRewrite(
                journalPath: journalPath, file: file, offsets: writer.offsets, size: writer.size, roomEnd: roomEnd)
        } catch {
            discard()
            throw SystemError(errno: error.errno, call: error.call, path: Journal.newPath(of: journalPath))
        }
    }

    /// Removes the new file: it is not wanted after all.
    package func discard() {
        try? Files.unlink(Journal.newPath(of: journalPath))
    }
}

/// Appends records to a new file, some of them at a time.
package struct RecordWriter {
    /// How much is framed before it is written out.
    private static let chunkSize = 64 * 1024

    let file: SharedFile
    /// Of the records, in order.
    private(set) var offsets: [UInt64] = []
    private var buffer: [UInt8] = []
    private var written: UInt64

    /// - Parameters:
    ///   - file: to which nobody else writes.
    ///   - offsets: of the records that it has already.
    ///   - size: where they end.
    init(file: SharedFile, behind offsets: [UInt64] = [], size: UInt64 = 0) {
        self.file = file
        self.offsets = offsets
        written = size
    }

    /// What the file has when everything is written out, in bytes.
    var size: UInt64 { written + UInt64(buffer.count) }

    package mutating func append(_ payload: [UInt8]) throws(SystemError) {
        offsets.append(size)
        Record.append(payload, to: &buffer)
        if buffer.count >= Self.chunkSize { try flush() }
    }

    mutating func flush() throws(SystemError) {
        try file.descriptor.pwriteAll(buffer, at: Int64(written))
        written += UInt64(buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Zeros behind what was written out.
    ///
    /// - Returns: where they end.
    func makeRoom(_ room: Int) -> UInt64 {
        let zeros = [UInt8](repeating: 0, count: Self.chunkSize)
        var end = size
        do throws(SystemError) {
            while end < size + UInt64(room) {
                try file.descriptor.pwriteAll(zeros, at: Int64(end))
                end += UInt64(zeros.count)
            }
        } catch {
            // A disk that is nearly full has other uses for what it has left.
            try? file.descriptor.truncate(to: Int64(size))
            return size
        }
        return end
    }
}

extension Journal {
    /// What `adopt` gives; goes to the loop thread as a whole.
    package struct Adopted {
        package var journal: Journal
        /// Of all records: the rewrite's, then the tail's.
        package var offsets: [UInt64]
    }

    /// Makes a new journal with these records (the header first). EEXIST where there is one already.
    ///
    /// It appears under its name whole and durable, or not at all.
    package static func create(
        _ path: String, payloads: some Sequence<[UInt8]>
    ) throws(SystemError) -> Adopted {
        let rewrite = try JournalRewrite.write(for: path, payloads: payloads)
        let journal = Journal(rewrite)
        try put(rewrite, at: path)
        return Adopted(journal: journal, offsets: rewrite.offsets)
    }

    private static func put(_ rewrite: JournalRewrite, at path: String) throws(SystemError) {
        do throws(SystemError) {
            guard try Files.renameUnlessTaken(newPath(of: path), to: path) else {
                throw SystemError(errno: .fileExists, call: "rename", path: path)
            }
        } catch {
            rewrite.discard()
            throw error
        }
        do throws(SystemError) {
            try Files.fsyncDirectory(Files.parent(of: path))
        } catch {
            try? Files.unlink(path)
            throw error
        }
    }

    private convenience init(_ rewrite: JournalRewrite) {
        self.init(
            path: rewrite.journalPath, file: rewrite.file, size: rewrite.size, syncedSize: rewrite.size,
            roomEnd: rewrite.roomEnd)
    }

    /// How many records of a tail are written at once.
    private var tailPiece: Int { 512 }

    /// Replaces this journal by the rewritten one, with `tail` added: what came since it was rewritten.
    ///
    /// Does not wait for the disk: tail and name are on stable storage with the next sync. Until then a power cut may leave
    /// either file, so nothing of the tail may have been told to be there; such records go into the new file by
    /// `JournalRewrite.appending` before.
    ///
    /// On an error the old journal stands and goes on being used; on success it is retired. A journal whose fsync had failed
    /// is sound again with its replacement.
    package func adopt(_ rewrite: JournalRewrite, tail: [[UInt8]]) throws(SystemError) -> Adopted {
        precondition(rewrite.journalPath == path, "the rewrite of \(rewrite.journalPath) for \(path)")
        let new = Journal(rewrite)
        if let reliedOn { new.rely(on: reliedOn) }
        var offsets = rewrite.offsets
        do throws(SystemError) {
            // In pieces: after a rush the tail has megabytes, and nobody needs them in one write.
            for start in stride(from: 0, to: tail.count, by: tailPiece) {
                offsets += try new.append(Array(tail[start..<min(start + tailPiece, tail.count)]))
            }
            try Files.rename(Self.newPath(of: path), to: path)
        } catch {
            rewrite.discard()
            throw error
        }
        retire()
        new.noteNewName()
        return Adopted(journal: new, offsets: offsets)
    }
}
