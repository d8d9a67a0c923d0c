/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a vector, to the byte, for the sets of x86.  Not by masked moves: emulators fault on their masked-off
 * lanes, masked stores are microcode on AMD (6 ns), and a masked load waits for stores behind its lanes, which
 * in place are those of the y just written.  Where n is a constant all of this is a few moves.
 */
#ifndef ROPE_VEC_PART_H
#define ROPE_VEC_PART_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define RV static inline __attribute__((always_inline))

/* An even number of bytes. */
RV __m128i rv_load_part(const void *p, size_t bytes) /* bytes < 16 */
{
    const char *from = p;
    uint64_t low = 0, rest = 0;
    uint32_t four;
    uint16_t two;
    if (bytes & 8) {
        memcpy(&low, from, 8);
        from += 8;
    }
    if (bytes & 4) {
        memcpy(&four, from, 4);
        rest = four;
        from += 4;
    }
    if (bytes & 2) {
        memcpy(&two, from, 2);
        rest |= (uint64_t)two << (bytes & 4 ? 32 : 0);
    }
    return bytes & 8 ? _mm_set_epi64x((long long)rest, (long long)low)
                     : _mm_set_epi64x(0, (long long)rest);
}
RV void rv_store_part(void *p, __m128i v, size_t bytes) /* bytes < 16 */
{
    char *to = p;
    uint64_t rest = (uint64_t)_mm_cvtsi128_si64(v);
    if (bytes & 8) {
        memcpy(to, &rest, 8);
        to += 8;
        rest = (uint64_t)_mm_extract_epi64(v, 1);
    }
    if (bytes & 4) {
        const uint32_t four = (uint32_t)rest;
        memcpy(to, &four, 4);
        to += 4;
        rest >>= 32;
    }
    if (bytes & 2) {
        const uint16_t two = (uint16_t)rest;
        memcpy(to, &two, 2);
    }
}
RV __m256i rv_load_bytes(const void *p, size_t bytes)
{
    const char *from = p;
    if (bytes < 16)
        return _mm256_zextsi128_si256(rv_load_part(from, bytes));
    if (bytes >= 32)
        return _mm256_loadu_si256((const void *)from);
    const __m128i low = _mm_loadu_si128((const void *)from);
    return bytes == 16 ? _mm256_zextsi128_si256(low)
                       : _mm256_set_m128i(rv_load_part(from + 16, bytes - 16), low);
}
RV void rv_store_bytes(void *p, __m256i v, size_t bytes)
{
    char *to = p;
    if (bytes < 16) {
        rv_store_part(to, _mm256_castsi256_si128(v), bytes);
    } else if (bytes >= 32) {
        _mm256_storeu_si256((void *)to, v);
    } else {
        _mm_storeu_si128((void *)to, _mm256_castsi256_si128(v));
        if (bytes > 16)
            rv_store_part(to + 16, _mm256_extracti128_si256(v, 1), bytes - 16);
    }
}
RV size_t rv_rest(size_t n, size_t lanes) /* what n leaves behind the first vector */
{
    return n > lanes ? n - lanes : 0;
}

#endif
