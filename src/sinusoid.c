/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rope_sinusoid_*: the rows of a plan as absolute embeddings, stored as a table or added to data
 * with dropout.  Rows are made by rope_row_make alone; nothing here allocates.
 */
#include "philox.h"
#include "row.h"

#include <assert.h>
#include <string.h>

#if UINTPTR_MAX == UINT64_MAX
static_assert(offsetof(rope_sinusoid, flags) == 4 && offsetof(rope_sinusoid, dtype) == 8 &&
                  offsetof(rope_sinusoid, reserved) == 12 && offsetof(rope_sinusoid, batch) == 16 &&
                  offsetof(rope_sinusoid, tokens) == 24 && offsetof(rope_sinusoid, dim) == 32 &&
                  offsetof(rope_sinusoid, positions) == 40 && offsetof(rope_sinusoid, src) == 48 &&
                  offsetof(rope_sinusoid, dst) == 56 &&
                  offsetof(rope_sinusoid, src_stride_batch) == 64 &&
                  offsetof(rope_sinusoid, src_stride_token) == 72 &&
                  offsetof(rope_sinusoid, dst_stride_batch) == 80 &&
                  offsetof(rope_sinusoid, dst_stride_token) == 88 &&
                  offsetof(rope_sinusoid, padding) == 96 &&
                  offsetof(rope_sinusoid, dropout) == 104 && offsetof(rope_sinusoid, seed) == 112 &&
                  offsetof(rope_sinusoid, offset) == 120 &&
                  offsetof(rope_sinusoid, message) == 128 &&
                  offsetof(rope_sinusoid, message_size) == 136 && sizeof(rope_sinusoid) == 144,
              "rope_sinusoid is frozen");
#endif
enum { SINUSOID_SIZE_0_1 = offsetof(rope_sinusoid, message_size) + sizeof(size_t) };

enum { BATCH, TOKEN }; /* axes of a region */

/* A sinusoid after its checks. */
struct walk {
    const rope_plan *plan;
    const rope_sinusoid *sinusoid;
    const rope_positions *positions[ROPE_AXES_MAX];
    struct rope_message message;
    int is_table;
    int shared; /* all batches have the same positions */
    size_t dim;
    size_t element;     /* bytes */
    rope_dtype row;     /* type of the rows */
    rope_dtype real;    /* type that computes: of factors */
    uint64_t threshold; /* words below it drop */
    struct rope_region src, dst;
    /* copies of descriptors of another size */
    rope_sinusoid sinusoid_room;
    rope_positions positions_room[ROPE_AXES_MAX];
};

/* ---- Checks ---------------------------------------------------------------------------------- */

static rope_status check_fields(struct walk *walk)
{
    const rope_sinusoid *s = walk->sinusoid;
    const struct rope_message message = walk->message;
    if ((s->flags & ~(uint32_t)(ROPE_COS_FIRST | ROPE_PADDING)) != 0)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "sinusoid.flags: %#x: must be ROPE_COS_FIRST, ROPE_PADDING, both or 0",
                         (unsigned)s->flags);
    walk->element = rope_dtype_size(s->dtype);
    if (walk->element == 0)
        return rope_dtype_fail(message, "sinusoid", s->dtype);
    if (s->reserved != 0)
        return rope_fail(message, ROPE_ERR_VALUE, "sinusoid.reserved: %u: must be 0",
                         (unsigned)s->reserved);
    if (s->padding != 0 && (s->flags & ROPE_PADDING) == 0)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "sinusoid.padding: %lld: must be 0 without ROPE_PADDING",
                         (long long)s->padding);
    if (!(s->dropout >= 0.0 && s->dropout < 1.0) || (walk->is_table && s->dropout != 0.0))
        return rope_fail(message, ROPE_ERR_VALUE, "sinusoid.dropout: %g: must be %s", s->dropout,
                         walk->is_table ? "0 for a table" : "0 <= dropout < 1");
    if (walk->plan == NULL || s->positions == NULL)
        return rope_fail(message, ROPE_ERR_NULL, "%s: NULL: must be given",
                         walk->plan == NULL ? "plan" : "sinusoid.positions");
    if (walk->plan->rotary_offset != 0)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "plan: rotary_offset %zu: must be 0 for sinusoids",
                         walk->plan->rotary_offset);
    walk->dim = s->dim != 0 ? s->dim : walk->plan->rotary_dim;
    if (walk->dim < walk->plan->rotary_dim - 1)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "sinusoid.dim: %zu: must be at least rotary_dim - 1 = %zu", s->dim,
                         walk->plan->rotary_dim - 1);
    walk->real = s->dtype == ROPE_F64 ? ROPE_F64 : ROPE_F32;
    walk->row = walk->is_table ? s->dtype : walk->real;
    walk->threshold = (uint64_t)(s->dropout * 0x1p32 + 0.5);
    return ROPE_OK;
}

static int set_region(const struct walk *walk, struct rope_region *region, const void *base,
                      const ptrdiff_t *strides)
{
    const rope_sinusoid *s = walk->sinusoid;
    const ptrdiff_t all[ROPE_AXES] = {strides[BATCH], strides[TOKEN], 0};
    *region = (struct rope_region){
        .base = base, .length = walk->dim * walk->element, .count = {s->batch, s->tokens, 1}};
    return rope_region_strides(region, all, walk->element) && rope_region_measure(region);
}

static rope_status check_memory(struct walk *walk)
{
    const rope_sinusoid *s = walk->sinusoid;
    const struct rope_message message = walk->message;
    if (s->dst == NULL || (s->src == NULL) != walk->is_table)
        return rope_fail(message, walk->is_table && s->dst != NULL ? ROPE_ERR_VALUE : ROPE_ERR_NULL,
                         "sinusoid.%s: must %sbe NULL", s->dst == NULL ? "dst" : "src",
                         walk->is_table && s->dst != NULL ? "" : "not ");
    const int too_many = rope_is_too_many(s->batch, s->tokens, walk->dim);
    ptrdiff_t src[2] = {s->src_stride_batch, s->src_stride_token};
    ptrdiff_t dst[2] = {s->dst_stride_batch, s->dst_stride_token};
    const ptrdiff_t dense[2] = {(ptrdiff_t)(s->tokens * walk->dim), (ptrdiff_t)walk->dim};
    if (src[BATCH] == 0 && src[TOKEN] == 0)
        memcpy(src, dense, sizeof src);
    if (dst[BATCH] == 0 && dst[TOKEN] == 0)
        memcpy(dst, s->src == s->dst ? src : dense, sizeof dst);
    if (too_many || !set_region(walk, &walk->dst, s->dst, dst) ||
        (!walk->is_table && !set_region(walk, &walk->src, s->src, src)))
        return rope_fail(message, ROPE_ERR_SIZE,
                         "sinusoid: %zu x %zu x %zu by its strides: must stay in the address space",
                         s->batch, s->tokens, walk->dim);
    if (!rope_region_nests(&walk->dst))
        return rope_fail(
            message, ROPE_ERR_STRIDE,
            "sinusoid: dst strides %td, %td: each must span the axes below it and dim = %zu",
            dst[BATCH], dst[TOKEN], walk->dim);
    if (!walk->is_table && !rope_regions_coincide(&walk->src, &walk->dst) &&
        rope_regions_overlap(&walk->dst, &walk->src))
        return rope_fail(message, ROPE_ERR_ALIAS,
                         "sinusoid.dst: overlaps src: must equal it, strides too, or lie apart");
    return ROPE_OK;
}

static rope_status check_positions(struct walk *walk)
{
    const rope_sinusoid *s = walk->sinusoid;
    walk->shared = 1;
    for (size_t axis = 0; axis < walk->plan->axes; axis++) {
        const rope_positions *positions = walk->positions[axis];
        struct rope_region region;
        const rope_status status = rope_positions_check(positions, s->batch, s->tokens, NULL, NULL,
                                                        &region, walk->message);
        if (status != ROPE_OK)
            return status;
        if (rope_regions_overlap(&walk->dst, &region))
            return rope_fail(walk->message, ROPE_ERR_ALIAS,
                             "sinusoid.dst: overlaps positions.data");
        walk->shared &= rope_is_same_in_batches(positions);
    }
    return ROPE_OK;
}

/* Everything, before the first write; *is_empty where there is nothing to do. */
static rope_status check_all(struct walk *walk, const rope_sinusoid *given, int *is_empty)
{
    const rope_sinusoid *s =
        rope_descriptor(given, &walk->sinusoid_room, sizeof(rope_sinusoid), SINUSOID_SIZE_0_1);
    if (s == NULL)
        return rope_descriptor_refuse(given, "sinusoid", sizeof(rope_sinusoid), SINUSOID_SIZE_0_1,
                                      offsetof(rope_sinusoid, message));
    walk->sinusoid = s;
    walk->message = (struct rope_message){s->message, s->message_size};
    rope_status status = check_fields(walk);
    if (status == ROPE_OK)
        status = rope_positions_read(s->positions, walk->plan->axes, walk->positions,
                                     walk->positions_room, walk->message);
    *is_empty = s->batch == 0 || s->tokens == 0;
    if (status == ROPE_OK && !*is_empty)
        status = check_memory(walk);
    if (status == ROPE_OK && !*is_empty)
        status = check_positions(walk);
    return status;
}

/* ---- One stretch of columns ------------------------------------------------------------------ */

/* Pairs of a stretch: few enough for stacks of 16 KiB. */
enum { STRETCH_PAIRS = 128, COLUMNS = 2 * STRETCH_PAIRS };

/* Room for the columns of a stretch, in any type. */
union columns {
    _Alignas(64) double f64[COLUMNS];
    float f32[COLUMNS];
};

/* Neighbouring columns of a row. */
struct stretch {
    size_t column;
    size_t n;
    const void *row; /* [n] of walk->row */
};

/* Words number..number+n-1 of the stream of a seed. */
static void set_words(uint64_t seed, uint64_t number, size_t n, uint32_t *words)
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t ahead[4];
    size_t i = 0;
    for (size_t at = number % 4; i < n; at = 0) {
        const uint64_t counter = (number + i) / 4;
        const uint32_t parts[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0};
        if (at == 0 && n - i >= 4) {
            rope_philox(parts, key, words + i);
            i += 4;
            continue;
        }
        rope_philox(parts, key, ahead); /* the first or the last, of which not all are wanted */
        for (; at < 4 && i < n; at++)
            words[i++] = ahead[at];
    }
}

/* What the sums of a stretch are multiplied by: 0 or 1 / (1 - dropout). */
static void set_factors(const struct walk *walk, size_t batch, size_t token,
                        const struct stretch *stretch, union columns *factors)
{
    const rope_sinusoid *s = walk->sinusoid;
    uint32_t words[COLUMNS];
    const uint64_t element = ((uint64_t)batch * s->tokens + token) * walk->dim + stretch->column;
    set_words(s->seed, s->offset + element, stretch->n, words);
    const double kept = 1.0 / (1.0 - s->dropout);
    const uint64_t threshold = walk->threshold;
    if (walk->real == ROPE_F64) {
        for (size_t i = 0; i < stretch->n; i++)
            factors->f64[i] = words[i] < threshold ? 0.0 : kept;
        return;
    }
    const float choice[2] = {(float)kept, 0.0f};
    for (size_t i = 0; i < stretch->n; i++)
        factors->f32[i] = choice[words[i] < threshold];
}

static void put_stretch(const struct walk *walk, size_t batch, size_t token,
                        const struct stretch *stretch)
{
    const ptrdiff_t column = (ptrdiff_t)(stretch->column * walk->element);
    char *dst = (char *)(uintptr_t)walk->dst.base + (ptrdiff_t)batch * walk->dst.stride[BATCH] +
                (ptrdiff_t)token * walk->dst.stride[TOKEN] + column;
    if (walk->is_table) {
        memcpy(dst, stretch->row, stretch->n * walk->element);
        return;
    }
    union columns factors;
    struct rope_add_args args = {
        .src = walk->src.base + (ptrdiff_t)batch * walk->src.stride[BATCH] +
               (ptrdiff_t)token * walk->src.stride[TOKEN] + column,
        .dst = dst,
        .row = stretch->row,
        .n = stretch->n,
    };
    if (walk->sinusoid->dropout != 0.0) {
        set_factors(walk, batch, token, stretch, &factors);
        args.factor = &factors;
    }
    walk->plan->kernels->add[rope_kernel_dtype_of(walk->sinusoid->dtype)](&args);
}

/* Columns of a row that batches from..until-1 of a token share, as far as dim goes. */
static void put_columns(const struct walk *walk, size_t token, size_t from, size_t until,
                        size_t column, size_t n, const void *row)
{
    if (column >= walk->dim)
        return;
    const struct stretch stretch = {column, n < walk->dim - column ? n : walk->dim - column, row};
    for (size_t batch = from; batch < until; batch++)
        put_stretch(walk, batch, token, &stretch);
}

/* ---- The rows of a token --------------------------------------------------------------------- */

/* Two rows to one, element by element; with a constant size it is a load and a store. */
static inline void interleave_of(const void *first, const void *second, size_t n, size_t size,
                                 void *both)
{
    const char *x = first, *y = second;
    char *to = both;
    for (size_t i = 0; i < n; i++) {
        memcpy(to + 2 * i * size, x + i * size, size);
        memcpy(to + (2 * i + 1) * size, y + i * size, size);
    }
}

static void interleave(const void *first, const void *second, size_t n, size_t size, void *both)
{
    if (size == 2)
        interleave_of(first, second, n, 2, both);
    else if (size == 4)
        interleave_of(first, second, n, 4, both);
    else
        interleave_of(first, second, n, 8, both);
}

/* Pairs first..first+n-1, which lie in one chunk. */
static void put_pairs(const struct walk *walk, size_t token, size_t from, size_t until,
                      const struct rope_place *places, size_t first, size_t n)
{
    union columns sines, cosines, both;
    const rope_plan *plan = walk->plan;
    struct rope_rows_args args = {
        .cos = &cosines, .sin = &sines, .layout = RK_SEPARATE, .pairs = n};
    rope_direction_scales(plan, ROPE_FORWARD, &args.cos_scale, &args.sin_scale);
    rope_row_make(plan, places, first, rope_kernel_dtype_of(walk->row), &args);
    const int cos_first = (walk->sinusoid->flags & ROPE_COS_FIRST) != 0;
    const union columns *x = cos_first ? &cosines : &sines, *y = cos_first ? &sines : &cosines;
    const size_t column = rope_element_of(plan->pairing, plan->chunk_pairs, first);
    if (plan->pairing == ROPE_INTERLEAVED) {
        interleave(x, y, n, rope_dtype_size(walk->row), &both);
        put_columns(walk, token, from, until, column, 2 * n, &both);
        return;
    }
    put_columns(walk, token, from, until, column, n, x);
    put_columns(walk, token, from, until, column + plan->chunk_pairs, n, y);
}

/*
 * Columns from `column` on without an embedding: 0 in a table; in a sum -0, which leaves every
 * value as it is.
 */
static void put_nothing(const struct walk *walk, size_t token, size_t from, size_t until,
                        size_t column)
{
    union columns row;
    for (size_t i = 0; i < COLUMNS; i++) {
        if (walk->is_table || walk->row == ROPE_F64)
            row.f64[i] = walk->is_table ? 0.0 : -0.0;
        else
            row.f32[i] = -0.0f;
    }
    for (; column < walk->dim; column += COLUMNS)
        put_columns(walk, token, from, until, column, COLUMNS, &row);
}

/* Batches from..until-1 of a token, which have the position of the first of them. */
static void put_token(const struct walk *walk, size_t token, size_t from, size_t until)
{
    const rope_plan *plan = walk->plan;
    struct rope_place places[ROPE_AXES_MAX];
    for (size_t axis = 0; axis < plan->axes; axis++)
        places[axis] = rope_position_at(walk->positions[axis], from, token);
    size_t done = 0;
    if ((walk->sinusoid->flags & ROPE_PADDING) == 0 ||
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): plans have an axis */
        places[0].value != (double)walk->sinusoid->padding) {
        size_t n;
        for (size_t first = 0; first < plan->pairs; first += n) {
            const size_t chunk_rest = plan->chunk_pairs - first % plan->chunk_pairs;
            n = chunk_rest < STRETCH_PAIRS ? chunk_rest : STRETCH_PAIRS;
            put_pairs(walk, token, from, until, places, first, n);
        }
        done = plan->rotary_dim;
    }
    if (done < walk->dim)
        put_nothing(walk, token, from, until, done);
}

static rope_status put_part(const rope_plan *plan, const rope_sinusoid *sinusoid, int is_table,
                            size_t part, size_t parts)
{
    if (sinusoid == NULL)
        return ROPE_ERR_NULL;
    struct walk walk;
    int is_empty = 1;
    walk.plan = plan;
    walk.is_table = is_table;
    rope_status status = check_all(&walk, sinusoid, &is_empty);
    if (status == ROPE_OK)
        status = rope_part_check(part, parts, walk.message);
    if (status != ROPE_OK || is_empty)
        return status;
    /* all batches of a token, then those of the next: its row serves them all */
    const size_t batch = walk.sinusoid->batch, units = batch * walk.sinusoid->tokens;
    const size_t end = rope_part_begin(units, part + 1, parts);
    size_t now;
    for (size_t unit = rope_part_begin(units, part, parts); unit < end; unit += now) {
        const size_t from = unit % batch;
        now = walk.shared ? batch - from : 1;
        now = now < end - unit ? now : end - unit;
        put_token(&walk, unit / batch, from, from + now);
    }
    return ROPE_OK;
}

rope_status rope_sinusoid_add_part(const rope_plan *plan, const rope_sinusoid *sinusoid,
                                   size_t part, size_t parts)
{
    return put_part(plan, sinusoid, 0, part, parts);
}

rope_status rope_sinusoid_add(const rope_plan *plan, const rope_sinusoid *sinusoid)
{
    return put_part(plan, sinusoid, 0, 0, 1);
}

rope_status rope_sinusoid_table(const rope_plan *plan, const rope_sinusoid *sinusoid)
{
    return put_part(plan, sinusoid, 1, 0, 1);
}
