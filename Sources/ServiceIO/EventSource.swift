import CShims
import CSystemd
import Glibc
package import LinuxIO

/// One source of an `EventLoop`: what the kinds have in common. Belongs to the loop's thread; the object is the
/// registration, so that dropping it (or `cancel`) ends the calls, also from inside its own handler.
@safe
package class EventSource {
    let loop: EventLoop
    /// Null after `cancel`.
    fileprivate(set) var source: OpaquePointer?
    private var handler: (() -> Void)?

    fileprivate init(loop: EventLoop, handler: @escaping () -> Void) {
        loop.preconditionOnLoop()
        self.loop = loop
        self.handler = handler
        loop.noteChange()
    }

    deinit {
        unsafe sd_event_source_disable_unref(source)
    }

    /// No further call, for good.
    package func cancel() {
        unsafe sd_event_source_disable_unref(source)
        unsafe source = nil
        handler = nil
    }

    /// Whether the handler is called when something happens. A one-shot source is off after its call.
    package var isEnabled: Bool {
        get {
            guard unsafe source != nil else { return false }
            return unsafe sd_event_source_get_enabled(source, nil) > 0
        }
        set { setEnabled(newValue ? SD_EVENT_ON : SD_EVENT_OFF) }
    }

    /// Smaller comes first; 0 is the normal one. Sources of one priority take turns.
    package func setPriority(_ priority: Int64) {
        unsafe _ = sd_event_source_set_priority(source, priority)
        loop.noteChange()
    }

    /// Shown in the loop's own diagnostics.
    package func setDescription(_ text: String) {
        unsafe _ = sd_event_source_set_description(source, text)
    }

    fileprivate func setEnabled(_ mode: Int) {
        guard unsafe source != nil else { return }
        unsafe _ = sd_event_source_set_enabled(source, Int32(mode))
        loop.noteChange()
    }

    fileprivate var userData: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

    /// Called from C. The strong reference keeps the object while its handler runs, even if that drops the last other.
    fileprivate static func dispatch(_ userData: UnsafeMutableRawPointer?, _ events: UInt32 = 0) -> Int32 {
        guard let userData = unsafe userData else { return 0 }
        let source = unsafe Unmanaged<EventSource>.fromOpaque(userData).takeUnretainedValue()
        source.prepareForHandler(events)
        source.handler?()
        // A negative result would switch the source off behind our back.
        return 0
    }

    fileprivate func prepareForHandler(_ events: UInt32) {}
}

/// Calls its handler while a descriptor is ready. The descriptor stays with its owner, who must drop the source first.
package final class IOSource: EventSource {
    /// What it became ready for, valid inside the handler.
    package private(set) var readyEvents: PollEvents = []

    package init(
        _ loop: EventLoop,
        _ descriptor: RawDescriptor,
        _ events: PollEvents,
        handler: @escaping () -> Void
    ) throws(SystemError) {
        super.init(loop: loop, handler: handler)
        let callback: sd_event_io_handler_t = { _, _, events, userData in
            unsafe EventSource.dispatch(userData, events)
        }
        try unsafe sdCall(
            "sd_event_add_io",
            sd_event_add_io(loop.event, &source, descriptor.rawValue, events.rawValue, callback, userData)
        )
    }

    package func setEvents(_ events: PollEvents) {
        unsafe _ = sd_event_source_set_io_events(source, events.rawValue)
        loop.noteChange()
    }

    override fileprivate func prepareForHandler(_ events: UInt32) {
        readyEvents = PollEvents(rawValue: events)
    }
}

/// Calls its handler once when a time has come; armed again as often as wanted. Starts disarmed.
package final class TimerSource: EventSource {
    /// `accuracy`: how many microseconds it may be late so that the kernel can bundle wake-ups.
    package init(
        _ loop: EventLoop,
        accuracyMicroseconds accuracy: UInt64 = 1,
        handler: @escaping () -> Void
    ) throws(SystemError) {
        super.init(loop: loop, handler: handler)
        let callback: sd_event_time_handler_t = { _, _, userData in unsafe EventSource.dispatch(userData) }
        try unsafe sdCall(
            "sd_event_add_time",
            // 0 would mean the default of 250 ms.
            sd_event_add_time(loop.event, &source, CLOCK_MONOTONIC, .max, max(accuracy, 1), callback, userData)
        )
        setEnabled(SD_EVENT_OFF)
    }

    /// At a time of the monotonic clock.
    package func arm(atMonotonicMicroseconds time: Int64) {
        guard unsafe source != nil else { return }
        unsafe _ = sd_event_source_set_time(source, UInt64(clamping: time))
        setEnabled(SD_EVENT_ONESHOT)
    }

    package func arm(afterMicroseconds delay: Int64) {
        let (time, overflow) = ProcessFacts.monotonicMicroseconds().addingReportingOverflow(max(delay, 0))
        arm(atMonotonicMicroseconds: overflow ? .max : time)
    }

    package func disarm() {
        setEnabled(SD_EVENT_OFF)
    }

    package var isArmed: Bool { isEnabled }
}

/// Calls its handler for a signal, which must be blocked in all threads (`EventLoop.blockSignals`).
package final class SignalSource: EventSource {
    package init(_ loop: EventLoop, _ signal: Int32, handler: @escaping () -> Void) throws(SystemError) {
        super.init(loop: loop, handler: handler)
        let callback: sd_event_signal_handler_t = { _, _, userData in unsafe EventSource.dispatch(userData) }
        try unsafe sdCall("sd_event_add_signal", sd_event_add_signal(loop.event, &source, signal, callback, userData))
    }
}

/// Calls its handler at a point of the turn and not for a descriptor.
package final class HookSource: EventSource {
    package enum Moment {
        /// Before the loop sleeps, whenever any other source has run: the end of the turn.
        case endOfTurn
        /// Once, in the next turn after `arm`.
        case whenArmed
        /// When the loop exits, before `run` returns.
        case exit
    }

    package init(_ loop: EventLoop, _ moment: Moment, handler: @escaping () -> Void) throws(SystemError) {
        super.init(loop: loop, handler: handler)
        let callback: sd_event_handler_t = { _, userData in unsafe EventSource.dispatch(userData) }
        switch moment {
        case .endOfTurn:
            try unsafe sdCall("sd_event_add_post", sd_event_add_post(loop.event, &source, callback, userData))
            setEnabled(SD_EVENT_ON)
        case .whenArmed:
            try unsafe sdCall("sd_event_add_defer", sd_event_add_defer(loop.event, &source, callback, userData))
            setEnabled(SD_EVENT_OFF)
        case .exit:
            try unsafe sdCall("sd_event_add_exit", sd_event_add_exit(loop.event, &source, callback, userData))
        }
    }

    /// The handler runs once.
    package func arm() {
        setEnabled(SD_EVENT_ONESHOT)
    }
}
