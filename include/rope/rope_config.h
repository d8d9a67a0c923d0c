/* SPDX-License-Identifier: Apache-2.0 */
/*
 * librope-config: from a model's configuration to the rotations that it means.
 *
 * A runtime hands over the text of a Hugging Face config.json, or the key/value pairs of a GGUF
 * file, and gets one rope_spec for each kind of layer and each tower of the model, which layer
 * takes which, how the reference implementation rounds, and warnings where implementations
 * disagree.  Library librope-config, beside librope; needs jansson.  Valid C99, C11 and C++11.
 *
 * What is read: rope_scaling with rope_theta, and rope_parameters, both flat or one object for each
 * layer type; text_config, vision_config and their other names; all spellings of the published
 * files.  What a class fills in where a file is silent is known for some 200 model types
 * (src/config/families.c, with sources); other types are read by their ordinary keys, with a
 * warning.  An unknown scheme is an error, never the default.
 *
 * Threads.  A configuration never changes after its creation; any number of threads may read it.
 * Memory and time are bounded by ROPE_CONFIG_TEXT_MAX, whatever the text holds.  Nothing is
 * printed; on error nothing is written but *config = NULL and the message.
 *
 * Structs carry their size as in rope.h.  ROPE_ERR_* are those of rope.h, and two of its own:
 */
#ifndef ROPE_ROPE_CONFIG_H
#define ROPE_ROPE_CONFIG_H

#include "rope/rope.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ROPE_ERR_SYNTAX = -100,     /* the text is no JSON object, too long, or nested too deep */
    ROPE_ERR_UNSUPPORTED = -101 /* a scheme that this library does not know */
};

enum {
    ROPE_CONFIG_TEXT_MAX = 2 * 1024 * 1024, /* bytes of text */
    ROPE_CONFIG_DEPTH_MAX = 64,             /* objects and arrays within each other */
    ROPE_CONFIG_LAYERS_MAX = 65536
};

/*
 * Whose meaning.  The profiles differ only where the implementations do; each such place is a warning
 * that begins with "implementations disagree: ", in every profile.
 *
 *                        EXACT                     TRANSFORMERS               VLLM                  GGML
 * angle                  exact                     f32 product                f32 product           exact
 * dynamic                length n                  length n                   fixed: length, or     none
 *                                                                             max_position * factor
 * longrope list          by n > original           by n > original            by n > original, n    as VLLM
 *                                                                             defaults to max_pos.
 * longrope factor        max / original where the  factor of the file         as EXACT              as EXACT
 *                        file says original apart  first
 * yarn truncate: false   honoured                  ignored in per-layer-type  honoured              ignored
 *                                                  blocks
 * yarn, factor < 1       m = 1                     m = 1                      m = 1                 1 + 0.1 ln s
 * proportional factor    divides                   divides                    ignored               divides
 * mrope leftover pairs   axis 0                    axis 0                     axis 0                fourth axis
 * MiniMax rotary_dim     read                      ignored (whole head)       read                  read
 * Gemma 3, OLMo 3, ...:  read                      ignored: default           read                  read
 *  rope_scaling.type
 * OLMo 3 sliding layers  rope_theta                500000                     rope_theta            rope_theta
 * PhiMoE above original  long list, long m         short list, long m         as EXACT              as EXACT
 *
 * "length" for VLLM is max_model_len, for GGML n_ctx: they choose once, not for each sequence.
 * ggml forms its angles by a recurrence in f32, whose bits no other formula has; EXACT is what it approximates.
 */
typedef int32_t rope_profile;
enum {
    ROPE_PROFILE_EXACT = 0,        /* what the parameters mean */
    ROPE_PROFILE_TRANSFORMERS = 1, /* Hugging Face transformers 5 */
    ROPE_PROFILE_VLLM = 2,
    ROPE_PROFILE_GGML = 3 /* ggml and llama.cpp */
};

typedef int32_t rope_tower;
enum { ROPE_TOWER_TEXT = 0, ROPE_TOWER_VISION = 1, ROPE_TOWER_AUDIO = 2 };

/*
 * How the reference rounds in 16-bit types.  To get its bits from its rows:
 *   EAGER         rope_job.arith = ROPE_ARITH_EAGER
 *   F32_ROWS      rope_job.arith = ROPE_ARITH_UNFUSED
 *   ROUNDED_ROWS  rope_job.arith = ROPE_ARITH_UNFUSED and rope_job.row_dtype = the type of the tensors
 */
typedef int32_t rope_rounding;
enum {
    ROPE_ROUNDING_UNKNOWN = 0,
    ROPE_ROUNDING_EAGER = 1,
    ROPE_ROUNDING_F32_ROWS = 2,
    ROPE_ROUNDING_ROUNDED_ROWS = 3
};

/* Flags of an entry. */
enum {
    ROPE_ENTRY_SOFTMAX_FACTOR =
        1, /* the model multiplies its softmax scale by rope_info.softmax_factor */
    ROPE_ENTRY_INVERSE_OUTPUT = 2, /* the attention output is rotated back (DeepSeek-V4) */
    ROPE_ENTRY_NO_ROTATION =
        4 /* the reference gives the two components of a pair different angles, so its result is no
                                  rotation; spec agrees with it where all axes have one position (HunYuan-VL), or is
                                  what its published description says (V-JEPA 2) */
};

/* One rotation of the model.  Pointers stay valid until rope_config_destroy. */
typedef struct rope_config_entry {
    uint32_t
        struct_size; /* in: sizeof(rope_config_entry) of the caller; no byte beyond is written */
    rope_tower tower;
    const char *path;       /* object of the file: "", "text_config", ... */
    const char *model_type; /* "" if the file names none */
    const char *
        layer_type; /* "full_attention", "sliding_attention", "main", ...; "" where all layers are alike */
    const rope_spec *spec; /* of the queries; to be given to rope_plan_create as it is */
    size_t
        k_head_dim; /* rope_tensor.head_dim and .rotary_offset of the keys; 0 and 0 = as the queries.  MLA */
    size_t k_rotary_offset; /* has one key head of rotated elements alone */
    rope_pairing_out pairing_out;
    rope_direction
        direction; /* ROPE_FORWARD; ROPE_TRANSPOSE for nanochat, which turns the other way */
    rope_rounding rounding;
    uint32_t flags; /* ROPE_ENTRY_* */
    double
        position_scale; /* positions are multiplied by it: 1; 2 pi for the coordinates of DINOv3 */
} rope_config_entry;
#define ROPE_CONFIG_ENTRY_INIT                                                      \
    {                                                                               \
        sizeof(rope_config_entry), 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0.0 \
    }

/* A factor on queries that depends on the position p, beside the rotation. */
typedef int32_t rope_query_scale_kind;
enum {
    ROPE_QUERY_SCALE_NONE = 0,
    ROPE_QUERY_SCALE_LLAMA4 = 1,  /* 1 + beta ln(floor((p + 1) / length) + 1) */
    ROPE_QUERY_SCALE_MISTRAL = 2, /* 1 + beta ln(1 + floor(p / length)) */
    ROPE_QUERY_SCALE_LOGN = 3     /* ln(p + 1) / ln(length) where p + 1 > length, else 1 */
};
typedef struct rope_query_scale {
    uint32_t struct_size; /* sizeof(rope_query_scale) */
    rope_query_scale_kind kind;
    double beta;
    double length;
} rope_query_scale;
#define ROPE_QUERY_SCALE_INIT                 \
    {                                         \
        sizeof(rope_query_scale), 0, 0.0, 0.0 \
    }

typedef struct rope_config_options {
    uint32_t struct_size; /* sizeof(rope_config_options) */
    rope_profile profile;
    size_t length; /* n, tokens of the sequence, for schemes that depend on it; 0 = short */
    char *message; /* receives one line on error: key, value and rule; may be NULL */
    size_t message_size;
} rope_config_options;
#define ROPE_CONFIG_OPTIONS_INIT                   \
    {                                              \
        sizeof(rope_config_options), 0, 0, NULL, 0 \
    }

typedef struct rope_config rope_config;

/*
 * Reads the text of a config.json (UTF-8, `size` bytes, no terminator needed).  NaN and Infinity, as Python writes them,
 * and {"__float__": "Infinity"} are read as numbers.  options may be NULL: all zero.
 *
 * ROPE_ERR_NULL         text or config is NULL
 * ROPE_ERR_STRUCT       options->struct_size
 * ROPE_ERR_SYNTAX       see above; also a key given twice
 * ROPE_ERR_VALUE        a key with a wrong type or value, one that is missing, two that contradict each other; an unknown
 *                       profile
 * ROPE_ERR_UNSUPPORTED  see above
 * ROPE_ERR_MEMORY       out of memory
 *
 * Thread-safe.  Since 0.1.
 */
ROPE_API rope_status rope_config_parse(const char *text, size_t size,
                                       const rope_config_options *options, rope_config **config);

/* A key of GGUF metadata, or a tensor of divisors by its name.  Exactly one kind of value. */
typedef struct rope_gguf_pair {
    uint32_t struct_size; /* sizeof(rope_gguf_pair); pairs of an array all have the same */
    uint32_t count;       /* numbers: how many */
    const char *key;  /* "general.architecture", "llama.rope.freq_base", "rope_freqs.weight", ... */
    const char *text; /* a string, or NULL */
    const double *numbers; /* an array of numbers, or NULL */
    double number;         /* a number or a bool, where text and numbers are NULL */
} rope_gguf_pair;
#define ROPE_GGUF_PAIR_INIT                              \
    {                                                    \
        sizeof(rope_gguf_pair), 0, NULL, NULL, NULL, 0.0 \
    }

/*
 * Reads the metadata of a GGUF file.  Keys may come with their architecture ("llama.rope.freq_base") or without
 * ("rope.freq_base").  Zero for freq_base or a factor means not given, as in ggml.  The pairing is that of the tensors in the
 * file, which for some models differs from that of the original checkpoint (llama: interleaved, as its converter
 * permutes the weights).  Tensors: rope_freqs.weight, rope_factors_long.weight, rope_factors_short.weight.
 *
 * ROPE_ERR_NULL   pairs (with count > 0), a key or config is NULL; the rest as rope_config_parse.
 * Thread-safe.  Since 0.1.
 */
ROPE_API rope_status rope_config_from_gguf(const rope_gguf_pair *pairs, size_t count,
                                           const rope_config_options *options,
                                           rope_config **config);

/* Frees a configuration and all that it handed out; NULL is a no-op.  Since 0.1. */
ROPE_API void rope_config_destroy(rope_config *config);

/* How many rotations the model has; 0 for NULL, and for a model without any.  Since 0.1. */
ROPE_API size_t rope_config_entry_count(const rope_config *config);

/* ROPE_ERR_NULL config or entry is NULL; ROPE_ERR_STRUCT entry->struct_size; ROPE_ERR_VALUE index.  Since 0.1. */
ROPE_API rope_status rope_config_get_entry(const rope_config *config, size_t index,
                                           rope_config_entry *entry);

enum {
    ROPE_LAYER_NO_ROTATION =
        -1,                 /* the layer has no rotation: NoPE, linear attention, convolution */
    ROPE_LAYER_UNKNOWN = -2 /* no such layer or layer type */
};

/* Layers of the text tower (of the first tower where there is none); 0 when the file does not say.  Since 0.1. */
ROPE_API size_t rope_config_layer_count(const rope_config *config);

/* The entry of a layer of the text tower, or one of ROPE_LAYER_*.  Since 0.1. */
ROPE_API int32_t rope_config_layer(const rope_config *config, size_t layer);

/* The entry of a tower with this layer_type, "" where all its layers are alike; else ROPE_LAYER_UNKNOWN.  Since 0.1. */
ROPE_API int32_t rope_config_find(const rope_config *config, rope_tower tower,
                                  const char *layer_type);

/* The query scale of a layer of the text tower.  ROPE_ERR_NULL, ROPE_ERR_STRUCT, ROPE_ERR_VALUE as above.  Since 0.1. */
ROPE_API rope_status rope_config_get_query_scale(const rope_config *config, size_t layer,
                                                 rope_query_scale *scale);

/* Its value at a position >= 0; 1 for NULL, an unknown kind and below 0.  Since 0.1. */
ROPE_API double rope_query_scale_at(const rope_query_scale *scale, int64_t position);

/* Lines of text, NULL behind the last: "implementations disagree: ...", "unknown key ...", "key ... ignored ...",
 * "default: ...".  Since 0.1. */
ROPE_API const char *rope_config_warning(const rope_config *config, size_t index);

/*
 * Makes the plans of all entries; plans has room for `count` = rope_config_entry_count of them.  All or none: on error every
 * plans[i] is NULL.  message as in the options.
 * ROPE_ERR_NULL config or plans is NULL; ROPE_ERR_VALUE count; the rest as rope_plan_create.  Since 0.1.
 */
ROPE_API rope_status rope_config_create_plans(const rope_config *config, rope_plan **plans,
                                              size_t count, char *message, size_t message_size);

#ifdef __cplusplus
}
#endif

#endif
