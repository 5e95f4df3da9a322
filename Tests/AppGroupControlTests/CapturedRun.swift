import AppGroupControl

/// One run of the tool within the test's process, without a daemon: what it printed, and its status.
struct CapturedRun {
    var status: Int32
    var output: String
    var error: String

    init(_ arguments: String..., environment: [String: String] = [:]) {
        self.init(arguments, environment: environment)
    }

    init(_ arguments: [String], environment: [String: String] = [:]) {
        final class Captured {
            var output: [UInt8] = []
            var error: [UInt8] = []
        }
        let captured = Captured()
        let console = Console { stream, bytes in
            switch stream {
            case .output: captured.output += bytes
            case .error: captured.error += bytes
            }
            return nil
        }
        status = Control.run(arguments, console, Environment(environment))
        output = String(decoding: captured.output, as: UTF8.self)
        error = String(decoding: captured.error, as: UTF8.self)
    }
}
