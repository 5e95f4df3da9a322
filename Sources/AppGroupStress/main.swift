// A program of the campaigns: it uses the library as any program does, in the part that its first argument names. It
// speaks with the test by lines on its standard input and output.

import AppGroup
import Glibc

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "load": Load(arguments).run()
case "nothing": Report.say("value nothing")
case "absent": Absence.run(group: arguments[1])
case "churn": await Churn.run(group: arguments[1])
case "groups": ManyGroups.run(prefix: arguments[1], count: Int(arguments[2]) ?? 0)
case "host": Host.run(group: arguments[1])
case "fork": ForkedChild.run(group: arguments[1])
case "play": await Player.run(arguments)
default: exit(64)
}
exit(Report.isClean ? 0 : 1)
