/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison of two kernel sets, whichever they are: what rope_self_test does with the active one. */
#ifndef ROPE_SELF_TEST_H
#define ROPE_SELF_TEST_H

#include "check.h"
#include "kernels.h"

enum { ROPE_TESTED, ROPE_REFERENCE, ROPE_SETS };

/* Where the results of two sets differ. */
struct rope_difference {
    size_t array;
    ptrdiff_t element;
    uint64_t bits[ROPE_SETS];
    char trial[96]; /* what was tried */
};

/* The bits of an element of 2, 4 or 8 bytes. */
uint64_t rope_bits_at(const void *array, size_t size, size_t index);
void rope_put_bits(void *array, size_t size, size_t index, uint64_t bits);

/*
 * What a rotate slot does with two heads and more, by slot turns: the first and the last head of each token as
 * one tensor, those between them as the other; of two heads each.
 */
void rope_take_turns(rope_turns_fn *turns, const struct rope_rotate_args *args);

struct rope_self_test_counts {
    uint32_t operations;
    uint32_t different;
};

/*
 * Compares every slot of `tested` with that of `reference`, or with known answers where that is
 * NULL; the rows straight from the angle only where `direct` is not 0.  The message receives a line for each slot that differs, begun by `name`
 * (of the tested set).  ROPE_ERR_DIFFERENCE, ROPE_ERR_MEMORY or ROPE_OK.
 */
rope_status rope_self_test_compare(const char *name, const struct rope_kernels *tested,
                                   const struct rope_kernels *reference, int direct,
                                   struct rope_message message,
                                   struct rope_self_test_counts *counts);

#endif
