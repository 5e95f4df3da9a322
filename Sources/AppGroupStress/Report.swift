import Glibc
import Synchronization

/// What the program has to say: lines of a word and a value, and complaints, of which a clean run has none. Any thread.
enum Report {
    private static let complaints = Atomic(0)

    /// At once: the test waits for it.
    static func say(_ line: String) {
        let bytes = [UInt8]((line + "\n").utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
    }

    /// The first few in words; all of them count.
    static func complain(_ text: String) {
        if complaints.wrappingAdd(1, ordering: .relaxed).newValue <= 10 { say("wrong \(text)") }
    }

    static var isClean: Bool { complaints.load(ordering: .relaxed) == 0 }
}
