/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verb sincospi of builds without SLEEF: libm, lane by lane, in terms of the verbs of the
 * vec_*.h that includes this.  No intrinsics here.
 */
#ifndef ROPE_VEC_LIBM_H
#define ROPE_VEC_LIBM_H

#include <math.h>

/* Whole quarter turns go exactly; what is left, pi r, is given to libm as hi and to the first order
 * as lo.  One rounding is libm's, one that of the sum. */
static inline void rope_sincospi(double x, double *s, double *c)
{
    const double pi_hi = 0x1.921fb54442d18p+1, pi_lo = 0x1.1a62633145c07p-53;
    const double quarters = rint(x + x);
    const double r = x - 0.5 * quarters;
    const double hi = r * pi_hi;
    const double lo = fma(r, pi_lo, fma(r, pi_hi, -hi));
    const double s0 = sin(hi), c0 = cos(hi);
    const double sine = fma(lo, c0, s0), cosine = fma(-lo, s0, c0);
    switch ((int64_t)quarters & 3) {
    case 0:
        *s = sine, *c = cosine;
        break;
    case 1:
        *s = cosine, *c = -sine;
        break;
    case 2:
        *s = -sine, *c = -cosine;
        break;
    default:
        *s = -cosine, *c = sine;
        break;
    }
}

RV void rv_sincospi_f64(rv_f64 x, rv_f64 *s, rv_f64 *c) /* of pi x, |x| < 2^31; 1.1 ulp */
{
    double lanes[RV_F64_LANES], sines[RV_F64_LANES], cosines[RV_F64_LANES];
    rv_store_f64(lanes, x, RV_F64_LANES);
    for (size_t k = 0; k < RV_F64_LANES; k++)
        rope_sincospi(lanes[k], &sines[k], &cosines[k]);
    *s = rv_load_f64(sines, RV_F64_LANES);
    *c = rv_load_f64(cosines, RV_F64_LANES);
}

#endif
