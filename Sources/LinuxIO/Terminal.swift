import CShims
import Glibc

/// What there is to know about a terminal. No state: a name for the functions.
package enum Terminal {
    /// Whether a descriptor is one.
    package static func isThere(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// A line that somebody types on the standard input. Nil when the time is over, the input ends, or Ctrl-C is pressed:
    /// that ends the question and not the process.
    package static func readLine(within seconds: Double) throws(SystemError) -> String? {
        var line: String?
        var isOver = false
        let loop = try InteractiveLoop([SIGINT]) { _ in isOver = true }
        _ = try loop.follow(RawDescriptor(rawValue: 0)) {
            line = Swift.readLine()
            isOver = true
        }
        loop.set(InteractiveLoop.Alarm(0), afterMicroseconds: Int64(min(seconds, 1e9) * 1e6)) { isOver = true }
        while !isOver { try loop.turn() }
        return line
    }

    /// The columns that a text takes on a terminal: two for the characters of East Asia and for emoji, none for marks that
    /// go onto the character before (wcwidth(3), of the C.UTF-8 locale).
    package static func width(of text: String) -> Int {
        // Most texts are ASCII, where each byte is a column.
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text.utf8.count }
        return text.unicodeScalars.reduce(0) { $0 + max(Int(cshim_wcwidth($1.value)), 0) }
    }
}
