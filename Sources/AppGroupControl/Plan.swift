package import GroupModel
package import PropertyList
import Varlink

/// What makes one state of a group another: one edit a key, sorted, to be applied in one commit.
package struct Plan {
    package let edits: [Edit]
    private let present: [Key: Value]

    /// `format` is what the wanted state was read from: what it cannot hold (XML: fractions of a second) is no
    /// difference.
    package init(
        from present: [Key: Value], to wanted: [Key: Value], removesOthers: Bool, format: PlistFormat = .binary
    ) {
        let sets = wanted.filter { key, value in
            guard let old = present[key] else { return true }
            return old != value && format.projected(old) != value
        }.map { Edit.set($0.key, $0.value) }
        let removals = removesOthers ? present.keys.filter { wanted[$0] == nil }.map(Edit.remove) : []
        edits = (sets + removals).sorted { $0.key < $1.key }
        self.present = present
    }

    private init(edits: [Edit], present: [Key: Value]) {
        self.edits = edits
        self.present = present
    }

    package var isEmpty: Bool { edits.isEmpty }

    package func without(_ keys: [String]) -> Plan {
        let left = Set(keys.map { Key($0) })
        return Plan(edits: edits.filter { !left.contains($0.key) }, present: present)
    }

    /// `theme: "light" → "dark"`, one line an edit.
    package var lines: [String] {
        edits.map { edit in
            let sides = [present[edit.key], edit.value].map { $0.map(TextRendering.inline) ?? "absent" }
            return "\(TextRendering.key(edit.key)): \(sides.joined(separator: " → "))"
        }
    }

    /// `4 keys set, 1 removed`.
    package var summary: String {
        let removed = edits.filter { $0.value == nil }.count
        let set = edits.count - removed
        return "\(set) \(set == 1 ? "key" : "keys") set, \(removed) removed"
    }

    /// Says what was done: to people in a note, to programs as an object.
    func tell(of group: GroupIdentifier, _ session: Session) throws(Failure) {
        guard session.printsJSON else { return session.console.note("\(group): \(summary)") }
        try session.print(.object(counts(of: group)))
    }

    /// `{"group", "set", "removed"}`
    func counts(of group: GroupIdentifier) -> JSONObject {
        let removed = edits.count { $0.value == nil }
        return [
            "group": .string(group.string), "set": .integer(Int64(edits.count - removed)),
            "removed": .integer(Int64(removed)),
        ]
    }

    func print(of group: GroupIdentifier, namesGroup: Bool = false, _ session: Session) throws(Failure) {
        guard session.printsJSON else {
            if session.printsPlain {
                for edit in edits {
                    let sides = ChangeRendering.fields(edit.key, present[edit.key], edit.value)
                    try session.console.print(fields: (namesGroup ? [group.string] : []) + sides)
                }
                return
            }
            for line in lines { try session.console.print(namesGroup ? "\(group) \(line)" : line) }
            return
        }
        for edit in edits {
            var object: JSONObject = ["group": .string(group.string), "key": .string(edit.key.string)]
            if let old = present[edit.key] { object["old"] = JSONRendering.json(old) }
            if let new = edit.value { object["new"] = JSONRendering.json(new) }
            try session.print(.object(object))
        }
    }
}
