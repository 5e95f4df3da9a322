import Foundation
import LinuxIO
import ServiceIO
import Synchronization
import TestSupport
import Varlink

/// A server of `org.varlink.certification` on our codec. One thread accepts, one more serves each connection; they end
/// with the object, or with their client.
final class CertificationServer: Sendable {
    let address: String
    private let text: String
    private let interface: InterfaceDescription
    private let listener: ListeningSocket
    private let isStopped = Mutex(false)
    /// The step that each client is at.
    private let progress = Mutex<[String: Int]>([:])

    init(path: String) throws {
        (text, interface) = try Certification.description()
        listener = try ListeningSocket.bind(path)
        address = "unix:\(path)"
    }

    func start() {
        Thread { self.acceptAll() }.start()
    }

    func stop() {
        isStopped.withLock { $0 = true }
    }

    private func acceptAll() {
        guard let poller = try? Poller() else { return }
        try? poller.add(listener.raw, token: 0, .readable)
        while !isStopped.withLock({ $0 }) {
            guard let ready = try? poller.wait(timeoutMilliseconds: 50), !ready.isEmpty else { continue }
            guard let socket = try? listener.accept(), let copy = try? socket.descriptor.duplicate() else { continue }
            let descriptor = copy.take()
            Thread { self.serve(RawPeer(owning: descriptor)) }.start()
        }
    }

    private func serve(_ peer: RawPeer) {
        while let message = try? peer.readMessageBytes() {
            guard let call = try? Call(parsing: message) else { return peer.close() }
            for reply in replies(to: call) where call.mode != .oneway {
                guard (try? peer.send(reply)) != nil else { return }
            }
        }
    }

    private func replies(to call: Call) -> [[UInt8]] {
        switch call.method {
        case ServiceInterface.getInfo:
            let info = ServiceInterface.Info(
                vendor: "appgroupd", product: "certification", version: "1", url: "https://varlink.org",
                interfaces: [ServiceInterface.name, Certification.interface])
            return [info.replyBytes]
        case ServiceInterface.getInterfaceDescription:
            let isOurs = call.parameters["interface"] == .string(Certification.interface)
            return [ServiceInterface.descriptionReply(isOurs ? text : ServiceInterface.text)]
        case "org.varlink.certification.Start":
            let client = UUID().uuidString
            progress.withLock { $0[client] = 0 }
            return [Reply.bytes(parameters: ["client_id": .string(client)])]
        default: return certify(call)
        }
    }

    private func certify(_ call: Call) -> [[UInt8]] {
        guard call.interface == Certification.interface, interface.method(named: call.member) != nil else {
            return [ServiceError.methodNotFound(call.method).replyBytes]
        }
        if let parameter = interface.firstInvalidParameter(of: call.parameters, method: call.member) {
            return [ServiceError.invalidParameter(parameter).replyBytes]
        }
        guard let client = call.parameters["client_id"]?.stringValue, let step = nextStep(of: client) else {
            return [Reply.bytes(error: "org.varlink.certification.ClientIdError")]
        }
        let isRight =
            step.method == call.member && step.mode == call.mode
            && Certification.normalised(step.takes) == Certification.normalised(call.parameters)
        guard isRight else { return [refusal(step, call)] }
        return step.returns.enumerated().map { number, reply in
            Reply.bytes(parameters: reply, continues: number < step.returns.count - 1)
        }
    }

    private func nextStep(of client: String) -> Certification.Step? {
        progress.withLock { progress in
            guard let step = progress[client], step < Certification.steps.count else { return nil }
            progress[client] = step + 1
            return Certification.steps[step]
        }
    }

    private func refusal(_ step: Certification.Step, _ call: Call) -> [UInt8] {
        let wants: JSON = ["method": .string(step.method), "parameters": .object(step.takes)]
        let got: JSON = ["method": .string(call.member), "parameters": .object(call.parameters)]
        return Reply.bytes(
            error: "org.varlink.certification.CertificationError", parameters: ["wants": wants, "got": got])
    }
}
