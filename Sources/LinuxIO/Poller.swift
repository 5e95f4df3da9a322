import CShims

/// What a descriptor can be ready for: the bits of epoll.
package struct PollEvents: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package static var readable: PollEvents { PollEvents(rawValue: UInt32(CSHIM_EPOLLIN)) }
    package static var writable: PollEvents { PollEvents(rawValue: UInt32(CSHIM_EPOLLOUT)) }
    package static var priority: PollEvents { PollEvents(rawValue: UInt32(CSHIM_EPOLLPRI)) }
    /// Always reported, asked for or not.
    package static var error: PollEvents { PollEvents(rawValue: UInt32(CSHIM_EPOLLERR)) }
    package static var hangUp: PollEvents { PollEvents(rawValue: UInt32(CSHIM_EPOLLHUP)) }
    package static var peerClosed: PollEvents { PollEvents(rawValue: UInt32(CSHIM_EPOLLRDHUP)) }
}

/// An epoll of its own for the client connections, in front of the event loop (`EventLoop.serve`): a turn then serves all
/// that are ready and ends once, so that their commits share one write and their answers one flush.
///
/// Each registration has a token that its owner never uses twice: an event for a descriptor whose number has been
/// given to a newer connection carries the old token, and the owner drops it. Belongs to the loop's thread.
package final class Poller {
    package struct Event: Hashable, Sendable {
        package let token: UInt64
        package let events: PollEvents

        package init(token: UInt64, events: PollEvents) {
            self.token = token
            self.events = events
        }
    }

    private let epoll: FileDescriptor
    /// Filled by the kernel at each wait.
    private var tokens = [UInt64](repeating: 0, count: Int(CSHIM_EPOLL_BATCH))
    private var masks = [UInt32](repeating: 0, count: Int(CSHIM_EPOLL_BATCH))

    package init() throws(SystemError) {
        epoll = FileDescriptor(owning: try systemCall("epoll_create1") { cshim_epoll_create() })
    }

    /// Readable while something is ready.
    package var descriptor: RawDescriptor { epoll.raw }

    package func add(_ descriptor: RawDescriptor, token: UInt64, _ events: PollEvents) throws(SystemError) {
        _ = try systemCall("epoll_ctl") {
            cshim_epoll_add(epoll.rawValue, descriptor.rawValue, token, events.rawValue)
        }
    }

    package func modify(_ descriptor: RawDescriptor, token: UInt64, _ events: PollEvents) throws(SystemError) {
        _ = try systemCall("epoll_ctl") {
            cshim_epoll_modify(epoll.rawValue, descriptor.rawValue, token, events.rawValue)
        }
    }

    /// Before the descriptor is closed: a duplicate of it elsewhere would keep the registration alive.
    package func remove(_ descriptor: RawDescriptor) throws(SystemError) {
        _ = try systemCall("epoll_ctl") { cshim_epoll_remove(epoll.rawValue, descriptor.rawValue) }
    }

    /// What is ready now, or within the time-out: at most a batch (256). More stays for the next turn.
    package func wait(timeoutMilliseconds: Int32 = 0) throws(SystemError) -> [Event] {
        let count = try fill(timeoutMilliseconds: timeoutMilliseconds)
        return (0..<count).map { self[$0] }
    }

    /// The same without an array for the result.
    ///
    /// - Parameter timeoutMilliseconds: -1: for ever.
    /// - Throws: only for a bug.
    /// - Returns: how many are ready; they stand at the subscripts below until the next time.
    package func fill(timeoutMilliseconds: Int32) throws(SystemError) -> Int {
        let limit = CSHIM_EPOLL_BATCH
        let count = try systemCall("epoll_wait") {
            unsafe tokens.withUnsafeMutableBufferPointer { tokens in
                unsafe masks.withUnsafeMutableBufferPointer { masks in
                    unsafe cshim_epoll_wait(
                        epoll.rawValue,
                        tokens.baseAddress,
                        masks.baseAddress,
                        limit,
                        timeoutMilliseconds
                    )
                }
            }
        }
        return Int(count)
    }

    package subscript(index: Int) -> Event {
        Event(token: tokens[index], events: PollEvents(rawValue: masks[index]))
    }
}
