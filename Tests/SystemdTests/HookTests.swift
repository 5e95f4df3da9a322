import Foundation
import TestSupport
import Testing

@Suite(
    "Commands for changes, as units",
    .enabled(if: UserManager.obstacle == nil, Comment(rawValue: UserManager.obstacle ?? "")))
struct HookTests {
    private static let group = UserManager.group
    private static let unit = "appgroup-exec@test.service"

    @Test(
        "a hook handles each change once, over restarts of itself and of the daemon; its file says group, keys and command"
    )
    func hook() throws {
        let manager = try UserManager()
        try manager.control("create \(Self.group)")
        let home = manager.directory.file("home")
        let (place, log) = ("\(home)/.config/appgroup/exec", "\(home)/hook.log")
        try manager.run("mkdir -p \(place)")
        let lines = [
            "GROUP=\(Self.group)", "KEYS=theme ui.*", "OPTIONS=-q",
            "COMMAND=echo \"$APPGROUP_KEY $APPGROUP_NEW\" >>\(log)",
        ]
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: "\(place)/test.conf"))
        try manager.run("systemctl --user enable --now \(Self.unit)")
        // It stands when it has remembered where it begins.
        #expect(eventually { FileManager.default.fileExists(atPath: "\(place)/test.state") })
        try manager.control("write \(Self.group) theme dark")
        try manager.control("write \(Self.group) other 1")
        func handled() -> String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
        #expect(eventually { handled() == "theme dark\n" }, "\(handled()) \(manager.journal)")
        try manager.run("systemctl --user stop \(Self.unit)")
        try manager.control("write \(Self.group) ui.size 12")
        try manager.run("systemctl --user restart appgroupd.service")
        try manager.run("systemctl --user start \(Self.unit)")
        #expect(eventually { handled() == "theme dark\nui.size 12\n" }, "\(handled()) \(manager.journal)")
        try manager.control("write \(Self.group) ui.size 13")
        #expect(eventually { handled() == "theme dark\nui.size 12\nui.size 13\n" }, "\(handled()) \(manager.journal)")
    }
}
