package import LinuxIO

/// What happened to a name in a watched directory.
package enum WatchEventKind: Sendable, Hashable {
    case closedAfterWriting
    case movedIn
    case created
    case deleted
    case movedOut
    /// Mode, owner, times or number of links.
    case attributes
}

/// What a `Watcher` reports: plain values, in the order of the kernel. Directories are named as they were given to
/// `watch`, without a slash at the end.
package enum WatchEvent: Sendable, Hashable {
    /// The name is empty when it is the directory itself whose attributes changed. Bytes of a name that are not UTF-8
    /// come as U+FFFD.
    case changed(directory: String, name: String, kind: WatchEventKind)
    /// Deleted, renamed or unmounted: it is not watched any more, whatever has its name now. While a process stands in
    /// a deleted directory, the kernel keeps this back.
    case directoryGone(directory: String)
    /// Events were lost, `directoryGone` perhaps among them: watch every directory again, then list it.
    case overflow
    /// All that had happened when `barrier` was called has been reported.
    case barrier(UInt64)
    case barrierFailed(UInt64, Errno)
    /// The watch stands: what happens from now on is reported, so the directory may be listed.
    case watching(directory: String)
    /// ENOSPC: the user has no watches left (fs.inotify.max_user_watches).
    case watchFailed(directory: String, Errno)
}
