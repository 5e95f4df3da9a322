/// How a property list is written. The format found is the format kept.
package enum PlistFormat: String, Sendable {
    case xml, binary

    /// The value as this format holds it: an XML property list knows whole seconds only.
    package func projected(_ value: Value) -> Value {
        self == .xml ? value.inWholeSeconds : value
    }
}
