import Glibc

/// A message with digits to be filled in. Owned by one role; its memory is never moved, so that a set costs the digits
/// and one copy.
@safe
final class Template {
    enum Part {
        case text(String)
        /// The digits of a key's number.
        case key
        /// The digits of a value's number.
        case value
        /// The NUL that ends a message.
        case end
    }

    enum Field {
        case key
        case value
    }

    let bytes: UnsafeMutablePointer<UInt8>
    let count: Int
    private var keyOffset = 0
    private var valueOffset = 0

    init(_ parts: [Part]) {
        var text: [UInt8] = []
        for part in parts {
            switch part {
            case .text(let string): text += string.utf8
            case .key:
                keyOffset = text.count
                text += [UInt8](repeating: UInt8(ascii: "0"), count: Wire.keyDigits)
            case .value:
                valueOffset = text.count
                text += [UInt8](repeating: UInt8(ascii: "0"), count: Wire.sequenceDigits)
            case .end: text.append(0)
            }
        }
        count = text.count
        unsafe bytes = .allocate(capacity: text.count)
        unsafe bytes.initialize(from: text, count: text.count)
    }

    deinit { unsafe bytes.deallocate() }

    /// A field that the message does not have is not set.
    func set(_ field: Field, to number: Int) {
        switch field {
        case .key where keyOffset > 0: unsafe write(number, to: bytes + keyOffset, digits: Wire.keyDigits)
        case .value where valueOffset > 0: unsafe write(number, to: bytes + valueOffset, digits: Wire.sequenceDigits)
        default: break
        }
    }

    /// The digits of a value, as they stand in somebody else's message.
    func setValue(from digits: UnsafePointer<UInt8>) {
        unsafe memcpy(bytes + valueOffset, digits, Wire.sequenceDigits)
    }

    private func write(_ number: Int, to place: UnsafeMutablePointer<UInt8>, digits: Int) {
        var rest = UInt(bitPattern: number)
        var index = digits
        while index > 0 {
            index &-= 1
            unsafe place[index] = UInt8(truncatingIfNeeded: 48 &+ rest % 10)
            rest /= 10
        }
    }
}
