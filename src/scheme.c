/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which parameters a scheme has, and their rules.  Computes no frequency itself and knows no plan.
 */
#include "scheme.h"

/* Lengths are computed with in f64. */
static const double length_limit = 0x1p53;

static const char *const names[] = {
    [ROPE_SCHEME_DEFAULT] = "ROPE_SCHEME_DEFAULT",
    [ROPE_SCHEME_LINEAR] = "ROPE_SCHEME_LINEAR",
    [ROPE_SCHEME_CUSTOM] = "ROPE_SCHEME_CUSTOM",
    [ROPE_SCHEME_NTK] = "ROPE_SCHEME_NTK",
    [ROPE_SCHEME_NTK_MIXED] = "ROPE_SCHEME_NTK_MIXED",
    [ROPE_SCHEME_DYNAMIC_NTK] = "ROPE_SCHEME_DYNAMIC_NTK",
    [ROPE_SCHEME_YARN] = "ROPE_SCHEME_YARN",
    [ROPE_SCHEME_LONGROPE] = "ROPE_SCHEME_LONGROPE",
    [ROPE_SCHEME_LLAMA3] = "ROPE_SCHEME_LLAMA3",
    [ROPE_SCHEME_PROPORTIONAL] = "ROPE_SCHEME_PROPORTIONAL",
    [ROPE_SCHEME_SINUSOID] = "ROPE_SCHEME_SINUSOID",
};
enum { SCHEMES = sizeof names / sizeof names[0] };

/* ---- Fields, one by one ---- */

/* Sets of schemes. */
enum {
    DEFAULT = 1 << ROPE_SCHEME_DEFAULT,
    LINEAR = 1 << ROPE_SCHEME_LINEAR,
    CUSTOM = 1 << ROPE_SCHEME_CUSTOM,
    NTK = 1 << ROPE_SCHEME_NTK,
    NTK_MIXED = 1 << ROPE_SCHEME_NTK_MIXED,
    DYNAMIC_NTK = 1 << ROPE_SCHEME_DYNAMIC_NTK,
    YARN = 1 << ROPE_SCHEME_YARN,
    LONGROPE = 1 << ROPE_SCHEME_LONGROPE,
    LLAMA3 = 1 << ROPE_SCHEME_LLAMA3,
    PROPORTIONAL = 1 << ROPE_SCHEME_PROPORTIONAL,
    SINUSOID = 1 << ROPE_SCHEME_SINUSOID,
    ALL = (1 << SCHEMES) - 1
};

/*
 * The parameters that are single numbers; `needed` by some schemes, optional for others, 0 for all
 * others.
 */
#define FIELD(name) #name, offsetof(rope_spec, name)
static const struct {
    const char *name;
    size_t offset;
    unsigned needed, optional;
} reals[] =
    {
        {FIELD(theta), 0, ALL & ~CUSTOM},
        {FIELD(factor), LINEAR | NTK | NTK_MIXED | DYNAMIC_NTK | LLAMA3,
         YARN | LONGROPE | PROPORTIONAL},
        {FIELD(attention_factor), 0, ALL},
        {FIELD(ntk_exponent), 0, NTK_MIXED},
        {FIELD(beta_fast), 0, YARN},
        {FIELD(beta_slow), 0, YARN},
        {FIELD(mscale), 0, YARN},
        {FIELD(mscale_all_dim), 0, YARN},
        {FIELD(mscale_log), 0, YARN},
        {FIELD(low_freq_factor), LLAMA3, 0},
        {FIELD(high_freq_factor), LLAMA3, 0},
        {FIELD(shift), 0, SINUSOID},
        {FIELD(position_scale), 0, SINUSOID},
},
  lengths[] = {
      {FIELD(length), 0, DYNAMIC_NTK | LONGROPE},
      {FIELD(max_length), DYNAMIC_NTK, YARN | LONGROPE},
      {FIELD(original_length), YARN | LONGROPE | LLAMA3, 0},
};

static rope_status check_real(const char *field, double value, int needed, int optional,
                              const char *scheme, struct rope_message message)
{
    if (!needed && !optional)
        return value == 0.0 ? ROPE_OK
                            : rope_fail(message, ROPE_ERR_VALUE, "spec.%s: %g: must be 0 with %s",
                                        field, value, scheme);
    if ((optional && value == 0.0) || (isfinite(value) && value > 0.0))
        return ROPE_OK;
    return rope_fail(message, ROPE_ERR_VALUE, "spec.%s: %g: must be finite and > 0%s with %s",
                     field, value, optional ? ", or 0 for its default," : "", scheme);
}

static rope_status check_length(const char *field, size_t value, int needed, int optional,
                                const char *scheme, struct rope_message message)
{
    if (!needed && !optional && value != 0)
        return rope_fail(message, ROPE_ERR_VALUE, "spec.%s: %zu: must be 0 with %s", field, value,
                         scheme);
    if (needed && value == 0)
        return rope_fail(message, ROPE_ERR_VALUE, "spec.%s: 0: must be > 0 with %s", field, scheme);
    if ((double)value > length_limit)
        return rope_fail(message, ROPE_ERR_VALUE, "spec.%s: %zu: must be at most 2^53", field,
                         value);
    return ROPE_OK;
}

struct list {
    const char *field;
    const double *values;
    int is_read, is_needed;
    int any_sign, may_be_infinite;
};

static rope_status check_list(const struct list *list, size_t pairs, const char *scheme,
                              struct rope_message message)
{
    if (!list->is_read && list->values != NULL)
        return rope_fail(message, ROPE_ERR_VALUE, "spec.%s: not NULL: must be NULL with %s",
                         list->field, scheme);
    if (list->is_needed && list->values == NULL)
        return rope_fail(message, ROPE_ERR_NULL,
                         "spec.%s: NULL: must hold rotary_dim / 2 = %zu values with %s",
                         list->field, pairs, scheme);
    for (size_t i = 0; list->values != NULL && i < pairs; i++) {
        const double value = list->values[i];
        const int finite = isfinite(value) || (list->may_be_infinite && !isnan(value));
        if (!finite || (!list->any_sign && value <= 0.0))
            return rope_fail(message, ROPE_ERR_VALUE, "spec.%s[%zu]: %g: must be %s", list->field,
                             i, value,
                             list->any_sign          ? "finite"
                             : list->may_be_infinite ? "> 0"
                                                     : "finite and > 0");
    }
    return ROPE_OK;
}

static rope_status check_count(const char *field, size_t count, size_t right,
                               struct rope_message message)
{
    return count == right ? ROPE_OK
                          : rope_fail(message, ROPE_ERR_VALUE, "spec.%s: %zu: must be %s%zu", field,
                                      count, right != 0 ? "rotary_dim / 2 = " : "", right);
}

/* A list's length is checked before its values are read. */
static rope_status check_lists(const rope_spec *spec, size_t pairs, const char *scheme,
                               struct rope_message message)
{
    const int custom = spec->scheme == ROPE_SCHEME_CUSTOM;
    const int longrope = spec->scheme == ROPE_SCHEME_LONGROPE;
    const int divided = (1u << spec->scheme & (DEFAULT | LINEAR | YARN)) != 0;
    const struct list lists[] = {
        {"inv_freq", spec->inv_freq, custom, custom, 1, 0},
        {"short_factor", spec->short_factor, longrope, longrope, 0, 0},
        {"long_factor", spec->long_factor, longrope, longrope, 0, 0},
        {"divisors", spec->divisors, divided, 0, 0, 1},
    };
    rope_status status =
        check_count("inv_freq_count", spec->inv_freq_count, custom ? pairs : 0, message);
    if (status == ROPE_OK)
        status = check_count("factor_count", spec->factor_count, longrope ? pairs : 0, message);
    if (status == ROPE_OK)
        status = check_count("divisor_count", spec->divisor_count,
                             divided && spec->divisors != NULL ? pairs : 0, message);
    for (size_t i = 0; status == ROPE_OK && i < sizeof lists / sizeof lists[0]; i++)
        status = check_list(&lists[i], pairs, scheme, message);
    return status;
}

static rope_status check_fields(const rope_spec *spec, size_t rotary_dim,
                                struct rope_message message)
{
    if (spec->scheme < 0 || spec->scheme >= SCHEMES)
        return rope_fail(message, ROPE_ERR_VALUE, "spec.scheme: %d: must be a ROPE_SCHEME_* number",
                         (int)spec->scheme);
    const char *scheme = names[spec->scheme];
    const unsigned bit = 1u << spec->scheme;
    rope_status status = ROPE_OK;
    for (size_t i = 0; status == ROPE_OK && i < sizeof reals / sizeof reals[0]; i++)
        status = check_real(reals[i].name, *(const double *)((const char *)spec + reals[i].offset),
                            (reals[i].needed & bit) != 0, (reals[i].optional & bit) != 0, scheme,
                            message);
    for (size_t i = 0; status == ROPE_OK && i < sizeof lengths / sizeof lengths[0]; i++)
        status = check_length(
            lengths[i].name, *(const size_t *)((const char *)spec + lengths[i].offset),
            (lengths[i].needed & bit) != 0, (lengths[i].optional & bit) != 0, scheme, message);
    if (status != ROPE_OK)
        return status;
    if (spec->no_truncate > (spec->scheme == ROPE_SCHEME_YARN))
        return rope_fail(message, ROPE_ERR_VALUE, "spec.no_truncate: %u: must be 0%s with %s",
                         (unsigned)spec->no_truncate,
                         spec->scheme == ROPE_SCHEME_YARN ? " or 1" : "", scheme);
    if (spec->scheme != ROPE_SCHEME_PROPORTIONAL && spec->active_pairs != 0)
        return rope_fail(message, ROPE_ERR_VALUE, "spec.active_pairs: %zu: must be 0 with %s",
                         spec->active_pairs, scheme);
    return check_lists(spec, rotary_dim / 2, scheme, message);
}

/* ---- Schemes, one by one: what their fields come to together ---- */

/* s of YARN and LONGROPE: factor or max_length / original_length; 0 if neither is given. */
static rope_status resolve_factor(const rope_spec *spec, struct rope_resolved *resolved,
                                  struct rope_message message)
{
    if (spec->factor != 0.0 && spec->max_length != 0)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.max_length: %zu: must be 0 where factor is given (%g)",
                         spec->max_length, spec->factor);
    resolved->factor = spec->factor != 0.0
                           ? spec->factor
                           : (double)spec->max_length / (double)spec->original_length;
    return ROPE_OK;
}

static rope_status missing_factor(const rope_spec *spec, struct rope_message message)
{
    return rope_fail(message, ROPE_ERR_VALUE,
                     "spec.factor: 0: must be finite and > 0 with %s where max_length is 0 too",
                     names[spec->scheme]);
}

static rope_status resolve_ntk(const rope_spec *spec, size_t rotary_dim,
                               struct rope_resolved *resolved, struct rope_message message)
{
    if (rotary_dim == 2)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.rotary_dim: 2: must be > 2 with %s, whose exponent is d / (d - 2)",
                         names[spec->scheme]);
    const double theta =
        spec->scheme == ROPE_SCHEME_NTK
            ? rope_frequency_ntk_theta(rotary_dim / 2, resolved->theta, spec->factor)
            : rope_frequency_dynamic_ntk_theta(rotary_dim / 2, resolved->theta, spec->factor,
                                               spec->length, spec->max_length);
    if (!isfinite(theta) || theta <= 0.0)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.factor: %g: raises theta to %g: must be finite and > 0",
                         spec->factor, theta);
    resolved->is_long = spec->scheme == ROPE_SCHEME_DYNAMIC_NTK && spec->length > spec->max_length;
    resolved->theta = theta;
    return ROPE_OK;
}

static rope_status resolve_yarn(const rope_spec *spec, size_t rotary_dim,
                                struct rope_resolved *resolved, struct rope_message message)
{
    const double beta_fast = spec->beta_fast != 0.0 ? spec->beta_fast : 32.0;
    const double beta_slow = spec->beta_slow != 0.0 ? spec->beta_slow : 1.0;
    const double log_weight = spec->mscale_log != 0.0 ? spec->mscale_log : 0.1;
    const rope_status status = resolve_factor(spec, resolved, message);
    if (status != ROPE_OK)
        return status;
    if (resolved->factor == 0.0)
        return missing_factor(spec, message);
    if (resolved->theta <= 1.0)
        return rope_fail(message, ROPE_ERR_VALUE, "spec.theta: %g: must be > 1 with %s",
                         resolved->theta, names[spec->scheme]);
    if (beta_slow > beta_fast)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.beta_slow: %g: must be at most beta_fast = %g", beta_slow,
                         beta_fast);
    resolved->ramp =
        rope_frequency_yarn_ramp(rotary_dim / 2, resolved->theta, (double)spec->original_length,
                                 beta_fast, beta_slow, spec->no_truncate != 0);
    if (!(resolved->ramp.low < resolved->ramp.high) || !isfinite(resolved->ramp.high))
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.original_length: %zu: with theta = %g, beta_fast = %g and beta_slow "
                         "= %g the ramp goes from pair %g to %g: must not end before it begins",
                         spec->original_length, resolved->theta, beta_fast, beta_slow,
                         resolved->ramp.low, resolved->ramp.high);
    const int ratio = spec->mscale != 0.0 && spec->mscale_all_dim != 0.0;
    if (resolved->attention_factor == 0.0)
        resolved->attention_factor =
            ratio ? rope_attention_yarn(resolved->factor, log_weight, spec->mscale,
                                        spec->mscale_all_dim)
                  : rope_attention_yarn(resolved->factor, log_weight, 1.0, 0.0);
    if (spec->mscale_all_dim != 0.0)
        resolved->softmax_factor =
            rope_softmax_yarn(resolved->factor, log_weight, spec->mscale_all_dim);
    if (!isfinite(resolved->attention_factor) || resolved->attention_factor <= 0.0)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.%s: %g: gives an attention factor of %g: must be finite and > 0",
                         ratio ? "mscale" : "mscale_log", ratio ? spec->mscale : log_weight,
                         resolved->attention_factor);
    if (!isfinite(resolved->softmax_factor))
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.mscale_all_dim: %g: gives a softmax factor of %g: must be finite",
                         spec->mscale_all_dim, resolved->softmax_factor);
    return ROPE_OK;
}

static rope_status resolve_longrope(const rope_spec *spec, struct rope_resolved *resolved,
                                    struct rope_message message)
{
    const rope_status status = resolve_factor(spec, resolved, message);
    if (status != ROPE_OK)
        return status;
    resolved->is_long = spec->length > spec->original_length;
    if (resolved->attention_factor == 0.0) {
        if (resolved->factor == 0.0)
            return missing_factor(spec, message);
        if (spec->original_length == 1 && resolved->factor > 1.0)
            return rope_fail(message, ROPE_ERR_VALUE,
                             "spec.original_length: 1: must be > 1 with %s, whose attention factor "
                             "divides by its logarithm",
                             names[spec->scheme]);
        resolved->attention_factor =
            rope_attention_longrope(resolved->factor, (double)spec->original_length);
    }
    if (resolved->factor == 0.0)
        resolved->factor = 1.0;
    return ROPE_OK;
}

static rope_status resolve_proportional(const rope_spec *spec, size_t rotary_dim,
                                        struct rope_message message)
{
    if (rotary_dim != spec->head_dim)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.rotary_dim: %zu: must be head_dim = %zu with %s: the pairs that do "
                         "not turn belong to it",
                         rotary_dim, spec->head_dim, names[spec->scheme]);
    if (spec->active_pairs == 0 || spec->active_pairs > rotary_dim / 2)
        return rope_fail(message, ROPE_ERR_VALUE, "spec.active_pairs: %zu: must be 1..%zu with %s",
                         spec->active_pairs, rotary_dim / 2, names[spec->scheme]);
    return ROPE_OK;
}

static rope_status resolve(const rope_spec *spec, size_t rotary_dim, struct rope_resolved *resolved,
                           struct rope_message message)
{
    switch (spec->scheme) {
    case ROPE_SCHEME_NTK:
    case ROPE_SCHEME_DYNAMIC_NTK:
        return resolve_ntk(spec, rotary_dim, resolved, message);
    case ROPE_SCHEME_YARN:
        return resolve_yarn(spec, rotary_dim, resolved, message);
    case ROPE_SCHEME_LONGROPE:
        return resolve_longrope(spec, resolved, message);
    case ROPE_SCHEME_LLAMA3:
        if (spec->high_freq_factor < spec->low_freq_factor)
            return rope_fail(message, ROPE_ERR_VALUE,
                             "spec.high_freq_factor: %g: must be at least low_freq_factor = %g",
                             spec->high_freq_factor, spec->low_freq_factor);
        return ROPE_OK;
    case ROPE_SCHEME_PROPORTIONAL:
        return resolve_proportional(spec, rotary_dim, message);
    case ROPE_SCHEME_SINUSOID:
        if (spec->shift >= (double)(rotary_dim / 2))
            return rope_fail(message, ROPE_ERR_VALUE,
                             "spec.shift: %g: must be below rotary_dim / 2 = %zu", spec->shift,
                             rotary_dim / 2);
        return ROPE_OK;
    default:
        return ROPE_OK;
    }
}

rope_status rope_scheme_check(const rope_spec *spec, size_t rotary_dim,
                              struct rope_resolved *resolved, struct rope_message message)
{
    rope_status status = check_fields(spec, rotary_dim, message);
    if (status != ROPE_OK)
        return status;
    *resolved = (struct rope_resolved){
        .theta = spec->scheme == ROPE_SCHEME_CUSTOM ? 0.0
                 : spec->theta != 0.0               ? spec->theta
                                                    : 10000.0,
        .factor = spec->factor != 0.0 ? spec->factor : 1.0,
        .attention_factor = spec->attention_factor, /* 0 until the scheme gives one */
        .softmax_factor = 1.0,
    };
    status = resolve(spec, rotary_dim, resolved, message);
    if (resolved->attention_factor == 0.0)
        resolved->attention_factor = 1.0;
    return status;
}

/* ---- Frequencies ---- */

/* The field to blame for a frequency beyond the limit. */
static const char *field_of(const rope_spec *spec, const struct rope_resolved *resolved)
{
    return spec->scheme == ROPE_SCHEME_CUSTOM ? "inv_freq"
           : spec->divisors != NULL           ? "divisors"
           : spec->scheme == ROPE_SCHEME_LONGROPE
               ? resolved->is_long ? "long_factor" : "short_factor"
           : spec->position_scale != 0.0 ? "position_scale"
           : resolved->theta < 1.0       ? "theta"
                                         : "factor";
}

rope_status rope_scheme_frequencies(const rope_spec *spec, size_t rotary_dim,
                                    const struct rope_resolved *resolved, rope_dd *freq,
                                    struct rope_message message)
{
    const size_t pairs = rotary_dim / 2;
    const double theta = spec->theta != 0.0 ? spec->theta : 10000.0, factor = resolved->factor;
    switch (spec->scheme) {
    case ROPE_SCHEME_LINEAR:
        rope_frequency_linear(freq, pairs, theta, factor);
        break;
    case ROPE_SCHEME_CUSTOM:
        rope_frequency_custom(freq, pairs, spec->inv_freq);
        break;
    case ROPE_SCHEME_NTK:
        rope_frequency_ntk(freq, pairs, theta, factor);
        break;
    case ROPE_SCHEME_NTK_MIXED:
        rope_frequency_ntk_mixed(freq, pairs, theta, factor,
                                 spec->ntk_exponent != 0.0 ? spec->ntk_exponent : 1.0);
        break;
    case ROPE_SCHEME_DYNAMIC_NTK:
        rope_frequency_dynamic_ntk(freq, pairs, theta, factor, spec->length, spec->max_length);
        break;
    case ROPE_SCHEME_YARN:
        rope_frequency_yarn(freq, pairs, theta, factor, resolved->ramp);
        break;
    case ROPE_SCHEME_LONGROPE:
        rope_frequency_longrope(freq, pairs, theta,
                                resolved->is_long ? spec->long_factor : spec->short_factor);
        break;
    case ROPE_SCHEME_LLAMA3:
        rope_frequency_llama3(freq, pairs, theta, factor, spec->low_freq_factor,
                              spec->high_freq_factor, (double)spec->original_length);
        break;
    case ROPE_SCHEME_PROPORTIONAL:
        rope_frequency_proportional(freq, pairs, theta, factor, spec->active_pairs);
        break;
    case ROPE_SCHEME_SINUSOID:
        rope_frequency_sinusoid(freq, pairs, theta, spec->shift,
                                spec->position_scale != 0.0 ? spec->position_scale : 1.0);
        break;
    default:
        rope_frequency_default(freq, pairs, theta);
    }
    if (spec->divisors != NULL)
        rope_frequency_divide(freq, pairs, spec->divisors);
    for (size_t i = 0; i < pairs; i++)
        if (!(fabs(freq[i].hi) <= rope_scheme_freq_limit))
            return rope_fail(message, ROPE_ERR_VALUE,
                             "spec.%s: gives inverse frequency %zu = %g: must be at most 2^20",
                             field_of(spec, resolved), i, freq[i].hi);
    return ROPE_OK;
}
