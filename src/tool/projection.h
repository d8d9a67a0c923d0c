/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows of which tensor of a checkpoint are rotated.  Reads names and shapes, no data. */
#ifndef ROPE_TOOL_PROJECTION_H
#define ROPE_TOOL_PROJECTION_H

#include "rope/rope_config.h"
#include "safetensors.h"

/* What permutation needs to know of a model. */
struct tool_projections {
    const rope_config *config;
    const char *path;  /* of the config, for messages */
    uint64_t heads;    /* 0 = the config does not say */
    uint64_t kv_heads; /* 0 = as heads */
    int falcon_kv_one; /* Falcon: one key head, whatever kv_heads says */
};

/* Heads of queries or keys within a tensor, in rows: the first, and from one head to the next. */
struct tool_heads {
    uint64_t first;
    uint64_t pitch;
    uint64_t count;
    uint64_t group;       /* heads at `pitch` ... */
    uint64_t group_pitch; /* ... before this many rows bring the next group; 0 = one group */
    uint64_t head_dim;
    uint64_t rotary_dim;
    uint64_t rotary_offset;
};

enum { TOOL_QUERY = 1, TOOL_KEY = 2 };
struct tool_projection {
    int kinds;    /* TOOL_QUERY, TOOL_KEY or both; 0 = nothing is rotated */
    size_t parts; /* of heads */
    struct tool_heads heads[2];
    uint64_t row; /* elements */
};

/* Reads the numbers of heads out of the text of a config.json. */
int tool_projections_read(struct tool_projections *projections, const char *text, size_t size,
                          const char *inside);

/* What a tensor is.  An error where it must be permuted but cannot be. */
int tool_projection_of(const struct tool_projections *projections, const char *file,
                       const struct tool_tensor *tensor, struct tool_projection *projection);

#endif
