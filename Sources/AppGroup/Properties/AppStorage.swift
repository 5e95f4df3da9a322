import PropertyList
import Synchronization

/// A setting as a property: `@AppStorage` as you know it, in structs, classes and `@Observable` classes.
///
///     struct Appearance {
///         @AppStorage("isDarkMode", store: settings) var isDarkMode = false
///         @AppStorage("theme", store: settings) var theme = Theme.system
///         @AppStorage("lastOpened", store: settings) var lastOpened: Date?
///     }
///
/// Reading gives what a reader of the group sees at that moment, whichever process has set it. Setting stores it as
/// `GroupDefaults.set(_:forKey:)` does: at once in this process, without waiting; setting nil removes the key.
///
/// The default is never written: it is what the property reads as while the key is nowhere. A default that was registered
/// with ``GroupDefaults/register(defaults:)`` goes before it. A stored value that cannot be read as this type reads as the
/// default, and is reported once by ``GroupDefaults/errors`` and on the standard error.
///
/// Of a `Codable` structure or a dictionary only what changes is stored: `profile.name = "Ada"` leaves the other members as
/// other programs have set them meanwhile. See <doc:MembersOfCodableValues>.
///
/// Observation: `withObservationTracking` and `Observations` notice reads of the property by themselves, in any type. In an
/// `@Observable` class mark it `@ObservationIgnored`, so that it is not tracked twice:
///
///     @Observable final class Model {
///         @ObservationIgnored @AppStorage("count", store: settings) var count = 0
///     }
///
/// Safe for any thread. Copies are the same property.
@propertyWrapper
public struct AppStorage<Value: Sendable>: Sendable {
    @usableFromInline let setting: Setting<Value>

    init(key: GroupDefaults.Key<Value>, in store: GroupDefaults?) {
        setting = Setting(key, in: store)
    }

    /// The value, or the default.
    @inlinable
    public var wrappedValue: Value {
        get { setting.value }
        nonmutating set { setting.set(newValue, changedFrom: nil) }
        nonmutating _modify {
            let old = setting.value
            var new = old
            defer { setting.set(new, changedFrom: old) }
            yield &new
        }
    }

    /// The property as something to hand on, and to observe.
    public var projectedValue: Binding<Value> { Binding(setting) }
}

extension GroupDefaults {
    private static let chosenStore = Mutex<GroupDefaults?>(nil)

    /// Where properties with `@AppStorage` are stored that name no `store`; ``standard`` unless it is set.
    ///
    /// Set it at the program's start: a property decides when it is made.
    public static var defaultAppStorage: GroupDefaults {
        get { chosenStore.withLock { $0 } ?? .standard }
        set { chosenStore.withLock { $0 = newValue } }
    }
}
