import AppGroup

/// All settings of the manager as one value. What the stored value does not have is as it is here: an older program, or
/// somebody with an editor, may have left it out.
struct FeedbackSettings: Codable, Equatable, Sendable {
    var isAnimation = true
    var isHaptic = true

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        isAnimation = try container.decodeIfPresent(Bool.self, forKey: .isAnimation) ?? true
        isHaptic = try container.decodeIfPresent(Bool.self, forKey: .isHaptic) ?? true
    }
}

/// The one place of the program that knows where its settings are.
struct SettingsManager: Sendable {
    private static let key = "feedbackSettings"

    let store: GroupDefaults
    @AppStorage var settings: FeedbackSettings

    init(store: GroupDefaults) {
        self.store = store
        _settings = AppStorage(wrappedValue: FeedbackSettings(), Self.key, store: store)
    }

    func setAnimation(_ isOn: Bool) { set("isAnimation", isOn) }

    func setHaptic(_ isOn: Bool) { set("isHaptic", isOn) }

    /// Only what changes is sent: another program that changes the other one at the same time does not lose it, as it would
    /// by `settings.isHaptic = …`, which sends both.
    private func set(_ member: String, _ isOn: Bool) {
        store.merge([member: isOn], forKey: Self.key)
    }

    /// Back to the defaults.
    func reset() { $settings.reset() }
}
