/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What model types mean beyond their files: one row each.  Holds facts, no code that acts on them.
 */
#ifndef ROPE_CONFIG_FAMILIES_H
#define ROPE_CONFIG_FAMILIES_H

#include <stdint.h>

/* Which position axis a pair takes. */
enum rope_family_axes {
    AXES_TEXT = 0,    /* one; three or four where the file has mrope_section or xdrope_section */
    AXES_SECTIONS,    /* sections one after the other */
    AXES_INTERLEAVED, /* t, h, w, t, h, w, ... */
    AXES_ERNIE,       /* h, w, h, w, ..., t; sections in the order h, w, t */
    AXES_GRID,        /* rows and columns of patches; frequencies start again */
    AXES_GRID_CHUNKS, /* as GRID, each half of the head paired for itself */
    AXES_GRID_SHARED, /* rows take the even frequencies, columns the odd ones */
    AXES_VOLUME       /* frames, rows, columns; frequencies start again */
};

/* Where the rotated slice is. */
enum rope_family_shape {
    SHAPE_HEAD = 0, /* in front */
    SHAPE_MLA,      /* queries [qk_nope_head_dim | qk_rope_head_dim], one key head of the latter */
    SHAPE_TRAILING  /* the last qk_rope_head_dim of every head */
};

/* Kinds of layers where the file does not list them; n is `period`, or a key of the file. */
enum rope_family_layers {
    LAYERS_ALIKE = 0,
    LAYERS_SLIDING,       /* the last of every n is full_attention, the others sliding_attention */
    LAYERS_SLIDING_FIRST, /* the first of every n is full_attention */
    LAYERS_LINEAR,        /* the last of every n is full_attention, the others linear_attention */
    LAYERS_LINEAR_LAST,   /* the last of every n is linear_attention, the others full_attention */
    LAYERS_NO_ROPE        /* the last of every n has no rotation */
};

/* Whether a model rotates at all. */
enum rope_family_gate {
    GATE_NONE = 0, /* always */
    GATE_ROTARY,   /* position_embedding_type or position_embeddings_type = "rotary" or "rope" */
    GATE_ALIBI,    /* alibi is not true */
    GATE_MEMORY,   /* use_mem_rope */
    GATE_NEVER     /* learned positions, ALiBi, none at all */
};

/* Flags. */
enum {
    /* rope_theta and rope_scaling are of full_attention, sliding_attention has local_theta */
    SPLIT_THETA = 1 << 0,
    /* and rope_scaling too is of both */
    LOCAL_SCALED = 1 << 1,
    /* full_attention has no rotation; the second: where sliding_window is not null */
    FULL_UNROTATED = 1 << 2,
    FULL_UNROTATED_IF_SLIDING = 1 << 3,
    /* rope_interleave: false means half-split in and out */
    INTERLEAVE_KEY = 1 << 4,
    /* ROPE_ENTRY_SOFTMAX_FACTOR, ROPE_ENTRY_INVERSE_OUTPUT, ROPE_ENTRY_NO_ROTATION */
    SOFTMAX_FACTOR = 1 << 5,
    INVERSE_OUTPUT = 1 << 6,
    NO_ROTATION = 1 << 7,
    /* rotation by -a */
    TURNS_BACK = 1 << 8,
    /* m = 1 under yarn */
    UNIT_MAGNITUDE = 1 << 9,
    /* files that say yarn mean longrope */
    YARN_IS_LONGROPE = 1 << 10,
    /* what transformers alone does, see rope_config.h */
    CLASS_IGNORES_ROTARY_DIM = 1 << 11,
    CLASS_KEEPS_SHORT_LIST = 1 << 12,
    /* ROPE_QUERY_SCALE_* */
    LLAMA4_SCALE = 1 << 13,
    LOGN_SCALE = 1 << 14,
    /* the width is embed_dim; hidden_size is that of the language model */
    EMBED_WIDTH = 1 << 15,
    /* coordinates are multiplied by 2 pi */
    TWO_PI = 1 << 16,
    /* full_attention has heads of global_head_dim, 512 where the file is silent */
    GLOBAL_HEAD_DIM = 1 << 17,
    /* rotations "main" and "compress" of DeepSeek-V4 */
    COMPRESSED = 1 << 18
};

struct rope_family {
    const char *type;
    uint16_t hidden, heads, layers, head_dim; /* of the class, where the file is silent; 0 = none */
    double theta;                             /* 0 = 10000 */
    double local_theta;                       /* 0 = as theta */
    double partial;                           /* 0 = 1 */
    uint8_t tower;                            /* ROPE_TOWER_* */
    uint8_t pairing, pairing_out;             /* ROPE_HALF, ...; ROPE_OUT_* */
    uint8_t rounding; /* ROPE_ROUNDING_*; 0 = EAGER, the rule of most classes */
    uint8_t axes, shape, layer_kind, gate;
    uint16_t period;
    uint16_t nope_dim, rope_dim;
    uint8_t sections[4]; /* of the class; 0 = none */
    uint32_t flags;
    const char *block; /* rope_parameters of the class, as JSON */
};

/* The row of a model type, or NULL. */
const struct rope_family *rope_family_find(const char *type);

/* How llama.cpp rotates the tensors of an architecture. */
enum rope_gguf_kind { GGUF_NONE, GGUF_NORMAL, GGUF_NEOX, GGUF_MROPE, GGUF_IMROPE };
struct rope_gguf_architecture {
    const char *name;
    uint8_t kind;       /* enum rope_gguf_kind */
    uint8_t multi_axis; /* MROPE where rope.dimension_sections is given */
    uint8_t latent;     /* MLA: rope.dimension_count elements behind the others */
    uint8_t period;     /* full attention in the last layer of every n, 0 = alike */
    float local_theta;  /* of the sliding layers; 0 = as freq_base */
    uint8_t unrotated;  /* 1: full_attention layers have no rotation */
};
const struct rope_gguf_architecture *rope_gguf_architecture_find(const char *name);

#endif
