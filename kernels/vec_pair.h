/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that are the same for all sets: over blocks of two f32 vectors, in terms of the verbs of the
 * vec_*.h included before, and the hint to the caches.  No intrinsics here. */
#ifndef ROPE_VEC_PAIR_H
#define ROPE_VEC_PAIR_H

/* Nothing is read or written on the other side of this than in the text. */
RV void rv_order(void)
{
#if defined(__GNUC__)
    __asm__ volatile("" ::: "memory");
#endif
}
/* Asks the caches for the line `bytes` behind p, which need not exist. */
RV void rv_prefetch(const void *p, ptrdiff_t bytes)
{
#if defined(__GNUC__)
    __builtin_prefetch((const void *)((uintptr_t)p + (uintptr_t)bytes));
#else
    (void)p, (void)bytes;
#endif
}

/* Whole vectors, and two of them as pairs, past the caches where a set can (p aligned to the vector). */
#if !RV_STREAMS
#define rv_stream_f32(p, v)      rv_store_f32(p, v, RV_F32_LANES)
#define rv_stream_f64(p, v)      rv_store_f64(p, v, RV_F64_LANES)
#define rv_stream_f16(p, v)      rv_store_f16(p, v, 2 * RV_F32_LANES)
#define rv_stream_bf16(p, v)     rv_store_bf16(p, v, 2 * RV_F32_LANES)
#define rv_stream2_f32(p, x, y)  rv_store2_f32(p, x, y, RV_F32_LANES)
#define rv_stream2_f64(p, x, y)  rv_store2_f64(p, x, y, RV_F64_LANES)
#define rv_stream2_f16(p, x, y)  rv_store2_f16(p, x, y, 2 * RV_F32_LANES)
#define rv_stream2_bf16(p, x, y) rv_store2_bf16(p, x, y, 2 * RV_F32_LANES)
#endif

/* n entries of an f32 row, in natural order. */
RV rv_f32x2 rv_loadrow_f32x2(const float *p, size_t n)
{
    const size_t lanes = RV_F32_LANES;
    const rv_f32x2 v = {rv_load_f32(p, n < lanes ? n : lanes),
                        rv_load_f32(n > lanes ? p + lanes : p, n > lanes ? n - lanes : 0)};
    return v;
}
RV void rv_storerow_f32x2(float *p, rv_f32x2 v, size_t n)
{
    const size_t lanes = RV_F32_LANES;
    rv_store_f32(p, v.a, n < lanes ? n : lanes);
    if (n > lanes)
        rv_store_f32(p + lanes, v.b, n - lanes);
}
RV rv_f32x2 rv_add_f32x2(rv_f32x2 a, rv_f32x2 b)
{
    const rv_f32x2 v = {rv_add_f32(a.a, b.a), rv_add_f32(a.b, b.b)};
    return v;
}
RV rv_f32x2 rv_sub_f32x2(rv_f32x2 a, rv_f32x2 b)
{
    const rv_f32x2 v = {rv_sub_f32(a.a, b.a), rv_sub_f32(a.b, b.b)};
    return v;
}
RV rv_f32x2 rv_mul_f32x2(rv_f32x2 a, rv_f32x2 b)
{
    const rv_f32x2 v = {rv_mul_f32(a.a, b.a), rv_mul_f32(a.b, b.b)};
    return v;
}
RV rv_f32x2 rv_fma_f32x2(rv_f32x2 a, rv_f32x2 b, rv_f32x2 c)
{
    const rv_f32x2 v = {rv_fma_f32(a.a, b.a, c.a), rv_fma_f32(a.b, b.b, c.b)};
    return v;
}
RV rv_f32x2 rv_fms_f32x2(rv_f32x2 a, rv_f32x2 b, rv_f32x2 c)
{
    const rv_f32x2 v = {rv_fms_f32(a.a, b.a, c.a), rv_fms_f32(a.b, b.b, c.b)};
    return v;
}
/* 2 RV_F32_LANES values of f64, rounded to odd so that the store rounds the f64 values but once. */
RV rv_f32x2 rv_narrow_f32x2(const rv_f64 *v)
{
    enum { VECTORS = RV_F32_LANES / RV_F64_LANES };
    rv_f64 odd[2 * VECTORS];
    for (size_t k = 0; k < 2 * VECTORS; k++)
        odd[k] = rv_round_odd_f64(v[k]);
    const rv_f32x2 block = {rv_narrow_f32(odd), rv_narrow_f32(odd + VECTORS)};
    return block;
}

#endif
