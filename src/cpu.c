/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the feature bits of the CPU and what the operating system saves of its registers. */
#include "cpu.h"

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
#include <cpuid.h>

/*
 * XCR0: which register states the operating system saves.  Encoded by hand: the mnemonic needs
 * -mxsave.
 */
static uint64_t saved_states(void)
{
    uint32_t low, high;
    __asm__ volatile(".byte 0x0f, 0x01, 0xd0" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

uint32_t rope_cpu_features(void)
{
    enum { FMA = 1 << 12, OSXSAVE = 1 << 27, AVX = 1 << 28, F16C = 1 << 29 }; /* leaf 1, ecx */
    enum {
        AVX2 = 1 << 5,
        AVX512F = 1 << 16,
        AVX512DQ = 1 << 17,
        AVX512BW = 1 << 30
    };                             /* leaf 7, ebx */
    enum { AVX512_BF16 = 1 << 5 }; /* leaf 7.1, eax */
    const uint32_t avx512vl = UINT32_C(1) << 31;
    const uint64_t ymm = 0x6, zmm = 0xe6; /* SSE and AVX; opmask and both zmm states besides */

    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE) || !(c & AVX))
        return 0;
    const uint64_t saved = saved_states();
    if ((saved & ymm) != ymm || !(c & FMA))
        return 0;
    uint32_t features = ROPE_CPU_FMA;
    if (!(c & F16C) || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & AVX2))
        return features;
    features |= ROPE_CPU_AVX2;
    if ((saved & zmm) == zmm && (b & AVX512F) && (b & AVX512DQ) && (b & AVX512BW) && (b & avx512vl))
        features |= ROPE_CPU_AVX512;
    else
        return features;
    if (__get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & AVX512_BF16))
        features |= ROPE_CPU_BF16;
    return features;
}

#elif defined(__aarch64__)

uint32_t rope_cpu_features(void)
{
    return ROPE_CPU_FMA | ROPE_CPU_NEON;
}

#else

uint32_t rope_cpu_features(void)
{
    return 0;
}

#endif
