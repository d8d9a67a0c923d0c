/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of cos and sin as programs make them without us. */
#ifndef ROPE_BENCH_TABLES_H
#define ROPE_BENCH_TABLES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct table_job {
    float *out; /* [rows, 2 pairs]: cosines, then sines */
    size_t rows, pairs;
    const float *freq;         /* radians per position, f32 */
    const double *freq_double; /* the same in f64 */
};

/* The angle in f32: SLEEF's vector sincosf (1.0 ulp), and cosf and sinf of libm. */
void table_sleef_f32(const struct table_job *job);
void table_libm_f32(const struct table_job *job);
/* The angle in f64, cos and sin of libm, rounded to f32. */
void table_libm_f64(const struct table_job *job);

/* Which function of SLEEF the first one calls; NULL where the compiler's target has none. */
extern const char *const table_sleef_name;

#ifdef __cplusplus
}
#endif

#endif
