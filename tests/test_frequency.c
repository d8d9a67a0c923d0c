/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frequencies, turns and rotations, and the 256-bit numbers below them, against MPFR.  Expected
 * values come from the formulas alone.
 */
#include "frequency.h"
#include "support.h"
#include "wide.h"

#include <float.h>
#include <math.h>
#include <mpfr.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
/* cmocka.h needs the two above and stddef.h. */
#include <cmocka.h>

#define BITS 400 /* of every MPFR number: more than twice what is tested */

static const double bases[] = {2, 0.5, 100, 10000, 150000, 500000, 1e6, 1e7, 1e300, 1};
static const size_t dims[] = {2, 4, 32, 64, 80, 96, 128, 256, 512};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- Helpers ---- */

static double pow2(int exponent)
{
    return ldexp(1.0, exponent);
}

static void set_wide(mpfr_ptr out, const rope_wide *a)
{
    mpfr_set_si(out, (int32_t)a->limb[ROPE_WIDE_LIMBS - 1], MPFR_RNDN);
    for (int i = ROPE_WIDE_LIMBS - 2; i >= 0; i--) {
        mpfr_mul_2ui(out, out, 32, MPFR_RNDN);
        mpfr_add_ui(out, out, a->limb[i], MPFR_RNDN);
    }
    mpfr_div_2ui(out, out, ROPE_WIDE_FRACTION_BITS, MPFR_RNDN);
}

static void set_dd(mpfr_ptr out, rope_dd a)
{
    mpfr_set_d(out, a.hi, MPFR_RNDN);
    mpfr_add_d(out, out, a.lo, MPFR_RNDN);
}

/* |got - want| and |got - want| / |want|, rounded up. */
static double absolute_error(mpfr_srcptr got, mpfr_srcptr want)
{
    mpfr_t error;
    mpfr_init2(error, BITS);
    mpfr_sub(error, got, want, MPFR_RNDN);
    mpfr_abs(error, error, MPFR_RNDN);
    const double result = mpfr_get_d(error, MPFR_RNDU);
    mpfr_clear(error);
    return result;
}

static double relative_error(rope_dd got, mpfr_srcptr want)
{
    mpfr_t error;
    mpfr_init2(error, BITS);
    set_dd(error, got);
    mpfr_reldiff(error, want, error, MPFR_RNDN);
    const double result = mpfr_get_d(error, MPFR_RNDU);
    mpfr_clear(error);
    return result;
}

/* The double-double nearest to a value: its f64, and the f64 of the rest. */
static rope_dd nearest_dd(mpfr_srcptr value)
{
    const double hi = mpfr_get_d(value, MPFR_RNDN);
    mpfr_t rest;
    mpfr_init2(rest, BITS);
    mpfr_sub_d(rest, value, hi, MPFR_RNDN);
    const rope_dd result = {hi, mpfr_get_d(rest, MPFR_RNDN)};
    mpfr_clear(rest);
    return result;
}

static void assert_dd(rope_dd got, rope_dd want, const char *what)
{
    if (got.hi != want.hi || got.lo != want.lo)
        fail_msg("%s: %a %+a, not %a %+a", what, got.hi, got.lo, want.hi, want.lo);
}

static void assert_nearest(rope_dd got, mpfr_srcptr want, const char *what)
{
    assert_dd(got, nearest_dd(want), what);
}

/* ---- 256-bit numbers ---- */

static const double samples[] = {0.0,     1.0,     -1.0,    0.1,     -0.1,   1e-20,
                                 -1e-40,  0x1p-52, 0x1p-53, 0x1p-97, 3.25,   -7.75,
                                 123456., 1e9,     -1e9,    M_PI,    -0x1p30};

static void test_from_double(void **state)
{
    (void)state;
    mpfr_t got;
    mpfr_init2(got, BITS);
    for (size_t i = 0; i < COUNT(samples); i++) {
        const rope_wide a = rope_wide_from_double(samples[i]);
        set_wide(got, &a);
        if (mpfr_cmp_d(got, samples[i]) != 0)
            fail_msg("%a is not kept", samples[i]);
    }
    /* Bits below the last one, and above the top one. */
    const struct {
        double x;
        double kept;
    } edges[] = {{0x1p-225, 0},
                 {-0x1p-300, 0},
                 {DBL_MIN, 0},
                 {0x1p-224, 0x1p-224},
                 {0x1.8p-224, 0x1p-224},
                 {-0x1.8p-224, -0x1p-224},
                 {0x1.0000000000001p-200, 0x1p-200},
                 {0x1p32, 0},
                 {0x1p300, 0},
                 {0x1.00000001p32, 1},
                 {0x1.000000018p33, 3},
                 {-0x1.000000018p33, -3},
                 {0x1.0000000000001p52, 1},
                 {0x1.8p31, -0x1p30}};
    for (size_t i = 0; i < COUNT(edges); i++) {
        const rope_wide a = rope_wide_from_double(edges[i].x);
        set_wide(got, &a);
        if (mpfr_cmp_d(got, edges[i].kept) != 0)
            fail_msg("%a became %a", edges[i].x, mpfr_get_d(got, MPFR_RNDN));
    }
    mpfr_clear(got);
}

static void test_add_negate_ratio(void **state)
{
    (void)state;
    mpfr_t got, want, term;
    mpfr_inits2(BITS, got, want, term, (mpfr_ptr)NULL);
    const struct {
        uint32_t numerator, denominator;
    } ratios[] = {{0, 7},
                  {1, 1},
                  {1, 2},
                  {2, 3},
                  {64, 62},
                  {127, 128},
                  {4294967295u, 4294967295u},
                  {4294967294u, 4294967295u},
                  {1, 4294967295u}};
    for (size_t i = 0; i < COUNT(samples); i++) {
        const rope_wide a = rope_wide_from_double(samples[i]);
        set_wide(want, &a);
        const rope_wide minus = rope_wide_negate(a);
        set_wide(got, &minus);
        mpfr_neg(got, got, MPFR_RNDN);
        assert_true(mpfr_equal_p(got, want));
        for (size_t j = 0; j < COUNT(samples); j++) {
            const rope_wide b = rope_wide_from_double(samples[j]);
            const rope_wide sum = rope_wide_add(a, b);
            set_wide(got, &sum);
            set_wide(term, &b);
            mpfr_add(term, term, want, MPFR_RNDN);
            assert_true(mpfr_equal_p(got, term));
        }
        for (size_t j = 0; j < COUNT(ratios); j++) {
            const rope_wide part = rope_wide_ratio(a, ratios[j].numerator, ratios[j].denominator);
            set_wide(got, &part);
            /* Cut to 2^-224: truncate the quotient in units of 2^-224. */
            mpfr_mul_ui(term, want, ratios[j].numerator, MPFR_RNDN);
            mpfr_mul_2ui(term, term, 224, MPFR_RNDN);
            mpfr_div_ui(term, term, ratios[j].denominator, MPFR_RNDZ);
            mpfr_trunc(term, term);
            mpfr_div_2ui(term, term, 224, MPFR_RNDN);
            if (!mpfr_equal_p(got, term))
                fail_msg("%a * %u / %u", samples[i], ratios[j].numerator, ratios[j].denominator);
        }
    }
    mpfr_clears(got, want, term, (mpfr_ptr)NULL);
}

static void assert_log2(double x)
{
    mpfr_t got, want;
    mpfr_inits2(BITS, got, want, (mpfr_ptr)NULL);
    const rope_wide logarithm = rope_wide_log2(x);
    set_wide(got, &logarithm);
    mpfr_set_d(want, x, MPFR_RNDN);
    mpfr_log2(want, want, MPFR_RNDN);
    if (mpfr_cmp(got, want) > 0 || absolute_error(got, want) > pow2(-221))
        fail_msg("log2 of %a is off by %g", x, absolute_error(got, want));
    mpfr_clears(got, want, (mpfr_ptr)NULL);
}

static void test_log2(void **state)
{
    (void)state;
    const double special[] = {1.0,
                              3.0,
                              10000.0,
                              0.1,
                              M_PI,
                              nextafter(1.0, 2.0),
                              nextafter(1.0, 0.0),
                              nextafter(2.0, 0.0),
                              DBL_MAX,
                              DBL_MIN,
                              nextafter(DBL_MIN, 0.0),
                              5e-324,
                              3 * 5e-324,
                              1e-310};
    for (size_t i = 0; i < COUNT(special); i++)
        assert_log2(special[i]);
    for (size_t i = 0; i < COUNT(bases); i++)
        assert_log2(bases[i]);
    struct rng rng = rng_make(1);
    for (int i = 0; i < 200; i++)
        assert_log2(ldexp(1.0 + fabs(rng_real(&rng, 1.0)), (int)rng_below(&rng, 2098) - 1074));
    for (int exponent = -1074; exponent <= 1023; exponent++) {
        const rope_wide logarithm = rope_wide_log2(pow2(exponent));
        const rope_wide exact = rope_wide_from_double(exponent);
        assert_memory_equal(&logarithm, &exact, sizeof exact);
    }
}

static void test_exp2(void **state)
{
    (void)state;
    mpfr_t want;
    mpfr_init2(want, BITS);
    for (int exponent = -1074; exponent <= 1023; exponent++)
        assert_dd(rope_wide_exp2(rope_wide_from_double(exponent)), (rope_dd){pow2(exponent), 0.0},
                  "power of two");
    struct rng rng = rng_make(2);
    for (int i = 0; i < 5000; i++) {
        /* Fractions of all 224 bits; results whose lo is normal. */
        rope_wide a = rope_wide_from_double(floor(rng_real(&rng, 900.0)));
        for (int limb = 0; limb < ROPE_WIDE_LIMBS - 1; limb++)
            a.limb[limb] = (uint32_t)rng_next(&rng);
        set_wide(want, &a);
        mpfr_exp2(want, want, MPFR_RNDN);
        assert_nearest(rope_wide_exp2(a), want, "2^a");
    }
    assert_true(isinf(rope_wide_exp2(rope_wide_from_double(1024.5)).hi));
    assert_true(isinf(rope_wide_exp2(rope_wide_from_double(0x1p30)).hi));
    assert_dd(rope_wide_exp2(rope_wide_from_double(-1080.5)), (rope_dd){0, 0}, "underflow");
    assert_dd(rope_wide_exp2(rope_wide_from_double(-0x1p30)), (rope_dd){0, 0}, "underflow");
    mpfr_clear(want);
}

/* ---- Frequencies ---- */

/* theta^(-2 i / d) / factor. */
static void definition(mpfr_ptr out, double theta, double factor, size_t i, size_t d)
{
    mpfr_t exponent;
    mpfr_init2(exponent, BITS);
    mpfr_set_si(exponent, -2 * (long)i, MPFR_RNDN);
    mpfr_div_ui(exponent, exponent, d, MPFR_RNDN);
    mpfr_set_d(out, theta, MPFR_RNDN);
    mpfr_pow(out, out, exponent, MPFR_RNDN);
    mpfr_div_d(out, out, factor, MPFR_RNDN);
    mpfr_clear(exponent);
}

static void assert_frequency(rope_dd got, double theta, double factor, size_t i, size_t d)
{
    char what[100];
    snprintf(what, sizeof what, "theta %g, factor %g, pair %zu of d = %zu", theta, factor, i, d);
    mpfr_t want, sum;
    mpfr_inits2(BITS, want, sum, (mpfr_ptr)NULL);
    definition(want, theta, factor, i, d);
    if (mpfr_cmp_d(want, 0x1p-960) >= 0) {
        assert_nearest(got, want, what);
    } else { /* lo may be subnormal */
        set_dd(sum, got);
        if (absolute_error(sum, want) > 0x1p-1073 + 0x1p-107 * got.hi)
            fail_msg("%s: off by %g", what, absolute_error(sum, want));
    }
    mpfr_clears(want, sum, (mpfr_ptr)NULL);
}

static void test_default_and_linear(void **state)
{
    (void)state;
    const double factors[] = {1, 2, 3, 0.1, 40, 1e20};
    rope_dd freq[256];
    for (size_t b = 0; b < COUNT(bases); b++)
        for (size_t n = 0; n < COUNT(dims); n++) {
            const size_t pairs = dims[n] / 2;
            rope_frequency_default(freq, pairs, bases[b]);
            for (size_t i = 0; i < pairs; i++)
                assert_frequency(freq[i], bases[b], 1.0, i, dims[n]);
            for (size_t f = 0; f < COUNT(factors); f++) {
                rope_frequency_linear(freq, pairs, bases[b], factors[f]);
                for (size_t i = 0; i < pairs; i++)
                    assert_frequency(freq[i], bases[b], factors[f], i, dims[n]);
            }
        }
}

static void test_exact_frequencies(void **state)
{
    (void)state;
    rope_dd freq[256];
    rope_frequency_default(freq, 2, 4.0);
    assert_dd(freq[0], (rope_dd){1, 0}, "4^0");
    assert_dd(freq[1], (rope_dd){0.5, 0}, "4^(-1/2)");
    rope_frequency_default(freq, 4, 0x1p-8);
    for (int i = 0; i < 4; i++)
        assert_dd(freq[i], (rope_dd){pow2(2 * i), 0}, "2^(2 i)");
    rope_frequency_default(freq, 256, 1.0);
    for (size_t i = 0; i < 256; i++)
        assert_dd(freq[i], (rope_dd){1, 0}, "1^x");
    rope_frequency_default(freq, 32, 10000.0);
    mpfr_t want;
    mpfr_init2(want, BITS);
    mpfr_set_str(want, "0.01", 10, MPFR_RNDN);
    assert_nearest(freq[16], want, "10000^(-1/2)");
    mpfr_clear(want);
    rope_frequency_linear(freq, 2, 4.0, 8.0);
    assert_dd(freq[0], (rope_dd){0.125, 0}, "1/8");
    assert_dd(freq[1], (rope_dd){0.0625, 0}, "1/16");
    rope_frequency_default(freq, 256, 5e-324); /* 2^(1074 i / 256) */
    assert_dd(freq[128], (rope_dd){0x1p537, 0}, "2^537");
    assert_true(isinf(freq[255].hi));
}

static void test_custom(void **state)
{
    (void)state;
    const double given[] = {1.0, -0.1, 0.0, 5e-324, 0x1p20};
    rope_dd freq[COUNT(given)];
    rope_frequency_custom(freq, COUNT(given), given);
    for (size_t i = 0; i < COUNT(given); i++)
        assert_dd(freq[i], (rope_dd){given[i], 0}, "custom");
}

static void test_turns(void **state)
{
    (void)state;
    mpfr_t want, pi;
    mpfr_inits2(BITS, want, pi, (mpfr_ptr)NULL);
    mpfr_const_pi(pi, MPFR_RNDN);
    rope_dd freq[256];
    struct rng rng = rng_make(3);
    for (size_t b = 0; b < COUNT(bases); b++) {
        rope_frequency_default(freq, 256, bases[b]);
        freq[0].hi = ldexp(rng_real(&rng, 1.0), (int)rng_below(&rng, 100) - 79);
        for (size_t i = 0; i < 256 && fabs(freq[i].hi) > 0x1p-900; i++) {
            set_dd(want, freq[i]);
            mpfr_div(want, want, pi, MPFR_RNDN);
            mpfr_div_2ui(want, want, 1, MPFR_RNDN);
            const rope_dd got = rope_frequency_turns(freq[i]);
            if (relative_error(got, want) > pow2(-101))
                fail_msg("turns of %a %a: %a %a", freq[i].hi, freq[i].lo, got.hi, got.lo);
            assert_true(got.hi == got.hi + got.lo);
        }
    }
    assert_dd(rope_frequency_turns((rope_dd){0, 0}), (rope_dd){0, 0}, "no turns");
    mpfr_clears(want, pi, (mpfr_ptr)NULL);
}

/* ---- Rotations ---- */

static void assert_rotation(rope_dd turns)
{
    mpfr_t angle, want[2], sum;
    mpfr_inits2(BITS, angle, want[0], want[1], sum, (mpfr_ptr)NULL);
    mpfr_const_pi(angle, MPFR_RNDN);
    mpfr_mul_2ui(angle, angle, 1, MPFR_RNDN);
    set_dd(sum, turns);
    mpfr_mul(angle, angle, sum, MPFR_RNDN);
    mpfr_sin_cos(want[1], want[0], angle, MPFR_RNDN);
    rope_dd got[2];
    rope_frequency_rotation(turns, &got[0], &got[1]);
    for (int part = 0; part < 2; part++) {
        const rope_dd nearest = nearest_dd(want[part]);
        set_dd(sum, got[part]);
        const double error = absolute_error(sum, want[part]);
        if ((fabs(nearest.hi) > 0x1p-100 && got[part].hi != nearest.hi) ||
            error > 0x1p-210 + 0x1p-53 * fabs(nearest.lo))
            fail_msg("turns %a %a: %s off by %g", turns.hi, turns.lo, part == 0 ? "cos" : "sin",
                     error);
    }
    mpfr_clears(angle, want[0], want[1], sum, (mpfr_ptr)NULL);
}

static void test_rotation(void **state)
{
    (void)state;
    const struct {
        double turns;
        double cosine, sine;
    } exact[] = {{0.0, 1, 0},           {-0.0, 1, 0},   {0.25, 0, 1},           {-0.25, 0, -1},
                 {0.5, -1, 0},          {-0.5, -1, 0},  {0.75, 0, -1},          {1.0, 1, 0},
                 {0x1p40 + 0.25, 0, 1}, {0x1p52, 1, 0}, {-0x1p40 - 0.25, 0, -1}};
    for (size_t i = 0; i < COUNT(exact); i++) {
        rope_dd cosine, sine;
        rope_frequency_rotation((rope_dd){exact[i].turns, 0}, &cosine, &sine);
        assert_dd(cosine, (rope_dd){exact[i].cosine, 0}, "cos");
        assert_dd(sine, (rope_dd){exact[i].sine, 0}, "sin");
    }
    const double around[] = {0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 1, 0x1p40, 0x1.8p31 + 0.125};
    const double offsets[] = {0, 0x1p-60, 0x1p-100, 0x1p-150, 1e-9, 1e-3, 1.0 / 3};
    for (size_t i = 0; i < COUNT(around); i++)
        for (size_t j = 0; j < COUNT(offsets); j++)
            for (int sign = -1; sign <= 1; sign += 2) {
                assert_rotation((rope_dd){around[i], sign * offsets[j]});
                assert_rotation((rope_dd){-around[i], sign * offsets[j]});
            }
    struct rng rng = rng_make(4);
    for (int i = 0; i < 5000; i++) {
        const double hi = ldexp(rng_real(&rng, 1.0), (int)rng_below(&rng, 80) - 40);
        assert_rotation((rope_dd){hi, hi * rng_real(&rng, 0x1p-54)});
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_double),
        cmocka_unit_test(test_add_negate_ratio),
        cmocka_unit_test(test_log2),
        cmocka_unit_test(test_exp2),
        cmocka_unit_test(test_default_and_linear),
        cmocka_unit_test(test_exact_frequencies),
        cmocka_unit_test(test_custom),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_rotation),
    };
    return cmocka_run_group_tests_name("frequency", tests, NULL, NULL);
}
