import GroupModel

// What goes wrong, and whether the daemon can be reached.

extension GroupDefaults {
    /// What nobody awaits and yet goes wrong: writes that the daemon refuses (they are taken back), values and keys that a
    /// setter could not store, stored values of another type than the one they are read as (once for each key).
    ///
    ///     for await error in settings.errors { log(error.description) }
    ///
    /// Those of writes are of the whole process, whichever object made them; the others of this object. For a slow consumer
    /// the newest 256 wait.
    public var errors: Updates<AppGroupError> {
        Updates { [self] in
            Delivery<PendingQueue<AppGroupError>> { inbox in
                let local = searchList.addErrorObserver { inbox.receive($0) }
                let remove: @Sendable () -> Void = { [self] in searchList.removeErrorObserver(local) }
                guard case .daemon(let link, let replica) = backend else { return (PendingQueue(), remove) }
                let remote = link.addErrorObserver { group, error in
                    if group == replica.group { inbox.receive(error) }
                }
                return (
                    PendingQueue(),
                    {
                        remove()
                        link.removeObserver(remote)
                    }
                )
            }
        }
    }

    /// Whether the group is in touch with the daemon, and if not, why.
    ///
    /// While it is not, reads are served from what is known, and writes wait.
    public var connectionState: ConnectionState {
        switch backend {
        case .daemon(let link, let replica): Self.state(link.standing, of: replica)
        case .memory: .connected
        case .invalid(_, let error): .disconnected(error)
        }
    }

    /// The connection's states: the present one, then each other one. For a slow consumer the newest is all that waits.
    public var connectionStates: Updates<ConnectionState> {
        Updates { [self] in
            Delivery<PendingLatest<ConnectionState>> { inbox in
                guard case .daemon(let link, let replica) = backend else {
                    return (PendingLatest(initial: connectionState), {})
                }
                let id = link.addStandingObserver { inbox.receive(Self.state($0, of: replica)) }
                return (PendingLatest(initial: connectionState), { link.removeObserver(id) })
            }
        }
    }

    private static func state(_ standing: ConnectionState, of replica: Replica) -> ConnectionState {
        replica.failure.map { .disconnected($0) } ?? standing
    }
}
