/// The structure of a binary property list, checked before a C library is let near it.
///
/// libplist unfolds every reference into a copy and follows them as deep as they go: forty bytes that name each other
/// would fill the memory or the stack. It also drops what it cannot express (the upper half of a 128-bit integer, what
/// stands behind a zero character). Here each object is looked at once, whatever names it; what passes can be read
/// without a loss and within the limits. Used once for one text, by whoever reads it.
package struct BinaryOutline {
    private let bytes: [UInt8]
    private let objectCount: Int
    private let referenceSize: Int
    private let offsetSize: Int
    private let tableStart: Int
    private let top: Int
    /// What an object weighs and how many levels are below it, by its number; nil until it was looked at.
    private var measures: [Measure?]
    /// The objects on the way to the one that is looked at.
    private var path: Set<Int> = []

    private struct Measure {
        var weight: Int
        var levels: Int
    }

    /// What a node costs beside its content, in the same unit as bytes of content.
    private static let nodeWeight = 16

    /// Checks the whole text.
    package static func check(
        _ bytes: [UInt8], byteLimit: Int = XMLPropertyList.defaultByteLimit
    ) throws(PropertyListError) {
        guard bytes.count <= byteLimit else { throw failure(.tooLarge(byteLimit: byteLimit)) }
        var outline = try BinaryOutline(bytes)
        guard outline.marker(of: outline.top) & 0xF0 == 0xD0 else { throw failure(.rootIsNoDictionary("value")) }
        let measure = try outline.measure(outline.top)
        guard measure.weight <= byteLimit else { throw failure(.tooManyObjects) }
    }

    static func failure(_ reason: PropertyListError.Reason) -> PropertyListError {
        PropertyListError(reason: reason, line: 0, column: 0)
    }

    private init(_ bytes: [UInt8]) throws(PropertyListError) {
        self.bytes = bytes
        let trailer = bytes.count - 32
        guard bytes.starts(with: "bplist0".utf8), trailer >= 9 else { throw Self.failure(.malformedBinary) }
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let objectCount = Self.number(bytes, trailer + 8, size: 8),
            let top = Self.number(bytes, trailer + 16, size: 8),
            let tableStart = Self.number(bytes, trailer + 24, size: 8),
            tableStart >= 9, tableStart <= trailer, objectCount >= 1, top < objectCount,
            objectCount <= (trailer - tableStart) / offsetSize
        else { throw Self.failure(.malformedBinary) }
        self.objectCount = objectCount
        self.top = top
        self.tableStart = tableStart
        measures = [Measure?](repeating: nil, count: objectCount)
        for object in 0..<objectCount {
            guard let offset = Self.number(bytes, tableStart + object * offsetSize, size: offsetSize),
                offset >= 8, offset < tableStart
            else { throw Self.failure(.malformedBinary) }
        }
    }

    /// A big-endian number; nil if it does not fit.
    private static func number(_ bytes: [UInt8], _ start: Int, size: Int) -> Int? {
        var result: UInt64 = 0
        for index in start..<start + size { result = result << 8 | UInt64(bytes[index]) }
        return Int(exactly: result)
    }
}

extension BinaryOutline {
    private func offset(of object: Int) -> Int {
        Self.number(bytes, tableStart + object * offsetSize, size: offsetSize) ?? 8
    }

    private func marker(of object: Int) -> UInt8 { bytes[offset(of: object)] }

    /// The content of an object: its number of elements, and where they begin.
    private func extent(of object: Int) throws(PropertyListError) -> (count: Int, start: Int) {
        let offset = offset(of: object)
        let short = Int(bytes[offset] & 0x0F)
        guard short == 0x0F else { return (short, offset + 1) }
        guard offset + 1 < tableStart, bytes[offset + 1] & 0xF0 == 0x10, bytes[offset + 1] & 0x0F <= 3 else {
            throw Self.failure(.malformedBinary)
        }
        let size = 1 << Int(bytes[offset + 1] & 0x0F)
        guard offset + 2 + size <= tableStart, let count = Self.number(bytes, offset + 2, size: size) else {
            throw Self.failure(.malformedBinary)
        }
        return (count, offset + 2 + size)
    }

    /// The bytes of an object's content, `size` for each of its elements.
    private func content(of object: Int, size: Int) throws(PropertyListError) -> Range<Int> {
        let (count, start) = try extent(of: object)
        guard count <= (tableStart - start) / size else { throw Self.failure(.malformedBinary) }
        return start..<start + count * size
    }

    private mutating func measure(_ object: Int) throws(PropertyListError) -> Measure {
        guard object < objectCount else { throw Self.failure(.malformedBinary) }
        if let known = measures[object] { return known }
        let measure = try freshMeasure(object)
        measures[object] = measure
        return measure
    }

    private mutating func freshMeasure(_ object: Int) throws(PropertyListError) -> Measure {
        let marker = marker(of: object)
        switch marker >> 4 {
        case 0x0:
            guard marker == 0x08 || marker == 0x09 else { throw Self.failure(.unsupportedObject("null")) }
            return Measure(weight: Self.nodeWeight, levels: 0)
        case 0x1, 0x2, 0x3: return try scalar(object, marker)
        case 0x4: return Measure(weight: Self.nodeWeight + (try content(of: object, size: 1)).count, levels: 0)
        case 0x5: return try text(bytes[content(of: object, size: 1)])
        case 0x6: return try wideText(content(of: object, size: 2))
        case 0x8: throw Self.failure(.unsupportedObject("UID"))
        case 0xA: return try container(object, keys: 0..<0, values: content(of: object, size: referenceSize))
        case 0xC: throw Self.failure(.unsupportedObject("set"))
        case 0xD:
            let references = try content(of: object, size: 2 * referenceSize)
            let middle = references.lowerBound + references.count / 2
            return try container(
                object, keys: references.lowerBound..<middle, values: middle..<references.upperBound)
        default: throw Self.failure(.malformedBinary)
        }
    }

    /// Numbers and dates.
    private func scalar(_ object: Int, _ marker: UInt8) throws(PropertyListError) -> Measure {
        let start = offset(of: object) + 1
        let exponent = marker & 0x0F
        let isKnown = exponent == 3 || (marker >> 4 == 1 && exponent <= 4) || (marker >> 4 == 2 && exponent == 2)
        guard isKnown, start + (1 << Int(exponent)) <= tableStart else { throw Self.failure(.malformedBinary) }
        // Of 128 bits libplist knows the lower half only; Apple and Python write UInt64 so, with zeros above.
        if exponent == 4, !bytes[start..<start + 8].allSatisfy({ $0 == 0 }) { throw Self.failure(.integerOutOfRange) }
        return Measure(weight: Self.nodeWeight, levels: 0)
    }

    private func text(_ content: ArraySlice<UInt8>) throws(PropertyListError) -> Measure {
        guard !content.contains(0) else { throw Self.failure(.zeroByte) }
        guard content.allSatisfy({ $0 < 0x80 }) else { throw Self.failure(.malformedBinary) }
        return Measure(weight: Self.nodeWeight + content.count, levels: 0)
    }

    /// UTF-16, whose surrogates must come in pairs.
    private func wideText(_ content: Range<Int>) throws(PropertyListError) -> Measure {
        var isInPair = false
        for index in stride(from: content.lowerBound, to: content.upperBound, by: 2) {
            let unit = UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
            guard unit != 0 else { throw Self.failure(.zeroByte) }
            guard UTF16.isTrailSurrogate(unit) == isInPair else { throw Self.failure(.malformedBinary) }
            isInPair = UTF16.isLeadSurrogate(unit)
        }
        guard !isInPair else { throw Self.failure(.malformedBinary) }
        return Measure(weight: Self.nodeWeight + content.count, levels: 0)
    }

    /// Arrays and dictionaries, by the references to what they hold.
    private mutating func container(
        _ object: Int, keys: Range<Int>, values: Range<Int>
    ) throws(PropertyListError) -> Measure {
        // One level more than a value may have: the root dictionary is none.
        guard path.count <= Value.depthLimit else { throw Self.failure(.tooDeep) }
        guard path.insert(object).inserted else { throw Self.failure(.malformedBinary) }
        defer { path.remove(object) }
        var total = Measure(weight: Self.nodeWeight, levels: 0)
        for references in [keys, values] {
            for start in stride(from: references.lowerBound, to: references.upperBound, by: referenceSize) {
                guard let child = Self.number(bytes, start, size: referenceSize), child < objectCount else {
                    throw Self.failure(.malformedBinary)
                }
                let isKey = references == keys
                guard !isKey || [0x5, 0x6].contains(marker(of: child) >> 4) else {
                    throw Self.failure(.malformedBinary)
                }
                guard !path.contains(child) else { throw Self.failure(.malformedBinary) }
                let measure = try measure(child)
                let (weight, overflow) = total.weight.addingReportingOverflow(measure.weight)
                total.weight = overflow ? .max : weight
                total.levels = max(total.levels, measure.levels)
            }
        }
        total.levels += 1
        guard total.levels <= Value.depthLimit + 1 else { throw Self.failure(.tooDeep) }
        return total
    }
}
