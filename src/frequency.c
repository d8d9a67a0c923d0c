/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The published rules that give inverse frequencies, one function each.  Checks no argument and
 * knows no plan.
 */
#include "frequency.h"
#include "wide.h"

/* freq[i] = base^(-i / pairs) / divisor, from the logarithms. */
static void power_sequence(rope_dd *freq, size_t pairs, rope_wide log2_base, rope_wide log2_divisor)
{
    for (size_t i = 0; i < pairs; i++) {
        const rope_wide power = rope_wide_ratio(log2_base, (uint32_t)i, (uint32_t)pairs);
        freq[i] = rope_wide_exp2(rope_wide_negate(rope_wide_add(power, log2_divisor)));
    }
}

void rope_frequency_default(rope_dd *freq, size_t pairs, double theta)
{
    power_sequence(freq, pairs, rope_wide_log2(theta), (rope_wide){{0}});
}

void rope_frequency_linear(rope_dd *freq, size_t pairs, double theta, double factor)
{
    power_sequence(freq, pairs, rope_wide_log2(theta), rope_wide_log2(factor));
}

void rope_frequency_custom(rope_dd *freq, size_t pairs, const double *inv_freq)
{
    for (size_t i = 0; i < pairs; i++)
        freq[i] = (rope_dd){inv_freq[i], 0.0};
}

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
