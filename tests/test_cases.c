/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public faults of other systems as tests, each with its right value and, where the report has one,
 * the wrong value that must be told apart.  A test is named like its case; the comment above it
 * names the public source.  Expected values come from the formulas in 60-digit arithmetic
 * or from the reports, never from this library.
 *
 * Cases that are tested elsewhere, under the same names:
 *   test_schemes.c     SF02 SF03 SF05 SF06 SF07 SF08 LR01 LR03 AF01 AF03 AF04 PA04 DG01 DG02, and the
 *                      values of CF01 CF05 CF06 CF08 (CF_values)
 *   test_config.c      what configuration files and GGUF metadata mean: PD02 CF01 CF02 CF06 CF08; and
 *                      that side of SF06 SF08 LR01 LR03 AF01 AF03 AF04 PD01 PD03 PD04 MR01 MR04 MR06
 *                      CF03 CF05 CF07 LD01 DG02
 * What of them does not touch this library: a runtime's own options that override a file with 0 for
 * "not given" (CF07, fourth form), and the length of a runtime's table (CF08, table_rows): plans have none.
 */
#include "plan.h"
#include "support.h"

#include <fenv.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Helpers ---- */

static rope_plan *plan_make(size_t head_dim, double theta)
{
    return plan_from(spec_default(head_dim, theta));
}

static rope_status plan_status(rope_spec spec)
{
    rope_plan *plan;
    const rope_status status = rope_plan_create(&spec, &plan);
    assert_true((status == ROPE_OK) == (plan != NULL));
    rope_plan_destroy(plan);
    return status;
}

static void expect_frequency(rope_plan *plan, size_t pairs, size_t pair, double want)
{
    double *frequency = malloc(pairs * sizeof *frequency);
    assert_non_null(frequency);
    assert_int_equal(rope_plan_inv_freq(plan, frequency, NULL, pairs), ROPE_OK);
    if (!(fabs(frequency[pair] - want) <= 4e-16 * fabs(want)))
        fail_msg("frequency %zu is %.17g, not %.17g", pair, frequency[pair], want);
    free(frequency);
}

/* One f32 row [cos | sin] at a position. */
static void row_at(const rope_plan *plan, int64_t position, rope_direction direction, size_t pairs,
                   float *row)
{
    rope_positions positions = ROPE_POSITIONS_INIT;
    rope_rows rows = ROPE_ROWS_INIT;
    positions.start = position;
    rows.dtype = ROPE_F32;
    rows.cos = row;
    rows.count = 1;
    rows.direction = direction;
    for (size_t i = 0; i < 2 * pairs; i++)
        row[i] = (float)NAN;
    assert_int_equal(rope_cos_sin(plan, &positions, 1, &rows), ROPE_OK);
}

/* The value that is nearest to the true one, and no other. */
static void expect_nearest(const char *what, float got, double truth)
{
    if (got != (float)truth)
        fail_msg("%s is %.9g, not %.9g", what, (double)got, truth);
}

static void expect_row(const rope_plan *plan, int64_t position, size_t pairs, size_t pair,
                       double cos_truth, double sin_truth)
{
    float row[512];
    assert_true(2 * pairs <= COUNT(row));
    row_at(plan, position, ROPE_FORWARD, pairs, row);
    expect_nearest("cos", row[pair], cos_truth);
    expect_nearest("sin", row[pairs + pair], sin_truth);
}

/* One head of d rotated elements: each within 1.5e-7 (|x| + |y|) of its pair. */
static void expect_head(const float *x, const float *got, const double *want, size_t d,
                        rope_pairing pairing)
{
    for (size_t i = 0; i < d; i++) {
        const size_t other = pairing == ROPE_HALF ? (i + d / 2) % d : i ^ 1;
        const double allowed = 1.5e-7 * (fabs((double)x[i]) + fabs((double)x[other]));
        if (!(fabs((double)got[i] - want[i]) <= allowed))
            fail_msg("element %zu is %.9g, not %.9g", i, (double)got[i], want[i]);
    }
}

/* A job for q alone, dense [tokens, heads, head_dim]; fields may be changed before it is used. */
struct call {
    rope_job job;
    rope_tensor q;
    rope_positions positions;
};

static void call_make(struct call *call, rope_dtype dtype, const void *src, void *dst,
                      size_t tokens, size_t heads, const int64_t *positions)
{
    const rope_job job = ROPE_JOB_INIT;
    const rope_tensor tensor = ROPE_TENSOR_INIT;
    const rope_positions at = ROPE_POSITIONS_INIT;
    call->job = job;
    call->q = tensor;
    call->positions = at;
    call->q.dtype = dtype;
    call->q.src = src;
    call->q.dst = dst;
    call->q.heads = heads;
    call->positions.dtype = positions ? ROPE_I64 : 0;
    call->positions.data = positions;
    call->job.tokens = tokens;
    call->job.q = &call->q;
    call->job.positions = &call->positions;
}

static void rotate(const rope_plan *plan, const float *x, float *y, size_t tokens, size_t heads,
                   const int64_t *positions)
{
    struct call call;
    call_make(&call, ROPE_F32, x, y, tokens, heads, positions);
    assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
}

static const float one_to_16[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

/* ---- Scaling and frequencies ---- */

/* https://github.com/ggml-org/ggml/issues/835: the factor was applied twice. */
static void SF01(void **state)
{
    double plain[32], scaled[32];
    (void)state;
    rope_spec spec = spec_default(64, 10000);
    rope_plan *plan = plan_from(spec);
    spec.scheme = ROPE_SCHEME_LINEAR;
    spec.factor = 4;
    rope_plan *linear = plan_from(spec);
    assert_int_equal(rope_plan_inv_freq(plan, plain, NULL, 32), ROPE_OK);
    assert_int_equal(rope_plan_inv_freq(linear, scaled, NULL, 32), ROPE_OK);
    for (size_t i = 0; i < 32; i++)
        assert_true(scaled[i] * 4 == plain[i]);
    assert_true(fabs(100 * scaled[3] / 10.542412585714556 - 1) <= 4e-15); /* not 2.63560314664 */
    expect_row(linear, 100, 32, 3, -0.43781030060322036, -0.89906737271781686);
    rope_plan_destroy(plan);
    rope_plan_destroy(linear);
}

/* https://github.com/huggingface/candle/issues/2358: head_dim as hidden_size / heads = 160. */
static void PD04(void **state)
{
    (void)state;
    rope_plan *plan = plan_make(128, 1000000);
    expect_frequency(plan, 64, 1, 0.80584218776148182); /* not 0.84139514164519509 */
    expect_frequency(plan, 64, 63, 0.0000012409377607517196);
    rope_plan_destroy(plan);
}

/* https://github.com/deepspeedai/DeepSpeed/pull/8345: the base was lost, or a default hid it. */
static void CF03(void **state)
{
    (void)state;
    rope_info info = ROPE_INFO_INIT;
    rope_plan *plan = plan_make(64, 0);
    assert_int_equal(rope_plan_info(plan, &info), ROPE_OK);
    assert_true(info.theta == 10000);
    rope_plan_destroy(plan);
    plan = plan_make(64, 500000);
    assert_int_equal(rope_plan_info(plan, &info), ROPE_OK);
    assert_true(info.theta == 500000);
    expect_frequency(plan, 32, 31, 0.0000030138581521391711);
    rope_plan_destroy(plan);
}

/* https://github.com/ROCm/aiter/pull/4742: a block that says "default" was taken for scaling. */
static void CF05(void **state)
{
    (void)state;
    rope_info info = ROPE_INFO_INIT;
    rope_spec spec = spec_default(64, 1000000);
    rope_plan *plan = plan_from(spec);
    expect_frequency(plan, 32, 1, 0.64938163157621132);
    assert_int_equal(rope_plan_info(plan, &info), ROPE_OK);
    assert_true(info.attention_factor == 1 && info.factor == 1);
    rope_plan_destroy(plan);
    spec.scheme = ROPE_SCHEME_LINEAR; /* linear without a factor */
    assert_int_equal(plan_status(spec), ROPE_ERR_VALUE);
}

/* https://github.com/ggml-org/llama.cpp/pull/2772: factor lost, or its inverse used. */
static void CF07(void **state)
{
    (void)state;
    rope_spec spec = spec_default(64, 10000);
    rope_plan *plan = plan_from(spec);
    expect_row(plan, 16, 32, 0, cos(16.0), sin(16.0));
    rope_plan_destroy(plan);
    spec.factor = 4; /* a factor that no scheme uses */
    assert_int_equal(plan_status(spec), ROPE_ERR_VALUE);
    spec.scheme = ROPE_SCHEME_LINEAR;
    plan = plan_from(spec);
    expect_row(plan, 16, 32, 0, cos(4.0), sin(4.0)); /* not of 64 */
    rope_plan_destroy(plan);
}

/* https://github.com/Blaizzy/mlx-vlm/pull/1709: the global factor nowhere, or everywhere. */
static void LD01(void **state)
{
    (void)state;
    rope_plan *local = plan_make(256, 10000);
    rope_spec spec = spec_default(256, 1000000);
    spec.scheme = ROPE_SCHEME_LINEAR;
    spec.factor = 8;
    rope_plan *global = plan_from(spec);
    expect_frequency(local, 128, 1, 0.93057204092969898);  /* not 0.11632150511621237 */
    expect_frequency(global, 128, 1, 0.11221089155591427); /* not 0.89768713244731419 */
    rope_plan_destroy(local);
    rope_plan_destroy(global);
}

/* https://github.com/sgl-project/sglang/pull/33558: a final magnitude used as one factor more. */
static void AF03(void **state)
{
    static const double factors[] = {1.4852030263919618, 1.0};
    (void)state;
    for (size_t i = 0; i < COUNT(factors); i++) {
        rope_spec spec = spec_default(64, 10000);
        spec.attention_factor = factors[i];
        rope_plan *plan = plan_from(spec);
        expect_row(plan, 0, 32, 5, factors[i], 0); /* not 2.2058280296038421 */
        rope_plan_destroy(plan);
    }
}

/* ---- Pairing and partial rotation ---- */

/* https://github.com/NeuraLegion/shainet/pull/111: halves rotated as pairs. */
static void PA01(void **state)
{
    static const double want[2][4] = {
        {-1.9841106485555498, 1.9599006674966639, 2.4623779024123157, 4.0197996683349944},
        {-1.1426396637476533, 1.9220755965441759, 2.9598506679133292, 4.0297995016691611}};
    static const float evens_then_odds[] = {1, 3, 2, 4};
    static const int64_t position = 1;
    float y[2][4], permuted[4];
    (void)state;
    for (rope_pairing pairing = ROPE_HALF; pairing <= ROPE_INTERLEAVED; pairing++) {
        rope_spec spec = spec_default(4, 10000);
        spec.pairing = pairing;
        rope_plan *plan = plan_from(spec);
        rotate(plan, one_to_16, y[pairing], 1, 1, &position);
        expect_head(one_to_16, y[pairing], want[pairing], 4, pairing);
        if (pairing == ROPE_HALF) /* interleaved(x) = unpermute(half(permute(x))) */
            rotate(plan, evens_then_odds, permuted, 1, 1, &position);
        rope_plan_destroy(plan);
    }
    for (size_t i = 0; i < 4; i++)
        assert_true(y[ROPE_INTERLEAVED][i] == permuted[i / 2 + i % 2 * 2]);
}

/* https://github.com/huggingface/transformers/pull/47403: table in halves, rotation in pairs. */
static void PA02(void **state)
{
    static const double row[] = {0.54030230586813972, 0.54030230586813972, 0.99995000041666528,
                                 0.99995000041666528};
    static const double want[] = {-1.1426396637476533, 1.9220755965441759, 2.9598506679133292,
                                  4.0297995016691611};
    float cos_row[4], sin_row[4], y[4], wrong[2][4];
    (void)state;
    rope_spec spec = spec_default(4, 10000);
    spec.pairing = ROPE_INTERLEAVED;
    rope_plan *plan = plan_from(spec);
    rope_positions positions = ROPE_POSITIONS_INIT;
    rope_rows rows = ROPE_ROWS_INIT;
    positions.start = 1;
    rows.dtype = ROPE_F32;
    rows.layout = ROPE_ROWS_DUP_PAIRS;
    rows.cos = cos_row;
    rows.sin = sin_row;
    rows.count = 1;
    assert_int_equal(rope_cos_sin(plan, &positions, 1, &rows), ROPE_OK);
    for (size_t i = 0; i < 4; i++)
        expect_nearest("cos", cos_row[i], row[i]);

    struct call call;
    call_make(&call, ROPE_F32, one_to_16, y, 1, 1, NULL);
    call.job.positions = NULL;
    call.job.rows = &rows;
    assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
    expect_head(one_to_16, y, want, 4, ROPE_INTERLEAVED);

    for (size_t i = 0; i < 4; i++) { /* f0 f1 f0 f1 is no table for pairs */
        wrong[0][i] = cos_row[2 * (i % 2)];
        wrong[1][i] = sin_row[2 * (i % 2)];
    }
    rows.cos = wrong[0];
    rows.sin = wrong[1];
    memset(y, 0xff, sizeof y);
    assert_int_equal(rope_rotate(plan, &call.job), ROPE_ERR_ROW);
    for (size_t i = 0; i < 4; i++)
        assert_true(isnan(y[i]));
    rope_plan_destroy(plan);

    /* <R(m) q, R(n) k> depends on m - n only */
    static const float q[] = {1, -2, 0.5f, 3}, k[] = {-1, 0.25f, 2, 1.5f};
    for (rope_pairing pairing = ROPE_HALF; pairing <= ROPE_INTERLEAVED; pairing++) {
        spec.pairing = pairing;
        plan = plan_from(spec);
        double products[2] = {0, 0};
        for (int64_t moved = 0; moved < 2; moved++) {
            const int64_t m = 3 + 7 * moved, n = 11 + 7 * moved;
            float turned_q[4], turned_k[4];
            rotate(plan, q, turned_q, 1, 1, &m);
            rotate(plan, k, turned_k, 1, 1, &n);
            for (size_t i = 0; i < 4; i++)
                products[moved] += (double)turned_q[i] * (double)turned_k[i];
        }
        assert_true(fabs(products[0] - products[1]) <= 2e-6);
        rope_plan_destroy(plan);
    }
}

/* https://github.com/NVIDIA-NeMo/Megatron-Bridge/issues/4195: zero frequencies behind the rotated
 * ones pair over the whole head; a compact table of the rotated part pairs inside it. */
static void PA04(void **state)
{
    static const double inv_freq[] = {1, 0.031622776601683793, 0, 0};
    static const double want[] = {-1.6955925368997816, 1.4226501999788488, 3, 4,
                                  -4.8088424749423601, 6.1624724265914685, 7, 8};
    static const int64_t position = 3;
    float y[8];
    (void)state;
    rope_spec spec = spec_default(8, 0);
    spec.scheme = ROPE_SCHEME_CUSTOM;
    spec.inv_freq = inv_freq;
    spec.inv_freq_count = 4;
    rope_plan *plan = plan_from(spec);
    rotate(plan, one_to_16, y, 1, 1, &position);
    expect_head(one_to_16, y, want, 8, ROPE_HALF); /* not -1.41335..., 1.61210..., -2.82885... */
    rope_plan_destroy(plan);
}

/* https://github.com/pie-project/pie/issues/602: frequencies from head_dim, not from rotary_dim. */
static void PD01(void **state)
{
    static const double want[] = {-1.4133525207800471, 1.9879910180067419, -2.8288574817414691,
                                  4.005981991013504};
    static const uint32_t rest[] = {0x7fc12345, 0xffa00001, 0x80000000, 0x00000001};
    static const int64_t position = 3;
    float x[8], y[8];
    (void)state;
    rope_spec spec = spec_default(8, 1000000);
    spec.rotary_dim = 4;
    rope_plan *plan = plan_from(spec);
    expect_frequency(plan, 2, 0, 1);
    expect_frequency(plan, 2, 1, 0.001); /* not 0.031622776601683793 */
    memcpy(x, one_to_16, 4 * sizeof *x);
    memcpy(x + 4, rest, sizeof rest); /* NaN with payload, signalling NaN, -0, denormal */
    rotate(plan, x, y, 1, 1, &position);
    expect_head(x, y, want, 4, ROPE_HALF);
    assert_memory_equal(y + 4, rest, sizeof rest);
    rotate(plan, x, x, 1, 1, &position);
    assert_memory_equal(x, y, sizeof x);
    rope_plan_destroy(plan);
}

/* https://github.com/huggingface/transformers/issues/35233: odd widths found at first use. */
static void PD03(void **state)
{
    static const struct {
        size_t head_dim, rotary_dim;
        rope_status status;
    } cases[] = {
        {4, 3, ROPE_ERR_VALUE}, {65, 0, ROPE_ERR_VALUE}, {64, 33, ROPE_ERR_VALUE},
        {33, 32, ROPE_OK},      {10, 3, ROPE_ERR_VALUE},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rope_spec spec = spec_default(cases[i].head_dim, 10000);
        spec.rotary_dim = cases[i].rotary_dim;
        assert_int_equal(plan_status(spec), cases[i].status);
    }
}

/* https://github.com/flashinfer-ai/flashinfer/pull/4349: rotary_dim beyond the head. */
static void BO03(void **state)
{
    static const struct {
        size_t head_dim, rotary_dim;
        rope_status status;
    } cases[] = {
        {6, 8, ROPE_ERR_VALUE},
        {8, 8, ROPE_OK},
        {8, 0, ROPE_OK}, /* the whole head, as the header says */
        {0, 0, ROPE_ERR_VALUE},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rope_spec spec = spec_default(cases[i].head_dim, 10000);
        spec.rotary_dim = cases[i].rotary_dim;
        assert_int_equal(plan_status(spec), cases[i].status);
    }
    /* ORT#29014: rows without a plan imply the width */
    float x[8] = {0}, y[8], rows[8] = {0};
    rope_rows table = ROPE_ROWS_INIT;
    struct call call;
    call_make(&call, ROPE_F32, x, y, 1, 1, NULL);
    call.q.head_dim = 6;
    call.job.positions = NULL;
    call.job.rows = &table;
    call.job.rotary_dim = 8;
    table.dtype = ROPE_F32;
    table.cos = rows;
    table.count = 1;
    assert_int_equal(rope_rotate(NULL, &call.job), ROPE_ERR_VALUE);
}

/* ---- Precision ---- */

/* https://github.com/sgl-project/sglang-jax/issues/1472: inv_freq in the type of the model. */
static void PR01(void **state)
{
    static const size_t pairs[] = {1, 5, 20, 63};
    static const double cosines[] = {-0.74236581761003617, -0.71139197236764992,
                                     -0.58776004520894533, 0.89025881218308253};
    static const double sines[] = {0.669994770758834, 0.7027954621729318, -0.80903530779316334,
                                   0.4554549893571998};
    static const double wrong[] = {0.42384145541018554, 0.96739271233830892, -0.82102970397630707,
                                   0.89041469290930203};
    uint16_t row[128];
    (void)state;
    rope_plan *plan = plan_make(128, 10000);
    rope_positions positions = ROPE_POSITIONS_INIT;
    rope_rows rows = ROPE_ROWS_INIT;
    positions.start = 4095;
    rows.dtype = ROPE_BF16;
    rows.cos = row;
    rows.count = 1;
    assert_int_equal(rope_cos_sin(plan, &positions, 1, &rows), ROPE_OK);
    for (size_t i = 0; i < COUNT(pairs); i++) {
        expect_row(plan, 4095, 64, pairs[i], cosines[i], sines[i]);
        assert_true((float)cosines[i] != (float)wrong[i]);
        /* the bf16 row is that same value, rounded once */
        assert_true(dtype_load(DT_BF16, row, pairs[i]) == dtype_round(DT_BF16, cosines[i]));
        assert_true(dtype_load(DT_BF16, row, 64 + pairs[i]) == dtype_round(DT_BF16, sines[i]));
    }
    rope_plan_destroy(plan);
    /* gpt-neox#1003: an angle of 1045 instead */
    plan = plan_make(32, 10000);
    float f32_row[32];
    row_at(plan, 1857, ROPE_FORWARD, 16, f32_row);
    assert_true(fabs((double)f32_row[1] - cos(1044.2678408784782)) <= 6e-8);
    rope_plan_destroy(plan);
}

/* https://github.com/huggingface/transformers/issues/28685: positions counted in bf16 or f16. */
static void PR02(void **state)
{
    static const int64_t positions[] = {256, 257, 258, 2048, 2049, 4097};
    static const double cosines[] = {-0.03979075993115771, 0.8193055291449822,
                                     0.92513609314625817,  0.94973433482365189,
                                     0.77657204392088638,  0.93477196128355388};
    static const double sines[] = {-0.9992080341070627,  -0.57335717481554264, 0.37963562682930315,
                                   -0.31305701279012341, 0.63002846015123549,  0.3552483362355101};
    (void)state;
    rope_plan *plan = plan_make(64, 10000);
    for (size_t i = 0; i < COUNT(positions); i++)
        expect_row(plan, positions[i], 32, 0, cosines[i], sines[i]);
    rope_plan_destroy(plan);

    /* no two neighbours share a row */
    const size_t count = test_reduced() ? 1 << 12 : 1 << 20;
    float *rows = malloc(count * 2 * sizeof *rows);
    assert_non_null(rows);
    plan = plan_make(2, 10000);
    rope_positions at = ROPE_POSITIONS_INIT;
    rope_rows table = ROPE_ROWS_INIT;
    table.dtype = ROPE_F32;
    table.cos = rows;
    table.count = count;
    assert_int_equal(rope_cos_sin(plan, &at, count, &table), ROPE_OK);
    for (size_t row = 0; row + 1 < count; row++)
        assert_memory_not_equal(rows + 2 * row, rows + 2 * row + 2, 2 * sizeof *rows);
    rope_plan_destroy(plan);
    free(rows);
}

/* https://github.com/kekzl/imp/issues/1316: 1e-2 off at 131071, all tests used positions <= 40. */
static void PR04(void **state)
{
    static const struct {
        int64_t position;
        double cosines[4], sines[4];
        double of_f32_angles[4]; /* what Hugging Face's arithmetic gives: another number */
    } cases[] = {
        {40,
         {-0.66693806165226184, -0.65364362086361191, 0.92106099400288508, 0.99920010666097794},
         {0.74511316047934879, -0.75680249530792825, 0.38941834230865049, 0.039989334186634159},
         {-0.66693806165226184, -0.65364362086361191, 0.92106100328734161, 0.99920010654775931}},
        {2000,
         {-0.36745954910083133, 0.48718767500700591, 0.40808206181339199, -0.41614683654714239},
         {0.93003950441613701, -0.87329729721399458, 0.91294525072762765, 0.9092974268256817},
         {-0.36745954910083133, 0.48718767500700591, 0.40808206181339199, -0.41614683654714239}},
        {16000,
         {-0.99138143446830687, -0.59836346379501248, -0.97562931279523731, -0.95765948032338464},
         {0.13100706618943186, -0.80122479067689536, 0.21942525837900474, -0.28790331666506529},
         {-0.99138143446830687, -0.59836346379501248, -0.97562931279523731, -0.95765948032338464}},
        {48039,
         {-0.61632102348681635, -0.9191683189211087, -0.96278388231956258, -0.60970323438205912},
         {-0.78749501332272776, -0.39386495336821097, 0.27027244762585525, -0.7926297786382088},
         {-0.61632102348681635, -0.91920677791246384, -0.96277959320685557, -0.60970207330262768}},
        {131071,
         {-0.81798349938794908, 0.9303429898443915, -0.78638369025726082, 0.64031237631175251},
         {-0.57524168375478937, 0.36669049789624827, -0.61773836832219874, -0.76811461432653177},
         {-0.81798349938794908, 0.93012797243912057, -0.78640782006230413, 0.6403117199635817}},
        {1048575,
         {0.78804223952892747, -0.84619044081195548, 0.63230016703005302, 0.75381578432434564},
         {-0.61562117305875088, -0.53288060377393026, -0.77472349827132974, -0.6570858112175849},
         {0.78804223952892747, -0.84619044081195548, 0.63230016703005302, 0.75386390870459991}},
        {16777217,
         {0.99438396391365224, -0.29891565268867259, 0.12638511337525767, 0.44266315668489117},
         {0.10583256734754364, -0.95427953586865985, -0.99198125139395818, 0.89668797790188282},
         {0.62632298329153292, -0.36957923269886361, 0.11273385380397096, 0.44284528729706097}},
    };
    (void)state;
    rope_spec spec = spec_default(8, 10000);
    rope_plan *exact = plan_from(spec);
    spec.angle = ROPE_ANGLE_F32;
    rope_plan *f32 = plan_from(spec);
    for (size_t i = 0; i < COUNT(cases); i++) {
        float row[8];
        row_at(f32, cases[i].position, ROPE_FORWARD, 4, row);
        for (size_t pair = 0; pair < 4; pair++) {
            expect_row(exact, cases[i].position, 4, pair, cases[i].cosines[pair],
                       cases[i].sines[pair]);
            expect_nearest("cos of the f32 angle", row[pair], cases[i].of_f32_angles[pair]);
        }
    }
    rope_plan_destroy(exact);
    rope_plan_destroy(f32);
}

/* https://github.com/sgl-project/sglang/pull/34347: bf16 results by the place of rounding. */
static void PR05(void **state)
{
    static const uint16_t x[] = {0x4040, 0x4060}; /* 3, 3.5 */
    static const int64_t position = 7;
    uint16_t y[2];
    struct call call;
    (void)state;
    rope_plan *plan = plan_make(2, 10000);
    call_make(&call, ROPE_BF16, x, y, 1, 1, &position);
    assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
    assert_int_equal(y[0], 0xBD1B);
    assert_int_equal(y[1], 0x4094);
    call.job.arith = ROPE_ARITH_EAGER; /* table and products in bf16: asked for by name only */
    assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
    assert_int_equal(y[0], 0xBD00);
    rope_plan_destroy(plan);
}

/* ---- Bounds ---- */

/* https://github.com/microsoft/onnxruntime/pull/27597: position ids outside the table. */
static void BO01(void **state)
{
    static const struct {
        int64_t positions[2];
        size_t tokens;
        rope_status status;
    } cases[] = {
        {{0, 7}, 2, ROPE_OK},
        {{0, 8}, 2, ROPE_ERR_ROW},
        {{-1}, 1, ROPE_ERR_ROW},
        {{-2147483648}, 1, ROPE_ERR_ROW},
        {{4294967296}, 1, ROPE_ERR_ROW}, /* must not wrap to 0 */
    };
    float rows[8 * 4], y[8];
    (void)state;
    rope_plan *plan = plan_make(4, 10000);
    rope_positions all = ROPE_POSITIONS_INIT;
    rope_rows table = ROPE_ROWS_INIT;
    table.dtype = ROPE_F32;
    table.cos = rows;
    table.count = 8;
    assert_int_equal(rope_cos_sin(plan, &all, 8, &table), ROPE_OK);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct call call;
        call_make(&call, ROPE_F32, one_to_16, y, cases[i].tokens, 1, cases[i].positions);
        call.job.rows = &table;
        memset(y, 0xff, sizeof y);
        assert_int_equal(rope_rotate(plan, &call.job), cases[i].status);
        for (size_t at = 0; at < 8; at++)
            assert_int_equal(isnan(y[at]) != 0,
                             cases[i].status != ROPE_OK || at >= 4 * cases[i].tokens);
    }
    rope_plan_destroy(plan);
}

/* https://github.com/karpathy/nanochat/pull/520: offset + length beyond the rows. */
static void BO04(void **state)
{
    enum { ROWS = 40960 };
    static const struct {
        int64_t first;
        size_t count;
        rope_status by_rows, by_positions;
    } cases[] = {
        {4090, 64, ROPE_OK, ROPE_OK},
        {40950, 10, ROPE_OK, ROPE_OK},
        {40950, 11, ROPE_ERR_ROW, ROPE_OK}, /* rows made on the way have no end */
        {2147483640, 16, ROPE_ERR_ROW, ROPE_ERR_POSITION},
    };
    float x[64 * 2] = {0}, y[64 * 2];
    float *rows = calloc(2 * ROWS, sizeof *rows);
    assert_non_null(rows);
    (void)state;
    rope_plan *pair = plan_make(2, 1000000);
    for (size_t i = 0; i < COUNT(cases); i++) {
        rope_rows table = ROPE_ROWS_INIT;
        struct call call;
        table.dtype = ROPE_F32;
        table.cos = rows;
        table.count = ROWS;
        call_make(&call, ROPE_F32, x, y, cases[i].count, 1, NULL);
        call.positions.start = cases[i].first;
        assert_int_equal(rope_rotate(pair, &call.job), cases[i].by_positions);
        call.job.rows = &table;
        assert_int_equal(rope_rotate(pair, &call.job), cases[i].by_rows);
    }
    rope_plan_destroy(pair);
    free(rows);
    float row[128];
    rope_plan *plan = plan_make(128, 1000000);
    row_at(plan, 4096, ROPE_FORWARD, 64, row);
    expect_nearest("cos", row[1], -0.46755117819943813);
    row_at(plan, 4153, ROPE_FORWARD, 64, row);
    expect_nearest("sin", row[64 + 63], 0.0051535917073196452);
    rope_plan_destroy(plan);
}

/* https://github.com/vllm-project/vllm/pull/2983 and others: degenerate parameters. */
static void DG02(void **state)
{
    static const struct {
        size_t head_dim;
        rope_scheme scheme;
        double theta, factor;
        rope_status status;
    } cases[] = {
        {0, ROPE_SCHEME_DEFAULT, 0, 0, ROPE_ERR_VALUE}, /* the zeroed probe */
        {64, ROPE_SCHEME_DEFAULT, 0, 0, ROPE_OK}, /* not given: CF03; 0 in a file is refused */
        {64, ROPE_SCHEME_DEFAULT, -10000, 0, ROPE_ERR_VALUE},
        {64, ROPE_SCHEME_DEFAULT, (double)NAN, 0, ROPE_ERR_VALUE},
        {64, ROPE_SCHEME_DEFAULT, (double)INFINITY, 0, ROPE_ERR_VALUE},
        {64, ROPE_SCHEME_DEFAULT, 1, 0, ROPE_OK},
        {64, ROPE_SCHEME_LINEAR, 10000, 0, ROPE_ERR_VALUE},
        {64, ROPE_SCHEME_LINEAR, 10000, -4, ROPE_ERR_VALUE},
        {64, ROPE_SCHEME_LINEAR, 10000, (double)NAN, ROPE_ERR_VALUE},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rope_spec spec = spec_default(cases[i].head_dim, cases[i].theta);
        spec.scheme = cases[i].scheme;
        spec.factor = cases[i].factor;
        assert_int_equal(plan_status(spec), cases[i].status);
    }
    static const int32_t none[3] = {0, 0, 0}, eighty[3] = {40, 20, 20};
    rope_spec spec = spec_default(128, 10000);
    spec.axis_layout = ROPE_AXES_SECTIONS;
    spec.sections = none; /* an empty list */
    assert_int_equal(plan_status(spec), ROPE_ERR_VALUE);
    spec.section_count = 3;
    assert_int_equal(plan_status(spec), ROPE_ERR_VALUE);
    spec.sections = eighty; /* not 64 */
    assert_int_equal(plan_status(spec), ROPE_ERR_VALUE);
    spec = spec_default(2, 10000); /* no exponent d / (d - 2) */
    spec.scheme = ROPE_SCHEME_DYNAMIC_NTK;
    spec.factor = 2;
    spec.max_length = 2048;
    assert_int_equal(plan_status(spec), ROPE_ERR_VALUE);
    rope_plan *plan = plan_make(64, 1);
    for (size_t pair = 0; pair < 32; pair++)
        expect_frequency(plan, 32, pair, 1);
    struct call call;
    call_make(&call, ROPE_F32, NULL, NULL, 0, 1, NULL); /* no tokens: nothing to do */
    assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
    rope_plan_destroy(plan);
}

/* https://github.com/sgl-project/sglang/issues/29603: offsets formed in 32 bits. */
static void IO01(void **state)
{
    enum { HEADS = 72, WIDTH = 128 };
    static const int64_t positions[] = {1, 2, 3}; /* read as int32: 1, 0, 2 */
    static const double cosines[] = {0.54030230586813972, -0.41614683654714239,
                                     -0.98999249660044546};
    (void)state;
    rope_plan *pair = plan_make(2, 10000);
    float x[] = {1, 0, 1, 0, 1, 0}, y[6];
    rotate(pair, x, y, 3, 1, positions);
    for (size_t token = 0; token < 3; token++)
        expect_nearest("cos", y[2 * token], cosines[token]);
    rope_plan_destroy(pair);

    if (sizeof(size_t) < 8) {
        print_message("the second part needs 64-bit addresses\n");
        skip();
    }
    /* two tokens 2^31 elements apart, on a mapping that has memory only where it is touched */
    const size_t stride = (size_t)1 << 31;
    const size_t bytes = (stride + HEADS * WIDTH) * sizeof(float);
    float *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) {
        print_message("no 8 GiB of addresses to be had\n");
        skip();
    }
    for (size_t token = 0; token < 2; token++)
        for (size_t head = 0; head < HEADS; head++)
            data[token * stride + head * WIDTH] = 1;
    rope_plan *plan = plan_make(WIDTH, 10000);
    struct call call;
    call_make(&call, ROPE_F32, data, data, 2, HEADS, positions);
    call.q.src_stride_token = (ptrdiff_t)stride;
    call.q.src_stride_head = WIDTH;
    assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
    for (size_t token = 0; token < 2; token++)
        for (size_t head = 0; head < HEADS; head++)
            expect_nearest("first element", data[token * stride + head * WIDTH], cosines[token]);
    rope_plan_destroy(plan);
    munmap(data, bytes);
}

/* ---- Vector tails ---- */

/* One head by f32 rows, every operand at the end of its own memory before a guard page. */
static void tail_check(size_t d, rope_pairing pairing, rope_dtype dtype, int in_place)
{
    const enum dtype type = (enum dtype)(dtype - 1);
    const size_t bytes = d * dtype_size(type);
    struct guarded memory[4];
    for (size_t i = 0; i < 4; i++)
        memory[i] = guarded_make(4096);
    void *x = guarded_end(&memory[0], bytes, 0);
    void *y = in_place ? x : guarded_end(&memory[1], bytes, 0);
    float *cosines = guarded_end(&memory[2], d / 2 * sizeof(float), 0);
    float *sines = guarded_end(&memory[3], d / 2 * sizeof(float), 0);
    double before[256];
    for (size_t i = 0; i < d; i++) {
        before[i] = (double)(i % 16 + 1);
        dtype_store(type, x, i, before[i]);
    }
    for (size_t pair = 0; pair < d / 2; pair++) {
        cosines[pair] = (float)cos(5 * pow(10000, -2 * (double)pair / (double)d));
        sines[pair] = (float)sin(5 * pow(10000, -2 * (double)pair / (double)d));
    }
    rope_rows rows = ROPE_ROWS_INIT;
    struct call call;
    rows.dtype = ROPE_F32;
    rows.layout = ROPE_ROWS_SEPARATE;
    rows.cos = cosines;
    rows.sin = sines;
    rows.count = 1;
    call_make(&call, dtype, x, y, 1, 1, NULL);
    call.q.head_dim = d;
    call.job.positions = NULL;
    call.job.rows = &rows;
    call.job.rotary_dim = d;
    call.job.pairing = pairing;
    assert_int_equal(rope_rotate(NULL, &call.job), ROPE_OK);
    for (size_t pair = 0; pair < d / 2; pair++) {
        const size_t at = pairing == ROPE_HALF ? pair : 2 * pair;
        const size_t other = pairing == ROPE_HALF ? pair + d / 2 : at + 1;
        const double c = (double)cosines[pair], s = (double)sines[pair];
        const double want[] = {before[at] * c - before[other] * s,
                               before[at] * s + before[other] * c};
        for (size_t part = 0; part < 2; part++) {
            const double got = dtype_load(type, y, part ? other : at);
            const double allowed = 1.5e-7 * (before[at] + before[other]) +
                                   (type == DT_F32 ? 0 : dtype_ulp(type, want[part]) / 2);
            if (!(fabs(got - want[part]) <= allowed))
                fail_msg("d %zu, pair %zu: %.9g, not %.9g", d, pair, got, want[part]);
        }
    }
    for (size_t i = 0; i < 4; i++)
        guarded_free(&memory[i]);
}

/* https://github.com/microsoft/onnxruntime/pull/26389: a tail read beyond the end of the page. */
static void ST01(void **state)
{
    static const size_t dims[] = {2,  4,  6,  14, 16,  24,  32,  42, 64,
                                  70, 72, 80, 96, 112, 160, 192, 256};
    static const double half[] = {4.1193592841157801,  0.79637189023320423, 2.9351941513936761,
                                  0.17572446718976659, 5.3259545447221377,  6.0319677795578747};
    static const double interleaved[] = {2.2015107347895032, -0.39159990373668594,
                                         1.9995638261764922, 4.5827660321083845,
                                         4.9350781127949329, 6.0535117097939444};
    static const int64_t position = 5;
    float y[6];
    (void)state;
    rope_spec spec = spec_default(6, 10000);
    rope_plan *plan = plan_from(spec);
    rotate(plan, one_to_16, y, 1, 1, &position);
    expect_head(one_to_16, y, half, 6, ROPE_HALF);
    rope_plan_destroy(plan);
    spec.pairing = ROPE_INTERLEAVED;
    plan = plan_from(spec);
    rotate(plan, one_to_16, y, 1, 1, &position);
    expect_head(one_to_16, y, interleaved, 6, ROPE_INTERLEAVED);
    rope_plan_destroy(plan);
    for (size_t i = 0; i < COUNT(dims); i++)
        for (rope_pairing pairing = ROPE_HALF; pairing <= ROPE_INTERLEAVED; pairing++)
            for (int in_place = 0; in_place < 2; in_place++) {
                tail_check(dims[i], pairing, ROPE_F32, in_place);
                tail_check(dims[i], pairing, ROPE_F16, in_place);
                tail_check(dims[i], pairing, ROPE_BF16, in_place);
            }
}

/* https://github.com/microsoft/onnxruntime/pull/26390: the table by element instead of by pair. */
static void ST02(void **state)
{
    static const double want[] = {
        -2.2347416901985058, 0.077003753731396921, 0.055226760794053745, 4.999694991186182,
        3.7083169044358409,  6.8737461210227559,   6.480377482579134,    8.4264291181544585,
        8.7982133930658692,  10.177988066905775,   10.923885842852705,   12.069329645523907,
        12.97197401867533,   14.025971982676003,   14.98987771216218,    16.009483632348156};
    static const int64_t position = 2;
    float y[16];
    (void)state;
    rope_spec spec = spec_default(16, 10000);
    spec.pairing = ROPE_INTERLEAVED;
    rope_plan *plan = plan_from(spec);
    rotate(plan, one_to_16, y, 1, 1, &position);
    expect_head(one_to_16, y, want, 16, ROPE_INTERLEAVED); /* not y[2] = 2.14552241034348 */
    rope_plan_destroy(plan);
    tail_check(16, ROPE_INTERLEAVED, ROPE_F32, 0); /* rows of exactly 8 entries before a guard */
}

/* https://github.com/vllm-project/vllm-ascend/pull/15688: sines from a padded width. */
static void ST03(void **state)
{
    static const size_t dims[] = {96, 80, 72, 192, 48};
    float row[192], x[192] = {1}, y[192];
    (void)state;
    for (size_t i = 0; i < COUNT(dims); i++) {
        const size_t d = dims[i];
        rope_plan *plan = plan_make(d, 10000);
        rope_rows rows = ROPE_ROWS_INIT;
        struct call call;
        row_at(plan, 3, ROPE_FORWARD, d / 2, row);
        expect_nearest("first cos", row[0], -0.98999249660044546);
        expect_nearest("first sin", row[d / 2], 0.14112000805986722);
        if (d == 96) {
            expect_nearest("last cos", row[47], 0.99999993394903368);
            expect_nearest("last sin", row[95], 0.00036345828958631924);
        }
        rows.dtype = ROPE_F32;
        rows.cos = row;
        rows.count = 1;
        call_make(&call, ROPE_F32, x, y, 1, 1, NULL);
        call.job.positions = NULL;
        call.job.rows = &rows;
        assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
        expect_nearest("x c", y[0], -0.98999249660044546);
        expect_nearest("x s", y[d / 2], 0.14112000805986722); /* not 0.13879810108005053 */
        rope_plan_destroy(plan);
    }
}

/* ---- Layout and aliasing ---- */

/* https://github.com/ml-explore/mlx/issues/3949: one token: only the first batch row was done. */
static void LA01(void **state)
{
    enum { H = 16, D = 256 };
    static const double first[] = {1.2395857848492919, 1.409030044740378, 1.3502107543610688,
                                   1.1148429487564969};
    static const double second[] = {0.68075478845144015, 0.12097244735446266, -0.42063157133971013,
                                    -0.87012941543653078};
    static float x[3 * 2 * H * D], y[3 * 2 * H * D];
    (void)state;
    rope_plan *plan = plan_make(D, 10000);
    for (size_t i = 0; i < COUNT(x); i++)
        x[i] = 1;
    for (size_t batch = 1; batch <= 3; batch++)
        for (size_t tokens = 1; tokens <= 2; tokens++)
            for (int head_major = 0; head_major < 2; head_major++) {
                struct call call;
                call_make(&call, ROPE_F32, x, y, tokens, H, NULL);
                call.job.batch = batch;
                call.positions.start = 6;
                if (head_major) {
                    call.q.src_stride_batch = call.q.dst_stride_batch = (ptrdiff_t)(H * tokens * D);
                    call.q.src_stride_head = call.q.dst_stride_head = (ptrdiff_t)(tokens * D);
                    call.q.src_stride_token = call.q.dst_stride_token = D;
                }
                memset(y, 0xff, sizeof y);
                assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
                for (size_t head = 0; head < batch * tokens * H; head++) {
                    const size_t token = head_major ? head % tokens : head / H % tokens;
                    for (size_t i = 0; token == 0 && i < 4; i++) {
                        assert_true(fabs((double)y[head * D + i] - first[i]) <= 3e-7);
                        assert_true(fabs((double)y[head * D + D / 2 + i] - second[i]) <= 3e-7);
                    }
                    for (size_t i = 0; i < D; i++)
                        assert_true(!isnan(y[head * D + i]));
                }
                for (size_t i = batch * tokens * H * D; i < COUNT(y); i++)
                    assert_true(isnan(y[i]));
            }
    rope_plan_destroy(plan);
}

/* https://github.com/elixir-nx/emlx/issues/121: token and head axes confused. */
static void LA02(void **state)
{
    static const double at_5[] = {3.1604350094526417, 1.7975838437072192, -0.10793771827345968,
                                  4.0949593801212216};
    static const double at_6[] = {1.7984167812471436, 1.7565450539526299, 2.6010953617521722,
                                  4.1127301726997059};
    float x[16], y[16];
    (void)state;
    rope_plan *plan = plan_make(4, 10000);
    for (size_t i = 0; i < 16; i++)
        x[i] = (float)(i % 4 + 1);
    for (int head_major = 0; head_major < 2; head_major++) { /* 2 tokens, 2 heads: no hint */
        struct call call;
        call_make(&call, ROPE_F32, x, y, 2, 2, NULL);
        call.positions.start = 5;
        call.q.src_stride_head = call.q.dst_stride_head = head_major ? 8 : 4;
        call.q.src_stride_token = call.q.dst_stride_token = head_major ? 4 : 8;
        assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
        for (size_t row = 0; row < 4; row++)
            expect_head(x, y + 4 * row, (head_major ? row % 2 : row / 2) ? at_6 : at_5, 4,
                        ROPE_HALF);
    }
    rope_plan_destroy(plan);
}

/* https://github.com/ggml-org/llama.cpp/pull/20274: in place on a strided view gave garbage. */
static void LA03(void **state)
{
    enum { TOKENS = 3, STRIDE = 12, ELEMENTS = TOKENS * STRIDE };
    static const double want[] = {-4.9626339706755509, 0.76811717091211597, 2.8594093531464018,
                                  3.9839920106693312,  -1.1714367559100302, 6.2777381286375722,
                                  7.0585960467460437,  8.0079839946720011};
    static const int64_t positions[TOKENS] = {2, 9, 100};
    (void)state;
    for (rope_dtype dtype = ROPE_F32; dtype <= ROPE_BF16; dtype++)
        for (rope_pairing pairing = ROPE_HALF; pairing <= ROPE_INTERLEAVED; pairing++) {
            const enum dtype type = (enum dtype)(dtype - 1);
            double x[ELEMENTS + 1], y[ELEMENTS], dense[TOKENS * 8];
            struct call call;
            rope_spec spec = spec_default(8, 10000);
            spec.pairing = pairing;
            rope_plan *plan = plan_from(spec);
            for (size_t i = 0; i < ELEMENTS; i++)
                dtype_store(type, x, i, (double)(i % STRIDE + 1));
            call_make(&call, dtype, x, dense, TOKENS, 1, positions);
            call.q.src_stride_token = STRIDE;
            call.q.src_stride_head = 8;
            assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
            if (type == DT_F32 && pairing == ROPE_HALF)
                expect_head(one_to_16, (float *)dense, want, 8, pairing);

            memcpy(y, x, sizeof y);
            call.q.dst = (char *)x + dtype_size(type); /* one element on: a partial overlap */
            call.q.dst_stride_token = STRIDE;
            call.q.dst_stride_head = 8;
            assert_int_equal(rope_rotate(plan, &call.job), ROPE_ERR_ALIAS);
            assert_memory_equal(x, y, ELEMENTS * dtype_size(type));

            call.q.dst = x;
            assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
            for (size_t i = 0; i < ELEMENTS; i++) {
                const uint64_t bits = i % STRIDE < 8
                                          ? dtype_bits(type, dense, i / STRIDE * 8 + i % STRIDE)
                                          : dtype_bits(type, y, i);
                assert_int_equal(dtype_bits(type, x, i), bits);
            }
            rope_plan_destroy(plan);
        }
}

/* https://github.com/sgl-project/sglang/pull/20598: head stride or count of q used for k. */
static void LA05(void **state)
{
    static const double q_want[] = {1.6167638650601728, 1.8384428765754192, -2.717733357898764,
                                    4.0767790950171801};
    static const double k_want[] = {-1.1009694928385912, 2.9576109857962997, -4.3344972229589368,
                                    1.1191681092208804};
    static const float q_head[] = {1, 2, 3, 4}, k_head[] = {4, 3, 2, 1};
    static const size_t heads[][2] = {{4, 1}, {3, 1}, {1, 4}, {4, 0}};
    static const int64_t position = 4;
    (void)state;
    rope_plan *plan = plan_make(4, 10000);
    for (size_t i = 0; i < COUNT(heads); i++) {
        const size_t q_heads = heads[i][0], k_heads = heads[i][1];
        const struct guarded memory = guarded_make(4096);
        float q[4 * 16] = {0};
        float *k = guarded_end(&memory, k_heads * sizeof k_head, 0);
        struct call call;
        for (size_t head = 0; head < q_heads; head++)
            memcpy(q + 16 * head, q_head, sizeof q_head);
        for (size_t head = 0; head < k_heads; head++)
            memcpy(k + 4 * head, k_head, sizeof k_head);
        call_make(&call, ROPE_F32, q, q, 1, q_heads, &position);
        rope_tensor key = call.q;
        key.src = key.dst = k;
        key.heads = k_heads;
        call.q.src_stride_head = 16;
        call.q.src_stride_token = 64;
        call.job.k = k_heads ? &key : NULL;
        assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
        for (size_t head = 0; head < q_heads; head++) {
            expect_head(q_head, q + 16 * head, q_want, 4, ROPE_HALF);
            for (size_t gap = 4; gap < 16; gap++)
                assert_true(q[16 * head + gap] == 0);
        }
        for (size_t head = 0; head < k_heads; head++)
            expect_head(k_head, k + 4 * head, k_want, 4, ROPE_HALF);
        struct guarded spent = memory;
        guarded_free(&spent);
    }
    rope_plan_destroy(plan);
}

/* https://github.com/NVIDIA-NeMo/Automodel/pull/2377: only the length of the positions was used. */
static void LA06(void **state)
{
    static const double cosines[] = {1, 0, -0.41614683654714239, 0, 0, 0.28366218546322626};
    static const double sines[] = {0, 0, 0.9092974268256817, 0, 0, -0.95892427466313847};
    static const int64_t positions[2][4] = {{5, 0, 2, 2}, {2, 5, 0, 5}};
    static const float x[16] = {1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0};
    float y[16];
    struct call call;
    (void)state;
    rope_plan *plan = plan_make(2, 10000);
    call_make(&call, ROPE_F32, x, y, 4, 1, positions[0]);
    call.job.batch = 2;
    call.positions.stride_batch = 4;
    assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
    for (size_t row = 0; row < 8; row++) {
        expect_nearest("cos", y[2 * row], cosines[positions[row / 4][row % 4]]);
        expect_nearest("sin", y[2 * row + 1], sines[positions[row / 4][row % 4]]);
    }
    rope_plan_destroy(plan);
}

/* An angle of each axis of one token: rows of the plan against these angles. */
static void expect_angles(const rope_plan *plan, const int64_t *at, size_t axes,
                          const double *angles, size_t pairs)
{
    float row[128];
    rope_positions positions[ROPE_AXES_MAX];
    rope_rows rows = ROPE_ROWS_INIT;
    for (size_t axis = 0; axis < axes; axis++) {
        positions[axis] = (rope_positions)ROPE_POSITIONS_INIT;
        positions[axis].dtype = ROPE_I64;
        positions[axis].data = &at[axis];
    }
    rows.dtype = ROPE_F32;
    rows.cos = row;
    rows.count = 1;
    assert_true(2 * pairs <= COUNT(row));
    assert_int_equal(rope_cos_sin(plan, positions, 1, &rows), ROPE_OK);
    for (size_t pair = 0; pair < pairs; pair++) {
        if (isnan(angles[pair])) /* the report has none */
            continue;
        const double allowed = 6e-8 + 4e-15 * angles[pair];
        if (!(fabs((double)row[pair] - cos(angles[pair])) <= allowed) ||
            !(fabs((double)row[pairs + pair] - sin(angles[pair])) <= allowed))
            fail_msg("pair %zu is %.9g, %.9g: not of the angle %.17g", pair, (double)row[pair],
                     (double)row[pairs + pair], angles[pair]);
    }
}

/* https://github.com/alibaba/MNN/pull/4133: interleaved sections taken for blocks. */
static void MR01(void **state)
{
    static const int32_t sections[] = {2, 2, 2};
    static const int64_t at[] = {1, 2, 3};
    static const double angles[2][6] = {{1, 0.43088693800637674, 0.13924766500838337, 0.01,
                                         0.0043088693800637674, 0.0013924766500838337},
                                        {1, 0.21544346900318837, 0.092831776672255578, 0.02,
                                         0.0064633040700956512, 0.0013924766500838337}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        rope_spec spec = spec_default(12, 10000);
        spec.axis_layout = i == 0 ? ROPE_AXES_INTERLEAVED : ROPE_AXES_SECTIONS;
        spec.sections = sections;
        spec.section_count = 3;
        rope_plan *plan = plan_from(spec);
        expect_angles(plan, at, 3, angles[i], 6);
        rope_plan_destroy(plan);
    }
}

/* https://github.com/ggml-org/llama.cpp/pull/13159: planes of positions cut as if they were rows. */
static void MR03(void **state)
{
    static const int32_t planar[16] = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 0, 0, 0};
    static const int32_t slice[8] = {1, 2, 1, 2, 1, 2, 0, 0}; /* of tokens 1 and 2 */
    static const int32_t sections[] = {3, 3, 2, 0};
    static const size_t splits[][2] = {{0, 1}, {1, 3}, {3, 4}};
    float x[4 * 3 * 16], one[4 * 3 * 16], whole[4 * 3 * 16], parts[4 * 3 * 16], cut[2 * 3 * 16];
    (void)state;
    rope_spec spec = spec_default(16, 10000);
    rope_plan *plain = plan_from(spec);
    spec.axis_layout = ROPE_AXES_GGML_MROPE;
    spec.sections = sections;
    spec.section_count = 4;
    rope_plan *plan = plan_from(spec);
    for (size_t i = 0; i < COUNT(x); i++)
        x[i] = one_to_16[i % 16] / 3;
    struct call call;
    rope_positions planes[4];
    for (size_t axis = 0; axis < 4; axis++) {
        planes[axis] = (rope_positions)ROPE_POSITIONS_INIT;
        planes[axis].dtype = ROPE_I32;
        planes[axis].data = planar + 4 * axis;
    }
    call_make(&call, ROPE_F32, x, one, 4, 3, NULL);
    assert_int_equal(rope_rotate(plain, &call.job), ROPE_OK);
    call_make(&call, ROPE_F32, x, whole, 4, 3, NULL);
    call.job.positions = planes;
    assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
    assert_memory_equal(one, whole, sizeof whole); /* t = h = w = p: the 1-D rotation */
    for (size_t i = 0; i < COUNT(splits); i++) {
        const size_t first = splits[i][0];
        call_make(&call, ROPE_F32, x + 48 * first, parts + 48 * first, splits[i][1] - first, 3,
                  NULL);
        call.job.positions = planes;
        for (size_t axis = 0; axis < 4; axis++)
            planes[axis].data = planar + 4 * axis + first;
        assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
    }
    assert_memory_equal(whole, parts, sizeof whole);
    for (size_t axis = 0; axis < 4; axis++) /* the slice as planes of its own */
        planes[axis].data = slice + 2 * axis;
    call_make(&call, ROPE_F32, x + 48, cut, 2, 3, NULL);
    call.job.positions = planes;
    assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
    assert_memory_equal(whole + 48, cut, sizeof cut);
    rope_plan_destroy(plan);
    rope_plan_destroy(plain);
}

/* https://github.com/turboderp-org/exllamav3/pull/332: sections lost with yarn, yarn with sections. */
static void MR06(void **state)
{
    static const int32_t sections[] = {11, 11, 10};
    static const int64_t at[] = {300000, 11, 13};
    static const struct {
        size_t pair;
        double frequency, angle;
    } right[] = {{0, 1, 300000},
                 {1, 0.60429639023813282, 6.647260292619461},
                 {2, 0.36517412725483771, 4.7472636543128902},
                 {15, 0.00047423982268010456, 142.27194680403137},
                 {29, 0.00000011328959094002045, 0.0000014727646822202658},
                 {30, 6.8460490856609032e-8, 0.02053814725698271},
                 {31, 4.1370427498579536e-8, 0.00000045507470248437489}};
    double angles[32];
    float x[256], y[256];
    (void)state;
    rope_spec spec = spec_default(256, 10000000);
    spec.rotary_dim = 64;
    spec.scheme = ROPE_SCHEME_YARN;
    spec.factor = 4;
    spec.original_length = 262144;
    spec.axis_layout = ROPE_AXES_INTERLEAVED;
    spec.sections = sections;
    spec.section_count = 3;
    rope_plan *plan = plan_from(spec);
    rope_info info = ROPE_INFO_INIT;
    assert_int_equal(rope_plan_info(plan, &info), ROPE_OK);
    assert_true(fabs(info.attention_factor - 1.1386294361119891) <= 4e-16);
    struct call call;
    rope_positions positions[3];
    for (size_t axis = 0; axis < 3; axis++) {
        positions[axis] = (rope_positions)ROPE_POSITIONS_INIT;
        positions[axis].start = at[axis];
    }
    for (size_t i = 0; i < 256; i++)
        x[i] = (float)(i + 1);
    call_make(&call, ROPE_F32, x, y, 1, 1, NULL);
    call.job.positions = positions;
    assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
    assert_memory_equal(x + 64, y + 64, 192 * sizeof *x);
    rope_plan_destroy(plan);

    for (size_t i = 0; i < 32; i++)
        angles[i] = (double)NAN;
    spec.attention_factor = 1; /* rows of the angles alone */
    plan = plan_from(spec);
    for (size_t i = 0; i < COUNT(right); i++) {
        expect_frequency(plan, 32, right[i].pair, right[i].frequency);
        angles[right[i].pair] = right[i].angle;
    }
    expect_angles(plan, at, 3, angles, 32);
    rope_plan_destroy(plan);
    static const int32_t whole_head[] = {44, 44, 40}; /* of 128 pairs, where 32 are rotated */
    spec.sections = whole_head;
    assert_int_equal(plan_status(spec), ROPE_ERR_VALUE);
}

/* https://github.com/Tencent/ncnn/issues/6833: the second half of a full-width table ignored. */
static void MR04(void **state)
{
    static const double angles[] = {3, 0.03, 5, 0.05};
    static const double want[] = {-1.6955925368997816,  1.8191270662830011,  7.5634564790316481,
                                  3.5951676874144384,   -4.8088424749423601, 6.0572912028989164,
                                  -0.89113752574683156, 8.1899187602424433};
    float rows[2][8], y[8];
    rope_rows table = ROPE_ROWS_INIT;
    struct call call;
    (void)state;
    call_make(&call, ROPE_F32, one_to_16, y, 1, 1, NULL);
    call.q.head_dim = 8;
    call.job.positions = NULL;
    call.job.rows = &table;
    call.job.rotary_dim = 8;
    table.dtype = ROPE_F32;
    table.cos = rows[0];
    table.sin = rows[1];
    table.count = 1;

    /* an angle for each pair */
    table.layout = ROPE_ROWS_SEPARATE;
    for (size_t i = 0; i < 4; i++) {
        rows[0][i] = (float)cos(angles[i]);
        rows[1][i] = (float)sin(angles[i]);
    }
    assert_int_equal(rope_rotate(NULL, &call.job), ROPE_OK);
    expect_head(one_to_16, y, want, 8, ROPE_HALF);

    /* the same from positions */
    static const int32_t sections[] = {2, 2};
    static const int64_t at[] = {3, 5};
    rope_positions positions[2];
    rope_spec spec = spec_default(8, 10000);
    spec.axis_layout = ROPE_AXES_RESTART;
    spec.sections = sections;
    spec.section_count = 2;
    rope_plan *plan = plan_from(spec);
    expect_angles(plan, at, 2, angles, 4);
    for (size_t axis = 0; axis < 2; axis++) {
        positions[axis] = (rope_positions)ROPE_POSITIONS_INIT;
        positions[axis].start = at[axis];
    }
    memset(y, 0xff, sizeof y);
    struct call by_position;
    call_make(&by_position, ROPE_F32, one_to_16, y, 1, 1, NULL);
    by_position.job.positions = positions;
    assert_int_equal(rope_rotate(plan, &by_position.job), ROPE_OK);
    expect_head(one_to_16, y, want, 8, ROPE_HALF);
    rope_plan_destroy(plan);

    /* [h | w]: the two components of a pair would turn by different angles */
    table.layout = ROPE_ROWS_DUP_HALF;
    for (size_t i = 0; i < 8; i++) {
        rows[0][i] = (float)cos(angles[i / 4 * 2 + i % 2]);
        rows[1][i] = (float)sin(angles[i / 4 * 2 + i % 2]);
    }
    memset(y, 0xff, sizeof y);
    assert_int_equal(rope_rotate(NULL, &call.job), ROPE_ERR_ROW);
    for (size_t i = 0; i < 8; i++)
        assert_true(isnan(y[i]));
}

/* ---- Shifting cached keys ---- */

/* https://github.com/ggml-org/llama.cpp/pull/12373: local keys shifted by global parameters. */
static void CS01(void **state)
{
    enum { D = 256 };
    static const double angles[] = {-14.362994119157027, -119.11322123900147};
    float row[D], x[D], turned[D], direct[D];
    (void)state;
    rope_spec specs[2] = {spec_default(D, 1000000), spec_default(D, 10000)};
    specs[0].scheme = ROPE_SCHEME_LINEAR;
    specs[0].factor = 8;
    for (size_t i = 0; i < D; i++)
        x[i] = one_to_16[i % 16] - 8.5f;
    for (size_t layer = 0; layer < 2; layer++) {
        rope_plan *plan = plan_from(specs[layer]);
        row_at(plan, -128, ROPE_SHIFT, D / 2, row);
        assert_true(fabs((double)row[1] - cos(angles[layer])) <= 6e-8);
        assert_true(fabs((double)row[D / 2 + 1] - sin(angles[layer])) <= 6e-8);
        static const int64_t then = 5000, now = 5000 - 128, delta = -128;
        struct call call;
        rotate(plan, x, turned, 1, 1, &then);
        rotate(plan, x, direct, 1, 1, &now);
        call_make(&call, ROPE_F32, turned, turned, 1, 1, &delta);
        call.job.direction = ROPE_SHIFT;
        assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
        for (size_t i = 0; i < D; i++) {
            const double size = fabs((double)x[i]) + fabs((double)x[(i + D / 2) % D]);
            assert_true(fabs((double)turned[i] - (double)direct[i]) <= 4e-7 * size);
        }
        rope_plan_destroy(plan);
    }
}

/* https://github.com/ggml-org/llama.cpp/issues/4097: many small shifts of rounded keys. */
static void CS03(void **state)
{
    static const struct {
        rope_dtype dtype;
        double allowed; /* 64 half-ulps of rounding at worst */
    } cases[] = {{ROPE_F32, 8e-6}, {ROPE_F16, 64 * 5e-4}, {ROPE_BF16, 64 * 4e-3}};
    static const int64_t start = 1000, back = -1;
    (void)state;
    rope_plan *plan = plan_make(64, 10000);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const enum dtype type = (enum dtype)(cases[i].dtype - 1);
        float x[64];
        struct call call;
        for (size_t at = 0; at < 64; at++)
            dtype_store(type, x, at, at < 32);
        call_make(&call, cases[i].dtype, x, x, 1, 1, &start);
        assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
        call_make(&call, cases[i].dtype, x, x, 1, 1, &back);
        call.job.direction = ROPE_SHIFT;
        for (int shift = 0; shift < 64; shift++)
            assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
        const double allowed = cases[i].allowed;
        assert_true(fabs(dtype_load(type, x, 0) - 0.9811230150284444) <= allowed);
        assert_true(fabs(dtype_load(type, x, 32) + 0.19338466687277681) <= allowed);
        assert_true(fabs(dtype_load(type, x, 10) + 0.71656783385235942) <= allowed);
    }
    rope_plan_destroy(plan);
}

/* https://github.com/NVIDIA/TensorRT-LLM/pull/16378: rotated twice, the magnitude squared. */
static void CS04(void **state)
{
    static const double want[] = {-1.2374906207505568, 0.17640001007483403};
    static const int64_t position = 3, more = 4;
    static const float x[] = {1, 0};
    float y[2];
    struct call call;
    (void)state;
    rope_spec spec = spec_default(2, 10000);
    spec.attention_factor = 1.25;
    rope_plan *plan = plan_from(spec);
    rotate(plan, x, y, 1, 1, &position);
    expect_head(x, y, want, 2, ROPE_HALF); /* not 1.5002660728911969, -0.43658671593582168 */
    call_make(&call, ROPE_F32, y, y, 1, 1, &more); /* a shift carries no magnitude of its own */
    call.job.direction = ROPE_SHIFT;
    assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
    assert_true(fabs((double)y[0] - 1.25 * cos(7.0)) <= 4e-7);
    assert_true(fabs((double)y[1] - 1.25 * sin(7.0)) <= 4e-7);
    rope_plan_destroy(plan);
}

/* ---- State ---- */

/* https://github.com/lucidrains/rotary-embedding-torch/issues/11: a cache without the offset. */
static void CT01(void **state)
{
    static const struct {
        int64_t offset;
        double cosine, sine;
    } calls[] = {{0, 1, 0}, {5, 0.28366218546322626, -0.95892427466313847}, {0, 1, 0}};
    static const float x[] = {1, 0, 1, 0};
    float y[4];
    (void)state;
    rope_plan *plan = plan_make(2, 10000);
    for (size_t i = 0; i < COUNT(calls); i++) {
        struct call call;
        call_make(&call, ROPE_F32, x, y, 2, 1, NULL);
        call.positions.start = calls[i].offset;
        assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
        expect_nearest("cos", y[0], calls[i].cosine);
        expect_nearest("sin", y[1], calls[i].sine);
    }
    rope_plan_destroy(plan);
}

struct worker {
    pthread_t thread;
    const rope_plan *plans[2]; /* shared */
    int iterations;
    int wrong;
};

static void *worker_run(void *argument)
{
    static const double thetas[] = {10000, 1000000};
    static const double cosines[] = {0.91759739926009893, -0.51028294290024006};
    struct worker *worker = argument;
    for (int i = 0; i < worker->iterations; i++) {
        const int which = i % 2;
        const int own = i % 100 == 0; /* plans made while others are in use */
        rope_plan *made = NULL;
        float row[64];
        rope_positions positions = ROPE_POSITIONS_INIT;
        rope_rows rows = ROPE_ROWS_INIT;
        const rope_spec spec = spec_default(64, thetas[which]);
        positions.start = 100;
        rows.dtype = ROPE_F32;
        rows.cos = row;
        rows.count = 1;
        if ((own && rope_plan_create(&spec, &made) != ROPE_OK) ||
            rope_cos_sin(own ? made : worker->plans[which], &positions, 1, &rows) != ROPE_OK ||
            row[1] != (float)cosines[which])
            worker->wrong++;
        rope_plan_destroy(made);
    }
    return NULL;
}

/* https://github.com/1bit-MONSTER/1bit-MONSTER/issues/869: one table for all, rebuilt unlocked. */
static void CT02(void **state)
{
    struct worker workers[8];
    (void)state;
    rope_plan *plans[2] = {plan_make(64, 10000), plan_make(64, 1000000)};
    for (size_t i = 0; i < COUNT(workers); i++) {
        workers[i] = (struct worker){0};
        workers[i].plans[0] = plans[0];
        workers[i].plans[1] = plans[1];
        workers[i].iterations = test_reduced() ? 200 : 10000;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]), 0);
    }
    for (size_t i = 0; i < COUNT(workers); i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].wrong, 0);
    }
    rope_plan_destroy(plans[0]);
    rope_plan_destroy(plans[1]);
}

/* https://github.com/OpenNMT/CTranslate2/issues/1204: a table rebuilt at every step. */
static void PF01(void **state)
{
    enum { FIRST = 2048, ROWS = 2048, PAIRS = 64 };
    (void)state;
    rope_plan *plan = plan_make(2 * PAIRS, 10000);
    rope_info before = ROPE_INFO_INIT, after = ROPE_INFO_INIT;
    rope_positions positions = ROPE_POSITIONS_INIT;
    rope_rows rows = ROPE_ROWS_INIT;
    float *all = malloc(ROWS * 2 * PAIRS * sizeof *all), row[2 * PAIRS];
    assert_non_null(all);
    assert_int_equal(rope_plan_info(plan, &before), ROPE_OK);
    positions.start = FIRST;
    rows.dtype = ROPE_F32;
    rows.cos = all;
    rows.count = ROWS;
    assert_int_equal(rope_cos_sin(plan, &positions, ROWS, &rows), ROPE_OK);
    const size_t allocated = mallinfo2().uordblks;
    for (size_t step = 0; step < ROWS; step++) {
        row_at(plan, (int64_t)(FIRST + step), ROPE_FORWARD, PAIRS, row);
        assert_memory_equal(row, all + step * 2 * PAIRS, sizeof row);
    }
    assert_int_equal(mallinfo2().uordblks, allocated);
    assert_int_equal(rope_plan_info(plan, &after), ROPE_OK);
    assert_int_equal(before.table_bytes, after.table_bytes);
    free(all);
    rope_plan_destroy(plan);
}

static const struct rope_kernels *counted;
static size_t evaluations;

static void count_rows(const struct rope_rows_args *args)
{
    evaluations += args->pairs;
    counted->rows[RK_F32](args);
}

static void count_run(const struct rope_run_args *args)
{
    evaluations += args->rows * args->pairs;
    counted->run[RK_F32](args);
}

static void count_direct(const struct rope_rows_args *args)
{
    evaluations += args->pairs;
    counted->direct[RK_F32](args);
}

/* https://github.com/ggml-org/llama.cpp/pull/20149: sines of rows that other threads own, of old once
 * a head.  The kernels that make rows are counted. */
static void PF02(void **state)
{
    enum { TOKENS = 512, HEADS = 32, PAIRS = 64, PARTS = 8 };
    (void)state;
    rope_plan *plan = plan_make(2 * PAIRS, 10000);
    struct rope_kernels counting = *plan->kernels;
    counted = plan->kernels;
    counting.rows[RK_F32] = count_rows;
    counting.run[RK_F32] = count_run;
    counting.direct[RK_F32] = count_direct;
    plan->kernels = &counting;
    float *x = calloc((size_t)TOKENS * HEADS * 2 * PAIRS, sizeof *x);
    assert_non_null(x);
    struct call call;
    rope_tensor k;
    call_make(&call, ROPE_F32, x, x, TOKENS, HEADS, NULL);
    k = call.q;
    k.heads = 1;
    k.src = k.dst = calloc((size_t)TOKENS * 2 * PAIRS, sizeof *x);
    assert_non_null(k.dst);
    call.job.k = &k;
    evaluations = 0;
    assert_int_equal(rope_rotate(plan, &call.job), ROPE_OK);
    assert_int_equal(evaluations, TOKENS * PAIRS);
    evaluations = 0;
    for (size_t part = 0; part < PARTS; part++)
        assert_int_equal(rope_rotate_part(plan, &call.job, part, PARTS), ROPE_OK);
    assert_in_range(evaluations, TOKENS * PAIRS, (TOKENS + PARTS) * PAIRS);
    plan->kernels = counted;
    free(x);
    free(k.dst);
    rope_plan_destroy(plan);
}

/* ---- Platform ---- */

/* https://github.com/kvcache-ai/ktransformers/issues/2017: the set by the build, not by the CPU.
 * Emulated CPUs run this whole program as well. */
static void PL01(void **state)
{
    static const rope_isa best_first[] = {ROPE_ISA_AVX512, ROPE_ISA_AVX2, ROPE_ISA_NEON,
                                          ROPE_ISA_SCALAR};
    (void)state;
    rope_info info = ROPE_INFO_INIT;
    rope_plan *plan = plan_make(8, 10000);
    assert_int_equal(rope_plan_info(plan, &info), ROPE_OK);
    assert_int_equal(info.isa, rope_active_isa());
    assert_int_equal(rope_isa_available(info.isa), 1);
    const char *forced = getenv("ROPE_ISA");
    if (forced && forced[0]) {
        assert_string_equal(rope_isa_name(info.isa), forced);
    } else {
        size_t best = 0;
        while (!rope_isa_available(best_first[best]))
            best++;
        assert_int_equal(info.isa, best_first[best]);
    }
    rope_plan_destroy(plan);
}

#if defined(__x86_64__)
#define CONTROL(environment)   ((environment).__mxcsr & ~0x3fu) /* without the exception flags */
#define SET_FLUSH(environment) ((environment).__mxcsr |= 0x8040u)
#elif defined(__aarch64__)
#define CONTROL(environment)   ((environment).__fpcr)
#define SET_FLUSH(environment) ((environment).__fpcr |= 1u << 24)
#endif

/* https://github.com/llvm/llvm-project/issues/57589: a library that sets flush-to-zero. */
static void PL02(void **state)
{
    (void)state;
#ifdef CONTROL
    static const uint32_t x[] = {0x00000001, 0x80000001, 0x000116C2, 0x00000001};
    static const int64_t position = 0;
    for (int flush = 0; flush < 2; flush++) {
        uint32_t y[4];
        double frequency[2];
        fenv_t original, before, after;
        rope_info info = ROPE_INFO_INIT;
        struct call call;
        assert_int_equal(fegetenv(&original), 0);
        before = original;
        if (flush)
            SET_FLUSH(before);
        assert_int_equal(fesetenv(&before), 0);
        rope_plan *plan = plan_make(4, 10000);
        float row[4];
        row_at(plan, 12345, ROPE_FORWARD, 2, row);
        call_make(&call, ROPE_F32, x, y, 1, 1, &position);
        const rope_status status[] = {
            rope_plan_info(plan, &info), rope_plan_inv_freq(plan, frequency, NULL, 2),
            rope_rotate_part(plan, &call.job, 0, 1), rope_rotate(plan, &call.job)};
        rope_plan_destroy(plan);
        assert_int_equal(fegetenv(&after), 0);
        assert_int_equal(fesetenv(&original), 0);
        assert_int_equal(CONTROL(after), CONTROL(before));
        for (size_t i = 0; i < COUNT(status); i++)
            assert_int_equal(status[i], ROPE_OK);
        if (!flush) /* position 0 changes nothing, denormals included */
            assert_memory_equal(y, x, sizeof x);
    }
#else
    skip();
#endif
}

int main(void)
{
#define CASE(id) cmocka_unit_test(id)
    const struct CMUnitTest tests[] = {
        CASE(SF01), CASE(PD04), CASE(CF03), CASE(CF05), CASE(CF07), CASE(LD01), CASE(AF03),
        CASE(PA01), CASE(PA02), CASE(PA04), CASE(PD01), CASE(PD03), CASE(BO03), CASE(PR01),
        CASE(PR02), CASE(PR04), CASE(PR05), CASE(BO01), CASE(BO04), CASE(DG02), CASE(IO01),
        CASE(ST01), CASE(ST02), CASE(ST03), CASE(LA01), CASE(LA02), CASE(LA03), CASE(LA05),
        CASE(LA06), CASE(MR01), CASE(MR03), CASE(MR04), CASE(MR06), CASE(CS01), CASE(CS03),
        CASE(CS04), CASE(CT01), CASE(CT02), CASE(PF01), CASE(PF02), CASE(PL01), CASE(PL02),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
