extension Verb {
    static let watch = Verb(
        "watch", [Argument("GROUP"), Argument("GLOB", .any)], summary: "print every change as it happens",
        options: [.initial, .since, .count, .exec, .state, .debounce],
        details: """
            GLOBs choose keys: * any run, ? one character, \\ escapes. One line a change,
            with time, revision, key, old and new value, and who made it. --json prints
            one object a line:

              {"group", "revision", "time", "origin", "key", "old", "new"}
                  a change; without "old" the key is new, without "new" it is gone;
                  "coalesced": n where the line stands for n revisions, because they
                  came faster than they were read
              {"group", "epoch", "revision", "reason", "values"}
                  a snapshot: with --initial, and after a gap
              {"group", "deleted": true}
                  the group is gone; if it comes back a snapshot follows

            --since: first what was changed after that revision or time, as far as it is
            still kept; where it is not, a snapshot.

            --exec runs COMMAND by /bin/sh for each change, one at a time, with APPGROUP_GROUP,
            _KEY, _OLD, _NEW (not set where there is none), _REVISION and _ORIGIN in its
            environment: scalars bare, the rest as JSON. A command that fails is told, and
            the watch goes on. With --state a restart neither misses nor repeats; a signal
            that ends the tool acts when the command has ended. After a gap the command
            runs for each key that has another value than was known. With --debounce it
            runs when nothing has changed for so many seconds, once for each key, with the
            value before the first change and the one after the last.

            Ends after --count changes, or after --timeout seconds (with status 1 if
            --count was not reached). A daemon that goes away is waited for, and the watch
            goes on where it stood.
            """
    ) { (session) throws(Failure) in
        try Watcher(session).run()
    }
}
