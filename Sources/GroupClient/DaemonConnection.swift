import GroupModel
package import GroupProtocol
package import Varlink

/// A connection to the daemon, for one call at a time or for one stream. Blocking, within deadlines.
///
/// Owned by one thread. After any error but `refused`, `service` and `unknown` it is of no use any more; letting go of
/// it closes it.
package final class DaemonConnection {
    private let socket: UnixSocket
    private var splitter = MessageSplitter(limit: SettingsInterface.replyLimit)
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)
    /// The end of a pipe, open for writing only, to which the owner passes on what comes: without a reader there nothing is
    /// waited for any more. -1: none.
    package var outputPipe: Int32 = -1

    package init(to address: DaemonAddress, deadline: Deadline) throws(ConnectionError) {
        socket = try Self.connect(to: address.path, deadline)
    }

    private static func connect(to path: String, _ deadline: Deadline) throws(ConnectionError) -> UnixSocket {
        while true {
            do throws(UnixSocket.Failure) {
                return try UnixSocket(connectingTo: path)
            } catch {
                guard error.errno == UnixSocket.wouldBlock else {
                    throw .unreachable(path: path, ConnectionError.Obstacle(errno: error.errno))
                }
            }
            // The daemon's queue is full: there is no event to wait for, only the next attempt.
            guard !deadline.isOver else { throw .timedOut }
            Deadline(afterSeconds: 0.01).earlier(of: deadline).sleep()
        }
    }

    /// For who waits for several things at once; valid while this stands. What was received already does not show in it.
    package var descriptor: Int32 { socket.number }

    /// One call and its one reply.
    package func call(_ request: Request, deadline: Deadline) throws(ConnectionError) -> JSONObject {
        try send(request, deadline: deadline)
        let reply = try receive(deadline: deadline)
        guard !reply.continues else { throw .unexpectedReply }
        return reply.parameters
    }

    /// Begins a stream, whose replies `next` gives.
    package func watch(_ watches: [WatchedGroup], deadline: Deadline) throws(ConnectionError) {
        try send(.watch(watches), deadline: deadline)
    }

    /// The next event of the stream. A daemon that ends it has closed it.
    package func next(deadline: Deadline) throws(ConnectionError) -> WatchEvent {
        let reply = try receive(deadline: deadline)
        guard reply.continues else { throw .closed }
        guard let event = WatchEvent(wire: reply.parameters) else { throw .unexpectedReply }
        return event
    }

    private func send(_ request: Request, deadline: Deadline) throws(ConnectionError) {
        let bytes = request.callBytes
        // The NUL does not count. The daemon would close the connection; this says why.
        guard bytes.count - 1 <= SettingsInterface.messageLimit else {
            throw .refused(
                .tooLarge(
                    subject: "message", limit: Int64(SettingsInterface.messageLimit), size: Int64(bytes.count - 1)))
        }
        var sent = 0
        while sent < bytes.count {
            do throws(UnixSocket.Failure) {
                if let count = try socket.send(bytes, from: sent) {
                    sent += count
                    continue
                }
                if try socket.wait(toSend: true, until: deadline) { continue }
            } catch {
                // A daemon that refuses the connection says why before it closes.
                _ = try receive(deadline: deadline)
                throw .closed
            }
            throw .timedOut
        }
    }

    private func receive(deadline: Deadline) throws(ConnectionError) -> Reply {
        while true {
            if let reply = try bufferedReply() { return try accept(reply) }
            guard try fill(deadline) > 0 else { throw .closed }
        }
    }

    private func bufferedReply() throws(ConnectionError) -> Reply? {
        do throws(ProtocolViolation) {
            guard let message = try splitter.next() else { return nil }
            return try Reply(parsing: message)
        } catch {
            throw .violation(error)
        }
    }

    private func accept(_ reply: Reply) throws(ConnectionError) -> Reply {
        guard let name = reply.error else { return reply }
        if let error = GroupError(reply) { throw .refused(error) }
        if let error = ServiceError(reply) { throw .service(error) }
        throw .unknown(name)
    }

    /// What one recv gives, after waiting for it; 0 at the end of the stream.
    private func fill(_ deadline: Deadline) throws(ConnectionError) -> Int {
        while true {
            do throws(UnixSocket.Failure) {
                if let count = try socket.receive(into: &buffer) {
                    splitter.append(buffer.prefix(count))
                    return count
                }
                if try socket.waitToReceive(for: outputPipe, until: deadline) { continue }
            } catch {
                if error.errno == UnixSocket.brokenPipe { throw .outputClosed }
                // On a socket that was connected: the daemon is gone, whatever the number.
                throw .closed
            }
            throw .timedOut
        }
    }
}

extension ConnectionError.Obstacle {
    package init(errno: Int32) {
        switch errno {
        case UnixSocket.noSuchFile, UnixSocket.notDirectory: self = .absent
        case UnixSocket.connectionRefused: self = .stale
        case UnixSocket.accessDenied, UnixSocket.notPermitted: self = .permissionDenied
        default: self = .other(errno: errno)
        }
    }
}
