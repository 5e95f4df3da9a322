import CShims
import Glibc

/// The process's standard error, for the few diagnostics that nobody may miss. Safe for any thread.
enum StandardError {
    /// Writes a line as a whole. What cannot be written is lost.
    static func write(_ line: String) {
        let bytes = [UInt8]((line + "\n").utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(2, $0.baseAddress, $0.count) }
    }
}
