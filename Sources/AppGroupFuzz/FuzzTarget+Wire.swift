import GroupModel
import GroupProtocol
import PropertyList
import Varlink

// MARK: - What comes from a socket

extension FuzzTarget {
    static let json = FuzzTarget(name: "json", summary: "JSON texts") { bytes in
        guard let json = try? JSON(parsing: bytes) else { return }
        var writer = JSONWriter()
        writer.write(json)
        let again = try? JSON(parsing: writer.bytes)
        require(again == json, "written as \(String(decoding: writer.bytes, as: UTF8.self)), read as another")
        // A value of the interface comes back through its own writer, too.
        guard let value = try? Value(wire: json) else { return }
        var valueWriter = JSONWriter()
        valueWriter.write(value)
        let valueAgain = (try? JSON(parsing: valueWriter.bytes)).flatMap { try? Value(wire: $0) }
        require(valueAgain == value, "\(value) came back as \(String(describing: valueAgain))")
    }

    static let call = FuzzTarget(name: "call", summary: "calls and replies, and the parameters of every method") {
        bytes in
        if let reply = try? Reply(parsing: bytes) {
            require((try? Reply(parsing: Array(reply.bytes.dropLast()))) == reply, "the reply changed")
            checkEvent(reply)
        }
        let quick = WriteRequest(ordinaryCall: bytes.span, probably: nil)
        let call = try? Call(parsing: bytes)
        if let quick {
            let name = SettingsInterface.name + "." + SettingsMethod.write.rawValue
            require(call?.method == name && call?.mode == .single, "the quick way takes what is no ordinary call")
            let slow = call.flatMap { try? Request(.write, $0.parameters) }
            require(slow == .write(quick), "the quick way reads \(quick), the other \(String(describing: slow))")
        }
        guard let call else { return }
        require((try? Call(parsing: Array(call.bytes.dropLast()))) == call, "the call changed")
        for method in SettingsMethod.allCases {
            guard let request = try? Request(method, call.parameters) else { continue }
            let sent = try? Call(parsing: Array(request.callBytes.dropLast()))
            let again = sent.flatMap { try? Request(method, $0.parameters) }
            require(again == request, "\(request) came back as \(String(describing: again))")
        }
    }

    private static func checkEvent(_ reply: Reply) {
        guard let commit = Commit(wire: .object(reply.parameters)) else { return }
        let again = (try? JSON(parsing: commit.encoded)).flatMap { Commit(wire: $0) }
        require(again == commit, "\(commit) came back as \(String(describing: again))")
    }

    /// The first byte says in pieces of which size the rest arrives.
    static let stream = FuzzTarget(name: "stream", summary: "messages cut out of a stream") { bytes in
        guard let size = bytes.first.map({ Int($0) + 1 }) else { return }
        let limit = 64
        let whole = messages(bytes.dropFirst(), piece: bytes.count, limit: limit)
        let parts = messages(bytes.dropFirst(), piece: size, limit: limit)
        require(whole.violation == parts.violation, "in pieces \(String(describing: parts.violation))")
        require(whole.messages == parts.messages, "in pieces the messages are others")
        require(whole.messages.allSatisfy { (1...limit).contains($0.count) }, "an empty message, or one past the limit")
    }

    private static func messages(
        _ bytes: ArraySlice<UInt8>, piece: Int, limit: Int
    ) -> (messages: [[UInt8]], violation: ProtocolViolation?) {
        var splitter = MessageSplitter(limit: limit)
        var messages: [[UInt8]] = []
        var rest = bytes
        do throws(ProtocolViolation) {
            while !rest.isEmpty {
                splitter.append(rest.prefix(piece))
                rest = rest.dropFirst(piece)
                while let message = try splitter.next() { messages.append(Array(message)) }
            }
        } catch {
            return (messages, error)
        }
        return (messages, nil)
    }

    static let interface = FuzzTarget(name: "interface", summary: "interface descriptions") { bytes in
        _ = try? InterfaceDescription(parsing: String(decoding: bytes, as: UTF8.self))
    }
}
