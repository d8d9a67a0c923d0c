/* SPDX-License-Identifier: Apache-2.0 */
/* One tower of a config.json while it is read: for those who find its rotations and its layers. */
#ifndef ROPE_CONFIG_TOWER_H
#define ROPE_CONFIG_TOWER_H

#include "parameters.h"

/* The layer types that classes fill in themselves. */
#define FULL_ATTENTION    "full_attention"
#define SLIDING_ATTENTION "sliding_attention"

struct rope_config_tower {
    rope_tower kind;
    struct rope_object object;
    const char *type;          /* model_type, "" = none */
    struct rope_family family; /* of the type, with what the file says instead */
    int is_known;              /* the type has a row */
    struct rope_object block;  /* rope_scaling or rope_parameters */
    size_t head_dim;
    double theta;
    int theta_is_default;
    double local_theta; /* 0 = the file names none */
    size_t first;       /* its entries */
};

/* A count, or that of the class where the file is silent; 0 where neither says. */
rope_status rope_tower_count(struct rope_config *config, const struct rope_config_tower *tower,
                             const char *const *names, size_t of_class, size_t *value);

/* ROPE_ERR_VALUE with a message of the key and the rule. */
rope_status rope_tower_fail(struct rope_config *config, const struct rope_config_tower *tower,
                            const char *key, const char *rule);

/* Which layer takes which of the tower's entries, and the query scale of the model. */
rope_status rope_tower_layers(struct rope_config *config, const struct rope_config_tower *tower);
rope_status rope_tower_query_scale(struct rope_config *config,
                                   const struct rope_config_tower *tower);

#endif
