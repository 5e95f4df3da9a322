import GroupClient
import GroupProtocol
import Varlink

/// One connection of the link to the daemon: bytes out, messages in. It never waits. Owned by the link's state.
final class Channel {
    private let socket: UnixSocket
    private var splitter = MessageSplitter(limit: SettingsInterface.replyLimit)
    private var outgoing: [UInt8] = []
    private var sent = 0

    init(connectingTo path: String) throws(UnixSocket.Failure) {
        socket = try UnixSocket(connectingTo: path)
    }

    var descriptor: Int32 { socket.number }
    var hasOutgoing: Bool { sent < outgoing.count }
    var outgoingSize: Int { outgoing.count - sent }

    func enqueue(_ bytes: [UInt8]) {
        if hasOutgoing { outgoing += bytes } else { (outgoing, sent) = (bytes, 0) }
    }

    /// Sends as far as the socket takes it.
    ///
    /// - Returns: false when the daemon is gone.
    func flush() -> Bool {
        while hasOutgoing {
            do throws(UnixSocket.Failure) {
                guard let count = try socket.send(outgoing, from: sent) else { return true }
                sent += count
            } catch {
                return false
            }
        }
        outgoing = []
        sent = 0
        return true
    }

    /// Takes what the socket has, at most one buffer full.
    ///
    /// - Returns: false at the end of the stream.
    func receive(into buffer: inout [UInt8]) -> Bool {
        do throws(UnixSocket.Failure) {
            guard let count = try socket.receive(into: &buffer) else { return true }
            splitter.append(buffer[..<count])
            return count > 0
        } catch {
            return false
        }
    }

    /// Takes all that the socket has. It ends, since a call has one reply and none is made meanwhile.
    ///
    /// - Returns: false at the end of the stream.
    func receiveAll(into buffer: inout [UInt8]) -> Bool {
        while true {
            do throws(UnixSocket.Failure) {
                guard let count = try socket.receive(into: &buffer) else { return true }
                splitter.append(buffer[..<count])
                if count == 0 { return false }
                // Less than a buffer full is all there was.
                if count < buffer.count { return true }
            } catch {
                return false
            }
        }
    }

    func nextReply() throws(ProtocolViolation) -> Reply? {
        guard let message = try splitter.next() else { return nil }
        return try Reply(parsing: message)
    }
}
