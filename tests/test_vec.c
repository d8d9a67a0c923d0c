/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each verb of one vec_*.h against plain C.  Compiled once per header, with that set's flags and
 *     VEC_HEADER  the header in quotes        VEC_ISA  the public number of the set
 * Must execute nothing of the header before the CPU is known to have the set.
 */
#include "reference.h"
#include "support.h"

#include "cpu.h"

#include VEC_HEADER
#include "vec_pair.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define F32 ((size_t)RV_F32_LANES)
#define F64 ((size_t)RV_F64_LANES)
#define MAX 64 /* no set has more lanes, in two vectors of pairs */

static struct guarded memory[2];

static int make_memory(void **state)
{
    (void)state;
    memory[0] = guarded_make(1);
    memory[1] = guarded_make(1);
    return 0;
}

static int free_memory(void **state)
{
    (void)state;
    guarded_free(&memory[0]);
    guarded_free(&memory[1]);
    return 0;
}

static void require_set(void)
{
    test_require_isa(VEC_ISA);
#if defined(__x86_64__) && defined(__FMA__)
    if (!(rope_cpu_features() & ROPE_CPU_FMA)) {
        print_message("skipped: this CPU has no FMA\n");
        skip();
    }
#endif
#if defined(__AVX512BF16__)
    if (!(rope_cpu_features() & ROPE_CPU_BF16)) {
        print_message("skipped: this CPU has no AVX512_BF16\n");
        skip();
    }
#endif
    test_f16_ties_for(VEC_ISA);
}

static void fill(struct rng *rng, enum dtype type, void *array, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dtype_store(type, array, i, rng_element(rng, type, (enum fill)rng_below(rng, FILLS)));
}

static void check(const char *verb, enum dtype type, const void *expected, const void *actual,
                  size_t n)
{
    const size_t i = image_differs(type, expected, actual, n, NULL);
    if (i != n)
        fail_msg("%s, %s, %s, lane %zu of %zu: expected %a, got %a, seed %#" PRIx64, VEC_HEADER,
                 verb, dtype_name(type), i, n, dtype_load(type, expected, i),
                 dtype_load(type, actual, i), test_seed());
}

/*
 * Verbs that f32 and f64 share.  n elements stand at the very end of guarded memory, so that a
 * touch of the next byte ends the test; lanes from n on must come as zero and must not be stored.
 */
#define TEST_FLOAT(T, TYPE, real, LANES, fma_c)                                                    \
    static void test_memory_##T(void **state)                                                      \
    {                                                                                              \
        (void)state;                                                                               \
        require_set();                                                                             \
        struct rng rng = rng_make(1);                                                              \
        for (size_t n = 0; n <= (LANES); n++) {                                                    \
            real all[MAX] = {0}, want[2 * MAX] = {0}, got[2 * MAX] = {0}, x[MAX], y[MAX];          \
            fill(&rng, TYPE, all, n);                                                              \
            real *const src = guarded_end(&memory[0], n * sizeof(real), 0);                        \
            memcpy(src, all, n * sizeof(real));                                                    \
            rv_store_##T(got, rv_load_##T(src, n), LANES);                                         \
            check("load", TYPE, all, got, LANES);                                                  \
            real *const dst = guarded_end(&memory[1], n * sizeof(real), 0);                        \
            canary_fill(memory[1].base, memory[1].size);                                           \
            rv_store_##T(dst, rv_load_##T(src, n), n);                                             \
            check("store", TYPE, all, dst, n);                                                     \
            real *const low = guarded_start(&memory[1], MAX * sizeof(real), 0);                    \
            canary_fill(want, sizeof want);                                                        \
            memcpy(want, all, n * sizeof(real));                                                   \
            rv_store_##T(low, rv_load_##T(src, n), n);                                             \
            check("store beyond n", TYPE, want, low, MAX);                                         \
                                                                                                   \
            real *const pairs = guarded_end(&memory[0], 2 * n * sizeof(real), 0);                  \
            fill(&rng, TYPE, all, 2 * n);                                                          \
            memcpy(pairs, all, 2 * n * sizeof(real));                                              \
            rv_##T even, odd;                                                                      \
            rv_load2_##T(pairs, &even, &odd, n);                                                   \
            rv_store_##T(x, rv_unmix_##T(even), LANES);                                            \
            rv_store_##T(y, rv_unmix_##T(odd), LANES);                                             \
            for (size_t i = 0; i < (LANES); i++) {                                                 \
                want[i] = i < n ? all[2 * i] : 0;                                                  \
                want[MAX + i] = i < n ? all[2 * i + 1] : 0;                                        \
            }                                                                                      \
            check("load2 x", TYPE, want, x, LANES);                                                \
            check("load2 y", TYPE, want + MAX, y, LANES);                                          \
            real *const out = guarded_end(&memory[1], 2 * n * sizeof(real), 0);                    \
            rv_store2_##T(out, even, odd, n);                                                      \
            check("store2", TYPE, all, out, 2 * n);                                                \
            canary_fill(memory[1].base, memory[1].size);                                           \
            canary_fill(want, sizeof want);                                                        \
            memcpy(want, all, 2 * n * sizeof(real));                                               \
            rv_store2_##T(low, rv_mix_##T(rv_load_##T(x, n)), rv_mix_##T(rv_load_##T(y, n)), n);   \
            check("mix, store2 beyond n", TYPE, want, low, MAX);                                   \
        }                                                                                          \
        real *const line = guarded_start(&memory[0], 64, 0);                                       \
        real all[MAX];                                                                             \
        fill(&rng, TYPE, all, LANES);                                                              \
        rv_stream_##T(line, rv_load_##T(all, LANES));                                              \
        rv_fence();                                                                                \
        check("stream", TYPE, all, line, LANES);                                                   \
    }                                                                                              \
                                                                                                   \
    static void test_arithmetic_##T(void **state)                                                  \
    {                                                                                              \
        (void)state;                                                                               \
        require_set();                                                                             \
        struct rng rng = rng_make(2);                                                              \
        for (int round = 0; round < 2000; round++) {                                               \
            real a[MAX], b[MAX], c[MAX], want[5][MAX], got[5][MAX];                                \
            fill(&rng, TYPE, a, LANES);                                                            \
            fill(&rng, TYPE, b, LANES);                                                            \
            fill(&rng, TYPE, c, LANES);                                                            \
            for (size_t i = 0; i < (LANES); i++) {                                                 \
                if (rng_below(&rng, 4) == 0)                                                       \
                    c[i] = -(a[i] * b[i]); /* what is left is the rounding error of the product */ \
                want[0][i] = a[i] + b[i];                                                          \
                want[1][i] = a[i] - b[i];                                                          \
                want[2][i] = a[i] * b[i];                                                          \
                want[3][i] = fma_c(a[i], b[i], c[i]);                                              \
                want[4][i] = fma_c(a[i], b[i], -c[i]);                                             \
            }                                                                                      \
            const rv_##T va = rv_load_##T(a, LANES);                                               \
            const rv_##T vb = rv_load_##T(b, LANES);                                               \
            const rv_##T vc = rv_load_##T(c, LANES);                                               \
            rv_store_##T(got[0], rv_add_##T(va, vb), LANES);                                       \
            rv_store_##T(got[1], rv_sub_##T(va, vb), LANES);                                       \
            rv_store_##T(got[2], rv_mul_##T(va, vb), LANES);                                       \
            rv_store_##T(got[3], rv_fma_##T(va, vb, vc), LANES);                                   \
            rv_store_##T(got[4], rv_fms_##T(va, vb, vc), LANES);                                   \
            static const char *const verbs[] = {"add", "sub", "mul", "fma", "fms"};                \
            for (int i = 0; i < 5; i++)                                                            \
                check(verbs[i], TYPE, want[i], got[i], LANES);                                     \
        }                                                                                          \
    }

TEST_FLOAT(f32, DT_F32, float, F32, fmaf)
TEST_FLOAT(f64, DT_F64, double, F64, fma)

/* set, rint, round_f32, narrow; round_odd by what it is for: two roundings become one. */
static void test_conversions(void **state)
{
    (void)state;
    require_set();
    struct rng rng = rng_make(3);
    for (int round = 0; round < 20000; round++) {
        double v[MAX], want[MAX], got[MAX];
        float single[MAX], narrowed[MAX];
        for (size_t i = 0; i < F32; i++) {
            const enum dtype type = (enum dtype)rng_below(&rng, DTYPES);
            v[i] = rng_element(&rng, type, (enum fill)rng_below(&rng, FILLS));
            if (rng_below(&rng, 2)) /* halfway between neighbours of the type, or just beside */
                v[i] = nextafter(v[i] + 0.5 * dtype_ulp(type, isfinite(v[i]) ? v[i] : 1.0),
                                 rng_real(&rng, 4.0));
            if (rng_below(&rng, 8) == 0)
                v[i] = trunc(v[i]) + 0.5;
            single[i] = (float)v[i];
        }
        rv_f64 vectors[RV_F32_LANES / RV_F64_LANES];
        for (size_t k = 0; k < F32 / F64; k++)
            vectors[k] = rv_load_f64(v + k * F64, F64);
        rv_store_f32(narrowed, rv_narrow_f32(vectors), F32);
        check("narrow_f32", DT_F32, single, narrowed, F32);

        rv_store_f64(got, rv_rint_f64(vectors[0]), F64);
        for (size_t i = 0; i < F64; i++)
            want[i] = rint(v[i]);
        check("rint", DT_F64, want, got, F64);
        rv_store_f64(got, rv_round_f32_f64(vectors[0]), F64);
        for (size_t i = 0; i < F64; i++)
            want[i] = (double)single[i];
        check("round_f32", DT_F64, want, got, F64);
        rv_store_f64(got, rv_set_f64(v[0]), F64);
        for (size_t i = 0; i < F64; i++)
            want[i] = v[0];
        check("set", DT_F64, want, got, F64);

        double mask[MAX];
        for (size_t i = 0; i < F64; i++) {
            mask[i] = rng_below(&rng, 2) ? -1.0 : 1.0;
            want[i] = mask[i] < 0.0 ? v[i] : 0.5;
        }
        rv_store_f64(got, rv_blend_f64(rv_set_f64(0.5), vectors[0], rv_load_f64(mask, F64)), F64);
        check("blend", DT_F64, want, got, F64);

        rv_store_f64(got, rv_round_odd_f64(vectors[0]), F64);
        for (size_t i = 0; i < F64; i++) {
            if (isnan(v[i]))
                continue;
            for (int t = DT_F16; t <= DT_BF16; t++) {
                const enum dtype type = (enum dtype)t;
                /* A result that is subnormal in f32 too has fewer bits than the odd rounding
                 * leaves. */
                if (fabs(v[i]) < 0x1p-126)
                    continue;
                double once = dtype_round(type, v[i]);
                double twice = dtype_round(type, (float)got[i]);
                check("round_odd", DT_F64, &once, &twice, 1);
            }
        }
    }
}

/* The bound of SLEEF's u05 functions; without it libm's own error, 0.55 ulp, and one rounding. */
#ifdef ROPE_WITH_SLEEF
static const double sincospi_bound = 0.506;
#else
static const double sincospi_bound = 1.1;
#endif
static void test_sincospi(void **state)
{
    (void)state;
    require_set();
    if (test_fma_loses_bits()) {
        print_message("skipped: the fma of this emulator loses bits that sincospi needs\n");
        skip();
    }
    struct rng rng = rng_make(4);
    mpfr_t angle, cosine, sine, error;
    mpfr_inits2(REFERENCE_BITS, angle, cosine, sine, error, (mpfr_ptr)NULL);
    for (int round = 0; round < (test_reduced() ? 50 : 2000); round++) {
        double x[MAX], s[MAX], c[MAX];
        for (size_t i = 0; i < F64; i++) {
            const int exponent = round % 2 ? 0 : -(int)rng_below(&rng, 60);
            x[i] = ldexp(rng_real(&rng, 1.0), exponent);
        }
        rv_f64 vs, vc;
        rv_sincospi_f64(rv_load_f64(x, F64), &vs, &vc);
        rv_store_f64(s, vs, F64);
        rv_store_f64(c, vc, F64);
        for (size_t i = 0; i < F64; i++) {
            mpfr_const_pi(angle, MPFR_RNDN);
            mpfr_mul_d(angle, angle, x[i], MPFR_RNDN);
            mpfr_sin_cos(sine, cosine, angle, MPFR_RNDN);
            const double got[2] = {c[i], s[i]};
            const mpfr_srcptr truth[2] = {cosine, sine};
            for (int part = 0; part < 2; part++) {
                mpfr_sub_d(error, truth[part], got[part], MPFR_RNDN);
                const double ulps = fabs(mpfr_get_d(error, MPFR_RNDN)) /
                                    dtype_ulp(DT_F64, reference_f64(truth[part]));
                if (!(ulps <= sincospi_bound))
                    fail_msg("%s, sincospi(%a): the %s %a is off by %.4f ulp, seed %#" PRIx64,
                             VEC_HEADER, x[i], part ? "sine" : "cosine", got[part], ulps,
                             test_seed());
            }
        }
    }
    mpfr_clears(angle, cosine, sine, error, (mpfr_ptr)NULL);
}

/* Blocks of 16-bit elements.  `natural` brings a block to memory order as f32. */
#define TEST_HALF(T, TYPE)                                                                  \
    static void test_memory_##T(void **state)                                               \
    {                                                                                       \
        (void)state;                                                                        \
        require_set();                                                                      \
        const size_t width = 2 * F32;                                                       \
        struct rng rng = rng_make(5);                                                       \
        for (size_t n = 0; n <= width; n++) {                                               \
            uint16_t all[2 * MAX] = {0}, want[2 * MAX];                                     \
            float x[MAX], y[MAX], wide[MAX], wide_y[MAX];                                   \
            fill(&rng, TYPE, all, n);                                                       \
            uint16_t *const src = guarded_end(&memory[0], 2 * n, 0);                        \
            memcpy(src, all, 2 * n);                                                        \
            for (size_t i = 0; i < width; i++)                                              \
                wide[i] = (float)dtype_load(TYPE, all, i);                                  \
            const rv_f32x2 v = rv_load_##T(src, n);                                         \
            rv_storerow_f32x2(x, rv_join_##T(v, n), width);                                 \
            check("load, join", DT_F32, wide, x, width);                                    \
            uint16_t *const dst = guarded_end(&memory[1], 2 * n, 0);                        \
            rv_store_##T(dst, rv_split_##T(rv_loadrow_f32x2(x, width), n), n);              \
            check("split, store", TYPE, all, dst, n);                                       \
            uint16_t *const low = guarded_start(&memory[1], sizeof want, 0);                \
            canary_fill(low, sizeof want);                                                  \
            canary_fill(want, sizeof want);                                                 \
            memcpy(want, all, 2 * n);                                                       \
            rv_store_##T(low, v, n);                                                        \
            check("store beyond n", TYPE, want, low, 2 * MAX);                              \
                                                                                            \
            fill(&rng, TYPE, all, 2 * n);                                                   \
            uint16_t *const pairs = guarded_end(&memory[0], 4 * n, 0);                      \
            memcpy(pairs, all, 4 * n);                                                      \
            rv_f32x2 even, odd;                                                             \
            rv_load2_##T(pairs, &even, &odd, n);                                            \
            rv_storerow_f32x2(x, rv_unmix_##T(even), width);                                \
            rv_storerow_f32x2(y, rv_unmix_##T(odd), width);                                 \
            for (size_t i = 0; i < width; i++) {                                            \
                wide[i] = i < n ? (float)dtype_load(TYPE, all, 2 * i) : 0.0f;               \
                wide_y[i] = i < n ? (float)dtype_load(TYPE, all, 2 * i + 1) : 0.0f;         \
            }                                                                               \
            check("load2 x, unmix", DT_F32, wide, x, width);                                \
            check("load2 y, unmix", DT_F32, wide_y, y, width);                              \
            uint16_t *const out = guarded_end(&memory[1], 4 * n, 0);                        \
            rv_store2_##T(out, rv_mix_##T(rv_loadrow_f32x2(x, width)),                      \
                          rv_mix_##T(rv_loadrow_f32x2(y, width)), n);                       \
            check("mix, store2", TYPE, all, out, 2 * n);                                    \
            canary_fill(low, sizeof want);                                                  \
            canary_fill(want, sizeof want);                                                 \
            memcpy(want, all, 4 * n);                                                       \
            rv_store2_##T(low, even, odd, n);                                               \
            check("store2 beyond n", TYPE, want, low, 2 * MAX);                             \
        }                                                                                   \
    }                                                                                       \
                                                                                            \
    static void test_rounding_##T(void **state)                                             \
    {                                                                                       \
        (void)state;                                                                        \
        require_set();                                                                      \
        const size_t width = 2 * F32;                                                       \
        struct rng rng = rng_make(6);                                                       \
        const size_t step = test_reduced() ? 7 : 1;                                         \
        for (size_t bits = 0; bits < 65536; bits += step * width) {                         \
            float v[MAX], got[MAX];                                                         \
            uint16_t want[MAX], stored[MAX];                                                \
            for (size_t i = 0; i < width;                                                   \
                 i++) { /* a value, halfway to the next, or just beside */                  \
                const double value = dtype_from_bits(TYPE, (bits + i) & 0xffff);            \
                const double half = isfinite(value) ? 0.5 * dtype_ulp(TYPE, value) : 0.0;   \
                v[i] = (float)(value + (rng_below(&rng, 2) ? copysign(half, value) : 0.0)); \
                if (rng_below(&rng, 2))                                                     \
                    v[i] = nextafterf(v[i], (float)rng_real(&rng, 1e9));                    \
                dtype_store(TYPE, want, i, (double)v[i]);                                   \
            }                                                                               \
            const rv_f32x2 block = rv_split_##T(rv_loadrow_f32x2(v, width), width);         \
            rv_store_##T(stored, block, width);                                             \
            check("store, rounded", TYPE, want, stored, width);                             \
            rv_storerow_f32x2(got, rv_join_##T(rv_round_##T(block), width), width);         \
            for (size_t i = 0; i < width; i++)                                              \
                v[i] = (float)dtype_load(TYPE, want, i);                                    \
            check("round", DT_F32, v, got, width);                                          \
            uint16_t *const line = guarded_start(&memory[0], 2 * width, 0);                 \
            rv_stream_##T(line, block);                                                     \
            rv_fence();                                                                     \
            check("stream", TYPE, want, line, width);                                       \
        }                                                                                   \
    }

TEST_HALF(f16, DT_F16)
TEST_HALF(bf16, DT_BF16)

/* Blocks of two f32 vectors: row loads and stores of n entries, arithmetic on both halves,
 * narrowing with one rounding. */
static void test_pair(void **state)
{
    (void)state;
    require_set();
    const size_t width = 2 * F32;
    struct rng rng = rng_make(7);
    for (size_t n = 0; n <= width; n++) {
        float all[MAX] = {0}, got[MAX], want[MAX], other[MAX];
        float *const src = guarded_end(&memory[0], n * 4, 0);
        fill(&rng, DT_F32, all, n);
        memcpy(src, all, n * 4);
        const rv_f32x2 a = rv_loadrow_f32x2(src, n);
        rv_storerow_f32x2(got, a, width);
        check("loadrow", DT_F32, all, got, width);
        float *const dst = guarded_end(&memory[1], n * 4, 0);
        rv_storerow_f32x2(dst, a, n);
        check("storerow", DT_F32, all, dst, n);

        fill(&rng, DT_F32, other, width);
        const rv_f32x2 b = rv_loadrow_f32x2(other, width);
        const rv_f32x2 results[] = {rv_add_f32x2(a, b), rv_sub_f32x2(a, b), rv_mul_f32x2(a, b),
                                    rv_fma_f32x2(a, b, b), rv_fms_f32x2(a, b, b)};
        for (int verb = 0; verb < 5; verb++) {
            for (size_t i = 0; i < width; i++) {
                const float x = all[i];
                const float y = other[i];
                want[i] = verb == 0   ? x + y
                          : verb == 1 ? x - y
                          : verb == 2 ? x * y
                          : verb == 3 ? fmaf(x, y, y)
                                      : fmaf(x, y, -y);
            }
            rv_storerow_f32x2(got, results[verb], width);
            check("arithmetic of two vectors", DT_F32, want, got, width);
        }
    }
    for (int round = 0; round < 2000; round++) {
        double v[MAX];
        uint16_t want[2][MAX], got[MAX];
        rv_f64 vectors[2 * RV_F32_LANES / RV_F64_LANES];
        for (size_t i = 0; i < width; i++) {
            const enum dtype type = round % 2 ? DT_F16 : DT_BF16;
            v[i] = rng_element(&rng, type, FILL_PLAIN);
            v[i] = nextafter(v[i] + 0.5 * dtype_ulp(type, v[i]), rng_real(&rng, 4.0));
            dtype_store(DT_F16, want[0], i, v[i]);
            dtype_store(DT_BF16, want[1], i, v[i]);
        }
        for (size_t k = 0; k < width / F64; k++)
            vectors[k] = rv_load_f64(v + k * F64, F64);
        const rv_f32x2 block = rv_narrow_f32x2(vectors);
        rv_store_f16(got, rv_split_f16(block, width), width);
        check("narrow to f16", DT_F16, want[0], got, width);
        rv_store_bf16(got, rv_split_bf16(block, width), width);
        check("narrow to bf16", DT_BF16, want[1], got, width);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_f32),     cmocka_unit_test(test_memory_f64),
        cmocka_unit_test(test_arithmetic_f32), cmocka_unit_test(test_arithmetic_f64),
        cmocka_unit_test(test_conversions),    cmocka_unit_test(test_sincospi),
        cmocka_unit_test(test_memory_f16),     cmocka_unit_test(test_memory_bf16),
        cmocka_unit_test(test_rounding_f16),   cmocka_unit_test(test_rounding_bf16),
        cmocka_unit_test(test_pair),
    };
    return cmocka_run_group_tests_name(VEC_HEADER, tests, make_memory, free_memory);
}
