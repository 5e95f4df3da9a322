import GroupModel
import GroupProtocol
import PropertyList

/// The picture of `top`, for a terminal of any size. Pure.
package struct TopScreen: Equatable {
    package enum Style: Sendable {
        case plain, dim, bold, reverse
    }

    package struct Line: Equatable {
        package var text: String
        package var style: Style
    }

    /// As many as the terminal has rows, each no wider than it.
    package private(set) var lines: [Line] = []
    /// Where the user types: row and column.
    package private(set) var cursor: (row: Int, column: Int)?

    private let columns: Int

    package static func == (left: TopScreen, right: TopScreen) -> Bool {
        left.lines == right.lines && left.cursor?.row == right.cursor?.row
            && left.cursor?.column == right.cursor?.column
    }

    /// Brings the view up to date with the model and the size of the terminal.
    package init(_ model: TopModel, _ view: inout TopView, rows: Int, columns: Int, now: Int64) {
        self.columns = columns
        view.pageSize = max(rows - 4, 1)
        view.refresh(model, now: now)
        add(Self.title(model, now), .bold)
        add(Self.state(view, shown: view.rowCount), .dim)
        if view.mode == .helping {
            for line in Self.help { add(line) }
        } else {
            addRows(model, view, now)
        }
        lines = Array(lines.prefix(max(rows - 1, 0)))
        while lines.count < rows - 1 { add("") }
        addBottom(view)
    }

    private mutating func add(_ text: String, _ style: Style = .plain) {
        lines.append(Line(text: text.fitted(to: columns), style: style))
    }

    // MARK: Above

    private static func title(_ model: TopModel, _ now: Int64) -> String {
        if let trouble = model.trouble { return trouble }
        guard let status = model.status else { return "appgroupd" }
        let rate = decimal(model.rate(now: now))
        return "appgroupd \(status.version), up \(StatusRendering.duration(status.uptime)), "
            + [
                StatusRendering.counted(status.groups.count, "group"),
                StatusRendering.counted(status.clients, "client"),
                StatusRendering.counted(status.watches, "watch", "watches"), "\(rate) changes/s",
            ].joined(separator: ", ")
    }

    private static func state(_ view: TopView, shown: Int) -> String {
        let pages = zip(TopView.Page.allCases, ["settings", "groups", "observers"]).map { page, name in
            "\(page.rawValue + 1) " + (page == view.page ? "[\(name)]" : name)
        }.joined(separator: "  ")
        guard view.page == .settings else { return pages }
        let filter = view.filter.isEmpty ? "" : ", filter \(quoted(view.filter))"
        return pages + "   \(shown) by \(view.sort.rawValue)\(filter)"
    }

    // MARK: Rows

    private mutating func addRows(_ model: TopModel, _ view: TopView, _ now: Int64) {
        let range = view.firstRow..<min(view.firstRow + view.pageSize, view.rowCount)
        let table =
            switch view.page {
            case .settings: settings(view.names[range], model, now)
            case .groups: Self.groups(model.status?.groups[range] ?? [])
            case .observers: Self.observers(model.status?.observers?[range] ?? [])
            }
        let texts = table.lines(isPlain: false)
        for (index, text) in texts.enumerated() {
            let isSelected = index > 0 && view.firstRow + index - 1 == view.selected
            add(isSelected ? text.padded(to: columns) : text, index == 0 ? .bold : isSelected ? .reverse : .plain)
        }
    }

    /// The columns of names and writers are bounded, the value takes what is left.
    private func settings(_ names: ArraySlice<TopModel.Name>, _ model: TopModel, _ now: Int64) -> Table {
        var table = Table(rows: [["GROUP", "KEY", "AGE", "RATE", "WRITER", "VALUE"]], rightAligned: [2, 3])
        for name in names {
            guard let setting = model.settings[name] else { continue }
            let age = setting.changedAt.map { Self.age(now - $0) } ?? "-"
            table.rows.append([
                name.group.string.fitted(to: columns / 4), TextRendering.key(name.key).fitted(to: columns / 4), age,
                setting.changedAt == nil ? "-" : Self.decimal(model.rate(of: name, now: now)),
                (setting.writer ?? "-").fitted(to: columns / 6), TextRendering.inline(setting.value),
            ])
        }
        return table
    }

    private static func groups(_ groups: ArraySlice<GroupStatus>) -> Table {
        let header = ["GROUP", "REVISION", "KEYS", "SIZE", "WATCHERS", "PLIST", "PROBLEM"]
        return Table(
            rows: [header]
                + groups.map { group in
                    [
                        group.group.string, String(group.position.revision), String(group.keys),
                        StatusRendering.size(group.bytes), String(group.watchers), group.plist.rawValue,
                        group.problem?.reason ?? "",
                    ]
                },
            rightAligned: [1, 2, 3, 4])
    }

    private static func observers(_ observers: ArraySlice<ObserverStatus>) -> Table {
        Table(
            rows: [["PROCESS", "CLIENT", "BEHIND", "GROUPS"]]
                + observers.map { observer in
                    [
                        observer.processId.map(String.init) ?? "-",
                        observer.client.map { TextRendering.key(Key($0)) } ?? "-",
                        StatusRendering.size(observer.waiting), observer.groups.map(\.string).joined(separator: " "),
                    ]
                },
            rightAligned: [0, 2])
    }

    // MARK: Below

    private mutating func addBottom(_ view: TopView) {
        switch view.mode {
        case .filtering(let line): prompt("filter: ", line)
        case .editing(let line, let name):
            prompt(view.message.map { "\($0): " } ?? "\(TextRendering.key(name.key)) = ", line)
        case .browsing, .helping:
            add(view.message ?? "q quit  ? help  / filter  s sort  e edit  u undo  1 2 3 pages", .reverse)
        }
    }

    /// Shows the end of a line that does not fit, up to the cursor.
    private mutating func prompt(_ title: String, _ line: LineEditor) {
        let title = title.fitted(to: columns / 2)
        let room = max(columns - title.displayWidth - 1, 1)
        var head = line.head
        while head.displayWidth > room { head.removeFirst() }
        let tail = String(line.characters[line.cursor...])
        add(title + head + tail)
        cursor = (lines.count - 1, (title + head).displayWidth)
    }

    private static let help = [
        "",
        "up down, j k        one row                  /    filter by a word, or by a glob",
        "pgup pgdn, space    one page                 esc  no filter",
        "home end, g G       to the ends              s    sort by name, age, rate",
        "1 2 3, tab          settings, groups, observers",
        "e, enter            change the selected value: as read prints it, text in \"\"",
        "u                   take back the last change of the selected key",
        "q                   quit",
    ]

    // MARK: Numbers

    private static func age(_ microseconds: Int64) -> String {
        let seconds = microseconds / 1_000_000
        switch seconds {
        case ..<60: return "\(seconds)s"
        case ..<3600: return "\(seconds / 60)m"
        case ..<86_400: return "\(seconds / 3600)h"
        default: return "\(seconds / 86_400)d"
        }
    }

    private static func decimal(_ number: Double) -> String {
        let tenths = Int((min(number, 1e9) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

extension String {
    /// No wider than so many columns: what is cut off shows as `…`.
    package func fitted(to width: Int) -> String {
        guard displayWidth > width else { return self }
        var text = ""
        var used = 1
        for character in self {
            used += String(character).displayWidth
            guard used <= width else { break }
            text.append(character)
        }
        return width > 0 ? text + "…" : ""
    }
}
