/// One part of the library's semantics, as something that a writer and a reader play: the same text for a group in memory,
/// for one process with the daemon, and for two.
///
/// Rows are those of the table of semantics, `Tests/SEMANTICS.md`. Uses what every program uses, the public interface.
package struct Scenario: Sendable {
    package let name: String
    /// What the reader has on its command line; the writer has none.
    package let readerArguments: [String]
    /// It changes what is the whole process's, so that it needs processes of its own also where there is but one.
    package let needsOwnProcess: Bool
    package let play: @Sendable (Stage) async throws -> Void

    init(
        _ name: String, readerArguments: [String] = [], needsOwnProcess: Bool = false,
        _ play: @escaping @Sendable (Stage) async throws -> Void
    ) {
        (self.name, self.readerArguments, self.play) = (name, readerArguments, play)
        self.needsOwnProcess = needsOwnProcess || !readerArguments.isEmpty
    }

    /// All of them, for a process that is told by name what to play.
    package static let all = values + writes + domains + changes + callbacks + tracking + properties

    package static func named(_ name: String) -> Scenario? {
        all.first { $0.name == name }
    }
}
