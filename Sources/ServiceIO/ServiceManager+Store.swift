import CShims
import CSystemd
import Glibc
package import LinuxIO

/// The descriptor store: what the manager keeps for the next start of the service (FileDescriptorStoreMax= of the unit). It
/// does so over a restart; where the service is stopped for good, it closes them.
extension ServiceManager {
    /// What it takes in one message (SCM_MAX_FD is 253).
    private static let batch = 200

    /// Whether there may be one.
    package static var hasStore: Bool { isPresent }

    /// Gives copies of descriptors to the manager. Whether it took them nobody says: the unit may have no store, or a full
    /// one. By the name they come back, and are to be forgotten.
    ///
    /// - Returns: false where no manager is.
    @discardableResult
    package static func store(_ descriptors: [RawDescriptor], name: String) -> Bool {
        var rest = descriptors.map(\.rawValue)[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(batch))
            rest = rest.dropFirst(batch)
            let result = unsafe part.withUnsafeBufferPointer {
                unsafe sd_pid_notify_with_fds(
                    0, 0, "FDSTORE=1\nFDNAME=\(name)", $0.baseAddress, UInt32($0.count))
            }
            if result <= 0 { return false }
        }
        return true
    }

    /// The manager lets go of what it has under this name.
    package static func forgetStored(_ name: String) {
        notify("FDSTOREREMOVE=1\nFDNAME=\(name)")
    }

    /// Returns when the manager has dealt with all that it was told, or after a time.
    package static func waitUntilHeard(microseconds: UInt64) {
        _ = sd_notify_barrier(0, microseconds)
    }
}

extension FileDescriptor {
    /// A file without a name that nobody can change any more, with these bytes.
    package static func sealed(_ name: String, _ bytes: [UInt8]) throws(SystemError) -> FileDescriptor {
        let number = try systemCall("memfd_create") {
            unsafe bytes.withUnsafeBytes { unsafe cshim_memfd_sealed(name, $0.baseAddress, $0.count) }
        }
        return FileDescriptor(owning: number)
    }

    /// Whether this is such a file: then nobody changes it while it is read.
    package var isSealed: Bool { cshim_is_sealed(rawValue) == 1 }
}
