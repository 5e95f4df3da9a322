import Foundation
import Synchronization

/// The terminal as a view: a frame that is drawn again and again in its place, the last events below it, and a prompt. In a
/// pipe no frame is drawn: each event is a line.
///
/// Safe for any thread.
package final class Console: Sendable {
    private struct State {
        var frame: [String] = []
        var events = Array(repeating: "", count: Console.eventCount)
        var height = 0
    }

    private static let eventCount = 3

    package let isTerminal = isatty(STDOUT_FILENO) == 1
    private let state = Mutex(State())

    package init() {}

    /// Shows a frame instead of the one before.
    package func draw(_ frame: [String]) {
        guard isTerminal else { return }
        state.withLock { state in
            state.frame = frame
            Self.redraw(&state)
        }
    }

    /// Tells what has happened.
    package func say(_ event: String) {
        state.withLock { state in
            guard isTerminal else { return Self.write(event + "\n") }
            state.events = state.events.dropFirst() + [event]
            Self.redraw(&state)
        }
    }

    /// Tells what has gone wrong: in a pipe on the standard error.
    package func complain(_ error: any Error) {
        guard isTerminal else { return Self.write("error: \(error)\n", to: .standardError) }
        say("error: \(error)")
    }

    /// The lines that are typed, until the end of the input or `quit`.
    package func commands() -> AsyncStream<Command> {
        AsyncStream { continuation in
            Thread.detachNewThread { [self] in
                while let line = readLine() {
                    let command = Command(line)
                    if command.verb == "quit" { break }
                    if !command.verb.isEmpty { continuation.yield(command) }
                    clear()
                }
                continuation.finish()
            }
        }
    }

    /// After Enter the cursor is a line too low.
    private func clear() {
        guard isTerminal else { return }
        state.withLock { state in
            state.height = 0
            Self.redraw(&state)
        }
    }

    /// In place where the height is the same, so that what is being typed stands; without the wrapping of long lines.
    private static func redraw(_ state: inout State) {
        let lines = state.frame + [""] + state.events + [""]
        let text = lines.map { "\($0)\u{1B}[K\r\n" }.joined()
        let isInPlace = state.height == lines.count
        let (before, after) = isInPlace ? ("\u{1B}7\u{1B}[H", "\u{1B}8") : ("\u{1B}[H\u{1B}[2J", "> ")
        write("\u{1B}[?7l\(before)\(text)\u{1B}[?7h\(after)")
        state.height = lines.count
    }

    private static func write(_ text: String, to handle: FileHandle = .standardOutput) {
        try? handle.write(contentsOf: Data(text.utf8))
    }
}
