/* AF_UNIX sockets with paths of any length, and part 2 of CShims.h. */
#define _GNU_SOURCE
#include "CShims.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

_Static_assert(POLLIN == 0x001 && POLLOUT == 0x004 && POLLERR == 0x008 && POLLHUP == 0x010, "poll bits");

/* Fills in the address. For a path over sun_path, *directory is a descriptor that must stay open until the call with
 * the address is over; otherwise -1. Result 0 or -errno. */
static int unix_address(const char *path, struct sockaddr_un *address, int *directory) {
    *directory = -1;
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    size_t length = strlen(path);
    if (length == 0) return -ENOENT; /* an empty name would be the abstract name of the kernel's choice */
    if (length < sizeof address->sun_path) {
        memcpy(address->sun_path, path, length + 1);
        return 0;
    }
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path) return -ENAMETOOLONG;
    char parent[4096];
    size_t parent_length = (size_t)(slash - path);
    if (parent_length >= sizeof parent) return -ENAMETOOLONG;
    memcpy(parent, path, parent_length);
    parent[parent_length] = 0;
    int fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -errno;
    int wrote = snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%s", fd, slash + 1);
    if (wrote < 0 || (size_t)wrote >= sizeof address->sun_path) {
        close(fd);
        return -ENAMETOOLONG;
    }
    *directory = fd;
    return 0;
}

static int stream_socket(int nonblock) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (nonblock ? SOCK_NONBLOCK : 0), 0);
    return fd < 0 ? -errno : fd;
}

static int bind_and_listen(int fd, const struct sockaddr_un *address, int backlog, mode_t mode) {
    /* The mode of the file that bind makes is the socket inode's mode less the umask: fchmod first means that there is
     * no moment at which others could connect. What a stricter umask then took away, chmod gives back. */
    if (fchmod(fd, mode) < 0) return -errno;
    if (bind(fd, (const struct sockaddr *)address, sizeof *address) < 0) return -errno;
    if (chmod(address->sun_path, mode) < 0) return -errno;
    if (listen(fd, backlog) < 0) return -errno;
    return 0;
}

int cshim_unix_listen(const char *path, int backlog, mode_t mode) {
    struct sockaddr_un address;
    int directory;
    int result = unix_address(path, &address, &directory);
    if (result == 0) {
        int fd = stream_socket(1);
        result = fd < 0 ? fd : bind_and_listen(fd, &address, backlog, mode);
        if (result == 0) result = fd;
        else if (fd >= 0) close(fd);
    }
    if (directory >= 0) close(directory);
    if (result >= 0) return result;
    errno = -result;
    return -1;
}

int cshim_unix_connect(const char *path, int nonblock) {
    struct sockaddr_un address;
    int directory;
    int result = unix_address(path, &address, &directory);
    if (result < 0) return result;
    int fd = stream_socket(nonblock);
    result = fd;
    while (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) < 0) {
        if (errno == EINTR) continue; /* AF_UNIX connects at once or not at all: starting again is right */
        result = -errno;
        close(fd);
        break;
    }
    if (directory >= 0) close(directory);
    return result;
}

int cshim_socketpair(int fds[2], int nonblock) {
    int type = SOCK_STREAM | SOCK_CLOEXEC | (nonblock ? SOCK_NONBLOCK : 0);
    return socketpair(AF_UNIX, type, 0, fds) < 0 ? -errno : 0;
}

ssize_t cshim_send(int fd, const void *bytes, size_t length, int dontwait) {
    for (;;) {
        ssize_t count = send(fd, bytes, length, MSG_NOSIGNAL | (dontwait ? MSG_DONTWAIT : 0));
        if (count >= 0) return count;
        if (errno != EINTR) return -errno;
    }
}

ssize_t cshim_recv(int fd, void *bytes, size_t length, int dontwait) {
    for (;;) {
        ssize_t count = recv(fd, bytes, length, dontwait ? MSG_DONTWAIT : 0);
        if (count >= 0) return count;
        if (errno != EINTR) return -errno;
    }
}

static int64_t microseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t cshim_monotonic_microseconds(void) { return microseconds(CLOCK_MONOTONIC); }
int64_t cshim_realtime_microseconds(void) { return microseconds(CLOCK_REALTIME); }

int cshim_poll(int fd, int events, int wake_fd, int timeout_ms) {
    int64_t deadline = cshim_monotonic_microseconds() + (int64_t)timeout_ms * 1000;
    int left = timeout_ms;
    for (;;) {
        /* A negative descriptor is ignored by poll. */
        struct pollfd polled[2] = {{fd, (short)events, 0}, {wake_fd, POLLIN, 0}};
        int count = poll(polled, 2, left);
        if (count >= 0) return polled[0].revents | (polled[1].revents != 0 ? CSHIM_WAKE : 0);
        if (errno != EINTR) return -errno;
        if (timeout_ms < 0) continue;
        int64_t rest = deadline - cshim_monotonic_microseconds();
        left = rest > 0 ? (int)((rest + 999) / 1000) : 0;
    }
}

int64_t cshim_poll_pair(int first, int first_events, int second, int second_events, int wake_fd, int timeout_ms) {
    struct pollfd polled[3] = {{first, (short)first_events, 0}, {second, (short)second_events, 0}, {wake_fd, POLLIN, 0}};
    /* An interruption is an early return with no events: the caller looks at its clock and comes back. */
    if (poll(polled, 3, timeout_ms) < 0) return errno == EINTR ? 0 : -errno;
    return (int64_t)(unsigned short)polled[0].revents | (int64_t)(unsigned short)polled[1].revents << 16
        | (polled[2].revents != 0 ? (int64_t)1 << 32 : 0);
}

int cshim_shutdown(int fd) { return shutdown(fd, SHUT_RDWR) < 0 ? -errno : 0; }
int cshim_close(int fd) { return close(fd) < 0 ? -errno : 0; }

int cshim_peer_uid(int fd, uid_t *uid) {
    pid_t pid;
    gid_t gid;
    return cshim_peer_credentials(fd, &pid, uid, &gid) < 0 ? -errno : 0;
}

int cshim_wake_create(void) {
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

void cshim_wake_signal(int fd) {
    uint64_t one = 1;
    /* Fails only when the counter is full: then the reader is awake already. */
    while (write(fd, &one, sizeof one) < 0 && errno == EINTR) {}
}

void cshim_wake_drain(int fd) {
    uint64_t count;
    while (read(fd, &count, sizeof count) < 0 && errno == EINTR) {}
}
