/*
 * What the kernel answers the daemon, where a test wants another answer than the real one: preloaded, between the program,
 * which stays as it is, and the C library.
 *
 *     clang -shared -fPIC -O1 -o kernel.so Tests/Fixtures/kernel/kernel.c
 *     LD_PRELOAD=$PWD/kernel.so APPGROUP_TEST_KERNEL=$PWD/rules …/appgroupd …
 *
 * The file of rules is read at each call, so that a test may change it at any time. A rule is a line:
 *
 *     clock SECONDS       CLOCK_REALTIME is so much later (or earlier, below zero)
 *     CALL ERRNO [END]    the call fails; of those with a path only where it ends so.
 *                         CALL: fsync fdatasync pwrite ftruncate unlink exchange
 *     hang [END]          fsync and fdatasync wait until the rule is gone, those of a file whose path ends so; RULES.hung is
 *                         there once one has waited
 *     die-after-exchange  SIGKILL to itself, once two names are exchanged
 *     nth N COUNT ERRNO PART
 *                         from the Nth on, so many calls on files fail: those that change something, that read, and that open
 *                         a path with this part in it. How many there were is in RULES.count when the program has ended.
 *     network PREFIX      what begins so is on NFS: another machine writes there, of which inotify tells nothing
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* Gives what stands behind the rule's name, or NULL where there is no such rule. */
static const char *rule(const char *name, char *text, size_t size) {
    const char *path = getenv("APPGROUP_TEST_KERNEL");
    int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0) : -1;
    if (fd < 0) return NULL;
    ssize_t count = read(fd, text, size - 1);
    close(fd);
    text[count > 0 ? count : 0] = 0;
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        size_t length = strlen(name);
        if (strncmp(line, name, length) == 0 && (line[length] == ' ' || line[length] == 0)) return line + length;
    }
    return NULL;
}

static _Atomic long calls;

/* Whether this is one of the calls that fail by their number. Those without a path are about files that are open. */
static int is_nth(const char *path) {
    char text[512], part[256];
    long first = 0, count = 0;
    int error = 0, before = errno;
    const char *found = rule("nth", text, sizeof text);
    errno = before;
    if (!found || sscanf(found, "%ld %ld %d %255s", &first, &count, &error, part) < 4) return 0;
    if (path && !strstr(path, part)) return 0;
    long number = ++calls;
    if (number < first || number >= first + count) return 0;
    errno = error;
    return 1;
}

__attribute__((destructor)) static void report(void) {
    char path[4096];
    if (!calls || !getenv("APPGROUP_TEST_KERNEL")) return;
    snprintf(path, sizeof path, "%s.count", getenv("APPGROUP_TEST_KERNEL"));
    FILE *file = fopen(path, "w");
    if (!file) return;
    fprintf(file, "%ld\n", calls);
    fclose(file);
}

/* Whether the call fails, with errno set. */
static int fails(const char *call, const char *path) {
    char text[512], end[128] = "";
    int error = 0, before = errno;
    if (is_nth(path)) return 1;
    const char *found = rule(call, text, sizeof text);
    errno = before;
    if (!found || sscanf(found, "%d %127s", &error, end) < 1) return 0;
    size_t length = path ? strlen(path) : 0, tail = strlen(end);
    if (tail > length || (tail && strcmp(path + length - tail, end) != 0)) return 0;
    errno = error;
    return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int clock_gettime(clockid_t clock, struct timespec *time) {
    char text[512];
    int before = errno, result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result != 0 || clock != CLOCK_REALTIME) return result;
    const char *found = rule("clock", text, sizeof text);
    if (found) time->tv_sec += atoll(found);
    errno = before;
    return result;
}

/* Whether the rule "hang" is there, and means this file. */
static int hangs(int fd) {
    char text[512], path[4096], link[32];
    const char *end = rule("hang", text, sizeof text);
    if (!end || *end++ == 0) return end != NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path), tail = (ssize_t)strlen(end);
    return length >= tail && memcmp(path + length - tail, end, (size_t)tail) == 0;
}

static void wait_for_disk(int fd) {
    char path[4096];
    int before = errno, is_told = 0;
    for (; hangs(fd); nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL)) {
        if (is_told) continue;
        snprintf(path, sizeof path, "%s.hung", getenv("APPGROUP_TEST_KERNEL"));
        int marker = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (marker >= 0) close(marker);
        is_told = 1;
    }
    errno = before;
}

int fsync(int fd) {
    wait_for_disk(fd);
    return fails("fsync", NULL) ? -1 : NEXT(fsync)(fd);
}

int fdatasync(int fd) {
    wait_for_disk(fd);
    return fails("fdatasync", NULL) ? -1 : NEXT(fdatasync)(fd);
}

int ftruncate(int fd, off_t size) { return fails("ftruncate", NULL) ? -1 : NEXT(ftruncate)(fd, size); }

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    return fails("pwrite", NULL) ? -1 : NEXT(pwrite)(fd, bytes, count, offset);
}

ssize_t write(int fd, const void *bytes, size_t count) {
    struct stat status;
    int before = errno, is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    errno = before;
    return is_file && is_nth(NULL) ? -1 : NEXT(write)(fd, bytes, count);
}

ssize_t pread(int fd, void *bytes, size_t count, off_t offset) {
    return is_nth(NULL) ? -1 : NEXT(pread)(fd, bytes, count, offset);
}

int openat(int directory, const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return is_nth(path) ? -1 : NEXT(openat)(directory, path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return is_nth(path) ? -1 : NEXT(open)(path, flags, mode);
}

int mkdir(const char *path, mode_t mode) { return is_nth(path) ? -1 : NEXT(mkdir)(path, mode); }
int link(const char *path, const char *new_path) { return is_nth(path) ? -1 : NEXT(link)(path, new_path); }
int fchmod(int fd, mode_t mode) { return is_nth(NULL) ? -1 : NEXT(fchmod)(fd, mode); }

static int is_on_network(const char *path) {
    char text[512];
    int before = errno;
    const char *prefix = rule("network", text, sizeof text);
    errno = before;
    return prefix && strncmp(path, prefix + 1, strlen(prefix + 1)) == 0;
}

int statfs(const char *path, struct statfs *info) {
    int result = NEXT(statfs)(path, info);
    if (result == 0 && is_on_network(path)) info->f_type = NFS_SUPER_MAGIC;
    return result;
}

int inotify_add_watch(int fd, const char *path, uint32_t mask) {
    return NEXT(inotify_add_watch)(fd, path, is_on_network(path) ? IN_DELETE_SELF : mask);
}

int unlinkat(int directory, const char *path, int flags) {
    return fails("unlink", path) ? -1 : NEXT(unlinkat)(directory, path, flags);
}

int renameat2(int directory, const char *path, int other, const char *new_path, unsigned int flags) {
    char text[512];
    if (flags & RENAME_EXCHANGE ? fails("exchange", new_path) : is_nth(new_path)) return -1;
    int result = NEXT(renameat2)(directory, path, other, new_path, flags);
    if (result == 0 && flags & RENAME_EXCHANGE && rule("die-after-exchange", text, sizeof text))
        kill(getpid(), SIGKILL);
    return result;
}
