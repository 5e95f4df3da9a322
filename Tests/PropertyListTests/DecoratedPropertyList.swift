import PropertyList

/// Writes entries in all the ways that people and programs do, with comments wherever they may stand, and remembers which
/// pieces of the text an edit must keep.
struct DecoratedPropertyList {
    var random: RandomPropertyList
    private(set) var text = ""
    /// Comments, in order.
    private(set) var comments: [String] = []
    /// Of each entry of the root, from its key's tag to the end of its value.
    private(set) var pieces: [Key: String] = [:]

    private let newline: String
    private let indentation: String
    private let isOnLines: Bool
    private let isKeyOnValueLine: Bool

    init(_ entries: [Key: Value], random: RandomPropertyList) {
        self.random = random
        newline = self.random.pick(["\n", "\n", "\r\n"])
        indentation = self.random.pick(["\t", "  ", "    ", "", " \t"])
        isOnLines = self.random.chance(75)
        isKeyOnValueLine = self.random.chance(30)
        write(entries)
    }

    private mutating func write(_ entries: [Key: Value]) {
        if random.chance(20) { text += "\u{FEFF}" }
        if random.chance(80) {
            text += "<?xml version=\"1.0\" encoding=\"\(random.pick(["UTF-8", "utf8", "x-none"]))\"?>" + newline
        }
        decorate()
        if random.chance(50) { text += "<!DOCTYPE plist [ <!ELEMENT plist ANY> <!-- ]> --> ]>" + newline }
        let isWrapped = random.chance(80)
        if isWrapped { text += "<plist version=\"1.0\">" + random.pick(["", newline, newline + "  "]) }
        let base = text.hasSuffix("  ") ? "  " : ""
        dictionary(entries, level: 0, base: base, isRoot: true)
        if isWrapped { text += random.pick(["", newline]) + "</plist>" }
        decorate()
        text += random.pick(["", newline, newline + newline])
    }

    private mutating func dictionary(_ entries: [Key: Value], level: Int, base: String, isRoot: Bool) {
        if entries.isEmpty && random.chance(50) {
            text += random.pick(["<dict/>", "<dict />", "<dict></dict>"])
            return
        }
        text += "<dict>"
        var keys = Array(entries.keys).sorted()
        keys.shuffle(using: &random.generator)
        for key in keys {
            guard let value = entries[key] else { continue }
            breakLine(level + 1, base)
            if random.chance(15) {
                comment()
                breakLine(level + 1, base)
            }
            let start = text.utf8.count
            element("key", key.string)
            if isKeyOnValueLine { text += random.pick(["", " "]) } else { breakLine(level + 1, base) }
            self.value(value, level: level + 1, base: base)
            if isRoot { pieces[key] = String(decoding: Array(text.utf8)[start...], as: UTF8.self) }
            if random.chance(10) { comment() }
        }
        breakLine(level, base)
        text += random.pick(["</dict>", "</dict>", "</dict >"])
    }

    private mutating func value(_ value: Value, level: Int, base: String) {
        switch value {
        case .string(let string): element("string", string)
        case .integer(let number) where number >= 0 && random.chance(20):
            element("integer", "0x" + String(number, radix: 16))
        case .boolean(let isTrue): text += isTrue ? random.pick(["<true/>", "<true></true>"]) : "<false />"
        case .dictionary(let entries): dictionary(entries, level: level, base: base, isRoot: false)
        case .array(let elements):
            text += "<array>"
            for element in elements {
                breakLine(level + 1, base)
                self.value(element, level: level + 1, base: base)
            }
            text += " </array>"
        default: text += XMLPropertyList.fragment(value).text
        }
    }

    private mutating func element(_ name: String, _ content: String) {
        if content.isEmpty && random.chance(50) {
            text += "<\(name)/>"
            return
        }
        text += "<\(name)>"
        for scalar in content.unicodeScalars {
            switch scalar {
            case "<", "&", "\r": text += random.pick(["&#\(scalar.value);", "&#x\(String(scalar.value, radix: 16));"])
            case ">" where random.chance(70): text += "&gt;"
            case ">": text += "<![CDATA[>]]>"
            default:
                if random.chance(3) {
                    text += "<![CDATA[\(scalar)]]>"
                } else if newline == "\r\n" && scalar == "\n" {
                    // An editor that ends its lines so does it in strings too.
                    text += newline
                } else {
                    text.unicodeScalars.append(scalar)
                }
            }
        }
        text += "</\(name)>"
    }

    private mutating func decorate() {
        if random.chance(20) {
            comment()
            text += newline
        }
    }

    private mutating func comment() {
        let comment = random.pick(["<!-- \(comments.count) <key>a</key> é -->", "<?pi \(comments.count) <dict> ?>"])
        comments.append(comment)
        text += comment
    }

    private mutating func breakLine(_ level: Int, _ base: String) {
        if isOnLines && !random.chance(4) {
            text += newline + base + String(repeating: indentation, count: level)
        } else if random.chance(20) {
            text += " "
        }
    }
}
