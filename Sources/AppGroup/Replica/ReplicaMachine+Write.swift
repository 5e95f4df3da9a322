import GroupModel

// What a replica's machine keeps of the writes of this process.

extension ReplicaMachine {
    /// Some edits that belong together, as somebody wants them.
    struct Submission: Sendable, Equatable {
        var edits: [Edit]
        var unchangedSince: Int64?
        var isDurable = false
        /// Whether it is seen at once, or when the daemon has taken it.
        var isOptimistic = true
        /// Every key is removed before the edits, also those that this process does not know of.
        var isReset = false

        init(_ edits: [Edit]) {
            self.edits = edits
        }

        static var reset: Submission { replacement([]) }

        /// The group then holds what the edits make, and nothing else.
        static func replacement(_ edits: [Edit]) -> Submission {
            var submission = Submission(edits)
            submission.isReset = true
            return submission
        }
    }

    /// Some edits that belong together, from their submission until they are confirmed or refused.
    struct Write: Sendable, Equatable {
        enum Stage: Sendable, Equatable {
            case waiting
            case sent
            /// The connection broke before the reply: it may have been applied or not.
            case unknown
            /// The daemon has it; the watch has not told of this revision yet.
            case acknowledged(revision: Int64)
        }

        /// The newest of the writes that it stands for; it is what the tag says.
        var number: UInt64
        /// The oldest of them.
        var first: UInt64
        var edits: [Edit]
        var unchangedSince: Int64?
        var isDurable = false
        /// Not laid over the state: it is seen when the daemon has taken it.
        var isOptimistic = true
        /// Every key is removed before the edits. Never put together with others.
        var isReset = false
        /// What it was put together from, if it was: should the daemon refuse the whole, each is for itself.
        var parts: [Write] = []
        /// A part of what was refused: it is sent by itself, so that the error reaches the one who caused it.
        var isAlone = false
        /// The revision that was known when it was sent: should it be a commit, it is one after that.
        var sentAfter: Int64 = 0
        /// Its place in the order of sending, which is that of the daemon; what is sent again leaves its place.
        var turn: UInt64 = 0
        /// The daemon has come to it, as a later write shows that the watch has told of: it counts no more for readers, and
        /// stands until its reply.
        var isSettled = false
        var stage = Stage.waiting
        /// It has been sent once: what was never sent comes after it.
        var isBelow = false
        /// Whether it was applied cannot be known, and doing it again could count twice.
        var isUndecided = false

        /// Whether it is laid over what is confirmed.
        var isVisible: Bool { isOptimistic && !isSettled }

        init(_ submission: Submission, _ number: UInt64) {
            (self.number, first, edits) = (number, number, submission.edits)
            (unchangedSince, isDurable) = (submission.unchangedSince, submission.isDurable)
            (isOptimistic, isReset) = (submission.isOptimistic, submission.isReset)
        }
    }
}

extension ReplicaMachine.Write {
    /// Whether it may share a commit with its neighbours.
    var isPlain: Bool { unchangedSince == nil && isOptimistic && !isAlone && !isReset }

    /// Whether doing it again leaves what doing it once does.
    var isRepeatable: Bool {
        unchangedSince == nil && edits.allSatisfy { $0.isAbsolute || $0.operation == .merge }
    }

    /// Whether a commit that the watch tells of confirms it; `number` is what the commit's tag says.
    func isCovered(by commit: Commit, _ number: UInt64?) -> Bool {
        if self.number == number { return true }
        guard case .acknowledged(let revision) = stage else { return false }
        return revision <= commit.revision
    }
}
