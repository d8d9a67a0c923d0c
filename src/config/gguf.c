/* SPDX-License-Identifier: Apache-2.0 */
/* From the metadata of a GGUF file to entries and layers.  Reads pairs in memory, no file. */
#include "config.h"
#include "families.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const char full_attention[] = "full_attention";
static const char sliding_attention[] = "sliding_attention";

/* The layout on 64-bit platforms, frozen: fields are appended behind these. */
#if UINTPTR_MAX == UINT64_MAX
static_assert(offsetof(rope_gguf_pair, count) == 4 && offsetof(rope_gguf_pair, key) == 8 &&
                  offsetof(rope_gguf_pair, text) == 16 && offsetof(rope_gguf_pair, numbers) == 24 &&
                  offsetof(rope_gguf_pair, number) == 32 && sizeof(rope_gguf_pair) == 40,
              "rope_gguf_pair is frozen");
#endif
/* Pairs are read where they lie: a field behind these is there where struct_size reaches it. */
enum { PAIR_SIZE_0_1 = offsetof(rope_gguf_pair, number) + sizeof(double) };

struct metadata {
    const char *pairs; /* struct_size apart */
    size_t count, size;
    const char *architecture;
    struct rope_gguf_architecture kind;
};

static const rope_gguf_pair *pair_at(const struct metadata *data, size_t index)
{
    return (const rope_gguf_pair *)(const void *)(data->pairs + index * data->size);
}

/* The pair of a key, with or without its architecture in front. */
static const rope_gguf_pair *find(const struct metadata *data, const char *key)
{
    const size_t length = strlen(data->architecture);
    for (size_t i = 0; i < data->count; i++) {
        const char *name = pair_at(data, i)->key;
        if (length != 0 && strncmp(name, data->architecture, length) == 0 && name[length] == '.')
            name += length + 1;
        if (strcmp(name, key) == 0)
            return pair_at(data, i);
    }
    return NULL;
}

/* A number >= 0, the first of a list that is not 0; kept where the key is absent or 0. */
static rope_status number(struct rope_config *config, const struct metadata *data, const char *key,
                          double *value)
{
    const rope_gguf_pair *pair = find(data, key);
    if (pair == NULL)
        return ROPE_OK;
    double read = pair->number;
    if (pair->text != NULL)
        return rope_config_fail(config, ROPE_ERR_VALUE, "%s: must be a number", key);
    if (pair->numbers != NULL) {
        read = 0.0;
        for (size_t i = 0; i < pair->count && read == 0.0; i++)
            read = pair->numbers[i];
    }
    if (!isfinite(read) || read < 0.0)
        return rope_config_fail(config, ROPE_ERR_VALUE, "%s: %g: must be finite and >= 0", key,
                                read);
    if (read != 0.0)
        *value = read;
    return ROPE_OK;
}

static rope_status count(struct rope_config *config, const struct metadata *data, const char *key,
                         size_t most, size_t *value)
{
    double read = 0.0;
    const rope_status status = number(config, data, key, &read);
    if (status != ROPE_OK || read == 0.0)
        return status;
    if (read != floor(read) || read > (double)most)
        return rope_config_fail(config, ROPE_ERR_VALUE, "%s: %g: must be a whole number <= %zu",
                                key, read, most);
    *value = (size_t)read;
    return ROPE_OK;
}

enum { WIDTH_MAX = 2 * ROPE_CONFIG_PAIRS_MAX, ANY_LENGTH = INT32_MAX };

/* ---- One entry ------------------------------------------------------------------------------- */

/* Widths of the heads of the full or of the sliding layers. */
static rope_status read_widths(struct rope_config *config, const struct metadata *data, int local,
                               rope_spec *spec)
{
    size_t width = 0, heads = 0, head_dim = 0, rotary_dim = 0;
    rope_status status = count(config, data, "embedding_length", ANY_LENGTH, &width);
    if (status == ROPE_OK)
        status = count(config, data, "attention.head_count", ANY_LENGTH, &heads);
    if (status == ROPE_OK && heads != 0)
        head_dim = width / heads;
    if (status == ROPE_OK)
        status = count(config, data, "attention.key_length", WIDTH_MAX, &head_dim);
    if (status == ROPE_OK && data->kind.latent)
        status = count(config, data, "attention.key_length_mla", WIDTH_MAX, &head_dim);
    if (status == ROPE_OK && local)
        status = count(config, data, "attention.key_length_swa", WIDTH_MAX, &head_dim);
    if (status == ROPE_OK)
        status = count(config, data, "rope.dimension_count", WIDTH_MAX, &rotary_dim);
    if (status == ROPE_OK && local)
        status = count(config, data, "rope.dimension_count_swa", WIDTH_MAX, &rotary_dim);
    if (status != ROPE_OK)
        return status;
    if (head_dim < 2 || head_dim > WIDTH_MAX)
        return rope_config_fail(
            config, ROPE_ERR_VALUE,
            "attention.key_length: %zu: must be given, or follow from embedding_length and "
            "attention.head_count, and be 2..%d",
            head_dim, WIDTH_MAX);
    spec->head_dim = head_dim;
    spec->rotary_dim = rotary_dim != 0 ? rotary_dim : head_dim;
    if (spec->rotary_dim % 2 != 0 || spec->rotary_dim > head_dim)
        return rope_config_fail(
            config, ROPE_ERR_VALUE,
            "rope.dimension_count: %zu: must be even and <= attention.key_length = %zu",
            spec->rotary_dim, head_dim);
    if (data->kind.latent)
        spec->rotary_offset = head_dim - spec->rotary_dim;
    return ROPE_OK;
}

static rope_status copy_list(struct rope_config *config, const rope_gguf_pair *pair, size_t pairs,
                             const double **values)
{
    if (pair->numbers == NULL || pair->count != pairs)
        return rope_config_fail(config, ROPE_ERR_VALUE,
                                "%s: must have rope.dimension_count / 2 = %zu numbers",
                                rope_config_shown(config, pair->key), pairs);
    double *copy = rope_config_allocate(config, pairs, sizeof *copy);
    if (copy == NULL)
        return ROPE_ERR_MEMORY;
    for (size_t i = 0; i < pairs; i++) {
        copy[i] = pair->numbers[i];
        if (!(copy[i] > 0.0))
            return rope_config_fail(config, ROPE_ERR_VALUE, "%s[%zu]: %g: must be > 0",
                                    rope_config_shown(config, pair->key), i, copy[i]);
    }
    *values = copy;
    return ROPE_OK;
}

/* 1 + 0.1 k ln s, 1 up to s = 1. */
static double magnitude(double factor, double k)
{
    return factor <= 1.0 ? 1.0 : 1.0 + 0.1 * k * log(factor);
}

/*
 * m is attn_factor g(mscale) / g(mscale_all_dim): llama.cpp divides by the magnitude that ggml's
 * rope brings along, so that this results.  yarn_log_multiplier is mscale_all_dim; converters for
 * deepseek2 store a tenth of it, and mean the same mscale.
 */
static rope_status read_yarn(struct rope_config *config, const struct metadata *data, double factor,
                             size_t original, rope_spec *spec)
{
    double extrapolation = 1.0, attention = 1.0, log_multiplier = 0.0;
    const rope_gguf_pair *given = find(data, "rope.scaling.yarn_ext_factor");
    rope_status status = number(config, data, "rope.scaling.yarn_ext_factor", &extrapolation);
    if (status == ROPE_OK)
        status = number(config, data, "rope.scaling.attn_factor", &attention);
    if (status == ROPE_OK)
        status = number(config, data, "rope.scaling.yarn_attn_factor", &attention);
    if (status == ROPE_OK)
        status = number(config, data, "rope.scaling.yarn_log_multiplier", &log_multiplier);
    if (status == ROPE_OK)
        status = number(config, data, "rope.scaling.yarn_beta_fast", &spec->beta_fast);
    if (status == ROPE_OK)
        status = number(config, data, "rope.scaling.yarn_beta_slow", &spec->beta_slow);
    if (status != ROPE_OK)
        return status;
    if (given != NULL && given->number == 0.0) /* no pair is left alone: plain interpolation */
        extrapolation = 0.0;
    if (extrapolation != 0.0 && extrapolation != 1.0)
        return rope_config_fail(config, ROPE_ERR_UNSUPPORTED,
                                "rope.scaling.yarn_ext_factor: %g: must be 0 or 1", extrapolation);
    if (extrapolation == 0.0) {
        spec->scheme = factor != 1.0 ? ROPE_SCHEME_LINEAR : ROPE_SCHEME_DEFAULT;
        spec->factor = factor != 1.0 ? factor : 0.0;
        spec->beta_fast = 0.0;
        spec->beta_slow = 0.0;
        spec->attention_factor = attention;
        return ROPE_OK;
    }
    if (original == 0)
        return rope_config_fail(
            config, ROPE_ERR_VALUE,
            "rope.scaling.original_context_length: missing, and context_length too");
    spec->scheme = ROPE_SCHEME_YARN;
    spec->factor = factor;
    spec->original_length = original;
    if (log_multiplier != 0.0) {
        const int deepseek = strcmp(data->architecture, "deepseek2") == 0;
        spec->mscale_all_dim = deepseek ? log_multiplier / 0.1 : log_multiplier;
        spec->mscale = deepseek ? spec->mscale_all_dim : 1.0;
    }
    if (attention != 1.0)
        spec->attention_factor =
            attention * (log_multiplier != 0.0 ? magnitude(factor, spec->mscale) /
                                                     magnitude(factor, spec->mscale_all_dim)
                                               : magnitude(factor, 1.0));
    return ROPE_OK;
}

static rope_status read_longrope(struct rope_config *config, const struct metadata *data,
                                 size_t trained, size_t original, rope_spec *spec)
{
    const rope_gguf_pair *longer = find(data, "rope_factors_long.weight");
    const rope_gguf_pair *shorter = find(data, "rope_factors_short.weight");
    if (longer == NULL || shorter == NULL)
        return rope_config_fail(config, ROPE_ERR_VALUE, "%s: missing: longrope needs it",
                                longer == NULL ? "rope_factors_long.weight"
                                               : "rope_factors_short.weight");
    if (trained == 0 || original == 0)
        return rope_config_fail(config, ROPE_ERR_VALUE,
                                "context_length: missing: longrope needs it");
    spec->scheme = ROPE_SCHEME_LONGROPE;
    spec->max_length = trained;
    spec->original_length = original;
    const int fixed = config->profile == ROPE_PROFILE_VLLM || config->profile == ROPE_PROFILE_GGML;
    spec->length = config->length != 0 || !fixed ? config->length : trained;
    spec->attention_factor = 1.0;
    rope_status status = number(config, data, "rope.scaling.attn_factor", &spec->attention_factor);
    if (status == ROPE_OK)
        status = copy_list(config, longer, spec->rotary_dim / 2, &spec->long_factor);
    if (status == ROPE_OK)
        status = copy_list(config, shorter, spec->rotary_dim / 2, &spec->short_factor);
    spec->factor_count = spec->rotary_dim / 2;
    return status;
}

static rope_status read_scaling(struct rope_config *config, const struct metadata *data,
                                rope_spec *spec)
{
    double factor = 1.0;
    size_t trained = 0, original = 0;
    const rope_gguf_pair *type = find(data, "rope.scaling.type");
    const char *word = type != NULL ? type->text : "linear"; /* as llama.cpp */
    rope_status status = number(config, data, "rope.scale_linear", &factor);
    if (status == ROPE_OK)
        status = number(config, data, "rope.scaling.factor", &factor);
    if (status == ROPE_OK)
        status = count(config, data, "context_length", ANY_LENGTH, &trained);
    original = trained;
    if (status == ROPE_OK)
        status = count(config, data, "rope.scaling.original_context_length", ANY_LENGTH, &original);
    if (status != ROPE_OK)
        return status;
    if (word == NULL)
        return rope_config_fail(config, ROPE_ERR_VALUE, "rope.scaling.type: must be a string");
    if (strcmp(word, "longrope") == 0 ||
        (type == NULL && find(data, "rope_factors_long.weight") != NULL))
        return read_longrope(config, data, trained, original, spec);
    if (strcmp(word, "yarn") == 0) {
        status = read_yarn(config, data, factor, original, spec);
    } else if (strcmp(word, "linear") == 0) {
        spec->scheme = factor != 1.0 ? ROPE_SCHEME_LINEAR : ROPE_SCHEME_DEFAULT;
        spec->factor = factor != 1.0 ? factor : 0.0;
    } else if (strcmp(word, "none") != 0) {
        return rope_config_fail(config, ROPE_ERR_UNSUPPORTED,
                                "rope.scaling.type: %s: no known scheme",
                                rope_config_shown(config, word));
    }
    const rope_gguf_pair *divisors = find(data, "rope_freqs.weight");
    if (status == ROPE_OK && divisors != NULL) {
        status = copy_list(config, divisors, spec->rotary_dim / 2, &spec->divisors);
        spec->divisor_count = spec->rotary_dim / 2;
    }
    return status;
}

static rope_status read_sections(struct rope_config *config, const struct metadata *data,
                                 rope_spec *spec)
{
    const rope_gguf_pair *pair = find(data, "rope.dimension_sections");
    const int given = pair != NULL && pair->numbers != NULL;
    const int several =
        data->kind.kind == GGUF_MROPE || data->kind.kind == GGUF_IMROPE || data->kind.multi_axis;
    const int interleaved = data->kind.kind == GGUF_IMROPE;
    if (!several || (!given && data->kind.multi_axis))
        return ROPE_OK;
    if (!given || pair->count == 0 || pair->count > 4)
        return rope_config_fail(config, ROPE_ERR_VALUE,
                                "rope.dimension_sections: must be a list of 1..4 numbers");
    int32_t *sections = rope_config_allocate(config, 4, sizeof *sections);
    if (sections == NULL)
        return ROPE_ERR_MEMORY;
    size_t sum = 0, used = 0;
    for (size_t i = 0; i < pair->count; i++) {
        const double value = pair->numbers[i];
        if (!(value >= 0.0 && value <= ROPE_CONFIG_PAIRS_MAX && value == floor(value)))
            return rope_config_fail(config, ROPE_ERR_VALUE,
                                    "rope.dimension_sections[%zu]: %g: must be a whole number >= 0",
                                    i, value);
        sections[i] = (int32_t)value;
        sum += (size_t)value;
        if (value != 0.0)
            used = i + 1;
    }
    if (sum == 0 || sum > spec->rotary_dim / 2)
        return rope_config_fail(
            config, ROPE_ERR_VALUE,
            "rope.dimension_sections: sum %zu: must be 1..rope.dimension_count / 2 = %zu", sum,
            spec->rotary_dim / 2);
    spec->sections = sections;
    spec->pairing = ROPE_HALF;
    if (interleaved &&
        !rope_config_warn(config,
                          "implementations disagree: rope.dimension_sections: ggml gives the "
                          "pairs beyond 3 times a section to a fourth axis, others to the first"))
        return ROPE_ERR_MEMORY;
    const int as_sections = interleaved ? used == 3 : used >= 2 && sum == spec->rotary_dim / 2;
    if (config->profile == ROPE_PROFILE_GGML || !as_sections) {
        spec->axis_layout = interleaved ? ROPE_AXES_GGML_IMROPE : ROPE_AXES_GGML_MROPE;
        spec->section_count = 4;
    } else {
        spec->axis_layout = interleaved ? ROPE_AXES_INTERLEAVED : ROPE_AXES_SECTIONS;
        spec->section_count = used;
    }
    return ROPE_OK;
}

static rope_status add_entry(struct rope_config *config, const struct metadata *data,
                             const char *layer_type, double theta, int local)
{
    rope_config_entry *entry;
    rope_spec *spec;
    rope_status status = rope_config_add(config, ROPE_TOWER_TEXT, &entry, &spec);
    if (status != ROPE_OK)
        return status;
    entry->model_type = rope_config_shown(config, data->architecture);
    entry->layer_type = layer_type;
    spec->theta = theta;
    spec->pairing = data->kind.kind == GGUF_NORMAL ? ROPE_INTERLEAVED : ROPE_HALF;
    spec->angle =
        config->profile == ROPE_PROFILE_TRANSFORMERS || config->profile == ROPE_PROFILE_VLLM
            ? ROPE_ANGLE_F32
            : ROPE_ANGLE_EXACT;
    status = read_widths(config, data, local, spec);
    if (status == ROPE_OK && !local) /* the sliding layers of these models are not scaled */
        status = read_scaling(config, data, spec);
    if (status == ROPE_OK)
        status = read_sections(config, data, spec);
    if (status == ROPE_OK)
        status = rope_config_check(config, spec, entry->model_type);
    if (data->kind.latent) {
        entry->k_head_dim = spec->rotary_dim;
        entry->flags = ROPE_ENTRY_SOFTMAX_FACTOR;
    }
    return status;
}

/* ---- Layers ---------------------------------------------------------------------------------- */

static rope_status read_layers(struct rope_config *config, const struct metadata *data,
                               int32_t local)
{
    struct rope_layers *layers = &config->layers;
    const rope_status status =
        count(config, data, "block_count", ROPE_CONFIG_LAYERS_MAX, &layers->count);
    if (status != ROPE_OK)
        return status;
    const int32_t whole = data->kind.unrotated ? ROPE_LAYER_NO_ROTATION : 0;
    const rope_gguf_pair *pattern = find(data, "attention.sliding_window_pattern");
    if (pattern != NULL && pattern->numbers != NULL) { /* 1 where a layer slides */
        if (layers->count == 0)
            layers->count = pattern->count;
        if (pattern->count < layers->count || layers->count > ROPE_CONFIG_LAYERS_MAX)
            return rope_config_fail(
                config, ROPE_ERR_VALUE,
                "attention.sliding_window_pattern: must have one value for each layer");
        int32_t *entries = rope_config_allocate(config, layers->count, sizeof *entries);
        if (entries == NULL)
            return ROPE_ERR_MEMORY;
        for (size_t i = 0; i < layers->count; i++)
            entries[i] = pattern->numbers[i] != 0.0 ? local : whole;
        layers->entries = entries;
        return ROPE_OK;
    }
    size_t period = data->kind.period;
    const rope_status counted =
        count(config, data, "attention.sliding_window_pattern", ANY_LENGTH, &period);
    layers->ordinary = period != 0 ? local : 0;
    layers->special = whole;
    layers->period = period;
    layers->phase = strcmp(data->architecture, "modern-bert") == 0 || period == 0 ? 0 : period - 1;
    return counted;
}

static rope_status read_metadata(struct rope_config *config, struct metadata *data)
{
    const rope_gguf_pair *name = find(data, "general.architecture");
    if (name != NULL && name->text == NULL)
        return rope_config_fail(config, ROPE_ERR_VALUE, "general.architecture: must be a string");
    if (name != NULL)
        data->architecture = name->text;
    const struct rope_gguf_architecture *known = rope_gguf_architecture_find(data->architecture);
    const struct rope_gguf_architecture unknown = {"", GGUF_NEOX, 0, 0, 0, 0.0F, 0};
    data->kind = known != NULL ? *known : unknown;
    if (known == NULL &&
        !rope_config_warn(config, "%s %s: read by its ordinary keys, with half-split pairs",
                          name != NULL ? "unknown general.architecture" : "no general.architecture",
                          rope_config_shown(config, data->architecture)))
        return ROPE_ERR_MEMORY;
    if (data->kind.kind == GGUF_NONE) {
        config->layers.ordinary = ROPE_LAYER_NO_ROTATION;
        return count(config, data, "block_count", ROPE_CONFIG_LAYERS_MAX, &config->layers.count);
    }
    double theta = 10000.0, local = data->kind.local_theta;
    const rope_gguf_pair *base = find(data, "rope.freq_base");
    rope_status status = number(config, data, "rope.freq_base", &theta);
    if (status == ROPE_OK)
        status = number(config, data, "rope.freq_base_swa", &local);
    if (status == ROPE_OK && base == NULL &&
        !rope_config_warn(config, "default: rope.freq_base: missing: 10000 taken"))
        return ROPE_ERR_MEMORY;
    if (status != ROPE_OK)
        return status;
    const int split = local != 0.0 || find(data, "attention.key_length_swa") != NULL;
    status = add_entry(config, data, split ? full_attention : "", theta, 0);
    if (status == ROPE_OK && split)
        status = add_entry(config, data, sliding_attention, local != 0.0 ? local : theta, 1);
    if (status == ROPE_OK)
        status = read_layers(config, data, split ? 1 : 0);
    return status;
}

rope_status rope_config_from_gguf(const rope_gguf_pair *pairs, size_t count_of_pairs,
                                  const rope_config_options *options, rope_config **config)
{
    if (config == NULL)
        return ROPE_ERR_NULL;
    *config = NULL;
    struct metadata data = {
        .pairs = (const char *)pairs, .count = count_of_pairs, .architecture = ""};
    if (count_of_pairs != 0 && pairs == NULL)
        return ROPE_ERR_NULL;
    data.size = count_of_pairs != 0 ? pairs->struct_size : 0;
    if (count_of_pairs != 0 &&
        (data.size < PAIR_SIZE_0_1 || data.size % _Alignof(rope_gguf_pair) != 0))
        return ROPE_ERR_STRUCT;
    for (size_t i = 0; i < count_of_pairs; i++)
        if (pair_at(&data, i)->struct_size != data.size ||
            !rope_config_struct_fits(pair_at(&data, i), sizeof *pairs, PAIR_SIZE_0_1))
            return ROPE_ERR_STRUCT;
    for (size_t i = 0; i < count_of_pairs; i++)
        if (pair_at(&data, i)->key == NULL)
            return ROPE_ERR_NULL;
    struct rope_config *made;
    rope_status status = rope_config_open(options, &made);
    if (status == ROPE_OK)
        status = rope_config_close(made, read_metadata(made, &data), config);
    return status;
}
