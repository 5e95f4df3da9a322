import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import ServiceIO

/// Mending a damaged plist on demand: nobody's text is lost, and the group's values are in the file again.
extension GroupHost {
    /// Calls back with the path of the copy that was made of the damaged text, or nil where the plist is sound.
    func repair(_ done: @escaping (Result<String?, GroupError>) -> Void) {
        guard !isClosed else { return done(.failure(.noSuchGroup(identifier.string))) }
        whenPlistIsSettled { [unowned self] error in
            guard case .damaged(let problem)? = plist.obstacle, let digest = plist.damagedDigest, !isUnknown else {
                return done(error.map(Result.failure) ?? .success(nil))
            }
            // Another one who waited with us was first.
            guard !plist.isBusy else { return repair(done) }
            startRepair(of: digest)
            Log.notice("group \(identifier): the property list is being repaired: \(problem.text)", about: subject)
            whenPlistIsSettled { [unowned self] error in
                done(error.map(Result.failure) ?? .success(plist.repairedCopy))
            }
        }
    }

    private func startRepair(of damaged: Digest) {
        flush()
        plist.base.beginProjection()
        plist.lastFailure = nil
        plist.repairedCopy = nil
        let (file, values, suffix) = (plist.file, state.values, ".damaged-\(server.fileTimeText)")
        startPlistJob {
            let (copy, preparation) = file.prepareRepair(values, of: damaged, suffix: suffix)
            return .repairPrepared(copy: copy, preparation)
        }
    }
}
