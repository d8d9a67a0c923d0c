/* SPDX-License-Identifier: Apache-2.0 */
/* The textbook loops for one element type.  Parameters: NAME(word), the element type, the type that
 * computes, and conversions GET and PUT between them.  Widths are constants where these are inlined. */

INLINE void NAME(half)(const struct plain_job *job, size_t head, size_t d, size_t offset)
{
    const size_t pairs = d / 2;
    for (size_t t = 0; t < job->tokens; t++) {
        const REAL *restrict c = (const REAL *)job->rows + t * d, *restrict s = c + pairs;
        for (size_t h = 0; h < job->heads; h++) {
            ELEMENT *restrict v = (ELEMENT *)job->dst + (t * job->heads + h) * head + offset;
            for (size_t i = 0; i < pairs; i++) {
                const REAL x = GET(v[i]), y = GET(v[i + pairs]);
                v[i] = PUT(x * c[i] - y * s[i]);
                v[i + pairs] = PUT(y * c[i] + x * s[i]);
            }
        }
    }
}

INLINE void NAME(interleaved)(const struct plain_job *job, size_t head, size_t d, size_t offset)
{
    const size_t pairs = d / 2;
    for (size_t t = 0; t < job->tokens; t++) {
        const REAL *restrict c = (const REAL *)job->rows + t * d, *restrict s = c + pairs;
        for (size_t h = 0; h < job->heads; h++) {
            ELEMENT *restrict v = (ELEMENT *)job->dst + (t * job->heads + h) * head + offset;
            for (size_t i = 0; i < pairs; i++) {
                const REAL x = GET(v[2 * i]), y = GET(v[2 * i + 1]);
                v[2 * i] = PUT(x * c[i] - y * s[i]);
                v[2 * i + 1] = PUT(y * c[i] + x * s[i]);
            }
        }
    }
}

/* Out of place, whole heads. */
INLINE void NAME(half_copy)(const struct plain_job *job, size_t d)
{
    const size_t pairs = d / 2;
    for (size_t t = 0; t < job->tokens; t++) {
        const REAL *restrict c = (const REAL *)job->rows + t * d, *restrict s = c + pairs;
        for (size_t h = 0; h < job->heads; h++) {
            const size_t at = (t * job->heads + h) * d;
            const ELEMENT *restrict v = (const ELEMENT *)job->src + at;
            ELEMENT *restrict out = (ELEMENT *)job->dst + at;
            for (size_t i = 0; i < pairs; i++) {
                const REAL x = GET(v[i]), y = GET(v[i + pairs]);
                out[i] = PUT(x * c[i] - y * s[i]);
                out[i + pairs] = PUT(y * c[i] + x * s[i]);
            }
        }
    }
}

#undef NAME
#undef ELEMENT
#undef REAL
#undef GET
#undef PUT
