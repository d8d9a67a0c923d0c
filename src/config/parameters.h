/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From one block of rope parameters to one rope_spec.  Knows the keys of blocks; nothing of layers
 * and towers.
 */
#ifndef ROPE_CONFIG_PARAMETERS_H
#define ROPE_CONFIG_PARAMETERS_H

#include "document.h"
#include "families.h"

/* What a block is read with. */
struct rope_block {
    struct rope_object model; /* the object of the tower */
    struct rope_object block; /* rope_scaling, rope_parameters or one member of it, or nothing */
    struct rope_object outer; /* what has blocks for each layer type; nothing: the block is flat */
    const struct rope_family *family; /* never NULL */
    size_t head_dim;
    double theta; /* where the block names none */
    int theta_is_default;
};

/* Fills scheme, parameters, widths and axes of spec.  pairing and angle are the caller's. */
rope_status rope_block_read(struct rope_config *config, const struct rope_block *block,
                            rope_spec *spec);

#endif
