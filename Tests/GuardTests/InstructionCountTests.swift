import Foundation
import TestSupport
import Testing

/// What the hot paths cost, in instructions: more than its limit is a regression, though no clock shows it.
///
/// A limit is what was measured when it was set, and a sixth more: another compiler of the same version series stays
/// within, a lookup too many does not. Who makes a path cheaper lowers its limit; who has a reason to make it dearer
/// raises it in the same change.
@Suite(
    "Instruction counts of the hot paths",
    .enabled(if: MeasuredRun.programs != nil, "they need the optimised programs: make guard"), .serialized)
struct InstructionCountTests {
    private enum Limit {
        /// From the program's beginning to its end, with an answer in between.
        static let startWithManyKeys = 100_000_000
        /// One of 64 acknowledged writes that are under way on a connection.
        static let writeInARow = 14_500
        /// One write that a hundred observers of its key are told of.
        static let writeWithObservers = 190_000
        /// A file of a hundred keys that somebody replaces with one of them changed, and a `Synchronize` behind it.
        static let fileEdit = 870_000
        /// `string(forKey:)` of one of a thousand keys.
        static let libraryRead = 1_000
    }

    @Test func `a start with ten thousand keys`() throws {
        let run = try MeasuredRun()
        let keys = 10_000
        try run.withDaemon {
            try run.load(keys, keys: keys)
        }
        let count = try run.instructionsOfDaemon { try run.client("probe", ["--key", run.key]) }
        check(count, Limit.startWithManyKeys, "a start with \(keys) keys")
    }

    @Test func `writes, many in a row and before a hundred observers`() throws {
        let run = try MeasuredRun()
        try run.prepareWithoutProjection()
        let start = try run.instructionsOfDaemon { try run.client("probe", ["--key", run.key]) }
        // So few that the journal is not rewritten at the end.
        let many = 1000
        let rows = try run.instructionsOfDaemon {
            try run.load(many, keys: 100)
        }
        check((rows - start) / many, Limit.writeInARow, "a write 64 deep")
        let few = 200
        let told = try run.instructionsOfDaemon {
            let fan = try run.startClient("fan", ["--key", run.key, "--subs", "100", "--n", "\(few)"])
            try #require(try fan.readLine(seconds: 120) == "READY")
            try run.client("write", ["--key", run.key, "--n", "\(few)"])
            try #require(try fan.finish(seconds: 120).code == 0)
        }
        check((told - start) / few, Limit.writeWithObservers, "a write with 100 observers, who come and go")
    }

    @Test func `an edit of the file by somebody else`() throws {
        let run = try MeasuredRun()
        let (keys, edits) = (100, 100)
        try run.withDaemon {
            try run.load(keys, keys: keys)
        }
        let start = try run.instructionsOfDaemon { try run.client("probe", ["--key", run.key]) }
        let text = try String(contentsOfFile: run.plist, encoding: .utf8)
        let parts = text.split(separator: "<string>", maxSplits: 1, omittingEmptySubsequences: false)
        try #require(parts.count == 2)
        let count = try run.instructionsOfDaemon {
            let peer = try run.peer()
            for edit in 1...edits {
                try run.directory.write("new.plist", "\(parts[0])<string>\(edit) \(parts[1])")
                try #require(unsafe rename(run.directory.file("new.plist"), run.plist) == 0)
                let reply = try peer.call(
                    #"{"method":"io.appgroupd.Settings.Synchronize","parameters":{"group":"group.guard"}}"#)
                #expect(reply == "{}")
            }
            let read = #"{"method":"io.appgroupd.Settings.Read","parameters":{"group":"group.guard"}}"#
            #expect(try peer.call(read).contains("\(edits) "))
        }
        check((count - start) / edits, Limit.fileEdit, "an edit of a file of \(keys) keys")
    }

    @Test func `a scalar read in the library`() throws {
        let run = try MeasuredRun()
        let (keys, batches) = (1000, 20)
        try run.withDaemon {
            try run.load(keys, keys: keys)
            let count = try run.instructionsOfLibrary(
                ["read", "--prefix", "group.guard.k", "--keys", "\(keys)", "--count", "\(batches)"],
                within: "LibraryRead*3run")
            // One batch more warms up.
            check(count / (keys * (batches + 1)), Limit.libraryRead, "a read of a string in the library")
        }
    }

    private func check(_ count: Int, _ limit: Int, _ what: String) {
        print("guard: \(what): \(count) instructions, of \(limit) that it may take")
        #expect(count <= limit, "\(what) takes \(count) instructions, more than the \(limit) that it may")
        #expect(count > 0, "nothing was counted for \(what)")
        if count < limit / 2 { print("guard: \(what): far below its limit, which guards little: lower it") }
    }
}
