import Foundation
import TestSupport

/// One thing that the daemon did to its files, or sent, as the tracer wrote it down.
enum DiskOperation {
    case write(inode: UInt64, offset: Int, bytes: [UInt8])
    case truncate(inode: UInt64, size: Int)
    /// The file has at least that size now; what is new is zeros.
    case extend(inode: UInt64, size: Int)
    case sync(inode: UInt64)
    case syncDirectory(String)
    case create(String, inode: UInt64)
    case rename(String, to: String, isExchange: Bool)
    case link(String, to: String)
    case symlink(String, at: String)
    case unlink(String)
    case makeDirectory(String)
    /// To a socket: how many messages ended in it.
    case send(messages: Int)

    var isOnDisk: Bool {
        if case .send = self { false } else { true }
    }
}

/// What a traced program did, in its order.
struct DiskRecording {
    struct Entry {
        /// When the call had ended, in microseconds of the monotonic clock.
        var time: Int
        var operation: DiskOperation
    }

    private(set) var entries: [Entry] = []

    struct Unreadable: Error, CustomStringConvertible {
        let description: String
    }

    init(_ path: String) throws {
        let data = [UInt8](try Data(contentsOf: URL(filePath: path + ".data")))
        for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard let time = Int(fields[0]), fields.count > 2,
                let operation = try Self.operation(fields[1], Array(fields[2...]), data)
            else { throw Unreadable(description: String(line)) }
            entries.append(Entry(time: time, operation: operation))
        }
    }

    /// With what another program did at the same time.
    mutating func merge(_ other: DiskRecording) {
        entries = (entries + other.entries).enumerated()
            .sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
    }

    private static func operation(_ name: String, _ fields: [String], _ data: [UInt8]) throws -> DiskOperation? {
        switch (name, fields.count) {
        case ("syncdir", 1): return .syncDirectory(fields[0])
        case ("unlink", 1), ("rmdir", 1): return .unlink(fields[0])
        case ("mkdir", 1): return .makeDirectory(fields[0])
        case ("link", 2): return .link(fields[0], to: fields[1])
        case ("symlink", 2): return .symlink(fields[0], at: fields[1])
        case ("create", 2): return UInt64(fields[1]).map { .create(fields[0], inode: $0) }
        case ("rename", 3): return .rename(fields[0], to: fields[1], isExchange: fields[2] == "2")
        default: break
        }
        let numbers = fields.compactMap { Int($0) }
        guard numbers.count == fields.count, let inode = numbers.first.map(UInt64.init) else { return nil }
        switch (name, numbers.count) {
        case ("write", 4):
            return .write(inode: inode, offset: numbers[1], bytes: Array(data[numbers[3]..<numbers[3] + numbers[2]]))
        case ("truncate", 2): return .truncate(inode: inode, size: numbers[1])
        // 1: FALLOC_FL_KEEP_SIZE, 16: FALLOC_FL_ZERO_RANGE, which has zeros already where it is behind the end.
        case ("allocate", 4): return .extend(inode: inode, size: numbers[1] & 1 == 1 ? 0 : numbers[2] + numbers[3])
        case ("sync", 1): return .sync(inode: inode)
        case ("send", 2):
            return .send(messages: data[numbers[1]..<numbers[1] + numbers[0]].count { $0 == 0 })
        default: return nil
        }
    }
}
