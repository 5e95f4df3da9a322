import AppGroup
import FoundationEssentials
import Observation

// Properties as people write them, of every overload, and models with them.

enum Mode: Int, Sendable { case slow, fast }
enum Tone: String, Codable, Sendable { case low, high }

struct Form: Sendable {
    @AppStorage var bool: Bool
    @AppStorage var int: Int
    @AppStorage var small: UInt8
    @AppStorage var double: Double
    @AppStorage var float: Float
    @AppStorage var string: String
    @AppStorage var url: URL
    @AppStorage var data: Data
    @AppStorage var date: Date
    @AppStorage var mode: Mode
    @AppStorage var theme: Theme
    @AppStorage var tone: Tone
    @AppStorage var list: [String]
    @AppStorage var table: [String: Int]
    @AppStorage var profile: Profile
    @AppStorage var profiles: [Profile]

    init(_ store: GroupDefaults) {
        _bool = AppStorage(wrappedValue: true, "bool", store: store)
        _int = AppStorage(wrappedValue: 10, "int", store: store)
        _small = AppStorage(wrappedValue: 0, "small", store: store)
        _double = AppStorage(wrappedValue: 1.5, "double", store: store)
        _float = AppStorage(wrappedValue: 2.5, "float", store: store)
        _string = AppStorage(wrappedValue: "s", "string", store: store)
        _url = AppStorage(wrappedValue: URL(filePath: "/"), "url", store: store)
        _data = AppStorage(wrappedValue: Data([1]), "data", store: store)
        _date = AppStorage(wrappedValue: Date(timeIntervalSince1970: 0), "date", store: store)
        _mode = AppStorage(wrappedValue: .fast, "mode", store: store)
        _theme = AppStorage(wrappedValue: .light, "theme", store: store)
        _tone = AppStorage(wrappedValue: .low, "tone", store: store)
        _list = AppStorage(wrappedValue: ["a"], "list", store: store)
        _table = AppStorage(wrappedValue: ["a": 1], "table", store: store)
        _profile = AppStorage(wrappedValue: Profile(), "profile", store: store)
        _profiles = AppStorage(wrappedValue: [], "profiles", store: store)
    }
}

struct Optionals: Sendable {
    @AppStorage var bool: Bool?
    @AppStorage var int: Int?
    @AppStorage var double: Double?
    @AppStorage var string: String?
    @AppStorage var url: URL?
    @AppStorage var data: Data?
    @AppStorage var date: Date?
    @AppStorage var mode: Mode?
    @AppStorage var theme: Theme?
    @AppStorage var list: [String]?
    @AppStorage var profile: Profile?

    init(_ store: GroupDefaults) {
        _bool = AppStorage("bool", store: store)
        _int = AppStorage("int", store: store)
        _double = AppStorage("double", store: store)
        _string = AppStorage("string", store: store)
        _url = AppStorage("url", store: store)
        _data = AppStorage("data", store: store)
        _date = AppStorage("date", store: store)
        _mode = AppStorage("mode", store: store)
        _theme = AppStorage("theme", store: store)
        _list = AppStorage("list", store: store)
        _profile = AppStorage("profile", store: store)
    }
}

@Observable final class Model: Sendable {
    @ObservationIgnored private let storage: AppStorage<Int>

    init(_ settings: GroupDefaults) {
        storage = AppStorage(wrappedValue: 0, "count", store: settings)
    }

    var count: Int {
        get { storage.wrappedValue }
        set { storage.wrappedValue = newValue }
    }
}

final class PlainModel: Sendable {
    private let storage: AppStorage<Int>

    init(_ settings: GroupDefaults) {
        storage = AppStorage(wrappedValue: 0, "count", store: settings)
    }

    var count: Int { storage.wrappedValue }
}
