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

/* a b with a relative error below 2^-102, as long as no part of the product is subnormal. */
static inline rope_dd rope_dd_multiply(rope_dd a, rope_dd b)
{
    const double product = a.hi * b.hi;
    const double error = fma(a.hi, b.hi, -product) + (a.hi * b.lo + a.lo * b.hi);
    const double hi = product + error;
    return (rope_dd){hi, error - (hi - product)};
}

#endif
