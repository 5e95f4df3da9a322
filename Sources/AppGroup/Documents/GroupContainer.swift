public import FoundationEssentials
import GroupClient
import GroupModel
import GroupProtocol
import Synchronization
import Varlink

/// A group's directory, for what is no setting: documents, caches, whatever the programs of the group share.
///
///     let container = try GroupContainer(suiteName: "group.com.example.app")
///     let picture = container.documentsURL.appending(path: "picture.png")
///
/// Where it is only the daemon knows. A value; safe for any thread.
public struct GroupContainer: Sendable {
    /// The group's name.
    public let suiteName: String
    /// The group's directory.
    public let containerURL: URL

    let address: DaemonAddress
    let group: GroupIdentifier

    /// Where the daemon said that groups are, as long as the process lives.
    private static let known = Mutex<[Key: String]>([:])

    private struct Key: Hashable {
        var address: String
        var group: GroupIdentifier
    }

    /// Asks the daemon for the group's directory; the group is made when it does not exist.
    ///
    /// Blocks the calling thread: in asynchronous code use the asynchronous form. A group that this process has asked for
    /// before is answered while the daemon is away, too.
    ///
    /// - Parameters:
    ///   - suiteName: the group's name, as ``GroupDefaults/init(suiteName:)`` takes it.
    ///   - seconds: how long to wait for the daemon at most.
    /// - Throws: ``AppGroupError``: `invalidGroup`, `unreachable`, `timedOut`, or why the daemon refuses.
    public init(suiteName: String, within seconds: Double = 5) throws(AppGroupError) {
        try self.init(suiteName: suiteName, within: seconds, DaemonLink.shared.address)
    }

    /// Asks the daemon for the group's directory, without blocking a thread of the caller's.
    ///
    ///     let container = try await GroupContainer(suiteName: "group.com.example.app")
    ///
    /// - Parameter suiteName: the group's name, as ``GroupDefaults/init(suiteName:)`` takes it.
    /// - Throws: ``AppGroupError``, as the blocking form; `cancelled` when the task is cancelled.
    public init(suiteName: String) async throws(AppGroupError) {
        self = try await Answer<GroupContainer>.awaited { answer in
            LinkThread.start(named: "appgroup-ask") {
                do throws(AppGroupError) {
                    answer.store(.success(try GroupContainer(suiteName: suiteName, within: 5)))
                } catch {
                    answer.store(.failure(error))
                }
            }
        }
    }

    init(suiteName: String, within seconds: Double = 5, _ address: DaemonAddress) throws(AppGroupError) {
        ForkGuard.arm()
        let group: GroupIdentifier
        do throws(GroupError) {
            group = try GroupIdentifier(suiteName)
        } catch {
            throw AppGroupError(error)
        }
        self.init(group, address, path: try Self.path(of: group, address, Deadline(afterSeconds: seconds)))
    }

    private init(_ group: GroupIdentifier, _ address: DaemonAddress, path: String) {
        suiteName = group.string
        containerURL = URL(filePath: path, directoryHint: .isDirectory)
        self.address = address
        self.group = group
    }

    private static func path(
        of group: GroupIdentifier, _ address: DaemonAddress, _ deadline: Deadline
    ) throws(AppGroupError) -> String {
        let key = Key(address: address.path, group: group)
        let reply: JSONObject
        do throws(ConnectionError) {
            let connection = try DaemonConnection(to: address, deadline: deadline)
            reply = try connection.call(.createGroup(group), deadline: deadline)
        } catch {
            // A refusal is an answer; anything else leaves what is known.
            if case .refused = error { throw AppGroupError(error) }
            guard let path = known.withLock({ $0[key] }) else { throw AppGroupError(error) }
            return path
        }
        guard let path = reply["container"]?.stringValue else {
            throw AppGroupError(.protocolViolation, "appgroupd answered what this version does not understand")
        }
        known.withLock { $0[key] = path }
        return path
    }
}

extension GroupContainer {
    /// What the programs of the group share with each other, and with people: ``SharedDocument`` lives here.
    public var documentsURL: URL { containerURL.appending(path: "Documents", directoryHint: .isDirectory) }

    /// What can be made anew.
    public var cachesURL: URL { containerURL.appending(path: "Library/Caches", directoryHint: .isDirectory) }

    /// What programs keep for themselves.
    public var applicationSupportURL: URL {
        containerURL.appending(path: "Library/Application Support", directoryHint: .isDirectory)
    }
}
