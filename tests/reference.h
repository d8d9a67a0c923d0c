/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slow reference: rotation and rows written straight from their formulas, in plain C and MPFR.
 * Must not use any code of the library; speed does not matter.
 */
#ifndef ROPE_TEST_REFERENCE_H
#define ROPE_TEST_REFERENCE_H

#include "support.h"

#include <mpfr.h>

/* ---- Rotation of one pair ---- */

/*
 * out = (x c - y s, y c + x s), rounded to the type.  c and s are values of dtype_real(type).
 * fused: fma(x, c, -(y s)) and fma(x, s, y c) in dtype_real(type), rounded once.
 * eager: both products and then the sum are computed in dtype_real(type) and rounded to the type.
 * unfused: both products and the sum are computed in dtype_real(type), the sum rounded to the type.
 */
enum reference_arith { REFERENCE_FUSED, REFERENCE_EAGER, REFERENCE_UNFUSED };
void reference_rotate(enum dtype type, int arith, double x, double y, double c, double s,
                      double out[2]);

/* Element of pair i that holds x (part 0) or y (part 1), counted from the start of the slice. */
size_t reference_place(int interleaved, size_t pairs, size_t i, int part);

/* ---- Rows as the product of table rows ---- */

/*
 * The complex product of the factors in f64, the last two first, then each with the one before it,
 *     c = fma(c1, c2, -(s1 s2)),  s = fma(s1, c2, c1 s2),
 * then times the scales, each rounded once to the type.
 */
void reference_product(enum dtype type, size_t factors, const double *c, const double *s,
                       double cos_scale, double sin_scale, double out[2]);

/* ---- Rows from angles ---- */

#define REFERENCE_BITS 320

/* What an entry of a row may be: at most 1/2 ulp (f64: 1 ulp) and `slack` from the true value. */
struct reference_bounds {
    double low, high;
};

/* Bounds around a true value.  For f64: |error| <= max(1 ulp, slack).  A true 0 must be 0. */
struct reference_bounds reference_bounds(enum dtype type, mpfr_srcptr truth, double slack);
int reference_within(struct reference_bounds bounds, double value);

/* cos_scale cos(angle) / divisor and sin_scale sin(angle) / divisor of an angle in radians. */
void reference_cos_sin(enum dtype type, mpfr_srcptr angle, double cos_scale, double sin_scale,
                       double divisor, double slack, struct reference_bounds out[2]);

/* Correctly rounded f64 of a value. */
double reference_f64(mpfr_srcptr value);

/* f_i = theta^(-2 i / d) / factor, from the definition. */
void reference_frequency(mpfr_ptr out, double theta, double factor, size_t i, size_t d);

/*
 * The angle p f in radians; or, with f32 set, the f32 nearest to the product of the f32 nearest to
 * p and the f32 nearest to f.
 */
void reference_angle(mpfr_ptr out, double position, mpfr_srcptr frequency, int f32);

/* The error of a row entry that the public header allows beside its rounding. */
double reference_slack(double position, double scale);

#endif
