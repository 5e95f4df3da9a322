import Testing

@testable import GroupServer

@Suite struct IdleExitTests {
    private typealias Needs = IdleExit.Needs

    @Test func `without a limit nothing is ever looked at`() {
        var idle = IdleExit(limit: nil)
        let decision = idle.decide(at: 5, Needs(), hasOpenFiles: false)
        #expect(decision == .stay)
        #expect(idle.start == nil)
    }

    @Test func `it ends when nobody has been there for the whole time`() {
        var idle = IdleExit(limit: 10)
        var decision = idle.decide(at: 100, Needs(), hasOpenFiles: false)
        #expect(decision == .look(at: 110))
        decision = idle.decide(at: 109, Needs(), hasOpenFiles: false)
        #expect(decision == .look(at: 110))
        decision = idle.decide(at: 110, Needs(), hasOpenFiles: false)
        #expect(decision == .exit)
    }

    @Test func `who comes in between, for however short a time, begins the count anew`() {
        var idle = IdleExit(limit: 10)
        _ = idle.decide(at: 100, Needs(), hasOpenFiles: false)
        idle.end()
        var decision = idle.decide(at: 108, Needs(), hasOpenFiles: false)
        #expect(decision == .look(at: 118))
        // The timer that was armed before them.
        decision = idle.decide(at: 110, Needs(), hasOpenFiles: false)
        #expect(decision == .look(at: 118))
    }

    @Test(arguments: [Needs(clients: 1), Needs(trials: 1), Needs(isOpening: true)])
    private func `what needs it keeps it without being looked at`(_ needs: Needs) {
        var idle = IdleExit(limit: 10)
        _ = idle.decide(at: 100, Needs(), hasOpenFiles: false)
        var decision = idle.decide(at: 110, needs, hasOpenFiles: false)
        #expect(decision == .stay)
        decision = idle.decide(at: 200, Needs(), hasOpenFiles: false)
        #expect(decision == .look(at: 210))
    }

    @Test func `files that are not done are looked at again, not too often, and only when it would end`() {
        var idle = IdleExit(limit: 10)
        var looks = 0
        func isOpen() -> Bool {
            looks += 1
            return true
        }
        _ = idle.decide(at: 100, Needs(), hasOpenFiles: isOpen())
        #expect(looks == 0)
        var decision = idle.decide(at: 110, Needs(), hasOpenFiles: isOpen())
        #expect(looks == 1)
        #expect(decision == .look(at: 100_110))
        decision = idle.decide(at: 100_110, Needs(), hasOpenFiles: false)
        #expect(decision == .exit)
    }
}
