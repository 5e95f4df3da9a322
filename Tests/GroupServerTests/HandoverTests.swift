import GroupCore
import GroupModel
import LinuxIO
import PropertyList
import ServiceIO
import TestSupport
import Testing

@testable import GroupServer

@Suite("What one daemon leaves to the next")
struct HandoverTests {
    private static func handover() throws -> Handover {
        let group = try GroupIdentifier("group.test")
        let epoch = Epoch(high: 1, low: .max)
        return Handover(clients: [
            .init(inode: 7, input: Array("{\"method".utf8), output: [0, 255, 0], owesFirstReply: false),
            .init(
                inode: .max, input: [], output: [], owesFirstReply: true,
                watches: [
                    .init(group: group, keys: nil, standing: .at(0), epoch: epoch),
                    .init(group: try GroupIdentifier("a"), keys: [], standing: .snapshot(.tooOld), epoch: epoch),
                    .init(group: try GroupIdentifier("b"), keys: ["a*", ""], standing: .gone, epoch: nil),
                ]),
            .init(
                inode: 1, input: [], output: [], owesFirstReply: false,
                documents: .init(group: group, path: "notes.json")),
        ])
    }

    @Test func `is read back as it was`() throws {
        #expect(Handover(try Self.handover().encoded) == (try Self.handover()))
    }

    @Test func `of another version, or cut off, nothing is taken`() throws {
        let text = String(decoding: try Self.handover().encoded, as: UTF8.self)
        #expect(Handover(Array(text.replacing("\"version\":1", with: "\"version\":2").utf8)) == nil)
        #expect(Handover(Array(text.utf8.dropLast())) == nil)
        #expect(Handover([]) == nil)
    }

    @Test func `a client that is not understood is let go, and no other`() throws {
        let text = String(decoding: try Self.handover().encoded, as: UTF8.self)
        let strange = text.replacing("\"group\":\"b\"", with: "\"group\":\"../b\"")
        #expect(Handover(Array(strange.utf8))?.clients.map(\.inode) == [7, 1])
    }

    @Test func `a sealed file is what it says, and nobody can change it`() throws {
        let file = try FileDescriptor.sealed("test", Array("text".utf8))
        let isSealed = file.isSealed
        #expect(isSealed)
        let text = try file.pread(count: 10, at: 0)
        #expect(text == Array("text".utf8))
        let isWritten = (try? file.writeAll(Array("x".utf8))) != nil
        #expect(!isWritten)
        let directory = try TemporaryDirectory()
        let ordinary = try Files.open(try directory.write("file", "text"), .readWrite)
        let isOrdinarySealed = ordinary.isSealed
        #expect(!isOrdinarySealed)
    }
}
