package import GroupModel
package import PropertyList
package import Varlink

/// What one layer has for a key, and who put it there.
package struct LayerValue: Equatable, Sendable {
    package var layer: Layer
    package var value: Value
    package var path: String
    package var time: Timestamp?
    package var revision: Int64?
    package var origin: Origin?
    /// Whose file an administrator's value is in.
    package var user: String?
    package var wins: Bool
    package var reason: String

    package init(layer: Layer, value: Value, path: String, wins: Bool, reason: String) {
        self.layer = layer
        self.value = value
        self.path = path
        self.wins = wins
        self.reason = reason
    }
}

// MARK: - On the wire

extension JSONWriter {
    package mutating func write(_ value: LayerValue) {
        beginObject()
        member("layer", string: value.layer.rawValue)
        member("value")
        write(value.value)
        member("path", string: value.path)
        if let time = value.time { member("time", string: time.rfc3339Microseconds) }
        if let revision = value.revision { member("revision", integer: revision) }
        if let origin = value.origin {
            member("origin")
            write(origin)
        }
        if let user = value.user { member("user", string: user) }
        member("wins", boolean: value.wins)
        member("reason", string: value.reason)
        endObject()
    }
}

extension LayerValue {
    /// Nil for what is none.
    package init?(wire json: JSON) {
        guard let object = json.objectValue, let layer = object["layer"]?.stringValue.flatMap(Layer.init),
            let value = object["value"].flatMap({ try? Value(wire: $0) }), let path = object["path"]?.stringValue,
            let wins = object["wins"]?.booleanValue, let reason = object["reason"]?.stringValue
        else { return nil }
        self.init(layer: layer, value: value, path: path, wins: wins, reason: reason)
        time = object["time"]?.stringValue.flatMap { Timestamp(rfc3339: $0) }
        revision = object["revision"]?.integerValue
        origin = object["origin"].flatMap(Origin.init(wire:))
        user = object["user"]?.stringValue
    }
}
