package import GroupModel
package import GroupProtocol
package import ServiceIO

/// What `appgroupd.conf` sets, section `[Daemon]`. A plain value; a reload makes a new one. Its keys are in
/// `ConfigurationKey.all`.
package struct Configuration: Equatable, Sendable {
    package var durability: Durability = .process
    /// Times in microseconds, sizes in bytes.
    package var syncInterval: Int64 = 1_000_000
    package var projectionDelay: Int64 = 25_000
    package var historyCommits = 10_000
    package var historyAge: Int64 = 30 * 24 * 3_600_000_000
    package var messageSize = 8 << 20
    package var limits = Limits()
    package var groups = 10_000
    /// Nil: three quarters of the descriptor limit.
    package var connections: Int?
    /// Of one observer.
    package var queueSize = 1 << 20
    package var settleTime: Int64 = 20_000
    package var pollInterval: Int64 = 1_000_000
    /// Nil: the daemon never ends by itself.
    package var exitIdleTime: Int64?
    package var logLevel: Log.Level = .info

    package init() {}
}
