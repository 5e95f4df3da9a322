import GroupCore
import Varlink

extension Connection {
    /// The call before was a watch, which goes on.
    func resumeStreaming() { phase = .streaming }
}
