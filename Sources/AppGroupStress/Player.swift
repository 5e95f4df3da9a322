import AppGroup
import AppGroupScenarios
import Glibc

/// Plays a part of a scenario, or all of it.
///
///     play SCENARIO writer|reader|both|memory GROUP [more, for the argument domain]
///
/// Of two processes each plays one part. They take turns: each says whose is next, the one that plays says when its turn
/// is over, and the test tells the other.
enum Player {
    static func run(_ arguments: [String]) async {
        guard let scenario = Scenario.named(arguments[1]) else { return Report.complain("no such scenario") }
        let settings = arguments[2] == "memory" ? .inMemory() : GroupDefaults(suiteName: arguments[3])
        guard let cast = cast(arguments[2], settings) else { return Report.complain("no such part") }
        let stage = Stage(
            cast, hasDaemon: arguments[2] != "memory",
            open: { arguments[2] == "memory" ? settings : GroupDefaults(suiteName: arguments[3]) },
            report: { Report.complain("\($0.fileID):\($0.line): \($0.text)") })
        do {
            try await scenario.play(stage)
        } catch {
            Report.complain("\(error)")
        }
        Report.say("end")
        Report.say("checks \(stage.checkCount)")
    }

    private static func cast(_ part: String, _ settings: GroupDefaults) -> Stage.Cast? {
        switch part {
        case "writer": Stage.Cast(writer: settings, reader: nil, turns: Lines())
        case "reader": Stage.Cast(writer: nil, reader: settings, turns: Lines())
        // As two parts of a program have it: an object for each.
        case "both": Stage.Cast(writer: settings, reader: GroupDefaults(suiteName: settings.suiteName))
        case "memory": Stage.Cast(writer: settings, reader: settings)
        default: nil
        }
    }

    private struct Lines: Stage.Turns {
        struct Closed: Error {}

        func begin(_ role: Stage.Role) { Report.say("next \(role)") }
        func end(saying text: String) { Report.say("turn \(text)") }

        func wait() throws -> String {
            guard let line = readLine() else { throw Closed() }
            return line
        }
    }
}
