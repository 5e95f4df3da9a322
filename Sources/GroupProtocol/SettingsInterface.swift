/// The interface that the daemon serves. The `.varlink` file is its one source: embedded here, served as it stands, and
/// held against the dispatcher by the tests.
package enum SettingsInterface {
    package static let name = "io.appgroupd.Settings"

    /// The text of the `.varlink` file, comments included.
    package static let description = String(decoding: PackageResources.io_appgroupd_Settings_varlink, as: UTF8.self)

    /// The largest message that the daemon takes, in bytes.
    package static let messageLimit = 8 << 20

    /// The largest that a client takes: a value that came in the largest message must be told in one, too, in which more may
    /// stand around it.
    package static let replyLimit = messageLimit + 64 << 10

    /// A snapshot whose values take more in a message is divided, in bytes.
    package static let snapshotPartSize = 4 << 20

    /// The largest commit that a message has room for, in bytes.
    package static let commitSize = messageLimit - 1024
}
