/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The position of a token and the row made from it: inline where they stand in every token's path.
 */
#ifndef ROPE_ROW_H
#define ROPE_ROW_H

#include "plan.h"

#include <math.h>

/* Without data step 0 means 1. */
static inline int64_t rope_position_step(const rope_positions *positions)
{
    return positions->data == NULL && positions->step == 0 ? 1 : positions->step;
}

/*
 * value + start + token * step, whatever they are: exact, or beyond 2^61 an end of int64, which is
 * out of every range asked for.
 */
int64_t rope_position_moved(const rope_positions *positions, int64_t value, size_t token);

static inline int rope_is_same_in_batches(const rope_positions *positions)
{
    return positions->data == NULL || positions->stride_batch == 0;
}

static inline int rope_is_float(rope_dtype dtype)
{
    return dtype == ROPE_F32 || dtype == ROPE_F64;
}

static inline const void *rope_position_address(const rope_positions *positions, size_t batch,
                                                size_t token, size_t size)
{
    const ptrdiff_t index =
        (ptrdiff_t)batch * positions->stride_batch + (ptrdiff_t)token * positions->stride_token;
    return (const char *)positions->data + index * (ptrdiff_t)size;
}

/* A position that is an integer, which may also number a row. */
static inline int64_t rope_row_number_at(const rope_positions *positions, size_t batch,
                                         size_t token)
{
    int64_t value = 0;
    if (positions->dtype == ROPE_I32)
        value = *(const int32_t *)rope_position_address(positions, batch, token, 4);
    else if (positions->dtype == ROPE_I64)
        value = *(const int64_t *)rope_position_address(positions, batch, token, 8);
    if (positions->data != NULL && (positions->start | positions->step) == 0)
        return value;
    return rope_position_moved(positions, value, token);
}

static inline double rope_float_position_at(const rope_positions *positions, size_t batch,
                                            size_t token)
{
    double value;
    if (positions->dtype == ROPE_F32)
        value = *(const float *)rope_position_address(positions, batch, token, 4);
    else
        value = *(const double *)rope_position_address(positions, batch, token, 8);
    return value + ((double)positions->start + (double)token * (double)positions->step);
}

/* Position of a token.  rope_positions_check has passed. */
static inline struct rope_place rope_position_at(const rope_positions *positions, size_t batch,
                                                 size_t token)
{
    struct rope_place place;
    if (rope_is_float(positions->dtype)) {
        place.value = rope_float_position_at(positions, batch, token);
        place.whole = place.value == (double)(int64_t)place.value;
        place.negative = place.value < 0.0;
        place.magnitude = (uint32_t)fabs(place.value);
    } else {
        const int64_t value = rope_row_number_at(positions, batch, token);
        place.value = (double)value;
        place.whole = 1;
        place.negative = value < 0;
        place.magnitude = (uint32_t)(value < 0 ? -value : value);
    }
    return place;
}

/*
 * Makes entries first..first+args->pairs-1 of the row of plan->axes places.  args says where to and
 * how (cos, sin, layout, stream, dup, pairs, scales for a positive place); the rest is filled in
 * here.
 */
void rope_row_make(const rope_plan *plan, const struct rope_place *places, size_t first,
                   enum rope_kernel_dtype dtype, struct rope_rows_args *args);

/*
 * From so many bytes on results go past the caches, if their places, strides and lengths are multiples of whole
 * lines.  Where both were measured, plain stores won below it and streaming above.
 */
enum { ROPE_STREAM_BYTES = 16 << 20 };

/* 1 if so large a table goes past the caches; its rows then start on, and fill, whole lines of 64 bytes. */
int rope_rows_can_stream(const rope_rows *rows, size_t pairs, size_t tokens);

/* What all rows of a run have in common: all pairs of the plan, into the caches. */
static inline void rope_run_start(const rope_plan *plan, void *cos_row, void *sin_row,
                                  ptrdiff_t step, double cos_scale, struct rope_run_args *run)
{
    run->cos = cos_row;
    run->sin = sin_row;
    run->step = step;
    run->stream = 0;
    run->pairs = plan->pairs;
    run->sin_at = plan->row_stride / 2;
    run->cos_scale = cos_scale;
}

/* The product of all factors but the first, which positions from 2^20 on share by 512. */
struct rope_far {
    uint32_t upper; /* the magnitude without the digit of level 0; 0: none yet */
    double row[2 * RK_MAX_PAIRS];
};

void rope_far_make(const rope_plan *plan, uint32_t upper, struct rope_far *far);

/*
 * Sets row r of a run to that of a whole position; sin_scale is that of a positive one.  Returns 0, having set
 * nothing, if the run must end before it: the rows before need another product.
 */
static inline int rope_run_set(const rope_plan *plan, int64_t position, double sin_scale,
                               struct rope_run_args *run, size_t r, struct rope_far *far)
{
    const uint32_t magnitude = (uint32_t)(position < 0 ? -position : position);
    const uint32_t digit = magnitude & ((1u << rope_level_bits[0]) - 1);
    const uint32_t upper = magnitude >> rope_level_bits[0];
    if (upper >> rope_level_bits[1] == 0) {
        run->coarse[r] = plan->level[1] + upper * plan->row_stride;
    } else {
        if (upper != far->upper) {
            if (r != 0)
                return 0;
            rope_far_make(plan, upper, far);
        }
        run->coarse[r] = far->row;
    }
    run->fine[r] = plan->level[0] + digit * plan->row_stride;
    run->sin_scale[r] = sin_scale;
    if (position < 0) {
        run->sin_scale[r] = -sin_scale;
        run->unit = 0;
    }
    return 1;
}

/*
 * The element of a slice at which pair `first` begins.  Pairs lie in chunks of chunk_pairs: in
 * half-split pairing x of pair i stands at 2 chunk_pairs * (i / chunk_pairs) + i % chunk_pairs, y
 * chunk_pairs behind; interleaved pairs stand side by side.
 */
static inline size_t rope_element_of(rope_pairing pairing, size_t chunk_pairs, size_t first)
{
    if (pairing != ROPE_HALF)
        return 2 * first;
    return first < chunk_pairs ? first : first + first / chunk_pairs * chunk_pairs;
}

#endif
