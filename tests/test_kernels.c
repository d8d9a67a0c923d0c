/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every slot of every kernel set against the slow reference, bit for bit, between guard pages. Must
 * not go through the public functions: what is tested here is the contract of kernels.h.
 */
#include "kernel_sets.h"
#include "reference.h"
#include "support.h"

#include "dispatch.h"
#include "kernels.h"
#include "self_test.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)DT_F32 == (int)RK_F32 && (int)DT_F64 == (int)RK_F64 &&
                   (int)DT_F16 == (int)RK_F16 && (int)DT_BF16 == (int)RK_BF16,
               "the reference indexes slots by its own types");
_Static_assert((int)REFERENCE_FUSED == (int)RK_FUSED && (int)REFERENCE_EAGER == (int)RK_EAGER &&
                   (int)REFERENCE_UNFUSED == (int)RK_UNFUSED && RK_ARITHS == 3,
               "and by its own arithmetic");

/* Guarded memory for each operand; `expected` and `before` are plain copies. */
enum { SRC, DST, COS, SIN, OPERANDS };
static struct guarded memory[OPERANDS];
static unsigned char *expected[OPERANDS];
static unsigned char *before[OPERANDS];
#define MEMORY_BYTES ((size_t)1 << 20)

static int make_memory(void **state)
{
    (void)state;
    for (int i = 0; i < OPERANDS; i++) {
        memory[i] = guarded_make(MEMORY_BYTES);
        canary_fill(memory[i].base, memory[i].size);
        expected[i] = malloc(MEMORY_BYTES);
        before[i] = malloc(MEMORY_BYTES);
        if (!expected[i] || !before[i])
            return -1;
    }
    return 0;
}

static int free_memory(void **state)
{
    (void)state;
    for (int i = 0; i < OPERANDS; i++) {
        guarded_free(&memory[i]);
        free(expected[i]);
        free(before[i]);
    }
    return 0;
}

/* n elements of an operand's memory with up to 16 canary elements on each side. */
struct window {
    int operand;
    enum dtype type;
    unsigned char *first; /* of the window */
    unsigned char *data;  /* of the n elements */
    size_t before;        /* elements from first to data */
    size_t total;         /* elements of the window */
};

static struct window window_make(int operand, enum dtype type, size_t n, int at_end, size_t gap)
{
    const size_t size = dtype_size(type);
    const size_t margin = 16;
    struct window window = {operand, type, NULL, NULL, 0, 0};
    window.data = at_end ? guarded_end(&memory[operand], n * size, gap * size)
                         : guarded_start(&memory[operand], n * size, gap * size);
    const size_t ahead = (size_t)(window.data - memory[operand].base) / size;
    const size_t behind = memory[operand].size / size - ahead - n;
    window.before = ahead < margin ? ahead : margin;
    window.first = window.data - window.before * size;
    window.total = window.before + n + (behind < margin ? behind : margin);
    canary_fill(window.first, window.total * size);
    return window;
}

/* Call when the inputs stand in the window: the image that the kernel must leave starts as the
 * present one. */
static unsigned char *window_snapshot(const struct window *window)
{
    memcpy(expected[window->operand], window->first, window->total * dtype_size(window->type));
    return expected[window->operand] + window->before * dtype_size(window->type);
}

static void window_check(const struct window *window, const char *what)
{
    const size_t i =
        image_differs(window->type, expected[window->operand], window->first, window->total, NULL);
    if (i == window->total)
        return;
    fail_msg("%s: element %td of operand %d: expected %a (bits %#" PRIx64
             "), got %a (bits %#" PRIx64 "), seed %#" PRIx64,
             what, (ptrdiff_t)i - (ptrdiff_t)window->before, window->operand,
             dtype_load(window->type, expected[window->operand], i),
             dtype_bits(window->type, expected[window->operand], i),
             dtype_load(window->type, window->first, i), dtype_bits(window->type, window->first, i),
             test_seed());
}

/* Longest length that every test walks through one by one: two vectors of 16-bit elements and 3. */
static size_t dense_lengths(rope_isa isa)
{
    if (!test_reduced())
        return 67;
    switch (isa) {
    case ROPE_ISA_SCALAR:
        return 5;
    case ROPE_ISA_NEON:
        return 19;
    case ROPE_ISA_AVX2:
        return 35;
    default:
        return 67;
    }
}

/* The lengths after the dense ones; 0 ends the list. */
static size_t next_length(rope_isa isa, size_t length)
{
    static const size_t wide[] = {64, 80, 128, 200, 256};
    if (length < dense_lengths(isa))
        return length + 1;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (wide[i] > length && !(test_reduced() && wide[i] > 80))
            return wide[i];
    return 0;
}

/* ---- Every slot is there ---- */

static void test_complete(void **state)
{
    const struct rope_kernels *kernels = set_of(state)->kernels;
    for (int type = 0; type < RK_DTYPES; type++) {
        for (int arith = 0; arith < RK_ARITHS; arith++)
            for (int pairing = 0; pairing < RK_PAIRINGS; pairing++)
                assert_non_null(kernels->rotate[arith][pairing][type]);
        assert_non_null(kernels->rows[type]);
        assert_int_equal(kernels->run[type] != NULL, type != RK_F64);
        assert_non_null(kernels->direct[type]);
        assert_non_null(kernels->direct_f32[type]);
    }
    for (int pairing = 0; pairing < 2; pairing++)
        assert_int_equal(kernels->turns[pairing] != NULL, set_of(state)->isa == ROPE_ISA_AVX512);
    assert_non_null(kernels->widen[RK_F16]);
    assert_non_null(kernels->widen[RK_BF16]);
    assert_null(kernels->widen[RK_F32]);
    assert_null(kernels->widen[RK_F64]);
    assert_non_null(kernels->powers);
    assert_non_null(kernels->fence);
    kernels->fence();
}

/* ---- rotate ---- */

/* What the data of a case are: a fill, or pairs whose rotation lies halfway between two values of
 * the type. */
enum { DATA_TIES = FILLS, DATA_KINDS };

struct rotate_case {
    enum dtype type;
    int arith, pairing, data, in_place, at_end, stream;
    size_t pairs, heads;
    size_t src_half, dst_half;
    ptrdiff_t src_stride, dst_stride; /* elements */
    size_t tokens;
    size_t src_step, dst_step, row_step; /* elements from token to token */
    size_t src_gap, dst_gap;             /* elements between data and guard page */
};

/* Elements of one head, from its first to its last. */
static size_t head_extent(int interleaved, size_t pairs, size_t half)
{
    return interleaved ? 2 * pairs : half + pairs;
}

static size_t axis_extent(size_t heads, ptrdiff_t stride, size_t head)
{
    return (heads - 1) * (size_t)(stride < 0 ? -stride : stride) + head;
}

static size_t element_of(int interleaved, size_t half, size_t i, int part)
{
    return reference_place(interleaved, interleaved ? 0 : half, i, part);
}

/* y and s = 1/2 put both results halfway between neighbours about every second time. */
static void make_tie(struct rng *rng, enum dtype type, double *x, double *y)
{
    *x = rng_element(rng, type, FILL_PLAIN);
    const double odd = (double)(2 * rng_below(rng, 4) + 1);
    *y = dtype_round(type, (rng_next(rng) & 1 ? odd : -odd) * dtype_ulp(type, *x));
}

static void check_rotate(const struct set *set, const struct rotate_case *c, struct rng *rng)
{
    const int from = c->pairing / 2;
    const int to = c->pairing % 2;
    const enum dtype type = c->type;
    const enum dtype real = dtype_real(type);
    const size_t src_head = head_extent(from, c->pairs, c->src_half);
    const size_t dst_head = head_extent(to, c->pairs, c->dst_half);
    const size_t last = c->tokens - 1, row_elements = last * c->row_step + c->pairs;
    const struct window src =
        window_make(SRC, type, last * c->src_step + axis_extent(c->heads, c->src_stride, src_head),
                    c->at_end, c->src_gap);
    const struct window dst =
        c->in_place
            ? src
            : window_make(DST, type,
                          last * c->dst_step + axis_extent(c->heads, c->dst_stride, dst_head),
                          c->at_end, c->dst_gap);
    const struct window cos_row = window_make(COS, real, row_elements, c->at_end, c->dst_gap);
    const struct window sin_row = window_make(SIN, real, row_elements, c->at_end, c->src_gap);
    const size_t src_first = c->src_stride < 0 ? (c->heads - 1) * (size_t)-c->src_stride : 0;
    const size_t dst_first = c->dst_stride < 0 ? (c->heads - 1) * (size_t)-c->dst_stride : 0;

    for (size_t i = 0; i < row_elements; i++) {
        const enum fill fill = c->data == FILL_SPECIAL ? FILL_SPECIAL : FILL_PLAIN;
        const enum dtype row = c->arith == RK_EAGER && c->pairs % 2 ? type : real;
        const int tie = c->data == DATA_TIES;
        dtype_store(real, cos_row.data, i, tie ? 1.0 : rng_element(rng, row, fill));
        dtype_store(real, sin_row.data, i, tie ? 0.5 : rng_element(rng, row, fill));
    }
    for (size_t n = 0; n < c->tokens * c->heads; n++) {
        const size_t t = n / c->heads, h = n % c->heads;
        const size_t head = src_first + t * c->src_step + (size_t)((ptrdiff_t)h * c->src_stride);
        for (size_t i = 0; i < c->pairs; i++) {
            double x, y;
            if (c->data == DATA_TIES) {
                make_tie(rng, type, &x, &y);
            } else {
                x = rng_element(rng, type, (enum fill)c->data);
                y = rng_element(rng, type, (enum fill)c->data);
            }
            dtype_store(type, src.data, head + element_of(from, c->src_half, i, 0), x);
            dtype_store(type, src.data, head + element_of(from, c->src_half, i, 1), y);
        }
    }

    window_snapshot(&src);
    window_snapshot(&cos_row);
    window_snapshot(&sin_row);
    unsigned char *image = window_snapshot(&dst);
    for (size_t n = 0; n < c->tokens * c->heads; n++) {
        const size_t t = n / c->heads, h = n % c->heads, row = t * c->row_step;
        const size_t src_at = src_first + t * c->src_step + (size_t)((ptrdiff_t)h * c->src_stride);
        const size_t dst_at = dst_first + t * c->dst_step + (size_t)((ptrdiff_t)h * c->dst_stride);
        for (size_t i = 0; i < c->pairs; i++) {
            double out[2];
            reference_rotate(
                type, c->arith,
                dtype_load(type, src.data, src_at + element_of(from, c->src_half, i, 0)),
                dtype_load(type, src.data, src_at + element_of(from, c->src_half, i, 1)),
                dtype_load(real, cos_row.data, row + i), dtype_load(real, sin_row.data, row + i),
                out);
            for (int part = 0; part < 2; part++)
                dtype_store(type, image, dst_at + element_of(to, c->dst_half, i, part), out[part]);
        }
    }

    const ptrdiff_t size = (ptrdiff_t)dtype_size(type);
    const struct rope_rotate_args args = {
        .src = src.data + src_first * (size_t)size,
        .dst = dst.data + dst_first * (size_t)size,
        .src_stride = c->src_stride * size,
        .dst_stride = c->dst_stride * size,
        .heads = c->heads,
        .tokens = c->tokens,
        .src_step = (ptrdiff_t)c->src_step * size,
        .dst_step = (ptrdiff_t)c->dst_step * size,
        .row_step = (ptrdiff_t)(c->row_step * dtype_size(real)),
        .ahead =
            rng_below(rng, 2) != 0 ? (ptrdiff_t)rng_below(rng, 20000) : 0, /* beyond all memory */
        .stream = c->stream,
        .pairs = c->pairs,
        .src_half = c->src_half,
        .dst_half = c->dst_half,
        .cos = cos_row.data,
        .sin = sin_row.data,
    };
    rope_turns_fn *const turns =
        type == DT_F32 && c->arith == RK_FUSED && from == to && !c->stream && c->heads > 1
            ? set->kernels->turns[from]
            : NULL;
    const size_t image_bytes = dst.total * (size_t)size;
    memcpy(before[dst.operand], dst.first, image_bytes);
    set->kernels->rotate[c->arith][c->pairing][type](&args);
    if (c->stream)
        set->kernels->fence();

    static const char *const pairings[] = {"half", "half to interleaved", "interleaved to half",
                                           "interleaved"};
    static const char *const ariths[] = {"fused", "eager",
                                         "unfused"}; /* RK_* and REFERENCE_* alike */
    char what[256];
    snprintf(what, sizeof what,
             "set %s, slot rotate, %s, %s, %s, pairs %zu, heads %zu, tokens %zu, strides %td %td, "
             "halves %zu %zu, data %d%s%s%s",
             set->name, ariths[c->arith], pairings[c->pairing], dtype_name(type), c->pairs,
             c->heads, c->tokens, c->src_stride, c->dst_stride, c->src_half, c->dst_half, c->data,
             c->in_place ? ", in place" : "", c->at_end ? ", at end" : "",
             c->stream ? ", past the caches" : "");
    window_check(&dst, what);
    if (turns != NULL) {
        memcpy(dst.first, before[dst.operand], image_bytes);
        rope_take_turns(turns, &args);
        strcat(what, ", in turns");
        window_check(&dst, what);
    }
    if (!c->in_place)
        window_check(&src, what);
    window_check(&cos_row, what);
    window_check(&sin_row, what);
}

static void random_shape(struct rotate_case *c, struct rng *rng)
{
    const int from = c->pairing / 2;
    const int to = c->pairing % 2;
    c->heads = 1 + rng_below(rng, 4);
    c->src_half = c->pairs + (rng_below(rng, 4) ? 0 : rng_below(rng, 9));
    c->dst_half =
        c->in_place ? c->src_half : c->pairs + (rng_below(rng, 4) ? 0 : rng_below(rng, 9));
    const size_t src_step = head_extent(from, c->pairs, c->src_half) + rng_maybe(rng, 9);
    const size_t dst_step = head_extent(to, c->pairs, c->dst_half) + rng_maybe(rng, 9);
    c->src_stride = rng_below(rng, 4) ? (ptrdiff_t)src_step : -(ptrdiff_t)src_step;
    c->dst_stride = rng_below(rng, 4) ? (ptrdiff_t)dst_step : -(ptrdiff_t)dst_step;
    c->src_gap = rng_maybe(rng, 64);
    c->dst_gap = rng_maybe(rng, 64);
    if (c->in_place)
        c->dst_stride = c->src_stride;
    c->tokens = 1 + rng_maybe(rng, 3);
    c->src_step = axis_extent(c->heads, c->src_stride, head_extent(from, c->pairs, c->src_half)) +
                  rng_maybe(rng, 9);
    c->dst_step = axis_extent(c->heads, c->dst_stride, head_extent(to, c->pairs, c->dst_half)) +
                  rng_maybe(rng, 9);
    if (c->in_place)
        c->dst_step = c->src_step;
    c->row_step = rng_below(rng, 4) ? c->pairs + rng_maybe(rng, 9) : 0;
}

static void test_rotate(void **state)
{
    const struct set *set = set_of(state);
    struct rotate_case c = {0};
    struct rng rng = rng_make(1);
    for (c.pairs = 1; c.pairs; c.pairs = next_length(set->isa, c.pairs))
        for (int type = 0; type < DTYPES; type++)
            for (c.pairing = 0; c.pairing < RK_PAIRINGS; c.pairing++)
                for (c.arith = 0; c.arith < RK_ARITHS; c.arith++)
                    for (c.data = 0; c.data < DATA_KINDS; c.data++)
                        for (int place = 0; place < 4; place++) {
                            c.type = (enum dtype)type;
                            c.at_end = place & 1;
                            c.in_place = place >> 1 && c.pairing / 2 == c.pairing % 2;
                            if (test_reduced() && (place + c.data + (int)c.pairs) % 4)
                                continue;
                            random_shape(&c, &rng);
                            check_rotate(set, &c, &rng);
                        }
}

/* Every offset of the data to a 64-byte line. */
static void test_misaligned(void **state)
{
    const struct set *set = set_of(state);
    struct rotate_case c = {.at_end = 1, .tokens = 1};
    struct rng rng = rng_make(2);
    for (int type = 0; type < DTYPES; type++)
        for (c.pairing = 0; c.pairing < RK_PAIRINGS; c.pairing++)
            for (size_t offset = 0; offset < 64 / dtype_size((enum dtype)type); offset++) {
                c.type = (enum dtype)type;
                c.pairs = 32 + offset % 3;
                c.arith = (int)(offset % RK_ARITHS);
                random_shape(&c, &rng);
                c.src_gap = offset;
                c.dst_gap = 64 - offset;
                check_rotate(set, &c, &rng);
            }
}

/* Results past the caches, wherever that may be asked for: halves of whole lines. */
static void test_streamed(void **state)
{
    const struct set *set = set_of(state);
    struct rotate_case c = {.stream = 1};
    struct rng rng = rng_make(9);
    for (int type = 0; type < DTYPES; type++) {
        const size_t line = 64 / dtype_size((enum dtype)type);
        c.type = (enum dtype)type;
        for (c.pairs = line; c.pairs <= RK_MAX_PAIRS; c.pairs += line)
            for (int variant = 0; variant < 2 * RK_PAIRINGS; variant++) {
                c.pairing = variant / 2;
                c.arith = c.pairs % 3 == 0 ? variant % RK_ARITHS : RK_FUSED;
                c.at_end = variant % 2;
                c.data = variant % DATA_KINDS;
                random_shape(&c, &rng);
                c.src_half = c.dst_half = c.pairs;
                c.dst_stride = (ptrdiff_t)(2 * c.pairs + line * rng_below(&rng, 3));
                c.dst_step = c.heads * (size_t)c.dst_stride + line * rng_below(&rng, 3);
                c.dst_gap = line * rng_below(&rng, 3);
                check_rotate(set, &c, &rng);
            }
    }
}

/* All values of a 16-bit type, as x and as y. */
static void test_all_values(void **state)
{
    const struct set *set = set_of(state);
    struct rng rng = rng_make(3);
    for (int variant = 0; variant < 2 * RK_ARITHS * RK_PAIRINGS; variant++) {
        const enum dtype type = variant % 2 ? DT_F16 : DT_BF16;
        const int arith = variant / 2 % RK_ARITHS;
        const int pairing = variant / 2 / RK_ARITHS;
        const int from = pairing / 2;
        const int to = pairing % 2;
        size_t pairs;
        for (size_t done = 0; done < 65536; done += test_reduced() ? 16 * pairs : pairs) {
            pairs = 1 + rng_below(&rng, RK_MAX_PAIRS);
            const struct window src = window_make(SRC, type, 2 * pairs, 1, 0);
            const struct window dst = window_make(DST, type, 2 * pairs, 1, 0);
            const struct window cos_row = window_make(COS, DT_F32, pairs, 1, 0);
            const struct window sin_row = window_make(SIN, DT_F32, pairs, 1, 0);
            for (size_t i = 0; i < pairs; i++) {
                const double angle = rng_real(&rng, 4.0);
                const uint16_t x = (uint16_t)(done + i);
                const uint16_t y = (uint16_t)(x * 40503u + 12345u); /* odd factor: a permutation */
                memcpy(src.data + 2 * reference_place(from, pairs, i, 0), &x, 2);
                memcpy(src.data + 2 * reference_place(from, pairs, i, 1), &y, 2);
                dtype_store(DT_F32, cos_row.data, i, i % 16 ? cos(angle) : 1.0);
                dtype_store(DT_F32, sin_row.data, i, i % 16 ? sin(angle) : 0.0);
            }
            unsigned char *image = window_snapshot(&dst);
            for (size_t i = 0; i < pairs; i++) {
                double out[2];
                reference_rotate(
                    type, arith, dtype_load(type, src.data, reference_place(from, pairs, i, 0)),
                    dtype_load(type, src.data, reference_place(from, pairs, i, 1)),
                    dtype_load(DT_F32, cos_row.data, i), dtype_load(DT_F32, sin_row.data, i), out);
                dtype_store(type, image, reference_place(to, pairs, i, 0), out[0]);
                dtype_store(type, image, reference_place(to, pairs, i, 1), out[1]);
            }
            const struct rope_rotate_args args = {.src = src.data,
                                                  .dst = dst.data,
                                                  .heads = 1,
                                                  .tokens = 1,
                                                  .pairs = pairs,
                                                  .src_half = pairs,
                                                  .dst_half = pairs,
                                                  .cos = cos_row.data,
                                                  .sin = sin_row.data};
            set->kernels->rotate[arith][pairing][type](&args);
            char what[128];
            snprintf(what, sizeof what,
                     "set %s, slot rotate, all values from %zu, arith %d, pairing %d, %s",
                     set->name, done, arith, pairing, dtype_name(type));
            window_check(&dst, what);
        }
    }
}

/* ---- rows, direct, direct_f32 ---- */

/* Elements of the array `cos` (and of `sin`, unless the layout has none). */
static size_t row_elements(enum rope_kernel_layout layout, size_t pairs, size_t dup)
{
    switch (layout) {
    case RK_SEPARATE:
        return pairs;
    case RK_DUP_HALF:
        return dup + pairs;
    default:
        return 2 * pairs;
    }
}

/* Puts entry i of a row where its layout wants it. */
static void row_store(enum dtype type, enum rope_kernel_layout layout, size_t dup, void *cos_row,
                      void *sin_row, size_t i, const double value[2])
{
    void *const rows[2] = {cos_row, sin_row};
    for (int part = 0; part < 2; part++) {
        switch (layout) {
        case RK_SEPARATE:
            dtype_store(type, rows[part], i, value[part]);
            break;
        case RK_PAIRS:
            dtype_store(type, cos_row, 2 * i + (size_t)part, value[part]);
            break;
        case RK_DUP_HALF:
            dtype_store(type, rows[part], i, value[part]);
            dtype_store(type, rows[part], dup + i, value[part]);
            break;
        case RK_DUP_PAIRS:
            dtype_store(type, rows[part], 2 * i, value[part]);
            dtype_store(type, rows[part], 2 * i + 1, value[part]);
            break;
        }
    }
}

static double row_load(enum dtype type, enum rope_kernel_layout layout, const void *cos_row,
                       const void *sin_row, size_t i, int part)
{
    if (layout == RK_PAIRS)
        return dtype_load(type, cos_row, 2 * i + (size_t)part);
    return dtype_load(type, part ? sin_row : cos_row, layout == RK_DUP_PAIRS ? 2 * i : i);
}

/*
 * A table entry whose value is on, or one f64 step beside, the middle between two neighbours of the
 * type: rounding by way of f32 gets it wrong.
 */
static double near_halfway(struct rng *rng, enum dtype type)
{
    double value = rng_element(rng, type, FILL_PLAIN);
    if (rng_below(rng, 4) == 0) /* any binade, subnormals too */
        value = rng_element(rng, type, FILL_BITS);
    if (!(fabs(value) < 1e300))
        value = 1.0;
    const double middle = value + copysign(0.5 * dtype_ulp(type, value), value);
    const double beside[] = {middle, nextafter(middle, 0.0), nextafter(middle, 2.0 * middle),
                             value};
    return beside[rng_below(rng, 4)];
}

#define MAX_PAIRS   256
#define MASK_STRIDE (MAX_PAIRS + 8)
static double table[RK_MAX_AXES][4][2][MAX_PAIRS]; /* [axis][factor][cos, sin] */

/* The last n of MAX_PAIRS numbers, which end where their memory ends. */
static double *last_of(double *array, size_t n)
{
    return array + (MAX_PAIRS - n);
}

/* A copy that ends at a guard page: to read one number more ends the test. */
static const double *guarded_copy(int operand, const double *array, size_t n)
{
    return memcpy(guarded_end(&memory[operand], n * sizeof *array, 0), array, n * sizeof *array);
}

/* Positions of several axes: which axis each entry takes. */
struct test_mix {
    struct rope_rows_mix mix;
    unsigned char axis[MAX_PAIRS];
    unsigned char present[MAX_PAIRS / RK_AXES_GROUP + 9];
    double masks[RK_MAX_AXES * MASK_STRIDE];
};

static void make_mix(struct rng *rng, size_t pairs, struct test_mix *out)
{
    struct rope_rows_mix *mix = &out->mix;
    memset(out, 0, sizeof *out);
    mix->axes = 2 + rng_below(rng, RK_MAX_AXES - 1);
    mix->first = rng_below(rng, 40);
    mix->present = out->present;
    mix->mask_stride = pairs + rng_below(rng, 8);
    size_t run = 0, axis = 0;
    const int scattered = rng_below(rng, 2) == 0;
    for (size_t i = 0; i < pairs; i++) {
        if (run-- == 0) {
            axis = rng_below(rng, mix->axes);
            run = scattered ? 0 : rng_below(rng, 30);
        }
        out->axis[i] = (unsigned char)axis;
        out->present[(mix->first + i) / RK_AXES_GROUP] |= (unsigned char)(1 << axis);
        for (size_t a = 0; a < mix->axes; a++)
            out->masks[a * mix->mask_stride + i] = a == axis ? -1.0 : 1.0;
    }
    /* What the neighbours in the groups at both ends take. */
    out->present[mix->first / RK_AXES_GROUP] |= (unsigned char)rng_below(rng, 1u << mix->axes);
    out->present[(mix->first + pairs - 1) / RK_AXES_GROUP] |=
        (unsigned char)rng_below(rng, 1u << mix->axes);
    mix->masks = guarded_copy(DST, out->masks, (mix->axes - 1) * mix->mask_stride + pairs);
    for (size_t a = 0; a < mix->axes; a++)
        mix->sin_scale[a] = rng_below(rng, 2) ? 1.5 : -1.5;
}

static void check_rows(const struct set *set, enum dtype type, enum rope_kernel_layout layout,
                       size_t pairs, size_t factors, int mixed, int at_end, struct rng *rng)
{
    static struct test_mix mix;
    static const double scales[] = {1.0, -1.0, 1.25, 0.1, 1e-6, 1e-30, 1e-41, 7e4, 3.39e38, 1e39};
    const size_t dup = pairs + rng_below(rng, 4);
    const size_t gap = rng_maybe(rng, 64);
    const int halfway = factors == 1 && rng_below(rng, 2);
    const size_t n = row_elements(layout, pairs, dup);
    const struct window cos_row = window_make(COS, type, n, at_end, gap);
    const struct window sin_row = window_make(SIN, type, n, at_end, gap);
    struct rope_rows_args args = {
        .cos = cos_row.data,
        .sin = layout == RK_PAIRS ? NULL : sin_row.data,
        .layout = layout,
        .dup = layout == RK_DUP_HALF ? dup : 0,
        .pairs = pairs,
        .cos_scale = halfway ? 1.0 : scales[rng_below(rng, sizeof scales / sizeof *scales)],
        .sin_scale = halfway ? -1.0 : scales[rng_below(rng, sizeof scales / sizeof *scales)],
        .factors = factors,
    };
    size_t axes = 1;
    if (mixed) {
        make_mix(rng, pairs, &mix);
        args.mix = &mix.mix;
        axes = mix.mix.axes;
    }
    const size_t guarded = rng_below(rng, axes * factors * 2);
    for (size_t j = 0; j < axes * factors * 2; j++) {
        const size_t axis = j / 2 / factors;
        const size_t k = j / 2 % factors;
        double *row = table[axis][k][j % 2];
        if (rng_below(rng, 2))
            row = last_of(row, pairs);
        for (size_t i = 0; i < pairs; i++)
            row[i] = halfway       ? near_halfway(rng, type)
                     : i % 16 == 0 ? (double)(j % 2)
                                   : rng_real(rng, 1.0);
        const double *used = row;
        if (j == guarded)
            used = guarded_copy(SRC, row, pairs);
        const double **const slot =
            mixed ? (j % 2 ? &mix.mix.table_sin[axis][k] : &mix.mix.table_cos[axis][k])
                  : (j % 2 ? &args.table_sin[k] : &args.table_cos[k]);
        *slot = used;
    }
    unsigned char *cos_image = window_snapshot(&cos_row);
    unsigned char *sin_image = window_snapshot(&sin_row);
    set->kernels->rows[type](&args);
    for (size_t i = 0; i < pairs; i++) {
        double c[4], s[4], exact[2], out[2];
        for (size_t k = 0; k < factors; k++) {
            c[k] = mixed ? mix.mix.table_cos[mix.axis[i]][k][i] : args.table_cos[k][i];
            s[k] = mixed ? mix.mix.table_sin[mix.axis[i]][k][i] : args.table_sin[k][i];
        }
        reference_product(DT_F64, factors, c, s, args.cos_scale,
                          mixed ? mix.mix.sin_scale[mix.axis[i]] : args.sin_scale, exact);
        for (int part = 0; part < 2; part++) {
            out[part] = dtype_round(type, exact[part]);
            /*
             * The one freedom that the contract gives: bf16 below 2^-126 may be rounded a second
             * time.
             */
            const double got = row_load(type, layout, cos_row.data, sin_row.data, i, part);
            if (type == DT_BF16 && fabs(exact[part]) < 0x1p-126 &&
                fabs(got - exact[part]) <= 0x1p-134 + 0x1p-150)
                out[part] = got;
        }
        row_store(type, layout, dup, cos_image, sin_image, i, out);
    }
    char what[192];
    snprintf(what, sizeof what,
             "set %s, slot rows, %s, layout %d, pairs %zu, factors %zu, axes %zu, scales %g %g%s",
             set->name, dtype_name(type), (int)layout, pairs, factors, axes, args.cos_scale,
             args.sin_scale, halfway ? ", halfway" : "");
    window_check(&cos_row, what);
    window_check(&sin_row, what);
}

static void test_rows(void **state)
{
    const struct set *set = set_of(state);

    struct rng rng = rng_make(4);
    for (size_t pairs = 1; pairs; pairs = next_length(set->isa, pairs))
        for (int type = 0; type < DTYPES; type++)
            for (int layout = RK_SEPARATE; layout <= RK_DUP_PAIRS; layout++)
                for (size_t factors = 1; factors <= 4; factors++)
                    for (int at_end = 0; at_end < 2; at_end++)
                        for (int mixed = 0; mixed < 2; mixed++)
                            if (!test_reduced() || (pairs + factors + (size_t)layout) % 3 == 0)
                                check_rows(set, (enum dtype)type, (enum rope_kernel_layout)layout,
                                           pairs, factors, mixed, at_end, &rng);
}

/* A run: rows of two factors each, some of which share the coarse one. */
static void check_run(const struct set *set, enum dtype type, size_t pairs, size_t rows, int stream,
                      int unit, struct rng *rng)
{
    static double fine[RK_RUN][2 * MAX_PAIRS], coarse[RK_RUN][2 * MAX_PAIRS];
    const size_t gap = stream ? 0 : rng_maybe(rng, 9), line = 64 / dtype_size(type);
    const size_t step = pairs + (stream ? line * rng_below(rng, 2) : gap);
    const struct window cos_rows =
        window_make(COS, type, (rows - 1) * step + pairs, stream ? 0 : 1, 0);
    const struct window sin_rows = window_make(SIN, type, (rows - 1) * step + pairs, 0, 0);
    struct rope_run_args args = {
        .cos = cos_rows.data,
        .sin = sin_rows.data,
        .step = (ptrdiff_t)(step * dtype_size(type)),
        .stream = stream,
        .unit = unit,
        .pairs = pairs,
        .rows = rows,
        .sin_at = pairs,
        .cos_scale = unit ? 1.0 : 1.25,
    };
    for (size_t r = 0; r < rows; r++) {
        for (size_t i = 0; i < 2 * pairs; i++) {
            fine[r][i] = i % 16 == 0 ? 1.0 : rng_real(rng, 1.0);
            coarse[r][i] = i % 16 == 0 ? 0.0 : rng_real(rng, 1.0);
        }
        args.fine[r] = r + 1 == rows ? guarded_copy(SRC, fine[r], 2 * pairs) : fine[r];
        args.coarse[r] = r != 0 && rng_below(rng, 3) ? args.coarse[r - 1] : coarse[r];
        args.sin_scale[r] = unit ? 1.0 : rng_below(rng, 2) ? 1.25 : -0.8;
    }
    unsigned char *cos_image = window_snapshot(&cos_rows);
    unsigned char *sin_image = window_snapshot(&sin_rows);
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < pairs; i++) {
            const double c[2] = {args.fine[r][i], args.coarse[r][i]};
            const double s[2] = {args.fine[r][pairs + i], args.coarse[r][pairs + i]};
            double out[2];
            reference_product(type, 2, c, s, args.cos_scale, args.sin_scale[r], out);
            dtype_store(type, cos_image, r * step + i, out[0]);
            dtype_store(type, sin_image, r * step + i, out[1]);
        }
    set->kernels->run[type](&args);
    set->kernels->fence();
    char what[128];
    snprintf(what, sizeof what, "set %s, slot run, %s, pairs %zu, rows %zu%s%s", set->name,
             dtype_name(type), pairs, rows, stream ? ", streamed" : "", unit ? ", unit" : "");
    window_check(&cos_rows, what);
    window_check(&sin_rows, what);
}

static void test_run(void **state)
{
    const struct set *set = set_of(state);

    struct rng rng = rng_make(10);
    for (size_t pairs = 1; pairs; pairs = next_length(set->isa, pairs))
        for (int t = 0; t < DTYPES; t++) {
            const enum dtype type = (enum dtype)t;
            if (type == DT_F64)
                continue;
            for (int kind = 0; kind < 4; kind++) {
                const int stream = kind / 2;
                if (stream && pairs * dtype_size(type) % 64 != 0)
                    continue;
                check_run(set, type, pairs, 1, stream, kind % 2, &rng);
                check_run(set, type, pairs, RK_RUN, stream, kind % 2, &rng);
                check_run(set, type, pairs, 1 + rng_below(&rng, RK_RUN), stream, kind % 2, &rng);
            }
        }
}

/* Streamed rows are the rows: every length that fills whole lines. */
static void test_rows_stream(void **state)
{
    const struct set *set = set_of(state);

    struct rng rng = rng_make(5);
    for (int t = 0; t < DTYPES; t++) {
        const enum dtype type = (enum dtype)t;
        const size_t line = 64 / dtype_size(type);
        for (size_t pairs = line; pairs <= MAX_PAIRS; pairs += line) {
            const struct window cos_row = window_make(COS, type, pairs, pairs / line % 2, 0);
            const struct window sin_row = window_make(SIN, type, pairs, 1, 0);
            struct rope_rows_args args = {.cos = cos_row.data,
                                          .sin = sin_row.data,
                                          .layout = RK_SEPARATE,
                                          .stream = 1,
                                          .pairs = pairs,
                                          .cos_scale = 1.5,
                                          .sin_scale = -1.5,
                                          .factors = 2};
            for (size_t k = 0; k < 2; k++) {
                for (size_t i = 0; i < pairs; i++) {
                    table[0][k][0][i] = rng_real(&rng, 1.0);
                    table[0][k][1][i] = rng_real(&rng, 1.0);
                }
                args.table_cos[k] = table[0][k][0];
                args.table_sin[k] = table[0][k][1];
            }
            unsigned char *cos_image = window_snapshot(&cos_row);
            unsigned char *sin_image = window_snapshot(&sin_row);
            for (size_t i = 0; i < pairs; i++) {
                const double c[2] = {table[0][0][0][i], table[0][1][0][i]};
                const double s[2] = {table[0][0][1][i], table[0][1][1][i]};
                double out[2];
                reference_product(type, 2, c, s, 1.5, -1.5, out);
                row_store(type, RK_SEPARATE, 0, cos_image, sin_image, i, out);
            }
            set->kernels->rows[type](&args);
            set->kernels->fence();
            char what[96];
            snprintf(what, sizeof what, "set %s, slot rows streamed, %s, pairs %zu", set->name,
                     dtype_name(type), pairs);
            window_check(&cos_row, what);
            window_check(&sin_row, what);
        }
    }
}

/* Positions at which direct rows are checked. */
static double direct_position(struct rng *rng, int f32)
{
    static const double edges[] = {
        0,       1,        -1,       40,          511,          4095, 32767, 131071,  1048575,
        1048576, 16777216, 16777217, 2147483647., -2147483647., 0.5,  -0.25, 1.0 / 3, 1234567.875};
    const size_t which = rng_below(rng, 24);
    double position;
    if (which < sizeof edges / sizeof *edges)
        position = edges[which];
    else if (which % 2)
        position = trunc(rng_real(rng, 2147483647.0));
    else
        position = rng_real(rng, 65536.0);
    return f32 ? (double)(float)position : position;
}

/* An entry of a direct row must lie within the bounds of the header, in every layout and place. */
static void check_direct(const struct set *set, int f32, enum dtype type,
                         enum rope_kernel_layout layout, size_t pairs, int mixed, int at_end,
                         struct rng *rng)
{
    static double hi[MAX_PAIRS], lo[MAX_PAIRS];
    static struct test_mix mix;
    const size_t dup = pairs + rng_below(rng, 4);
    const size_t gap = rng_maybe(rng, 64);
    const size_t n = row_elements(layout, pairs, dup);
    const double scale = rng_below(rng, 2) ? 1.0 : 1.4142135623730951;
    const double theta = rng_below(rng, 2) ? 10000.0 : 500000.0;
    const struct window cos_row = window_make(COS, type, n, at_end, gap);
    const struct window sin_row = window_make(SIN, type, n, at_end, gap);
    double *const first = last_of(hi, pairs);
    double *const second = last_of(lo, pairs);
    struct rope_rows_args args = {
        .cos = cos_row.data,
        .sin = layout == RK_PAIRS ? NULL : sin_row.data,
        .layout = layout,
        .dup = layout == RK_DUP_HALF ? dup : 0,
        .pairs = pairs,
        .cos_scale = scale,
        .sin_scale = -scale,
        .position = direct_position(rng, f32),
    };
    if (mixed) {
        make_mix(rng, pairs, &mix);
        args.mix = &mix.mix;
        for (size_t a = 0; a < mix.mix.axes; a++) {
            mix.mix.position[a] = direct_position(rng, f32);
            mix.mix.sin_scale[a] = -scale;
        }
    }
    /* Frequencies up to the 2^20 that the header allows. */
    const double widest = rng_below(rng, 4) ? 1.0 : 0x1p20;
    mpfr_t frequency, angle, two_pi, tail;
    mpfr_inits2(REFERENCE_BITS, frequency, angle, two_pi, tail, (mpfr_ptr)NULL);
    mpfr_const_pi(two_pi, MPFR_RNDN);
    mpfr_mul_ui(two_pi, two_pi, 2, MPFR_RNDN);
    for (size_t i = 0; i < pairs; i++) {
        reference_frequency(frequency, theta, 1.0 / widest, i, 2 * pairs);
        if (f32) {
            first[i] = mpfr_get_flt(frequency, MPFR_RNDN);
            continue;
        }
        mpfr_div(frequency, frequency, two_pi, MPFR_RNDN);
        first[i] = reference_f64(frequency);
        mpfr_sub_d(tail, frequency, first[i], MPFR_RNDN);
        second[i] = reference_f64(tail);
    }
    if (f32) {
        args.freq = guarded_copy(SRC, first, pairs);
    } else {
        args.turns_hi = rng_below(rng, 2) ? first : guarded_copy(SRC, first, pairs);
        args.turns_lo = args.turns_hi == first ? guarded_copy(SRC, second, pairs) : second;
    }

    unsigned char *cos_image = window_snapshot(&cos_row);
    unsigned char *sin_image = window_snapshot(&sin_row);
    (f32 ? set->kernels->direct_f32 : set->kernels->direct)[type](&args);
    char what[192];
    snprintf(what, sizeof what, "set %s, slot direct%s, %s, layout %d, pairs %zu, %s", set->name,
             f32 ? "_f32" : "", dtype_name(type), (int)layout, pairs,
             mixed ? "several axes" : "one axis");
    for (size_t i = 0; i < pairs; i++) {
        struct reference_bounds bounds[2];
        const double position = mixed ? mix.mix.position[mix.axis[i]] : args.position;
        const double out[2] = {row_load(type, layout, cos_row.data, sin_row.data, i, 0),
                               row_load(type, layout, cos_row.data, sin_row.data, i, 1)};
        if (f32) {
            mpfr_set_flt(angle, (float)position * (float)first[i], MPFR_RNDN);
        } else {
            mpfr_set_d(angle, first[i], MPFR_RNDN);
            mpfr_add_d(angle, angle, second[i], MPFR_RNDN);
            mpfr_mul_d(angle, angle, position, MPFR_RNDN);
            mpfr_mul(angle, angle, two_pi, MPFR_RNDN);
        }
        reference_cos_sin(type, angle, args.cos_scale, args.sin_scale, 1.0, 4e-16 * scale, bounds);
        for (int part = 0; part < 2; part++)
            if (!reference_within(bounds[part], out[part]))
                fail_msg("%s, entry %zu, position %.17g: %s %a not in %a..%a, seed %#" PRIx64, what,
                         i, position, part ? "sine" : "cosine", out[part], bounds[part].low,
                         bounds[part].high, test_seed());
        row_store(type, layout, dup, cos_image, sin_image, i, out);
    }
    mpfr_clears(frequency, angle, two_pi, tail, (mpfr_ptr)NULL);
    window_check(&cos_row, what); /* copies equal, nothing else written */
    window_check(&sin_row, what);
}

static void test_direct(void **state)
{
    const struct set *set = set_of(state);

    struct rng rng = rng_make(6);
    for (int f32 = 0; f32 < 2; f32++)
        for (size_t pairs = 1; pairs; pairs = next_length(set->isa, pairs))
            for (int type = 0; type < DTYPES; type++)
                for (int layout = RK_SEPARATE; layout <= RK_DUP_PAIRS; layout++)
                    if (!test_reduced() || (layout + type + (int)pairs) % 12 == 0)
                        for (int mixed = 0; mixed < ((layout + (int)pairs) % 3 ? 1 : 2); mixed++)
                            check_direct(set, f32, (enum dtype)type,
                                         (enum rope_kernel_layout)layout, pairs, mixed,
                                         (int)pairs % 2, &rng);
}

/* All sets give the bits of the first: direct rows are defined by accuracy, so the reference cannot
 * say it. */
static void test_direct_equal(void **state)
{
    const struct set *set = set_of(state);

    const struct rope_kernels *scalar = sets[0].kernels;
    if (set->isa == ROPE_ISA_SCALAR) {
        print_message(
            "skipped: %s is the one that others are compared with, or is x86 without FMA\n",
            set->name);
        skip();
    }
    struct rng rng = rng_make(7);
    static double hi[MAX_PAIRS], lo[MAX_PAIRS];
    const int rounds = test_reduced() ? 20 : 500;
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < DTYPES; t++) {
            const enum dtype type = (enum dtype)t;
            const size_t pairs = 1 + rng_below(&rng, 70);
            const int f32 = round % 2;
            for (size_t i = 0; i < pairs; i++) {
                const int exponent = (int)rng_below(&rng, 38) - 20;
                hi[i] = ldexp(rng_real(&rng, 1.0), exponent);
                if (f32)
                    hi[i] = (double)(float)hi[i];
                lo[i] = rng_real(&rng, 0.5) * dtype_ulp(DT_F64, hi[i]);
            }
            struct rope_rows_args args = {.layout = RK_SEPARATE,
                                          .pairs = pairs,
                                          .cos_scale = 1.25,
                                          .sin_scale = -0.75,
                                          .position = direct_position(&rng, f32),
                                          .turns_hi = hi,
                                          .turns_lo = lo,
                                          .freq = hi};
            args.cos = expected[COS];
            args.sin = expected[SIN];
            (f32 ? scalar->direct_f32 : scalar->direct)[type](&args);
            args.cos = memory[COS].base;
            args.sin = memory[SIN].base;
            (f32 ? set->kernels->direct_f32 : set->kernels->direct)[type](&args);
            for (int part = 0; part < 2; part++) {
                const void *first = expected[part ? SIN : COS];
                const void *other = memory[part ? SIN : COS].base;
                const size_t i = image_differs(type, first, other, pairs, NULL);
                /* Where the emulator rounds ties of f16 wrongly the two may differ; there is
                 * nothing to compare. */
                if (i != pairs && !(type == DT_F16 && test_f16_ties_probe()))
                    fail_msg("set %s, slot direct%s, %s, pairs %zu, position %.17g, entry %zu: %a, "
                             "scalar has %a, "
                             "seed %#" PRIx64,
                             set->name, f32 ? "_f32" : "", dtype_name(type), pairs, args.position,
                             i, dtype_load(type, other, i), dtype_load(type, first, i),
                             test_seed());
            }
        }
}

/* ---- widen ---- */

static void test_widen(void **state)
{
    const struct set *set = set_of(state);

    struct rng rng = rng_make(8);
    for (int t = DT_F16; t <= DT_BF16; t++)
        for (size_t step = 1; step <= 2; step++)
            for (size_t length = 0; length != SIZE_MAX; length = length == 65536 ? SIZE_MAX
                                                                 : length >= 70  ? 65536
                                                                                 : length + 1) {
                const enum dtype type = (enum dtype)t;
                const size_t gap = rng_maybe(&rng, 32);
                const int at_end = length > 70 || rng_below(&rng, 2);
                const struct window src =
                    window_make(SRC, type, length ? (length - 1) * step + 1 : 0, at_end, gap);
                const struct window dst = window_make(DST, DT_F32, length, at_end, gap);
                for (size_t i = 0; i < length; i++) {
                    const uint16_t bits = (uint16_t)(length > 70 ? i : rng_next(&rng));
                    memcpy(src.data + 2 * step * i, &bits, 2);
                }
                window_snapshot(&src);
                unsigned char *image = window_snapshot(&dst);
                for (size_t i = 0; i < length; i++)
                    dtype_store(DT_F32, image, i, dtype_load(type, src.data, step * i));
                set->kernels->widen[type]((float *)(void *)dst.data, src.data, step, length);
                char what[96];
                snprintf(what, sizeof what, "set %s, slot widen, %s, step %zu, n %zu", set->name,
                         dtype_name(type), step, length);
                window_check(&dst, what);
                window_check(&src, what);
            }
}

/* ---- powers ---- */

static void split_dd(mpfr_srcptr value, double *hi, double *lo)
{
    mpfr_t rest;
    mpfr_init2(rest, REFERENCE_BITS);
    *hi = reference_f64(value);
    mpfr_sub_d(rest, value, *hi, MPFR_RNDN);
    *lo = reference_f64(rest);
    mpfr_clear(rest);
}

static void check_powers(const struct set *set, size_t pairs, size_t rows, size_t gap,
                         struct rng *rng)
{
    double step[4][MAX_PAIRS]; /* re hi, re lo, im hi, im lo */
    mpfr_t theta, re, im, power_re, power_im, a, b, error;
    mpfr_inits2(REFERENCE_BITS, theta, re, im, power_re, power_im, a, b, error, (mpfr_ptr)NULL);
    const size_t stride = pairs + gap;
    const size_t n = (rows - 1) * stride + pairs;
    const struct window cos_rows = window_make(COS, DT_F64, n, 1, 0);
    const struct window sin_rows = window_make(SIN, DT_F64, n, (int)(pairs % 2), 0);
    unsigned char *cos_image = window_snapshot(&cos_rows);
    unsigned char *sin_image = window_snapshot(&sin_rows);
    double end[2][MAX_PAIRS][2]; /* z^rows as hi, lo */
    for (size_t i = 0; i < pairs; i++) {
        /* From a full turn down to 1e-7, and the exact rotations by 0 and by a quarter turn. */
        const double small = pow(10.0, -(double)rng_below(rng, 8));
        mpfr_set_d(theta, i % 8 == 5 ? 0.0 : rng_real(rng, 3.2) * small, MPFR_RNDN);
        mpfr_sin_cos(im, re, theta, MPFR_RNDN);
        split_dd(re, &step[0][i], &step[1][i]);
        split_dd(im, &step[2][i], &step[3][i]);
        if (i % 8 == 6) {
            step[0][i] = step[1][i] = step[3][i] = 0.0;
            step[2][i] = 1.0;
        }
        mpfr_set_d(re, step[0][i], MPFR_RNDN);
        mpfr_add_d(re, re, step[1][i], MPFR_RNDN);
        mpfr_set_d(im, step[2][i], MPFR_RNDN);
        mpfr_add_d(im, im, step[3][i], MPFR_RNDN);
        mpfr_set_ui(power_re, 1, MPFR_RNDN);
        mpfr_set_ui(power_im, 0, MPFR_RNDN);
        for (size_t k = 0; k <= rows; k++) {
            if (k < rows) {
                dtype_store(DT_F64, cos_image, k * stride + i, reference_f64(power_re) + 0.0);
                dtype_store(DT_F64, sin_image, k * stride + i, reference_f64(power_im) + 0.0);
            }
            if (k == rows) {
                split_dd(power_re, &end[0][i][0], &end[0][i][1]);
                split_dd(power_im, &end[1][i][0], &end[1][i][1]);
            }
            mpfr_fmms(a, power_re, re, power_im, im, MPFR_RNDN);
            mpfr_fmma(b, power_re, im, power_im, re, MPFR_RNDN);
            mpfr_swap(a, power_re);
            mpfr_swap(b, power_im);
        }
    }
    struct rope_powers_args args = {
        .table_cos = (double *)(void *)cos_rows.data,
        .table_sin = (double *)(void *)sin_rows.data,
        .row_stride = stride,
        .rows = rows,
        .pairs = pairs,
        .re_hi = step[0],
        .re_lo = step[1],
        .im_hi = step[2],
        .im_lo = step[3],
    };
    set->kernels->powers(&args);
    for (size_t i = 0; i < n; i++) { /* the contract leaves the sign of a zero open */
        args.table_cos[i] += 0.0;
        args.table_sin[i] += 0.0;
    }
    char what[96];
    snprintf(what, sizeof what, "set %s, slot powers, pairs %zu, rows %zu", set->name, pairs, rows);
    window_check(&cos_rows, what);
    window_check(&sin_rows, what);
    for (size_t i = 0; i < pairs; i++)
        for (int part = 0; part < 2; part++) {
            const double hi = step[2 * part][i];
            const double lo = step[2 * part + 1][i];
            /* Both sides are double-double of magnitude <= 1: 2^-90 is 1 / 16384 of the last place
             * of their sum. */
            const double difference = (hi - end[part][i][0]) + (lo - end[part][i][1]);
            if (!(fabs(difference) <= 0x1p-90))
                fail_msg("%s, pair %zu: the %s of z^rows is off by %g, seed %#" PRIx64, what, i,
                         part ? "imaginary part" : "real part", difference, test_seed());
        }
    mpfr_clears(theta, re, im, power_re, power_im, a, b, error, (mpfr_ptr)NULL);
}

static void test_powers(void **state)
{
    const struct set *set = set_of(state);

    struct rng rng = rng_make(9);
    if (test_fma_loses_bits()) {
        print_message("skipped: the fma of this emulator loses the bits that powers/%s is about\n",
                      set->name);
        skip();
    }
    for (size_t pairs = 1; pairs <= (test_reduced() ? 19 : 35); pairs++) {
        check_powers(set, pairs, 1 + pairs % 5, pairs % 3, &rng);
        check_powers(set, pairs, 17, 0, &rng);
    }
    check_powers(set, 64, 200, 0, &rng);
    check_powers(set, 13, test_reduced() ? 64 : 2048, 3, &rng);
}

/* ---- Main: every test once per set ---- */

int main(void)
{
    static const struct {
        const char *name;
        CMUnitTestFunction function;
    } families[] = {
        {"complete", test_complete},
        {"rotate", test_rotate},
        {"misaligned", test_misaligned},
        {"streamed", test_streamed},
        {"all_values", test_all_values},
        {"rows", test_rows},
        {"rows_stream", test_rows_stream},
        {"run", test_run},
        {"direct", test_direct},
        {"direct_equal", test_direct_equal},
        {"widen", test_widen},
        {"powers", test_powers},
    };
    enum { FAMILIES = sizeof families / sizeof *families };
    static char names[FAMILIES * 2 * TEST_ISAS][48];
    static struct CMUnitTest tests[FAMILIES * 2 * TEST_ISAS];
    const int count = list_sets();
    for (int i = 0; i < FAMILIES * count; i++) {
        struct set *set = &sets[i / FAMILIES];
        snprintf(names[i], sizeof names[i], "%s/%s", families[i % FAMILIES].name, set->name);
        tests[i] = (struct CMUnitTest){
            .name = names[i], .test_func = families[i % FAMILIES].function, .initial_state = set};
    }
    return cmocka_run_group_tests_name("kernels", tests, make_memory, free_memory);
}
