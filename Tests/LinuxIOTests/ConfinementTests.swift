import LinuxIO
import TestSupport
import Testing

@testable import LinuxIO

@Suite("Who is in a sandbox")
struct ConfinementTests {
    @Test("this process is in none, and one that is gone is nobody to trust")
    func here() {
        #expect(Confinement.of(process: ProcessFacts.processID) == nil)
        #expect(Confinement.of(process: 0) == nil)
        guard case .unknown? = Confinement.of(process: .max) else {
            Issue.record("a process that is gone passes for an ordinary one")
            return
        }
    }

    @Test(
        "Flatpak's file names the application",
        arguments: [
            ("[Application]\nname=org.example.App\nruntime=x\n", "org.example.App"),
            ("[Instance]\nname=no\n[Application]\nname=a\n", "a"), ("[Runtime]\nname=org.r\n", "org.r"),
            ("[Instance]\nname=no\n", nil), ("", nil),
        ] as [(String, String?)])
    func flatpak(_ text: String, _ name: String?) {
        #expect(Confinement.applicationName(text) == name)
    }

    @Test(
        "snapd's control groups name the snap",
        arguments: [
            ("0::/user.slice/user-1000.slice/app.slice/snap.demo.app-6f0.scope\n", "demo"),
            ("9:freezer:/snap.demo\n0::/\n", "demo"), ("1:name=systemd:/a/snap.x.y.service\n", "x"),
            ("0::/user.slice/vte-spawn.scope\n", nil), ("3:cpu:/snap.demo.app\n", nil), ("0::/snap.\n", nil), ("", nil),
        ] as [(String, String?)])
    func snap(_ text: String, _ name: String?) {
        #expect(Confinement.snapName(text) == name)
        #expect(Confinement.mayNameSnap(Array(text.utf8)) || name == nil)
    }
}
