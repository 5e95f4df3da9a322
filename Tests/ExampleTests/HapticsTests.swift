import TestSupport
import Testing

@Suite("haptics") struct HapticsTests {
    let daemon: RunningDaemon

    init() throws {
        daemon = try RunningDaemon(isAtStandardPlace: true)
    }

    @Test("both are on at first; what one program switches the other shows; reset takes it back")
    func switching() throws {
        let first = try RunningExample("haptics", with: daemon)
        let second = try RunningExample("haptics", with: daemon)
        first.type("show")
        try first.expect(["Feedback", "  [x] Animation", "  [x] Haptic"])
        first.type("animation off")
        try second.expect("isAnimation: true → false")
        second.type("haptic off")
        try first.expect(["isAnimation: true → false", "isHaptic: true → false"])
        second.type("show")
        try second.expect(["  [ ] Animation", "  [ ] Haptic"])
        first.type("reset")
        try second.expect(["isAnimation: false → true", "isHaptic: false → true"])
    }

    @Test("two programs that switch different members at the same time do not undo each other")
    func together() throws {
        let first = try RunningExample("haptics", with: daemon)
        let second = try RunningExample("haptics", with: daemon)
        for round in 1...20 {
            let word = round % 2 == 1 ? "off" : "on"
            first.type("animation \(word)")
            second.type("haptic \(word)")
            let change = round % 2 == 1 ? "true → false" : "false → true"
            try first.expect("isHaptic: \(change)")
            try second.expect("isAnimation: \(change)")
        }
        #expect(try first.quit().errors.isEmpty)
    }

    @Test("a value that lacks a member, or is of another type, gives the defaults")
    func foreignValue() throws {
        let group = "group.com.example.app"
        #expect(try daemon.control(["create", group]).code == 0)
        #expect(try run("haptics", ["haptic", "off"], with: daemon).output == "isHaptic: true → false\n")
        let partial = try run("haptics", ["show"], with: daemon)
        #expect(partial.output == "Feedback\n\n  [x] Animation\n  [ ] Haptic\n")
        #expect(try daemon.control(["write", group, "feedbackSettings", "-string", "none"]).code == 0)
        let wrong = try run("haptics", ["show"], with: daemon)
        #expect(wrong.output == "Feedback\n\n  [x] Animation\n  [x] Haptic\n")
        #expect(wrong.errors.contains("feedbackSettings"), "\(wrong.errors)")
    }
}
