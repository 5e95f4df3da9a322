import Foundation
import TestSupport
import Testing

@Suite(
    "Under a real user manager, from the installed files",
    .enabled(if: UserManager.obstacle == nil, Comment(rawValue: UserManager.obstacle ?? "")))
struct ActivationTests {
    private static let group = UserManager.group

    @Test("The first connection starts the daemon; two programs share a setting")
    func firstConnection() throws {
        let manager = try UserManager()
        #expect(try manager.property("ActiveState") == "inactive")
        #expect(try manager.property("SubState", of: UserManager.socketUnit) == "listening")
        try manager.control("write --create \(Self.group) theme light")
        #expect(try manager.property("ActiveState") == "active")
        #expect(try manager.property("Type") == "notify")
        // The program that was installed, not the one that was built.
        let program = try manager.run("readlink /proc/\(try manager.mainProcess)/exe")
        #expect(program == "/usr/local/libexec/appgroupd\n")

        let observer = try manager.startWatch("--json --count 1")
        #expect(try observer.readErrorLine()?.contains("watching") == true)
        #expect(try manager.wait(for: "StatusText", toBe: "1 group, 1 client, 1 watch"))
        try manager.control("write \(Self.group) theme dark")
        let line = try observer.readLine() ?? ""
        #expect(line.contains(#""old":"light""#) || line.contains(#""old":{"string":"light"}"#), "\(line)")
        #expect(try observer.finish().code == 0)
        #expect(try manager.control("read \(Self.group) theme") == "dark")
    }

    @Test("The socket is the user's alone, and found by the interface's name")
    func places() throws {
        let manager = try UserManager()
        let modes = try manager.run("cd $XDG_RUNTIME_DIR && stat -c '%a %F' appgroupd appgroupd/io.appgroupd.Settings")
        #expect(modes == "700 directory\n600 socket\n")
        let link = try manager.run("readlink -f $XDG_RUNTIME_DIR/varlink/registry/io.appgroupd.Settings")
        #expect(link == manager.directory.file("run/appgroupd/io.appgroupd.Settings") + "\n")
    }

    @Test("reload reads the configuration again, in the same process")
    func reload() throws {
        let manager = try UserManager()
        try manager.control("create \(Self.group)")
        let pid = try manager.mainProcess
        #expect(try manager.attempt("appgroupctl write \(Self.group) k 12345678").code == 0)
        // The main file is the administrator's; the drop-in is the vendor's, and comes after it.
        let vendor = "/usr/local/lib/appgroupd/appgroupd.conf.d"
        try manager.run("mkdir -p \(vendor) && printf '[Daemon]\\nMaxValueSize=10\\n' >\(vendor)/50-small.conf")
        try manager.run("systemctl --user reload appgroupd.service")
        let refused = try manager.attempt("appgroupctl write \(Self.group) k 'longer than ten bytes'")
        #expect(refused.code != 0)
        #expect(try manager.mainProcess == pid)
        #expect(try manager.property("ActiveState") == "active")
    }

    @Test("R11: stopping writes everything out, and the socket goes on listening")
    func stop() throws {
        let manager = try UserManager()
        try manager.control("create \(Self.group)")
        for number in 1...5 { try manager.control("write \(Self.group) k\(number) \(number)") }
        try manager.run("systemctl --user stop appgroupd.service")
        #expect(try manager.property("Result") == "success")
        let text = try String(contentsOfFile: manager.plist, encoding: .utf8)
        for number in 1...5 { #expect(text.contains("<key>k\(number)</key>")) }
        #expect(try manager.property("SubState", of: UserManager.socketUnit) == "listening")
        #expect(try manager.control("read \(Self.group) k5") == "5")
    }

    @Test("make uninstall takes back what make install brought, and leaves the settings")
    func uninstall() throws {
        let manager = try UserManager(installs: false)
        let list = "find /usr /etc -xdev -path '*appgroup*' -not -path '\(manager.directory.path)*'"
        #expect(try manager.run(list) == "")
        try manager.install()
        #expect(try manager.run(list).split(separator: "\n").count > 8)
        try manager.run("systemctl --user enable --now appgroupd.socket")
        try manager.control("write --create \(Self.group) k 1")
        try manager.run("systemctl --user disable --now appgroupd.socket appgroupd.service")
        try manager.make("uninstall")
        #expect(try manager.run(list) == "")
        #expect(try String(contentsOfFile: manager.plist, encoding: .utf8).contains("<key>k</key>"))
    }
}
