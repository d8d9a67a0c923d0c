/* SPDX-License-Identifier: Apache-2.0 */
/* Inverse frequencies and what follows from them; the same bits on every platform. */
#ifndef ROPE_FREQUENCY_H
#define ROPE_FREQUENCY_H

#include "dd.h"
#include <stddef.h>

/*
 * One function per published rule; each fills freq[0..pairs-1], radians per position, with the
 * double-double nearest to the value of the rule, up to a relative error of 2^-200.  Where hi or lo
 * is subnormal the absolute error is below 2^-1073; beyond f64 hi is infinite.
 * Arguments were checked by the caller; 1 <= pairs < 2^32.
 */

/* f_i = theta^(-2 i / d), d = 2 pairs.  RoFormer (arXiv:2104.09864), section 3.3. */
void rope_frequency_default(rope_dd *freq, size_t pairs, double theta);

/* f_i = theta^(-2 i / d) / factor.  Position interpolation (arXiv:2306.15595), equation 4. */
void rope_frequency_linear(rope_dd *freq, size_t pairs, double theta, double factor);

/* f_i = inv_freq[i], the caller's own. */
void rope_frequency_custom(rope_dd *freq, size_t pairs, const double *inv_freq);

/* f / (2 pi): turns per position, with a relative error below 2^-101 unless lo is subnormal. */
rope_dd rope_frequency_turns(rope_dd freq);

/*
 * cos and sin of 2 pi turns for any |turns| < 2^53: the nearest double-doubles, up to an absolute
 * error of 2^-210.
 */
void rope_frequency_rotation(rope_dd turns, rope_dd *cos_out, rope_dd *sin_out);

#endif
