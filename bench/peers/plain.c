/* SPDX-License-Identifier: Apache-2.0 */
/* The textbook loops, compiled once for each set of flags under the name PLAIN_NAME.  Nothing in here
 * is tuned by hand: that is the point. */
#include "plain.h"
#include <stdint.h>
#include <string.h>

enum { PAIRS = PLAIN_D / 2 };

static void f32_half(const struct plain_job *job)
{
    float *data = job->data;
    for (size_t t = 0; t < job->tokens; t++) {
        const float *restrict c = job->rows + t * PLAIN_D, *restrict s = c + PAIRS;
        for (size_t h = 0; h < job->heads; h++) {
            float *restrict v = data + (t * job->heads + h) * PLAIN_D;
            for (size_t i = 0; i < PAIRS; i++) {
                const float x = v[i], y = v[i + PAIRS];
                v[i] = x * c[i] - y * s[i];
                v[i + PAIRS] = y * c[i] + x * s[i];
            }
        }
    }
}

static void f32_interleaved(const struct plain_job *job)
{
    float *data = job->data;
    for (size_t t = 0; t < job->tokens; t++) {
        const float *restrict c = job->rows + t * PLAIN_D, *restrict s = c + PAIRS;
        for (size_t h = 0; h < job->heads; h++) {
            float *restrict v = data + (t * job->heads + h) * PLAIN_D;
            for (size_t i = 0; i < PAIRS; i++) {
                const float x = v[2 * i], y = v[2 * i + 1];
                v[2 * i] = x * c[i] - y * s[i];
                v[2 * i + 1] = y * c[i] + x * s[i];
            }
        }
    }
}

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

static void bf16_half(const struct plain_job *job)
{
    uint16_t *data = job->data;
    for (size_t t = 0; t < job->tokens; t++) {
        const float *restrict c = job->rows + t * PLAIN_D, *restrict s = c + PAIRS;
        for (size_t h = 0; h < job->heads; h++) {
            uint16_t *restrict v = data + (t * job->heads + h) * PLAIN_D;
            for (size_t i = 0; i < PAIRS; i++) {
                const float x = from_bf16(v[i]), y = from_bf16(v[i + PAIRS]);
                v[i] = to_bf16(x * c[i] - y * s[i]);
                v[i + PAIRS] = to_bf16(y * c[i] + x * s[i]);
            }
        }
    }
}

extern const struct plain_set PLAIN_NAME;
const struct plain_set PLAIN_NAME = {f32_half, f32_interleaved, bf16_half};
