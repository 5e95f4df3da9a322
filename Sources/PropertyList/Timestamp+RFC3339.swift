/// The text form of a point in time: RFC 3339 in UTC, as it stands in the journal, on the wire and (whole seconds only)
/// in XML property lists.
extension Timestamp {
    /// Years 0001 to 9999: what four digits can say.
    package static let representable =
        Timestamp(microseconds: -62_135_596_800_000_000)...Timestamp(microseconds: 253_402_300_799_999_999)

    /// Reads `YYYY-MM-DDTHH:MM:SS[.fraction]Z` and nothing else: no offset, no leap second, no lower case. A fraction has
    /// one to nine digits; one that is not a whole number of microseconds is refused rather than rounded.
    package init?(rfc3339 text: some StringProtocol) {
        self.init(rfc3339: [UInt8](text.utf8)[...])
    }

    /// The same from a string, without the detour of a generic one.
    package init?(rfc3339 text: String) {
        self.init(rfc3339: [UInt8](text.utf8)[...])
    }

    /// The same from the UTF-8 bytes.
    package init?(rfc3339 text: ArraySlice<UInt8>) {
        let count = text.count
        let start = text.startIndex
        guard (20...30).contains(count), text[start + count - 1] == UInt8(ascii: "Z") else { return nil }
        guard let seconds = Self.seconds(text[start..<start + 19]),
            let fraction = Self.fraction(text[start + 19..<start + count - 1])
        else { return nil }
        self.init(microseconds: seconds * 1_000_000 + fraction)
    }

    /// The shortest exact form: no fraction, or one of six digits.
    package var rfc3339: String {
        let floor = wholeSeconds
        return RFC3339Digits(self).string(count: floor == self ? 19 : 26)
    }

    /// Always with six digits of fraction, so that every text has the same length and texts sort like the times.
    package var rfc3339Microseconds: String {
        RFC3339Digits(self).string(count: 26)
    }

    /// Appends the bytes of `rfc3339Microseconds` without making a string: a line of the journal needs no more.
    package func appendRFC3339Microseconds(to bytes: inout [UInt8]) {
        RFC3339Digits(self).append(to: &bytes, count: 26)
    }

    /// Appends the time cut to whole seconds, as XML property lists have it.
    package func appendRFC3339Seconds(to bytes: inout [UInt8]) {
        RFC3339Digits(self).append(to: &bytes, count: 19)
    }

    /// The last whole second that is not later: before 1970 as well as after.
    package var wholeSeconds: Timestamp {
        let rest = microseconds % 1_000_000
        let (floor, overflow) = microseconds.subtractingReportingOverflow(rest < 0 ? rest + 1_000_000 : rest)
        return overflow ? self : Timestamp(microseconds: floor)
    }
}

extension Timestamp {
    /// Seconds since 1970 of `YYYY-MM-DDTHH:MM:SS`.
    private static func seconds(_ text: ArraySlice<UInt8>) -> Int64? {
        let start = text.startIndex
        for (offset, separator) in [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")] as [(Int, Unicode.Scalar)] {
            guard text[start + offset] == UInt8(ascii: separator) else { return nil }
        }
        guard let year = number(text, 0..<4), let month = number(text, 5..<7), let day = number(text, 8..<10),
            let hour = number(text, 11..<13), let minute = number(text, 14..<16), let second = number(text, 17..<19),
            year >= 1, (1...12).contains(month), day >= 1, day <= daysInMonth(month, of: year),
            hour < 24, minute < 60, second < 60
        else { return nil }
        return ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
    }

    /// Microseconds of `.123`, 0 where there is no fraction.
    private static func fraction(_ text: ArraySlice<UInt8>) -> Int64? {
        guard let point = text.first else { return 0 }
        let digits = text.dropFirst()
        guard point == UInt8(ascii: "."), (1...9).contains(digits.count),
            let number = number(text, 1..<text.count)
        else { return nil }
        var nanoseconds = number
        for _ in digits.count..<9 { nanoseconds *= 10 }
        return nanoseconds % 1000 == 0 ? nanoseconds / 1000 : nil
    }

    private static func number(_ text: ArraySlice<UInt8>, _ offsets: Range<Int>) -> Int64? {
        var result: Int64 = 0
        for offset in offsets {
            let digit = text[text.startIndex + offset] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            result = result * 10 + Int64(digit)
        }
        return result
    }

    private static func daysInMonth(_ month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days since 1970-01-01 in the proleptic Gregorian calendar. Years are counted from March, so that the leap day is
    /// the last of its year.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

/// The digits of one time, worked out on the stack: the text of a commit's time is made on every commit.
private struct RFC3339Digits {
    /// `YYYY-MM-DDTHH:MM:SS.ffffff`, without the `Z`.
    private var digits = InlineArray<26, UInt8>(repeating: UInt8(ascii: "0"))

    /// A time out of `Timestamp.representable` is shown as the nearest one within.
    init(_ timestamp: Timestamp) {
        let range = Timestamp.representable
        let clamped = min(max(timestamp, range.lowerBound), range.upperBound)
        // Counted from 0000-03-01 so that nothing is negative.
        let microseconds = UInt64(clamped.microseconds + 719_468 * 86_400_000_000)
        let (seconds, fraction) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        let (days, secondOfDay) = seconds.quotientAndRemainder(dividingBy: 86_400)
        putDate(days)
        put(secondOfDay / 3600, at: 11, count: 2)
        put(secondOfDay / 60 % 60, at: 14, count: 2)
        put(secondOfDay % 60, at: 17, count: 2)
        put(fraction, at: 20, count: 6)
        digits[10] = UInt8(ascii: "T")
        digits[13] = UInt8(ascii: ":")
        digits[16] = UInt8(ascii: ":")
        digits[19] = UInt8(ascii: ".")
    }

    private mutating func putDate(_ days: UInt64) {
        let (era, dayOfEra) = days.quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        put(yearOfEra + era * 400 + (month <= 2 ? 1 : 0), at: 0, count: 4)
        put(month, at: 5, count: 2)
        put(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1, at: 8, count: 2)
        digits[4] = UInt8(ascii: "-")
        digits[7] = UInt8(ascii: "-")
    }

    private mutating func put(_ number: UInt64, at offset: Int, count: Int) {
        var rest = number
        for index in stride(from: offset + count - 1, through: offset, by: -1) {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            digits[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit)
            rest = quotient
        }
    }

    func append(to bytes: inout [UInt8], count: Int) {
        for index in 0..<count { bytes.append(digits[index]) }
        bytes.append(UInt8(ascii: "Z"))
    }

    func string(count: Int) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 1)
        append(to: &bytes, count: count)
        return String(decoding: bytes, as: UTF8.self)
    }
}
