/// What the tests need to know of Package.swift: its targets with their dependencies, as written there.
struct PackageManifest {
    struct Target {
        /// The manifest's word for it: `target`, `executableTarget`, `testTarget`, `systemLibrary`.
        var kind: String
        var name: String
        var dependencies: Set<String>
        /// Its folder, where that is not the usual one.
        var path: String?

        /// Its name in the table: the examples are as one.
        var module: String { path?.hasPrefix("Sources/Examples/") == true ? "Examples" : name }
    }

    let targets: [Target]

    init(text: String) {
        let tokens = SwiftTokens.of(text)
        let kinds: Set = ["target", "executableTarget", "testTarget", "systemLibrary"]
        let starts = tokens.indices.filter { index in
            kinds.contains(tokens[index].text)
                && tokens[index...].prefix(4).map(\.text).dropFirst() == ["(", "name", ":"]
        }
        targets = zip(starts, starts.dropFirst() + [tokens.endIndex]).map { start, end in
            let target = tokens[start..<end]
            return Target(
                kind: target[start].text, name: target[start + 4].text, dependencies: Self.dependencies(in: target),
                path: Self.path(in: target))
        }
    }

    static func ofPackage() throws -> PackageManifest {
        PackageManifest(text: try SourceTree.text("Package.swift"))
    }

    private static func dependencies(in target: ArraySlice<Token>) -> Set<String> {
        guard let start = target.firstIndex(where: { $0.text == "dependencies" }) else { return [] }
        return Set(target[start...].prefix { $0.text != "]" }.filter { $0.kind == .string }.map(\.text))
    }

    private static func path(in target: ArraySlice<Token>) -> String? {
        guard let start = target.firstIndex(where: { $0.text == "path" && $0.kind == .word }) else { return nil }
        return target[start...].first { $0.kind == .string }?.text
    }
}
