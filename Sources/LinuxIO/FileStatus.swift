import Glibc

/// What stat tells about a file, in plain numbers.
package struct FileStatus: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case regular, directory, symlink, fifo, socket, characterDevice, blockDevice, other
    }

    package let device: UInt64
    package let inode: UInt64
    package let size: Int64
    /// Permission bits only (07777).
    package let mode: UInt32
    package let uid: UInt32
    package let gid: UInt32
    package let mtimeNanoseconds: Int64
    package let ctimeNanoseconds: Int64
    package let kind: Kind
    package let linkCount: UInt64

    package var identity: FileIdentity {
        FileIdentity(
            device: device,
            inode: inode,
            size: size,
            mtimeNanoseconds: mtimeNanoseconds,
            ctimeNanoseconds: ctimeNanoseconds
        )
    }
}

/// Which file, in which state: equal identities mean that nobody wrote to it in between, as far as the kernel's clock
/// can tell (its grain is a tick, so a file written within the last ticks needs a look at its content too).
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    package let size: Int64
    package let mtimeNanoseconds: Int64
    package let ctimeNanoseconds: Int64

    package init(device: UInt64, inode: UInt64, size: Int64, mtimeNanoseconds: Int64, ctimeNanoseconds: Int64) {
        self.device = device
        self.inode = inode
        self.size = size
        self.mtimeNanoseconds = mtimeNanoseconds
        self.ctimeNanoseconds = ctimeNanoseconds
    }
}

extension FileStatus {
    init(_ info: stat) {
        device = UInt64(info.st_dev)
        inode = UInt64(info.st_ino)
        size = Int64(info.st_size)
        mode = UInt32(info.st_mode) & 0o7777
        uid = info.st_uid
        gid = info.st_gid
        mtimeNanoseconds = Self.nanoseconds(info.st_mtim)
        ctimeNanoseconds = Self.nanoseconds(info.st_ctim)
        kind = Kind(mode: info.st_mode)
        linkCount = UInt64(info.st_nlink)
    }

    /// A file system may hold any number as a time (and this is foreign input): wrap instead of trap.
    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}

extension FileStatus.Kind {
    init(mode: mode_t) {
        switch mode & S_IFMT {
        case S_IFREG: self = .regular
        case S_IFDIR: self = .directory
        case S_IFLNK: self = .symlink
        case S_IFIFO: self = .fifo
        case S_IFSOCK: self = .socket
        case S_IFCHR: self = .characterDevice
        case S_IFBLK: self = .blockDevice
        default: self = .other
        }
    }
}
