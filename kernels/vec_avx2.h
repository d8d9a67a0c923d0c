/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs, 8 x f32 / 4 x f64, for AVX2 + FMA + F16C.  vec_scalar.h says what each verb means. */
#ifndef ROPE_VEC_AVX2_H
#define ROPE_VEC_AVX2_H

#if !defined(__AVX2__) || !defined(__FMA__) || !defined(__F16C__)
#error "compile with -mavx2 -mfma -mf16c"
#endif

#include "vec_x86.h"
#include <stddef.h>
#include <stdint.h>
#ifdef ROPE_WITH_SLEEF
#include <sleef.h>
#endif

typedef __m256 rv_f32;
typedef __m256d rv_f64;
#define RV_F32_LANES   8
#define RV_F64_LANES   4
#define RV_TOGETHER    1 /* f32 blocks that registers hold beside a row of them */
#define RV_SPARE_LOADS 0
#define RV_STREAMS     1 /* stores past the caches */
#define RV_TURNS       0

/* ---- f32 ------------------------------------------------------------------------------------ */

RV rv_f32 rv_load_f32(const float *p, size_t n)
{
    return n >= 8 ? _mm256_loadu_ps(p) : _mm256_castsi256_ps(rv_load_bytes(p, 4 * n));
}
RV void rv_store_f32(float *p, rv_f32 v, size_t n)
{
    if (n >= 8)
        _mm256_storeu_ps(p, v);
    else
        rv_store_bytes(p, _mm256_castps_si256(v), 4 * n);
}
RV void rv_stream_f32(float *p, rv_f32 v)
{
    _mm256_stream_ps(p, v);
}
RV rv_f32 rv_hold_f32(rv_f32 v)
{
    __asm__("" : "+x"(v));
    return v;
}
RV void rv_load2_f32(const float *p, rv_f32 *x, rv_f32 *y, size_t n)
{
    const __m256 first = rv_hold_f32(rv_load_f32(p, 2 * n));
    const __m256 second = rv_hold_f32(rv_load_f32(n > 4 ? p + 8 : p, rv_rest(2 * n, 8)));
    *x = _mm256_shuffle_ps(first, second, 0x88);
    *y = _mm256_shuffle_ps(first, second, 0xdd);
}
RV void rv_store2_f32(float *p, rv_f32 x, rv_f32 y, size_t n)
{
    rv_store_f32(p, _mm256_unpacklo_ps(x, y), 2 * n);
    if (n > 4)
        rv_store_f32(p + 8, _mm256_unpackhi_ps(x, y), 2 * n - 8);
}
RV void rv_stream2_f32(float *p, rv_f32 x, rv_f32 y)
{
    rv_stream_f32(p, _mm256_unpacklo_ps(x, y));
    rv_stream_f32(p + 8, _mm256_unpackhi_ps(x, y));
}
RV rv_f32 rv_mix_f32(rv_f32 v) /* 0 1 4 5 2 3 6 7 */
{
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(v), 0xd8));
}
RV rv_f32 rv_unmix_f32(rv_f32 v)
{
    return rv_mix_f32(v);
}
RV rv_f32 rv_add_f32(rv_f32 a, rv_f32 b)
{
    return _mm256_add_ps(a, b);
}
RV rv_f32 rv_sub_f32(rv_f32 a, rv_f32 b)
{
    return _mm256_sub_ps(a, b);
}
RV rv_f32 rv_mul_f32(rv_f32 a, rv_f32 b)
{
    return _mm256_mul_ps(a, b);
}
RV rv_f32 rv_fma_f32(rv_f32 a, rv_f32 b, rv_f32 c)
{
    return _mm256_fmadd_ps(a, b, c);
}
RV rv_f32 rv_fms_f32(rv_f32 a, rv_f32 b, rv_f32 c)
{
    return _mm256_fmsub_ps(a, b, c);
}

/* ---- f64 ------------------------------------------------------------------------------------ */

RV rv_f64 rv_load_f64(const double *p, size_t n)
{
    return n >= 4 ? _mm256_loadu_pd(p) : _mm256_castsi256_pd(rv_load_bytes(p, 8 * n));
}
RV void rv_store_f64(double *p, rv_f64 v, size_t n)
{
    if (n >= 4)
        _mm256_storeu_pd(p, v);
    else
        rv_store_bytes(p, _mm256_castpd_si256(v), 8 * n);
}
RV void rv_stream_f64(double *p, rv_f64 v)
{
    _mm256_stream_pd(p, v);
}
RV void rv_load2_f64(const double *p, rv_f64 *x, rv_f64 *y, size_t n)
{
    const __m256d first = rv_load_f64(p, 2 * n);
    const __m256d second = rv_load_f64(n > 2 ? p + 4 : p, rv_rest(2 * n, 4));
    *x = _mm256_unpacklo_pd(first, second);
    *y = _mm256_unpackhi_pd(first, second);
}
RV void rv_store2_f64(double *p, rv_f64 x, rv_f64 y, size_t n)
{
    rv_store_f64(p, _mm256_unpacklo_pd(x, y), 2 * n);
    if (n > 2)
        rv_store_f64(p + 4, _mm256_unpackhi_pd(x, y), 2 * n - 4);
}
RV void rv_stream2_f64(double *p, rv_f64 x, rv_f64 y)
{
    rv_stream_f64(p, _mm256_unpacklo_pd(x, y));
    rv_stream_f64(p + 4, _mm256_unpackhi_pd(x, y));
}
RV rv_f64 rv_mix_f64(rv_f64 v) /* 0 2 1 3 */
{
    return _mm256_permute4x64_pd(v, 0xd8);
}
RV rv_f64 rv_unmix_f64(rv_f64 v)
{
    return rv_mix_f64(v);
}
RV rv_f64 rv_set_f64(double value)
{
    return _mm256_set1_pd(value);
}
RV rv_f64 rv_blend_f64(rv_f64 a, rv_f64 b, rv_f64 mask)
{
    return _mm256_blendv_pd(a, b, mask);
}
RV rv_f64 rv_hold_f64(rv_f64 v)
{
    __asm__("" : "+x"(v));
    return v;
}
RV rv_f64 rv_add_f64(rv_f64 a, rv_f64 b)
{
    return _mm256_add_pd(a, b);
}
RV rv_f64 rv_sub_f64(rv_f64 a, rv_f64 b)
{
    return _mm256_sub_pd(a, b);
}
RV rv_f64 rv_mul_f64(rv_f64 a, rv_f64 b)
{
    return _mm256_mul_pd(a, b);
}
RV rv_f64 rv_fma_f64(rv_f64 a, rv_f64 b, rv_f64 c)
{
    return _mm256_fmadd_pd(a, b, c);
}
RV rv_f64 rv_fms_f64(rv_f64 a, rv_f64 b, rv_f64 c)
{
    return _mm256_fmsub_pd(a, b, c);
}
RV rv_f64 rv_rint_f64(rv_f64 v)
{
    return _mm256_round_pd(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#ifdef ROPE_WITH_SLEEF
RV void rv_sincospi_f64(rv_f64 x, rv_f64 *s, rv_f64 *c)
{
    const Sleef___m256d_2 both = Sleef_finz_sincospid4_u05avx2(x);
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
    return _mm256_set_m128(_mm256_cvtpd_ps(v[1]), _mm256_cvtpd_ps(v[0]));
}
RV rv_f64 rv_round_f32_f64(rv_f64 v)
{
    return _mm256_cvtps_pd(_mm256_cvtpd_ps(v));
}
RV rv_f64 rv_round_odd_f64(rv_f64 v)
{
    const __m256i bits = _mm256_castpd_si256(v);
    const __m256i lost = _mm256_set1_epi64x((1 << 29) - 1);
    const __m256i sticky = _mm256_and_si256(_mm256_add_epi64(_mm256_and_si256(bits, lost), lost),
                                            _mm256_set1_epi64x(1 << 29));
    return _mm256_castsi256_pd(_mm256_andnot_si256(lost, _mm256_or_si256(bits, sticky)));
}

/* ---- bf16: even elements in a, odd ones in b; a shift and a mask make them f32; of 8 and fewer all in a
 * --------------------- */

typedef struct {
    rv_f32 a, b;
} rv_f32x2;

RV __m256i rv_high_half(void)
{
    return _mm256_set1_epi32((int)0xffff0000u);
}
RV __m256 rv_even_bf16(__m256i v)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(v, 16));
}
RV __m256 rv_odd_bf16(__m256i v)
{
    return _mm256_castsi256_ps(_mm256_and_si256(v, rv_high_half()));
}
/* NaN with a quiet bit and an empty low half, which survives the rounding below; other values as
 * they are. */
RV __m256 rv_quiet_bf16(__m256 v)
{
    const __m256 quiet = _mm256_or_ps(_mm256_and_ps(v, _mm256_castsi256_ps(rv_high_half())),
                                      _mm256_castsi256_ps(_mm256_set1_epi32(0x00400000)));
    return _mm256_blendv_ps(v, quiet, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
}
/* Rounded to nearest even in the upper half of each lane; the lower half is left over. */
RV __m256i rv_bits_bf16(__m256 v)
{
    const __m256i bits = _mm256_castps_si256(v);
    const __m256i even = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    return _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), even);
}
RV __m256i rv_pack_bf16(rv_f32x2 v)
{
    if (__builtin_expect(_mm256_movemask_ps(_mm256_cmp_ps(v.a, v.b, _CMP_UNORD_Q)) != 0, 0)) {
        v.a = rv_quiet_bf16(v.a);
        v.b = rv_quiet_bf16(v.b);
    }
    return _mm256_blend_epi16(_mm256_srli_epi32(rv_bits_bf16(v.a), 16), rv_bits_bf16(v.b), 0xaa);
}
RV __m128i rv_narrow_bf16(__m256 v)
{
    if (__builtin_expect(_mm256_movemask_ps(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)) != 0, 0))
        v = rv_quiet_bf16(v);
    const __m256i bits = _mm256_srli_epi32(rv_bits_bf16(v), 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1));
}
RV rv_f32x2 rv_load_bf16(const uint16_t *p, size_t n)
{
    if (n <= 8) {
        const __m128i few = _mm256_castsi256_si128(rv_load_bytes(p, 2 * n));
        const rv_f32x2 part = {
            _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(few), 16)),
            _mm256_setzero_ps()};
        return part;
    }
    const __m256i v = rv_load_bytes(p, 2 * n);
    const rv_f32x2 block = {rv_even_bf16(v), rv_odd_bf16(v)};
    return block;
}
RV void rv_store_bf16(uint16_t *p, rv_f32x2 v, size_t n)
{
    rv_store_bytes(p, n <= 8 ? _mm256_zextsi128_si256(rv_narrow_bf16(v.a)) : rv_pack_bf16(v),
                   2 * n);
}
RV void rv_stream_bf16(uint16_t *p, rv_f32x2 v)
{
    _mm256_stream_si256((void *)p, rv_pack_bf16(v));
}
RV void rv_load2_bf16(const uint16_t *p, rv_f32x2 *x, rv_f32x2 *y, size_t n)
{
    const __m256i first = rv_load_bytes(p, 4 * n);
    const __m256i second = rv_load_bytes(n > 8 ? p + 16 : p, rv_rest(4 * n, 32));
    x->a = rv_even_bf16(first), x->b = rv_even_bf16(second);
    y->a = rv_odd_bf16(first), y->b = rv_odd_bf16(second);
}
RV void rv_store2_bf16(uint16_t *p, rv_f32x2 x, rv_f32x2 y, size_t n)
{
    const rv_f32x2 first = {x.a, y.a}, second = {x.b, y.b};
    rv_store_bytes(p, rv_pack_bf16(first), 4 * n);
    if (n > 8)
        rv_store_bytes(p + 16, rv_pack_bf16(second), 4 * n - 32);
}
RV void rv_stream2_bf16(uint16_t *p, rv_f32x2 x, rv_f32x2 y)
{
    const rv_f32x2 first = {x.a, y.a}, second = {x.b, y.b};
    rv_stream_bf16(p, first);
    rv_stream_bf16(p + 16, second);
}
RV rv_f32x2 rv_round_bf16(rv_f32x2 v)
{
    v.a = rv_odd_bf16(rv_bits_bf16(rv_quiet_bf16(v.a)));
    v.b = rv_odd_bf16(rv_bits_bf16(rv_quiet_bf16(v.b)));
    return v;
}
RV rv_f32x2 rv_split_bf16(rv_f32x2 v, size_t n)
{
    if (n <= RV_F32_LANES)
        return v;
    const rv_f32x2 block = {rv_mix_f32(_mm256_shuffle_ps(v.a, v.b, 0x88)),
                            rv_mix_f32(_mm256_shuffle_ps(v.a, v.b, 0xdd))};
    return block;
}
RV rv_f32x2 rv_join_bf16(rv_f32x2 v, size_t n)
{
    if (n <= RV_F32_LANES)
        return v;
    const __m256 low = _mm256_unpacklo_ps(v.a, v.b), high = _mm256_unpackhi_ps(v.a, v.b);
    const rv_f32x2 block = {_mm256_permute2f128_ps(low, high, 0x20),
                            _mm256_permute2f128_ps(low, high, 0x31)};
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

RV rv_f32x2 rv_widen_f16(__m256i v)
{
    const rv_f32x2 block = {_mm256_cvtph_ps(_mm256_castsi256_si128(v)),
                            _mm256_cvtph_ps(_mm256_extracti128_si256(v, 1))};
    return block;
}
RV __m256i rv_pack_f16(rv_f32x2 v)
{
    return _mm256_set_m128i(_mm256_cvtps_ph(v.b, _MM_FROUND_TO_NEAREST_INT),
                            _mm256_cvtps_ph(v.a, _MM_FROUND_TO_NEAREST_INT));
}
/* Halves go by themselves, without a shuffle to part or join them. */
RV rv_f32x2 rv_load_f16(const uint16_t *p, size_t n)
{
    if (n <= 8) {
        const rv_f32x2 part = {_mm256_cvtph_ps(_mm256_castsi256_si128(rv_load_bytes(p, 2 * n))),
                               _mm256_setzero_ps()};
        return part;
    }
    if (n < 16)
        return rv_widen_f16(rv_load_bytes(p, 2 * n));
    const rv_f32x2 block = {_mm256_cvtph_ps(_mm_loadu_si128((const void *)p)),
                            _mm256_cvtph_ps(_mm_loadu_si128((const void *)(p + 8)))};
    return block;
}
RV void rv_store_f16(uint16_t *p, rv_f32x2 v, size_t n)
{
    if (n <= 8) {
        const __m128i few = _mm256_cvtps_ph(v.a, _MM_FROUND_TO_NEAREST_INT);
        rv_store_bytes(p, _mm256_zextsi128_si256(few), 2 * n);
    } else if (n < 16) {
        rv_store_bytes(p, rv_pack_f16(v), 2 * n);
    } else {
        _mm_storeu_si128((void *)p, _mm256_cvtps_ph(v.a, _MM_FROUND_TO_NEAREST_INT));
        _mm_storeu_si128((void *)(p + 8), _mm256_cvtps_ph(v.b, _MM_FROUND_TO_NEAREST_INT));
    }
}
RV void rv_stream_f16(uint16_t *p, rv_f32x2 v)
{
    _mm256_stream_si256((void *)p, rv_pack_f16(v));
}
RV void rv_load2_f16(const uint16_t *p, rv_f32x2 *x, rv_f32x2 *y, size_t n)
{
    const rv_f32x2 first = rv_load_f16(p, 2 * n);
    const rv_f32x2 second = rv_load_f16(n > 8 ? p + 16 : p, rv_rest(2 * n, 16));
    x->a = _mm256_shuffle_ps(first.a, first.b, 0x88);
    y->a = _mm256_shuffle_ps(first.a, first.b, 0xdd);
    x->b = _mm256_shuffle_ps(second.a, second.b, 0x88);
    y->b = _mm256_shuffle_ps(second.a, second.b, 0xdd);
}
RV rv_f32x2 rv_pairs_f16(rv_f32 x, rv_f32 y)
{
    const rv_f32x2 block = {_mm256_unpacklo_ps(x, y), _mm256_unpackhi_ps(x, y)};
    return block;
}
RV void rv_store2_f16(uint16_t *p, rv_f32x2 x, rv_f32x2 y, size_t n)
{
    rv_store_f16(p, rv_pairs_f16(x.a, y.a), 2 * n);
    if (n > 8)
        rv_store_f16(p + 16, rv_pairs_f16(x.b, y.b), 2 * n - 16);
}
RV void rv_stream2_f16(uint16_t *p, rv_f32x2 x, rv_f32x2 y)
{
    rv_stream_f16(p, rv_pairs_f16(x.a, y.a));
    rv_stream_f16(p + 16, rv_pairs_f16(x.b, y.b));
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
    const rv_f32x2 block = {rv_mix_f32(v.a), rv_mix_f32(v.b)};
    return block;
}
RV rv_f32x2 rv_unmix_f16(rv_f32x2 v)
{
    return rv_mix_f16(v);
}

RV void rv_fence(void)
{
    _mm_sfence();
}

#endif
