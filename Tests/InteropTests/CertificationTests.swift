import Foundation
import TestSupport
import Testing
import Varlink

@Suite("The certification interface, with Python's varlink at the other end")
struct CertificationTests {
    @Test("Python's client certifies our server")
    func server() throws {
        let directory = try TemporaryDirectory("certification")
        let server = try CertificationServer(path: directory.file("socket"))
        server.start()
        defer { server.stop() }
        let outcome = try PythonVarlink.run(
            ["-m", "varlink.tests.test_certification", "--varlink=\(server.address)", "--client"])
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("End: {'all_ok': True}") && outcome.output.contains("Certification passed"))
    }

    @Test("our server refuses what is not as certified, and Python raises it")
    func serverRefuses() throws {
        let directory = try TemporaryDirectory("certification")
        let server = try CertificationServer(path: directory.file("socket"))
        server.start()
        defer { server.stop() }
        let program = """
            import sys, varlink
            with varlink.Client(sys.argv[1]) as client, client.open("org.varlink.certification") as c:
                def error(call, *arguments):
                    try: return call(*arguments)
                    except varlink.VarlinkError as e: return e.error().rpartition(".")[2]
                def begun():
                    i = c.Start()["client_id"]; c.Test01(i); c.Test02(i, True)
                    return i
                print(error(c.Test03, "nobody", 1), error(c.Test03, begun(), 0), error(c.Test01, begun()))
            """
        let outcome = try PythonVarlink.run(["-c", program, server.address])
        #expect(outcome.output == "ClientIdError CertificationError CertificationError\n", "\(outcome.errors)")
    }

    /// Python's server, and a connection to it.
    private func withPythonServer(_ body: (RawPeer, InterfaceDescription) throws -> Void) throws {
        let directory = try TemporaryDirectory("certification")
        let path = directory.file("socket")
        let server = try PythonVarlink.start(["-m", "varlink.tests.test_certification", "--varlink=unix:\(path)"])
        defer { server.kill(SIGKILL) }
        let greeting = try server.readLine()
        #expect(greeting?.hasPrefix("Listening on") == true)
        try body(try RawPeer(path: path), try Certification.description().interface)
    }

    private func call(_ peer: RawPeer, _ method: String, _ parameters: JSONObject = [:]) throws -> Reply {
        try peer.send(Call(method: "\(Certification.interface).\(method)", parameters: parameters).bytes)
        return try Reply(parsing: try peer.readMessageBytes())
    }

    @Test("Python's server certifies our client")
    func client() throws {
        try withPythonServer { peer, interface in
            let id = try #require(try call(peer, "Start").parameters["client_id"])
            // What came is what goes out next.
            var received: JSONObject = [:]
            for step in Certification.steps {
                var parameters = received
                parameters["client_id"] = id
                #expect(interface.firstInvalidParameter(of: parameters, method: step.method) == nil)
                let method = "\(Certification.interface).\(step.method)"
                try peer.send(Call(method: method, parameters: parameters, mode: step.mode).bytes)
                received = try receive(step, from: peer)
            }
        }
    }

    /// All replies of a step, checked; and what the next step takes.
    private func receive(_ step: Certification.Step, from peer: RawPeer) throws -> JSONObject {
        var texts: [JSON] = []
        var last: JSONObject = [:]
        for (number, expected) in step.returns.enumerated() {
            let reply = try Reply(parsing: try peer.readMessageBytes())
            #expect(reply.error == nil, "\(step.method): \(reply)")
            #expect(reply.continues == (number < step.returns.count - 1), "\(step.method)")
            #expect(Certification.normalised(reply.parameters) == Certification.normalised(expected), "\(step.method)")
            last = reply.parameters
            texts.append(last["string"] ?? .null)
        }
        return step.mode == .more ? ["last_more_replies": .array(texts)] : last
    }

    @Test("our client gets the errors of Python's server")
    func clientIsRefused() throws {
        try withPythonServer { peer, interface in
            let start = try call(peer, "Start")
            let id = try #require(start.parameters["client_id"])
            #expect(try call(peer, "Test01", ["client_id": id]).error == nil)
            let refused = try call(peer, "Test02", ["client_id": id, "bool": false])
            #expect(refused.error == "org.varlink.certification.CertificationError")
            #expect(interface.matches(parameters: refused.parameters, error: "CertificationError"))
            let unknown = try call(peer, "Test99")
            #expect(ServiceError(unknown) == .methodNotFound("Test99"))
        }
    }
}
