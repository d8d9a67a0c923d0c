/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations beside the rotation: from one plan to another, shifts and their drift, permutation of
 * weights.  Expected values come from formulas in f64 or MPFR; only the public interface is used.
 */
#include "reference.h"
#include "support.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Helpers ---- */

static size_t pairs_of(const rope_plan *plan)
{
    rope_info info = ROPE_INFO_INIT;
    assert_int_equal(rope_plan_info(plan, &info), ROPE_OK);
    return info.rotary_dim / 2;
}

/* f_i as hi + lo. */
static void frequencies_of(const rope_plan *plan, double *hi, double *lo)
{
    assert_int_equal(rope_plan_inv_freq(plan, hi, lo, pairs_of(plan)), ROPE_OK);
}

/* Calls rope_rotate or rope_shift with [tokens, heads, head_dim] of k, in place, int32 positions. */
static rope_status call_with(rope_status (*call)(const rope_plan *, const rope_job *),
                             const rope_plan *plan, rope_direction direction, enum dtype type,
                             void *data, size_t tokens, size_t heads, const int32_t *at)
{
    rope_tensor k = ROPE_TENSOR_INIT;
    rope_positions positions = ROPE_POSITIONS_INIT;
    rope_job job = ROPE_JOB_INIT;
    char message[100] = "";
    k.dtype = (rope_dtype)type + ROPE_F32;
    k.src = k.dst = data;
    k.heads = heads;
    positions.dtype = ROPE_I32;
    positions.data = at;
    job.tokens = tokens;
    job.k = &k;
    job.positions = &positions;
    job.direction = direction;
    job.message = message;
    job.message_size = sizeof message;
    const rope_status status = call(plan, &job);
    assert_true((status == ROPE_OK) == (message[0] == 0));
    return status;
}

static rope_status turn(const rope_plan *plan, rope_direction direction, enum dtype type,
                        void *data, size_t tokens, size_t heads, const int32_t *at)
{
    return call_with(rope_rotate, plan, direction, type, data, tokens, heads, at);
}

static void expect_near(const double *expected, const double *actual, size_t n, double bound,
                        const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(expected[i] - actual[i]) <= bound))
            fail_msg("%s: element %zu: expected %.17g, got %.17g, seed %#" PRIx64, what, i,
                     expected[i], actual[i], test_seed());
}

/* ---- Wavelengths ---- */

static void test_wavelengths(void **state)
{
    (void)state;
    static const double thetas[] = {100, 10000, 500000, 1e7};
    mpfr_t truth, two_pi;
    mpfr_inits2(REFERENCE_BITS, truth, two_pi, (mpfr_ptr)0);
    mpfr_const_pi(two_pi, MPFR_RNDN);
    mpfr_mul_ui(two_pi, two_pi, 2, MPFR_RNDN);
    for (size_t k = 0; k < (test_reduced() ? 1 : COUNT(thetas)); k++) {
        double wavelengths[64];
        rope_plan *plan = plan_from(spec_default(128, thetas[k]));
        assert_int_equal(rope_plan_wavelengths(plan, wavelengths, 64), ROPE_OK);
        for (size_t i = 0; i < 64; i++) {
            reference_frequency(truth, thetas[k], 1, i, 128);
            mpfr_div(truth, two_pi, truth, MPFR_RNDN);
            assert_true(dtype_ulps(DT_F64, reference_f64(truth), wavelengths[i]) <= 1);
        }
        assert_int_equal(rope_plan_wavelengths(plan, wavelengths, 63), ROPE_ERR_VALUE);
        assert_int_equal(rope_plan_wavelengths(plan, NULL, 64), ROPE_ERR_NULL);
        assert_int_equal(rope_plan_wavelengths(NULL, wavelengths, 64), ROPE_ERR_NULL);
        rope_plan_destroy(plan);
    }
    mpfr_clears(truth, two_pi, (mpfr_ptr)0);

    static const double own[3] = {0.5, 0.0, -0.25};
    double wavelengths[3];
    rope_spec spec = spec_default(6, 0);
    spec.scheme = ROPE_SCHEME_CUSTOM;
    spec.inv_freq = own;
    spec.inv_freq_count = 3;
    rope_plan *plan = plan_from(spec);
    assert_int_equal(rope_plan_wavelengths(plan, wavelengths, 3), ROPE_OK);
    assert_true(wavelengths[0] == 0x1.921fb54442d18p+3); /* 4 pi */
    assert_true(isinf(wavelengths[1]) && wavelengths[1] > 0);
    assert_true(wavelengths[2] == 0x1.921fb54442d18p+4); /* of a pair that turns backwards */
    rope_plan_destroy(plan);
}

/* ---- From one plan to another ---- */

enum { DIM = 64, PAIRS = DIM / 2, TOKENS = 9, HEADS = 2, ELEMENTS = TOKENS * HEADS * DIM };
static const int32_t places[TOKENS] = {0, 1, -1, 17, 4095, 4096, 131071, -70000, INT32_MAX};

static void fill(struct rng *rng, double *data, size_t n)
{
    for (size_t i = 0; i < n; i++)
        data[i] = rng_real(rng, 1);
}

/* Two lists of a longrope model and the lengths that choose them. */
static rope_spec longrope_spec(const double *shorter, const double *longer, size_t length)
{
    rope_spec spec = spec_default(DIM, 10000);
    spec.scheme = ROPE_SCHEME_LONGROPE;
    spec.factor = 32;
    spec.original_length = 4096;
    spec.short_factor = shorter;
    spec.long_factor = longer;
    spec.factor_count = PAIRS;
    spec.length = length;
    return spec;
}

static void check_between(rope_spec old_spec, rope_spec new_spec, struct rng *rng, const char *what)
{
    static double data[ELEMENTS], expected[ELEMENTS];
    rope_plan *from = plan_from(old_spec), *to = plan_from(new_spec), *plan = NULL;
    assert_int_equal(rope_plan_between(from, to, &plan), ROPE_OK);

    /* the frequencies are the differences, to 100 bits of the larger one */
    double hi[3][PAIRS], lo[3][PAIRS];
    frequencies_of(from, hi[0], lo[0]);
    frequencies_of(to, hi[1], lo[1]);
    frequencies_of(plan, hi[2], lo[2]);
    mpfr_t error;
    mpfr_init2(error, REFERENCE_BITS);
    for (size_t i = 0; i < PAIRS; i++) {
        mpfr_set_d(error, hi[1][i], MPFR_RNDN);
        mpfr_add_d(error, error, lo[1][i], MPFR_RNDN);
        mpfr_sub_d(error, error, hi[0][i], MPFR_RNDN);
        mpfr_sub_d(error, error, lo[0][i], MPFR_RNDN);
        mpfr_sub_d(error, error, hi[2][i], MPFR_RNDN);
        mpfr_sub_d(error, error, lo[2][i], MPFR_RNDN);
        const double larger = fmax(fabs(hi[0][i]), fabs(hi[1][i]));
        assert_true(fabs(mpfr_get_d(error, MPFR_RNDN)) <= larger * 0x1p-100);
    }
    mpfr_clear(error);

    rope_info info = ROPE_INFO_INIT, old_info = ROPE_INFO_INIT, new_info = ROPE_INFO_INIT;
    assert_int_equal(rope_plan_info(plan, &info), ROPE_OK);
    assert_int_equal(rope_plan_info(from, &old_info), ROPE_OK);
    assert_int_equal(rope_plan_info(to, &new_info), ROPE_OK);
    assert_true(info.attention_factor == new_info.attention_factor / old_info.attention_factor);
    assert_int_equal(info.scheme, ROPE_SCHEME_CUSTOM);

    fill(rng, data, ELEMENTS);
    memcpy(expected, data, sizeof data);
    assert_int_equal(turn(from, ROPE_FORWARD, DT_F64, data, TOKENS, HEADS, places), ROPE_OK);
    rope_plan_destroy(from);
    assert_int_equal(turn(to, ROPE_FORWARD, DT_F64, expected, TOKENS, HEADS, places), ROPE_OK);
    rope_plan_destroy(to);
    assert_int_equal(turn(plan, ROPE_FORWARD, DT_F64, data, TOKENS, HEADS, places), ROPE_OK);
    /* two rotations of rounded rows, |x| <= sqrt 2 m */
    expect_near(expected, data, ELEMENTS, 8e-16 * 1.5 * new_info.attention_factor, what);
    rope_plan_destroy(plan);
}

static void test_between(void **state)
{
    (void)state;
    struct rng rng = rng_make(900);
    double shorter[PAIRS], longer[PAIRS];
    for (size_t i = 0; i < PAIRS; i++) {
        shorter[i] = 1 + rng_real(&rng, 0.1) * (i > 4);
        longer[i] = shorter[i] + (double)i * 0.7;
    }
    rope_spec shorts = longrope_spec(shorter, longer, 1);
    shorts.attention_factor = 1;
    rope_spec longs = longrope_spec(shorter, longer, 5000);
    check_between(shorts, longs, &rng, "longrope, short to long");
    if (!test_reduced()) /* plans take time */
        check_between(longs, shorts, &rng, "longrope, long to short");
    check_between(longs, longs, &rng, "to itself");

    rope_spec dynamic = spec_default(DIM, 10000);
    dynamic.scheme = ROPE_SCHEME_DYNAMIC_NTK;
    dynamic.factor = 4;
    dynamic.max_length = 2048;
    rope_spec longer_dynamic = dynamic;
    longer_dynamic.length = 8192;
    dynamic.pairing = longer_dynamic.pairing = ROPE_INTERLEAVED;
    check_between(dynamic, longer_dynamic, &rng, "dynamic ntk");

    static const int32_t sections[] = {10, 11, 11};
    rope_spec multi = spec_default(DIM, 1e6), linear = multi;
    multi.axis_layout = linear.axis_layout = ROPE_AXES_SECTIONS;
    multi.sections = linear.sections = sections;
    multi.section_count = linear.section_count = 3;
    linear.scheme = ROPE_SCHEME_LINEAR;
    linear.factor = 8;
    rope_plan *from = plan_from(multi), *to = plan_from(linear), *plan = NULL;
    assert_int_equal(rope_plan_between(from, to, &plan), ROPE_OK);
    rope_info info = ROPE_INFO_INIT;
    assert_int_equal(rope_plan_info(plan, &info), ROPE_OK);
    assert_int_equal(info.axes, 3);
    rope_plan_destroy(plan);

    /* refusals */
    rope_spec others[6];
    for (size_t i = 0; i < COUNT(others); i++)
        others[i] = multi;
    others[0].head_dim = DIM + 2;
    others[0].rotary_dim = DIM;
    others[1].pairing = ROPE_INTERLEAVED;
    others[2].angle = ROPE_ANGLE_F32;
    others[3].axis_layout = ROPE_AXES_ERNIE;
    others[3].sections = (const int32_t[]){11, 11, 10};
    others[4].pairing_chunk = DIM / 2;
    others[5].axis_layout = ROPE_AXES_ONE;
    others[5].sections = NULL;
    others[5].section_count = 0;
    for (size_t i = 0; i < COUNT(others); i++) {
        rope_plan *other = plan_from(others[i]);
        plan = from;
        assert_int_equal(rope_plan_between(from, other, &plan), ROPE_ERR_VALUE);
        assert_null(plan);
        assert_int_equal(rope_plan_between(other, from, &plan), ROPE_ERR_VALUE);
        rope_plan_destroy(other);
    }
    assert_int_equal(rope_plan_between(NULL, to, &plan), ROPE_ERR_NULL);
    assert_int_equal(rope_plan_between(from, NULL, &plan), ROPE_ERR_NULL);
    assert_int_equal(rope_plan_between(from, to, NULL), ROPE_ERR_NULL);
    rope_plan_destroy(from);
    rope_plan_destroy(to);
}

/* ---- Shift ---- */

static rope_status shift(const rope_plan *plan, rope_direction direction, enum dtype type,
                         void *data, const int32_t *distances)
{
    return call_with(rope_shift, plan, direction, type, data, TOKENS, HEADS, distances);
}

static void test_shift(void **state)
{
    (void)state;
    static double data[ELEMENTS], expected[ELEMENTS], before[ELEMENTS];
    struct rng rng = rng_make(901);
    rope_spec spec = spec_default(DIM, 500000);
    spec.attention_factor = 1.25;
    rope_plan *plan = plan_from(spec);
    int32_t from[TOKENS], distance[TOKENS], to[TOKENS];
    for (size_t t = 0; t < TOKENS; t++) {
        from[t] = (int32_t)rng_below(&rng, 1 << 20);
        distance[t] = (int32_t)rng_below(&rng, 1 << 21) - (1 << 20);
        to[t] = from[t] + distance[t];
    }
    fill(&rng, data, ELEMENTS);
    memcpy(expected, data, sizeof data);
    assert_int_equal(turn(plan, ROPE_FORWARD, DT_F64, data, TOKENS, HEADS, from), ROPE_OK);
    memcpy(before, data, sizeof data);
    assert_int_equal(turn(plan, ROPE_FORWARD, DT_F64, expected, TOKENS, HEADS, to), ROPE_OK);
    assert_int_equal(shift(plan, ROPE_INVERSE, DT_F64, data, distance), ROPE_ERR_VALUE);
    assert_int_equal(shift(plan, ROPE_TRANSPOSE, DT_F64, data, distance), ROPE_ERR_VALUE);
    assert_int_equal(rope_shift(plan, NULL), ROPE_ERR_NULL);
    assert_memory_equal(data, before, sizeof data);
    assert_int_equal(shift(plan, ROPE_FORWARD, DT_F64, data, distance), ROPE_OK);
    expect_near(expected, data, ELEMENTS, 8e-16 * 1.5 * 1.25, "shift");
    memcpy(expected, before, sizeof data);
    assert_int_equal(shift(plan, ROPE_SHIFT, DT_F64, expected, distance), ROPE_OK);
    assert_memory_equal(data, expected, sizeof data);
    rope_plan_destroy(plan);
}

/* Relative error (RMS) after n shifts of bf16 keys, as the header and the README state it. */
struct drift {
    int shifts;
    double least, most;
};

/*
 * Shifts by random distances (step 0) or always by step; beside them the rotation of the stored original by the
 * sum of the distances, whose error is that of one rounding.
 */
static void check_drift(int32_t step, const struct drift *figures)
{
    enum { KEYS = 256 };
    static uint16_t origin[KEYS * DIM], shifted[KEYS * DIM], again[KEYS * DIM];
    static double truth[KEYS * DIM];
    struct rng rng = rng_make(902);
    rope_plan *plan = plan_from(spec_default(DIM, 10000));
    for (size_t i = 0; i < KEYS * DIM; i++)
        dtype_store(DT_BF16, origin, i, rng_real(&rng, 1));
    memcpy(shifted, origin, sizeof origin);
    int32_t sums[KEYS] = {0}, distances[KEYS];
    for (int done = 1; done <= (test_reduced() ? 10 : 1000); done++) {
        for (size_t k = 0; k < KEYS; k++) {
            distances[k] = step != 0 ? step : (int32_t)rng_below(&rng, 512) - 256;
            sums[k] += distances[k];
        }
        assert_int_equal(turn(plan, ROPE_SHIFT, DT_BF16, shifted, KEYS, 1, distances), ROPE_OK);
        if (done != figures->shifts)
            continue;
        for (size_t i = 0; i < KEYS * DIM; i++)
            truth[i] = dtype_load(DT_BF16, origin, i);
        memcpy(again, origin, sizeof origin);
        assert_int_equal(turn(plan, ROPE_FORWARD, DT_F64, truth, KEYS, 1, sums), ROPE_OK);
        assert_int_equal(turn(plan, ROPE_FORWARD, DT_BF16, again, KEYS, 1, sums), ROPE_OK);
        double norm = 0, drift = 0, rounding = 0;
        for (size_t i = 0; i < KEYS * DIM; i++) {
            norm += truth[i] * truth[i];
            drift += pow(dtype_load(DT_BF16, shifted, i) - truth[i], 2);
            rounding += pow(dtype_load(DT_BF16, again, i) - truth[i], 2);
        }
        drift = sqrt(drift / norm), rounding = sqrt(rounding / norm);
        print_message("%d shifts by %d in bf16: error %.2g, from the stored original %.2g\n", done,
                      step, drift, rounding);
        assert_true(drift >= figures->least && drift <= figures->most);
        assert_true(rounding > 1e-3 && rounding < 1.8e-3);
        figures++;
    }
    rope_plan_destroy(plan);
}

static void test_drift(void **state)
{
    (void)state;
    static const struct drift random_steps[] = {
        {1, 1.4e-3, 1.8e-3}, {10, 4.5e-3, 5.7e-3}, {100, 1.4e-2, 1.8e-2}, {1000, 4.5e-2, 5.7e-2}};
    /* pairs that turn by less than half a unit of bf16 do not move at all */
    static const struct drift same_step[] = {
        {1, 1.1e-3, 1.5e-3}, {10, 7e-3, 9.5e-3}, {100, 5e-2, 7e-2}, {1000, 0.4, 0.6}};
    check_drift(0, random_steps);
    check_drift(1, same_step);
}

/* ---- Permutation ---- */

struct weights {
    enum dtype type;
    rope_pairing from, to;
    size_t matrices, heads, head_dim, rotary_dim, rotary_offset, row_length;
    ptrdiff_t src[3], dst[3]; /* strides; all 0 = dense */
};

static rope_permutation permutation_of(const struct weights *w, const void *src, void *dst)
{
    rope_permutation p = ROPE_PERMUTATION_INIT;
    p.dtype = (rope_dtype)w->type + ROPE_F32;
    p.from = w->from;
    p.to = w->to;
    p.matrices = w->matrices;
    p.heads = w->heads;
    p.head_dim = w->head_dim;
    p.rotary_dim = w->rotary_dim;
    p.rotary_offset = w->rotary_offset;
    p.row_length = w->row_length;
    p.src = src;
    p.dst = dst;
    p.src_stride_matrix = w->src[0], p.src_stride_head = w->src[1], p.src_stride_row = w->src[2];
    p.dst_stride_matrix = w->dst[0], p.dst_stride_head = w->dst[1], p.dst_stride_row = w->dst[2];
    return p;
}

static void random_weights(struct rng *rng, struct weights *w)
{
    static const size_t lengths[] = {1, 2, 3, 7, 64, 511, 512, 513, 700};
    w->type = (enum dtype)rng_below(rng, DTYPES);
    w->from = (rope_pairing)rng_below(rng, 2);
    w->to = rng_below(rng, 5) ? 1 - w->from : w->from;
    w->matrices = 1 + rng_below(rng, 3);
    w->heads = 1 + rng_below(rng, 3);
    w->rotary_dim = 2 * (1 + rng_below(rng, 40));
    w->rotary_offset = rng_below(rng, 2) * rng_below(rng, 9);
    w->head_dim = w->rotary_dim + w->rotary_offset + rng_below(rng, 2) * rng_below(rng, 9);
    w->row_length = lengths[rng_below(rng, COUNT(lengths))];
    ptrdiff_t *strides[] = {w->src, w->dst};
    for (int side = 0; side < 2; side++) {
        const size_t gap = rng_below(rng, 4);
        strides[side][2] = (ptrdiff_t)(w->row_length + gap);
        strides[side][1] = strides[side][2] * (ptrdiff_t)w->head_dim + (ptrdiff_t)gap;
        strides[side][0] = strides[side][1] * (ptrdiff_t)w->heads + (ptrdiff_t)gap;
        if (rng_below(rng, 2)) /* matrices side by side: a transposed projection */
            strides[side][0] = (ptrdiff_t)w->row_length,
            strides[side][2] = (ptrdiff_t)(w->row_length * w->matrices + gap),
            strides[side][1] = strides[side][2] * (ptrdiff_t)w->head_dim;
        if (gap == 0 && rng_below(rng, 2))
            memset(strides[side], 0, 3 * sizeof(ptrdiff_t));
    }
}

static size_t row_at(const struct weights *w, const ptrdiff_t *strides, size_t matrix, size_t head,
                     size_t row)
{
    if (strides[0] == 0 && strides[1] == 0 && strides[2] == 0)
        return ((matrix * w->heads + head) * w->head_dim + row) * w->row_length;
    return matrix * (size_t)strides[0] + head * (size_t)strides[1] + row * (size_t)strides[2];
}

static void test_permute(void **state)
{
    (void)state;
    enum { ROOM = 1 << 23 };
    struct guarded src = guarded_make(ROOM), dst = guarded_make(ROOM);
    unsigned char *expected = malloc(ROOM);
    assert_non_null(expected);
    struct rng rng = rng_make(903);
    for (int round = 0; round < (test_reduced() ? 20 : 300); round++) {
        struct weights w;
        random_weights(&rng, &w);
        const int in_place = rng_below(&rng, 2) != 0;
        if (in_place)
            memcpy(w.dst, w.src, sizeof w.src);
        const size_t size = dtype_size(w.type), pairs = w.rotary_dim / 2;
        const size_t src_span =
            row_at(&w, w.src, w.matrices - 1, w.heads - 1, w.head_dim - 1) + w.row_length;
        const size_t dst_span =
            row_at(&w, w.dst, w.matrices - 1, w.heads - 1, w.head_dim - 1) + w.row_length;
        assert_true(src_span * size <= ROOM && dst_span * size <= ROOM);
        unsigned char *from = guarded_end(&src, src_span * size, 0);
        unsigned char *to = in_place ? from : guarded_end(&dst, dst_span * size, 0);
        canary_fill(to, dst_span * size);
        for (size_t i = 0; i < src_span * size; i++)
            from[i] = (unsigned char)rng_next(&rng);
        memcpy(expected, to, dst_span * size);
        for (size_t m = 0; m < w.matrices; m++)
            for (size_t h = 0; h < w.heads; h++)
                for (size_t row = 0; row < w.head_dim; row++) {
                    size_t old = row, new = row;
                    if (row >= w.rotary_offset && row < w.rotary_offset + w.rotary_dim) {
                        const size_t i = (row - w.rotary_offset) / 2;
                        const int part = (int)((row - w.rotary_offset) % 2);
                        old = w.rotary_offset +
                              reference_place(w.from == ROPE_INTERLEAVED, pairs, i, part);
                        new = w.rotary_offset +
                              reference_place(w.to == ROPE_INTERLEAVED, pairs, i, part);
                    }
                    memcpy(expected + row_at(&w, w.dst, m, h, new) * size,
                           from + row_at(&w, w.src, m, h, old) * size, w.row_length * size);
                }
        const rope_permutation p = permutation_of(&w, from, to);
        assert_int_equal(rope_permute(&p), ROPE_OK);
        if (memcmp(to, expected, dst_span * size) != 0)
            fail_msg(
                "permutation %d to %d of %s, %zu x %zu x %zu x %zu, d %zu at %zu%s: seed %#" PRIx64,
                w.from, w.to, dtype_name(w.type), w.matrices, w.heads, w.head_dim, w.row_length,
                w.rotary_dim, w.rotary_offset, in_place ? ", in place" : "", test_seed());
    }
    free(expected);
    guarded_free(&src);
    guarded_free(&dst);
}

/* out[t, o] = sum of w[o, j] x[t, j] + bias[o], in the order of j. */
static void project(const double *weight, const double *bias, const double *x, size_t tokens,
                    size_t rows, size_t width, double *out)
{
    for (size_t t = 0; t < tokens; t++)
        for (size_t o = 0; o < rows; o++) {
            double sum = bias[o];
            for (size_t j = 0; j < width; j++)
                sum += weight[o * width + j] * x[t * width + j];
            out[t * rows + o] = sum;
        }
}

/* GQA, partial rotation behind an offset: the scores of a layer before, and after in the other pairing. */
static void check_scores(struct rng *rng, rope_pairing from, size_t offset, size_t rotary_dim,
                         size_t head_dim)
{
    enum { WIDTH = 24, Q_HEADS = 4, K_HEADS = 2, STEPS = 5, MOST = 48 };
    static double x[STEPS * WIDTH], weight[2][Q_HEADS * MOST * WIDTH], bias[2][Q_HEADS * MOST];
    static double out[2][STEPS * Q_HEADS * MOST], scores[2][STEPS * STEPS * Q_HEADS];
    const size_t heads[2] = {Q_HEADS, K_HEADS};
    assert_true(head_dim <= MOST);
    fill(rng, x, STEPS * WIDTH);
    for (int side = 0; side < 2; side++) {
        fill(rng, weight[side], heads[side] * head_dim * WIDTH);
        fill(rng, bias[side], heads[side] * head_dim);
    }
    for (int after = 0; after < 2; after++) {
        const int32_t steps[STEPS] = {3, 4, 100, 5000, 99999};
        rope_spec spec = spec_default(head_dim, 10000);
        spec.rotary_dim = rotary_dim;
        spec.rotary_offset = offset;
        spec.pairing = after ? 1 - from : from;
        rope_plan *plan = plan_from(spec);
        for (int side = 0; side < 2; side++) {
            if (after) {
                struct weights w = {.type = DT_F64,
                                    .from = from,
                                    .to = 1 - from,
                                    .matrices = 1,
                                    .heads = heads[side],
                                    .head_dim = head_dim,
                                    .rotary_dim = rotary_dim,
                                    .rotary_offset = offset,
                                    .row_length = WIDTH};
                const rope_permutation rows = permutation_of(&w, weight[side], weight[side]);
                assert_int_equal(rope_permute(&rows), ROPE_OK);
                w.row_length = 1;
                const rope_permutation biases = permutation_of(&w, bias[side], bias[side]);
                assert_int_equal(rope_permute(&biases), ROPE_OK);
            }
            project(weight[side], bias[side], x, STEPS, heads[side] * head_dim, WIDTH, out[side]);
            assert_int_equal(turn(plan, ROPE_FORWARD, DT_F64, out[side], STEPS, heads[side], steps),
                             ROPE_OK);
        }
        rope_plan_destroy(plan);
        for (size_t t = 0; t < STEPS; t++)
            for (size_t u = 0; u < STEPS; u++)
                for (size_t h = 0; h < Q_HEADS; h++) {
                    double sum = 0;
                    for (size_t e = 0; e < head_dim; e++)
                        sum += out[0][(t * Q_HEADS + h) * head_dim + e] *
                               out[1][(u * K_HEADS + h / 2) * head_dim + e];
                    scores[after][(t * STEPS + u) * Q_HEADS + h] = sum;
                }
    }
    /* the same products in another order */
    expect_near(scores[0], scores[1], STEPS * STEPS * Q_HEADS, 1e-12,
                "scores in the other pairing");
}

static void test_permute_scores(void **state)
{
    (void)state;
    struct rng rng = rng_make(904);
    for (int pairing = ROPE_HALF; pairing <= ROPE_INTERLEAVED; pairing++) {
        check_scores(&rng, pairing, 5, 6, 15);
        if (test_reduced())
            continue;
        check_scores(&rng, pairing, 0, 32, 32);
        check_scores(&rng, pairing, 0, 12, 40);
        check_scores(&rng, pairing, 32, 16, 48);
    }
}

static void expect_refused(rope_permutation p, rope_status expected, const char *field)
{
    char message[160] = "";
    p.message = message;
    p.message_size = sizeof message;
    assert_int_equal(rope_permute(&p), expected);
    if (strstr(message, field) == NULL)
        fail_msg("\"%s\" does not name %s", message, field);
}

static void test_permute_refusals(void **state)
{
    (void)state;
    static float data[2][8 * 6], before[2][8 * 6];
    const struct weights w = {.type = DT_F32,
                              .from = ROPE_HALF,
                              .to = ROPE_INTERLEAVED,
                              .matrices = 1,
                              .heads = 2,
                              .head_dim = 4,
                              .rotary_dim = 4,
                              .row_length = 6};
    const rope_permutation good = permutation_of(&w, data[0], data[1]);
    rope_permutation p = good;
    struct rng rng = rng_make(905);
    for (size_t i = 0; i < 8 * 6; i++) {
        data[0][i] = (float)rng_real(&rng, 1);
        data[1][i] = (float)rng_real(&rng, 1);
    }
    memcpy(before, data, sizeof data);

    assert_int_equal(rope_permute(NULL), ROPE_ERR_NULL);
    p.src = NULL;
    expect_refused(p, ROPE_ERR_NULL, "src");
    p = good, p.dst = NULL;
    expect_refused(p, ROPE_ERR_NULL, "dst");
    p = good, p.struct_size--;
    assert_int_equal(rope_permute(&p), ROPE_ERR_STRUCT);
    struct {
        rope_permutation p;
        char more[8];
    } newer = {good, {0, 0, 0, 1}};
    newer.p.struct_size = sizeof newer;
    assert_int_equal(rope_permute(&newer.p), ROPE_ERR_STRUCT);
    p = good, p.dtype = ROPE_I32;
    expect_refused(p, ROPE_ERR_DTYPE, "dtype");
    p = good, p.from = 2;
    expect_refused(p, ROPE_ERR_VALUE, "from");
    p = good, p.to = -1;
    expect_refused(p, ROPE_ERR_VALUE, "to");
    p = good, p.head_dim = 1;
    expect_refused(p, ROPE_ERR_VALUE, "head_dim");
    p = good, p.rotary_offset = 3;
    expect_refused(p, ROPE_ERR_VALUE, "rotary_offset");
    p = good, p.rotary_dim = 6;
    expect_refused(p, ROPE_ERR_VALUE, "rotary_dim");
    p = good, p.rotary_dim = 3;
    expect_refused(p, ROPE_ERR_VALUE, "rotary_dim");
    p = good, p.rotary_dim = 0, p.rotary_offset = 1;
    expect_refused(p, ROPE_ERR_VALUE, "rotary_dim");
    p = good, p.head_dim = p.rotary_dim = 4098;
    expect_refused(p, ROPE_ERR_VALUE, "rotary_dim");
    p = good, p.heads = SIZE_MAX / 8;
    expect_refused(p, ROPE_ERR_SIZE, "permutation");
    p = good, p.row_length = SIZE_MAX / 4;
    expect_refused(p, ROPE_ERR_SIZE, "permutation");
    p = good, p.src_stride_head = PTRDIFF_MAX;
    expect_refused(p, ROPE_ERR_SIZE, "permutation");
    p = good, p.dst_stride_head = 24, p.dst_stride_row = 5;
    expect_refused(p, ROPE_ERR_STRIDE, "stride");
    p = good, p.dst = data[0] + 1;
    expect_refused(p, ROPE_ERR_ALIAS, "dst");
    p = good, p.dst = data[0], p.dst_stride_head = 6, p.dst_stride_row = 12;
    expect_refused(p, ROPE_ERR_ALIAS, "dst");
    p = good, p.heads = 0, p.src = p.dst = NULL;
    assert_int_equal(rope_permute(&p), ROPE_OK);
    p = good, p.matrices = 0;
    assert_int_equal(rope_permute(&p), ROPE_OK);
    p = good, p.row_length = 0;
    assert_int_equal(rope_permute(&p), ROPE_OK);
    assert_memory_equal(data, before, sizeof data);
    newer.more[3] = 0;
    assert_int_equal(rope_permute(&newer.p), ROPE_OK);
    assert_memory_equal(data[0], before[0], sizeof data[0]);
    assert_memory_equal(data[1], data[0], 6 * sizeof(float));          /* row 0 stays */
    assert_memory_equal(data[1] + 6, data[0] + 12, 6 * sizeof(float)); /* y of pair 0 follows x */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wavelengths),
        cmocka_unit_test(test_between),
        cmocka_unit_test(test_shift),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_permute),
        cmocka_unit_test(test_permute_scores),
        cmocka_unit_test(test_permute_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
