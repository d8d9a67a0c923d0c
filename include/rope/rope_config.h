/* SPDX-License-Identifier: Apache-2.0 */
/*
 * librope-config: from a model's configuration to the rotations that it means.
 *
 * A runtime hands over the text of a Hugging Face config.json, or the key/value pairs of a GGUF
 * file, and gets one rope_spec for each kind of layer and each tower of the model, which layer
 * takes which, how the reference implementation rounds, and warnings where implementations
 * disagree.  Library librope-config, beside librope; needs jansson.  Valid C99, C11 and C++11.
 *
 * What is read: rope_scaling with rope_theta, and rope_parameters, both flat or with one object for
 * each layer type; text_config, vision_config and their other names; all spellings of the published
 * files.  What a class fills in where a file is silent is known for some 250 model types
 * (src/config/families.c, with sources); other types are read by their ordinary keys, with a
 * warning.  An unknown scheme is an error, never the default.
 *
 * Threads.  A configuration never changes after its creation: any number of threads may read it.
 * Time and memory are bounded by ROPE_CONFIG_TEXT_MAX, whatever the text holds, and 16 KiB of stack
 * are enough.  The host's floating-point settings change nothing and are left alone.  Nothing is
 * printed.
 *
 * Structs carry their size as those of rope.h do.  On any status but ROPE_OK nothing has been
 * written but *config = NULL and the message: one line that names the key, its value and the rule.
 * Statuses are those of rope.h, and two more.
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
 * Whose meaning.  The profiles differ where the implementations do, and nowhere else; each of these
 * places adds a warning "implementations disagree: ...", whatever the profile.
 *
 * EXACT         what the parameters mean.  Angles are exact.
 * TRANSFORMERS  Hugging Face transformers 5.  Angles are products in f32.  Differs from EXACT:
 *               longrope: a factor in the file comes before max_position_embeddings / original
 *               yarn: truncate is not read in the blocks of layer types
 *               Gemma 3, OLMo 3, ModernBERT: a scheme named by type, not rope_type, is ignored
 *               OLMo 3: sliding layers have theta = 500000, whatever rope_theta says
 *               MiniMax: rotary_dim is ignored, the whole head rotates
 *               PhiMoE: the short list is kept above the original length
 * VLLM          Angles are products in f32.  Differs from EXACT:
 *               dynamic: one base for all lengths: for `length` (max_model_len), or
 *               max_position_embeddings * factor where it is 0
 *               longrope: the list is chosen by `length`, max_position_embeddings where it is 0
 *               proportional: factor is ignored
 * GGML          ggml and llama.cpp.  Angles are exact: those of ggml come from a recurrence in f32,
 *               whose bits no other formula has.  Differs from EXACT:
 *               dynamic: not scaled
 *               longrope: as VLLM; `length` is n_ctx
 *               yarn: truncate is not read; m = 1 + 0.1 ln factor below 1 too
 *               M-RoPE: four axes; in triples the pairs that are left over go to the fourth
 */
typedef int32_t rope_profile;
enum {
    ROPE_PROFILE_EXACT = 0,
    ROPE_PROFILE_TRANSFORMERS = 1,
    ROPE_PROFILE_VLLM = 2,
    ROPE_PROFILE_GGML = 3
};

/* How a configuration is read. */
typedef struct rope_config_options {
    uint32_t struct_size; /* sizeof(rope_config_options) */
    rope_profile profile; /* ROPE_PROFILE_* */
    size_t length;        /* n, tokens of the sequence, for schemes that depend on it; 0 = short */
    char *message;        /* receives one line on error; may be NULL */
    size_t message_size;  /* bytes at message */
} rope_config_options;
#define ROPE_CONFIG_OPTIONS_INIT                   \
    {                                              \
        sizeof(rope_config_options), 0, 0, NULL, 0 \
    }

/* ---- Reading --------------------------------------------------------------------------------- */

/* What a configuration means, immutable. */
typedef struct rope_config rope_config;

/*
 * Reads the text of a config.json: UTF-8, `size` bytes, no terminator needed.  NaN and Infinity, as
 * Python writes them, and {"__float__": "Infinity"} are numbers.  options may be NULL: all zero.
 *
 * ROPE_ERR_NULL         text or config is NULL
 * ROPE_ERR_STRUCT       options->struct_size
 * ROPE_ERR_SYNTAX       see above; also a key that is given twice
 * ROPE_ERR_VALUE        a key with a wrong type or value, one that is missing, two that contradict
 *                       each other; an unknown profile
 * ROPE_ERR_UNSUPPORTED  see above
 * ROPE_ERR_MEMORY       out of memory
 *
 * Thread-safe.  Since 0.1.
 */
ROPE_API rope_status rope_config_parse(const char *text, size_t size,
                                       const rope_config_options *options, rope_config **config);

/* A key of GGUF metadata, or a tensor of divisors by its name.  Exactly one kind of value. */
typedef struct rope_gguf_pair {
    uint32_t struct_size;  /* sizeof(rope_gguf_pair), the same in all pairs of an array */
    uint32_t count;        /* how many numbers */
    const char *key;       /* "general.architecture", "rope_freqs.weight", ... */
    const char *text;      /* a string, or NULL */
    const double *numbers; /* an array of numbers, or NULL */
    double number;         /* a number or a bool, where text and numbers are NULL */
} rope_gguf_pair;
#define ROPE_GGUF_PAIR_INIT                              \
    {                                                    \
        sizeof(rope_gguf_pair), 0, NULL, NULL, NULL, 0.0 \
    }

/*
 * Reads the metadata of a GGUF file.  Keys come with their architecture ("llama.rope.freq_base") or
 * without ("rope.freq_base").  0 for freq_base or a factor means not given, as in ggml.  The
 * pairing is that of the tensors in the file: for some models not that of the original checkpoint
 * (llama is interleaved: its converter permutes the weights).  Tensors that are read:
 * rope_freqs.weight, rope_factors_long.weight, rope_factors_short.weight.
 *
 * ROPE_ERR_NULL pairs (where count > 0), a key or config is NULL; ROPE_ERR_STRUCT struct_size of
 * pairs or options; the others as rope_config_parse.
 * Thread-safe.  Since 0.1.
 */
ROPE_API rope_status rope_config_from_gguf(const rope_gguf_pair *pairs, size_t count,
                                           const rope_config_options *options,
                                           rope_config **config);

/* Frees a configuration and all that it handed out; NULL is a no-op.  Since 0.1. */
ROPE_API void rope_config_destroy(rope_config *config);

/* ---- Rotations ------------------------------------------------------------------------------- */

/* The part of a model that a rotation belongs to. */
typedef int32_t rope_tower;
enum { ROPE_TOWER_TEXT = 0, ROPE_TOWER_VISION = 1, ROPE_TOWER_AUDIO = 2 };

/* How the reference rounds in 16-bit types.  Its bits from its rows: the settings of rope_job. */
typedef int32_t rope_rounding;
enum {
    ROPE_ROUNDING_UNKNOWN = 0,
    ROPE_ROUNDING_EAGER = 1,       /* arith = ROPE_ARITH_EAGER */
    ROPE_ROUNDING_F32_ROWS = 2,    /* arith = ROPE_ARITH_UNFUSED */
    ROPE_ROUNDING_ROUNDED_ROWS = 3 /* arith = ROPE_ARITH_UNFUSED, row_dtype = that of the tensors */
};

/* Flags of an entry. */
enum {
    /* the model multiplies its softmax scale by rope_info.softmax_factor */
    ROPE_ENTRY_SOFTMAX_FACTOR = 1,
    /* the attention output is rotated back (DeepSeek-V4) */
    ROPE_ENTRY_INVERSE_OUTPUT = 2,
    /* the reference turns the two components of a pair by different angles, which is no rotation.
       spec agrees with it where all axes have one position (HunYuan-VL), or is what its description
       says (V-JEPA 2) */
    ROPE_ENTRY_NO_ROTATION = 4
};

/* One rotation of the model.  Pointers are valid until rope_config_destroy. */
typedef struct rope_config_entry {
    /* in: sizeof(rope_config_entry) of the caller; no byte beyond it is written */
    uint32_t struct_size;
    rope_tower tower;
    const char *path;       /* object of the file: "", "text_config", ... */
    const char *model_type; /* "" where the file names none */
    /* "full_attention", "sliding_attention", "main", ...; "" where all layers are alike */
    const char *layer_type;
    const rope_spec *spec; /* of the queries: to be given to rope_plan_create as it is */
    /* rope_tensor.head_dim and rotary_offset of the keys; 0 and 0: as the queries.  MLA has one key
       head, of the rotated elements alone */
    size_t k_head_dim;
    size_t k_rotary_offset;
    rope_pairing_out pairing_out;
    rope_direction direction; /* ROPE_FORWARD; ROPE_TRANSPOSE for nanochat, which turns back */
    rope_rounding rounding;   /* ROPE_ROUNDING_* */
    uint32_t flags;           /* ROPE_ENTRY_* */
    double position_scale;    /* multiplies positions: 1; 2 pi for the coordinates of DINOv3 */
} rope_config_entry;
#define ROPE_CONFIG_ENTRY_INIT                                                      \
    {                                                                               \
        sizeof(rope_config_entry), 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0.0 \
    }

/* How many rotations the model has; 0 for NULL, and for a model without any.  Since 0.1. */
ROPE_API size_t rope_config_entry_count(const rope_config *config);

/*
 * Reads one of them.
 * ROPE_ERR_NULL config or entry is NULL; ROPE_ERR_STRUCT entry->struct_size; ROPE_ERR_VALUE index.
 * Since 0.1.
 */
ROPE_API rope_status rope_config_get_entry(const rope_config *config, size_t index,
                                           rope_config_entry *entry);

/*
 * Makes the plans of all entries; plans has room for `count` = rope_config_entry_count of them.
 * All or none: on error every plans[i] is NULL.  message as in the options.
 * ROPE_ERR_NULL config or plans is NULL; ROPE_ERR_VALUE count; the others as rope_plan_create.
 * Since 0.1.
 */
ROPE_API rope_status rope_config_create_plans(const rope_config *config, rope_plan **plans,
                                              size_t count, char *message, size_t message_size);

/* ---- Layers of the text tower; of the only tower where there is no text ---------------------- */

enum {
    ROPE_LAYER_NO_ROTATION = -1, /* NoPE, linear attention, convolution */
    ROPE_LAYER_UNKNOWN = -2      /* no such layer or layer type */
};

/* How many; 0 where the file does not say, and any of them may be asked for.  Since 0.1. */
ROPE_API size_t rope_config_layer_count(const rope_config *config);

/* The entry of a layer, or one of ROPE_LAYER_*.  Since 0.1. */
ROPE_API int32_t rope_config_layer(const rope_config *config, size_t layer);

/* The entry with this tower and layer_type, or ROPE_LAYER_UNKNOWN.  Since 0.1. */
ROPE_API int32_t rope_config_find(const rope_config *config, rope_tower tower,
                                  const char *layer_type);

/* A factor on queries that depends on the position p, beside the rotation. */
typedef int32_t rope_query_scale_kind;
enum {
    ROPE_QUERY_SCALE_NONE = 0,
    ROPE_QUERY_SCALE_LLAMA4 = 1,  /* 1 + beta ln(floor((p + 1) / length) + 1) */
    ROPE_QUERY_SCALE_MISTRAL = 2, /* 1 + beta ln(1 + floor(p / length)) */
    ROPE_QUERY_SCALE_LOGN = 3     /* ln(p + 1) / ln(length) where p + 1 > length, else 1 */
};
/* Which factor, and its parameters. */
typedef struct rope_query_scale {
    uint32_t struct_size;       /* sizeof(rope_query_scale) */
    rope_query_scale_kind kind; /* ROPE_QUERY_SCALE_* */
    /* of the formula of its kind */
    double beta;
    double length;
} rope_query_scale;
#define ROPE_QUERY_SCALE_INIT                 \
    {                                         \
        sizeof(rope_query_scale), 0, 0.0, 0.0 \
    }

/*
 * That of a layer.
 * ROPE_ERR_NULL config or scale is NULL; ROPE_ERR_STRUCT scale->struct_size; ROPE_ERR_VALUE layer.
 * Since 0.1.
 */
ROPE_API rope_status rope_config_get_query_scale(const rope_config *config, size_t layer,
                                                 rope_query_scale *scale);

/* Its value at a position >= 0; 1 for NULL, an unknown kind, and below 0.  Since 0.1. */
ROPE_API double rope_query_scale_at(const rope_query_scale *scale, int64_t position);

/* ---- Warnings -------------------------------------------------------------------------------- */

/*
 * Lines of text, NULL behind the last one: "implementations disagree: ...", "unknown key ...",
 * "key ...: ignored ...", "default: ...".  Since 0.1.
 */
ROPE_API const char *rope_config_warning(const rope_config *config, size_t index);

#ifdef __cplusplus
}
#endif

#endif
