/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs, 4 x f32 / 2 x f64, for AArch64.  vec_scalar.h says what each verb means. */
#ifndef ROPE_VEC_NEON_H
#define ROPE_VEC_NEON_H

#ifndef __aarch64__
#error "for AArch64"
#endif

#include "vec_part.h"
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>
#ifdef ROPE_WITH_SLEEF
#include <sleef.h>
#endif

typedef float32x4_t rv_f32;
typedef float64x2_t rv_f64;
#define RV_F32_LANES   4
#define RV_F64_LANES   2
#define RV_TOGETHER    1 /* f32 blocks that registers hold beside a row of them */
#define RV_SPARE_LOADS 0
#define RV_STREAMS     0
#define RV_TURNS       0

/* ---- tails: an even number of bytes ------------------------------------------------------------
 */

RV uint8x16_t rv_load_bytes(const void *p, size_t bytes)
{
    if (bytes >= 16)
        return vld1q_u8(p);
    const rv_part part = rv_load_part(p, bytes);
    return vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(part.low), vcreate_u64(part.high)));
}
RV void rv_store_bytes(void *p, uint8x16_t v, size_t bytes)
{
    if (bytes >= 16) {
        vst1q_u8(p, v);
        return;
    }
    const uint64x2_t halves = vreinterpretq_u64_u8(v);
    const rv_part part = {vgetq_lane_u64(halves, 0), vgetq_lane_u64(halves, 1)};
    rv_store_part(p, part, bytes);
}

/* ---- f32 ------------------------------------------------------------------------------------ */

RV rv_f32 rv_load_f32(const float *p, size_t n)
{
    return vreinterpretq_f32_u8(rv_load_bytes(p, 4 * n));
}
RV void rv_store_f32(float *p, rv_f32 v, size_t n)
{
    rv_store_bytes(p, vreinterpretq_u8_f32(v), 4 * n);
}
RV void rv_load2_f32(const float *p, rv_f32 *x, rv_f32 *y, size_t n)
{
    const rv_f32 first = rv_load_f32(p, 2 * n);
    const rv_f32 second = rv_load_f32(n > 2 ? p + 4 : p, rv_rest(2 * n, 4));
    *x = vuzp1q_f32(first, second);
    *y = vuzp2q_f32(first, second);
}
RV void rv_store2_f32(float *p, rv_f32 x, rv_f32 y, size_t n)
{
    rv_store_f32(p, vzip1q_f32(x, y), 2 * n);
    if (n > 2)
        rv_store_f32(p + 4, vzip2q_f32(x, y), 2 * n - 4);
}
RV rv_f32 rv_mix_f32(rv_f32 v)
{
    return v;
}
RV rv_f32 rv_unmix_f32(rv_f32 v)
{
    return v;
}
RV rv_f32 rv_hold_f32(rv_f32 v)
{
    __asm__("" : "+w"(v));
    return v;
}
RV rv_f32 rv_add_f32(rv_f32 a, rv_f32 b)
{
    return vaddq_f32(a, b);
}
RV rv_f32 rv_sub_f32(rv_f32 a, rv_f32 b)
{
    return vsubq_f32(a, b);
}
RV rv_f32 rv_mul_f32(rv_f32 a, rv_f32 b)
{
    return vmulq_f32(a, b);
}
RV rv_f32 rv_fma_f32(rv_f32 a, rv_f32 b, rv_f32 c)
{
    return vfmaq_f32(c, a, b);
}
RV rv_f32 rv_fms_f32(rv_f32 a, rv_f32 b, rv_f32 c)
{
    return vfmaq_f32(vnegq_f32(c), a, b);
}

/* ---- f64 ------------------------------------------------------------------------------------ */

RV rv_f64 rv_load_f64(const double *p, size_t n)
{
    return vreinterpretq_f64_u8(rv_load_bytes(p, 8 * n));
}
RV void rv_store_f64(double *p, rv_f64 v, size_t n)
{
    rv_store_bytes(p, vreinterpretq_u8_f64(v), 8 * n);
}
RV void rv_load2_f64(const double *p, rv_f64 *x, rv_f64 *y, size_t n)
{
    const rv_f64 first = rv_load_f64(p, 2 * n);
    const rv_f64 second = rv_load_f64(n > 1 ? p + 2 : p, rv_rest(2 * n, 2));
    *x = vuzp1q_f64(first, second);
    *y = vuzp2q_f64(first, second);
}
RV void rv_store2_f64(double *p, rv_f64 x, rv_f64 y, size_t n)
{
    rv_store_f64(p, vzip1q_f64(x, y), 2 * n);
    if (n > 1)
        rv_store_f64(p + 2, vzip2q_f64(x, y), 2 * n - 2);
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
    return vdupq_n_f64(value);
}
RV rv_f64 rv_blend_f64(rv_f64 a, rv_f64 b, rv_f64 mask)
{
    return vbslq_f64(vcltzq_f64(mask), b, a);
}
RV rv_f64 rv_hold_f64(rv_f64 v)
{
    __asm__("" : "+w"(v));
    return v;
}
RV rv_f64 rv_add_f64(rv_f64 a, rv_f64 b)
{
    return vaddq_f64(a, b);
}
RV rv_f64 rv_sub_f64(rv_f64 a, rv_f64 b)
{
    return vsubq_f64(a, b);
}
RV rv_f64 rv_mul_f64(rv_f64 a, rv_f64 b)
{
    return vmulq_f64(a, b);
}
RV rv_f64 rv_fma_f64(rv_f64 a, rv_f64 b, rv_f64 c)
{
    return vfmaq_f64(c, a, b);
}
RV rv_f64 rv_fms_f64(rv_f64 a, rv_f64 b, rv_f64 c)
{
    return vfmaq_f64(vnegq_f64(c), a, b);
}
RV rv_f64 rv_rint_f64(rv_f64 v)
{
    return vrndnq_f64(v);
}
#ifdef ROPE_WITH_SLEEF
RV void rv_sincospi_f64(rv_f64 x, rv_f64 *s, rv_f64 *c)
{
    const Sleef_float64x2_t_2 both = Sleef_finz_sincospid2_u05advsimd(x);
    *s = both.x;
    *c = both.y;
}
#else
#include "vec_libm.h"
#endif

/* ---- between them -----------------------------------------------------------------------------
 */

RV rv_f32 rv_narrow_f32(const rv_f64 *v)
{
    return vcombine_f32(vcvt_f32_f64(v[0]), vcvt_f32_f64(v[1]));
}
RV rv_f64 rv_round_f32_f64(rv_f64 v)
{
    return vcvt_f64_f32(vcvt_f32_f64(v));
}
RV rv_f64 rv_round_odd_f64(rv_f64 v)
{
    const uint64x2_t bits = vreinterpretq_u64_f64(v);
    const uint64x2_t lost = vdupq_n_u64((1u << 29) - 1);
    const uint64x2_t sticky =
        vandq_u64(vaddq_u64(vandq_u64(bits, lost), lost), vdupq_n_u64(1u << 29));
    return vreinterpretq_f64_u64(vbicq_u64(vorrq_u64(bits, sticky), lost));
}

/* ---- 16-bit memory -----------------------------------------------------------------------------
 */

typedef struct {
    rv_f32 a, b;
} rv_f32x2;

RV uint16x8_t rv_load_16(const uint16_t *p, size_t n)
{
    return vreinterpretq_u16_u8(rv_load_bytes(p, 2 * n));
}
RV void rv_store_16(uint16_t *p, uint16x8_t v, size_t n)
{
    rv_store_bytes(p, vreinterpretq_u8_u16(v), 2 * n);
}

/* ---- bf16: even elements in a, odd ones in b; a shift and a mask make them f32
 * --------------------- */

RV float32x4_t rv_even_bf16(uint16x8_t v)
{
    return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_u16(v), 16));
}
RV float32x4_t rv_odd_bf16(uint16x8_t v)
{
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_u16(v), vdupq_n_u32(0xffff0000u)));
}
/* Rounded to nearest even in the upper half of each lane, NaN made quiet; the lower half is left
 * over. */
RV uint32x4_t rv_bits_bf16(float32x4_t v)
{
    const uint32x4_t bits = vreinterpretq_u32_f32(v);
    const uint32x4_t even = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    const uint32x4_t rounded = vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), even);
    return vbslq_u32(vceqq_f32(v, v), rounded, vorrq_u32(bits, vdupq_n_u32(0x00400000)));
}
RV uint16x8_t rv_pack_bf16(rv_f32x2 v)
{
    return vtrn2q_u16(vreinterpretq_u16_u32(rv_bits_bf16(v.a)),
                      vreinterpretq_u16_u32(rv_bits_bf16(v.b)));
}
RV rv_f32x2 rv_load_bf16(const uint16_t *p, size_t n)
{
    const uint16x8_t v = rv_load_16(p, n);
    const rv_f32x2 block = {rv_even_bf16(v), rv_odd_bf16(v)};
    return block;
}
RV void rv_store_bf16(uint16_t *p, rv_f32x2 v, size_t n)
{
    rv_store_16(p, rv_pack_bf16(v), n);
}
RV void rv_load2_bf16(const uint16_t *p, rv_f32x2 *x, rv_f32x2 *y, size_t n)
{
    const uint16x8_t first = rv_load_16(p, 2 * n);
    const uint16x8_t second = rv_load_16(n > 4 ? p + 8 : p, rv_rest(2 * n, 8));
    x->a = rv_even_bf16(first), x->b = rv_even_bf16(second);
    y->a = rv_odd_bf16(first), y->b = rv_odd_bf16(second);
}
RV void rv_store2_bf16(uint16_t *p, rv_f32x2 x, rv_f32x2 y, size_t n)
{
    const rv_f32x2 first = {x.a, y.a}, second = {x.b, y.b};
    rv_store_16(p, rv_pack_bf16(first), 2 * n);
    if (n > 4)
        rv_store_16(p + 8, rv_pack_bf16(second), 2 * n - 8);
}
RV rv_f32x2 rv_round_bf16(rv_f32x2 v)
{
    v.a = rv_odd_bf16(vreinterpretq_u16_u32(rv_bits_bf16(v.a)));
    v.b = rv_odd_bf16(vreinterpretq_u16_u32(rv_bits_bf16(v.b)));
    return v;
}
RV rv_f32x2 rv_split_bf16(rv_f32x2 v, size_t n)
{
    (void)n;
    const rv_f32x2 block = {vuzp1q_f32(v.a, v.b), vuzp2q_f32(v.a, v.b)};
    return block;
}
RV rv_f32x2 rv_join_bf16(rv_f32x2 v, size_t n)
{
    (void)n;
    const rv_f32x2 block = {vzip1q_f32(v.a, v.b), vzip2q_f32(v.a, v.b)};
    return block;
}
RV rv_f32x2 rv_mix_bf16(rv_f32x2 v)
{
    return v;
}
RV rv_f32x2 rv_unmix_bf16(rv_f32x2 v)
{
    return v;
}

/* ---- f16: first half of the elements in a, second in b
 * ----------------------------------------------- */

RV rv_f32x2 rv_widen_f16(uint16x8_t v)
{
    const rv_f32x2 block = {vcvt_f32_f16(vreinterpret_f16_u16(vget_low_u16(v))),
                            vcvt_f32_f16(vreinterpret_f16_u16(vget_high_u16(v)))};
    return block;
}
RV uint16x8_t rv_pack_f16(rv_f32x2 v)
{
    return vcombine_u16(vreinterpret_u16_f16(vcvt_f16_f32(v.a)),
                        vreinterpret_u16_f16(vcvt_f16_f32(v.b)));
}
RV rv_f32x2 rv_load_f16(const uint16_t *p, size_t n)
{
    return rv_widen_f16(rv_load_16(p, n));
}
RV void rv_store_f16(uint16_t *p, rv_f32x2 v, size_t n)
{
    rv_store_16(p, rv_pack_f16(v), n);
}
RV void rv_load2_f16(const uint16_t *p, rv_f32x2 *x, rv_f32x2 *y, size_t n)
{
    const uint16x8_t first = rv_load_16(p, 2 * n);
    const uint16x8_t second = rv_load_16(n > 4 ? p + 8 : p, rv_rest(2 * n, 8));
    *x = rv_widen_f16(vuzp1q_u16(first, second));
    *y = rv_widen_f16(vuzp2q_u16(first, second));
}
RV void rv_store2_f16(uint16_t *p, rv_f32x2 x, rv_f32x2 y, size_t n)
{
    const uint16x8_t first = rv_pack_f16(x), second = rv_pack_f16(y);
    rv_store_16(p, vzip1q_u16(first, second), 2 * n);
    if (n > 4)
        rv_store_16(p + 8, vzip2q_u16(first, second), 2 * n - 8);
}
RV rv_f32x2 rv_round_f16(rv_f32x2 v)
{
    return rv_widen_f16(rv_pack_f16(v));
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

RV void rv_fence(void)
{
}

#endif
