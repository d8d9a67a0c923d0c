/* SPDX-License-Identifier: Apache-2.0 */
/* Which parameters a scheme has, and their rules.  Computes no frequency itself and knows no plan. */
#include "scheme.h"

/* No angle within a position may outgrow what double-double turns resolve. */
static const double freq_limit = 0x1p20;

static const double default_theta = 10000.0;

static int is_positive(double value)
{
    return isfinite(value) && value > 0.0;
}

/* A parameter that the scheme does not have must be left at zero: a value there is a misunderstanding. */
rope_status rope_scheme_check(const rope_spec *spec, size_t rotary_dim,
                              struct rope_resolved *resolved, struct rope_message message)
{
    const size_t pairs = rotary_dim / 2;
    const int custom = spec->scheme == ROPE_SCHEME_CUSTOM;
    const int linear = spec->scheme == ROPE_SCHEME_LINEAR;
    if (!custom && !linear && spec->scheme != ROPE_SCHEME_DEFAULT)
        return rope_fail(message, ROPE_ERR_VALUE, "spec.scheme: %d: must be a ROPE_SCHEME_* number",
                         (int)spec->scheme);
    if (custom ? spec->theta != 0.0 : spec->theta != 0.0 && !is_positive(spec->theta))
        return rope_fail(message, ROPE_ERR_VALUE, "spec.theta: %g: must be %s", spec->theta,
                         custom ? "0 with ROPE_SCHEME_CUSTOM" : "finite and > 0, or 0 for 10000");
    if (linear ? !is_positive(spec->factor) : spec->factor != 0.0)
        return rope_fail(message, ROPE_ERR_VALUE, "spec.factor: %g: must be %s", spec->factor,
                         linear ? "finite and > 0" : "0 unless ROPE_SCHEME_LINEAR");
    if (spec->attention_factor != 0.0 && !is_positive(spec->attention_factor))
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.attention_factor: %g: must be finite and > 0, or 0 for 1",
                         spec->attention_factor);
    if (custom && spec->inv_freq == NULL)
        return rope_fail(message, ROPE_ERR_NULL,
                         "spec.inv_freq: NULL: must hold rotary_dim / 2 = %zu frequencies", pairs);
    if (!custom && spec->inv_freq != NULL)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.inv_freq: not NULL: must be NULL unless ROPE_SCHEME_CUSTOM");
    if (spec->inv_freq_count != (custom ? pairs : 0))
        return rope_fail(message, ROPE_ERR_VALUE, "spec.inv_freq_count: %zu: must be %zu",
                         spec->inv_freq_count, custom ? pairs : 0);
    for (size_t i = 0; custom && i < pairs; i++)
        if (!isfinite(spec->inv_freq[i]))
            return rope_fail(message, ROPE_ERR_VALUE, "spec.inv_freq[%zu]: %g: must be finite", i,
                             spec->inv_freq[i]);
    *resolved = (struct rope_resolved){
        .theta = custom               ? 0.0
                 : spec->theta != 0.0 ? spec->theta
                                      : default_theta,
        .factor = linear ? spec->factor : 1.0,
        .attention_factor = spec->attention_factor != 0.0 ? spec->attention_factor : 1.0,
        .softmax_factor = 1.0,
    };
    return ROPE_OK;
}

rope_status rope_scheme_frequencies(const rope_spec *spec, size_t rotary_dim,
                                    const struct rope_resolved *resolved, rope_dd *freq,
                                    struct rope_message message)
{
    const size_t pairs = rotary_dim / 2;
    if (spec->scheme == ROPE_SCHEME_CUSTOM)
        rope_frequency_custom(freq, pairs, spec->inv_freq);
    else if (spec->scheme == ROPE_SCHEME_LINEAR)
        rope_frequency_linear(freq, pairs, resolved->theta, resolved->factor);
    else
        rope_frequency_default(freq, pairs, resolved->theta);
    for (size_t i = 0; i < pairs; i++)
        if (!(fabs(freq[i].hi) <= freq_limit))
            return rope_fail(message, ROPE_ERR_VALUE,
                             "spec.%s: gives inverse frequency %zu = %g: must be at most 2^20",
                             spec->scheme == ROPE_SCHEME_CUSTOM ? "inv_freq" : "theta", i,
                             freq[i].hi);
    return ROPE_OK;
}
