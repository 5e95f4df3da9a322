/// The name of a member that is known when the program is written: quoted once, instead of each time it is put out.
///
/// A plain value, made for a `static let`.
package struct JSONName: Sendable {
    /// `"name":`
    @usableFromInline let first: [UInt8]
    /// The same behind another member, with the comma before it.
    @usableFromInline let following: [UInt8]
    /// The same as the first member of an object, with the brace before it.
    @usableFromInline let opening: [UInt8]

    package init(_ name: String) {
        var writer = JSONWriter()
        writer.member(name)
        first = writer.bytes
        following = [UInt8(ascii: ",")] + first
        opening = [UInt8(ascii: "{")] + first
    }
}

extension JSONName {
    static let parameters = JSONName("parameters")
}
