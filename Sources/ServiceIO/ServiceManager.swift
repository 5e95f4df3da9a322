import CSystemd
import Glibc
package import LinuxIO

/// The protocol with systemd: what it passes in, and what it is told. Everything does nothing where no systemd is.
package enum ServiceManager {
    /// A descriptor from the socket unit or the descriptor store. The receiver owns it.
    package struct PassedDescriptor: Hashable, Sendable {
        /// `FileDescriptorName=` of the unit.
        package let name: String
        package let rawValue: Int32
    }

    /// What systemd passed in, and forgets about it: the variables are unset, so that no child takes them for its own.
    /// First thing in main, before other threads exist (setenv is not thread-safe). CLOEXEC is set.
    package static func takePassedDescriptors() -> [PassedDescriptor] {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe sd_listen_fds_with_names(1, &names)
        guard count > 0, let names = unsafe names else { return [] }
        defer { unsafe free(names) }
        return (0..<Int(count)).map { index in
            let name = unsafe names[index]
            defer { unsafe free(name) }
            let text = unsafe name.map { unsafe String(cString: $0) } ?? ""
            return PassedDescriptor(name: text, rawValue: SD_LISTEN_FDS_START + Int32(index))
        }
    }

    /// Whether a manager runs us and wants to hear from us.
    package static var isPresent: Bool { ProcessFacts.environment("NOTIFY_SOCKET") != nil }

    /// Sends lines `NAME=value`. Failures are of no concern to a service.
    package static func notify(_ state: String) {
        unsafe _ = sd_notify(0, state)
    }

    package static func notifyReady(status: String) {
        notify("READY=1\nSTATUS=\(oneLine(status))")
    }

    package static func notifyStatus(_ status: String) {
        notify("STATUS=\(oneLine(status))")
    }

    package static func notifyStopping(status: String = "") {
        notify("STOPPING=1\nSTATUS=\(oneLine(status))")
    }

    /// To be followed by `notifyReady`. The time is for `Type=notify-reload`; older managers ignore it.
    package static func notifyReloading() {
        notify("RELOADING=1\nMONOTONIC_USEC=\(ProcessFacts.monotonicMicroseconds())")
    }

    /// Why the service fails, before it exits.
    package static func notifyFailure(_ errno: Errno, status: String) {
        notify("ERRNO=\(errno.rawValue)\nSTATUS=\(oneLine(status))")
    }

    /// The watchdog's time, when it watches this process.
    package static func watchdogMicroseconds() -> UInt64? {
        var interval: UInt64 = 0
        return unsafe sd_watchdog_enabled(0, &interval) > 0 ? interval : nil
    }

    /// A line break would begin a new variable.
    private static func oneLine(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 ? " " : $0 }))
    }
}
