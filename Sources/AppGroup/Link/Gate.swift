import CShims
import GroupClient

/// Something that a thread may wait for, within a deadline; once open it stays open.
///
/// Safe for any thread. Holds one descriptor as long as it stands, so it is made for a wait and dropped after it.
final class Gate: Sendable {
    private let descriptor: Int32

    init() {
        descriptor = cshim_wake_create()
    }

    deinit {
        if descriptor >= 0 { _ = cshim_close(descriptor) }
    }

    func open() {
        if descriptor >= 0 { cshim_wake_signal(descriptor) }
    }

    /// False when the time was over first (or no descriptor could be had).
    func wait(until deadline: Deadline) -> Bool {
        descriptor >= 0 && cshim_poll(descriptor, CSHIM_POLLIN, -1, deadline.milliseconds) > 0
    }
}
