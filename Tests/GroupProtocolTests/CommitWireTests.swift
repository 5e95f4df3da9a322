import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite struct CommitWireTests {
    @Test func randomCommitsRoundTrip() throws {
        try SplitMix64.withSeed { random throws in
            for _ in 0..<2000 {
                let commit = random.commit()
                let json = try JSON(parsing: commit.encoded.span)
                #expect(Commit(wire: json) == commit, "\(json)")
            }
        }
    }

    @Test func hasThisText() throws {
        let commit = Commit(
            group: Sample.group("g"), revision: 3, time: Timestamp(microseconds: 0),
            origin: Origin(kind: .client, client: "vi", processId: 7, unit: "u", tag: "t"),
            changes: [Change(key: "k", old: .integer(1), new: nil), Change(key: "l", old: nil, new: .boolean(true))])
        let text =
            #"{"group":"g","revision":3,"time":"1970-01-01T00:00:00.000000Z","origin":{"kind":"client","client":"vi","#
            + #""processId":7,"unit":"u","tag":"t"},"changes":[{"key":"k","old":{"integer":1}},{"key":"l","new":{"boolean":true}}]}"#
        #expect(String(decoding: commit.encoded, as: UTF8.self) == text)
    }

    @Test func fieldsOfALaterVersionAreIgnored() throws {
        let text =
            #"{"group":"g","revision":1,"time":"1970-01-01T00:00:00Z","later":1,"origin":{"kind":"file","x":{},"tag":null},"#
            + #""changes":[{"key":"k","old":null,"new":{"integer":1},"y":[]}]}"#
        let commit = Commit(wire: try JSON(text: text))
        #expect(commit?.origin == .file)
        #expect(commit?.changes == [Change(key: "k", old: nil, new: .integer(1))])
    }

    @Test(arguments: [
        "{}", "[]", "null",
        #"{"group":"..","revision":1,"time":"1970-01-01T00:00:00Z","origin":{"kind":"file"},"changes":[]}"#,
        #"{"group":"g","revision":0,"time":"1970-01-01T00:00:00Z","origin":{"kind":"file"},"changes":[]}"#,
        #"{"group":"g","revision":1.0,"time":"1970-01-01T00:00:00Z","origin":{"kind":"file"},"changes":[]}"#,
        #"{"group":"g","revision":1,"time":"yesterday","origin":{"kind":"file"},"changes":[]}"#,
        #"{"group":"g","revision":1,"time":"1970-01-01T00:00:00Z","origin":{"kind":"nobody"},"changes":[]}"#,
        #"{"group":"g","revision":1,"time":"1970-01-01T00:00:00Z","origin":{},"changes":[]}"#,
        #"{"group":"g","revision":1,"time":"1970-01-01T00:00:00Z","origin":{"kind":"file"},"changes":{}}"#,
        #"{"group":"g","revision":1,"time":"1970-01-01T00:00:00Z","origin":{"kind":"file"},"changes":[{}]}"#,
        #"{"group":"g","revision":1,"time":"1970-01-01T00:00:00Z","origin":{"kind":"file"},"changes":[{"key":"k","new":{"integer":1.0}}]}"#,
        #"{"group":"g","revision":1,"time":"1970-01-01T00:00:00Z","origin":{"kind":"file"},"changes":[{"key":"k","new":1}]}"#,
    ])
    func isNoCommit(text: String) throws {
        #expect(Commit(wire: try JSON(text: text)) == nil)
    }
}

@Suite struct WatchEventTests {
    @Test func snapshotsRoundTrip() throws {
        try SplitMix64.withSeed { random throws in
            for _ in 0..<500 {
                let position = random.position()
                let values = random.entries()
                let isPartial = random.maybe { _ in true }
                let object = try JSONWriter.object {
                    $0.beginObject()
                    $0.member("snapshot")
                    $0.beginObject()
                    $0.member("group", string: "g")
                    $0.member("position")
                    $0.write(position)
                    $0.member("values")
                    $0.write(values)
                    $0.member("reason", string: "tooOld")
                    if let isPartial { $0.member("partial", boolean: isPartial) }
                    $0.endObject()
                    $0.endObject()
                }
                guard case .snapshot(let part)? = WatchEvent(wire: object) else {
                    Issue.record("no snapshot: \(object)")
                    return
                }
                #expect(part.group == "g")
                #expect(part.position == position)
                #expect(part.values == values)
                #expect(part.reason == "tooOld")
                #expect(part.isPartial == (isPartial ?? false))
            }
        }
    }

    @Test func commitsComeWithWhatTheyStandFor() throws {
        let text =
            #"{"commit":{"group":"g","revision":9,"time":"1970-01-01T00:00:00Z","origin":{"kind":"file"},"changes":[]},"coalesced":4}"#
        guard case .commit(let commit, coalesced: 4)? = WatchEvent(wire: try JSON(text: text).objectValue ?? [:]) else {
            Issue.record("no commit")
            return
        }
        #expect(commit.revision == 9)
    }

    @Test func theOthers() throws {
        guard case .deleted("g")? = WatchEvent(wire: ["deleted": "g"]), case .established? = WatchEvent(wire: [:]),
            case .established? = WatchEvent(wire: ["commit": .null, "snapshot": .null, "deleted": .null])
        else {
            Issue.record("not read")
            return
        }
        #expect(WatchEvent(wire: ["commit": [:]]) == nil)
        #expect(WatchEvent(wire: ["snapshot": [:]]) == nil)
        #expect(WatchEvent(wire: ["snapshot": 1]) == nil)
        #expect(WatchEvent(wire: ["deleted": 1]) == nil)
    }
}
