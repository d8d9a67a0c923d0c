/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The published rules that give inverse frequencies, one function each.  Checks no argument and
 * knows no plan.
 */
#include "frequency.h"
#include "wide.h"

/* floor(2^224 log2(2 pi)). */
static const rope_wide log2_two_pi = {{0x903ec377, 0xc68d8fbc, 0xb8649e4b, 0x0a88e274, 0xdb2e4f08,
                                       0x8ddf75b0, 0xa6c87349, 0x00000002}};

static rope_wide subtract(rope_wide a, rope_wide b)
{
    return rope_wide_add(a, rope_wide_negate(b));
}

static int is_below_zero(rope_wide a)
{
    return (int)(a.limb[ROPE_WIDE_LIMBS - 1] >> 31);
}

/* log2 of base^(-i / pairs). */
static rope_wide log2_power(rope_wide log2_base, size_t i, size_t pairs)
{
    return rope_wide_negate(rope_wide_ratio(log2_base, (uint32_t)i, (uint32_t)pairs));
}

/* freq[i] = base^(-i / pairs) / divisor for i < count, from the logarithms. */
static void power_sequence(rope_dd *freq, size_t count, size_t pairs, rope_wide log2_base,
                           rope_wide log2_divisor)
{
    for (size_t i = 0; i < count; i++)
        freq[i] = rope_wide_exp2(subtract(log2_power(log2_base, i, pairs), log2_divisor));
}

static const rope_wide log2_one = {{0}};

void rope_frequency_default(rope_dd *freq, size_t pairs, double theta)
{
    power_sequence(freq, pairs, pairs, rope_wide_log2(theta), log2_one);
}

void rope_frequency_linear(rope_dd *freq, size_t pairs, double theta, double factor)
{
    power_sequence(freq, pairs, pairs, rope_wide_log2(theta), rope_wide_log2(factor));
}

void rope_frequency_custom(rope_dd *freq, size_t pairs, const double *inv_freq)
{
    for (size_t i = 0; i < pairs; i++)
        freq[i] = (rope_dd){inv_freq[i], 0.0};
}

void rope_frequency_divide(rope_dd *freq, size_t pairs, const double *divisors)
{
    for (size_t i = 0; i < pairs; i++)
        freq[i] = isinf(divisors[i]) ? (rope_dd){0.0, 0.0}
                                     : rope_dd_divide(freq[i], (rope_dd){divisors[i], 0.0});
}

void rope_frequency_sinusoid(rope_dd *freq, size_t pairs, double theta, double shift, double scale)
{
    const rope_wide log2_theta = rope_wide_log2(theta), log2_scale = rope_wide_log2(scale);
    const rope_dd width = rope_dd_add((rope_dd){(double)pairs, 0.0}, (rope_dd){-shift, 0.0});
    for (size_t i = 0; i < pairs; i++) {
        const rope_dd place = rope_dd_divide((rope_dd){(double)i, 0.0}, width);
        const rope_wide exponent =
            rope_wide_add(rope_wide_from_double(place.hi), rope_wide_from_double(place.lo));
        freq[i] = rope_wide_exp2(subtract(log2_scale, rope_wide_multiply(log2_theta, exponent)));
    }
}

/* ---- NTK ---- */

/* theta stretch^(d / (d - 2)). */
static rope_wide log2_ntk_theta(size_t pairs, double theta, rope_wide log2_stretch)
{
    return rope_wide_add(rope_wide_log2(theta),
                         rope_wide_ratio(log2_stretch, (uint32_t)pairs, (uint32_t)(pairs - 1)));
}

/*
 * factor length / max_length - (factor - 1), times max_length: max_length + factor (length -
 * max_length).
 */
static rope_dd dynamic_stretch(double factor, size_t length, size_t max_length)
{
    const rope_dd growth =
        rope_dd_multiply((rope_dd){factor, 0.0}, (rope_dd){(double)(length - max_length), 0.0});
    return rope_dd_add((rope_dd){(double)max_length, 0.0}, growth);
}

static rope_wide log2_dynamic_theta(size_t pairs, double theta, rope_dd stretch, size_t max_length)
{
    return log2_ntk_theta(pairs, theta,
                          subtract(rope_wide_log2_dd(stretch), rope_wide_log2((double)max_length)));
}

void rope_frequency_ntk(rope_dd *freq, size_t pairs, double theta, double factor)
{
    power_sequence(freq, pairs, pairs, log2_ntk_theta(pairs, theta, rope_wide_log2(factor)),
                   log2_one);
}

double rope_frequency_ntk_theta(size_t pairs, double theta, double factor)
{
    return rope_wide_exp2(log2_ntk_theta(pairs, theta, rope_wide_log2(factor))).hi;
}

void rope_frequency_dynamic_ntk(rope_dd *freq, size_t pairs, double theta, double factor,
                                size_t length, size_t max_length)
{
    if (length <= max_length) {
        rope_frequency_default(freq, pairs, theta);
        return;
    }
    const rope_dd stretch = dynamic_stretch(factor, length, max_length);
    power_sequence(freq, pairs, pairs, log2_dynamic_theta(pairs, theta, stretch, max_length),
                   log2_one);
}

double rope_frequency_dynamic_ntk_theta(size_t pairs, double theta, double factor, size_t length,
                                        size_t max_length)
{
    if (length <= max_length)
        return theta;
    const rope_dd stretch = dynamic_stretch(factor, length, max_length);
    if (!isfinite(stretch.hi))
        return (double)INFINITY;
    return rope_wide_exp2(log2_dynamic_theta(pairs, theta, stretch, max_length)).hi;
}

void rope_frequency_ntk_mixed(rope_dd *freq, size_t pairs, double theta, double factor,
                              double exponent)
{
    /*
     * log2 of the divisor = log2 factor ((i + 1) / pairs)^exponent.  Beyond 2^20 only the last pair
     * has one.
     */
    const rope_wide power = rope_wide_from_double(exponent < 0x1p20 ? exponent : 0x1p20);
    const rope_wide log2_theta = rope_wide_log2(theta), log2_factor = rope_wide_log2(factor);
    const rope_wide log2_pairs = rope_wide_log2((double)pairs);
    for (size_t i = 0; i < pairs; i++) {
        const rope_wide log2_place = subtract(rope_wide_log2((double)(i + 1)), log2_pairs);
        const rope_wide share = rope_wide_exp2_wide(rope_wide_multiply(power, log2_place));
        freq[i] = rope_wide_exp2(
            subtract(log2_power(log2_theta, i, pairs), rope_wide_multiply(log2_factor, share)));
    }
}

/* ---- YaRN ---- */

static double rounded_ln(double x)
{
    return isfinite(x) && x > 0.0 ? rope_wide_ln(x).hi : (double)NAN;
}

/* -log2 of e_i at a whole pair i */
static rope_wide fall(rope_wide log2_theta, double i, size_t pairs)
{
    return rope_wide_negate(log2_power(log2_theta, (size_t)i, pairs));
}

struct rope_ramp rope_frequency_yarn_ramp(size_t pairs, double theta, double original_length,
                                          double beta_fast, double beta_slow, int no_truncate)
{
    static const double pi = 0x1.921fb54442d18p+1;
    const double dim = (double)(2 * pairs), ln_theta = rounded_ln(theta);
    const double low =
        dim * rounded_ln(original_length / (beta_fast * 2.0 * pi)) / (2.0 * ln_theta);
    const double high =
        dim * rounded_ln(original_length / (beta_slow * 2.0 * pi)) / (2.0 * ln_theta);
    struct rope_ramp ramp = {low, high, {{0}}, {{0}}};
    if (!no_truncate) {
        ramp.low = floor(low);
        ramp.high = ceil(high);
    }
    if (ramp.low < 0.0)
        ramp.low = 0.0;
    if (ramp.high > dim - 1.0)
        ramp.high = dim - 1.0;
    const int is_empty = ramp.low == ramp.high;
    if (is_empty)
        ramp.high += 0.001;
    if (!(ramp.low < ramp.high) || !isfinite(ramp.high))
        return ramp;

    const rope_wide log2_theta = rope_wide_log2(theta);
    const rope_wide log2_turns = subtract(rope_wide_log2(original_length), log2_two_pi);
    ramp.begin = no_truncate && low > 0.0 ? subtract(log2_turns, rope_wide_log2(beta_fast))
                                          : fall(log2_theta, ramp.low, pairs);
    if (is_empty)
        ramp.end = rope_wide_add(ramp.begin, rope_wide_multiply(rope_wide_from_double(0.001),
                                                                fall(log2_theta, 1.0, pairs)));
    else
        ramp.end = no_truncate && high < dim - 1.0 ? subtract(log2_turns, rope_wide_log2(beta_slow))
                                                   : fall(log2_theta, ramp.high, pairs);
    return ramp;
}

void rope_frequency_yarn(rope_dd *freq, size_t pairs, double theta, double factor,
                         struct rope_ramp ramp)
{
    const rope_wide log2_theta = rope_wide_log2(theta), log2_factor = rope_wide_log2(factor);
    const rope_dd span = rope_wide_to_dd(subtract(ramp.end, ramp.begin));
    for (size_t i = 0; i < pairs; i++) {
        const rope_wide log2_kept = log2_power(log2_theta, i, pairs);
        const rope_dd kept = rope_wide_exp2(log2_kept);
        const rope_dd interpolated = rope_wide_exp2(subtract(log2_kept, log2_factor));
        const rope_dd done = rope_wide_to_dd(subtract(rope_wide_negate(log2_kept), ramp.begin));
        const rope_dd rest = rope_wide_to_dd(rope_wide_add(ramp.end, log2_kept));
        if (done.hi <= 0.0) {
            freq[i] = kept;
        } else if (rest.hi <= 0.0) {
            freq[i] = interpolated;
        } else {
            freq[i] = rope_dd_divide(
                rope_dd_add(rope_dd_multiply(interpolated, done), rope_dd_multiply(kept, rest)),
                span);
        }
    }
}

/* ---- Others ---- */

void rope_frequency_longrope(rope_dd *freq, size_t pairs, double theta, const double *divisors)
{
    rope_frequency_default(freq, pairs, theta);
    rope_frequency_divide(freq, pairs, divisors);
}

void rope_frequency_llama3(rope_dd *freq, size_t pairs, double theta, double factor, double low,
                           double high, double original_length)
{
    const rope_wide log2_theta = rope_wide_log2(theta), log2_factor = rope_wide_log2(factor);
    const rope_wide log2_high = rope_wide_log2(high);
    /* u = n_i / high and r = low / high lie in (0, 1], where fixed point loses nothing when low and
       high are close: f_i = (e_i (u - r) + e_i / factor (1 - u)) / (1 - r). */
    const rope_wide log2_r = subtract(rope_wide_log2(low), log2_high);
    const rope_wide r = rope_wide_exp2_wide(log2_r);
    const rope_wide log2_turns =
        subtract(rope_wide_log2(original_length), rope_wide_add(log2_two_pi, log2_high));
    const rope_wide one = rope_wide_from_double(1.0);
    for (size_t i = 0; i < pairs; i++) {
        const rope_wide log2_kept = log2_power(log2_theta, i, pairs);
        const rope_wide log2_u = rope_wide_add(log2_kept, log2_turns);
        const rope_dd kept = rope_wide_exp2(log2_kept);
        const rope_dd interpolated = rope_wide_exp2(subtract(log2_kept, log2_factor));
        if (!is_below_zero(log2_u)) {
            freq[i] = kept;
        } else if (!is_below_zero(subtract(log2_r, log2_u))) {
            freq[i] = interpolated;
        } else {
            const rope_wide u = rope_wide_exp2_wide(log2_u);
            const rope_dd sum =
                rope_dd_add(rope_dd_multiply(kept, rope_wide_to_dd(subtract(u, r))),
                            rope_dd_multiply(interpolated, rope_wide_to_dd(subtract(one, u))));
            freq[i] = rope_dd_divide(sum, rope_wide_to_dd(subtract(one, r)));
        }
    }
}

void rope_frequency_proportional(rope_dd *freq, size_t pairs, double theta, double factor,
                                 size_t active_pairs)
{
    power_sequence(freq, active_pairs, pairs, rope_wide_log2(theta), rope_wide_log2(factor));
    for (size_t i = active_pairs; i < pairs; i++)
        freq[i] = (rope_dd){0.0, 0.0};
}

/* ---- Factors ---- */

static rope_dd yarn_mscale(double factor, double log_weight, double mscale)
{
    const rope_dd one = {1.0, 0.0};
    if (factor <= 1.0)
        return one;
    const rope_dd weight = rope_dd_multiply((rope_dd){log_weight, 0.0}, (rope_dd){mscale, 0.0});
    return rope_dd_add(one, rope_dd_multiply(weight, rope_wide_ln(factor)));
}

double rope_attention_yarn(double factor, double log_weight, double mscale, double mscale_all_dim)
{
    return rope_dd_divide(yarn_mscale(factor, log_weight, mscale),
                          yarn_mscale(factor, log_weight, mscale_all_dim))
        .hi;
}

double rope_softmax_yarn(double factor, double log_weight, double mscale_all_dim)
{
    const rope_dd mscale = yarn_mscale(factor, log_weight, mscale_all_dim);
    return rope_dd_multiply(mscale, mscale).hi;
}

double rope_attention_longrope(double factor, double original_length)
{
    if (factor <= 1.0)
        return 1.0;
    const rope_dd square = rope_dd_add(
        (rope_dd){1.0, 0.0}, rope_dd_divide(rope_wide_ln(factor), rope_wide_ln(original_length)));
    /* One step of Newton from the rounded root; both terms of the remainder are exact. */
    const double root = sqrt(square.hi);
    return root + (fma(-root, root, square.hi) + square.lo) / (2.0 * root);
}

/* ---- Turns ---- */

rope_dd rope_frequency_turns(rope_dd freq)
{
    /* 1 / (2 pi) = 0x0.28be60db9391054a7f09d5f47d4d377... : its f64, and the rest of it rounded to
     * f64. */
    const rope_dd turns_per_radian = {0x1.45f306dc9c883p-3, -0x1.6b01ec5417056p-57};
    return rope_dd_multiply(freq, turns_per_radian);
}

void rope_frequency_rotation(rope_dd turns, rope_dd *cos_out, rope_dd *sin_out)
{
    rope_wide_rotation(
        rope_wide_add(rope_wide_from_double(turns.hi), rope_wide_from_double(turns.lo)), cos_out,
        sin_out);
}
