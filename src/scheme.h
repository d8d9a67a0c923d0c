/* SPDX-License-Identifier: Apache-2.0 */
/* From the scheme of a spec and its parameters to inverse frequencies and factors. */
#ifndef ROPE_SCHEME_H
#define ROPE_SCHEME_H

#include "check.h"
#include "frequency.h"

/* No angle within a position may outgrow what double-double turns resolve. */
static const double rope_scheme_freq_limit = 0x1p20;

/* What a scheme comes to, but for its frequencies. */
struct rope_resolved {
    double theta;  /* the base in use, raised by NTK and DYNAMIC_NTK; 0 for CUSTOM */
    double factor; /* s; 1 where the scheme has none */
    double attention_factor;
    double softmax_factor;
    uint32_t is_long;
    struct rope_ramp ramp; /* YARN */
};

/*
 * Checks every field of the spec that belongs to a scheme, also those that its scheme does not
 * read, and resolves its scalars.  The shape of the spec was checked before; rotary_dim is d, even
 * and >= 2.
 */
rope_status rope_scheme_check(const rope_spec *spec, size_t rotary_dim,
                              struct rope_resolved *resolved, struct rope_message message);

/*
 * Fills freq[0..d/2-1] of a checked spec.  ROPE_ERR_VALUE where a frequency is too large for a
 * plan; nothing else can fail.
 */
rope_status rope_scheme_frequencies(const rope_spec *spec, size_t rotary_dim,
                                    const struct rope_resolved *resolved, rope_dd *freq,
                                    struct rope_message message);

#endif
