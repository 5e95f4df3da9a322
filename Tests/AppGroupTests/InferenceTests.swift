import AppGroup
import Foundation
import Testing

/// Which type a property or key has is what a reader of the program would say, and nil always removes.
@Suite("Overloads of @AppStorage and typed keys") struct InferenceTests {
    struct Profile: Codable, Equatable, Sendable { var age = 1 }
    enum Plain: String, Sendable { case one, two }
    enum Coded: String, Codable, Sendable { case one, two }

    /// Made in a store of the test's own.
    struct Form {
        @AppStorage var value: Profile
        @AppStorage var declared: Profile?
        @AppStorage var valued: Profile?
        @AppStorage var plain: Plain?
        @AppStorage var coded: Coded?
        @AppStorage var number: Int?
        @AppStorage var profiles: [Profile]?
        @AppStorage var counts: [String: Int]?
        @AppStorage var date: Date?

        init(_ store: GroupDefaults) {
            _value = AppStorage(wrappedValue: Profile(), "value", store: store)
            _declared = AppStorage("declared", store: store)
            _valued = AppStorage(wrappedValue: Profile(), "valued", store: store)
            _plain = AppStorage(wrappedValue: .one, "plain", store: store)
            _coded = AppStorage(wrappedValue: .one, "coded", store: store)
            _number = AppStorage(wrappedValue: 2, "number", store: store)
            _profiles = AppStorage(wrappedValue: [], "profiles", store: store)
            _counts = AppStorage(wrappedValue: [:], "counts", store: store)
            _date = AppStorage("date", store: store)
        }
    }

    @Test("a property is of its default's type, and not of an optional of it")
    func inferred() {
        let store = GroupDefaults.inMemory()
        @AppStorage("profile", store: store) var profile = Profile()
        @AppStorage("profiles", store: store) var profiles = [Profile(), Profile()]
        @AppStorage("plain", store: store) var plain = Plain.one
        @AppStorage("coded", store: store) var coded = Coded.one
        @AppStorage("number", store: store) var number = 1
        let values: (Profile, [Profile], Plain, Coded, Int) = (profile, profiles, plain, coded, number)
        #expect(values.0.age == 1 && values.1.count == 2 && values.2 == .one && values.3 == .one && values.4 == 1)
        let key = GroupDefaults.Key("profile", default: Profile())
        let read: Profile = store[key]
        #expect(read == profile)
    }

    @Test("nil removes the key, whatever the optional is of and whatever its default")
    func absent() {
        let store = GroupDefaults.inMemory()
        let form = Form(store)
        form.declared = Profile(age: 3)
        form.valued = Profile(age: 3)
        (form.plain, form.coded, form.number) = (.two, .two, 3)
        (form.profiles, form.counts, form.date) = ([Profile()], ["a": 1], .now)
        #expect(store.ownKeys.count == 8)
        (form.declared, form.valued, form.plain, form.coded) = (nil, nil, nil, nil)
        (form.number, form.profiles, form.counts, form.date) = (nil, nil, nil, nil)
        #expect(store.ownKeys.isEmpty)
        #expect(form.declared == nil && form.valued == Profile() && form.coded == .one && form.number == 2)
    }

    @Test("the same for typed keys")
    func keys() {
        let store = GroupDefaults.inMemory()
        let profile = GroupDefaults.Key<Profile?>("profile", default: Profile())
        let coded = GroupDefaults.Key<Coded?>("coded", default: .one)
        let number = GroupDefaults.Key<Int?>("number", default: 1)
        (store[profile], store[coded], store[number]) = (Profile(age: 2), .two, 2)
        #expect(store.ownKeys == ["coded", "number", "profile"])
        (store[profile], store[coded], store[number]) = (nil, nil, nil)
        #expect(store.ownKeys.isEmpty)
        #expect(store[profile] == Profile() && store[coded] == .one && store[number] == 1)
    }
}
