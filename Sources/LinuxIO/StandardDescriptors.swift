/// The descriptors 0, 1 and 2. No state: a name for the function.
package enum StandardDescriptors {
    /// Puts `/dev/null` where one of them is closed: the next file that the process opens would get its number, and
    /// what is meant for people would go into it. To be called before anything is opened.
    package static func occupy() {
        while let file = try? Files.open("/dev/null", .readWrite) {
            guard file.rawValue <= 2 else { return }
            _ = file.take()
        }
    }
}
