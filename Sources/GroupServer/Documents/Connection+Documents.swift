import GroupProtocol

extension Connection {
    /// Puts replies of the document watch in line until enough is on its way for one send.
    func drainDocuments() {
        guard mayStream, documents?.isReady == true else { return }
        if owesFirstReply {
            enqueue(DocumentEvent.established.message)
            owesFirstReply = false
        }
        while outgoingSize < Self.streamChunk, let event = documents?.next() { enqueue(event.message) }
    }
}
