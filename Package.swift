// swift-tools-version: 6.2
// Copyright (c) 2026 the appgroupd authors. MIT licence, see LICENSE.

import PackageDescription

/// Every Swift target is built with these: Swift 6 mode, the upcoming features of the house style, strict memory
/// safety (each use of a pointer reads `unsafe`), and no warning left standing.
let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "appgroupd",
    products: [
        .library(name: "AppGroup", targets: ["AppGroup"]),
        .executable(name: "appgroupd", targets: ["appgroupd"]),
        .executable(name: "appgroupctl", targets: ["appgroupctl"]),
    ],
    targets: [
        // The C edge: system libraries as Debian ships them, and the shims for what Swift's Glibc module leaves out.
        .target(name: "CShims"),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CInotifyTools", providers: [.apt(["libinotifytools0-dev"])]),
        .systemLibrary(name: "CNcurses", providers: [.apt(["libncurses-dev"])]),
        .systemLibrary(name: "CPropertyList", pkgConfig: "libplist-2.0", providers: [.apt(["libplist-dev"])]),

        // Pure: no file, no socket, no clock.
        .target(name: "PropertyList"),
        .target(name: "Varlink"),
        .target(name: "GroupModel", dependencies: ["PropertyList"]),
        .target(
            name: "GroupProtocol",
            dependencies: ["GroupModel", "PropertyList", "Varlink"],
            resources: [.embedInCode("io.appgroupd.Settings.varlink")]
        ),
        .target(name: "GroupCore", dependencies: ["GroupModel", "PropertyList"]),

        // The edge: what opens, reads, sends and waits.
        .target(name: "LinuxIO", dependencies: ["CShims"]),
        // What a service lives on. Apart, so that a tool does not load libsystemd each time it starts.
        .target(name: "ServiceIO", dependencies: ["CShims", "CSystemd", "LinuxIO"]),
        .target(name: "GroupFiles", dependencies: ["CPropertyList", "GroupModel", "LinuxIO", "PropertyList"]),
        .target(name: "GroupWatch", dependencies: ["CInotifyTools", "GroupModel", "LinuxIO"]),
        .target(
            name: "GroupServer",
            dependencies: [
                "GroupCore", "GroupFiles", "GroupModel", "GroupProtocol", "GroupWatch", "LinuxIO", "PropertyList",
                "ServiceIO", "Varlink",
            ]
        ),

        // The clients.
        .target(name: "GroupClient", dependencies: ["CShims", "GroupModel", "GroupProtocol", "Varlink"]),
        .target(
            name: "AppGroup",
            dependencies: ["CShims", "GroupClient", "GroupModel", "GroupProtocol", "PropertyList", "Varlink"]),
        .target(
            name: "AppGroupControl",
            dependencies: [
                "CNcurses", "GroupClient", "GroupFiles", "GroupModel", "GroupProtocol", "LinuxIO", "PropertyList",
                "Varlink",
            ]
        ),

        // The programs.
        .executableTarget(name: "appgroupd", dependencies: ["GroupServer"]),
        .executableTarget(name: "appgroupctl", dependencies: ["AppGroupControl"]),
        // The clients of the benchmark; `peer` is for the harness that starts them.
        .executableTarget(
            name: "appgroup-bench", dependencies: ["AppGroup", "CShims", "Varlink"], exclude: ["peer", "results"]),

        // Small programs that show the library, and what they have in common.
        .target(name: "ExampleSupport", dependencies: ["AppGroup"], path: "Sources/Examples/Support"),
        .executableTarget(
            name: "haptics", dependencies: ["AppGroup", "ExampleSupport"],
            path: "Sources/Examples/haptics"),
        .executableTarget(
            name: "login", dependencies: ["AppGroup", "ExampleSupport"],
            path: "Sources/Examples/login"),
        .executableTarget(
            name: "memo", dependencies: ["AppGroup", "ExampleSupport"],
            path: "Sources/Examples/memo"),
        .executableTarget(
            name: "settings-panel", dependencies: ["AppGroup", "ExampleSupport"],
            path: "Sources/Examples/settings-panel"),
        .executableTarget(
            name: "theme-widget", dependencies: ["AppGroup", "ExampleSupport"],
            path: "Sources/Examples/theme-widget"),
        .executableTarget(
            name: "user-profile", dependencies: ["AppGroup", "ExampleSupport"],
            path: "Sources/Examples/user-profile"),

        // Tests, one target a module, then the suites that run the real programs.
        .target(name: "TestSupport", dependencies: ["CShims", "LinuxIO"]),
        // Fuzzing of what reads outside input; with libFuzzer by `make fuzz`, over files without it.
        .executableTarget(
            name: "AppGroupFuzz",
            dependencies: ["GroupFiles", "GroupModel", "GroupProtocol", "GroupServer", "PropertyList", "Varlink"]),
        // The library's semantics, played in one process by the tests and in several by AppGroupStress.
        .target(name: "AppGroupScenarios", dependencies: ["AppGroup"]),
        .executableTarget(name: "AppGroupStress", dependencies: ["AppGroup", "AppGroupScenarios", "CShims"]),
        // Runs the daemon under ptrace(2) for the fault campaigns; in C, which the calls' layouts are made for.
        .executableTarget(name: "AppGroupTracer"),
        .testTarget(name: "PropertyListTests", dependencies: ["PropertyList", "TestSupport"]),
        .testTarget(name: "VarlinkTests", dependencies: ["Varlink", "TestSupport"]),
        .testTarget(name: "GroupModelTests", dependencies: ["GroupModel", "PropertyList", "TestSupport"]),
        .testTarget(
            name: "GroupProtocolTests",
            dependencies: ["GroupModel", "GroupProtocol", "PropertyList", "TestSupport", "Varlink"]),
        .testTarget(name: "GroupCoreTests", dependencies: ["GroupCore", "GroupModel", "PropertyList", "TestSupport"]),
        .testTarget(name: "LinuxIOTests", dependencies: ["LinuxIO", "ServiceIO", "TestSupport"]),
        .testTarget(
            name: "GroupFilesTests",
            dependencies: ["GroupFiles", "GroupModel", "LinuxIO", "PropertyList", "TestSupport"]),
        .testTarget(name: "GroupWatchTests", dependencies: ["GroupWatch", "LinuxIO", "TestSupport"]),
        .testTarget(
            name: "GroupServerTests",
            dependencies: [
                "GroupCore", "GroupFiles", "GroupModel", "GroupProtocol", "GroupServer", "LinuxIO", "PropertyList",
                "ServiceIO", "TestSupport", "Varlink",
            ]
        ),
        .testTarget(
            name: "AppGroupTests",
            dependencies: [
                "AppGroup", "AppGroupScenarios", "AppGroupStress", "GroupClient", "GroupModel", "PropertyList",
                "TestSupport",
                "appgroupctl", "appgroupd",
            ]
        ),
        .testTarget(
            name: "AppGroupControlTests",
            dependencies: [
                "AppGroupControl", "GroupModel", "GroupProtocol", "PropertyList", "TestSupport", "Varlink",
                "appgroupctl", "appgroupd",
            ]
        ),
        .testTarget(name: "ArchitectureTests", dependencies: ["TestSupport"]),
        // Counts instructions of the optimised programs, which `make guard` builds.
        .testTarget(name: "GuardTests", dependencies: ["TestSupport"]),
        .testTarget(
            name: "DaemonTests",
            dependencies: [
                "AppGroup", "AppGroupTracer", "GroupModel", "GroupProtocol", "LinuxIO", "PropertyList", "TestSupport",
                "Varlink", "appgroupctl", "appgroupd",
            ]
        ),
        // A real systemd user manager, from installed files; only for root.
        .testTarget(name: "SystemdTests", dependencies: ["TestSupport", "appgroupctl", "appgroupd"]),
        .testTarget(
            name: "ExampleTests",
            dependencies: [
                "TestSupport", "appgroupctl", "appgroupd", "haptics", "login", "memo", "settings-panel",
                "theme-widget", "user-profile",
            ]
        ),
        .testTarget(
            name: "InteropTests",
            dependencies: ["LinuxIO", "ServiceIO", "TestSupport", "Varlink", "appgroupctl", "appgroupd"]
        ),
    ],
    swiftLanguageModes: [.v6]
)

let withoutSwift: Set<Target.TargetType> = [.system, .binary, .plugin]
let inC: Set = ["AppGroupTracer", "CShims"]
for target in package.targets where !withoutSwift.contains(target.type) && !inC.contains(target.name) {
    target.swiftSettings = swiftSettings
}
