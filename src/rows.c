/* SPDX-License-Identifier: Apache-2.0 */
/* rope_cos_sin, and what it shares with rotations: the row of a position and the memory of rows. */
#include "row.h"
#include "usual.h"

#include <assert.h>

#if UINTPTR_MAX == UINT64_MAX
static_assert(offsetof(rope_positions, dtype) == 4 && offsetof(rope_positions, data) == 8 &&
                  offsetof(rope_positions, stride_batch) == 16 &&
                  offsetof(rope_positions, stride_token) == 24 &&
                  offsetof(rope_positions, start) == 32 && offsetof(rope_positions, step) == 40 &&
                  sizeof(rope_positions) == 48,
              "rope_positions is frozen");
static_assert(offsetof(rope_rows, dtype) == 4 && offsetof(rope_rows, layout) == 8 &&
                  offsetof(rope_rows, direction) == 12 && offsetof(rope_rows, cos) == 16 &&
                  offsetof(rope_rows, sin) == 24 && offsetof(rope_rows, count) == 32 &&
                  offsetof(rope_rows, stride_row) == 40 &&
                  offsetof(rope_rows, stride_batch) == 48 && offsetof(rope_rows, message) == 56 &&
                  offsetof(rope_rows, message_size) == 64 && sizeof(rope_rows) == 72,
              "rope_rows is frozen");
#endif

/* ---- The row of a position ------------------------------------------------------------------- */

void rope_direction_scales(const rope_plan *plan, rope_direction direction, double *cos_scale,
                           double *sin_scale)
{
    const double m = plan->resolved.attention_factor;
    const double scale = direction == ROPE_INVERSE ? 1.0 / m : direction == ROPE_SHIFT ? 1.0 : m;
    const int backwards = direction == ROPE_INVERSE || direction == ROPE_TRANSPOSE;
    *cos_scale = scale;
    *sin_scale = backwards ? -scale : scale;
}

/*
 * The levels that take part in a product: the first two always, a higher one where some digit
 * turns.  The row of a digit 0 is exactly 1, so more factors never change a bit.
 */
static unsigned levels_of(uint32_t magnitudes)
{
    unsigned levels = 0;
    for (int level = 0; level < ROPE_LEVELS; level++) {
        if (level < 2 || (magnitudes & ((UINT32_C(1) << rope_level_bits[level]) - 1)) != 0)
            levels |= 1u << level;
        magnitudes >>= rope_level_bits[level];
    }
    return levels;
}

/* The table rows of the digits of a magnitude; returns how many. */
static size_t set_factors(const rope_plan *plan, unsigned levels, uint32_t magnitude, size_t first,
                          const double **table_cos, const double **table_sin)
{
    size_t factors = 0;
    for (int level = 0; level < ROPE_LEVELS; level++) {
        const uint32_t digit = magnitude & ((UINT32_C(1) << rope_level_bits[level]) - 1);
        magnitude >>= rope_level_bits[level];
        if ((levels >> level & 1u) == 0)
            continue;
        table_cos[factors] = plan->level[level] + digit * plan->row_stride + first;
        table_sin[factors] = table_cos[factors] + plan->row_stride / 2;
        factors++;
    }
    return factors;
}

/* Which way a row is made: by the angle that f32 gives, from tables, or straight from the angle. */
enum way { BY_F32_ANGLE, BY_TABLES, BY_ANGLE };

static enum way way_of(const rope_plan *plan, int whole, enum rope_kernel_dtype dtype)
{
    if (plan->angle == ROPE_ANGLE_F32)
        return BY_F32_ANGLE;
    return whole && dtype != RK_F64 ? BY_TABLES : BY_ANGLE; /* f64 rows want relative accuracy */
}

static double angle_position(enum way way, double position)
{
    return way == BY_F32_ANGLE ? (double)(float)position : position;
}

void rope_far_make(const rope_plan *plan, uint32_t upper, struct rope_far *far)
{
    const uint32_t magnitude = upper << rope_level_bits[0];
    struct rope_rows_args args; /* only what is read: zeroes would cost as much as the product */
    args.cos = far->row;
    args.sin = far->row + plan->row_stride / 2;
    args.layout = RK_SEPARATE;
    args.stream = 0;
    args.pairs = plan->pairs;
    args.cos_scale = args.sin_scale = 1.0;
    args.mix = NULL;
    args.factors =
        set_factors(plan, levels_of(magnitude) & ~1u, magnitude, 0, args.table_cos, args.table_sin);
    plan->kernels->rows[RK_F64](&args);
    far->upper = upper;
}

/* Two factors in the separate layout are a run of one row. */
static void make_run(const rope_plan *plan, enum rope_kernel_dtype dtype,
                     const struct rope_rows_args *args)
{
    struct rope_run_args run;
    rope_run_start(plan, args->cos, args->sin, 0, args->cos_scale, &run);
    run.stream = args->stream;
    run.unit = args->cos_scale == 1.0 && args->sin_scale == 1.0;
    run.pairs = args->pairs;
    run.rows = 1;
    run.fine[0] = args->table_cos[0];
    run.coarse[0] = args->table_cos[1];
    run.sin_scale[0] = args->sin_scale;
    plan->kernels->run[dtype](&run);
}

static void make_by(const rope_plan *plan, enum way way, size_t first, enum rope_kernel_dtype dtype,
                    struct rope_rows_args *args)
{
    if (way == BY_TABLES && args->mix == NULL && args->factors == 2 &&
        args->layout == RK_SEPARATE) {
        make_run(plan, dtype, args);
        return;
    }
    args->freq = plan->freq_f32 + first;
    args->turns_hi = plan->turns_hi + first;
    args->turns_lo = plan->turns_lo + first;
    if (way == BY_TABLES)
        plan->kernels->rows[dtype](args);
    else if (way == BY_ANGLE)
        plan->kernels->direct[dtype](args);
    else
        plan->kernels->direct_f32[dtype](args);
}

/* Places that differ. */
static void make_mixed(const rope_plan *plan, const struct rope_place *places, size_t first,
                       enum rope_kernel_dtype dtype, struct rope_rows_args *args)
{
    struct rope_rows_mix mix;
    mix.axes = plan->axes;
    mix.first = first;
    mix.present = plan->present;
    mix.masks = plan->masks + first;
    mix.mask_stride = plan->row_stride / 2;
    uint32_t magnitudes = 0;
    int whole = 1;
    for (size_t axis = 0; axis < plan->axes; axis++) {
        magnitudes |= places[axis].magnitude;
        whole &= places[axis].whole;
    }
    const enum way way = way_of(plan, whole, dtype);
    const unsigned levels = levels_of(magnitudes);
    for (size_t axis = 0; axis < plan->axes; axis++) {
        const struct rope_place *place = &places[axis];
        mix.sin_scale[axis] = args->sin_scale;
        mix.position[axis] = angle_position(way, place->value);
        if (way != BY_TABLES)
            continue;
        if (place->negative)
            mix.sin_scale[axis] = -args->sin_scale;
        args->factors = set_factors(plan, levels, place->magnitude, first, mix.table_cos[axis],
                                    mix.table_sin[axis]);
    }
    args->mix = &mix;
    make_by(plan, way, first, dtype, args);
}

void rope_row_make(const rope_plan *plan, const struct rope_place *places, size_t first,
                   enum rope_kernel_dtype dtype, struct rope_rows_args *args)
{
    const struct rope_place *place = &places[0];
    for (size_t axis = 1; axis < plan->axes; axis++) {
        if (places[axis].value != place->value) {
            make_mixed(plan, places, first, dtype, args);
            return;
        }
    }
    /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): plans have at least one axis */
    const enum way way = way_of(plan, place->whole, dtype);
    args->mix = NULL;
    args->position = angle_position(way, place->value);
    if (way == BY_TABLES) {
        args->factors = set_factors(plan, levels_of(place->magnitude), place->magnitude, first,
                                    args->table_cos, args->table_sin);
        if (place->negative)
            args->sin_scale = -args->sin_scale;
    }
    make_by(plan, way, first, dtype, args);
}

/* ---- The memory of rows ---------------------------------------------------------------------- */

rope_status rope_rows_check(const rope_rows *rows, struct rope_message message)
{
    if (rope_dtype_size(rows->dtype) == 0)
        return rope_dtype_fail(message, "rows", rows->dtype);
    if (rows->layout < ROPE_ROWS_PACKED || rows->layout > ROPE_ROWS_DUP_PAIRS)
        return rope_fail(message, ROPE_ERR_VALUE, "rows.layout: %d: must be a ROPE_ROWS_* number",
                         (int)rows->layout);
    if (!rope_has_two_arrays(rows->layout) && rows->sin != NULL)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "rows.sin: not NULL: must be NULL in layout %d, which has one array",
                         (int)rows->layout);
    return ROPE_OK;
}

size_t rope_rows_width(const rope_rows *rows, size_t pairs)
{
    return rows->layout == ROPE_ROWS_SEPARATE ? pairs : 2 * pairs;
}

ptrdiff_t rope_rows_stride(const rope_rows *rows, size_t pairs)
{
    return rows->stride_row != 0 ? rows->stride_row : (ptrdiff_t)rope_rows_width(rows, pairs);
}

rope_status rope_rows_region(const rope_rows *rows, size_t pairs, size_t batch, size_t count,
                             int second, struct rope_region *region, struct rope_message message)
{
    const size_t size = rope_dtype_size(rows->dtype);
    const ptrdiff_t strides[ROPE_AXES] = {rows->stride_batch, rope_rows_stride(rows, pairs), 0};
    *region = (struct rope_region){
        .base = second ? rows->sin : rows->cos,
        .length = rope_rows_width(rows, pairs) * size,
        .count = {batch, count, 1},
    };
    if (region->base == NULL && batch != 0 && count != 0)
        return rope_fail(message, ROPE_ERR_NULL, "rows.%s: NULL: must hold %zu rows",
                         second ? "sin" : "cos", count);
    if (!rope_region_strides(region, strides, size) || !rope_region_measure(region))
        return rope_fail(message, ROPE_ERR_SIZE,
                         "rows: strides %td, %td over %zu x %zu: must stay in the address space",
                         strides[0], strides[1], batch, count);
    return ROPE_OK;
}

/* ---- rope_cos_sin ---------------------------------------------------------------------------- */

int rope_rows_can_stream(const rope_rows *rows, size_t pairs, size_t tokens)
{
    const size_t size = rope_dtype_size(rows->dtype);
    const size_t stride = (size_t)rope_rows_stride(rows, pairs) * size;
    const size_t total = tokens * rope_rows_width(rows, pairs) * size;
    if (total < (size_t)ROPE_STREAM_BYTES)
        return 0;
    if (rows->layout != ROPE_ROWS_PACKED && rows->layout != ROPE_ROWS_SEPARATE)
        return 0;
    const uintptr_t starts = (uintptr_t)rows->cos | (rows->sin != NULL ? (uintptr_t)rows->sin : 0);
    return (starts | stride | pairs * size) % 64 == 0;
}

static rope_status check_table(const rope_plan *plan, const rope_positions *const *positions,
                               size_t tokens, const rope_rows *rows, struct rope_message message)
{
    rope_status status = rope_rows_check(rows, message);
    if (status != ROPE_OK)
        return status;
    if (rows->direction < ROPE_FORWARD || rows->direction > ROPE_SHIFT)
        return rope_fail(message, ROPE_ERR_VALUE, "rows.direction: %d: must be a direction",
                         (int)rows->direction);
    if (tokens > rows->count)
        return rope_fail(message, ROPE_ERR_VALUE, "rows.count: %zu: must be at least tokens = %zu",
                         rows->count, tokens);

    /* the memory of the rows first: it bounds how many positions there can be */
    struct rope_region places[ROPE_AXES_MAX], arrays[2];
    const int two = rope_has_two_arrays(rows->layout);
    for (int array = 0; status == ROPE_OK && array <= two; array++) {
        status = rope_rows_region(rows, plan->pairs, 1, tokens, array, &arrays[array], message);
        if (status == ROPE_OK && !rope_region_nests(&arrays[array]))
            status =
                rope_fail(message, ROPE_ERR_STRIDE, "rows.stride_row: %td: must span a row of %zu",
                          rows->stride_row, rope_rows_width(rows, plan->pairs));
    }
    for (size_t axis = 0; status == ROPE_OK && axis < plan->axes; axis++) {
        status =
            rope_positions_check(positions[axis], 1, tokens, NULL, NULL, &places[axis], message);
        for (int array = 0; status == ROPE_OK && array <= two; array++)
            if (rope_regions_overlap(&arrays[array], &places[axis]))
                status = rope_fail(message, ROPE_ERR_ALIAS, "rows.%s: overlaps positions.data",
                                   array ? "sin" : "cos");
    }
    if (status == ROPE_OK && two && rope_regions_overlap(&arrays[0], &arrays[1]))
        status = rope_fail(message, ROPE_ERR_ALIAS, "rows.sin: overlaps rows.cos");
    return status;
}

static void make_table(const rope_plan *plan, const rope_positions *const *positions, size_t tokens,
                       const rope_rows *rows)
{
    static const enum rope_kernel_layout layouts[] = {RK_SEPARATE, RK_SEPARATE, RK_PAIRS,
                                                      RK_DUP_HALF, RK_DUP_PAIRS};
    const size_t size = rope_dtype_size(rows->dtype), pairs = plan->pairs;
    const ptrdiff_t stride = /* that of one row can be anything */
        tokens == 1 ? 0 : rope_rows_stride(rows, pairs) * (ptrdiff_t)size;
    const enum rope_kernel_dtype dtype = rope_kernel_dtype_of(rows->dtype);
    char *cos_row = rows->cos;
    char *sin_row = rows->layout == ROPE_ROWS_PACKED ? cos_row + pairs * size : rows->sin;
    struct rope_rows_args args;
    args.layout = layouts[rows->layout];
    args.stream = rope_rows_can_stream(rows, pairs, tokens);
    args.dup = pairs;
    args.pairs = pairs;
    double cos_scale, sin_scale;
    rope_direction_scales(plan, rows->direction, &cos_scale, &sin_scale);
    for (size_t token = 0; token < tokens; token++) {
        struct rope_place places[ROPE_AXES_MAX];
        for (size_t axis = 0; axis < plan->axes; axis++)
            places[axis] = rope_position_at(positions[axis], 0, token);
        args.cos = cos_row + (ptrdiff_t)token * stride;
        args.sin = sin_row == NULL ? NULL : sin_row + (ptrdiff_t)token * stride;
        args.cos_scale = cos_scale;
        args.sin_scale = sin_scale;
        rope_row_make(plan, places, 0, dtype, &args);
    }
    if (args.stream)
        plan->kernels->fence();
}

rope_status rope_cos_sin(const rope_plan *plan, const rope_positions *given_positions,
                         size_t tokens, const rope_rows *given_rows)
{
    if (given_rows == NULL)
        return ROPE_ERR_NULL;
    if (plan != NULL && given_positions != NULL &&
        rope_usual_table(plan, given_positions, tokens, given_rows))
        return ROPE_OK;
    rope_rows rows_room;
    rope_positions positions_room[ROPE_AXES_MAX];
    const rope_positions *positions[ROPE_AXES_MAX];
    const rope_rows *rows =
        rope_descriptor(given_rows, &rows_room, sizeof rows_room, ROPE_ROWS_SIZE_0_1);
    if (rows == NULL)
        return rope_descriptor_refuse(given_rows, "rows", sizeof(rope_rows), ROPE_ROWS_SIZE_0_1,
                                      offsetof(rope_rows, message));
    const struct rope_message message = {rows->message, rows->message_size};
    if (plan == NULL || given_positions == NULL)
        return rope_fail(message, ROPE_ERR_NULL, "%s: NULL: must be given",
                         plan == NULL ? "plan" : "positions");
    rope_status status =
        rope_positions_read(given_positions, plan->axes, positions, positions_room, message);
    if (status == ROPE_OK)
        status = check_table(plan, positions, tokens, rows, message);
    if (status != ROPE_OK || tokens == 0)
        return status;

    make_table(plan, positions, tokens, rows);
    return ROPE_OK;
}
