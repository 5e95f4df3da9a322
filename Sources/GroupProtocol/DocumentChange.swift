package import GroupModel
package import PropertyList
package import Varlink

/// What happened to a file in a group's `Documents` directory.
package struct DocumentChange: Equatable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case created, changed, deleted
    }

    /// Below `Documents`, as the interface has it.
    package var path: String
    package var kind: Kind
    package var time: Timestamp
    package var origin: Origin

    package init(path: String, kind: Kind, time: Timestamp, origin: Origin = Origin(kind: .file)) {
        self.path = path
        self.kind = kind
        self.time = time
        self.origin = origin
    }
}

/// One reply of a `WatchDocuments`.
package enum DocumentEvent: Equatable, Sendable {
    /// The watch stands.
    case established
    case change(DocumentChange)
    /// Look at every file.
    case rescan
}

extension DocumentEvent {
    /// The message, its NUL included.
    package var message: [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        if self != .established {
            writer.member("parameters")
            writer.write(self)
        }
        writer.member("continues", boolean: true)
        writer.endObject()
        writer.endMessage()
        return writer.bytes
    }

    /// Nil for a reply that is none of these.
    package init?(wire parameters: JSONObject) {
        if let field = parameters["change"], !field.isNull {
            guard let change = DocumentChange(wire: field) else { return nil }
            self = .change(change)
        } else if let field = parameters["rescan"], !field.isNull {
            guard let isRescan = field.booleanValue else { return nil }
            self = isRescan ? .rescan : .established
        } else {
            self = .established
        }
    }
}

extension JSONWriter {
    /// The parameters of the reply.
    package mutating func write(_ event: DocumentEvent) {
        beginObject()
        switch event {
        case .established: break
        case .change(let change):
            member("change")
            write(change)
        case .rescan: member("rescan", boolean: true)
        }
        endObject()
    }

    private mutating func write(_ change: DocumentChange) {
        beginObject()
        member("path", string: change.path)
        member("kind", string: change.kind.rawValue)
        member("time", string: change.time.rfc3339Microseconds)
        member("origin")
        write(change.origin)
        endObject()
    }
}

extension DocumentChange {
    fileprivate init?(wire json: JSON) {
        guard let object = json.objectValue, let path = object["path"]?.stringValue,
            let kind = object["kind"]?.stringValue.flatMap(Kind.init),
            let time = object["time"]?.stringValue.flatMap({ Timestamp(rfc3339: $0) }),
            let origin = object["origin"].flatMap(Origin.init(wire:))
        else { return nil }
        self.init(path: path, kind: kind, time: time, origin: origin)
    }
}
