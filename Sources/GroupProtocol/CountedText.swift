/// A text with a number in it that mostly grows by one from use to use: it is counted up where it stands.
struct CountedText: Sendable {
    private(set) var bytes: [UInt8]
    private let digits: Range<Int>
    private var number: Int64

    /// The number is at least 0.
    init(_ before: [UInt8], _ number: Int64, _ after: [UInt8]) {
        let text = String(number).utf8
        bytes = before + text + after
        digits = before.count..<(before.count + text.count)
        self.number = number
    }

    /// - Returns: whether the text now has this number. It is left as it is where another one than the next is wanted, or
    ///   one that has more digits: it is to be made anew then.
    mutating func count(to next: Int64) -> Bool {
        guard next != number else { return true }
        guard next == number &+ 1 else { return false }
        var index = digits.upperBound - 1
        while bytes[index] == UInt8(ascii: "9") {
            if index == digits.lowerBound { return false }
            index -= 1
        }
        bytes[index] += 1
        while index + 1 < digits.upperBound {
            index += 1
            bytes[index] = UInt8(ascii: "0")
        }
        number = next
        return true
    }

    /// Writes the last digits of another number, which is not negative, over those that stand at `range`.
    mutating func put(_ other: Int64, at range: Range<Int>) {
        var rest = other
        for index in range.reversed() {
            bytes[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }
}
