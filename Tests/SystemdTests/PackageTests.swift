import Foundation
import TestSupport
import Testing

@Suite(
    "The Debian package",
    .enabled(if: UserManager.obstacle == nil, Comment(rawValue: UserManager.obstacle ?? "")))
struct PackageTests {
    @Test("make deb builds it; it installs enabled, runs, and leaves nothing behind but settings")
    func package() throws {
        let manager = try UserManager(installs: false)
        let directory = manager.directory.path
        // What is built for debugging is linked with Swift's own libraries, which no package has.
        let options =
            "DEB_BUILD_OPTIONS='nostrip noautodbgsym' SHLIBDEPS_OPTIONS=--ignore-missing-info BUILDDEB_OPTIONS=-Znone"
        try manager.make("deb", "SCRATCH=\(directory)/scratch DEB_OUT=\(directory)/deb \(options)")
        let list = "find /usr /etc -xdev -path '*appgroup*' -not -path '\(directory)*'"
        #expect(try manager.run(list) == "")

        try manager.run("DEBIAN_FRONTEND=noninteractive dpkg -i \(directory)/deb/appgroupd_*.deb")
        try manager.run("systemctl --user daemon-reload")
        #expect(try manager.run("systemctl --user is-enabled appgroupd.socket") == "enabled\n")
        #expect(try manager.run("dpkg-query -W -f '${Conffiles}' appgroupd").contains("/etc/appgroupd/appgroupd.conf"))
        try manager.run("systemctl --user start appgroupd.socket")
        try manager.control("write --create \(UserManager.group) k 1")
        #expect(try manager.run("readlink /proc/\(try manager.mainProcess)/exe") == "/usr/libexec/appgroupd\n")
        for page in ["1 appgroupctl", "8 appgroupd", "5 appgroupd.conf"] { try manager.run("man -w \(page)") }
        #expect(try manager.run("pkg-config --variable=interface appgroupd") == "io.appgroupd.Settings\n")

        try manager.run("systemctl --user stop appgroupd.socket appgroupd.service")
        try manager.run("dpkg --purge appgroupd")
        #expect(try manager.run(list) == "")
        #expect(try String(contentsOfFile: manager.plist, encoding: .utf8).contains("<key>k</key>"))
    }
}
