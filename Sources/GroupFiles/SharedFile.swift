import LinuxIO

/// An open file that the loop thread and a worker use at the same time; closed when the last of them lets go of it.
final class SharedFile: Sendable {
    let descriptor: FileDescriptor

    init(_ descriptor: consuming FileDescriptor) {
        self.descriptor = descriptor
    }
}
