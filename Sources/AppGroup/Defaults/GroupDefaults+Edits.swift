import GroupModel
import PropertyList

extension GroupDefaults {
    /// Edits that become one commit: everybody sees all of them or none. Made and taken by ``GroupDefaults/write(_:)``.
    ///
    /// Reading a key gives what the edits so far make of it. A value that cannot be stored makes the whole write fail.
    public struct Edits {
        let settings: GroupDefaults
        private(set) var edits: [Edit] = []
        /// What the edits so far make of the keys.
        private var values: [PropertyList.Key: Value?] = [:]
        private(set) var problem: AppGroupError?

        init(_ settings: GroupDefaults) {
            self.settings = settings
        }
    }
}

extension GroupDefaults.Edits {
    /// The value as ``GroupDefaults/object(forKey:)`` gives it; setting nil removes the key.
    public subscript(key: String) -> Any? {
        get { value(PropertyList.Key(key))?.propertyList }
        set { add { edits throws(AppGroupError) in try edits.settings.edit(setting: newValue, forKey: key) } }
    }

    /// Stores a `Codable` value as property-list structure.
    public mutating func set(_ value: some Encodable, forKey key: String) {
        add { edits throws(AppGroupError) in .set(PropertyList.Key(key), try edits.settings.encoded(value, key)) }
    }

    /// Removes a key.
    public mutating func removeObject(forKey key: String) {
        add { _ in .remove(PropertyList.Key(key)) }
    }

    /// Adds one element to an array, in the daemon: appends of several programs do not undo each other. An absent key
    /// counts as an empty array.
    public mutating func append(_ element: Any, forKey key: String) {
        add { edits throws(AppGroupError) in
            let element = try edits.settings.propertyListValue(element, key)
            return Edit(key: PropertyList.Key(key), operation: .append, value: element)
        }
    }

    /// Puts entries into a dictionary, in the daemon; the other entries stay. An absent key counts as an empty dictionary.
    public mutating func merge(_ entries: [String: Any], forKey key: String) {
        add { edits throws(AppGroupError) in
            let entries = try edits.settings.propertyListValue(entries, key)
            return Edit(key: PropertyList.Key(key), operation: .merge, value: entries)
        }
    }

    /// Adds to an integer, in the daemon: no increment is lost. An absent key counts as 0.
    public mutating func increment(_ key: String, by addend: Int = 1) {
        add { _ in Edit(key: PropertyList.Key(key), operation: .increment, value: .integer(Int64(addend))) }
    }

    /// Adds to a number, in the daemon. An absent key counts as 0.
    @_disfavoredOverload
    public mutating func increment(_ key: String, by addend: Double) {
        add { _ in Edit(key: PropertyList.Key(key), operation: .increment, value: .real(addend)) }
    }

    /// Flips a boolean, in the daemon. An absent key counts as false.
    public mutating func toggle(_ key: String) {
        add { _ in Edit(key: PropertyList.Key(key), operation: .toggle, value: nil) }
    }

    func value(_ key: PropertyList.Key) -> Value? {
        values[key] ?? settings.stored(key.string)
    }

    /// What the edits so far make of the group's own value: what lies below it in the search list is not edited.
    func ownValue(_ key: PropertyList.Key) -> Value? {
        values[key] ?? settings.backend.replica.value(key)
    }

    /// The first problem counts; what follows it is not done either.
    mutating func add(_ make: (Self) throws(AppGroupError) -> Edit?) {
        guard problem == nil else { return }
        do throws(AppGroupError) {
            guard let edit = try make(self) else { return }
            do throws(GroupError) {
                values.updateValue(try edit.evaluated(on: ownValue(edit.key)), forKey: edit.key)
            } catch {
                throw AppGroupError(error)
            }
            edits.append(edit)
        } catch {
            problem = error
        }
    }
}
