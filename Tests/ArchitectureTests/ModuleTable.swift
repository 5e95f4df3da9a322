/// Who may import whom. A module of Package.swift that is not in here fails the tests; so does an import that is not.
///
/// Imports go downwards only: from the pure modules, which know no system call and no clock, over the edge, which opens,
/// reads, sends and waits, to the clients and the programs. The standard library needs no import.
enum ModuleTable {
    static let mayImport: [String: Set<String>] = [
        // The C edge.
        "CShims": [],
        "CSystemd": [],
        "CInotifyTools": [],
        "CNcurses": [],
        "CPropertyList": [],

        // Pure.
        "PropertyList": [],
        "Varlink": [],
        "GroupModel": ["PropertyList"],
        "GroupProtocol": ["GroupModel", "PropertyList", "Varlink"],
        "GroupCore": ["GroupModel", "PropertyList", "Synchronization"],

        // The edge.
        "LinuxIO": ["CShims", "Glibc", "Synchronization"],
        "ServiceIO": ["CShims", "CSystemd", "Glibc", "LinuxIO", "Synchronization"],
        // Glibc for the constants of leases (fcntl(2)); what it opens and writes goes through LinuxIO.
        "GroupFiles": ["CPropertyList", "Glibc", "GroupModel", "LinuxIO", "PropertyList", "Synchronization"],
        // Glibc for the constants of inotify(7) and errno(3); what it opens and waits for goes through LinuxIO.
        "GroupWatch": ["CInotifyTools", "Glibc", "GroupModel", "LinuxIO", "PropertyList", "Synchronization"],
        "GroupServer": [
            "GroupCore", "GroupFiles", "GroupModel", "GroupProtocol", "GroupWatch", "LinuxIO", "PropertyList",
            "ServiceIO", "Synchronization", "Varlink",
        ],

        // What the library and the tool have in common: without Foundation, which would be a third of the tool's start.
        "GroupClient": ["CShims", "GroupModel", "GroupProtocol", "Varlink"],
        // The clients. FoundationEssentials for Data, Date, URL and Codable; never all of Foundation, which doubles the
        // memory and the start time of every program.
        "AppGroup": [
            "CShims", "FoundationEssentials", "Glibc", "GroupClient", "GroupModel", "GroupProtocol", "Observation",
            "PropertyList", "Synchronization", "Varlink",
        ],
        // `link` moves files, which is the work of GroupFiles.
        "AppGroupControl": [
            "CNcurses", "Glibc", "GroupClient", "GroupFiles", "GroupModel", "GroupProtocol", "LinuxIO", "PropertyList",
            "Synchronization", "Varlink",
        ],

        // The programs.
        "appgroupd": ["Glibc", "GroupServer"],
        "appgroupctl": ["AppGroupControl", "Glibc"],

        // The benchmark's clients: raw ones on their own sockets, and the library's. Varlink for reading JSON results.
        "appgroup-bench": ["AppGroup", "CShims", "Glibc", "Synchronization", "Varlink"],

        // What shows and tests the rest.
        "Examples": ["AppGroup", "ExampleSupport", "Foundation", "Observation", "Synchronization"],
        // Feeds what reads outside input.
        "AppGroupFuzz": [
            "Glibc", "GroupFiles", "GroupModel", "GroupProtocol", "GroupServer", "PropertyList", "Varlink",
        ],
        // Plays programs for the campaigns: it links what any program links, and no more.
        "AppGroupStress": ["AppGroup", "AppGroupScenarios", "CShims", "Glibc", "Observation", "Synchronization"],
        // The library's semantics as programs meet them: the public interface and nothing else.
        "AppGroupScenarios": ["AppGroup", "FoundationEssentials", "Observation", "Synchronization"],
        // C, on system calls.
        "AppGroupTracer": [],
        "TestSupport": ["CShims", "Foundation", "Glibc", "LinuxIO", "Synchronization", "Testing"],
    ]

    /// Suites that belong to no single module. All others are named after theirs.
    static let integrationSuites: Set<String> = [
        "ArchitectureTests", "DaemonTests", "ExampleTests", "GuardTests", "InteropTests", "ProtocolConformanceTests",
        "SystemdTests",
    ]
}
