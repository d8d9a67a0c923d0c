/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rope_rotate: walks the tokens of a checked job.  For each token the row is made or fetched once
 * for all heads of q and k; kernels do the arithmetic.  Nothing here allocates.
 */
#include "job.h"
#include "magnitude.h"
#include "usual.h"

#include <string.h>

/* ---- Rows of a token ------------------------------------------------------------------------- */

/* Pairs of a stretch of a row that passes through several types: half of RK_MAX_PAIRS, for the stack. */
enum { STRETCH = RK_MAX_PAIRS / 2 };

/* Room for a stretch of a row, in every type that it passes through, or for one made straight. */
struct scratch {
    union {
        _Alignas(64) double straight_f64[2][RK_MAX_PAIRS];
        _Alignas(64) float straight_f32[2][RK_MAX_PAIRS];
        struct {
            _Alignas(64) double f64[2][STRETCH];
            _Alignas(64) float f32[2][STRETCH];
            _Alignas(64) uint16_t u16[2][STRETCH];
        };
    };
    struct rope_rows_args args; /* of the last row made; only what changes is set again */
};

/* Where the reals of a stretch stand. */
struct row {
    const void *cos, *sin;
};

/* Where the token's row comes from: a place on each axis, or a row of the caller for each. */
struct source {
    struct rope_place places[ROPE_AXES_MAX];
    const char *cos_row[ROPE_AXES_MAX], *sin_row[ROPE_AXES_MAX]; /* at entry 0 */
    int one_row;                                                 /* the same for all axes */
    double scale[2]; /* of each side that has_magnitude */
};

/* Elements from entry to entry in the caller's rows. */
static size_t entry_step(const rope_rows *rows)
{
    return rows->layout == ROPE_ROWS_PAIRS || rows->layout == ROPE_ROWS_DUP_PAIRS ? 2 : 1;
}

/* Entries of a caller's row as f64; every type fits exactly. */
static void fetch_f64(const struct rope_walk *walk, const char *row, size_t first, size_t n,
                      double *out, float *room)
{
    const size_t step = entry_step(walk->rows);
    const rope_dtype dtype = walk->rows->dtype;
    const char *start = row + first * step * rope_dtype_size(dtype);
    if (dtype == ROPE_F64) {
        const double *from = (const void *)start;
        for (size_t i = 0; i < n; i++)
            out[i] = from[i * step];
        return;
    }
    const float *from = (const void *)start;
    size_t from_step = step;
    if (dtype != ROPE_F32) {
        walk->kernels->widen[rope_kernel_dtype_of(dtype)](room, start, step, n);
        from = room;
        from_step = 1;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = (double)from[i * from_step];
}

/* The same where each pair takes the row of its own axis. */
static void fetch_mixed(const struct rope_walk *walk, const char *const *axis_rows, size_t first,
                        size_t n, double *out, float *room)
{
    for (size_t i = 0; i < n; i++)
        fetch_f64(walk, axis_rows[walk->plan->pair_axis[first + i]], first + i, 1, out + i, room);
}

static void fetch(const struct rope_walk *walk, const struct source *source,
                  const char *const *axis_rows, size_t first, size_t n, double *out, float *room)
{
    if (source->one_row)
        fetch_f64(walk, axis_rows[0], first, n, out, room);
    else
        fetch_mixed(walk, axis_rows, first, n, out, room);
}

/*
 * Rounds a stretch in scratch->f64 to `dtype` and stores it as two arrays: a table of one factor
 * does that.
 */
static void round_stretch(const struct rope_walk *walk, size_t n, double cos_scale,
                          double sin_scale, rope_dtype dtype, void *cos_out, void *sin_out,
                          struct scratch *scratch)
{
    const struct rope_rows_args args = {
        .cos = cos_out,
        .sin = sin_out,
        .layout = RK_SEPARATE,
        .pairs = n,
        .cos_scale = cos_scale,
        .sin_scale = sin_scale,
        .factors = 1,
        .table_cos = {scratch->f64[0]},
        .table_sin = {scratch->f64[1]},
    };
    walk->kernels->rows[rope_kernel_dtype_of(dtype)](&args);
}

/* The row in f64 times the powers of xPos: a second table, whose sines are 0. */
static void make_powers(const struct rope_walk *walk, const struct source *source,
                        const struct rope_side *side, size_t first, size_t n, double scale,
                        rope_dtype dtype, void *cos_out, void *sin_out, struct scratch *scratch)
{
    static const double zeros[STRETCH] = {0.0};
    double powers[STRETCH];
    struct rope_rows_args args = {
        .cos = scratch->f64[0],
        .sin = scratch->f64[1],
        .layout = RK_SEPARATE,
        .pairs = n,
        .cos_scale = walk->cos_scale,
        .sin_scale = walk->sin_scale,
    };
    rope_row_make(walk->plan, source->places, first, RK_F64, &args);
    rope_magnitude_powers(walk, side, source->places[0].value, first, n, powers);
    args.cos = cos_out;
    args.sin = sin_out;
    args.cos_scale = args.sin_scale = scale;
    args.mix = NULL;
    args.factors = 2;
    args.table_cos[0] = scratch->f64[0], args.table_sin[0] = scratch->f64[1];
    args.table_cos[1] = powers, args.table_sin[1] = zeros;
    walk->kernels->rows[rope_kernel_dtype_of(dtype)](&args);
}

/* Stores a stretch of the token's row, rounded to `dtype`, as two arrays. */
static void make_stretch(const struct rope_walk *walk, const struct source *source,
                         const struct rope_side *side, size_t first, size_t n, rope_dtype dtype,
                         void *cos_out, void *sin_out, struct scratch *scratch)
{
    const double scale = side->has_magnitude ? source->scale[side - walk->sides] : 1.0;
    if (walk->rows != NULL) {
        fetch(walk, source, source->cos_row, first, n, scratch->f64[0], scratch->f32[0]);
        fetch(walk, source, source->sin_row, first, n, scratch->f64[1], scratch->f32[0]);
        round_stretch(walk, n, scale, walk->backwards ? -scale : scale, dtype, cos_out, sin_out,
                      scratch);
        return;
    }
    if (side->has_magnitude && side->power != 0) {
        make_powers(walk, source, side, first, n, scale, dtype, cos_out, sin_out, scratch);
        return;
    }
    struct rope_rows_args *args = &scratch->args;
    args->cos = cos_out;
    args->sin = sin_out;
    args->pairs = n;
    args->cos_scale = walk->cos_scale * scale;
    args->sin_scale = walk->sin_scale * scale;
    rope_row_make(walk->plan, source->places, first, rope_kernel_dtype_of(dtype), args);
}

/* 1 if a row of the caller can be used as it stands in memory. */
static int is_ready(const struct rope_walk *walk, const struct rope_side *side)
{
    const rope_rows *rows = walk->rows;
    return rows != NULL && side->round[0] == 0 && !walk->backwards && !side->has_magnitude &&
           rows->dtype == side->real && entry_step(rows) == 1;
}

/* One rounding of the stretch, from its source or from scratch->f64; the result is f32. */
static void round_once(const struct rope_walk *walk, const struct source *source,
                       const struct rope_side *side, size_t first, size_t n, rope_dtype dtype,
                       struct scratch *scratch)
{
    void *cos_out = dtype == ROPE_F32 ? (void *)scratch->f32[0] : (void *)scratch->u16[0];
    void *sin_out = dtype == ROPE_F32 ? (void *)scratch->f32[1] : (void *)scratch->u16[1];
    if (source != NULL)
        make_stretch(walk, source, side, first, n, dtype, cos_out, sin_out, scratch);
    else
        round_stretch(walk, n, 1.0, 1.0, dtype, cos_out, sin_out, scratch);
    if (dtype != ROPE_F32) {
        walk->kernels->widen[rope_kernel_dtype_of(dtype)](scratch->f32[0], cos_out, 1, n);
        walk->kernels->widen[rope_kernel_dtype_of(dtype)](scratch->f32[1], sin_out, 1, n);
    }
}

static void widen_to_f64(size_t n, struct scratch *scratch)
{
    for (size_t i = 0; i < n; i++) {
        scratch->f64[0][i] = (double)scratch->f32[0][i];
        scratch->f64[1][i] = (double)scratch->f32[1][i];
    }
}

/* make_row where the row passes through other types or comes from the caller. */
static struct row make_row_any(const struct rope_walk *walk, const struct source *source,
                               const struct rope_side *side, size_t first, size_t n,
                               struct scratch *scratch)
{
    if (is_ready(walk, side) && source->one_row) {
        const size_t at = first * rope_dtype_size(walk->rows->dtype);
        return (struct row){source->cos_row[0] + at, source->sin_row[0] + at};
    }
    if (side->round[0] == 0 && side->real == ROPE_F64) {
        make_stretch(walk, source, side, first, n, ROPE_F64, scratch->f64[0], scratch->f64[1],
                     scratch);
        return (struct row){scratch->f64[0], scratch->f64[1]};
    }
    round_once(walk, source, side, first, n, side->round[0] != 0 ? side->round[0] : ROPE_F32,
               scratch);
    if (side->round[1] != 0) {
        widen_to_f64(n, scratch);
        round_once(walk, NULL, side, first, n, side->round[1], scratch);
    }
    if (side->real == ROPE_F32)
        return (struct row){scratch->f32[0], scratch->f32[1]};
    widen_to_f64(n, scratch);
    return (struct row){scratch->f64[0], scratch->f64[1]};
}

/* 1 if rows are made straight in the type that this side wants. */
static int is_straight(const struct rope_walk *walk, const struct rope_side *side)
{
    return walk->rows == NULL && side->round[0] == 0 && (!side->has_magnitude || side->power == 0);
}

/* The reals of a stretch of the row, as this side wants them. */
static struct row make_row(const struct rope_walk *walk, const struct source *source,
                           const struct rope_side *side, size_t first, size_t n,
                           struct scratch *scratch)
{
    if (!is_straight(walk, side))
        return make_row_any(walk, source, side, first, n, scratch);
    const int wide = side->real == ROPE_F64;
    void *cos_out = wide ? (void *)scratch->straight_f64[0] : (void *)scratch->straight_f32[0];
    void *sin_out = wide ? (void *)scratch->straight_f64[1] : (void *)scratch->straight_f32[1];
    make_stretch(walk, source, side, first, n, side->real, cos_out, sin_out, scratch);
    return (struct row){cos_out, sin_out};
}

/* ---- The walk -------------------------------------------------------------------------------- */

static ptrdiff_t offset_of(const struct rope_region *region, size_t batch, size_t token,
                           size_t head)
{
    return (ptrdiff_t)batch * region->stride[ROPE_BATCH] +
           (ptrdiff_t)token * region->stride[ROPE_TOKEN] +
           (ptrdiff_t)head * region->stride[ROPE_HEAD];
}

/* What the rotation leaves alone: before and behind the slice, and pairs that do not turn. */
static void copy_rest(const struct rope_walk *walk, const struct rope_side *side, const char *src,
                      char *dst, size_t heads)
{
    const int all_turn = walk->run_count == 1 && walk->runs[0] == 0 && walk->runs[1] == walk->pairs;
    const size_t before = all_turn ? side->slice_bytes : side->head_bytes;
    const size_t behind = side->slice_bytes + 2 * walk->pairs * side->element;
    for (size_t h = 0; h < heads; h++) {
        if (before != 0)
            memcpy(dst, src, before);
        if (all_turn && side->head_bytes > behind)
            memcpy(dst + behind, src + behind, side->head_bytes - behind);
        src += side->src.stride[ROPE_HEAD];
        dst += side->dst.stride[ROPE_HEAD];
    }
}

/*
 * Heads of one tensor at one token: the arguments of its kernel, those of src and dst at the start
 * of the slice.
 */
struct span {
    const struct rope_side *side;
    struct rope_rotate_args args; /* heads = 0: none */
};

/* Pairs that there is room for at once. */
static size_t longest_stretch(const struct rope_walk *walk)
{
    for (int s = 0; s < 2; s++)
        if (walk->sides[s].heads != 0 && !is_straight(walk, &walk->sides[s]) &&
            !(walk->axes <= 1 && is_ready(walk, &walk->sides[s])))
            return STRETCH;
    return RK_MAX_PAIRS;
}

/* What stays the same from token to token. */
static void start_spans(const struct rope_walk *walk, size_t heads, size_t all_heads,
                        struct span *spans)
{
    const struct rope_side *q = &walk->sides[0], *k = &walk->sides[1];
    const size_t head = 2 * walk->pairs * (q->heads != 0 ? q->element : k->element);
    for (int s = 0; s < 2; s++) {
        const struct rope_side *side = &walk->sides[s];
        spans[s].side = side;
        spans[s].args.heads = 0;
        if (side->heads == 0)
            continue;
        spans[s].args.tokens = 1;
        spans[s].args.src_step = spans[s].args.dst_step = spans[s].args.row_step = 0;
        spans[s].args.src_stride = side->src.stride[ROPE_HEAD];
        spans[s].args.dst_stride = side->dst.stride[ROPE_HEAD];
        spans[s].args.ahead =
            rope_ahead(side->heads, side->src.stride[ROPE_HEAD], side->src.stride[ROPE_TOKEN],
                       walk->pairs * side->element, heads * head, all_heads * head, side->in_place);
        spans[s].args.stream = 0;
        spans[s].args.src_half = walk->chunk_pairs;
        spans[s].args.dst_half = walk->chunk_pairs;
    }
}

static void set_span(const struct rope_walk *walk, size_t batch, size_t token, size_t from,
                     size_t heads, struct span *span)
{
    const struct rope_side *side = span->side;
    const char *src = side->src.base + offset_of(&side->src, batch, token, from);
    char *dst = (char *)(uintptr_t)src;
    if (!side->in_place) {
        dst = (char *)(uintptr_t)side->dst.base + offset_of(&side->dst, batch, token, from);
        copy_rest(walk, side, src, dst, heads);
    }
    span->args.src = src + side->slice_bytes;
    span->args.dst = dst + side->slice_bytes;
    span->args.heads = heads;
}

/* Heads begin..end-1 of a token, counted over q and then k, as a span of each. */
static void set_spans(const struct rope_walk *walk, size_t batch, size_t token, size_t begin,
                      size_t end, struct span *spans)
{
    size_t before = 0; /* heads of the sides so far */
    for (int s = 0; s < 2; s++) {
        const size_t heads = spans[s].side->heads;
        const size_t from = begin > before ? begin - before : 0;
        const size_t until = end <= before ? 0 : end - before < heads ? end - before : heads;
        before += heads;
        spans[s].args.heads = 0;
        if (from < until)
            set_span(walk, batch, token, from, until - from, &spans[s]);
    }
}

static int want_same_row(const struct rope_side *first, const struct rope_side *second)
{
    return first->real == second->real && first->round[0] == second->round[0] &&
           first->round[1] == second->round[1] &&
           (first->has_magnitude | second->has_magnitude) == 0;
}

static void rotate_spans(const struct rope_walk *walk, const struct source *source,
                         const struct span *spans, size_t first, size_t n, struct scratch *scratch)
{
    const struct rope_side *made_for = NULL;
    struct row row = {NULL, NULL};
    for (int s = 0; s < 2; s++) {
        const struct rope_side *side = spans[s].side;
        if (spans[s].args.heads == 0)
            continue;
        if (made_for == NULL || !want_same_row(made_for, side))
            row = make_row(walk, source, side, first, n, scratch);
        made_for = side;
        struct rope_rotate_args args = spans[s].args;
        args.src = (const char *)args.src +
                   rope_element_of(walk->pairing, walk->chunk_pairs, first) * side->element;
        args.dst =
            (char *)args.dst + rope_element_of(walk->to, walk->chunk_pairs, first) * side->element;
        args.pairs = n;
        args.cos = row.cos;
        args.sin = row.sin;
        side->rotate(&args);
    }
}

/* Fills the source of a token; 0 if the token is left out. */
static int find_source(const struct rope_walk *walk, size_t batch, size_t token,
                       struct source *source)
{
    const rope_rows *rows = walk->rows;
    if (rows == NULL) {
        for (size_t axis = 0; axis < walk->axes; axis++)
            source->places[axis] = rope_position_at(walk->positions[axis], batch, token);
        return !(walk->skip_negative && source->places[0].negative);
    }
    source->one_row = 1;
    const size_t size = rope_dtype_size(rows->dtype);
    for (size_t axis = 0; axis == 0 || axis < walk->axes; axis++) {
        const int64_t number = rope_row_number(walk, axis, batch, token);
        if (axis == 0 && number < 0)
            return 0;
        source->cos_row[axis] = rope_row_at(rows, rows->cos, walk->pairs, batch, number);
        if (rope_has_two_arrays(rows->layout))
            source->sin_row[axis] = rope_row_at(rows, rows->sin, walk->pairs, batch, number);
        else
            source->sin_row[axis] =
                source->cos_row[axis] + size * (rows->layout == ROPE_ROWS_PACKED ? walk->pairs : 1);
        source->one_row &= source->cos_row[axis] == source->cos_row[0];
    }
    return 1;
}

static void rotate_token(const struct rope_walk *walk, size_t batch, size_t token, size_t begin,
                         size_t end, size_t longest, struct span *spans, struct scratch *scratch)
{
    struct source source;
    if (!find_source(walk, batch, token, &source))
        return;
    set_spans(walk, batch, token, begin, end, spans);
    for (int s = 0; s < 2; s++)
        if (spans[s].args.heads != 0 && spans[s].side->has_magnitude)
            source.scale[s] = rope_magnitude_scale(walk, spans[s].side, batch, token);
    for (size_t run = 0; run < walk->run_count; run++) {
        const size_t run_end = walk->runs[2 * run + 1];
        size_t n;
        for (size_t first = walk->runs[2 * run]; first < run_end; first += n) {
            const size_t within = first < walk->chunk_pairs ? first : first % walk->chunk_pairs;
            const size_t chunk_rest = walk->chunk_pairs - within;
            n = run_end - first < longest ? run_end - first : longest;
            n = n < chunk_rest ? n : chunk_rest;
            rotate_spans(walk, &source, spans, first, n, scratch);
        }
    }
}

rope_status rope_rotate_any(const rope_plan *plan, const rope_job *job, size_t part, size_t parts)
{
    struct rope_walk walk;
    rope_status status = rope_walk_set(&walk, plan, job);
    if (status == ROPE_OK)
        status = rope_part_check(part, parts, walk.message);
    if (status != ROPE_OK)
        return status;

    const size_t heads = walk.sides[0].heads + walk.sides[1].heads;
    if (heads == 0)
        return ROPE_OK;
    size_t token = 0, head = 0, left = walk.batch * walk.tokens * heads;
    if (parts > 1) {
        /* whole tokens where there are plenty, so that no row is made twice; else single heads */
        const size_t unit_heads = walk.batch * walk.tokens / 8 >= parts ? heads : 1;
        const size_t units = left / unit_heads;
        const size_t begin = rope_part_begin(units, part, parts) * unit_heads;
        left = rope_part_begin(units, part + 1, parts) * unit_heads - begin;
        token = begin / heads;
        head = begin % heads;
    }
    size_t batch = 0;
    if (token >= walk.tokens) {
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): without tokens there are no heads */
        batch = token / walk.tokens;
        token %= walk.tokens;
    }
    struct scratch scratch;
    scratch.args.layout =
        RK_SEPARATE; /* the rest is set where it is read; a zeroed struct costs 10 ns a call */
    scratch.args.stream = 0;
    struct span spans[2];
    start_spans(&walk, left, walk.batch * walk.tokens * heads, spans);
    const size_t longest = longest_stretch(&walk);
    while (left != 0) {
        const size_t now = heads - head < left ? heads - head : left;
        rotate_token(&walk, batch, token, head, head + now, longest, spans, &scratch);
        left -= now;
        head = 0;
        if (++token == walk.tokens) {
            token = 0;
            batch++;
        }
    }
    return ROPE_OK;
}

rope_status rope_rotate_part(const rope_plan *plan, const rope_job *job, size_t part, size_t parts)
{
    if (job == NULL)
        return ROPE_ERR_NULL;
    if (rope_usual_rotate(plan, job, part, parts))
        return ROPE_OK;
    return rope_rotate_any(plan, job, part, parts);
}

rope_status rope_rotate(const rope_plan *plan, const rope_job *job)
{
    return rope_rotate_part(plan, job, 0, 1);
}
