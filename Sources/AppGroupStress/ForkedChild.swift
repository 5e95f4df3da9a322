import AppGroup
import Glibc

/// `fork`, which Swift hides since a child may do next to nothing.
@_silgen_name("fork") private func forkProcess() -> Int32

/// A process that forks while the library is in use: the child is refused, the parent goes on.
enum ForkedChild {
    static func run(group: String) {
        let settings = GroupDefaults(suiteName: group)
        settings.set(1, forKey: "parent")
        synchronize(settings)
        let child = forkProcess()
        if child == 0 { _exit(isRefused(settings) ? 42 : 1) }
        var status: Int32 = 0
        _ = unsafe waitpid(child, &status, 0)
        Report.say("child \((status >> 8) & 0xff)")
        settings.set(2, forKey: "parent")
        synchronize(settings)
        Report.say("parent \(settings.integer(forKey: "parent"))")
    }

    private static func isRefused(_ settings: GroupDefaults) -> Bool {
        settings.set(3, forKey: "parent")
        let isSilent = settings.object(forKey: "parent") == nil
        do throws(AppGroupError) {
            try settings.write { $0["parent"] = 3 }
        } catch {
            guard error.code == .forked else { return false }
        }
        do throws(AppGroupError) {
            try settings.synchronize(within: 1)
        } catch {
            return isSilent && error.code == .forked
        }
        return false
    }

    private static func synchronize(_ settings: GroupDefaults) {
        do throws(AppGroupError) { try settings.synchronize(within: 30) } catch { Report.complain("\(error)") }
    }
}
