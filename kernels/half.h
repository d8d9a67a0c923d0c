/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One f16 or bf16 value to f32 and back, rounding to nearest even.  Integer code, so that the bits
 * are the same on every CPU.  Plain C only: the vector forms stand in vec_*.h.
 */
#ifndef ROPE_HALF_H
#define ROPE_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t rope_f32_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float rope_f32_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float rope_bf16_to_f32(uint16_t bits)
{
    return rope_f32_from_bits((uint32_t)bits << 16);
}

static inline uint16_t rope_f32_to_bf16(float value)
{
    const uint32_t bits = rope_f32_bits(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) /* NaN: keep the upper payload, make it quiet */
        return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

static inline float rope_f16_to_f32(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    const uint32_t exponent = half >> 10 & 31u;
    const uint32_t fraction = half & 0x3ffu;
    if (exponent == 0) { /* zero and subnormals: fraction x 2^-24, exact in f32 */
        const uint32_t magnitude = rope_f32_bits((float)fraction * 0x1p-24f);
        return rope_f32_from_bits(sign | magnitude);
    }
    if (exponent == 31) /* Inf, and NaN made quiet */
        return rope_f32_from_bits(sign | 0x7f800000u | fraction << 13 |
                                  (fraction != 0 ? 0x400000u : 0u));
    return rope_f32_from_bits(sign | (exponent + 112u) << 23 | fraction << 13);
}

static inline uint16_t rope_f32_to_f16(float value)
{
    const uint32_t bits = rope_f32_bits(value);
    const uint32_t sign = bits >> 16 & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) /* 65520: halfway between the largest f16 and 2^16, and up */
        return (uint16_t)(sign | 0x7c00u);
    if (magnitude < 0x38800000u) { /* below 2^-14: the sum has ulp 2^-24, that of f16 subnormals */
        const float sum = rope_f32_from_bits(magnitude) + 0.5f;
        return (uint16_t)(sign | (rope_f32_bits(sum) - 0x3f000000u));
    }
    const uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
    return (uint16_t)(sign | (rounded - (112u << 23)) >> 13);
}

#endif
