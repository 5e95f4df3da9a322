import GroupModel
import GroupProtocol
package import PropertyList

/// What the user of `top` looks at, and what they are doing. Pure: what is to be done outside comes back as an action.
package struct TopView {
    package enum Page: Int, CaseIterable, Sendable {
        case settings, groups, observers
    }

    package enum Sort: String, CaseIterable, Sendable {
        case name, age, rate
    }

    package enum Mode: Equatable {
        case browsing
        case filtering(LineEditor)
        case editing(LineEditor, TopModel.Name)
        case helping
    }

    package enum Action: Equatable {
        case quit
        case write(TopModel.Name, Value)
        case undo(TopModel.Name)
    }

    package private(set) var page = Page.settings
    package private(set) var sort = Sort.name
    package private(set) var filter = ""
    package private(set) var mode = Mode.browsing
    /// Said below until the next key.
    package var message: String?
    /// The rows of the page, as they are shown; the screen keeps them.
    private(set) var names: [TopModel.Name] = []
    private(set) var rowCount = 0
    /// The selected row: of settings it stays with its setting.
    package private(set) var selected = 0
    private var selectedName: TopModel.Name?
    /// How many rows the screen has for them.
    var pageSize = 1

    package init(page: Page = .settings) {
        self.page = page
    }

    // MARK: Rows

    /// Looks at the model again: what is shown, in its order.
    package mutating func refresh(_ model: TopModel, now: Int64) {
        switch page {
        case .settings:
            names = sorted(model.settings.keys.filter(isShown), model, now)
            rowCount = names.count
            if let selectedName, let row = names.firstIndex(of: selectedName) { selected = row }
        case .groups: rowCount = model.status?.groups.count ?? 0
        case .observers: rowCount = model.status?.observers?.count ?? 0
        }
        select(selected)
    }

    private func isShown(_ name: TopModel.Name) -> Bool {
        guard !filter.isEmpty else { return true }
        if filter.contains("*") || filter.contains("?") { return Glob(filter).matches(name.key) }
        let word = filter.lowercased()
        return name.key.string.lowercased().contains(word) || name.group.string.lowercased().contains(word)
    }

    private func sorted(_ names: [TopModel.Name], _ model: TopModel, _ now: Int64) -> [TopModel.Name] {
        let names = names.sorted()
        switch sort {
        case .name: return names
        case .age:
            let times = names.map { model.settings[$0]?.changedAt ?? .min }
            return names.indices.sorted { (times[$0], $1) > (times[$1], $0) }.map { names[$0] }
        case .rate:
            let rates = names.map { model.rate(of: $0, now: now) }
            return names.indices.sorted { (rates[$0], $1) > (rates[$1], $0) }.map { names[$0] }
        }
    }

    private mutating func select(_ row: Int) {
        selected = min(max(row, 0), max(rowCount - 1, 0))
        selectedName = page == .settings && selected < names.count ? names[selected] : nil
    }

    /// The first row on the screen.
    package var firstRow: Int { selected / max(pageSize, 1) * max(pageSize, 1) }

    // MARK: Keys

    package mutating func take(_ input: TopInput, _ model: TopModel) -> Action? {
        message = nil
        switch mode {
        case .browsing: return browse(input, model)
        case .helping: mode = .browsing
        case .filtering(var line):
            line.take(input)
            mode = input == .enter || input == .escape ? .browsing : .filtering(line)
            filter = input == .escape ? "" : line.text
        case .editing(let line, let name): return edit(line, name, input)
        }
        return nil
    }

    private mutating func browse(_ input: TopInput, _ model: TopModel) -> Action? {
        switch input {
        case .up, .character("k"): select(selected - 1)
        case .down, .character("j"): select(selected + 1)
        case .pageUp: select(selected - pageSize)
        case .pageDown, .character(" "): select(selected + pageSize)
        case .home, .character("g"): select(0)
        case .end, .character("G"): select(rowCount - 1)
        case .character("q"): return .quit
        case .character("?"), .character("h"): mode = .helping
        case .character("/"): mode = .filtering(LineEditor(filter))
        case .escape: filter = ""
        case .character("s"): sort = Self.next(sort)
        case .character("1"): show(.settings)
        case .character("2"): show(.groups)
        case .character("3"): show(.observers)
        case .tab: show(Self.next(page))
        case .enter, .character("e"): beginEditing(model)
        case .character("u"): return selectedName.map { .undo($0) }
        default: break
        }
        return nil
    }

    private mutating func show(_ page: Page) {
        (self.page, selected, selectedName) = (page, 0, nil)
    }

    private static func next<Choice: CaseIterable & Equatable>(_ choice: Choice) -> Choice {
        let all = Array(Choice.allCases)
        let index = all.firstIndex(of: choice).map { ($0 + 1) % all.count } ?? 0
        return all[index]
    }

    private mutating func beginEditing(_ model: TopModel) {
        guard let name = selectedName, let value = model.settings[name]?.value else { return }
        mode = .editing(LineEditor(TextRendering.inline(value)), name)
    }

    private mutating func edit(_ line: LineEditor, _ name: TopModel.Name, _ input: TopInput) -> Action? {
        var line = line
        switch input {
        case .escape: mode = .browsing
        case .enter:
            do throws(NotationReading.Problem) {
                let value = try NotationReading.value(line.text)
                mode = .browsing
                return .write(name, value)
            } catch {
                message = "expected \(error.expected), at column \(error.column)"
            }
        default:
            line.take(input)
            mode = .editing(line, name)
        }
        return nil
    }
}
