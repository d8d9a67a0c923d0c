/* SPDX-License-Identifier: Apache-2.0 */
/* Element types by arithmetic on values, on purpose not by the bit tricks of the library.  Must not
 * call the library. */
#include "element.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* value bits (with the implied one), exponent of the smallest subnormal, largest finite value */
struct format {
    int digits;
    int smallest;
    double largest;
};
static const struct format f16_format = {11, -24, 65504.0};
static const struct format bf16_format = {8, -133, 0x1.fep127};

size_t tool_element_size(rope_dtype dtype)
{
    switch (dtype) {
    case ROPE_F64:
    case ROPE_I64:
        return 8;
    case ROPE_F32:
    case ROPE_I32:
        return 4;
    default:
        return 2;
    }
}

const char *tool_element_name(rope_dtype dtype)
{
    switch (dtype) {
    case ROPE_F64:
        return "f64";
    case ROPE_I64:
        return "i64";
    case ROPE_F32:
        return "f32";
    case ROPE_I32:
        return "i32";
    case ROPE_F16:
        return "f16";
    case ROPE_BF16:
        return "bf16";
    default:
        return "u16";
    }
}

uint64_t tool_element_bits(rope_dtype dtype, const void *array, size_t index)
{
    const unsigned char *at = (const unsigned char *)array + index * tool_element_size(dtype);
    uint64_t wide;
    uint32_t word;
    uint16_t half;
    switch (tool_element_size(dtype)) {
    case 8:
        memcpy(&wide, at, sizeof wide);
        return wide;
    case 4:
        memcpy(&word, at, sizeof word);
        return word;
    default:
        memcpy(&half, at, sizeof half);
        return half;
    }
}

static double f32_value(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double f16_value(uint32_t bits)
{
    const int exponent = (int)(bits >> 10 & 0x1f);
    const int fraction = (int)(bits & 0x3ff);
    double value;
    if (exponent == 0x1f)
        value = fraction == 0 ? (double)INFINITY : (double)NAN;
    else if (exponent == 0)
        value = ldexp(fraction, -24);
    else
        value = ldexp(0x400 + fraction, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

double tool_element_value(rope_dtype dtype, uint64_t bits)
{
    double value;
    switch (dtype) {
    case ROPE_F64:
        memcpy(&value, &bits, sizeof value);
        return value;
    case ROPE_F32:
        return f32_value((uint32_t)bits);
    case ROPE_BF16:
        return f32_value((uint32_t)bits << 16);
    case ROPE_F16:
        return f16_value((uint32_t)bits);
    case ROPE_I64:
        return (double)(int64_t)bits;
    case ROPE_I32:
        return (double)(int32_t)(uint32_t)bits;
    default:
        return (double)bits;
    }
}

static double round_to(const struct format *format, double value)
{
    if (!isfinite(value))
        return value;
    int exponent;
    frexp(value, &exponent);
    int last = exponent - format->digits; /* exponent of the last digit kept */
    if (last < format->smallest)
        last = format->smallest;
    const double rounded = ldexp(nearbyint(ldexp(value, -last)), last);
    return fabs(rounded) > format->largest ? copysign((double)INFINITY, value) : rounded;
}

double tool_element_round(rope_dtype dtype, double value)
{
    switch (dtype) {
    case ROPE_F32:
        return (double)(float)value;
    case ROPE_F16:
        return round_to(&f16_format, value);
    case ROPE_BF16:
        return round_to(&bf16_format, value);
    default:
        return value;
    }
}

static uint64_t f16_encode(double rounded)
{
    const uint64_t sign = signbit(rounded) ? 0x8000 : 0;
    const double size = fabs(rounded);
    if (isnan(size))
        return sign | 0x7e00;
    if (isinf(size))
        return sign | 0x7c00;
    if (size < 0x1p-14)
        return sign | (uint64_t)ldexp(size, 24);
    int exponent;
    const double fraction = frexp(size, &exponent); /* [1/2, 1) */
    return sign | (((uint64_t)(exponent + 13) << 10) + (uint64_t)ldexp(fraction, 11));
}

uint64_t tool_element_encode(rope_dtype dtype, double rounded)
{
    const float single = (float)rounded;
    uint64_t wide;
    uint32_t word;
    switch (dtype) {
    case ROPE_F32:
    case ROPE_BF16:
        memcpy(&word, &single, sizeof word);
        return dtype == ROPE_F32 ? word : word >> 16;
    case ROPE_F16:
        return f16_encode(rounded);
    default:
        memcpy(&wide, &rounded, sizeof wide);
        return wide;
    }
}

int tool_element_is_integer(rope_dtype dtype)
{
    return dtype == ROPE_I32 || dtype == ROPE_I64 || dtype == TOOL_U16;
}

int tool_element_is_nan(rope_dtype dtype, uint64_t bits)
{
    return !tool_element_is_integer(dtype) && isnan(tool_element_value(dtype, bits));
}

/* Words in the order of their values, as unsigned numbers. */
static uint64_t rank(rope_dtype dtype, uint64_t bits)
{
    const uint64_t sign = (uint64_t)1 << (8 * tool_element_size(dtype) - 1);
    if (dtype == TOOL_U16)
        return bits;
    if (tool_element_is_integer(dtype))
        return bits ^ sign;
    return bits & sign ? sign - 1 - (bits ^ sign) : bits ^ sign;
}

uint64_t tool_element_distance(rope_dtype dtype, uint64_t a, uint64_t b)
{
    const int a_nan = tool_element_is_nan(dtype, a);
    const int b_nan = tool_element_is_nan(dtype, b);
    if (a_nan || b_nan)
        return a_nan && b_nan ? 0 : UINT64_MAX;
    const uint64_t a_rank = rank(dtype, a);
    const uint64_t b_rank = rank(dtype, b);
    return a_rank < b_rank ? b_rank - a_rank : a_rank - b_rank;
}

void tool_element_print(char *text, size_t size, rope_dtype dtype, uint64_t bits)
{
    if (dtype == ROPE_I64)
        snprintf(text, size, "%" PRId64, (int64_t)bits);
    else
        snprintf(text, size, "%.*g", dtype == ROPE_F64 ? 17 : 10, tool_element_value(dtype, bits));
}
