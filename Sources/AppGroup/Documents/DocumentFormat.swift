public import FoundationEssentials
import PropertyList

/// How a document's content becomes the bytes of its file, and back.
///
/// A value; its functions are called on the threads that load and save, and on the library's own.
public struct DocumentFormat<Content: Sendable>: Sendable {
    let encode: @Sendable (Content) throws -> Data
    let decode: @Sendable (Data) throws -> Content

    /// A format of your own.
    ///
    /// - Parameters:
    ///   - encode: makes the bytes of the file. The same content should give the same bytes, so that saving it again is no
    ///     change.
    ///   - decode: reads them; what it throws is the reason in ``AppGroupError/Code/damaged``.
    public init(
        encode: @escaping @Sendable (Content) throws -> Data, decode: @escaping @Sendable (Data) throws -> Content
    ) {
        self.encode = encode
        self.decode = decode
    }
}

extension DocumentFormat where Content: Codable {
    /// JSON as `JSONEncoder` and `JSONDecoder` have it, for people to read: on several lines, members in order, dates as
    /// ISO 8601 in UTC with as many digits as they need to come back equal, such as `2026-11-30T18:37:15Z`.
    ///
    /// Dates with another offset from UTC are read too, and those that `JSONEncoder` writes by itself: the number of seconds
    /// since 2001.
    public static var json: DocumentFormat {
        DocumentFormat { content in
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            encoder.dateEncodingStrategy = .custom { try JSONDate.encode($0, to: $1) }
            return try encoder.encode(content)
        } decode: { data in
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .custom { try JSONDate.decode(from: $0) }
            return try decoder.decode(Content.self, from: data)
        }
    }

    /// A property list; new files are XML, binary ones are read too.
    public static var propertyList: DocumentFormat {
        DocumentFormat { content in
            let encoder = PropertyListEncoder()
            encoder.outputFormat = .xml
            return try encoder.encode(content)
        } decode: { data in
            try PropertyListDecoder().decode(Content.self, from: data)
        }
    }
}

extension DocumentFormat {
    func bytes(of content: Content, _ place: String) throws(AppGroupError) -> [UInt8] {
        do {
            return [UInt8](try encode(content))
        } catch let EncodingError.invalidValue(_, context) {
            let text = "\(context.debugDescription)\(Self.place(context.codingPath))"
            throw AppGroupError(.invalidValue, "\(place) cannot hold this: \(text)")
        } catch {
            throw AppGroupError(.invalidValue, "\(place) cannot hold this: \(error)")
        }
    }

    func content(of bytes: [UInt8], _ place: String) throws(AppGroupError) -> Content {
        if bytes.isEmpty { throw AppGroupError(.damaged, "\(place) is damaged: it is empty") }
        do {
            return try decode(Data(bytes))
        } catch let error as DecodingError {
            throw AppGroupError(.damaged, "\(place) is damaged: \(Self.reason(error))")
        } catch {
            throw AppGroupError(.damaged, "\(place) is damaged: \(error)")
        }
    }

    private static func reason(_ error: DecodingError) -> String {
        switch error {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            let cause = context.underlyingError.map { " (\($0))" } ?? ""
            return "\(context.debugDescription)\(place(context.codingPath))\(cause)"
        @unknown default: return "\(error)"
        }
    }

    /// Where in a value something is, for people: ` at [2].name`. The coders name an element of an array by its number.
    private static func place(_ path: [any CodingKey]) -> String {
        var text = ""
        for key in path {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
        return text.isEmpty ? "" : " at \(text)"
    }
}
