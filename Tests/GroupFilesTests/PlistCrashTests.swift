import Foundation
import LinuxIO
import PropertyList
import Synchronization
import TestSupport
import Testing

@testable import GroupFiles

/// The process ends before each call of a replacement: what is on disk then is copied, and recovered from the copy.
@Suite struct PlistCrashTests {
    private let before = plist("a", 1)
    private let after = plist("a", 2)
    private let edit = plist("edited", 77)

    struct Step: Sendable, CustomTestStringConvertible {
        var call: String
        var number = 1
        /// What the file system cannot do.
        var missing: String?

        var testDescription: String { "\(call) \(number)\(missing.map { " without \($0)" } ?? "")" }
    }

    static let steps: [Step] = [
        Step(call: "unlink"), Step(call: "open", number: 2), Step(call: "fchmod"), Step(call: "write"),
        Step(call: "fsync"), Step(call: "renameNoReplace"), Step(call: "exchange"), Step(call: "pread", number: 3),
        Step(call: "unlink", number: 2), Step(call: "fsync", number: 2),
        Step(call: "link", missing: "exchange"), Step(call: "rename", missing: "exchange"),
        Step(call: "rename", number: 2, missing: "exchange"),
        Step(call: "unlink", number: 3, missing: "exchange"), Step(call: "fsync", number: 2, missing: "exchange"),
    ]

    @Test(arguments: steps)
    func killAtAnyStepLeavesTheOldOrTheNewText(step: Step) throws {
        let sandbox = try PlistSandbox()
        try sandbox.write(before)
        let copy = try crashCopy(of: sandbox, at: step, also: [])
        let leftover = try copy.file.recoverLeftovers().get()
        let texts = [before, after]
        #expect(texts.contains(try copy.text()))
        if let leftover {
            #expect(texts.map { Digest(of: Array($0.utf8)) }.contains(leftover.reading.digest))
            #expect(try copy.file.discard(leftover) == nil)
        }
        #expect(copy.names == ["group.a.plist"])
        #expect(try copy.file.recoverLeftovers().get() == nil)
    }

    /// All but those behind the point where an edit that came out ends the replacement.
    @Test(arguments: steps.filter { $0.call != "unlink" || $0.number == 1 })
    func editDuringAReplacementThatIsKilledIsNeverLost(step: Step) throws {
        let sandbox = try PlistSandbox()
        try sandbox.write(before)
        // In place, at the last moment: this is the edit that only the exchange brings out.
        let last = step.missing == nil ? "exchange" : "rename"
        let text = edit
        let editFault = FaultPlan.Fault(last, .run { sandbox.overwrite(text) })
        let copy = try crashCopy(of: sandbox, at: step, also: [editFault])
        let leftover = try copy.file.recoverLeftovers().get()
        let found = [try copy.text(), leftover?.reading.content.map { String(decoding: $0.bytes, as: UTF8.self) }]
        #expect(found.contains(edit) || found.contains(before))
        if found.contains(after), !found.contains(edit) {
            #expect(found.contains(before), "the edit was not made yet, so the old text must be there")
        }
    }

    /// A name that leads to a text which is not on the disk is what power cuts make empty files of.
    @Test(arguments: ["exchange", "renameNoReplace"])
    func r04TheTextIsOnStableStorageBeforeItTakesAName(call: String) throws {
        let sandbox = try PlistSandbox()
        if call == "exchange" { try sandbox.write(before) }
        let order = Mutex<[String]>([])
        let faults = ["write", "fsync", call].map { name in
            FaultPlan.Fault(name, times: 9, .run { order.withLock { $0.append(name) } })
        }
        FaultPlan.run(faults) {
            let expected = call == "exchange" ? Digest(of: Array(before.utf8)) : nil
            guard case .ready(let prepared) = sandbox.file.prepare(["a": .integer(2)], expecting: expected) else {
                return
            }
            _ = sandbox.file.commit(prepared)
        }
        // The file's own fsync, then its names, then the directory's fsync.
        let calls = order.withLock(\.self)
        #expect(calls.first == "write")
        let rest = calls.drop { $0 == "write" }
        #expect(rest.count >= 3 && rest.first == "fsync" && rest.last == "fsync", "\(calls)")
        #expect(rest.dropFirst().dropLast().allSatisfy { $0 == call }, "\(calls)")
    }

    @Test func ownUnfinishedTextIsRemovedAndAWholeOneReported() throws {
        let sandbox = try PlistSandbox()
        try sandbox.write(before)
        try sandbox.directory.write(".group.a.plist.appgroupd-new", "half")
        try sandbox.directory.write(".group.a.plist.appgroupd-swap", after)
        let leftover = try #require(try sandbox.file.recoverLeftovers().get())
        #expect(leftover.reading.digest == Digest(of: Array(after.utf8)))
        #expect(sandbox.names == [".group.a.plist.appgroupd-swap", "group.a.plist"])
    }

    @Test func linkThatAnExchangeBroughtOutIsPutBack() throws {
        let sandbox = try PlistSandbox()
        try sandbox.write(after)
        try sandbox.directory.write("user", edit)
        try Files.symlink("user", at: sandbox.directory.file(".group.a.plist.appgroupd-swap"))
        let leftover = try #require(try sandbox.file.recoverLeftovers().get())
        #expect(leftover.reading.digest == Digest(of: Array(after.utf8)))
        #expect(try Files.readLink(sandbox.file.path) == "user")
    }

    @Test func leftoversBesideTheTargetOfALinkAreFound() throws {
        let sandbox = try PlistSandbox()
        try Files.makeDirectory(sandbox.directory.file("repo"))
        try sandbox.directory.write("repo/x", before)
        try sandbox.directory.write("repo/.x.appgroupd-swap", after)
        try Files.symlink("repo/x", at: sandbox.file.path)
        #expect(try sandbox.file.recoverLeftovers().get() != nil)
    }

    private func crashCopy(
        of sandbox: PlistSandbox, at step: Step, also faults: [FaultPlan.Fault]
    ) throws -> PlistSandbox {
        let copy = try PlistSandbox()
        let (from, to) = (sandbox.directory.path, copy.directory.path)
        let fault = FaultPlan.Fault(step.call, at: step.number, .run { copyAll(from: from, to: to) })
        let missing = step.missing.map { [FaultPlan.Fault($0, .fail(.invalidArgument))] } ?? []
        // The first effect that fails a call ends it, so what fails comes last.
        FaultPlan.run([fault] + faults + missing) {
            let preparation = sandbox.file.prepare(["a": .integer(2)], expecting: Digest(of: Array(before.utf8)))
            guard case .ready(let prepared) = preparation else {
                Issue.record("\(preparation)")
                return
            }
            _ = sandbox.file.commit(prepared)
        }
        try #require(copy.names.contains("group.a.plist"), "the step was never reached")
        return copy
    }
}

private func copyAll(from: String, to: String) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: from)) ?? [] {
        try? FileManager.default.copyItem(atPath: from + "/" + name, toPath: to + "/" + name)
    }
}
