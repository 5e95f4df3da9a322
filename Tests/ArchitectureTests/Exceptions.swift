/// What the rules of the house leave open, each with its reason. A new entry is a decision: think of another way first.
enum Exceptions {
    /// A file that holds a construct which the compiler does not check, and how often.
    struct Unchecked {
        var file: String
        var count: Int
        /// What protects it.
        var reason: String
    }

    static let uncheckedSendable: [Unchecked] = []

    static let nonisolatedUnsafe: [Unchecked] = [
        Unchecked(
            file: "Sources/ServiceIO/EventLoop.swift", count: 2,
            reason: "the pointers are set once in init; what they point to is used on the loop's thread only"),
        Unchecked(
            file: "Sources/AppGroup/Defaults/CellTable.swift", count: 1,
            reason: "the pointer is set once in init; what it points to are atomics"),
    ]

    /// Modules that may use pointers and the mark `unsafe`.
    static let unsafeModules: [String: String] = [
        "LinuxIO": "the system calls",
        "ServiceIO": "libsystemd",
        "GroupFiles": "libplist",
        "GroupWatch": "libinotifytools",
        "appgroup-bench": "the clients' own sockets, buffers and processes",
        "AppGroupFuzz": "what libFuzzer calls, with a pointer",
        "AppGroupStress": "a program that starts threads and asks the kernel about itself",
        "TestSupport": "peers that talk to the daemon byte by byte",
    ]

    /// Single files of other modules that may, too.
    static let unsafeFiles: [String: String] = [
        "Sources/PropertyList/Span+Words.swift":
            "eight bytes loaded, and many copied, in one step each: spans have no such steps yet that are not marked unsafe",
        "Sources/Varlink/Span+Words.swift": "the same",
        "Sources/GroupClient/UnixSocket.swift":
            "the clients' own thin socket: the library must not depend on LinuxIO and libsystemd",
        "Sources/GroupServer/Program/Daemon.swift":
            "how an actor names its executor: one line with the unsafe type UnownedSerialExecutor",
        "Sources/AppGroup/StandardError.swift":
            "one write(2) for a diagnostic: a library has no other way to the standard error without Foundation",
        "Sources/AppGroup/Defaults/CellTable.swift":
            "references that are not counted: counting them is half of what a read costs",
        "Sources/AppGroup/Defaults/SearchList.swift":
            "the reads that go through that table",
        "Sources/AppGroupControl/Top/TerminalScreen.swift":
            "ncurses",
        "Sources/AppGroup/Link/LinkThread.swift":
            "the start of the library's threads, by a C function with a context pointer",
        "Sources/AppGroup/Documents/DocumentCalls.swift":
            "the file calls of documents: the library must not depend on LinuxIO and libsystemd",
    ]

    /// Files of more than 400 lines.
    static let longFiles: [String: String] = [:]
}
