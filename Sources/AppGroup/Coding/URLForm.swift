import FoundationEssentials
import PropertyList

/// How URLs are stored: as plain strings with their scheme, so that every program and every person can read them.
///
/// Read are, besides: absolute and `~` paths, which Apple's and Foundation's `UserDefaults` store for file URLs; relative
/// references; and Apple's archived `NSURL` objects (rows U06, U07, L20; fault R62). A file URL may move: Apple advises
/// bookmarks for that, which Linux does not have.
enum URLForm {
    static func value(_ url: URL) -> Value {
        .string(url.absoluteString)
    }

    static func url(_ value: Value?) -> URL? {
        switch value {
        case .string(let text): url(text)
        case .data(let bytes): ArchivedURL.url(bytes)
        default: nil
        }
    }

    private static func url(_ text: String) -> URL? {
        if text.hasPrefix("/") { return URL(filePath: text) }
        if text.hasPrefix("~") { return path(abbreviated: text).map { URL(filePath: $0) } }
        return text.isEmpty ? nil : URL(string: text)
    }

    /// `~` and `~/…` only: another user's home is not ours to guess.
    private static func path(abbreviated text: String) -> String? {
        guard text == "~" || text.hasPrefix("~/") else { return nil }
        guard let home = ProcessInfo.processInfo.environment["HOME"], home.hasPrefix("/") else { return nil }
        return home + text.dropFirst()
    }
}
