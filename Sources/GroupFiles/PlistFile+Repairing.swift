import LinuxIO
package import PropertyList

extension PlistFile {
    /// The first half of a repair: a copy of the damaged text, durable beside the file, and the new text ready to take the
    /// file's place, as `prepare` makes it. So whatever is in the file when `commit` exchanges it, is kept or merged.
    ///
    /// - Parameters:
    ///   - entries: what the file is to hold.
    ///   - damaged: the digest of the text that cannot be used; another one is `changed`.
    ///   - suffix: what the copy's name ends in.
    /// - Returns: the path of the copy, if one was made, and the preparation.
    package func prepareRepair(
        _ entries: [Key: Value], of damaged: Digest, suffix: String
    ) -> (copy: String?, PlistPreparation) {
        let resolution = resolve()
        guard case .found(let status) = resolution.outcome, status.kind == .regular else {
            return (nil, .changed(read()))
        }
        let target = resolution.target
        do throws(SystemError) {
            let bytes = try Files.read(target, limit: sizeLimit).bytes
            guard Digest(of: bytes) == damaged else { return (nil, .changed(read())) }
            let base = PlistContent(
                entries: [:], format: .xml, bytes: bytes, digest: damaged, identity: status.identity, mode: status.mode,
                uid: status.uid, gid: status.gid, targetPath: target)
            let copy = try writeCopy(of: base, suffix: suffix)
            do throws(PlistWriteProblem) {
                return (copy, .ready(try prepareWhole(entries, base: base)))
            } catch {
                try? Files.unlink(copy)
                return (nil, .failed(error))
            }
        } catch {
            return (nil, .failed(PlistWriteProblem(error)))
        }
    }

    /// A name that nobody has: a second repair within the same second must not cost the first one's copy.
    private func writeCopy(of base: PlistContent, suffix: String) throws(SystemError) -> String {
        var number = 1
        while true {
            let path = base.targetPath + suffix + (number == 1 ? "" : "-\(number)")
            do throws(SystemError) {
                _ = try Files.writeDurably(base.bytes, to: path, like: base)
                try Files.fsyncDirectory(Files.parent(of: path))
                return path
            } catch  where error.errno == .fileExists && number < 100 {
                number += 1
            }
        }
    }
}
