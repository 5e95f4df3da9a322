import LinuxIO

/// The names of our temporary files, all of them in the target's directory: a rename does not leave a file system.
struct PlistTemporaries {
    let directory: String
    /// Being written: worthless after a crash.
    let new: String
    /// Whole: our text before the exchange, what was there before after it.
    let swap: String
    /// A second name of the file that is being replaced, where there is no exchange.
    let old: String
    let backup: String
    /// Where something unreadable goes when there is something else in its place already.
    let damaged: String

    private static let newSuffix = ".appgroupd-new"
    private static let swapSuffix = ".appgroupd-swap"
    private static let oldSuffix = ".appgroupd-old"
    static let suffixes = [newSuffix, swapSuffix, oldSuffix]

    init(target: String, backupDirectory: String?) {
        directory = Files.parent(of: target)
        var name = Files.lastComponent(of: target)
        // A link may lead to a name so long that ours would not fit NAME_MAX (255).
        if name.utf8.count > 220 { name = Digest(of: Array(name.utf8)).description }
        new = Files.join(directory, ".\(name)\(Self.newSuffix)")
        swap = Files.join(directory, ".\(name)\(Self.swapSuffix)")
        old = Files.join(directory, ".\(name)\(Self.oldSuffix)")
        damaged = Files.join(directory, "\(name).appgroupd-damaged")
        backup = Files.join(backupDirectory ?? directory, "\(name).appgroupd-backup")
    }
}

extension PlistTemporaries {
    /// Exchanges the swap file with the target, where the file system has no exchange by way of a second name.
    func putBack(over target: String) throws(SystemError) {
        do throws(SystemError) {
            try Files.exchange(swap, target)
        } catch  where error.isUnsupportedRename {
            try Files.unlinkIfPresent(old)
            let isKept = (try? Files.link(target, to: old)) != nil
            try Files.rename(swap, to: target)
            if isKept { try Files.rename(old, to: swap) }
        }
    }
}

extension Files {
    /// `name` in `directory`, or the name itself where it is absolute.
    static func join(_ directory: String, _ name: String) -> String {
        if name.hasPrefix("/") { return name }
        return directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
    }
}
