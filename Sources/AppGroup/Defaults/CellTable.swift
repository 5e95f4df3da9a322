import PropertyList
import Synchronization

/// The cells of one search list by key, found without a lock and without counting a reference: what a read costs is mostly
/// that.
///
/// Found by any thread; filled by whoever holds the list's lock. A cell that is in it stays until the list is closed, when
/// nobody reads any more; so does a table that has become too small, since somebody may be looking through it. What the
/// references without a count point to is held by the list's dictionary of cells.
@safe
final class CellTable: Sendable {
    private let mask: Int
    /// A power of two, at most half of them taken; open addressing.
    private nonisolated(unsafe) let places: UnsafeMutablePointer<Atomic<Unmanaged<Cell>?>>

    init(count: Int) {
        mask = count - 1
        unsafe places = .allocate(capacity: count)
        for index in 0..<count { unsafe (places + index).initialize(to: Atomic(nil)) }
    }

    deinit {
        unsafe places.deinitialize(count: mask + 1)
        unsafe places.deallocate()
    }

    var count: Int { mask + 1 }

    static func hash(_ name: String) -> UInt64 { KeyHash.hash(name.utf8.span) }

    /// The key's cell, good as long as the list is open; nil where nobody has read the key yet.
    func find(_ name: String, hash: UInt64) -> Unmanaged<Cell>? {
        var index = Int(truncatingIfNeeded: hash) & mask
        while let cell = unsafe places[index].load(ordering: .acquiring) {
            if unsafe cell._withUnsafeGuaranteedRef({ $0.key.string.isIdentical(to: name) }) { return unsafe cell }
            index = (index + 1) & mask
        }
        return nil
    }

    /// Adds a cell whose key is not there.
    func add(_ cell: Cell) {
        var index = Int(truncatingIfNeeded: Self.hash(cell.key.string)) & mask
        while unsafe places[index].load(ordering: .relaxed) != nil { index = (index + 1) & mask }
        unsafe places[index].store(.passUnretained(cell), ordering: .releasing)
    }

    /// Nobody reads any more.
    func removeAll() {
        for index in 0...mask { unsafe places[index].store(nil, ordering: .releasing) }
    }
}
