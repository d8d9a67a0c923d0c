/* SPDX-License-Identifier: Apache-2.0 */
/* Which layer of a model takes which rotation, and how its queries are scaled.  Makes none. */
#include "tower.h"

#include <math.h>
#include <string.h>

/* The entry of a layer type, or ROPE_LAYER_*. */
static int32_t entry_of(const struct rope_config *config, const struct rope_config_tower *tower,
                        const char *type)
{
    static const char *const without[] = {"linear", "mamba", "recurrent", "conv",
                                          "mlp",    "moe",   "ssm",       "rwkv"};
    const uint32_t flags = tower->family.flags;
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++)
        if (strstr(type, without[i]) != NULL)
            return ROPE_LAYER_NO_ROTATION;
    if (strcmp(type, FULL_ATTENTION) == 0) {
        const json_t *window = json_object_get(tower->object.json, "sliding_window");
        if ((flags & FULL_UNROTATED) != 0 ||
            ((flags & FULL_UNROTATED_IF_SLIDING) != 0 && window != NULL && !json_is_null(window)))
            return ROPE_LAYER_NO_ROTATION;
    }
    if ((flags & COMPRESSED) != 0)
        type = strcmp(type, SLIDING_ATTENTION) == 0 || strcmp(type, FULL_ATTENTION) == 0
                   ? "main"
                   : "compress";
    for (size_t i = tower->first; i < config->entry_count; i++)
        if (strcmp(config->entries[i].layer_type, type) == 0 ||
            config->entries[i].layer_type[0] == '\0')
            return (int32_t)i;
    const json_t *block = json_object_get(tower->block.json, type);
    return block != NULL && json_is_null(block) ? ROPE_LAYER_NO_ROTATION : ROPE_LAYER_UNKNOWN;
}

/* A list of types, one for each layer, or, where `repeats`, a period of them. */
static rope_status read_types(struct rope_config *config, const struct rope_config_tower *tower,
                              const json_t *list, const char *name, int repeats)
{
    struct rope_layers *layers = &config->layers;
    const size_t size = json_array_size(list);
    if (!json_is_array(list) || size == 0 || size > ROPE_CONFIG_LAYERS_MAX)
        return rope_tower_fail(config, tower, name,
                               "must be a list of strings, one for each layer");
    if (layers->count == 0)
        layers->count = size;
    if (!repeats && size < layers->count)
        return rope_config_fail(
            config, ROPE_ERR_VALUE, "%s: %zu types: must be one for each of %zu layers",
            rope_object_name(config, &tower->object, name), size, layers->count);
    if (!repeats && size > layers->count &&
        !rope_config_warn(config, "key %s: types beyond the %zu layers ignored",
                          rope_object_name(config, &tower->object, name), layers->count))
        return ROPE_ERR_MEMORY;
    int32_t *entries = rope_config_allocate(config, layers->count, sizeof *entries);
    if (entries == NULL)
        return ROPE_ERR_MEMORY;
    for (size_t i = 0; i < layers->count; i++) {
        const char *type = json_string_value(json_array_get(list, i % size));
        if (type == NULL)
            return rope_tower_fail(config, tower, name,
                                   "must be a list of strings, one for each layer");
        entries[i] = entry_of(config, tower, type);
        if (entries[i] == ROPE_LAYER_UNKNOWN)
            return rope_config_fail(
                config, ROPE_ERR_VALUE, "%s[%zu]: %s: no rope parameters for this layer type",
                rope_object_name(config, &tower->object, name), i, rope_config_shown(config, type));
    }
    layers->entries = entries;
    return ROPE_OK;
}

/* no_rope_layers, attn_type_list: 1 where a layer rotates; layer_rope_theta: 0 where not. */
static rope_status read_rotated(struct rope_config *config, const struct rope_config_tower *tower,
                                const char *name, int *found)
{
    struct rope_layers *layers = &config->layers;
    const double *values;
    size_t count;
    const json_t *list = json_object_get(tower->object.json, name);
    *found = json_array_size(list) != 0; /* an empty list is none */
    if (!*found)
        return list == NULL || json_is_null(list) || json_is_array(list)
                   ? ROPE_OK
                   : rope_tower_fail(config, tower, name,
                                     "must be a list of numbers, one for each layer");
    rope_status status = rope_object_numbers(config, &tower->object, NAMES(name), &values, &count);
    if (status != ROPE_OK)
        return status;
    if (layers->count == 0)
        layers->count = count;
    if (count < layers->count)
        return rope_tower_fail(config, tower, name, "must have one number for each layer");
    int32_t *entries = rope_config_allocate(config, layers->count, sizeof *entries);
    if (entries == NULL)
        return ROPE_ERR_MEMORY;
    const double theta = config->entries[tower->first].spec->theta;
    for (size_t i = 0; i < layers->count; i++) {
        if (values[i] != 0.0 && values[i] != 1.0 && values[i] != theta)
            return rope_config_fail(config, ROPE_ERR_VALUE, "%s[%zu]: %g: must be 0 or %g",
                                    rope_object_name(config, &tower->object, name), i, values[i],
                                    strcmp(name, "layer_rope_theta") == 0 ? theta : 1.0);
        entries[i] = values[i] != 0.0 ? (int32_t)tower->first : ROPE_LAYER_NO_ROTATION;
    }
    layers->entries = entries;
    return ROPE_OK;
}

/* Numbers of the layers that have attention (Bamba, LFM2). */
static rope_status read_numbers(struct rope_config *config, const struct rope_config_tower *tower,
                                int *found)
{
    struct rope_layers *layers = &config->layers;
    const double *values;
    size_t count;
    const char *const *names = NAMES("attn_layer_indices", "full_attn_idxs");
    const rope_status status = rope_object_numbers(config, &tower->object, names, &values, &count);
    *found = status == ROPE_OK && count != 0 && layers->count != 0;
    if (!*found)
        return status;
    int32_t *entries = rope_config_allocate(config, layers->count, sizeof *entries);
    if (entries == NULL)
        return ROPE_ERR_MEMORY;
    for (size_t i = 0; i < layers->count; i++)
        entries[i] = ROPE_LAYER_NO_ROTATION;
    for (size_t i = 0; i < count; i++) {
        if (!(values[i] >= 0.0 && values[i] < (double)layers->count))
            return rope_tower_fail(config, tower, names[0], "must be numbers of layers");
        entries[(size_t)values[i]] = (int32_t)tower->first;
    }
    layers->entries = entries;
    return ROPE_OK;
}

/* "LLLG": local and global layers, over and over (EXAONE 4). */
static rope_status read_letters(struct rope_config *config, const struct rope_config_tower *tower,
                                const char *letters)
{
    struct rope_layers *layers = &config->layers;
    const size_t period = strlen(letters);
    if (period == 0 || strspn(letters, "LG") != period)
        return rope_tower_fail(config, tower, "sliding_window_pattern",
                               "must be a number or letters L and G");
    if (layers->count == 0)
        return rope_tower_fail(config, tower, "num_hidden_layers",
                               "missing: sliding_window_pattern needs it");
    int32_t *entries = rope_config_allocate(config, layers->count, sizeof *entries);
    if (entries == NULL)
        return ROPE_ERR_MEMORY;
    for (size_t i = 0; i < layers->count; i++)
        entries[i] = entry_of(config, tower,
                              letters[i % period] == 'L' ? SLIDING_ATTENTION : FULL_ATTENTION);
    layers->entries = entries;
    return ROPE_OK;
}

/* DeepSeek-V4: the rate at which a layer compresses its keys, 0 where it does not. */
static rope_status read_rates(struct rope_config *config, const struct rope_config_tower *tower)
{
    struct rope_layers *layers = &config->layers;
    const double *rates;
    size_t count;
    layers->ordinary = entry_of(config, tower, "compressed_sparse_attention");
    const rope_status status =
        rope_object_numbers(config, &tower->object, NAMES("compress_ratios"), &rates, &count);
    if (status != ROPE_OK || count == 0)
        return status;
    if (count < layers->count)
        return rope_tower_fail(config, tower, "compress_ratios",
                               "must have one number for each layer");
    int32_t *entries = rope_config_allocate(config, layers->count, sizeof *entries);
    if (entries == NULL)
        return ROPE_ERR_MEMORY;
    for (size_t i = 0; i < layers->count; i++)
        entries[i] =
            rates[i] != 0.0 ? layers->ordinary : entry_of(config, tower, SLIDING_ATTENTION);
    layers->entries = entries;
    return ROPE_OK;
}

/* What the keys of a file say of a type that has no row. */
static unsigned guess_kind(const struct rope_config_tower *tower)
{
    static const struct {
        const char *key;
        unsigned kind;
    } signs[] = {
        {"no_rope_layer_interval", LAYERS_NO_ROPE},
        {"full_attention_interval", LAYERS_LINEAR},
        {"sliding_window_pattern", LAYERS_SLIDING},
        {"global_attn_every_n_layers", LAYERS_SLIDING_FIRST},
    };
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        const json_t *value = json_object_get(tower->object.json, signs[i].key);
        if (value != NULL && !json_is_null(value))
            return signs[i].kind;
    }
    return LAYERS_ALIKE;
}

static rope_status read_period(struct rope_config *config, const struct rope_config_tower *tower)
{
    static const char *const sliding[] = {"sliding_window_pattern", "_sliding_window_pattern",
                                          "global_attn_every_n_layers", NULL};
    struct rope_layers *layers = &config->layers;
    const unsigned kind = tower->is_known ? tower->family.layer_kind : guess_kind(tower);
    size_t period = tower->family.period;
    int found = 0;
    const json_t *pattern;
    const char *const *names = kind == LAYERS_NO_ROPE       ? NAMES("no_rope_layer_interval")
                               : kind == LAYERS_LINEAR      ? NAMES("full_attention_interval")
                               : kind == LAYERS_LINEAR_LAST ? NAMES("")
                                                            : sliding;
    rope_status status = rope_object_find(config, &tower->object, names, &pattern, NULL);
    if (status == ROPE_OK && json_is_string(pattern))
        return read_letters(config, tower, json_string_value(pattern));
    if (status == ROPE_OK)
        status = rope_object_count(config, &tower->object, names, &period, &found);
    if (status != ROPE_OK)
        return status;
    const int32_t whole = entry_of(config, tower, FULL_ATTENTION),
                  part = entry_of(config, tower, SLIDING_ATTENTION);
    layers->ordinary = whole;
    layers->special = whole;
    if (kind == LAYERS_ALIKE || period == 0) { /* a period of 0: no layer is special */
        if (whole != part && kind == LAYERS_ALIKE && !tower->is_known)
            layers->ordinary = ROPE_LAYER_UNKNOWN;
        return ROPE_OK;
    }
    layers->period = period;
    layers->phase = kind == LAYERS_SLIDING_FIRST ? 0 : period - 1;
    switch (kind) {
    case LAYERS_LINEAR:
        layers->ordinary = ROPE_LAYER_NO_ROTATION;
        break;
    case LAYERS_LINEAR_LAST:
    case LAYERS_NO_ROPE:
        layers->ordinary = part;
        layers->special = ROPE_LAYER_NO_ROTATION;
        break;
    default:
        layers->ordinary = part;
        break;
    }
    return ROPE_OK;
}

rope_status rope_tower_layers(struct rope_config *config, const struct rope_config_tower *tower)
{
    struct rope_layers *layers = &config->layers;
    const json_t *list;
    const char *name;
    int found = 0;
    rope_status status = rope_tower_count(config, tower,
                                          NAMES("num_hidden_layers", "n_layer", "n_layers",
                                                "num_layers", "depth", "decoder_num_hidden_layers"),
                                          tower->family.layers, &layers->count);
    if (status != ROPE_OK)
        return status;
    if (layers->count > ROPE_CONFIG_LAYERS_MAX)
        return rope_config_fail(config, ROPE_ERR_VALUE, "%s: %zu: must be at most %d",
                                rope_object_name(config, &tower->object, "num_hidden_layers"),
                                layers->count, ROPE_CONFIG_LAYERS_MAX);
    if (config->entry_count == tower->first) { /* nothing rotates */
        layers->ordinary = ROPE_LAYER_NO_ROTATION;
        return ROPE_OK;
    }
    static const char *const rotated[] = {"no_rope_layers", "layer_rope_theta", "attn_type_list"};
    for (size_t i = 0; i < sizeof rotated / sizeof rotated[0] && status == ROPE_OK && !found; i++)
        status = read_rotated(config, tower, rotated[i], &found);
    if (status == ROPE_OK && !found)
        status = read_numbers(config, tower, &found);
    if (status != ROPE_OK || found)
        return status;
    status =
        rope_object_find(config, &tower->object,
                         NAMES("layer_types", "layers_block_type", "block_types"), &list, &name);
    if (status != ROPE_OK)
        return status;
    if (list != NULL && tower->family.layer_kind != LAYERS_NO_ROPE)
        return read_types(config, tower, list, name, strcmp(name, "block_types") == 0);
    return (tower->family.flags & COMPRESSED) != 0 ? read_rates(config, tower)
                                                   : read_period(config, tower);
}

/* ---- Query scale ----------------------------------------------------------------------------- */

rope_status rope_tower_query_scale(struct rope_config *config,
                                   const struct rope_config_tower *tower)
{
    rope_query_scale *scale = &config->scale;
    double beta = 0.0;
    size_t length = 0;
    int flag = 1, found = 0;
    rope_status status = ROPE_OK;
    if ((tower->family.flags & LLAMA4_SCALE) != 0) {
        beta = 0.1;
        length = 8192;
        status = rope_object_flag(config, &tower->object, NAMES("attn_temperature_tuning"), &flag,
                                  &found);
        if (status == ROPE_OK)
            status = rope_object_number(config, &tower->object, NAMES("attn_scale"), &beta, &found);
        if (status == ROPE_OK)
            status =
                rope_object_count(config, &tower->object, NAMES("floor_scale"), &length, &found);
        config->scale_without_rotation = 1;
        scale->kind = flag ? ROPE_QUERY_SCALE_LLAMA4 : ROPE_QUERY_SCALE_NONE;
    } else if ((tower->family.flags & LOGN_SCALE) != 0) {
        flag = 0;
        status = rope_object_flag(config, &tower->object, NAMES("use_logn_attn"), &flag, &found);
        if (status == ROPE_OK)
            status =
                rope_object_count(config, &tower->object, NAMES("seq_length"), &length, &found);
        scale->kind = flag ? ROPE_QUERY_SCALE_LOGN : ROPE_QUERY_SCALE_NONE;
        beta = 1.0;
    } else {
        status =
            rope_object_number(config, &tower->block, NAMES("llama_4_scaling_beta"), &beta, &found);
        if (status == ROPE_OK && found && config->entry_count > tower->first) {
            length = config->entries[tower->first].spec->original_length;
            scale->kind = ROPE_QUERY_SCALE_MISTRAL;
        }
    }
    if (status != ROPE_OK || scale->kind == ROPE_QUERY_SCALE_NONE)
        return status;
    if (!isfinite(beta) || beta < 0.0)
        return rope_tower_fail(config, tower, "attn_scale", "must be finite and >= 0");
    if (length < 2)
        return rope_tower_fail(config, tower, "floor_scale",
                               "the length of the query scale must be >= 2");
    scale->beta = beta;
    scale->length = (double)length;
    return ROPE_OK;
}
