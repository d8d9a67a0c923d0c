/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From one block of rope parameters to one rope_spec.  Knows the keys of blocks; nothing of layers
 * and towers.
 */
#include "parameters.h"

#include <math.h>
#include <string.h>

static const char *const max_length_keys[] = {
    "max_position_embeddings", "n_positions",      "max_seq_len", "seq_length",
    "max_sequence_length",     "model_max_length", NULL};
static const char *const rotary_dim_keys[] = {"rotary_dim", "attn_rotary_emb", "rotary_ndims",
                                              NULL};
static const char *const partial_keys[] = {
    "partial_rotary_factor", "rotary_pct", "rope_pct", "rope_percent", "rotary_emb_fraction", NULL};

/* Sets of schemes. */
enum {
    LINEAR = 1 << ROPE_SCHEME_LINEAR,
    NTK = 1 << ROPE_SCHEME_NTK,
    NTK_MIXED = 1 << ROPE_SCHEME_NTK_MIXED,
    DYNAMIC = 1 << ROPE_SCHEME_DYNAMIC_NTK,
    YARN = 1 << ROPE_SCHEME_YARN,
    LONGROPE = 1 << ROPE_SCHEME_LONGROPE,
    LLAMA3 = 1 << ROPE_SCHEME_LLAMA3,
    PROPORTIONAL = 1 << ROPE_SCHEME_PROPORTIONAL,
    ANY = -1
};

/* What rope_type and type say. */
static const struct {
    const char *word;
    rope_scheme scheme;
    double mscale_log;
} words[] = {
    {"default", ROPE_SCHEME_DEFAULT, 0.0},
    {"linear", ROPE_SCHEME_LINEAR, 0.0},
    {"ntk_alpha", ROPE_SCHEME_NTK, 0.0},
    {"ntk", ROPE_SCHEME_NTK_MIXED,
     0.0}, /* vLLM: without mixed_b theta s and f / s^(2/d), which is exponent 1 */
    {"dynamic", ROPE_SCHEME_DYNAMIC_NTK, 0.0},
    {"yarn", ROPE_SCHEME_YARN, 0.0},
    {"longrope", ROPE_SCHEME_LONGROPE, 0.0},
    {"llama3", ROPE_SCHEME_LLAMA3, 0.0},
    {"proportional", ROPE_SCHEME_PROPORTIONAL, 0.0},
    /* other names of the same */
    {"axial", ROPE_SCHEME_DEFAULT, 0.0},
    {"mrope", ROPE_SCHEME_DEFAULT, 0.0},
    {"xdrope", ROPE_SCHEME_DYNAMIC_NTK, 0.0},
    {"deepseek_yarn", ROPE_SCHEME_YARN, 0.0},
    {"telechat3-yarn", ROPE_SCHEME_YARN, 0.07},
    {"su", ROPE_SCHEME_LONGROPE, 0.0},
    {"llama4", ROPE_SCHEME_LLAMA3, 0.0},
    {"mllama4", ROPE_SCHEME_LLAMA3, 0.0},
};

/* The keys whose values are single numbers > 0 of a spec. */
static const struct {
    const char *key;
    size_t offset;
    int read, needed; /* by these schemes */
    int zero_is_absent;
} reals[] = {
    {"factor", offsetof(rope_spec, factor),
     LINEAR | NTK_MIXED | DYNAMIC | YARN | LONGROPE | LLAMA3 | PROPORTIONAL,
     LINEAR | NTK_MIXED | DYNAMIC | LLAMA3, 0},
    {"alpha", offsetof(rope_spec, factor), NTK, NTK, 1},
    {"mixed_b", offsetof(rope_spec, ntk_exponent), NTK_MIXED, 0, 0},
    {"attention_factor", offsetof(rope_spec, attention_factor), YARN | LONGROPE, 0, 0},
    {"beta_fast", offsetof(rope_spec, beta_fast), YARN, 0, 1},
    {"beta_slow", offsetof(rope_spec, beta_slow), YARN, 0, 1},
    {"mscale", offsetof(rope_spec, mscale), YARN, 0, 1},
    {"mscale_all_dim", offsetof(rope_spec, mscale_all_dim), YARN, 0, 1},
    {"low_freq_factor", offsetof(rope_spec, low_freq_factor), LLAMA3, LLAMA3, 0},
    {"high_freq_factor", offsetof(rope_spec, high_freq_factor), LLAMA3, LLAMA3, 0},
};

/* The other keys that a block may have. */
static const struct {
    const char *key;
    int read;
} others[] = {
    {"rope_type", ANY},
    {"type", ANY},
    {"rope_theta", ANY},
    {"partial_rotary_factor", ANY},
    {"mrope_section", ANY},
    {"mrope_interleaved", ANY},
    {"interleaved", ANY},
    {"xdrope_section", ANY},
    {"llama_4_scaling_beta", ANY},
    {"max_position_embeddings", ANY},
    {"finetuned", ANY},
    {"original_max_position_embeddings", YARN | LONGROPE | LLAMA3},
    {"truncate", YARN},
    {"apply_yarn_scaling", YARN},
    {"short_factor", LONGROPE},
    {"long_factor", LONGROPE},
    {"short_mscale", LONGROPE},
    {"long_mscale", LONGROPE},
};

enum {
    WORDS = sizeof words / sizeof words[0],
    REALS = sizeof reals / sizeof reals[0],
    OTHERS = sizeof others / sizeof others[0]
};

static const char *scheme_word(rope_scheme scheme)
{
    for (size_t w = 0; w < WORDS; w++)
        if (words[w].scheme == scheme)
            return words[w].word;
    return "custom";
}

static rope_status fail(struct rope_config *config, const struct rope_object *object,
                        const char *key, const char *rule)
{
    return rope_config_fail(config, ROPE_ERR_VALUE, "%s: %s", rope_object_name(config, object, key),
                            rule);
}

/* ---- The scheme ------------------------------------------------------------------------------ */

/* 1 if the block scales in some way, so that it has to say in which. */
static int has_scaling(const json_t *block)
{
    for (size_t i = 0; i < REALS; i++)
        if (json_object_get(block, reals[i].key) != NULL)
            return 1;
    return json_object_get(block, "short_factor") != NULL ||
           json_object_get(block, "long_factor") != NULL;
}

static rope_status read_scheme(struct rope_config *config, const struct rope_block *block,
                               rope_spec *spec)
{
    const struct rope_object *object = &block->block;
    const char *word = NULL;
    int found = 0;
    rope_status status = rope_object_text(config, object, NAMES("rope_type"), &word, &found);
    const int is_old = !found;
    if (status == ROPE_OK && is_old) /* rope_type wins over type */
        status = rope_object_text(config, object, NAMES("type"), &word, &found);
    if (status != ROPE_OK)
        return status;
    if (found && is_old && block->outer.json == NULL && (block->family->flags & SPLIT_THETA) != 0) {
        if (!rope_config_warn(
                config,
                "implementations disagree: %s: transformers 5 ignores it for this model type, "
                "which it must call rope_type",
                rope_object_name(config, object, "type")))
            return ROPE_ERR_MEMORY;
        if (config->profile == ROPE_PROFILE_TRANSFORMERS)
            return ROPE_OK;
    }
    if (!found) {
        spec->scheme = ROPE_SCHEME_DEFAULT;
        return has_scaling(object->json)
                   ? fail(config, object, "rope_type",
                          "missing: must name the scheme that the other keys are for")
                   : ROPE_OK;
    }
    for (size_t w = 0; w < WORDS; w++) {
        if (strcmp(word, words[w].word) != 0)
            continue;
        spec->scheme = words[w].scheme;
        spec->mscale_log = words[w].mscale_log;
        if (spec->mscale_log != 0.0 &&
            !rope_config_warn(
                config,
                "implementations disagree: %s: %s: vllm has 0.07 in m = 1 + 0.07 ln factor, "
                "mlx-lm 0.1; 0.07 taken",
                object->path, words[w].word))
            return ROPE_ERR_MEMORY;
        double alpha = 0.0;
        status = rope_object_number(config, object, NAMES("alpha"), &alpha, &found);
        if (status != ROPE_OK)
            return status;
        if (spec->scheme == ROPE_SCHEME_DYNAMIC_NTK && alpha != 0.0)
            spec->scheme = ROPE_SCHEME_NTK; /* Hunyuan: a fixed alpha, whatever the length */
        if (spec->scheme == ROPE_SCHEME_YARN && (block->family->flags & YARN_IS_LONGROPE) != 0)
            spec->scheme = ROPE_SCHEME_LONGROPE;
        if (strcmp(word, "su") == 0 &&
            !rope_config_warn(config,
                              "implementations disagree: %s: su: the first name of longrope, which "
                              "transformers 5 no longer loads",
                              object->path))
            return ROPE_ERR_MEMORY;
        return ROPE_OK;
    }
    return rope_config_fail(config, ROPE_ERR_UNSUPPORTED, "%s: %s: no known scheme",
                            rope_object_name(config, object, "rope_type"),
                            rope_config_shown(config, word));
}

static rope_status read_reals(struct rope_config *config, const struct rope_block *block,
                              rope_spec *spec)
{
    const int scheme = 1 << spec->scheme;
    for (size_t i = 0; i < REALS; i++) {
        if ((reals[i].read & scheme) == 0)
            continue;
        double value = 0.0;
        int found = 0;
        const rope_status status =
            rope_object_number(config, &block->block, NAMES(reals[i].key), &value, &found);
        if (status != ROPE_OK)
            return status;
        if (!found && (reals[i].needed & scheme) != 0)
            return rope_config_fail(config, ROPE_ERR_VALUE, "%s: missing: %s needs it",
                                    rope_object_name(config, &block->block, reals[i].key),
                                    scheme_word(spec->scheme));
        if (!found || (value == 0.0 && reals[i].zero_is_absent))
            continue;
        if (!isfinite(value) || value <= 0.0)
            return rope_config_fail(config, ROPE_ERR_VALUE, "%s: %g: must be finite and > 0",
                                    rope_object_name(config, &block->block, reals[i].key), value);
        memcpy((char *)spec + reals[i].offset, &value, sizeof value);
    }
    if (spec->high_freq_factor < spec->low_freq_factor)
        return rope_config_fail(config, ROPE_ERR_VALUE, "%s: %g: must be >= low_freq_factor = %g",
                                rope_object_name(config, &block->block, "high_freq_factor"),
                                spec->high_freq_factor, spec->low_freq_factor);
    return ROPE_OK;
}

/* Says which keys of the block have no effect. */
static rope_status warn_of_keys(struct rope_config *config, const struct rope_block *block,
                                const rope_spec *spec)
{
    const int scheme = 1 << spec->scheme;
    const char *key;
    json_t *value;
    /* jansson iterates over a constant object through this cast; nothing is changed */
    json_object_foreach((json_t *)block->block.json, key, value)
    {
        int known = 0, read = 0;
        for (size_t i = 0; i < REALS; i++)
            if (strcmp(key, reals[i].key) == 0)
                known = 1, read |= (reals[i].read & scheme) != 0;
        for (size_t i = 0; i < OTHERS; i++)
            if (strcmp(key, others[i].key) == 0)
                known = 1, read |= (others[i].read & scheme) != 0 || others[i].read == ANY;
        if (read || json_is_null(value))
            continue;
        const char *name = rope_object_name(config, &block->block, rope_config_shown(config, key));
        if (!(known ? rope_config_warn(config, "key %s: ignored by %s", name,
                                       scheme_word(spec->scheme))
                    : rope_config_warn(config, "unknown key %s: ignored", name)))
            return ROPE_ERR_MEMORY;
    }
    return ROPE_OK;
}

/* ---- Lengths --------------------------------------------------------------------------------- */

/* L; *apart is 1 where the file gives it outside the block. */
static rope_status read_original(struct rope_config *config, const struct rope_block *block,
                                 size_t max_length, rope_spec *spec, int *apart)
{
    const char *const *names = NAMES("original_max_position_embeddings");
    size_t inside = 0;
    int found = 0;
    rope_status status = rope_object_count(config, &block->block, names, &inside, &found);
    if (status == ROPE_OK)
        status = rope_object_count(config, &block->model, names, &spec->original_length, apart);
    if (status != ROPE_OK)
        return status;
    if (*apart && found && inside != spec->original_length &&
        !rope_config_warn(
            config,
            "implementations disagree: %s = %zu, and %zu outside the block; the latter taken",
            rope_object_name(config, &block->block, names[0]), inside, spec->original_length))
        return ROPE_ERR_MEMORY;
    if (!*apart && found)
        spec->original_length = inside;
    if (!*apart && !found) {
        spec->original_length = max_length;
        if (max_length != 0 &&
            !rope_config_warn(config, "default: %s: missing: max_position_embeddings = %zu taken",
                              rope_object_name(config, &block->block, names[0]), max_length))
            return ROPE_ERR_MEMORY;
    }
    return spec->original_length != 0
               ? ROPE_OK
               : fail(config, &block->block, names[0], "missing: must be a length > 0");
}

static rope_status read_dynamic(struct rope_config *config, const struct rope_block *block,
                                size_t max_length, rope_spec *spec)
{
    if (max_length == 0)
        return fail(config, &block->model, "max_position_embeddings", "missing: dynamic needs it");
    if (!rope_config_warn(
            config,
            "implementations disagree: %s: dynamic: transformers follows the length of the "
            "sequence and remembers the longest, vllm fixes one base for all lengths, ggml "
            "does not scale",
            block->block.path))
        return ROPE_ERR_MEMORY;
    if (config->profile == ROPE_PROFILE_GGML) {
        spec->scheme = ROPE_SCHEME_DEFAULT;
        spec->factor = 0.0;
        return ROPE_OK;
    }
    spec->max_length = max_length;
    spec->length = config->length;
    if (config->profile == ROPE_PROFILE_VLLM && config->length == 0) {
        const double served = (double)max_length * spec->factor;
        if (!(served < 0x1p53 && served < (double)SIZE_MAX))
            return fail(config, &block->block, "factor", "too large for max_position_embeddings");
        spec->length = (size_t)served;
    }
    return ROPE_OK;
}

static rope_status read_yarn(struct rope_config *config, const struct rope_block *block,
                             size_t max_length, rope_spec *spec)
{
    int apart = 0, found = 0, truncate = 1, scaled = 1;
    rope_status status = read_original(config, block, max_length, spec, &apart);
    if (status == ROPE_OK)
        status = rope_object_flag(config, &block->block, NAMES("truncate"), &truncate, &found);
    if (status == ROPE_OK)
        status =
            rope_object_flag(config, &block->block, NAMES("apply_yarn_scaling"), &scaled, &found);
    if (status != ROPE_OK)
        return status;
    const double ratio = (double)max_length / (double)spec->original_length;
    if (spec->factor == 0.0) {
        if (max_length == 0)
            return fail(config, &block->block, "factor",
                        "missing, and max_position_embeddings too");
        spec->max_length = max_length;
    } else if (max_length != 0 && ratio != 1.0 && ratio != spec->factor &&
               !rope_config_warn(config,
                                 "implementations disagree: %s = %g, max_position_embeddings / "
                                 "original_max_position_embeddings = %g; the former taken",
                                 rope_object_name(config, &block->block, "factor"), spec->factor,
                                 ratio)) {
        return ROPE_ERR_MEMORY;
    }
    if (!truncate &&
        !rope_config_warn(config,
                          "implementations disagree: %s = false: ggml and vllm before 2025-11 "
                          "have no such option%s",
                          rope_object_name(config, &block->block, "truncate"),
                          block->outer.json != NULL
                              ? ", transformers reads it outside the blocks of "
                                "layer types only"
                              : ""))
        return ROPE_ERR_MEMORY;
    if (config->profile == ROPE_PROFILE_TRANSFORMERS && block->outer.json != NULL) {
        truncate = 1;
        status = rope_object_flag(config, &block->outer, NAMES("truncate"), &truncate, &found);
        if (status != ROPE_OK)
            return status;
    }
    spec->no_truncate = !truncate && config->profile != ROPE_PROFILE_GGML;
    if (spec->attention_factor == 0.0 && (!scaled || (block->family->flags & UNIT_MAGNITUDE) != 0))
        spec->attention_factor = 1.0;
    if (spec->attention_factor == 0.0 && spec->mscale != 0.0 &&
        spec->mscale == spec->mscale_all_dim && (block->family->flags & SOFTMAX_FACTOR) == 0 &&
        !rope_config_warn(
            config,
            "implementations disagree: %s: mscale = mscale_all_dim = %g: m = 1 by their ratio, "
            "1 + 0.1 ln factor where they are ignored; 1 taken",
            block->block.path, spec->mscale))
        return ROPE_ERR_MEMORY;
    if (spec->factor != 0.0 && spec->factor < 1.0) {
        if (!rope_config_warn(
                config,
                "implementations disagree: %s = %g: below 1 m is 1, but 1 + 0.1 ln factor in "
                "ggml",
                rope_object_name(config, &block->block, "factor"), spec->factor))
            return ROPE_ERR_MEMORY;
        if (config->profile == ROPE_PROFILE_GGML && spec->attention_factor == 0.0 &&
            spec->mscale == 0.0)
            spec->attention_factor = 1.0 + 0.1 * log(spec->factor);
    }
    return ROPE_OK;
}

static rope_status read_divisors(struct rope_config *config, const struct rope_block *block,
                                 const char *key, size_t pairs, const double **values)
{
    size_t count = 0;
    const rope_status status =
        rope_object_numbers(config, &block->block, NAMES(key), values, &count);
    if (status != ROPE_OK)
        return status;
    const char *name = rope_object_name(config, &block->block, key);
    if (count != pairs)
        return rope_config_fail(config, ROPE_ERR_VALUE,
                                "%s: %zu numbers: must be rotary_dim / 2 = %zu", name, count,
                                pairs);
    for (size_t i = 0; i < count; i++)
        if (!isfinite((*values)[i]) || (*values)[i] <= 0.0)
            return rope_config_fail(config, ROPE_ERR_VALUE, "%s[%zu]: %g: must be finite and > 0",
                                    name, i, (*values)[i]);
    return ROPE_OK;
}

static rope_status read_longrope(struct rope_config *config, const struct rope_block *block,
                                 size_t max_length, rope_spec *spec)
{
    int apart = 0, has_short = 0, has_long = 0;
    double short_mscale = 0.0, long_mscale = 0.0;
    rope_status status = read_original(config, block, max_length, spec, &apart);
    if (status == ROPE_OK)
        status =
            read_divisors(config, block, "short_factor", spec->rotary_dim / 2, &spec->short_factor);
    if (status == ROPE_OK)
        status =
            read_divisors(config, block, "long_factor", spec->rotary_dim / 2, &spec->long_factor);
    if (status == ROPE_OK)
        status = rope_object_number(config, &block->block, NAMES("short_mscale"), &short_mscale,
                                    &has_short);
    if (status == ROPE_OK)
        status = rope_object_number(config, &block->block, NAMES("long_mscale"), &long_mscale,
                                    &has_long);
    if (status != ROPE_OK)
        return status;
    spec->factor_count = spec->rotary_dim / 2;

    const double ratio = (double)max_length / (double)spec->original_length;
    if (apart && spec->factor != 0.0 && max_length != 0 && ratio != spec->factor) {
        if (!rope_config_warn(
                config,
                "implementations disagree: %s = %g, max_position_embeddings / "
                "original_max_position_embeddings = %g; transformers 5 takes the former, others "
                "the latter",
                rope_object_name(config, &block->block, "factor"), spec->factor, ratio))
            return ROPE_ERR_MEMORY;
        if (config->profile != ROPE_PROFILE_TRANSFORMERS)
            spec->factor = 0.0;
    }
    if (spec->factor == 0.0) {
        if (max_length == 0 && spec->attention_factor == 0.0)
            return fail(config, &block->block, "factor",
                        "missing, and max_position_embeddings too");
        spec->max_length = max_length;
    }

    if (!rope_config_warn(
            config,
            "implementations disagree: %s: longrope: the long list is taken where the sequence "
            "is longer than %zu; vllm and ggml choose once, by the length they were set up for",
            block->block.path, spec->original_length))
        return ROPE_ERR_MEMORY;
    const int fixed = config->profile == ROPE_PROFILE_VLLM || config->profile == ROPE_PROFILE_GGML;
    spec->length = config->length != 0 || !fixed ? config->length : max_length;
    if (has_short != has_long)
        return fail(config, &block->block, has_short ? "long_mscale" : "short_mscale",
                    "missing: the two stand together");
    if (has_short && (!isfinite(short_mscale) || !isfinite(long_mscale) || short_mscale <= 0.0 ||
                      long_mscale <= 0.0))
        return fail(config, &block->block, "short_mscale", "both mscales must be finite and > 0");
    const int is_long = spec->length > spec->original_length;
    if (has_short && spec->attention_factor == 0.0)
        spec->attention_factor = is_long ? long_mscale : short_mscale;
    if (is_long && (block->family->flags & CLASS_KEEPS_SHORT_LIST) != 0) {
        if (!rope_config_warn(
                config,
                "implementations disagree: %s: transformers keeps the short list in long "
                "sequences of this model type",
                block->block.path))
            return ROPE_ERR_MEMORY;
        if (config->profile == ROPE_PROFILE_TRANSFORMERS)
            spec->length = 0;
    }
    return ROPE_OK;
}

static rope_status read_lengths(struct rope_config *config, const struct rope_block *block,
                                rope_spec *spec)
{
    size_t max_length = 0;
    int found = 0;
    const rope_status status =
        rope_object_first_count(config, &block->model, max_length_keys, &max_length, &found);
    if (status != ROPE_OK)
        return status;
    switch (spec->scheme) {
    case ROPE_SCHEME_DYNAMIC_NTK:
        return read_dynamic(config, block, max_length, spec);
    case ROPE_SCHEME_YARN:
        return read_yarn(config, block, max_length, spec);
    case ROPE_SCHEME_LONGROPE:
        return read_longrope(config, block, max_length, spec);
    case ROPE_SCHEME_LLAMA3:
        return read_original(config, block, max_length, spec, &found);
    default:
        return ROPE_OK;
    }
}

/* ---- Widths ---------------------------------------------------------------------------------- */

/* partial_rotary_factor of the block, of the model, of the class. */
static rope_status read_partial(struct rope_config *config, const struct rope_block *block,
                                double *partial, int *found)
{
    rope_status status =
        rope_object_number(config, &block->block, NAMES("partial_rotary_factor"), partial, found);
    if (status == ROPE_OK && !*found)
        status = rope_object_number(config, &block->model, partial_keys, partial, found);
    if (status == ROPE_OK && !(*partial > 0.0 && *partial <= 1.0))
        return rope_config_fail(config, ROPE_ERR_VALUE, "%s: %g: must be > 0 and <= 1",
                                rope_object_name(config, &block->model, "partial_rotary_factor"),
                                *partial);
    return status;
}

static rope_status read_rotary_dim(struct rope_config *config, const struct rope_block *block,
                                   rope_spec *spec)
{
    const struct rope_family *family = block->family;
    const double head_dim = (double)block->head_dim;
    size_t rotary_dim = 0;
    int has_dim = 0, has_partial = 0;
    const char *const *names =
        family->shape == SHAPE_TRAILING ? NAMES("qk_rope_head_dim") : rotary_dim_keys;
    double partial = family->partial != 0.0 ? family->partial : 1.0;
    rope_status status = read_partial(config, block, &partial, &has_partial);
    if (status == ROPE_OK)
        status = rope_object_count(config, &block->model, names, &rotary_dim, &has_dim);
    if (status != ROPE_OK)
        return status;
    if (has_dim && (family->flags & CLASS_IGNORES_ROTARY_DIM) != 0) {
        if (!rope_config_warn(
                config,
                "implementations disagree: %s = %zu: transformers ignores it for this model "
                "type and rotates the whole head",
                rope_object_name(config, &block->model, "rotary_dim"), rotary_dim))
            return ROPE_ERR_MEMORY;
        has_dim = config->profile != ROPE_PROFILE_TRANSFORMERS;
    }
    if (spec->scheme ==
        ROPE_SCHEME_PROPORTIONAL) { /* the span is the head; the factor counts pairs */
        spec->rotary_dim = block->head_dim;
        spec->active_pairs = (size_t)floor(partial * head_dim / 2.0);
        return spec->active_pairs != 0 ? ROPE_OK
                                       : fail(config, &block->block, "partial_rotary_factor",
                                              "must leave at least one pair");
    }
    const size_t by_partial = (size_t)(head_dim * partial);
    if (has_dim && has_partial && rotary_dim != by_partial)
        return rope_config_fail(config, ROPE_ERR_VALUE,
                                "%s: %zu: contradicts partial_rotary_factor = %g of %zu",
                                rope_object_name(config, &block->model, names[0]), rotary_dim,
                                partial, block->head_dim);
    const json_t *given = json_object_get(block->model.json, "rotary_dim");
    if (!has_dim && !has_partial && family->rope_dim != 0 &&
        given == NULL) /* null is the whole head */
        rotary_dim = family->rope_dim;
    else if (!has_dim)
        rotary_dim = by_partial;
    if (rotary_dim < 2 || rotary_dim % 2 != 0 || rotary_dim > block->head_dim)
        return rope_config_fail(
            config, ROPE_ERR_VALUE,
            "%s: %zu elements are rotated: must be even, >= 2 and <= head_dim = %zu",
            rope_object_name(config, &block->model,
                             has_dim       ? names[0]
                             : has_partial ? "partial_rotary_factor"
                                           : "head_dim"),
            rotary_dim, block->head_dim);
    spec->rotary_dim = rotary_dim;
    return ROPE_OK;
}

static rope_status read_widths(struct rope_config *config, const struct rope_block *block,
                               rope_spec *spec)
{
    const struct rope_family *family = block->family;
    spec->head_dim = block->head_dim;
    if (family->shape == SHAPE_MLA) {
        spec->rotary_dim = family->rope_dim;
        spec->rotary_offset = family->nope_dim;
        return ROPE_OK;
    }
    if (family->axes == AXES_VOLUME) {
        spec->rotary_dim = 6 * (block->head_dim / 6); /* three axes of as many whole pairs as fit */
        return spec->rotary_dim != 0 ? ROPE_OK
                                     : fail(config, &block->model, "head_dim", "must be >= 6");
    }
    const rope_status status = read_rotary_dim(config, block, spec);
    if (status == ROPE_OK && family->shape == SHAPE_TRAILING)
        spec->rotary_offset = block->head_dim - spec->rotary_dim;
    return status;
}

/* ---- Axes ------------------------------------------------------------------------------------ */

static rope_status set_sections(struct rope_config *config, rope_spec *spec,
                                rope_axis_layout layout, const double *values, size_t count)
{
    int32_t *sections = rope_config_allocate(config, count, sizeof *sections);
    if (sections == NULL)
        return ROPE_ERR_MEMORY;
    for (size_t i = 0; i < count; i++)
        sections[i] = (int32_t)values[i];
    spec->axis_layout = layout;
    spec->sections = sections;
    spec->section_count = count;
    return ROPE_OK;
}

/* Patches of an image or a film. */
static rope_status set_grid(struct rope_config *config, const struct rope_block *block,
                            rope_spec *spec)
{
    const size_t axes = block->family->axes == AXES_VOLUME ? 3 : 2;
    const size_t pairs = spec->rotary_dim / 2;
    if (pairs % axes != 0)
        return rope_config_fail(
            config, ROPE_ERR_VALUE, "%s: %zu: must have as many pairs for each of %zu axes",
            rope_object_name(config, &block->model, "head_dim"), spec->rotary_dim, axes);
    if (block->family->axes == AXES_GRID_SHARED) {
        spec->axis_layout = ROPE_AXES_PIXTRAL;
        return ROPE_OK;
    }
    const double share = (double)(pairs / axes);
    const double sections[3] = {share, share, share};
    if (block->family->axes == AXES_GRID_CHUNKS)
        spec->pairing_chunk = spec->rotary_dim / 2;
    return set_sections(config, spec, ROPE_AXES_RESTART, sections, axes);
}

/* Pairs that INTERLEAVED gives to axis 0 and ggml to the fourth. */
static int has_leftover(const double *sections, size_t pairs)
{
    for (size_t i = 0; i < pairs; i++)
        if ((double)i >= 3.0 * sections[i % 3])
            return 1;
    return 0;
}

static rope_status read_sections(struct rope_config *config, const struct rope_block *block,
                                 rope_spec *spec)
{
    const struct rope_family *family = block->family;
    const size_t pairs = spec->rotary_dim / 2;
    const double *values = NULL;
    double of_class[4];
    size_t count = 0;
    int found = 0, interleaved = 0;
    const char *const *names = NAMES("mrope_section", "xdrope_section");
    rope_status status = rope_object_numbers(config, &block->block, names, &values, &count);
    if (status == ROPE_OK && count == 0)
        status = rope_object_numbers(config, &block->model, names, &values, &count);
    if (status == ROPE_OK)
        status = rope_object_flag(config, &block->block, NAMES("mrope_interleaved", "interleaved"),
                                  &interleaved, &found);
    if (status != ROPE_OK)
        return status;
    if (count == 0 && family->sections[0] != 0) {
        for (; count < 4 && family->sections[count] != 0; count++)
            of_class[count] = family->sections[count];
        values = of_class;
    }
    if (count == 0)
        return ROPE_OK;

    const char *name = rope_object_name(config, &block->block, names[0]);
    const int in_triples = family->axes == AXES_INTERLEAVED || family->axes == AXES_ERNIE ||
                           (family->axes == AXES_TEXT && interleaved);
    if (in_triples ? count != 3 : count < 2 || count > 4)
        return rope_config_fail(config, ROPE_ERR_VALUE, "%s: %zu sections: must be %s", name, count,
                                in_triples ? "3" : "2..4");
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        if (!(values[i] >= 0.0 && values[i] <= ROPE_CONFIG_PAIRS_MAX &&
              values[i] == floor(values[i])))
            return rope_config_fail(config, ROPE_ERR_VALUE,
                                    "%s[%zu]: %g: must be a whole number >= 0", name, i, values[i]);
        sum += values[i];
    }
    if (sum != (double)pairs)
        return rope_config_fail(config, ROPE_ERR_VALUE, "%s: sum %g: must be rotary_dim / 2 = %zu",
                                name, sum, pairs);

    rope_axis_layout layout = ROPE_AXES_SECTIONS;
    if (in_triples)
        layout = family->axes == AXES_ERNIE ? ROPE_AXES_ERNIE : ROPE_AXES_INTERLEAVED;
    if (layout == ROPE_AXES_INTERLEAVED && has_leftover(values, pairs) &&
        !rope_config_warn(
            config,
            "implementations disagree: %s: ggml gives the pairs beyond 3 times a section to a "
            "fourth axis, others to the first",
            name))
        return ROPE_ERR_MEMORY;
    if (config->profile == ROPE_PROFILE_GGML && layout != ROPE_AXES_ERNIE) {
        double four[4] = {0.0, 0.0, 0.0, 0.0};
        memcpy(four, values, count * sizeof four[0]);
        return set_sections(config, spec,
                            layout == ROPE_AXES_INTERLEAVED ? ROPE_AXES_GGML_IMROPE
                                                            : ROPE_AXES_GGML_MROPE,
                            four, 4);
    }
    return set_sections(config, spec, layout, values, count);
}

/* ---- All of a block -------------------------------------------------------------------------- */

static rope_status read_theta(struct rope_config *config, const struct rope_block *block,
                              rope_spec *spec)
{
    int found = 0;
    spec->theta = block->theta;
    const rope_status status =
        rope_object_number(config, &block->block, NAMES("rope_theta"), &spec->theta, &found);
    if (status != ROPE_OK)
        return status;
    if (!isfinite(spec->theta) || spec->theta <= 0.0)
        return rope_config_fail(
            config, ROPE_ERR_VALUE, "%s: %g: must be finite and > 0",
            rope_object_name(config, found ? &block->block : &block->model, "rope_theta"),
            spec->theta);
    if (!found && block->theta_is_default &&
        !rope_config_warn(config, "default: %s: missing: %g taken",
                          rope_object_name(config, &block->model, "rope_theta"), spec->theta))
        return ROPE_ERR_MEMORY;
    return ROPE_OK;
}

rope_status rope_block_read(struct rope_config *config, const struct rope_block *block,
                            rope_spec *spec)
{
    rope_status status = read_scheme(config, block, spec);
    if (status == ROPE_OK)
        status = read_theta(config, block, spec);
    if (status == ROPE_OK)
        status = read_reals(config, block, spec);
    if (status == ROPE_OK)
        status = warn_of_keys(config, block, spec);
    if (status == ROPE_OK)
        status = read_widths(config, block, spec);
    if (status == ROPE_OK)
        status = read_lengths(config, block, spec);
    if (status == ROPE_OK)
        status = block->family->axes >= AXES_GRID ? set_grid(config, block, spec)
                                                  : read_sections(config, block, spec);
    if (status != ROPE_OK)
        return status;
    if (spec->rotary_dim == 2 &&
        (spec->scheme == ROPE_SCHEME_NTK || spec->scheme == ROPE_SCHEME_DYNAMIC_NTK))
        return fail(config, &block->model, "head_dim",
                    "2 elements: NTK has the exponent d / (d - 2)");
    if (spec->scheme == ROPE_SCHEME_YARN && spec->theta <= 1.0)
        return fail(config, &block->block, "rope_theta", "must be > 1 with yarn");
    if (spec->scheme == ROPE_SCHEME_PROPORTIONAL && spec->factor != 0.0 && spec->factor != 1.0) {
        if (!rope_config_warn(
                config, "implementations disagree: %s: vllm and sglang ignore it in proportional",
                rope_object_name(config, &block->block, "factor")))
            return ROPE_ERR_MEMORY;
        if (config->profile == ROPE_PROFILE_VLLM)
            spec->factor = 0.0;
    }
    return ROPE_OK;
}
