/// Which directories each watch descriptor stands for. Several, when paths lead to one directory: the kernel knows
/// inodes, not paths, and gives the descriptor out again.
struct WatchTable {
    private var directories: [Int32: [String]] = [:]
    private var descriptors: [String: Int32] = [:]

    func directories(of descriptor: Int32) -> [String] { directories[descriptor] ?? [] }

    mutating func insert(_ directory: String, _ descriptor: Int32) {
        directories[descriptor, default: []].append(directory)
        descriptors[directory] = descriptor
    }

    /// Forgets one directory. Answers its descriptor if no other directory needs it now.
    mutating func remove(_ directory: String) -> Int32? {
        guard let descriptor = descriptors.removeValue(forKey: directory) else { return nil }
        let others = directories(of: descriptor).filter { $0 != directory }
        directories[descriptor] = others.isEmpty ? nil : others
        return others.isEmpty ? descriptor : nil
    }

    /// Forgets a descriptor. Answers the directories that it stood for.
    mutating func remove(_ descriptor: Int32) -> [String] {
        let gone = directories.removeValue(forKey: descriptor) ?? []
        for directory in gone { descriptors[directory] = nil }
        return gone
    }
}
