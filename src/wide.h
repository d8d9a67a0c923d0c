/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 256-bit fixed-point numbers for the few values that a plan is made of.  Integer arithmetic alone,
 * so the same bits on every platform; libm is never asked.  Not for anything that runs per token: a
 * call takes microseconds.
 */
#ifndef ROPE_WIDE_H
#define ROPE_WIDE_H

#include "dd.h"
#include <stdint.h>

enum { ROPE_WIDE_LIMBS = 8, ROPE_WIDE_FRACTION_BITS = 224 };

/* Two's complement in units of 2^-224, least significant limb first; wraps modulo 2^32. */
typedef struct {
    uint32_t limb[ROPE_WIDE_LIMBS];
} rope_wide;

rope_wide rope_wide_add(rope_wide a, rope_wide b);
rope_wide rope_wide_negate(rope_wide a);

/* x modulo 2^32, without the bits below 2^-224. */
rope_wide rope_wide_from_double(double x);

/* a b, cut towards zero to 2^-224, if that is below 2^31 in magnitude. */
rope_wide rope_wide_multiply(rope_wide a, rope_wide b);

/* The nearest hi + lo. */
rope_dd rope_wide_to_dd(rope_wide a);

/* a numerator / denominator, cut towards zero to 2^-224, if that is below 2^31 in magnitude. */
rope_wide rope_wide_ratio(rope_wide a, uint32_t numerator, uint32_t denominator);

/* log2(x) of a finite x > 0, at most 2^-221 too small; exact for powers of two. */
rope_wide rope_wide_log2(double x);

/* The same of hi + lo, whose lo is not subnormal. */
rope_wide rope_wide_log2_dd(rope_dd x);

/*
 * The natural logarithm of a finite x > 0, rounded to hi + lo after an absolute error below 2^-220.
 */
rope_dd rope_wide_ln(double x);

/*
 * 2^a, rounded to hi + lo after an error below 2^-210.  Exact for integers.  Beyond the range of
 * f64 hi is infinite, and below 2^-969 the result is as good as subnormal numbers allow.
 */
rope_dd rope_wide_exp2(rope_wide a);

/* 2^a for a <= 0, with an absolute error below 2^-210. */
rope_wide rope_wide_exp2_wide(rope_wide a);

/*
 * cos and sin of 2 pi a, rounded to hi + lo after an absolute error below 2^-210.  Exact for
 * multiples of 1/4.
 */
void rope_wide_rotation(rope_wide a, rope_dd *cos_out, rope_dd *sin_out);

#endif
