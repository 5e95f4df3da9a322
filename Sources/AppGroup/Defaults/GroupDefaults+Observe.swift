import GroupModel
import PropertyList

// Observation by callback. A callback may read, write, cancel any observation and drop any last reference: no lock is held
// while it runs. A write within a callback is told when the callback has returned; a write of an equal value is no change,
// so that an observer that corrects a value comes to an end.

extension GroupDefaults {
    /// Calls back for every change of one key.
    ///
    ///     let token = settings.observe("theme") { change in print(change.new ?? "nothing") }
    ///
    /// The callback runs on the thread that brings the change about: that of the setter in this process, the library's own
    /// for changes from elsewhere. One call at a time, in the order of the changes: while a thread tells of earlier changes,
    /// it tells of the later ones too. A callback that takes long delays other observers of the group, and nothing else;
    /// for work on the main actor or an executor of your own use the forms that name it.
    ///
    /// - Parameters:
    ///   - key: any key.
    ///   - initial: whether the callback is first called with the present value, before this function returns.
    ///   - callback: what is called, with one change at a time.
    /// - Returns: the observation, which ends with this object: keep it.
    public func observe(
        _ key: String, initial: Bool = false, _ callback: @escaping @Sendable (Change) -> Void
    ) -> ObservationToken {
        observe(.key(PropertyList.Key(key)), initial, callback)
    }

    /// Calls back for every change of the keys that a pattern matches, as ``changes(matching:initial:)`` has it.
    ///
    /// - Returns: the observation, which ends with this object: keep it.
    public func observe(
        matching pattern: String, initial: Bool = false, _ callback: @escaping @Sendable (Change) -> Void
    ) -> ObservationToken {
        observe(.pattern(Glob(pattern)), initial, callback)
    }

    /// Calls back on the main actor.
    ///
    ///     let token = settings.observe("theme", onMain: { change in label.text = change.new?.string ?? "" })
    ///
    /// Changes that come before the main actor gets to them are one change, as in ``changes(for:initial:)-(String,_)``. Cancelling on
    /// the main actor is final at once.
    ///
    /// - Returns: the observation, which ends with this object: keep it.
    public func observe(
        _ key: String, initial: Bool = false, onMain callback: @escaping @MainActor @Sendable (Change) -> Void
    ) -> ObservationToken {
        follow(changes(for: key, initial: initial), onMain: callback)
    }

    /// Calls back on an executor of your own; otherwise as the form for the main actor.
    ///
    /// - Returns: the observation, which ends with this object: keep it.
    public func observe(
        _ key: String, initial: Bool = false, on executor: any TaskExecutor,
        _ callback: @escaping @Sendable (Change) -> Void
    ) -> ObservationToken {
        follow(changes(for: key, initial: initial), on: executor, callback)
    }
}

extension GroupDefaults {
    private func observe(
        _ selection: KeySelection, _ initial: Bool, _ callback: @escaping @Sendable (Change) -> Void
    ) -> ObservationToken {
        let isCancelled = ObservationToken.Flag()
        let inbox = Inbox<NewsOfChanges>()
        let (values, remove) = observe(selection, values: initial ? selection : .none) { inbox.receive($0) }
        if initial {
            for change in selection.initialChanges(values) { callback(change) }
        }
        inbox.open { news in
            for change in news.changes where !isCancelled.value { callback(change) }
        }
        return ObservationToken(isCancelled, remove)
    }

    func follow<Element>(
        _ changes: Updates<Element>, onMain callback: @escaping @MainActor @Sendable (Element) -> Void
    ) -> ObservationToken {
        follow(changes, preferring: nil) { change, isCancelled in
            await MainActor.run {
                if !isCancelled.value { callback(change) }
            }
        }
    }

    func follow<Element>(
        _ changes: Updates<Element>, on executor: any TaskExecutor, _ callback: @escaping @Sendable (Element) -> Void
    ) -> ObservationToken {
        follow(changes, preferring: executor) { change, isCancelled in
            if !isCancelled.value { callback(change) }
        }
    }

    private func follow<Element>(
        _ changes: Updates<Element>, preferring executor: (any TaskExecutor)?,
        _ call: @escaping @Sendable (Element, ObservationToken.Flag) async -> Void
    ) -> ObservationToken {
        let isCancelled = ObservationToken.Flag()
        let task = Task.detached(executorPreference: executor) {
            for await change in changes { await call(change, isCancelled) }
        }
        return ObservationToken(isCancelled) { task.cancel() }
    }
}
