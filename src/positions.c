/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and checks positions and row numbers. */
#include "row.h"

#include <inttypes.h>
#include <math.h>

enum { POSITIONS_SIZE_0_1 = offsetof(rope_positions, step) + sizeof(int64_t) };

static const double position_limit = 0x1p31; /* |p| stays below */

int64_t rope_position_moved(const rope_positions *positions, int64_t value, size_t token)
{
    const int64_t step = rope_position_step(positions);
    /* near enough to tell sums that wrap: one of 2^66 cannot be brought back by the other terms */
    const double about = (double)value + (double)positions->start + (double)token * (double)step;
    if (fabs(about) > 0x1p61)
        return about > 0.0 ? INT64_MAX : INT64_MIN;
    return (int64_t)((uint64_t)value + (uint64_t)positions->start +
                     (uint64_t)token * (uint64_t)step);
}

/* What a value must satisfy. */
struct range {
    const size_t *row_count;         /* NULL: a position */
    const rope_positions *leave_out; /* no row is wanted where this is negative; NULL: nowhere */
};

static int is_bad(const struct range *range, const rope_positions *positions, size_t batch,
                  size_t token)
{
    if (rope_is_float(positions->dtype))
        return !(fabs(rope_float_position_at(positions, batch, token)) < position_limit);
    const int64_t value = rope_row_number_at(positions, batch, token);
    if (range->row_count == NULL)
        return value <= -(INT64_C(1) << 31) || value >= INT64_C(1) << 31;
    return (value < 0 || (uint64_t)value >= *range->row_count) &&
           (range->leave_out == NULL || rope_row_number_at(range->leave_out, batch, token) >= 0);
}

static rope_status fail_at(const struct range *range, const rope_positions *positions, size_t batch,
                           size_t token, struct rope_message message)
{
    if (rope_is_float(positions->dtype))
        return rope_fail(message, ROPE_ERR_POSITION,
                         "positions.data[%zu, %zu]: %g: must be finite, -2^31 < p < 2^31", batch,
                         token, rope_float_position_at(positions, batch, token));
    const int64_t value = rope_row_number_at(positions, batch, token);
    if (range->row_count == NULL)
        return rope_fail(message, ROPE_ERR_POSITION,
                         "positions.data[%zu, %zu]: %" PRId64 ": must be -2^31 < p < 2^31", batch,
                         token, value);
    return rope_fail(message, ROPE_ERR_ROW,
                     "positions.data[%zu, %zu]: row %" PRId64
                     ": must be 0 <= row < rows.count = %zu",
                     batch, token, value, *range->row_count);
}

/* Dense int32 or int64 positions of one batch without start and step, all at once. */
static int dense_are_good(const struct range *range, const rope_positions *positions, size_t batch,
                          size_t tokens)
{
    int bad = 0;
    if (positions->dtype == ROPE_I32) {
        const int32_t *values = rope_position_address(positions, batch, 0, 4);
        for (size_t t = 0; t < tokens; t++)
            bad |= values[t] == INT32_MIN;
    } else {
        const int64_t *values = rope_position_address(positions, batch, 0, 8);
        const uint64_t limit = (UINT64_C(1) << 31) - 1;
        for (size_t t = 0; t < tokens; t++)
            bad |= (uint64_t)values[t] + limit > 2 * limit;
    }
    return range->row_count == NULL && !bad;
}

static rope_status check_values(const struct range *range, const rope_positions *positions,
                                size_t batch, size_t tokens, struct rope_message message)
{
    const int integers = !rope_is_float(positions->dtype);
    if (positions->data == NULL) { /* monotonous: the ends decide */
        if (tokens > 2 && range->leave_out == NULL) {
            if (is_bad(range, positions, 0, 0))
                return fail_at(range, positions, 0, 0, message);
            return is_bad(range, positions, 0, tokens - 1)
                       ? fail_at(range, positions, 0, tokens - 1, message)
                       : ROPE_OK;
        }
    }
    if (rope_is_same_in_batches(positions) &&
        (range->leave_out == NULL || rope_is_same_in_batches(range->leave_out)))
        batch = 1;
    const int dense = integers && positions->data != NULL && positions->stride_token == 1 &&
                      positions->start == 0 && positions->step == 0 && range->row_count == NULL;
    for (size_t b = 0; b < batch; b++) {
        if (dense && dense_are_good(range, positions, b, tokens))
            continue;
        for (size_t t = 0; t < tokens; t++)
            if (is_bad(range, positions, b, t))
                return fail_at(range, positions, b, t, message);
    }
    return ROPE_OK;
}

rope_status rope_positions_read(const rope_positions *given, size_t axes,
                                const rope_positions **positions, rope_positions *room,
                                struct rope_message message)
{
    const uint32_t size = given->struct_size;
    for (size_t axis = 0; axis < axes; axis++) {
        const rope_positions *next = (const void *)((const char *)given + axis * size);
        positions[axis] = NULL;
        if (next->struct_size == size)
            positions[axis] = rope_descriptor(next, &room[axis], sizeof *room, POSITIONS_SIZE_0_1);
        if (positions[axis] == NULL)
            return rope_fail(message, ROPE_ERR_STRUCT,
                             "positions[%zu].struct_size: %u: must be %zu, or more with zeros "
                             "behind; the same for "
                             "all axes",
                             axis, (unsigned)next->struct_size, sizeof *room);
    }
    return ROPE_OK;
}

rope_status rope_positions_check(const rope_positions *positions, size_t batch, size_t tokens,
                                 const size_t *row_count, const rope_positions *leave_out,
                                 struct rope_region *region, struct rope_message message)
{
    const struct range range = {row_count, leave_out};
    const rope_dtype dtype = positions->dtype;
    *region = (struct rope_region){.base = NULL};
    if (positions->data == NULL) {
        if (dtype != 0 && batch != 0 && tokens != 0)
            return rope_fail(message, ROPE_ERR_NULL,
                             "positions.data: NULL: must not be with dtype %d", (int)dtype);
    } else {
        const int integers = dtype == ROPE_I32 || dtype == ROPE_I64;
        if (!integers && !(rope_is_float(dtype) && row_count == NULL))
            return rope_fail(message, ROPE_ERR_DTYPE, "positions.dtype: %d: must be %s", (int)dtype,
                             row_count == NULL ? "ROPE_I32, ROPE_I64, ROPE_F32 or ROPE_F64"
                                               : "ROPE_I32 or ROPE_I64 for numbers of rows");
        const size_t size = dtype == ROPE_I32 || dtype == ROPE_F32 ? 4 : 8;
        const ptrdiff_t strides[ROPE_AXES] = {positions->stride_batch, positions->stride_token, 0};
        region->base = positions->data;
        region->length = size;
        region->count[0] = batch, region->count[1] = tokens, region->count[2] = 1;
        if (!rope_region_strides(region, strides, size) || !rope_region_measure(region))
            return rope_fail(
                message, ROPE_ERR_SIZE,
                "positions: strides %td, %td over %zu x %zu: must stay in the address space",
                strides[0], strides[1], batch, tokens);
    }
    return batch == 0 || tokens == 0 ? ROPE_OK
                                     : check_values(&range, positions, batch, tokens, message);
}
