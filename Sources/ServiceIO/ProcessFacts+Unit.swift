import CSystemd
import Glibc
package import LinuxIO

extension ProcessFacts {
    /// The systemd user unit that a process belongs to. A hint for logs: it can be raced and is no ground for access.
    package static func systemdUnit(ofProcess pid: Int32) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard unsafe sd_pid_get_user_unit(pid, &text) >= 0, let text = unsafe text else { return nil }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }
}
