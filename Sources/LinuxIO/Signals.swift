import CShims  // the compiler may meet <signal.h> there first
import Glibc

/// The signals that programs handle, by what they ask of it.
package enum Signals {
    /// Write everything out and end.
    package static var terminate: Int32 { SIGTERM }
    /// The same, from a terminal.
    package static var interrupt: Int32 { SIGINT }
    /// Read the configuration again.
    package static var hangUp: Int32 { SIGHUP }

    /// Ends the process by a signal that it had taken over, so that its parent sees what it was.
    package static func end(by number: Int32) -> Never {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, number)
        _ = signal(number, SIG_DFL)
        unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
        exit(128 + number)
    }
}
