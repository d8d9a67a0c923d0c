/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs that nearly every call brings, checked and walked in a fraction of the general way's time. */
#ifndef ROPE_USUAL_H
#define ROPE_USUAL_H

#include "plan.h"

/*
 * Does part `part` of `parts` of the job and returns 1, or returns 0 without having touched anything: what
 * is not usual, and everything that is wrong, is the business of the general way.
 */
int rope_usual_rotate(const rope_plan *plan, const rope_job *job, size_t part, size_t parts);

/* Rows of the plan that are made at once; 0 if its jobs go the general way. */
size_t rope_usual_rows(const rope_plan *plan);

/*
 * Does rope_cos_sin and returns 1, or returns 0 without having touched anything: one axis, whole positions, f32,
 * f16 or bf16 rows in the two layouts that keep cosines and sines together.
 */
int rope_usual_table(const rope_plan *plan, const rope_positions *positions, size_t tokens,
                     const rope_rows *rows);

/*
 * How far ahead of a head to ask the caches for what comes, in bytes; 0: not at all.  `bytes` are rotated in
 * this call, `all` in all parts of the job, which share the last cache; `half` are those of the x of a head; the
 * heads of a token stand `stride` apart, the tokens `step`.
 */
ptrdiff_t rope_ahead(size_t heads, ptrdiff_t stride, ptrdiff_t step, size_t half, size_t bytes,
                     size_t all, int in_place);

#endif
