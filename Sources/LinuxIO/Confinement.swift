import CShims
import Glibc

/// The sandbox that a process runs in, as the kernel and the sandbox's maker say: no word of the process's own.
package enum Confinement: Hashable, Sendable {
    /// A Flatpak application, by its id.
    case flatpak(String)
    /// A snap, by its name.
    case snap(String)
    /// Who it is cannot be found out: it gets nothing, rather than what an ordinary process gets. One that has ended already
    /// is among them: an application would only have to send by a child that ends at once.
    case unknown(reason: String)

    /// The sandbox of a peer that is connected; its number is 0 where it lives outside of what this process sees, which no
    /// sandbox below it does.
    ///
    /// - Parameter pid: the peer's.
    /// - Returns: nil for an ordinary process of the user, which nothing keeps from the user's files anyway.
    package static func of(process pid: Int32) -> Confinement? {
        guard pid > 0 else { return nil }
        if let flatpak = flatpak(pid) { return flatpak }
        return snap(pid)
    }

    // MARK: Flatpak

    /// As xdg-desktop-portal looks: a file in the root directory of the process, which the application cannot write.
    private static func flatpak(_ pid: Int32) -> Confinement? {
        let root: FileDescriptor
        do throws(SystemError) {
            root = try Files.open("/proc/\(pid)/root", [.readOnly, .directory, .nonBlocking])
        } catch  where error.errno == .permissionDenied && isFuse("/proc/\(pid)/root") {
            // Of an AppImage, say: it is mounted for its user, and nobody else may look.
            return nil
        } catch {
            return .unknown(reason: "the root directory of process \(pid) cannot be opened: \(error.errno)")
        }
        do throws(SystemError) {
            let file = try Files.openRegular(".flatpak-info", relativeTo: root.raw)
            let text = String(decoding: try file.readAll(limit: 1 << 20), as: UTF8.self)
            guard let name = applicationName(text) else {
                return .unknown(reason: "the .flatpak-info of process \(pid) names no application")
            }
            return .flatpak(name)
        } catch  where error.errno == .noSuchFile {
            return nil
        } catch {
            return .unknown(reason: "the .flatpak-info of process \(pid) cannot be read: \(error.errno)")
        }
    }

    private static func isFuse(_ path: String) -> Bool { unsafe cshim_is_network_file_system(path) == 1 }

    /// `name=` of the section `[Application]`, or of `[Runtime]` for what runs without one.
    static func applicationName(_ text: String) -> String? {
        var section = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix("[") {
                section = String(line)
            } else if line.hasPrefix("name="), section == "[Application]" || section == "[Runtime]" {
                return String(line.dropFirst(5))
            }
        }
        return nil
    }

    // MARK: Snap

    /// Its processes are in control groups of its name, where snapd puts them.
    private static func snap(_ pid: Int32) -> Confinement? {
        do throws(SystemError) {
            let bytes = try Files.open("/proc/\(pid)/cgroup", .readOnly).readAll(limit: 64 << 10)
            // Nearly always: the text is taken apart only where there is something to find.
            guard mayNameSnap(bytes) else { return nil }
            return snapName(String(decoding: bytes, as: UTF8.self)).map(Confinement.snap)
        } catch {
            return .unknown(reason: "the control groups of process \(pid) cannot be read: \(error.errno)")
        }
    }

    /// Whether `/snap.` is anywhere in it.
    static func mayNameSnap(_ bytes: [UInt8]) -> Bool {
        let mark = Array("/snap.".utf8)
        var matched = 0
        for byte in bytes {
            // The mark begins with a sign that it does not have again.
            matched = byte == mark[matched] ? matched + 1 : byte == mark[0] ? 1 : 0
            if matched == mark.count { return true }
        }
        return false
    }

    /// Of `0::/user.slice/…/snap.NAME.APP-….scope`, in the unified hierarchy, systemd's, or the freezer's.
    static func snapName(_ text: String) -> String? {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3, ["", "name=systemd", "freezer"].contains(fields[1]) else { continue }
            for part in fields[2].split(separator: "/") where part.hasPrefix("snap.") {
                let name = part.dropFirst(5).prefix { $0 != "." }
                if !name.isEmpty { return String(name) }
            }
        }
        return nil
    }
}

extension Confinement: CustomStringConvertible {
    package var description: String {
        switch self {
        case .flatpak(let name): "flatpak \(name)"
        case .snap(let name): "snap \(name)"
        case .unknown(let reason): "a process of which nothing is known (\(reason))"
        }
    }
}
