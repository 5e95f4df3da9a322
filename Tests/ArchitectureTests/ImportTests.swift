import Testing

@Suite("Who may import whom")
struct ImportTests {
    @Test("every target of Package.swift is in the table, and every folder is a target")
    func tableIsComplete() throws {
        let targets = try PackageManifest.ofPackage().targets
        try #require(targets.count > 20, "Package.swift was not understood")

        let modules = Set(targets.filter { $0.kind != "testTarget" }.map(\.module))
        #expect(modules.subtracting(ModuleTable.mayImport.keys) == [], "not in ModuleTable")
        #expect(try SourceTree.folders(below: "Sources").subtracting(modules) == [])

        let suites = Set(targets.filter { $0.kind == "testTarget" }.map(\.name))
        let named = Set(modules.map { "\($0)Tests" }).union(ModuleTable.integrationSuites)
        #expect(suites.subtracting(named) == [], "neither a module's suite nor in ModuleTable.integrationSuites")
        #expect(try SourceTree.folders(below: "Tests").subtracting(suites).subtracting(["Fixtures"]) == [])
    }

    @Test("imports are those of the table", arguments: ModuleTable.mayImport.keys.sorted())
    func imports(of module: String) throws {
        let allowed = ModuleTable.mayImport[module, default: []]
        let violations = try SourceTree.swiftSources().filter { $0.module == module }.flatMap { source in
            source.imports.filter { !allowed.contains($0.module) }
                .map { "\(source.path):\($0.line): \(module) must not import \($0.module)" }
        }
        #expect(violations == [])
    }

    @Test("dependencies in Package.swift are those of the table")
    func dependencies() throws {
        let violations = try PackageManifest.ofPackage().targets.filter { $0.kind != "testTarget" }.flatMap { target in
            target.dependencies.subtracting(ModuleTable.mayImport[target.module, default: []])
                .map { "\(target.name) must not depend on \($0)" }
        }
        #expect(violations == [])
    }

    @Test("the table has no cycle, and the pure modules nothing but pure modules")
    func tableIsLayered() {
        let pure: Set = ["PropertyList", "Varlink", "GroupModel", "GroupProtocol", "GroupCore"]
        for module in pure {
            #expect(ModuleTable.mayImport[module, default: []].subtracting(pure).subtracting(["Synchronization"]) == [])
        }
        for module in ModuleTable.mayImport.keys {
            #expect(!reachable(from: module).contains(module), "\(module) imports itself in the end")
        }
    }

    @Test("Foundation is imported by examples and tests only")
    func foundation() {
        let importers = ModuleTable.mayImport.filter { $0.value.contains("Foundation") }.keys
        #expect(Set(importers) == ["Examples", "TestSupport"])
    }

    private func reachable(from module: String) -> Set<String> {
        var found: Set<String> = []
        var pending = ModuleTable.mayImport[module, default: []]
        while let next = pending.popFirst() {
            guard found.insert(next).inserted else { continue }
            pending.formUnion(ModuleTable.mayImport[next, default: []])
        }
        return found
    }
}
