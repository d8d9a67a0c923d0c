/* SPDX-License-Identifier: Apache-2.0 */
/* Known answers of each kind of slot: 1 where the set gives them, else 0 and where it does not first. */
#ifndef ROPE_KNOWN_ANSWERS_H
#define ROPE_KNOWN_ANSWERS_H

#include "self_test.h"

int rope_known_rotates(const struct rope_kernels *tested, int arith, int pairing,
                       enum rope_kernel_dtype type, struct rope_difference *difference);
/* pairing: RK_HALF, RK_INTERLEAVED */
int rope_known_takes_turns(const struct rope_kernels *tested, int pairing,
                           struct rope_difference *difference);
/* kind: 0 from tables, 1 from angles, 2 from f32 angles */
int rope_known_makes_rows(const struct rope_kernels *tested, int kind, enum rope_kernel_dtype type,
                          struct rope_difference *difference);
int rope_known_makes_run(const struct rope_kernels *tested, enum rope_kernel_dtype type,
                         struct rope_difference *difference);
int rope_known_adds(const struct rope_kernels *tested, enum rope_kernel_dtype type,
                    struct rope_difference *difference);
int rope_known_widens(const struct rope_kernels *tested, enum rope_kernel_dtype type,
                      struct rope_difference *difference);
int rope_known_makes_powers(const struct rope_kernels *tested, struct rope_difference *difference);

#endif
