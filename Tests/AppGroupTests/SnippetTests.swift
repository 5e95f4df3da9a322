import Foundation
import GroupClient
import Observation
import TestSupport
import Testing

@testable import AppGroup

extension GroupDefaults.Key<Bool> {
    static var isCompact: Self { Self("isCompact", default: false) }
}

/// The examples of the articles, compiled; those that come to an end are run. Each block of code in an article stands here
/// line by line, which the last test checks.
@Suite struct SnippetTests {
    struct Profile: Codable, Sendable {
        var name = "nobody"
        var age = 0
    }

    private func show(_ theme: String) {}

    // MARK: Compiled only: they need a daemon of the user's, or go on for ever

    func `getting started`() async throws {
        let settings = GroupDefaults(suiteName: "group.com.example.app")
        settings.set("Ada", forKey: "name")
        print(settings.string(forKey: "name") ?? "nobody")
        for await change in settings.changes(for: "name", initial: true) {
            print(change.old?.string ?? "nobody", "→", change.new?.string ?? "nobody")
        }
    }

    struct Appearance {
        @AppStorage("theme") var theme = "light"
        @AppStorage(.isCompact) var isCompact: Bool
    }

    func `moving from UserDefaults`() throws {
        let settings = GroupDefaults(suiteName: "group.com.example.app")
        settings.register(defaults: ["guide.fontSize": 12])
        settings.set([1, 2, 3], forKey: "recent")
        settings.removeObject(forKey: "obsolete")
        try settings.synchronize()
    }

    func sequences(_ settings: GroupDefaults) async {
        for await change in settings.changes(for: "theme") {
            if change.origin?.isOwn == true { continue }
            show(change.new?.string ?? "light")
        }
    }

    func errors(_ settings: GroupDefaults) async {
        for await error in settings.errors {
            print(error.code, error.description, error.keys)
        }
    }

    func documents() async throws {
        let container = try await GroupContainer(suiteName: "group.com.example.app")
        let notes = try SharedDocument<[Note]>("notes.json", in: container)
        try notes.update(default: []) { $0.append(Note(title: "Milk")) }
        for await change in notes.changes {
            print(change.content?.count ?? 0, "notes")
        }
    }

    func callbacks(_ settings: GroupDefaults) -> ObservationToken {
        let show: @Sendable (String) -> Void = { _ in }
        let token = settings.observe("theme", onMain: { change in show(change.new?.string ?? "light") })
        return token
    }

    // MARK: Run

    @Test func `typed keys`() {
        let settings = GroupDefaults.inMemory()
        settings[.isCompact] = true
        settings.toggle(.isCompact)
        let token = settings.observe(.isCompact) { change in print(change.old, "→", change.new) }
        #expect(!settings[.isCompact])
        withExtendedLifetime(token) {}
    }

    @Test func `the table of coercions`() {
        let settings = GroupDefaults.inMemory()
        settings.set("12 apples", forKey: "count")
        print(settings.integer(forKey: "count"), settings.bool(forKey: "count"), settings.int64(forKey: "count") as Any)
        #expect(settings.integer(forKey: "count") == 12 && settings.int64(forKey: "count") == nil)
    }

    @Test func `observing properties`() {
        struct Appearance {
            @AppStorage("theme", store: .inMemory()) var theme = "light"
        }
        let show: @Sendable (String) -> Void = { _ in }
        let appearance = Appearance()
        let token = appearance.$theme.onChange(initial: true) { old, new in show(new) }
        let other = appearance.$theme.onChange { change in print(change.origin?.name ?? "somebody", change.new) }
        withObservationTracking {
            show(appearance.theme)
        } onChange: {
            print("the theme is another one now")
        }
        appearance.theme = "dark"
        #expect(appearance.theme == "dark")
        withExtendedLifetime((token, other)) {}
    }

    @Test func members() {
        let settings = GroupDefaults.inMemory()
        @AppStorage("profile", store: settings) var profile = Profile()
        profile.name = "Ada"
        $profile.age.wrappedValue = 36
        settings[.profile].name = "Grace"
        #expect(profile.name == "Grace" && profile.age == 36)
    }

    @Test func `a time limit`() async {
        let nowhere = DaemonLink(DaemonAddress(path: "/nonexistent/socket"), tagPrefix: "t")
        let settings = GroupDefaults(suiteName: "group.com.example.app", link: nowhere)
        settings.set(1, forKey: "a")
        await #expect(throws: CancellationError.self) { try await limited(settings) }
    }

    private func limited(_ settings: GroupDefaults) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await settings.commit() }
            group.addTask {
                try await Task.sleep(for: .seconds(2))
                throw CancellationError()
            }
            try await group.next()
            group.cancelAll()
        }
    }

    final class Model {
        @AppStorage var launches: Int

        init(store: GroupDefaults) {
            _launches = AppStorage(wrappedValue: 0, "launches", store: store)
        }
    }

    @Test func `in memory`() {
        let settings = GroupDefaults.inMemory()
        let model = Model(store: settings)
        model.launches += 1
        #expect(settings.integer(forKey: "launches") == 1)
        settings.removeAll()
        #expect(model.launches == 0)
    }

    // MARK: The articles

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func lines(_ text: Substring) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    private static func articles() throws -> [URL] {
        let folder = root.appending(path: "Sources/AppGroup/AppGroup.docc")
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "md" }
    }

    @Test func `every block of code in an article is compiled here`() throws {
        let here = Self.lines(try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)[...])
        var count = 0
        for article in try Self.articles() {
            let parts = try String(contentsOf: article, encoding: .utf8).split(separator: "```swift")
            for block in parts.dropFirst() {
                let block = Self.lines(block[..<(block.range(of: "```")?.lowerBound ?? block.endIndex)])
                // A manifest is no code of a program.
                if block.first == "// Package.swift" { continue }
                let isHere = here.indices.contains { here[$0...].starts(with: block) }
                #expect(isHere, "\(article.lastPathComponent): \(block.first ?? "")")
                count += 1
            }
        }
        #expect(count >= 15)
    }

    /// The landing page lists every public type; members are listed by the types' own pages.
    @Test func `the landing page lists every public type`() throws {
        let page = try String(
            contentsOf: Self.root.appending(path: "Sources/AppGroup/AppGroup.docc/AppGroup.md"), encoding: .utf8)
        let files = FileManager.default.enumerator(
            at: Self.root.appending(path: "Sources/AppGroup"), includingPropertiesForKeys: nil)
        var count = 0
        for case let file as URL in try #require(files) where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for line in text.split(separator: "\n") where line.hasPrefix("public ") {
                let words = line.split { " :<{(".contains($0) }
                guard let kind = words.firstIndex(where: { ["struct", "class", "enum", "protocol"].contains($0) })
                else {
                    continue
                }
                #expect(page.contains("``\(words[kind + 1])``"), "\(line)")
                count += 1
            }
        }
        #expect(count >= 12)
    }
}

extension GroupDefaults.Key<SnippetTests.Profile> {
    fileprivate static var profile: Self { Self("profile", default: SnippetTests.Profile()) }
}
