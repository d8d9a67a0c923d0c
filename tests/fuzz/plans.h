/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that the targets of jobs share, made once: every kind of walk over pairs, axes and rows. */
#ifndef ROPE_FUZZ_PLANS_H
#define ROPE_FUZZ_PLANS_H

#include "dispatch.h"
#include "fuzz.h"
#include "plan.h"

enum { PLANS = 16 };

/* A plan and the spec that it was made of, its defaults filled in. */
struct fuzz_plan {
    rope_plan *plan;
    rope_spec spec;
    size_t pairs, axes, chunk_pairs;
};
const struct fuzz_plan *fuzz_plan(unsigned index); /* modulo PLANS */

/* The index-th set that this CPU runs, NULL behind the last; the first is the active one. */
const struct rope_kernels *fuzz_kernels(size_t index);

/* Whole tokens' positions of a descriptor as the library means them: exact for integers. */
double fuzz_position(const rope_positions *positions, size_t batch, size_t token);

/* Elements that are looked at as positions: of the input, ordinary or at the ends of ranges. */
void fuzz_fill_positions(struct array *array, rope_dtype dtype, struct input *input,
                         unsigned below);

/* Bytes of an element, or 1 for no dtype. */
static inline size_t fuzz_element(rope_dtype dtype)
{
    return dtype == ROPE_F64 || dtype == ROPE_I64    ? 8
           : dtype == ROPE_F32 || dtype == ROPE_I32  ? 4
           : dtype == ROPE_F16 || dtype == ROPE_BF16 ? 2
                                                     : 1;
}

static inline int fuzz_is_data(rope_dtype dtype)
{
    return dtype >= ROPE_F32 && dtype <= ROPE_BF16;
}

static inline enum dtype fuzz_dtype(rope_dtype dtype)
{
    return fuzz_is_data(dtype) ? (enum dtype)(dtype - ROPE_F32) : DT_F32;
}

/* What positions of [batch, tokens] span. */
static inline struct span fuzz_positions_span(const rope_positions *positions, size_t batch,
                                              size_t tokens)
{
    const double count[2] = {(double)batch, (double)tokens};
    const double stride[2] = {(double)positions->stride_batch, (double)positions->stride_token};
    return span_of(1.0, fuzz_element(positions->dtype), 2, count, stride);
}

#endif
