package import LinuxIO

/// Where administrators, distributions and the user put what configures the daemon: `appgroupd.conf` with its drop-ins, and
/// the files of groups in `managed/` and `defaults/`. In the order of the UAPI group's specification of configuration files
/// (UAPI.6): the user's first, then the administrator's, what holds until the next boot, and the vendor's.
package struct ConfigurationDirectories: Equatable, Sendable {
    /// The highest first. The first is the user's own.
    package var paths: [String]

    package init(_ paths: [String]) {
        self.paths = paths
    }

    /// - Parameter user: `$XDG_CONFIG_HOME`, or `~/.config`; nil where there is no home at all.
    package init(user: String?) {
        paths = ([user, "/etc", "/run", "/usr/local/lib", "/usr/lib"]).compactMap { $0.map { "\($0)/appgroupd" } }
    }

    package enum Kind: String, CaseIterable, Sendable {
        case managed, defaults, schemas
    }

    /// Those in which files of a kind are looked for, the highest first. What an administrator forces, the user's own
    /// directory can add to and cannot undo.
    package func places(of kind: Kind) -> [String] {
        let order = kind == .managed ? Array(paths.dropFirst() + paths.prefix(1)) : paths
        return order.map { "\($0)/\(kind.rawValue)" }
    }
}

// MARK: - The configuration file and its drop-ins

/// One file of the configuration, as it was read.
package struct ConfigurationFile: Equatable, Sendable {
    package var path: String
    package var text: String
}

extension ConfigurationDirectories {
    package static let fileName = "appgroupd.conf"
    /// The largest configuration file, in bytes.
    private static let sizeLimit = 1 << 20

    /// The files that count, in the order in which they are read: the main file of the highest directory that has one, then
    /// the drop-ins of all directories by their names, of each name the highest. An empty file, or a link to /dev/null,
    /// masks its name: neither it nor the lower ones are there.
    ///
    /// - Throws: where one that counts cannot be read.
    package func configurationFiles(
        named name: String = ConfigurationDirectories.fileName
    ) throws(SystemError) -> [ConfigurationFile] {
        var files: [ConfigurationFile] = []
        for path in paths.map({ "\($0)/\(name)" }) {
            guard let status = try Self.status(path) else { continue }
            if !status.isMask { files.append(try Self.read(path)) }
            break
        }
        for path in try dropIns(of: name) { files.append(try Self.read(path)) }
        return files
    }

    /// One that was named is read as it is, and must be there.
    package static func read(_ path: String) throws(SystemError) -> ConfigurationFile {
        let bytes = try Files.read(path, limit: sizeLimit).bytes
        return ConfigurationFile(path: path, text: String(decoding: bytes, as: UTF8.self))
    }

    private func dropIns(of name: String) throws(SystemError) -> [String] {
        var chosen: [String: String] = [:]
        for directory in paths.map({ "\($0)/\(name).d" }) {
            for name in try Self.names(in: directory)
            where name.hasSuffix(".conf") && !name.hasPrefix(".") && chosen[name] == nil {
                chosen[name] = "\(directory)/\(name)"
            }
        }
        var paths: [String] = []
        // By the bytes of their names, so that the order is the same everywhere.
        for (_, path) in chosen.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            if let status = try Self.status(path), !status.isMask { paths.append(path) }
        }
        return paths
    }

    private static func names(in directory: String) throws(SystemError) -> [String] {
        do throws(SystemError) {
            return try Files.list(directory)
        } catch  where error.errno == .noSuchFile || error.errno == .notDirectory {
            return []
        }
    }

    private static func status(_ path: String) throws(SystemError) -> FileStatus? {
        do throws(SystemError) {
            return try Files.statusIfPresent(path)
        } catch  where error.errno == .notDirectory {
            return nil
        }
    }
}

extension FileStatus {
    /// Whether a configuration file of this kind says that there is nothing, here and in lower directories.
    package var isMask: Bool { kind == .characterDevice || kind == .regular && size == 0 }
}
