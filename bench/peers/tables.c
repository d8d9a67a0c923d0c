/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of tables.h that libm makes, compiled for the CPU at hand. */
#include "tables.h"
#include <math.h>

/* The calls stay apart and scalar, as in code that nobody vectorised. */
void table_libm_f32(const struct table_job *job)
{
    for (size_t row = 0; row < job->rows; row++) {
        float *const c = job->out + row * 2 * job->pairs, *const s = c + job->pairs;
        for (size_t i = 0; i < job->pairs; i++) {
            const float angle = (float)row * job->freq[i];
            c[i] = cosf(angle);
            s[i] = sinf(angle);
        }
    }
}

void table_libm_f64(const struct table_job *job)
{
    for (size_t row = 0; row < job->rows; row++) {
        float *const c = job->out + row * 2 * job->pairs, *const s = c + job->pairs;
        for (size_t i = 0; i < job->pairs; i++) {
            const double angle = (double)row * job->freq_double[i];
            c[i] = (float)cos(angle);
            s[i] = (float)sin(angle);
        }
    }
}
