/// One line that is being typed. Pure.
package struct LineEditor: Equatable {
    package private(set) var characters: [Character]
    /// Before which character the next one goes.
    package private(set) var cursor: Int

    package init(_ text: String = "") {
        characters = Array(text)
        cursor = characters.count
    }

    package var text: String { String(characters) }
    /// What stands before the cursor.
    package var head: String { String(characters[..<cursor]) }

    package mutating func insert(_ character: Character) {
        // A mark goes onto the character before it.
        let both = cursor > 0 ? String(characters[cursor - 1]) + String(character) : ""
        if both.count == 1 {
            characters[cursor - 1] = Character(both)
        } else {
            characters.insert(character, at: cursor)
            cursor += 1
        }
    }

    package mutating func take(_ input: TopInput) {
        switch input {
        case .character(let character): insert(character)
        case .left: cursor = max(cursor - 1, 0)
        case .right: cursor = min(cursor + 1, characters.count)
        case .home: cursor = 0
        case .end: cursor = characters.count
        case .backspace where cursor > 0:
            cursor -= 1
            characters.remove(at: cursor)
        case .delete where cursor < characters.count: characters.remove(at: cursor)
        case .killLine: self = LineEditor()
        default: break
        }
    }
}

/// What the user of a full screen does.
package enum TopInput: Equatable, Sendable {
    case character(Character)
    case up, down, left, right, pageUp, pageDown, home, end
    case enter, escape, backspace, delete
    /// Ctrl-U.
    case killLine
    case tab
}
