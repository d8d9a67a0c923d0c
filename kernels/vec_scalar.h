/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verbs, width 1: ISO C, libm and SLEEF's scalar functions.  The reference for the other vec_*.h
 * and the place where the verbs are described.
 *
 * A vector of f32 has RV_F32_LANES lanes, one of f64 RV_F64_LANES.  16-bit data come in blocks of
 * two f32 vectors (rv_f32x2, vec_pair.h).  n counts elements (pairs for load2 and store2): lanes >=
 * n are loaded as zero and not stored, and no byte beyond n elements is touched; n = 0 is allowed.
 * stream and stream2 store whole vectors past the caches, where a set has them (RV_STREAMS); p is then
 * aligned to the vector.
 *
 * The lanes of a block may stand in another order than in memory, where that saves shuffles:
 *   split order: of load and store;  mix order: of load2 and store2;  natural order: of loadrow and
 * narrow. split and mix bring a block from natural order to theirs, join and unmix bring it back.
 * Split order may be another one for a part of at most RV_F32_LANES elements, which b has no share in: split
 * and join take the n of the load or store.
 */
#ifndef ROPE_VEC_SCALAR_H
#define ROPE_VEC_SCALAR_H

#include "half.h"
#include <math.h>
#include <stddef.h>
#ifdef ROPE_WITH_SLEEF
#if (defined(__x86_64__) || defined(__i386__)) && !defined(__FMA__)
#define RV_SLEEF_WITHOUT_FMA 1
#elif !defined(FP_FAST_FMA)
#define FP_FAST_FMA 1 /* sleef.h declares its *purecfma names under this macro of math.h */
#endif
#include <sleef.h>
#endif

#define RV static inline __attribute__((always_inline))

typedef float rv_f32;
typedef double rv_f64;
#define RV_F32_LANES 1
#define RV_F64_LANES 1
#define RV_TOGETHER  1 /* f32 blocks that registers hold beside a row of them */
/* 1 where a head of f32 leaves places for 8 more loads: a hint for what is read anyway then costs less than the
   branch around it (2 to 5 % of 16 to 128 tokens on Zen 5; AVX2 loses 8 % by it) */
#define RV_SPARE_LOADS 0
#define RV_STREAMS     0 /* stores past the caches */
/* 1: has rv_two, two numbers in a vector register, and pairs that turn where they stand: rv_weave, rv_evens, rv_odds
   and rv_fms_fma */
#define RV_TURNS 0

/* ---- f32 ------------------------------------------------------------------------------------ */

RV rv_f32 rv_load_f32(const float *p, size_t n)
{
    return n != 0 ? *p : 0.0f;
}
RV void rv_store_f32(float *p, rv_f32 v, size_t n)
{
    if (n != 0)
        *p = v;
}
RV void rv_load2_f32(const float *p, rv_f32 *x, rv_f32 *y, size_t n)
{
    *x = n != 0 ? p[0] : 0.0f;
    *y = n != 0 ? p[1] : 0.0f;
}
RV void rv_store2_f32(float *p, rv_f32 x, rv_f32 y, size_t n)
{
    if (n != 0) {
        p[0] = x;
        p[1] = y;
    }
}
RV rv_f32 rv_mix_f32(rv_f32 v)
{
    return v;
}
RV rv_f32 rv_unmix_f32(rv_f32 v)
{
    return v;
}
/* The value, loaded once: gcc may otherwise load again for each use, which costs a load port. */
RV rv_f32 rv_hold_f32(rv_f32 v)
{
    return v;
}
RV rv_f32 rv_add_f32(rv_f32 a, rv_f32 b)
{
    return a + b;
}
RV rv_f32 rv_sub_f32(rv_f32 a, rv_f32 b)
{
    return a - b;
}
RV rv_f32 rv_mul_f32(rv_f32 a, rv_f32 b)
{
    return a * b;
}
RV rv_f32 rv_fma_f32(rv_f32 a, rv_f32 b, rv_f32 c) /* a b + c */
{
    return fmaf(a, b, c);
}
RV rv_f32 rv_fms_f32(rv_f32 a, rv_f32 b, rv_f32 c) /* a b - c */
{
    return fmaf(a, b, -c);
}

/* ---- f64 ------------------------------------------------------------------------------------ */

RV rv_f64 rv_load_f64(const double *p, size_t n)
{
    return n != 0 ? *p : 0.0;
}
RV void rv_store_f64(double *p, rv_f64 v, size_t n)
{
    if (n != 0)
        *p = v;
}
RV void rv_load2_f64(const double *p, rv_f64 *x, rv_f64 *y, size_t n)
{
    *x = n != 0 ? p[0] : 0.0;
    *y = n != 0 ? p[1] : 0.0;
}
RV void rv_store2_f64(double *p, rv_f64 x, rv_f64 y, size_t n)
{
    if (n != 0) {
        p[0] = x;
        p[1] = y;
    }
}
RV rv_f64 rv_mix_f64(rv_f64 v)
{
    return v;
}
RV rv_f64 rv_unmix_f64(rv_f64 v)
{
    return v;
}
RV rv_f64 rv_set_f64(double value)
{
    return value;
}
RV rv_f64 rv_blend_f64(rv_f64 a, rv_f64 b, rv_f64 mask) /* b where mask is negative, else a */
{
    return mask < 0.0 ? b : a;
}
RV rv_f64 rv_hold_f64(rv_f64 v)
{
    return v;
}
RV rv_f64 rv_add_f64(rv_f64 a, rv_f64 b)
{
    return a + b;
}
RV rv_f64 rv_sub_f64(rv_f64 a, rv_f64 b)
{
    return a - b;
}
RV rv_f64 rv_mul_f64(rv_f64 a, rv_f64 b)
{
    return a * b;
}
RV rv_f64 rv_fma_f64(rv_f64 a, rv_f64 b, rv_f64 c)
{
    return fma(a, b, c);
}
RV rv_f64 rv_fms_f64(rv_f64 a, rv_f64 b, rv_f64 c)
{
    return fma(a, b, -c);
}
RV rv_f64 rv_rint_f64(rv_f64 v) /* to the nearest integer, ties to even */
{
    return rint(v);
}
#ifdef ROPE_WITH_SLEEF
RV void rv_sincospi_f64(rv_f64 x, rv_f64 *s, rv_f64 *c) /* of pi x, |x| < 2^31; 0.506 ulp */
{
#if defined(RV_SLEEF_WITHOUT_FMA)
    const Sleef_double_2 both = Sleef_cinz_sincospid1_u05purec(x);
#else
    const Sleef_double_2 both = Sleef_finz_sincospid1_u05purecfma(x);
#endif
    *s = both.x;
    *c = both.y;
}
#else
#include "vec_libm.h"
#endif

/* ---- between them -----------------------------------------------------------------------------
 */

/* RV_F32_LANES values of f64 (one or two vectors) to one f32 vector, rounding to nearest. */
RV rv_f32 rv_narrow_f32(const rv_f64 *v)
{
    return (float)v[0];
}
/* To f32 precision and back. */
RV rv_f64 rv_round_f32_f64(rv_f64 v)
{
    return (double)(float)v;
}
/*
 * Rounds to 24 significant bits "to odd": truncated, and the last bit set if anything was lost.  A
 * second rounding to 22 bits or fewer then gives what one rounding of the original gives (Boldo and
 * Melquiond, IEEE TC 57(4), 2008).
 */
RV rv_f64 rv_round_odd_f64(rv_f64 v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    const uint64_t lost = (UINT64_C(1) << 29) - 1;
    bits |= ((bits & lost) + lost) & (UINT64_C(1) << 29);
    bits &= ~lost;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* ---- 16-bit ------------------------------------------------------------------------------------
 */

typedef struct {
    rv_f32 a, b;
} rv_f32x2;

RV rv_f32x2 rv_load_bf16(const uint16_t *p, size_t n)
{
    const rv_f32x2 v = {n > 0 ? rope_bf16_to_f32(p[0]) : 0.0f,
                        n > 1 ? rope_bf16_to_f32(p[1]) : 0.0f};
    return v;
}
RV void rv_store_bf16(uint16_t *p, rv_f32x2 v, size_t n)
{
    if (n > 0)
        p[0] = rope_f32_to_bf16(v.a);
    if (n > 1)
        p[1] = rope_f32_to_bf16(v.b);
}
RV void rv_load2_bf16(const uint16_t *p, rv_f32x2 *x, rv_f32x2 *y, size_t n)
{
    const rv_f32x2 first = rv_load_bf16(p, n > 0 ? 2 : 0);
    const rv_f32x2 second = rv_load_bf16(p + 2, n > 1 ? 2 : 0);
    x->a = first.a, x->b = second.a;
    y->a = first.b, y->b = second.b;
}
RV void rv_store2_bf16(uint16_t *p, rv_f32x2 x, rv_f32x2 y, size_t n)
{
    const rv_f32x2 first = {x.a, y.a}, second = {x.b, y.b};
    rv_store_bf16(p, first, n > 0 ? 2 : 0);
    if (n > 1)
        rv_store_bf16(p + 2, second, 2);
}
RV rv_f32x2 rv_round_bf16(rv_f32x2 v) /* to the element type and back */
{
    v.a = rope_bf16_to_f32(rope_f32_to_bf16(v.a));
    v.b = rope_bf16_to_f32(rope_f32_to_bf16(v.b));
    return v;
}
RV rv_f32x2 rv_split_bf16(rv_f32x2 v, size_t n)
{
    (void)n;
    return v;
}
RV rv_f32x2 rv_join_bf16(rv_f32x2 v, size_t n)
{
    (void)n;
    return v;
}
RV rv_f32x2 rv_mix_bf16(rv_f32x2 v)
{
    return v;
}
RV rv_f32x2 rv_unmix_bf16(rv_f32x2 v)
{
    return v;
}

RV rv_f32x2 rv_load_f16(const uint16_t *p, size_t n)
{
    const rv_f32x2 v = {n > 0 ? rope_f16_to_f32(p[0]) : 0.0f, n > 1 ? rope_f16_to_f32(p[1]) : 0.0f};
    return v;
}
RV void rv_store_f16(uint16_t *p, rv_f32x2 v, size_t n)
{
    if (n > 0)
        p[0] = rope_f32_to_f16(v.a);
    if (n > 1)
        p[1] = rope_f32_to_f16(v.b);
}
RV void rv_load2_f16(const uint16_t *p, rv_f32x2 *x, rv_f32x2 *y, size_t n)
{
    const rv_f32x2 first = rv_load_f16(p, n > 0 ? 2 : 0);
    const rv_f32x2 second = rv_load_f16(p + 2, n > 1 ? 2 : 0);
    x->a = first.a, x->b = second.a;
    y->a = first.b, y->b = second.b;
}
RV void rv_store2_f16(uint16_t *p, rv_f32x2 x, rv_f32x2 y, size_t n)
{
    const rv_f32x2 first = {x.a, y.a}, second = {x.b, y.b};
    rv_store_f16(p, first, n > 0 ? 2 : 0);
    if (n > 1)
        rv_store_f16(p + 2, second, 2);
}
RV rv_f32x2 rv_round_f16(rv_f32x2 v)
{
    v.a = rope_f16_to_f32(rope_f32_to_f16(v.a));
    v.b = rope_f16_to_f32(rope_f32_to_f16(v.b));
    return v;
}
RV rv_f32x2 rv_split_f16(rv_f32x2 v, size_t n)
{
    (void)n;
    return v;
}
RV rv_f32x2 rv_join_f16(rv_f32x2 v, size_t n)
{
    (void)n;
    return v;
}
RV rv_f32x2 rv_mix_f16(rv_f32x2 v)
{
    return v;
}
RV rv_f32x2 rv_unmix_f16(rv_f32x2 v)
{
    return v;
}

RV void rv_fence(void) /* streamed stores before later stores */
{
}

#endif
