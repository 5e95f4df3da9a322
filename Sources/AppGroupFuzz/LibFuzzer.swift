#if FUZZING
    import Glibc

    // What libFuzzer calls; its own `main` is linked in. The environment names the target, since its command line is not ours.

    private let target: FuzzTarget = {
        let name = unsafe getenv("APPGROUP_FUZZ_TARGET").map { unsafe String(cString: $0) } ?? ""
        guard let target = FuzzTarget.named(name) else {
            print("APPGROUP_FUZZ_TARGET is none of \(FuzzTarget.all.map(\.name).joined(separator: ", ")): \(name)")
            exit(64)
        }
        return target
    }()

    @_cdecl("LLVMFuzzerTestOneInput")
    func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        target.run(unsafe Array(UnsafeBufferPointer(start: bytes, count: count)))
        return 0
    }
#else
    import Glibc

    /// Without libFuzzer: runs a target over files, which shows what a file that was found does.
    @main
    struct Replayer {
        static func main() {
            let arguments = CommandLine.arguments.dropFirst()
            guard let target = arguments.first.flatMap(FuzzTarget.named) else {
                print("usage: AppGroupFuzz TARGET FILE…")
                for target in FuzzTarget.all { print("  \(target.name): \(target.summary)") }
                exit(64)
            }
            for path in arguments.dropFirst() {
                guard let bytes = contents(of: path) else {
                    print("\(path): cannot be read")
                    exit(1)
                }
                target.run(bytes)
            }
            print("\(target.name): \(arguments.count - 1) files, nothing found")
        }

        private static func contents(of path: String) -> [UInt8]? {
            guard let file = unsafe fopen(path, "r") else { return nil }
            defer { unsafe fclose(file) }
            var bytes: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = unsafe fread(&piece, 1, piece.count, file)
                guard count > 0 else { return unsafe ferror(file) == 0 ? bytes : nil }
                bytes += piece[..<count]
            }
        }
    }
#endif
