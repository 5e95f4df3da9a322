import CShims

/// A thread of its own, where tasks would share as many as there are processors.
struct StressThread {
    private final class Body {
        let run: () -> Void
        init(_ run: @escaping () -> Void) { self.run = run }
    }

    private var thread = cshim_thread()

    /// Nil when the system gives none.
    init?(_ run: @escaping @Sendable () -> Void) {
        let call: @convention(c) (UnsafeMutableRawPointer?) -> Void = { pointer in
            guard let pointer = unsafe pointer else { return }
            unsafe Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().run()
        }
        let retained = unsafe Unmanaged.passRetained(Body(run))
        if unsafe cshim_thread_start(&thread, "stress", call, retained.toOpaque()) != 0 {
            unsafe retained.release()
            return nil
        }
    }

    func join() {
        _ = cshim_thread_join(thread)
    }
}
