internal import CPropertyList
package import PropertyList

/// Binary property lists, read and written by libplist.
///
/// Where its interface cannot carry a value exactly, the value goes through a binary property list of that one value: its
/// dates are 32-bit seconds, and its integers do not tell -1 from the largest `UInt64`. No state; any thread.
package enum BinaryPropertyList {
    package static func isBinary(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: "bplist".utf8)
    }

    /// The entries of the root dictionary. The place of an error is 0:0, since there are no lines.
    package static func entries(
        parsing bytes: [UInt8], byteLimit: Int = XMLPropertyList.defaultByteLimit
    ) throws(PropertyListError) -> [Key: Value] {
        try BinaryOutline.check(bytes, byteLimit: byteLimit)
        guard let root = unsafe node(parsing: bytes) else { throw failure(.malformedBinary) }
        defer { unsafe plist_free(root) }
        guard case .dictionary(let entries) = try unsafe value(of: root) else {
            throw failure(.rootIsNoDictionary("value"))
        }
        return entries
    }

    /// A binary property list of these entries.
    ///
    /// Dates are stored as seconds since 2001 in floating point, which keeps whole seconds always and microseconds from
    /// 1865 to 2136; farther away the fraction is the nearest that there is within the same second.
    package static func document(_ entries: [Key: Value]) throws(PropertyListError) -> [UInt8] {
        for (key, value) in entries {
            try check(key.string)
            try check(value, levels: Value.depthLimit)
        }
        guard let root = unsafe plist_new_dict() else { throw failure(.malformedBinary) }
        defer { unsafe plist_free(root) }
        try unsafe fill(root, with: entries)
        return try unsafe bytes(of: root)
    }

    private static func failure(_ reason: PropertyListError.Reason) -> PropertyListError {
        PropertyListError(reason: reason, line: 0, column: 0)
    }
}

// MARK: - Reading

extension BinaryPropertyList {
    /// The tree of a text that was checked; its owner frees it.
    private static func node(parsing bytes: [UInt8]) -> plist_t? {
        guard let count = UInt32(exactly: bytes.count) else { return nil }
        var node: plist_t?
        unsafe bytes.withUnsafeBytes { buffer in
            unsafe plist_from_bin(buffer.baseAddress?.assumingMemoryBound(to: CChar.self), count, &node)
        }
        return unsafe node
    }

    private static func value(of node: plist_t) throws(PropertyListError) -> Value {
        switch unsafe plist_get_node_type(node) {
        case PLIST_BOOLEAN:
            var isTrue: UInt8 = 0
            unsafe plist_get_bool_val(node, &isTrue)
            return .boolean(isTrue != 0)
        case PLIST_UINT: return try unsafe integer(of: node)
        case PLIST_REAL:
            var number = 0.0
            unsafe plist_get_real_val(node, &number)
            return .real(number)
        case PLIST_STRING: return try unsafe string(of: node)
        case PLIST_DATA: return unsafe data(of: node)
        case PLIST_DATE: return try unsafe date(of: node)
        case PLIST_ARRAY: return .array(try unsafe elements(of: node))
        case PLIST_DICT: return .dictionary(try unsafe entries(of: node))
        default: throw failure(.unsupportedObject("value of another type"))
        }
    }

    private static func string(of node: plist_t) throws(PropertyListError) -> Value {
        guard let pointer = unsafe plist_get_string_ptr(node, nil) else { throw failure(.malformedBinary) }
        guard let text = unsafe String(validatingCString: pointer) else { throw failure(.invalidUTF8) }
        return .string(text)
    }

    private static func data(of node: plist_t) -> Value {
        var count: UInt64 = 0
        guard let pointer = unsafe plist_get_data_ptr(node, &count), let count = Int(exactly: count) else {
            return .data([])
        }
        return .data(unsafe [UInt8](UnsafeRawBufferPointer(start: pointer, count: count)))
    }

    /// Up to `Int64.max` the number is what it is; above, the leaf's own bytes tell a negative one from a large one.
    private static func integer(of node: plist_t) throws(PropertyListError) -> Value {
        var number: UInt64 = 0
        unsafe plist_get_uint_val(node, &number)
        guard number > UInt64(Int64.max) else { return .unsigned(number) }
        let leaf = try unsafe leaf(of: node)
        return leaf.marker == 0x14 ? .unsigned(number) : .integer(Int64(bitPattern: number))
    }

    private static func date(of node: plist_t) throws(PropertyListError) -> Value {
        let leaf = try unsafe leaf(of: node)
        let seconds = Double(bitPattern: leaf.bits)
        guard leaf.marker == 0x33, let timestamp = Timestamp(secondsSince2001: seconds) else {
            throw failure(.malformedDate)
        }
        return .date(timestamp)
    }

    /// The marker and the last eight bytes of a scalar as the binary format has it.
    private static func leaf(of node: plist_t) throws(PropertyListError) -> (marker: UInt8, bits: UInt64) {
        let bytes = try unsafe bytes(of: node)
        guard bytes.count > 17 else { throw failure(.malformedBinary) }
        let count = 1 << Int(bytes[8] & 0x0F)
        guard (8...16).contains(count), bytes.count > 9 + count else { throw failure(.malformedBinary) }
        return (bytes[8], bytes[1 + count..<9 + count].reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// Frees what libplist allocated. Its version 2.2 has no function for that but the one for texts, which is `free`.
    private static func release(_ memory: UnsafeMutableRawPointer?) {
        guard let memory = unsafe memory else { return }
        unsafe plist_to_bin_free(memory.assumingMemoryBound(to: CChar.self))
    }

    private static func elements(of node: plist_t) throws(PropertyListError) -> [Value] {
        var iterator: plist_array_iter?
        unsafe plist_array_new_iter(node, &iterator)
        defer { unsafe release(iterator) }
        var elements: [Value] = []
        while true {
            var element: plist_t?
            unsafe plist_array_next_item(node, iterator, &element)
            guard let element = unsafe element else { return elements }
            elements.append(try unsafe value(of: element))
        }
    }

    private static func entries(of node: plist_t) throws(PropertyListError) -> [Key: Value] {
        var iterator: plist_dict_iter?
        unsafe plist_dict_new_iter(node, &iterator)
        defer { unsafe release(iterator) }
        var entries: [Key: Value] = [:]
        while true {
            var name: UnsafeMutablePointer<CChar>?
            var item: plist_t?
            unsafe plist_dict_next_item(node, iterator, &name, &item)
            defer { unsafe release(name) }
            guard let item = unsafe item, let name = unsafe name else { return entries }
            guard let key = unsafe String(validatingCString: name) else { throw failure(.invalidUTF8) }
            entries[Key(key)] = try unsafe value(of: item)
        }
    }
}

// MARK: - Writing

extension BinaryPropertyList {
    private static func check(_ value: Value, levels: Int) throws(PropertyListError) {
        switch value {
        case .string(let text): try check(text)
        case .date(let timestamp):
            guard Timestamp.representable.contains(timestamp) else {
                throw failure(.uncarriable(Value.Uncarriable.date(timestamp).description))
            }
        case .array(let elements):
            guard levels > 0 else { throw failure(.tooDeep) }
            for element in elements { try check(element, levels: levels - 1) }
        case .dictionary(let entries):
            guard levels > 0 else { throw failure(.tooDeep) }
            for (key, value) in entries {
                try check(key.string)
                try check(value, levels: levels - 1)
            }
        default: break
        }
    }

    /// libplist takes C strings.
    private static func check(_ text: String) throws(PropertyListError) {
        guard !text.utf8.contains(0) else { throw failure(.uncarriable("the character U+0000")) }
    }

    /// Puts the entries into a dictionary, sorted: the same settings are the same bytes. What was put in when an error comes
    /// is freed with it.
    private static func fill(_ dictionary: plist_t, with entries: [Key: Value]) throws(PropertyListError) {
        for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
            unsafe plist_dict_set_item(dictionary, key.string, try node(of: value))
        }
    }

    /// A new node, which belongs to the caller.
    private static func node(of value: Value) throws(PropertyListError) -> plist_t {
        let made: plist_t?
        switch value {
        case .string(let text): unsafe made = plist_new_string(text)
        case .integer(let number): unsafe made = plist_new_uint(UInt64(bitPattern: number))
        case .unsignedInteger(let number): unsafe made = leafNode(0x14, upper: 0, lower: number)
        case .real(let number): unsafe made = plist_new_real(number)
        case .boolean(let isTrue): unsafe made = plist_new_bool(isTrue ? 1 : 0)
        case .date(let timestamp):
            unsafe made = leafNode(0x33, upper: nil, lower: timestamp.secondsSince2001.bitPattern)
        case .data(let bytes): unsafe made = dataNode(bytes)
        case .array: unsafe made = plist_new_array()
        case .dictionary: unsafe made = plist_new_dict()
        }
        guard let node = unsafe made else { throw failure(.malformedBinary) }
        do throws(PropertyListError) {
            if case .array(let elements) = value {
                for element in elements { unsafe plist_array_append_item(node, try self.node(of: element)) }
            }
            if case .dictionary(let entries) = value { try unsafe fill(node, with: entries) }
        } catch {
            unsafe plist_free(node)
            throw error
        }
        return unsafe node
    }

    private static func dataNode(_ bytes: [UInt8]) -> plist_t? {
        // A place to point at even where there is nothing.
        unsafe (bytes + [0]).withUnsafeBytes { buffer in
            unsafe plist_new_data(buffer.baseAddress?.assumingMemoryBound(to: CChar.self), UInt64(bytes.count))
        }
    }

    /// A scalar made from its bytes in the binary format.
    private static func leafNode(_ marker: UInt8, upper: UInt64?, lower: UInt64) -> plist_t? {
        var bytes = [UInt8]("bplist00".utf8) + [marker]
        for word in [upper, lower].compactMap(\.self) {
            for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
        let table = UInt8(bytes.count)
        // The offset table of one object, then the trailer: sizes 1 and 1, one object, the first is the top.
        bytes += [8] + [UInt8](repeating: 0, count: 6) + [1, 1] + [0, 0, 0, 0, 0, 0, 0, 1]
        bytes += [UInt8](repeating: 0, count: 15) + [table]
        return unsafe node(parsing: bytes)
    }

    private static func bytes(of node: plist_t) throws(PropertyListError) -> [UInt8] {
        var pointer: UnsafeMutablePointer<CChar>?
        var count: UInt32 = 0
        unsafe plist_to_bin(node, &pointer, &count)
        guard let pointer = unsafe pointer else { throw failure(.malformedBinary) }
        defer { unsafe plist_to_bin_free(pointer) }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: pointer, count: Int(count)))
    }
}

extension Timestamp {
    /// 2001-01-01T00:00:00Z, from which Apple counts.
    private static let year2001: Int64 = 978_307_200

    /// Whole seconds are exact, and the fraction never carries into the next second: rounded up there, the date would
    /// read as another in whole seconds.
    fileprivate var secondsSince2001: Double {
        let floor = wholeSeconds
        let whole = floor.microseconds / 1_000_000 - Self.year2001
        let next = Double(whole + 1)
        return min(Double(whole) + Double(microseconds - floor.microseconds) / 1e6, next.nextDown)
    }

    /// The nearest microsecond within the same second; nil out of the years 0001 to 9999.
    fileprivate init?(secondsSince2001 seconds: Double) {
        guard let whole = Int64(exactly: seconds.rounded(.down)), abs(whole) < 1 << 40 else { return nil }
        let fraction = min(((seconds - Double(whole)) * 1e6).rounded(), 999_999)
        self.init(microseconds: (whole + Self.year2001) * 1_000_000 + Int64(fraction))
        guard Timestamp.representable.contains(self) else { return nil }
    }
}
