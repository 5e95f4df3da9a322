/// A point in time: whole microseconds since 1970-01-01T00:00:00Z, in the proleptic Gregorian calendar without leap seconds.
package struct Timestamp: Hashable, Sendable {
    package var microseconds: Int64

    package init(microseconds: Int64) {
        self.microseconds = microseconds
    }
}

extension Timestamp: Comparable {
    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microseconds < right.microseconds
    }
}
