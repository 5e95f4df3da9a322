package import AppGroup
import Foundation
import Observation

/// What all examples have in common: `NAME [--group GROUP] [COMMAND]`. With a command the program carries it out and ends;
/// without one it follows the group, draws what it sees, and takes commands from the standard input.
@MainActor
package struct Example {
    package static let defaultGroup = "group.com.example.app"

    package let settings: GroupDefaults
    package let console = Console()
    /// From the arguments; nil when the program is to follow.
    package let command: Command?

    /// Reads the arguments. Ends the program on `--help`, and on what it does not understand.
    package init(help: String) {
        var (group, words) = (Self.defaultGroup, CommandLine.arguments.dropFirst())
        while let option = words.first, option.hasPrefix("-") {
            words.removeFirst()
            switch option {
            case "--help", "-h": Self.end(help, code: 0)
            case "--group":
                guard let name = words.popFirst() else { Self.end("--group needs a name", code: 64) }
                group = name
            default: Self.end("unknown option \(option); --help lists them", code: 64)
            }
        }
        settings = GroupDefaults(suiteName: group)
        command = words.isEmpty ? nil : Command(words.joined(separator: " "))
        // From here on every @AppStorage without a store of its own belongs to the group.
        GroupDefaults.defaultAppStorage = settings
    }

    private static func end(_ text: String, code: Int32) -> Never {
        let handle: FileHandle = code == 0 ? .standardOutput : .standardError
        try? handle.write(contentsOf: Data((text + "\n").utf8))
        exit(code)
    }

    /// Draws a frame, again and again: whenever a setting that it reads changes, in whichever process. Until the program
    /// ends; in a terminal only.
    ///
    /// `Observations` notes what the frame reads, as SwiftUI does with a view's body.
    package func draw(_ frame: @escaping @MainActor @Sendable () -> [String]) {
        guard command == nil, console.isTerminal else { return }
        Task { [console] in
            for await lines in Observations({ frame() }) { console.draw(lines) }
        }
    }

    /// Carries out commands: the one from the arguments, or those that are typed. What it throws is told.
    package func run(_ perform: (Command) async throws -> Void) async {
        if let command { return await once(command, perform) }
        let tasks = [Task { await reportErrors() }, Task { await reportConnection() }]
        console.say("following \(settings.suiteName)")
        for await command in console.commands() {
            do { try await perform(command) } catch { console.complain(error) }
        }
        for task in tasks { task.cancel() }
        finish()
    }

    private func once(_ command: Command, _ perform: (Command) async throws -> Void) async {
        do {
            // Says at once if nobody is there, where what is awaited below would wait for the daemon to come.
            try settings.synchronize()
            try await perform(command)
        } catch {
            fail(error)
        }
        finish()
    }

    /// What is set goes out on its own, also at the end; this is to tell if it could not.
    private func finish() {
        do { try settings.synchronize() } catch { fail(error) }
    }

    /// Tells why, and ends the program.
    package func fail(_ error: any Error) -> Never {
        console.complain(error)
        exit(1)
    }

    private func reportErrors() async {
        for await error in settings.errors { console.complain(error) }
    }

    private func reportConnection() async {
        for await state in settings.connectionStates {
            if case .disconnected(let error) = state { console.complain(error) }
        }
    }
}

extension Example {
    /// Tells of every change of a setting, whoever makes it. It goes on as long as the token is there.
    package func announce<Value>(_ name: String, _ setting: Binding<Value>) -> ObservationToken {
        setting.onChange { [console] old, new in console.say("\(name): \(plain(old)) → \(plain(new))") }
    }
}

/// A value for people: without the word Optional.
package func plain(_ value: Any) -> String {
    let mirror = Mirror(reflecting: value)
    guard mirror.displayStyle == .optional else { return "\(value)" }
    return mirror.children.first.map { "\($0.value)" } ?? "none"
}
