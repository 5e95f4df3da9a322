import CShims
import Glibc

/// A process of the suite: the server or one of the clients. Its standard output is read by us.
final class ChildProcess {
    struct Pipe {
        var read: Int32
        var write: Int32

        func close() {
            _ = cshim_close(read)
            _ = cshim_close(write)
        }
    }

    private let id: pid_t
    private let output: Int32
    private var isOver = false

    /// On this processor only, if one is given, and with a descriptor beside the standard ones.
    init(_ arguments: [String], cpu: Int?, keeping kept: Int32 = -1) throws(BenchError) {
        let pipe = try Self.pipe()
        let command = cpu.map { ["taskset", "-c", "\($0)"] + arguments } ?? arguments
        id = Self.spawn(command, output: pipe.write, kept: kept)
        output = pipe.read
        _ = cshim_close(pipe.write)
        if id < 0 { throw BenchError("\(arguments.first ?? "") cannot be started") }
    }

    deinit {
        end()
        _ = cshim_close(output)
    }

    /// Both ends are closed in every child but for the one that is given an end.
    static func pipe() throws(BenchError) -> Pipe {
        var ends: [Int32] = [-1, -1]
        if unsafe cshim_pipe2(&ends, O_CLOEXEC) != 0 { throw .system("pipe") }
        return Pipe(read: ends[0], write: ends[1])
    }

    private static func spawn(_ arguments: [String], output: Int32, kept: Int32) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe _ = posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        // To itself: no longer closed by exec.
        if kept >= 0 { unsafe posix_spawn_file_actions_adddup2(&actions, kept, kept) }
        var pointers = unsafe arguments.map { unsafe strdup($0) }
        unsafe pointers.append(nil)
        defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
        var id: pid_t = -1
        return unsafe posix_spawnp(&id, arguments[0], &actions, nil, pointers, environ) == 0 ? id : -1
    }

    /// The next line of its output.
    func readLine() -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while unsafe read(output, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }

    func wait() throws(BenchError) {
        var status: Int32 = 0
        while unsafe waitpid(id, &status, 0) < 0, errno == EINTR {}
        isOver = true
        if status != 0 { throw BenchError("a process ended with status \(status)") }
    }

    func end() {
        guard !isOver, id > 0 else { return }
        isOver = true
        kill(id, SIGTERM)
        _ = waitpid(id, nil, 0)
    }

    func pin(to cpu: Int) throws(BenchError) { try place("\(cpu)") }

    func unpin() throws(BenchError) { try place("0-\(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)) - 1, 0))") }

    private func place(_ cpus: String) throws(BenchError) {
        try ChildProcess(["taskset", "-a", "-c", "-p", cpus, "\(id)"], cpu: nil).wait()
    }

    /// A thousand observers are a thousand descriptors, here and in the daemon.
    static func raiseDescriptorLimit() {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

func pause(milliseconds: UInt32) {
    _ = usleep(milliseconds * 1000)
}

enum Files {
    static func read(_ path: String) throws(BenchError) -> [UInt8] {
        let file = unsafe fopen(path, "r")
        guard let file = unsafe file else { throw .system("open \(path)") }
        defer { unsafe _ = fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = unsafe fread(&chunk, 1, chunk.count, file)
            if count == 0 { return bytes }
            bytes += chunk.prefix(count)
        }
    }

    static func write(_ text: String, to path: String) throws(BenchError) {
        let file = unsafe fopen(path, "w")
        guard let file = unsafe file else { throw .system("open \(path)") }
        unsafe fputs(text, file)
        if unsafe fclose(file) != 0 { throw .system("write \(path)") }
    }

    static func makeFolder(_ path: String) throws(BenchError) {
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw .system("mkdir \(path)") }
    }
}

enum TemporaryFolder {
    static func make(in parent: String) throws(BenchError) -> String {
        let path = "\(parent)/appgroup-bench.\(getpid())"
        try Files.makeFolder(path)
        return path
    }

    static func remove(_ path: String) {
        _ = try? ChildProcess(["rm", "-rf", path], cpu: nil).wait()
    }
}
