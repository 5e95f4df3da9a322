import Glibc

/// A POSIX extended regular expression (regex(7)). Made once, then used by one thread at a time.
@safe
package final class RegularExpression {
    private var compiled = unsafe regex_t()

    /// Nil for a text that is none.
    package init?(_ pattern: String) {
        guard unsafe regcomp(&compiled, pattern, REG_EXTENDED) == 0 else { return nil }
    }

    deinit { unsafe regfree(&compiled) }

    /// Whether it matches the text from its beginning to its end.
    package func matchesWhole(_ text: String) -> Bool {
        // The text could hold NUL bytes, at which C would end it.
        guard !text.utf8.contains(0) else { return false }
        var match = regmatch_t()
        guard unsafe regexec(&compiled, text, 1, &match, 0) == 0 else { return false }
        // The first match from the left is the longest one: another could not be whole where this is not.
        return match.rm_so == 0 && Int(match.rm_eo) == text.utf8.count
    }
}
