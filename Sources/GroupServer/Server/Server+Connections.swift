import GroupModel
import GroupProtocol
import LinuxIO
import ServiceIO
import Varlink

extension Server {
    /// Takes the clients that wait at the socket.
    func acceptClients(from listener: ListeningSocket) {
        while !isStopping {
            do throws(SystemError) {
                guard let socket = try listener.accept() else { return }
                accept(socket)
            } catch  where error.errno.isShortageOfDescriptors {
                // The client stays in the queue and would wake us at once, for ever: look again after a while.
                Log.warning("no descriptor left for another client: \(error)")
                sources.pauseListening()
                return
            } catch {
                Log.warning("a client could not be accepted: \(error)")
                return
            }
        }
    }

    private func accept(_ socket: consuming UnixSocket) {
        if admit(socket) != nil { statusChanged() }
    }

    /// - Returns: nil where the client is refused, and the connection closed.
    func admit(_ socket: consuming UnixSocket) -> Connection? {
        guard let credentials = try? socket.peerCredentials(), credentials.uid == ProcessFacts.effectiveUserID else {
            Log.warning("a client of another user was refused")
            return nil
        }
        guard connections.count < connectionLimit else {
            Log.warning("a client was refused: there are \(connections.count) already (MaxConnections=)")
            return nil
        }
        let id = nextConnection
        nextConnection += 1
        let connection = Connection(
            id: id, socket: socket, credentials: credentials, messageLimit: configuration.messageSize)
        guard (try? poller.add(connection.socket.raw, token: id, .readable)) != nil else { return nil }
        connections[id] = connection
        idleExit.end()
        return connection
    }

    /// Says once of a client that more waits for it than may.
    func noteSlow(_ connection: Connection, _ group: GroupIdentifier?) {
        guard !connection.isKnownAsSlow else { return }
        connection.isKnownAsSlow = true
        let origin = connection.origin.origin
        let name = "\(origin.client ?? "a client")[\(connection.credentials.pid)]"
        Log.notice(
            "\(name) does not read what it watches; its changes are put together", .slowClient,
            about: Log.Subject(group: group?.string, origin: name))
    }

    /// Forgets a connection that goes on without us: nobody at its other end is told anything.
    func letGo(of connection: Connection) {
        connections[connection.id] = nil
        connection.isClosed = true
        try? poller.remove(connection.socket.raw)
    }

    var connectionLimit: Int {
        configuration.connections ?? max(Int(ProcessFacts.descriptorLimit()) * 3 / 4, 16)
    }

    /// What the poller saw.
    func serveReadyConnections(_ count: Int) {
        for index in 0..<count {
            let event = poller[index]
            // A token is never used twice: an event for a connection that this turn closed finds nobody, and so does the
            // loop's own.
            guard let connection = connection(event.token) else { continue }
            handle(event.events, of: connection)
        }
    }

    private func handle(_ events: PollEvents, of connection: Connection) {
        if events.contains(.writable) { markDirty(connection) }
        if events.contains(.readable), connection.wantsInput {
            guard let count = connection.receive(into: &receiveBuffer) else { return close(connection) }
            markDirty(connection)
            let taken = takeOrdinarySets(count, from: connection)
            if taken < count {
                connection.append(receiveBuffer[taken..<count])
                serve(connection)
            }
            // The end of the turn looks at it once more.
            return
        } else if events.contains(.hangUp) || events.contains(.error) {
            // Closed on both sides: nobody is there to read what is left.
            return close(connection)
        }
        settle(connection)
    }

    /// After anything was done for a connection: ends it if it is over, else waits for what it needs next.
    func settle(_ connection: Connection) {
        guard !connection.isClosed else { return }
        if connection.isFinished { return close(connection) }
        let interest = connection.wantedInterest
        guard interest != connection.interest else { return }
        connection.interest = interest
        try? poller.modify(connection.socket.raw, token: connection.id, interest)
    }

    /// Serves the calls that have come whole, as long as the connection may have more of them.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    func serve(_ connection: Connection) -> Bool {
        var hasServed = false
        do throws(ProtocolViolation) {
            while let message = try connection.nextMessage() {
                hasServed = true
                if let write = WriteRequest(ordinaryCall: message.span, probably: recentHost?.identifier) {
                    dispatch(write, from: connection)
                } else {
                    dispatch(try Call(parsing: message), from: connection)
                }
            }
        } catch {
            // UAPI.20: what breaks the protocol ends the connection, without a reply; the calls before it get theirs.
            Log.info("client \(connection.credentials.pid): \(error); the connection is closed")
            connection.endReading()
            markDirty(connection)
        }
        return hasServed
    }

    /// Serves what comes most on the shortest way, where it was received: sets in the group that was written to last.
    ///
    /// - Returns: how many of the bytes received they have.
    private func takeOrdinarySets(_ count: Int, from connection: Connection) -> Int {
        guard let recentHost, connection.confinement == nil, connection.isBetweenMessages else { return 0 }
        let received = receiveBuffer
        return recentHost.takeOrdinarySets(received.span.extracting(first: count), from: connection)
    }

    func close(_ connection: Connection) {
        guard connections.removeValue(forKey: connection.id) != nil else { return }
        connection.isClosed = true
        forget(connection)
        try? poller.remove(connection.socket.raw)
        for group in connection.watches.map(\.group) {
            audiences[group]?.remove(connection)
            if audiences[group]?.isEmpty == true { audiences[group] = nil }
        }
        endDocuments(of: connection)
        connection.stream = nil
        connection.socket.shutdown()
        statusChanged()
        considerIdle()
    }
}
