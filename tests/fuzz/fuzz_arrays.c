/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a rope_permutation or a rope_sinusoid, its arrays between guard pages.  Permutations
 * are compared with the definition of both pairings; tables with the rows of the plan, sums with
 * plain sums and factors from a generator of dropout written here; and both at another alignment, in
 * parts and on every kernel set.
 */
#include "plans.h"

#include <math.h>

enum { SRC, DST, POSITIONS, ARRAYS = POSITIONS + ROPE_AXES_MAX };
static struct array arrays[ARRAYS];
static int is_used[ARRAYS];
static struct descriptor memory, positions_memory;
static unsigned char result[SPAN_MAX], covered[SPAN_MAX];

static void check_refused(void)
{
    for (int i = 0; i < ARRAYS; i++)
        REQUIRE(!is_used[i] || !arrays[i].fits || array_is_kept(&arrays[i]));
}

/* The target, and that nothing else was written: `covered` says which bytes of it may be. */
static void check_writes(const struct array *target)
{
    for (int i = 0; i < ARRAYS; i++)
        REQUIRE(!is_used[i] || &arrays[i] == target || array_is_kept(&arrays[i]));
    REQUIRE(array_canaries_live(target));
    for (size_t i = 0; i < target->size; i++)
        REQUIRE(covered[i] || target->low[i] == target->kept[i]);
}

static void place(enum side side)
{
    arrays_place(arrays, is_used, ARRAYS, side);
}

/* ---- Permutations ---------------------------------------------------------------------------- */

static rope_permutation permutation;
static int in_place;

static void permutation_strides(int of_dst, double *stride)
{
    const rope_permutation *const p = &permutation;
    const ptrdiff_t src[3] = {p->src_stride_matrix, p->src_stride_head, p->src_stride_row};
    const ptrdiff_t dst[3] = {p->dst_stride_matrix, p->dst_stride_head, p->dst_stride_row};
    const ptrdiff_t *given = of_dst ? dst : src;
    if (of_dst && in_place && dst[0] == 0 && dst[1] == 0 && dst[2] == 0)
        given = src;
    const int dense = given[0] == 0 && given[1] == 0 && given[2] == 0;
    const double row = (double)p->row_length, head = row * (double)p->head_dim;
    stride[0] = dense ? head * (double)p->heads : (double)given[0];
    stride[1] = dense ? head : (double)given[1];
    stride[2] = dense ? row : (double)given[2];
}

/* The row of a head that comes to row `to`. */
static size_t row_before(size_t to)
{
    const rope_permutation *const p = &permutation;
    const size_t offset = p->rotary_offset;
    const size_t dim = p->rotary_dim != 0 ? p->rotary_dim : p->head_dim - offset;
    if (p->from == p->to || to < offset || to >= offset + dim)
        return to;
    const size_t place = to - offset, half = dim / 2;
    if (p->to == ROPE_HALF) /* x_i at i, y_i at i + half; they stood at 2 i and 2 i + 1 */
        return offset + (place < half ? 2 * place : 2 * (place - half) + 1);
    return offset + (place % 2 == 0 ? place / 2 : half + place / 2);
}

static void put_permutation(void)
{
    permutation.src = is_used[SRC] ? arrays[SRC].address : NULL;
    permutation.dst = in_place ? arrays[SRC].address : is_used[DST] ? arrays[DST].address : NULL;
    descriptor_write(&memory, 0, &permutation, sizeof permutation);
}

static void compare_permutation(const struct array *target)
{
    const rope_permutation *const p = &permutation;
    const size_t element = fuzz_element(p->dtype), bytes = p->row_length * element;
    double src[3], dst[3];
    permutation_strides(0, src);
    permutation_strides(1, dst);
    memset(covered, 0, target->size);
    for (size_t m = 0; m < p->matrices; m++)
        for (size_t h = 0; h < p->heads; h++)
            for (size_t r = 0; r < p->head_dim; r++) {
                const double to = (double)m * dst[0] + (double)h * dst[1] + (double)r * dst[2];
                const double from =
                    (double)m * src[0] + (double)h * src[1] + (double)row_before(r) * src[2];
                const size_t at = target->before + (size_t)((ptrdiff_t)to * (ptrdiff_t)element);
                const size_t was =
                    arrays[SRC].before + (size_t)((ptrdiff_t)from * (ptrdiff_t)element);
                REQUIRE(bytes == 0 || memcmp(target->low + at, arrays[SRC].kept + was, bytes) == 0);
                memset(covered + at, 1, bytes);
            }
    check_writes(target);
}

static void permute(struct input *input)
{
    rope_permutation *const p = &permutation;
    descriptor_take(&memory, input, 1);
    descriptor_read(&memory, 0, p, sizeof *p);
    message_place(&p->message, &p->message_size);
    in_place = p->src != NULL && p->src == p->dst;
    const double count[3] = {(double)p->matrices, (double)p->heads, (double)p->head_dim};
    struct span span[2];
    double stride[3];
    for (int of_dst = 0; of_dst < 2; of_dst++) {
        permutation_strides(of_dst, stride);
        span[of_dst] = span_of((double)p->row_length, fuzz_element(p->dtype), 3, count, stride);
    }
    array_size(&arrays[SRC], in_place ? span_union(span[0], span[1]) : span[0]);
    array_size(&arrays[DST], span[1]);
    is_used[SRC] = p->src != NULL;
    is_used[DST] = p->dst != NULL && !in_place;
    const uint64_t seed = take_word(input);
    int giant = 0;
    for (int i = SRC; i <= DST; i++) {
        if (!is_used[i])
            continue;
        array_place(&arrays[i], AT_END);
        if (arrays[i].fits)
            array_fill(&arrays[i], DT_F32, seed + (uint64_t)i, FILL_BITS);
        giant |= !arrays[i].fits;
    }
    if (giant) /* after all measures, before anything moves */
        p->dst = NULL, is_used[DST] = 0, in_place = 0;
    put_permutation();
    const rope_status status = rope_permute((const void *)memory.bytes);
    message_check(status, p->message, p->message_size);
    REQUIRE(descriptor_is_kept(&memory));
    if (status != ROPE_OK) {
        check_refused();
        return;
    }
    const struct array *const target = &arrays[in_place ? SRC : DST];
    if (p->matrices == 0 || p->heads == 0 || p->row_length == 0) {
        check_refused();
        return;
    }
    REQUIRE(!giant);
    compare_permutation(target);
    place(AT_START);
    put_permutation();
    REQUIRE(rope_permute((const void *)memory.bytes) == ROPE_OK);
    compare_permutation(target);
}

/* ---- Sinusoids ------------------------------------------------------------------------------- */

static struct {
    const struct fuzz_plan *plan;
    rope_sinusoid sinusoid;
    rope_positions positions[ROPE_AXES_MAX];
    size_t dim;
    unsigned call, part, parts;
} now;

enum { ADD, ADD_PART, TABLE, CALLS };

static rope_status call(void)
{
    const rope_sinusoid *const s = (const void *)memory.bytes;
    if (now.call == ADD_PART)
        return rope_sinusoid_add_part(now.plan->plan, s, now.part, now.parts);
    return now.call == TABLE ? rope_sinusoid_table(now.plan->plan, s)
                             : rope_sinusoid_add(now.plan->plan, s);
}

static void sinusoid_strides(int of_dst, double *stride)
{
    const rope_sinusoid *const s = &now.sinusoid;
    const ptrdiff_t src[2] = {s->src_stride_batch, s->src_stride_token};
    const ptrdiff_t dst[2] = {s->dst_stride_batch, s->dst_stride_token};
    const ptrdiff_t *given = of_dst ? dst : src;
    if (of_dst && in_place && dst[0] == 0 && dst[1] == 0)
        given = src;
    const int dense = given[0] == 0 && given[1] == 0;
    stride[0] = dense ? (double)now.dim * (double)s->tokens : (double)given[0];
    stride[1] = dense ? (double)now.dim : (double)given[1];
}

static void put_sinusoid(void)
{
    rope_sinusoid *const s = &now.sinusoid;
    s->src = is_used[SRC] ? arrays[SRC].address : NULL;
    s->dst = in_place ? arrays[SRC].address : is_used[DST] ? arrays[DST].address : NULL;
    for (size_t axis = 0; s->positions != NULL && axis < now.plan->axes; axis++) {
        now.positions[axis].data =
            is_used[POSITIONS + axis] ? arrays[POSITIONS + axis].address : NULL;
        descriptor_write(&positions_memory, axis, &now.positions[axis], sizeof now.positions[axis]);
    }
    descriptor_write(&memory, 0, s, sizeof *s);
}

/* Philox4x32-10: Salmon et al., Parallel random numbers, SC 2011, section 4. */
static uint32_t word_of_stream(uint64_t seed, uint64_t number)
{
    uint32_t x[4] = {(uint32_t)(number / 4), (uint32_t)(number / 4 >> 32), 0, 0};
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int round = 0; round < 10; round++) {
        const uint64_t a = UINT64_C(0xd2511f53) * x[0], b = UINT64_C(0xcd9e8d57) * x[2];
        const uint32_t next[4] = {(uint32_t)(b >> 32) ^ x[1] ^ key[0], (uint32_t)b,
                                  (uint32_t)(a >> 32) ^ x[3] ^ key[1], (uint32_t)a};
        memcpy(x, next, sizeof x);
        key[0] += 0x9e3779b9u;
        key[1] += 0xbb67ae85u;
    }
    return x[number % 4];
}

/* The embedding of a token, in the type that rows have, by rope_cos_sin. */
static void embedding_of(size_t batch, size_t token, enum dtype type, double *columns)
{
    static double row[1024]; /* bytes for every type */
    const rope_sinusoid *const s = &now.sinusoid;
    const size_t pairs = now.plan->pairs, half = now.plan->chunk_pairs;
    for (size_t i = 0; i < now.dim; i++)
        columns[i] = now.call == TABLE ? 0.0 : -0.0;
    if ((s->flags & ROPE_PADDING) != 0 &&
        fuzz_position(&now.positions[0], batch, token) == (double)s->padding)
        return;
    rope_positions one[ROPE_AXES_MAX];
    for (size_t axis = 0; axis < now.plan->axes; axis++) {
        static double values[ROPE_AXES_MAX];
        values[axis] = fuzz_position(&now.positions[axis], batch, token);
        one[axis] = (rope_positions)ROPE_POSITIONS_INIT;
        one[axis].dtype = ROPE_F64;
        one[axis].data = &values[axis];
    }
    rope_rows rows = ROPE_ROWS_INIT;
    rows.dtype = (rope_dtype)type + ROPE_F32;
    rows.cos = row;
    rows.count = 1;
    REQUIRE(rope_cos_sin(now.plan->plan, one, 1, &rows) == ROPE_OK);
    const int cos_first = (s->flags & ROPE_COS_FIRST) != 0;
    for (size_t i = 0; i < pairs; i++) {
        const double value[2] = {dtype_load(type, row, cos_first ? i : pairs + i),
                                 dtype_load(type, row, cos_first ? pairs + i : i)};
        for (size_t part = 0; part < 2; part++) {
            const size_t column = now.plan->spec.pairing == ROPE_INTERLEAVED
                                      ? 2 * i + part
                                      : 2 * half * (i / half) + i % half + part * half;
            if (column < now.dim)
                columns[column] = value[part];
        }
    }
}

static double sum_of(enum dtype type, double value, double embedding, uint64_t number)
{
    const rope_sinusoid *const s = &now.sinusoid;
    double factor = 1.0;
    if (s->dropout != 0.0) {
        const uint64_t below = (uint64_t)(s->dropout * 0x1p32 + 0.5);
        factor =
            word_of_stream(s->seed, s->offset + number) < below ? 0.0 : 1.0 / (1.0 - s->dropout);
    }
    if (type == DT_F64)
        return s->dropout != 0.0 ? (value + embedding) * factor : value + embedding;
    const float sum = (float)value + (float)embedding;
    return dtype_round(type, (double)(s->dropout != 0.0 ? sum * (float)factor : sum));
}

static void compare_sinusoid(const struct array *target)
{
    static double columns[SPAN_MAX];
    const rope_sinusoid *const s = &now.sinusoid;
    const enum dtype type = fuzz_dtype(s->dtype);
    const size_t element = dtype_size(type);
    double src[2], dst[2];
    sinusoid_strides(0, src);
    sinusoid_strides(1, dst);
    memset(covered, 0, target->size);
    size_t compared = 0;
    for (size_t b = 0; b < s->batch; b++)
        for (size_t t = 0; t < s->tokens; t++) {
            const double to = (double)b * dst[0] + (double)t * dst[1];
            const double from = now.call == TABLE ? 0.0 : (double)b * src[0] + (double)t * src[1];
            unsigned char *const at =
                target->low + target->before + (ptrdiff_t)to * (ptrdiff_t)element;
            const unsigned char *const was =
                arrays[SRC].kept + arrays[SRC].before + (ptrdiff_t)from * (ptrdiff_t)element;
            memset(covered + (at - target->low), 1, now.dim * element);
            if (now.call == ADD_PART || compared++ >= 8)
                continue;
            embedding_of(b, t, now.call == TABLE ? type : dtype_real(type), columns);
            for (size_t i = 0; i < now.dim && i < 256; i++) {
                const uint64_t number = (b * s->tokens + t) * now.dim + i;
                const double right =
                    now.call == TABLE ? columns[i]
                                      : sum_of(type, dtype_load(type, was, i), columns[i], number);
                const double got = dtype_load(type, at, i);
                REQUIRE(isnan(right) ? isnan(got) : got == right && signbit(got) == signbit(right));
            }
        }
    check_writes(target);
}

static void same_result(const struct array *target)
{
    const enum dtype type = fuzz_dtype(now.sinusoid.dtype);
    const size_t n = target->size / dtype_size(type);
    REQUIRE(image_differs(type, result, target->low, n, NULL) == n);
}

/* The same another way. */
static void again(const struct array *target, unsigned way)
{
    place(way % 4 == 0 ? AT_START : AT_END);
    put_sinusoid();
    if (way % 4 < 2) {
        REQUIRE(call() == ROPE_OK);
        same_result(target);
    } else if (way % 4 == 2 && now.call == ADD) {
        const unsigned parts = now.parts % 9 + 1;
        for (unsigned part = parts; part-- > 0;)
            REQUIRE(rope_sinusoid_add_part(now.plan->plan, (const void *)memory.bytes, part,
                                           parts) == ROPE_OK);
        same_result(target);
    }
    for (size_t i = 1; way % 4 == 3 && fuzz_kernels(i) != NULL; i++) {
        place(AT_END);
        now.plan->plan->kernels = fuzz_kernels(i);
        const rope_status status = call();
        now.plan->plan->kernels = fuzz_kernels(0);
        REQUIRE(status == ROPE_OK);
        same_result(target);
    }
}

static void read_sinusoid(struct input *input)
{
    rope_sinusoid *const s = &now.sinusoid;
    now.plan = fuzz_plan(take_byte(input));
    now.call = take_byte(input) % CALLS;
    now.part = take_byte(input);
    now.parts = take_byte(input);
    descriptor_take(&memory, input, 1);
    descriptor_read(&memory, 0, s, sizeof *s);
    message_place(&s->message, &s->message_size);
    now.dim = s->dim != 0 ? s->dim : now.plan->spec.rotary_dim;
    in_place = s->src != NULL && s->src == s->dst;
    const double count[2] = {(double)s->batch, (double)s->tokens};
    struct span span[2];
    double stride[2];
    for (int of_dst = 0; of_dst < 2; of_dst++) {
        sinusoid_strides(of_dst, stride);
        span[of_dst] = span_of((double)now.dim, fuzz_element(s->dtype), 2, count, stride);
    }
    array_size(&arrays[SRC], in_place ? span_union(span[0], span[1]) : span[0]);
    array_size(&arrays[DST], span[1]);
    is_used[SRC] = s->src != NULL;
    is_used[DST] = s->dst != NULL && !in_place;
    if (s->positions != NULL) {
        descriptor_take(&positions_memory, input, now.plan->axes);
        s->positions = (const void *)positions_memory.bytes;
    }
    for (size_t axis = 0; s->positions != NULL && axis < now.plan->axes; axis++) {
        rope_positions *const p = &now.positions[axis];
        descriptor_read(&positions_memory, axis, p, sizeof *p);
        array_size(&arrays[POSITIONS + axis], fuzz_positions_span(p, s->batch, s->tokens));
        is_used[POSITIONS + axis] = p->data != NULL;
    }
}

static void embed(struct input *input, unsigned way)
{
    rope_sinusoid *const s = &now.sinusoid;
    memset(&now, 0, sizeof now);
    read_sinusoid(input);
    const uint64_t seed = take_word(input);
    const enum fill kind = (enum fill)(take_byte(input) % FILLS);
    int giant = 0;
    for (int i = 0; i < ARRAYS; i++) {
        if (!is_used[i])
            continue;
        giant |= !arrays[i].fits;
        array_place(&arrays[i], AT_END);
        if (!arrays[i].fits)
            continue;
        if (i < POSITIONS)
            array_fill(&arrays[i], fuzz_dtype(s->dtype), seed + (uint64_t)i, kind);
        else
            fuzz_fill_positions(&arrays[i], now.positions[i - POSITIONS].dtype, input, 0xe0);
    }
    if (giant) /* what was given to a table, and what was not to a sum */
        s->reserved = 1;
    put_sinusoid();
    const rope_status status = call();
    message_check(status, s->message, s->message_size);
    REQUIRE(descriptor_is_kept(&memory));
    if (status != ROPE_OK || s->batch == 0 || s->tokens == 0) {
        check_refused();
        return;
    }
    REQUIRE(!giant);
    const struct array *const target = &arrays[in_place ? SRC : DST];
    compare_sinusoid(target);
    memcpy(result, target->low, target->size);
    again(target, way);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    memset(is_used, 0, sizeof is_used);
    const unsigned way = take_byte(&input);
    if (way % 8 < 4)
        embed(&input, way);
    else
        permute(&input);
    return 0;
}
