import AppGroup
import ExampleSupport
import Foundation
import Observation

/// All notes: what is in the file, and what is looked for. Follows what others make of the file while somebody awaits
/// `follow`.
@MainActor @Observable
final class Notebook {
    private(set) var notes: [Note] = []
    /// What is looked for; empty for all.
    var filter = ""

    @ObservationIgnored private let document: SharedDocument<[Note]>

    init(in container: GroupContainer) throws {
        document = try SharedDocument("notes.json", in: container)
    }

    var shown: [Note] {
        filter.isEmpty ? notes : notes.filter { $0.contains(filter) }
    }

    func load() throws {
        notes = try document.load() ?? []
    }

    /// Takes what other programs and editors make of the file, until the task is cancelled.
    ///
    /// - Parameters:
    ///   - tell: is called with the notes before and after each change.
    ///   - complain: is called when the file cannot be read; the last good notes stay.
    func follow(tell: ([Note], [Note]) -> Void, complain: (any Error) -> Void) async {
        for await change in document.changes {
            if let error = change.error {
                complain(error)
                continue
            }
            let old = notes
            notes = change.content ?? []
            tell(old, notes)
        }
    }
}

// MARK: - Editing

extension Notebook {
    func add(_ title: String) throws {
        try change { notes in
            notes.append(Note(id: (notes.map(\.id).max() ?? 0) + 1, title: title))
        }
    }

    func edit(_ id: Int, _ edit: (inout Note) -> Void) throws {
        try change { notes in
            let index = try Self.index(of: id, in: notes)
            edit(&notes[index])
            notes[index].date = .now
        }
    }

    func delete(_ id: Int) throws {
        try change { notes in
            notes.remove(at: try Self.index(of: id, in: notes))
        }
    }

    /// On what is in the file at that moment: when another program saves in between, once more on what that has saved.
    private func change(_ body: (inout [Note]) throws -> Void) throws {
        notes = try document.update(default: []) { notes in
            try body(&notes)
            return notes
        }
    }

    private static func index(of id: Int, in notes: [Note]) throws -> Int {
        guard let index = notes.firstIndex(where: { $0.id == id }) else { throw Complaint("there is no note \(id)") }
        return index
    }
}
