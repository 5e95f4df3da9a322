import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import Varlink

/// A change that is taken back by itself at its time, unless somebody keeps it before.
///
/// In the state directory, beside the journal, is a file for each group that has some (`GROUP.trials`):
///
///     {"trials": [{"epoch": …, "revision": 12, "made": "2026-11-30T08:00:00Z", "until": "2026-11-30T09:00:00Z",
///                  "values": [{"key": …, "value": …}]}]}
struct Trial: Equatable {
    var position: Position
    var made: Timestamp
    var until: Timestamp
    /// When it is over, in microseconds of the monotonic clock: the other one may be set meanwhile.
    let due: Int64
    /// What each key of the change held before; nil: it was not there.
    var values: [Key: Value?]

    static func encoded(_ trials: [Trial]) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        writer.member("trials")
        writer.beginArray()
        for trial in trials { writer.write(trial) }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    /// Nil for what is no such file.
    static func decoded(_ bytes: [UInt8]) -> [Trial]? {
        guard let list = (try? JSON(parsing: bytes))?.objectValue?["trials"]?.arrayValue else { return nil }
        let trials = list.compactMap(Trial.init)
        return trials.count == list.count ? trials : nil
    }

    private init?(_ json: JSON) {
        guard let object = json.objectValue, let epoch = object["epoch"]?.stringValue.flatMap({ Epoch($0) }),
            let revision = object["revision"]?.integerValue,
            let until = object["until"]?.stringValue.flatMap({ Timestamp(rfc3339: $0) }),
            let entries = object["values"]?.arrayValue
        else { return nil }
        // Before there was this member a trial could be a month long at most, as it can be now.
        let earliest = Timestamp(microseconds: until.microseconds - Int64(TryRequest.bounds.upperBound * 1e6))
        let made = object["made"]?.stringValue.flatMap { Timestamp(rfc3339: $0) } ?? earliest
        self.init(position: Position(epoch: epoch, revision: revision), made: made, until: until, values: [:])
        for entry in entries {
            guard let key = entry.objectValue?["key"]?.stringValue else { return nil }
            guard let wire = entry.objectValue?["value"] else {
                values.updateValue(nil, forKey: Key(key))
                continue
            }
            guard let value = try? Value(wire: wire) else { return nil }
            values.updateValue(value, forKey: Key(key))
        }
    }

    init(position: Position, made: Timestamp, until: Timestamp, values: [Key: Value?]) {
        self.position = position
        self.made = made
        self.until = until
        // However the clock was set since, it does not last longer than it was made for.
        let length = max(0, until.microseconds - made.microseconds)
        let rest = until.microseconds - ProcessFacts.realtimeMicroseconds()
        due = ProcessFacts.monotonicMicroseconds() + min(max(0, rest), length)
        self.values = values
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ trial: Trial) {
        beginObject()
        member("epoch", string: trial.position.epoch.description)
        member("revision", integer: trial.position.revision)
        member("made", string: trial.made.rfc3339Microseconds)
        member("until", string: trial.until.rfc3339Microseconds)
        member("values")
        beginArray()
        for (key, value) in trial.values.sorted(by: { $0.key < $1.key }) {
            beginObject()
            member("key", string: key.string)
            if let value {
                member("value")
                write(value)
            }
            endObject()
        }
        endArray()
        endObject()
    }
}
