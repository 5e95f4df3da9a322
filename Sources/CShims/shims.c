/* Part 1 of CShims.h: gaps of Swift's Glibc module. */
#define _GNU_SOURCE
#include "CShims.h"
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/uio.h>
#include <unistd.h>
#include <wchar.h>
#include <linux/close_range.h>
#include <linux/magic.h>

_Static_assert(sizeof(pthread_t) == sizeof(((cshim_thread *)0)->opaque), "cshim_thread holds a pthread_t");

const int cshim_O_PATH = O_PATH;
const int cshim_O_TMPFILE = O_TMPFILE;
const unsigned int cshim_RENAME_NOREPLACE = RENAME_NOREPLACE;
const unsigned int cshim_RENAME_EXCHANGE = RENAME_EXCHANGE;

int cshim_open(const char *path, int flags, mode_t mode) { return open(path, flags, mode); }
int cshim_openat(int directory, const char *path, int flags, mode_t mode) {
    return openat(directory, path, flags, mode);
}
int cshim_fcntl_getfl(int fd) { return fcntl(fd, F_GETFL); }
int cshim_fcntl_setfl(int fd, int flags) { return fcntl(fd, F_SETFL, flags); }
int cshim_fcntl_getfd(int fd) { return fcntl(fd, F_GETFD); }
int cshim_fcntl_setfd(int fd, int flags) { return fcntl(fd, F_SETFD, flags); }
int cshim_fcntl_dupfd_cloexec(int fd, int minimum) { return fcntl(fd, F_DUPFD_CLOEXEC, minimum); }

int cshim_accept4(int fd) { return accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC); }
int cshim_pipe2(int fds[2], int flags) { return pipe2(fds, flags); }
int cshim_renameat2(int old_directory, const char *old_path, int new_directory, const char *new_path,
                    unsigned int flags) {
    return renameat2(old_directory, old_path, new_directory, new_path, flags);
}
ssize_t cshim_pread_cached(int fd, void *bytes, size_t length, off_t offset) {
    struct iovec part = {.iov_base = bytes, .iov_len = length};
    return preadv2(fd, &part, 1, offset, RWF_NOWAIT);
}
int cshim_memfd_create(const char *name) { return memfd_create(name, MFD_CLOEXEC); }
void cshim_trim_memory(void) { malloc_trim(0); }

int cshim_gettid(void) { return gettid(); }

static locale_t utf8_locale;
static void make_utf8_locale(void) { utf8_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0); }

int cshim_wcwidth(uint32_t scalar) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_utf8_locale);
    if (!utf8_locale) return 1;
    locale_t before = uselocale(utf8_locale);
    int width = wcwidth((wchar_t)scalar);
    uselocale(before);
    return width;
}
ssize_t cshim_getrandom(void *buffer, size_t length) { return getrandom(buffer, length, 0); }

int cshim_thread_set_name(const char *name) {
    char cut[16];
    snprintf(cut, sizeof cut, "%s", name);
    int failure = pthread_setname_np(pthread_self(), cut);
    if (failure == 0) return 0;
    errno = failure;
    return -1;
}

static const int whole = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

int cshim_memfd_sealed(const char *name, const void *bytes, size_t length)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    size_t done = 0;
    while (done < length) {
        ssize_t count = write(fd, (const char *)bytes + done, length - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            goto fail;
        done += (size_t)count;
    }
    if (fcntl(fd, F_ADD_SEALS, whole) == 0)
        return fd;
fail:;
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

int cshim_is_sealed(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & whole) == whole;
}

int cshim_peer_credentials(int fd, pid_t *pid, uid_t *uid, gid_t *gid) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) return -1;
    *pid = peer.pid;
    *uid = peer.uid;
    *gid = peer.gid;
    return 0;
}

int cshim_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
int cshim_eventfd_blocking(void) { return eventfd(0, EFD_CLOEXEC); }
int cshim_set_parent_death_signal(int signal) { return prctl(PR_SET_PDEATHSIG, signal); }

_Static_assert(CSHIM_EPOLLIN == EPOLLIN && CSHIM_EPOLLPRI == EPOLLPRI && CSHIM_EPOLLOUT == EPOLLOUT, "epoll bits");
_Static_assert(CSHIM_EPOLLERR == EPOLLERR && CSHIM_EPOLLHUP == EPOLLHUP && CSHIM_EPOLLRDHUP == EPOLLRDHUP, "epoll bits");

int cshim_signalfd(const int *signals, int count) {
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < count; i++) sigaddset(&set, signals[i]);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int cshim_signalfd_next(int fd) {
    struct signalfd_siginfo info;
    return read(fd, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}

int cshim_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

static int epoll_control(int epoll, int operation, int fd, uint64_t token, uint32_t events) {
    struct epoll_event event = {.events = events, .data.u64 = token};
    return epoll_ctl(epoll, operation, fd, &event);
}

int cshim_epoll_add(int epoll, int fd, uint64_t token, uint32_t events) {
    return epoll_control(epoll, EPOLL_CTL_ADD, fd, token, events);
}
int cshim_epoll_modify(int epoll, int fd, uint64_t token, uint32_t events) {
    return epoll_control(epoll, EPOLL_CTL_MOD, fd, token, events);
}
int cshim_epoll_remove(int epoll, int fd) { return epoll_control(epoll, EPOLL_CTL_DEL, fd, 0, 0); }

int cshim_epoll_wait(int epoll, uint64_t *tokens, uint32_t *events, int count, int timeout_ms) {
    struct epoll_event batch[256]; /* CSHIM_EPOLL_BATCH */
    int ready = epoll_wait(epoll, batch, count < CSHIM_EPOLL_BATCH ? count : CSHIM_EPOLL_BATCH, timeout_ms);
    for (int index = 0; index < ready; index++) {
        tokens[index] = batch[index].data.u64;
        events[index] = batch[index].events;
    }
    return ready;
}

int cshim_flock_exclusive(int fd) { return flock(fd, LOCK_EX | LOCK_NB); }
int cshim_flock_unlock(int fd) { return flock(fd, LOCK_UN); }

int cshim_is_network_file_system(const char *path) {
    struct statfs info;
    if (statfs(path, &info) < 0) return -1;
    switch ((unsigned long)info.f_type & 0xffffffffUL) {
    case NFS_SUPER_MAGIC:
    case SMB_SUPER_MAGIC:
    case CIFS_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
    case FUSE_SUPER_MAGIC:
    case V9FS_MAGIC:
    case AFS_SUPER_MAGIC:
    case AFS_FS_MAGIC:
    case CEPH_SUPER_MAGIC:
    case CODA_SUPER_MAGIC:
    case 0x0BD00BD0: /* LUSTRE_SUPER_MAGIC, not in <linux/magic.h> */
        return 1;
    default:
        return 0;
    }
}

const char *cshim_errno_name(int number) { return strerrorname_np(number); }
const char *cshim_errno_text(int number) { return strerrordesc_np(number); }

struct start {
    void (*body)(void *);
    void *argument;
    char name[16];
};

static void *thread_main(void *pointer) {
    struct start start = *(struct start *)pointer;
    free(pointer);
    pthread_setname_np(pthread_self(), start.name);
    start.body(start.argument);
    return NULL;
}

int cshim_thread_start(cshim_thread *thread, const char *name, void (*body)(void *), void *argument) {
    struct start *start = malloc(sizeof *start);
    if (start == NULL) return ENOMEM;
    start->body = body;
    start->argument = argument;
    snprintf(start->name, sizeof start->name, "%s", name);
    /* A thread inherits the mask of its maker: block for the moment of creation, so that no signal ever lands on it. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t made;
    int failure = pthread_create(&made, NULL, thread_main, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure != 0) {
        free(start);
        return failure;
    }
    thread->opaque = made;
    return 0;
}

int cshim_thread_join(cshim_thread thread) { return pthread_join(thread.opaque, NULL); }
int cshim_thread_detach(cshim_thread thread) { return pthread_detach(thread.opaque); }

static void child_main(const char *path, char *const argv[], char *const envp[], const int *fds, int death_signal) {
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (death_signal != 0) prctl(PR_SET_PDEATHSIG, death_signal);
    /* First out of the way of 0…2, then into place: the given numbers may overlap with them. */
    int high[3];
    for (int index = 0; index < 3; index++) high[index] = fcntl(fds[index], F_DUPFD_CLOEXEC, 3);
    for (int index = 0; index < 3; index++)
        if (dup2(high[index], index) < 0) _exit(127);
    /* The test program may hold descriptors without CLOEXEC, inherited from whoever started it. */
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    execve(path, argv, envp);
    _exit(127);
}

int cshim_spawn(const char *path, char *const argv[], char *const envp[], int in, int out, int err, int death_signal) {
    const int fds[3] = {in, out, err};
    int gone[2];
    if (pipe2(gone, O_CLOEXEC) < 0) return -1;
    pid_t pid = fork();
    if (pid == 0) child_main(path, argv, envp, fds, death_signal);
    /* Until its exec the child has a copy of every descriptor, and a file that we close meanwhile is not closed yet. The
       exec, or the child's end, closes its end of the pipe. */
    close(gone[1]);
    char byte;
    if (pid > 0) while (read(gone[0], &byte, 1) < 0 && errno == EINTR) {}
    close(gone[0]);
    return pid;
}
