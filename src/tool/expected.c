/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference of rope verify.  Must not call the library, and must be compiled without
 * contraction of products.
 */
#include "expected.h"
#include "element.h"
#include "say.h"
#include <math.h>
#include <stdlib.h>

/* The inverse frequency of a pair: exp(-(2 i / d) log theta - log factor), or the caller's own. */
static struct tool_fixed frequency(const rope_spec *spec, size_t pair, size_t pairs,
                                   const struct tool_fixed *log_theta,
                                   const struct tool_fixed *log_factor)
{
    if (spec->scheme == ROPE_SCHEME_CUSTOM)
        return tool_fixed_from(spec->inv_freq[pair]);
    const struct tool_fixed power = tool_fixed_scale(*log_theta, (uint32_t)pair, (uint32_t)pairs);
    return tool_fixed_exp(tool_fixed_negate(tool_fixed_add(power, *log_factor)));
}

int tool_expected_open(struct tool_expected *expected, const rope_spec *spec,
                       rope_direction direction)
{
    const double m = spec->attention_factor != 0 ? spec->attention_factor : 1.0;
    const size_t rotated =
        spec->rotary_dim != 0 ? spec->rotary_dim : spec->head_dim - spec->rotary_offset;
    expected->pairs = rotated / 2;
    expected->angle = spec->angle;
    expected->scale = direction == ROPE_SHIFT ? 1.0 : direction == ROPE_INVERSE ? 1.0 / m : m;
    expected->backward = direction == ROPE_INVERSE || direction == ROPE_TRANSPOSE;
    expected->circle = tool_fixed_circle();
    expected->turns = calloc(expected->pairs, sizeof *expected->turns);
    expected->freq = calloc(expected->pairs, sizeof *expected->freq);
    if (expected->turns == NULL || expected->freq == NULL)
        return tool_bad("out of memory for %zu frequencies", expected->pairs);
    const struct tool_fixed log_theta = tool_fixed_log(spec->theta != 0 ? spec->theta : 10000.0);
    const struct tool_fixed log_factor = tool_fixed_log(spec->factor != 0 ? spec->factor : 1.0);
    for (size_t i = 0; i < expected->pairs; i++) {
        const struct tool_fixed f = frequency(spec, i, expected->pairs, &log_theta, &log_factor);
        expected->turns[i] = tool_fixed_mul(f, expected->circle.per_turn);
        /* the caller's own may lie below the last bit of fixed point */
        expected->freq[i] =
            (float)(spec->scheme == ROPE_SCHEME_CUSTOM ? spec->inv_freq[i] : tool_fixed_to(f));
    }
    return TOOL_OK;
}

void tool_expected_close(struct tool_expected *expected)
{
    free(expected->turns);
    free(expected->freq);
}

/*
 * The bound of rope.h without its half ulp, which is that of rounding; the last term is for the
 * products here.
 */
static struct tool_range entry(struct tool_fixed unscaled, double scale, double position)
{
    const double value = tool_fixed_to(unscaled) * scale;
    const double room = (fabs(position) < 0x1p20 ? 4e-16 : 8e-16) * scale + 0x1p-51 * fabs(value);
    return (struct tool_range){value, value - room, value + room};
}

void tool_expected_row(const struct tool_expected *expected, double position,
                       struct tool_expected_pair *row)
{
    const struct tool_fixed exact = tool_fixed_from(position);
    for (size_t i = 0; i < expected->pairs; i++) {
        struct tool_fixed turns;
        if (expected->angle == ROPE_ANGLE_F32) {
            const float radians = (float)position * expected->freq[i];
            turns = tool_fixed_mul(tool_fixed_from((double)radians), expected->circle.per_turn);
        } else {
            turns = tool_fixed_mul(exact, expected->turns[i]);
        }
        struct tool_fixed cosine, sine;
        tool_fixed_cos_sin(&expected->circle, expected->backward ? tool_fixed_negate(turns) : turns,
                           &cosine, &sine);
        row[i].cos = entry(cosine, expected->scale, position);
        row[i].sin = entry(sine, expected->scale, position);
    }
}

static struct tool_range round_range(rope_dtype dtype, struct tool_range range)
{
    if (dtype == ROPE_F64) { /* rope.h: 1 ulp, if that is more */
        range.low = fmin(range.low, nextafter(range.value, -(double)INFINITY));
        range.high = fmax(range.high, nextafter(range.value, (double)INFINITY));
    }
    range.value = tool_element_round(dtype, range.value);
    range.low = tool_element_round(dtype, range.low);
    range.high = tool_element_round(dtype, range.high);
    return range;
}

struct tool_expected_pair tool_expected_round(const struct tool_arith *arith,
                                              struct tool_expected_pair pair)
{
    const int eager = arith->arith == ROPE_ARITH_EAGER;
    rope_dtype dtype = arith->dtype == ROPE_F64 ? ROPE_F64 : ROPE_F32;
    if (arith->row_dtype != 0)
        dtype = arith->row_dtype;
    else if (eager)
        dtype = arith->dtype;
    pair.cos = round_range(dtype, pair.cos);
    pair.sin = round_range(dtype, pair.sin);
    if (eager && arith->dtype != ROPE_F64) { /* row_dtype first, then the tensor's own */
        pair.cos = round_range(arith->dtype, pair.cos);
        pair.sin = round_range(arith->dtype, pair.sin);
    }
    return pair;
}

/* a b + c d */
static double product_sum(const struct tool_arith *arith, double a, double b, double c, double d)
{
    if (arith->dtype == ROPE_F64)
        return arith->arith == ROPE_ARITH_FUSED ? fma(a, b, c * d) : a * b + c * d;
    const float first = (float)a * (float)b;
    const float second = (float)c * (float)d;
    if (arith->arith == ROPE_ARITH_FUSED)
        return tool_element_round(arith->dtype, (double)fmaf((float)a, (float)b, second));
    if (arith->arith == ROPE_ARITH_UNFUSED)
        return tool_element_round(arith->dtype, (double)(first + second));
    const double sum = (double)((float)tool_element_round(arith->dtype, (double)first) +
                                (float)tool_element_round(arith->dtype, (double)second));
    return tool_element_round(arith->dtype, sum);
}

/* a b + c d: rounding never reverses an order, so the extremes are at the ends of b and d. */
static struct tool_range range_sum(const struct tool_arith *arith, double a,
                                   const struct tool_range *b, double c, const struct tool_range *d)
{
    const double value = product_sum(arith, a, b->value, c, d->value);
    struct tool_range range = {value, value, value};
    if (b->low == b->high && d->low == d->high)
        return range;
    const double ends[] = {
        product_sum(arith, a, b->low, c, d->low), product_sum(arith, a, b->low, c, d->high),
        product_sum(arith, a, b->high, c, d->low), product_sum(arith, a, b->high, c, d->high)};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        range.low = fmin(range.low, ends[i]);
        range.high = fmax(range.high, ends[i]);
    }
    return range;
}

void tool_expected_rotate(const struct tool_arith *arith, const struct tool_expected_pair *pair,
                          double x, double y, struct tool_range *x_out, struct tool_range *y_out)
{
    *x_out = range_sum(arith, x, &pair->cos, -y, &pair->sin);
    *y_out = range_sum(arith, x, &pair->sin, y, &pair->cos);
}
