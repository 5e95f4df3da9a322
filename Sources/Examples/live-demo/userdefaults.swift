// A program that knows nothing of appgroupd: it keeps its settings in Foundation's UserDefaults, as any program may.
// It waits for a line before each step, so that the demo knows when the step begins.
import Foundation

setvbuf(stdout, nil, Int32(_IOLBF), 0)
guard let settings = UserDefaults(suiteName: "group.com.example.app") else { exit(1) }
print("ready")

_ = readLine()
settings.set(14, forKey: "fontSize")
_ = settings.synchronize()
print("saved")

_ = readLine()
_ = settings.synchronize()
print(settings.string(forKey: "theme") ?? "nothing")
