/// The version of the daemon, the tool and the library, which are released together.
package enum Version {
    package static let string = "0.1.0"
}
