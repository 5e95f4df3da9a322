import CNcurses

/// The terminal as a full screen, by ncurses. Made by the tool's one thread, and used there; it is given back with the
/// object. There is one at a time.
@safe
final class TerminalScreen {
    private let screen: OpaquePointer

    /// Nil where the terminal cannot do it; `$TERM` says what it can.
    init?() {
        cncurses_use_utf8()
        guard let screen = unsafe cncurses_open() else { return nil }
        unsafe self.screen = screen
        cbreak()
        noecho()
        nonl()
        unsafe keypad(cncurses_screen(), true)
        unsafe nodelay(cncurses_screen(), true)
        // An escape key is one; what begins with its byte comes at once.
        set_escdelay(25)
        curs_set(0)
    }

    deinit {
        endwin()
        unsafe delscreen(screen)
    }

    /// The terminal has another size.
    func fit() { cncurses_fit() }

    var size: (rows: Int, columns: Int) { (Int(cncurses_rows()), Int(cncurses_columns())) }

    func show(_ picture: TopScreen) {
        erase()
        for (row, line) in picture.lines.enumerated() {
            _ = unsafe line.text.withCString { unsafe cncurses_put(Int32(row), 0, $0, Self.attributes(line.style)) }
        }
        curs_set(picture.cursor == nil ? 0 : 1)
        if let cursor = picture.cursor { move(Int32(cursor.row), Int32(cursor.column)) }
        refresh()
    }

    private static func attributes(_ style: TopScreen.Style) -> UInt32 {
        switch style {
        case .plain: 0
        case .dim: cncurses_dim
        case .bold: cncurses_bold
        case .reverse: cncurses_reverse
        }
    }

    /// All that was typed and not read yet. What means nothing here is left out. Nil: the terminal is gone.
    func inputs() -> [TopInput]? {
        var inputs: [TopInput] = []
        var code: UInt32 = 0
        var count = 0
        while true {
            switch unsafe cncurses_read(&code) {
            case 1: if let input = Self.keys[Int32(bitPattern: code)] { inputs.append(input) }
            case 0: if let input = Self.input(code) { inputs.append(input) }
            // It was readable, and there was nothing: the end.
            default: return count == 0 ? nil : inputs
            }
            count += 1
        }
    }

    private static let keys: [Int32: TopInput] = [
        KEY_UP: .up, KEY_DOWN: .down, KEY_LEFT: .left, KEY_RIGHT: .right, KEY_PPAGE: .pageUp, KEY_NPAGE: .pageDown,
        KEY_HOME: .home, KEY_END: .end, KEY_ENTER: .enter, KEY_BACKSPACE: .backspace, KEY_DC: .delete,
    ]

    private static func input(_ code: UInt32) -> TopInput? {
        switch code {
        case 0x0D, 0x0A: .enter
        case 0x1B: .escape
        case 0x08, 0x7F: .backspace
        case 0x09: .tab
        case 0x15: .killLine
        case 0x01: .home
        case 0x05: .end
        case ..<0x20: nil
        default: Unicode.Scalar(code).map { .character(Character($0)) }
        }
    }
}
