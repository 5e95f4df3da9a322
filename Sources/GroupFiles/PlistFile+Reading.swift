import LinuxIO
import PropertyList

extension PlistFile {
    /// A file that changes under our eyes is read again, so often at most. After that its last state is taken: the one
    /// who writes will be done some time, and the watcher tells of it.
    private static let attempts = 8
    /// A file up to this size, in bytes, is read at once.
    private static let smallSize: Int64 = 64 << 10

    /// Reads and understands the file. Never blocks on what is no file.
    package func read() -> PlistReading {
        read(unless: nil) ?? .absent
    }

    /// The same, but nil where the text is the one that is known already: then it is not parsed, which is most of the
    /// work. Its bytes are looked at all the same, since a file's times have the grain of the kernel's tick.
    package func read(unless known: Digest?) -> PlistReading? {
        var last: PlistReading?
        for _ in 0..<Self.attempts {
            let resolution = resolve()
            guard case .found(let status) = resolution.outcome else { return withoutFile(resolution) }
            guard status.kind == .regular else { return notAFile(resolution.target, status.kind) }
            let (reading, isFinal) = load(resolution.target, unless: known)
            if isFinal { return reading }
            last = reading
        }
        return last ?? .absent
    }

    /// What `readAtOnce` found.
    package struct QuickLook: Sendable {
        /// Nil: the text that is known already.
        package var reading: PlistReading?
        package var target: String
        package var places: PlistPlaces
    }

    /// The same for a thread that must not wait: a small file behind no link, all of which the kernel has in memory. Nil
    /// for everything else, which is then to be read on a thread that may wait.
    package func readAtOnce(unless known: Digest?) -> QuickLook? {
        let resolution = resolve()
        guard case .found(let status) = resolution.outcome, status.kind == .regular, resolution.linkCount == 0,
            status.size > 0, status.size <= Self.smallSize
        else { return nil }
        do throws(SystemError) {
            let file = try Files.open(path, [.readOnly, .noFollow, .nonBlocking])
            let before = try file.status()
            guard before.kind == .regular, before.size > 0, before.size <= Self.smallSize,
                let bytes = try file.preadCached(count: Int(before.size) + 1, at: 0), bytes.count == Int(before.size),
                try file.status().identity == before.identity
            else { return nil }
            let digest = Digest(of: bytes)
            let reading = digest == known ? nil : interpret(bytes, digest, before, path)
            return QuickLook(reading: reading, target: path, places: resolution.places)
        } catch {
            return nil
        }
    }

    /// One look at a regular file. It is final unless the file changed or was replaced while we looked.
    func load(_ target: String) -> (PlistReading, isFinal: Bool) {
        let (reading, isFinal) = load(target, unless: nil)
        return (reading ?? .absent, isFinal)
    }

    /// The same, but nil where the text is the one that is known already.
    func load(_ target: String, unless known: Digest?) -> (PlistReading?, isFinal: Bool) {
        do throws(SystemError) {
            return try load(try Files.open(target, [.readOnly, .noFollow, .nonBlocking]), target, unless: known)
        } catch {
            let reason = SystemError(errno: error.errno, call: error.call, path: target)
            // Renamed away, or a link now: the next look goes along the links again.
            return (unreachable(reason), error.errno != .noSuchFile && error.errno != .tooManySymlinks)
        }
    }

    func load(
        _ file: borrowing FileDescriptor, _ target: String, unless known: Digest?
    ) throws(SystemError) -> (PlistReading?, isFinal: Bool) {
        let before = try file.status()
        guard before.kind == .regular else { return (notAFile(target, before.kind), true) }
        guard before.size <= Int64(sizeLimit) else { return (tooLarge(target, before), true) }
        if let known, before.size > Self.smallSize, try digest(of: file, size: Int(before.size)) == known {
            return (nil, try file.status().identity == before.identity)
        }
        // One byte more than there should be: a file that grows under our eyes is seen to.
        let bytes = try file.pread(count: Int(before.size) + 1, at: 0)
        let isFinal = try file.status().identity == before.identity && bytes.count == Int(before.size)
        let digest = Digest(of: bytes)
        if digest == known { return (nil, isFinal) }
        return (interpret(bytes, digest, before, target), isFinal)
    }

    /// Without having the whole file in memory: nearly always a large one that is known is just what it was.
    private func digest(of file: borrowing FileDescriptor, size: Int) throws(SystemError) -> Digest {
        var builder = DigestBuilder()
        var offset = 0
        while offset < size {
            let piece = try file.pread(count: min(Int(Self.smallSize), size - offset), at: Int64(offset))
            guard !piece.isEmpty else { break }
            builder.append(piece.span)
            offset += piece.count
            // Cut short meanwhile: no more pieces, and not what is known.
            if piece.count % 32 != 0 { break }
        }
        return builder.digest
    }

    private func interpret(
        _ bytes: [UInt8], _ digest: Digest, _ status: FileStatus, _ target: String
    ) -> PlistReading {
        do throws(PropertyListError) {
            let isBinary = BinaryPropertyList.isBinary(bytes)
            let entries =
                isBinary
                ? try BinaryPropertyList.entries(parsing: bytes)
                : try XMLPropertyList(parsing: bytes, byteLimit: sizeLimit).entries
            return .content(
                PlistContent(
                    entries: entries, format: isBinary ? .binary : .xml, bytes: bytes, digest: digest,
                    identity: status.identity, mode: status.mode, uid: status.uid, gid: status.gid,
                    targetPath: target))
        } catch {
            return .damaged(problem(error, bytes, target), digest: digest, identity: status.identity)
        }
    }
}

// MARK: - What is wrong

extension PlistFile {
    private func problem(_ error: PropertyListError, _ bytes: [UInt8], _ target: String) -> PlistProblem {
        let hasPlace = !bytes.isEmpty && !BinaryPropertyList.isBinary(bytes)
        return PlistProblem(
            reason: error.reason.description, path: target, line: hasPlace ? error.line : nil,
            column: hasPlace ? error.column : nil,
            advice: "mend the file, or delete it to reset the group; until then the last good values are served")
    }

    private func tooLarge(_ target: String, _ status: FileStatus) -> PlistReading {
        let problem = PlistProblem(
            reason: "the file has \(status.size) bytes, more than the limit of \(sizeLimit)", path: target,
            advice: "mend the file, or delete it to reset the group; until then the last good values are served")
        return .damaged(problem, digest: nil, identity: status.identity)
    }

    private func withoutFile(_ resolution: PlistResolution) -> PlistReading {
        switch resolution.outcome {
        case .absent, .found: .absent
        case .dangling:
            .unreachable(
                PlistProblem(
                    reason: "the link leads to \(resolution.target), which does not exist", path: path,
                    advice: "restore the link's target, or remove the link to reset the group"),
                .noSuchFile)
        case .looping:
            .unreachable(
                PlistProblem(
                    reason: "the symbolic links go in a circle", path: path,
                    advice: "remove the link to reset the group"),
                .tooManySymlinks)
        case .unreachable(let error): unreachable(error)
        }
    }

    private func unreachable(_ error: SystemError) -> PlistReading {
        .unreachable(PlistProblem(reason: error.errno.description, path: error.path ?? path), error.errno)
    }

    private func notAFile(_ target: String, _ kind: FileStatus.Kind) -> PlistReading {
        let (name, errno): (String, Errno) =
            switch kind {
            case .directory: ("a directory", .isDirectory)
            case .fifo: ("a FIFO", .invalidArgument)
            case .socket: ("a socket", .invalidArgument)
            case .characterDevice, .blockDevice: ("a device", .invalidArgument)
            case .regular, .symlink, .other: ("no regular file", .invalidArgument)
            }
        let problem = PlistProblem(
            reason: "there is \(name) where the plist should be", path: target,
            advice: "move it away; the group's values are kept meanwhile")
        return .unreachable(problem, errno)
    }
}
