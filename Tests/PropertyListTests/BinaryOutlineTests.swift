import PropertyList
import Testing

@Suite("The outline of a binary property list")
struct BinaryOutlineTests {
    /// A text of these objects, the first of which is the top. References are one byte.
    private func text(_ objects: [[UInt8]]) -> [UInt8] {
        var bytes = [UInt8]("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        for offset in offsets { bytes += [UInt8(offset >> 8), UInt8(offset & 0xFF)] }
        bytes +=
            [0, 0, 0, 0, 0, 0, 2, 1] + [0, 0, 0, 0, 0, 0, 0, UInt8(objects.count)] + [UInt8](repeating: 0, count: 14)
        return bytes + [UInt8(table >> 8), UInt8(table & 0xFF)]
    }

    private func reason(
        _ bytes: [UInt8], byteLimit: Int = XMLPropertyList.defaultByteLimit
    ) -> PropertyListError.Reason? {
        do throws(PropertyListError) {
            try BinaryOutline.check(bytes, byteLimit: byteLimit)
            return nil
        } catch {
            return error.reason
        }
    }

    private static let key: [UInt8] = [0x51, 0x61]

    static let leaves: [(object: [UInt8], reason: PropertyListError.Reason?)] = [
        ([0x09], nil), ([0x08], nil), ([0x00], .unsupportedObject("null")), ([0x0F], .unsupportedObject("null")),
        ([0x10, 1], nil), ([0x13, 255, 255, 255, 255, 255, 255, 255, 255], nil),
        ([0x14] + [UInt8](repeating: 0, count: 8) + [UInt8](repeating: 255, count: 8), nil),
        ([0x14] + [UInt8](repeating: 255, count: 16), .integerOutOfRange), ([0x15], .malformedBinary),
        ([0x22, 0, 0, 0, 0], nil), ([0x23] + [UInt8](repeating: 0, count: 8), nil), ([0x21, 0, 0], .malformedBinary),
        ([0x33] + [UInt8](repeating: 0, count: 8), nil), ([0x32, 0, 0, 0, 0], .malformedBinary),
        ([0x13, 1], .malformedBinary),
        ([0x40], nil), ([0x41, 0], nil), ([0x42, 0], .malformedBinary), ([0x4F, 0x10, 1, 7], nil),
        ([0x4F, 0x10, 200], .malformedBinary), ([0x4F, 0x14], .malformedBinary), ([0x4F, 0x51], .malformedBinary),
        ([0x4F, 0x13, 255, 255, 255, 255, 255, 255, 255, 255], .malformedBinary),
        ([0x4F, 0x13, 127, 255, 255, 255, 255, 255, 255, 255], .malformedBinary),
        ([0x52, 0x61, 0x62], nil), ([0x51, 0], .zeroByte), ([0x51, 0xE9], .malformedBinary),
        ([0x61, 0, 0xE9], nil), ([0x61, 0, 0], .zeroByte), ([0x62, 0xD8, 0x3D, 0xDE, 0], nil),
        ([0x61, 0xD8, 0x3D], .malformedBinary), ([0x61, 0xDE, 0], .malformedBinary),
        ([0x62, 0xD8, 0x3D, 0, 0x61], .malformedBinary),
        ([0x80, 1], .unsupportedObject("UID")), ([0xC0], .unsupportedObject("set")), ([0x71, 0x61], .malformedBinary),
        ([0xA0], nil), ([0xA2, 1, 1], nil), ([0xA1, 2], .malformedBinary), ([0xA1, 0], .malformedBinary),
        ([0xA1, 9], .malformedBinary), ([0xD0], nil), ([0xD1, 1, 1], nil), ([0xD1, 2, 1], .malformedBinary),
        ([0xB0], .malformedBinary), ([0xF0], .malformedBinary),
    ]

    @Test("tells good objects from bad ones", arguments: leaves)
    func objects(object: [UInt8], reason expected: PropertyListError.Reason?) {
        #expect(reason(text([[0xD1, 1, 2], Self.key, object])) == expected)
    }

    @Test("wants a header, a trailer and a dictionary")
    func frame() {
        let good = text([[0xD0]])
        #expect(reason(good) == nil)
        #expect(reason(good, byteLimit: 10) == .tooLarge(byteLimit: 10))
        #expect(reason([]) == .malformedBinary)
        #expect(reason([UInt8]("bplist00".utf8)) == .malformedBinary)
        #expect(reason([UInt8](good.dropLast())) == .malformedBinary)
        #expect(reason(text([[0xA0]])) == .rootIsNoDictionary("value"))
        for index in good.count - 32..<good.count {
            var bytes = good
            bytes[index] = 0xFF
            _ = reason(bytes)
        }
    }

    @Test("stops a bomb of references, and a chain that is too deep")
    func bombs() {
        // Forty arrays, each of which names the next one ten times.
        let arrays = (0..<40).map { number in [0xAA] + [UInt8](repeating: UInt8(number + 3), count: 10) } + [[0x09]]
        #expect(reason(text([[0xD1, 1, 2], Self.key] + arrays)) == .tooManyObjects)
        func chain(_ levels: Int) -> [UInt8] {
            let links: [[UInt8]] = (0..<levels).map { [0xA1, UInt8($0 + 3)] } + [[0x09]]
            return text([[0xD1, 1, 2], Self.key] + links)
        }
        #expect(reason(chain(Value.depthLimit)) == nil)
        #expect(reason(chain(Value.depthLimit + 1)) == .tooDeep)
        #expect(reason(chain(200)) == .tooDeep)
        // Seen first where it is not too deep, then where it is.
        let half: [[UInt8]] = (0..<80).map { [0xA1, UInt8($0 + 3)] } + [[0x09]]
        #expect(reason(text([[0xD2, 1, 1, 40, 2], Self.key] + half)) == .tooDeep)
    }
}
