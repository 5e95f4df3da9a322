/// The options of a role: pairs of a name and a value, all optional; a role takes those that it knows.
struct Options {
    private var values: [String: String] = [:]

    init(_ arguments: [String]) throws(BenchError) {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard name.hasPrefix("--"), let value = rest.popFirst() else {
                throw BenchError("\"\(name)\" is no option with a value")
            }
            values[String(name.dropFirst(2))] = value
        }
    }

    func text(_ name: String) throws(BenchError) -> String {
        guard let value = values[name] else { throw BenchError("--\(name) is missing") }
        return value
    }

    func text(_ name: String, or fallback: String) -> String { values[name] ?? fallback }

    func number(_ name: String, or fallback: Int) throws(BenchError) -> Int {
        guard let text = values[name] else { return fallback }
        guard let number = Int(text), number >= 0, number <= 1 << 40 else {
            throw BenchError("--\(name): \"\(text)\" is no number")
        }
        return number
    }

    func seconds(_ name: String, or fallback: Double) throws(BenchError) -> Double {
        guard let text = values[name] else { return fallback }
        guard let number = Double(text), number >= 0, number <= 1e6 else {
            throw BenchError("--\(name): \"\(text)\" is no number of seconds")
        }
        return number
    }

    /// Where the daemon listens.
    func socketPath() throws(BenchError) -> String {
        let address = try text("addr")
        guard address.hasPrefix("unix:") else { throw BenchError("--addr takes unix:PATH, not \"\(address)\"") }
        return String(address.dropFirst(5))
    }
}
