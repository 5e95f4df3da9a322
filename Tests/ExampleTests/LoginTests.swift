import TestSupport
import Testing

@Suite("login") struct LoginTests {
    let daemon: RunningDaemon

    init() throws {
        daemon = try RunningDaemon(isAtStandardPlace: true)
    }

    @Test("one tool logs in, the others greet the user and notice the log-out")
    func greeting() throws {
        let others = try (1...3).map { _ in try RunningExample("login", with: daemon) }
        for other in others { try other.expect("Nobody is logged in.") }
        #expect(try run("login", ["in", "Ada"], with: daemon).code == 0)
        for other in others { try other.expect("Welcome, Ada!") }
        #expect(try run("login", ["out"], with: daemon).code == 0)
        for other in others { try other.expect("Goodbye, Ada.") }
    }

    @Test("who comes later greets who is there already")
    func late() throws {
        #expect(try run("login", ["in", "Ada"], with: daemon).code == 0)
        let late = try RunningExample("login", with: daemon)
        try late.expect("Welcome, Ada!")
        late.type("out")
        try late.expect("Goodbye, Ada.")
        #expect(try run("login", ["who"], with: daemon).output == "Nobody is logged in.\n")
    }

    @Test("of many who log in at the same time one gets in")
    func race() throws {
        let tools = try (1...4).map { _ in try RunningExample("login", with: daemon) }
        for (number, tool) in tools.enumerated() { tool.type("in User\(number)") }
        // Everybody greets the one who got in: a second greeting would be a second winner.
        var greetings = try Set(tools.map { try $0.line { $0.hasPrefix("Welcome, ") } })
        let outcomes = try tools.map { try $0.quit() }
        let errors = outcomes.map(\.errors).filter { !$0.isEmpty }
        #expect(errors.count == 3, "\(errors)")
        #expect(errors.allSatisfy { $0.hasSuffix(" is logged in\n") })
        for outcome in outcomes {
            let lines = outcome.output.split(separator: "\n").map(String.init)
            greetings.formUnion(lines.filter { $0.hasPrefix("Welcome") })
        }
        #expect(greetings.count == 1, "\(greetings)")
    }
}
