/* Runs a program under ptrace(2), for the fault campaigns: kills it at one of its system calls, or writes down what it does
 * to files. The program is the real one, unchanged.
 *
 *   AppGroupTracer [--kill POINT] [--every] [--record FILE] [--report FILE] -- PROGRAM ARGUMENT…
 *
 *   --kill POINT    SIGKILL at the POINTth point: the entry (odd) or the exit (even) of a call that changes something
 *   --every         every call is a point, also those that change nothing
 *   --record FILE   writes down, in order, what was done to files and what was sent (record.c says how)
 *   --report FILE   where it says how many points there were, and at which one it killed
 *
 * SIGTERM and SIGINT are passed on; what this one ends with is what the program ended with. */
#define _GNU_SOURCE
#include "tracer.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;
static struct thread *threads;
static const char *record_path, *report_path;
static long kill_point, point;
static bool takes_every;
static char killed_at[128];

static void fail(const char *what) {
    fprintf(stderr, "AppGroupTracer: %s: %s\n", what, strerror(errno));
    if (child > 0) kill(child, SIGKILL);
    exit(125);
}

static void pass_on(int number) { kill(child, number); }

/* MARK: - The program */

/* Only the calls that are asked for stop the program, which makes the rest as quick as ever. */
static void install_filter(void) {
    struct sock_filter *filter = calloc(change_count + 3, sizeof *filter);
    if (!filter) _exit(125);
    size_t count = 0;
    filter[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < change_count; i++)
        filter[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)change_number(i),
                                                       (uint8_t)(change_count - i), 0);
    filter[count++] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, takes_every ? SECCOMP_RET_TRACE : SECCOMP_RET_ALLOW);
    filter[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    struct sock_fprog program = {.len = (unsigned short)count, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(125);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) _exit(125);
}

static void start(char **command) {
    int gate[2];
    if (pipe(gate) != 0) fail("pipe");
    child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        char byte;
        close(gate[1]);
        /* Not before it is being traced: with nobody there, a call of the filter fails. */
        if (read(gate[0], &byte, 1) != 1) _exit(125);
        close(gate[0]);
        install_filter();
        execvp(command[0], command);
        _exit(127);
    }
    close(gate[0]);
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                   PTRACE_O_TRACEEXEC | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SEIZE, child, 0, options) != 0) fail("PTRACE_SEIZE");
    if (write(gate[1], "", 1) != 1) fail("write");
    close(gate[1]);
}

/* MARK: - Its threads */

static struct thread *thread_of(pid_t id) {
    for (struct thread *thread = threads; thread; thread = thread->next)
        if (thread->id == id) return thread;
    struct thread *thread = calloc(1, sizeof *thread);
    if (!thread) fail("calloc");
    thread->id = id;
    thread->next = threads;
    threads = thread;
    return thread;
}

static void forget(pid_t id) {
    for (struct thread **place = &threads; *place; place = &(*place)->next) {
        if ((*place)->id != id) continue;
        struct thread *gone = *place;
        *place = gone->next;
        free(gone);
        return;
    }
}

/* MARK: - Its calls */

static void take_point(const struct thread *thread, const char *side) {
    point++;
    if (point != kill_point) return;
    snprintf(killed_at, sizeof killed_at, "the %s of %s", side, call_name(thread->number));
    kill(child, SIGKILL);
}

static void enter(struct thread *thread) {
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread->id, sizeof info, &info) <= 0) return;
    if (info.op != PTRACE_SYSCALL_INFO_SECCOMP) return;
    thread->is_in_call = true;
    thread->number = info.seccomp.nr;
    for (int i = 0; i < 6; i++) thread->arguments[i] = info.seccomp.args[i];
    if (record_path) record_entry(thread);
    take_point(thread, "entry");
}

static void leave(struct thread *thread) {
    struct __ptrace_syscall_info info;
    thread->is_in_call = false;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread->id, sizeof info, &info) <= 0) return;
    if (info.op != PTRACE_SYSCALL_INFO_EXIT) return;
    if (record_path && !info.exit.is_error) record_exit(thread, info.exit.rval);
    take_point(thread, "exit");
}

/* Gives the signal that the thread goes on with, and how it goes on. */
static int handle_stop(struct thread *thread, int status, int *request) {
    int event = status >> 16, number = WSTOPSIG(status);
    *request = PTRACE_CONT;
    if (event == PTRACE_EVENT_SECCOMP) {
        enter(thread);
        /* To its end, and no further: the next stop is the exit of this call. */
        *request = PTRACE_SYSCALL;
        return 0;
    }
    if (number == (SIGTRAP | 0x80)) {
        leave(thread);
        return 0;
    }
    if (event == PTRACE_EVENT_STOP && (number == SIGSTOP || number == SIGTSTP)) *request = PTRACE_LISTEN;
    if (event != 0) return 0;
    if (thread->is_in_call) *request = PTRACE_SYSCALL;
    return number;
}

static int trace(void) {
    int ending = 0;
    for (;;) {
        int status;
        pid_t id = waitpid(-1, &status, __WALL);
        if (id < 0 && errno == EINTR) continue;
        if (id < 0) return ending;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (id == child) ending = status;
            forget(id);
            continue;
        }
        if (!WIFSTOPPED(status)) continue;
        int request, signal = handle_stop(thread_of(id), status, &request);
        /* ESRCH: it is gone meanwhile, and the next wait says so. */
        ptrace((enum __ptrace_request)request, id, 0, (long)signal);
    }
}

/* MARK: - From outside */

static char **read_options(char **arguments) {
    for (; *arguments; arguments++) {
        if (strcmp(*arguments, "--") == 0) return arguments + 1;
        if (strcmp(*arguments, "--every") == 0) takes_every = true;
        else if (strcmp(*arguments, "--kill") == 0 && arguments[1]) kill_point = atol(*++arguments);
        else if (strcmp(*arguments, "--record") == 0 && arguments[1]) record_path = *++arguments;
        else if (strcmp(*arguments, "--report") == 0 && arguments[1]) report_path = *++arguments;
        else break;
    }
    return NULL;
}

static void report(void) {
    FILE *file = report_path ? fopen(report_path, "w") : NULL;
    if (!file) return;
    fprintf(file, "points %ld\n", point);
    if (killed_at[0]) fprintf(file, "killed %ld %s\n", kill_point, killed_at);
    fclose(file);
}

int main(int count, char **arguments) {
    char **command = count > 1 ? read_options(arguments + 1) : NULL;
    if (!command || !*command) {
        fprintf(stderr, "usage: AppGroupTracer [--kill POINT] [--every] [--record FILE] [--report FILE] -- PROGRAM…\n");
        return 64;
    }
    if (record_path && !record_begin(record_path)) fail(record_path);
    /* A child that was started with these blocked or ignored keeps them so. */
    start(command);
    struct sigaction action = {.sa_handler = pass_on};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    int status = trace();
    if (record_path) record_end();
    report();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
