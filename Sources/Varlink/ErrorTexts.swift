extension JSONObject {
    /// Much more than any name has that somebody means, in bytes.
    private static let longestText = 4096

    /// Errors name what was called and what was sent, whatever its length: repeated in full, the largest call would get a
    /// reply that is larger than messages may be.
    package var withShortTexts: JSONObject {
        guard contains(where: { ($0.value.stringValue?.utf8.count ?? 0) > Self.longestText }) else { return self }
        return JSONObject(map { ($0.name, $0.value.shortened(to: Self.longestText)) })
    }
}

extension JSON {
    fileprivate func shortened(to limit: Int) -> JSON {
        guard let text = stringValue, text.utf8.count > limit else { return self }
        // A character that is cut in two becomes a replacement character.
        return .string(String(decoding: text.utf8.prefix(limit), as: UTF8.self) + "…")
    }
}
