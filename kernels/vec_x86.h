/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a vector of 16 and 32 bytes, for the sets of x86.  Not by masked moves: emulators fault on their
 * masked-off lanes, masked stores are microcode on AMD (6 ns), and a masked load waits for stores behind its
 * lanes, which in place are those of the y just written.
 */
#ifndef ROPE_VEC_X86_H
#define ROPE_VEC_X86_H

#include "vec_part.h"
#include <immintrin.h>

RV __m128i rv_load_few(const void *p, size_t bytes) /* bytes < 16 */
{
    const rv_part part = rv_load_part(p, bytes);
    return _mm_set_epi64x((long long)part.high, (long long)part.low);
}
RV void rv_store_few(void *p, __m128i v, size_t bytes) /* bytes < 16 */
{
    const rv_part part = {(uint64_t)_mm_cvtsi128_si64(v), (uint64_t)_mm_extract_epi64(v, 1)};
    rv_store_part(p, part, bytes);
}
RV __m256i rv_load_bytes(const void *p, size_t bytes)
{
    const char *from = p;
    if (bytes < 16)
        return _mm256_zextsi128_si256(rv_load_few(from, bytes));
    if (bytes >= 32)
        return _mm256_loadu_si256((const void *)from);
    const __m128i low = _mm_loadu_si128((const void *)from);
    return bytes == 16 ? _mm256_zextsi128_si256(low)
                       : _mm256_set_m128i(rv_load_few(from + 16, bytes - 16), low);
}
RV void rv_store_bytes(void *p, __m256i v, size_t bytes)
{
    char *to = p;
    if (bytes < 16) {
        rv_store_few(to, _mm256_castsi256_si128(v), bytes);
    } else if (bytes >= 32) {
        _mm256_storeu_si256((void *)to, v);
    } else {
        _mm_storeu_si128((void *)to, _mm256_castsi256_si128(v));
        if (bytes > 16)
            rv_store_few(to + 16, _mm256_extracti128_si256(v, 1), bytes - 16);
    }
}

#endif
