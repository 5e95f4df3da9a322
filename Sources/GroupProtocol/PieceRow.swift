/// Pieces of text in one row, each known by its place: who puts a text together from them takes one array, where arrays of
/// their own would each count up and down who uses them.
struct PieceRow: Sendable {
    private(set) var bytes: [UInt8] = []

    /// - Returns: where the piece is.
    mutating func add(_ piece: some Collection<UInt8>) -> Range<Int> {
        let start = bytes.count
        bytes += piece
        return start..<bytes.count
    }
}
