import GroupFiles
import GroupProtocol
import LinuxIO
import ServiceIO

/// The program `appgroupd`: from the command line to the exit status.
package enum Program {
    /// Exit statuses, as in sysexits.h.
    private enum Status {
        static let failure: Int32 = 1
        static let usage: Int32 = 64
        static let temporaryFailure: Int32 = 75
        static let configuration: Int32 = 78
    }

    private struct Exit: Error {
        var status: Int32
        var text: String
    }

    /// Runs the daemon in this thread, which must be the process's first and only one.
    ///
    /// - Parameter arguments: the program's name first.
    /// - Returns: the exit status.
    package static func run(_ arguments: [String]) -> Int32 {
        StandardDescriptors.occupy()
        // Before there is any other thread: one that does not block them would take them.
        EventLoop.blockSignals()
        let passed = ServiceManager.takePassedDescriptors()
        var listener: ListeningSocket?
        do throws(Exit) {
            let inheritance = Inheritance(passed)
            listener = try adopt(passed)
            return try run(options(arguments), listener, inheritance)
        } catch {
            Log.error(error.text)
            ServiceManager.notifyStatus(error.text)
            if let listener { refuseClients(of: listener) }
            return error.status
        }
    }

    /// Nobody will serve those who wait at systemd's socket: they are told at once, and do not make it start us again and
    /// again.
    private static func refuseClients(of listener: ListeningSocket) {
        while let client = try? listener.accept() { client.shutdown() }
    }

    /// The socket that systemd passed, if it did.
    private static func adopt(_ passed: [ServiceManager.PassedDescriptor]) throws(Exit) -> ListeningSocket? {
        let sockets = passed.filter { !Inheritance.names.contains($0.name) }
        guard let descriptor = sockets.first(where: { $0.name == "varlink" }) ?? sockets.first else { return nil }
        do throws(ListeningSocket.Failure) {
            return try .adopt(FileDescriptor(owning: descriptor.rawValue))
        } catch {
            throw Exit(status: Status.failure, text: error.description)
        }
    }

    private static func options(_ arguments: [String]) throws(Exit) -> CommandLineOptions {
        do throws(CommandLineOptions.UsageError) {
            return try CommandLineOptions(Array(arguments.dropFirst()))
        } catch {
            throw Exit(status: Status.usage, text: error.text)
        }
    }

    private static func run(
        _ options: CommandLineOptions, _ passed: ListeningSocket?, _ inheritance: Inheritance?
    ) throws(Exit) -> Int32 {
        switch options.action {
        case .help:
            print(CommandLineOptions.help, terminator: "")
            return 0
        case .version:
            print("appgroupd \(Version.string)")
            return 0
        case .manual(let name):
            guard let page = ManualPages.page(named: name) else {
                throw Exit(status: Status.usage, text: "there is no manual page \(name)")
            }
            print(page, terminator: "")
            return 0
        case .checkConfiguration: return try checkConfiguration(options)
        case .run: return try serve(options, passed, inheritance)
        }
    }

    private static func paths(_ options: CommandLineOptions) throws(Exit) -> Paths {
        do throws(Paths.Problem) {
            return try Paths(
                options.paths, environment: ProcessFacts.environment, home: ProcessFacts.homeDirectory())
        } catch {
            throw Exit(status: Status.configuration, text: error.description)
        }
    }

    private static func configuration(
        _ options: CommandLineOptions, _ paths: Paths
    ) throws(Exit) -> ConfigurationReader {
        do throws(SystemError) {
            return try ConfigurationReader.load(options.configuration, paths: paths)
        } catch {
            throw Exit(status: Status.configuration, text: "the configuration cannot be read: \(error)")
        }
    }

    private static func checkConfiguration(_ options: CommandLineOptions) throws(Exit) -> Int32 {
        let reader = try configuration(options, paths(options))
        for warning in reader.warnings { print(warning) }
        return reader.warnings.isEmpty ? 0 : Status.configuration
    }

    private static func serve(
        _ options: CommandLineOptions, _ passed: ListeningSocket?, _ inheritance: Inheritance?
    ) throws(Exit) -> Int32 {
        let paths = try paths(options)
        let reader = try configuration(options, paths)
        reader.logWarnings()
        let store = try StoreLock(paths)
        let listener = if let passed { passed } else { try bind(paths) }
        do throws(SystemError) {
            let loop = try EventLoop()
            let daemon = Daemon(loop: loop)
            let started = daemon.assumeIsolated { daemon in
                daemon.start(
                    listener, inheritance, paths: paths, configuration: reader.configuration,
                    configurationFile: options.configuration)
            }
            try started.get()
            let status = try daemon.assumeIsolated { $0.run() }.get()
            daemon.assumeIsolated { $0.finish() }
            withExtendedLifetime(store) {}
            return status
        } catch {
            ServiceManager.notifyFailure(error.errno, status: "\(error)")
            throw Exit(status: Status.failure, text: "\(error)")
        }
    }

    /// A socket of our own.
    private static func bind(_ paths: Paths) throws(Exit) -> ListeningSocket {
        guard let path = paths.socket else {
            throw Exit(
                status: Status.configuration,
                text: "XDG_RUNTIME_DIR is not set, so there is no place for the socket; give --socket PATH")
        }
        do throws(ListeningSocket.Failure) {
            let listener = try ListeningSocket.bind(path)
            register(paths)
            return listener
        } catch .inUse(let holder, let path) {
            throw Exit(status: Status.temporaryFailure, text: "\(path) is in use by \(holder)")
        } catch {
            throw Exit(status: Status.failure, text: error.description)
        }
    }

    /// Best effort: who looks in the registry has another way too.
    private static func register(_ paths: Paths) {
        guard let link = paths.registryLink, let socket = paths.socket else { return }
        do throws(SystemError) {
            try Files.makeDirectories(Files.parent(of: link))
            guard (try? Files.readLink(link)) != socket else { return }
            try Files.unlinkIfPresent(link)
            try Files.symlink(socket, at: link)
        } catch {
            Log.debug("not entered in the registry of services: \(error)")
        }
    }

    /// One daemon a store: locks on the state directory and on the root, held for life, whatever socket is used.
    private final class StoreLock {
        private let state: LockFile
        private let root: LockFile?

        init(_ paths: Paths) throws(Exit) {
            do throws(SystemError) {
                try Files.makeDirectories(paths.state)
            } catch {
                throw Exit(status: Status.failure, text: "the state directory cannot be made: \(error)")
            }
            state = try Self.lock("\(paths.state)/lock")
            guard try Self.prepareRoot(paths) else {
                Log.warning(
                    """
                    \(paths.root) is gone or not mounted; its groups are kept, and served from their journals \
                    (if it was deleted on purpose, remove the journals in \(paths.state) too)
                    """)
                root = nil
                return
            }
            root = try Self.lock(Container(root: paths.root).lockPath)
        }

        /// A root that is gone or empty while there are journals was not mounted, or moved: it is not made anew.
        private static func prepareRoot(_ paths: Paths) throws(Exit) -> Bool {
            let isEmpty = ((try? Files.list(paths.root)) ?? []).isEmpty
            let hasJournals = ((try? Files.list(paths.state)) ?? []).contains { $0.hasSuffix(".journal") }
            if isEmpty, hasJournals { return false }
            do throws(Container.Failure) {
                try Container(root: paths.root).createRoot()
                return true
            } catch {
                throw Exit(status: Status.failure, text: "the root directory cannot be used: \(error)")
            }
        }

        private static func lock(_ path: String) throws(Exit) -> LockFile {
            do throws(LockFile.Failure) {
                return try LockFile(path)
            } catch {
                switch error {
                case .held(let holder, let path):
                    throw Exit(
                        status: Status.temporaryFailure,
                        text: "another appgroupd (process \(holder)) has this store: \(path) is locked")
                case .system(let error): throw Exit(status: Status.failure, text: "\(error)")
                }
            }
        }
    }
}
