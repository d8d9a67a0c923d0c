/* SPDX-License-Identifier: Apache-2.0 */
/* The counter-based random numbers of dropout.  Holds no state. */
#ifndef ROPE_PHILOX_H
#define ROPE_PHILOX_H

#include <stdint.h>

/*
 * Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC
 * 2011.
 */
static inline void rope_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        const uint64_t product0 = UINT64_C(0xD2511F53) * c0, product1 = UINT64_C(0xCD9E8D57) * c2;
        c0 = (uint32_t)(product1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(product0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)product1;
        c3 = (uint32_t)product0;
        k0 += UINT32_C(0x9E3779B9); /* golden ratio and sqrt 3 - 1 */
        k1 += UINT32_C(0xBB67AE85);
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

#endif
