import Varlink

/// The names of the members that every write and every value has.
extension JSONName {
    static let key = JSONName("key")
    static let old = JSONName("old")
    static let new = JSONName("new")
    static let tag = JSONName("tag")
    static let changes = JSONName("changes")
    static let changed = JSONName("changed")

    static let string = JSONName("string")
    static let integer = JSONName("integer")
    static let real = JSONName("real")
    static let boolean = JSONName("boolean")
    static let date = JSONName("date")
    static let data = JSONName("data")
    static let array = JSONName("array")
    static let dictionary = JSONName("dictionary")
    static let number = JSONName("number")
}
