/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sinusoidal embeddings: tables against MPFR and against other implementations, sums and dropout bit for bit, statuses.
 * Only the public interface is used, and the generator of dropout, which test_kernels_operations.c proves.
 */
#include "golden.h"
#include "reference.h"
#include "support.h"

#include "philox.h"

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

static rope_spec spec_make(size_t d, double theta, double shift)
{
    rope_spec spec = ROPE_SPEC_INIT;
    spec.scheme = ROPE_SCHEME_SINUSOID;
    spec.head_dim = d;
    spec.theta = theta;
    spec.shift = shift;
    return spec;
}

/* Column of a pair's component: part 0 is the first, in chunks of `chunk` columns. */
static size_t column_of(rope_pairing pairing, size_t chunk, size_t i, int part)
{
    if (pairing == ROPE_INTERLEAVED)
        return reference_place(1, 0, i, part);
    return i / (chunk / 2) * chunk + reference_place(0, chunk / 2, i % (chunk / 2), part);
}

/* ---- Tables against the formula ---- */

struct variant {
    size_t d, dim;
    double theta, shift, scale, amplitude;
    rope_pairing pairing;
    uint32_t flags;
};

/* scale theta^(-i / (d/2 - shift)) */
static void frequency(mpfr_ptr out, const struct variant *v, size_t i)
{
    mpfr_t width;
    mpfr_init2(width, REFERENCE_BITS);
    mpfr_set_d(width, (double)(v->d / 2), MPFR_RNDN);
    mpfr_sub_d(width, width, v->shift, MPFR_RNDN);
    mpfr_ui_div(width, i, width, MPFR_RNDN);
    mpfr_neg(width, width, MPFR_RNDN);
    mpfr_set_d(out, v->theta != 0 ? v->theta : 10000, MPFR_RNDN);
    mpfr_pow(out, out, width, MPFR_RNDN);
    mpfr_mul_d(out, out, v->scale != 0 ? v->scale : 1, MPFR_RNDN);
    mpfr_clear(width);
}

static void check_table(const struct variant *v, enum dtype type, const double *places,
                        size_t tokens)
{
    const size_t dim = v->dim != 0 ? v->dim : v->d;
    rope_spec spec = spec_make(v->d, v->theta, v->shift);
    spec.position_scale = v->scale;
    spec.attention_factor = v->amplitude;
    spec.pairing = v->pairing;
    rope_plan *plan = plan_from(spec);
    struct guarded memory = guarded_make(tokens * dim * dtype_size(type));
    void *table = guarded_end(&memory, tokens * dim * dtype_size(type), 0);
    rope_positions positions = ROPE_POSITIONS_INIT;
    rope_sinusoid sinusoid = ROPE_SINUSOID_INIT;
    positions.dtype = ROPE_F64;
    positions.data = places;
    sinusoid.dtype = (rope_dtype)type + ROPE_F32;
    sinusoid.flags = v->flags;
    sinusoid.tokens = tokens;
    sinusoid.dim = v->dim;
    sinusoid.positions = &positions;
    sinusoid.dst = table;
    assert_int_equal(rope_sinusoid_table(plan, &sinusoid), ROPE_OK);
    rope_plan_destroy(plan);

    const double m = v->amplitude != 0 ? v->amplitude : 1;
    mpfr_t f, angle;
    mpfr_inits2(REFERENCE_BITS, f, angle, (mpfr_ptr)0);
    for (size_t i = 0; i < v->d / 2; i++) {
        frequency(f, v, i);
        for (size_t t = 0; t < tokens; t++) {
            struct reference_bounds bounds[2];
            reference_angle(angle, places[t], f, 0);
            reference_cos_sin(type, angle, m, m, 1, reference_slack(places[t], m), bounds);
            for (int part = 0; part < 2; part++) {
                const int cosine = (v->flags & ROPE_COS_FIRST) != 0 ? part == 0 : part == 1;
                const size_t column = column_of(v->pairing, v->d, i, part);
                if (column >= dim)
                    continue;
                const double value = dtype_load(type, table, t * dim + column);
                if (!reference_within(bounds[!cosine], value))
                    fail_msg("%s, d %zu, dim %zu, shift %g, pairing %d, flags %u: position %.17g, "
                             "column %zu: %.17g not in %.17g..%.17g",
                             dtype_name(type), v->d, dim, v->shift, v->pairing, v->flags, places[t],
                             column, value, bounds[!cosine].low, bounds[!cosine].high);
            }
        }
    }
    for (size_t t = 0; t < tokens; t++)
        for (size_t column = v->d; column < dim; column++)
            assert_true(dtype_bits(type, table, t * dim + column) == 0);
    mpfr_clears(f, angle, (mpfr_ptr)0);
    guarded_free(&memory);
}

static void test_tables(void **state)
{
    (void)state;
    static const struct variant variants[] = {
        {.d = 64, .pairing = ROPE_INTERLEAVED},
        {.d = 384, .shift = 1},
        {.d = 32, .dim = 33, .shift = 1, .amplitude = 0.25},
        {.d = 34, .dim = 33, .shift = 0.5},
        {.d = 34, .dim = 33, .shift = 0.5, .pairing = ROPE_INTERLEAVED},
        {.d = 320, .flags = ROPE_COS_FIRST, .theta = 100},
        {.d = 20, .flags = ROPE_COS_FIRST, .pairing = ROPE_INTERLEAVED, .scale = 1000},
        {.d = 600, .dim = 1200, .theta = 1e6, .pairing = ROPE_INTERLEAVED},
        {.d = 600, .dim = 599, .shift = 1.25, .theta = 1e-2, .scale = 1e-4},
        {.d = 2, .dim = 1, .shift = 0.5},
    };
    static const double places[] = {0, 1, -1, 2, 7.25, 511, 1499, 4095.5, 65536, -131071, 2e9};
    for (size_t i = 0; i < COUNT(variants); i++)
        for (int type = 0; type < DTYPES; type++) {
            if (test_reduced() && (variants[i].d > 100 || (i + (size_t)type) % 4))
                continue;
            if ((type == DT_F16 || type == DT_BF16) && test_f16_ties_probe() && type == DT_F16)
                continue; /* the emulator's wrong ties */
            check_table(&variants[i], (enum dtype)type, places, COUNT(places));
        }
}

/* ---- Sums, bit for bit ---- */

/* Position of a token; negative ones and one that is the padding among them. */
static int64_t place_at(uint64_t seed, size_t b, size_t t)
{
    struct rng rng = {seed + 1000 * b + t};
    return rng_below(&rng, 5) == 0 ? 1 : (int64_t)rng_below(&rng, 100000) - 100;
}

static double kept_factor(uint64_t seed, uint64_t number, double dropout)
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    const uint32_t counter[4] = {(uint32_t)(number / 4), (uint32_t)(number / 4 >> 32), 0, 0};
    uint32_t words[4];
    rope_philox(counter, key, words);
    return (double)words[number % 4] < floor(dropout * 4294967296.0 + 0.5) ? 0.0
                                                                           : 1.0 / (1.0 - dropout);
}

static double sum_of(enum dtype type, double x, double row, double dropout, double factor)
{
    if (type == DT_F64)
        return dropout != 0 ? (x + row) * factor : x + row;
    const float sum = (float)x + (float)row;
    return (double)(dropout != 0 ? sum * (float)factor : sum);
}

static void check_sums(struct rng *rng)
{
    static const size_t widths[] = {2, 6, 16, 48, 64, 130, 600};
    static const double dropouts[] = {0, 0, 0.1, 0.5, 0.999, 1e-12, 0x1.fffffffffffffp-1};
    const enum dtype type = (enum dtype)rng_below(rng, DTYPES), real = dtype_real(type);
    const size_t size = dtype_size(type);
    const size_t d =
        widths[rng_below(rng, test_reduced() ? 4 : COUNT(widths))]; /* plans take time */
    const size_t dim = d - 1 + rng_below(rng, 3) + (rng_below(rng, 8) ? 0 : 1100);
    const size_t batch = 1 + rng_below(rng, 3), tokens = 1 + rng_below(rng, 6);
    const int in_place = rng_below(rng, 2) != 0, shared = rng_below(rng, 2) != 0;
    rope_spec spec = spec_make(d, 0, 0);
    spec.pairing = (rope_pairing)rng_below(rng, 2);
    const size_t chunk = spec.pairing == ROPE_HALF && d % 4 == 0 && rng_below(rng, 2) ? d / 2 : d;
    spec.pairing_chunk = chunk == d ? 0 : chunk;
    rope_plan *plan = plan_from(spec);

    /* positions, [batch][tokens] */
    const uint64_t seed = rng_next(rng) >> 8;
    int64_t places[3 * 6];
    for (size_t b = 0; b < batch; b++)
        for (size_t t = 0; t < tokens; t++)
            places[b * tokens + t] = place_at(seed, shared ? 0 : b, t);
    rope_positions positions = ROPE_POSITIONS_INIT;
    positions.dtype = ROPE_I64;
    positions.data = places;
    positions.stride_batch = shared ? 0 : (ptrdiff_t)tokens;

    rope_sinusoid sinusoid = ROPE_SINUSOID_INIT;
    sinusoid.dtype = (rope_dtype)type + ROPE_F32;
    sinusoid.flags = (uint32_t)rng_below(rng, 4);
    sinusoid.batch = batch;
    sinusoid.tokens = tokens;
    sinusoid.dim = dim;
    sinusoid.positions = &positions;
    sinusoid.padding = sinusoid.flags & ROPE_PADDING ? 1 : 0;
    sinusoid.dropout = dropouts[rng_below(rng, COUNT(dropouts))];
    sinusoid.seed = rng_next(rng);
    sinusoid.offset = rng_below(rng, 2) ? rng_below(rng, 9) : UINT64_MAX - rng_below(rng, 5000);
    /* batches inside tokens or the other way round, with gaps; dense where both strides are 0 */
    const size_t gap = rng_below(rng, 2) * rng_below(rng, 7);
    const int dense = gap == 0 && rng_below(rng, 2);
    const int swapped = !dense && rng_below(rng, 2);
    const size_t token_step = swapped ? (dim + gap) * batch : dim + gap;
    const size_t batch_step = swapped ? dim + gap : (dim + gap) * tokens;
    if (!dense) {
        sinusoid.src_stride_token = sinusoid.dst_stride_token = (ptrdiff_t)token_step;
        sinusoid.src_stride_batch = sinusoid.dst_stride_batch = (ptrdiff_t)batch_step;
    }
    const size_t span = (batch - 1) * batch_step + (tokens - 1) * token_step + dim;
    struct guarded memory[2] = {guarded_make(span * size), guarded_make(span * size)};
    void *src = guarded_end(&memory[0], span * size, 0);
    void *dst = in_place ? src : guarded_end(&memory[1], span * size, 0);
    canary_fill(dst, span * size);
    canary_fill(src, span * size);
    for (size_t b = 0; b < batch; b++)
        for (size_t t = 0; t < tokens; t++)
            for (size_t c = 0; c < dim; c++)
                dtype_store(type, src, b * batch_step + t * token_step + c,
                            rng_element(rng, type, rng_below(rng, 9) ? FILL_PLAIN : FILL_SPECIAL));
    sinusoid.src = src;
    sinusoid.dst = dst;

    /* rows as the public rope_cos_sin gives them */
    unsigned char *expected = malloc(span * size);
    double *rows = malloc(d * sizeof(double));
    assert_non_null(expected);
    assert_non_null(rows);
    memcpy(expected, dst, span * size);
    for (size_t b = 0; b < batch; b++)
        for (size_t t = 0; t < tokens; t++) {
            rope_positions one = ROPE_POSITIONS_INIT;
            rope_rows row = ROPE_ROWS_INIT;
            one.start = places[b * tokens + t];
            row.dtype = (rope_dtype)real + ROPE_F32;
            row.cos = rows;
            row.count = 1;
            assert_int_equal(rope_cos_sin(plan, &one, 1, &row), ROPE_OK);
            const size_t at = b * batch_step + t * token_step;
            const int padded = (sinusoid.flags & ROPE_PADDING) != 0 && one.start == 1;
            for (size_t c = 0; c < dim; c++) {
                double value = dtype_load(type, src, at + c);
                double embedding = -0.0; /* changes nothing */
                for (size_t i = 0; i < d / 2 && !padded && c < d; i++)
                    for (int part = 0; part < 2; part++)
                        if (column_of(spec.pairing, chunk, i, part) == c)
                            embedding =
                                dtype_load(real, rows,
                                           ((sinusoid.flags & ROPE_COS_FIRST) != 0) == (part == 0)
                                               ? i
                                               : d / 2 + i);
                const double factor = kept_factor(
                    sinusoid.seed, sinusoid.offset + (b * tokens + t) * dim + c, sinusoid.dropout);
                value = sum_of(type, value, embedding, sinusoid.dropout, factor);
                dtype_store(type, expected, at + c, value);
            }
        }

    const size_t parts = rng_below(rng, 2) ? 1 : 1 + rng_below(rng, 9);
    if (parts == 1)
        assert_int_equal(rope_sinusoid_add(plan, &sinusoid), ROPE_OK);
    else
        for (size_t part = parts; part-- > 0;)
            assert_int_equal(rope_sinusoid_add_part(plan, &sinusoid, part, parts), ROPE_OK);
    const size_t differs = image_differs(type, expected, dst, span, NULL);
    if (differs != span)
        fail_msg("%s, %zu x %zu x %zu, d %zu, pairing %d, chunk %zu, flags %u, dropout %g, parts "
                 "%zu%s: element %zu is %.9g, not %.9g, seed %#" PRIx64,
                 dtype_name(type), batch, tokens, dim, d, spec.pairing, chunk, sinusoid.flags,
                 sinusoid.dropout, parts, in_place ? ", in place" : "", differs,
                 dtype_load(type, dst, differs), dtype_load(type, expected, differs), test_seed());
    rope_plan_destroy(plan);
    free(rows);
    free(expected);
    guarded_free(&memory[0]);
    guarded_free(&memory[1]);
}

static void test_sums(void **state)
{
    (void)state;
    struct rng rng = rng_make(930);
    test_f16_ties_for(rope_active_isa());
    for (int round = 0; round < (test_reduced() ? 12 : 500); round++)
        check_sums(&rng);
    test_f16_ties_away(0);
}

/* ---- Dropout ---- */

/* How many are dropped in 10^7 elements, and how many pairs of neighbours in a row and in a column. */
static void check_statistics(double dropout)
{
    enum {
        DIM = 1000
    }; /* most of it without an embedding: plans take time where tests are reduced */
    const size_t tokens = test_reduced() ? 20 : 10000;
    uint16_t *data = calloc(tokens * DIM, sizeof *data);
    assert_non_null(data);
    rope_plan *plan = plan_from(spec_make(test_reduced() ? 10 : DIM, 0, 0));
    rope_positions positions = ROPE_POSITIONS_INIT;
    rope_sinusoid sinusoid = ROPE_SINUSOID_INIT;
    for (size_t i = 0; i < tokens * DIM; i++)
        data[i] = 0x4100; /* 8: no sum is 0 */
    sinusoid.dtype = ROPE_BF16;
    sinusoid.tokens = tokens;
    sinusoid.dim = DIM;
    sinusoid.positions = &positions;
    sinusoid.src = sinusoid.dst = data;
    sinusoid.dropout = dropout;
    sinusoid.seed = 20260614;
    assert_int_equal(rope_sinusoid_add(plan, &sinusoid), ROPE_OK);
    rope_plan_destroy(plan);

    double dropped = 0, in_row = 0, in_column = 0;
    for (size_t i = 0; i < tokens * DIM; i++) {
        dropped += data[i] == 0;
        in_row += i > 0 && data[i] == 0 && data[i - 1] == 0;
        in_column += i >= DIM && data[i] == 0 && data[i - DIM] == 0;
    }
    const double n = (double)(tokens * DIM), p = dropout, q = p * p;
    print_message("dropout %g: %.0f of %.0f dropped (%+.2f sigma)\n", p, dropped, n,
                  (dropped - n * p) / sqrt(n * p * (1 - p)));
    assert_true(fabs(dropped - n * p) <= 4 * sqrt(n * p * (1 - p)));
    /* neighbours overlap: variance q (1 - q) + 2 (p^3 - q^2) each */
    const double sigma = sqrt(n * (q * (1 - q) + 2 * (p * q - q * q)));
    assert_true(fabs(in_row - (n - 1) * q) <= 4 * sigma);
    assert_true(fabs(in_column - (n - DIM) * q) <= 4 * sigma);
    free(data);
}

static void test_statistics(void **state)
{
    (void)state;
    check_statistics(0.1);
    check_statistics(0.5);
    check_statistics(0.9);
}

/* A call for the second half of the tokens with the offset of the first gives what one call gives. */
static void test_offset(void **state)
{
    (void)state;
    enum { DIM = 7, TOKENS = 10 };
    static float whole[TOKENS * DIM], halves[TOKENS * DIM], zeros[TOKENS * DIM];
    rope_plan *plan = plan_from(spec_make(6, 0, 0));
    rope_positions positions = ROPE_POSITIONS_INIT;
    rope_sinusoid sinusoid = ROPE_SINUSOID_INIT;
    sinusoid.dtype = ROPE_F32;
    sinusoid.tokens = TOKENS;
    sinusoid.dim = DIM;
    sinusoid.positions = &positions;
    sinusoid.src = zeros;
    sinusoid.dst = whole;
    sinusoid.dropout = 0.3;
    sinusoid.seed = 99;
    sinusoid.offset = 5;
    assert_int_equal(rope_sinusoid_add(plan, &sinusoid), ROPE_OK);
    sinusoid.dst = halves;
    sinusoid.tokens = 4;
    assert_int_equal(rope_sinusoid_add(plan, &sinusoid), ROPE_OK);
    sinusoid.dst = halves + 4 * DIM;
    sinusoid.tokens = 6;
    sinusoid.offset = 5 + 4 * DIM;
    positions.start = 4;
    assert_int_equal(rope_sinusoid_add(plan, &sinusoid), ROPE_OK);
    assert_memory_equal(whole, halves, sizeof whole);
    rope_plan_destroy(plan);
}

/* ---- Statuses ---- */

static void expect_refused(const rope_plan *plan, rope_sinusoid s, int table, rope_status expected,
                           const char *field)
{
    char message[160] = "";
    s.message = message;
    s.message_size = sizeof message;
    assert_int_equal(table ? rope_sinusoid_table(plan, &s) : rope_sinusoid_add(plan, &s), expected);
    if (strstr(message, field) == NULL)
        fail_msg("\"%s\" does not name %s", message, field);
    if (!table)
        assert_int_equal(rope_sinusoid_add_part(plan, &s, 1, 2), expected);
}

static void test_refusals(void **state)
{
    (void)state;
    enum { DIM = 8, TOKENS = 3 };
    static float data[2][TOKENS * DIM], before[2][TOKENS * DIM];
    static int32_t bad_places[TOKENS] = {0, INT32_MIN, 1};
    struct rng rng = rng_make(931);
    for (size_t i = 0; i < TOKENS * DIM; i++) {
        data[0][i] = (float)rng_real(&rng, 1);
        data[1][i] = (float)rng_real(&rng, 1);
    }
    memcpy(before, data, sizeof data);
    rope_plan *plan = plan_from(spec_make(DIM, 0, 1));
    rope_spec spec = spec_make(DIM, 0, 1);
    spec.rotary_dim = 6;
    spec.rotary_offset = 2;
    rope_plan *offset = plan_from(spec);
    rope_positions positions = ROPE_POSITIONS_INIT, bad = ROPE_POSITIONS_INIT;
    rope_sinusoid good = ROPE_SINUSOID_INIT;
    bad.dtype = ROPE_I32;
    bad.data = bad_places;
    good.dtype = ROPE_F32;
    good.tokens = TOKENS;
    good.positions = &positions;
    good.src = data[0];
    good.dst = data[1];

    rope_sinusoid s = good;
    assert_int_equal(rope_sinusoid_add(plan, NULL), ROPE_ERR_NULL);
    assert_int_equal(rope_sinusoid_table(plan, NULL), ROPE_ERR_NULL);
    expect_refused(NULL, s, 0, ROPE_ERR_NULL, "plan");
    s.positions = NULL;
    expect_refused(plan, s, 0, ROPE_ERR_NULL, "positions");
    s = good, s.src = NULL;
    expect_refused(plan, s, 0, ROPE_ERR_NULL, "src");
    s = good, s.dst = NULL;
    expect_refused(plan, s, 0, ROPE_ERR_NULL, "dst");
    s.src = NULL;
    expect_refused(plan, s, 1, ROPE_ERR_NULL, "dst");
    expect_refused(plan, good, 1, ROPE_ERR_VALUE, "src");
    s = good, s.struct_size = 8;
    assert_int_equal(rope_sinusoid_add(plan, &s), ROPE_ERR_STRUCT);
    struct {
        rope_sinusoid s;
        char more[8];
    } newer = {good, {1}};
    newer.s.struct_size = sizeof newer;
    assert_int_equal(rope_sinusoid_add(plan, &newer.s), ROPE_ERR_STRUCT);
    positions.struct_size--;
    expect_refused(plan, good, 0, ROPE_ERR_STRUCT, "positions");
    positions.struct_size++;
    s = good, s.flags = 4;
    expect_refused(plan, s, 0, ROPE_ERR_VALUE, "flags");
    s = good, s.dtype = ROPE_I64;
    expect_refused(plan, s, 0, ROPE_ERR_DTYPE, "dtype");
    s = good, s.reserved = 1;
    expect_refused(plan, s, 0, ROPE_ERR_VALUE, "reserved");
    s = good, s.padding = 1;
    expect_refused(plan, s, 0, ROPE_ERR_VALUE, "padding");
    static const double dropouts[] = {-0.1, 1.0, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < COUNT(dropouts); i++) {
        s = good, s.dropout = dropouts[i];
        expect_refused(plan, s, 0, ROPE_ERR_VALUE, "dropout");
    }
    s = good, s.src = NULL, s.dropout = 0.5;
    expect_refused(plan, s, 1, ROPE_ERR_VALUE, "dropout");
    expect_refused(offset, good, 0, ROPE_ERR_VALUE, "rotary_offset");
    s = good, s.dim = DIM - 2;
    expect_refused(plan, s, 0, ROPE_ERR_VALUE, "dim");
    s = good, s.dim = SIZE_MAX / 2;
    expect_refused(plan, s, 0, ROPE_ERR_SIZE, "address space");
    s = good, s.src_stride_token = PTRDIFF_MAX;
    expect_refused(plan, s, 0, ROPE_ERR_SIZE, "address space");
    s = good, s.dst_stride_token = DIM - 1;
    expect_refused(plan, s, 0, ROPE_ERR_STRIDE, "stride");
    s = good, s.dst = data[0] + 1;
    expect_refused(plan, s, 0, ROPE_ERR_ALIAS, "dst");
    s = good, s.dst = data[0], s.src_stride_token = DIM, s.dst_stride_token = DIM + 1;
    expect_refused(plan, s, 0, ROPE_ERR_ALIAS, "dst");
    s = good, s.positions = &bad;
    expect_refused(plan, s, 0, ROPE_ERR_POSITION, "positions");
    bad.data = data[1];
    bad.dtype = ROPE_F32;
    expect_refused(plan, s, 0, ROPE_ERR_ALIAS, "positions");
    bad.dtype = ROPE_BF16;
    expect_refused(plan, s, 0, ROPE_ERR_DTYPE, "positions");
    assert_int_equal(rope_sinusoid_add_part(plan, &good, 2, 2), ROPE_ERR_VALUE);
    assert_int_equal(rope_sinusoid_add_part(plan, &good, 0, 0), ROPE_ERR_VALUE);
    s = good, s.tokens = 0, s.src = s.dst = NULL;
    assert_int_equal(rope_sinusoid_add(plan, &s), ROPE_OK);
    s.tokens = 1, s.batch = 0;
    assert_int_equal(rope_sinusoid_add(plan, &s), ROPE_OK);
    assert_memory_equal(data, before, sizeof data);
    memset(newer.more, 0, sizeof newer.more);
    assert_int_equal(rope_sinusoid_add(plan, &newer.s), ROPE_OK);
    assert_memory_not_equal(data, before, sizeof data);

    /* the scheme's own fields */
    rope_plan *none;
    spec = spec_make(DIM, 0, DIM / 2);
    assert_int_equal(rope_plan_create(&spec, &none), ROPE_ERR_VALUE);
    spec.shift = -1;
    assert_int_equal(rope_plan_create(&spec, &none), ROPE_ERR_VALUE);
    spec.shift = 1, spec.position_scale = 1e9;
    assert_int_equal(rope_plan_create(&spec, &none), ROPE_ERR_VALUE);
    spec.position_scale = 0, spec.factor = 2;
    assert_int_equal(rope_plan_create(&spec, &none), ROPE_ERR_VALUE);
    spec.factor = 0, spec.scheme = ROPE_SCHEME_DEFAULT;
    assert_int_equal(rope_plan_create(&spec, &none), ROPE_ERR_VALUE);
    rope_plan_destroy(plan);
    rope_plan_destroy(offset);
}

/* ---- Other implementations: tests/golden/sinusoid.txt ---- */

EMBED(golden_sinusoid_text, ROPE_TEST_DATA "/sinusoid.txt");
EMBED(golden_sinusoid_data, ROPE_TEST_DATA "/sinusoid.bin");

static double number(const char *line, const char *key)
{
    const char *value = golden_field(line, key);
    return value != NULL ? strtod(value, NULL) : 0;
}

/* dtype:offset:count */
static const void *array(const char *line, const char *key, rope_dtype *dtype)
{
    const char *value = golden_field(line, key);
    assert_non_null(value);
    *dtype = value[0] == 'i' ? ROPE_I64 : value[1] == '3' ? ROPE_F32 : ROPE_F64;
    return golden_sinusoid_data + strtoul(strchr(value, ':') + 1, NULL, 10);
}

static double place_of(const void *data, rope_dtype dtype, size_t i)
{
    return dtype == ROPE_I64 ? (double)((const int64_t *)data)[i]
                             : dtype_load((enum dtype)(dtype - ROPE_F32), data, i);
}

static void check_golden(const char *line)
{
    enum { MOST = 12 * 512 };
    static double table[MOST];
    const size_t dim = (size_t)number(line, "dim"), tokens = (size_t)number(line, "tokens");
    const size_t d = dim / 2 * 2, axes = golden_field(line, "axes") != NULL ? 2 : 1;
    const double theta = number(line, "theta"), shift = number(line, "shift");
    const double amplitude = number(line, "amplitude");
    const int32_t sections[2] = {(int32_t)d / 4, (int32_t)d / 4};
    rope_dtype place_type, out_type;
    const void *places = array(line, "pos", &place_type), *out = array(line, "out", &out_type);
    assert_true(tokens * dim <= MOST);

    rope_spec spec = spec_make(d, theta, shift);
    spec.attention_factor = amplitude;
    spec.pairing = golden_field(line, "pairing")[0] == 'h' ? ROPE_HALF : ROPE_INTERLEAVED;
    if (axes == 2) {
        spec.scheme = ROPE_SCHEME_DEFAULT;
        spec.axis_layout = ROPE_AXES_RESTART;
        spec.sections = sections;
        spec.section_count = 2;
        spec.pairing_chunk = (size_t)number(line, "chunk");
    }
    rope_plan *plan = plan_from(spec);
    rope_positions positions[2] = {ROPE_POSITIONS_INIT, ROPE_POSITIONS_INIT};
    for (size_t axis = 0; axis < axes; axis++) {
        positions[axis].dtype = place_type;
        positions[axis].data = (const float *)places + axis;
        positions[axis].stride_token = (ptrdiff_t)axes;
    }
    positions[0].data = places;
    rope_sinusoid sinusoid = ROPE_SINUSOID_INIT;
    sinusoid.dtype = out_type;
    sinusoid.flags = golden_field(line, "cos_first") != NULL ? ROPE_COS_FIRST : 0;
    sinusoid.tokens = tokens;
    sinusoid.dim = dim;
    sinusoid.positions = positions;
    sinusoid.dst = table;
    if (golden_field(line, "padding") != NULL) {
        sinusoid.flags |= ROPE_PADDING;
        sinusoid.padding = (int64_t)number(line, "padding");
    }
    assert_int_equal(rope_sinusoid_table(plan, &sinusoid), ROPE_OK);
    rope_plan_destroy(plan);

    /*
     * The f32 modules make exponent, power and product in f32: e ln theta + 9 roundings of the angle and a few of the
     * result, e the exponent.  f64 modules as much in f64; "exact" is made in f64 and rounded once.
     */
    const enum dtype type = (enum dtype)(out_type - ROPE_F32);
    const double unit = type == DT_F64 ? 0x1p-53 : 0x1p-24;
    for (size_t t = 0; t < tokens; t++)
        for (size_t c = 0; c < dim; c++) {
            const size_t pairs = d / 2 / axes;
            size_t i = spec.pairing == ROPE_INTERLEAVED ? c / 2 : c % (d / 2);
            const size_t axis =
                axes == 2 && (spec.pairing_chunk != 0 ? c / (d / 2) : i / pairs) != 0;
            i %= pairs;
            const double e = (double)i / ((double)pairs - shift);
            const double angle =
                fabs(place_of(places, place_type, t * axes + axis)) * exp(-e * log(theta));
            const double bound = golden_field(line, "exact") != NULL
                                     ? 0
                                     : amplitude * unit * (angle * (e * log(theta) + 9) + 4);
            const double golden = dtype_load(type, out, t * dim + c);
            const double own = dtype_load(type, table, t * dim + c);
            if (!(fabs(golden - own) <= bound))
                fail_msg("%.60s: token %zu, column %zu: %.17g, golden %.17g, bound %g", line, t, c,
                         own, golden, bound);
        }
}

static void test_goldens(void **state)
{
    (void)state;
    int cases = 0;
    for (const char *line = golden_sinusoid_text; line != NULL && *line != 0;) {
        if (strncmp(line, "case ", 5) == 0) {
            if (!test_reduced() || number(line, "dim") < 50)
                check_golden(line);
            cases++;
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    assert_int_equal(cases, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),     cmocka_unit_test(test_sums),
        cmocka_unit_test(test_statistics), cmocka_unit_test(test_offset),
        cmocka_unit_test(test_refusals),   cmocka_unit_test(test_goldens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
