/*
 * Teaches Thread Sanitizer the mutex of Swift's module Synchronization.
 *
 * Its fast path is inlined into the program and seen by the sanitizer. The slow path, taken under contention, is in
 * libswiftSynchronization.so, which is not instrumented: what orders two threads there is invisible, and every report
 * of a race has Mutex.withLock in both of its stacks. This library comes before that one, calls it, and says what the
 * two functions mean. Nothing needs to be suppressed then, and a race that is one is still seen.
 *
 *     clang -shared -fPIC -O1 -o swift-mutex.so Tests/Fixtures/sanitizers/swift-mutex.c
 *     swift build --sanitize thread --product AppGroupStress        (and appgroupd)
 *     LD_PRELOAD=$PWD/swift-mutex.so …/AppGroupStress …
 *
 * Symbols and the calling convention (self in the context register) are those of Swift 6.3 on Linux; tried on x86-64.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

/* Synchronization._MutexHandle._lockSlow(UInt32) */
SWIFT void lock_slow(uint32_t thread, SELF) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
/* Synchronization._MutexHandle._unlockSlow() */
SWIFT void unlock_slow(SELF) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

SWIFT void lock_slow(uint32_t thread, SELF) {
    typedef SWIFT void (*function)(uint32_t, SELF);
    static function next;
    if (!next) next = (function)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
    next(thread, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT void unlock_slow(SELF) {
    typedef SWIFT void (*function)(SELF);
    static function next;
    if (!next) next = (function)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
    if (__tsan_release) __tsan_release(self);
    next(self);
}
