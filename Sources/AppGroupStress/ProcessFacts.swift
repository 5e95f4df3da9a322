import CShims
import Glibc

/// What the kernel says of this process.
enum ProcessFacts {
    /// The descriptors that are open, and how many of them are sockets. One of them is that of the listing.
    static var descriptors: (all: Int, sockets: Int) {
        var (all, sockets) = (0, 0)
        for number in 0..<Int32(1024) {
            var status = stat()
            guard unsafe fstat(number, &status) == 0 else { continue }
            all += 1
            if status.st_mode & S_IFMT == S_IFSOCK { sockets += 1 }
        }
        return (all, sockets)
    }

    /// The memory that is resident, in bytes, once the allocator has given back what it can.
    static var residentSize: Int {
        cshim_trim_memory()
        let pages = lines("/proc/self/statm").first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return (pages ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Which signals this thread blocks, and which the process ignores and catches, as the kernel writes it.
    static var signals: [String] {
        lines("/proc/thread-self/status").filter { line in
            ["SigBlk", "SigIgn", "SigCgt"].contains { line.hasPrefix($0) }
        }
    }

    private static func lines(_ path: String) -> [String] {
        guard let file = unsafe fopen(path, "re") else { return [] }
        defer { unsafe fclose(file) }
        var lines: [String] = []
        var buffer = [CChar](repeating: 0, count: 1024)
        while unsafe fgets(&buffer, Int32(buffer.count), file) != nil {
            let bytes = buffer.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
            lines.append(String(decoding: bytes, as: UTF8.self))
        }
        return lines
    }
}
