/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Positions around the borders of the tables (2^9, 2^20, 2^26 and 2^31, on both sides of 0), in runs that
 * cross them: rows by rope_cos_sin and, on heads of ones and zeros, by rope_rotate against MPFR.  Sees rope.h
 * alone.
 */
#include "reference.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AXES = 2, MOST = 40, PAIRS = 256, BATCH = 2 };

#define P20 (INT64_C(1) << 20)
#define P26 (INT64_C(1) << 26)
#define P31 (INT64_C(1) << 31)
#define P53 (INT64_C(1) << 53)

/* ---- Sequences of positions ---- */

struct sequence {
    int64_t start, step;
    size_t tokens;
    const int64_t *values; /* or NULL */
    rope_dtype dtype;      /* of the values */
};

/* Near and far, of both signs, the same upper digits again and others between. */
static const int64_t mixed[] = {
    5,       P20 + 1, P20 + 2, P20 - 1,   7,         P20 + 3, -P20 - 4,  -P20 - 5, P20,
    1 - P31, P31 - 1, P31 - 1, P20 + 512, P20 + 511, 0,       -1,        P26 + 7,  P26 - 1,
    -P26,    -P20,    1 - P20, P20 - 1,   P31 - 2,   512,     P31 - 513, 511,      1 << 30};
/* Beyond what f64 holds; a start brings them back. */
static const int64_t moved[] = {P53 + 1,       P53 + P20 - 1, P53 + P20 + 1,
                                P53 - P20 - 1, P53 + P31 - 1, P53 - P31 + 1};
#define ALL(values) sizeof values / sizeof *values, values

static const struct sequence sequences[] = {
    {P20 - 3, 1, 8, NULL, 0},          {P20 - 3, 1, 17, NULL, 0},
    {P20 - 20, 1, MOST, NULL, 0},      {P20 - 16, 1, 17, NULL, 0},
    {-P20 - 8, 1, 17, NULL, 0},        {P20 + 9, -1, 17, NULL, 0},
    {4 - P20, -1, 8, NULL, 0},         {-8, 1, 17, NULL, 0},
    {512 - 4, 1, 17, NULL, 0},         {P20 + 512 - 5, 1, 17, NULL, 0},
    {P20 - 6 * 511, 511, 17, NULL, 0}, {P26 - 5, 1, 17, NULL, 0},
    {-P26 + 5, -1, 17, NULL, 0},       {P31 - 4, 1, 4, NULL, 0},
    {P31 - 17, 1, 17, NULL, 0},        {P31 - 1, -1, 17, NULL, 0},
    {1 - P31, 1, 17, NULL, 0},         {16 - P31, -1, 16, NULL, 0},
    {0, 0, ALL(mixed), ROPE_I32},      {0, 0, ALL(mixed), ROPE_I64},
    {0, 0, ALL(mixed), ROPE_F64},      {-P53, 0, ALL(moved), ROPE_I64},
};
enum { SEQUENCES = sizeof sequences / sizeof *sequences };

/* Axis 1 has the sequence the other way round. */
static int64_t position_of(const struct sequence *q, size_t axis, size_t token)
{
    const size_t t = axis == 0 ? token : q->tokens - 1 - token;
    return q->values != NULL ? q->values[t] + q->start : q->start + (int64_t)t * q->step;
}

/* The same as descriptors; `room` takes the values. */
static void describe(const struct sequence *q, rope_positions positions[AXES],
                     int64_t room[AXES][MOST])
{
    const rope_positions none = ROPE_POSITIONS_INIT;
    for (size_t axis = 0; axis < AXES; axis++) {
        rope_positions *p = &positions[axis];
        *p = none;
        if (q->values == NULL) {
            p->start = position_of(q, axis, 0);
            p->step = axis == 0 ? q->step : -q->step;
            continue;
        }
        p->start = q->start;
        p->dtype = q->dtype;
        p->data = room[axis];
        for (size_t t = 0; t < q->tokens; t++) {
            const int64_t value = position_of(q, axis, t) - q->start;
            if (q->dtype == ROPE_I64)
                room[axis][t] = value;
            else if (q->dtype == ROPE_I32)
                ((int32_t *)(void *)room[axis])[t] = (int32_t)value;
            else
                ((double *)(void *)room[axis])[t] = (double)value;
        }
    }
}

/* ---- What is right ---- */

struct subject {
    rope_spec spec;
    rope_direction direction;
    size_t sequence_step; /* of the sequences every so many */
};

static struct reference_bounds right[DTYPES][MOST][PAIRS][2];

/* Bounds of the rows of every token in the types that rows are asked for. */
static void set_right(const struct subject *s, const struct sequence *q)
{
    const size_t d = s->spec.rotary_dim != 0 ? s->spec.rotary_dim : s->spec.head_dim;
    const double m = s->spec.attention_factor != 0.0 ? s->spec.attention_factor : 1.0;
    const int backwards = s->direction == ROPE_INVERSE || s->direction == ROPE_TRANSPOSE;
    const double scale = s->direction == ROPE_INVERSE || s->direction == ROPE_SHIFT ? 1.0 : m;
    const double divisor = s->direction == ROPE_INVERSE ? m : 1.0;
    mpfr_t frequency, angle;
    mpfr_inits2(REFERENCE_BITS, frequency, angle, (mpfr_ptr)NULL);
    for (size_t i = 0; i < d / 2; i++) {
        const size_t axis = s->spec.pair_axis != NULL ? (size_t)s->spec.pair_axis[i] : 0;
        reference_frequency(frequency, s->spec.theta, 1.0, i, d);
        for (size_t t = 0; t < q->tokens; t++) {
            const double position = (double)position_of(q, axis, t);
            reference_angle(angle, position, frequency, 0);
            for (int type = 0; type < DTYPES; type++)
                reference_cos_sin((enum dtype)type, angle, scale, backwards ? -scale : scale,
                                  divisor, reference_slack(position, scale / divisor),
                                  right[type][t][i]);
        }
    }
    mpfr_clears(frequency, angle, (mpfr_ptr)NULL);
}

static void check(enum dtype type, const struct sequence *q, const char *what, size_t t, size_t i,
                  int sine, double got)
{
    const struct reference_bounds bounds = right[type][t][i][sine];
    if (!reference_within(bounds, got))
        fail_msg("%s, %s: start %" PRId64 ", step %" PRId64 ", token %zu at %" PRId64
                 ", pair %zu: %s is %a, not %a to %a",
                 what, dtype_name(type), q->start, q->step, t, position_of(q, 0, t), i,
                 sine ? "sin" : "cos", got, bounds.low, bounds.high);
}

/* ---- Both ways to rows ---- */

static void check_tables(const rope_plan *plan, const struct subject *s, const struct sequence *q,
                         const rope_positions *positions, size_t pairs)
{
    static unsigned char memory[MOST * 2 * PAIRS * 8];
    for (int type = 0; type < DTYPES; type++)
        for (rope_rows_layout layout = ROPE_ROWS_PACKED; layout <= ROPE_ROWS_PAIRS; layout += 2) {
            rope_rows rows = ROPE_ROWS_INIT;
            rows.dtype = (rope_dtype)type + ROPE_F32;
            rows.layout = layout;
            rows.direction = s->direction;
            rows.cos = memory;
            rows.count = q->tokens;
            assert_int_equal(rope_cos_sin(plan, positions, q->tokens, &rows), ROPE_OK);
            for (size_t at = 0; at < q->tokens * pairs; at++)
                for (int sine = 0; sine < 2; sine++) {
                    const size_t t = at / pairs, i = at % pairs, part = (size_t)sine;
                    const size_t entry =
                        layout == ROPE_ROWS_PACKED ? part * pairs + i : 2 * i + part;
                    check((enum dtype)type, q, "rope_cos_sin", t, i, sine,
                          dtype_load((enum dtype)type, memory, t * 2 * pairs + entry));
                }
        }
}

/* Pairs (1, 0) become (cos, sin), exactly. */
static void check_rotations(const rope_plan *plan, const struct subject *s,
                            const struct sequence *q, const rope_positions *positions, size_t pairs)
{
    static unsigned char memory[BATCH * MOST * 2 * PAIRS * 8];
    for (int type = DT_F32; type <= DT_F64; type++)
        for (size_t batch = 1; batch <= BATCH; batch++)
            for (size_t parts = 1; parts <= 2; parts++) {
                rope_tensor tensor = ROPE_TENSOR_INIT;
                rope_job job = ROPE_JOB_INIT;
                const size_t rows = batch * q->tokens;
                const int interleaved = s->spec.pairing == ROPE_INTERLEAVED;
                for (size_t at = 0; at < rows * pairs; at++)
                    for (int part = 0; part < 2; part++)
                        dtype_store((enum dtype)type, memory,
                                    at / pairs * 2 * pairs +
                                        reference_place(interleaved, pairs, at % pairs, part),
                                    part == 0 ? 1.0 : 0.0);
                tensor.dtype = (rope_dtype)type + ROPE_F32;
                tensor.src = tensor.dst = memory;
                tensor.heads = 1;
                job.batch = batch;
                job.tokens = q->tokens;
                job.q = &tensor;
                job.positions = positions;
                job.direction = s->direction;
                for (size_t part = 0; part < parts; part++)
                    assert_int_equal(rope_rotate_part(plan, &job, part, parts), ROPE_OK);
                for (size_t at = 0; at < rows * pairs; at++)
                    for (int sine = 0; sine < 2; sine++)
                        check(
                            (enum dtype)type, q, batch == 1 ? "rope_rotate" : "2 batches",
                            at / pairs % q->tokens, at % pairs, sine,
                            dtype_load((enum dtype)type, memory,
                                       at / pairs * 2 * pairs +
                                           reference_place(interleaved, pairs, at % pairs, sine)));
            }
}

static void check_subject(const struct subject *s)
{
    rope_plan *plan = plan_from(s->spec);
    const size_t pairs = s->spec.head_dim / 2;
    const size_t step = test_reduced() ? 5 * s->sequence_step : s->sequence_step;
    for (size_t n = 0; n < SEQUENCES; n += step) {
        const struct sequence *q = &sequences[n];
        rope_positions positions[AXES];
        int64_t room[AXES][MOST];
        describe(q, positions, room);
        set_right(s, q);
        check_tables(plan, s, q, positions, pairs);
        check_rotations(plan, s, q, positions, pairs);
    }
    rope_plan_destroy(plan);
}

static void test_one_axis(void **state)
{
    (void)state;
    struct subject s = {spec_default(64, 10000), ROPE_FORWARD, 1};
    check_subject(&s);
    s.spec.head_dim = 22; /* a tail in every set */
    s.spec.pairing = ROPE_INTERLEAVED;
    s.spec.attention_factor = 1.25;
    check_subject(&s);
    for (s.direction = ROPE_INVERSE; s.direction <= ROPE_SHIFT; s.direction++)
        check_subject(&s);
}

/* The widest rows that are made at once, two together; and in stretches. */
static void test_wide(void **state)
{
    (void)state;
    struct subject s = {spec_default(2 * PAIRS, 500000), ROPE_FORWARD, 3};
    check_subject(&s);
}

static void test_two_axes(void **state)
{
    (void)state;
    static const int32_t axis[] = {0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0};
    struct subject s = {spec_default(22, 10000), ROPE_FORWARD, 1};
    s.spec.axes = AXES;
    s.spec.pair_axis = axis;
    check_subject(&s);
}

/* One position beyond the last is refused, by both, and nothing is written. */
static void test_beyond(void **state)
{
    (void)state;
    static const struct {
        int64_t start, step;
        size_t good; /* tokens */
    } ends[] = {{P31 - 4, 1, 4}, {P31 - 17, 1, 17}, {4 - P31, -1, 4}, {P31 - 1024, 512, 2}};
    rope_plan *plan = plan_from(spec_default(64, 10000));
    for (size_t n = 0; n < sizeof ends / sizeof *ends; n++)
        for (size_t more = 0; more < 2; more++) {
            static float data[MOST][64], table[MOST][64];
            rope_positions positions = ROPE_POSITIONS_INIT;
            rope_tensor tensor = ROPE_TENSOR_INIT;
            rope_rows rows = ROPE_ROWS_INIT;
            rope_job job = ROPE_JOB_INIT;
            memset(data, 0, sizeof data);
            memset(table, 0, sizeof table);
            for (size_t t = 0; t < MOST; t++)
                data[t][0] = 1.0f;
            positions.start = ends[n].start;
            positions.step = ends[n].step;
            tensor.dtype = rows.dtype = ROPE_F32;
            tensor.src = tensor.dst = data;
            tensor.heads = 1;
            rows.cos = table;
            rows.count = MOST;
            job.tokens = ends[n].good + more;
            job.q = &tensor;
            job.positions = &positions;
            const rope_status wanted = more ? ROPE_ERR_POSITION : ROPE_OK;
            assert_int_equal(rope_rotate(plan, &job), wanted);
            assert_int_equal(rope_cos_sin(plan, &positions, job.tokens, &rows), wanted);
            assert_true((data[0][0] == 1.0f) == (more == 1));
            assert_true((table[0][0] == 0.0f) == (more == 1));
        }
    rope_plan_destroy(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_axis),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_two_axes),
        cmocka_unit_test(test_beyond),
    };
    return cmocka_run_group_tests_name("borders", tests, NULL, NULL);
}
