/// The view: what to say to whom.
struct GreetingView {
    func greeting(_ user: String?) -> String {
        user.map { "Welcome, \($0)!" } ?? "Nobody is logged in."
    }

    func farewell(_ user: String) -> String {
        "Goodbye, \(user)."
    }

    func frame(_ user: String?) -> [String] {
        ["Login", "", "  \(greeting(user))"]
    }
}
