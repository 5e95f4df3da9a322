/// "Did you mean": the names that a mistyped one may stand for.
package enum NearNames {
    /// How far a name may be for a suggestion, or for a doubt about a new group.
    package static let distanceLimit = 2

    /// The nearest first, at most three. Near is what differs in case alone, or by so few slips that most of the name
    /// stays: two in eight characters, one in four. `least` slips count as near even in the shortest name: for the few
    /// names that are ours.
    package static func of(_ name: String, among names: [String], atLeast least: Int = 0) -> [String] {
        let lowered = name.lowercased()
        let limit = min(distanceLimit, max(least, name.utf8.count / 4))
        let near = names.compactMap { candidate -> (distance: Int, name: String)? in
            guard !candidate.utf8.elementsEqual(name.utf8) else { return nil }
            if candidate.utf8.count == name.utf8.count, candidate.lowercased() == lowered { return (0, candidate) }
            return EditDistance.between(name, candidate, limit: limit).map { ($0, candidate) }
        }
        return near.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(3).map(\.name)
    }

    /// `; did you mean "a" or "b"?`, or nothing. `quoted` makes them fit to be shown.
    package static func question(_ names: [String], quoted: (String) -> String) -> String {
        names.isEmpty ? "" : "; did you mean " + names.map(quoted).joined(separator: " or ") + "?"
    }
}

/// How many slips of the keyboard lie between two texts: a character too many, missing, wrong, or two exchanged.
package enum EditDistance {
    /// Nil when it is more than `limit`, which is found out early: a group may have a million keys.
    package static func between(_ left: String, _ right: String, limit: Int) -> Int? {
        let left = Array(left.unicodeScalars)
        let right = Array(right.unicodeScalars)
        guard limit > 0, abs(left.count - right.count) <= limit else { return left == right ? 0 : nil }
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in left.indices {
            var next = [row + 1]
            for column in right.indices {
                var cost = min(last[column + 1], next[column]) + 1
                cost = min(cost, last[column] + (left[row] == right[column] ? 0 : 1))
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                next.append(cost)
            }
            guard (next.min() ?? 0) <= limit else { return nil }
            beforeLast = last
            last = next
        }
        return last[right.count] <= limit ? last[right.count] : nil
    }
}
