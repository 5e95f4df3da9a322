import Glibc

/// A message that has arrived, without its NUL. It points into its link's memory: valid until the link is asked for the
/// next one.
@safe
struct Message {
    private let base: UnsafePointer<UInt8>
    private let count: Int

    init(base: UnsafePointer<UInt8>, count: Int) {
        unsafe self.base = unsafe base
        self.count = count
    }

    /// `{"error":…`; any other reply begins with its parameters.
    var isError: Bool { unsafe count > 2 && base[2] == UInt8(ascii: "e") }

    var text: String { unsafe String(decoding: UnsafeBufferPointer(start: base, count: count), as: UTF8.self) }

    /// The number of the value that a commit sets; nil in a message that is no commit.
    ///
    /// Nothing is parsed: a commit of one key ends, from its value on, in always the same bytes. Where it does not (a
    /// commit that stands for several, say) the value is looked for.
    func sequence() -> Int? {
        let expected = count - Self.tail
        let place = matches(Self.marker, at: expected) ? expected : offset(of: Self.marker)
        return place.flatMap { digits(at: $0 + Self.marker.utf8CodeUnitCount) }
    }

    private static var marker: StaticString { #""new":{"string":""# }
    private static var ending: StaticString { #""}}]}},"continues":true}"# }
    private static var tail: Int {
        marker.utf8CodeUnitCount + Wire.sequenceDigits + 8 + ending.utf8CodeUnitCount
    }

    /// Whether it is a call of this method of the interface, by its last letters.
    func isCall(of method: StaticString) -> Bool { matches(method, at: Self.callPrefix.utf8CodeUnitCount) }

    private static var callPrefix: StaticString { #"{"method":"io.appgroupd.Settings."# }

    /// Puts the value of a set that this program made into another message, and the message with its NUL into a file.
    func forward(to template: Template, logTo file: Int32) throws(BenchError) {
        let place = count - Self.writeEnding.utf8CodeUnitCount - 8 - Wire.sequenceDigits
        guard place > 0 else { throw BenchError("what is this: \(text)") }
        unsafe template.setValue(from: base + place)
        guard file >= 0 else { return }
        if unsafe write(file, base, count + 1) != count + 1 { throw .system("write to the log") }
    }

    private static var writeEnding: StaticString { #""}}]}}"# }

    func offset(of needle: StaticString) -> Int? {
        let last = count - needle.utf8CodeUnitCount
        guard last >= 0 else { return nil }
        return (0...last).first { matches(needle, at: $0) }
    }

    private func matches(_ needle: StaticString, at offset: Int) -> Bool {
        guard offset >= 0, offset + needle.utf8CodeUnitCount <= count else { return false }
        return unsafe memcmp(base + offset, needle.utf8Start, needle.utf8CodeUnitCount) == 0
    }

    private func digits(at offset: Int) -> Int? {
        guard offset + Wire.sequenceDigits <= count else { return nil }
        var number = 0
        for index in offset..<offset + Wire.sequenceDigits {
            let digit = unsafe Int(base[index]) &- 48
            guard digit >= 0, digit <= 9 else { return nil }
            number = number &* 10 &+ digit
        }
        return number
    }
}
