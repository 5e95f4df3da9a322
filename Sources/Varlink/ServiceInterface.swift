/// The interface `org.varlink.service` that every service has: what it is, and which interfaces it serves.
///
/// Only names, texts and replies, used by the server's dispatcher and by clients.
package enum ServiceInterface {
    package static let name = "org.varlink.service"
    package static let getInfo = "org.varlink.service.GetInfo"
    package static let getInterfaceDescription = "org.varlink.service.GetInterfaceDescription"

    /// What GetInfo tells; all five members are mandatory for varlinkctl.
    package struct Info: Sendable, Equatable {
        package var vendor: String
        package var product: String
        package var version: String
        package var url: String
        /// `org.varlink.service` is to be among them.
        package var interfaces: [String]

        package init(vendor: String, product: String, version: String, url: String, interfaces: [String]) {
            self.vendor = vendor
            self.product = product
            self.version = version
            self.url = url
            self.interfaces = interfaces
        }

        package var parameters: JSONObject {
            [
                "vendor": .string(vendor), "product": .string(product), "version": .string(version),
                "url": .string(url), "interfaces": .array(interfaces.map { .string($0) }),
            ]
        }

        package var replyBytes: [UInt8] { Reply.bytes(parameters: parameters) }
    }

    /// The answer to GetInterfaceDescription.
    package static func descriptionReply(_ text: String) -> [UInt8] {
        Reply.bytes(parameters: ["description": .string(text)])
    }

    package static let text = """
        # The interface that every Varlink service provides: it describes the service and its interfaces.
        interface org.varlink.service

        # Tells what the service is and which interfaces it provides.
        method GetInfo() -> (
          # Who made the service.
          vendor: string,
          # The name of the service.
          product: string,
          # The version of the service.
          version: string,
          # Where to read more about the service.
          url: string,
          # The names of all interfaces, this one among them.
          interfaces: []string
        )

        # Returns the description of an interface in the interface definition language, with its comments.
        method GetInterfaceDescription(
          # The name of the interface.
          interface: string
        ) -> (
          # The text of the description.
          description: string
        )

        # The service has no such interface.
        error InterfaceNotFound (
          # The interface asked for.
          interface: string
        )

        # The interface has no such method.
        error MethodNotFound (
          # The method called, with the name of its interface.
          method: string
        )

        # The interface has the method, but the service does not implement it.
        error MethodNotImplemented (
          # The method called, with the name of its interface.
          method: string
        )

        # A parameter is unknown, missing, or has a value it must not have.
        error InvalidParameter (
          # The name of the parameter.
          parameter: string
        )

        # The caller may not call the method.
        error PermissionDenied ()

        # The method has to be called with the 'more' flag.
        error ExpectedMore ()

        # The method has to be called with the 'upgrade' flag.
        error ExpectedUpgrade ()

        """
}

/// An error that any method of any interface may answer with.
package enum ServiceError: Error, Equatable, Sendable {
    case interfaceNotFound(String)
    /// With the qualified name of the method.
    case methodNotFound(String)
    case methodNotImplemented(String)
    /// With the name of the parameter at the top level.
    case invalidParameter(String)
    case permissionDenied
    case expectedMore
    case expectedUpgrade
}

extension ServiceError {
    /// The qualified name.
    package var name: String {
        switch self {
        case .interfaceNotFound: "org.varlink.service.InterfaceNotFound"
        case .methodNotFound: "org.varlink.service.MethodNotFound"
        case .methodNotImplemented: "org.varlink.service.MethodNotImplemented"
        case .invalidParameter: "org.varlink.service.InvalidParameter"
        case .permissionDenied: "org.varlink.service.PermissionDenied"
        case .expectedMore: "org.varlink.service.ExpectedMore"
        case .expectedUpgrade: "org.varlink.service.ExpectedUpgrade"
        }
    }

    package var parameters: JSONObject {
        switch self {
        case .interfaceNotFound(let interface): ["interface": .string(interface)]
        case .methodNotFound(let method), .methodNotImplemented(let method): ["method": .string(method)]
        case .invalidParameter(let parameter): ["parameter": .string(parameter)]
        case .permissionDenied, .expectedMore, .expectedUpgrade: [:]
        }
    }

    package var replyBytes: [UInt8] { Reply.bytes(error: name, parameters: parameters.withShortTexts) }

    /// The client's side: nil when the reply is no error, or one of another interface.
    package init?(_ reply: Reply) {
        func parameter(_ name: String) -> String { reply.parameters[name]?.stringValue ?? "" }
        switch reply.error {
        case "org.varlink.service.InterfaceNotFound": self = .interfaceNotFound(parameter("interface"))
        case "org.varlink.service.MethodNotFound": self = .methodNotFound(parameter("method"))
        case "org.varlink.service.MethodNotImplemented": self = .methodNotImplemented(parameter("method"))
        case "org.varlink.service.InvalidParameter": self = .invalidParameter(parameter("parameter"))
        case "org.varlink.service.PermissionDenied": self = .permissionDenied
        case "org.varlink.service.ExpectedMore": self = .expectedMore
        case "org.varlink.service.ExpectedUpgrade": self = .expectedUpgrade
        default: return nil
        }
    }
}
