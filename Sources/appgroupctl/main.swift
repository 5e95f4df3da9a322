// The control tool; everything it does is in AppGroupControl.

import AppGroupControl
import Glibc

exit(Control.run(Array(CommandLine.arguments.dropFirst())))
