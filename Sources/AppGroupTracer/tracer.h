/* What the parts of the tracer share. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* One thread of the traced program, between the entry and the exit of a call. */
struct thread {
    pid_t id;
    bool is_in_call;
    uint64_t number;
    uint64_t arguments[6];
    /* Of a call that may make a file: whether there was one. */
    bool was_there;
    /* What the call's paths name, resolved at its entry: afterwards they may name something else. */
    char path[2][4096];
    struct thread *next;
};

/* record.c: writes down what a call did to files, and what it sent. */
bool record_begin(const char *path);
void record_entry(struct thread *thread);
void record_exit(struct thread *thread, int64_t result);
void record_end(void);

/* The name of a call, or its number as text. */
const char *call_name(uint64_t number);
/* Whether a call can change a file or tell somebody something, or takes a descriptor away. */
bool is_change(uint64_t number);
/* The numbers of those calls, and how many there are. */
int change_number(size_t index);
extern const size_t change_count;
