/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Double-double numbers: the unevaluated sum hi + lo, hi nearest to the sum.  Needs fma() exact and
 * no contraction, so that every platform gives the same bits.  Holds only the operations that src/
 * uses.
 */
#ifndef ROPE_DD_H
#define ROPE_DD_H

#include <math.h>

typedef struct {
    double hi, lo;
} rope_dd;

/*
 * Relative errors, as long as no part of an operand or result is subnormal: multiply and add (of
 * equal signs) below 2^-102, divide below 2^-101.
 */
static inline rope_dd rope_dd_multiply(rope_dd a, rope_dd b)
{
    const double product = a.hi * b.hi;
    const double error = fma(a.hi, b.hi, -product) + (a.hi * b.lo + a.lo * b.hi);
    const double hi = product + error;
    return (rope_dd){hi, error - (hi - product)};
}

static inline rope_dd rope_dd_add(rope_dd a, rope_dd b)
{
    const double sum = a.hi + b.hi;
    const double part = sum - a.hi;
    const double error = ((a.hi - (sum - part)) + (b.hi - part)) + (a.lo + b.lo);
    const double hi = sum + error;
    return (rope_dd){hi, error - (hi - sum)};
}

static inline rope_dd rope_dd_divide(rope_dd a, rope_dd b)
{
    const double quotient = a.hi / b.hi;
    /* What quotient * b leaves of a; the fma is exact. */
    const double rest = fma(-quotient, b.hi, a.hi) + (a.lo - quotient * b.lo);
    const double error = rest / b.hi;
    const double hi = quotient + error;
    return (rope_dd){hi, error - (hi - quotient)};
}

#endif
