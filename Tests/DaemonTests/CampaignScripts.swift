import Foundation
import TestSupport

/// Small programs in Python for what must be a process of its own: one that can be stopped, or one that nobody here
/// wrote the client for.
enum CampaignScript: String {
    /// PATH GROUP NAME COUNT: so many writes, one at a time.
    case writer = """
        for number in range(int(sys.argv[4])):
            edit = {"key": "%s.%d" % (sys.argv[3], number % 16), "value": {"integer": number}}
            reply = peer.call("Write", group=sys.argv[2], edits=[edit], tag="%s-%d" % (sys.argv[3], number))
            assert len(reply["parameters"]["changed"]) == 1, reply
        """

    /// PATH GROUP NAME COUNT: so many writes, 64 ahead of their replies.
    case storm = """
        count, open_calls = int(sys.argv[4]), 0
        for number in range(count):
            edit = {"key": "%s.%d" % (sys.argv[3], number % 64), "value": {"integer": number}}
            peer.send("Write", group=sys.argv[2], edits=[edit])
            open_calls += 1
            while open_calls == 64 or (number == count - 1 and open_calls):
                assert len(peer.receive()["parameters"]["changed"]) == 1
                open_calls -= 1
        """

    /// PATH GROUP: keeps a replica, and prints it as one line when it sees the key `end`.
    case observer = """
        peer.send("Watch", more=True, watches=[{"group": sys.argv[2]}])
        values, coalesced, commits, reasons, revision = {}, 0, 0, [], 0
        while "end" not in values:
            event = peer.receive()["parameters"]
            if "snapshot" in event:
                if not event["snapshot"].get("partial"):
                    reasons.append(event["snapshot"]["reason"])
                values, revision = event["snapshot"]["values"], event["snapshot"]["position"]["revision"]
                if len(reasons) == 1:
                    print("ready", flush=True)
            elif "commit" in event:
                commits += 1
                revision += event.get("coalesced", 1)
                coalesced += event.get("coalesced", 1) - 1
                assert revision == event["commit"]["revision"], (revision, event)
                for change in event["commit"]["changes"]:
                    assert values.get(change["key"]) == change.get("old"), change
                    if "new" in change:
                        values[change["key"]] = change["new"]
                    else:
                        del values[change["key"]]
        integers = {key: value["integer"] for key, value in values.items()}
        print(json.dumps({"coalesced": coalesced, "commits": commits, "reasons": reasons, "values": integers}))
        """

    /// FILE SEED COUNT PAUSE: saves the file again and again as editors do, each time with a new key; prints each key.
    /// Like a careful editor it reads anew when the file has changed since it was read.
    case editor = """
        def identity(status):
            return status.st_ino, status.st_mtime_ns, status.st_size

        random.seed(int(sys.argv[2]))
        path, number, count, pause = sys.argv[1], 0, int(sys.argv[3]), float(sys.argv[4])
        while number < count:
            with open(path) as file:
                text, before = file.read(), identity(os.fstat(file.fileno()))
            place = text.rindex("</dict>")
            line = "\\t<key>edit.%d</key>\\n\\t<integer>%d</integer>\\n" % (number, number)
            text = text[:place] + line + text[place:]
            if random.random() < 0.5:
                with open(path + "~", "w") as file:
                    file.write(text)
                if identity(os.stat(path)) != before:
                    continue
                os.rename(path + "~", path)
            else:
                with open(path, "r+") as file:
                    if identity(os.fstat(file.fileno())) != before:
                        continue
                    middle = random.randrange(len(text))
                    file.truncate(0)
                    file.write(text[:middle])
                    file.flush()
                    time.sleep(random.random() * 0.005)
                    file.write(text[middle:])
            print("edit.%d" % number, flush=True)
            number += 1
            time.sleep(random.random() * pause)
        """

    private static let prelude = """
        import collections, json, os, random, socket, stat, sys, time

        class Peer:
            def __init__(self, path):
                self.socket = socket.socket(socket.AF_UNIX)
                self.socket.connect(path)
                self.rest, self.messages = b"", collections.deque()

            def send(self, method, more=False, **parameters):
                call = {"method": "io.appgroupd.Settings." + method, "parameters": parameters}
                if more:
                    call["more"] = True
                self.socket.sendall(json.dumps(call).encode() + b"\\0")

            def receive(self):
                while not self.messages:
                    chunk = self.socket.recv(1 << 16)
                    assert chunk, "the daemon has closed the connection"
                    *whole, self.rest = (self.rest + chunk).split(b"\\0")
                    self.messages.extend(whole)
                return json.loads(self.messages.popleft())

            def call(self, method, **parameters):
                self.send(method, **parameters)
                return self.receive()

        peer = Peer(sys.argv[1]) if stat.S_ISSOCK(os.stat(sys.argv[1]).st_mode) else None

        """

    func start(_ arguments: [String]) throws -> ChildProcess {
        try ChildProcess("/usr/bin/env", ["python3", "-c", Self.prelude + rawValue] + arguments)
    }
}
