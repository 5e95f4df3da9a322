import Glibc
package import LinuxIO

/// Standard output and standard error. Owned by the tool's one thread.
///
/// Output is gathered and goes out in large pieces, or line by line where `flush` is called.
package final class Console {
    package enum Stream: Sendable {
        case output, error
    }

    private static let pieceSize = 64 << 10

    /// Gives the reason when it cannot.
    private let write: (Stream, [UInt8]) -> SystemError?
    private var pending: [UInt8] = []
    package private(set) var usesColor: Bool
    package var isQuiet = false
    /// Whether somebody is looking at the standard error.
    let showsProgress: Bool
    /// The standard output, where it is a pipe; else -1.
    private(set) var outputPipe: Int32 = -1
    /// One line a record, fields set apart by tabs, no colours.
    package var isPlain = false {
        didSet { usesColor = usesColor && !isPlain }
    }
    /// What ends a line of the output.
    package var terminator = UInt8(ascii: "\n")

    package init(
        usesColor: Bool = false, showsProgress: Bool = false, write: @escaping (Stream, [UInt8]) -> SystemError?
    ) {
        self.usesColor = usesColor
        self.showsProgress = showsProgress
        self.write = write
    }

    /// One line of output.
    package func print(_ line: String) throws(Failure) {
        pending += line.utf8
        pending.append(terminator)
        if pending.count >= Self.pieceSize { try flush() }
    }

    /// One record of several fields, for programs.
    func print(fields: [String]) throws(Failure) {
        try print(fields.joined(separator: "\t"))
    }

    /// Output that is no text of lines.
    package func write(_ bytes: [UInt8]) throws(Failure) {
        pending += bytes
        try flush()
    }

    package func flush() throws(Failure) {
        guard !pending.isEmpty else { return }
        let bytes = pending
        pending = []
        guard let error = write(.output, bytes) else { return }
        // A reader that has seen enough (`appgroupctl watch … | head -1`) is no error to talk about.
        if error.errno == .brokenPipe { throw Failure(.outputClosed, "") }
        throw .refused("the output cannot be written: \(error.errno)")
    }

    /// What is good to know, beside the output.
    package func note(_ text: String) {
        if !isQuiet { complain("appgroupctl: \(text)\n") }
    }

    package func complain(_ text: String) {
        // There is nobody left to tell.
        _ = write(.error, [UInt8](text.utf8))
    }
}

extension Console {
    /// The process's own. To be called before anything is opened.
    package static func standard(_ environment: Environment) -> Console {
        StandardDescriptors.occupy()
        let streams = StandardStreams()
        let usesColor =
            isatty(1) == 1 && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
        let showsProgress = Terminal.isThere(2) && environment["TERM"] != "dumb"
        let console = Console(usesColor: usesColor, showsProgress: showsProgress, write: streams.write)
        if streams.isOutputPipe { console.outputPipe = 1 }
        return console
    }
}

/// The descriptors 1 and 2, which stay open for the life of the process.
private final class StandardStreams {
    private let output = FileDescriptor(owning: 1)
    private let error = FileDescriptor(owning: 2)

    /// One that is open for reading too has a reader as long as we are there.
    var isOutputPipe: Bool {
        (try? output.status())?.kind == .fifo && fcntl(1, F_GETFL) & O_ACCMODE == O_WRONLY
    }

    func write(_ stream: Console.Stream, _ bytes: [UInt8]) -> SystemError? {
        do throws(SystemError) {
            switch stream {
            case .output: try output.writeAll(bytes)
            case .error: try error.writeAll(bytes)
            }
            return nil
        } catch {
            return error
        }
    }
}
