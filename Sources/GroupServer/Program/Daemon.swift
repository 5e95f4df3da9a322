package import LinuxIO
package import ServiceIO

/// The daemon: the one actor that owns all state, on the event loop as its executor. Everything that other threads have
/// to say comes in by `enter`.
package actor Daemon {
    package nonisolated let loop: EventLoop
    private var server: Server?

    // The one use of an unsafe type outside the edge: how an actor names its executor.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    package init(loop: EventLoop) {
        self.loop = loop
    }

    /// Runs `body` with the server on the loop's thread; nothing once the daemon has ended.
    private nonisolated func enter(_ body: @escaping @Sendable (Server) -> Void) {
        loop.post {
            self.assumeIsolated { daemon in
                if let server = daemon.server { body(server) }
            }
        }
    }

    /// Opens all groups, and serves from then on.
    ///
    /// - Returns: what keeps the daemon from starting at all; a group that cannot be opened does not.
    package func start(
        _ listener: ListeningSocket, _ inheritance: Inheritance?, paths: Paths, configuration: Configuration,
        configurationFile: String?
    ) -> Result<Void, SystemError> {
        do throws(SystemError) {
            let server = try Server(loop: loop, paths: paths, configuration: configuration) { body in self.enter(body) }
            self.server = server
            server.configurationFile = configurationFile
            return .success(try server.start(listener, inheritance))
        } catch {
            return .failure(error)
        }
    }

    /// Serves until `stop` or a signal ends the loop.
    ///
    /// - Returns: the exit status.
    package func run() -> Result<Int32, SystemError> {
        guard let server else { return .success(0) }
        do throws(SystemError) {
            let status = try loop.run(front: server.poller) { count in
                server.turn { server.serveReadyConnections(count) }
            }
            return .success(status)
        } catch {
            return .failure(error)
        }
    }

    /// After the loop has ended: everything that is still in memory goes to the disk.
    package func finish() {
        server?.finish()
        server = nil
    }
}
