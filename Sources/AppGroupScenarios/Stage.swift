package import AppGroup
import Synchronization

/// Where a scenario is played: who plays the writer and who the reader, in one process or in two, and what was found.
///
/// The processes take turns: a block of the writer is run by the process that plays the writer, while the other waits for
/// its end, and the other way round. A process that plays both runs all blocks. Used by one task.
package final class Stage: Sendable {
    package enum Role: String, Sendable { case writer, reader }

    /// How two processes take turns; a process that plays both parts needs none.
    package protocol Turns: Sendable {
        /// A turn of this role begins.
        func begin(_ role: Role)
        /// This process's turn is over.
        func end(saying text: String)
        /// Waits until the other's turn is over, and gives what it said.
        func wait() throws -> String
    }

    /// What is not as it should be, and where that was said.
    package struct Failure: Sendable {
        package let text: String
        package let fileID: String
        package let filePath: String
        package let line: Int
        package let column: Int
    }

    /// The part of the process that plays.
    package struct Cast: Sendable {
        package let writer: GroupDefaults?
        package let reader: GroupDefaults?
        package let turns: (any Turns)?

        /// Nil for what another process plays; then there are turns to take.
        package init(writer: GroupDefaults?, reader: GroupDefaults?, turns: (any Turns)? = nil) {
            (self.writer, self.reader, self.turns) = (writer, reader, turns)
        }
    }

    private let cast: Cast
    /// Whether the group lives in the daemon, and not in memory only.
    package let hasDaemon: Bool
    private let open: @Sendable () -> GroupDefaults
    private let report: @Sendable (Failure) -> Void
    private let checks = Atomic(0)

    /// `open` gives another object for the same group, where there is a daemon; `report` takes what is not as it should be.
    package init(
        _ cast: Cast, hasDaemon: Bool, open: @escaping @Sendable () -> GroupDefaults,
        report: @escaping @Sendable (Failure) -> Void
    ) {
        (self.cast, self.hasDaemon, self.open, self.report) = (cast, hasDaemon, open, report)
    }

    /// Whether the writer is in the reader's process.
    package var isOneProcess: Bool { cast.turns == nil }

    /// How often this process has looked whether something is as it should be.
    package var checkCount: Int { checks.load(ordering: .relaxed) }

    /// Another object for the same group, in this process. In memory there is only one.
    package func another() -> GroupDefaults { open() }
}

// MARK: - Turns

extension Stage {
    /// A turn of the process that changes things.
    package func writer(_ play: (GroupDefaults) async throws -> Void) async throws {
        _ = try await turn(.writer) {
            try await play($0)
            return ""
        }
    }

    /// A turn of the process that looks at what the writer does.
    package func reader(_ play: (GroupDefaults) async throws -> Void) async throws {
        _ = try await turn(.reader) {
            try await play($0)
            return ""
        }
    }

    /// A turn of the writer that tells the reader something, in one line.
    package func share(_ make: (GroupDefaults) async throws -> String) async throws -> String {
        try await turn(.writer, make)
    }

    /// Returns when the reader has seen all that the writer has done so far. Leaves nothing behind but revisions.
    package func settle() async throws {
        let marker = try await share { settings in
            let marker = String(UInt64.random(in: .min ... .max))
            settings.set(marker, forKey: Self.marker)
            return marker
        }
        try await reader { await Self.wait(until: marker, in: $0) }
        try await writer {
            $0.removeObject(forKey: Self.marker)
            try await $0.commit()
        }
        try await reader { await Self.wait(until: nil, in: $0) }
    }

    /// No pattern of a scenario matches it.
    private static let marker = "\u{2021}settled"

    private static func wait(until text: String?, in settings: GroupDefaults) async {
        for await value in settings.values(for: marker, as: String.self) where value == text { return }
    }

    private struct NobodyToWaitFor: Error {}

    private func turn(_ role: Role, _ play: (GroupDefaults) async throws -> String) async throws -> String {
        cast.turns?.begin(role)
        guard let settings = role == .writer ? cast.writer : cast.reader else {
            guard let turns = cast.turns else { throw NobodyToWaitFor() }
            return try turns.wait()
        }
        let text = try await play(settings)
        cast.turns?.end(saying: text)
        return text
    }
}

// MARK: - Checks

extension Stage {
    /// What was found is what is wanted.
    package func expect<Value: Equatable>(
        _ found: Value, _ wanted: Value, _ comment: String = "", fileID: String = #fileID,
        filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) {
        checks.add(1, ordering: .relaxed)
        guard found != wanted else { return }
        let text = "\(comment.isEmpty ? "" : comment + ": ")\(found) instead of \(wanted)"
        report(Failure(text: text, fileID: fileID, filePath: filePath, line: line, column: column))
    }

    /// The condition holds.
    package func expect(
        _ condition: Bool, _ comment: String = "", fileID: String = #fileID, filePath: String = #filePath,
        line: Int = #line, column: Int = #column
    ) {
        expect(condition, true, comment, fileID: fileID, filePath: filePath, line: line, column: column)
    }

    /// The body throws an error of this code.
    package func expectError(
        _ code: AppGroupError.Code, _ comment: String = "", fileID: String = #fileID, filePath: String = #filePath,
        line: Int = #line, column: Int = #column, _ body: () async throws -> Void
    ) async {
        var found: AppGroupError.Code?
        do { try await body() } catch { found = (error as? AppGroupError)?.code }
        expect(found, code, comment, fileID: fileID, filePath: filePath, line: line, column: column)
    }

    /// The body makes the group report these errors, and no others.
    package func expectReports(
        _ codes: [AppGroupError.Code], of settings: GroupDefaults, _ comment: String = "", fileID: String = #fileID,
        filePath: String = #filePath, line: Int = #line, column: Int = #column, _ body: () -> Void
    ) async {
        let errors = settings.errors.makeAsyncIterator()
        body()
        // One more, by which the end is known: a key with a control character is refused by every group.
        settings.set(0, forKey: "\u{1}the last error")
        var found: [AppGroupError.Code] = []
        while let error = await errors.next(), error.code != .invalidKey { found.append(error.code) }
        expect(found, codes, comment, fileID: fileID, filePath: filePath, line: line, column: column)
    }
}
