/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the callers compare with: the rotation written from its definition in long double, inputs
 * that every type holds exactly, and 16-bit loads and stores.  Nothing here calls the library.
 */
#ifndef ROPE_CALLERS_CHECK_H
#define ROPE_CALLERS_CHECK_H

#include "rope/rope.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int check_failures;

static inline size_t check_size(rope_dtype dtype)
{
    return dtype == ROPE_F32 ? 4 : 2;
}

static inline double check_load(const void *data, rope_dtype dtype, ptrdiff_t element)
{
    const char *at = (const char *)data + element * (ptrdiff_t)check_size(dtype);
    if (dtype == ROPE_F32) {
        float value;
        memcpy(&value, at, sizeof value);
        return (double)value;
    }
    uint16_t bits;
    memcpy(&bits, at, sizeof bits);
    const int mantissa_bits = dtype == ROPE_F16 ? 10 : 7;
    const int exponent_bits = 15 - mantissa_bits;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
    const int mantissa = bits & ((1 << mantissa_bits) - 1);
    const double size = exponent == (1 << exponent_bits) - 1
                            ? (mantissa ? (double)NAN : (double)INFINITY)
                            : ldexp(exponent ? mantissa + (1 << mantissa_bits) : mantissa,
                                    (exponent ? exponent : 1) - bias - mantissa_bits);
    return bits >> 15 ? -size : size;
}

/* Stores the element nearest to value, to even on ties; |value| does not exceed the largest of the
 * type. */
static inline void check_store(void *data, rope_dtype dtype, ptrdiff_t element, double value)
{
    char *at = (char *)data + element * (ptrdiff_t)check_size(dtype);
    if (dtype == ROPE_F32) {
        const float narrow = (float)value;
        memcpy(at, &narrow, sizeof narrow);
        return;
    }
    const int mantissa_bits = dtype == ROPE_F16 ? 10 : 7;
    const int bias = (1 << (14 - mantissa_bits)) - 1;
    uint16_t bits = (uint16_t)(signbit(value) ? 0x8000 : 0);
    if (value != 0) {
        int exponent;
        (void)frexp(value, &exponent);
        exponent = exponent < 2 - bias ? 2 - bias : exponent; /* subnormals share the lowest */
        const long mantissa = lrint(ldexp(fabs(value), mantissa_bits + 1 - exponent));
        bits = (uint16_t)(bits + ((exponent - 2 + bias) << mantissa_bits) + mantissa);
    }
    memcpy(at, &bits, sizeof bits);
}

/* Half an ulp of the type at value. */
static inline double check_half_ulp(rope_dtype dtype, double value)
{
    const int precision = dtype == ROPE_F32 ? 24 : dtype == ROPE_F16 ? 11 : 8;
    int exponent;
    (void)frexp(value, &exponent);
    return ldexp(1, exponent - precision - 1);
}

/* The same varied sequence for everyone: multiples of 1/16 below 4 in size, exact in bf16 and f16;
 * never 0. */
static inline double check_input(size_t index)
{
    const uint32_t mixed = (uint32_t)index * 2654435761u + 12345u;
    const int sixteenths = (int)((mixed >> 16) % 63) + 1;
    return (mixed & 0x8000 ? -sixteenths : sixteenths) / 16.0;
}

/* One rotation as its definition has it. */
struct check_rotation {
    size_t rotary_dim;
    rope_pairing pairing;     /* of the source */
    rope_pairing pairing_out; /* of the result; ROPE_HALF or ROPE_INTERLEAVED */
    double theta;
    double factor; /* linear scaling; 1 = none */
    double sign;   /* -1 turns back */
};

static inline long double check_angle(const struct check_rotation *rotation, size_t pair,
                                      double position)
{
    const long double exponent = -2.0L * (long double)pair / (long double)rotation->rotary_dim;
    return (long double)(rotation->sign * position) * powl((long double)rotation->theta, exponent) /
           (long double)rotation->factor;
}

/*
 * Compares the rotated slice of one head.  row_error: how far the rows that were used may be from
 * the true ones (0 when they come from positions).  f32 arithmetic with one rounding per operation
 * stays within 1.5e-7 (|x| + |y|).
 */
static inline void check_slice(const char *what, const struct check_rotation *rotation,
                               double position, const void *before, const void *after,
                               rope_dtype dtype, double row_error)
{
    const size_t pairs = rotation->rotary_dim / 2;
    for (size_t pair = 0; pair < pairs; pair++) {
        const int split_in = rotation->pairing == ROPE_HALF;
        const int split_out = rotation->pairing_out == ROPE_HALF;
        const ptrdiff_t in_x = (ptrdiff_t)(split_in ? pair : 2 * pair);
        const ptrdiff_t out_x = (ptrdiff_t)(split_out ? pair : 2 * pair);
        const ptrdiff_t in_y = in_x + (split_in ? (ptrdiff_t)pairs : 1);
        const ptrdiff_t out_y = out_x + (split_out ? (ptrdiff_t)pairs : 1);
        const double x = check_load(before, dtype, in_x);
        const double y = check_load(before, dtype, in_y);
        const long double angle = check_angle(rotation, pair, position);
        const double want[2] = {(double)(x * cosl(angle) - y * sinl(angle)),
                                (double)(x * sinl(angle) + y * cosl(angle))};
        const double got[2] = {check_load(after, dtype, out_x), check_load(after, dtype, out_y)};
        for (int part = 0; part < 2; part++) {
            const double allowed =
                (1.5e-7 + row_error) * (fabs(x) + fabs(y)) +
                (dtype == ROPE_F32 ? 0 : check_half_ulp(dtype, want[part]) * 1.0001);
            if (!(fabs(got[part] - want[part]) <= allowed)) {
                printf("%s: position %.0f pair %zu.%d: got %.9g, want %.9g +- %.2g\n", what,
                       position, pair, part, got[part], want[part], allowed);
                check_failures++;
            }
        }
    }
}

static inline void check_same(const char *what, const void *got, const void *want, size_t bytes)
{
    if (memcmp(got, want, bytes) != 0) {
        printf("%s: %zu bytes are not what they must be\n", what, bytes);
        check_failures++;
    }
}

static inline void check_status(const char *what, rope_status got, rope_status want)
{
    if (got != want) {
        printf("%s: got \"%s\", want \"%s\"\n", what, rope_status_string(got),
               rope_status_string(want));
        check_failures++;
    }
}

#endif
