import GroupModel
import PropertyList
import TestSupport
import Testing

@testable import AppGroup

/// Values that consist of members: what is stored of them is what changes.
@Suite struct MemberTests {
    struct Profile: Codable, Equatable, Sendable {
        var name = "nobody"
        var age = 0
        var motto: String?
    }

    /// The same in an older version of the program.
    struct OldProfile: Codable, Equatable, Sendable {
        var name = "nobody"
    }

    enum Shape: Codable, Equatable, Sendable {
        case circle(radius: Int)
        case square(side: Int)
    }

    /// The property as a program has it.
    struct Model {
        @AppStorage var profile: Profile
        @AppStorage var scores: [String: Int]
        @AppStorage var shape: Shape

        init(_ store: GroupDefaults) {
            _profile = AppStorage(wrappedValue: Profile(), "profile", store: store)
            _scores = AppStorage(wrappedValue: [:], "scores", store: store)
            _shape = AppStorage(wrappedValue: .circle(radius: 1), "shape", store: store)
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `two processes that set different members do not undo each other`(_ kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        let (left, right) = (Model(world.writer), Model(world.reader))
        for round in 1...20 {
            left.profile.name = "name \(round)"
            right.$profile.age.wrappedValue = round
            left.scores["left"] = round
            right.scores["right"] = round
            try await world.settleBothWays()
            #expect(left.profile == Profile(name: "name \(round)", age: round))
            #expect(right.profile == left.profile)
            #expect(right.scores == ["left": round, "right": round])
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `a typed key does so too, also in a write`(_ kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        let key = GroupDefaults.Key("profile", default: Profile())
        world.writer[key].name = "Ada"
        try await world.reader.write { $0[key].age = 36 }
        try await world.settleBothWays()
        #expect(world.reader[key] == Profile(name: "Ada", age: 36))
        #expect(world.writer[key] == world.reader[key])
    }

    @Test(arguments: WorldKind.allCases)
    func `a member set while the whole is removed elsewhere leaves a whole`(_ kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        let model = Model(world.writer)
        model.profile = Profile(name: "Ada", age: 36)
        try await world.settle()
        let key = GroupDefaults.Key("profile", default: Profile())
        try await world.reader.write { $0.removeObject(forKey: key) }
        model.profile.age = 37
        try await world.settle()
        #expect(try world.reader.value(Profile.self, forKey: "profile")?.age == 37)
        // A value of another type is replaced like an absent one.
        world.reader.set("text", forKey: "profile")
        try await world.reader.commit()
        model.profile.age = 38
        try await world.writer.commit()
        try await world.settle()
        #expect(try world.reader.value(Profile.self, forKey: "profile")?.age == 38)
    }

    @Test func `what is assigned is what is read, and what a type does not know stays`() throws {
        let settings = GroupDefaults.inMemory()
        let (new, old) = (Model(settings), AppStorage(wrappedValue: OldProfile(), "profile", store: settings))
        new.profile = Profile(name: "Ada", age: 36, motto: "onwards")
        old.wrappedValue = OldProfile(name: "Grace")
        #expect(new.profile == Profile(name: "Grace", age: 36, motto: "onwards"))
        new.profile.motto = nil
        #expect(new.profile == Profile(name: "Grace", age: 36))
        #expect(settings.dictionary(forKey: "profile")?.count == 2, "the member is gone")
        new.profile = Profile()
        #expect(new.profile == Profile())
        #expect(settings.exists("profile"))
        settings.set(["name": 1], forKey: "profile")
        new.profile.age = 1
        #expect(new.profile == Profile(age: 1), "what could not be read is replaced")
    }

    @Test func `equal values are stored where there is none, and make no commit where there is one`() async throws {
        let settings = GroupDefaults.inMemory()
        let model = Model(settings)
        #expect(!settings.exists("profile"))
        model.profile = Profile()
        #expect(settings.exists("profile"))
        let commits = settings.commits().makeAsyncIterator()
        model.profile = Profile()
        model.profile.name = "nobody"
        settings.set(1, forKey: "end")
        var keys: [String] = []
        while !keys.contains("end") { keys += await commits.next()?.changes.map(\.key) ?? ["end"] }
        #expect(!keys.contains("profile"))
    }

    @Test(arguments: WorldKind.allCases)
    func `the cases of an enumeration are never beside each other`(_ kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        let (left, right) = (Model(world.writer), Model(world.reader))
        for round in 1...10 {
            left.shape = .square(side: round)
            right.shape = .circle(radius: round)
            try await world.settleBothWays()
            #expect([.square(side: round), .circle(radius: round)].contains(left.shape))
            #expect(left.shape == right.shape)
            #expect(world.reader.dictionary(forKey: "shape")?.count == 1)
        }
    }

    @Test func `only what changes is sent`() throws {
        let settings = GroupDefaults.inMemory()
        let key = GroupDefaults.Key("profile", default: Profile())
        let held: PropertyList.Value = .dictionary(["name": .string("a"), "age": .integer(1), "other": .integer(2)])
        let edit = try settings.edit(
            to: Profile(name: "b", age: 1), from: Profile(name: "a", age: 1), for: key, over: held)
        #expect(edit?.operation == .merge)
        #expect(edit?.value == .dictionary(["name": .string("b")]))
        #expect(edit?.otherwise == .dictionary(["name": .string("b"), "age": .integer(1)]))
        // Set by somebody else between the reading and the setting.
        let late = try settings.edit(
            to: Profile(name: "b", age: 0), from: Profile(name: "a", age: 0), for: key, over: held)
        #expect(late?.value == .dictionary(["name": .string("b")]))
        let assigned = try settings.edit(to: Profile(name: "a", age: 0), from: nil, for: key, over: held)
        #expect(assigned?.value == .dictionary(["age": .integer(0)]))
        #expect(try settings.edit(to: Profile(name: "a", age: 1), from: nil, for: key, over: held) == nil)
        let first = try settings.edit(to: Profile(), from: nil, for: key, over: nil)
        #expect(first?.operation == .set)
    }
}
