/// Records in line to be written to a journal by one call (`Journal.write`). A value of whoever makes them.
package struct RecordLine: Sendable {
    /// The framed records, one behind the other.
    package private(set) var bytes: [UInt8] = []

    /// What the line keeps of its room when it is emptied. One snapshot shall not hold its megabytes for ever.
    private static let keptCapacity = 256 * 1024

    package init() {}

    /// Frames what `write` adds to the bytes that it gets.
    ///
    /// - Returns: where the payload is among the bytes.
    @inline(__always)
    package mutating func add(_ write: (inout [UInt8]) -> Void) -> Range<Int> {
        Record.append(to: &bytes, writing: write)
    }

    /// Where the record begins that has its payload there.
    package static func start(ofPayload payload: Range<Int>) -> Int { payload.lowerBound - Record.headerSize }

    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
    }
}
