import CShims
import Glibc

/// What there is to know about this process and others: the clocks, the environment, names.
package enum ProcessFacts {
    /// Microseconds since 1970, for time stamps that people read. Jumps when the clock is set.
    package static func realtimeMicroseconds() -> Int64 { cshim_realtime_microseconds() }

    /// Microseconds of a clock that never jumps, for durations and deadlines.
    package static func monotonicMicroseconds() -> Int64 { cshim_monotonic_microseconds() }

    /// Bytes nobody can guess (the only wait is for the very first entropy of a boot).
    package static func randomBytes(_ count: Int) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            done += try systemCall("getrandom") {
                unsafe bytes.withUnsafeMutableBytes {
                    unsafe cshim_getrandom($0.baseAddress?.advanced(by: done), count - done)
                }
            }
        }
        return bytes
    }

    /// What tells this boot of the machine from every other; nil where the kernel does not say.
    package static let bootID: String? = {
        guard let text = try? procFile("/proc/sys/kernel/random/boot_id"), !text.isEmpty else { return nil }
        return String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }()

    package static var effectiveUserID: UInt32 { geteuid() }
    package static var effectiveGroupID: UInt32 { getegid() }
    package static var processID: Int32 { getpid() }
    /// Gives the pages back that the heap does not need: after something large was read or written, which a daemon that
    /// idles should not be seen to hold for ever. Takes about a millisecond; any thread.
    package static func trimMemory() { cshim_trim_memory() }

    /// The kernel's number of the calling thread.
    package static var threadID: Int32 { cshim_gettid() }

    /// How many descriptors this process may have open (the soft limit of RLIMIT_NOFILE).
    package static func descriptorLimit() -> UInt64 {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return UInt64(limit.rlim_cur)
    }

    /// A variable of the environment. To be read before other threads start: setenv elsewhere is not our doing, but
    /// libc has no lock for it.
    package static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    /// The command name of a process (at most 15 bytes of it), nil when it is gone.
    package static func name(ofProcess pid: Int32) -> String? {
        guard let text = try? procFile("/proc/\(pid)/comm") else { return nil }
        return String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// The home directory from the user database, for when $HOME is not set.
    package static func homeDirectory() -> String? {
        guard let entry = unsafe getpwuid(geteuid()), let home = unsafe entry.pointee.pw_dir else { return nil }
        return unsafe String(cString: home)
    }

    /// The name of a user, or its number as text when the database has none.
    package static func userName(_ uid: UInt32) -> String {
        guard let entry = unsafe getpwuid(uid), let name = unsafe entry.pointee.pw_name else { return String(uid) }
        return unsafe String(cString: name)
    }

    /// Files in /proc have no size: read until the end.
    private static func procFile(_ path: String) throws(SystemError) -> [UInt8] {
        try Files.open(path, .readOnly).readAll(limit: 4096)
    }
}
