import Glibc

// What the clients print must be there when they are ended; and a peer that goes away is an error of that call.
_ = signal(SIGPIPE, SIG_IGN)
exit(Bench.run(CommandLine.arguments))
