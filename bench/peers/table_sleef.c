/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tables.h that SLEEF makes, compiled for the CPU at hand. */
#include "tables.h"
#include <sleef.h>

#if defined(__AVX512F__)
#include <immintrin.h>
enum { LANES = 16 };
const char *const table_sleef_name = "Sleef_sincosf16_u10avx512f";
static void sincos_lanes(float *c, float *s, float position, const float *freq)
{
    const __m512 angle = _mm512_mul_ps(_mm512_set1_ps(position), _mm512_loadu_ps(freq));
    const Sleef___m512_2 both = Sleef_sincosf16_u10avx512f(angle);
    _mm512_storeu_ps(s, both.x);
    _mm512_storeu_ps(c, both.y);
}
#elif defined(__AVX2__)
#include <immintrin.h>
enum { LANES = 8 };
const char *const table_sleef_name = "Sleef_sincosf8_u10avx2";
static void sincos_lanes(float *c, float *s, float position, const float *freq)
{
    const __m256 angle = _mm256_mul_ps(_mm256_set1_ps(position), _mm256_loadu_ps(freq));
    const Sleef___m256_2 both = Sleef_sincosf8_u10avx2(angle);
    _mm256_storeu_ps(s, both.x);
    _mm256_storeu_ps(c, both.y);
}
#else
enum { LANES = 1 };
const char *const table_sleef_name = "Sleef_sincosf_u10";
static void sincos_lanes(float *c, float *s, float position, const float *freq)
{
    const Sleef_float2 both = Sleef_sincosf_u10(position * *freq);
    *s = both.x;
    *c = both.y;
}
#endif

void table_sleef_f32(const struct table_job *job)
{
    for (size_t row = 0; row < job->rows; row++) {
        float *const c = job->out + row * 2 * job->pairs, *const s = c + job->pairs;
        for (size_t i = 0; i + LANES <= job->pairs; i += LANES)
            sincos_lanes(c + i, s + i, (float)row, job->freq + i);
    }
}
