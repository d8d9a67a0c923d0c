/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a rotation must give: the formulas at the top of rope.h, slowly, with nothing of the
 * library.  cos and sin come from 192-bit integers; where rope.h leaves a row entry some room,
 * every value has a range.
 */
#ifndef ROPE_TOOL_EXPECTED_H
#define ROPE_TOOL_EXPECTED_H

#include "fixed.h"
#include "rope/rope.h"

struct tool_expected {
    size_t pairs;
    rope_angle angle;
    double scale; /* of cos and sin */
    int backward; /* the angle changes its sign */
    struct tool_fixed_circle circle;
    struct tool_fixed *turns; /* per position, for each pair */
    float *freq;              /* radians per position in f32, for ROPE_ANGLE_F32 */
};

/* A value as it should be, and the least and the greatest that are within the bound. */
struct tool_range {
    double value;
    double low;
    double high;
};

/* cos and sin of one pair. */
struct tool_expected_pair {
    struct tool_range cos;
    struct tool_range sin;
};

/* From a spec that the library has accepted. */
int tool_expected_open(struct tool_expected *expected, const rope_spec *spec,
                       rope_direction direction);
void tool_expected_close(struct tool_expected *expected);

/* The row of a position, not yet rounded to a type. */
void tool_expected_row(const struct tool_expected *expected, double position,
                       struct tool_expected_pair *row);

/* How a tensor is computed. */
struct tool_arith {
    rope_dtype dtype;
    rope_arith arith;
    rope_dtype row_dtype;
};

/* A row as it is used for a tensor of that dtype. */
struct tool_expected_pair tool_expected_round(const struct tool_arith *arith,
                                              struct tool_expected_pair pair);

/* x c - y s and x s + y c, rounded as rope.h says. */
void tool_expected_rotate(const struct tool_arith *arith, const struct tool_expected_pair *pair,
                          double x, double y, struct tool_range *x_out, struct tool_range *y_out);

#endif
