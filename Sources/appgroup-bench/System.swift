import CShims
import Glibc

/// CLOCK_MONOTONIC in nanoseconds.
func now() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec &* 1_000_000_000 &+ time.tv_nsec
}

/// For the one who reads standard error.
func complain(_ text: String) {
    let line = Array("appgroup-bench: \(text)\n".utf8)
    unsafe _ = write(2, line, line.count)
}

/// One line on standard output, at once.
func say(_ text: String) {
    print(text)
    _ = fflush(nil)
}

/// The pipe by which the observer lets the writer go on: a byte for each value.
struct Tokens {
    /// Negative: no tokens.
    let descriptor: Int32

    init(_ options: Options) throws(BenchError) {
        let number = try options.number("tok-fd", or: Int(Int32.max))
        descriptor = number < Int(Int32.max) ? Int32(number) : -1
    }

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    func give() throws(BenchError) {
        guard descriptor >= 0 else { return }
        var byte: UInt8 = 120
        if unsafe write(descriptor, &byte, 1) != 1 { throw .system("write of a token") }
    }

    func take() throws(BenchError) {
        var byte: UInt8 = 0
        if unsafe read(descriptor, &byte, 1) != 1 { throw BenchError("the pipe of tokens was closed") }
    }
}

enum StandardInput {
    static func waitForEnd() {
        var byte: UInt8 = 0
        while unsafe read(0, &byte, 1) > 0 {}
    }
}

/// Many links waited for at once.
final class LinkSet {
    private let epoll = cshim_epoll_create()
    private var tokens = [UInt64](repeating: 0, count: Int(CSHIM_EPOLL_BATCH))
    private var masks = [UInt32](repeating: 0, count: Int(CSHIM_EPOLL_BATCH))

    private static var readable: UInt32 { 1 }

    func add(_ descriptor: Int32, token: Int) throws(BenchError) {
        guard cshim_epoll_add(epoll, descriptor, UInt64(token), Self.readable) == 0 else { throw .system("epoll_ctl") }
    }

    func remove(_ descriptor: Int32) {
        _ = cshim_epoll_remove(epoll, descriptor)
    }

    /// - Returns: how many are ready; `token` names them.
    func wait(milliseconds: Int32 = 30_000) throws(BenchError) -> Int {
        let count = unsafe cshim_epoll_wait(epoll, &tokens, &masks, CSHIM_EPOLL_BATCH, milliseconds)
        if count < 0, errno == EINTR { return 0 }
        if count < 0 { throw .system("epoll_wait") }
        if count == 0, milliseconds > 0 { throw BenchError("nothing came for \(milliseconds / 1000) s") }
        return Int(count)
    }

    func token(_ index: Int) -> Int { Int(truncatingIfNeeded: tokens[index]) }

    deinit { _ = cshim_close(epoll) }
}

/// Files of native 64-bit integers.
enum TimesFile {
    static func write(_ times: [Int], to path: String) throws(BenchError) {
        guard !path.isEmpty else { return }
        let file = unsafe fopen(path, "w")
        guard let file = unsafe file else { throw .system("open \(path)") }
        let written = unsafe fwrite(times, MemoryLayout<Int>.stride, times.count, file)
        guard unsafe fclose(file) == 0, written == times.count else { throw .system("write \(path)") }
    }

    static func read(_ path: String) throws(BenchError) -> [Int] {
        let file = unsafe fopen(path, "r")
        guard let file = unsafe file else { throw .system("open \(path)") }
        defer { unsafe _ = fclose(file) }
        var times: [Int] = []
        var chunk = [Int](repeating: 0, count: 4096)
        while true {
            let count = unsafe fread(&chunk, MemoryLayout<Int>.stride, chunk.count, file)
            if count == 0 { return times }
            times += chunk.prefix(count)
        }
    }
}
