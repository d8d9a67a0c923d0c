/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixed-point logarithm, exponential and rotation.  Knows nothing of frequencies and calls no
 * function of libm.
 */
#include "wide.h"
#include <string.h>

enum { LIMBS = ROPE_WIDE_LIMBS, FRACTION_LIMBS = ROPE_WIDE_FRACTION_BITS / 32, TOP = LIMBS - 1 };

/* floor(2^224 ln 2); ln 2 = sum of 1 / (k 2^k), k >= 1. */
static const rope_wide ln2 = {{0x8a0d175b, 0x7298b62d, 0x40f34326, 0x03f2f6af, 0xc9e3b398,
                               0xd1cf79ab, 0xb17217f7, 0x00000000}};

/* floor(2^224 2 pi); pi = 16 arctan(1/5) - 4 arctan(1/239). */
static const rope_wide two_pi = {{0x105df531, 0x533e63a0, 0x48127044, 0x06e0e689, 0x2633145c,
                                  0x0b4611a6, 0x487ed511, 0x00000006}};

static int is_negative(const rope_wide *a)
{
    return (int)(a->limb[TOP] >> 31);
}

rope_wide rope_wide_add(rope_wide a, rope_wide b)
{
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)a.limb[i] + b.limb[i];
        a.limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return a;
}

rope_wide rope_wide_negate(rope_wide a)
{
    uint64_t carry = 1;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint32_t)~a.limb[i];
        a.limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return a;
}

/* a b for a, b >= 0, cut to 2^-224. */
static rope_wide multiply(const rope_wide *a, const rope_wide *b)
{
    uint32_t product[2 * LIMBS] = {0};
    for (int i = 0; i < LIMBS; i++) {
        if (a->limb[i] == 0)
            continue; /* late terms of a series have few limbs left */
        uint64_t carry = 0;
        for (int j = 0; j < LIMBS; j++) {
            carry += (uint64_t)a->limb[i] * b->limb[j] + product[i + j];
            product[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        product[i + LIMBS] = (uint32_t)carry;
    }
    rope_wide result;
    memcpy(result.limb, product + FRACTION_LIMBS, sizeof result.limb);
    return result;
}

rope_wide rope_wide_multiply(rope_wide a, rope_wide b)
{
    const int negative = is_negative(&a) != is_negative(&b);
    if (is_negative(&a))
        a = rope_wide_negate(a);
    if (is_negative(&b))
        b = rope_wide_negate(b);
    const rope_wide product = multiply(&a, &b);
    return negative ? rope_wide_negate(product) : product;
}

rope_wide rope_wide_ratio(rope_wide a, uint32_t numerator, uint32_t denominator)
{
    const int negative = is_negative(&a);
    if (negative)
        a = rope_wide_negate(a);
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)a.limb[i] * numerator;
        a.limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    uint64_t remainder = carry; /* the ninth limb; below the denominator, since the result fits */
    for (int i = TOP; i >= 0; i--) {
        remainder = remainder << 32 | a.limb[i];
        a.limb[i] = (uint32_t)(remainder / denominator);
        remainder %= denominator;
    }
    return negative ? rope_wide_negate(a) : a;
}

/* |x| = significand 2^exponent for finite x, with bit 52 of the significand set unless x is 0. */
static uint64_t take_apart(double x, int *exponent)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int biased = (int)(bits >> 52 & 0x7ff);
    uint64_t significand = bits & ((UINT64_C(1) << 52) - 1);
    *exponent = biased - 1075;
    if (biased != 0)
        return significand | UINT64_C(1) << 52;
    *exponent = -1074;
    for (; significand != 0 && significand >> 52 == 0; significand <<= 1)
        --*exponent;
    return significand;
}

/* 2^exponent for -1022 <= exponent <= 1023. */
static double power_of_two(int exponent)
{
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

rope_wide rope_wide_from_double(double x)
{
    rope_wide result = {{0}};
    int exponent;
    uint64_t significand = take_apart(x, &exponent);
    int shift = exponent + ROPE_WIDE_FRACTION_BITS; /* of the significand within the limbs */
    if (shift <= -53)
        return result;
    if (shift < 0) {
        significand >>= -shift;
        shift = 0;
    }
    const uint64_t low = (significand & UINT32_MAX) << shift % 32;
    const uint64_t high = ((significand >> 32) << shift % 32) + (low >> 32);
    const uint32_t words[3] = {(uint32_t)low, (uint32_t)high, (uint32_t)(high >> 32)};
    for (int i = 0; i < 3 && i + shift / 32 < LIMBS; i++)
        result.limb[i + shift / 32] = words[i];
    return x < 0 ? rope_wide_negate(result) : result;
}

/* The f64 nearest to a, ties to even. */
static double nearest(rope_wide a)
{
    const int negative = is_negative(&a);
    if (negative)
        a = rope_wide_negate(a);
    int top = TOP;
    while (top > 0 && a.limb[top] == 0)
        top--;
    if (a.limb[top] == 0)
        return 0.0;
    /* The leading 64 bits, and whether anything follows them. */
    uint64_t leading = (uint64_t)a.limb[top] << 32 | (top > 0 ? a.limb[top - 1] : 0);
    uint32_t rest = top > 1 ? a.limb[top - 2] : 0;
    int exponent = 32 * (top - 1) - ROPE_WIDE_FRACTION_BITS;
    for (; leading >> 63 == 0; rest <<= 1, exponent--)
        leading = leading << 1 | rest >> 31;
    for (int i = top - 3; i >= 0; i--)
        rest |= a.limb[i];
    /* The conversion to f64 rounds once; the lowest of 64 bits may stand for all that follow. */
    const double magnitude = (double)(leading | (rest != 0)) * power_of_two(exponent);
    return negative ? -magnitude : magnitude;
}

rope_dd rope_wide_to_dd(rope_wide a)
{
    const double hi = nearest(a);
    return (rope_dd){hi, nearest(rope_wide_add(a, rope_wide_negate(rope_wide_from_double(hi))))};
}

/*
 * A bit at a time: squaring doubles the logarithm, and its next bit is 1 when the square reaches 2.
 * Cutting square k to 2^-224 moves the result by less than 2^-(223 + k).
 */
rope_wide rope_wide_log2_dd(rope_dd x)
{
    int exponent;
    const double scaled = (double)take_apart(x.hi, &exponent) * power_of_two(-52);
    rope_wide mantissa = rope_wide_from_double(scaled);
    if (x.lo != 0.0)
        mantissa = rope_wide_add(mantissa, rope_wide_from_double(x.lo / (x.hi / scaled)));
    if (mantissa.limb[TOP] == 0) { /* just below a power of two */
        mantissa = rope_wide_add(mantissa, mantissa);
        exponent--;
    }
    rope_wide result = {{0}};
    result.limb[TOP] = (uint32_t)(exponent + 52);
    for (int bit = ROPE_WIDE_FRACTION_BITS - 1; bit >= 0; bit--) {
        mantissa = multiply(&mantissa, &mantissa);
        if (mantissa.limb[TOP] < 2)
            continue;
        mantissa = rope_wide_ratio(mantissa, 1, 2);
        result.limb[bit / 32] |= UINT32_C(1) << bit % 32;
    }
    return result;
}

rope_wide rope_wide_log2(double x)
{
    return rope_wide_log2_dd((rope_dd){x, 0.0});
}

rope_dd rope_wide_ln(double x)
{
    return rope_wide_to_dd(rope_wide_multiply(rope_wide_log2(x), ln2));
}

/* sums[j] = sum of x^k / k! over the k = j modulo 4, for 0 <= x < 1. */
static void exponential_series(const rope_wide *x, rope_wide sums[4])
{
    static const rope_wide zero;
    rope_wide term = zero;
    term.limb[TOP] = 1;
    for (int j = 0; j < 4; j++)
        sums[j] = zero;
    for (uint32_t k = 0; memcmp(&term, &zero, sizeof term) != 0; k++) {
        sums[k % 4] = rope_wide_add(sums[k % 4], term);
        term = multiply(&term, x);
        term = rope_wide_ratio(term, 1, k + 1);
    }
}

/* 2^a = result 2^whole with 1 <= result < 2. */
static rope_wide exp2_mantissa(rope_wide a, int64_t *whole)
{
    /* a = whole + fraction with 0 <= fraction < 1; 2^fraction = e^(fraction ln 2). */
    *whole = (int64_t)a.limb[TOP] - (is_negative(&a) ? INT64_C(1) << 32 : 0);
    a.limb[TOP] = 0;
    const rope_wide power = multiply(&a, &ln2);
    rope_wide sums[4];
    exponential_series(&power, sums);
    return rope_wide_add(rope_wide_add(sums[0], sums[1]), rope_wide_add(sums[2], sums[3]));
}

rope_wide rope_wide_exp2_wide(rope_wide a)
{
    int64_t whole;
    const rope_wide mantissa = exp2_mantissa(a, &whole);
    rope_wide result = {{0}};
    if (whole < -ROPE_WIDE_FRACTION_BITS)
        return result;
    const int words = (int)-whole / 32, bits = (int)-whole % 32;
    for (int i = 0; i + words < LIMBS; i++) {
        const uint64_t low = mantissa.limb[i + words];
        const uint64_t high = i + words < TOP ? mantissa.limb[i + words + 1] : 0;
        result.limb[i] = (uint32_t)((high << 32 | low) >> bits);
    }
    return result;
}

rope_dd rope_wide_exp2(rope_wide a)
{
    int64_t whole;
    const rope_dd mantissa = rope_wide_to_dd(exp2_mantissa(a, &whole));
    /* Two steps reach every exponent of f64 and points past both ends; only the second rounds. */
    const int exponent = whole < -2000 ? -2000 : whole > 2000 ? 2000 : (int)whole;
    const double first = power_of_two(exponent / 2);
    const double second = power_of_two(exponent - exponent / 2);
    return (rope_dd){mantissa.hi * first * second, mantissa.lo * first * second};
}

void rope_wide_rotation(rope_wide a, rope_dd *cos_out, rope_dd *sin_out)
{
    /* a = quadrant / 4 + rest, |rest| <= 1/8: small angles keep their relative precision. */
    const rope_wide eighth = {{0, 0, 0, 0, 0, 0, UINT32_C(1) << 29, 0}};
    rope_wide rest = rope_wide_add(a, eighth);
    const uint32_t quadrant = rest.limb[TOP - 1] >> 30;
    rest.limb[TOP] = 0;
    rest.limb[TOP - 1] &= UINT32_MAX >> 2;
    rest = rope_wide_add(rest, rope_wide_negate(eighth));
    const int negative = is_negative(&rest);
    if (negative)
        rest = rope_wide_negate(rest);

    const rope_wide angle = multiply(&rest, &two_pi);
    rope_wide sums[4];
    exponential_series(&angle, sums);
    const rope_wide cosine = rope_wide_add(sums[0], rope_wide_negate(sums[2]));
    rope_wide sine = rope_wide_add(sums[1], rope_wide_negate(sums[3]));
    if (negative)
        sine = rope_wide_negate(sine);

    /* Multiplication by i^quadrant. */
    const int swapped = quadrant % 2 != 0;
    rope_wide x = swapped ? sine : cosine;
    rope_wide y = swapped ? cosine : sine;
    if (quadrant == 1 || quadrant == 2)
        x = rope_wide_negate(x);
    if (quadrant >= 2)
        y = rope_wide_negate(y);
    *cos_out = rope_wide_to_dd(x);
    *sin_out = rope_wide_to_dd(y);
}
