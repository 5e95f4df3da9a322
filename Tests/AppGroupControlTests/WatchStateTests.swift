import AppGroupControl
import GroupModel
import PropertyList
import Testing

@Suite("How far a watch has come")
struct WatchStateTests {
    static func state() throws -> WatchState {
        let epoch = try #require(Epoch("0123456789abcdef0123456789abcdef"))
        return WatchState(group: try GroupIdentifier("group.a"), position: Position(epoch: epoch, revision: 12))
    }

    @Test("written and read")
    func roundTrip() throws {
        var state = try Self.state()
        #expect(
            String(decoding: state.encoded, as: UTF8.self)
                == #"{"appgroupd":"watch","group":"group.a","epoch":"0123456789abcdef0123456789abcdef","revision":12}"#
                + "\n")
        #expect(WatchState(parsing: state.encoded) == state)
        state.handled("b", 13)
        state.handled("é\"", 13)
        #expect(WatchState(parsing: state.encoded) == state)
    }

    @Test("a revision is handled key by key, and forgotten when all of it is")
    func partial() throws {
        var state = try Self.state()
        state.handled("a", 13)
        #expect(state.isHandled("a", 13))
        #expect(!state.isHandled("b", 13))
        #expect(!state.isHandled("a", 14))
        state.handled("b", 14)
        #expect(!state.isHandled("a", 14))
        state.handledAll(upTo: Position(epoch: state.position.epoch, revision: 14))
        #expect(!state.isHandled("b", 14))
        #expect(state.position.revision == 14)
    }

    @Test(
        "anything else is no state",
        arguments: ["", "{}", "[1]", #"{"appgroupd":"watch","group":"group.a","epoch":"x","revision":1}"#])
    func foreign(_ text: String) {
        #expect(WatchState(parsing: Array(text.utf8)) == nil)
    }
}
