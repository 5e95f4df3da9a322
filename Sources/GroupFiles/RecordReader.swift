import LinuxIO

/// Reads a journal's records one after the other through a window on the file.
///
/// Used for one pass over one file that nobody changes meanwhile.
struct RecordReader {
    /// How much is read at a time. The allocator takes larger pieces from the kernel and gives them back, each time.
    private static let step = 64 * 1024

    /// Where the sound records end that were read.
    private(set) var end: Int
    private let size: Int
    /// What was read of the file from `end` on, beginning at `start` in the window.
    private var window: [UInt8] = []
    private var start = 0

    /// - Parameters:
    ///   - size: of the file, in bytes.
    ///   - offset: where a record begins.
    init(size: Int, from offset: Int) {
        self.size = size
        end = min(offset, size)
    }

    /// Hands over each payload and its record's offset, up to the first record that is not whole and sound.
    ///
    /// - Returns: how many there were.
    mutating func readRecords(
        of file: borrowing FileDescriptor, _ take: (Span<UInt8>, UInt64) -> Void
    ) throws(SystemError) -> Int {
        var count = 0
        while true {
            while let payload = Record.payload(window.span, at: start) {
                take(window.span.extracting(payload), UInt64(end))
                count += 1
                let next = payload.upperBound + 1
                end += next - start
                start = next
            }
            guard try readMore(of: file) else { return count }
        }
    }

    /// False: there is nothing more to read that could complete the record here.
    private mutating func readMore(of file: borrowing FileDescriptor) throws(SystemError) -> Bool {
        let known = window.count - start
        let needed: Int
        if known < Record.headerSize {
            needed = Record.headerSize
        } else if let header = Record.header(window.span, at: start) {
            needed = header.length + Record.overhead
        } else {
            return false
        }
        guard known < needed, needed <= size - end, known < size - end else { return false }
        window.removeSubrange(..<start)
        start = 0
        let wanted = min(max(needed - known, Self.step), size - end - known)
        window.append(contentsOf: try file.pread(count: wanted, at: Int64(end + known)))
        // Shorter than it was a moment ago: then this is its end.
        return window.count > known
    }

    /// What stands behind the sound records.
    func tail(of file: borrowing FileDescriptor) throws(SystemError) -> RecordScan.Tail {
        guard end < size else { return .none }
        let rest = try file.pread(count: size - end, at: Int64(end))
        let tail = RecordScanner.tail(rest, at: end)
        guard case .damaged(let next) = tail else { return tail }
        return .damaged(next: end + next)
    }
}
