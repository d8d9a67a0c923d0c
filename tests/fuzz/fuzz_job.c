/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a rope_job with its tensors, positions and rows: rope_rotate, rope_rotate_part and
 * rope_shift, every array as large as its descriptor says, between guard pages.  What is refused
 * writes nothing.  What is accepted writes its destinations alone, and gives the same bits at
 * another alignment, in parts, on every kernel set, and where its tensors lie in one buffer; with
 * the caller's rows also those of the reference.
 */
#include "plans.h"
#include "reference.h"

#include <math.h>
#include <stdlib.h>

/* ---- The job --------------------------------------------------------------------------------- */

/* Arrays by number: q.src q.dst k.src k.dst, their scales, rows, positions of each axis. */
enum { SRC, DST, SCALE = 4, COS = 6, SIN, POSITIONS, ARRAYS = POSITIONS + ROPE_AXES_MAX };
static struct array arrays[ARRAYS];
static int is_used[ARRAYS];

static struct descriptor job_memory, tensor_memory[2], rows_memory, positions_memory;

/* The descriptors as the library reads them; their pointers lead to `arrays`. */
static struct {
    const struct fuzz_plan *plan; /* NULL = none */
    rope_job job;
    rope_tensor tensor[2];
    int has[2]; /* q, k */
    int in_place[2];
    rope_rows rows;
    rope_positions positions[ROPE_AXES_MAX];
    size_t axes, pairs;
    unsigned call, part, parts;
} now;

enum { ROTATE, PART, SHIFT, CALLS };

static rope_status call(void)
{
    rope_plan *const plan = now.plan != NULL ? now.plan->plan : NULL;
    const rope_job *const job = (const void *)job_memory.bytes;
    if (now.call == PART)
        return rope_rotate_part(plan, job, now.part, now.parts);
    return now.call == SHIFT ? rope_shift(plan, job) : rope_rotate(plan, job);
}

/* ---- Its memory ------------------------------------------------------------------------------ */

static size_t head_dim_of(const rope_tensor *t)
{
    return t->head_dim != 0 || now.plan == NULL ? t->head_dim : now.plan->spec.head_dim;
}

static size_t offset_of(const rope_tensor *t)
{
    return t->head_dim != 0 || now.plan == NULL ? t->rotary_offset : now.plan->spec.rotary_offset;
}

/* batch, token, head; dense where all are 0, in place as src. */
static void strides_of(const rope_tensor *t, int of_dst, int in_place, double *stride)
{
    const ptrdiff_t src[3] = {t->src_stride_batch, t->src_stride_token, t->src_stride_head};
    const ptrdiff_t dst[3] = {t->dst_stride_batch, t->dst_stride_token, t->dst_stride_head};
    const double head = (double)head_dim_of(t), token = head * (double)t->heads;
    const ptrdiff_t *given = of_dst ? dst : src;
    if (of_dst && in_place && dst[0] == 0 && dst[1] == 0 && dst[2] == 0)
        given = src;
    const int dense = given[0] == 0 && given[1] == 0 && given[2] == 0;
    stride[0] = dense ? token * (double)now.job.tokens : (double)given[0];
    stride[1] = dense ? token : (double)given[1];
    stride[2] = dense ? head : (double)given[2];
}

static void size_tensor(int side)
{
    rope_tensor *const t = &now.tensor[side];
    const double count[3] = {(double)now.job.batch, (double)now.job.tokens, (double)t->heads};
    double stride[3];
    struct span span[2];
    now.in_place[side] = t->src != NULL && t->dst == t->src;
    for (int of_dst = 0; of_dst < 2; of_dst++) {
        strides_of(t, of_dst, now.in_place[side], stride);
        span[of_dst] = span_of((double)head_dim_of(t), fuzz_element(t->dtype), 3, count, stride);
    }
    if (now.in_place[side])
        span[0] = span_union(span[0], span[1]);
    array_size(&arrays[SRC + 2 * side], span[0]);
    array_size(&arrays[DST + 2 * side], span[1]);
    is_used[SRC + 2 * side] = t->src != NULL;
    is_used[DST + 2 * side] = t->dst != NULL && !now.in_place[side];
    const double scale_stride[2] = {(double)t->scale_stride_batch, (double)t->scale_stride_token};
    array_size(&arrays[SCALE + side],
               span_of(1.0, fuzz_element(t->scale_dtype), 2, count, scale_stride));
    is_used[SCALE + side] = t->scale != NULL;
}

static int has_two_arrays(const rope_rows *rows)
{
    return rows->layout != ROPE_ROWS_PACKED && rows->layout != ROPE_ROWS_PAIRS;
}

static double row_stride(const rope_rows *rows)
{
    const size_t width = rows->layout == ROPE_ROWS_SEPARATE ? now.pairs : 2 * now.pairs;
    return rows->stride_row != 0 ? (double)rows->stride_row : (double)width;
}

static void size_rows(void)
{
    const rope_rows *const rows = &now.rows;
    const size_t width = rows->layout == ROPE_ROWS_SEPARATE ? now.pairs : 2 * now.pairs;
    const double count[2] = {rows->stride_batch != 0 ? (double)now.job.batch : 1.0,
                             (double)rows->count};
    const double stride[2] = {(double)rows->stride_batch, row_stride(rows)};
    const struct span span = span_of((double)width, fuzz_element(rows->dtype), 2, count, stride);
    array_size(&arrays[COS], span);
    array_size(&arrays[SIN], span);
    is_used[COS] = rows->cos != NULL;
    is_used[SIN] = rows->sin != NULL;
}

/* Puts the addresses of the arrays where the descriptors had anything but NULL. */
static void place(enum side side)
{
    arrays_place(arrays, is_used, ARRAYS, side);
    for (int s = 0; s < 2; s++) {
        rope_tensor *const t = &now.tensor[s];
        if (!now.has[s])
            continue;
        t->src = is_used[SRC + 2 * s] ? arrays[SRC + 2 * s].address : NULL;
        t->dst = now.in_place[s]        ? arrays[SRC + 2 * s].address
                 : is_used[DST + 2 * s] ? arrays[DST + 2 * s].address
                                        : NULL;
        t->scale = is_used[SCALE + s] ? arrays[SCALE + s].address : NULL;
        descriptor_write(&tensor_memory[s], 0, t, sizeof *t);
    }
    if (now.job.rows != NULL) {
        now.rows.cos = is_used[COS] ? arrays[COS].address : NULL;
        now.rows.sin = is_used[SIN] ? arrays[SIN].address : NULL;
        descriptor_write(&rows_memory, 0, &now.rows, sizeof now.rows);
    }
    for (size_t axis = 0; now.job.positions != NULL && axis < now.axes; axis++) {
        now.positions[axis].data =
            is_used[POSITIONS + axis] ? arrays[POSITIONS + axis].address : NULL;
        descriptor_write(&positions_memory, axis, &now.positions[axis], sizeof now.positions[axis]);
    }
}

/*
 * Arrays that are too large for the fuzzer are there in name only: a fault that is found before
 * their memory is looked at, or their measures at least, makes sure that the job is refused.
 */
static int refuse_giants(void)
{
    static rope_tensor fault = ROPE_TENSOR_INIT; /* no dtype */
    int q = 0, k = 0, values = 0, rows = 0;
    for (int i = 0; i < ARRAYS; i++) {
        const int giant = is_used[i] && !arrays[i].fits;
        q |= giant && (i == SRC || i == DST);
        k |= giant && (i == SRC + 2 || i == DST + 2);
        rows |= giant && (i == COS || i == SIN);
        values |= giant && ((i >= SCALE && i < COS) || i >= POSITIONS);
    }
    if (values) {
        now.job.flags = 0xff;
    } else if (q) {
        now.job.k = &fault;
    } else if (k || rows) {
        if (now.job.positions != NULL)
            now.positions[0].dtype = 99, is_used[POSITIONS] = 1;
        else
            now.rows.dtype = 99;
    }
    descriptor_write(&job_memory, 0, &now.job, sizeof now.job);
    return q || k || rows || values;
}

/* Rows whose copies agree, as far as they do not lie in each other. */
static void duplicate_rows(struct array *array)
{
    const rope_rows *const rows = &now.rows;
    const size_t element = fuzz_element(rows->dtype), pairs = now.pairs;
    const size_t blocks = rows->stride_batch != 0 ? now.job.batch : 1;
    for (size_t b = 0; array->size != 0 && b < blocks; b++)
        for (size_t r = 0; r < rows->count; r++) {
            unsigned char *const row =
                array->low + array->before +
                ((ptrdiff_t)b * rows->stride_batch + (ptrdiff_t)r * (ptrdiff_t)row_stride(rows)) *
                    (ptrdiff_t)element;
            for (size_t i = 0; i < pairs; i++) {
                const int halves = rows->layout == ROPE_ROWS_DUP_HALF;
                memcpy(row + (halves ? pairs + i : 2 * i + 1) * element,
                       row + (halves ? i : 2 * i) * element, element);
            }
        }
    array_keep(array);
}

static void fill(struct input *input)
{
    const uint64_t seed = take_word(input);
    const unsigned kinds = take_byte(input);
    const enum fill data = (enum fill)(kinds % FILLS), factors = (enum fill)(kinds / 4 % FILLS);
    for (int i = 0; i < ARRAYS; i++) {
        if (!is_used[i] || !arrays[i].fits)
            continue;
        array_place(&arrays[i], AT_END);
        const rope_tensor *const t = &now.tensor[i < SCALE ? i / 2 : i % 2];
        if (i < SCALE)
            array_fill(&arrays[i], fuzz_dtype(t->dtype), seed + (uint64_t)i, data);
        else if (i < COS)
            array_fill(&arrays[i], t->scale_dtype == ROPE_F64 ? DT_F64 : DT_F32, seed + (uint64_t)i,
                       kinds & 64 ? FILL_BITS : FILL_PLAIN);
        else if (i < POSITIONS)
            array_fill(&arrays[i], fuzz_dtype(now.rows.dtype), seed + (uint64_t)i, factors);
        if (i >= COS && i < POSITIONS && now.rows.layout >= ROPE_ROWS_DUP_HALF &&
            now.rows.layout <= ROPE_ROWS_DUP_PAIRS && (kinds & 128) == 0)
            duplicate_rows(&arrays[i]);
        const unsigned below =
            now.job.rows != NULL && now.rows.count - 1 < 0xe0 ? (unsigned)now.rows.count : 0xe0;
        if (i >= POSITIONS)
            fuzz_fill_positions(&arrays[i], now.positions[i - POSITIONS].dtype, input, below);
    }
}

/* Reads the input: 0 if it has no job that can be called. */
static void read_job(struct input *input)
{
    memset(&now, 0, sizeof now);
    memset(is_used, 0, sizeof is_used);
    const unsigned plan = take_byte(input);
    now.plan = plan < 0xf0 ? fuzz_plan(plan) : NULL;
    now.call = take_byte(input) % CALLS;
    now.part = take_byte(input);
    now.parts = take_byte(input);
    descriptor_take(&job_memory, input, 1);
    descriptor_read(&job_memory, 0, &now.job, sizeof now.job);
    message_place(&now.job.message, &now.job.message_size);
    now.pairs = now.plan != NULL ? now.plan->pairs : now.job.rotary_dim / 2;
    now.axes = now.plan != NULL ? now.plan->axes : 1;
    const rope_tensor *given[2] = {now.job.q, now.job.k};
    for (int s = 0; s < 2; s++) {
        now.has[s] = given[s] != NULL;
        if (!now.has[s])
            continue;
        descriptor_take(&tensor_memory[s], input, 1);
        descriptor_read(&tensor_memory[s], 0, &now.tensor[s], sizeof now.tensor[s]);
        given[s] = (const void *)tensor_memory[s].bytes;
        size_tensor(s);
    }
    now.job.q = given[0];
    now.job.k = given[1];
    if (now.job.rows != NULL) {
        descriptor_take(&rows_memory, input, 1);
        descriptor_read(&rows_memory, 0, &now.rows, sizeof now.rows);
        now.job.rows = (const void *)rows_memory.bytes;
        size_rows();
    }
    if (now.job.positions != NULL) {
        descriptor_take(&positions_memory, input, now.axes);
        now.job.positions = (const void *)positions_memory.bytes;
    }
    for (size_t axis = 0; now.job.positions != NULL && axis < now.axes; axis++) {
        rope_positions *const p = &now.positions[axis];
        descriptor_read(&positions_memory, axis, p, sizeof *p);
        array_size(&arrays[POSITIONS + axis],
                   fuzz_positions_span(p, now.job.batch, now.job.tokens));
        is_used[POSITIONS + axis] = p->data != NULL;
    }
    fill(input);
}

/* ---- What a call may do ---------------------------------------------------------------------- */

static struct array *target_of(int side)
{
    return &arrays[(now.in_place[side] ? SRC : DST) + 2 * side];
}

static int is_empty(int side)
{
    return !now.has[side] || now.tensor[side].heads == 0 || now.job.tokens == 0 ||
           now.job.batch == 0;
}

static int is_left_out(size_t batch, size_t token)
{
    return (now.job.flags & ROPE_SKIP_NEGATIVE) != 0 && now.job.positions != NULL &&
           fuzz_position(&now.positions[0], batch, token) < 0.0;
}

/* Calls visit(side, batch, token, head) for every head that is rotated. */
typedef void visitor(int side, size_t batch, size_t token, size_t head);
static void visit_heads(int side, visitor *visit)
{
    for (size_t b = 0; !is_empty(side) && b < now.job.batch; b++)
        for (size_t t = 0; t < now.job.tokens; t++)
            for (size_t h = 0; !is_left_out(b, t) && h < now.tensor[side].heads; h++)
                visit(side, b, t, h);
}

/* Element 0 of a head, counted from the address. */
static ptrdiff_t head_at(int side, int of_dst, size_t b, size_t t, size_t h)
{
    double stride[3];
    strides_of(&now.tensor[side], of_dst, now.in_place[side], stride);
    return (ptrdiff_t)((double)b * stride[0] + (double)t * stride[1] + (double)h * stride[2]);
}

static unsigned char may_change[SPAN_MAX]; /* bytes of the target */

static void mark(int side, size_t b, size_t t, size_t h)
{
    const rope_tensor *const tensor = &now.tensor[side];
    const size_t element = fuzz_element(tensor->dtype);
    const size_t first = now.in_place[side] ? offset_of(tensor) : 0;
    const size_t n = now.in_place[side] ? 2 * now.pairs : head_dim_of(tensor);
    const size_t at = target_of(side)->before +
                      (size_t)((head_at(side, 1, b, t, h) + (ptrdiff_t)first) * (ptrdiff_t)element);
    memset(may_change + at, 1, n * element);
}

static void check_writes(void)
{
    for (int i = 0; i < ARRAYS; i++)
        if (is_used[i] && arrays[i].fits && (i >= SCALE || &arrays[i] != target_of(i / 2)))
            REQUIRE(array_is_kept(&arrays[i]));
    for (int s = 0; s < 2; s++) {
        const struct array *const target = target_of(s);
        if (!is_used[target - arrays])
            continue;
        REQUIRE(array_canaries_live(target));
        memset(may_change, 0, target->size);
        visit_heads(s, mark);
        for (size_t i = 0; i < target->size; i++)
            REQUIRE(may_change[i] || target->low[i] == target->kept[i]);
    }
}

static void check_refused(void)
{
    for (int i = 0; i < ARRAYS; i++)
        REQUIRE(!is_used[i] || !arrays[i].fits || array_is_kept(&arrays[i]));
}

static void check_descriptors(void)
{
    REQUIRE(descriptor_is_kept(&job_memory));
    for (int s = 0; s < 2; s++)
        REQUIRE(!now.has[s] || descriptor_is_kept(&tensor_memory[s]));
}

/* What lies outside the rotated slice arrives as it is. */
static void compare_rest(int side, size_t b, size_t t, size_t h)
{
    const rope_tensor *const tensor = &now.tensor[side];
    const ptrdiff_t element = (ptrdiff_t)fuzz_element(tensor->dtype);
    const size_t before = offset_of(tensor) * (size_t)element;
    const size_t behind = before + 2 * now.pairs * (size_t)element;
    const size_t all = head_dim_of(tensor) * (size_t)element;
    const struct array *const from = &arrays[SRC + 2 * side], *const to = target_of(side);
    const unsigned char *const src =
        from->kept + (ptrdiff_t)from->before + head_at(side, 0, b, t, h) * element;
    const unsigned char *const dst =
        to->low + (ptrdiff_t)to->before + head_at(side, 1, b, t, h) * element;
    REQUIRE(memcmp(src, dst, before) == 0);
    REQUIRE(memcmp(src + behind, dst + behind, all - behind) == 0);
}

static int is_scale(const rope_tensor *t, size_t batch, size_t token)
{
    const ptrdiff_t at =
        (ptrdiff_t)batch * t->scale_stride_batch + (ptrdiff_t)token * t->scale_stride_token;
    const double scale = t->scale_dtype == ROPE_F64 ? ((const double *)t->scale)[at]
                                                    : (double)((const float *)t->scale)[at];
    return isfinite(scale) && scale != 0.0;
}

/* Positions, row numbers and scales of a job that was accepted. */
static void check_values(void)
{
    if (is_empty(0) && is_empty(1))
        return;
    REQUIRE(now.job.rows == NULL || now.job.positions != NULL || now.job.tokens <= now.rows.count);
    for (size_t b = 0; b < now.job.batch; b++)
        for (size_t t = 0; t < now.job.tokens; t++) {
            for (size_t axis = 0; now.job.positions != NULL && axis < now.axes; axis++) {
                const double position = fuzz_position(&now.positions[axis], b, t);
                if (now.job.rows == NULL) /* a start that f64 does not hold: fuzz_positions */
                    REQUIRE(fabs(position) < 0x1p31 ||
                            fabs((double)now.positions[axis].start) > 0x1p52 ||
                            fabs((double)now.positions[axis].step) > 0x1p40);
                else
                    REQUIRE(is_left_out(b, t) ||
                            (position >= 0.0 && position < (double)now.rows.count));
            }
            for (int s = 0; s < 2; s++)
                REQUIRE(is_empty(s) || now.tensor[s].scale == NULL || is_left_out(b, t) ||
                        is_scale(&now.tensor[s], b, t));
        }
}

/* ---- The same job another way ---------------------------------------------------------------- */

static unsigned char result[2][SPAN_MAX];

static void keep_results(void)
{
    for (int s = 0; s < 2; s++)
        if (!is_empty(s))
            memcpy(result[s], target_of(s)->low, target_of(s)->size);
}

static void same_results(void)
{
    for (int s = 0; s < 2; s++) {
        if (is_empty(s))
            continue;
        const enum dtype type = fuzz_dtype(now.tensor[s].dtype);
        const size_t n = target_of(s)->size / dtype_size(type);
        REQUIRE(image_differs(type, result[s], target_of(s)->low, n, NULL) == n);
    }
}

static void at_start(void)
{
    place(AT_START);
    REQUIRE(call() == ROPE_OK);
    check_writes();
    same_results();
}

static void on_every_set(void)
{
    for (size_t i = 1; now.plan != NULL && fuzz_kernels(i) != NULL; i++) {
        place(AT_END);
        now.plan->plan->kernels = fuzz_kernels(i);
        const rope_status status = call();
        now.plan->plan->kernels = fuzz_kernels(0);
        REQUIRE(status == ROPE_OK);
        same_results();
    }
}

static void in_parts(void)
{
    if (now.call != ROTATE)
        return;
    place(AT_END);
    const unsigned parts = now.parts % 9 + 1;
    for (unsigned part = parts; part-- > 0;)
        REQUIRE(rope_rotate_part(now.plan != NULL ? now.plan->plan : NULL,
                                 (const void *)job_memory.bytes, part, parts) == ROPE_OK);
    same_results();
}

/* All tensors in one buffer: refused, or the bits of a job that has them apart. */
static struct array shared;
static unsigned char after[SPAN_MAX];

static unsigned char *move_into_shared(struct array *array, struct input *input)
{
    const size_t room = SPAN_MAX - array->size;
    const size_t at = room == 0 ? 0 : (take_byte(input) | take_byte(input) << 8) % room / 8 * 8;
    return shared.low + at;
}

static void in_one_buffer(struct input *input)
{
    unsigned char *low[4] = {NULL}; /* q.src q.dst k.src k.dst */
    array_size(&shared, (struct span){0.0, SPAN_MAX});
    array_place(&shared, AT_END);
    array_fill(&shared, DT_BF16, take_word(input), FILL_PLAIN);
    place(AT_END);
    for (int s = 0; s < 2; s++) {
        if (is_empty(s))
            continue;
        rope_tensor t = now.tensor[s];
        low[2 * s] = move_into_shared(&arrays[SRC + 2 * s], input);
        low[2 * s + 1] =
            now.in_place[s] ? low[2 * s] : move_into_shared(&arrays[DST + 2 * s], input);
        t.src = low[2 * s] + arrays[SRC + 2 * s].before;
        t.dst = low[2 * s + 1] + target_of(s)->before;
        if (t.src == t.dst && !now.in_place[s])
            return; /* another job: its strides mean other places */
        descriptor_write(&tensor_memory[s], 0, &t, sizeof t);
    }
    const rope_status status = call();
    if (status != ROPE_OK) {
        REQUIRE(array_is_kept(&shared));
        REQUIRE(status == ROPE_ERR_ALIAS);
        return;
    }
    memcpy(after, shared.low, SPAN_MAX);
    for (int s = 0; s < 2; s++) { /* the same data apart */
        if (is_empty(s))
            continue;
        for (int i = 0; i < 2 - now.in_place[s]; i++)
            memcpy(arrays[SRC + 2 * s + i].kept, shared.kept + (low[2 * s + i] - shared.low),
                   arrays[SRC + 2 * s + i].size);
    }
    place(AT_END);
    REQUIRE(call() == ROPE_OK);
    static unsigned char expected[SPAN_MAX];
    memcpy(expected, shared.kept, SPAN_MAX);
    for (int s = 0; s < 2; s++) {
        if (is_empty(s))
            continue;
        const struct array *const target = target_of(s);
        const size_t at = (size_t)(low[2 * s + 1] - shared.low);
        memset(may_change, 0, target->size);
        visit_heads(s, mark);
        for (size_t i = 0; i < target->size; i++)
            if (may_change[i])
                expected[at + i] = target->low[i];
        /* NaN need not have the same bits: make those equal that are NaN in both */
        const enum dtype type = fuzz_dtype(now.tensor[s].dtype);
        const size_t element = dtype_size(type);
        for (size_t i = 0; i < target->size; i += element)
            if (may_change[i] && isnan(dtype_load(type, expected + at + i, 0)) &&
                isnan(dtype_load(type, after + at + i, 0)))
                memcpy(after + at + i, expected + at + i, element);
    }
    REQUIRE(memcmp(expected, after, SPAN_MAX) == 0);
}

/* ---- The reference, from the caller's rows --------------------------------------------------- */

static size_t place_of(rope_pairing pairing, size_t i, int second)
{
    const size_t half = now.plan != NULL ? now.plan->chunk_pairs : now.pairs;
    if (pairing == ROPE_INTERLEAVED)
        return 2 * i + (size_t)second;
    return 2 * half * (i / half) + i % half + (second ? half : 0);
}

static double row_entry(int sine, size_t b, size_t row, size_t i)
{
    const rope_rows *const rows = &now.rows;
    const int twice = rows->layout == ROPE_ROWS_PAIRS || rows->layout == ROPE_ROWS_DUP_PAIRS;
    const void *array = sine && has_two_arrays(rows) ? rows->sin : rows->cos;
    ptrdiff_t at = (ptrdiff_t)b * rows->stride_batch +
                   (ptrdiff_t)row * (ptrdiff_t)row_stride(rows) + (ptrdiff_t)(twice ? 2 * i : i);
    if (sine && !has_two_arrays(rows))
        at += twice ? 1 : (ptrdiff_t)now.pairs;
    return dtype_load(fuzz_dtype(rows->dtype),
                      (const char *)array + at * (ptrdiff_t)fuzz_element(rows->dtype), 0);
}

static double scale_of(const rope_tensor *t, size_t b, size_t token)
{
    if (t->scale == NULL)
        return 1.0;
    const enum dtype type = t->scale_dtype == ROPE_F64 ? DT_F64 : DT_F32;
    const ptrdiff_t at =
        (ptrdiff_t)b * t->scale_stride_batch + (ptrdiff_t)token * t->scale_stride_token;
    const double scale =
        dtype_load(type, (const char *)t->scale + at * (ptrdiff_t)dtype_size(type), 0);
    return now.job.direction == ROPE_INVERSE ? 1.0 / scale : scale;
}

/* An entry as the tensor's arithmetic takes it; 0 where bf16 may be rounded twice. */
static int round_entry(enum dtype type, double *entry)
{
    const enum dtype real = dtype_real(type);
    const int to_bf16 =
        now.job.row_dtype == ROPE_BF16 || (now.job.arith == ROPE_ARITH_EAGER && type == DT_BF16);
    if (to_bf16 && *entry != 0.0 && fabs(*entry) < 0x1p-120)
        return 0;
    if (now.job.row_dtype != 0)
        *entry = dtype_round(fuzz_dtype(now.job.row_dtype), *entry);
    if (now.job.arith == ROPE_ARITH_EAGER)
        *entry = dtype_round(type, *entry);
    *entry = dtype_round(real, *entry);
    return 1;
}

static size_t pairs_left; /* to be compared: the reference is slow */

static void compare_head(int side, size_t b, size_t t, size_t h)
{
    const rope_tensor *const tensor = &now.tensor[side];
    const enum dtype type = fuzz_dtype(tensor->dtype);
    const rope_pairing from = now.plan != NULL ? now.plan->spec.pairing : now.job.pairing;
    const rope_pairing to = now.job.pairing_out == ROPE_OUT_SAME   ? from
                            : now.job.pairing_out == ROPE_OUT_HALF ? ROPE_HALF
                                                                   : ROPE_INTERLEAVED;
    const int backwards = now.job.direction == ROPE_TRANSPOSE || now.job.direction == ROPE_INVERSE;
    const size_t row =
        now.job.positions != NULL ? (size_t)fuzz_position(&now.positions[0], b, t) : t;
    const unsigned char *const src =
        arrays[SRC + 2 * side].kept + arrays[SRC + 2 * side].before +
        (head_at(side, 0, b, t, h) + (ptrdiff_t)offset_of(tensor)) * (ptrdiff_t)dtype_size(type);
    const unsigned char *const dst =
        target_of(side)->low + target_of(side)->before +
        (head_at(side, 1, b, t, h) + (ptrdiff_t)offset_of(tensor)) * (ptrdiff_t)dtype_size(type);
    const double scale = scale_of(tensor, b, t);
    for (size_t i = 0; i < now.pairs && pairs_left != 0; i++, pairs_left--) {
        double c = row_entry(0, b, row, i) * scale;
        double s = row_entry(1, b, row, i) * (backwards ? -scale : scale);
        double right[2];
        if (!round_entry(type, &c) || !round_entry(type, &s))
            continue;
        reference_rotate(type, now.job.arith, dtype_load(type, src, place_of(from, i, 0)),
                         dtype_load(type, src, place_of(from, i, 1)), c, s, right);
        for (int part = 0; part < 2; part++) {
            const double got = dtype_load(type, dst, place_of(to, i, part));
            REQUIRE(isnan(right[part])
                        ? isnan(got)
                        : got == right[part] && signbit(got) == signbit(right[part]));
        }
    }
}

/* ---- The target ------------------------------------------------------------------------------ */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    const unsigned way = take_byte(&input);
    read_job(&input);
    const int must_fail = refuse_giants();
    place(AT_END);
    const rope_status status = call();
    message_check(status, now.job.message, now.job.message_size);
    check_descriptors();
    if (status != ROPE_OK) {
        check_refused();
        return 0;
    }
    REQUIRE(!must_fail);
    check_writes();
    check_values();
    for (int s = 0; now.call != PART && s < 2; s++)
        if (!is_empty(s) && !now.in_place[s])
            visit_heads(s, compare_rest);
    keep_results();
    /* a part writes only some of it; where a src lies in itself, parts see what others have done */
    if (now.job.rows != NULL && now.axes == 1 && now.call != PART) {
        pairs_left = 256;
        visit_heads(0, compare_head);
        pairs_left = 256;
        visit_heads(1, compare_head);
    }
    switch (way % 4) {
    case 0:
        at_start();
        break;
    case 1:
        on_every_set();
        break;
    case 2:
        in_parts();
        break;
    default:
        in_one_buffer(&input);
        break;
    }
    return 0;
}
