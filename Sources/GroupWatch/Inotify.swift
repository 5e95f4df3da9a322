import CInotifyTools
import Glibc
import LinuxIO

/// libinotifytools: the one type that calls it, in the watcher's thread only.
///
/// The library keeps everything in globals, and what it keeps drifts from the kernel's truth. Hence:
/// - An entry whose watch the kernel dropped (IN_IGNORED) can never be removed, and hides a later one of the same name.
///   So each watch of a directory has its own spelling of the path, and events are told apart by descriptor alone.
/// - `inotifytools_next_event(0)` waits for ever, more than one event a call spins: so `next_events(t, 1)`.
/// - `inotifytools_cleanup` leaves events of the old descriptor in the buffer: they are drained at the next start.
/// - The descriptor is inherited by children, and `select` aborts the process when it is 1024 or more.
struct Inotify: ~Copyable {
    struct Event {
        let descriptor: Int32
        let mask: Int32
        let name: String
    }

    enum Wait {
        case none
        case seconds(Int)
        case forever
    }

    /// How many directories were asked for: what makes their spellings unique.
    private var generation: UInt64 = 0

    init() throws(SystemError) {
        let before = try Self.openDescriptors()
        guard inotifytools_initialize() == 1 else {
            throw SystemError(errno: Errno(rawValue: inotifytools_error()), call: "inotify_init")
        }
        do throws(SystemError) {
            try Self.secure(try Self.openDescriptors().subtracting(before))
        } catch {
            inotifytools_cleanup()
            throw error
        }
        // No watch yet: whatever comes is left over from an earlier use of the library.
        while next(.none) != nil {}
    }

    deinit {
        inotifytools_cleanup()
    }

    /// The next event, or nil when none came in time or the wait was interrupted.
    func next(_ wait: Wait) -> Event? {
        let seconds =
            switch wait {
            case .none: 0
            case .seconds(let seconds): seconds
            case .forever: -1
            }
        guard let event = unsafe inotifytools_next_events(seconds, 1) else {
            Self.check(Errno(rawValue: inotifytools_error()))
            return nil
        }
        let descriptor = unsafe event.pointee.wd
        return Event(
            descriptor: descriptor,
            mask: Int32(bitPattern: unsafe event.pointee.mask),
            name: unsafe Self.name(of: event)
        )
    }

    /// Watches a directory. Answers the descriptor, which is an old one if its inode is watched already.
    mutating func add(directory path: String, _ mask: Int32) throws(SystemError) -> Int32 {
        // With a spelling it would be the root.
        if path.isEmpty { throw SystemError(errno: .noSuchFile, call: "inotify_add_watch", path: path) }
        generation += 1
        return try add(path, spelling: Self.spelling(of: path, generation), mask | IN_ONLYDIR)
    }

    /// Watches a file whose name was never used before.
    func add(newFile path: String, _ mask: Int32) throws(SystemError) -> Int32 {
        try add(path, spelling: path, mask)
    }

    private func add(_ path: String, spelling: String, _ mask: Int32) throws(SystemError) -> Int32 {
        if path.utf8.contains(0) { throw SystemError(errno: .invalidArgument, call: "inotify_add_watch", path: path) }
        guard unsafe inotifytools_watch_file(spelling, mask) == 1 else {
            let reason = inotifytools_error()
            throw SystemError(
                errno: reason > 0 ? Errno(rawValue: reason) : .inputOutput,
                call: "inotify_add_watch",
                path: path
            )
        }
        // The library adds a slash to what it finds to be a directory, and only then.
        for name in [spelling + "/", spelling] {
            let descriptor = unsafe inotifytools_wd_from_filename(name)
            if descriptor >= 0 { return descriptor }
        }
        throw SystemError(errno: .outOfMemory, call: "inotify_add_watch", path: path)
    }

    /// Ends a watch. If the kernel has just done so itself, the library prints a line on stderr, and nothing is amiss.
    func remove(_ descriptor: Int32) {
        _ = inotifytools_remove_watch_by_wd(descriptor)
    }

    /// The same directory written otherwise for each number: its bits as "/" and "/.", the lowest first, so ending in "/.".
    static func spelling(of path: String, _ generation: UInt64) -> String {
        var spelling = path
        var rest = generation
        while rest > 0 {
            spelling += rest & 1 == 1 ? "/." : "/"
            rest >>= 1
        }
        return spelling
    }

    /// `inotify_event.name` is a flexible array, which Swift does not import: it begins where the struct ends.
    private static func name(of event: UnsafeMutablePointer<inotify_event>) -> String {
        let padded = unsafe UnsafeRawBufferPointer(start: event + 1, count: Int(event.pointee.len))
        return unsafe String(decoding: padded.prefix { $0 != 0 }, as: UTF8.self)
    }

    private static func check(_ reason: Errno) {
        switch reason.rawValue {
        case 0, EINTR: return
        case EBADF, EINVAL, EFAULT: preconditionFailure("inotify descriptor: \(reason)")
        // The kernel is out of memory: the events stay queued, so try again, but not at once.
        default: usleep(100_000)
        }
    }

    private static func openDescriptors() throws(SystemError) -> Set<Int32> {
        var found: Set<Int32> = []
        for name in try Files.list("/proc/self/fd") {
            guard let number = Int32(name), let target = try? Files.readLink("/proc/self/fd/\(name)") else { continue }
            if target == "anon_inode:inotify" || target == "anon_inode:[inotify]" { found.insert(number) }
        }
        return found
    }

    private static func secure(_ descriptors: Set<Int32>) throws(SystemError) {
        for descriptor in descriptors {
            if descriptor >= inotifytools_descriptor_limit { throw SystemError(errno: .tooManyFiles, call: "select") }
            inotifytools_close_on_exec(descriptor)
        }
    }
}
