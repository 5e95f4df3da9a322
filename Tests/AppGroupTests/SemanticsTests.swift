import AppGroupScenarios
import Testing

// The library's semantics, row by row, each against a group in memory, one process with the daemon, and two processes. A
// test is named after the rows that it shows; `Tests/SEMANTICS.md` lists them all, and is compared with these names.

@Suite("Semantics: values", .timeLimit(.minutes(30))) struct SemanticsOfValues {
    @Test(arguments: BackEnd.allCases)
    func `U10 U18 what is nowhere is nil, 0 or false, and can be told from what is`(_ backEnd: BackEnd) async throws {
        try await play(.absent, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U01 U03 U05 U09 L17 L19 L21 scalars keep their types and their last bit`(_ backEnd: BackEnd) async throws {
        try await play(.scalars, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U01 U04 U12 U13 collections nest, are of exactly their type, and are copies`(
        _ backEnd: BackEnd
    ) async throws {
        try await play(.collections, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U02 R66 L22 L25 what no property list has is refused whole, and told`(_ backEnd: BackEnd) async throws {
        try await play(.refusals, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U06 U07 R62 L20 a URL comes back exactly, and is plain text`(_ backEnd: BackEnd) async throws {
        try await play(.urls, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `R69 L23 L24 any key is a key, byte for byte`(_ backEnd: BackEnd) async throws {
        try await play(.keys, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U11 U14 U15 U16 U17 R60 a value reads as other types by the table`(_ backEnd: BackEnd) async throws {
        try await play(.coercions, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U60 U61 what is too large is refused and told, what is small goes on`(_ backEnd: BackEnd) async throws {
        try await play(.sizes, on: backEnd)
    }
}

@Suite("Semantics: writes", .timeLimit(.minutes(30))) struct SemanticsOfWrites {
    @Test(arguments: BackEnd.allCases)
    func `U20 every form of removal removes from the group only`(_ backEnd: BackEnd) async throws {
        try await play(.removal, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U21 U22 R25 a set is seen at once by every object of the group, and then everywhere`(
        _ backEnd: BackEnd
    ) async throws {
        try await play(.visibility, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U23 R55 any thread may read and write`(_ backEnd: BackEnd) async throws {
        try await play(.threads, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U46 synchronize returns when the daemon has it`(_ backEnd: BackEnd) async throws {
        try await play(.synchronized, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `R28 R67 a default is not written unless that is asked for`(_ backEnd: BackEnd) async throws {
        try await play(.ensured, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `R64 a wrong type gives the default and one report, never a crash`(_ backEnd: BackEnd) async throws {
        try await play(.mistyped, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `C12 what two change at once is not lost`(_ backEnd: BackEnd) async throws {
        try await play(.evaluated, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `Codable values are stored as structure`(_ backEnd: BackEnd) async throws {
        try await play(.codables, on: backEnd)
    }
}

@Suite("Semantics: domains", .timeLimit(.minutes(30))) struct SemanticsOfDomains {
    @Test(arguments: BackEnd.allCases)
    func `U32 U33 R28 registered defaults are each process's own, come last, and later ones win`(
        _ backEnd: BackEnd
    ) async throws {
        try await play(.registered, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U22 U38 U52 suites are read after the group, and their changes are told`(_ backEnd: BackEnd) async throws {
        try await play(.suites, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U40 U41 U42 U43 a domain is read, replaced and removed whole`(_ backEnd: BackEnd) async throws {
        try await play(.wholeDomains, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U40 U48 R27 asking for another group does not make it, and gives what it holds`(
        _ backEnd: BackEnd
    ) async throws {
        try await play(.otherDomains, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U36 U37 R27 a name that is no group is an error with its reason, never a private store`(
        _ backEnd: BackEnd
    ) async throws {
        try await play(.namesThatAreNone, on: backEnd)
    }

    @Test(arguments: [BackEnd.oneProcess, .twoProcesses])
    func `U35 the program's own domain, opened by its name, is the same`(_ backEnd: BackEnd) async throws {
        try await play(.oneName, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U34 a group sees itself and the registered defaults, and no other group`(_ backEnd: BackEnd) async throws {
        try await play(.suiteNames, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U30 U31 U53 arguments win, are property lists or text, and are never saved`(
        _ backEnd: BackEnd
    ) async throws {
        try await play(.arguments, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U47 what no administrator has set is not forced`(_ backEnd: BackEnd) async throws {
        try await play(.forced, on: backEnd)
    }
}

@Suite("Semantics: changes", .timeLimit(.minutes(30))) struct SemanticsOfChanges {
    @Test(arguments: BackEnd.allCases)
    func `U52 R22 R26 R42 every change arrives by itself, with old and new`(_ backEnd: BackEnd) async throws {
        try await play(.everyChange, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U55 R23 R57 R69 any key is observable`(_ backEnd: BackEnd) async throws {
        try await play(.anyKey, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U51 U53 U56 R44 R45 a change is told once, and what is none is not told`(_ backEnd: BackEnd) async throws {
        try await play(.effectiveOnly, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U52 U53 registered defaults show when a key is removed, and hide equal values`(
        _ backEnd: BackEnd
    ) async throws {
        try await play(.registrations, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U58 R43 who made a change is told, and own echoes are marked`(_ backEnd: BackEnd) async throws {
        try await play(.origins, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U54 the old value is what was told before`(_ backEnd: BackEnd) async throws {
        try await play(.oldValues, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U58 a commit is one event with all its changes`(_ backEnd: BackEnd) async throws {
        try await play(.together, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U58 changes of all keys come in one order`(_ backEnd: BackEnd) async throws {
        try await play(.order, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `R38 R53 the initial value comes where it is asked for, is marked, and changes go on from it`(
        _ backEnd: BackEnd
    ) async throws {
        try await play(.initialValues, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U57 typed values follow, and fall back to the default`(_ backEnd: BackEnd) async throws {
        try await play(.typedValues, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U51 the keys of a pattern are told by name, and no others`(_ backEnd: BackEnd) async throws {
        try await play(.patterns, on: backEnd)
    }
}

@Suite("Semantics: callbacks", .timeLimit(.minutes(30))) struct SemanticsOfCallbacks {
    @Test(arguments: BackEnd.allCases)
    func `U50 U52 R56 a callback hears of this process's changes and of all others`(_ backEnd: BackEnd) async throws {
        try await play(.called, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U51 R43 an observer that corrects the value comes to an end`(_ backEnd: BackEnd) async throws {
        try await play(.corrected, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `R50 a callback may read, write, observe and cancel`(_ backEnd: BackEnd) async throws {
        try await play(.unhindered, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `R50 a callback may drop the last reference to what it observes`(_ backEnd: BackEnd) async throws {
        try await play(.lastReference, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `U45 R52 an observation ends with its token or its task, and by nothing else`(
        _ backEnd: BackEnd
    ) async throws {
        try await play(.ended, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `A17 R48 changes come where the subscriber says`(_ backEnd: BackEnd) async throws {
        try await play(.executors, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `A18 R58 tracking fires for a set and a removal, whoever makes it`(_ backEnd: BackEnd) async throws {
        try await play(.tracked, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `R58 tracking fires for what the group holds, and for what is read as a whole`(
        _ backEnd: BackEnd
    ) async throws {
        try await play(.trackedWhole, on: backEnd)
    }
}

@Suite("Semantics: @AppStorage", .timeLimit(.minutes(30))) struct SemanticsOfProperties {
    @Test(arguments: BackEnd.allCases)
    func `A01 A03 A04 A05 every overload honours its store and brings back what was set`(
        _ backEnd: BackEnd
    ) async throws {
        try await play(.overloads, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `A02 A09 optionals are nil while the key is absent, and nil removes it`(_ backEnd: BackEnd) async throws {
        try await play(.optionals, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `A06 A07 A08 A13 the default is never written, each wrapper's own, and comes after a registered one`(
        _ backEnd: BackEnd
    ) async throws {
        try await play(.defaults, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `A10 R64 scalars are coerced, and what cannot be read is the default`(_ backEnd: BackEnd) async throws {
        try await play(.unreadable, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `A11 an equal value is stored, and is no change`(_ backEnd: BackEnd) async throws {
        try await play(.equalWrites, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `A12 A13 A14 R25 R57 every property of a key follows, whatever the key and whoever writes`(
        _ backEnd: BackEnd
    ) async throws {
        try await play(.external, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `A15 the binding reads, sets, resets and tells of a part of a value`(_ backEnd: BackEnd) async throws {
        try await play(.bindings, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `A05 a property that names no store is in the chosen one`(_ backEnd: BackEnd) async throws {
        try await play(.chosenStore, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `A16 R29 R59 models in classes follow, observable or plain`(_ backEnd: BackEnd) async throws {
        try await play(.models, on: backEnd)
    }

    @Test(arguments: BackEnd.allCases)
    func `A17 any thread may write, and the main actor hears of it`(_ backEnd: BackEnd) async throws {
        try await play(.actors, on: backEnd)
    }
}
