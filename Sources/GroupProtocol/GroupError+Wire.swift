package import GroupModel
import PropertyList
package import Varlink

extension GroupError {
    /// The qualified name of the error in the interface.
    package var wireName: String { SettingsInterface.name + "." + name }

    private var name: String {
        switch self {
        case .noSuchGroup: "NoSuchGroup"
        case .invalidGroup: "InvalidGroup"
        case .invalidKey: "InvalidKey"
        case .invalidValue: "InvalidValue"
        case .wrongType: "WrongType"
        case .conflict: "Conflict"
        case .forced: "Forced"
        case .readOnly: "ReadOnly"
        case .tooLarge: "TooLarge"
        case .storageFailed: "StorageFailed"
        case .notPermitted: "NotPermitted"
        }
    }

    package var wireParameters: JSONObject {
        switch self {
        case .noSuchGroup(let group): ["group": .string(group)]
        case .invalidGroup(let group, let reason): ["group": .string(group), "reason": .string(reason)]
        case .invalidKey(let key, let reason): ["key": .string(key), "reason": .string(reason)]
        case .invalidValue(let key, let reason): ["key": .string(key), "reason": .string(reason)]
        case .wrongType(let key, let expected, let found):
            ["key": .string(key), "expected": .string(expected), "found": .string(found)]
        case .conflict(let keys, let revision):
            ["keys": Self.json(keys), "revision": .integer(revision)]
        case .forced(let keys): ["keys": Self.json(keys)]
        case .readOnly(let group, let reason): ["group": .string(group), "reason": .string(reason)]
        case .tooLarge(let subject, let limit, let size):
            ["subject": .string(subject), "limit": .integer(limit), "size": .integer(size)]
        case .storageFailed(let reason, let errno): ["reason": .string(reason), "errno": .integer(Int64(errno))]
        case .notPermitted(let reason): ["reason": .string(reason)]
        }
    }

    /// As many as there is surely room for: of a reset, all keys of the group may be meant.
    private static func json(_ keys: [String]) -> JSON {
        var room = SettingsInterface.commitSize
        let told = keys.prefix { key in
            room -= Key(key).messageSize
            return room >= 0
        }
        return .array(told.map(JSON.string))
    }

    package var replyBytes: [UInt8] { Reply.bytes(error: wireName, parameters: wireParameters.withShortTexts) }

    /// Nil for a reply that is none of the interface's errors.
    package init?(_ reply: Reply) {
        guard let error = reply.error, error.hasPrefix(SettingsInterface.name + ".") else { return nil }
        self.init(name: String(error.dropFirst(SettingsInterface.name.count + 1)), reply.parameters)
    }

    private init?(name: String, _ fields: JSONObject) {
        func text(_ name: String) -> String { fields[name]?.stringValue ?? "" }
        func number(_ name: String) -> Int64 { fields[name]?.integerValue ?? 0 }
        switch name {
        case "NoSuchGroup": self = .noSuchGroup(text("group"))
        case "InvalidGroup": self = .invalidGroup(text("group"), reason: text("reason"))
        case "InvalidKey": self = .invalidKey(text("key"), reason: text("reason"))
        case "InvalidValue": self = .invalidValue(key: text("key"), reason: text("reason"))
        case "WrongType": self = .wrongType(key: text("key"), expected: text("expected"), found: text("found"))
        case "Conflict": self = .conflict(keys: fields["keys"]?.strings ?? [], revision: number("revision"))
        case "Forced": self = .forced(keys: fields["keys"]?.strings ?? [])
        case "ReadOnly": self = .readOnly(group: text("group"), reason: text("reason"))
        case "TooLarge": self = .tooLarge(subject: text("subject"), limit: number("limit"), size: number("size"))
        case "StorageFailed":
            self = .storageFailed(reason: text("reason"), errno: Int32(truncatingIfNeeded: number("errno")))
        case "NotPermitted": self = .notPermitted(reason: text("reason"))
        default: return nil
        }
    }
}
