package import LinuxIO

/// Reads the text of `appgroupd.conf`: INI sections, `Key=Value`, comments with `#` or `;`. What it does not understand it
/// reports with file and line, and goes on (systemd-system.conf(5) behaves so).
package struct ConfigurationReader {
    package private(set) var configuration = Configuration()
    /// One line each, `file:line: text`.
    package private(set) var warnings: [String] = []

    package init() {}

    package mutating func read(_ text: String, from path: String) {
        var section = ""
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = line.trimmed
            guard let first = line.first, first != "#", first != ";" else { continue }
            let place = "\(path):\(index + 1)"
            if first == "[" {
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

    private mutating func readSetting(_ line: Substring, at place: String) {
        guard let equals = line.firstIndex(of: "=") else {
            warnings.append("\(place): expected Key=Value")
            return
        }
        let name = String(line[..<equals].trimmed)
        guard let key = Configuration.Key(rawValue: name) else {
            warnings.append("\(place): unknown key \(name)\(suggestion(for: name))")
            return
        }
        do throws(ConfigurationProblem) {
            try configuration.set(key, to: String(line[line.index(after: equals)...].trimmed))
        } catch {
            switch error {
            case .expected(let form): warnings.append("\(place): \(name)= takes \(form); the line is ignored")
            }
        }
    }

    private func suggestion(for name: String) -> String {
        let near =
            Configuration.Key.allCases.first { $0.rawValue.lowercased() == name.lowercased() }
            ?? Configuration.Key.allCases.first { $0.rawValue.lowercased().hasPrefix(name.lowercased().prefix(6)) }
        return near.map { "; did you mean \($0.rawValue)?" } ?? ""
    }
}

extension ConfigurationReader {
    /// The largest configuration file, in bytes.
    private static let fileLimit = 1 << 20

    /// Reads the file named, which must be there, or the first of the usual places that exists.
    package static func load(_ explicit: String?, paths: Paths) throws(SystemError) -> ConfigurationReader {
        var reader = ConfigurationReader()
        for path in explicit.map({ [$0] }) ?? paths.configurationFiles {
            do throws(SystemError) {
                let bytes = try Files.read(path, limit: fileLimit).bytes
                reader.read(String(decoding: bytes, as: UTF8.self), from: path)
                return reader
            } catch  where error.errno == .noSuchFile && explicit == nil {
                continue
            }
        }
        return reader
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = drop { $0 == " " || $0 == "\t" || $0 == "\r" }
        while let last = text.last, last == " " || last == "\t" || last == "\r" { text = text.dropLast() }
        return text
    }
}
