import ExampleSupport

/// A log-in that all programs of a group share, in the form Model–View–Controller: one logs in, the others greet the user.
@main
struct Login {
    static let help = """
        Usage: login [--group GROUP] [COMMAND]

        Greets the user who is logged in, and notices the log-out. Without a COMMAND it takes them from its input.

          in NAME                log in, if nobody is
          out                    log out
          who                    print who is logged in
          quit

          --group GROUP          default group.com.example.app
        """

    @MainActor
    static func main() async {
        let example = Example(help: help)
        let controller = LoginController(session: Session(settings: example.settings), console: example.console)
        let following = example.command == nil ? Task { await controller.follow() } : nil
        example.draw { controller.frame }
        await example.run(controller.perform)
        following?.cancel()
    }
}
