import Foundation
import TestSupport
import Testing

@Suite("settings-panel and theme-widget") struct SettingsPanelTests {
    let daemon: RunningDaemon

    init() throws {
        daemon = try RunningDaemon(isAtStandardPlace: true)
    }

    @Test("what the panel sets the widget shows, and the other way round, with old and new")
    func bothWays() throws {
        let panel = try RunningExample("settings-panel", with: daemon)
        let widget = try RunningExample("theme-widget", with: daemon)
        panel.type("widget-theme dark")
        panel.type("widget-color red")
        try widget.expect(["widgetTheme: light → dark", "widgetColor: blue → red"])
        widget.type("theme sepia")
        widget.type("color green")
        try panel.expect([
            "widgetTheme: light → dark", "widgetColor: blue → red",
            "widgetTheme: dark → sepia", "widgetColor: red → green",
        ])
    }

    @Test("each command of the form changes its setting in every panel")
    func form() throws {
        let first = try RunningExample("settings-panel", with: daemon)
        let second = try RunningExample("settings-panel", with: daemon)
        let steps = [
            ("name Ada Lovelace", "displayName: Guest → Ada Lovelace"),
            ("notifications off", "notificationsEnabled: true → false"),
            ("results 37", "maxResults: 20 → 35"),
            ("results more", "maxResults: 35 → 40"),
            ("results 1000", "maxResults: 40 → 100"),
            ("results -3", "maxResults: 100 → 10"),
            ("tab search", "selectedTab: home → search"),
            ("dark on", "isDarkMode: false → true"),
            ("theme dark", "theme: system → dark"),
        ]
        for (command, line) in steps {
            first.type(command)
            try first.expect(line)
            try second.expect(line)
        }
    }

    @Test("reset takes everything back in one commit")
    func reset() throws {
        let first = try RunningExample("settings-panel", with: daemon)
        for command in ["name Ada", "results 50", "theme dark", "widget-color red"] { first.type(command) }
        try first.expect("widgetColor: blue → red")
        let widget = try RunningExample("theme-widget", with: daemon)
        first.type("reset")
        try first.expect([
            "displayName: Ada → Guest", "maxResults: 50 → 20", "theme: dark → system", "launchCount: 1 → 0",
            "widgetColor: red → blue",
        ])
        try widget.expect("widgetColor: red → blue")
        #expect(try daemon.control(["read", "group.com.example.app"]).output.isEmpty)
        let commit = try daemon.control(["history", "group.com.example.app", "--limit", "1"]).output
        #expect(commit.split(separator: "\n").count == 6, "\(commit)")
    }

    @Test("launches are counted, whoever opens the panel, and the date of the last is kept")
    func launches() throws {
        let panels = try (1...3).map { _ in try RunningExample("settings-panel", with: daemon) }
        for panel in panels { #expect(try panel.quit().code == 0) }
        let shown = try run("settings-panel", ["show"], with: daemon).output
        #expect(shown.contains(#/Launches +3\n/#), "\(shown)")
        #expect(shown.contains(#/Last opened +20\d\d-/#), "\(shown)")
    }

    @Test("a command as an argument is done, told and seen by everybody when the program has ended")
    func once() throws {
        let outcome = try run("settings-panel", ["name", "Ada", "Lovelace"], with: daemon)
        #expect(outcome.output == "displayName: Guest → Ada Lovelace\n")
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome)")
        let value = try daemon.control(["read", "group.com.example.app", "displayName"]).output
        #expect(value == "Ada Lovelace\n")
    }

    @Test("an edit of the file and the command-line tool change the panel as well")
    func strangers() throws {
        let panel = try RunningExample("settings-panel", with: daemon)
        let write = ["write", "group.com.example.app", "isDarkMode", "-bool", "true"]
        #expect(try daemon.control(write).code == 0)
        try panel.expect("isDarkMode: false → true")
        panel.type("name Ada")
        try panel.expect("displayName: Guest → Ada")
        #expect(try daemon.control(["sync", "group.com.example.app"]).code == 0)
        let file = URL(filePath: daemon.plist("group.com.example.app"))
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        try Data(text.replacing("Ada", with: "Eve").utf8).write(to: file, options: .atomic)
        try panel.expect("displayName: Ada → Eve")
    }
}
