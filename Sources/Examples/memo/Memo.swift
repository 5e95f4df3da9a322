import AppGroup
import ExampleSupport

/// Notes in a file that several programs share: `Documents/notes.json` of the group. Start it twice, and open the file in
/// an editor: what one saves the others show.
@main
struct Memo {
    static let help = """
        Usage: memo [--group GROUP] [COMMAND]

        Shows and edits the notes in Documents/notes.json of the group. Without a COMMAND it takes them from its input.

          add TITLE
          title ID TEXT
          content ID TEXT
          delete ID
          search [TEXT]          show those with the text; without one all
          list                   print them
          quit

          --group GROUP          default group.com.example.app
        """

    @MainActor
    static func main() async {
        let example = Example(help: help)
        do {
            let container = try await GroupContainer(suiteName: example.settings.suiteName)
            await run(example, try Notebook(in: container))
        } catch {
            example.fail(error)
        }
    }

    @MainActor
    private static func run(_ example: Example, _ notebook: Notebook) async {
        let (console, view) = (example.console, NotebookView(notebook: notebook))
        // What cannot be read is told, and left as it is.
        do { try notebook.load() } catch { console.complain(error) }
        let tell = { (old: [Note], new: [Note]) in
            for event in view.events(from: old, to: new) { console.say(event) }
        }
        let following =
            example.command == nil ? Task { await notebook.follow(tell: tell, complain: console.complain) } : nil
        example.draw { view.body }
        await example.run { command in
            let old = notebook.notes
            try perform(command, notebook, view, console)
            tell(old, notebook.notes)
        }
        following?.cancel()
    }

    @MainActor
    private static func perform(
        _ command: Command, _ notebook: Notebook, _ view: NotebookView, _ console: Console
    ) throws {
        switch command.verb {
        case "add": try notebook.add(command.text)
        case "title":
            let (id, text) = try command.numberAndText()
            try notebook.edit(id) { $0.title = text }
        case "content":
            let (id, text) = try command.numberAndText()
            try notebook.edit(id) { $0.content = text }
        case "delete": try notebook.delete(try command.number())
        case "search":
            notebook.filter = command.text
            for note in notebook.shown { console.say(view.line(note)) }
        case "list":
            for line in view.body { console.say(line) }
        default: throw command.unknown
        }
    }
}
