/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a job: every field, every extent, every overlap, before the first write. */
#include "job.h"
#include "dispatch.h"
#include "magnitude.h"

#include <assert.h>
#include <string.h>

#if UINTPTR_MAX == UINT64_MAX
static_assert(offsetof(rope_tensor, dtype) == 4 && offsetof(rope_tensor, src) == 8 &&
                  offsetof(rope_tensor, dst) == 16 && offsetof(rope_tensor, heads) == 24 &&
                  offsetof(rope_tensor, head_dim) == 32 &&
                  offsetof(rope_tensor, rotary_offset) == 40 &&
                  offsetof(rope_tensor, src_stride_batch) == 48 &&
                  offsetof(rope_tensor, src_stride_token) == 56 &&
                  offsetof(rope_tensor, src_stride_head) == 64 &&
                  offsetof(rope_tensor, dst_stride_batch) == 72 &&
                  offsetof(rope_tensor, dst_stride_token) == 80 &&
                  offsetof(rope_tensor, dst_stride_head) == 88 &&
                  offsetof(rope_tensor, scale) == 96 && offsetof(rope_tensor, scale_dtype) == 104 &&
                  offsetof(rope_tensor, reserved) == 108 &&
                  offsetof(rope_tensor, scale_stride_batch) == 112 &&
                  offsetof(rope_tensor, scale_stride_token) == 120 && sizeof(rope_tensor) == 128,
              "rope_tensor is frozen");
static_assert(offsetof(rope_job, flags) == 4 && offsetof(rope_job, batch) == 8 &&
                  offsetof(rope_job, tokens) == 16 && offsetof(rope_job, q) == 24 &&
                  offsetof(rope_job, k) == 32 && offsetof(rope_job, positions) == 40 &&
                  offsetof(rope_job, rows) == 48 && offsetof(rope_job, direction) == 56 &&
                  offsetof(rope_job, pairing_out) == 60 && offsetof(rope_job, arith) == 64 &&
                  offsetof(rope_job, row_dtype) == 68 && offsetof(rope_job, rotary_dim) == 72 &&
                  offsetof(rope_job, pairing) == 80 && offsetof(rope_job, reserved) == 84 &&
                  offsetof(rope_job, message) == 88 && offsetof(rope_job, message_size) == 96 &&
                  offsetof(rope_job, xpos_center) == 104 && sizeof(rope_job) == 112,
              "rope_job is frozen");
#endif
enum { TENSOR_SIZE_0_1 = offsetof(rope_tensor, scale) };

static const char *const side_names[2] = {"q", "k"};

/* ---- Checks ---------------------------------------------------------------------------------- */

/* Strides as given, or dense where all three are 0. */
static void effective_strides(const ptrdiff_t *given, size_t tokens, size_t heads, size_t head_dim,
                              ptrdiff_t *strides)
{
    memcpy(strides, given, ROPE_AXES * sizeof *strides);
    if (given[ROPE_BATCH] == 0 && given[ROPE_TOKEN] == 0 && given[ROPE_HEAD] == 0) {
        /*
         * sizes that overflow here are found by the measure of the region: strides only get larger
         */
        strides[ROPE_HEAD] = (ptrdiff_t)head_dim;
        strides[ROPE_TOKEN] = (ptrdiff_t)(heads * head_dim);
        strides[ROPE_BATCH] = (ptrdiff_t)(tokens * heads * head_dim);
    }
}

/* One side of a tensor as a region. */
static rope_status set_region(const struct rope_walk *walk, const struct rope_side *side,
                              const void *base, const ptrdiff_t *given, const char *name,
                              struct rope_region *region)
{
    ptrdiff_t strides[ROPE_AXES];
    effective_strides(given, walk->tokens, side->heads, side->head_bytes / side->element, strides);
    region->base = base;
    region->length = side->head_bytes;
    region->count[ROPE_BATCH] = walk->batch;
    region->count[ROPE_TOKEN] = walk->tokens;
    region->count[ROPE_HEAD] = side->heads;
    if (!rope_region_strides(region, strides, side->element) || !rope_region_measure(region))
        return rope_fail(
            walk->message, ROPE_ERR_SIZE,
            "%s: strides %td, %td, %td over %zu x %zu x %zu: must stay in the address space", name,
            strides[ROPE_BATCH], strides[ROPE_TOKEN], strides[ROPE_HEAD], walk->batch, walk->tokens,
            side->heads);
    return ROPE_OK;
}

static rope_status check_layout(const struct rope_walk *walk, const rope_tensor *tensor,
                                struct rope_side *side, size_t head_dim, const char *name)
{
    if (!(rope_is_small(walk->tokens) && rope_is_small(side->heads) && rope_is_small(head_dim)) &&
        rope_is_too_many(walk->tokens, side->heads, head_dim))
        return rope_fail(
            walk->message, ROPE_ERR_SIZE,
            "%s.heads: %zu: tokens %zu x heads x head_dim %zu must stay in the address space", name,
            side->heads, walk->tokens, head_dim);
    const ptrdiff_t src_given[] = {tensor->src_stride_batch, tensor->src_stride_token,
                                   tensor->src_stride_head};
    const ptrdiff_t dst_given[] = {tensor->dst_stride_batch, tensor->dst_stride_token,
                                   tensor->dst_stride_head};
    rope_status status = set_region(walk, side, tensor->src, src_given, name, &side->src);
    if (status != ROPE_OK)
        return status;
    side->in_place = rope_tensor_is_in_place(tensor);
    if (side->in_place) {
        side->dst = side->src;
    } else {
        status = set_region(walk, side, tensor->dst, dst_given, name, &side->dst);
        if (status != ROPE_OK)
            return status;
        side->in_place = rope_regions_coincide(&side->src, &side->dst);
    }
    if (!rope_region_nests(&side->dst))
        return rope_fail(
            walk->message, ROPE_ERR_STRIDE,
            "%s: dst strides %td, %td, %td: each must span the axes below it and head_dim = %zu",
            name, side->dst.stride[ROPE_BATCH] / (ptrdiff_t)side->element,
            side->dst.stride[ROPE_TOKEN] / (ptrdiff_t)side->element,
            side->dst.stride[ROPE_HEAD] / (ptrdiff_t)side->element, head_dim);
    return ROPE_OK;
}

static rope_status check_tensor(struct rope_walk *walk, const rope_job *job,
                                const rope_tensor *tensor, struct rope_side *side, const char *name)
{
    const struct rope_message message = walk->message;
    const size_t element = rope_dtype_size(tensor->dtype);
    if (element == 0)
        return rope_dtype_fail(message, name, tensor->dtype);
    size_t head_dim = tensor->head_dim, offset = tensor->rotary_offset;
    if (head_dim == 0) {
        if (walk->plan == NULL)
            return rope_fail(message, ROPE_ERR_VALUE,
                             "%s.head_dim: 0: must be given without a plan", name);
        if (offset != 0)
            return rope_fail(message, ROPE_ERR_VALUE,
                             "%s.rotary_offset: %zu: must be 0 without head_dim", name, offset);
        head_dim = walk->plan->head_dim;
        offset = walk->plan->rotary_offset;
    }
    if (head_dim < 2 * walk->pairs || offset > head_dim - 2 * walk->pairs)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "%s.head_dim: %zu: must hold rotary_offset %zu + rotary_dim %zu", name,
                         head_dim, offset, 2 * walk->pairs);
    if (head_dim > PTRDIFF_MAX / 8)
        return rope_fail(message, ROPE_ERR_SIZE, "%s.head_dim: %zu: must stay in the address space",
                         name, head_dim);
    side->heads = tensor->heads;
    side->element = element;
    side->head_bytes = head_dim * element;
    side->slice_bytes = offset * element;

    const enum rope_kernel_dtype dtype = rope_kernel_dtype_of(tensor->dtype);
    side->rotate = walk->kernels->rotate[job->arith][2 * walk->pairing + walk->to][dtype];
    side->real = tensor->dtype == ROPE_F64 ? ROPE_F64 : ROPE_F32;
    side->round[0] = job->row_dtype;
    side->round[1] = job->arith == ROPE_ARITH_EAGER ? tensor->dtype : 0;
    if (side->round[0] == 0 || side->round[0] == side->round[1]) { /* one rounding at most */
        side->round[0] = side->round[1];
        side->round[1] = 0;
    }
    if (side->round[1] == ROPE_F64)
        side->round[1] = 0;
    if (side->round[1] == 0 && side->round[0] == side->real)
        side->round[0] = 0;

    if (walk->batch == 0 || walk->tokens == 0 || side->heads == 0) {
        side->heads = 0;
        return ROPE_OK;
    }
    const rope_status magnitude_status = rope_magnitude_check_tensor(walk, tensor, side, name);
    if (magnitude_status != ROPE_OK)
        return magnitude_status;
    if (tensor->src == NULL || tensor->dst == NULL)
        return rope_fail(message, ROPE_ERR_NULL, "%s.%s: NULL: must hold %zu heads of %zu tokens",
                         name, tensor->src == NULL ? "src" : "dst", side->heads, walk->tokens);
    const rope_status status = check_layout(walk, tensor, side, head_dim, name);
    if (status != ROPE_OK)
        return status;
    if (!side->in_place && rope_regions_overlap(&side->src, &side->dst))
        return rope_fail(message, ROPE_ERR_ALIAS,
                         "%s.dst: overlaps %s.src: must equal it, strides too, or lie apart", name,
                         name);
    if (side->in_place && walk->to != walk->pairing)
        return rope_fail(
            message, ROPE_ERR_VALUE,
            "job.pairing_out: %d: a change of pairing must be out of place, %s is in place",
            (int)job->pairing_out, name);
    return ROPE_OK;
}

static rope_pairing destination_pairing(rope_pairing_out wanted, rope_pairing source)
{
    if (wanted == ROPE_OUT_SAME)
        return source;
    return wanted == ROPE_OUT_HALF ? ROPE_HALF : ROPE_INTERLEAVED;
}

/* The fields of the job itself. */
static rope_status check_job(struct rope_walk *walk, const rope_job *job)
{
    const struct rope_message message = walk->message;
    if ((job->flags & ~(uint32_t)ROPE_SKIP_NEGATIVE) != 0)
        return rope_fail(message, ROPE_ERR_VALUE, "job.flags: %#x: must be ROPE_SKIP_NEGATIVE or 0",
                         (unsigned)job->flags);
    if (job->direction < ROPE_FORWARD || job->direction > ROPE_SHIFT)
        return rope_fail(message, ROPE_ERR_VALUE, "job.direction: %d: must be a direction",
                         (int)job->direction);
    if (job->pairing_out < ROPE_OUT_SAME || job->pairing_out > ROPE_OUT_INTERLEAVED)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "job.pairing_out: %d: must be a ROPE_OUT_* number", (int)job->pairing_out);
    if (job->arith < ROPE_ARITH_FUSED || job->arith > ROPE_ARITH_UNFUSED)
        return rope_fail(message, ROPE_ERR_VALUE, "job.arith: %d: must be a ROPE_ARITH_* number",
                         (int)job->arith);
    if (job->row_dtype != 0 && job->row_dtype != ROPE_F32 && job->row_dtype != ROPE_F16 &&
        job->row_dtype != ROPE_BF16)
        return rope_fail(message, ROPE_ERR_DTYPE,
                         "job.row_dtype: %d: must be ROPE_F32, ROPE_F16, ROPE_BF16 or 0",
                         (int)job->row_dtype);
    if (job->reserved != 0)
        return rope_fail(message, ROPE_ERR_VALUE, "job.reserved: %u: must be 0",
                         (unsigned)job->reserved);
    if (job->positions == NULL && job->rows == NULL)
        return rope_fail(message, ROPE_ERR_NULL,
                         "job.positions: NULL: positions or rows must be given");
    const rope_status status = rope_magnitude_check_job(walk, job);
    if (status != ROPE_OK)
        return status;
    walk->batch = job->batch;
    walk->tokens = job->tokens;
    walk->direction = job->direction;
    walk->skip_negative = (job->flags & ROPE_SKIP_NEGATIVE) != 0;

    if (walk->plan != NULL) {
        if (job->rotary_dim != 0 || job->pairing != ROPE_HALF)
            return rope_fail(message, ROPE_ERR_VALUE,
                             "job.rotary_dim, job.pairing: %zu, %d: must be 0 with a plan",
                             job->rotary_dim, (int)job->pairing);
        walk->kernels = walk->plan->kernels;
        walk->pairs = walk->plan->pairs;
        walk->pairing = walk->plan->pairing;
        walk->chunk_pairs = walk->plan->chunk_pairs;
        rope_direction_scales(walk->plan, walk->direction, &walk->cos_scale, &walk->sin_scale);
        return ROPE_OK;
    }
    if (job->rows == NULL)
        return rope_fail(message, ROPE_ERR_NULL, "plan: NULL: must be given without rows");
    if (job->rotary_dim < 2 || job->rotary_dim % 2 != 0 || job->rotary_dim > PTRDIFF_MAX / 16)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "job.rotary_dim: %zu: must be even and >= 2 without a plan",
                         job->rotary_dim);
    if (job->pairing != ROPE_HALF && job->pairing != ROPE_INTERLEAVED)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "job.pairing: %d: must be ROPE_HALF or ROPE_INTERLEAVED",
                         (int)job->pairing);
    rope_isa isa;
    walk->kernels = rope_kernels_active(&isa);
    if (walk->kernels == NULL)
        return rope_fail(message, ROPE_ERR_ISA,
                         "ROPE_ISA: must name a set that this CPU and build have");
    walk->pairs = job->rotary_dim / 2;
    walk->pairing = job->pairing;
    walk->chunk_pairs = walk->pairs;
    return ROPE_OK;
}

/*
 * Duplicated rows: both copies of each entry must agree.  Returns the first entry that does not, or
 * pairs.
 */
static size_t first_difference(const rope_rows *rows, const char *row, size_t pairs)
{
    const size_t size = rope_dtype_size(rows->dtype);
    const int halves = rows->layout == ROPE_ROWS_DUP_HALF;
    size_t i = 0;
    for (; i < pairs; i++)
        if (memcmp(row + (halves ? i : 2 * i) * size, row + (halves ? pairs + i : 2 * i + 1) * size,
                   size) != 0)
            break;
    return i;
}

const char *rope_row_at(const rope_rows *rows, const void *array, size_t pairs, size_t batch,
                        int64_t row)
{
    const ptrdiff_t size = (ptrdiff_t)rope_dtype_size(rows->dtype);
    return (const char *)array + ((ptrdiff_t)batch * rows->stride_batch +
                                  (ptrdiff_t)row * rope_rows_stride(rows, pairs)) *
                                     size;
}

int64_t rope_row_number(const struct rope_walk *walk, size_t axis, size_t batch, size_t token)
{
    if (walk->axes == 0)
        return (int64_t)token;
    return rope_row_number_at(walk->positions[axis], batch, token);
}

int rope_is_left_out(const struct rope_walk *walk, size_t batch, size_t token)
{
    if (!walk->skip_negative || walk->axes == 0)
        return 0;
    return walk->rows != NULL ? rope_row_number(walk, 0, batch, token) < 0
                              : rope_position_at(walk->positions[0], batch, token).negative;
}

static rope_status check_duplicate(const struct rope_walk *walk, size_t batch, int64_t row)
{
    const rope_rows *rows = walk->rows;
    for (int array = 0; array < 2; array++) {
        const char *start =
            rope_row_at(rows, array ? rows->sin : rows->cos, walk->pairs, batch, row);
        const size_t at = first_difference(rows, start, walk->pairs);
        if (at < walk->pairs)
            return rope_fail(walk->message, ROPE_ERR_ROW,
                             "rows.%s: row %lld, entry %zu: its two copies must be equal",
                             array ? "sin" : "cos", (long long)row, at);
    }
    return ROPE_OK;
}

static rope_status check_duplicates(const struct rope_walk *walk)
{
    rope_status status = ROPE_OK;
    for (size_t b = 0; b < walk->batch; b++)
        for (size_t t = 0; t < walk->tokens; t++) {
            if (rope_is_left_out(walk, b, t))
                continue;
            for (size_t axis = 0; status == ROPE_OK && (axis == 0 || axis < walk->axes); axis++)
                status = check_duplicate(walk, b, rope_row_number(walk, axis, b, t));
        }
    return status;
}

/* Memory that a job reads besides its tensors. */
struct others {
    size_t count;
    struct rope_region regions[ROPE_AXES_MAX + 4];
    const char *names[ROPE_AXES_MAX + 4];
};

static struct rope_region *next_other(struct others *others, const char *name)
{
    others->names[others->count] = name;
    return &others->regions[others->count++];
}

/* Rows of the caller: fields, memory, and that the direction is one that they can serve. */
static rope_status check_rows(struct rope_walk *walk, struct others *others)
{
    const rope_rows *rows = walk->rows;
    const struct rope_message message = walk->message;
    rope_status status = rope_rows_check(rows, message);
    if (status != ROPE_OK)
        return status;
    if (rows->direction != ROPE_FORWARD)
        return rope_fail(message, ROPE_ERR_VALUE, "rows.direction: %d: must be 0 in a job",
                         (int)rows->direction);
    if (walk->axes == 0 && walk->tokens > rows->count)
        return rope_fail(message, ROPE_ERR_VALUE, "rows.count: %zu: must be at least tokens = %zu",
                         rows->count, walk->tokens);
    const int plain = walk->direction == ROPE_FORWARD || walk->direction == ROPE_TRANSPOSE;
    if (!plain && (walk->plan == NULL || walk->plan->resolved.attention_factor != 1.0))
        return rope_fail(message, ROPE_ERR_VALUE,
                         "job.direction: %d: must be ROPE_FORWARD or ROPE_TRANSPOSE with rows%s",
                         (int)walk->direction,
                         walk->plan == NULL ? " and no plan"
                                            : " unless the plan's attention_factor is 1");
    walk->backwards = walk->direction == ROPE_TRANSPOSE || walk->direction == ROPE_INVERSE;
    const size_t batch = rows->stride_batch != 0 ? walk->batch : walk->batch != 0;
    const size_t count = walk->tokens != 0 ? rows->count : 0;
    status = rope_rows_region(rows, walk->pairs, batch, count, 0, next_other(others, "rows.cos"),
                              message);
    if (status == ROPE_OK && rope_has_two_arrays(rows->layout))
        status = rope_rows_region(rows, walk->pairs, batch, count, 1,
                                  next_other(others, "rows.sin"), message);
    return status;
}

/* Destinations against everything else. */
static rope_status check_aliases(const struct rope_walk *walk, const struct others *others)
{
    const struct rope_side *q = &walk->sides[0], *k = &walk->sides[1];
    if (q->heads != 0 && k->heads != 0) {
        if (rope_regions_overlap(&q->dst, &k->dst))
            return rope_fail(walk->message, ROPE_ERR_ALIAS, "q.dst: overlaps k.dst");
        if (!k->in_place && rope_regions_overlap(&q->dst, &k->src))
            return rope_fail(walk->message, ROPE_ERR_ALIAS, "q.dst: overlaps k.src");
        if (!q->in_place && rope_regions_overlap(&k->dst, &q->src))
            return rope_fail(walk->message, ROPE_ERR_ALIAS, "k.dst: overlaps q.src");
    }
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; walk->sides[s].heads != 0 && i < others->count; i++)
            if (rope_regions_overlap(&walk->sides[s].dst, &others->regions[i]))
                return rope_fail(walk->message, ROPE_ERR_ALIAS, "%s.dst: overlaps %s",
                                 side_names[s], others->names[i]);
    return ROPE_OK;
}

static const rope_tensor *read_tensor(struct rope_walk *walk, const rope_job *job, int s,
                                      rope_status *status)
{
    const rope_tensor *given = s == 0 ? job->q : job->k;
    if (given == NULL)
        return NULL;
    const rope_tensor *tensor =
        rope_descriptor(given, &walk->tensor_rooms[s], sizeof(rope_tensor), TENSOR_SIZE_0_1);
    if (tensor == NULL)
        *status = rope_descriptor_fail(walk->message, given, side_names[s], sizeof(rope_tensor));
    return tensor;
}

static rope_status read_sources(struct rope_walk *walk, const rope_job *job)
{
    if (job->positions != NULL) {
        walk->axes = walk->plan != NULL ? walk->plan->axes : 1;
        const rope_status status = rope_positions_read(job->positions, walk->axes, walk->positions,
                                                       walk->positions_room, walk->message);
        if (status != ROPE_OK)
            return status;
    }
    if (job->rows != NULL) {
        walk->rows =
            rope_descriptor(job->rows, &walk->rows_room, sizeof(rope_rows), ROPE_ROWS_SIZE_0_1);
        if (walk->rows == NULL)
            return rope_descriptor_fail(walk->message, job->rows, "rows", sizeof(rope_rows));
    }
    return ROPE_OK;
}

/* Pairs of frequency 0 pass through untouched where only their angle would act on them. */
static void set_runs(struct rope_walk *walk)
{
    const rope_plan *plan = walk->plan;
    const int magnified = (walk->sides[0].heads != 0 && walk->sides[0].has_magnitude) ||
                          (walk->sides[1].heads != 0 && walk->sides[1].has_magnitude);
    if (plan != NULL && walk->rows == NULL && walk->to == walk->pairing && !magnified &&
        (plan->resolved.attention_factor == 1.0 || walk->direction == ROPE_SHIFT)) {
        walk->runs = plan->runs;
        walk->run_count = plan->run_count;
        return;
    }
    walk->own_run[0] = 0;
    walk->own_run[1] = walk->pairs;
    walk->runs = walk->own_run;
    walk->run_count = 1;
}

rope_status rope_walk_set(struct rope_walk *walk, const rope_plan *plan, const rope_job *given)
{
    walk->plan = plan;
    walk->axes = 0;
    walk->rows = NULL;
    walk->backwards = 0;
    walk->sides[0].heads = walk->sides[1].heads = 0;
    const rope_job *job =
        rope_descriptor(given, &walk->job_room, sizeof(rope_job), ROPE_JOB_SIZE_0_1);
    if (job == NULL)
        return rope_descriptor_refuse(given, "job", sizeof(rope_job), ROPE_JOB_SIZE_0_1,
                                      offsetof(rope_job, message));
    walk->message = (struct rope_message){job->message, job->message_size};
    rope_status status = check_job(walk, job);
    if (status == ROPE_OK) {
        walk->to = destination_pairing(job->pairing_out, walk->pairing);
        status = read_sources(walk, job);
    }
    for (int s = 0; status == ROPE_OK && s < 2; s++) {
        const rope_tensor *tensor = read_tensor(walk, job, s, &status);
        if (tensor != NULL)
            status = check_tensor(walk, job, tensor, &walk->sides[s], side_names[s]);
    }
    if (walk->sides[0].heads == 0 && walk->sides[1].heads == 0)
        walk->batch = walk->tokens = 0; /* nothing is rotated: no memory is looked at below */
    struct others others;
    others.count = 0;
    if (status == ROPE_OK && walk->rows != NULL)
        status = check_rows(walk, &others);
    for (size_t axis = 0; status == ROPE_OK && axis < walk->axes; axis++)
        status = rope_positions_check(walk->positions[axis], walk->batch, walk->tokens,
                                      walk->rows != NULL ? &walk->rows->count : NULL,
                                      walk->skip_negative ? walk->positions[0] : NULL,
                                      next_other(&others, "positions.data"), walk->message);
    if (status == ROPE_OK && walk->rows != NULL && walk->rows->layout >= ROPE_ROWS_DUP_HALF)
        status = check_duplicates(walk);
    for (int s = 0; status == ROPE_OK && s < 2; s++)
        if (walk->sides[s].heads != 0 && walk->sides[s].scale != NULL)
            status = rope_magnitude_check_memory(walk, s, next_other(&others, "scale"));
    if (status == ROPE_OK)
        status = check_aliases(walk, &others);
    if (status == ROPE_OK)
        set_runs(walk);
    return status;
}
