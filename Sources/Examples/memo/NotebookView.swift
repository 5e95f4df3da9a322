/// The notes as text.
@MainActor
struct NotebookView {
    let notebook: Notebook

    var body: [String] {
        let filter = notebook.filter
        return ["Notes\(filter.isEmpty ? "" : " with \"\(filter)\"")", ""] + notebook.shown.map(line)
    }

    func line(_ note: Note) -> String {
        let date = "\(note.date)".prefix("2025-01-01 00:00".count)
        return "  \(note.id)  \(date)  \(note.title)\(note.content.isEmpty ? "" : ": \(note.content)")"
    }

    /// What has been done to the notes, a line each.
    func events(from old: [Note], to new: [Note]) -> [String] {
        let before = Dictionary(old.map { ($0.id, $0) }) { $1 }
        let after = Dictionary(new.map { ($0.id, $0) }) { $1 }
        let gone = old.filter { after[$0.id] == nil }.map { "deleted \($0.id): \($0.title)" }
        let there = new.compactMap { note -> String? in
            guard let earlier = before[note.id] else { return "added \(text(note))" }
            return earlier == note ? nil : "changed \(text(note))"
        }
        return gone + there
    }

    private func text(_ note: Note) -> String {
        "\(note.id): \(note.title)\(note.content.isEmpty ? "" : " (\(note.content))")"
    }
}
