/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The position of a token and the row made from it: inline where they stand in every token's path.
 */
#ifndef ROPE_ROW_H
#define ROPE_ROW_H

#include "plan.h"

#include <math.h>

/*
 * value + start + token * step, kept within int64: sums beyond it are out of every range asked for.
 */
int64_t rope_position_moved(const rope_positions *positions, int64_t value, size_t token);

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
    return value + (double)rope_position_moved(positions, 0, token);
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

/* rope_row_make where it is not the usual case. */
void rope_row_make_any(const rope_plan *plan, const struct rope_place *places, size_t first,
                       enum rope_kernel_dtype dtype, struct rope_rows_args *args);

/*
 * Makes entries first..first+args->pairs-1 of the row of plan->axes places.  args says where to and
 * how (cos, sin, layout, stream, dup, pairs, scales for a positive place); the rest is filled in
 * here.
 */
static inline void rope_row_make(const rope_plan *plan, const struct rope_place *places,
                                 size_t first, enum rope_kernel_dtype dtype,
                                 struct rope_rows_args *args)
{
    const uint32_t magnitude = places->magnitude;
    const unsigned fine_bits = rope_level_bits[0], coarse_bits = rope_level_bits[1];
    if (plan->axes != 1 || plan->angle != ROPE_ANGLE_EXACT || !places->whole || dtype == RK_F64 ||
        magnitude >> (fine_bits + coarse_bits) != 0) {
        rope_row_make_any(plan, places, first, dtype, args);
        return;
    }
    const double *fine =
        plan->level[0] + (magnitude & ((1u << fine_bits) - 1)) * plan->row_stride + first;
    const double *coarse = plan->level[1] + (magnitude >> fine_bits) * plan->row_stride + first;
    args->mix = NULL;
    args->factors = 2;
    args->table_cos[0] = fine;
    args->table_sin[0] = fine + plan->row_stride / 2;
    args->table_cos[1] = coarse;
    args->table_sin[1] = coarse + plan->row_stride / 2;
    if (places->negative)
        args->sin_scale = -args->sin_scale;
    plan->kernels->rows[dtype](args);
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
