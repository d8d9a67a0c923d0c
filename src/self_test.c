/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The self-test: calls each slot of two kernel sets with the same operands and compares what they
 * leave in memory, or one set with known answers.  Knows the contract of kernels.h, and no
 * arithmetic: what is right is for the tests to say.
 */
#include "self_test.h"
#include "dispatch.h"
#include "environment.h"
#include "known_answers.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROTATIONS = RK_ARITHS * RK_PAIRINGS * RK_DTYPES, WIDENINGS = 2 };
static_assert(sizeof(struct rope_kernels) ==
                  (ROTATIONS + 6 * RK_DTYPES + 4) * sizeof(rope_rotate_fn *),
              "a new slot needs a comparison");

#if UINTPTR_MAX == UINT64_MAX
static_assert(offsetof(rope_self_test_report, isa) == 4 &&
                  offsetof(rope_self_test_report, operations) == 8 &&
                  offsetof(rope_self_test_report, different) == 12 &&
                  offsetof(rope_self_test_report, message) == 16 &&
                  offsetof(rope_self_test_report, message_size) == 24 &&
                  sizeof(rope_self_test_report) == 32,
              "rope_self_test_report is frozen");
#endif
enum { REPORT_SIZE_1_0 = offsetof(rope_self_test_report, message_size) + sizeof(size_t) };

/* ---- The memory of a test -------------------------------------------------------------------- */

enum {
    MARGIN = 64,             /* bytes around each array of an image, and its alignment */
    IMAGE_BYTES = 12 * 1024, /* two arrays of 2 RK_MAX_PAIRS f64 elements, and some room */
    INPUTS = 1024,           /* elements of a type to choose from */
    TABLE = RK_MAX_PAIRS + 64,
    FACTORS = 4,
    AXES = 3
};

/* Kernels write into two images of the same memory: one for each set. */
struct bench {
    const struct rope_kernels *kernels[ROPE_SETS];
    uint64_t random;
    unsigned char *image[ROPE_SETS];
    size_t used;        /* bytes of an image that this trial has */
    size_t array_at[6]; /* where its arrays start in them */
    size_t arrays;
    /* Inputs, made once and read from changing places on. */
    double numbers[AXES * FACTORS * 2][TABLE]; /* -1..1 */
    double steps[4][TABLE];                    /* rotations in double-double, for powers */
    double narrow[TABLE];                      /* 0..1, f32 values */
    unsigned char elements[RK_DTYPES][INPUTS * sizeof(double)];
    /* Made for a trial. */
    unsigned char source[INPUTS * sizeof(double)];
    unsigned char row[2][TABLE * sizeof(double)]; /* reals */
    struct rope_rows_mix mix;                     /* several axes */
    unsigned char present[TABLE / RK_AXES_GROUP];
    double masks[AXES * TABLE];
};

static const struct {
    const char *name;
    size_t size;
    unsigned mantissa; /* bits */
    uint64_t bias;
    enum rope_kernel_dtype real;
} types[RK_DTYPES] = {[RK_F32] = {"f32", 4, 23, 127, RK_F32},
                      [RK_F64] = {"f64", 8, 52, 1023, RK_F64},
                      [RK_F16] = {"f16", 2, 10, 15, RK_F32},
                      [RK_BF16] = {"bf16", 2, 7, 127, RK_F32}};

/* splitmix64 */
static uint64_t draw(struct bench *bench)
{
    uint64_t z = bench->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t below(struct bench *bench, size_t n)
{
    return (size_t)(draw(bench) % n);
}

static double number(struct bench *bench)
{
    return (double)(int64_t)draw(bench) * 0x1p-63;
}

uint64_t rope_bits_at(const void *array, size_t size, size_t index)
{
    const unsigned char *at = (const unsigned char *)array + index * size;
    uint16_t half;
    uint32_t word;
    uint64_t bits;
    switch (size) {
    case sizeof half:
        memcpy(&half, at, sizeof half);
        return half;
    case sizeof word:
        memcpy(&word, at, sizeof word);
        return word;
    default:
        memcpy(&bits, at, sizeof bits);
        return bits;
    }
}

void rope_put_bits(void *array, size_t size, size_t index, uint64_t bits)
{
    unsigned char *at = (unsigned char *)array + index * size;
    const uint16_t half = (uint16_t)bits;
    const uint32_t word = (uint32_t)bits;
    memcpy(at,
           size == sizeof half   ? (const void *)&half
           : size == sizeof word ? &word
                                 : (const void *)&bits,
           size);
}

/*
 * Mostly numbers of 1/2 to 4, whose sums and products need every way of rounding; in between the
 * special ones.
 */
static uint64_t element_bits(struct bench *bench, enum rope_kernel_dtype type, size_t index)
{
    const unsigned mantissa = types[type].mantissa;
    const uint64_t one = types[type].bias << mantissa, unit = (uint64_t)1 << mantissa;
    const uint64_t infinity = (2 * types[type].bias + 1) << mantissa;
    const uint64_t specials[] = {0, infinity, infinity | (unit - 1), infinity - 1, unit, 1, one};
    const uint64_t word = draw(bench), sign = (word >> 63) << (8 * types[type].size - 1);
    if (index % 16 == 7)
        return sign | specials[index / 16 % (sizeof specials / sizeof *specials)];
    return sign | (one + ((word >> 60) % 3 << mantissa) - unit) | (word & (unit - 1));
}

static void make_inputs(struct bench *bench)
{
    for (size_t k = 0; k < AXES * FACTORS * 2; k++)
        for (size_t i = 0; i < TABLE; i++)
            bench->numbers[k][i] = number(bench);
    for (size_t i = 0; i < TABLE; i++) {
        bench->narrow[i] = (float)fabs(bench->numbers[0][i]);
        const double sine = bench->numbers[1][i];
        const double cosine = sqrt(1.0 - sine * sine);
        bench->steps[0][i] = cosine;
        bench->steps[1][i] = cosine * 0x1p-54 * number(bench);
        bench->steps[2][i] = sine;
        bench->steps[3][i] = sine * 0x1p-54 * number(bench);
    }
    for (int type = 0; type < RK_DTYPES; type++)
        for (size_t i = 0; i < INPUTS; i++)
            rope_put_bits(bench->elements[type], types[type].size, i,
                          element_bits(bench, (enum rope_kernel_dtype)type, i));
}

static const void *elements_from(struct bench *bench, enum rope_kernel_dtype type, size_t n)
{
    return bench->elements[type] + below(bench, INPUTS - n + 1) * types[type].size;
}

/*
 * Reals: cos and sin, or what is added and multiplied.  With 1 and 1/2 16-bit results lie halfway
 * between two values; where x = y (EQUAL_PAIR), a cosine next to the sine leaves of the products
 * what one rounding more or less does to them.
 */
enum { ZERO_PAIR = 3, EQUAL_PAIR = 5, PAIR_KINDS = 8 };
static void make_row(struct bench *bench, enum rope_kernel_dtype type, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double values[2] = {1.0, 0.5};
        if (i % 4 != ZERO_PAIR) {
            values[0] = number(bench);
            values[1] = i % PAIR_KINDS == EQUAL_PAIR ? values[0] * (1.0 - 0x1p-18) : number(bench);
        }
        for (int k = 0; k < 2; k++)
            if (types[type].real == RK_F64)
                memcpy(bench->row[k] + i * sizeof(double), &values[k], sizeof(double));
            else
                memcpy(bench->row[k] + i * sizeof(float), &(const float){(float)values[k]},
                       sizeof(float));
    }
}

/* ---- A trial --------------------------------------------------------------------------------- */

static void start(struct bench *bench)
{
    bench->used = MARGIN;
    bench->arrays = 0;
}

/* Adds an array to both images, `shift` bytes behind an aligned place; returns its number. */
static size_t add_array(struct bench *bench, size_t bytes, size_t shift)
{
    bench->array_at[bench->arrays] = bench->used + shift;
    bench->used += (shift + bytes + 2 * MARGIN - 1) / MARGIN * MARGIN;
    return bench->arrays++;
}

/* Once all arrays are known. */
static void blank(struct bench *bench)
{
    for (int set = 0; set < ROPE_SETS; set++)
        memset(bench->image[set], 0x55, bench->used);
}

static void *array_of(const struct bench *bench, int set, size_t array)
{
    return bench->image[set] + bench->array_at[array];
}

static void fill_array(struct bench *bench, size_t array, const void *bytes, size_t n)
{
    for (int set = 0; set < ROPE_SETS; set++)
        memcpy(array_of(bench, set, array), bytes, n);
}

/* NaN is NaN, whatever its bits; contract of powers: zero is zero. */
static int same(enum rope_kernel_dtype type, uint64_t a, uint64_t b, int any_zero)
{
    const uint64_t magnitude = UINT64_MAX >> (65 - 8 * types[type].size);
    const uint64_t infinity = (2 * types[type].bias + 1) << types[type].mantissa;
    if ((a & magnitude) > infinity && (b & magnitude) > infinity)
        return 1;
    return any_zero && (a & magnitude) == 0 && (b & magnitude) == 0;
}

/* 1 if the images are equal, else 0 and where they differ first. */
static int images_equal(const struct bench *bench, enum rope_kernel_dtype type, int any_zero,
                        struct rope_difference *difference)
{
    if (memcmp(bench->image[ROPE_TESTED], bench->image[ROPE_REFERENCE], bench->used) == 0)
        return 1;
    const size_t size = types[type].size;
    for (size_t i = 0; i < bench->used / size; i++) {
        const uint64_t a = rope_bits_at(bench->image[ROPE_TESTED], size, i);
        const uint64_t b = rope_bits_at(bench->image[ROPE_REFERENCE], size, i);
        if (a == b || same(type, a, b, any_zero))
            continue;
        size_t array = 0;
        while (array + 1 < bench->arrays && bench->array_at[array + 1] <= i * size + MARGIN / 2)
            array++;
        difference->array = array;
        difference->element =
            ((ptrdiff_t)(i * size) - (ptrdiff_t)bench->array_at[array]) / (ptrdiff_t)size;
        difference->bits[ROPE_TESTED] = a;
        difference->bits[ROPE_REFERENCE] = b;
        return 0;
    }
    return 1;
}

/* The numbers of pairs that are tried: every tail of every vector, then the widths of heads; 0 ends. */
static size_t next_pairs(size_t pairs)
{
    static const size_t wide[] = {72, 80, 96, 112, 128, 160, 192, 255, RK_MAX_PAIRS};
    if (pairs < 67)
        return pairs + 1;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (wide[i] > pairs)
            return wide[i];
    return 0;
}

/* ---- rotate ---------------------------------------------------------------------------------- */

/* Elements of a head. */
static size_t head_elements(int pairing, size_t pairs, size_t half)
{
    return pairing == RK_HALF ? half + pairs : 2 * pairs;
}

/* Heads of pairs: mostly whatever elements come, some (-0, +0) for a result of -0, some (x, x). */
static const unsigned char *make_heads(struct bench *bench, enum rope_kernel_dtype type,
                                       int pairing, size_t heads, size_t step, size_t pairs,
                                       size_t half)
{
    const size_t size = types[type].size;
    const uint64_t sign = (uint64_t)1 << (8 * size - 1);
    memcpy(bench->source, elements_from(bench, type, heads * step), heads * step * size);
    for (size_t head = 0; head < heads; head++)
        for (size_t i = ZERO_PAIR; i < pairs; i += i % PAIR_KINDS == ZERO_PAIR ? 2 : 6) {
            const size_t x = head * step + (pairing == RK_HALF ? i : 2 * i);
            const size_t y = x + (pairing == RK_HALF ? half : 1);
            const int zero = i % PAIR_KINDS == ZERO_PAIR;
            if (zero)
                rope_put_bits(bench->source, size, x, sign);
            rope_put_bits(bench->source, size, y, zero ? 0 : rope_bits_at(bench->source, size, x));
        }
    return bench->source;
}

void rope_take_turns(rope_turns_fn *turns, const struct rope_rotate_args *args)
{
    const ptrdiff_t ends = args->heads > 2 ? (ptrdiff_t)args->heads - 1 : 1;
    struct rope_rotate_args first = *args;
    first.heads = args->heads > 2 ? 2 : 1;
    first.src_stride = ends * args->src_stride;
    first.dst_stride = ends * args->dst_stride;
    const struct rope_rotate_args second = {
        .src = (const char *)args->src + args->src_stride,
        .dst = (char *)args->dst + args->dst_stride,
        .src_stride = args->src_stride,
        .dst_stride = args->dst_stride,
        .src_step = args->src_step,
        .dst_step = args->dst_step,
        .heads = args->heads - first.heads,
        .ahead = args->ahead,
    };
    turns(&first, &second);
}

/* The tested set rotates by its slot as the other does, or by `turns`. */
static int try_rotate(struct bench *bench, int arith, int pairing, enum rope_kernel_dtype type,
                      size_t pairs, int in_place, rope_turns_fn *turns,
                      struct rope_difference *difference)
{
    const size_t size = types[type].size;
    const size_t most = pairs > 128 ? 1 : pairs > 67 ? 2 : 3;
    const size_t heads = turns != NULL ? (pairs > 67 ? 2 : 4) : 1 + below(bench, most);
    const int tight = turns != NULL && pairs > 128; /* two heads fill the inputs */
    const int stream = turns == NULL && !in_place && pairs * size % 64 == 0 && below(bench, 2) == 0;
    const int dense = tight || stream;
    const size_t src_half = pairs + (!dense && below(bench, 4) == 0 ? below(bench, 5) : 0);
    const size_t dst_half =
        in_place ? src_half : pairs + (!dense && below(bench, 4) == 0 ? below(bench, 5) : 0);
    const size_t gap = dense ? 0 : below(bench, 4);
    const size_t src_step = head_elements(pairing / 2, pairs, src_half) + gap;
    const size_t dst_step = head_elements(pairing % 2, pairs, dst_half) + gap;
    const size_t src_first = below(bench, 4) == 0 ? (heads - 1) * src_step : 0;
    const size_t dst_first = in_place               ? src_first
                             : below(bench, 4) == 0 ? (heads - 1) * dst_step
                                                    : 0;
    const size_t by_token = turns != NULL ? 2 : 1;
    const size_t tokens =
        src_first == 0 && dst_first == 0 && below(bench, 2) == 0 ? heads / by_token : 1;
    start(bench);
    const size_t dst =
        add_array(bench, heads * dst_step * size, stream ? 0 : below(bench, 8) * size);
    blank(bench);
    const unsigned char *src =
        make_heads(bench, type, pairing / 2, heads, src_step, pairs, src_half);
    if (in_place)
        fill_array(bench, dst, src, heads * dst_step * size);
    make_row(bench, type, pairs);
    for (int set = 0; set < ROPE_SETS; set++) {
        unsigned char *to = array_of(bench, set, dst);
        const struct rope_rotate_args args = {
            .src = (in_place ? to : src) + src_first * size,
            .dst = to + dst_first * size,
            .src_stride = (ptrdiff_t)(src_step * size) * (src_first != 0 ? -1 : 1),
            .dst_stride = (ptrdiff_t)(dst_step * size) * (dst_first != 0 ? -1 : 1),
            .heads = heads / tokens,
            .tokens = tokens,
            .src_step = (ptrdiff_t)(heads / tokens * src_step * size),
            .dst_step = (ptrdiff_t)(heads / tokens * dst_step * size),
            .stream = stream,
            .ahead = (ptrdiff_t)gap * 64, /* a hint may choose another way, with the same bits */
            .pairs = pairs,
            .src_half = src_half,
            .dst_half = dst_half,
            .cos = bench->row[0],
            .sin = bench->row[1],
        };
        if (turns != NULL && set == ROPE_TESTED)
            rope_take_turns(turns, &args);
        else
            bench->kernels[set]->rotate[arith][pairing][type](&args);
        if (stream)
            bench->kernels[set]->fence();
    }
    if (images_equal(bench, type, 0, difference))
        return 1;
    snprintf(difference->trial, sizeof difference->trial, "%zu heads of %zu pairs%s", heads, pairs,
             in_place ? ", in place"
             : stream ? ", past the caches"
                      : "");
    return 0;
}

static int rotates_equally(struct bench *bench, int arith, int pairing, enum rope_kernel_dtype type,
                           rope_turns_fn *turns, struct rope_difference *difference)
{
    for (size_t pairs = 1; pairs != 0; pairs = next_pairs(pairs)) {
        if (!try_rotate(bench, arith, pairing, type, pairs, 0, turns, difference))
            return 0;
        if (pairing / 2 == pairing % 2 &&
            !try_rotate(bench, arith, pairing, type, pairs, 1, turns, difference))
            return 0;
    }
    return 1;
}

/* ---- rows, direct, direct_f32 ---------------------------------------------------------------- */

enum rows_kind { BY_TABLE, BY_ANGLE, BY_F32_ANGLE };

/* Entries take the axes in runs; every place of a group of pairs becomes its first. */
static void make_mix(struct bench *bench, size_t pairs)
{
    struct rope_rows_mix *mix = &bench->mix;
    memset(mix, 0, sizeof *mix);
    memset(bench->present, 0, sizeof bench->present);
    mix->axes = AXES;
    mix->first = below(bench, RK_AXES_GROUP);
    mix->present = bench->present;
    mix->masks = bench->masks;
    mix->mask_stride = pairs;
    const size_t run = 1 + below(bench, 12);
    for (size_t i = 0; i < pairs; i++) {
        const size_t taken = i / run % AXES;
        bench->present[(mix->first + i) / RK_AXES_GROUP] |= (unsigned char)(1u << taken);
        for (size_t axis = 0; axis < AXES; axis++)
            bench->masks[axis * pairs + i] = axis == taken ? -1.0 : 1.0;
    }
    for (size_t axis = 0; axis < AXES; axis++) {
        mix->sin_scale[axis] = axis == 1 ? -1.25 : 1.25;
        mix->position[axis] = (double)(70001 * axis + 17);
        for (size_t k = 0; k < FACTORS; k++) {
            mix->table_cos[axis][k] = bench->numbers[(axis * FACTORS + k) * 2];
            mix->table_sin[axis][k] = bench->numbers[(axis * FACTORS + k) * 2 + 1];
        }
    }
}

struct rows_trial {
    enum rows_kind kind;
    enum rope_kernel_dtype type;
    enum rope_kernel_layout layout;
    size_t pairs;
    int mixed, stream, scaled;
};

static int try_rows(struct bench *bench, const struct rows_trial *trial,
                    struct rope_difference *difference)
{
    const size_t size = types[trial->type].size, pairs = trial->pairs;
    const size_t dup = trial->layout == RK_DUP_HALF ? pairs + below(bench, 4) : 0;
    const size_t n = trial->layout == RK_SEPARATE   ? pairs
                     : trial->layout == RK_DUP_HALF ? dup + pairs
                                                    : 2 * pairs;
    const size_t shift = trial->stream ? 0 : below(bench, 8) * size;
    start(bench);
    const size_t cos_row = add_array(bench, n * size, shift);
    const size_t sin_row = add_array(bench, n * size, shift);
    blank(bench);
    struct rope_rows_args args = {
        .layout = trial->layout,
        .stream = trial->stream,
        .dup = dup,
        .pairs = pairs,
        .cos_scale = trial->scaled ? 1.25 : 1.0,
        .sin_scale = trial->scaled ? -1.25 : 1.0,
        .factors = 1 + pairs % FACTORS,
        .position = trial->kind == BY_F32_ANGLE ? 131071.0 : -131070.75,
        .turns_hi = bench->numbers[1],
        .turns_lo = bench->steps[3], /* a part of 2^-54 of these */
        .freq = bench->narrow,
    };
    for (size_t k = 0; k < FACTORS; k++) {
        args.table_cos[k] = bench->numbers[2 * k] + pairs % 64;
        args.table_sin[k] = bench->numbers[2 * k + 1] + pairs % 64;
    }
    if (trial->mixed) {
        make_mix(bench, pairs);
        args.mix = &bench->mix;
    }
    for (int set = 0; set < ROPE_SETS; set++) {
        const struct rope_kernels *kernels = bench->kernels[set];
        args.cos = array_of(bench, set, cos_row);
        args.sin = trial->layout == RK_PAIRS ? NULL : array_of(bench, set, sin_row);
        rope_rows_fn *const *slots = trial->kind == BY_TABLE   ? kernels->rows
                                     : trial->kind == BY_ANGLE ? kernels->direct
                                                               : kernels->direct_f32;
        slots[trial->type](&args);
        if (trial->stream)
            kernels->fence();
    }
    if (images_equal(bench, trial->type, 0, difference))
        return 1;
    static const char *const layouts[] = {"separate", "in pairs", "duplicated by halves",
                                          "duplicated in pairs"};
    snprintf(difference->trial, sizeof difference->trial, "%zu pairs %s%s%s%s", pairs,
             layouts[trial->layout], trial->mixed ? ", several axes" : "",
             trial->stream ? ", past the caches" : "", trial->scaled ? ", scaled" : "");
    return 0;
}

static int rows_equal(struct bench *bench, enum rows_kind kind, enum rope_kernel_dtype type,
                      struct rope_difference *difference)
{
    for (size_t pairs = 1; pairs != 0; pairs = next_pairs(pairs))
        for (int variant = 0; variant < 16; variant++) {
            const struct rows_trial trial = {.kind = kind,
                                             .type = type,
                                             .layout = (enum rope_kernel_layout)(variant % 4),
                                             .pairs = pairs,
                                             .mixed = variant / 4 % 2,
                                             .scaled = variant / 8};
            /* Straight from the angle an entry costs 50 ns, and only its making is different. */
            if (kind != BY_TABLE && (size_t)variant / 2 != pairs % 8)
                continue;
            if (!try_rows(bench, &trial, difference))
                return 0;
        }
    const size_t line = 64 / types[type].size;
    for (size_t pairs = line; kind == BY_TABLE && pairs <= RK_MAX_PAIRS; pairs += line)
        for (int scaled = 0; scaled < 2; scaled++) {
            const struct rows_trial trial = {.kind = kind,
                                             .type = type,
                                             .layout = RK_SEPARATE,
                                             .pairs = pairs,
                                             .stream = 1,
                                             .scaled = scaled};
            if (!try_rows(bench, &trial, difference))
                return 0;
        }
    return 1;
}

static int try_run(struct bench *bench, enum rope_kernel_dtype type, size_t pairs, int stream,
                   int unit, struct rope_difference *difference)
{
    const size_t size = types[type].size, line = MARGIN / size;
    const size_t rows = pairs > 128 ? 2 : 3;
    const size_t step = pairs + (stream ? line : below(bench, 4));
    const size_t shift = stream ? 0 : below(bench, 8) * size;
    start(bench);
    const size_t cos_rows = add_array(bench, rows * step * size, shift);
    const size_t sin_rows = add_array(bench, rows * step * size, shift);
    blank(bench);
    struct rope_run_args args = {
        .step = (ptrdiff_t)(step * size),
        .stream = stream,
        .unit = unit,
        .pairs = pairs,
        .rows = rows,
        .sin_at = TABLE, /* the next array of numbers */
        .cos_scale = unit ? 1.0 : 1.25,
    };
    for (size_t r = 0; r < rows; r++) { /* the last two share their coarse factor */
        args.fine[r] = bench->numbers[2 * r] + pairs % 64;
        args.coarse[r] = bench->numbers[2 * (r != 0) + 6] + pairs % 64;
        args.sin_scale[r] = unit ? 1.0 : r == 1 ? -1.25 : 1.25;
    }
    for (int set = 0; set < ROPE_SETS; set++) {
        args.cos = array_of(bench, set, cos_rows);
        args.sin = array_of(bench, set, sin_rows);
        bench->kernels[set]->run[type](&args);
        if (stream)
            bench->kernels[set]->fence();
    }
    if (images_equal(bench, type, 0, difference))
        return 1;
    snprintf(difference->trial, sizeof difference->trial, "%zu rows of %zu pairs%s%s", rows, pairs,
             stream ? ", past the caches" : "", unit ? "" : ", scaled");
    return 0;
}

static int runs_equal(struct bench *bench, enum rope_kernel_dtype type,
                      struct rope_difference *difference)
{
    for (int unit = 0; unit < 2; unit++) {
        for (size_t pairs = 1; pairs != 0; pairs = next_pairs(pairs))
            if (!try_run(bench, type, pairs, 0, unit, difference))
                return 0;
        const size_t line = MARGIN / types[type].size;
        for (size_t pairs = line; pairs <= RK_MAX_PAIRS; pairs += line)
            if (!try_run(bench, type, pairs, 1, unit, difference))
                return 0;
    }
    return 1;
}

/* ---- widen, powers, add ---------------------------------------------------------------------- */

static int widens_equally(struct bench *bench, enum rope_kernel_dtype type,
                          struct rope_difference *difference)
{
    for (size_t n = 0; n <= 67; n++)
        for (size_t step = 1; step <= 2; step++) {
            start(bench);
            const size_t dst = add_array(bench, n * sizeof(float), below(bench, 8) * sizeof(float));
            blank(bench);
            const void *src = elements_from(bench, type, 2 * n);
            for (int set = 0; set < ROPE_SETS; set++)
                bench->kernels[set]->widen[type](array_of(bench, set, dst), src, step, n);
            if (!images_equal(bench, RK_F32, 0, difference)) {
                snprintf(difference->trial, sizeof difference->trial, "%zu elements%s", n,
                         step == 2 ? ", every second" : "");
                return 0;
            }
        }
    return 1;
}

static int powers_equal(struct bench *bench, struct rope_difference *difference)
{
    enum { COS, SIN, STEP };
    for (size_t pairs = 1; pairs <= 35; pairs++) {
        const size_t rows = 1 + pairs % 7, stride = pairs + pairs % 3;
        start(bench);
        for (int k = 0; k < STEP; k++)
            add_array(bench, rows * stride * sizeof(double), pairs % 5 * sizeof(double));
        for (int k = 0; k < 4; k++)
            add_array(bench, pairs * sizeof(double), 0);
        blank(bench);
        for (size_t k = 0; k < 4; k++)
            fill_array(bench, STEP + k, bench->steps[k] + pairs, pairs * sizeof(double));
        for (int set = 0; set < ROPE_SETS; set++) {
            struct rope_powers_args args = {.table_cos = array_of(bench, set, COS),
                                            .table_sin = array_of(bench, set, SIN),
                                            .row_stride = stride,
                                            .rows = rows,
                                            .pairs = pairs,
                                            .re_hi = array_of(bench, set, STEP),
                                            .re_lo = array_of(bench, set, STEP + 1),
                                            .im_hi = array_of(bench, set, STEP + 2),
                                            .im_lo = array_of(bench, set, STEP + 3)};
            bench->kernels[set]->powers(&args);
        }
        if (!images_equal(bench, RK_F64, 1, difference)) {
            snprintf(difference->trial, sizeof difference->trial, "%zu rows of %zu pairs", rows,
                     pairs);
            return 0;
        }
    }
    return 1;
}

static int adds_equally(struct bench *bench, enum rope_kernel_dtype type,
                        struct rope_difference *difference)
{
    const size_t size = types[type].size;
    for (size_t n = 1; n <= 67; n++)
        for (int variant = 0; variant < 4; variant++) {
            const int in_place = variant % 2, with_factor = variant / 2;
            start(bench);
            const size_t dst = add_array(bench, n * size, below(bench, 8) * size);
            blank(bench);
            const void *src = elements_from(bench, type, n);
            if (in_place)
                fill_array(bench, dst, src, n * size);
            make_row(bench, type, n);
            for (int set = 0; set < ROPE_SETS; set++) {
                void *to = array_of(bench, set, dst);
                const struct rope_add_args args = {.src = in_place ? to : src,
                                                   .dst = to,
                                                   .row = bench->row[0],
                                                   .factor = with_factor ? bench->row[1] : NULL,
                                                   .n = n};
                bench->kernels[set]->add[type](&args);
            }
            if (!images_equal(bench, type, 0, difference)) {
                snprintf(difference->trial, sizeof difference->trial, "%zu elements%s%s", n,
                         in_place ? ", in place" : "", with_factor ? ", with factors" : "");
                return 0;
            }
        }
    return 1;
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* Counts, and lines of text for those who read them. */
struct record {
    const char *name;
    const char *reference; /* said before the second value */
    struct rope_message message;
    struct rope_self_test_counts *counts;
};

/* One more operation; its name is made from `format`, and `arrays` are those of its images. */
static void note(struct record *record, int equal, const struct rope_difference *difference,
                 const char *const *arrays, const char *format, ...) ROPE_PRINTF(5, 6);
static void note(struct record *record, int equal, const struct rope_difference *difference,
                 const char *const *arrays, const char *format, ...)
{
    record->counts->operations++;
    if (equal)
        return;
    char operation[64], line[320];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(operation, sizeof operation, format, arguments);
    va_end(arguments);
    (void)snprintf(line, sizeof line, "%s%s %s: %s: %s[%td] is %#llx, %s %#llx",
                   record->counts->different != 0 ? "\n" : "", record->name, operation,
                   difference->trial, arrays[difference->array], difference->element,
                   (unsigned long long)difference->bits[ROPE_TESTED], record->reference,
                   (unsigned long long)difference->bits[ROPE_REFERENCE]);
    record->counts->different++;
    rope_fail(record->message, ROPE_ERR_DIFFERENCE, "%s", line);
    const size_t length = strlen(line);
    const int fits = length < record->message.size;
    if (fits && record->message.text != NULL)
        record->message.text += length;
    record->message.size -= fits ? length : record->message.size;
}

/* Without a bench by known answers. */
static void compare_all(const struct rope_kernels *tested, struct bench *bench, int direct,
                        struct record *record)
{
    static const char *const ariths[] = {"fused", "eager", "unfused"};
    static const char *const pairings[] = {"half", "half to interleaved", "interleaved to half",
                                           "interleaved"};
    static const char *const rows[] = {"rows from tables", "rows from angles",
                                       "rows from f32 angles"};
    static const char *const row_arrays[] = {"cos", "sin"}, *const arrays[] = {"dst"};
    static const char *const power_arrays[] = {"cos", "sin", "re_hi", "re_lo", "im_hi", "im_lo"};
    struct rope_difference found;
    for (int t = 0; t < RK_DTYPES; t++) {
        const enum rope_kernel_dtype type = (enum rope_kernel_dtype)t;
        const char *const name = types[t].name;
        for (int arith = 0; arith < RK_ARITHS; arith++)
            for (int pairing = 0; pairing < RK_PAIRINGS; pairing++)
                note(record,
                     bench == NULL ? rope_known_rotates(tested, arith, pairing, type, &found)
                                   : rotates_equally(bench, arith, pairing, type, NULL, &found),
                     &found, arrays, "rotate %s, %s, %s", pairings[pairing], ariths[arith], name);
        for (int kind = BY_TABLE; kind <= (direct ? BY_F32_ANGLE : BY_TABLE); kind++)
            note(record,
                 bench == NULL ? rope_known_makes_rows(tested, kind, type, &found)
                               : rows_equal(bench, (enum rows_kind)kind, type, &found),
                 &found, row_arrays, "%s, %s", rows[kind], name);
        if (tested->run[type] != NULL)
            note(record,
                 bench == NULL ? rope_known_makes_run(tested, type, &found)
                               : runs_equal(bench, type, &found),
                 &found, row_arrays, "run of rows, %s", name);
        note(record,
             bench == NULL ? rope_known_adds(tested, type, &found)
                           : adds_equally(bench, type, &found),
             &found, arrays, "add, %s", name);
        if (tested->widen[type] != NULL)
            note(record,
                 bench == NULL ? rope_known_widens(tested, type, &found)
                               : widens_equally(bench, type, &found),
                 &found, arrays, "widen, %s", name);
    }
    for (int k = 0; k < 2; k++) {
        const int pairing = k == RK_HALF ? 0 : 3;
        rope_turns_fn *const turns = tested->turns[k];
        if (turns != NULL)
            note(record,
                 bench == NULL ? rope_known_takes_turns(tested, k, &found)
                               : rotates_equally(bench, RK_FUSED, pairing, RK_F32, turns, &found),
                 &found, arrays, "turns, %s", pairings[pairing]);
    }
    note(record,
         bench == NULL ? rope_known_makes_powers(tested, &found) : powers_equal(bench, &found),
         &found, power_arrays, "powers");
}

rope_status rope_self_test_compare(const char *name, const struct rope_kernels *tested,
                                   const struct rope_kernels *reference, int direct,
                                   struct rope_message message,
                                   struct rope_self_test_counts *counts)
{
    *counts = (struct rope_self_test_counts){0, 0};
    struct record record = {name, reference == NULL ? "must be" : "of scalar", message, counts};
    fenv_t host;
    if (reference == NULL) {
        rope_environment_enter(&host);
        compare_all(tested, NULL, direct, &record);
        rope_environment_leave(&host);
        return counts->different == 0 ? ROPE_OK : ROPE_ERR_DIFFERENCE;
    }
    const size_t bench_bytes = (sizeof(struct bench) + MARGIN - 1) / MARGIN * MARGIN;
    unsigned char *memory = aligned_alloc(MARGIN, bench_bytes + ROPE_SETS * IMAGE_BYTES);
    if (memory == NULL)
        return rope_fail(message, ROPE_ERR_MEMORY, "out of memory for the self-test");
    struct bench *bench = (struct bench *)(void *)memory;
    memset(bench, 0, sizeof *bench);
    bench->kernels[ROPE_TESTED] = tested;
    bench->kernels[ROPE_REFERENCE] = reference;
    for (size_t set = 0; set < ROPE_SETS; set++)
        bench->image[set] = memory + bench_bytes + set * IMAGE_BYTES;
    rope_environment_enter(&host);
    make_inputs(bench);
    compare_all(tested, bench, direct, &record);
    rope_environment_leave(&host);
    free(memory);
    return counts->different == 0 ? ROPE_OK : ROPE_ERR_DIFFERENCE;
}

/* The scalar kernels that are not `active`; NULL where this build or CPU has no others. */
static const struct rope_kernels *other_scalar(const struct rope_kernels *active)
{
    const struct rope_kernel_set *set;
    for (size_t i = 0; (set = rope_kernel_set_at(i)) != NULL; i++)
        if (set->isa == ROPE_ISA_SCALAR && set->kernels != active && rope_kernel_set_runs(set))
            return set->kernels;
    return NULL;
}

rope_status rope_self_test(rope_self_test_report *report)
{
    struct rope_message message = {NULL, 0};
    if (report != NULL) {
        rope_self_test_report room;
        const rope_self_test_report *given =
            rope_descriptor(report, &room, sizeof room, REPORT_SIZE_1_0);
        if (given == NULL)
            return rope_descriptor_refuse(report, "report", sizeof room, REPORT_SIZE_1_0,
                                          offsetof(rope_self_test_report, message));
        message = (struct rope_message){given->message, given->message_size};
    }
    rope_isa isa;
    const struct rope_kernels *active = rope_kernels_active(&isa);
    if (active == NULL)
        return rope_fail(message, ROPE_ERR_ISA,
                         "ROPE_ISA: must name a set that this CPU and build have");
    const struct rope_kernels *reference = rope_kernels_for(ROPE_ISA_SCALAR);
    if (reference == active)
        reference = other_scalar(active);
    /* rows from angles need FMA for equal bits, which one scalar form has not; any can be known */
    const int direct = isa != ROPE_ISA_SCALAR || reference == NULL;
    struct rope_self_test_counts counts;
    const rope_status status =
        rope_self_test_compare(rope_isa_name(isa), active, reference, direct, message, &counts);
    if (status == ROPE_OK)
        rope_fail(message, ROPE_OK, "%s", ""); /* no line */
    if (report != NULL && status != ROPE_ERR_MEMORY) {
        report->isa = isa;
        report->operations = counts.operations;
        report->different = counts.different;
    }
    return status;
}
