import GroupFiles
import GroupModel
import GroupProtocol
import GroupServer
import PropertyList
import Varlink

// MARK: - What comes from a file

extension FuzzTarget {
    /// Larger ones only take longer.
    private static let byteLimit = 1 << 20

    static let xml = FuzzTarget(name: "xml", summary: "XML property lists, and edits of their text") { bytes in
        guard let list = try? XMLPropertyList(parsing: bytes, byteLimit: byteLimit) else { return }
        let entries = list.entries
        require(list.edited(to: entries) == bytes, "the text changed, and no value did")
        var edited = entries
        if let first = entries.keys.min() {
            edited[first] = nil
            if let second = edited.keys.max() { edited[second] = .string("edited & <kept>") }
        }
        edited["added"] = .dictionary(["in": .array([.integer(1), .boolean(true), .real(0.5)])])
        check(list.edited(to: edited), holds: edited)
        check(XMLPropertyList.document(entries), holds: entries)
    }

    /// Dates as an XML property list has them: in whole seconds.
    private static func check(_ text: [UInt8], holds entries: [Key: Value]) {
        do throws(PropertyListError) {
            let list = try XMLPropertyList(parsing: text, byteLimit: byteLimit * 8)
            let isTheSame = XMLPropertyList.document(list.entries) == XMLPropertyList.document(entries)
            require(isTheSame, "read again: \(list.entries) for \(entries)")
        } catch {
            require(false, "what was written is refused: \(error)")
        }
    }

    static let binary = FuzzTarget(name: "binary", summary: "binary property lists, as libplist is called") { bytes in
        guard let entries = try? BinaryPropertyList.entries(parsing: bytes, byteLimit: byteLimit) else { return }
        guard let written = try? BinaryPropertyList.document(entries) else { return }
        let again = try? BinaryPropertyList.entries(parsing: written, byteLimit: byteLimit * 8)
        require(
            again.map(XMLPropertyList.document) == XMLPropertyList.document(entries),
            "\(entries) came back as \(String(describing: again)) from \(written)")
    }

    /// A checksum is nothing that mutation finds: besides the bytes as they are, its lines are read as payloads.
    static let journal = FuzzTarget(name: "journal", summary: "journals: their frames and their records") { bytes in
        let scan = RecordScanner.scan(bytes)
        require(scan.end <= bytes.count, "the sound part ends at \(scan.end) of \(bytes.count)")
        require(scan.payloads.allSatisfy { $0.upperBound < scan.end }, "a payload beyond the sound part")
        if case .room(let size) = scan.tail {
            require(bytes.suffix(size).allSatisfy { $0 == 0 } && scan.end + size == bytes.count, "room that is none")
        }
        let sound = RecordScanner.scan(Array(bytes.prefix(scan.end)))
        require(sound.payloads == scan.payloads && sound.tail == .none, "the sound part is read otherwise alone")
        checkRecords(bytes.split(separator: UInt8(ascii: "\n")).map { Array($0) })
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard let commit = (try? JSON(parsing: line)).flatMap({ Commit(wire: $0) }) else { continue }
            let again = (try? JSON(parsing: commit.encoded)).flatMap { Commit(wire: $0) }
            require(again == commit, "\(commit) came back as \(String(describing: again))")
        }
    }

    /// As a start reads them: behind a header of their own, and behind a sound one.
    private static func checkRecords(_ payloads: [[UInt8]]) {
        guard let group = try? GroupIdentifier("group.a") else { return }
        let header = Array(#"{"appgroupd":1,"group":"group.a","epoch":"0123456789abcdef0123456789abcdef"}"#.utf8)
        for records in [payloads, [header] + payloads] {
            let read = JournalReading.replay(records, of: group)
            require(read.map { $0.revision >= 0 && $0.keys >= 0 } ?? true, "led to \(String(describing: read))")
        }
        for payload in payloads {
            let contradiction = JournalReading.contradiction(in: payload, of: group)
            require(contradiction == nil, contradiction ?? "")
        }
    }

    static let configuration = FuzzTarget(name: "configuration", summary: "appgroupd.conf") { bytes in
        var reader = ConfigurationReader()
        reader.read(String(decoding: bytes, as: UTF8.self), from: "appgroupd.conf")
        let read = reader.configuration
        require(read.projectionDelay <= 40_000, "a projection delay of \(read.projectionDelay) µs")
        require(read.syncInterval > 0 && read.historyCommits > 0 && read.queueSize > 0, "a value out of its range")
        require((4096...SettingsInterface.messageLimit).contains(read.messageSize), "messages of \(read.messageSize)")
    }
}
