import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList

/// One file of an administrator's layer, as it was read.
struct LayerFile: Equatable, Sendable {
    var kind: ConfigurationDirectories.Kind
    var path: String
    var entries: [Key: Value]
    /// When it was last written.
    var time: Timestamp
    var user: UInt32
}

/// What administrators' directories hold for one group.
struct LayerReading: Equatable, Sendable {
    /// Of each kind the highest first.
    var files: [LayerFile] = []
    /// The highest one; its defaults are the lowest of `files`.
    var schema: SchemaFile?
    /// Files that are there and cannot be used.
    var problems: [String: Problem] = [:]

    var layers: GroupLayers {
        GroupLayers(managed: merged(.managed), defaults: merged(.defaults))
    }

    /// Key by key: a higher file that does not have a key leaves it to the lower ones.
    private func merged(_ kind: ConfigurationDirectories.Kind) -> [Key: Value] {
        files.reversed().reduce(into: [:]) { values, file in
            if file.kind == kind { values.merge(file.entries) { $1 } }
        }
    }
}

/// A look at all administrators' files: once at the start, and again when something happened in their directories. Reads
/// files, so later looks are done on a worker.
struct LayerScan: Sendable {
    private(set) var readings: [GroupIdentifier: LayerReading] = [:]

    /// The largest such file, in bytes.
    private static let sizeLimit = 4 << 20

    init() {}

    init(_ directories: ConfigurationDirectories) {
        var masked: Set<Mask> = []
        for kind in ConfigurationDirectories.Kind.allCases {
            for place in directories.places(of: kind) { read(place, kind, &masked) }
        }
        for (group, reading) in readings {
            if let schema = reading.schema { readings[group]?.files.append(schema.defaults) }
        }
    }

    private struct Mask: Hashable {
        var kind: ConfigurationDirectories.Kind
        var group: GroupIdentifier
    }

    private mutating func read(_ place: String, _ kind: ConfigurationDirectories.Kind, _ masked: inout Set<Mask>) {
        let endings = kind == .schemas ? [".json", ".plist"] : [".plist"]
        for name in ((try? Files.list(place)) ?? []).sorted() {
            guard let ending = endings.first(where: name.hasSuffix),
                let group = try? GroupIdentifier(String(name.dropLast(ending.utf8.count)))
            else { continue }
            let mask = Mask(kind: kind, group: group)
            guard !masked.contains(mask) else { continue }
            if read("\(place)/\(name)", kind, group) { masked.insert(mask) }
        }
    }

    /// - Returns: whether it hides those of the same name in lower directories.
    private mutating func read(_ path: String, _ kind: ConfigurationDirectories.Kind, _ group: GroupIdentifier) -> Bool
    {
        // An empty file, or a link to /dev/null, says that there is nothing, here and below.
        guard let status = try? Files.status(path) else {
            note(Problem(reason: "the file cannot be read", path: path), at: path, of: group)
            return false
        }
        if status.isMask { return true }
        if kind == .schemas { return readSchema(path, group) }
        switch PlistFile(path: path, sizeLimit: Self.sizeLimit).read() {
        case .content(let content):
            let time = Timestamp(microseconds: status.mtimeNanoseconds / 1000)
            let file = LayerFile(kind: kind, path: path, entries: content.entries, time: time, user: content.uid)
            if let problem = file.problem {
                note(problem, at: path, of: group)
            } else {
                readings[group, default: LayerReading()].files.append(file)
            }
        case .damaged(let problem, _, _), .unreachable(let problem, _): note(Problem(problem), at: path, of: group)
        case .absent: break
        }
        return false
    }

    /// - Returns: true: one schema takes the place of all lower ones.
    private mutating func readSchema(_ path: String, _ group: GroupIdentifier) -> Bool {
        switch SchemaFile.read(path, sizeLimit: Self.sizeLimit) {
        case .success(let file): readings[group, default: LayerReading()].schema = file
        case .failure(let problem): note(problem, at: path, of: group)
        }
        return true
    }

    private mutating func note(_ problem: Problem, at path: String, of group: GroupIdentifier) {
        var problem = problem
        problem.advice = problem.advice ?? "mend the file or remove it; until then what it held before is in force"
        readings[group, default: LayerReading()].problems[path] = problem
    }

    /// Where a file cannot be used now, what it held at an earlier look goes on to count.
    mutating func keepLastGood(of earlier: LayerScan, _ directories: ConfigurationDirectories) {
        for (group, reading) in readings where !reading.problems.isEmpty {
            let kept = earlier.readings[group]?.files.filter { reading.problems[$0.path] != nil } ?? []
            readings[group]?.files = (reading.files + kept).sorted { left, right in
                directories.rank(of: left) < directories.rank(of: right)
            }
            if reading.schema == nil, let schema = earlier.readings[group]?.schema, reading.problems[schema.path] != nil
            {
                readings[group]?.schema = schema
            }
        }
    }

    var problems: [Problem] {
        readings.sorted { $0.key < $1.key }.flatMap { $0.value.problems.sorted { $0.key < $1.key }.map(\.value) }
    }
}

extension LayerFile {
    /// Why it cannot be used: a key that no group can have.
    fileprivate var problem: Problem? {
        for key in entries.keys.sorted() {
            do throws(GroupError) {
                try key.validate()
            } catch {
                return Problem(reason: "\(error)", path: path)
            }
        }
        return nil
    }
}

extension ConfigurationDirectories {
    /// The place of a file among those of its group: the kinds one after the other, of each the highest first.
    fileprivate func rank(of file: LayerFile) -> Int {
        let place = places(of: file.kind).firstIndex { file.path.hasPrefix("\($0)/") }
        // A schema's defaults come last.
        return (file.kind == .managed ? 0 : 1000) + (place ?? 999)
    }
}

extension SchemaFile {
    fileprivate var defaults: LayerFile {
        LayerFile(kind: .defaults, path: path, entries: schema.defaults, time: time, user: user)
    }
}
