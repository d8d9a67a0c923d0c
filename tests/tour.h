/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call after the other of every public function, in all its ways: dtypes, pairings, layouts,
 * schemes, refusals with their messages.  What a host can do to a library (floating-point settings,
 * small stacks, forks, memory that runs out) is tested on each of them.
 *
 * A call stands for itself: a function, the registers that it takes and the status that it must
 * return, on memory that is renewed before it and checksummed behind it.
 */
#ifndef ROPE_TEST_TOUR_H
#define ROPE_TEST_TOUR_H

#include "rope/rope.h"

#include <stddef.h>
#include <stdint.h>

enum call_kind {
    CALL_STATUS,  /* returns a status and keeps nothing */
    CALL_BORROWS, /* the same, but needs memory for a while */
    CALL_QUERY,   /* returns something else */
    CALL_CREATES, /* what it makes is destroyed by tour_finish */
    CALL_DESTROYS /* what it takes is made by tour_prepare */
};

/* Arguments are what the first integer registers hold: no public function takes anything else. */
enum { CALL_ARGUMENTS = 6 };

struct call {
    const char *name; /* of the public function */
    char what[56];    /* the case */
    void (*function)(void);
    uintptr_t arguments[CALL_ARGUMENTS];
    enum call_kind kind;
    rope_status status; /* but of queries */
    /* elements that a rotation or a table writes; none where angles are f32, whose last bit can be
       a quarter of a radian */
    rope_dtype dtype;
    void *results[2];
    size_t counts[2];
};

/* Plans and a configuration, which any number of tours read. */
struct tour_plans;
struct tour_plans *tour_plans_make(void);
void tour_plans_free(struct tour_plans *plans);

struct tour;
struct tour *tour_make(const struct tour_plans *plans);
void tour_free(struct tour *tour);

/* The last call is the longest, the self-test: tests that make all calls many times may leave it
 * out of a reduced run. */
size_t tour_count(const struct tour *tour);
size_t tour_short(const struct tour *tour); /* tour_count, in a reduced run one less */
const struct call *tour_call(const struct tour *tour, size_t i);

/* Before the call: all memory as it was at first. */
void tour_prepare(struct tour *tour, size_t i);

/* The call as a C compiler makes it; what it returns is rope_status of all but queries. */
uintptr_t tour_run(const struct call *call);

/* 1 if the call made nothing, said so where it was to say what it made, and wrote nothing but its
 * message: as on an error. */
int tour_is_clean(const struct tour *tour);

/* 1 if the call returned its status, and is clean where that is an error. */
int tour_is_right(const struct tour *tour, size_t i, uintptr_t returned);

/* Fails the running CMocka test unless it is right. */
void tour_check(const struct tour *tour, size_t i, uintptr_t returned);

/* Behind the call: a checksum of all that it wrote and made, which is destroyed. */
uint64_t tour_finish(struct tour *tour, size_t i);

/* Makes and checks all calls; the checksum of each, to be freed. */
uint64_t *tour_sums(struct tour *tour);

#endif
