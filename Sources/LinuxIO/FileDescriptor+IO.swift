import CShims
import Glibc

extension FileDescriptor {
    /// Everything from here to the end of the file. Over `limit` bytes it fails with EFBIG: the file is foreign, and
    /// what fits into memory is our decision.
    package func readAll(limit: Int) throws(SystemError) -> [UInt8] {
        let expected = Int(clamping: try status().size)
        var bytes: [UInt8] = []
        // One byte more than expected: the read that finds the end then needs no room of its own.
        var step = min(max(expected, 0), limit) + 1
        while true {
            let count = try append(upTo: step, to: &bytes)
            if bytes.count > limit { throw SystemError(errno: .fileTooLarge, call: "read") }
            if count == 0 { return bytes }
            // Files in /proc have no size and are small: room grows with what they turn out to hold.
            step = max(step - count, min(max(bytes.count, 1024), 64 * 1024))
        }
    }

    /// One read, appended; 0 at the end.
    package func append(upTo limit: Int, to bytes: inout [UInt8]) throws(SystemError) -> Int {
        let start = bytes.count
        let length = allowedCount("read", limit)
        bytes.append(contentsOf: repeatElement(0, count: length))
        var count = 0
        defer { bytes.removeLast(length - count) }
        count = try systemCall("read") {
            unsafe bytes.withUnsafeMutableBytes {
                unsafe Glibc.read(rawValue, $0.baseAddress?.advanced(by: start), length)
            }
        }
        return count
    }

    /// At most `count` bytes from there; fewer only at the end of the file.
    package func pread(count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let length = allowedCount("pread", count - done)
            let got = try systemCall("pread") {
                unsafe bytes.withUnsafeMutableBytes {
                    unsafe Glibc.pread(rawValue, $0.baseAddress?.advanced(by: done), length, off_t(offset) + done)
                }
            }
            if got == 0 { break }
            done += got
        }
        bytes.removeLast(count - done)
        return bytes
    }

    /// What the kernel has in memory of these bytes, without waiting for a disk; nil where it has nothing of them, or the
    /// file system cannot tell. Fewer bytes than there are do not mean the end of the file.
    package func preadCached(count: Int, at offset: Int64) throws(SystemError) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        do throws(SystemError) {
            let got = try systemCall("preadv2") {
                unsafe bytes.withUnsafeMutableBytes {
                    unsafe cshim_pread_cached(rawValue, $0.baseAddress, $0.count, off_t(offset))
                }
            }
            bytes.removeLast(count - got)
            return bytes
        } catch  where error.errno == .wouldBlock || error.errno == .notSupported {
            return nil
        }
    }

    /// Writes all of it: a write may stop early, near the end of a disk for one.
    package func writeAll(_ bytes: borrowing Span<UInt8>) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            let length = allowedCount("write", bytes.count - done)
            done += try systemCall("write") {
                unsafe bytes.withUnsafeBytes {
                    unsafe Glibc.write(rawValue, $0.baseAddress?.advanced(by: done), length)
                }
            }
        }
    }

    package func writeAll(_ bytes: [UInt8]) throws(SystemError) {
        try writeAll(bytes.span)
    }

    package func pwriteAll(_ bytes: borrowing Span<UInt8>, at offset: Int64) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            let length = allowedCount("pwrite", bytes.count - done)
            done += try systemCall("pwrite") {
                unsafe bytes.withUnsafeBytes {
                    unsafe Glibc.pwrite(rawValue, $0.baseAddress?.advanced(by: done), length, off_t(offset) + done)
                }
            }
        }
    }

    package func pwriteAll(_ bytes: [UInt8], at offset: Int64) throws(SystemError) {
        try pwriteAll(bytes.span, at: offset)
    }

    package func fsync() throws(SystemError) {
        _ = try systemCall("fsync") { Glibc.fsync(rawValue) }
    }

    package func fdatasync() throws(SystemError) {
        _ = try systemCall("fdatasync") { Glibc.fdatasync(rawValue) }
    }

    package func truncate(to size: Int64) throws(SystemError) {
        _ = try systemCall("ftruncate") { Glibc.ftruncate(rawValue, off_t(size)) }
    }

    @discardableResult
    package func seek(to offset: Int64) throws(SystemError) -> Int64 {
        try Int64(systemCall("lseek") { lseek(rawValue, off_t(offset), SEEK_SET) })
    }

    package func status() throws(SystemError) -> FileStatus {
        var info = stat()
        _ = try systemCall("fstat") { unsafe fstat(rawValue, &info) }
        return FileStatus(info)
    }

    /// Exactly these bits, whatever the umask.
    package func changeMode(_ mode: UInt32) throws(SystemError) {
        _ = try systemCall("fchmod") { fchmod(rawValue, mode) }
    }

    /// nil leaves that one as it is.
    package func changeOwner(uid: UInt32?, gid: UInt32?) throws(SystemError) {
        _ = try systemCall("fchown") { fchown(rawValue, uid ?? .max, gid ?? .max) }
    }
}
