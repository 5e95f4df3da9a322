import Glibc
import GroupServer

// Synchronous on purpose: an asynchronous main parks the first thread with an empty signal mask, and SIGTERM kills it.
exit(Program.run(CommandLine.arguments))
