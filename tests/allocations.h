/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocator of a test, counted and on demand refused: rope_test_allocations() in CMakeLists.txt
 * has the linker put these functions in the place of the C library's.
 */
#ifndef ROPE_TEST_ALLOCATIONS_H
#define ROPE_TEST_ALLOCATIONS_H

#include <stddef.h>

/* Of one thread, which no other sees; nothing changes but while it is `counted`. */
struct allocations {
    int counted;
    size_t made, live;
    size_t fail_at; /* the allocation of this number fails; 0 = none */
};
extern _Thread_local struct allocations allocations;

/* Counts from 0. */
void allocations_start(size_t fail_at);

/* Counts no more; how many there still are. */
size_t allocations_end(void);

/* For a library that takes its allocator from its caller. */
void *__wrap_malloc(size_t size);
void __wrap_free(void *memory);

#endif
