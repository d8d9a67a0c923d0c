/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scales of tokens and powers of xPos: rows against MPFR, rotations bit for bit from those rows, other implementations,
 * statuses.  Only the public interface is used.
 */
#include "golden.h"
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

enum { DIM = 32, PAIRS = DIM / 2, TOKENS = 10 };
static const int32_t places[TOKENS] = {0, 1, -1, 511, 4096, 131071, -70000, 1 << 20, 7, INT32_MAX};

static rope_spec spec_make(double m)
{
    rope_spec spec = ROPE_SPEC_INIT;
    spec.head_dim = DIM;
    spec.theta = 10000;
    spec.attention_factor = m;
    return spec;
}

/* A job over [TOKENS, heads, DIM] of q and k in place at `places`. */
struct work {
    rope_job job;
    rope_tensor q, k;
    rope_positions positions;
};

static struct work work_make(enum dtype type, void *q, void *k)
{
    struct work work = {.job = ROPE_JOB_INIT,
                        .q = ROPE_TENSOR_INIT,
                        .k = ROPE_TENSOR_INIT,
                        .positions = ROPE_POSITIONS_INIT};
    work.q.dtype = work.k.dtype = (rope_dtype)type + ROPE_F32;
    work.q.src = work.q.dst = q;
    work.k.src = work.k.dst = k;
    work.q.heads = work.k.heads = 1;
    work.positions.dtype = ROPE_I32;
    work.positions.data = places;
    work.job.tokens = TOKENS;
    return work;
}

static rope_status run(const rope_plan *plan, const struct work *work)
{
    rope_job job = work->job;
    job.q = work->q.src != NULL ? &work->q : NULL;
    job.k = work->k.src != NULL ? &work->k : NULL;
    job.positions = &work->positions;
    return rope_rotate(plan, &job);
}

/* Pairs (1, 0): rotated they show their row. */
static void fill_units(enum dtype type, void *data)
{
    for (size_t i = 0; i < TOKENS * DIM; i++)
        dtype_store(type, data, i, i % DIM < PAIRS ? 1 : 0);
}

static void expect_entry(enum dtype type, const void *data, size_t t, size_t i,
                         const struct reference_bounds bounds[2], const char *what)
{
    for (int part = 0; part < 2; part++) {
        const double value = dtype_load(type, data, t * DIM + i + (size_t)part * PAIRS);
        if (!reference_within(bounds[part], value))
            fail_msg("%s, %s: position %d, pair %zu, part %d: %.17g not in %.17g..%.17g", what,
                     dtype_name(type), places[t], i, part, value, bounds[part].low,
                     bounds[part].high);
    }
}

/* ---- Scales ---- */

static const float scales_f32[TOKENS] = {1,    1.0693147f, 0.25f, -3, 1e-3f,
                                         1e4f, 1.1f,       2,     7,  0.3333333f};

static void check_scale(enum dtype type, double m, rope_direction direction, enum dtype scale_type)
{
    double data[TOKENS * DIM], scales[TOKENS];
    rope_plan *plan = plan_from(spec_make(m));
    struct work work = work_make(type, data, NULL);
    fill_units(type, data);
    for (size_t t = 0; t < TOKENS; t++)
        dtype_store(scale_type, scales, t, (double)scales_f32[t]);
    work.job.direction = direction;
    work.q.scale = scales;
    work.q.scale_dtype = (rope_dtype)scale_type + ROPE_F32;
    assert_int_equal(run(plan, &work), ROPE_OK);
    rope_plan_destroy(plan);

    mpfr_t f, angle;
    mpfr_inits2(REFERENCE_BITS, f, angle, (mpfr_ptr)0);
    for (size_t t = 0; t < TOKENS; t++)
        for (size_t i = 0; i < PAIRS; i++) {
            struct reference_bounds bounds[2];
            const double scale = m * (double)scales_f32[t]; /* exact: m has few bits */
            const int inverse = direction == ROPE_INVERSE;
            const double size = inverse ? 1 / fabs(scale) : fabs(scale);
            const double sign = direction == ROPE_FORWARD ? 1 : -1;
            reference_frequency(f, 10000, 1, i, DIM);
            reference_angle(angle, places[t], f, 0);
            /* the product of the factors, and their inverses, are rounded to f64 first */
            reference_cos_sin(type, angle, inverse ? 1 : scale, inverse ? sign : sign * scale,
                              inverse ? scale : 1,
                              reference_slack(places[t], size) + size * 0x1p-52, bounds);
            expect_entry(type, data, t, i, bounds, "scale");
        }
    mpfr_clears(f, angle, (mpfr_ptr)0);
}

static void test_scale(void **state)
{
    (void)state;
    check_scale(DT_F32, 1.5, ROPE_FORWARD, DT_F32);
    if (test_fma_loses_bits())
        print_message("skipped: the fma of this emulator loses bits that f64 rows need\n");
    else
        check_scale(DT_F64, 1.5, ROPE_INVERSE, DT_F64);
    if (test_reduced()) /* plans take time */
        return;
    check_scale(DT_F32, 1, ROPE_TRANSPOSE, DT_F64);
    check_scale(DT_F32, 1.5, ROPE_INVERSE, DT_F32);
    check_scale(DT_F64, 1, ROPE_FORWARD, DT_F32);
}

/*
 * Any type and arithmetic, q and k with scales of their own, batches: what the reference makes of rows that were read off
 * as above, and the caller's own rows times the scale.
 */
static void check_scaled_rotation(struct rng *rng, const rope_plan *plan, int own_rows)
{
    enum { BATCH = 2, ALL = BATCH * TOKENS * DIM };
    static double data[2][ALL], units[2][ALL], rows[TOKENS][DIM];
    static float scales[2][BATCH * TOKENS];
    const enum dtype types[2] = {(enum dtype)rng_below(rng, DTYPES),
                                 (enum dtype)rng_below(rng, DTYPES)};
    struct work work = work_make(DT_F32, data[0], data[1]);
    rope_rows given = ROPE_ROWS_INIT;
    const int eager = rng_below(rng, 4) == 0;
    work.job.arith = eager ? ROPE_ARITH_EAGER : ROPE_ARITH_FUSED;
    work.job.batch = BATCH;
    work.positions.stride_batch = 0;
    work.job.rows = own_rows ? &given : NULL;
    given.dtype = ROPE_F32;
    given.cos = rows;
    given.count = TOKENS;
    for (size_t i = 0; i < TOKENS * DIM; i++)
        dtype_store(DT_F32, rows, i, rng_real(rng, 1));
    rope_tensor *tensors[2] = {&work.q, &work.k};
    const int has_scale[2] = {rng_below(rng, 4) != 0, rng_below(rng, 2) != 0};
    const int by_batch = rng_below(rng, 2) != 0;
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < BATCH * TOKENS; i++)
            scales[side][i] = (float)(1.5 + rng_real(rng, 1));
        tensors[side]->scale = has_scale[side] ? scales[side] : NULL;
        tensors[side]->scale_dtype = has_scale[side] ? ROPE_F32 : 0;
        tensors[side]->scale_stride_batch = by_batch ? TOKENS : 0;
    }
    /* the rows of each side, by units of its real type */
    for (int side = 0; side < 2; side++) {
        const enum dtype real = dtype_real(types[side]);
        for (size_t i = 0; i < ALL; i++)
            dtype_store(real, units[side], i, i % DIM < PAIRS ? 1 : 0);
        tensors[side]->dtype = (rope_dtype)real + ROPE_F32;
        tensors[side]->src = tensors[side]->dst = units[side];
    }
    struct work fused = work;
    fused.job.arith = ROPE_ARITH_FUSED;
    rope_job job = fused.job;
    job.q = &work.q, job.k = &work.k, job.positions = own_rows ? NULL : &work.positions;
    assert_int_equal(rope_rotate(plan, &job), ROPE_OK);

    static double expected[2][ALL];
    for (int side = 0; side < 2; side++) {
        const enum dtype type = types[side], real = dtype_real(type);
        tensors[side]->dtype = (rope_dtype)type + ROPE_F32;
        tensors[side]->src = tensors[side]->dst = data[side];
        for (size_t i = 0; i < ALL; i++)
            dtype_store(type, data[side], i, rng_real(rng, 1));
        for (size_t unit = 0; unit < BATCH * TOKENS; unit++)
            for (size_t i = 0; i < PAIRS; i++) {
                const size_t x = unit * DIM + i, y = x + PAIRS;
                double c = dtype_load(real, units[side], x);
                double s = dtype_load(real, units[side], y);
                if (own_rows) { /* exact products of f32 values, rounded once */
                    const size_t t = unit % TOKENS;
                    const double scale =
                        has_scale[side] ? (double)scales[side][by_batch ? unit : t] : 1;
                    assert_true(c ==
                                dtype_round(real, dtype_load(DT_F32, rows, t * DIM + i) * scale));
                    assert_true(
                        s ==
                        dtype_round(real, dtype_load(DT_F32, rows, t * DIM + PAIRS + i) * scale));
                }
                double out[2];
                if (eager && real != type) /* one rounding of the exact row is not two */
                    continue;
                reference_rotate(type, eager, dtype_load(type, data[side], x),
                                 dtype_load(type, data[side], y), c, s, out);
                dtype_store(type, expected[side], x, out[0]);
                dtype_store(type, expected[side], y, out[1]);
            }
    }
    job.arith = work.job.arith;
    const size_t parts = 1 + rng_below(rng, 30);
    for (size_t part = parts; part-- > 0;)
        assert_int_equal(rope_rotate_part(plan, &job, part, parts), ROPE_OK);
    for (int side = 0; side < 2; side++) {
        if (eager && dtype_real(types[side]) != types[side])
            continue;
        const size_t differs = image_differs(types[side], expected[side], data[side], ALL, NULL);
        if (differs != ALL)
            fail_msg("scaled %s, side %d, %zu parts%s%s: element %zu, seed %#" PRIx64,
                     dtype_name(types[side]), side, parts, eager ? ", eager" : "",
                     own_rows ? ", own rows" : "", differs, test_seed());
    }
}

static void test_scaled_rotation(void **state)
{
    (void)state;
    struct rng rng = rng_make(950);
    rope_plan *plan = plan_from(spec_make(1));
    test_f16_ties_for(rope_active_isa());
    for (int round = 0; round < (test_reduced() ? 20 : 200); round++)
        check_scaled_rotation(&rng, plan, round % 3 == 0);
    test_f16_ties_away(0);
    rope_plan_destroy(plan);
}

/* Pairs that do not turn are scaled like the others. */
static void test_still_pairs(void **state)
{
    (void)state;
    double frequencies[PAIRS] = {1.0}, data[TOKENS * DIM], scales[TOKENS];
    rope_spec spec = spec_make(1);
    spec.scheme = ROPE_SCHEME_CUSTOM;
    spec.theta = 0;
    spec.inv_freq = frequencies;
    spec.inv_freq_count = PAIRS;
    rope_plan *plan = plan_from(spec);
    struct work work = work_make(DT_F64, data, NULL);
    fill_units(DT_F64, data);
    for (size_t t = 0; t < TOKENS; t++)
        scales[t] = (double)scales_f32[t];
    work.q.scale = scales;
    work.q.scale_dtype = ROPE_F64;
    assert_int_equal(run(plan, &work), ROPE_OK);
    for (size_t t = 0; t < TOKENS; t++)
        for (size_t i = 1; i < PAIRS; i++) {
            assert_true(data[t * DIM + i] == scales[t]);
            assert_true(data[t * DIM + PAIRS + i] == 0);
        }
    rope_plan_destroy(plan);
}

/* ---- xPos ---- */

struct xpos {
    double base, gamma, center;
    rope_direction direction;
    int sign; /* 1 for q, -1 for k */
};

/* ((2 i / d + g) / (1 + g))^(sign (p - center) / base) */
static void power_of(mpfr_ptr out, const struct xpos *x, size_t i, double position)
{
    mpfr_t exponent, width;
    mpfr_inits2(REFERENCE_BITS, exponent, width, (mpfr_ptr)0);
    const double gamma = x->gamma != 0 ? x->gamma : 0.4;
    mpfr_set_d(out, gamma, MPFR_RNDN);
    mpfr_mul_ui(out, out, DIM, MPFR_RNDN);
    mpfr_add_ui(width, out, DIM, MPFR_RNDN);
    mpfr_add_ui(out, out, 2 * (unsigned long)i, MPFR_RNDN);
    mpfr_div(out, out, width, MPFR_RNDN);
    mpfr_set_d(exponent, position - (x->direction == ROPE_SHIFT ? 0 : x->center), MPFR_RNDN);
    mpfr_div_d(exponent, exponent, x->base, MPFR_RNDN);
    if ((x->sign < 0) != (x->direction == ROPE_INVERSE))
        mpfr_neg(exponent, exponent, MPFR_RNDN);
    mpfr_pow(out, out, exponent, MPFR_RNDN);
    mpfr_clears(exponent, width, (mpfr_ptr)0);
}

static void check_xpos(const struct xpos *x, enum dtype type)
{
    double data[TOKENS * DIM];
    const double m = 1.5;
    rope_spec spec = spec_make(m);
    spec.xpos_base = x->base;
    spec.xpos_gamma = x->gamma;
    rope_plan *plan = plan_from(spec);
    struct work work = x->sign > 0 ? work_make(type, data, NULL) : work_make(type, NULL, data);
    fill_units(type, data);
    work.job.direction = x->direction;
    work.job.xpos_center = x->center;
    assert_int_equal(run(plan, &work), ROPE_OK);
    rope_plan_destroy(plan);

    mpfr_t f, angle, power, value, trig;
    mpfr_inits2(REFERENCE_BITS, f, angle, power, value, trig, (mpfr_ptr)0);
    const double scale = x->direction == ROPE_SHIFT ? 1 : x->direction == ROPE_INVERSE ? 1 / m : m;
    const int backwards = x->direction == ROPE_INVERSE || x->direction == ROPE_TRANSPOSE;
    for (size_t t = 0; t < TOKENS; t++)
        for (size_t i = 0; i < PAIRS; i++) {
            struct reference_bounds bounds[2];
            reference_frequency(f, 10000, 1, i, DIM);
            reference_angle(angle, places[t], f, 0);
            power_of(power, x, i, places[t]);
            if (x->direction == ROPE_INVERSE)
                mpfr_div_d(power, power, m, MPFR_RNDN);
            else
                mpfr_mul_d(power, power, scale, MPFR_RNDN);
            const double size = mpfr_get_d(power, MPFR_RNDN);
            for (int part = 0; part < 2; part++) {
                if (part == 0)
                    mpfr_cos(trig, angle, MPFR_RNDN);
                else
                    mpfr_sin(trig, angle, MPFR_RNDN);
                mpfr_mul(value, trig, power, MPFR_RNDN);
                if (part == 1 && backwards)
                    mpfr_neg(value, value, MPFR_RNDN);
                bounds[part] = reference_bounds(type, value, 1.2e-15 * size);
            }
            expect_entry(type, data, t, i, bounds, "xpos");
        }
    mpfr_clears(f, angle, power, value, trig, (mpfr_ptr)0);
}

static void test_xpos(void **state)
{
    (void)state;
    static const struct xpos cases[] = {
        {.base = 1e8, .center = 65536, .sign = 1},
        {.base = 1e8, .center = 65536, .direction = ROPE_INVERSE, .sign = 1},
        {.base = 1e8, .center = 65536, .sign = -1},
        {.base = 3e7, .gamma = 0.7, .center = -0.25, .direction = ROPE_INVERSE, .sign = -1},
        {.base = 5e8, .center = 1000, .direction = ROPE_TRANSPOSE, .sign = -1},
        {.base = 5e8, .center = 1000, .direction = ROPE_SHIFT, .sign = -1},
        {.base = 1.3e9, .direction = ROPE_SHIFT, .sign = 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (test_reduced() && i > 1)
            break; /* plans take time */
        check_xpos(&cases[i], DT_F32);
        check_xpos(&cases[i], DT_F64);
    }
}

/* Scores with xPos depend on the distance alone, whatever the centre, and shrink with it. */
static void test_xpos_scores(void **state)
{
    (void)state;
    struct rng rng = rng_make(951);
    rope_spec spec = spec_make(1);
    spec.xpos_base = 512;
    rope_plan *plan = plan_from(spec);
    double q[TOKENS * DIM], k[TOKENS * DIM], score[3][TOKENS];
    int32_t at_q[TOKENS], at_k[TOKENS];
    for (int variant = 0; variant < 3; variant++) {
        struct rng same = rng;
        for (size_t i = 0; i < TOKENS * DIM; i++) {
            q[i] = rng_real(&same, 1);
            k[i] = rng_real(&same, 1);
        }
        for (size_t t = 0; t < TOKENS; t++) {
            at_q[t] = (int32_t)(t * t * 10) + 300 + (variant == 1 ? 777 : 0);
            at_k[t] = at_q[t] - (int32_t)(t * 37);
        }
        struct work work = work_make(DT_F64, q, NULL);
        work.positions.data = at_q;
        work.job.xpos_center = variant == 2 ? 700.5 : 0;
        assert_int_equal(run(plan, &work), ROPE_OK);
        work = work_make(DT_F64, NULL, k);
        work.positions.data = at_k;
        work.job.xpos_center = variant == 2 ? 700.5 : 0;
        assert_int_equal(run(plan, &work), ROPE_OK);
        for (size_t t = 0; t < TOKENS; t++) {
            score[variant][t] = 0;
            for (size_t i = 0; i < DIM; i++)
                score[variant][t] += q[t * DIM + i] * k[t * DIM + i];
            assert_true(fabs(score[variant][t] - score[0][t]) <= 1e-13 * DIM);
        }
    }
    rope_plan_destroy(plan);
}

/* ---- Other implementations: tests/golden/sinusoid.txt ---- */

EMBED(golden_sinusoid_text, ROPE_TEST_DATA "/sinusoid.txt");
EMBED(golden_sinusoid_data, ROPE_TEST_DATA "/sinusoid.bin");

static const char *field(const char *line, const char *key)
{
    const char *value = golden_field(line, key);
    if (value == NULL)
        fail_msg("%.40s: no %s", line, key);
    return value;
}

static double number(const char *line, const char *key)
{
    return strtod(field(line, key), NULL);
}

static const void *array(const char *line, const char *key)
{
    return golden_sinusoid_data + strtoul(strchr(field(line, key), ':') + 1, NULL, 10);
}

static void check_golden(const char *line)
{
    enum { MOST = 2048 };
    static float out[MOST];
    const size_t batch = (size_t)number(line, "batch"), heads = (size_t)number(line, "heads");
    const size_t tokens = (size_t)number(line, "tokens"), d = (size_t)number(line, "head_dim");
    const int head_major = strncmp(field(line, "order"), "bhtd", 4) == 0;
    const int is_q = number(line, "sign") > 0;
    const float *x = array(line, "x"), *golden = array(line, "out"), *scale = array(line, "scale");
    assert_true(batch * heads * tokens * d <= MOST);
    rope_spec spec = ROPE_SPEC_INIT;
    spec.head_dim = d;
    spec.theta = number(line, "theta");
    spec.pairing = field(line, "pairing")[0] == 'h' ? ROPE_HALF : ROPE_INTERLEAVED;
    spec.xpos_base = number(line, "base");
    rope_plan *plan = plan_from(spec);
    struct work work = is_q ? work_make(DT_F32, out, NULL) : work_make(DT_F32, NULL, out);
    rope_tensor *tensor = is_q ? &work.q : &work.k;
    tensor->src = x;
    tensor->heads = heads;
    tensor->src_stride_batch = tensor->dst_stride_batch = (ptrdiff_t)(heads * tokens * d);
    tensor->src_stride_token = tensor->dst_stride_token = (ptrdiff_t)(head_major ? d : heads * d);
    tensor->src_stride_head = tensor->dst_stride_head = (ptrdiff_t)(head_major ? tokens * d : d);
    work.positions.dtype = ROPE_I64;
    work.positions.data = array(line, "pos");
    work.job.batch = batch;
    work.job.tokens = tokens;
    work.job.xpos_center = number(line, "center");
    assert_int_equal(run(plan, &work), ROPE_OK);
    rope_plan_destroy(plan);
    for (size_t i = 0; i < batch * heads * tokens * d; i++) {
        const size_t t = head_major ? i / d % tokens : i / d / heads % tokens;
        const size_t pair = spec.pairing == ROPE_HALF ? i % d % (d / 2) : i % d / 2;
        const double z = (double)scale[t * (d / 2) + pair];
        /* its own error as measured, and the rounding of ours: |x| + |y| < 4 */
        const double bound = number(line, "out_error") + 0x1p-22 * 4 * 2 * z;
        if (!(fabs((double)out[i] - (double)golden[i]) <= bound))
            fail_msg("%.40s: element %zu: %.9g, golden %.9g", line, i, (double)out[i],
                     (double)golden[i]);
    }
}

static void test_goldens(void **state)
{
    (void)state;
    int cases = 0;
    for (const char *line = golden_sinusoid_text; line != NULL && *line != 0;) {
        if (strncmp(line, "xpos ", 5) == 0) {
            if (!test_reduced() || cases < 3)
                check_golden(line);
            cases++;
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    assert_int_equal(cases, 9);
}

/* ---- Statuses ---- */

static void expect_refused(const rope_plan *plan, struct work work, rope_status expected,
                           const char *field_name)
{
    char message[160] = "";
    work.job.message = message;
    work.job.message_size = sizeof message;
    assert_int_equal(run(plan, &work), expected);
    if (strstr(message, field_name) == NULL)
        fail_msg("\"%s\" does not name %s", message, field_name);
}

static void test_refusals(void **state)
{
    (void)state;
    static double q[TOKENS * DIM], k[TOKENS * DIM], before[2][TOKENS * DIM];
    static float scales[TOKENS], rows[TOKENS * DIM];
    rope_plan *plan = plan_from(spec_make(1));
    rope_spec spec = spec_make(1);
    spec.xpos_base = 512;
    rope_plan *xpos = plan_from(spec), *none = NULL;
    struct rng rng = rng_make(952);
    for (size_t i = 0; i < TOKENS * DIM; i++) {
        q[i] = before[0][i] = rng_real(&rng, 1);
        k[i] = before[1][i] = rng_real(&rng, 1);
    }
    memcpy(scales, scales_f32, sizeof scales);
    struct work good = work_make(DT_F64, q, k);
    good.q.scale = scales;
    good.q.scale_dtype = ROPE_F32;

    struct work work = good;
    work.q.scale = NULL;
    expect_refused(plan, work, ROPE_ERR_NULL, "q.scale");
    work = good, work.q.scale_dtype = ROPE_BF16;
    expect_refused(plan, work, ROPE_ERR_DTYPE, "q.scale_dtype");
    work = good, work.k.reserved = 1;
    expect_refused(plan, work, ROPE_ERR_VALUE, "k.reserved");
    work = good, work.job.direction = ROPE_SHIFT;
    expect_refused(plan, work, ROPE_ERR_VALUE, "q.scale");
    work = good, work.q.scale_stride_token = PTRDIFF_MAX;
    expect_refused(plan, work, ROPE_ERR_SIZE, "q.scale");
    work = good, work.q.scale = k + 3;
    expect_refused(plan, work, ROPE_ERR_ALIAS, "scale");
    static const float bad[] = {0, (float)NAN, (float)INFINITY, -(float)INFINITY};
    for (size_t i = 0; i < COUNT(bad); i++) {
        scales[2] = bad[i]; /* of position -1 */
        expect_refused(plan, good, ROPE_ERR_VALUE, "q.scale[0, 2]");
    }
    work = good, work.job.xpos_center = 1;
    scales[2] = 1;
    expect_refused(plan, work, ROPE_ERR_VALUE, "xpos_center");
    work.job.xpos_center = (double)NAN;
    expect_refused(xpos, work, ROPE_ERR_VALUE, "xpos_center");
    rope_rows given = ROPE_ROWS_INIT;
    given.dtype = ROPE_F32;
    given.cos = rows;
    given.count = TOKENS;
    work = good, work.job.rows = &given;
    expect_refused(xpos, work, ROPE_ERR_VALUE, "rows");

    spec.xpos_base = -1;
    assert_int_equal(rope_plan_create(&spec, &none), ROPE_ERR_VALUE);
    spec.xpos_base = (double)INFINITY;
    assert_int_equal(rope_plan_create(&spec, &none), ROPE_ERR_VALUE);
    spec.xpos_base = 0, spec.xpos_gamma = 0.4;
    assert_int_equal(rope_plan_create(&spec, &none), ROPE_ERR_VALUE);
    spec.xpos_base = 512, spec.xpos_gamma = -0.4;
    assert_int_equal(rope_plan_create(&spec, &none), ROPE_ERR_VALUE);
    spec.xpos_gamma = 0, spec.axes = 2;
    assert_int_equal(rope_plan_create(&spec, &none), ROPE_ERR_VALUE);
    assert_int_equal(rope_plan_between(plan, xpos, &none), ROPE_ERR_VALUE);
    assert_memory_equal(q, before[0], sizeof q);
    assert_memory_equal(k, before[1], sizeof k);

    scales[2] = 0; /* left out with its token, as are those of -70000 */
    scales[6] = (float)NAN;
    work = good, work.job.flags = ROPE_SKIP_NEGATIVE;
    assert_int_equal(run(plan, &work), ROPE_OK);
    assert_memory_equal(q + 2 * DIM, before[0] + 2 * DIM, DIM * sizeof(double));
    assert_memory_not_equal(q + DIM, before[0] + DIM, DIM * sizeof(double));
    rope_plan_destroy(plan);
    rope_plan_destroy(xpos);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scale),       cmocka_unit_test(test_scaled_rotation),
        cmocka_unit_test(test_still_pairs), cmocka_unit_test(test_xpos),
        cmocka_unit_test(test_xpos_scores), cmocka_unit_test(test_goldens),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
