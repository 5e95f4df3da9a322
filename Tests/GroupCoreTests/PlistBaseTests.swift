import GroupCore
import GroupModel
import PropertyList
import TestSupport
import Testing

@Suite struct PlistBaseTests {
    private func merged(
        ours: [Key: Value], base: [Key: Value?], theirs: [Key: Value], _ format: PlistFormat = .xml
    ) -> [Edit] {
        PlistBase(differences: base).edits(from: theirs, in: format, ours: Sample.state(ours))
    }

    @Test func aKeyChangedByUsAloneSurvives() {
        #expect(merged(ours: ["a": .integer(2)], base: ["a": .integer(1)], theirs: ["a": .integer(1)]).isEmpty)
        #expect(merged(ours: ["a": .integer(2)], base: ["a": nil], theirs: [:]).isEmpty)
        #expect(merged(ours: [:], base: ["a": .integer(1)], theirs: ["a": .integer(1)]).isEmpty)
    }

    @Test func r14AHandEditBecomesAnEdit() {
        #expect(merged(ours: ["a": .integer(1)], base: [:], theirs: ["a": .integer(2)]) == [.set("a", .integer(2))])
        #expect(merged(ours: ["a": .integer(1)], base: [:], theirs: [:]) == [.remove("a")])
        #expect(merged(ours: [:], base: [:], theirs: ["a": .integer(1)]) == [.set("a", .integer(1))])
    }

    @Test func whereBothChangedOneKeyTheFileWins() {
        let base: [Key: Value?] = ["a": .integer(1)]
        #expect(merged(ours: ["a": .integer(2)], base: base, theirs: ["a": .integer(3)]) == [.set("a", .integer(3))])
        #expect(merged(ours: [:], base: base, theirs: ["a": .integer(3)]) == [.set("a", .integer(3))])
        #expect(merged(ours: ["a": .integer(2)], base: base, theirs: [:]) == [.remove("a")])
    }

    @Test func bothDidTheSameIsNoChange() throws {
        let state = Sample.state(["a": .integer(2)])
        let edits = PlistBase(differences: ["a": .integer(1)]).edits(from: ["a": .integer(2)], in: .xml, ours: state)
        #expect(try state.changes(for: edits, limits: Limits()).isEmpty)
    }

    @Test func r14FractionsThatTheProjectionCutOffAreNoEdit() {
        let exact = Value.date(Timestamp(microseconds: 1_500_000))
        let whole = Value.date(Timestamp(microseconds: 1_000_000))
        #expect(merged(ours: ["a": exact], base: [:], theirs: ["a": whole]).isEmpty)
        #expect(merged(ours: ["a": .array([exact])], base: [:], theirs: ["a": .array([whole])]).isEmpty)
        #expect(merged(ours: ["a": .integer(1)], base: ["a": exact], theirs: ["a": whole]).isEmpty)
        let before = Value.date(Timestamp(microseconds: -500_000))
        let floor = Value.date(Timestamp(microseconds: -1_000_000))
        #expect(merged(ours: ["a": before], base: [:], theirs: ["a": floor]).isEmpty)
        let other = Value.date(Timestamp(microseconds: 2_000_000))
        #expect(merged(ours: ["a": exact], base: [:], theirs: ["a": other]) == [.set("a", other)])
        // A binary property list keeps fractions: there it is an edit.
        #expect(merged(ours: ["a": exact], base: [:], theirs: ["a": whole], .binary) == [.set("a", whole)])
    }

    @Test func editsComeInTheOrderOfTheKeys() {
        let edits = merged(ours: ["b": .integer(1)], base: [:], theirs: ["c": .integer(1), "a": .integer(1)])
        #expect(edits == [.set("a", .integer(1)), .remove("b"), .set("c", .integer(1))])
    }

    @Test func aFailedProjectionBeforeASecondOneLeavesTheFirstContent() throws {
        var state = Sample.state(["a": .integer(1), "b": .integer(1)])
        var base = PlistBase()
        let disk = state.values
        base.note(try state.write([.set("a", .integer(2))]))
        base.beginProjection()
        base.note(try state.write([.set("b", .integer(2))]))
        // The first was given up without a word.
        base.beginProjection()
        #expect(base.edits(from: disk, in: .xml, ours: state).isEmpty)
        base.projectionFailed()
        #expect(base.edits(from: disk, in: .xml, ours: state).isEmpty)
        #expect(base.edits(from: state.values, in: .xml, ours: state).map(\.key) == ["a", "b"])
    }

    @Test(arguments: [PlistFormat.xml, .binary])
    func agreesWithASimulatedDisk(format: PlistFormat) throws {
        try SplitMix64.withSeed { random throws in
            for _ in 0..<100 {
                var run = DiskRun(format: format)
                for step in 0..<100 {
                    try run.step(&random)
                    run.check(&random)
                    if run.verdict.hasFailed {
                        Issue.record("step \(step)")
                        return
                    }
                }
            }
        }
    }
}

/// A group, the file that lies on the disk, and the one that is on its way there.
private struct DiskRun {
    let format: PlistFormat
    var state = Sample.state()
    var base = PlistBase()
    var disk: [Key: Value] = [:]
    var underWay: [Key: Value]?
    let verdict = Verdict()

    init(format: PlistFormat) { self.format = format }

    private var projected: [Key: Value] { state.values.mapValues(format.projected) }

    mutating func step(_ random: inout SplitMix64) throws {
        switch (Int.random(in: 0..<100, using: &random), underWay) {
        case (0..<15, nil):
            base.beginProjection()
            underWay = projected
        case (0..<15, let content?):
            base.projectionSucceeded()
            disk = content
            underWay = nil
        case (15..<25, _?):
            base.projectionFailed()
            underWay = nil
        case (25..<40, _): try edit(&random)
        default: if let changes = try? state.write(random.edits(upTo: 3)) { note(changes, &random) }
        }
    }

    /// Half of the time as a row of replaced values, if that is what they are.
    private mutating func note(_ changes: [Change], _ random: inout SplitMix64) {
        let known = changes.compactMap { change in change.old.map { PlistBase.Known(change.key, $0) } }
        if known.count == changes.count, random.chance(50) {
            base.note(known)
        } else {
            base.note(changes)
        }
    }

    /// Somebody saves what stood in the file, with changes.
    private mutating func edit(_ random: inout SplitMix64) throws {
        let earlier = state.values
        var theirs = random.chance(50) ? disk : underWay ?? disk
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let value: Value? = random.chance(70) ? format.projected(random.value()) : nil
            theirs[random.key()] = value
        }
        let edits = base.edits(from: theirs, in: format, ours: state)
        try state.write(edits)
        for key in Sample.keys {
            let expected = isOurs(theirs[key], of: key) ? earlier[key] : theirs[key]
            expect(state[key] == expected, "\(key) merged to \(String(describing: state[key]))")
        }
        base = base.after(theirs, edits: edits, in: format, ours: state)
        for key in Sample.keys {
            let difference = base.differences[key]
            let isDifferent = theirs[key] != state[key].map(format.projected)
            expect(difference == (isDifferent ? .some(theirs[key]) : .none), "\(key) is no difference any more")
        }
        disk = theirs
        underWay = nil
    }

    private func isOurs(_ value: Value?, of key: Key) -> Bool {
        if value == disk[key] { return true }
        guard let underWay else { return false }
        return value == underWay[key]
    }

    private func expect(_ holds: Bool, _ what: @autoclosure () -> String) { verdict.expect(holds, what()) }

    func check(_ random: inout SplitMix64) {
        // Nothing that we wrote ourselves is taken for an edit, nor a mixture of it.
        expect(base.edits(from: disk, in: format, ours: state).isEmpty, "the disk's content is an edit")
        let mixture = (underWay ?? disk).filter { $0.key.string.utf8.count == 1 || disk[$0.key] == $0.value }
            .merging(disk.filter { underWay?[$0.key] == nil || $0.key.string.utf8.count != 1 }) { $1 }
        expect(base.edits(from: mixture, in: format, ours: state).isEmpty, "a mixture is an edit")
        if let underWay {
            expect(base.edits(from: underWay, in: format, ours: state).isEmpty, "our projection is an edit")
        }
        if disk != projected { expect(base.hasUnwritten, "something is not written") }
        probe(random.key(), random.chance(20) ? nil : format.projected(random.value()))
        let key = random.key()
        probe(key, format.projected(state[key] ?? .integer(0)))
    }

    /// One key of the file is changed: that is an edit exactly if the value is neither what the disk holds nor what is
    /// on its way. So the base knows the disk key by key.
    private func probe(_ key: Key, _ value: Value?) {
        var theirs = disk
        theirs[key] = value
        let edit = value.map { Edit.set(key, $0) } ?? .remove(key)
        let edits = base.edits(from: theirs, in: format, ours: state)
        expect(edits == (isOurs(value, of: key) ? [] : [edit]), "\(key) = \(String(describing: value)) gives \(edits)")
    }
}
