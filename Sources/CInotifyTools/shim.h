/* libinotifytools. All its state is global: only GroupWatch's one thread may call it. */
#include <fcntl.h>
#include <inotifytools/inotify.h>
#include <inotifytools/inotifytools.h>
#include <sys/select.h>

/* The library waits with select, which cannot take a descriptor from here on (glibc aborts the process). */
static const int inotifytools_descriptor_limit = FD_SETSIZE;

/* The library opens its descriptor without IN_CLOEXEC; fcntl is variadic, which Swift cannot call. */
static inline void inotifytools_close_on_exec(int fd) {
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}
