import Foundation
import TestSupport
import Testing

@Suite("memo") struct MemoTests {
    let daemon: RunningDaemon

    init() throws {
        daemon = try RunningDaemon(isAtStandardPlace: true)
    }

    private var file: URL { URL(filePath: "\(daemon.root)/group.com.example.app/Documents/notes.json") }

    @Test("what one program adds, edits and deletes the other shows, both ways")
    func bothWays() throws {
        let first = try RunningExample("memo", with: daemon)
        let second = try RunningExample("memo", with: daemon)
        first.type("add Milk")
        try first.expect("added 1: Milk")
        try second.expect("added 1: Milk")
        second.type("add Bread")
        try first.expect("added 2: Bread")
        second.type("content 1 two litres")
        try first.expect("changed 1: Milk (two litres)")
        first.type("title 2 Rye bread")
        try second.expect("changed 2: Rye bread")
        first.type("delete 1")
        try second.expect("deleted 1: Milk")
        second.type("list")
        let list = try second.quit().output
        #expect(list.contains(#/\n +2 +20\d\d-\d\d-\d\d \d\d:\d\d +Rye bread\n/#), "\(list)")
    }

    @Test("search shows the notes with the text, in title and content, whatever its case")
    func search() throws {
        let memo = try RunningExample("memo", with: daemon)
        for line in ["add Milk", "add Bread", "content 2 with MILK", "add Eggs", "search milk"] { memo.type(line) }
        let output = try memo.quit().output.split(separator: "\n").suffix(2)
        #expect(output.count == 2 && output.first?.hasSuffix("Milk") == true, "\(output)")
        #expect(output.last?.hasSuffix("Bread: with MILK") == true, "\(output)")
    }

    @Test("an editor's save is shown; what the programs save it can read")
    func editor() throws {
        let memo = try RunningExample("memo", with: daemon)
        memo.type("add Milk")
        try memo.expect("added 1: Milk")
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        try Data(text.replacing("Milk", with: "Tea").utf8).write(to: file, options: .atomic)
        try memo.expect("changed 1: Tea")
        try FileManager.default.removeItem(at: file)
        try memo.expect("deleted 1: Tea")
    }

    @Test("a damaged file is told, left alone, and read again when it is mended")
    func damaged() throws {
        let memo = try RunningExample("memo", with: daemon)
        memo.type("add Milk")
        try memo.expect("added 1: Milk")
        let sound = try Data(contentsOf: file)
        try Data("[{".utf8).write(to: file, options: .atomic)
        let complaint = try #require(try memo.process.readErrorLine())
        #expect(complaint.contains("notes.json is damaged"), "\(complaint)")
        memo.type("add Bread")
        let refusal = try #require(try memo.process.readErrorLine())
        #expect(refusal.contains("notes.json is damaged"), "\(refusal)")
        #expect(try Data(contentsOf: file) == Data("[{".utf8))
        try sound.write(to: file, options: .atomic)
        memo.type("add Bread")
        try memo.expect("added 2: Bread")
    }

    @Test("of many notes added by several programs at once none is lost")
    func together() throws {
        let memos = try (1...4).map { _ in try RunningExample("memo", with: daemon) }
        for number in 1...5 {
            for (index, memo) in memos.enumerated() { memo.type("add \(index).\(number)") }
        }
        for memo in memos { #expect(try memo.quit().errors.isEmpty) }
        let list = try run("memo", ["list"], with: daemon).output
        let titles = list.split(separator: "\n").compactMap { $0.split(separator: " ").last }
            .filter { $0.contains(".") }
        let expected = (0..<4).flatMap { index in (1...5).map { "\(index).\($0)" } }
        #expect(titles.map(String.init).sorted() == expected.sorted())
    }

    @Test("what is not there is not edited")
    func missing() throws {
        let outcome = try run("memo", ["delete", "7"], with: daemon)
        #expect(outcome.code == 1 && outcome.errors == "error: there is no note 7\n", "\(outcome)")
        #expect(try run("memo", ["content", "x"], with: daemon).errors == "error: content takes a number and a text\n")
    }
}
