import CShims

/// CRC-32C by the processor's own instruction, eight bytes in a few cycles; most processors have it.
package enum HardwareChecksum {
    package static let isSupported = cshim_crc32c_is_supported() != 0

    /// Continues a remainder (all ones at the start) over these bytes. Only where `isSupported`.
    package static func remainder(_ remainder: UInt32, over bytes: Span<UInt8>) -> UInt32 {
        unsafe bytes.withUnsafeBytes { unsafe cshim_crc32c(remainder, $0.baseAddress, $0.count) }
    }
}
