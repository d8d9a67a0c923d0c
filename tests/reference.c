/* SPDX-License-Identifier: Apache-2.0 */
/* Implements reference.h.  Must not use any code of the library. */
#include "reference.h"

#include <math.h>

/* ---- Rotation ---- */

void reference_rotate(enum dtype type, int arith, double x, double y, double c, double s,
                      double out[2])
{
    if (type == DT_F64) {
        /* volatile: gcc 12 for CPUs with FMA fuses side by side sums and differences, whatever
         * -ffp-contract says */
        const volatile double xc = x * c;
        const volatile double ys = y * s;
        const volatile double yc = y * c;
        const volatile double xs = x * s;
        out[0] = arith == REFERENCE_FUSED ? fma(x, c, -ys) : xc - ys;
        out[1] = arith == REFERENCE_FUSED ? fma(x, s, yc) : yc + xs;
        return;
    }
    const float xf = (float)x;
    const float yf = (float)y;
    const float cf = (float)c;
    const float sf = (float)s;
    if (arith == REFERENCE_FUSED) {
        out[0] = dtype_round(type, fmaf(xf, cf, -(yf * sf)));
        out[1] = dtype_round(type, fmaf(xf, sf, yf * cf));
        return;
    }
    const enum dtype product = arith == REFERENCE_EAGER ? type : DT_F32;
    const float xc = (float)dtype_round(product, xf * cf);
    const float ys = (float)dtype_round(product, yf * sf);
    const float yc = (float)dtype_round(product, yf * cf);
    const float xs = (float)dtype_round(product, xf * sf);
    out[0] = dtype_round(type, xc - ys);
    out[1] = dtype_round(type, yc + xs);
}

size_t reference_place(int interleaved, size_t pairs, size_t i, int part)
{
    if (interleaved)
        return 2 * i + (part ? 1 : 0);
    return i + (part ? pairs : 0);
}

/* ---- Rows as products ---- */

void reference_product(enum dtype type, size_t factors, const double *c, const double *s,
                       double cos_scale, double sin_scale, double out[2])
{
    double cosine = c[factors - 1];
    double sine = s[factors - 1];
    for (size_t k = factors - 1; k-- > 0;) {
        const double next = fma(c[k], cosine, -(s[k] * sine));
        sine = fma(s[k], cosine, c[k] * sine);
        cosine = next;
    }
    out[0] = dtype_round(type, cosine * cos_scale);
    out[1] = dtype_round(type, sine * sin_scale);
}

/* ---- Rows from angles ---- */

double reference_f64(mpfr_srcptr value)
{
    return mpfr_get_d(value, MPFR_RNDN);
}

/* The value rounded to the type: over an f64 that was rounded to odd, which cannot fake or hide a
 * tie. */
static double round_to(enum dtype type, mpfr_srcptr value)
{
    if (type == DT_F64)
        return reference_f64(value);
    const double truncated = mpfr_get_d(value, MPFR_RNDZ);
    if (mpfr_cmp_d(value, truncated) == 0)
        return dtype_round(type, truncated);
    const uint64_t odd = dtype_bits(DT_F64, &truncated, 0) | 1;
    return dtype_round(type, dtype_from_bits(DT_F64, odd));
}

struct reference_bounds reference_bounds(enum dtype type, mpfr_srcptr truth, double slack)
{
    const double nearest = reference_f64(truth);
    if (mpfr_zero_p(truth))
        return (struct reference_bounds){0.0, 0.0};
    if (type == DT_F64 && dtype_ulp(DT_F64, nearest) > slack)
        slack = dtype_ulp(DT_F64, nearest);
    struct reference_bounds bounds;
    mpfr_t edge;
    mpfr_init2(edge, REFERENCE_BITS);
    mpfr_sub_d(edge, truth, slack, MPFR_RNDN);
    bounds.low = type == DT_F64 ? mpfr_get_d(edge, MPFR_RNDU) : round_to(type, edge);
    mpfr_add_d(edge, truth, slack, MPFR_RNDN);
    bounds.high = type == DT_F64 ? mpfr_get_d(edge, MPFR_RNDD) : round_to(type, edge);
    mpfr_clear(edge);
    return bounds;
}

int reference_within(struct reference_bounds bounds, double value)
{
    return value >= bounds.low && value <= bounds.high;
}

void reference_cos_sin(enum dtype type, mpfr_srcptr angle, double cos_scale, double sin_scale,
                       double divisor, double slack, struct reference_bounds out[2])
{
    mpfr_t cosine, sine;
    mpfr_inits2(REFERENCE_BITS, cosine, sine, (mpfr_ptr)NULL);
    mpfr_sin_cos(sine, cosine, angle, MPFR_RNDN);
    if (test_fma_loses_bits()) /* in an emulator: 2^-62 of each product on the way */
        slack += fmax(fabs(cos_scale), fabs(sin_scale)) / divisor *
                 (1e-15 + fabs(mpfr_get_d(angle, MPFR_RNDN)) * 0x1p-59);
    mpfr_mul_d(cosine, cosine, cos_scale, MPFR_RNDN);
    mpfr_mul_d(sine, sine, sin_scale, MPFR_RNDN);
    mpfr_div_d(cosine, cosine, divisor, MPFR_RNDN);
    mpfr_div_d(sine, sine, divisor, MPFR_RNDN);
    out[0] = reference_bounds(type, cosine, slack);
    out[1] = reference_bounds(type, sine, slack);
    mpfr_clears(cosine, sine, (mpfr_ptr)NULL);
}

void reference_frequency(mpfr_ptr out, double theta, double factor, size_t i, size_t d)
{
    mpfr_t exponent;
    mpfr_init2(exponent, REFERENCE_BITS);
    mpfr_set_si(exponent, -2 * (long)i, MPFR_RNDN);
    mpfr_div_ui(exponent, exponent, (unsigned long)d, MPFR_RNDN);
    mpfr_set_d(out, theta, MPFR_RNDN);
    mpfr_pow(out, out, exponent, MPFR_RNDN);
    mpfr_div_d(out, out, factor, MPFR_RNDN);
    mpfr_clear(exponent);
}

void reference_angle(mpfr_ptr out, double position, mpfr_srcptr frequency, int f32)
{
    if (f32) {
        const float product = (float)position * mpfr_get_flt(frequency, MPFR_RNDN);
        mpfr_set_flt(out, product, MPFR_RNDN);
    } else {
        mpfr_mul_d(out, frequency, position, MPFR_RNDN);
    }
}

double reference_slack(double position, double scale)
{
    return fabs(scale) * (fabs(position) < 0x1p20 ? 4e-16 : 8e-16);
}
