import GroupFiles
import GroupModel
package import LinuxIO
import ServiceIO

/// Reads the text of `appgroupd.conf` and of its drop-ins, in the syntax of systemd.syntax(7): INI sections, `Key=Value`,
/// comments with `#` or `;`, a backslash at the end of a line that goes on. What it does not understand it reports with file
/// and line, and goes on (systemd-system.conf(5) behaves so).
package struct ConfigurationReader {
    package private(set) var configuration = Configuration()
    /// One line each, `file:line: text`.
    package private(set) var warnings: [String] = []
    /// What was read, in this order.
    package private(set) var paths: [String] = []

    package init() {}

    /// Later files win, key by key.
    package mutating func read(_ text: String, from path: String) {
        paths.append(path)
        var section = ""
        for (number, line) in Self.lines(of: text) {
            let place = "\(path):\(number)"
            if line.first == "[" {
                section = String(line.dropFirst().dropLast())
                if line.last != "]" || section != "Daemon" {
                    warnings.append("\(place): unknown section \(line); the one section is [Daemon]")
                }
            } else if section == "Daemon" {
                readSetting(line, at: place)
            } else if section.isEmpty {
                warnings.append("\(place): a setting before any section; write [Daemon] above it")
            }
        }
    }

    /// Without comments and empty lines, each with the number of its first line, those that go on put together.
    private static func lines(of text: String) -> [(number: Int, text: Substring)] {
        var lines: [(number: Int, text: Substring)] = []
        var goesOn = false
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            var line = line.trimmed
            // A comment within a line that goes on is left out, and does not end it.
            if line.first == "#" || line.first == ";" { continue }
            let hasMore = line.last == "\\"
            if hasMore { line = line.dropLast().trimmed }
            if goesOn, let last = lines.indices.last {
                lines[last].text += " " + line
            } else if !line.isEmpty || hasMore {
                lines.append((index + 1, line))
            }
            goesOn = hasMore
        }
        return lines.filter { !$0.text.isEmpty }
    }

    private mutating func readSetting(_ line: Substring, at place: String) {
        guard let equals = line.firstIndex(of: "=") else {
            warnings.append("\(place): expected Key=Value")
            return
        }
        let name = String(line[..<equals].trimmed)
        guard let key = ConfigurationKey.named(name) else {
            let near = NearNames.of(name, among: ConfigurationKey.all.map(\.name), atLeast: 2)
            warnings.append("\(place): unknown key \(name)\(NearNames.question(near) { $0 })")
            return
        }
        do throws(ConfigurationProblem) {
            try key.set(&configuration, to: String(line[line.index(after: equals)...].trimmed))
        } catch {
            switch error {
            case .expected(let form): warnings.append("\(place): \(name)= takes \(form); the line is ignored")
            }
        }
    }
}

extension ConfigurationReader {
    /// Reads the file named, which must be there, and nothing else; or what the usual directories hold.
    ///
    /// - Throws: where a file cannot be read. Then nothing of the others counts either.
    package static func load(_ explicit: String?, paths: Paths) throws(SystemError) -> ConfigurationReader {
        let files: [ConfigurationFile]
        if let explicit {
            files = [try ConfigurationDirectories.read(explicit)]
        } else {
            files = try paths.configuration.configurationFiles()
        }
        var reader = ConfigurationReader()
        for file in files { reader.read(file.text, from: file.path) }
        return reader
    }
}

extension ConfigurationReader {
    func logWarnings() {
        for warning in warnings {
            let path = warning.split(separator: ":").first.map(String.init)
            Log.warning(warning, .configurationIgnored, about: Log.Subject(path: path))
        }
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = drop { $0 == " " || $0 == "\t" || $0 == "\r" }
        while let last = text.last, last == " " || last == "\t" || last == "\r" { text = text.dropLast() }
        return text
    }
}
