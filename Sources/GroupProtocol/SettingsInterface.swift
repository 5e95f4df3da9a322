/// The interface that the daemon serves. The `.varlink` file is its one source: embedded here, served as it stands, and
/// held against the dispatcher by the tests.
package enum SettingsInterface {
    package static let name = "io.appgroupd.Settings"

    /// The text of the `.varlink` file, comments included.
    package static let description = String(decoding: PackageResources.io_appgroupd_Settings_varlink, as: UTF8.self)

    /// The largest message that either side takes, in bytes.
    package static let messageLimit = 8 << 20

    /// A snapshot whose values are larger is divided, in bytes.
    package static let snapshotPartSize = 4 << 20
}
