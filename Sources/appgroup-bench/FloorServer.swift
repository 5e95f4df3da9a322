import CShims
import Glibc

/// What a daemon for these clients cannot do with less: receive, append to a file, answer, send on. It keeps no value and
/// checks nothing; whoever watches gets everything. Ends when it is killed.
final class FloorServer {
    private let listener: Int32
    private let log: Int32
    private let ready = LinkSet()
    private var links: [Int: Link] = [:]
    private var observers: [Link] = []
    private var waiting: [Link] = []
    private let reply = Wire.emptyReply()
    private let news = Wire.commit(key: "k")

    private static let listenerToken = Int(Int32.max)

    init(_ options: Options) throws(BenchError) {
        let path = try options.text("sock")
        unsafe unlink(path)
        listener = unsafe cshim_unix_listen(path, 1024, 0o600)
        if listener < 0 { throw .system("listen at \(path)") }
        let file = options.text("log", or: "")
        log = file.isEmpty ? -1 : unsafe cshim_open(file, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0o600)
        if log < 0, !file.isEmpty { throw .system("open \(file)") }
        try ready.add(listener, token: Self.listenerToken)
    }

    func run() throws(BenchError) {
        _ = cshim_set_parent_death_signal(SIGKILL)
        while true {
            for index in 0..<(try ready.wait(milliseconds: -1)) {
                let token = ready.token(index)
                if token == Self.listenerToken { try accept() } else { try serve(token) }
            }
            for link in waiting { send(link) }
            waiting.removeAll(keepingCapacity: true)
        }
    }

    private func accept() throws(BenchError) {
        while true {
            let descriptor = cshim_accept4(listener)
            guard descriptor >= 0 else { return }
            links[Int(descriptor)] = Link(descriptor)
            try ready.add(descriptor, token: Int(descriptor))
        }
    }

    private func serve(_ token: Int) throws(BenchError) {
        guard let link = links[token] else { return }
        do throws(BenchError) {
            try link.receive(waits: false)
        } catch {
            return drop(link, token)
        }
        while let message = try link.nextMessage() {
            if message.isCall(of: "Write\"") {
                try message.forward(to: news, logTo: log)
                try queue(reply, to: link)
                for observer in observers { try queue(news, to: observer) }
            } else {
                try queue(reply, to: link)
                if message.isCall(of: "Watch\"") { observers.append(link) }
            }
        }
    }

    private func drop(_ link: Link, _ token: Int) {
        ready.remove(link.descriptor)
        links[token] = nil
        observers.removeAll { $0 === link }
        waiting.removeAll { $0 === link }
    }

    private func queue(_ template: Template, to link: Link) throws(BenchError) {
        if !link.hasOutput { waiting.append(link) }
        try link.queue(template)
    }

    /// One that has gone is noticed at its next read.
    private func send(_ link: Link) {
        try? link.flush()
    }
}
