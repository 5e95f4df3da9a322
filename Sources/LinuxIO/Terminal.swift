import CShims
import Glibc

/// What there is to know about a terminal. No state: a name for the functions.
package enum Terminal {
    /// Whether a descriptor is one.
    package static func isThere(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// The columns that a text takes on a terminal: two for the characters of East Asia and for emoji, none for marks that
    /// go onto the character before (wcwidth(3), of the C.UTF-8 locale).
    package static func width(of text: String) -> Int {
        // Most texts are ASCII, where each byte is a column.
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text.utf8.count }
        return text.unicodeScalars.reduce(0) { $0 + max(Int(cshim_wcwidth($1.value)), 0) }
    }
}
