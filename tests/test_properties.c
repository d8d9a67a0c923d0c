/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every rotation must satisfy whatever its frequencies are, over random specs of every scheme and axis layout, in f64:
 * scores depend on distances, lengths are kept, rotations add up, can be undone and differentiated, and scores decay.
 * Only the public interface is used.
 */
#include "support.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SCHEMES = ROPE_SCHEME_SINUSOID + 1, LAYOUTS = ROPE_AXES_GGML_VISION + 1 };
enum { DIM_MAX = 140, TOKENS = 6, PAIRS_MAX = 64 };

/* ---- Random specs ---- */

/* A spec and the lists that it points to. */
struct random_spec {
    rope_spec spec;
    double lists[3][PAIRS_MAX];
    int32_t sections[8], axis[PAIRS_MAX], freq[PAIRS_MAX];
};

static double between(struct rng *rng, double low, double high)
{
    return (low + high) / 2 + rng_real(rng, (high - low) / 2);
}

static void set_scheme(struct rng *rng, struct random_spec *r, rope_scheme scheme, size_t pairs)
{
    rope_spec *spec = &r->spec;
    static const double thetas[] = {0, 100, 10000, 500000, 1e7};
    spec->scheme = scheme;
    spec->theta = thetas[rng_below(rng, 5)];
    spec->factor = 1 + (double)rng_below(rng, 32);
    for (int list = 0; list < 3; list++)
        for (size_t i = 0; i < PAIRS_MAX; i++)
            r->lists[list][i] = between(rng, 0.9, 40);
    switch (scheme) {
    case ROPE_SCHEME_DEFAULT:
        spec->factor = 0;
        break;
    case ROPE_SCHEME_CUSTOM:
        spec->theta = spec->factor = 0;
        for (size_t i = 0; i < pairs; i++)
            r->lists[0][i] = rng_below(rng, 9) ? rng_real(rng, 1) : 0;
        spec->inv_freq = r->lists[0];
        spec->inv_freq_count = pairs;
        break;
    case ROPE_SCHEME_DYNAMIC_NTK:
        spec->max_length = 2048;
        spec->length = 1000 + rng_below(rng, 10000);
        break;
    case ROPE_SCHEME_YARN:
        spec->original_length = 4096;
        spec->no_truncate = (uint32_t)rng_below(rng, 2);
        break;
    case ROPE_SCHEME_LONGROPE:
        spec->original_length = 4096;
        spec->length = rng_below(rng, 8192);
        spec->short_factor = r->lists[0];
        spec->long_factor = r->lists[1];
        spec->factor_count = pairs;
        break;
    case ROPE_SCHEME_LLAMA3:
        spec->original_length = 8192;
        spec->low_freq_factor = 1;
        spec->high_freq_factor = 4;
        break;
    case ROPE_SCHEME_PROPORTIONAL:
        spec->active_pairs = 1 + rng_below(rng, pairs);
        break;
    case ROPE_SCHEME_SINUSOID:
        spec->factor = 0;
        spec->shift = rng_below(rng, 2) ? 0 : 0.5;
        spec->position_scale = rng_below(rng, 2) ? 0 : 3;
        break;
    default:
        break;
    }
    if ((scheme == ROPE_SCHEME_DEFAULT || scheme == ROPE_SCHEME_LINEAR) && rng_below(rng, 3) == 0) {
        r->lists[2][rng_below(rng, pairs)] = (double)INFINITY;
        spec->divisors = r->lists[2];
        spec->divisor_count = pairs;
    }
}

static void set_axes(struct rng *rng, struct random_spec *r, rope_axis_layout layout, size_t pairs)
{
    rope_spec *spec = &r->spec;
    spec->axis_layout = layout;
    if (layout == ROPE_AXES_PIXTRAL)
        return;
    if (layout == ROPE_AXES_ONE) {
        spec->axes = 1 + rng_below(rng, 3);
        for (size_t i = 0; i < pairs; i++) {
            r->axis[i] = (int32_t)rng_below(rng, spec->axes);
            r->freq[i] = (int32_t)rng_below(rng, pairs);
        }
        if (spec->axes > 1)
            spec->pair_axis = r->axis;
        if (rng_below(rng, 4) == 0)
            spec->pair_freq = r->freq;
        return;
    }
    const int ggml = layout == ROPE_AXES_GGML_MROPE || layout == ROPE_AXES_GGML_IMROPE ||
                     layout == ROPE_AXES_GGML_VISION;
    const size_t count = ggml ? 4 : 3;
    size_t left = pairs;
    for (size_t axis = 0; axis < count; axis++) {
        r->sections[axis] = (int32_t)(axis + 1 == count ? left : rng_below(rng, left + 1));
        left -= (size_t)r->sections[axis];
    }
    if (layout == ROPE_AXES_ERNIE) {
        r->sections[0] = r->sections[1] = (int32_t)rng_below(rng, pairs / 2 + 1);
        r->sections[2] = (int32_t)pairs - 2 * r->sections[0];
    }
    if (layout == ROPE_AXES_INTERLEAVED) { /* as Qwen3-VL: about a third each */
        r->sections[1] = r->sections[2] = (int32_t)pairs / 3;
        r->sections[0] = (int32_t)pairs - 2 * r->sections[1];
    }
    spec->sections = r->sections;
    spec->section_count = count;
}

/* NULL if the parts of the spec do not go together. */
static rope_plan *random_plan(struct rng *rng, struct random_spec *r, rope_scheme scheme,
                              rope_axis_layout layout)
{
    const size_t pairs = 2 * (1 + rng_below(rng, 16));
    memset(r, 0, sizeof *r);
    r->spec = (rope_spec)ROPE_SPEC_INIT;
    r->spec.rotary_dim = 2 * pairs;
    r->spec.head_dim = 2 * pairs;
    if (scheme != ROPE_SCHEME_PROPORTIONAL && rng_below(rng, 2)) {
        r->spec.rotary_offset = rng_below(rng, 8);
        r->spec.head_dim += r->spec.rotary_offset + rng_below(rng, 8);
    }
    r->spec.pairing = (rope_pairing)rng_below(rng, 2);
    if (r->spec.pairing == ROPE_HALF && rng_below(rng, 3) == 0)
        r->spec.pairing_chunk = pairs;
    if (rng_below(rng, 3) == 0)
        r->spec.attention_factor = between(rng, 0.5, 1.5);
    set_scheme(rng, r, scheme, pairs);
    set_axes(rng, r, layout, pairs);
    rope_plan *plan;
    return rope_plan_create(&r->spec, &plan) == ROPE_OK ? plan : NULL;
}

/* ---- Rotations ---- */

/* One head, [TOKENS, head_dim], in place at at[axis][token]. */
static void turn(const rope_plan *plan, rope_direction direction, double *data,
                 int32_t (*at)[TOKENS])
{
    rope_info info = ROPE_INFO_INIT;
    rope_positions positions[ROPE_AXES_MAX];
    rope_tensor q = ROPE_TENSOR_INIT;
    rope_job job = ROPE_JOB_INIT;
    assert_int_equal(rope_plan_info(plan, &info), ROPE_OK);
    for (size_t axis = 0; axis < info.axes; axis++) {
        positions[axis] = (rope_positions)ROPE_POSITIONS_INIT;
        positions[axis].dtype = ROPE_I32;
        positions[axis].data = at[axis];
    }
    q.dtype = ROPE_F64;
    q.src = q.dst = data;
    q.heads = 1;
    job.tokens = TOKENS;
    job.q = &q;
    job.positions = positions;
    job.direction = direction;
    assert_int_equal(rope_rotate(plan, &job), ROPE_OK);
}

static double dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* What is checked of one plan. */
struct subject {
    const struct random_spec *r;
    const rope_plan *plan;
    size_t head_dim, d, offset;
    double m;
};

static void expect(const struct subject *s, double expected, double actual, double bound,
                   const char *property)
{
    /* an emulator whose fma loses 2^-62 of |p turns| is off by 2 pi times that */
    const double lost = test_fma_loses_bits() ? 0x1p-59 * 0x1p20 * fabs(s->m) : 0;
    if (!(fabs(expected - actual) <= bound + lost))
        fail_msg("%s: scheme %d, layout %d, d %zu, m %g: %.17g, not %.17g, seed %#" PRIx64,
                 property, s->r->spec.scheme, s->r->spec.axis_layout, s->d, s->m, actual, expected,
                 test_seed());
}

/* Twice the error of f64 rows, summed over a head of elements in -1..1. */
static double bound_of(const struct subject *s)
{
    return 4e-15 * (double)s->head_dim * fmax(1, s->m * s->m);
}

static void fill(struct rng *rng, double *data, size_t n)
{
    for (size_t i = 0; i < n; i++)
        data[i] = rng_real(rng, 1);
}

static void fill_places(struct rng *rng, int32_t (*at)[TOKENS])
{
    static const size_t ranges[] = {16, 5000, 1 << 20, 1 << 29};
    for (size_t axis = 0; axis < ROPE_AXES_MAX; axis++)
        for (size_t t = 0; t < TOKENS; t++) {
            const size_t range = ranges[rng_below(rng, 4)];
            at[axis][t] = (int32_t)rng_below(rng, 2 * range) - (int32_t)range;
        }
}

static void add_places(int32_t (*sum)[TOKENS], int32_t (*a)[TOKENS], int32_t (*b)[TOKENS])
{
    for (size_t axis = 0; axis < ROPE_AXES_MAX; axis++)
        for (size_t t = 0; t < TOKENS; t++)
            sum[axis][t] = a[axis][t] + b[axis][t];
}

/* <R(p) q, R(r) k> = <R(p + t) q, R(r + t) k> */
static void check_relative(const struct subject *s, struct rng *rng)
{
    static double q[2][TOKENS * DIM_MAX], k[2][TOKENS * DIM_MAX];
    int32_t p[ROPE_AXES_MAX][TOKENS], r[ROPE_AXES_MAX][TOKENS], t[ROPE_AXES_MAX][TOKENS];
    int32_t moved[ROPE_AXES_MAX][TOKENS];
    const size_t n = TOKENS * s->head_dim;
    fill(rng, q[0], n);
    fill(rng, k[0], n);
    memcpy(q[1], q[0], sizeof q[0]);
    memcpy(k[1], k[0], sizeof k[0]);
    fill_places(rng, p);
    fill_places(rng, r);
    fill_places(rng, t);
    turn(s->plan, ROPE_FORWARD, q[0], p);
    turn(s->plan, ROPE_FORWARD, k[0], r);
    add_places(moved, p, t);
    turn(s->plan, ROPE_FORWARD, q[1], moved);
    add_places(moved, r, t);
    turn(s->plan, ROPE_FORWARD, k[1], moved);
    for (size_t i = 0; i < n; i += s->head_dim)
        expect(s, dot(q[0] + i, k[0] + i, s->head_dim), dot(q[1] + i, k[1] + i, s->head_dim),
               bound_of(s), "relative");
}

/* |R x| = m |x|, and the rest of the head is left alone. */
static void check_norm(const struct subject *s, struct rng *rng)
{
    static double x[TOKENS * DIM_MAX], before[TOKENS * DIM_MAX];
    int32_t p[ROPE_AXES_MAX][TOKENS];
    fill(rng, x, TOKENS * s->head_dim);
    memcpy(before, x, sizeof x);
    fill_places(rng, p);
    turn(s->plan, ROPE_FORWARD, x, p);
    for (size_t t = 0; t < TOKENS; t++) {
        const double *head = x + t * s->head_dim, *old = before + t * s->head_dim;
        const size_t end = s->offset + s->d;
        expect(s, s->m * s->m * dot(old + s->offset, old + s->offset, s->d),
               dot(head + s->offset, head + s->offset, s->d), bound_of(s), "norm");
        assert_memory_equal(head, old, s->offset * sizeof *head);
        assert_memory_equal(head + end, old + end, (s->head_dim - end) * sizeof *head);
    }
}

/* Shift by a of R(b) x is R(a + b) x; the inverse of R(b) x is x. */
static void check_group(const struct subject *s, struct rng *rng)
{
    static double x[3][TOKENS * DIM_MAX];
    int32_t a[ROPE_AXES_MAX][TOKENS], b[ROPE_AXES_MAX][TOKENS], both[ROPE_AXES_MAX][TOKENS];
    const size_t n = TOKENS * s->head_dim;
    fill(rng, x[0], n);
    memcpy(x[1], x[0], sizeof x[0]);
    memcpy(x[2], x[0], sizeof x[0]);
    fill_places(rng, a);
    fill_places(rng, b);
    add_places(both, a, b);
    turn(s->plan, ROPE_FORWARD, x[1], b);
    turn(s->plan, ROPE_SHIFT, x[1], a);
    turn(s->plan, ROPE_FORWARD, x[2], both);
    for (size_t i = 0; i < n; i++)
        expect(s, x[2][i], x[1][i], bound_of(s) / (double)s->head_dim, "additivity");
    turn(s->plan, ROPE_INVERSE, x[1], both);
    for (size_t i = 0; i < n; i++)
        expect(s, x[0][i], x[1][i], 2 * bound_of(s) / (double)s->head_dim / fmin(1, s->m),
               "inverse");
}

/* The gradient of <w, R x> in x is the transpose of R times w: against the difference quotient. */
static void check_gradient(const struct subject *s, struct rng *rng)
{
    static double w[TOKENS * DIM_MAX], gradient[TOKENS * DIM_MAX], x[TOKENS * DIM_MAX];
    static double ends[2][TOKENS * DIM_MAX];
    int32_t p[ROPE_AXES_MAX][TOKENS];
    const size_t n = TOKENS * s->head_dim;
    const double h = 0x1p-10;
    fill(rng, w, n);
    fill(rng, x, n);
    memcpy(gradient, w, sizeof w);
    fill_places(rng, p);
    turn(s->plan, ROPE_TRANSPOSE, gradient, p);
    for (size_t e = 0; e < s->head_dim; e++) {
        for (int side = 0; side < 2; side++) {
            memcpy(ends[side], x, sizeof x);
            for (size_t t = 0; t < TOKENS; t++)
                ends[side][t * s->head_dim + e] += side ? h : -h;
            turn(s->plan, ROPE_FORWARD, ends[side], p);
        }
        for (size_t t = 0; t < TOKENS; t++) {
            const size_t at = t * s->head_dim;
            const double quotient =
                (dot(w + at, ends[1] + at, s->head_dim) - dot(w + at, ends[0] + at, s->head_dim)) /
                (2 * h);
            expect(s, quotient, gradient[at + e], bound_of(s) / h, "gradient");
        }
    }
}

/* With q = k = pairs of length 1 the score at distance t is m^2 times the sum of cos(t f_i). */
static void check_score(const struct subject *s, struct rng *rng)
{
    static double q[TOKENS * DIM_MAX], k[TOKENS * DIM_MAX];
    double f[PAIRS_MAX];
    int32_t p[ROPE_AXES_MAX][TOKENS], r[ROPE_AXES_MAX][TOKENS];
    const size_t pairs = s->d / 2;
    memset(q, 0, sizeof q);
    for (size_t t = 0; t < TOKENS; t++)
        for (size_t i = 0; i < pairs; i++) {
            const size_t chunk = s->r->spec.pairing_chunk != 0 ? s->r->spec.pairing_chunk : s->d;
            const size_t x = s->r->spec.pairing == ROPE_INTERLEAVED
                                 ? 2 * i
                                 : i / (chunk / 2) * chunk + i % (chunk / 2);
            q[t * s->head_dim + s->offset + x] = 1;
        }
    memcpy(k, q, sizeof q);
    for (size_t t = 0; t < TOKENS; t++) {
        const int32_t distance = (int32_t)rng_below(rng, 2000);
        for (size_t axis = 0; axis < ROPE_AXES_MAX; axis++) {
            p[axis][t] = (int32_t)rng_below(rng, 100000);
            r[axis][t] = p[axis][t] - distance;
        }
    }
    turn(s->plan, ROPE_FORWARD, q, p);
    turn(s->plan, ROPE_FORWARD, k, r);
    assert_int_equal(rope_plan_inv_freq(s->plan, f, NULL, pairs), ROPE_OK);
    for (size_t t = 0; t < TOKENS; t++) {
        double score = 0;
        for (size_t i = 0; i < pairs; i++)
            score += s->m * s->m * cos((double)(p[0][t] - r[0][t]) * f[i]);
        /* the angle here is a product rounded to f64, of at most 2000 times 3 */
        expect(s, score, dot(q + t * s->head_dim, k + t * s->head_dim, s->head_dim),
               bound_of(s) + 1e-12 * (double)pairs * s->m * s->m, "score");
    }
}

static void check_plan(const struct random_spec *r, const rope_plan *plan, struct rng *rng)
{
    rope_info info = ROPE_INFO_INIT;
    assert_int_equal(rope_plan_info(plan, &info), ROPE_OK);
    const struct subject s = {.r = r,
                              .plan = plan,
                              .head_dim = info.head_dim,
                              .d = info.rotary_dim,
                              .offset = info.rotary_offset,
                              .m = info.attention_factor};
    check_relative(&s, rng);
    check_norm(&s, rng);
    check_group(&s, rng);
    check_gradient(&s, rng);
    check_score(&s, rng);
}

static void test_properties(void **state)
{
    (void)state;
    static struct random_spec r;
    struct rng rng = rng_make(970);
    int of_scheme[SCHEMES] = {0}, of_layout[LAYOUTS] = {0};
    for (int round = 0; round < (test_reduced() ? 1 : 6); round++)
        for (int scheme = 0; scheme < SCHEMES; scheme++)
            for (int layout = 0; layout < LAYOUTS; layout++) {
                if (test_reduced() && layout != scheme % LAYOUTS)
                    continue;
                rope_plan *plan = random_plan(&rng, &r, scheme, layout);
                if (plan == NULL)
                    continue;
                check_plan(&r, plan, &rng);
                rope_plan_destroy(plan);
                of_scheme[scheme]++;
                of_layout[layout]++;
            }
    for (int scheme = 0; scheme < SCHEMES && !test_reduced(); scheme++)
        if (of_scheme[scheme] < 4)
            fail_msg("only %d plans of scheme %d", of_scheme[scheme], scheme);
    for (int layout = 0; layout < LAYOUTS && !test_reduced(); layout++)
        if (of_layout[layout] < 4)
            fail_msg("only %d plans of layout %d", of_layout[layout], layout);
}

/*
 * Scores decay with distance: RoFormer, section 3.4.3.  The mean of |sum of cos(t f_i)| over distances from 4^k to 4^(k+1)
 * falls from each k to the next as long as pairs are left that turn slowly.
 */
static void test_decay(void **state)
{
    (void)state;
    enum { D = 128, STEPS = 6 };
    static const double thetas[] = {10000, 500000, 1e6};
    for (size_t k = 0; k < (test_reduced() ? 1 : 3); k++) {
        static double rows[4096 * D];
        rope_spec spec = ROPE_SPEC_INIT;
        rope_positions positions = ROPE_POSITIONS_INIT;
        rope_rows given = ROPE_ROWS_INIT;
        rope_plan *plan;
        spec.head_dim = D;
        spec.theta = thetas[k];
        given.dtype = ROPE_F64;
        given.cos = rows;
        given.count = 4096;
        assert_int_equal(rope_plan_create(&spec, &plan), ROPE_OK);
        assert_int_equal(rope_cos_sin(plan, &positions, 4096, &given), ROPE_OK);
        rope_plan_destroy(plan);
        double last = D / 2;
        for (size_t step = 0; step < STEPS; step++) {
            const size_t begin = (size_t)1 << 2 * step, end = 4 * begin;
            double mean = 0;
            for (size_t t = begin; t < end; t++) {
                double score = 0;
                for (size_t i = 0; i < D / 2; i++)
                    score += rows[t * D + i];
                mean += fabs(score) / (double)(end - begin);
            }
            assert_true(mean < last);
            last = mean;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_properties),
        cmocka_unit_test(test_decay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
