/// Where the daemon listens.
package struct DaemonAddress: Equatable, Sendable {
    /// The path of the socket.
    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// The standard place below `$XDG_RUNTIME_DIR`. Nil where that is not set, or no absolute path (which the XDG
    /// specification says to ignore): no other directory will do, least of all `/tmp`, where anybody can be the daemon.
    package init?(runtimeDirectory: String?) {
        guard let runtimeDirectory, runtimeDirectory.utf8.first == UInt8(ascii: "/") else { return nil }
        path = runtimeDirectory + "/appgroupd/io.appgroupd.Settings"
    }
}
