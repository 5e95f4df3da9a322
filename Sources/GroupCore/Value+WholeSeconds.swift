import PropertyList

extension Value {
    /// The value as an XML property list holds it: dates cut to whole seconds, everything else exact.
    var withWholeSeconds: Value {
        switch self {
        case .date(let date): .date(date.wholeSeconds)
        case .array(let elements): .array(elements.map(\.withWholeSeconds))
        case .dictionary(let entries): .dictionary(entries.mapValues(\.withWholeSeconds))
        default: self
        }
    }
}
