/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a vector of 16 bytes, to the byte, without a byte beyond them read or written.  Where their number is a
 * constant this is a few moves.  No intrinsics here.
 */
#ifndef ROPE_VEC_PART_H
#define ROPE_VEC_PART_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define RV static inline __attribute__((always_inline))

/* The halves of a vector, of which the first bytes count. */
typedef struct {
    uint64_t low, high;
} rv_part;

RV rv_part rv_load_part(const void *p, size_t bytes) /* an even number below 16; the rest is 0 */
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
    const rv_part whole = {low, rest}, few = {rest, 0};
    return bytes & 8 ? whole : few;
}
RV void rv_store_part(void *p, rv_part v, size_t bytes) /* an even number below 16 */
{
    char *to = p;
    uint64_t rest = v.low;
    if (bytes & 8) {
        memcpy(to, &rest, 8);
        to += 8;
        rest = v.high;
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
RV size_t rv_rest(size_t n, size_t lanes) /* what n leaves behind the first vector */
{
    return n > lanes ? n - lanes : 0;
}

#endif
