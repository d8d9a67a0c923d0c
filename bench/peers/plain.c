/* SPDX-License-Identifier: Apache-2.0 */
/* The textbook loops, compiled once for each set of flags under the name PLAIN_NAME.  Nothing in here
 * is tuned by hand: that is the point. */
#include "plain.h"
#include "rope/rope.h"
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

static float from_bf16(uint16_t half)
{
    const uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Rounds to nearest even and keeps NaN. */
static uint16_t to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#define NAME(word) f32_##word
#define ELEMENT    float
#define REAL       float
#define GET(x)     (x)
#define PUT(x)     (x)
#include "plain.inc.h"

#define NAME(word) f64_##word
#define ELEMENT    double
#define REAL       double
#define GET(x)     (x)
#define PUT(x)     (x)
#include "plain.inc.h"

#define NAME(word) bf16_##word
#define ELEMENT    uint16_t
#define REAL       float
#define GET        from_bf16
#define PUT        to_bf16
#include "plain.inc.h"

/* Where the compiler has the type and the CPU converts it: not clang 14 on x86, nor x86 at -O2 alone. */
#if (defined(__F16C__) && !defined(__clang__)) || defined(__aarch64__)
#define HAVE_F16
__extension__ typedef _Float16 binary16;
#define NAME(word) f16_##word
#define ELEMENT    binary16
#define REAL       float
#define GET(x)     ((float)(x))
#define PUT(x)     ((binary16)(x))
#include "plain.inc.h"
#endif

#define IN_PLACE(type, pairing, head, d, offset)                             \
    static void type##_##pairing##_##head##_##d(const struct plain_job *job) \
    {                                                                        \
        type##_##pairing(job, head, d, offset);                              \
    }
#define COPY(type)                                       \
    static void type##_copy(const struct plain_job *job) \
    {                                                    \
        type##_half_copy(job, 128);                      \
    }

IN_PLACE(f32, half, 128, 128, 0)
IN_PLACE(f32, half, 64, 64, 0)
IN_PLACE(f32, half, 80, 80, 0)
IN_PLACE(f32, half, 96, 96, 0)
IN_PLACE(f32, half, 256, 256, 0)
IN_PLACE(f32, half, 128, 32, 0)
IN_PLACE(f32, half, 192, 64, 128)
IN_PLACE(f32, half, 2, 2, 0)
IN_PLACE(f32, interleaved, 128, 128, 0)
COPY(f32)
IN_PLACE(bf16, half, 128, 128, 0)
IN_PLACE(bf16, half, 64, 64, 0)
IN_PLACE(bf16, half, 80, 80, 0)
IN_PLACE(bf16, half, 96, 96, 0)
IN_PLACE(bf16, half, 256, 256, 0)
IN_PLACE(bf16, half, 128, 32, 0)
IN_PLACE(bf16, half, 192, 64, 128)
IN_PLACE(bf16, interleaved, 128, 128, 0)
COPY(bf16)
IN_PLACE(f64, half, 128, 128, 0)
IN_PLACE(f64, interleaved, 128, 128, 0)
#ifdef HAVE_F16
IN_PLACE(f16, half, 128, 128, 0)
IN_PLACE(f16, interleaved, 128, 128, 0)
COPY(f16)
#endif

extern const struct plain_loop PLAIN_NAME[];
const struct plain_loop PLAIN_NAME[] = {
    {ROPE_F32, ROPE_HALF, 128, 128, 0, 0, f32_half_128_128},
    {ROPE_F32, ROPE_HALF, 64, 64, 0, 0, f32_half_64_64},
    {ROPE_F32, ROPE_HALF, 80, 80, 0, 0, f32_half_80_80},
    {ROPE_F32, ROPE_HALF, 96, 96, 0, 0, f32_half_96_96},
    {ROPE_F32, ROPE_HALF, 256, 256, 0, 0, f32_half_256_256},
    {ROPE_F32, ROPE_HALF, 128, 32, 0, 0, f32_half_128_32},
    {ROPE_F32, ROPE_HALF, 192, 64, 128, 0, f32_half_192_64},
    {ROPE_F32, ROPE_HALF, 2, 2, 0, 0, f32_half_2_2},
    {ROPE_F32, ROPE_INTERLEAVED, 128, 128, 0, 0, f32_interleaved_128_128},
    {ROPE_F32, ROPE_HALF, 128, 128, 0, 1, f32_copy},
    {ROPE_BF16, ROPE_HALF, 128, 128, 0, 0, bf16_half_128_128},
    {ROPE_BF16, ROPE_HALF, 64, 64, 0, 0, bf16_half_64_64},
    {ROPE_BF16, ROPE_HALF, 80, 80, 0, 0, bf16_half_80_80},
    {ROPE_BF16, ROPE_HALF, 96, 96, 0, 0, bf16_half_96_96},
    {ROPE_BF16, ROPE_HALF, 256, 256, 0, 0, bf16_half_256_256},
    {ROPE_BF16, ROPE_HALF, 128, 32, 0, 0, bf16_half_128_32},
    {ROPE_BF16, ROPE_HALF, 192, 64, 128, 0, bf16_half_192_64},
    {ROPE_BF16, ROPE_INTERLEAVED, 128, 128, 0, 0, bf16_interleaved_128_128},
    {ROPE_BF16, ROPE_HALF, 128, 128, 0, 1, bf16_copy},
    {ROPE_F64, ROPE_HALF, 128, 128, 0, 0, f64_half_128_128},
    {ROPE_F64, ROPE_INTERLEAVED, 128, 128, 0, 0, f64_interleaved_128_128},
#ifdef HAVE_F16
    {ROPE_F16, ROPE_HALF, 128, 128, 0, 0, f16_half_128_128},
    {ROPE_F16, ROPE_INTERLEAVED, 128, 128, 0, 0, f16_interleaved_128_128},
    {ROPE_F16, ROPE_HALF, 128, 128, 0, 1, f16_copy},
#endif
    {0, 0, 0, 0, 0, 0, NULL},
};
