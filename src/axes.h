/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which axis of the position and which frequency each pair takes.  Knows layouts, not frequencies.
 */
#ifndef ROPE_AXES_H
#define ROPE_AXES_H

#include "check.h"

/* Maps of a checked spec. */
struct rope_axes {
    size_t axes;
    /*
     * Frequencies come in groups, each a scheme of its own over `pairs` pairs (d = 2 pairs): one
     * group of all, the sections of ROPE_AXES_RESTART, or the half of ROPE_AXES_GGML_VISION.
     */
    size_t groups;
    size_t group_pairs[ROPE_AXES_MAX];
};

/* Checks the fields of the axes and fills *axes. */
rope_status rope_axes_check(const rope_spec *spec, size_t pairs, struct rope_axes *axes,
                            struct rope_message message);

/*
 * axis[i]: the axis of pair i.  freq[i]: its frequency, counted over all groups in their order.
 * The spec was checked.
 */
void rope_axes_fill(const rope_spec *spec, size_t pairs, unsigned char *axis, size_t *freq);

#endif
