/* SPDX-License-Identifier: Apache-2.0 */
/* What multiplies a row beside the attention factor: a scale for each token, the powers of xPos. */
#ifndef ROPE_MAGNITUDE_H
#define ROPE_MAGNITUDE_H

#include "job.h"

/* Sets what a plan keeps for xPos. */
void rope_magnitude_fill(rope_plan *plan);

/*
 * Checks the fields of a job and of a tensor; the second fills those of the side that magnitudes
 * need.
 */
rope_status rope_magnitude_check_job(struct rope_walk *walk, const rope_job *job);
rope_status rope_magnitude_check_tensor(const struct rope_walk *walk, const rope_tensor *tensor,
                                        struct rope_side *side, const char *name);

/*
 * Checks the scales of a side, whose positions or rows are good, and sets *region to their memory.
 */
rope_status rope_magnitude_check_memory(const struct rope_walk *walk, int s,
                                        struct rope_region *region);

/* The factor of a token's row: its scale, or the inverse of it. */
double rope_magnitude_scale(const struct rope_walk *walk, const struct rope_side *side,
                            size_t batch, size_t token);

/* The factors of pairs first..first+n-1 at a position that xPos demands of a side. */
void rope_magnitude_powers(const struct rope_walk *walk, const struct rope_side *side,
                           double position, size_t first, size_t n, double *powers);

#endif
