/// How a property list is written. The format found is the format kept.
package enum PlistFormat: String, Sendable {
    case xml, binary

    /// The value as this format holds it: an XML property list knows whole seconds only.
    package func projected(_ value: Value) -> Value {
        self == .xml ? value.inWholeSeconds : value
    }

    /// Whether a file of this format that this value was written to has `found` where it stands.
    package func reads(_ value: Value, as found: Value) -> Bool {
        self == .xml ? value.isWritten(like: found) : value == found
    }
}
