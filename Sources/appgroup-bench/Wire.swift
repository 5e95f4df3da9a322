/// The messages that the clients send, made once; only the digits in them change.
enum Wire {
    /// 12 digits and 8 bytes more: the value that every workload writes.
    static let valueSuffix = "-payload"
    static let sequenceDigits = 12
    static let keyDigits = 6

    /// What stands before the last dot: `group.demo` for the key `group.demo.k000417`.
    static func group(of key: String) -> String {
        guard let dot = key.lastIndex(of: "."), dot != key.startIndex else { return key }
        return String(key[..<dot])
    }

    static func createGroup(_ group: String) -> Template {
        Template([.text(method("CreateGroup") + #"{"group":"\#(group)"}}"#), .end])
    }

    /// A set of this key; `set(.value, …)` gives it its value.
    static func write(key: String) -> Template {
        Template(
            [.text(method("Write") + #"{"group":"\#(group(of: key))","edits":[{"key":"\#(key)""#)] + valuePart)
    }

    /// A set of the key that `set(.key, …)` names.
    static func write(prefix: String) -> Template {
        Template(
            [
                .text(method("Write") + #"{"group":"\#(group(of: prefix))","edits":[{"key":"\#(prefix)"#), .key,
                .text("\""),
            ] + valuePart)
    }

    static func watch(key: String) -> Template {
        Template([
            .text(method("Watch") + #"{"watches":[{"group":"\#(group(of: key))","keys":["\#(key)"]}]},"more":true}"#),
            .end,
        ])
    }

    static func read(key: String) -> Template {
        Template([.text(method("Read") + #"{"group":"\#(group(of: key))","keys":["\#(key)"]}}"#), .end])
    }

    static func read(prefix: String) -> Template {
        Template([
            .text(method("Read") + #"{"group":"\#(group(of: prefix))","keys":["\#(prefix)"#), .key,
            .text(#""]}}"#), .end,
        ])
    }

    /// What an observer gets at the least.
    static func commit(key: String) -> Template {
        Template([
            .text(#"{"parameters":{"commit":{"changes":[{"key":"\#(key)","new":{"string":""#), .value,
            .text(valueSuffix + #""}}]}},"continues":true}"#), .end,
        ])
    }

    static func emptyReply() -> Template { Template([.text(#"{"parameters":{}}"#), .end]) }

    private static let valuePart: [Template.Part] = [
        .text(#","value":{"string":""#), .value, .text(valueSuffix + #""}}]}}"#), .end,
    ]

    private static func method(_ name: String) -> String {
        #"{"method":"io.appgroupd.Settings.\#(name)","parameters":"#
    }
}
