/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every scheme of rope_spec: against its formula in MPFR over random parameters, against published values, public faults of
 * other systems and the outputs of transformers; and every parameter that must be refused.  Uses the public interface; from
 * behind it only the ramp of YaRN and the arithmetic that schemes need.  Expected values never come from this library.
 */
#include "frequency.h"
#include "golden_schemes.h"
#include "support.h"
#include "wide.h"

#include <math.h>
#include <mpfr.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs setjmp.h, stdarg.h and stddef.h. */
#include <cmocka.h>

#define BITS         400 /* of every MPFR number */
#define COUNT(array) (sizeof(array) / sizeof(array)[0])
enum { PAIRS_MAX = 256, MESSAGE_SIZE = 300 };

/* ---- Helpers ---- */

/* Frequencies alone are asked for: ROPE_ANGLE_F32 spares the tables. */
static rope_spec spec_of(rope_scheme scheme, size_t head_dim, double theta)
{
    rope_spec spec = ROPE_SPEC_INIT;
    spec.scheme = scheme;
    spec.head_dim = head_dim;
    spec.theta = theta;
    spec.angle = ROPE_ANGLE_F32;
    return spec;
}

struct result {
    rope_status status;
    char message[MESSAGE_SIZE];
    rope_info info;
    size_t pairs;
    double freq[PAIRS_MAX], tail[PAIRS_MAX];
};

static struct result resolve(rope_spec spec)
{
    static struct result result;
    memset(&result, 0, sizeof result);
    result.info = (rope_info)ROPE_INFO_INIT;
    spec.message = result.message;
    spec.message_size = sizeof result.message;
    rope_plan *plan = (rope_plan *)&spec; /* must be replaced */
    result.status = rope_plan_create(&spec, &plan);
    assert_true((result.status == ROPE_OK) == (plan != NULL));
    if (plan == NULL)
        return result;
    assert_int_equal(rope_plan_info(plan, &result.info), ROPE_OK);
    result.pairs = result.info.rotary_dim / 2;
    assert_true(result.pairs <= PAIRS_MAX);
    assert_int_equal(rope_plan_inv_freq(plan, result.freq, result.tail, result.pairs), ROPE_OK);
    rope_plan_destroy(plan);
    return result;
}

static struct result resolve_ok(rope_spec spec)
{
    const struct result result = resolve(spec);
    if (result.status != ROPE_OK)
        fail_msg("refused: %s", result.message);
    return result;
}

/* Refused with a message that begins with the field. */
static void expect_error(rope_spec spec, rope_status status, const char *field)
{
    char start[64];
    const struct result result = resolve(spec);
    const int length = snprintf(start, sizeof start, "spec.%s", field);
    const char after = result.message[length];
    if (result.status != status || strncmp(result.message, start, (size_t)length) != 0 ||
        (after != ':' && after != '['))
        fail_msg("scheme %d, %s: status %d, not %d: \"%s\"", (int)spec.scheme, field,
                 (int)result.status, (int)status, result.message);
}

static void expect_near(const char *what, double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("%s is %.17g, not %.17g", what, got, want);
}

/* One frequency of a case, which must also be told apart from what a fault gives (0: no such value). */
static void expect_pair(const struct result *result, size_t pair, double want, double wrong)
{
    char what[40];
    snprintf(what, sizeof what, "frequency %zu", pair);
    assert_true(pair < result->pairs);
    expect_near(what, result->freq[pair], want, 4e-15);
    if (wrong != 0.0 && !(fabs(wrong - want) > 1e-3 * want))
        fail_msg("the wrong value %.17g is no other than %.17g", wrong, want);
}

/* ---- The formulas in MPFR ---- */

struct truth {
    mpfr_t freq[PAIRS_MAX];
    double theta, attention, softmax; /* correctly rounded */
    int is_long;
    int refused; /* the ramp of YaRN ends before it begins */
};

static double rounded(mpfr_srcptr value)
{
    return mpfr_get_d(value, MPFR_RNDN);
}

static double rounded_ln(double x)
{
    mpfr_t value;
    mpfr_init2(value, BITS);
    mpfr_set_d(value, x, MPFR_RNDN);
    mpfr_log(value, value, MPFR_RNDN);
    const double result = rounded(value);
    mpfr_clear(value);
    return result;
}

/* out = base^(-i / pairs) */
static void power(mpfr_ptr out, mpfr_srcptr base, size_t i, size_t pairs)
{
    mpfr_t exponent;
    mpfr_init2(exponent, BITS);
    mpfr_set_si(exponent, -(long)i, MPFR_RNDN);
    mpfr_div_ui(exponent, exponent, pairs, MPFR_RNDN);
    mpfr_pow(out, base, exponent, MPFR_RNDN);
    mpfr_clear(exponent);
}

/* out = 1 + weight k ln s, 1 where s <= 1 */
static void yarn_mscale(mpfr_ptr out, double weight, double k, double s)
{
    mpfr_set_d(out, s, MPFR_RNDN);
    mpfr_log(out, out, MPFR_RNDN);
    mpfr_mul_d(out, out, weight, MPFR_RNDN);
    mpfr_mul_d(out, out, k, MPFR_RNDN);
    mpfr_add_ui(out, out, 1, MPFR_RNDN);
    if (s <= 1)
        mpfr_set_ui(out, 1, MPFR_RNDN);
}

/* out = d ln(L / (2 pi beta)) / (2 ln theta) */
static void yarn_end(mpfr_ptr out, const rope_spec *spec, size_t d, double beta)
{
    mpfr_t divisor;
    mpfr_init2(divisor, BITS);
    mpfr_const_pi(divisor, MPFR_RNDN);
    mpfr_mul_d(divisor, divisor, 2 * beta, MPFR_RNDN);
    mpfr_ui_div(out, spec->original_length, divisor, MPFR_RNDN);
    mpfr_log(out, out, MPFR_RNDN);
    mpfr_mul_ui(out, out, d, MPFR_RNDN);
    mpfr_set_d(divisor, spec->theta, MPFR_RNDN);
    mpfr_log(divisor, divisor, MPFR_RNDN);
    mpfr_div(out, out, divisor, MPFR_RNDN);
    mpfr_div_2ui(out, out, 1, MPFR_RNDN);
    mpfr_clear(divisor);
}

/* Sets out to e_i (1 - ramp) + e_i / s ramp */
static void yarn_blend(mpfr_ptr out, size_t i, mpfr_srcptr low, mpfr_srcptr high, double s)
{
    mpfr_t ramp, part;
    mpfr_inits2(BITS, ramp, part, (mpfr_ptr)NULL);
    mpfr_sub(part, high, low, MPFR_RNDN);
    mpfr_ui_sub(ramp, i, low, MPFR_RNDN);
    mpfr_div(ramp, ramp, part, MPFR_RNDN);
    if (mpfr_sgn(ramp) < 0)
        mpfr_set_ui(ramp, 0, MPFR_RNDN);
    if (mpfr_cmp_ui(ramp, 1) > 0)
        mpfr_set_ui(ramp, 1, MPFR_RNDN);
    mpfr_div_d(part, out, s, MPFR_RNDN);
    mpfr_mul(part, part, ramp, MPFR_RNDN);
    mpfr_ui_sub(ramp, 1, ramp, MPFR_RNDN);
    mpfr_mul(out, out, ramp, MPFR_RNDN);
    mpfr_add(out, out, part, MPFR_RNDN);
    mpfr_clears(ramp, part, (mpfr_ptr)NULL);
}

/* By wavelength, as published. */
static void llama3_blend(mpfr_ptr out, const rope_spec *spec)
{
    mpfr_t wavelength, low, high, t, scaled;
    mpfr_inits2(BITS, wavelength, low, high, t, scaled, (mpfr_ptr)NULL);
    mpfr_const_pi(wavelength, MPFR_RNDN);
    mpfr_mul_2ui(wavelength, wavelength, 1, MPFR_RNDN);
    mpfr_div(wavelength, wavelength, out, MPFR_RNDN);
    mpfr_set_ui(low, spec->original_length, MPFR_RNDN);
    mpfr_div_d(high, low, spec->high_freq_factor, MPFR_RNDN);
    mpfr_div_d(low, low, spec->low_freq_factor, MPFR_RNDN);
    mpfr_div_d(scaled, out, spec->factor, MPFR_RNDN);
    if (mpfr_cmp(wavelength, low) > 0) {
        mpfr_set(out, scaled, MPFR_RNDN);
    } else if (mpfr_cmp(wavelength, high) >= 0) {
        mpfr_ui_div(t, spec->original_length, wavelength, MPFR_RNDN);
        mpfr_sub_d(t, t, spec->low_freq_factor, MPFR_RNDN);
        mpfr_set_d(low, spec->high_freq_factor, MPFR_RNDN);
        mpfr_sub_d(low, low, spec->low_freq_factor, MPFR_RNDN);
        mpfr_div(t, t, low, MPFR_RNDN);
        mpfr_mul(out, out, t, MPFR_RNDN);
        mpfr_ui_sub(t, 1, t, MPFR_RNDN);
        mpfr_mul(scaled, scaled, t, MPFR_RNDN);
        mpfr_add(out, out, scaled, MPFR_RNDN);
    }
    mpfr_clears(wavelength, low, high, t, scaled, (mpfr_ptr)NULL);
}

/* base = theta times stretch^(d / (d - 2)) */
static void ntk_base(mpfr_ptr base, mpfr_srcptr stretch, size_t pairs)
{
    mpfr_t exponent;
    mpfr_init2(exponent, BITS);
    mpfr_set_ui(exponent, pairs, MPFR_RNDN);
    mpfr_div_ui(exponent, exponent, pairs - 1, MPFR_RNDN);
    mpfr_pow(exponent, stretch, exponent, MPFR_RNDN);
    mpfr_mul(base, base, exponent, MPFR_RNDN);
    mpfr_clear(exponent);
}

/* divided by exp(a (i + 1)^b), a = ln s / pairs^b */
static void ntk_mixed(mpfr_ptr out, size_t i, size_t pairs, double s, double b)
{
    mpfr_t a, place, exponent;
    mpfr_inits2(BITS, a, place, exponent, (mpfr_ptr)NULL);
    mpfr_set_d(exponent, b, MPFR_RNDN);
    mpfr_ui_pow(place, pairs, exponent, MPFR_RNDN);
    mpfr_set_d(a, s, MPFR_RNDN);
    mpfr_log(a, a, MPFR_RNDN);
    mpfr_div(a, a, place, MPFR_RNDN);
    mpfr_ui_pow(place, i + 1, exponent, MPFR_RNDN);
    mpfr_mul(a, a, place, MPFR_RNDN);
    mpfr_exp(a, a, MPFR_RNDN);
    mpfr_div(out, out, a, MPFR_RNDN);
    mpfr_clears(a, place, exponent, (mpfr_ptr)NULL);
}

static void truth_init(struct truth *truth)
{
    for (size_t i = 0; i < PAIRS_MAX; i++)
        mpfr_init2(truth->freq[i], BITS);
}

static void truth_clear(struct truth *truth)
{
    for (size_t i = 0; i < PAIRS_MAX; i++)
        mpfr_clear(truth->freq[i]);
}

/* The definitions, for specs that name every parameter. */
static void truth_compute(struct truth *truth, const rope_spec *spec)
{
    const size_t d = spec->rotary_dim != 0 ? spec->rotary_dim : spec->head_dim, pairs = d / 2;
    const double L = (double)spec->original_length;
    double s = spec->factor;
    if (s == 0.0 && spec->max_length != 0)
        s = (double)spec->max_length / L;
    mpfr_t base, number;
    mpfr_inits2(BITS, base, number, (mpfr_ptr)NULL);
    mpfr_set_d(base, spec->theta, MPFR_RNDN);
    truth->attention = truth->softmax = 1.0;
    truth->is_long = truth->refused = 0;

    if (spec->scheme == ROPE_SCHEME_NTK) {
        mpfr_set_d(number, s, MPFR_RNDN);
        ntk_base(base, number, pairs);
    }
    if (spec->scheme == ROPE_SCHEME_DYNAMIC_NTK && spec->length > spec->max_length) {
        /* s n / M - (s - 1) */
        mpfr_set_d(number, s, MPFR_RNDN);
        mpfr_mul_ui(number, number, spec->length, MPFR_RNDN);
        mpfr_div_ui(number, number, spec->max_length, MPFR_RNDN);
        mpfr_sub_d(number, number, s, MPFR_RNDN);
        mpfr_add_ui(number, number, 1, MPFR_RNDN);
        ntk_base(base, number, pairs);
        truth->is_long = 1;
    }
    truth->theta = rounded(base);

    double low = 0, high = 0;
    mpfr_t ramp_low, ramp_high;
    mpfr_inits2(BITS, ramp_low, ramp_high, (mpfr_ptr)NULL);
    if (spec->scheme == ROPE_SCHEME_YARN) {
        const double two_ln = 2 * rounded_ln(spec->theta);
        low = (double)d * rounded_ln(L / (spec->beta_fast * 2 * M_PI)) / two_ln;
        high = (double)d * rounded_ln(L / (spec->beta_slow * 2 * M_PI)) / two_ln;
        if (!spec->no_truncate)
            low = floor(low), high = ceil(high);
        low = low > 0 ? low : 0;
        high = high < (double)d - 1 ? high : (double)d - 1;
        if (low == high)
            high += 0.001;
        truth->refused = low > high;
        mpfr_set_d(ramp_low, low, MPFR_RNDN);
        mpfr_set_d(ramp_high, high, MPFR_RNDN);
        if (spec->no_truncate && low > 0)
            yarn_end(ramp_low, spec, d, spec->beta_fast);
        if (spec->no_truncate && high < (double)d - 1)
            yarn_end(ramp_high, spec, d, spec->beta_slow);
        if (mpfr_equal_p(ramp_low, ramp_high))
            mpfr_add_d(ramp_high, ramp_low, 0.001, MPFR_RNDN);
        yarn_mscale(number, spec->mscale_log, 1, s);
        if (spec->mscale != 0 && spec->mscale_all_dim != 0) {
            mpfr_t divisor;
            mpfr_init2(divisor, BITS);
            yarn_mscale(divisor, spec->mscale_log, spec->mscale_all_dim, s);
            yarn_mscale(number, spec->mscale_log, spec->mscale, s);
            mpfr_div(number, number, divisor, MPFR_RNDN);
            mpfr_clear(divisor);
        }
        truth->attention = rounded(number);
        if (spec->mscale_all_dim != 0) {
            yarn_mscale(number, spec->mscale_log, spec->mscale_all_dim, s);
            mpfr_sqr(number, number, MPFR_RNDN);
            truth->softmax = rounded(number);
        }
    }
    if (spec->scheme == ROPE_SCHEME_LONGROPE) {
        mpfr_t divisor;
        mpfr_init2(divisor, BITS);
        mpfr_set_d(number, s, MPFR_RNDN);
        mpfr_log(number, number, MPFR_RNDN);
        mpfr_set_d(divisor, L, MPFR_RNDN);
        mpfr_log(divisor, divisor, MPFR_RNDN);
        mpfr_div(number, number, divisor, MPFR_RNDN);
        mpfr_clear(divisor);
        mpfr_add_ui(number, number, 1, MPFR_RNDN);
        mpfr_sqrt(number, number, MPFR_RNDN);
        truth->attention = s > 1 ? rounded(number) : 1;
        truth->is_long = spec->length > spec->original_length;
    }
    if (spec->attention_factor != 0)
        truth->attention = spec->attention_factor;

    for (size_t i = 0; i < pairs; i++) {
        mpfr_ptr f = truth->freq[i];
        power(f, base, i, pairs);
        switch (spec->scheme) {
        case ROPE_SCHEME_LINEAR:
            mpfr_div_d(f, f, s, MPFR_RNDN);
            break;
        case ROPE_SCHEME_NTK_MIXED:
            ntk_mixed(f, i, pairs, s, spec->ntk_exponent);
            break;
        case ROPE_SCHEME_YARN:
            yarn_blend(f, i, ramp_low, ramp_high, s);
            break;
        case ROPE_SCHEME_LONGROPE:
            mpfr_div_d(f, f, truth->is_long ? spec->long_factor[i] : spec->short_factor[i],
                       MPFR_RNDN);
            break;
        case ROPE_SCHEME_LLAMA3:
            llama3_blend(f, spec);
            break;
        case ROPE_SCHEME_PROPORTIONAL:
            mpfr_div_d(f, f, s, MPFR_RNDN);
            if (i >= spec->active_pairs)
                mpfr_set_ui(f, 0, MPFR_RNDN);
            break;
        default:
            break;
        }
        if (spec->divisors != NULL)
            mpfr_div_d(f, f, spec->divisors[i], MPFR_RNDN);
    }
    mpfr_clears(base, number, ramp_low, ramp_high, (mpfr_ptr)NULL);
}

/* hi is the f64 nearest to the value and hi + lo within `tolerance` of it, relatively. */
static void expect_truth(rope_spec spec, struct truth *truth, double tolerance)
{
    truth_compute(truth, &spec);
    if (truth->refused) {
        expect_error(spec, ROPE_ERR_VALUE, "original_length");
        return;
    }
    const struct result result = resolve_ok(spec);
    mpfr_t error;
    mpfr_init2(error, BITS);
    for (size_t i = 0; i < result.pairs; i++) {
        mpfr_set_d(error, result.freq[i], MPFR_RNDN);
        mpfr_add_d(error, error, result.tail[i], MPFR_RNDN);
        mpfr_sub(error, error, truth->freq[i], MPFR_RNDN);
        if (mpfr_zero_p(error))
            continue;
        mpfr_div(error, error, truth->freq[i], MPFR_RNDN);
        const double relative = fabs(mpfr_get_d(error, MPFR_RNDA));
        if (!(relative <= tolerance) || result.freq[i] != rounded(truth->freq[i]))
            fail_msg("scheme %d, theta %g, factor %g, pair %zu of %zu: %.17g is off by 2^%.1f "
                     "(seed %llu)",
                     (int)spec.scheme, spec.theta, spec.factor, i, result.pairs, result.freq[i],
                     log2(relative), (unsigned long long)test_seed());
    }
    mpfr_clear(error);
    if (result.info.theta != truth->theta || result.info.attention_factor != truth->attention ||
        result.info.softmax_factor != truth->softmax ||
        result.info.is_long != (uint32_t)truth->is_long)
        fail_msg("scheme %d: theta %.17g, m %.17g, softmax %.17g, long %d, not %.17g, %.17g, "
                 "%.17g, %d (seed %llu)",
                 (int)spec.scheme, result.info.theta, result.info.attention_factor,
                 result.info.softmax_factor, (int)result.info.is_long, truth->theta,
                 truth->attention, truth->softmax, truth->is_long, (unsigned long long)test_seed());
}

/* ---- Random parameters ---- */

static double between(struct rng *rng, double low, double high)
{
    return low + (high - low) * fabs(rng_real(rng, 1.0));
}

/* Spread evenly over its logarithm. */
static double log_between(struct rng *rng, double low, double high)
{
    return exp(between(rng, log(low), log(high)));
}

static int chance(struct rng *rng, size_t one_in)
{
    return rng_below(rng, one_in) == 0;
}

/* Every parameter that the scheme has is given; lists are written to divisors[0..2]. */
static rope_spec random_spec(struct rng *rng, rope_scheme scheme, double lists[3][PAIRS_MAX])
{
    const size_t pairs = 2 + (chance(rng, 2) ? 16 * rng_below(rng, 5) : rng_below(rng, 40));
    rope_spec spec = spec_of(scheme, 2 * pairs, log_between(rng, 1.5, 1e9));
    if (chance(rng, 3))
        spec.theta = (double[]){10000, 500000, 1e6, 150000}[rng_below(rng, 4)];
    spec.factor = chance(rng, 4) ? between(rng, 0.05, 1.0) : log_between(rng, 1.0, 200.0);
    if (chance(rng, 3))
        spec.factor = ldexp(1.0, (int)rng_below(rng, 7));
    const size_t length = (size_t)log_between(rng, 16.0, 2e6);
    switch (scheme) {
    case ROPE_SCHEME_DEFAULT:
        spec.factor = 0;
        break;
    case ROPE_SCHEME_NTK_MIXED:
        spec.ntk_exponent = chance(rng, 8) ? log_between(rng, 1e-6, 1e3) : between(rng, 0.1, 2.0);
        break;
    case ROPE_SCHEME_DYNAMIC_NTK:
        spec.max_length = length;
        spec.length = rng_below(rng, 5 * length);
        break;
    case ROPE_SCHEME_YARN:
        spec.original_length = length;
        spec.beta_slow = chance(rng, 2) ? 1 : log_between(rng, 0.2, 5.0);
        spec.beta_fast = chance(rng, 2) ? 32 : spec.beta_slow * log_between(rng, 1.0, 50.0);
        if (spec.beta_fast < spec.beta_slow || chance(rng, 10))
            spec.beta_fast = spec.beta_slow;
        spec.no_truncate = (uint32_t)rng_below(rng, 2);
        spec.mscale_log = chance(rng, 2) ? 0.1 : 0.07;
        spec.mscale = chance(rng, 2) ? between(rng, 0.1, 3.0) : 0.0;
        spec.mscale_all_dim = chance(rng, 2) ? between(rng, 0.1, 3.0) : 0.0;
        break;
    case ROPE_SCHEME_LONGROPE:
        spec.original_length = length;
        spec.length = chance(rng, 4) ? length + rng_below(rng, 2) : rng_below(rng, 2 * length);
        spec.short_factor = lists[0];
        spec.long_factor = lists[1];
        spec.factor_count = pairs;
        break;
    case ROPE_SCHEME_LLAMA3:
        spec.original_length = length;
        spec.low_freq_factor = log_between(rng, 0.1, 10.0);
        spec.high_freq_factor = spec.low_freq_factor * log_between(rng, 1.0, 100.0);
        if (chance(rng, 4)) /* narrow enough to need more digits than double-double has */
            spec.high_freq_factor =
                spec.low_freq_factor * (1.0 + ldexp(1.0, -(int)rng_below(rng, 53)));
        if (chance(rng, 8))
            spec.high_freq_factor = spec.low_freq_factor;
        break;
    case ROPE_SCHEME_PROPORTIONAL:
        spec.active_pairs = 1 + rng_below(rng, pairs);
        break;
    default:
        break;
    }
    if ((scheme == ROPE_SCHEME_YARN || scheme == ROPE_SCHEME_LONGROPE) && chance(rng, 3)) {
        spec.max_length = (size_t)((double)length * spec.factor) + 1;
        spec.factor = 0;
    }
    for (int list = 0; list < 3; list++)
        for (size_t i = 0; i < pairs; i++)
            lists[list][i] = log_between(rng, 0.5, 100.0);
    if (scheme == ROPE_SCHEME_DEFAULT || scheme == ROPE_SCHEME_LINEAR ||
        (scheme == ROPE_SCHEME_YARN && chance(rng, 2))) {
        lists[2][rng_below(rng, pairs)] = (double)INFINITY;
        lists[2][rng_below(rng, pairs)] = 1e30;
        spec.divisors = lists[2];
        spec.divisor_count = pairs;
    }
    if (chance(rng, 6))
        spec.attention_factor = between(rng, 0.5, 2.0);
    return spec;
}

/* The pair whose wavelength lies in a narrow band of LLAMA3 is found, not hoped for. */
static void narrow_band(struct rng *rng, rope_spec *spec)
{
    const size_t pair = rng_below(rng, spec->head_dim / 2);
    const double turns = (double)spec->original_length *
                         pow(spec->theta, -(double)pair / (double)(spec->head_dim / 2)) /
                         (2 * M_PI);
    const double width = ldexp(1.0, -1 - (int)rng_below(rng, 40));
    spec->low_freq_factor = turns * (1 - width * between(rng, 0.0, 1.0));
    spec->high_freq_factor = turns * (1 + width * between(rng, 0.0, 1.0));
}

/*
 * Powers of the parameters alone are exact to the last bit of double-double (2^-106); DYNAMIC_NTK forms its stretch and the
 * others a few products in double-double.
 */
static void test_formulas(void **state)
{
    (void)state;
    static double lists[3][PAIRS_MAX];
    const rope_scheme schemes[] = {
        ROPE_SCHEME_DEFAULT,   ROPE_SCHEME_LINEAR,      ROPE_SCHEME_NTK,
        ROPE_SCHEME_NTK_MIXED, ROPE_SCHEME_DYNAMIC_NTK, ROPE_SCHEME_YARN,
        ROPE_SCHEME_LONGROPE,  ROPE_SCHEME_LLAMA3,      ROPE_SCHEME_PROPORTIONAL};
    const int rounds = test_reduced() ? 3 : 200;
    struct truth truth;
    truth_init(&truth);
    for (size_t k = 0; k < COUNT(schemes); k++) {
        struct rng rng = rng_make(100 + k);
        const int is_power = schemes[k] == ROPE_SCHEME_NTK || schemes[k] == ROPE_SCHEME_NTK_MIXED ||
                             schemes[k] == ROPE_SCHEME_PROPORTIONAL;
        for (int round = 0; round < rounds; round++) {
            rope_spec spec = random_spec(&rng, schemes[k], lists);
            if (schemes[k] == ROPE_SCHEME_LLAMA3 && round % 2 == 0)
                narrow_band(&rng, &spec);
            expect_truth(spec, &truth, is_power ? 0x1p-106 : 0x1p-100);
        }
    }
    truth_clear(&truth);
}

/* ---- The arithmetic below ---- */

static void set_wide(mpfr_ptr out, rope_wide a)
{
    mpfr_set_si(out, (int32_t)a.limb[ROPE_WIDE_LIMBS - 1], MPFR_RNDN);
    for (int i = ROPE_WIDE_LIMBS - 2; i >= 0; i--) {
        mpfr_mul_2ui(out, out, 32, MPFR_RNDN);
        mpfr_add_ui(out, out, a.limb[i], MPFR_RNDN);
    }
    mpfr_div_2ui(out, out, ROPE_WIDE_FRACTION_BITS, MPFR_RNDN);
}

static void set_dd(mpfr_ptr out, rope_dd a)
{
    mpfr_set_d(out, a.hi, MPFR_RNDN);
    mpfr_add_d(out, out, a.lo, MPFR_RNDN);
}

/* |got - want| <= bound, and relative to want where asked. */
static void expect_error_below(const char *what, mpfr_srcptr got, mpfr_srcptr want, int relative,
                               double bound)
{
    mpfr_t error;
    mpfr_init2(error, BITS);
    mpfr_sub(error, got, want, MPFR_RNDN);
    if (relative)
        mpfr_div(error, error, want, MPFR_RNDN);
    const double distance = fabs(mpfr_get_d(error, MPFR_RNDA));
    mpfr_clear(error);
    if (!(distance <= bound))
        fail_msg("%s is off by 2^%.1f (seed %llu)", what, log2(distance),
                 (unsigned long long)test_seed());
}

static rope_wide random_wide(struct rng *rng, double bound)
{
    rope_wide a = rope_wide_from_double(floor(rng_real(rng, bound)));
    for (int i = 0; i < ROPE_WIDE_LIMBS - 1; i++)
        a.limb[i] = (uint32_t)rng_next(rng);
    return a;
}

static rope_dd random_dd(struct rng *rng)
{
    const double hi = ldexp(1.0 + fabs(rng_real(rng, 1.0)), (int)rng_below(rng, 60) - 30);
    return (rope_dd){hi, hi * rng_real(rng, 0x1p-54)};
}

static void test_fixed_point(void **state)
{
    (void)state;
    struct rng rng = rng_make(300);
    mpfr_t got, a, b;
    mpfr_inits2(600, got, a, b, (mpfr_ptr)NULL);
    for (int round = 0; round < 500; round++) {
        const rope_wide x = random_wide(&rng, 40000.0), y = random_wide(&rng, 40000.0);
        set_wide(a, x);
        set_wide(b, y);
        set_wide(got, rope_wide_multiply(x, y)); /* cut towards zero */
        mpfr_mul(b, a, b, MPFR_RNDN);
        assert_true(mpfr_cmpabs(got, b) <= 0);
        expect_error_below("product", got, b, 0, 0x1p-224);

        set_dd(got, rope_wide_to_dd(x));
        expect_error_below("hi + lo", got, a, 1, 0x1p-106);
        assert_true(rope_wide_to_dd(x).hi == rounded(a));

        rope_wide down = x;
        if (mpfr_sgn(a) > 0)
            down = rope_wide_negate(x);
        if (round % 2 != 0) /* not to nothing */
            down = rope_wide_ratio(down, 1, 1000);
        set_wide(a, down);
        mpfr_exp2(a, a, MPFR_RNDN);
        set_wide(got, rope_wide_exp2_wide(down));
        expect_error_below("2^x", got, a, 0, 0x1p-210);

        rope_dd number = random_dd(&rng);
        if (round % 4 == 0) /* next to a power of two, on both sides */
            number.hi = ldexp(1.0, round % 61 - 30),
            number.lo = number.hi * rng_real(&rng, 0x1p-55);
        set_dd(a, number);
        mpfr_log2(a, a, MPFR_RNDN);
        set_wide(got, rope_wide_log2_dd(number));
        expect_error_below("log2 of hi + lo", got, a, 0, 0x1p-221);

        mpfr_set_d(a, number.hi, MPFR_RNDN);
        mpfr_log(a, a, MPFR_RNDN);
        set_dd(got, rope_wide_ln(number.hi));
        if (!mpfr_zero_p(a))
            expect_error_below("ln", got, a, 1, 0x1p-106);
    }
    set_wide(got, rope_wide_exp2_wide(rope_wide_from_double(0.0)));
    assert_true(mpfr_cmp_ui(got, 1) == 0);
    set_wide(got, rope_wide_exp2_wide(rope_wide_from_double(-224.0)));
    assert_true(mpfr_cmp_d(got, 0x1p-224) == 0);
    set_wide(got, rope_wide_exp2_wide(rope_wide_from_double(-1e9)));
    assert_true(mpfr_zero_p(got));
    assert_true(rope_wide_ln(1.0).hi == 0.0);
    mpfr_clears(got, a, b, (mpfr_ptr)NULL);
}

static void test_double_double(void **state)
{
    (void)state;
    struct rng rng = rng_make(301);
    mpfr_t got, a, b, want;
    mpfr_inits2(BITS, got, a, b, want, (mpfr_ptr)NULL);
    for (int round = 0; round < 20000; round++) {
        const rope_dd x = random_dd(&rng), y = random_dd(&rng);
        set_dd(a, x);
        set_dd(b, y);
        const struct {
            const char *what;
            rope_dd value;
            int (*operation)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);
            double bound;
        } checks[] = {{"product", rope_dd_multiply(x, y), mpfr_mul, 0x1p-102},
                      {"sum", rope_dd_add(x, y), mpfr_add, 0x1p-102},
                      {"quotient", rope_dd_divide(x, y), mpfr_div, 0x1p-101}};
        for (size_t i = 0; i < COUNT(checks); i++) {
            checks[i].operation(want, a, b, MPFR_RNDN);
            set_dd(got, checks[i].value);
            expect_error_below(checks[i].what, got, want, 1, checks[i].bound);
            assert_true(checks[i].value.hi == checks[i].value.hi + checks[i].value.lo);
        }
    }
    mpfr_clears(got, a, b, want, (mpfr_ptr)NULL);
}

/* ---- Exact values and boundaries ---- */

static rope_spec yarn_of(size_t head_dim, double theta, double factor, size_t original_length)
{
    rope_spec spec = spec_of(ROPE_SCHEME_YARN, head_dim, theta);
    spec.factor = factor;
    spec.original_length = original_length;
    return spec;
}

/* Pairs outside the ramp are those of DEFAULT and LINEAR, to the last bit. */
static void test_yarn_ends(void **state)
{
    (void)state;
    const rope_spec spec = yarn_of(128, 10000, 16, 4096); /* ramp from 20 to 46 */
    rope_spec linear = spec_of(ROPE_SCHEME_LINEAR, 128, 10000);
    linear.factor = 16;
    const struct result kept = resolve_ok(spec_of(ROPE_SCHEME_DEFAULT, 128, 10000));
    const struct result interpolated = resolve_ok(linear);
    const struct result yarn = resolve_ok(spec);
    for (size_t i = 0; i < 64; i++) {
        const int same[2] = {yarn.freq[i] == kept.freq[i] && yarn.tail[i] == kept.tail[i],
                             yarn.freq[i] == interpolated.freq[i] &&
                                 yarn.tail[i] == interpolated.tail[i]};
        if (same[0] != (i <= 20) || same[1] != (i >= 46))
            fail_msg("pair %zu", i);
    }
    rope_spec lone = spec; /* factor 1: a blend of equals, m = 1 */
    lone.factor = 1;
    assert_memory_equal(resolve_ok(lone).freq + 46, kept.freq + 46, 18 * sizeof(double));
    assert_true(resolve_ok(lone).info.attention_factor == 1.0);
}

/* Bands of Llama 3 have inclusive ends; where low and high are one there is no middle. */
static void test_llama3_step(void **state)
{
    (void)state;
    rope_spec spec = spec_of(ROPE_SCHEME_LLAMA3, 128, 500000); /* Llama 4 Scout */
    spec.factor = 16;
    spec.low_freq_factor = spec.high_freq_factor = 1;
    spec.original_length = 8192;
    const struct result result = resolve_ok(spec);
    const struct result kept = resolve_ok(spec_of(ROPE_SCHEME_DEFAULT, 128, 500000));
    for (size_t i = 0; i < 64; i++) {
        const double turns = 8192 * kept.freq[i] / (2 * M_PI);
        assert_true(result.freq[i] == (turns > 1 ? kept.freq[i] : kept.freq[i] / 16));
    }
}

static void test_lengths(void **state)
{
    (void)state;
    rope_spec dynamic = spec_of(ROPE_SCHEME_DYNAMIC_NTK, 64, 10000);
    dynamic.factor = 2;
    dynamic.max_length = 2048;
    const struct result kept = resolve_ok(spec_of(ROPE_SCHEME_DEFAULT, 64, 10000));
    const size_t at_most[] = {0, 1, 2047, 2048};
    for (size_t i = 0; i < COUNT(at_most); i++) {
        dynamic.length = at_most[i];
        const struct result result = resolve_ok(dynamic);
        assert_memory_equal(result.freq, kept.freq, sizeof kept.freq);
        assert_memory_equal(result.tail, kept.tail, sizeof kept.tail);
        assert_int_equal(result.info.is_long, 0);
        assert_true(result.info.theta == 10000);
    }
    dynamic.length = 2049;
    assert_int_equal(resolve_ok(dynamic).info.is_long, 1);
    assert_true(resolve_ok(dynamic).info.theta > 10000);
    dynamic.factor = 0.25; /* stretches less than the length grows; still legal */
    assert_true(resolve_ok(dynamic).info.theta > 10000);

    const double short_list[] = {1, 2, 4, 8}, long_list[] = {1, 4, 16, 64};
    rope_spec longrope = spec_of(ROPE_SCHEME_LONGROPE, 8, 10000);
    longrope.original_length = 4096;
    longrope.short_factor = short_list;
    longrope.long_factor = long_list;
    longrope.factor_count = 4;
    longrope.factor = 0.5; /* m = 1 up to factor 1 */
    assert_true(resolve_ok(longrope).info.attention_factor == 1.0);
    longrope.factor = 0; /* m given: nothing else needs the factor */
    longrope.attention_factor = 1.5;
    assert_true(resolve_ok(longrope).info.attention_factor == 1.5);
    assert_true(resolve_ok(longrope).info.factor == 1.0);
    longrope.attention_factor = 0;
    longrope.max_length = 131072;
    assert_true(resolve_ok(longrope).info.factor == 32.0);
}

/* What a scheme does not ask for has its default. */
static void test_defaults(void **state)
{
    (void)state;
    rope_spec brief = yarn_of(64, 0, 40, 4096), full = brief;
    full.theta = 10000;
    full.beta_fast = 32;
    full.beta_slow = 1;
    full.mscale_log = 0.1;
    const struct result a = resolve_ok(brief), b = resolve_ok(full);
    assert_memory_equal(a.freq, b.freq, sizeof a.freq);
    assert_true(a.info.attention_factor == b.info.attention_factor);
    brief.factor = 0;
    brief.max_length = 163840;
    const struct result c = resolve_ok(brief);
    assert_memory_equal(a.freq, c.freq, sizeof a.freq);
    assert_true(c.info.factor == 40.0 && c.info.attention_factor == a.info.attention_factor);
    /* mscale alone is not used, mscale_all_dim alone only for the softmax. */
    full.mscale = 0.5;
    assert_true(resolve_ok(full).info.attention_factor == a.info.attention_factor);
    full.mscale = 0;
    full.mscale_all_dim = 0.5;
    assert_true(resolve_ok(full).info.attention_factor == a.info.attention_factor);
    expect_near("softmax", resolve_ok(full).info.softmax_factor, pow(1 + 0.1 * 0.5 * log(40.0), 2),
                1e-15);

    rope_spec mixed = spec_of(ROPE_SCHEME_NTK_MIXED, 64, 0);
    mixed.factor = 4;
    const struct result d = resolve_ok(mixed);
    mixed.ntk_exponent = 1;
    mixed.theta = 10000;
    const struct result e = resolve_ok(mixed);
    assert_memory_equal(d.freq, e.freq, sizeof d.freq);

    rope_spec proportional = spec_of(ROPE_SCHEME_PROPORTIONAL, 64, 0);
    proportional.active_pairs = 8;
    const struct result f = resolve_ok(proportional);
    proportional.factor = 1;
    const struct result g = resolve_ok(proportional);
    assert_memory_equal(f.freq, g.freq, sizeof f.freq);
    assert_true(f.info.factor == 1.0 && f.info.softmax_factor == 1.0);
}

/* ---- Published values ---- */

static void expect_list(const struct result *result, size_t first, const double *want, size_t count,
                        double relative)
{
    for (size_t i = 0; i < count; i++)
        expect_near("a published frequency", result->freq[first + i], want[i], relative);
}

static void expect_ramp(const rope_spec *spec, double low, double high)
{
    const struct rope_ramp ramp = rope_frequency_yarn_ramp(
        spec->head_dim / 2, spec->theta, (double)spec->original_length,
        spec->beta_fast != 0 ? spec->beta_fast : 32, spec->beta_slow != 0 ? spec->beta_slow : 1,
        spec->no_truncate != 0);
    expect_near("low", ramp.low, low, 4e-16);
    expect_near("high", ramp.high, high, 4e-16);
}

/* Computed in f64 from the papers and model files named, to the digits given. */
static void test_published(void **state)
{
    (void)state;
    /* DeepSeek-V3, config.json and modeling_deepseek.py */
    rope_spec spec = yarn_of(64, 10000, 40, 4096);
    const double deepseek[] = {7.498942093e-02, 5.623413252e-02, 3.900692657e-02, 2.687936011e-02,
                               1.837814622e-02, 1.244795587e-02, 8.334508951e-03, 5.5e-03,
                               3.561997494e-03, 2.249365301e-03, 1.370513636e-03, 7.905694150e-04,
                               4.149903985e-04, 1.778279410e-04, 3.333803580e-05, 2.5e-05};
    struct result result = resolve_ok(spec);
    expect_list(&result, 9, deepseek, COUNT(deepseek), 6e-10);
    expect_near("g(40)", result.info.attention_factor, 1.368887945, 1e-9);
    spec.mscale = spec.mscale_all_dim = 1;
    assert_true(resolve_ok(spec).info.attention_factor == 1.0);
    spec.no_truncate = 1;
    const struct rope_ramp ramp = rope_frequency_yarn_ramp(32, 10000, 4096, 32, 1, 1);
    expect_near("low", ramp.low, 10.472241, 1e-7);
    expect_near("high", ramp.high, 22.513441, 1e-7);

    /* gpt-oss */
    spec = yarn_of(64, 150000, 32, 4096);
    spec.no_truncate = 1;
    const double gpt_oss[] = {5.081327e-02, 3.170570e-02, 1.933500e-02, 1.159205e-02,
                              6.794959e-03, 3.860359e-03, 2.093792e-03, 1.052602e-03,
                              4.564839e-04, 1.293187e-04, 3.830881e-05};
    result = resolve_ok(spec);
    expect_list(&result, 8, gpt_oss, COUNT(gpt_oss), 2e-7);
    expect_near("m", result.info.attention_factor, 1.346573590, 1e-9);

    /* Qwen2.5 and Llama-2-64k with YaRN */
    spec = yarn_of(128, 1e6, 4, 32768);
    expect_ramp(&spec, 23, 40);
    expect_near("m", resolve_ok(spec).info.attention_factor, 1.138629436, 1e-9);
    spec = yarn_of(128, 10000, 16, 4096);
    expect_ramp(&spec, 20, 46);
    expect_near("m", resolve_ok(spec).info.attention_factor, 1.277258872, 1e-9);

    /* Phi-3 */
    const double ones[] = {1, 1, 1, 1};
    spec = spec_of(ROPE_SCHEME_LONGROPE, 8, 10000);
    spec.factor = 32;
    spec.original_length = 4096;
    spec.short_factor = spec.long_factor = ones;
    spec.factor_count = 4;
    expect_near("m", resolve_ok(spec).info.attention_factor, 1.190238071, 1e-9);

    /* dynamic NTK and NTK: the base */
    const struct {
        double factor;
        size_t length;
        double theta;
    } bases[] = {
        {2, 4096, 30527.7367}, {2, 3000, 19499.2776}, {4, 8192, 135401.9730}, {2, 2048, 10000}};
    for (size_t i = 0; i < COUNT(bases); i++) {
        spec = spec_of(ROPE_SCHEME_DYNAMIC_NTK, 128, 10000);
        spec.factor = bases[i].factor;
        spec.length = bases[i].length;
        spec.max_length = 2048;
        expect_near("theta", resolve_ok(spec).info.theta, bases[i].theta, 5e-9);
    }
    spec = spec_of(ROPE_SCHEME_NTK, 128, 10000);
    spec.factor = 8;
    expect_near("theta", resolve_ok(spec).info.theta, 82684.6226, 1e-9);

    /* Llama 3.1: what is kept, blended and divided, and the blend as divisors of GGUF */
    spec = spec_of(ROPE_SCHEME_LLAMA3, 128, 500000);
    spec.factor = 8;
    spec.low_freq_factor = 1;
    spec.high_freq_factor = 4;
    spec.original_length = 8192;
    result = resolve_ok(spec);
    const struct result kept = resolve_ok(spec_of(ROPE_SCHEME_DEFAULT, 128, 500000));
    const double divisors[] = {1.2074839, 1.5534146, 2.0263132, 2.6945297, 3.6842525, 5.2573266};
    for (size_t i = 0; i < 64; i++)
        expect_near("divisor", kept.freq[i] / result.freq[i],
                    i < 29   ? 1
                    : i < 35 ? divisors[i - 29]
                             : 8,
                    3e-8);
    expect_near("f'29", result.freq[29], 2.166570764e-03, 1e-9);
    expect_near("f'34", result.freq[34], 1.785078128e-04, 1e-9);
}

static void test_goldens(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(goldens); k++) {
        const struct golden *golden = &goldens[k];
        rope_spec spec = golden->spec;
        spec.angle = ROPE_ANGLE_F32;
        const struct result result = resolve_ok(spec);
        for (size_t i = 0; i < result.pairs; i++)
            expect_near(golden->id, result.freq[i], i < golden->count ? golden->inv_freq[i] : 0,
                        4e-15);
        expect_near(golden->id, result.info.attention_factor, golden->attention_factor, 3e-16);
    }
}

/* ---- Faults of other systems, by their number in our collection ---- */

/* https://github.com/ggml-org/ggml/issues/835: the ramp over elements, not over pairs. */
static void SF02(void **state)
{
    (void)state;
    const rope_spec spec = yarn_of(128, 10000, 16, 4096);
    const struct result result = resolve_ok(spec);
    expect_ramp(&spec, 20, 46);
    expect_pair(&result, 0, 1, 0);
    expect_pair(&result, 20, 0.056234132519034908, 0.015680671567807811);
    expect_pair(&result, 21, 0.046940859997959401, 0);
    expect_pair(&result, 23, 0.032567211829698267, 0);
    expect_pair(&result, 30, 0.0085268437729674084, 0.00083345089510207752);
    expect_pair(&result, 45, 0.00015177160473182493, 0);
    expect_pair(&result, 46, 0.000083345089510207752, 0);
    expect_pair(&result, 63, 0.0000072173874043091136, 0);
    expect_near("m", result.info.attention_factor, 1.2772588722239781, 3e-16);
}

/* https://github.com/vllm-project/vllm/pull/28244: truncate = false was ignored.
 * https://github.com/pytorch/torchtitan/pull/3787: the betas were exchanged. */
static void SF03(void **state)
{
    (void)state;
    rope_spec spec = yarn_of(64, 150000, 32, 4096);
    spec.no_truncate = 1;
    const struct result result = resolve_ok(spec);
    expect_ramp(&spec, 8.092779115512401, 17.398024501588556);
    expect_pair(&result, 7, 0.073744568210260814, 0);
    expect_pair(&result, 8, 0.050813274815461474, 0);
    expect_pair(&result, 9, 0.031705696184663766, 0.031620752275346488);
    expect_pair(&result, 12, 0.0067949594897322178, 0.0070157139105043882);
    expect_pair(&result, 17, 0.00012931870124506272, 0.00022794779579512526);
    expect_pair(&result, 18, 0.000038308812373753383, 0);
    expect_near("m", result.info.attention_factor, 1.3465735902799727, 3e-16);
    spec.beta_fast = 1;
    spec.beta_slow = 32;
    expect_error(spec, ROPE_ERR_VALUE, "beta_slow");
}

/* https://github.com/apache/tvm/pull/18576: the factor inside the power.
 * https://github.com/paiml/aprender/pull/2161: the kept half from an enlarged base. */
static void SF05(void **state)
{
    (void)state;
    rope_spec spec = yarn_of(64, 150000, 32, 4096);
    spec.no_truncate = 1;
    const struct result result = resolve_ok(spec);
    expect_pair(&result, 2, 0.47478205547690072, 0.37965388300744475);
    expect_pair(&result, 20, 0.000018188336681689559, 0.000066715113105108637);
    expect_pair(&result, 31, 0.00000030235114281192144, 0);
}

static rope_spec dynamic_of(size_t length)
{
    rope_spec spec = spec_of(ROPE_SCHEME_DYNAMIC_NTK, 64, 10000);
    spec.factor = 2;
    spec.max_length = 2048;
    spec.length = length;
    return spec;
}

/* https://github.com/vllm-project/vllm/issues/41236: one base for every length. */
static void SF06(void **state)
{
    (void)state;
    const struct {
        size_t length;
        double theta, first, last;
    } cases[] = {{1, 10000, 0.74989420933245583, 0.0001333521432163324},
                 {2048, 10000, 0.74989420933245583, 0.0001333521432163324},
                 {3000, 19710.436456319733, 0.73416004017874185, 0.000069105564095913148},
                 {4096, 31082.236667168815, 0.72378402239425587, 0.000044450714405444134},
                 {6144, 52664.434336364522, 0.71195505921788447, 0.000026670428643266481}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct result result = resolve_ok(dynamic_of(cases[i].length));
        expect_near("theta", result.info.theta, cases[i].theta, 4e-16);
        expect_pair(&result, 0, 1, 0); /* positions are not scaled */
        expect_pair(&result, 1, cases[i].first, 0);
        expect_pair(&result, 31, cases[i].last,
                    cases[i].length == 4096 ? 0 : 0.000044450714405444134);
    }
}

/* https://github.com/huggingface/transformers/pull/46624: a long prompt changed the short ones after it. */
static void SF07(void **state)
{
    (void)state;
    const size_t lengths[] = {16, 4096, 16, 2048};
    for (size_t i = 0; i < COUNT(lengths); i++) {
        const struct result result = resolve_ok(dynamic_of(lengths[i]));
        if (lengths[i] == 4096)
            expect_pair(&result, 31, 0.000044450714405444134, 0);
        else
            expect_pair(&result, 31, 0.0001333521432163324, 0.000044450714405444134);
    }
}

/* https://github.com/ikawrakow/ik_llama.cpp/pull/2291: the frequency factors were not applied.
 * https://github.com/swiss-ai/Megatron-LM/pull/80: the factor was always 8. */
static void SF08(void **state)
{
    (void)state;
    rope_spec spec = spec_of(ROPE_SCHEME_LLAMA3, 64, 500000);
    spec.factor = 32;
    spec.low_freq_factor = 1;
    spec.high_freq_factor = 4;
    spec.original_length = 8192;
    double divisors[32];
    for (size_t i = 0; i < 32; i++)
        divisors[i] = i < 15 ? 1 : 32;
    divisors[15] = 1.6513292457638984;
    divisors[16] = 3.292262102940884;
    divisors[17] = 9.6667289787532905;
    rope_spec gguf = spec_of(ROPE_SCHEME_DEFAULT, 64, 500000);
    gguf.divisors = divisors;
    gguf.divisor_count = 32;
    const struct result results[] = {resolve_ok(spec), resolve_ok(gguf)};
    for (size_t k = 0; k < 2; k++) {
        expect_pair(&results[k], 0, 1, 0);
        expect_pair(&results[k], 14, 0.003211445994752591, 0);
        expect_pair(&results[k], 15, 0.0012905479282092638, 0);
        expect_pair(&results[k], 16, 0.0004295567965593682, 0);
        expect_pair(&results[k], 17, 0.000097082878026276723, 0);
        expect_pair(&results[k], 18, 0.000019461638184831124, 0.00062277242191459598);
        expect_pair(&results[k], 18, 0.000019461638184831124, 0.000077846552739324497);
        expect_pair(&results[k], 31, 9.4183067254349098e-8, 0);
    }
}

/* https://github.com/ggml-org/llama.cpp/issues/24823: the list chosen by capacity or offset, not by length. */
static void LR01(void **state)
{
    (void)state;
    const double short_list[] = {1, 1.25, 1.5, 2}, long_list[] = {1, 4, 16, 64};
    const double short_freq[] = {1, 0.08, 0.0066666666666666667, 0.0005};
    const double long_freq[] = {1, 0.025, 0.000625, 0.000015625};
    const struct {
        size_t length; /* highest position + 1 */
        int is_long;
    } calls[] = {{10, 0}, {4096, 0}, {4097, 1}, {4096, 0}, {131072, 1}, {0, 0}};
    rope_spec spec = spec_of(ROPE_SCHEME_LONGROPE, 8, 10000);
    spec.original_length = 4096;
    spec.max_length = 131072;
    spec.short_factor = short_list;
    spec.long_factor = long_list;
    spec.factor_count = 4;
    for (size_t i = 0; i < COUNT(calls); i++) {
        spec.length = calls[i].length;
        const struct result result = resolve_ok(spec);
        assert_int_equal(result.info.is_long, calls[i].is_long);
        for (size_t k = 0; k < 4; k++)
            expect_pair(&result, k, (calls[i].is_long ? long_freq : short_freq)[k],
                        k == 0 ? 0 : (calls[i].is_long ? short_freq : long_freq)[k]);
        expect_near("m", result.info.attention_factor, 1.1902380714238083, 3e-16);
        assert_true(result.info.factor == 32.0); /* CF02: no factor in the file */
    }
}

/* https://github.com/apache/tvm/pull/18102: lists as long as half the head, not half the rotated part. */
static void LR03(void **state)
{
    (void)state;
    double ones[64];
    for (size_t i = 0; i < COUNT(ones); i++)
        ones[i] = 1;
    rope_spec spec = spec_of(ROPE_SCHEME_LONGROPE, 128, 10000);
    spec.rotary_dim = 96;
    spec.original_length = 4096;
    spec.max_length = 131072;
    spec.short_factor = spec.long_factor = ones;
    spec.factor_count = 48;
    const struct result result = resolve_ok(spec);
    expect_pair(&result, 47, 0.00012115276586285884, 0.0011547819846894582);
    spec.factor_count = 64;
    expect_error(spec, ROPE_ERR_VALUE, "factor_count");
    spec.factor_count = 47;
    expect_error(spec, ROPE_ERR_VALUE, "factor_count");
}

/* https://github.com/onnxruntime/mobius/pull/548: two corrections, one of rows, one of the softmax. */
static void AF01(void **state)
{
    (void)state;
    const struct {
        double mscale, mscale_all_dim, attention, softmax;
    } cases[] = {{1, 1, 1, 1.8738542070926266},
                 {0.707, 0.707, 1, 1.5896261651208735},
                 {0, 0, 1.3688879454113936, 1}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        rope_spec spec = yarn_of(64, 10000, 40, 4096);
        spec.mscale = cases[i].mscale;
        spec.mscale_all_dim = cases[i].mscale_all_dim;
        const struct result result = resolve_ok(spec);
        expect_near("m", result.info.attention_factor, cases[i].attention, 1e-15);
        expect_near("softmax factor", result.info.softmax_factor, cases[i].softmax, 1e-15);
        spec.attention_factor =
            1.25; /* the caller's word is final, and the softmax keeps its own */
        expect_near("m", resolve_ok(spec).info.attention_factor, 1.25, 0);
        expect_near("softmax factor", resolve_ok(spec).info.softmax_factor, cases[i].softmax,
                    1e-15);
    }
}

/* https://github.com/sgl-project/sglang/pull/33558: attention_factor is final, no multiplier. */
static void AF03(void **state)
{
    (void)state;
    const struct {
        double factor, attention_factor, magnitude, wrong;
    } cases[] = {{128, 1.4852030263919618, 1.4852030263919617, 2.2058280296038421},
                 {64, 1, 1, 1.4158883083359672},
                 {64, 0, 1.4158883083359672, 1.5888513933465197},
                 {1, 0, 1, 0},
                 {0.5, 0, 1, 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        rope_spec spec = yarn_of(64, 10000, cases[i].factor, 4096);
        spec.attention_factor = cases[i].attention_factor;
        const double got = resolve_ok(spec).info.attention_factor;
        expect_near("m", got, cases[i].magnitude, 3e-16);
        assert_true(fabs(got - cases[i].wrong) > 0.1);
    }
}

/* https://github.com/ggml-org/llama.cpp/pull/17945: ggml multiplies its attn_factor by 1 + 0.1 ln s itself. */
static void AF04(void **state)
{
    (void)state;
    rope_spec spec = yarn_of(64, 10000, 16, 4096);
    expect_near("m", resolve_ok(spec).info.attention_factor, 1.2772588722239781, 3e-16);
    spec.mscale = spec.mscale_all_dim = 1;
    expect_near("m", resolve_ok(spec).info.attention_factor, 1, 0);
    expect_near("what ggml is handed", 1 / 1.2772588722239781, 0.7829266421604794, 3e-16);
}

/* https://github.com/NVIDIA-NeMo/Megatron-Bridge/issues/4195: denominator d, or pairs inside the active part. */
static void PA04(void **state)
{
    (void)state;
    const float x[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const double want[] = {-1.6955925368997816, 1.4226501999788488, 3, 4,
                           -4.8088424749423601, 6.1624724265914685, 7, 8};
    rope_spec spec = spec_of(ROPE_SCHEME_PROPORTIONAL, 8, 1000000);
    spec.active_pairs = 2;
    const struct result result = resolve_ok(spec);
    expect_pair(&result, 0, 1, 0);
    expect_pair(&result, 1, 0.031622776601683793, 0.001);
    expect_pair(&result, 2, 0, 0);
    expect_pair(&result, 3, 0, 0);

    float y[COUNT(x)];
    rope_plan *plan;
    spec.angle = ROPE_ANGLE_EXACT;
    assert_int_equal(rope_plan_create(&spec, &plan), ROPE_OK);
    rope_positions positions = ROPE_POSITIONS_INIT;
    positions.start = 3;
    rope_tensor q = ROPE_TENSOR_INIT;
    q.dtype = ROPE_F32;
    q.src = x;
    q.dst = y;
    q.heads = 1;
    rope_job job = ROPE_JOB_INIT;
    job.tokens = 1;
    job.q = &q;
    job.positions = &positions;
    assert_int_equal(rope_rotate(plan, &job), ROPE_OK);
    for (size_t i = 0; i < COUNT(x); i++) {
        const double pair = fabs((double)x[i]) + fabs((double)x[(i + 4) % 8]);
        assert_true(fabs((double)y[i] - want[i]) <= 1.5e-7 * pair);
    }
    rope_plan_destroy(plan);
    spec.rotary_dim = 4; /* the compact form */
    expect_error(spec, ROPE_ERR_VALUE, "rotary_dim");
}

/* https://github.com/vllm-project/vllm/pull/2983: 0 / 0 where the ramp has no width. */
static void DG01(void **state)
{
    (void)state;
    rope_spec spec = yarn_of(8, 10000, 4, 4);
    const double want[] = {1, 0.025, 0.0025, 0.00025};
    struct result result = resolve_ok(spec);
    expect_ramp(&spec, 0, 0.001);
    for (size_t i = 0; i < 4; i++)
        expect_pair(&result, i, want[i], 0);
    spec = yarn_of(128, 10000, 4, 4096);
    spec.beta_fast = spec.beta_slow = 8;
    spec.no_truncate = 1;
    result = resolve_ok(spec);
    expect_ramp(&spec, 30.577441481883451, 30.577441481883451 + 0.001);
    expect_pair(&result, 30, 0.01333521432163324, 0);
    expect_pair(&result, 31, 0.0028869549617236454, 0);
    expect_pair(&result, 32, 0.0025, 0);
}

/* https://github.com/ggml-org/llama.cpp/pull/28995 and others: d / (d - 2) of a head of 2, whatever the length. */
static void DG02(void **state)
{
    (void)state;
    rope_spec spec = dynamic_of(16);
    spec.head_dim = 2;
    expect_error(spec, ROPE_ERR_VALUE, "rotary_dim");
    spec = spec_of(ROPE_SCHEME_NTK, 80, 10000);
    spec.rotary_dim = 2;
    spec.factor = 2;
    expect_error(spec, ROPE_ERR_VALUE, "rotary_dim");
    const struct result ones = resolve_ok(spec_of(ROPE_SCHEME_DEFAULT, 64, 1));
    for (size_t i = 0; i < 32; i++)
        assert_true(ones.freq[i] == 1.0);
}

/* The values of the cases on configuration files: CF01, CF05, CF06, and
 * https://github.com/huggingface/transformers/issues/38224 (CF08): the factor recomputed from max_position_embeddings. */
static void CF_values(void **state)
{
    (void)state;
    rope_spec spec = yarn_of(128, 1e6, 4, 32768);
    struct result result = resolve_ok(spec);
    expect_ramp(&spec, 23, 40);
    expect_pair(&result, 23, 0.0069783058485986634, 0);
    expect_pair(&result, 24, 0.0053753214907901015, 0);
    expect_pair(&result, 32, 0.00060294117647058824, 0);
    expect_pair(&result, 40, 0.00004445698525097307, 0);
    expect_pair(&result, 63, 0.00000031023444018792989, 0.00000099275020860137565);
    expect_near("m", result.info.attention_factor, 1.1386294361119891, 3e-16);
    spec.max_length = 40960; /* two factors */
    expect_error(spec, ROPE_ERR_VALUE, "max_length");
    spec.factor = 0;
    result = resolve_ok(spec);
    expect_near("m by max_length", result.info.attention_factor, 1.022314355131421, 3e-16);

    result = resolve_ok(yarn_of(64, 1e6, 2, 32768));
    expect_pair(&result, 31, 0.00000076996326302974599, 0);
    result = resolve_ok(yarn_of(64, 1e6, 4, 8192));
    expect_pair(&result, 31, 0.000000384981631514873, 0);
    expect_near("m", result.info.attention_factor, 1.1386294361119891, 3e-16);
}

/* ---- What is refused ---- */

#define SCHEMES 10
enum { NONE = 0, ANY = (1 << SCHEMES) - 1 };
#define BIT(scheme) (1 << ROPE_SCHEME_##scheme)

/* Who reads what, by the comments of the public header. */
#define FIELD(name) #name, offsetof(rope_spec, name)
static const struct field {
    const char *name;
    size_t offset;
    int needed, optional;
} numbers[] =
    {
        {FIELD(theta), NONE, ANY & ~BIT(CUSTOM)},
        {FIELD(factor), BIT(LINEAR) | BIT(NTK) | BIT(NTK_MIXED) | BIT(DYNAMIC_NTK) | BIT(LLAMA3),
         BIT(YARN) | BIT(LONGROPE) | BIT(PROPORTIONAL)},
        {FIELD(attention_factor), NONE, ANY},
        {FIELD(ntk_exponent), NONE, BIT(NTK_MIXED)},
        {FIELD(beta_fast), NONE, BIT(YARN)},
        {FIELD(beta_slow), NONE, BIT(YARN)},
        {FIELD(mscale), NONE, BIT(YARN)},
        {FIELD(mscale_all_dim), NONE, BIT(YARN)},
        {FIELD(mscale_log), NONE, BIT(YARN)},
        {FIELD(low_freq_factor), BIT(LLAMA3), NONE},
        {FIELD(high_freq_factor), BIT(LLAMA3), NONE},
},
  counts[] =
      {
          {FIELD(length), NONE, BIT(DYNAMIC_NTK) | BIT(LONGROPE)},
          {FIELD(max_length), BIT(DYNAMIC_NTK), BIT(YARN) | BIT(LONGROPE)},
          {FIELD(original_length), BIT(YARN) | BIT(LONGROPE) | BIT(LLAMA3), NONE},
          {FIELD(active_pairs), BIT(PROPORTIONAL), NONE},
          {FIELD(inv_freq_count), BIT(CUSTOM), NONE},
          {FIELD(factor_count), BIT(LONGROPE), NONE},
          {FIELD(divisor_count), NONE, BIT(DEFAULT) | BIT(LINEAR) | BIT(YARN)},
},
  lists[] = {
      {FIELD(inv_freq), BIT(CUSTOM), NONE},
      {FIELD(short_factor), BIT(LONGROPE), NONE},
      {FIELD(long_factor), BIT(LONGROPE), NONE},
      {FIELD(divisors), NONE, BIT(DEFAULT) | BIT(LINEAR) | BIT(YARN)},
};

static rope_spec with_number(rope_spec spec, const struct field *field, double value)
{
    memcpy((char *)&spec + field->offset, &value, sizeof value);
    return spec;
}

static rope_spec with_count(rope_spec spec, const struct field *field, size_t value)
{
    memcpy((char *)&spec + field->offset, &value, sizeof value);
    return spec;
}

static rope_spec with_list(rope_spec spec, const struct field *field, const double *value)
{
    memcpy((char *)&spec + field->offset, &value, sizeof value);
    return spec;
}

static const double never[] = {(double)NAN, -1.0, -1e-310, (double)INFINITY, -(double)INFINITY};

/* A good random spec and one field wrong, for every scheme, field and way. */
static void refuse_each(rope_spec spec, const double *list)
{
    const int bit = 1 << spec.scheme;
    const size_t pairs = spec.head_dim / 2;
    for (size_t k = 0; k < COUNT(numbers); k++) {
        const struct field *field = &numbers[k];
        for (size_t i = 0; i < COUNT(never); i++)
            expect_error(with_number(spec, field, never[i]), ROPE_ERR_VALUE, field->name);
        if (field->needed & bit)
            expect_error(with_number(spec, field, 0.0), ROPE_ERR_VALUE, field->name);
        else if (!(field->optional & bit))
            expect_error(with_number(spec, field, 5e-324), ROPE_ERR_VALUE, field->name);
    }
    for (size_t k = 0; k < COUNT(counts); k++) {
        const struct field *field = &counts[k];
        if (!((field->needed | field->optional) & bit))
            expect_error(with_count(spec, field, 1), ROPE_ERR_VALUE, field->name);
        if (field->needed & bit)
            expect_error(with_count(spec, field, 0), ROPE_ERR_VALUE, field->name);
        if (sizeof(size_t) == 8)
            expect_error(with_count(spec, field, SIZE_MAX), ROPE_ERR_VALUE, field->name);
    }
    for (size_t k = 0; k < COUNT(lists); k++) {
        const struct field *field = &lists[k];
        if (!((field->needed | field->optional) & bit)) {
            expect_error(with_list(spec, field, list), ROPE_ERR_VALUE, field->name);
            continue;
        }
        if (field->needed & bit)
            expect_error(with_list(spec, field, NULL), ROPE_ERR_NULL, field->name);
        double bad[PAIRS_MAX];
        rope_spec changed = with_list(spec, field, bad);
        if (field->optional & bit)
            changed.divisor_count = pairs;
        for (size_t i = 0; i < COUNT(never); i++)
            for (size_t at = 0; at < pairs; at += pairs - 1) {
                memcpy(bad, list, pairs * sizeof *bad);
                bad[at] = never[i];
                const int legal = isinf(bad[at])   ? bad[at] > 0 && (field->optional & bit)
                                  : isnan(bad[at]) ? 0
                                                   : spec.scheme == ROPE_SCHEME_CUSTOM;
                if (!legal)
                    expect_error(changed, ROPE_ERR_VALUE, field->name);
                else
                    assert_int_equal(resolve(changed).status, ROPE_OK);
            }
        memcpy(bad, list, pairs * sizeof *bad);
        bad[pairs - 1] = 0; /* a frequency of 0 is one, a divisor of 0 is none */
        if (spec.scheme == ROPE_SCHEME_CUSTOM)
            assert_int_equal(resolve(changed).status, ROPE_OK);
        else
            expect_error(changed, ROPE_ERR_VALUE, field->name);
    }
    if (spec.scheme != ROPE_SCHEME_YARN || spec.no_truncate == 0) {
        spec.no_truncate = spec.scheme == ROPE_SCHEME_YARN ? 2 : 1;
        expect_error(spec, ROPE_ERR_VALUE, "no_truncate");
    }
}

static void test_refused_fields(void **state)
{
    (void)state;
    static double random_lists[3][PAIRS_MAX];
    struct truth truth;
    truth_init(&truth);
    const int rounds = test_reduced() ? 1 : 5;
    for (rope_scheme scheme = 0; scheme < SCHEMES; scheme++) {
        struct rng rng = rng_make(200 + (uint64_t)scheme);
        for (int round = 0; round < rounds; round++) {
            rope_spec spec = random_spec(&rng, scheme, random_lists);
            if (scheme == ROPE_SCHEME_CUSTOM) {
                spec.theta = spec.factor = 0;
                spec.inv_freq = random_lists[0];
                spec.inv_freq_count = spec.head_dim / 2;
            } else {
                truth_compute(&truth, &spec);
                if (truth.refused)
                    continue;
            }
            resolve_ok(spec);
            refuse_each(spec, random_lists[0]);
        }
    }
    truth_clear(&truth);
    rope_spec spec = spec_of(ROPE_SCHEME_SINUSOID + 1, 64, 0);
    expect_error(spec, ROPE_ERR_VALUE, "scheme");
    spec.scheme = -1;
    expect_error(spec, ROPE_ERR_VALUE, "scheme");
    spec.scheme = INT32_MAX;
    expect_error(spec, ROPE_ERR_VALUE, "scheme");
}

/* Fields that are good alone and not together. */
static void test_contradictions(void **state)
{
    (void)state;
    /* YaRN */
    rope_spec yarn = yarn_of(64, 10000, 4, 4096), spec = yarn;
    spec.theta = 1;
    expect_error(spec, ROPE_ERR_VALUE, "theta");
    spec.theta = 0.5;
    expect_error(spec, ROPE_ERR_VALUE, "theta");
    spec = yarn;
    spec.beta_slow = 32.5; /* above the default of beta_fast */
    expect_error(spec, ROPE_ERR_VALUE, "beta_slow");
    spec.beta_slow = 32;
    resolve_ok(spec);
    spec = yarn;
    spec.factor = 0;
    expect_error(spec, ROPE_ERR_VALUE, "factor");
    spec = yarn;
    spec.max_length = 16384;
    expect_error(spec, ROPE_ERR_VALUE, "max_length");
    spec = yarn;
    spec.original_length = 1; /* high = ceil(-6.4) is below 0 */
    expect_error(spec, ROPE_ERR_VALUE, "original_length");
    spec = yarn;
    spec.theta = 2; /* low = floor(139) is above d - 1 */
    expect_error(spec, ROPE_ERR_VALUE, "original_length");
    spec = yarn;
    spec.beta_fast = 1e308; /* beta 2 pi overflows */
    expect_error(spec, ROPE_ERR_VALUE, "original_length");
    spec = yarn;
    spec.mscale = 1e308;
    spec.mscale_all_dim = 1e-308;
    spec.factor = 1e300;
    expect_error(spec, ROPE_ERR_VALUE, "mscale");
    spec = yarn;
    spec.mscale_all_dim = 1e300;
    expect_error(spec, ROPE_ERR_VALUE, "mscale_all_dim");
    double divisors[32];
    for (size_t i = 0; i < 32; i++)
        divisors[i] = 1;
    spec = yarn;
    spec.divisors = divisors;
    spec.divisor_count = 31;
    expect_error(spec, ROPE_ERR_VALUE, "divisor_count");
    spec.divisors = NULL;
    spec.divisor_count = 32;
    expect_error(spec, ROPE_ERR_VALUE, "divisor_count");

    /* LongRoPE: the attention factor divides by ln L */
    spec = spec_of(ROPE_SCHEME_LONGROPE, 64, 0);
    spec.short_factor = spec.long_factor = divisors;
    spec.factor_count = 32;
    spec.original_length = 4096;
    expect_error(spec, ROPE_ERR_VALUE, "factor");
    spec.factor = 32;
    spec.max_length = 131072;
    expect_error(spec, ROPE_ERR_VALUE, "max_length");
    spec.max_length = 0;
    spec.original_length = 1;
    expect_error(spec, ROPE_ERR_VALUE, "original_length");
    spec.factor = 1;
    resolve_ok(spec);

    /* Llama 3 */
    spec = spec_of(ROPE_SCHEME_LLAMA3, 64, 0);
    spec.factor = 8;
    spec.low_freq_factor = 4;
    spec.high_freq_factor = 1;
    spec.original_length = 8192;
    expect_error(spec, ROPE_ERR_VALUE, "high_freq_factor");

    /* NTK: theta' beyond f64 */
    spec = spec_of(ROPE_SCHEME_NTK, 64, 1e300);
    spec.factor = 1e300;
    expect_error(spec, ROPE_ERR_VALUE, "factor");
    spec = dynamic_of(1000000);
    spec.factor = 1e308;
    expect_error(spec, ROPE_ERR_VALUE, "factor");
    spec.theta = 1e-300; /* the sum overflows, the power would not */
    expect_error(spec, ROPE_ERR_VALUE, "factor");

    /* proportional */
    spec = spec_of(ROPE_SCHEME_PROPORTIONAL, 64, 0);
    spec.active_pairs = 33;
    expect_error(spec, ROPE_ERR_VALUE, "active_pairs");
    spec.active_pairs = 32;
    resolve_ok(spec);
    spec.rotary_offset = 32;
    spec.active_pairs = 16;
    expect_error(spec, ROPE_ERR_VALUE, "rotary_dim");
    spec = spec_of(ROPE_SCHEME_PROPORTIONAL, 33, 0);
    spec.active_pairs = 8;
    expect_error(spec, ROPE_ERR_VALUE, "rotary_dim");

    /* the frequency limit names what raised the frequency */
    spec = spec_of(ROPE_SCHEME_DEFAULT, 64, 1e-9);
    expect_error(spec, ROPE_ERR_VALUE, "theta");
    spec = spec_of(ROPE_SCHEME_LINEAR, 64, 10000);
    spec.factor = 1e-7;
    expect_error(spec, ROPE_ERR_VALUE, "factor");
    spec = spec_of(ROPE_SCHEME_DEFAULT, 64, 10000);
    divisors[0] = 1e-7;
    spec.divisors = divisors;
    spec.divisor_count = 32;
    expect_error(spec, ROPE_ERR_VALUE, "divisors");
    divisors[0] = 1e-310;
    expect_error(spec, ROPE_ERR_VALUE, "divisors");
}

int main(void)
{
#define TEST(name) cmocka_unit_test(name)
    const struct CMUnitTest tests[] = {
        TEST(test_fixed_point),
        TEST(test_double_double),
        TEST(test_formulas),
        TEST(test_yarn_ends),
        TEST(test_llama3_step),
        TEST(test_lengths),
        TEST(test_defaults),
        TEST(test_published),
        TEST(test_goldens),
        TEST(SF02),
        TEST(SF03),
        TEST(SF05),
        TEST(SF06),
        TEST(SF07),
        TEST(SF08),
        TEST(LR01),
        TEST(LR03),
        TEST(AF01),
        TEST(AF03),
        TEST(AF04),
        TEST(PA04),
        TEST(DG01),
        TEST(DG02),
        TEST(CF_values),
        TEST(test_refused_fields),
        TEST(test_contradictions),
    };
    return cmocka_run_group_tests_name("schemes", tests, NULL, NULL);
}
