/// Why a text is no JSON we take, and at which byte.
package struct JSONError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// The text ends within a value.
        case unexpectedEnd
        case unexpectedByte
        /// Something other than white space follows the value.
        case trailingBytes
        case invalidUTF8
        /// A byte below 0x20 within a string: it must be escaped.
        case controlCharacter
        case invalidEscape
        /// A `\u` escape of half a surrogate pair: no Unicode text.
        case loneSurrogate
        case duplicateMember
        /// No finite double is near the number.
        case numberOutOfRange
        case tooDeep
    }

    package let reason: Reason
    /// Counted from the first byte given.
    package let offset: Int

    package init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

extension JSONError: CustomStringConvertible {
    package var description: String { "\(reason.text) at byte \(offset)" }
}

extension JSONError.Reason {
    /// For people, before the place.
    package var text: String {
        switch self {
        case .unexpectedEnd: "the text ends too early,"
        case .unexpectedByte: "an unexpected character"
        case .trailingBytes: "something follows the value"
        case .invalidUTF8: "no UTF-8"
        case .controlCharacter: "a control character within a text"
        case .invalidEscape: "an unknown escape"
        case .loneSurrogate: "half a surrogate pair"
        case .duplicateMember: "a member that was there before"
        case .numberOutOfRange: "a number that no value can hold"
        case .tooDeep: "too many levels"
        }
    }
}
