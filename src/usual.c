/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A usual job: one batch of f32, f16 or bf16 heads, a plan whose pairs all turn, rows made from whole
 * positions or read from the caller's f32 rows; or f64 heads by the caller's f64 rows.  Accepts only
 * what the rules of job.c accept, says nothing about what it does not, and does it a few tokens at a
 * time: the general way costs 50 ns a call and 20 ns a token more.
 *
 * A call costs 18 to 20 ns over its kernels, on Zen 5: 500 instructions, 6 in a cycle, which read and judge 2 or 3
 * descriptors of a dozen fields and tell every part of memory from every other.  A row made on the way adds 5 ns
 * and the 6 of its kernel; one row by itself takes 25: 14 for the call, the rest for 32 lines out of L2.
 */
#include "usual.h"
#include "job.h"

/* Room on the stack for rows, in f32 values. */
enum { ROOM = 2048 };

/* Entries of a made row with room to the next line. */
static size_t padded_pairs(const rope_plan *plan)
{
    return (plan->pairs + 15) / 16 * 16;
}

size_t rope_usual_rows(const rope_plan *plan)
{
    if (sizeof(size_t) < 8 || !rope_is_small(plan->head_dim) || plan->xpos_base != 0.0 ||
        plan->chunk_pairs != plan->pairs || plan->pairs > RK_MAX_PAIRS || plan->run_count != 1 ||
        plan->runs[1] - plan->runs[0] != plan->pairs)
        return 0;
    const size_t rows = ROOM / (2 * padded_pairs(plan));
    return rows < RK_RUN ? rows : RK_RUN;
}

struct usual_side {
    struct rope_rotate_args args; /* of token 0; heads = 0: absent */
    size_t length;                /* bytes of a head */
    size_t half;                  /* bytes of the x that turn of it */
    int in_place;
    uintptr_t src_low, src_high; /* all its memory, of src and of dst */
    uintptr_t dst_low, dst_high;
    rope_rotate_fn *rotate;
};

struct usual {
    const rope_plan *plan;
    size_t tokens;
    unsigned reals; /* types that compute: 1 f32, 2 f64, 3 both */
    struct usual_side sides[2];
    rope_turns_fn *turns; /* both sides at once; NULL: each by itself */
    double cos_scale, sin_scale;
    const rope_positions *positions; /* may be NULL, with rows */
    const rope_rows *rows;           /* may be NULL, with positions */
    const char *cos, *sin;           /* rows */
    ptrdiff_t row_step;
};

/*
 * Strides as given, which must be positive and nest; those of an axis of one index do not count.  Returns
 * the bytes from the first to behind the last, or 0.
 */
static uintptr_t span_of(ptrdiff_t token_stride, ptrdiff_t head_stride, ptrdiff_t last_token,
                         ptrdiff_t last_head, ptrdiff_t length, ptrdiff_t element,
                         ptrdiff_t *token_step, ptrdiff_t *head_step)
{
    const size_t most = (size_t)1 << 30;
    if ((size_t)token_stride >= most || (size_t)head_stride >= most)
        return 0;
    *token_step = last_token != 0 ? token_stride * element : 0;
    *head_step = last_head != 0 ? head_stride * element : 0;
    const ptrdiff_t tokens = last_token * *token_step, heads = last_head * *head_step;
    const int heads_within = (last_head == 0 || *head_step >= length) &&
                             (last_token == 0 || *token_step >= heads + length);
    const int tokens_within = (last_token == 0 || *token_step >= length) &&
                              (last_head == 0 || *head_step >= tokens + length);
    return heads_within || tokens_within ? (uintptr_t)(tokens + heads + length) : 0;
}

/* One tensor of the job; 0: not usual. */
static inline int set_side(struct usual *usual, const rope_tensor *tensor, struct usual_side *side)
{
    const rope_plan *plan = usual->plan;
    struct rope_rotate_args *args = &side->args;
    args->heads = 0;
    if (tensor == NULL)
        return 1;
    if (tensor->struct_size != sizeof *tensor) /* first: a shorter one ends before its fields */
        return 0;
    const size_t element = rope_dtype_size(tensor->dtype), heads = tensor->heads;
    if (element == 0 || !rope_is_small(heads - 1) || tensor->src == NULL || tensor->dst == NULL ||
        ((size_t)tensor->scale_dtype | tensor->reserved | (uintptr_t)tensor->scale) != 0)
        return 0;
    usual->reals |= tensor->dtype == ROPE_F64 ? 2 : 1;
    size_t head_dim = plan->head_dim, offset = plan->rotary_offset;
    if ((tensor->head_dim | tensor->rotary_offset) != 0) { /* as the keys of MLA */
        head_dim = tensor->head_dim, offset = tensor->rotary_offset;
        if (!rope_is_small(head_dim) || !rope_is_small(offset) ||
            head_dim < offset + plan->rotary_dim)
            return 0;
    }
    const ptrdiff_t src_any =
        tensor->src_stride_batch | tensor->src_stride_token | tensor->src_stride_head;
    const ptrdiff_t dst_any =
        tensor->dst_stride_batch | tensor->dst_stride_token | tensor->dst_stride_head;
    const ptrdiff_t length = (ptrdiff_t)(head_dim * element);
    const ptrdiff_t last_token = (ptrdiff_t)usual->tokens - 1, last_head = (ptrdiff_t)heads - 1;
    const uintptr_t dense = (uintptr_t)length * heads * usual->tokens;
    uintptr_t src_span = dense, dst_span = dense;
    args->src_stride = args->dst_stride = length;
    args->src_step = args->dst_step = length * (ptrdiff_t)heads;
    if (src_any != 0)
        src_span = span_of(tensor->src_stride_token, tensor->src_stride_head, last_token, last_head,
                           length, (ptrdiff_t)element, &args->src_step, &args->src_stride);
    side->in_place = rope_tensor_is_in_place(tensor);
    if (side->in_place) {
        dst_span = src_span;
        args->dst_stride = args->src_stride;
        args->dst_step = args->src_step;
    } else if (dst_any != 0) {
        dst_span = span_of(tensor->dst_stride_token, tensor->dst_stride_head, last_token, last_head,
                           length, (ptrdiff_t)element, &args->dst_step, &args->dst_stride);
    }
    side->src_low = (uintptr_t)tensor->src, side->src_high = side->src_low + src_span;
    side->dst_low = (uintptr_t)tensor->dst, side->dst_high = side->dst_low + dst_span;
    if (src_span == 0 || dst_span == 0 || (uint64_t)(side->src_low | side->dst_low) >> 62 != 0 ||
        (!side->in_place && (plan->rotary_dim != head_dim ||
                             (side->dst_low < side->src_high && side->src_low < side->dst_high))))
        return 0;
    side->length = (size_t)length;
    side->half = plan->pairs * element;
    args->src = (const char *)tensor->src + offset * element;
    args->dst = (char *)tensor->dst + offset * element;
    args->heads = heads;
    args->pairs = args->src_half = args->dst_half = plan->pairs;
    side->rotate = plan->kernels->rotate[RK_FUSED][plan->pairing == ROPE_HALF ? 0 : 3]
                                        [rope_kernel_dtype_of(tensor->dtype)];
    return 1;
}

/* 1 if no byte from low to high - 1 is written. */
static int is_untouched(const struct usual *usual, uintptr_t low, uintptr_t high)
{
    int apart = 1;
    for (int s = 0; s < 2; s++) {
        const struct usual_side *side = &usual->sides[s];
        apart &= side->args.heads == 0 || low >= side->dst_high || high <= side->dst_low;
    }
    return apart;
}

/* 1 if all are whole numbers from -below to limit - below - 1. */
static int are_within(const rope_positions *positions, size_t tokens, uint64_t below,
                      uint64_t limit)
{
    if (positions->data == NULL) {
        if (positions->dtype != 0 || positions->start <= -(INT64_C(1) << 40) ||
            positions->start >= INT64_C(1) << 40 || positions->step <= -(INT64_C(1) << 40) ||
            positions->step >= INT64_C(1) << 40)
            return 0;
        const int64_t last =
            positions->start + rope_position_step(positions) * (int64_t)(tokens - 1);
        return (uint64_t)positions->start + below < limit && (uint64_t)last + below < limit;
    }
    if (positions->stride_token != 1 || (positions->start | positions->step) != 0)
        return 0;
    int within = 1;
    if (positions->dtype == ROPE_I32) {
        const int32_t *values = positions->data;
        for (size_t t = 0; t < tokens; t++)
            within &= (uint64_t)(int64_t)values[t] + below < limit;
    } else if (positions->dtype == ROPE_I64) {
        const int64_t *values = positions->data;
        for (size_t t = 0; t < tokens; t++)
            within &= (uint64_t)values[t] + below < limit;
    } else {
        within = 0;
    }
    return within;
}

static int64_t position_of(const rope_positions *positions, size_t token)
{
    if (positions->data == NULL)
        return positions->start + rope_position_step(positions) * (int64_t)token;
    return positions->dtype == ROPE_I32 ? ((const int32_t *)positions->data)[token]
                                        : ((const int64_t *)positions->data)[token];
}

/* Whole positions that are within; *low and *high: their memory, both 0 if they have none. */
static inline int read_positions(const rope_positions *positions, size_t tokens, uint64_t below,
                                 uint64_t limit, uintptr_t *low, uintptr_t *high)
{
    if (positions->struct_size != sizeof *positions || !are_within(positions, tokens, below, limit))
        return 0;
    *low = (uintptr_t)positions->data;
    *high = *low == 0 ? 0 : *low + tokens * (positions->dtype == ROPE_I32 ? 4 : 8);
    return (uint64_t)*low >> 62 == 0;
}

/* The same for one axis of the positions that rows can be made of. */
static inline int read_axis(const rope_positions *positions, size_t tokens, uintptr_t *low,
                            uintptr_t *high)
{
    const uint64_t end = UINT64_C(1) << 31;
    return read_positions(positions, tokens, end - 1, 2 * end - 1, low, high);
}

/* The arrays of rows in the two layouts that keep cosines and sines together; of packed rows both are one. */
struct arrays {
    size_t width, stride; /* elements of a row, and from row to row */
    uintptr_t cos_low, cos_high, sin_low, sin_high;
};

static inline int read_arrays(const rope_rows *rows, size_t pairs, size_t count, size_t element,
                              struct arrays *arrays)
{
    const int packed = rows->layout == ROPE_ROWS_PACKED;
    if (rows->cos == NULL ||
        (packed ? rows->sin != NULL : rows->layout != ROPE_ROWS_SEPARATE || rows->sin == NULL))
        return 0;
    arrays->width = packed ? 2 * pairs : pairs;
    arrays->stride = rows->stride_row != 0 ? (size_t)rows->stride_row : arrays->width;
    const size_t bytes = ((count - 1) * arrays->stride + arrays->width) * element;
    arrays->cos_low = (uintptr_t)rows->cos;
    arrays->sin_low = packed ? arrays->cos_low : (uintptr_t)rows->sin;
    arrays->cos_high = arrays->cos_low + bytes;
    arrays->sin_high = arrays->sin_low + bytes;
    return arrays->stride < (size_t)1 << 20 &&
           (uint64_t)(arrays->cos_low | arrays->sin_low) >> 62 == 0;
}

/* Rows of the type that computes, which can be read where they are. */
static int set_rows(struct usual *usual)
{
    const rope_rows *rows = usual->rows;
    const size_t pairs = usual->plan->pairs;
    const size_t real = usual->reals == 2 ? sizeof(double) : sizeof(float);
    struct arrays arrays;
    if (rows->struct_size != sizeof *rows ||
        rows->dtype != (usual->reals == 2 ? ROPE_F64 : ROPE_F32) || usual->reals == 3 ||
        rows->direction != ROPE_FORWARD || rows->count - 1 >= (size_t)1 << 30 ||
        !read_arrays(rows, pairs, rows->count, real, &arrays) ||
        !is_untouched(usual, arrays.cos_low, arrays.cos_high) ||
        !is_untouched(usual, arrays.sin_low, arrays.sin_high))
        return 0;
    usual->cos = rows->cos;
    usual->sin = rows->layout == ROPE_ROWS_PACKED ? usual->cos + pairs * real : rows->sin;
    usual->row_step = (ptrdiff_t)(arrays.stride * real);
    if (usual->positions == NULL)
        return usual->tokens <= rows->count;
    uintptr_t low, high;
    return usual->plan->axes == 1 &&
           read_positions(usual->positions, usual->tokens, 0, rows->count, &low, &high) &&
           is_untouched(usual, low, high);
}

static struct rope_region destination(const struct usual *usual, const struct usual_side *side)
{
    return (struct rope_region){
        .base = (const char *)side->dst_low,
        .length = side->length,
        .count = {1, usual->tokens, side->args.heads},
        .stride = {0, usual->tokens > 1 ? side->args.dst_step : 0,
                   side->args.heads > 1 ? side->args.dst_stride : 0},
        .low = side->dst_low,
        .high = side->dst_high,
    };
}

/* q and k may be parts of one packed buffer, each in place. */
static int are_apart(const struct usual *usual)
{
    const struct usual_side *q = &usual->sides[0], *k = &usual->sides[1];
    if (q->args.heads == 0 || k->args.heads == 0)
        return 1;
    if (q->dst_low < k->dst_high && k->dst_low < q->dst_high) {
        const struct rope_region first = destination(usual, q), second = destination(usual, k);
        return q->in_place && k->in_place && !rope_regions_overlap_slow(&first, &second);
    }
    return (k->in_place || q->dst_low >= k->src_high || k->src_low >= q->dst_high) &&
           (q->in_place || k->dst_low >= q->src_high || q->src_low >= k->dst_high);
}

/* 1 if the job is usual. */
static int set(struct usual *usual, const rope_plan *plan, const rope_job *job)
{
    if (plan == NULL || plan->rows_at_once == 0 || job->struct_size != sizeof *job ||
        job->batch != 1 || !rope_is_small(job->tokens - 1) ||
        (unsigned)job->direction > ROPE_SHIFT ||
        (job->flags | (unsigned)job->pairing_out | (unsigned)job->arith | (unsigned)job->row_dtype |
         (unsigned)job->pairing | job->reserved | job->rotary_dim) != 0 ||
        job->xpos_center != 0.0)
        return 0;
    usual->plan = plan;
    usual->tokens = job->tokens;
    usual->reals = 0;
    if (!set_side(usual, job->q, &usual->sides[0]) || !set_side(usual, job->k, &usual->sides[1]) ||
        (usual->sides[0].args.heads | usual->sides[1].args.heads) == 0 || !are_apart(usual))
        return 0;
    usual->positions = job->positions;
    usual->rows = job->rows;
    if (job->rows != NULL)
        return job->direction == ROPE_FORWARD && set_rows(usual);
    usual->cos_scale = usual->sin_scale = plan->resolved.attention_factor;
    if (job->direction != ROPE_FORWARD)
        rope_direction_scales(plan, job->direction, &usual->cos_scale, &usual->sin_scale);
    if (job->positions == NULL || usual->reals != 1) /* f64 rows go by the angle */
        return 0;
    for (size_t axis = 0; axis < plan->axes; axis++) {
        uintptr_t low, high;
        if (!read_axis(&job->positions[axis], usual->tokens, &low, &high) ||
            !is_untouched(usual, low, high))
            return 0;
    }
    return 1;
}

/*
 * In place: nothing where most of L2 holds all; 1.5 KiB out of L3; 4 KiB beyond.  Time over the limit on Zen 5,
 * f32, rows in turn, without and with: 10 MiB 1.02 and 0.90 (1 KiB 0.90, 2 KiB 0.92, 3 KiB 0.99; AVX2 likes 2 KiB
 * as much, rows made on the way like 1.5 KiB better), 40 MiB 1.20 and 0.80, 160 MiB 1.15 and 1.00; at 320 KiB
 * the hint costs 8 %.
 *
 * To other memory: nothing out of L2 and L3, where the hint costs 3 to 7 %; beyond, results go past the caches.
 * Time over the better copy on Zen 5: f32 40 MiB 1.58, with the hint; 1.39 without; 1.07 past the caches; 160
 * MiB 1.46, 1.38, 1.05; bf16 20 MiB 1.21, 1.17, 0.92; 80 MiB 1.40, 1.40, 1.09.
 */
enum { MOST_OF_L2 = 640 << 10, MOST_OF_L3 = 24 << 20 };

ptrdiff_t rope_ahead(size_t heads, ptrdiff_t stride, ptrdiff_t step, size_t half, size_t bytes,
                     size_t all, int in_place)
{
    if (in_place ? bytes <= (size_t)MOST_OF_L2 : all < (size_t)ROPE_STREAM_BYTES)
        return 0;
    const ptrdiff_t ahead = in_place && all <= (size_t)MOST_OF_L3 ? 1536 : 4096;
    /* as many bytes of heads, as they stand: head after head of a token, or token after token */
    const ptrdiff_t count = (ptrdiff_t)heads, head = 2 * (ptrdiff_t)half;
    const int by_token = count == 1 || stride * count > step;
    const ptrdiff_t width = by_token ? count * head : head;
    return (ahead + width - 1) / width * (by_token ? step : stride);
}

/* 1 if results go past the caches, of `all` bytes. */
static int is_streamed(const struct usual_side *side, size_t all)
{
    const struct rope_rotate_args *args = &side->args;
    const uintptr_t places =
        (uintptr_t)args->dst | (uintptr_t)args->dst_stride | (uintptr_t)args->dst_step | side->half;
    return !side->in_place && all >= (size_t)ROPE_STREAM_BYTES && places % 64 == 0;
}

/* The kernel for q and k of f32 in turn, if the set has one and nothing goes past the caches. */
static rope_turns_fn *turns_of(const struct usual *usual)
{
    const rope_plan *plan = usual->plan;
    const struct usual_side *q = &usual->sides[0], *k = &usual->sides[1];
    const size_t half = plan->pairs * sizeof(float);
    if (q->args.heads == 0 || k->args.heads == 0 || q->half != half || k->half != half ||
        (q->args.stream | k->args.stream) != 0)
        return NULL;
    rope_turns_fn *const *const turns = plan->kernels->turns;
    return plan->pairing == ROPE_HALF ? turns[RK_HALF] : turns[RK_INTERLEAVED];
}

static inline void rotate(struct usual *usual, size_t tokens, const void *cos_row,
                          const void *sin_row, ptrdiff_t row_step)
{
    for (int s = 0; s < 2; s++) {
        struct rope_rotate_args *args = &usual->sides[s].args;
        if (args->heads == 0)
            continue;
        args->tokens = tokens;
        args->cos = cos_row;
        args->sin = sin_row;
        args->row_step = row_step;
        if (usual->turns == NULL)
            usual->sides[s].rotate(args);
    }
    if (usual->turns != NULL)
        usual->turns(&usual->sides[0].args, &usual->sides[1].args);
    for (int s = 0; s < 2; s++) {
        struct rope_rotate_args *args = &usual->sides[s].args;
        if (args->heads == 0)
            continue;
        args->src = (const char *)args->src + (ptrdiff_t)tokens * args->src_step;
        args->dst = (char *)args->dst + (ptrdiff_t)tokens * args->dst_step;
    }
}

static void walk_rows(struct usual *usual, size_t token, size_t end)
{
    if (usual->positions == NULL) {
        enum { TOGETHER = 64 };
        size_t n;
        for (; token < end; token += n) {
            n = end - token < TOGETHER ? end - token : TOGETHER;
            rotate(usual, n, usual->cos + (ptrdiff_t)token * usual->row_step,
                   usual->sin + (ptrdiff_t)token * usual->row_step, usual->row_step);
        }
        return;
    }
    for (; token < end; token++) {
        const ptrdiff_t at = (ptrdiff_t)position_of(usual->positions, token) * usual->row_step;
        rotate(usual, 1, usual->cos + at, usual->sin + at, 0);
    }
}

/* Positions of several axes, or angles in f32. */
static void walk_places(struct usual *usual, size_t token, size_t end)
{
    _Alignas(64) float room[ROOM];
    const rope_plan *plan = usual->plan;
    const size_t padded = padded_pairs(plan), together = plan->rows_at_once;
    struct rope_rows_args args;
    args.layout = RK_SEPARATE;
    args.stream = 0;
    args.pairs = plan->pairs;
    size_t rows;
    for (; token < end; token += rows) {
        rows = end - token < together ? end - token : together;
        for (size_t r = 0; r < rows; r++) {
            struct rope_place places[ROPE_AXES_MAX];
            for (size_t axis = 0; axis < plan->axes; axis++)
                places[axis] = rope_position_at(&usual->positions[axis], 0, token + r);
            args.cos = room + 2 * padded * r;
            args.sin = room + 2 * padded * r + padded;
            args.cos_scale = usual->cos_scale;
            args.sin_scale = usual->sin_scale;
            rope_row_make(plan, places, 0, RK_F32, &args);
        }
        rotate(usual, rows, room, room + padded, (ptrdiff_t)(2 * padded * sizeof(float)));
    }
}

/* Rows from `token` on into run->cos and run->sin, at most `most` of them; returns how many. */
static inline size_t make_rows(const rope_plan *plan, const rope_positions *positions, size_t token,
                               size_t most, enum rope_kernel_dtype dtype, double sin_scale,
                               struct rope_run_args *run, struct rope_far *far)
{
    run->unit = run->cos_scale == 1.0 && sin_scale == 1.0;
    size_t rows = 0;
    while (rows < most &&
           rope_run_set(plan, position_of(positions, token + rows), sin_scale, run, rows, far))
        rows++;
    run->rows = rows;
    plan->kernels->run[dtype](run);
    return rows;
}

static void walk_positions(struct usual *usual, size_t token, size_t end)
{
    _Alignas(64) float room[ROOM];
    const rope_plan *plan = usual->plan;
    const size_t padded = padded_pairs(plan), together = plan->rows_at_once;
    struct rope_far far;
    far.upper = 0;
    struct rope_run_args run;
    rope_run_start(plan, room, room + padded, (ptrdiff_t)(2 * padded * sizeof(float)),
                   usual->cos_scale, &run);
    size_t rows;
    for (; token < end; token += rows) {
        rows = make_rows(plan, usual->positions, token,
                         end - token < together ? end - token : together, RK_F32, usual->sin_scale,
                         &run, &far);
        rotate(usual, rows, run.cos, run.sin, run.step);
    }
}

int rope_usual_rotate(const rope_plan *plan, const rope_job *job, size_t part, size_t parts)
{
    struct usual usual;
    if (!set(&usual, plan, job))
        return 0;
    size_t begin = 0, end = usual.tokens;
    if (parts != 1 || part != 0) {
        /* heads of a token are divided in the general way */
        if (part >= parts || usual.tokens / 8 < parts)
            return 0;
        begin = rope_part_begin(usual.tokens, part, parts);
        end = rope_part_begin(usual.tokens, part + 1, parts);
    }
    size_t of_token = 0;
    for (int s = 0; s < 2; s++)
        if (usual.sides[s].args.heads != 0)
            of_token += 2 * usual.sides[s].half * usual.sides[s].args.heads;
    const size_t bytes = of_token * (end - begin), all = of_token * usual.tokens;
    const int is_large = bytes > (size_t)MOST_OF_L2; /* else nothing of this is worth its calls */
    int streamed = 0;
    for (int s = 0; s < 2; s++) {
        struct usual_side *side = &usual.sides[s];
        struct rope_rotate_args *args = &side->args;
        if (args->heads == 0)
            continue;
        args->ahead = is_large ? rope_ahead(args->heads, args->src_stride, args->src_step,
                                            side->half, bytes, all, side->in_place)
                               : 0;
        args->stream = is_large && is_streamed(side, all);
        streamed |= args->stream;
        args->src = (const char *)args->src + (ptrdiff_t)begin * args->src_step;
        args->dst = (char *)args->dst + (ptrdiff_t)begin * args->dst_step;
    }
    usual.turns = turns_of(&usual);
    /* by address: inlined, the room of one on the stack would be asked of all */
    void (*const walk)(struct usual *, size_t, size_t) =
        usual.rows != NULL                                   ? walk_rows
        : plan->axes == 1 && plan->angle == ROPE_ANGLE_EXACT ? walk_positions
                                                             : walk_places;
    walk(&usual, begin, end);
    if (streamed)
        plan->kernels->fence();
    return 1;
}

int rope_usual_table(const rope_plan *plan, const rope_positions *positions, size_t tokens,
                     const rope_rows *rows)
{
    const size_t size = rope_dtype_size(rows->dtype), pairs = plan->pairs;
    struct arrays arrays;
    uintptr_t low, high;
    if (sizeof(size_t) < 8 || plan->axes != 1 || plan->angle != ROPE_ANGLE_EXACT ||
        pairs > RK_MAX_PAIRS || !rope_is_small(tokens - 1) || rows->struct_size != sizeof *rows ||
        rows->dtype == ROPE_F64 || size == 0 || (unsigned)rows->direction > ROPE_SHIFT ||
        tokens > rows->count || !read_arrays(rows, pairs, tokens, size, &arrays) ||
        arrays.stride < arrays.width || !read_axis(positions, tokens, &low, &high) ||
        (high > arrays.cos_low && low < arrays.cos_high) ||
        (high > arrays.sin_low && low < arrays.sin_high) ||
        (rows->layout != ROPE_ROWS_PACKED && arrays.cos_high > arrays.sin_low &&
         arrays.sin_high > arrays.cos_low))
        return 0;

    char *const cos_row = rows->cos;
    char *const sin_row = rows->layout == ROPE_ROWS_PACKED ? cos_row + pairs * size : rows->sin;
    const enum rope_kernel_dtype dtype = rope_kernel_dtype_of(rows->dtype);
    double cos_scale = plan->resolved.attention_factor, sin_scale = cos_scale;
    if (rows->direction != ROPE_FORWARD)
        rope_direction_scales(plan, rows->direction, &cos_scale, &sin_scale);
    struct rope_far far;
    far.upper = 0;
    struct rope_run_args run;
    rope_run_start(plan, cos_row, sin_row, (ptrdiff_t)(arrays.stride * size), cos_scale, &run);
    run.stream = rope_rows_can_stream(rows, pairs, tokens);
    size_t made;
    for (size_t token = 0; token < tokens; token += made) {
        run.cos = cos_row + (ptrdiff_t)token * run.step;
        run.sin = sin_row + (ptrdiff_t)token * run.step;
        made = make_rows(plan, positions, token, tokens - token < RK_RUN ? tokens - token : RK_RUN,
                         dtype, sin_scale, &run, &far);
    }
    if (run.stream)
        plan->kernels->fence();
    return 1;
}
