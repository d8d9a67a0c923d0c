/* SPDX-License-Identifier: Apache-2.0 */
/* What a program without a library does: rotate all heads of all tokens by ready rows of cos and sin. */
#ifndef ROPE_BENCH_PLAIN_H
#define ROPE_BENCH_PLAIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct plain_job {
    void *dst;
    const void *src; /* [tokens, heads, head]; in place: dst */
    size_t tokens, heads;
    const void *rows; /* [tokens, d]: cosines, then sines; f64 for f64 data, else f32 */
};

typedef void plain_function(const struct plain_job *job);

/* A loop whose widths are known to the compiler, which helps it. */
struct plain_loop {
    int32_t dtype, pairing;   /* rope_dtype, rope_pairing */
    uint32_t head, d, offset; /* elements of a head, those that rotate, where they begin */
    uint32_t copies;          /* out of place */
    plain_function *function;
};

/* One list per compiler flags: plain_o2; plain_native; plain_avx2: native without AVX-512. */
extern const struct plain_loop plain_o2[], plain_native[], plain_avx2[];

/* NULL: there is no such loop. */
static inline plain_function *plain_find(const struct plain_loop *list, int32_t dtype,
                                         int32_t pairing, uint32_t head, uint32_t d,
                                         uint32_t offset, uint32_t copies)
{
    for (const struct plain_loop *loop = list; loop->function != NULL; loop++)
        if (loop->dtype == dtype && loop->pairing == pairing && loop->head == head &&
            loop->d == d && loop->offset == offset && loop->copies == copies)
            return loop->function;
    return NULL;
}

#ifdef __cplusplus
}
#endif

#endif
