// A program that knows nothing of appgroupd: it has its settings in Foundation's UserDefaults, as any program may.
// userdefaults SUITE, then one command a line on standard input; each is answered by a line.
import Foundation

setvbuf(stdout, nil, Int32(_IOLBF), 0)
guard let defaults = UserDefaults(suiteName: CommandLine.arguments[1]) else { exit(1) }
while let line = readLine() {
    let words = line.split(separator: " ", maxSplits: 2).map(String.init)
    switch words[0] {
    case "string":
        defaults.set(words[2], forKey: words[1])
        print("ok")
    case "integer":
        defaults.set(Int(words[2]), forKey: words[1])
        print("ok")
    case "remove":
        defaults.removeObject(forKey: words[1])
        print("ok")
    case "get": print(defaults.object(forKey: words[1]) ?? "nil")
    case "synchronize": print(defaults.synchronize())
    default: print("what?")
    }
}
