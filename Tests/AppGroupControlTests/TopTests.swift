import AppGroupControl
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

/// What `top` shows and how it answers to keys, without a terminal.
@Suite("top")
struct TopTests {
    private static let app = "group.com.example.app"
    private static let second: Int64 = 1_000_000

    private static func group(_ name: String) throws -> GroupIdentifier { try GroupIdentifier(name) }

    private static func model() throws -> TopModel {
        var model = TopModel()
        let (app, other) = (try group(app), try group("group.org.other"))
        model.take(
            ["theme": .string("dark"), "size": .integer(12), "名前": .string("設定画面")], of: app)
        model.take(["flag": .boolean(true)], of: other)
        let epoch = Epoch(high: 1, low: 2)
        model.status = DaemonStatus(
            version: "1.0", uptime: 61, durability: .process, clients: 3, watches: 1, commits: 9,
            groups: [
                GroupStatus(
                    group: app, position: Position(epoch: epoch, revision: 7), keys: 3, bytes: 92, watchers: 1,
                    plist: .clean, watching: .inotify, problem: nil),
                GroupStatus(
                    group: other, position: Position(epoch: epoch, revision: 1), keys: 1, bytes: 2, watchers: 1,
                    plist: .damaged, watching: .inotify, problem: Problem(reason: "no property list")),
            ], problems: [], root: "/root", state: "/state",
            observers: [ObserverStatus(client: "widget", processId: 42, groups: [app, other], waiting: 2048)])
        return model
    }

    private static func commit(_ key: Key, _ value: Value?) throws -> Commit {
        Commit(
            group: try group(app), revision: 8, time: Timestamp(microseconds: 0),
            origin: Origin(kind: .client, client: "panel", processId: 7),
            changes: [Change(key: key, old: nil, new: value)])
    }

    private static func picture(
        _ model: TopModel, _ view: inout TopView, _ rows: Int = 24, _ columns: Int = 80, now: Int64 = 0
    ) -> [String] {
        let screen = TopScreen(model, &view, rows: rows, columns: columns, now: now)
        #expect(screen.lines.count == rows)
        #expect(screen.lines.allSatisfy { $0.text.displayWidth <= columns })
        return screen.lines.map(\.text).filter { !$0.isEmpty }
    }

    private static func press(_ view: inout TopView, _ model: TopModel, _ inputs: TopInput...) -> TopView.Action? {
        var action: TopView.Action?
        _ = picture(model, &view)
        for input in inputs {
            action = view.take(input, model)
            _ = picture(model, &view)
        }
        return action
    }

    @Test("the settings, on 80 columns")
    func settings() throws {
        var (model, view) = (try Self.model(), TopView())
        model.take(try Self.commit("size", .integer(13)), now: 0)
        #expect(
            Self.picture(model, &view, now: 3 * Self.second) == [
                "appgroupd 1.0, up 1 min 1 s, 2 groups, 3 clients, 1 watch, 0.1 changes/s",
                "1 [settings]  2 groups  3 observers   4 by name",
                "GROUP                 KEY     AGE  RATE  WRITER    VALUE",
                "group.com.example.a…  size     3s   0.1  panel[7]  13" + String(repeating: " ", count: 27),
                "group.com.example.a…  theme     -     -  -         \"dark\"",
                "group.com.example.a…  \"名前\"    -     -  -         \"設定画面\"",
                "group.org.other       flag      -     -  -         true",
                "q quit  ? help  / filter  s sort  e edit  u undo  1 2 3 pages",
            ])
    }

    @Test(
        "any size: nothing is wider or longer than the terminal",
        arguments: [(1, 1), (2, 3), (5, 20), (24, 80), (50, 200)])
    func sizes(_ rows: Int, _ columns: Int) throws {
        for page in TopView.Page.allCases {
            var view = TopView(page: page)
            let lines = Self.picture(try Self.model(), &view, rows, columns)
            #expect(lines.count >= 1)
        }
    }

    @Test("groups and observers")
    func pages() throws {
        var (model, view) = (try Self.model(), TopView())
        _ = Self.press(&view, model, .character("2"))
        #expect(
            Self.picture(model, &view)[2...4] == [
                "GROUP                  REVISION  KEYS  SIZE  WATCHERS  PLIST    PROBLEM",
                "group.com.example.app         7     3  92 B         1  clean    " + String(repeating: " ", count: 16),
                "group.org.other               1     1   2 B         1  damaged  no property list",
            ])
        _ = Self.press(&view, model, .tab)
        #expect(
            Self.picture(model, &view)[3].hasPrefix("     42  widget  2.0 KiB  group.com.example.app group.org.other"))
        model.trouble = "appgroupd cannot be reached"
        #expect(Self.picture(model, &view)[0] == "appgroupd cannot be reached")
    }

    @Test("a filter by a word or a glob, and orders by age and rate; the selection stays with its setting")
    func filterAndSort() throws {
        var (model, view) = (try Self.model(), TopView())
        func keys() -> [String] {
            Self.picture(model, &view)[3...].dropLast().map { line in
                line.split(separator: " ").map(String.init)[1]
            }
        }
        _ = Self.press(&view, model, .down)
        #expect(view.selected == 1)
        model.take(try Self.commit("theme", .string("x")), now: 1)
        _ = Self.press(&view, model, .character("s"))
        #expect(keys() == ["theme", "size", "\"名前\"", "flag"])
        #expect(view.selected == 0 && view.sort == .age)
        _ = Self.press(&view, model, .character("s"), .character("s"), .character("/"), .character("E"), .enter)
        #expect(view.filter == "E" && keys() == ["size", "theme", "\"名前\"", "flag"])
        _ = Self.press(
            &view, model, .character("/"), .killLine, .character("?"), .character("h"), .character("*"), .enter)
        #expect(keys() == ["theme"])
        _ = Self.press(&view, model, .escape)
        #expect(view.filter == "" && keys().count == 4)
    }

    @Test("a value is edited in place; what is no value is told, and nothing is written")
    func edit() throws {
        var (model, view) = (try Self.model(), TopView())
        let size = TopModel.Name(try Self.group(Self.app), "size")
        #expect(
            Self.press(&view, model, .character("e"), .backspace, .character("3"), .enter) == .write(size, .integer(13))
        )
        #expect(Self.press(&view, model, .enter, .character("x"), .enter) == nil)
        let screen = TopScreen(model, &view, rows: 24, columns: 80, now: 0)
        #expect(screen.lines.last?.text.hasPrefix("expected a value such as") == true)
        #expect(screen.cursor?.row == 23)
        #expect(Self.press(&view, model, .home, .delete, .end, .backspace, .backspace, .enter) == nil)
        #expect(
            Self.press(&view, model, .character("["), .left, .right, .character("]"), .enter)
                == .write(size, .array([])))
        #expect(Self.press(&view, model, .enter, .escape) == nil)
        #expect(view.mode == .browsing)
        #expect(Self.press(&view, model, .character("u")) == .undo(size))
        #expect(Self.press(&view, model, .character("q")) == .quit)
        #expect(Self.press(&view, TopModel(), .character("e")) == nil)
    }

    @Test("a line that is typed: marks, cursor, both ends")
    func line() {
        var line = LineEditor("ab")
        for input in [TopInput.left, .character("e"), .character("\u{301}"), .home, .character("設"), .right, .delete] {
            line.take(input)
        }
        #expect(line.text == "設ab" && line.head == "設a")
    }

    @Test("values that go, groups that go, rates that fade")
    func model() throws {
        var model = try Self.model()
        let app = try Self.group(Self.app)
        let size = TopModel.Name(app, "size")
        for _ in 0..<10 { model.take(try Self.commit("size", .integer(1)), now: 0) }
        #expect(abs(model.rate(of: size, now: 0) - 2) < 0.001)
        #expect(model.rate(of: size, now: 60 * Self.second) < 0.001)
        model.take(try Self.commit("size", nil), now: 1)
        #expect(model.settings[size] == nil)
        model.forget(app)
        #expect(model.settings.count == 1)
    }

    @Test("texts are cut to columns, with a mark")
    func fitted() {
        #expect("abcdef".fitted(to: 4) == "abc…" && "設定画面".fitted(to: 4) == "設…" && "ab".fitted(to: 2) == "ab")
        #expect("ab".fitted(to: 0) == "")
    }
}
