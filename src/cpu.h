/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about CPU and operating system as feature bits.  Knows nothing of kernels or policy. */
#ifndef ROPE_CPU_H
#define ROPE_CPU_H

#include <stdint.h>

enum {
    /* scalar fused multiply-add in hardware */
    ROPE_CPU_FMA = 1 << 0,
    /* AVX2 + FMA + F16C, and the operating system saves the registers */
    ROPE_CPU_AVX2 = 1 << 1,
    /*
     * AVX-512 F + BW + DQ + VL besides all of the above, and the operating system saves the
     * registers
     */
    ROPE_CPU_AVX512 = 1 << 2,
    /* AVX512_BF16 besides */
    ROPE_CPU_BF16 = 1 << 3,
    /* AArch64 */
    ROPE_CPU_NEON = 1 << 4
};

/* All bits of this CPU. */
uint32_t rope_cpu_features(void);

#endif
