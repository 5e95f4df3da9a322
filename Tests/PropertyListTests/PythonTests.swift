import Foundation
import PropertyList
import TestSupport
import Testing

@Suite("Python's plistlib and ours")
struct PythonTests {
    /// Runs the script over a directory and gives its lines by number.
    private func dumps(of directory: TemporaryDirectory) throws -> [Int: String] {
        let script = try #require(Bundle.fixtures?.appending(path: "plist_dump.py"))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", script.path(), directory.path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return Dictionary(
            uniqueKeysWithValues: text.split(separator: "\n").compactMap { line in
                let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
                return parts.count == 2 ? Int(parts[0]).map { ($0, parts[1]) } : nil
            })
    }

    @Test("read each other's with equal values")
    func both() throws {
        let directory = try TemporaryDirectory("plistlib")
        let files = SplitMix64.withSeed { generator in
            var random = RandomPropertyList(generator: generator)
            return (0..<400).map { number in
                random.hasCarriageReturns = number % 2 == 0
                let wanted = random.entries()
                guard number % 4 == 1 else { return (wanted, XMLPropertyList.document(wanted)) }
                // An edited, decorated file must be as good.
                let decorated = DecoratedPropertyList(random.entries(), random: random)
                random = decorated.random
                // An encoding that Python does not know is no fault of ours.
                let text = decorated.text.replacing("x-none", with: "UTF-8").replacing("utf8", with: "UTF-8")
                let edited = (try? XMLPropertyList(parsing: [UInt8](text)))?.edited(to: wanted) ?? []
                return (wanted, edited)
            }
        }
        for (number, file) in files.enumerated() {
            try Data(file.1).write(to: URL(filePath: directory.file("\(number).plist")))
        }
        let dumps = try dumps(of: directory)
        for (number, file) in files.enumerated() {
            #expect(dumps[number] == dump(.dictionary(file.0)), "\(file.1.text)")
            // Python writes a carriage return as a line feed.
            guard number % 2 == 1 else { continue }
            let theirs = [UInt8](try Data(contentsOf: URL(filePath: directory.file("\(number).xml"))))
            #expect(try XMLPropertyList(parsing: theirs).entries == file.0)
        }
    }
}
