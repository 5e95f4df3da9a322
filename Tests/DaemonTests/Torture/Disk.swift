import Foundation
import TestSupport

/// A disk below a file system that promises no more than POSIX: what was not synced when the power went may be there or
/// not, data and names each for themselves. Names in one directory get there in their order, a rename as a whole.
struct Disk {
    /// A file's content: what surely is on the disk, and what was done to it since.
    struct Content {
        enum Change {
            case write(offset: Int, bytes: [UInt8])
            case truncate(size: Int)
            case extend(size: Int)
        }

        var durable: [UInt8] = []
        var pending: [Change] = []
    }

    private enum Node {
        case file(Content)
        case directory
        case link(String)
    }

    /// A name and what it stands for afterwards.
    private struct Slot {
        var directory: Int
        var name: String
        var node: Int?
    }

    private var nodes: [Node] = [.directory]
    private var inodes: [UInt64: Int] = [:]
    /// What is in each directory, as programs see it and as it surely is on the disk.
    private var names: [Int: [String: Int]] = [0: [:]]
    private var durableNames: [Int: [String: Int]] = [0: [:]]
    /// What was done to names since, oldest first; each whole or not at all.
    private var pendingNames: [[Slot]] = []
    /// The path of the root of all this.
    private let base: String

    /// A disk that holds, safely, what is in this directory.
    init(holding directory: String, only children: [String]) throws {
        base = directory
        for child in children { try addTree(child) }
        durableNames = names
    }

    private mutating func addTree(_ path: String) throws {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: base + "/" + path) else { return }
        let type = attributes[.type] as? FileAttributeType
        let node: Node =
            type == .typeDirectory
            ? .directory : .file(Content(durable: [UInt8](try Data(contentsOf: URL(filePath: base + "/" + path)))))
        guard let place = place(of: base + "/" + path) else { return }
        let number = add(node)
        names[place.directory]?[place.name] = number
        if let inode = Plist.identity(base + "/" + path).first { inodes[inode] = number }
        guard type == .typeDirectory else { return }
        for name in try FileManager.default.contentsOfDirectory(atPath: base + "/" + path) {
            try addTree(path + "/" + name)
        }
    }

    private mutating func add(_ node: Node) -> Int {
        nodes.append(node)
        if case .directory = node {
            names[nodes.count - 1] = [:]
            durableNames[nodes.count - 1] = [:]
        }
        return nodes.count - 1
    }

    private func place(of path: String) -> (directory: Int, name: String)? {
        guard path.hasPrefix(base + "/") else { return nil }
        let parts = path.dropFirst(base.count + 1).split(separator: "/").map(String.init)
        guard let name = parts.last else { return nil }
        var directory = 0
        for part in parts.dropLast() {
            guard let next = names[directory]?[part] else { return nil }
            directory = next
        }
        return names[directory] == nil ? nil : (directory, name)
    }
}

// MARK: - What happens to it

extension Disk {
    mutating func apply(_ operation: DiskOperation) {
        switch operation {
        case .send: break
        case .write(let inode, let offset, let bytes): change(inode, .write(offset: offset, bytes: bytes))
        case .truncate(let inode, let size): change(inode, .truncate(size: size))
        case .extend(let inode, let size): change(inode, .extend(size: size))
        case .sync(let inode): sync(inode)
        case .syncDirectory(let path): syncDirectory(path)
        case .create(let path, let inode):
            guard let place = place(of: path) else {
                inodes[inode] = nil
                return
            }
            let node = add(.file(Content()))
            inodes[inode] = node
            name([Slot(directory: place.directory, name: place.name, node: node)])
        case .makeDirectory(let path): make(.directory, at: path)
        case .symlink(let target, let path): make(.link(target), at: path)
        case .unlink(let path): place(of: path).map { name([Slot(directory: $0.directory, name: $0.name)]) }
        case .link(let path, let newPath):
            guard let old = place(of: path), let new = place(of: newPath) else { return }
            name([Slot(directory: new.directory, name: new.name, node: names[old.directory]?[old.name])])
        case .rename(let path, let newPath, let isExchange): rename(path, newPath, isExchange)
        }
    }

    private mutating func make(_ node: Node, at path: String) {
        guard let place = place(of: path) else { return }
        name([Slot(directory: place.directory, name: place.name, node: add(node))])
    }

    private mutating func rename(_ path: String, _ newPath: String, _ isExchange: Bool) {
        guard let old = place(of: path), let new = place(of: newPath) else { return }
        let (moved, other) = (names[old.directory]?[old.name], names[new.directory]?[new.name])
        name([
            Slot(directory: old.directory, name: old.name, node: isExchange ? other : nil),
            Slot(directory: new.directory, name: new.name, node: moved),
        ])
    }

    private mutating func name(_ slots: [Slot]) {
        for slot in slots { names[slot.directory]?[slot.name] = slot.node }
        pendingNames.append(slots)
    }

    private mutating func change(_ inode: UInt64, _ change: Content.Change) {
        guard let number = inodes[inode], case .file(var content) = nodes[number] else { return }
        content.pending.append(change)
        nodes[number] = .file(content)
    }

    private mutating func sync(_ inode: UInt64) {
        guard let number = inodes[inode], case .file(let content) = nodes[number] else { return }
        nodes[number] = .file(Content(durable: content.whole))
    }

    private mutating func syncDirectory(_ path: String) {
        var directory = path == base ? 0 : nil
        if let place = place(of: path) { directory = names[place.directory]?[place.name] }
        guard let directory else { return }
        let kept = Self.closure(pendingNames, pendingNames.map { $0.contains { $0.directory == directory } })
        for (slots, isKept) in zip(pendingNames, kept) where isKept { Self.put(slots, into: &durableNames) }
        pendingNames = zip(pendingNames, kept).filter { !$0.1 }.map(\.0)
    }

    /// With each change of names all earlier ones in the same directories.
    private static func closure(_ changes: [[Slot]], _ wanted: [Bool]) -> [Bool] {
        var kept = wanted
        var directories: Set<Int> = []
        for index in changes.indices.reversed() {
            let touched = Set(changes[index].map(\.directory))
            if kept[index] || !directories.isDisjoint(with: touched) {
                kept[index] = true
                directories.formUnion(touched)
            }
        }
        return kept
    }

    private static func put(_ slots: [Slot], into names: inout [Int: [String: Int]]) {
        for slot in slots { names[slot.directory]?[slot.name] = slot.node }
    }
}

// MARK: - What the power cut leaves

/// How much of what was not synced got to the disk.
enum Loss: CaseIterable {
    /// Nothing is lost.
    case none
    case names, data
    /// The sizes are there, the data is not.
    case dataButSizes
    case all
    /// Some names, some sectors.
    case some
}

extension Disk {
    /// Lays out what there is when the power comes back, in an empty directory.
    func lay(out loss: Loss, _ random: inout SplitMix64, at directory: String) throws {
        var tree = durableNames
        for (slots, isKept) in zip(pendingNames, keptNames(loss, &random)) where isKept { Self.put(slots, into: &tree) }
        try lay(out: 0, of: tree, loss, &random, at: directory)
    }

    private func keptNames(_ loss: Loss, _ random: inout SplitMix64) -> [Bool] {
        switch loss {
        case .none, .data, .dataButSizes: return pendingNames.map { _ in true }
        case .names, .all: return pendingNames.map { _ in false }
        case .some:
            // Half of the time in the order of all, as file systems with a journal have it.
            if Bool.random(using: &random) {
                let count = Int.random(in: 0...pendingNames.count, using: &random)
                return pendingNames.indices.map { $0 < count }
            }
            return Self.closure(pendingNames, pendingNames.map { _ in Int.random(in: 0..<4, using: &random) == 0 })
        }
    }

    private func lay(
        out number: Int, of tree: [Int: [String: Int]], _ loss: Loss, _ random: inout SplitMix64, at path: String
    ) throws {
        let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        switch nodes[number] {
        case .directory:
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true, attributes: mode)
            for (name, node) in (tree[number] ?? [:]).sorted(by: { $0.key < $1.key }) {
                try lay(out: node, of: tree, loss, &random, at: "\(path)/\(name)")
            }
        case .link(let target): try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        case .file(let content):
            let bytes = content.left(by: loss, &random)
            let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
            _ = FileManager.default.createFile(atPath: path, contents: Data(bytes), attributes: mode)
        }
    }
}

extension Disk.Content {
    /// As programs see it.
    var whole: [UInt8] {
        var bytes = durable
        for change in pending { Self.apply(change, to: &bytes) }
        return bytes
    }

    func left(by loss: Loss, _ random: inout SplitMix64) -> [UInt8] {
        var bytes = durable
        switch loss {
        case .none, .names: return whole
        case .data, .all: break
        case .dataButSizes:
            for change in pending { Self.apply(change, to: &bytes) { _ in false } }
        case .some:
            for change in pending.prefix(Int.random(in: 0...pending.count, using: &random)) {
                Self.apply(change, to: &bytes) { _ in Bool.random(using: &random) }
            }
        }
        return bytes
    }

    private static let sector = 512

    /// Sector by sector, as far as they get there; the file's size is one of the things that do.
    private static func apply(_ change: Change, to bytes: inout [UInt8], _ arrives: (Int) -> Bool = { _ in true }) {
        switch change {
        case .truncate(let size): bytes = Array(bytes.prefix(size)) + zeros(size - bytes.count)
        case .extend(let size): bytes += zeros(size - bytes.count)
        case .write(let offset, let new):
            bytes += zeros(offset + new.count - bytes.count)
            var start = offset
            while start < offset + new.count {
                let end = min((start / sector + 1) * sector, offset + new.count)
                if arrives(start) { bytes.replaceSubrange(start..<end, with: new[(start - offset)..<(end - offset)]) }
                start = end
            }
        }
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: max(0, count)) }
}
