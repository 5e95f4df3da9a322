import AppGroupScenarios
import GroupClient
import TestSupport
import Testing

@testable import AppGroup

/// What the semantics are tried against: the same scenarios have to hold in all of them.
enum BackEnd: String, CaseIterable, Sendable {
    /// No daemon.
    case memory
    /// One process with the daemon; the writer and the reader have an object each.
    case oneProcess
    /// Two processes with the daemon: what one does the other sees.
    case twoProcesses
}

/// Plays a scenario, and records what is not as it should be.
func play(_ scenario: Scenario, on backEnd: BackEnd) async throws {
    let group = "group.com.example.app"
    switch backEnd {
    case .twoProcesses: try playByProcesses(scenario, parts: ["writer", "reader"], group)
    case .memory where scenario.needsOwnProcess: try playByProcesses(scenario, parts: ["memory"], group)
    case .oneProcess where scenario.needsOwnProcess: try playByProcesses(scenario, parts: ["both"], group)
    case .memory:
        let settings = GroupDefaults.inMemory()
        try await playHere(scenario, writer: settings, reader: settings, hasDaemon: false) { settings }
    case .oneProcess:
        let daemon = try RunningDaemon()
        let link = DaemonLink(DaemonAddress(path: daemon.socket), tagPrefix: DaemonLink.newTagPrefix())
        let open: @Sendable () -> GroupDefaults = { GroupDefaults(suiteName: group, link: link) }
        try await playHere(scenario, writer: open(), reader: open(), hasDaemon: true, open)
        withExtendedLifetime(daemon) {}
    }
}

private func playHere(
    _ scenario: Scenario, writer: GroupDefaults, reader: GroupDefaults, hasDaemon: Bool,
    _ open: @escaping @Sendable () -> GroupDefaults
) async throws {
    let stage = Stage(
        Stage.Cast(writer: writer, reader: reader), hasDaemon: hasDaemon, open: open,
        report: { failure in
            let place = SourceLocation(
                fileID: failure.fileID, filePath: failure.filePath, line: failure.line, column: failure.column)
            Issue.record(Comment(rawValue: failure.text), sourceLocation: place)
        })
    try await scenario.play(stage)
    #expect(stage.checkCount > 0, "\(scenario.name) has looked at nothing")
}

/// By one process for each part, which take turns.
private func playByProcesses(_ scenario: Scenario, parts: [String], _ group: String) throws {
    let daemon = try RunningDaemon(starts: parts != ["memory"], isAtStandardPlace: true)
    let players = try parts.map { part in
        // Where one process plays both parts, its command line is the reader's.
        let more = part == "writer" ? [] : scenario.readerArguments
        return try CampaignWorker(daemon, ["play", scenario.name, part, group] + more)
    }
    if players.count == 2 { try takeTurns(writer: players[0], reader: players[1]) }
    for player in players {
        let outcome = try player.finish()
        for text in player.all("wrong") { Issue.record("\(text)") }
        #expect(outcome.ending == .exited(0), "\(player.lines.suffix(20)) \(outcome.errors.suffix(4000))")
    }
    #expect(players.map { $0.number("checks") }.reduce(0, +) > 0, "\(scenario.name) has looked at nothing")
}

/// Passes on what each says at the end of its turn, until both are at the end of the scenario.
private func takeTurns(writer: CampaignWorker, reader: CampaignWorker) throws {
    while true {
        let (next, same) = (try writer.nextTurn(), try reader.nextTurn())
        try #require(next == same, "\(writer.lines.suffix(20)) \(reader.lines.suffix(20))")
        guard let next else { return }
        let (player, listener) = next == "writer" ? (writer, reader) : (reader, writer)
        listener.tell(try player.wait(for: "turn"))
    }
}

extension CampaignWorker {
    /// Whose turn is next, as this one says; nil at the end.
    fileprivate func nextTurn() throws -> String? {
        let (word, rest) = try wait(forAny: ["next", "end"])
        return word == "next" ? rest : nil
    }
}
