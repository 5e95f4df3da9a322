/* The calls by which a program changes files, tells others something, or lets go of what it holds. */
#include "tracer.h"
#include <string.h>
#include <sys/syscall.h>

#define CALL(name) {SYS_##name, #name}

static const struct {
    int number;
    const char *name;
} changes[] = {
    CALL(write),     CALL(pwrite64),  CALL(writev),     CALL(pwritev),   CALL(pwritev2),  CALL(sendmsg),
    CALL(sendto),    CALL(sendmmsg),  CALL(openat),     CALL(openat2),   CALL(renameat),  CALL(renameat2),
    CALL(linkat),    CALL(unlinkat),  CALL(mkdirat),    CALL(symlinkat), CALL(ftruncate), CALL(truncate),
    CALL(fallocate), CALL(fsync),     CALL(fdatasync),  CALL(syncfs),    CALL(fchmod),    CALL(fchmodat),
    CALL(fchown),    CALL(fchownat),  CALL(utimensat),  CALL(bind),      CALL(listen),    CALL(accept4),
    CALL(close),     CALL(flock),     CALL(copy_file_range),             CALL(sync_file_range),
    CALL(execve),    CALL(exit_group),
#ifdef SYS_open /* The calls without a directory's descriptor, which some architectures do not have. */
    CALL(open),      CALL(creat),     CALL(rename),     CALL(link),      CALL(unlink),    CALL(mkdir),
    CALL(rmdir),     CALL(symlink),   CALL(chmod),
#endif
};

const size_t change_count = sizeof changes / sizeof *changes;

int change_number(size_t index) { return changes[index].number; }

bool is_change(uint64_t number) {
    for (size_t i = 0; i < change_count; i++)
        if ((uint64_t)changes[i].number == number) return true;
    return false;
}

const char *call_name(uint64_t number) {
    static char text[24];
    for (size_t i = 0; i < change_count; i++)
        if ((uint64_t)changes[i].number == number) return changes[i].name;
    snprintf(text, sizeof text, "call-%llu", (unsigned long long)number);
    return text;
}
