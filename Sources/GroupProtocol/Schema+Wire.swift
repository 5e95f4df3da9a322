package import GroupModel
import PropertyList
package import Varlink

extension JSONWriter {
    /// As the interface's type `Rule`.
    package mutating func write(_ rule: Schema.Rule) {
        beginObject()
        member("key", string: rule.key)
        if let type = rule.type { member("type", string: type.rawValue) }
        if let standard = rule.standard {
            member("standard")
            write(standard)
        }
        if let allowed = rule.allowed {
            member("allowed")
            beginArray()
            for value in allowed { write(value) }
            endArray()
        }
        if let minimum = rule.minimum { member("minimum", real: minimum) }
        if let maximum = rule.maximum { member("maximum", real: maximum) }
        if let pattern = rule.pattern { member("pattern", string: pattern) }
        if let summary = rule.summary { member("summary", string: summary) }
        if let description = rule.description { member("description", string: description) }
        endObject()
    }
}

extension Schema.Rule {
    /// Nil for what is none.
    package init?(wire json: JSON) {
        guard let object = json.objectValue, let key = object["key"]?.stringValue else { return nil }
        self.init(key: key)
        type = object["type"]?.stringValue.flatMap(Schema.ValueType.init)
        standard = object["standard"].flatMap { try? Value(wire: $0) }
        allowed = object["allowed"]?.arrayValue?.compactMap { try? Value(wire: $0) }
        minimum = object["minimum"]?.realValue
        maximum = object["maximum"]?.realValue
        pattern = object["pattern"]?.stringValue
        summary = object["summary"]?.stringValue
        description = object["description"]?.stringValue
    }
}
