/* libinotifytools. All its state is global: only GroupWatch's one thread may call it. */
#include <inotifytools/inotifytools.h>
#include <inotifytools/inotify.h>
