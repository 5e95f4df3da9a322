"""Changes a setting in three ways and prints each change as two observers saw it. Called by run.sh.

An observer is `appgroupctl watch GROUP --json`, a process of its own. The clock is monotonic; it is read just before
the change, and when the line of an observer has come.
"""

import json
import os
import selectors
import subprocess
import sys
import time

GROUP = "group.com.example.app"
TOOL, SOCKET, PROGRAM, DAEMON = sys.argv[1:]
PATIENCE = 10.0  # seconds


def tool(*arguments):
    return [TOOL, "--socket", SOCKET, "--quiet", *arguments]


def run(*arguments):
    return subprocess.run(tool(*arguments), check=True, capture_output=True, text=True).stdout


class Observers:
    """Two watches, and when each printed its next line."""

    def __init__(self):
        self.processes = [
            subprocess.Popen(tool("watch", GROUP, "--json", "--initial"), stdout=subprocess.PIPE) for _ in "AB"
        ]
        self.rests = [b"", b""]
        self.selector = selectors.DefaultSelector()
        for number, process in enumerate(self.processes):
            self.selector.register(process.stdout, selectors.EVENT_READ, number)
        self.lines()  # the snapshot: both watches stand

    def lines(self):
        """The next line of each, with the time at which it came."""
        seen = [None, None]
        end = time.monotonic() + PATIENCE
        while None in seen:
            ready = self.selector.select(end - time.monotonic())
            now = time.monotonic_ns()
            if not ready:
                sys.exit("live-demo: an observer saw nothing")
            for key, _ in ready:
                chunk = os.read(key.fd, 65536)
                if not chunk:
                    sys.exit("live-demo: an observer ended")
                line, separator, rest = (self.rests[key.data] + chunk).partition(b"\n")
                self.rests[key.data] = rest if separator else line
                if separator:
                    seen[key.data] = (now, json.loads(line))
        return seen

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()


def by_tool():
    start = time.monotonic_ns()
    process = subprocess.Popen(tool("write", GROUP, "theme", "-string", "light"))
    return start, lambda: process.wait()


def by_editor(path):
    """As editors save: a new file beside the old one, renamed over it."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text.replace("<string>light</string>", "<string>dark</string>"))
    start = time.monotonic_ns()
    os.rename(path + ".new", path)
    return start, lambda: None


def by_program(program):
    start = time.monotonic_ns()
    program.stdin.write("save\n")
    program.stdin.flush()
    return start, program.stdout.readline


def shown(change, field):
    return json.dumps(change[field], ensure_ascii=False) if field in change else "absent"


def origin(change):
    """Who made it, as the daemon knows it."""
    made_by = change["origin"]
    return " ".join(filter(None, [made_by["kind"], made_by.get("client")]))


ROW = "  {:<22} {:<24} {:>3}  {:<18} {:>7} {:>7}"


def row(title, start, seen):
    (_, one), (_, other) = seen
    if one != other:
        sys.exit("live-demo: the observers saw different things: %s and %s" % (one, other))
    text = "%s: %s → %s" % (one["key"], shown(one, "old"), shown(one, "new"))
    times = ["%.2f" % ((moment - start) / 1e6) for moment, _ in seen]
    print(ROW.format(title, text, one["revision"], origin(one), *times), flush=True)


def head(path):
    print()
    print("  daemon     process %s, private to this demo" % DAEMON)
    print("  group      %s, and its file:" % GROUP)
    print("             %s" % path)
    print("  observers  A and B, two processes: appgroupctl watch %s --json" % GROUP)
    print()
    print(ROW.format("changed by", "what both observers saw", "rev", "origin", "A, ms", "B, ms"))
    print("  " + "─" * 86)


def show(path, program, observers):
    head(path)
    steps = [
        ("appgroupctl write", by_tool),
        ("an editor's save", lambda: by_editor(path)),
        ("a UserDefaults program", lambda: by_program(program)),
    ]
    for title, step in steps:
        run("sync", GROUP)
        start, finish = step()
        row(title, start, observers.lines())
        finish()
    print()
    print("  ms: from just before the change until the observer's line is there (the start of")
    print("      appgroupctl and the fsync of UserDefaults included).")
    # And the other way round.
    run("sync", GROUP)
    program.stdin.write("read\n")
    program.stdin.flush()
    theme = program.stdout.readline().strip()
    print("  The UserDefaults program, at its next synchronize(), reads theme = %s too." % json.dumps(theme))


def main():
    run("link", GROUP)
    path = os.path.realpath(os.path.join(os.environ["XDG_CONFIG_HOME"], GROUP + ".plist"))
    run("write", GROUP, "fontSize", "-int", "12")
    program = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    observers = None
    try:
        program.stdout.readline()
        observers = Observers()
        show(path, program, observers)
    finally:
        if observers:
            observers.end()
        program.kill()
        program.wait()


try:
    main()
except KeyboardInterrupt:
    sys.exit(130)
except subprocess.CalledProcessError as error:
    sys.exit("live-demo: %s\n%s" % (error, error.stderr))
