import AppGroup
import ExampleSupport

/// The controller: hands what the user does to the model, and what the model tells to the view.
@MainActor
struct LoginController {
    let session: Session
    let view = GreetingView()
    let console: Console

    var frame: [String] { view.frame(session.user) }

    /// Greets who comes and bids farewell to who goes, until the task is cancelled.
    func follow() async {
        for await change in session.changes {
            if let old = change.old?.string { console.say(view.farewell(old)) }
            // Who is gone is not followed by "nobody", but at the beginning it has to be said.
            if change.new != nil || change.isInitial { console.say(view.greeting(change.new?.string)) }
        }
    }

    func perform(_ command: Command) async throws {
        switch command.verb {
        case "in":
            guard !command.text.isEmpty else { throw Complaint("in takes a name") }
            guard try await session.logIn(command.text) else {
                throw Complaint("\(session.user ?? "somebody else") is logged in")
            }
        case "out": session.logOut()
        case "who": console.say(view.greeting(session.user))
        default: throw command.unknown
        }
    }
}
