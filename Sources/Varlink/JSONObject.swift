/// The members of a JSON object, in order, each name at most once.
///
/// A plain value. Small objects, nearly all, are searched from front to back; one with many members (a map of 100,000
/// settings is a single object) carries a hash index, so that building it is linear and each look-up constant.
/// Names are compared byte for byte, as keys of settings are.
package struct JSONObject: Sendable {
    package typealias Element = (name: String, value: JSON)

    /// Up to so many members a search is cheaper than a hash.
    private static let smallCount = 12

    private var members: [Element]
    /// Present exactly when there are more than `smallCount` members.
    private var index: NameIndex?

    package init() {
        members = []
    }

    /// Where a name comes twice the later value stands, in the earlier place.
    package init(_ elements: some Sequence<(String, JSON)>) {
        self.init()
        for (name, value) in elements {
            self[name] = value
        }
    }

    /// Setting nil removes the member, which is linear: for the few members of a header, not for a map.
    package subscript(name: String) -> JSON? {
        get {
            position(of: name).map { members[$0].value }
        }
        set {
            switch (position(of: name), newValue) {
            case (let position?, let value?): members[position].value = value
            case (nil, let value?): append(name, value)
            case (let position?, nil): remove(at: position)
            case (nil, nil): break
            }
        }
    }

    /// Adds a member unless the name is there already.
    ///
    /// - Returns: Whether it was added.
    package mutating func insertNew(_ name: String, _ value: JSON) -> Bool {
        if index != nil { return insertIndexed(name, value) }
        guard position(of: name) == nil else { return false }
        append(name, value)
        return true
    }

    package mutating func reserveCapacity(_ count: Int) {
        members.reserveCapacity(count)
    }

    private func position(of name: String) -> Int? {
        if let index { return index.position(of: name, in: members) }
        return members.firstIndex { $0.name.hasSameBytes(as: name) }
    }

    private mutating func insertIndexed(_ name: String, _ value: JSON) -> Bool {
        guard index?.insert(name, among: members) == true else { return false }
        members.append((name, value))
        return true
    }

    /// Adds a member that is known to be new.
    private mutating func append(_ name: String, _ value: JSON) {
        if index != nil {
            _ = insertIndexed(name, value)
            return
        }
        members.append((name, value))
        if members.count > Self.smallCount { index = NameIndex(of: members) }
    }

    private mutating func remove(at position: Int) {
        members.remove(at: position)
        index = members.count > Self.smallCount ? NameIndex(of: members) : nil
    }
}

extension JSONObject: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { members.count }
    package subscript(position: Int) -> Element { members[position] }
}

extension JSONObject: Equatable {
    /// The same members with equal values; their order means nothing in JSON.
    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        guard left.count == right.count else { return false }
        for (position, member) in left.members.enumerated() {
            let twin = right.members[position]
            if twin.name.hasSameBytes(as: member.name) {
                guard twin.value == member.value else { return false }
            } else {
                guard right[member.name] == member.value else { return false }
            }
        }
        return true
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self.init(elements)
    }
}

extension JSONObject: CustomStringConvertible {
    package var description: String { JSON.object(self).description }
}
