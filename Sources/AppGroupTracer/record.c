/* What a program did to files, one line a call, in the order in which the calls ended. The fields are divided by tabs:
 *
 *   MICROSECONDS  write     INODE  OFFSET  LENGTH  PLACE      PLACE: where its bytes are in FILE.data
 *   MICROSECONDS  truncate  INODE  SIZE
 *   MICROSECONDS  allocate  INODE  MODE  OFFSET  LENGTH
 *   MICROSECONDS  sync      INODE                             of a file
 *   MICROSECONDS  syncdir   PATH
 *   MICROSECONDS  create    PATH   INODE
 *   MICROSECONDS  rename    PATH   NEWPATH  FLAGS
 *   MICROSECONDS  link      PATH   NEWPATH
 *   MICROSECONDS  symlink   TARGET PATH
 *   MICROSECONDS  unlink    PATH
 *   MICROSECONDS  mkdir     PATH
 *   MICROSECONDS  rmdir     PATH
 *   MICROSECONDS  send      LENGTH PLACE                      to a socket
 *
 * A path is the absolute one, with its directory resolved and its last part not. */
#define _GNU_SOURCE
#include "tracer.h"
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static FILE *lines, *data;
static long data_size;

bool record_begin(const char *path) {
    char data_path[PATH_MAX];
    snprintf(data_path, sizeof data_path, "%s.data", path);
    lines = fopen(path, "w");
    data = fopen(data_path, "w");
    return lines && data;
}

void record_end(void) {
    fclose(lines);
    fclose(data);
}

static void begin_line(const char *name) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    fprintf(lines, "%lld\t%s", (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000, name);
}

#define LINE(name, ...) (begin_line(name), fprintf(lines, __VA_ARGS__), fputc('\n', lines))

/* MARK: - The memory and the paths of the program */

static bool read_memory(pid_t id, uint64_t from, void *to, size_t length) {
    struct iovec local = {to, length}, remote = {(void *)from, length};
    return process_vm_readv(id, &local, 1, &remote, 1, 0) == (ssize_t)length;
}

/* A page at a time: the text may end just before one that is not there. */
static void read_text(pid_t id, uint64_t from, char text[PATH_MAX]) {
    size_t done = 0;
    while (done < PATH_MAX - 1) {
        size_t piece = 4096 - (from + done) % 4096;
        if (piece > PATH_MAX - 1 - done) piece = PATH_MAX - 1 - done;
        if (!read_memory(id, from + done, text + done, piece)) break;
        if (memchr(text + done, 0, piece)) return;
        done += piece;
    }
    text[done] = 0;
}

static void resolve(const struct thread *thread, int directory, uint64_t address, char path[PATH_MAX]) {
    char name[PATH_MAX], whole[2 * PATH_MAX + 2], real[PATH_MAX];
    read_text(thread->id, address, name);
    if (name[0] == '/') {
        snprintf(whole, sizeof whole, "%s", name);
    } else {
        char place[64], base[PATH_MAX];
        if (directory == AT_FDCWD) snprintf(place, sizeof place, "/proc/%d/cwd", thread->id);
        else snprintf(place, sizeof place, "/proc/%d/fd/%d", thread->id, directory);
        ssize_t length = readlink(place, base, sizeof base - 1);
        base[length > 0 ? length : 0] = 0;
        snprintf(whole, sizeof whole, "%s/%s", base, name);
    }
    char *slash = strrchr(whole, '/');
    if (!slash) slash = whole;
    char last[PATH_MAX];
    snprintf(last, sizeof last, "%s", slash + (*slash == '/'));
    *slash = 0;
    const char *parent = realpath(whole[0] ? whole : "/", real) ? real : whole;
    snprintf(path, PATH_MAX, "%.2000s/%.2000s", strcmp(parent, "/") == 0 ? "" : parent, last);
}

/* The file that is open under this descriptor of the program. */
static bool status_of(const struct thread *thread, uint64_t fd, struct stat *status) {
    char place[64];
    snprintf(place, sizeof place, "/proc/%d/fd/%d", thread->id, (int)fd);
    return stat(place, status) == 0;
}

static long long position_of(const struct thread *thread, uint64_t fd) {
    char place[64];
    long long position = -1;
    snprintf(place, sizeof place, "/proc/%d/fdinfo/%d", thread->id, (int)fd);
    FILE *file = fopen(place, "r");
    if (!file) return -1;
    if (fscanf(file, "pos: %lld", &position) != 1) position = -1;
    fclose(file);
    return position;
}

/* MARK: - Bytes */

static long keep(pid_t id, uint64_t address, size_t length) {
    long place = data_size;
    char buffer[65536];
    while (length > 0) {
        size_t piece = length < sizeof buffer ? length : sizeof buffer;
        if (!read_memory(id, address, buffer, piece)) memset(buffer, '?', piece);
        fwrite(buffer, 1, piece, data);
        data_size += (long)piece;
        address += piece;
        length -= piece;
    }
    return place;
}

static long keep_parts(pid_t id, uint64_t address, size_t count, size_t length) {
    long place = data_size;
    for (size_t i = 0; i < count && length > 0; i++) {
        struct iovec part;
        if (!read_memory(id, address + i * sizeof part, &part, sizeof part)) break;
        size_t piece = part.iov_len < length ? part.iov_len : length;
        keep(id, (uint64_t)part.iov_base, piece);
        length -= piece;
    }
    return place;
}

static void wrote(const struct thread *thread, long long offset, size_t length, bool is_in_parts) {
    struct stat status;
    uint64_t fd = thread->arguments[0], address = thread->arguments[1], count = thread->arguments[2];
    if (length == 0 || !status_of(thread, fd, &status)) return;
    if (!S_ISREG(status.st_mode) && !S_ISSOCK(status.st_mode)) return;
    long place = is_in_parts ? keep_parts(thread->id, address, count, length) : keep(thread->id, address, length);
    if (S_ISSOCK(status.st_mode)) {
        LINE("send", "\t%zu\t%ld", length, place);
        return;
    }
    if (offset < 0) offset = position_of(thread, fd) - (long long)length;
    LINE("write", "\t%llu\t%lld\t%zu\t%ld", (unsigned long long)status.st_ino, offset, length, place);
}

static void sent(const struct thread *thread, size_t length) {
    struct msghdr message;
    if (!read_memory(thread->id, thread->arguments[1], &message, sizeof message)) return;
    long place = keep_parts(thread->id, (uint64_t)message.msg_iov, message.msg_iovlen, length);
    LINE("send", "\t%zu\t%ld", length, place);
}

static void synced(const struct thread *thread) {
    struct stat status;
    if (!status_of(thread, thread->arguments[0], &status)) return;
    if (!S_ISDIR(status.st_mode)) {
        LINE("sync", "\t%llu", (unsigned long long)status.st_ino);
        return;
    }
    char place[64], path[PATH_MAX];
    snprintf(place, sizeof place, "/proc/%d/fd/%d", thread->id, (int)thread->arguments[0]);
    ssize_t length = readlink(place, path, sizeof path - 1);
    if (length <= 0) return;
    path[length] = 0;
    LINE("syncdir", "\t%s", path);
}

/* MARK: - Calls */

/* Where the paths of a call are among its arguments: the place of the directory's descriptor, or -1; and of the path. */
static int paths_of(const struct thread *thread, int directories[2], int paths[2]) {
    switch (thread->number) {
    case SYS_openat: case SYS_openat2: case SYS_mkdirat: case SYS_unlinkat:
        directories[0] = 0, paths[0] = 1;
        return 1;
    case SYS_symlinkat:
        directories[0] = 1, paths[0] = 2;
        return 1;
    case SYS_renameat: case SYS_renameat2: case SYS_linkat:
        directories[0] = 0, paths[0] = 1, directories[1] = 2, paths[1] = 3;
        return 2;
#ifdef SYS_open
    case SYS_open: case SYS_creat: case SYS_mkdir: case SYS_unlink: case SYS_rmdir:
        directories[0] = -1, paths[0] = 0;
        return 1;
    case SYS_symlink:
        directories[0] = -1, paths[0] = 1;
        return 1;
    case SYS_rename: case SYS_link:
        directories[0] = -1, paths[0] = 0, directories[1] = -1, paths[1] = 1;
        return 2;
#endif
    default: return 0;
    }
}

void record_entry(struct thread *thread) {
    int directories[2], paths[2];
    int count = paths_of(thread, directories, paths);
    for (int i = 0; i < count; i++) {
        int directory = directories[i] < 0 ? AT_FDCWD : (int)thread->arguments[directories[i]];
        resolve(thread, directory, thread->arguments[paths[i]], thread->path[i]);
    }
    struct stat status;
    thread->was_there = count > 0 && lstat(thread->path[0], &status) == 0;
}

static void opened(const struct thread *thread, uint64_t flags, uint64_t fd) {
    struct stat status;
    if (!(flags & (O_CREAT | O_TRUNC)) || !status_of(thread, fd, &status) || !S_ISREG(status.st_mode)) return;
    unsigned long long inode = status.st_ino;
    if ((flags & O_CREAT) && !thread->was_there) LINE("create", "\t%s\t%llu", thread->path[0], inode);
    else if (flags & O_TRUNC) LINE("truncate", "\t%llu\t0", inode);
}

static void resized(const struct thread *thread) {
    struct stat status;
    if (!status_of(thread, thread->arguments[0], &status)) return;
    unsigned long long inode = status.st_ino;
    if (thread->number == SYS_ftruncate) {
        LINE("truncate", "\t%llu\t%llu", inode, (unsigned long long)thread->arguments[1]);
    } else {
        LINE("allocate", "\t%llu\t%d\t%llu\t%llu", inode, (int)thread->arguments[1],
             (unsigned long long)thread->arguments[2], (unsigned long long)thread->arguments[3]);
    }
}

static void renamed(const struct thread *thread, const char *name, unsigned flags) {
    if (strcmp(name, "link") == 0) LINE(name, "\t%s\t%s", thread->path[0], thread->path[1]);
    else LINE(name, "\t%s\t%s\t%u", thread->path[0], thread->path[1], flags);
}

void record_exit(struct thread *thread, int64_t result) {
    const uint64_t *arguments = thread->arguments;
    switch (thread->number) {
    case SYS_write: wrote(thread, -1, (size_t)result, false); break;
    case SYS_writev: wrote(thread, -1, (size_t)result, true); break;
    case SYS_pwrite64: wrote(thread, (long long)arguments[3], (size_t)result, false); break;
    case SYS_pwritev: case SYS_pwritev2: wrote(thread, (long long)arguments[3], (size_t)result, true); break;
    case SYS_sendto: wrote(thread, 0, (size_t)result, false); break;
    case SYS_sendmsg: sent(thread, (size_t)result); break;
    case SYS_openat: opened(thread, arguments[2], (uint64_t)result); break;
    case SYS_fsync: case SYS_fdatasync: synced(thread); break;
    case SYS_ftruncate: case SYS_fallocate: resized(thread); break;
    case SYS_renameat2: renamed(thread, "rename", (unsigned)arguments[4]); break;
    case SYS_renameat: renamed(thread, "rename", 0); break;
    case SYS_linkat: renamed(thread, "link", 0); break;
    case SYS_mkdirat: LINE("mkdir", "\t%s", thread->path[0]); break;
    case SYS_unlinkat: LINE(arguments[2] & AT_REMOVEDIR ? "rmdir" : "unlink", "\t%s", thread->path[0]); break;
#ifdef SYS_open
    case SYS_open: opened(thread, arguments[1], (uint64_t)result); break;
    case SYS_creat: opened(thread, O_CREAT | O_TRUNC, (uint64_t)result); break;
    case SYS_rename: renamed(thread, "rename", 0); break;
    case SYS_link: renamed(thread, "link", 0); break;
    case SYS_mkdir: LINE("mkdir", "\t%s", thread->path[0]); break;
    case SYS_rmdir: LINE("rmdir", "\t%s", thread->path[0]); break;
    case SYS_unlink: LINE("unlink", "\t%s", thread->path[0]); break;
    case SYS_symlink:
#endif
    case SYS_symlinkat: {
        char target[PATH_MAX];
        read_text(thread->id, arguments[0], target);
        LINE("symlink", "\t%s\t%s", target, thread->path[0]);
        break;
    }
    /* Whoever recorded these would have to play them: a campaign that meets one fails, and says which. */
    case SYS_truncate: case SYS_copy_file_range: case SYS_openat2: case SYS_syncfs: case SYS_sendmmsg:
        LINE("unknown", "\t%s", call_name(thread->number));
        break;
    default: break;
    }
}
