/*
 * What Swift cannot reach by itself. Swift's Glibc module is built without _GNU_SOURCE, macros with casts do not
 * import, and variadic functions cannot be called. Each entry below names its reason.
 *
 * Part 1 follows libc: -1 and errno. Part 2, the socket API of the client library (which imports neither Glibc nor
 * LinuxIO), returns -errno instead, because errno cannot be read there.
 */
#ifndef CSHIMS_H
#define CSHIMS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- Part 1: gaps of the Glibc module (result -1, reason in errno) ---- */

/* Variadic in libc. */
int cshim_open(const char *path, int flags, mode_t mode);
int cshim_openat(int directory, const char *path, int flags, mode_t mode);
int cshim_fcntl_getfl(int fd);
int cshim_fcntl_setfl(int fd, int flags);
int cshim_fcntl_getfd(int fd);
int cshim_fcntl_setfd(int fd, int flags);
int cshim_fcntl_dupfd_cloexec(int fd, int minimum);

/* Need _GNU_SOURCE. */
extern const int cshim_O_PATH;
extern const int cshim_O_TMPFILE;
extern const unsigned int cshim_RENAME_NOREPLACE;
extern const unsigned int cshim_RENAME_EXCHANGE;
int cshim_accept4(int fd);                 /* SOCK_NONBLOCK | SOCK_CLOEXEC, the address is not asked for */
int cshim_pipe2(int fds[2], int flags);
int cshim_renameat2(int old_directory, const char *old_path, int new_directory, const char *new_path,
                    unsigned int flags);
ssize_t cshim_pread_cached(int fd, void *bytes, size_t length, off_t offset); /* preadv2 with RWF_NOWAIT */
int cshim_memfd_create(const char *name);  /* MFD_CLOEXEC */
/* F_ADD_SEALS and F_GET_SEALS are variadic as well. A memfd with these bytes, which nobody can change any more. */
int cshim_memfd_sealed(const char *name, const void *bytes, size_t length);
int cshim_is_sealed(int fd);               /* 1 when its size and content are sealed, else 0 */
int cshim_gettid(void);
int cshim_wcwidth(uint32_t scalar); /* in the locale C.UTF-8, whatever the process's own; -1 for what does not print */
void cshim_trim_memory(void);              /* malloc_trim: gives unused heap pages back */
ssize_t cshim_getrandom(void *buffer, size_t length);
int cshim_thread_set_name(const char *name); /* of the calling thread; at most 15 bytes, the rest is cut */

/* struct ucred needs _GNU_SOURCE. */
int cshim_peer_credentials(int fd, pid_t *pid, uid_t *uid, gid_t *gid);

/* <sys/eventfd.h> and <sys/prctl.h> are not in the Glibc module. */
int cshim_eventfd(void);                   /* EFD_CLOEXEC | EFD_NONBLOCK */
int cshim_eventfd_blocking(void);          /* EFD_CLOEXEC: to read is to wait */
int cshim_signalfd(const int *signals, int count);  /* SFD_CLOEXEC | SFD_NONBLOCK */
int cshim_signalfd_next(int fd);                    /* the number of the next signal; 0: none */
int cshim_set_parent_death_signal(int signal);

/* struct epoll_event holds a union with a pointer, unsafe to Swift; <sys/epoll.h> is not in the Glibc module. At most
 * CSHIM_EPOLL_BATCH events a call. */
static const int CSHIM_EPOLL_BATCH = 256;
/* The events of epoll(7). */
enum {
    CSHIM_EPOLLIN = 0x001,
    CSHIM_EPOLLPRI = 0x002,
    CSHIM_EPOLLOUT = 0x004,
    CSHIM_EPOLLERR = 0x008,
    CSHIM_EPOLLHUP = 0x010,
    CSHIM_EPOLLRDHUP = 0x2000,
};
int cshim_epoll_create(void);              /* EPOLL_CLOEXEC */
int cshim_epoll_add(int epoll, int fd, uint64_t token, uint32_t events);
int cshim_epoll_modify(int epoll, int fd, uint64_t token, uint32_t events);
int cshim_epoll_remove(int epoll, int fd);
int cshim_epoll_wait(int epoll, uint64_t *tokens, uint32_t *events, int count, int timeout_ms);

/* CRC-32C by the processor's own instruction, which Swift has no name for. Whether this processor has one; only then may
 * the second be called. `remainder` is what the bytes before left, ~0 at the start. */
int cshim_crc32c_is_supported(void);
uint32_t cshim_crc32c(uint32_t remainder, const void *bytes, size_t length);

/* `struct flock` and the function flock() share a name. */
int cshim_flock_exclusive(int fd);         /* LOCK_EX | LOCK_NB */
int cshim_flock_unlock(int fd);

/* 1 when the path lies on a network or FUSE file system (inotify does not see what others change), else 0. */
int cshim_is_network_file_system(const char *path);

/* strerrorname_np and strerrordesc_np need _GNU_SOURCE; strerror is not
 * thread-safe. Null for an unknown number. */
const char *cshim_errno_name(int number);
const char *cshim_errno_text(int number);

/* socket(2), bind(2) and listen(2) of an AF_UNIX stream socket, with a path of any length: one that does not fit into
 * sun_path is reached through an O_PATH descriptor of its directory. The file has this mode whatever the umask, and
 * at no moment a wider one. */
int cshim_unix_listen(const char *path, int backlog, mode_t mode);

/* A thread with all signals blocked (the mask must be set around its creation, in one place).
 * `body` is called once with `argument`. Returns 0 or an errno. */
typedef struct { unsigned long opaque; } cshim_thread;
int cshim_thread_start(cshim_thread *thread, const char *name, void (*body)(void *), void *argument);
int cshim_thread_join(cshim_thread thread);
int cshim_thread_detach(cshim_thread thread);

/* fork + exec for tests: only async-signal-safe calls between the two, which Swift cannot promise. The child gets the
 * three descriptors as 0, 1 and 2, an empty signal mask, default signal actions, and `death_signal` when the forking
 * *thread* ends. */
int cshim_spawn(const char *path, char *const argv[], char *const envp[], int in, int out, int err, int death_signal);

/* ---- Part 2: sockets for the client library (result -errno) ---- */

static const int CSHIM_POLLIN = 0x001;
static const int CSHIM_POLLOUT = 0x004;
static const int CSHIM_POLLERR = 0x008;
static const int CSHIM_POLLHUP = 0x010;
static const int CSHIM_WAKE = 0x10000;     /* the wake descriptor is readable */

/* Connected stream socket (CLOEXEC). `nonblock`: whether it stays non-blocking; connect itself then may give -EAGAIN
 * (the listener's queue is full). The path may have any length. */
int cshim_unix_connect(const char *path, int nonblock);
int cshim_socketpair(int fds[2], int nonblock);
/* Never SIGPIPE. `dontwait`: -EAGAIN instead of waiting. */
ssize_t cshim_send(int fd, const void *bytes, size_t length, int dontwait);
/* 0 at the end of the stream. No control buffer: descriptors that a peer passes are closed by the kernel. */
ssize_t cshim_recv(int fd, void *bytes, size_t length, int dontwait);
/* Waits for `events` on fd, and for readability of wake_fd (-1: none). Result: the events that hold (CSHIM_WAKE for
 * the wake descriptor), 0 after timeout_ms (-1: for ever), or -errno. Restarts after signals with what time is left. */
int cshim_poll(int fd, int events, int wake_fd, int timeout_ms);
/* Two descriptors (-1: none) and a wake_fd. The events of the first in bits 0-15, of the second in bits 16-31, bit 32 for
   the wake; negative errno. For the client library's thread, which has a connection for calls and one for the watch. */
int64_t cshim_poll_pair(int first, int first_events, int second, int second_events, int wake_fd, int timeout_ms);
int cshim_shutdown(int fd);
int cshim_close(int fd);
int cshim_peer_uid(int fd, uid_t *uid);
int cshim_wake_create(void);               /* an eventfd, non-blocking, CLOEXEC */
void cshim_wake_signal(int fd);
void cshim_wake_drain(int fd);
int64_t cshim_monotonic_microseconds(void);
int64_t cshim_realtime_microseconds(void);

#endif
