package import LinuxIO

/// Why a journal could not be opened or read.
package enum JournalError: Error, Equatable, Sendable {
    /// There is no such file.
    case absent
    /// Something other than an interrupted append spoilt it. The file was not touched.
    case damaged(offset: UInt64, reason: String)
    case system(SystemError)
}

extension JournalError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .absent: "no journal"
        case .damaged(let offset, let reason): "damaged at byte \(offset): \(reason)"
        case .system(let error): error.description
        }
    }
}
