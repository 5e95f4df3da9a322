import Glibc
package import GroupModel
package import GroupProtocol
package import PropertyList

/// What `top` knows of the daemon: all settings of all groups, and how they change. Pure; times are microseconds of one
/// clock that does not jump.
package struct TopModel {
    package struct Setting {
        package var value: Value
        /// Who changed it last, as far as that was seen.
        package var writer: String?
        /// When that was; nil: before the view began.
        package var changedAt: Int64?
        /// Changes a second, as it was then.
        var rate = 0.0
    }

    package struct Name: Hashable, Comparable {
        package var group: GroupIdentifier
        package var key: Key

        package init(_ group: GroupIdentifier, _ key: Key) {
            (self.group, self.key) = (group, key)
        }

        package static func < (left: Name, right: Name) -> Bool {
            left.group == right.group ? left.key < right.key : left.group < right.group
        }
    }

    package private(set) var settings: [Name: Setting] = [:]
    package var status: DaemonStatus?
    /// What stands in the way of news; nil while there is nothing.
    package var trouble: String?

    /// A change counts for about so long, in microseconds: what is faster settles within some times this.
    private static let memory = 5_000_000.0

    package init() {}

    package mutating func take(_ values: [Key: Value], of group: GroupIdentifier) {
        for name in settings.keys where name.group == group && values[name.key] == nil { settings[name] = nil }
        for (key, value) in values {
            let name = Name(group, key)
            if settings[name]?.value != value { settings[name] = Setting(value: value) }
        }
    }

    package mutating func take(_ commit: Commit, now: Int64) {
        let writer = ChangeRendering.origin(commit.origin)
        for change in commit.changes {
            let name = Name(commit.group, change.key)
            guard let value = change.new else {
                settings[name] = nil
                continue
            }
            let rate = rate(of: name, now: now) + 1e6 / Self.memory
            settings[name] = Setting(value: value, writer: writer, changedAt: now, rate: rate)
        }
    }

    package mutating func forget(_ group: GroupIdentifier) {
        for name in settings.keys where name.group == group { settings[name] = nil }
    }

    /// Changes a second, the newer ones counting for more.
    package func rate(of name: Name, now: Int64) -> Double {
        guard let setting = settings[name], let changedAt = setting.changedAt else { return 0 }
        return setting.rate * exp(-Double(now - changedAt) / Self.memory)
    }

    package func rate(now: Int64) -> Double {
        settings.keys.reduce(0) { $0 + rate(of: $1, now: now) }
    }
}
