/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that come out of the public functions: random jobs against the slow reference, bit for
 * bit, between guard pages. Sees rope.h alone.  The jobs depend on the seed and on nothing else, so
 * that runs under different values of ROPE_ISA do the same work; the last line is a checksum of all
 * results, to be compared between runs.
 */
#define _DEFAULT_SOURCE

#include "allocations.h"
#include "reference.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PAIRS  700
#define MAX_TOKENS 8
#define MAX_BATCH  3

/* ---- Checksums of all results ---- */

/*
 * Of what every CPU gives alike, and of all; without FMA f64 rows may differ in the last bit
 * (rope.h).
 */
static uint64_t sum_everywhere = CHECKSUM_START;
static uint64_t sum_all = CHECKSUM_START;

static void add_results(enum dtype type, const void *data, size_t n, int everywhere)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = dtype_bits(type, data, i);
        if (isnan(dtype_from_bits(type, bits)))
            bits = UINT64_MAX;
        sum_all = checksum_add(sum_all, &bits, sizeof bits);
        if (everywhere)
            sum_everywhere = checksum_add(sum_everywhere, &bits, sizeof bits);
    }
}

/* ---- The caller's floating-point control word, without the flags that any arithmetic sets ---- */

static uint64_t float_control(void)
{
#if defined(__x86_64__)
    uint32_t word;
    __asm__ volatile("stmxcsr %0" : "=m"(word));
    return word & ~UINT32_C(0x3f);
#elif defined(__aarch64__)
    uint64_t word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    return word;
#else
    return 0;
#endif
}

static void set_flush_to_zero(int on)
{
#if defined(__x86_64__)
    uint32_t word;
    __asm__ volatile("stmxcsr %0" : "=m"(word));
    word = on ? word | 0x8040 : word & ~UINT32_C(0x8040);
    __asm__ volatile("ldmxcsr %0" : : "m"(word));
#elif defined(__aarch64__)
    uint64_t word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    word = on ? word | UINT64_C(1) << 24 : word & ~(UINT64_C(1) << 24);
    __asm__ volatile("msr fpcr, %0" : : "r"(word));
#else
    (void)on;
#endif
}

/* ---- Guarded memory, one block per operand ---- */

enum { Q_SRC, Q_DST, K_SRC, K_DST, POSITIONS, COS, SIN, BLOCKS };
#define BLOCK_BYTES ((size_t)1 << 20)
static struct guarded blocks[BLOCKS];
static unsigned char *images[BLOCKS]; /* what the destination in a block must become */
static unsigned char *loose[BLOCKS];  /* of each of its elements: 1 if computed */
static unsigned char *before[BLOCKS]; /* what stood in the window of a block */

/* What a job uses of a block, and up to 256 bytes on both sides. */
static struct {
    unsigned char *first;
    size_t bytes;
} windows[BLOCKS];

static int make_blocks(void **state)
{
    (void)state;
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = guarded_make(BLOCK_BYTES);
        windows[i].first = blocks[i].base;
        images[i] = malloc(BLOCK_BYTES);
        loose[i] = malloc(BLOCK_BYTES);
        before[i] = malloc(BLOCK_BYTES);
        if (!images[i] || !loose[i] || !before[i])
            return -1;
    }
    return 0;
}

static int free_blocks(void **state)
{
    (void)state;
    for (int i = 0; i < BLOCKS; i++) {
        guarded_free(&blocks[i]);
        free(images[i]);
        free(loose[i]);
        free(before[i]);
    }
    print_message("checksum %016" PRIx64 " everywhere %016" PRIx64 " isa %s seed %#" PRIx64 "\n",
                  sum_all, sum_everywhere, rope_isa_name(rope_active_isa()), test_seed());
    return 0;
}

/* n elements in a block, filled with canaries, at its end or start. */
static unsigned char *place(struct rng *rng, int block, enum dtype type, size_t n)
{
    const size_t size = dtype_size(type);
    const size_t gap = rng_maybe(rng, 32) * size;
    unsigned char *data = rng_below(rng, 2) ? guarded_end(&blocks[block], n * size, gap)
                                            : guarded_start(&blocks[block], n * size, gap);
    const size_t ahead = (size_t)(data - blocks[block].base);
    const size_t behind = blocks[block].size - ahead - n * size;
    windows[block].first = data - (ahead < 256 ? ahead : 256);
    windows[block].bytes = (ahead < 256 ? ahead : 256) + n * size + (behind < 256 ? behind : 256);
    canary_fill(windows[block].first, windows[block].bytes);
    return data;
}

/* ---- Strides ---- */

enum { AXES = 3 }; /* batch, token, head */

struct layout {
    ptrdiff_t stride[AXES];
    size_t first; /* elements from the lowest address to element 0, 0, 0 */
    size_t span;  /* elements from the lowest to the last */
};

/* Any order of the axes in memory, with gaps, any signs; sources may also repeat along an axis. */
static struct layout random_layout(struct rng *rng, const size_t count[AXES], size_t length,
                                   int may_repeat)
{
    struct layout layout = {{0}, 0, 0};
    int order[AXES] = {2, 1, 0};
    if (rng_below(rng, 2))
        for (int i = 0; i < AXES; i++) {
            const int other = (int)rng_below(rng, AXES);
            const int axis = order[i];
            order[i] = order[other];
            order[other] = axis;
        }
    size_t step = length + rng_maybe(rng, 5);
    int repeats = 0;
    for (int i = 0; i < AXES; i++) {
        const int axis = order[i];
        if (may_repeat && repeats < AXES - 1 && rng_below(rng, 8) == 0) {
            repeats++;
            continue;
        }
        layout.stride[axis] = rng_below(rng, 4) ? (ptrdiff_t)step : -(ptrdiff_t)step;
        if (layout.stride[axis] < 0)
            layout.first += (count[axis] - 1) * step;
        layout.span += (count[axis] - 1) * step;
        step = step * count[axis] + rng_maybe(rng, 5);
        if (count[axis] == 1 && rng_below(rng, 2)) /* such a stride means nothing */
            layout.stride[axis] = rng_below(rng, 2) ? 1 : -(PTRDIFF_MAX >> 23);
    }
    layout.span += length;
    return layout;
}

static struct layout dense_layout(const size_t count[AXES], size_t length)
{
    struct layout layout = {{0}, 0, count[0] * count[1] * count[2] * length};
    layout.stride[2] = (ptrdiff_t)length;
    layout.stride[1] = (ptrdiff_t)(length * count[2]);
    layout.stride[0] = (ptrdiff_t)(length * count[2] * count[1]);
    return layout;
}

static size_t element(const struct layout *layout, const size_t count[AXES], size_t b, size_t t,
                      size_t h)
{
    const size_t index[AXES] = {b, t, h};
    ptrdiff_t at = (ptrdiff_t)layout->first;
    for (int axis = 0; axis < AXES; axis++)
        if (count[axis] > 1)
            at += (ptrdiff_t)index[axis] * layout->stride[axis];
    return (size_t)at;
}

/* ---- Plans ---- */

struct test_plan {
    rope_spec spec;
    rope_plan *plan;
    size_t pairs;
    double m;
    double custom[MAX_PAIRS];
    mpfr_t frequency[MAX_PAIRS];
};

/* Rows wider than a kernel takes at once. */
static size_t wide_pairs(struct rng *rng)
{
    static const size_t widths[] = {128, 129, 255, 256, 257, 512, 513, 640};
    return widths[rng_below(rng, sizeof widths / sizeof *widths)];
}

static void make_plan(struct rng *rng, int wide, struct test_plan *out)
{
    static const size_t widths[] = {1, 2, 3, 4, 5, 8, 12, 16, 20, 32, 33, 40, 48, 64, 67, 80};
    static const double thetas[] = {0.0, 100.0, 10000.0, 500000.0, 1e7, 0.5};
    static const double factors[] = {1.0, 4.0, 0.3, 3.0};
    static const double ms[] = {0.0, 1.0, 1.3465735902799727, 0.7};
    char message[256] = "";
    rope_spec spec = ROPE_SPEC_INIT;
    out->pairs = wide ? wide_pairs(rng) : widths[rng_below(rng, sizeof widths / sizeof *widths)];
    spec.rotary_dim = 2 * out->pairs;
    spec.rotary_offset = rng_below(rng, 3) ? 0 : rng_below(rng, 40);
    spec.head_dim =
        spec.rotary_offset + spec.rotary_dim + (rng_below(rng, 3) ? 0 : rng_below(rng, 40));
    if (spec.rotary_offset + spec.rotary_dim == spec.head_dim && rng_below(rng, 2))
        spec.rotary_dim = 0;
    spec.pairing = (rope_pairing)rng_below(rng, 2);
    spec.scheme = (rope_scheme)rng_below(rng, 3);
    spec.angle = rng_below(rng, 4) ? ROPE_ANGLE_EXACT : ROPE_ANGLE_F32;
    spec.attention_factor = ms[rng_below(rng, sizeof ms / sizeof *ms)];
    out->m = spec.attention_factor == 0.0 ? 1.0 : spec.attention_factor;
    if (spec.scheme != ROPE_SCHEME_CUSTOM)
        spec.theta = thetas[rng_below(rng, sizeof thetas / sizeof *thetas)];
    if (spec.scheme == ROPE_SCHEME_LINEAR)
        spec.factor = factors[rng_below(rng, sizeof factors / sizeof *factors)];
    for (size_t i = 0; i < out->pairs; i++) {
        mpfr_init2(out->frequency[i], REFERENCE_BITS);
        if (spec.scheme == ROPE_SCHEME_CUSTOM) {
            out->custom[i] = i % 8 == 7 ? 0.0 : rng_real(rng, i % 8 == 6 ? 0x1p20 : 2.0);
            mpfr_set_d(out->frequency[i], out->custom[i], MPFR_RNDN);
        } else {
            reference_frequency(out->frequency[i], spec.theta == 0.0 ? 10000.0 : spec.theta,
                                spec.factor == 0.0 ? 1.0 : spec.factor, i, 2 * out->pairs);
        }
    }
    if (spec.scheme == ROPE_SCHEME_CUSTOM) {
        spec.inv_freq = out->custom;
        spec.inv_freq_count = out->pairs;
    }
    spec.message = message;
    spec.message_size = sizeof message;
    out->plan = NULL;
    const rope_status status = rope_plan_create(&spec, &out->plan);
    if (status != ROPE_OK || !out->plan)
        fail_msg("rope_plan_create: %s: %s, seed %#" PRIx64, rope_status_string(status), message,
                 test_seed());
    if (spec.rotary_dim == 0)
        spec.rotary_dim = 2 * out->pairs;
    memset(out->custom, 0, sizeof out->custom); /* nothing is kept by reference */
    out->spec = spec;
}

static void free_plan(struct test_plan *plan)
{
    rope_plan_destroy(plan->plan);
    for (size_t i = 0; i < plan->pairs; i++)
        mpfr_clear(plan->frequency[i]);
}

/* ---- Rows ---- */

/* Where an entry stands in a row of a layout; *second tells in which array. */
static size_t row_entry(rope_rows_layout layout, size_t pairs, size_t i, int sine, int copy,
                        int *second)
{
    *second = sine && layout != ROPE_ROWS_PACKED && layout != ROPE_ROWS_PAIRS;
    switch (layout) {
    case ROPE_ROWS_PACKED:
        return i + (sine ? pairs : 0);
    case ROPE_ROWS_SEPARATE:
        return i;
    case ROPE_ROWS_PAIRS:
        return 2 * i + (sine ? 1 : 0);
    case ROPE_ROWS_DUP_HALF:
        return i + (copy ? pairs : 0);
    default:
        return 2 * i + (copy ? 1 : 0);
    }
}

static int row_copies(rope_rows_layout layout)
{
    return layout >= ROPE_ROWS_DUP_HALF ? 2 : 1;
}

static size_t row_width(rope_rows_layout layout, size_t pairs)
{
    return layout == ROPE_ROWS_SEPARATE ? pairs : 2 * pairs;
}

/*
 * Checks the entries of a made row against the true values: rows of positions are defined by their
 * error.
 */
static void check_row(const struct test_plan *plan, double position, rope_direction direction,
                      enum dtype type, const double *cos_row, const double *sin_row)
{
    const int back = direction == ROPE_INVERSE || direction == ROPE_TRANSPOSE;
    const double scale = direction == ROPE_FORWARD || direction == ROPE_TRANSPOSE ? plan->m : 1.0;
    const double divisor = direction == ROPE_INVERSE ? plan->m : 1.0;
    mpfr_t angle;
    mpfr_init2(angle, REFERENCE_BITS);
    for (size_t i = 0; i < plan->pairs; i++) {
        struct reference_bounds bounds[2];
        reference_angle(angle, position, plan->frequency[i], plan->spec.angle == ROPE_ANGLE_F32);
        reference_cos_sin(type, angle, scale, back ? -scale : scale, divisor,
                          reference_slack(position, scale / divisor), bounds);
        const double got[2] = {cos_row[i], sin_row[i]};
        for (int part = 0; part < 2; part++)
            if (!reference_within(bounds[part], got[part]))
                fail_msg("%s of position %.17g, pair %zu of %zu, scheme %d, angle %d, direction "
                         "%d, %s: %a is not in "
                         "%a..%a, seed %#" PRIx64,
                         part ? "sine" : "cosine", position, i, plan->pairs, plan->spec.scheme,
                         plan->spec.angle, direction, dtype_name(type), got[part], bounds[part].low,
                         bounds[part].high, test_seed());
    }
    mpfr_clear(angle);
}

/* The row of one position in a type, made alone and checked. */
static void make_row(const struct test_plan *plan, double position, rope_direction direction,
                     enum dtype type, double *cos_row, double *sin_row)
{
    unsigned char packed[2 * MAX_PAIRS * 8];
    char message[256] = "";
    rope_positions positions = ROPE_POSITIONS_INIT;
    if (position == trunc(position)) {
        positions.start = (int64_t)position;
    } else {
        positions.dtype = ROPE_F64;
        positions.data = &position;
    }
    rope_rows rows = ROPE_ROWS_INIT;
    rows.dtype = (rope_dtype)type + ROPE_F32;
    rows.direction = direction;
    rows.cos = packed;
    rows.count = 1;
    rows.message = message;
    rows.message_size = sizeof message;
    const rope_status status = rope_cos_sin(plan->plan, &positions, 1, &rows);
    if (status != ROPE_OK)
        fail_msg("rope_cos_sin: %s: %s", rope_status_string(status), message);
    for (size_t i = 0; i < plan->pairs; i++) {
        cos_row[i] = dtype_load(type, packed, i);
        sin_row[i] = dtype_load(type, packed, plan->pairs + i);
    }
    check_row(plan, position, direction, type, cos_row, sin_row);
}

/* ---- Positions ---- */

static double random_position(struct rng *rng)
{
    static const double edges[] = {
        0,       1,        -1,       2,    40,    255,       256,       511,         512,
        1023,    1024,     2047,     4095, 32767, 65535,     65536,     131071,      1048575,
        1048576, -1048576, 16777217, -3,   -512,  67108863., 67108864., 2147483647., -2147483647.};
    switch (rng_below(rng, 4)) {
    case 0:
        return edges[rng_below(rng, sizeof edges / sizeof *edges)];
    case 1:
        return trunc(rng_real(rng, 2147483647.0));
    default:
        return (double)rng_below(rng, 5000);
    }
}

struct test_positions {
    rope_positions positions;
    double value[MAX_BATCH][MAX_TOKENS];
    int whole; /* all are integers */
};

/*
 * Positions of every dtype, with strides of any sign or 0, start and step.  The values wanted are
 * first put into data and the sum is then read back, so that shared elements and rounding to f32
 * are what they are.
 */
static void make_positions(struct rng *rng, size_t batch, size_t tokens, double lowest,
                           double highest, int whole, struct test_positions *out)
{
    rope_positions positions = ROPE_POSITIONS_INIT;
    const int wide = highest > 1e6;
    const int moved = !wide || rng_below(rng, 2);
    const ptrdiff_t margin = moved && wide ? 4096 : 0;
    out->whole = 1;
    if (rng_below(rng, 4) == 0) { /* start and step alone */
        const int64_t steps[] = {0, 1, 2, wide ? 1000003 : 1, wide ? -1 : 1};
        positions.step = steps[rng_below(rng, 5)];
        const int64_t step = positions.step ? positions.step : 1;
        const double far = (double)step * (double)(tokens - 1);
        positions.start = (int64_t)random_position(rng);
        if (!((double)positions.start >= lowest && (double)positions.start <= highest &&
              (double)positions.start + far >= lowest &&
              (double)positions.start + far <= highest)) {
            positions.start = step < 0 ? (int64_t)tokens : 0;
            positions.step = step == 2 && highest < 2.0 * (double)tokens ? 1 : positions.step;
        }
        const int64_t actual = positions.step ? positions.step : 1;
        for (size_t b = 0; b < batch; b++)
            for (size_t t = 0; t < tokens; t++)
                out->value[b][t] = (double)(positions.start + actual * (int64_t)t);
        positions.stride_batch = (ptrdiff_t)rng_below(rng, 5); /* read by no one without data */
        out->positions = positions;
        return;
    }
    const rope_dtype dtypes[] = {ROPE_I32, ROPE_I64, ROPE_F32, ROPE_F64};
    positions.dtype = dtypes[rng_below(rng, whole ? 2 : 4)];
    positions.start = moved ? (int64_t)rng_below(rng, 100) : 0;
    positions.step = moved && wide ? (int64_t)rng_below(rng, 3) - 1 : 0;
    const size_t count[AXES] = {batch, tokens, 1};
    struct layout layout = random_layout(rng, count, 1, 1);
    if (rng_below(rng, 3) == 0)
        layout.stride[0] = 0;
    const int eight = positions.dtype == ROPE_I64 || positions.dtype == ROPE_F64;
    const enum dtype slot = eight ? DT_F64 : DT_F32; /* for its size */
    unsigned char *data = place(rng, POSITIONS, slot, layout.span);
    for (size_t b = 0; b < batch; b++)
        for (size_t t = 0; t < tokens; t++) {
            double value;
            do
                value = highest - lowest < 1e6
                            ? lowest + (double)rng_below(rng, (size_t)(highest - lowest) + 1)
                            : random_position(rng);
            while (value < lowest + (double)margin || value > highest - (double)margin);
            value -= (double)positions.start;
            const size_t at = element(&layout, count, b, t, 0);
            const int32_t small = (int32_t)value;
            const int64_t large = (int64_t)value;
            const int fraction = rng_below(rng, 2) == 0;
            switch (positions.dtype) {
            case ROPE_I32:
                memcpy(data + 4 * at, &small, 4);
                break;
            case ROPE_I64:
                memcpy(data + 8 * at, &large, 8);
                break;
            case ROPE_F32: /* the largest stays inside after rounding to f32 */
                if (fabs(value) > 2147480000.0)
                    value = copysign(2147480000.0, value);
                dtype_store(DT_F32, data, at, fraction ? value / 3.0 : value);
                break;
            default: /* 12 bits of fraction: the sum with start and step is exact */
                dtype_store(DT_F64, data, at,
                            fraction ? floor(value * 4096.0 / 3.0) / 4096.0 : value);
                break;
            }
        }
    for (size_t b = 0; b < batch; b++)
        for (size_t t = 0; t < tokens; t++) {
            const size_t at = element(&layout, count, b, t, 0);
            int32_t small;
            int64_t large;
            double value;
            memcpy(&small, data + 4 * at, 4);
            if (positions.dtype == ROPE_I32) {
                value = (double)small;
            } else if (positions.dtype == ROPE_I64) {
                memcpy(&large, data + 8 * at, 8);
                value = (double)large;
            } else {
                value = dtype_load(slot, data, at);
            }
            value += (double)(positions.start + positions.step * (int64_t)t);
            out->value[b][t] = value;
            out->whole &= value == trunc(value);
        }
    positions.data = data + layout.first * (eight ? 8 : 4);
    positions.stride_batch = batch == 1 ? (ptrdiff_t)rng_below(rng, 3) : layout.stride[0];
    positions.stride_token = tokens == 1 ? (ptrdiff_t)rng_below(rng, 3) : layout.stride[1];
    out->positions = positions;
}

/* ---- One tensor of a job ---- */

struct test_tensor {
    rope_tensor tensor;
    enum dtype type;
    size_t count[AXES];
    size_t head_dim, offset;
    struct layout src, dst;
    int in_place, src_block, dst_block;
    unsigned char *src_data, *dst_data; /* lowest addresses */
};

static void make_tensor(struct rng *rng, struct test_tensor *out, int k, size_t batch,
                        size_t tokens, const rope_spec *spec, int own_head, int in_place)
{
    rope_tensor tensor = ROPE_TENSOR_INIT;
    out->type = (enum dtype)rng_below(rng, DTYPES);
    tensor.dtype = (rope_dtype)out->type + ROPE_F32;
    tensor.heads = 1 + rng_below(rng, 4);
    out->count[0] = batch;
    out->count[1] = tokens;
    out->count[2] = tensor.heads;
    out->head_dim = spec->head_dim;
    out->offset = spec->rotary_offset;
    if (own_head) {
        out->offset = rng_maybe(rng, 9);
        out->head_dim = out->offset + spec->rotary_dim + rng_maybe(rng, 9);
        tensor.head_dim = out->head_dim;
        tensor.rotary_offset = out->offset;
    }
    out->in_place = in_place;
    out->src_block = k ? K_SRC : Q_SRC;
    out->dst_block = in_place ? out->src_block : k ? K_DST : Q_DST;
    const int dense_src = rng_below(rng, 3) == 0;
    const int dense_dst = rng_below(rng, 3) == 0;
    out->src = dense_src ? dense_layout(out->count, out->head_dim)
                         : random_layout(rng, out->count, out->head_dim, !in_place);
    out->dst = in_place    ? out->src
               : dense_dst ? dense_layout(out->count, out->head_dim)
                           : random_layout(rng, out->count, out->head_dim, 0);
    out->src_data = place(rng, out->src_block, out->type, out->src.span);
    out->dst_data = in_place ? out->src_data : place(rng, out->dst_block, out->type, out->dst.span);
    if (!(dense_src && rng_below(rng, 2))) { /* else three zeros, which mean dense */
        tensor.src_stride_batch = out->src.stride[0];
        tensor.src_stride_token = out->src.stride[1];
        tensor.src_stride_head = out->src.stride[2];
    }
    if (!(in_place ? rng_below(rng, 2) : dense_dst && rng_below(rng, 2))) {
        tensor.dst_stride_batch = out->dst.stride[0];
        tensor.dst_stride_token = out->dst.stride[1];
        tensor.dst_stride_head = out->dst.stride[2];
    }
    const enum fill fill = (enum fill)rng_below(rng, FILLS);
    for (size_t b = 0; b < batch; b++)
        for (size_t t = 0; t < tokens; t++)
            for (size_t h = 0; h < tensor.heads; h++)
                for (size_t e = 0; e < out->head_dim; e++)
                    dtype_store(out->type, out->src_data,
                                element(&out->src, out->count, b, t, h) + e,
                                rng_element(rng, out->type, fill));
    tensor.src = out->src_data + out->src.first * dtype_size(out->type);
    tensor.dst = out->dst_data + out->dst.first * dtype_size(out->type);
    out->tensor = tensor;
}

/* ---- One job ---- */

struct test_job {
    uint64_t number;
    rope_job job;
    rope_positions positions;
    rope_rows rows;
    struct test_tensor tensors[2];
    int present[2];
    rope_spec spec; /* head_dim, rotary_dim, rotary_offset and pairing, with or without a plan */
    struct test_plan plan;
    int has_plan;
    struct test_positions test_positions;
    int skipped[MAX_BATCH][MAX_TOKENS];
    double row_number[MAX_BATCH][MAX_TOKENS];
    char message[256];
};

/* A value as the rotation of a tensor uses it. */
static double row_value(const rope_job *job, enum dtype type, double value)
{
    if (job->row_dtype != 0)
        value = dtype_round((enum dtype)(job->row_dtype - ROPE_F32), value);
    if (job->arith == ROPE_ARITH_EAGER)
        return dtype_round(type, value);
    return dtype_round(dtype_real(type), value);
}

/* The row that token t of batch b is rotated by, for a tensor of a type. */
static void expected_row(const struct test_job *test, enum dtype type, size_t b, size_t t,
                         double *cos_row, double *sin_row)
{
    const rope_job *job = &test->job;
    const size_t pairs = test->spec.rotary_dim / 2;
    if (!job->rows) {
        enum dtype made = job->row_dtype != 0              ? (enum dtype)(job->row_dtype - ROPE_F32)
                          : job->arith == ROPE_ARITH_EAGER ? type
                                                           : dtype_real(type);
        make_row(&test->plan, test->test_positions.value[b][t], job->direction, made, cos_row,
                 sin_row);
        for (size_t i = 0; i < pairs; i++) {
            cos_row[i] = row_value(job, type, cos_row[i]);
            sin_row[i] = row_value(job, type, sin_row[i]);
        }
        return;
    }
    const rope_rows *rows = job->rows;
    const enum dtype from = (enum dtype)(rows->dtype - ROPE_F32);
    const ptrdiff_t stride =
        rows->stride_row ? rows->stride_row : (ptrdiff_t)row_width(rows->layout, pairs);
    const ptrdiff_t at =
        (ptrdiff_t)b * rows->stride_batch + (ptrdiff_t)test->row_number[b][t] * stride;
    const int back = job->direction == ROPE_TRANSPOSE || job->direction == ROPE_INVERSE;
    for (size_t i = 0; i < pairs; i++) {
        int second;
        const size_t c = row_entry(rows->layout, pairs, i, 0, 0, &second);
        const char *base = rows->cos;
        cos_row[i] =
            row_value(job, type, dtype_load(from, base + at * (ptrdiff_t)dtype_size(from), c));
        const size_t s = row_entry(rows->layout, pairs, i, 1, 0, &second);
        base = second ? rows->sin : rows->cos;
        sin_row[i] =
            row_value(job, type, dtype_load(from, base + at * (ptrdiff_t)dtype_size(from), s));
        if (back)
            sin_row[i] = -sin_row[i];
    }
}

/* Ready rows of every layout and type: count rows a block, any numbers and some special values. */
static void make_rows(struct rng *rng, struct test_job *test, size_t batch, size_t count)
{
    const size_t pairs = test->spec.rotary_dim / 2;
    rope_rows rows = ROPE_ROWS_INIT;
    const enum dtype type = (enum dtype)rng_below(rng, DTYPES);
    rows.dtype = (rope_dtype)type + ROPE_F32;
    rows.layout = (rope_rows_layout)rng_below(rng, 5);
    rows.count = count;
    const size_t width = row_width(rows.layout, pairs);
    const size_t step = width + rng_maybe(rng, 7);
    const int back = rng_below(rng, 4) == 0;
    const int per_batch = rng_below(rng, 2) == 0;
    const size_t block = step * (count - 1) + width;
    const size_t n = per_batch ? block * batch : block;
    rows.stride_row = step == width && !back && rng_below(rng, 2) ? 0
                      : back                                      ? -(ptrdiff_t)step
                                                                  : (ptrdiff_t)step;
    rows.stride_batch = per_batch ? (ptrdiff_t)block : 0;
    const size_t first = back ? step * (count - 1) : 0;
    const int two = rows.layout != ROPE_ROWS_PACKED && rows.layout != ROPE_ROWS_PAIRS;
    unsigned char *data[2];
    data[0] = place(rng, COS, type, n);
    data[1] = two ? place(rng, SIN, type, n) : data[0];
    const int special = rng_below(rng, 4) == 0;
    for (size_t b = 0; b < (per_batch ? batch : 1); b++)
        for (size_t r = 0; r < count; r++)
            for (size_t i = 0; i < pairs; i++) {
                for (int sine = 0; sine < 2; sine++) {
                    double value = rng_real(rng, 1.0); /* no libm: it may differ between CPUs */
                    if (special && rng_below(rng, 4) == 0)
                        do
                            value = rng_element(rng, type, FILL_SPECIAL);
                        while (isnan(value));
                    for (int copy = 0; copy < row_copies(rows.layout); copy++) {
                        int second;
                        const size_t entry = row_entry(rows.layout, pairs, i, sine, copy, &second);
                        const size_t row = back ? first - r * step : r * step;
                        dtype_store(type, data[second], b * block + row + entry, value);
                    }
                }
            }
    rows.cos = data[0] + first * dtype_size(type);
    rows.sin = two ? data[1] + first * dtype_size(type) : NULL;
    test->rows = rows;
    test->job.rows = &test->rows;
}

static void make_job(struct rng *rng, struct test_job *test)
{
    rope_job job = ROPE_JOB_INIT;
    const int wide = rng_below(rng, 40) == 0;
    const size_t batch = wide ? 1 : 1 + rng_below(rng, MAX_BATCH);
    const size_t tokens = wide ? 2 : 1 + rng_below(rng, MAX_TOKENS);
    const int with_rows = rng_below(rng, 2) == 0;
    test->has_plan = !with_rows || rng_below(rng, 2);
    if (test->has_plan) {
        make_plan(rng, wide, &test->plan);
        test->spec = test->plan.spec;
    } else {
        const rope_spec none = ROPE_SPEC_INIT;
        test->spec = none;
        test->spec.rotary_dim = 2 * (wide ? wide_pairs(rng) : 1 + rng_below(rng, 80));
        test->spec.pairing = (rope_pairing)rng_below(rng, 2);
        job.rotary_dim = test->spec.rotary_dim;
        job.pairing = test->spec.pairing;
    }
    job.batch = batch;
    job.tokens = tokens;
    job.flags = rng_below(rng, 4) == 0 ? ROPE_SKIP_NEGATIVE : 0;
    job.arith = rng_below(rng, 3)   ? ROPE_ARITH_FUSED
                : rng_below(rng, 2) ? ROPE_ARITH_EAGER
                                    : ROPE_ARITH_UNFUSED;
    const rope_dtype row_dtypes[] = {0, 0, 0, ROPE_F32, ROPE_F16, ROPE_BF16};
    job.row_dtype = row_dtypes[rng_below(rng, 6)];
    job.pairing_out = (rope_pairing_out)rng_below(rng, 3);
    const int changes =
        job.pairing_out != ROPE_OUT_SAME && job.pairing_out != test->spec.pairing + 1;

    const int which = (int)rng_below(rng, 4); /* q, k, both, both */
    for (int k = 0; k < 2; k++) {
        test->present[k] = which >= 2 || which == k;
        const int own_head = !test->has_plan || rng_below(rng, 3) == 0;
        const int in_place = !changes && rng_below(rng, 2) == 0;
        if (test->present[k])
            make_tensor(rng, &test->tensors[k], k, batch, tokens, &test->spec, own_head, in_place);
    }

    const double lowest = job.flags ? -2147483647.0 : with_rows ? 0.0 : -2147483647.0;
    memset(test->skipped, 0, sizeof test->skipped);
    if (with_rows) {
        const size_t count = tokens + rng_below(rng, 20);
        test->job = job;
        make_rows(rng, test, batch, count);
        job = test->job;
        const int numbered = rng_below(rng, 2) == 0;
        if (numbered)
            make_positions(rng, batch, tokens, job.flags ? -3.0 : 0.0, (double)(count - 1), 1,
                           &test->test_positions);
        for (size_t b = 0; b < batch; b++)
            for (size_t t = 0; t < tokens; t++)
                test->row_number[b][t] = numbered ? test->test_positions.value[b][t] : (double)t;
        job.direction = rng_below(rng, 2) ? ROPE_FORWARD : ROPE_TRANSPOSE;
        if (test->has_plan && test->plan.m == 1.0)
            job.direction = (rope_direction)rng_below(rng, 4);
        if (numbered)
            job.positions = &test->positions;
    } else {
        make_positions(rng, batch, tokens, lowest, 2147483647.0, 0, &test->test_positions);
        job.direction = (rope_direction)rng_below(rng, 4);
        job.positions = &test->positions;
    }
    test->positions = test->test_positions.positions;
    if (job.flags && job.positions)
        for (size_t b = 0; b < batch; b++)
            for (size_t t = 0; t < tokens; t++)
                test->skipped[b][t] = test->test_positions.value[b][t] < 0.0;
    job.q = test->present[0] ? &test->tensors[0].tensor : NULL;
    job.k = test->present[1] ? &test->tensors[1].tensor : NULL;
    job.message = test->message;
    job.message_size = sizeof test->message;
    test->message[0] = 0;
    test->job = job;
}

/*
 * 1 if a pair of the plan has the frequency 0, and nothing but its angle would act on it: it is
 * left alone.
 */
static int stands_still(const struct test_job *test, size_t i, int changes_pairing)
{
    const rope_job *job = &test->job;
    return !job->rows && !changes_pairing && mpfr_zero_p(test->plan.frequency[i]) &&
           (test->plan.m == 1.0 || job->direction == ROPE_SHIFT);
}

/*
 * The image that a tensor's destination must have, in images[dst_block], and which elements of it
 * are computed.
 */
static void expect_tensor(const struct test_job *test, const struct test_tensor *tensor)
{
    const rope_job *job = &test->job;
    const enum dtype type = tensor->type;
    const size_t size = dtype_size(type);
    const size_t pairs = test->spec.rotary_dim / 2;
    const int from = test->spec.pairing == ROPE_INTERLEAVED;
    const int to =
        job->pairing_out == ROPE_OUT_SAME ? from : job->pairing_out == ROPE_OUT_INTERLEAVED;
    unsigned char *image = images[tensor->dst_block];
    unsigned char *computed = loose[tensor->dst_block];
    memcpy(image, tensor->dst_data, tensor->dst.span * size);
    memset(computed, 0, tensor->dst.span);
    double cos_row[MAX_PAIRS], sin_row[MAX_PAIRS];
    for (size_t b = 0; b < job->batch; b++)
        for (size_t t = 0; t < job->tokens; t++) {
            if (test->skipped[b][t])
                continue;
            expected_row(test, type, b, t, cos_row, sin_row);
            for (size_t h = 0; h < tensor->count[2]; h++) {
                const size_t src = element(&tensor->src, tensor->count, b, t, h);
                const size_t dst = element(&tensor->dst, tensor->count, b, t, h);
                memcpy(image + dst * size, tensor->src_data + src * size, tensor->head_dim * size);
                for (size_t i = 0; i < pairs; i++) {
                    if (stands_still(test, i, from != to))
                        continue;
                    const size_t x = src + tensor->offset + reference_place(from, pairs, i, 0);
                    const size_t y = src + tensor->offset + reference_place(from, pairs, i, 1);
                    double out[2];
                    reference_rotate(type, job->arith, dtype_load(type, tensor->src_data, x),
                                     dtype_load(type, tensor->src_data, y), cos_row[i], sin_row[i],
                                     out);
                    for (int part = 0; part < 2; part++) {
                        const size_t at =
                            dst + tensor->offset + reference_place(to, pairs, i, part);
                        dtype_store(type, image, at, out[part]);
                        computed[at] = 1;
                    }
                }
            }
        }
}

static void describe(const struct test_job *test, char *text, size_t size)
{
    const rope_job *job = &test->job;
    snprintf(
        text, size,
        "job %" PRIu64
        " (batch %zu, tokens %zu, d %zu, pairing %d to %d, direction %d, arith %d, row_dtype %d, "
        "flags %u, %s, rows dtype %d layout %d, positions dtype %d)",
        test->number, job->batch, job->tokens, test->spec.rotary_dim, test->spec.pairing,
        job->pairing_out, job->direction, job->arith, job->row_dtype, job->flags,
        test->has_plan ? "plan" : "no plan", job->rows ? job->rows->dtype : 0,
        job->rows ? job->rows->layout : 0, job->positions ? job->positions->dtype : 0);
}

static void check_tensor(const struct test_job *test, const struct test_tensor *tensor,
                         const char *how)
{
    const enum dtype type = tensor->type;
    const unsigned char *image = images[tensor->dst_block];
    const unsigned char *computed = loose[tensor->dst_block];
    const size_t i = image_differs(type, image, tensor->dst_data, tensor->dst.span, computed);
    if (i == tensor->dst.span)
        return;
    char text[512];
    describe(test, text, sizeof text);
    fail_msg("set %s, %s, %s, %s, heads %zu, head_dim %zu, offset %zu%s: element %zu of the "
             "destination (%s): expected %a "
             "(%#" PRIx64 "), got %a (%#" PRIx64 "), seed %#" PRIx64,
             rope_isa_name(rope_active_isa()), text, how, dtype_name(type), tensor->count[2],
             tensor->head_dim, tensor->offset, tensor->in_place ? ", in place" : "", i,
             computed[i] ? "rotated" : "to be copied or left alone", dtype_load(type, image, i),
             dtype_bits(type, image, i), dtype_load(type, tensor->dst_data, i),
             dtype_bits(type, tensor->dst_data, i), test_seed());
}

static void require_ok(const struct test_job *test, rope_status status, const char *how)
{
    char text[512];
    if (status == ROPE_OK)
        return;
    describe(test, text, sizeof text);
    fail_msg("%s: %s, %s: %s, seed %#" PRIx64, text, how, rope_status_string(status), test->message,
             test_seed());
}

/*
 * Runs a job whole and in every cut; each must leave the expected image, and nothing else may
 * change.
 */
static void run_job(const struct test_job *test, struct rng *rng)
{
    for (int i = 0; i < BLOCKS; i++)
        memcpy(before[i], windows[i].first, windows[i].bytes);
    for (int k = 0; k < 2; k++)
        if (test->present[k])
            expect_tensor(test, &test->tensors[k]);
    const rope_plan *plan = test->has_plan ? test->plan.plan : NULL;
    for (size_t parts = 0; parts <= 8; parts++) {
        /* A stride without a common divisor visits all parts, in another order. */
        const size_t count = parts < 8 ? parts : 64;
        const size_t stride = count == 3 || count == 6 ? 5 : 3;
        const size_t first = rng_below(rng, 64);
        const size_t allocated = allocations.made;
        const uint64_t control = float_control();
        char how[64];
        if (test_reduced() && count > 1 && count != 3 && count != 64)
            continue;
        if (count)
            snprintf(how, sizeof how, "in %zu parts", count);
        else
            snprintf(how, sizeof how, "whole");
        if (count == 0)
            require_ok(test, rope_rotate(plan, &test->job), how);
        for (size_t part = 0; part < count; part++)
            require_ok(test,
                       rope_rotate_part(plan, &test->job, (first + part * stride) % count, count),
                       how);
        assert_int_equal(allocations.made, allocated);
        assert_true(float_control() == control);
        for (int k = 0; k < 2; k++) {
            const struct test_tensor *tensor = &test->tensors[k];
            if (!test->present[k])
                continue;
            check_tensor(test, tensor, how);
            if (count == 0)
                add_results(tensor->type, tensor->dst_data, tensor->dst.span,
                            test->job.rows ||
                                (test->test_positions.whole && tensor->type != DT_F64 &&
                                 test->plan.spec.angle == ROPE_ANGLE_EXACT));
            memcpy(tensor->dst_data,
                   before[tensor->dst_block] +
                       (tensor->dst_data - windows[tensor->dst_block].first),
                   tensor->dst.span * dtype_size(tensor->type));
        }
        for (int i = 0; i < BLOCKS; i++)
            if (memcmp(before[i], windows[i].first, windows[i].bytes) != 0)
                fail_msg("job %" PRIu64
                         ", %s: block %d changed outside the destination, seed %#" PRIx64,
                         test->number, how, i, test_seed());
    }
    test_f16_ties_away(0);
}

static void test_random_jobs(void **state)
{
    (void)state;
    static struct test_job test;
    const uint64_t jobs = test_reduced() ? 40 : 1500;
    for (uint64_t number = 0; number < jobs; number++) {
        struct rng rng = rng_make(1000 + number);
        test.number = number;
        test_f16_ties_for(rope_active_isa());
        make_job(&rng, &test);
        run_job(&test, &rng);
        if (test.has_plan)
            free_plan(&test.plan);
    }
    assert_true(allocations.made > 0); /* the counter counts */
}

/* ---- Rows in the caller's memory ---- */

/*
 * Rows of every layout, type, direction and stride: each must be the row of its position made
 * alone.
 */
static void test_cos_sin(void **state)
{
    (void)state;
    struct rng rng = rng_make(1);
    static struct test_plan plan;
    static double cos_row[MAX_PAIRS], sin_row[MAX_PAIRS];
    test_f16_ties_for(rope_active_isa());
    for (int round = 0; round < (test_reduced() ? 10 : 600); round++) {
        make_plan(&rng, round % 64 == 63, &plan);
        const size_t tokens = 1 + rng_below(&rng, MAX_TOKENS);
        const enum dtype type = (enum dtype)rng_below(&rng, DTYPES);
        struct test_positions positions;
        make_positions(&rng, 1, tokens, -2147483647.0, 2147483647.0, 0, &positions);
        rope_rows rows = ROPE_ROWS_INIT;
        rows.dtype = (rope_dtype)type + ROPE_F32;
        rows.layout = (rope_rows_layout)rng_below(&rng, 5);
        rows.direction = (rope_direction)rng_below(&rng, 4);
        rows.count = tokens + rng_below(&rng, 3);
        const size_t width = row_width(rows.layout, plan.pairs);
        const size_t step = width + rng_maybe(&rng, 9);
        const int back = rng_below(&rng, 4) == 0;
        const size_t first = back ? step * (tokens - 1) : 0;
        const size_t n = step * (tokens - 1) + width;
        const int two = rows.layout != ROPE_ROWS_PACKED && rows.layout != ROPE_ROWS_PAIRS;
        rows.stride_row = back                                  ? -(ptrdiff_t)step
                          : step == width && rng_below(&rng, 2) ? 0
                                                                : (ptrdiff_t)step;
        unsigned char *data[2] = {place(&rng, COS, type, n), NULL};
        data[1] = two ? place(&rng, SIN, type, n) : data[0];
        rows.cos = data[0] + first * dtype_size(type);
        rows.sin = two ? data[1] + first * dtype_size(type) : NULL;
        const int blocks_used[2] = {COS, two ? SIN : COS};
        for (int second = 0; second < 1 + two; second++)
            memcpy(images[blocks_used[second]], windows[blocks_used[second]].first,
                   windows[blocks_used[second]].bytes);
        for (size_t t = 0; t < tokens; t++) {
            make_row(&plan, positions.value[0][t], rows.direction, type, cos_row, sin_row);
            for (size_t i = 0; i < plan.pairs; i++)
                for (int sine = 0; sine < 2; sine++)
                    for (int copy = 0; copy < row_copies(rows.layout); copy++) {
                        int second;
                        const size_t entry =
                            row_entry(rows.layout, plan.pairs, i, sine, copy, &second);
                        const int block = blocks_used[second];
                        const size_t ahead = (size_t)(data[second] - windows[block].first);
                        const size_t row = back ? first - t * step : t * step;
                        dtype_store(type, images[block] + ahead, row + entry,
                                    sine ? sin_row[i] : cos_row[i]);
                    }
        }
        const size_t allocated = allocations.made;
        const uint64_t control = float_control();
        const rope_status status = rope_cos_sin(plan.plan, &positions.positions, tokens, &rows);
        assert_int_equal(status, ROPE_OK);
        assert_int_equal(allocations.made, allocated);
        assert_true(float_control() == control);
        for (int second = 0; second < 1 + two; second++) {
            const int block = blocks_used[second];
            if (memcmp(images[block], windows[block].first, windows[block].bytes) != 0)
                fail_msg("set %s, round %d: rope_cos_sin, %s, layout %d, direction %d, %zu pairs, "
                         "%zu rows of stride %td: "
                         "array %d is not as row by row, seed %#" PRIx64,
                         rope_isa_name(rope_active_isa()), round, dtype_name(type), rows.layout,
                         rows.direction, plan.pairs, tokens, rows.stride_row, second, test_seed());
            add_results(type, data[second], n,
                        positions.whole && type != DT_F64 && plan.spec.angle == ROPE_ANGLE_EXACT);
        }
        free_plan(&plan);
    }
    test_f16_ties_away(0);
}

/* One table at once and in calls of seven rows: the same bits, and nothing written beside it. */
static void check_table(enum dtype type, rope_rows_layout layout, size_t pairs, size_t tokens,
                        size_t shift)
{
    const size_t size = dtype_size(type);
    const size_t width = row_width(layout, pairs);
    const int two = layout != ROPE_ROWS_PACKED;
    rope_spec spec = ROPE_SPEC_INIT;
    rope_positions positions = ROPE_POSITIONS_INIT;
    rope_rows rows = ROPE_ROWS_INIT;
    rope_plan *plan = NULL;
    struct guarded large[2], small[2];
    spec.head_dim = 2 * pairs;
    assert_int_equal(rope_plan_create(&spec, &plan), ROPE_OK);
    for (int i = 0; i < 2; i++) {
        large[i] = guarded_make(i <= two ? (tokens * width + 64) * size : 1);
        small[i] = guarded_make(i <= two ? (tokens * width + 64) * size : 1);
        canary_fill(large[i].base, large[i].size);
        canary_fill(small[i].base, small[i].size);
    }
    rows.dtype = (rope_dtype)type + ROPE_F32;
    rows.layout = layout;
    rows.count = tokens;
    positions.start = -100;
    rows.cos = large[0].base + shift * size;
    rows.sin = two ? large[1].base + shift * size : NULL;
    assert_int_equal(rope_cos_sin(plan, &positions, tokens, &rows), ROPE_OK);
    for (size_t t = 0; t < tokens; t += 7) {
        const size_t at = (shift + t * width) * size;
        positions.start = (int64_t)t - 100;
        rows.cos = small[0].base + at;
        rows.sin = two ? small[1].base + at : NULL;
        rows.count = tokens - t < 7 ? tokens - t : 7;
        assert_int_equal(rope_cos_sin(plan, &positions, rows.count, &rows), ROPE_OK);
    }
    for (int i = 0; i <= two; i++)
        if (memcmp(large[i].base, small[i].base, large[i].size) != 0)
            fail_msg("set %s: a large table differs from small ones: %s, layout %d, %zu pairs, %zu "
                     "rows, shift %zu",
                     rope_isa_name(rope_active_isa()), dtype_name(type), layout, pairs, tokens,
                     shift);
    for (int i = 0; i < 2; i++) {
        guarded_free(&large[i]);
        guarded_free(&small[i]);
    }
    rope_plan_destroy(plan);
}

/*
 * 17 MiB is more than the size from which tables are written past the caches.  Rows of whole lines
 * on line boundaries can be, others cannot.
 */
static void test_large_tables(void **state)
{
    (void)state;
    static const rope_rows_layout layouts[] = {ROPE_ROWS_PACKED, ROPE_ROWS_SEPARATE,
                                               ROPE_ROWS_DUP_HALF};
    const size_t bytes = (size_t)17 << 20;
    struct rng rng = rng_make(2);
    for (int t = 0; t < DTYPES; t++) {
        const enum dtype type = (enum dtype)t;
        const size_t line = 64 / dtype_size(type);
        for (size_t i = 0; i < 3; i++) {
            const size_t tokens = bytes / dtype_size(type) / row_width(layouts[i], 64);
            if (test_reduced())
                continue;
            check_table(type, layouts[i], 64, tokens, 0);
            if (i == 2)
                continue;
            check_table(type, layouts[i], 64, tokens, line);
            check_table(type, layouts[i], 64, tokens, 1 + rng_below(&rng, line - 1));
        }
        check_table(type, ROPE_ROWS_SEPARATE, 20, 1000, 3);
    }
}

/* ---- One packed buffer ---- */

enum { PACK_HEADS = 3, PACK_DIM = 10, PACK_TOKENS = 5, PACK_PAIRS = 4, PACK_OFFSET = 1 };

/*
 * q heads 0 and 1 and k head 2 of [tokens, 2 x 3 heads, head_dim]; dst heads lie `shift` heads
 * further.
 */
static void check_packed(size_t shift, int interleaved)
{
    static float buffer[PACK_TOKENS][2 * PACK_HEADS][PACK_DIM];
    static float image[PACK_TOKENS][2 * PACK_HEADS][PACK_DIM];
    static float row[PACK_TOKENS][2 * PACK_PAIRS];
    struct rng rng = rng_make(3);
    rope_tensor q = ROPE_TENSOR_INIT;
    rope_rows rows = ROPE_ROWS_INIT;
    rope_job job = ROPE_JOB_INIT;
    for (size_t t = 0; t < PACK_TOKENS; t++) {
        for (size_t i = 0; i < 2 * PACK_PAIRS; i++)
            row[t][i] = (float)rng_real(&rng, 1.0);
        for (size_t h = 0; h < 2 * PACK_HEADS; h++)
            for (size_t e = 0; e < PACK_DIM; e++)
                buffer[t][h][e] = (float)rng_real(&rng, 4.0);
    }
    memcpy(image, buffer, sizeof image);
    for (size_t t = 0; t < PACK_TOKENS; t++)
        for (size_t h = 0; h < PACK_HEADS; h++) {
            memcpy(image[t][h + shift], buffer[t][h], sizeof image[t][h]);
            for (size_t i = 0; i < PACK_PAIRS; i++) {
                const size_t x = PACK_OFFSET + reference_place(interleaved, PACK_PAIRS, i, 0);
                const size_t y = PACK_OFFSET + reference_place(interleaved, PACK_PAIRS, i, 1);
                double out[2];
                reference_rotate(DT_F32, 0, (double)buffer[t][h][x], (double)buffer[t][h][y],
                                 (double)row[t][i], (double)row[t][PACK_PAIRS + i], out);
                image[t][h + shift][x] = (float)out[0];
                image[t][h + shift][y] = (float)out[1];
            }
        }
    q.dtype = ROPE_F32;
    q.head_dim = PACK_DIM;
    q.rotary_offset = PACK_OFFSET;
    q.src_stride_token = q.dst_stride_token = (ptrdiff_t)2 * PACK_HEADS * PACK_DIM;
    q.src_stride_head = q.dst_stride_head = PACK_DIM;
    rope_tensor k = q;
    q.src = buffer[0][0];
    q.dst = buffer[0][shift];
    q.heads = 2;
    k.src = buffer[0][2];
    k.dst = buffer[0][2 + shift];
    k.heads = 1;
    rows.dtype = ROPE_F32;
    rows.cos = row;
    rows.count = PACK_TOKENS;
    job.tokens = PACK_TOKENS;
    job.q = &q;
    job.k = &k;
    job.rows = &rows;
    job.rotary_dim = 2 * PACK_PAIRS;
    job.pairing = interleaved ? ROPE_INTERLEAVED : ROPE_HALF;
    assert_int_equal(rope_rotate(NULL, &job), ROPE_OK);
    const size_t n = sizeof buffer / sizeof(float);
    const size_t i = image_differs(DT_F32, image, buffer, n, NULL);
    if (i != n)
        fail_msg("packed q and k, shift %zu: element %zu is %a, expected %a", shift, i,
                 dtype_load(DT_F32, buffer, i), dtype_load(DT_F32, image, i));
}

static void test_packed(void **state)
{
    (void)state;
    for (int interleaved = 0; interleaved < 2; interleaved++) {
        check_packed(0, interleaved);          /* in place, v left alone */
        check_packed(PACK_HEADS, interleaved); /* into the other heads of each token */
    }
}

/* ---- Threads ---- */

enum { THREADS = 8, LONG_TOKENS = 96, LONG_HEADS = 6, LONG_DIM = 128 };

struct worker {
    const rope_plan *plan;
    const rope_job *job;
    size_t part;
    rope_status status;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    worker->status = rope_rotate_part(worker->plan, worker->job, worker->part, THREADS);
    return NULL;
}

/* All parts at the same time, on one plan, in place; the image is that of one thread. */
static void test_threads(void **state)
{
    (void)state;
    static float whole[LONG_TOKENS * LONG_HEADS * LONG_DIM],
        cut[LONG_TOKENS * LONG_HEADS * LONG_DIM];
    struct rng rng = rng_make(4);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        whole[i] = cut[i] = (float)rng_real(&rng, 4.0);
    rope_spec spec = ROPE_SPEC_INIT;
    rope_plan *plan = NULL;
    spec.head_dim = LONG_DIM;
    assert_int_equal(rope_plan_create(&spec, &plan), ROPE_OK);
    rope_positions positions = ROPE_POSITIONS_INIT;
    positions.start = 500; /* over the end of the finest table */
    rope_tensor q = ROPE_TENSOR_INIT;
    q.dtype = ROPE_F32;
    q.src = q.dst = whole;
    q.heads = LONG_HEADS;
    rope_job job = ROPE_JOB_INIT;
    job.tokens = LONG_TOKENS;
    job.q = &q;
    job.positions = &positions;
    assert_int_equal(rope_rotate(plan, &job), ROPE_OK);
    q.src = q.dst = cut;
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    for (size_t part = 0; part < THREADS; part++) {
        workers[part] = (struct worker){plan, &job, part, 1};
        assert_int_equal(pthread_create(&threads[part], NULL, work, &workers[part]), 0);
    }
    for (size_t part = 0; part < THREADS; part++) {
        assert_int_equal(pthread_join(threads[part], NULL), 0);
        assert_int_equal(workers[part].status, ROPE_OK);
    }
    assert_memory_equal(cut, whole, sizeof whole);
    rope_plan_destroy(plan);
}

/* ---- The host's floating-point settings ---- */

/*
 * Flush-to-zero and denormals-are-zero change no result that has no subnormal f32, f64 or bf16 on
 * its way, f16 data of any magnitude included, and are found as they were.
 */
static void test_flush_to_zero(void **state)
{
    (void)state;
    enum { HEADS = 2, LENGTH = 4, COUNT = LENGTH * HEADS * LONG_DIM };
    static unsigned char data[2][COUNT * 8];
    struct rng rng = rng_make(5);
    const uint64_t plain = float_control();
    for (int variant = 0; variant < 2 * DTYPES; variant++) {
        const enum dtype type = (enum dtype)(variant / 2);
        rope_spec spec = ROPE_SPEC_INIT;
        spec.head_dim = LONG_DIM;
        spec.pairing = variant % 2 ? ROPE_INTERLEAVED : ROPE_HALF;
        for (size_t i = 0; i < COUNT; i++) {
            double value = rng_element(&rng, type, type == DT_F16 ? FILL_BITS : FILL_PLAIN);
            if (!isfinite(value) || value == 0.0)
                value = 1.0;
            dtype_store(type, data[0], i, value);
            dtype_store(type, data[1], i, value);
        }
        for (int flush = 0; flush < 2; flush++) {
            rope_plan *plan = NULL;
            rope_positions positions = ROPE_POSITIONS_INIT;
            rope_tensor q = ROPE_TENSOR_INIT;
            rope_job job = ROPE_JOB_INIT;
            positions.start = 1000;
            q.dtype = (rope_dtype)type + ROPE_F32;
            q.src = q.dst = data[flush];
            q.heads = HEADS;
            job.tokens = LENGTH;
            job.q = &q;
            job.positions = &positions;
            set_flush_to_zero(flush);
            const uint64_t control = float_control();
            const rope_status created = rope_plan_create(&spec, &plan);
            const rope_status rotated = rope_rotate(plan, &job);
            const uint64_t after = float_control();
            set_flush_to_zero(0);
            assert_int_equal(created, ROPE_OK);
            assert_int_equal(rotated, ROPE_OK);
            assert_true(after == control);
            rope_plan_destroy(plan);
        }
        const size_t i = image_differs(type, data[0], data[1], COUNT, NULL);
        if (i != COUNT)
            fail_msg(
                "set %s, %s, pairing %d: element %zu is %a, with flush-to-zero %a, seed %#" PRIx64,
                rope_isa_name(rope_active_isa()), dtype_name(type), variant % 2, i,
                dtype_load(type, data[0], i), dtype_load(type, data[1], i), test_seed());
    }
    assert_true(float_control() == plain);
}

/* ---- Memory ---- */

/* Each allocation of rope_plan_create fails once: an error, no plan, and nothing is lost. */
static void test_out_of_memory(void **state)
{
    (void)state;
    char message[128];
    rope_spec spec = ROPE_SPEC_INIT;
    spec.head_dim = 64;
    spec.message = message;
    spec.message_size = sizeof message;
    size_t failures = 0;
    for (size_t nth = 1;; nth++) {
        rope_plan *plan = (rope_plan *)(void *)&spec;
        const size_t before_call = allocations.live;
        message[0] = 0;
        allocations.fail_at = allocations.made + nth;
        const rope_status status = rope_plan_create(&spec, &plan);
        allocations.fail_at = 0;
        if (status == ROPE_OK) {
            assert_true(allocations.live > before_call);
            rope_plan_destroy(plan);
            assert_int_equal(allocations.live, before_call);
            break;
        }
        failures++;
        assert_int_equal(status, ROPE_ERR_MEMORY);
        assert_null(plan);
        assert_int_equal(allocations.live, before_call);
        assert_non_null(strstr(message, "memory"));
    }
    assert_true(failures >= 1);
}

/* ---- What a plan tells of itself ---- */

static void test_plan_answers(void **state)
{
    (void)state;
    struct rng rng = rng_make(6);
    static struct test_plan plan;
    static double inv_freq[MAX_PAIRS + 1], tail[MAX_PAIRS + 1];
    mpfr_t rest;
    mpfr_init2(rest, REFERENCE_BITS);
    for (int round = 0; round < (test_reduced() ? 6 : 200); round++) {
        make_plan(&rng, 0, &plan);
        rope_info info = ROPE_INFO_INIT;
        assert_int_equal(rope_plan_info(plan.plan, &info), ROPE_OK);
        assert_int_equal(info.struct_size, sizeof info);
        assert_int_equal(info.scheme, plan.spec.scheme);
        assert_int_equal(info.head_dim, plan.spec.head_dim);
        assert_int_equal(info.rotary_dim, plan.spec.rotary_dim);
        assert_int_equal(info.rotary_offset, plan.spec.rotary_offset);
        assert_int_equal(info.pairing, plan.spec.pairing);
        assert_int_equal(info.angle, plan.spec.angle);
        assert_true(info.theta == (plan.spec.scheme == ROPE_SCHEME_CUSTOM ? 0.0
                                   : plan.spec.theta == 0.0               ? 10000.0
                                                                          : plan.spec.theta));
        assert_true(info.factor ==
                    (plan.spec.scheme == ROPE_SCHEME_LINEAR ? plan.spec.factor : 1.0));
        assert_true(info.attention_factor == plan.m);
        assert_int_equal(info.isa, rope_active_isa());
        assert_true(info.table_bytes > 0 && info.table_bytes <= (size_t)2 << 20
                                                                          << (plan.pairs / 32));

        inv_freq[plan.pairs] = tail[plan.pairs] = 7.0;
        assert_int_equal(rope_plan_inv_freq(plan.plan, inv_freq, tail, plan.pairs), ROPE_OK);
        for (size_t i = 0; i < plan.pairs; i++) {
            const double expected = reference_f64(plan.frequency[i]);
            mpfr_sub_d(rest, plan.frequency[i], expected, MPFR_RNDN);
            const double expected_tail = reference_f64(rest);
            /* More than 100 bits: the tail is known to 2^-100 of the whole. */
            if (inv_freq[i] != expected ||
                fabs(tail[i] - expected_tail) > fabs(expected) * 0x1p-100)
                fail_msg("scheme %d, theta %g, pair %zu of %zu: %a + %a, expected %a + %a",
                         plan.spec.scheme, plan.spec.theta, i, plan.pairs, inv_freq[i], tail[i],
                         expected, expected_tail);
        }
        assert_true(inv_freq[plan.pairs] == 7.0 && tail[plan.pairs] == 7.0);
        memset(tail, 0, sizeof tail);
        assert_int_equal(rope_plan_inv_freq(plan.plan, tail, NULL, plan.pairs), ROPE_OK);
        assert_memory_equal(tail, inv_freq, plan.pairs * sizeof *tail);
        free_plan(&plan);
    }
    mpfr_clear(rest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_jobs),   cmocka_unit_test(test_cos_sin),
        cmocka_unit_test(test_large_tables),  cmocka_unit_test(test_packed),
        cmocka_unit_test(test_threads),       cmocka_unit_test(test_flush_to_zero),
        cmocka_unit_test(test_out_of_memory), cmocka_unit_test(test_plan_answers),
    };
    allocations_start(0);
    return cmocka_run_group_tests_name("interface", tests, make_blocks, free_blocks);
}
