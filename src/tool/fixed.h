/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixed-point numbers of 192 bits, 64 before the point and 128 behind it, and the functions that
 * rotations need.  Slow, made of integers only, every constant derived here: it shares neither
 * arithmetic nor constants with the library, which it checks.  Knows nothing of rotations.
 */
#ifndef ROPE_TOOL_FIXED_H
#define ROPE_TOOL_FIXED_H

#include <stdint.h>

enum { TOOL_FIXED_LIMBS = 6, TOOL_FIXED_BEHIND = 4 };

/* Two's complement, lowest limb first.  Results too large wrap; what lies behind the last bit is
 * cut off. */
struct tool_fixed {
    uint32_t limb[TOOL_FIXED_LIMBS];
};

struct tool_fixed tool_fixed_from(double value); /* |value| < 2^63 */
double tool_fixed_to(struct tool_fixed value);   /* within 1 ulp */

struct tool_fixed tool_fixed_add(struct tool_fixed a, struct tool_fixed b);
struct tool_fixed tool_fixed_negate(struct tool_fixed a);
struct tool_fixed tool_fixed_mul(struct tool_fixed a, struct tool_fixed b);
struct tool_fixed tool_fixed_scale(struct tool_fixed a, uint32_t times, uint32_t divided_by);

struct tool_fixed tool_fixed_log(double value); /* value > 0 */
struct tool_fixed tool_fixed_exp(struct tool_fixed value);

/* Constants of tool_fixed_cos_sin, computed once. */
struct tool_fixed_circle {
    struct tool_fixed quarter;  /* pi / 2 */
    struct tool_fixed per_turn; /* 1 / (2 pi) */
};
struct tool_fixed_circle tool_fixed_circle(void);

/* Cosine and sine of `turns` full turns, any number of them. */
void tool_fixed_cos_sin(const struct tool_fixed_circle *circle, struct tool_fixed turns,
                        struct tool_fixed *cosine, struct tool_fixed *sine);

#endif
