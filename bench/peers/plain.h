/* SPDX-License-Identifier: Apache-2.0 */
/* What a program without a library does: rotate all heads of all tokens in place by ready f32 rows. */
#ifndef ROPE_BENCH_PLAIN_H
#define ROPE_BENCH_PLAIN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PLAIN_D = 128 }; /* known to the compiler, which helps it */

struct plain_job {
    void *data; /* [tokens, heads, PLAIN_D] */
    size_t tokens, heads;
    const float *rows; /* [tokens, PLAIN_D]: cosines, then sines */
};

typedef void plain_function(const struct plain_job *job);

/* One per compiler flags: plain_o2, plain_native. */
struct plain_set {
    plain_function *f32_half, *f32_interleaved, *bf16_half;
};
extern const struct plain_set plain_o2, plain_native;

#ifdef __cplusplus
}
#endif

#endif
