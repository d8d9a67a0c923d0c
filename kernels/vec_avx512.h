/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs, 16 x f32 / 8 x f64, for AVX-512 F + BW + DQ + VL.  vec_scalar.h says what each verb means.
 */
#ifndef ROPE_VEC_AVX512_H
#define ROPE_VEC_AVX512_H

#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512DQ__) || \
    !defined(__AVX512VL__)
#error "compile with -mavx512f -mavx512bw -mavx512dq -mavx512vl"
#endif

#include "vec_x86.h"
#include <stddef.h>
#include <stdint.h>
#ifdef ROPE_WITH_SLEEF
#include <sleef.h>
#endif

typedef __m512 rv_f32;
typedef __m512d rv_f64;
#define RV_F32_LANES   16
#define RV_F64_LANES   8
#define RV_TOGETHER    4 /* f32 blocks that registers hold beside a row of them */
#define RV_SPARE_LOADS 1
#define RV_STREAMS     1 /* stores past the caches */
#define RV_TURNS       1

/* ---- two numbers in a vector register
 * --------------------------------------------------------------- */

typedef __m128i rv_two;
RV rv_two rv_hold_two(rv_two v) /* where it is, until it is taken */
{
    __asm__ volatile("" : "+v"(v));
    return v;
}
RV rv_two rv_two_of(ptrdiff_t first, ptrdiff_t second)
{
    return rv_hold_two(_mm_insert_epi64(_mm_cvtsi64_si128(first), second, 1));
}
RV rv_two rv_add_two(rv_two a, rv_two b)
{
    return _mm_add_epi64(a, b);
}
RV ptrdiff_t rv_first(rv_two v)
{
    return _mm_cvtsi128_si64(v);
}
RV ptrdiff_t rv_second(rv_two v)
{
    return _mm_extract_epi64(v, 1);
}
RV ptrdiff_t rv_hold_number(ptrdiff_t v) /* in a general register from here on */
{
    __asm__ volatile("" : "+r"(v));
    return v;
}

/* The first `bytes` of a vector, an even number. */
RV __m512i rv_load_bytes_512(const void *p, size_t bytes)
{
    const char *from = p;
    if (bytes <= 32)
        return _mm512_zextsi256_si512(rv_load_bytes(from, bytes));
    if (bytes >= 64)
        return _mm512_loadu_si512(from);
    return _mm512_inserti64x4(_mm512_castsi256_si512(rv_load_bytes(from, 32)),
                              rv_load_bytes(from + 32, bytes - 32), 1);
}
RV void rv_store_bytes_512(void *p, __m512i v, size_t bytes)
{
    char *to = p;
    if (bytes <= 32) {
        rv_store_bytes(to, _mm512_castsi512_si256(v), bytes);
    } else if (bytes >= 64) {
        _mm512_storeu_si512(to, v);
    } else {
        rv_store_bytes(to, _mm512_castsi512_si256(v), 32);
        rv_store_bytes(to + 32, _mm512_extracti64x4_epi64(v, 1), bytes - 32);
    }
}

/* ---- f32 ------------------------------------------------------------------------------------ */

RV rv_f32 rv_load_f32(const float *p, size_t n)
{
    return _mm512_castsi512_ps(rv_load_bytes_512(p, 4 * n));
}
RV void rv_store_f32(float *p, rv_f32 v, size_t n)
{
    rv_store_bytes_512(p, _mm512_castps_si512(v), 4 * n);
}
RV void rv_stream_f32(float *p, rv_f32 v)
{
    _mm512_stream_ps(p, v);
}
RV void rv_load2_f32(const float *p, rv_f32 *x, rv_f32 *y, size_t n)
{
    const __m512 first = rv_load_f32(p, 2 * n);
    const __m512 second = rv_load_f32(n > 8 ? p + 16 : p, rv_rest(2 * n, 16));
    *x = _mm512_shuffle_ps(first, second, 0x88);
    *y = _mm512_shuffle_ps(first, second, 0xdd);
}
RV void rv_store2_f32(float *p, rv_f32 x, rv_f32 y, size_t n)
{
    rv_store_f32(p, _mm512_unpacklo_ps(x, y), 2 * n);
    if (n > 8)
        rv_store_f32(p + 16, _mm512_unpackhi_ps(x, y), 2 * n - 16);
}
RV void rv_stream2_f32(float *p, rv_f32 x, rv_f32 y)
{
    rv_stream_f32(p, _mm512_unpacklo_ps(x, y));
    rv_stream_f32(p + 16, _mm512_unpackhi_ps(x, y));
}
RV __m512d rv_mix_f64(__m512d v) /* 0 4 1 5 2 6 3 7 */
{
    return _mm512_permutexvar_pd(_mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0), v);
}
RV __m512d rv_unmix_f64(__m512d v)
{
    return _mm512_permutexvar_pd(_mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0), v);
}
RV rv_f32 rv_mix_f32(rv_f32 v) /* 0 1 8 9 2 3 10 11 4 5 12 13 6 7 14 15 */
{
    return _mm512_castpd_ps(rv_mix_f64(_mm512_castps_pd(v)));
}
RV rv_f32 rv_unmix_f32(rv_f32 v)
{
    return _mm512_castpd_ps(rv_unmix_f64(_mm512_castps_pd(v)));
}
RV rv_f32 rv_hold_f32(rv_f32 v)
{
    __asm__("" : "+v"(v));
    return v;
}
RV rv_f32 rv_add_f32(rv_f32 a, rv_f32 b)
{
    return _mm512_add_ps(a, b);
}
RV rv_f32 rv_sub_f32(rv_f32 a, rv_f32 b)
{
    return _mm512_sub_ps(a, b);
}
RV rv_f32 rv_mul_f32(rv_f32 a, rv_f32 b)
{
    return _mm512_mul_ps(a, b);
}
RV rv_f32 rv_fma_f32(rv_f32 a, rv_f32 b, rv_f32 c)
{
    return _mm512_fmadd_ps(a, b, c);
}
RV rv_f32 rv_fms_f32(rv_f32 a, rv_f32 b, rv_f32 c)
{
    return _mm512_fmsub_ps(a, b, c);
}
/* c and s in turn, all of them in two vectors. */
RV void rv_weave_f32(rv_f32 c, rv_f32 s, rv_f32 *first, rv_f32 *second)
{
    const __m512i low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __m512i high =
        _mm512_set_epi32(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8);
    *first = _mm512_permutex2var_ps(c, low, s);
    *second = _mm512_permutex2var_ps(c, high, s);
}
RV rv_f32 rv_evens_f32(rv_f32 v) /* 0 0 2 2 ... */
{
    return _mm512_moveldup_ps(v);
}
RV rv_f32 rv_odds_f32(rv_f32 v) /* 1 1 3 3 ... */
{
    return _mm512_movehdup_ps(v);
}
RV rv_f32 rv_fms_fma_f32(rv_f32 a, rv_f32 b, rv_f32 c) /* fms in even lanes, fma in odd ones */
{
    return _mm512_fmaddsub_ps(a, b, c);
}

/* ---- f64 ------------------------------------------------------------------------------------ */

RV rv_f64 rv_load_f64(const double *p, size_t n)
{
    return _mm512_castsi512_pd(rv_load_bytes_512(p, 8 * n));
}
RV void rv_store_f64(double *p, rv_f64 v, size_t n)
{
    rv_store_bytes_512(p, _mm512_castpd_si512(v), 8 * n);
}
RV void rv_stream_f64(double *p, rv_f64 v)
{
    _mm512_stream_pd(p, v);
}
RV void rv_load2_f64(const double *p, rv_f64 *x, rv_f64 *y, size_t n)
{
    const __m512d first = rv_load_f64(p, 2 * n);
    const __m512d second = rv_load_f64(n > 4 ? p + 8 : p, rv_rest(2 * n, 8));
    *x = _mm512_unpacklo_pd(first, second);
    *y = _mm512_unpackhi_pd(first, second);
}
RV void rv_store2_f64(double *p, rv_f64 x, rv_f64 y, size_t n)
{
    rv_store_f64(p, _mm512_unpacklo_pd(x, y), 2 * n);
    if (n > 4)
        rv_store_f64(p + 8, _mm512_unpackhi_pd(x, y), 2 * n - 8);
}
RV void rv_stream2_f64(double *p, rv_f64 x, rv_f64 y)
{
    rv_stream_f64(p, _mm512_unpacklo_pd(x, y));
    rv_stream_f64(p + 8, _mm512_unpackhi_pd(x, y));
}
RV rv_f64 rv_set_f64(double value)
{
    return _mm512_set1_pd(value);
}
RV rv_f64 rv_blend_f64(rv_f64 a, rv_f64 b, rv_f64 mask)
{
    return _mm512_mask_mov_pd(a, _mm512_movepi64_mask(_mm512_castpd_si512(mask)), b);
}
RV rv_f64 rv_hold_f64(rv_f64 v)
{
    __asm__("" : "+v"(v));
    return v;
}
RV rv_f64 rv_add_f64(rv_f64 a, rv_f64 b)
{
    return _mm512_add_pd(a, b);
}
RV rv_f64 rv_sub_f64(rv_f64 a, rv_f64 b)
{
    return _mm512_sub_pd(a, b);
}
RV rv_f64 rv_mul_f64(rv_f64 a, rv_f64 b)
{
    return _mm512_mul_pd(a, b);
}
RV rv_f64 rv_fma_f64(rv_f64 a, rv_f64 b, rv_f64 c)
{
    return _mm512_fmadd_pd(a, b, c);
}
RV rv_f64 rv_fms_f64(rv_f64 a, rv_f64 b, rv_f64 c)
{
    return _mm512_fmsub_pd(a, b, c);
}
RV rv_f64 rv_rint_f64(rv_f64 v)
{
    return _mm512_roundscale_pd(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#ifdef ROPE_WITH_SLEEF
RV void rv_sincospi_f64(rv_f64 x, rv_f64 *s, rv_f64 *c)
{
    const Sleef___m512d_2 both = Sleef_finz_sincospid8_u05avx512f(x);
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
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(v[0])), _mm512_cvtpd_ps(v[1]),
                              1);
}
RV rv_f64 rv_round_f32_f64(rv_f64 v)
{
    return _mm512_cvtps_pd(_mm512_cvtpd_ps(v));
}
RV rv_f64 rv_round_odd_f64(rv_f64 v)
{
    const __m512i bits = _mm512_castpd_si512(v);
    const __m512i lost = _mm512_set1_epi64((1 << 29) - 1);
    const __m512i sticky = _mm512_and_si512(_mm512_add_epi64(_mm512_and_si512(bits, lost), lost),
                                            _mm512_set1_epi64(1 << 29));
    return _mm512_castsi512_pd(_mm512_andnot_si512(lost, _mm512_or_si512(bits, sticky)));
}

/* ---- 16-bit memory -----------------------------------------------------------------------------
 */

typedef struct {
    rv_f32 a, b;
} rv_f32x2;

/* ---- bf16: even elements in a, odd ones in b; a shift and a mask make them f32; of 16 and fewer all in a
 * --------------------- */

RV __m512i rv_high_half(void)
{
    return _mm512_set1_epi32((int)0xffff0000u);
}
RV __m512 rv_even_bf16(__m512i v)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(v, 16));
}
RV __m512 rv_odd_bf16(__m512i v)
{
    return _mm512_castsi512_ps(_mm512_and_si512(v, rv_high_half()));
}
/* NaN with a quiet bit and an empty low half, which survives the rounding below; other values as
 * they are. */
RV __m512 rv_quiet_bf16(__m512 v)
{
    const __m512i quiet = _mm512_or_si512(_mm512_and_si512(_mm512_castps_si512(v), rv_high_half()),
                                          _mm512_set1_epi32(0x00400000));
    return _mm512_mask_mov_ps(v, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q),
                              _mm512_castsi512_ps(quiet));
}
/* Rounded to nearest even in the upper half of each lane; the lower half is left over. */
RV __m512i rv_bits_bf16(__m512 v)
{
    const __m512i bits = _mm512_castps_si512(v);
    const __m512i even = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    return _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), even);
}
RV __m512i rv_pack_integer_bf16(rv_f32x2 v)
{
    if (__builtin_expect(_mm512_cmp_ps_mask(v.a, v.b, _CMP_UNORD_Q) != 0, 0)) {
        v.a = rv_quiet_bf16(v.a);
        v.b = rv_quiet_bf16(v.b);
    }
    return _mm512_mask_blend_epi16(0xaaaaaaaau, _mm512_srli_epi32(rv_bits_bf16(v.a), 16),
                                   rv_bits_bf16(v.b));
}
RV __m256i rv_narrow_integer_bf16(__m512 v)
{
    if (__builtin_expect(_mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q) != 0, 0))
        v = rv_quiet_bf16(v);
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(rv_bits_bf16(v), 16));
}
#ifdef __AVX512BF16__
/*
 * The instruction rounds as we do, but takes subnormal values for zero: blocks with one go the
 * other way.
 */
RV __m512i rv_pack_bf16(rv_f32x2 v)
{
    const __mmask16 subnormal =
        _mm512_fpclass_ps_mask(v.a, 0x20) | _mm512_fpclass_ps_mask(v.b, 0x20);
    if (__builtin_expect(subnormal != 0, 0))
        return rv_pack_integer_bf16(v);
    const __m512i alternate =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return _mm512_permutexvar_epi16(alternate, (__m512i)_mm512_cvtne2ps_pbh(v.b, v.a));
}
RV __m256i rv_narrow_bf16(__m512 v)
{
    if (__builtin_expect(_mm512_fpclass_ps_mask(v, 0x20) != 0, 0))
        return rv_narrow_integer_bf16(v);
    return (__m256i)_mm512_cvtneps_pbh(v);
}
#else
RV __m512i rv_pack_bf16(rv_f32x2 v)
{
    return rv_pack_integer_bf16(v);
}
RV __m256i rv_narrow_bf16(__m512 v)
{
    return rv_narrow_integer_bf16(v);
}
#endif
RV rv_f32x2 rv_load_bf16(const uint16_t *p, size_t n)
{
    if (n <= 16) {
        const __m512i few = _mm512_cvtepu16_epi32(rv_load_bytes(p, 2 * n));
        const rv_f32x2 part = {_mm512_castsi512_ps(_mm512_slli_epi32(few, 16)),
                               _mm512_setzero_ps()};
        return part;
    }
    const __m512i v = rv_load_bytes_512(p, 2 * n);
    const rv_f32x2 block = {rv_even_bf16(v), rv_odd_bf16(v)};
    return block;
}
RV void rv_store_bf16(uint16_t *p, rv_f32x2 v, size_t n)
{
    if (n <= 16)
        rv_store_bytes(p, rv_narrow_bf16(v.a), 2 * n);
    else
        rv_store_bytes_512(p, rv_pack_bf16(v), 2 * n);
}
RV void rv_stream_bf16(uint16_t *p, rv_f32x2 v)
{
    _mm512_stream_si512((void *)p, rv_pack_bf16(v));
}
RV void rv_load2_bf16(const uint16_t *p, rv_f32x2 *x, rv_f32x2 *y, size_t n)
{
    const __m512i first = rv_load_bytes_512(p, 4 * n);
    const __m512i second = rv_load_bytes_512(n > 16 ? p + 32 : p, rv_rest(4 * n, 64));
    x->a = rv_even_bf16(first), x->b = rv_even_bf16(second);
    y->a = rv_odd_bf16(first), y->b = rv_odd_bf16(second);
}
RV void rv_store2_bf16(uint16_t *p, rv_f32x2 x, rv_f32x2 y, size_t n)
{
    const rv_f32x2 first = {x.a, y.a}, second = {x.b, y.b};
    rv_store_bytes_512(p, rv_pack_bf16(first), 4 * n);
    if (n > 16)
        rv_store_bytes_512(p + 32, rv_pack_bf16(second), 4 * n - 64);
}
RV void rv_stream2_bf16(uint16_t *p, rv_f32x2 x, rv_f32x2 y)
{
    const rv_f32x2 first = {x.a, y.a}, second = {x.b, y.b};
    rv_stream_bf16(p, first);
    rv_stream_bf16(p + 32, second);
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
    const __m512i even =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    const rv_f32x2 block = {_mm512_permutex2var_ps(v.a, even, v.b),
                            _mm512_permutex2var_ps(v.a, odd, v.b)};
    return block;
}
RV rv_f32x2 rv_join_bf16(rv_f32x2 v, size_t n)
{
    if (n <= RV_F32_LANES)
        return v;
    const __m512i low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __m512i high =
        _mm512_set_epi32(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8);
    const rv_f32x2 block = {_mm512_permutex2var_ps(v.a, low, v.b),
                            _mm512_permutex2var_ps(v.a, high, v.b)};
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

RV rv_f32x2 rv_widen_f16(__m512i v)
{
    const rv_f32x2 block = {_mm512_cvtph_ps(_mm512_castsi512_si256(v)),
                            _mm512_cvtph_ps(_mm512_extracti64x4_epi64(v, 1))};
    return block;
}
RV __m512i rv_pack_f16(rv_f32x2 v)
{
    const __m256i low = _mm512_cvtps_ph(v.a, _MM_FROUND_TO_NEAREST_INT);
    const __m256i high = _mm512_cvtps_ph(v.b, _MM_FROUND_TO_NEAREST_INT);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
/* Halves go by themselves, without a shuffle to part or join them. */
RV rv_f32x2 rv_load_f16(const uint16_t *p, size_t n)
{
    if (n <= 16) {
        const rv_f32x2 part = {_mm512_cvtph_ps(rv_load_bytes(p, 2 * n)), _mm512_setzero_ps()};
        return part;
    }
    if (n < 32)
        return rv_widen_f16(rv_load_bytes_512(p, 2 * n));
    const rv_f32x2 block = {_mm512_cvtph_ps(_mm256_loadu_si256((const void *)p)),
                            _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(p + 16)))};
    return block;
}
RV void rv_store_f16(uint16_t *p, rv_f32x2 v, size_t n)
{
    if (n <= 16) {
        rv_store_bytes(p, _mm512_cvtps_ph(v.a, _MM_FROUND_TO_NEAREST_INT), 2 * n);
    } else if (n < 32) {
        rv_store_bytes_512(p, rv_pack_f16(v), 2 * n);
    } else {
        _mm256_storeu_si256((void *)p, _mm512_cvtps_ph(v.a, _MM_FROUND_TO_NEAREST_INT));
        _mm256_storeu_si256((void *)(p + 16), _mm512_cvtps_ph(v.b, _MM_FROUND_TO_NEAREST_INT));
    }
}
RV void rv_stream_f16(uint16_t *p, rv_f32x2 v)
{
    _mm512_stream_si512((void *)p, rv_pack_f16(v));
}
RV void rv_load2_f16(const uint16_t *p, rv_f32x2 *x, rv_f32x2 *y, size_t n)
{
    const rv_f32x2 first = rv_load_f16(p, 2 * n);
    const rv_f32x2 second = rv_load_f16(n > 16 ? p + 32 : p, rv_rest(2 * n, 32));
    x->a = _mm512_shuffle_ps(first.a, first.b, 0x88);
    y->a = _mm512_shuffle_ps(first.a, first.b, 0xdd);
    x->b = _mm512_shuffle_ps(second.a, second.b, 0x88);
    y->b = _mm512_shuffle_ps(second.a, second.b, 0xdd);
}
RV rv_f32x2 rv_pairs_f16(rv_f32 x, rv_f32 y)
{
    const rv_f32x2 block = {_mm512_unpacklo_ps(x, y), _mm512_unpackhi_ps(x, y)};
    return block;
}
RV void rv_store2_f16(uint16_t *p, rv_f32x2 x, rv_f32x2 y, size_t n)
{
    rv_store_f16(p, rv_pairs_f16(x.a, y.a), 2 * n);
    if (n > 16)
        rv_store_f16(p + 32, rv_pairs_f16(x.b, y.b), 2 * n - 32);
}
RV void rv_stream2_f16(uint16_t *p, rv_f32x2 x, rv_f32x2 y)
{
    rv_stream_f16(p, rv_pairs_f16(x.a, y.a));
    rv_stream_f16(p + 32, rv_pairs_f16(x.b, y.b));
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
    const rv_f32x2 block = {rv_unmix_f32(v.a), rv_unmix_f32(v.b)};
    return block;
}

RV void rv_fence(void)
{
    _mm_sfence();
}

#endif
