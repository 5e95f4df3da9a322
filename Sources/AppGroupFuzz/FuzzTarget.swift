import Glibc

/// A reader of outside input, with what must hold for every input: it does not trap, does not touch memory that is not its
/// own, ends soon, and what it took comes back the same when it is written and read again.
///
/// A plain value; `run` has no state and any thread may call it.
struct FuzzTarget: Sendable {
    let name: String
    /// What it reads, for the list that the program prints.
    let summary: String
    let run: @Sendable ([UInt8]) -> Void

    static let all: [FuzzTarget] = [
        .json, .call, .stream, .interface, .xml, .binary, .journal, .configuration, .glob, .timestamp,
    ]

    static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// Ends the run where something that must hold does not: the message first, since an optimised trap has none.
func require(_ holds: Bool, _ message: @autoclosure () -> String, line: UInt = #line) {
    guard !holds else { return }
    let text = "line \(line): \(message())\n"
    _ = unsafe write(2, text, text.utf8.count)
    preconditionFailure("line \(line)")
}
