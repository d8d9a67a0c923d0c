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

/* 1 if the arguments of rope_cos_sin are right, being usual: whole positions below 2^20, two-array rows. */
int rope_usual_table(const rope_plan *plan, const rope_positions *positions, size_t tokens,
                     const rope_rows *rows);

/*
 * How far ahead of a head to ask the caches for what comes, in bytes, when `bytes` are rotated and heads
 * stand `stride` apart; 0: not at all.
 */
ptrdiff_t rope_ahead(size_t bytes, ptrdiff_t stride);

#endif
