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

/* What there is: element type, pairing, elements of a head, how many of them rotate, from which on. */
#define LOOPS                                                   \
    ROTATION(F32, f32, HALF, half, 128, 128, 0)                 \
    ROTATION(F32, f32, HALF, half, 64, 64, 0)                   \
    ROTATION(F32, f32, HALF, half, 80, 80, 0)                   \
    ROTATION(F32, f32, HALF, half, 96, 96, 0)                   \
    ROTATION(F32, f32, HALF, half, 256, 256, 0)                 \
    ROTATION(F32, f32, HALF, half, 128, 32, 0)                  \
    ROTATION(F32, f32, HALF, half, 192, 64, 128)                \
    ROTATION(F32, f32, HALF, half, 2, 2, 0)                     \
    ROTATION(F32, f32, INTERLEAVED, interleaved, 128, 128, 0)   \
    COPY(F32, f32)                                              \
    ROTATION(BF16, bf16, HALF, half, 128, 128, 0)               \
    ROTATION(BF16, bf16, HALF, half, 64, 64, 0)                 \
    ROTATION(BF16, bf16, HALF, half, 80, 80, 0)                 \
    ROTATION(BF16, bf16, HALF, half, 96, 96, 0)                 \
    ROTATION(BF16, bf16, HALF, half, 256, 256, 0)               \
    ROTATION(BF16, bf16, HALF, half, 128, 32, 0)                \
    ROTATION(BF16, bf16, HALF, half, 192, 64, 128)              \
    ROTATION(BF16, bf16, INTERLEAVED, interleaved, 128, 128, 0) \
    COPY(BF16, bf16)                                            \
    ROTATION(F64, f64, HALF, half, 128, 128, 0)                 \
    ROTATION(F64, f64, INTERLEAVED, interleaved, 128, 128, 0)   \
    F16_LOOPS
#ifdef HAVE_F16
#define F16_LOOPS                                             \
    ROTATION(F16, f16, HALF, half, 128, 128, 0)               \
    ROTATION(F16, f16, INTERLEAVED, interleaved, 128, 128, 0) \
    COPY(F16, f16)
#else
#define F16_LOOPS
#endif

#define ROTATION(TYPE, type, PAIRING, pairing, head, d, offset)              \
    static void type##_##pairing##_##head##_##d(const struct plain_job *job) \
    {                                                                        \
        type##_##pairing(job, head, d, offset);                              \
    }
#define COPY(TYPE, type)                                 \
    static void type##_copy(const struct plain_job *job) \
    {                                                    \
        type##_half_copy(job, 128);                      \
    }
LOOPS
#undef ROTATION
#undef COPY

#define ROTATION(TYPE, type, PAIRING, pairing, head, d, offset) \
    {ROPE_##TYPE, ROPE_##PAIRING, head, d, offset, 0, type##_##pairing##_##head##_##d},
#define COPY(TYPE, type) {ROPE_##TYPE, ROPE_HALF, 128, 128, 0, 1, type##_copy},
extern const struct plain_loop PLAIN_NAME[];
const struct plain_loop PLAIN_NAME[] = {LOOPS{0, 0, 0, 0, 0, 0, NULL}};
