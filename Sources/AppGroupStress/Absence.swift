import AppGroup
import Glibc

/// A program that starts where no daemon is: what it reads, what it is told, and that its writes arrive later.
enum Absence {
    static func run(group: String) {
        let settings = GroupDefaults(suiteName: group)
        Report.say("value \(settings.string(forKey: "theme") ?? "nothing")")
        do throws(AppGroupError) {
            try settings.synchronize(within: 0.3)
            Report.complain("synchronize did not throw")
        } catch {
            Report.say("error \(error.code) \(error)")
        }
        for number in 1...100 { settings.increment("count", by: number) }
        settings.set("dark", forKey: "theme")
        Report.say("waiting \(settings.string(forKey: "theme") ?? "nothing")")
        // The line says that the daemon is there now; the library finds out by itself.
        _ = readLine()
        for _ in 0..<1000 {
            do throws(AppGroupError) {
                try settings.synchronize(within: 30)
                return Report.say("sent \(settings.integer(forKey: "count"))")
            } catch {
                if error.code != .unreachable { return Report.complain("synchronize: \(error)") }
                usleep(10_000)
            }
        }
        Report.complain("the daemon was not found")
    }
}
