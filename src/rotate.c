/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rope_rotate: checks a job, then walks its tokens.  For each token the row is made (or fetched) once for all heads of q
 * and k; kernels do the arithmetic.  Nothing here allocates.
 */
#include "dispatch.h"
#include "plan.h"

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
                  offsetof(rope_tensor, dst_stride_head) == 88 && sizeof(rope_tensor) == 96,
              "rope_tensor is frozen");
static_assert(offsetof(rope_job, flags) == 4 && offsetof(rope_job, batch) == 8 &&
                  offsetof(rope_job, tokens) == 16 && offsetof(rope_job, q) == 24 &&
                  offsetof(rope_job, k) == 32 && offsetof(rope_job, positions) == 40 &&
                  offsetof(rope_job, rows) == 48 && offsetof(rope_job, direction) == 56 &&
                  offsetof(rope_job, pairing_out) == 60 && offsetof(rope_job, arith) == 64 &&
                  offsetof(rope_job, row_dtype) == 68 && offsetof(rope_job, rotary_dim) == 72 &&
                  offsetof(rope_job, pairing) == 80 && offsetof(rope_job, reserved) == 84 &&
                  offsetof(rope_job, message) == 88 && offsetof(rope_job, message_size) == 96 &&
                  sizeof(rope_job) == 104,
              "rope_job is frozen");
#endif
enum { TENSOR_SIZE_0_1 = sizeof(rope_tensor), JOB_SIZE_0_1 = sizeof(rope_job) };
enum { ROWS_SIZE_0_1 = sizeof(rope_rows) };

enum { BATCH, TOKEN, HEAD }; /* axes of a region */

/* One tensor of a job after its checks. */
struct side {
    size_t heads; /* 0: absent or empty */
    size_t head_bytes;
    size_t slice_bytes; /* offset of the rotated slice */
    size_t element;     /* bytes */
    int in_place;
    rope_rotate_fn *rotate;
    rope_dtype real;     /* ROPE_F32 or ROPE_F64: the type of its rows */
    rope_dtype round[2]; /* rows are rounded to these types, one after the other; 0 = not */
    struct rope_region src, dst;
};

/* A job after its checks. */
struct walk {
    const rope_plan *plan; /* may be NULL, with rows */
    const struct rope_kernels *kernels;
    size_t axes; /* descriptors of positions; 0 = rows in order of the tokens */
    const rope_positions *positions[ROPE_AXES_MAX];
    const rope_rows *rows; /* may be NULL, with positions */
    struct rope_message message;
    size_t batch;
    size_t tokens;
    size_t pairs;
    int skip_negative;
    int backwards;        /* rows given: sin counts negative */
    rope_pairing pairing; /* of src */
    rope_pairing to;      /* of dst */
    rope_direction direction;
    size_t chunk_pairs; /* half-split: pairs of a chunk */
    const size_t *runs; /* pairs to rotate, as [begin, end); the others pass through */
    size_t run_count;
    struct side sides[2];
    /* copies of descriptors of another size */
    rope_job job_room;
    rope_tensor tensor_rooms[2];
    rope_positions positions_room[ROPE_AXES_MAX];
    size_t own_run[2];
    rope_rows rows_room;
};

static const char *const side_names[2] = {"q", "k"};

/* ---- Checks --------------------------------------------------------------------------------------- */

/* Strides as given, or dense where all three are 0. */
static void effective_strides(const ptrdiff_t *given, size_t tokens, size_t heads, size_t head_dim,
                              ptrdiff_t *strides)
{
    memcpy(strides, given, ROPE_AXES * sizeof *strides);
    if (given[BATCH] == 0 && given[TOKEN] == 0 && given[HEAD] == 0) {
        /* sizes that overflow here are found by the measure of the region: strides only get larger */
        strides[HEAD] = (ptrdiff_t)head_dim;
        strides[TOKEN] = (ptrdiff_t)(heads * head_dim);
        strides[BATCH] = (ptrdiff_t)(tokens * heads * head_dim);
    }
}

/* 1 when a * b * c elements cannot be addressed. */
static int is_too_many(size_t a, size_t b, size_t c)
{
    const size_t most = PTRDIFF_MAX / 8;
    return (a != 0 && b > most / a) || (a * b != 0 && c > most / (a * b));
}

static int is_small(size_t value)
{
    return value < (size_t)1 << 19; /* three of them multiply to less than 2^57 */
}

static rope_status check_layout(const struct walk *walk, const rope_tensor *tensor,
                                struct side *side, size_t head_dim, const char *name)
{
    const size_t element = rope_dtype_size(tensor->dtype);
    if (!(is_small(walk->tokens) && is_small(side->heads) && is_small(head_dim)) &&
        is_too_many(walk->tokens, side->heads, head_dim))
        return rope_fail(
            walk->message, ROPE_ERR_SIZE,
            "%s.heads: %zu: tokens %zu x heads x head_dim %zu must stay in the address space", name,
            side->heads, walk->tokens, head_dim);
    const ptrdiff_t src_given[] = {tensor->src_stride_batch, tensor->src_stride_token,
                                   tensor->src_stride_head};
    const ptrdiff_t dst_given[] = {tensor->dst_stride_batch, tensor->dst_stride_token,
                                   tensor->dst_stride_head};
    ptrdiff_t src_strides[ROPE_AXES], dst_strides[ROPE_AXES];
    const int dst_dense = dst_given[BATCH] == 0 && dst_given[TOKEN] == 0 && dst_given[HEAD] == 0;
    effective_strides(src_given, walk->tokens, side->heads, head_dim, src_strides);
    if (dst_dense && tensor->src == tensor->dst)
        memcpy(dst_strides, src_strides, sizeof dst_strides);
    else
        effective_strides(dst_given, walk->tokens, side->heads, head_dim, dst_strides);

    side->src = (struct rope_region){.base = tensor->src,
                                     .length = side->head_bytes,
                                     .count = {walk->batch, walk->tokens, side->heads}};
    side->dst = side->src;
    side->dst.base = tensor->dst;
    if (!rope_region_strides(&side->src, src_strides, element) ||
        !rope_region_strides(&side->dst, dst_strides, element) ||
        !rope_region_measure(&side->src) || !rope_region_measure(&side->dst))
        return rope_fail(
            walk->message, ROPE_ERR_SIZE,
            "%s: strides %td, %td, %td over %zu x %zu x %zu: must stay in the address space", name,
            src_strides[BATCH], src_strides[TOKEN], src_strides[HEAD], walk->batch, walk->tokens,
            side->heads);
    if (!rope_region_nests(&side->dst))
        return rope_fail(
            walk->message, ROPE_ERR_STRIDE,
            "%s: dst strides %td, %td, %td: each must span the axes below it and head_dim = %zu",
            name, dst_strides[BATCH], dst_strides[TOKEN], dst_strides[HEAD], head_dim);
    side->in_place = tensor->src == tensor->dst &&
                     memcmp(side->src.stride, side->dst.stride, sizeof side->src.stride) == 0;
    return ROPE_OK;
}

static rope_status check_tensor(struct walk *walk, const rope_job *job, const rope_tensor *tensor,
                                struct side *side, const char *name)
{
    const struct rope_message message = walk->message;
    const size_t element = rope_dtype_size(tensor->dtype);
    if (element == 0)
        return rope_fail(message, ROPE_ERR_DTYPE,
                         "%s.dtype: %d: must be ROPE_F32, ROPE_F64, ROPE_F16 or ROPE_BF16", name,
                         (int)tensor->dtype);
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

static void set_destination_pairing(struct walk *walk, const rope_job *job)
{
    walk->to = job->pairing_out == ROPE_OUT_SAME   ? walk->pairing
               : job->pairing_out == ROPE_OUT_HALF ? ROPE_HALF
                                                   : ROPE_INTERLEAVED;
}

/* The fields of the job itself. */
static rope_status check_job(struct walk *walk, const rope_job *job)
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
    if (job->arith != ROPE_ARITH_FUSED && job->arith != ROPE_ARITH_EAGER)
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
        set_destination_pairing(walk, job);
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
    set_destination_pairing(walk, job);
    return ROPE_OK;
}

/* Element of a 16-, 32- or 64-bit array as bits, for comparison. */
static int same_element(const char *a, const char *b, size_t size)
{
    return memcmp(a, b, size) == 0;
}

/* Duplicated rows: both copies of each entry must agree.  Returns the first entry that does not, or pairs. */
static size_t first_difference(const rope_rows *rows, const char *row, size_t pairs)
{
    const size_t size = rope_dtype_size(rows->dtype);
    const int halves = rows->layout == ROPE_ROWS_DUP_HALF;
    size_t i = 0;
    for (; i < pairs; i++)
        if (halves ? !same_element(row + i * size, row + (pairs + i) * size, size)
                   : !same_element(row + 2 * i * size, row + (2 * i + 1) * size, size))
            break;
    return i;
}

static const char *row_at(const rope_rows *rows, const void *array, size_t pairs, size_t batch,
                          int64_t row)
{
    const ptrdiff_t size = (ptrdiff_t)rope_dtype_size(rows->dtype);
    return (const char *)array + ((ptrdiff_t)batch * rows->stride_batch +
                                  (ptrdiff_t)row * rope_rows_stride(rows, pairs)) *
                                     size;
}

/* The row number of a token on an axis; negative: left out. */
static int64_t row_number(const struct walk *walk, size_t axis, size_t batch, size_t token)
{
    if (walk->axes == 0)
        return (int64_t)token;
    return rope_row_number_at(walk->positions[axis], batch, token);
}

static rope_status check_duplicate(const struct walk *walk, size_t batch, int64_t row)
{
    const rope_rows *rows = walk->rows;
    for (int array = 0; row >= 0 && array < 2; array++) {
        const char *start = row_at(rows, array ? rows->sin : rows->cos, walk->pairs, batch, row);
        const size_t at = first_difference(rows, start, walk->pairs);
        if (at < walk->pairs)
            return rope_fail(walk->message, ROPE_ERR_ROW,
                             "rows.%s: row %lld, entry %zu: its two copies must be equal",
                             array ? "sin" : "cos", (long long)row, at);
    }
    return ROPE_OK;
}

static rope_status check_duplicates(const struct walk *walk)
{
    rope_status status = ROPE_OK;
    for (size_t b = 0; b < walk->batch; b++)
        for (size_t t = 0; t < walk->tokens; t++)
            for (size_t axis = 0; status == ROPE_OK && (axis == 0 || axis < walk->axes); axis++)
                status = check_duplicate(walk, b, row_number(walk, axis, b, t));
    return status;
}

/* Rows of the caller: fields, memory, and that the direction is one that they can serve. */
static rope_status check_rows(struct walk *walk, struct rope_region *arrays)
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
    status = rope_rows_region(rows, walk->pairs, batch, count, 0, &arrays[0], message);
    if (status == ROPE_OK && rope_has_two_arrays(rows->layout))
        status = rope_rows_region(rows, walk->pairs, batch, count, 1, &arrays[1], message);
    return status;
}

/* Destinations against everything else. */
static rope_status check_aliases(const struct walk *walk, const struct rope_region *others)
{
    enum { OTHERS = ROPE_AXES_MAX + 2 };
    for (int s = 0; s < 2; s++) {
        const struct side *side = &walk->sides[s], *other = &walk->sides[1 - s];
        if (side->heads == 0)
            continue;
        if (other->heads != 0 && rope_regions_overlap(&side->dst, &other->src))
            return rope_fail(walk->message, ROPE_ERR_ALIAS, "%s.dst: overlaps %s.src",
                             side_names[s], side_names[1 - s]);
        if (other->heads != 0 && rope_regions_overlap(&side->dst, &other->dst))
            return rope_fail(walk->message, ROPE_ERR_ALIAS, "%s.dst: overlaps %s.dst",
                             side_names[s], side_names[1 - s]);
        for (int i = 0; i < OTHERS; i++)
            if (rope_regions_overlap(&side->dst, &others[i]))
                return rope_fail(walk->message, ROPE_ERR_ALIAS, "%s.dst: overlaps %s",
                                 side_names[s],
                                 i < ROPE_AXES_MAX    ? "positions.data"
                                 : i == ROPE_AXES_MAX ? "rows.cos"
                                                      : "rows.sin");
    }
    return ROPE_OK;
}

static const rope_tensor *read_tensor(struct walk *walk, const rope_job *job, int s,
                                      rope_status *status)
{
    const rope_tensor *given = s == 0 ? job->q : job->k;
    if (given == NULL)
        return NULL;
    const rope_tensor *tensor =
        rope_descriptor(given, &walk->tensor_rooms[s], sizeof(rope_tensor), TENSOR_SIZE_0_1);
    if (tensor == NULL)
        *status = rope_fail(walk->message, ROPE_ERR_STRUCT,
                            "%s.struct_size: %u: must be %zu, or more with zeros behind",
                            side_names[s], (unsigned)given->struct_size, sizeof(rope_tensor));
    return tensor;
}

static rope_status read_sources(struct walk *walk, const rope_job *job)
{
    if (job->positions != NULL) {
        walk->axes = walk->plan != NULL ? walk->plan->axes : 1;
        const rope_status status = rope_positions_read(job->positions, walk->axes, walk->positions,
                                                       walk->positions_room, walk->message);
        if (status != ROPE_OK)
            return status;
    }
    if (job->rows != NULL) {
        walk->rows = rope_descriptor(job->rows, &walk->rows_room, sizeof(rope_rows), ROWS_SIZE_0_1);
        if (walk->rows == NULL)
            return rope_fail(walk->message, ROPE_ERR_STRUCT,
                             "rows.struct_size: %u: must be %zu, or more with zeros behind",
                             (unsigned)job->rows->struct_size, sizeof(rope_rows));
    }
    return ROPE_OK;
}

/* Everything, before the first write. */
static rope_status check_all(struct walk *walk, const rope_job *given)
{
    const rope_job *job = rope_descriptor(given, &walk->job_room, sizeof(rope_job), JOB_SIZE_0_1);
    if (job == NULL)
        return given->struct_size < JOB_SIZE_0_1
                   ? ROPE_ERR_STRUCT
                   : rope_fail((struct rope_message){given->message, given->message_size},
                               ROPE_ERR_STRUCT,
                               "job.struct_size: %u: must be %zu, or more with zeros behind",
                               (unsigned)given->struct_size, sizeof(rope_job));
    walk->message = (struct rope_message){job->message, job->message_size};
    rope_status status = check_job(walk, job);
    if (status == ROPE_OK)
        status = read_sources(walk, job);
    for (int s = 0; status == ROPE_OK && s < 2; s++) {
        const rope_tensor *tensor = read_tensor(walk, job, s, &status);
        if (tensor != NULL)
            status = check_tensor(walk, job, tensor, &walk->sides[s], side_names[s]);
    }
    struct rope_region others[ROPE_AXES_MAX + 2] = {{.base = NULL}}; /* positions, cos, sin */
    if (status == ROPE_OK && walk->rows != NULL)
        status = check_rows(walk, &others[ROPE_AXES_MAX]);
    for (size_t axis = 0; status == ROPE_OK && axis < walk->axes; axis++)
        status = rope_positions_check(walk->positions[axis], walk->batch, walk->tokens,
                                      walk->rows != NULL ? &walk->rows->count : NULL,
                                      walk->skip_negative, &others[axis], walk->message);
    if (status == ROPE_OK && walk->rows != NULL && walk->rows->layout >= ROPE_ROWS_DUP_HALF)
        status = check_duplicates(walk);
    if (status == ROPE_OK)
        status = check_aliases(walk, others);
    return status;
}

/* ---- Rows of a token -------------------------------------------------------------------------------- */

/* Room for a stretch of a row, in every type that it passes through. */
struct scratch {
    _Alignas(64) double f64[2][RK_MAX_PAIRS];
    _Alignas(64) float f32[2][RK_MAX_PAIRS];
    _Alignas(64) uint16_t u16[2][RK_MAX_PAIRS];
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
};

/* Elements from entry to entry in the caller's rows. */
static size_t entry_step(const rope_rows *rows)
{
    return rows->layout == ROPE_ROWS_PAIRS || rows->layout == ROPE_ROWS_DUP_PAIRS ? 2 : 1;
}

/* Entries of a caller's row as f64; every type fits exactly. */
static void fetch_f64(const struct walk *walk, const char *row, size_t first, size_t n, double *out,
                      float *room)
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
static void fetch_mixed(const struct walk *walk, const char *const *axis_rows, size_t first,
                        size_t n, double *out, float *room)
{
    for (size_t i = 0; i < n; i++)
        fetch_f64(walk, axis_rows[walk->plan->pair_axis[first + i]], first + i, 1, out + i, room);
}

static void fetch(const struct walk *walk, const struct source *source,
                  const char *const *axis_rows, size_t first, size_t n, double *out, float *room)
{
    if (source->one_row)
        fetch_f64(walk, axis_rows[0], first, n, out, room);
    else
        fetch_mixed(walk, axis_rows, first, n, out, room);
}

/* Rounds a stretch in scratch->f64 to `dtype` and stores it as two arrays: a table of one factor does that. */
static void round_stretch(const struct walk *walk, size_t n, double sin_scale, rope_dtype dtype,
                          void *cos_out, void *sin_out, struct scratch *scratch)
{
    const struct rope_rows_args args = {
        .cos = cos_out,
        .sin = sin_out,
        .layout = RK_SEPARATE,
        .pairs = n,
        .cos_scale = 1.0,
        .sin_scale = sin_scale,
        .factors = 1,
        .table_cos = {scratch->f64[0]},
        .table_sin = {scratch->f64[1]},
    };
    walk->kernels->rows[rope_kernel_dtype_of(dtype)](&args);
}

/* Stores a stretch of the token's row, rounded to `dtype`, as two arrays. */
static void make_stretch(const struct walk *walk, const struct source *source, size_t first,
                         size_t n, rope_dtype dtype, void *cos_out, void *sin_out,
                         struct scratch *scratch)
{
    if (walk->rows != NULL) {
        fetch(walk, source, source->cos_row, first, n, scratch->f64[0], scratch->f32[0]);
        fetch(walk, source, source->sin_row, first, n, scratch->f64[1], scratch->f32[0]);
        round_stretch(walk, n, walk->backwards ? -1.0 : 1.0, dtype, cos_out, sin_out, scratch);
        return;
    }
    struct rope_rows_args args = {
        .cos = cos_out, .sin = sin_out, .layout = RK_SEPARATE, .pairs = n};
    rope_direction_scales(walk->plan, walk->direction, &args.cos_scale, &args.sin_scale);
    rope_row_make(walk->plan, source->places, first, rope_kernel_dtype_of(dtype), &args);
}

/* The caller's own memory, if the row can be used as it stands there. */
static int use_in_place(const struct walk *walk, const struct source *source,
                        const struct side *side, size_t first, struct row *row)
{
    const rope_rows *rows = walk->rows;
    if (rows == NULL || !source->one_row || side->round[0] != 0 || walk->backwards ||
        rows->dtype != side->real || entry_step(rows) != 1)
        return 0;
    const size_t at = first * rope_dtype_size(rows->dtype);
    *row = (struct row){source->cos_row[0] + at, source->sin_row[0] + at};
    return 1;
}

/* One rounding of the stretch, from its source or from scratch->f64; the result is f32. */
static void round_once(const struct walk *walk, const struct source *source, size_t first, size_t n,
                       rope_dtype dtype, struct scratch *scratch)
{
    void *cos_out = dtype == ROPE_F32 ? (void *)scratch->f32[0] : (void *)scratch->u16[0];
    void *sin_out = dtype == ROPE_F32 ? (void *)scratch->f32[1] : (void *)scratch->u16[1];
    if (source != NULL)
        make_stretch(walk, source, first, n, dtype, cos_out, sin_out, scratch);
    else
        round_stretch(walk, n, 1.0, dtype, cos_out, sin_out, scratch);
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

/* The reals of a stretch of the row, as this side wants them. */
static struct row make_row(const struct walk *walk, const struct source *source,
                           const struct side *side, size_t first, size_t n, struct scratch *scratch)
{
    struct row row;
    if (use_in_place(walk, source, side, first, &row))
        return row;
    if (side->round[0] == 0) {
        if (side->real == ROPE_F64) {
            make_stretch(walk, source, first, n, ROPE_F64, scratch->f64[0], scratch->f64[1],
                         scratch);
            return (struct row){scratch->f64[0], scratch->f64[1]};
        }
        round_once(walk, source, first, n, ROPE_F32, scratch);
    } else {
        round_once(walk, source, first, n, side->round[0], scratch);
        if (side->round[1] != 0) {
            widen_to_f64(n, scratch);
            round_once(walk, NULL, first, n, side->round[1], scratch);
        }
    }
    if (side->real == ROPE_F32)
        return (struct row){scratch->f32[0], scratch->f32[1]};
    widen_to_f64(n, scratch);
    return (struct row){scratch->f64[0], scratch->f64[1]};
}

/* ---- The walk ----------------------------------------------------------------------------------------- */

static ptrdiff_t offset_of(const struct rope_region *region, size_t batch, size_t token,
                           size_t head)
{
    return (ptrdiff_t)batch * region->stride[BATCH] + (ptrdiff_t)token * region->stride[TOKEN] +
           (ptrdiff_t)head * region->stride[HEAD];
}

/*
 * Pairs first..first+n-1, which lie in one chunk: in half-split pairing x of pair i stands at chunk * (i / pairs of a chunk)
 * + i % (pairs of a chunk), y half a chunk behind; interleaved pairs stand side by side.
 */
static size_t element_of(rope_pairing pairing, size_t chunk_pairs, size_t first)
{
    return pairing == ROPE_HALF ? first + first / chunk_pairs * chunk_pairs : 2 * first;
}

static void rotate_stretch(const struct walk *walk, const struct side *side, const char *src,
                           char *dst, size_t heads, size_t first, size_t n, const struct row *row)
{
    const struct rope_rotate_args args = {
        .src = src + side->slice_bytes +
               element_of(walk->pairing, walk->chunk_pairs, first) * side->element,
        .dst = dst + side->slice_bytes +
               element_of(walk->to, walk->chunk_pairs, first) * side->element,
        .src_stride = side->src.stride[HEAD],
        .dst_stride = side->dst.stride[HEAD],
        .heads = heads,
        .pairs = n,
        .src_half = walk->chunk_pairs,
        .dst_half = walk->chunk_pairs,
        .cos = row->cos,
        .sin = row->sin,
    };
    side->rotate(&args);
}

/* What the rotation leaves alone: before and behind the slice, and pairs that do not turn. */
static void copy_rest(const struct walk *walk, const struct side *side, const char *src, char *dst,
                      size_t heads)
{
    const int all_turn = walk->run_count == 1 && walk->runs[0] == 0 && walk->runs[1] == walk->pairs;
    const size_t before = all_turn ? side->slice_bytes : side->head_bytes;
    const size_t behind = side->slice_bytes + 2 * walk->pairs * side->element;
    for (size_t h = 0; h < heads; h++) {
        if (before != 0)
            memcpy(dst, src, before);
        if (all_turn && side->head_bytes > behind)
            memcpy(dst + behind, src + behind, side->head_bytes - behind);
        src += side->src.stride[HEAD];
        dst += side->dst.stride[HEAD];
    }
}

/* Heads of one tensor at one token. */
struct span {
    const char *src;
    char *dst;
    size_t heads; /* 0: none */
};

/* Heads begin..end-1 of a token, counted over q and then k, as a span of each. */
static void set_spans(const struct walk *walk, size_t batch, size_t token, size_t begin, size_t end,
                      struct span *spans)
{
    size_t before = 0; /* heads of the sides so far */
    for (int s = 0; s < 2; s++) {
        const struct side *side = &walk->sides[s];
        const size_t from = begin > before ? begin - before : 0;
        const size_t until =
            end > before ? (end - before < side->heads ? end - before : side->heads) : 0;
        before += side->heads;
        spans[s].heads = from < until ? until - from : 0;
        if (spans[s].heads == 0)
            continue;
        spans[s].src = side->src.base + offset_of(&side->src, batch, token, from);
        spans[s].dst =
            (char *)(uintptr_t)side->dst.base + offset_of(&side->dst, batch, token, from);
        if (!side->in_place)
            copy_rest(walk, side, spans[s].src, spans[s].dst, spans[s].heads);
    }
}

static void rotate_spans(const struct walk *walk, const struct source *source,
                         const struct span *spans, size_t first, size_t n)
{
    struct scratch scratch;
    const struct side *made_for = NULL;
    struct row row = {NULL, NULL};
    for (int s = 0; s < 2; s++) {
        const struct side *side = &walk->sides[s];
        if (spans[s].heads == 0)
            continue;
        if (made_for == NULL || made_for->real != side->real ||
            made_for->round[0] != side->round[0] || made_for->round[1] != side->round[1])
            row = make_row(walk, source, side, first, n, &scratch);
        made_for = side;
        rotate_stretch(walk, side, spans[s].src, spans[s].dst, spans[s].heads, first, n, &row);
    }
}

/* Fills the source of a token; 0 if the token is left out. */
static int find_source(const struct walk *walk, size_t batch, size_t token, struct source *source)
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
        const int64_t number = row_number(walk, axis, batch, token);
        if (number < 0)
            return 0;
        source->cos_row[axis] = row_at(rows, rows->cos, walk->pairs, batch, number);
        if (rope_has_two_arrays(rows->layout))
            source->sin_row[axis] = row_at(rows, rows->sin, walk->pairs, batch, number);
        else
            source->sin_row[axis] =
                source->cos_row[axis] + size * (rows->layout == ROPE_ROWS_PACKED ? walk->pairs : 1);
        source->one_row &= source->cos_row[axis] == source->cos_row[0];
    }
    return 1;
}

static void rotate_token(const struct walk *walk, size_t batch, size_t token, size_t begin,
                         size_t end)
{
    struct source source;
    struct span spans[2];
    if (!find_source(walk, batch, token, &source))
        return;
    set_spans(walk, batch, token, begin, end, spans);
    for (size_t run = 0; run < walk->run_count; run++) {
        const size_t run_end = walk->runs[2 * run + 1];
        size_t n;
        for (size_t first = walk->runs[2 * run]; first < run_end; first += n) {
            const size_t chunk_rest = walk->chunk_pairs - first % walk->chunk_pairs;
            n = run_end - first < RK_MAX_PAIRS ? run_end - first : RK_MAX_PAIRS;
            n = n < chunk_rest ? n : chunk_rest;
            rotate_spans(walk, &source, spans, first, n);
        }
    }
}

/* Pairs of frequency 0 pass through untouched where only their angle would act on them. */
static void set_runs(struct walk *walk)
{
    const rope_plan *plan = walk->plan;
    if (plan != NULL && walk->rows == NULL && walk->to == walk->pairing &&
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

/* Where part `part` of `parts` begins among `units`. */
static size_t part_begin(size_t units, size_t part, size_t parts)
{
    const size_t rest = units % parts;
    return units / parts * part + (part < rest ? part : rest);
}

rope_status rope_rotate_part(const rope_plan *plan, const rope_job *job, size_t part, size_t parts)
{
    if (job == NULL)
        return ROPE_ERR_NULL;
    struct walk walk;
    walk.plan = plan;
    walk.axes = 0;
    walk.rows = NULL;
    walk.backwards = 0;
    walk.sides[0].heads = walk.sides[1].heads = 0;
    const rope_status status = check_all(&walk, job);
    if (status != ROPE_OK)
        return status;
    if (parts == 0 || part >= parts)
        return rope_fail(walk.message, ROPE_ERR_VALUE, "part: %zu: must be < parts = %zu", part,
                         parts);

    const size_t heads = walk.sides[0].heads + walk.sides[1].heads;
    if (heads == 0)
        return ROPE_OK;
    set_runs(&walk);
    /* whole tokens where there are plenty, so that no row is made twice; else single heads */
    const size_t all_tokens = walk.batch * walk.tokens;
    const size_t unit_heads = all_tokens / 8 >= parts || parts == 1 ? heads : 1;
    const size_t units = all_tokens * (heads / unit_heads);
    const size_t begin = part_begin(units, part, parts) * unit_heads;
    const size_t end = part_begin(units, part + 1, parts) * unit_heads;
    if (begin == end)
        return ROPE_OK;

    size_t batch = begin / heads / walk.tokens, token = begin / heads % walk.tokens;
    size_t head = begin % heads;
    for (size_t left = end - begin; left != 0;) {
        const size_t now = heads - head < left ? heads - head : left;
        rotate_token(&walk, batch, token, head, head + now);
        left -= now;
        head = 0;
        if (++token == walk.tokens) {
            token = 0;
            batch++;
        }
    }
    return ROPE_OK;
}

rope_status rope_rotate(const rope_plan *plan, const rope_job *job)
{
    return rope_rotate_part(plan, job, 0, 1);
}
