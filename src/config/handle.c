/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions on a finished configuration, and its memory and messages.  Reads no file. */
#include "config.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Descriptors ----------------------------------------------------------------------------- */

/* The layout on 64-bit platforms, frozen: fields are appended behind these. */
#if UINTPTR_MAX == UINT64_MAX
static_assert(offsetof(rope_config_options, profile) == 4 &&
                  offsetof(rope_config_options, length) == 8 &&
                  offsetof(rope_config_options, message) == 16 &&
                  offsetof(rope_config_options, message_size) == 24 &&
                  sizeof(rope_config_options) == 32,
              "rope_config_options is frozen");
static_assert(offsetof(rope_config_entry, tower) == 4 && offsetof(rope_config_entry, path) == 8 &&
                  offsetof(rope_config_entry, model_type) == 16 &&
                  offsetof(rope_config_entry, layer_type) == 24 &&
                  offsetof(rope_config_entry, spec) == 32 &&
                  offsetof(rope_config_entry, k_head_dim) == 40 &&
                  offsetof(rope_config_entry, k_rotary_offset) == 48 &&
                  offsetof(rope_config_entry, pairing_out) == 56 &&
                  offsetof(rope_config_entry, direction) == 60 &&
                  offsetof(rope_config_entry, rounding) == 64 &&
                  offsetof(rope_config_entry, flags) == 68 &&
                  offsetof(rope_config_entry, position_scale) == 72 &&
                  sizeof(rope_config_entry) == 80,
              "rope_config_entry is frozen");
static_assert(offsetof(rope_query_scale, kind) == 4 && offsetof(rope_query_scale, beta) == 8 &&
                  offsetof(rope_query_scale, length) == 16 && sizeof(rope_query_scale) == 24,
              "rope_query_scale is frozen");
#endif
enum {
    OPTIONS_SIZE_0_1 = offsetof(rope_config_options, message_size) + sizeof(size_t),
    ENTRY_SIZE_0_1 = offsetof(rope_config_entry, position_scale) + sizeof(double),
    QUERY_SCALE_SIZE_0_1 = offsetof(rope_query_scale, length) + sizeof(double)
};

int rope_config_struct_fits(const void *given, size_t size, size_t least)
{
    uint32_t given_size;
    memcpy(&given_size, given, sizeof given_size);
    if (given_size < least)
        return 0;
    const unsigned char *bytes = given;
    for (size_t i = size; i < given_size; i++)
        if (bytes[i] != 0)
            return 0;
    return 1;
}

/* Fills `room` from the caller's struct; 0 if that does not fit. */
static int read_struct(const void *given, void *room, size_t size, size_t least)
{
    if (!rope_config_struct_fits(given, size, least))
        return 0;
    uint32_t given_size;
    memcpy(&given_size, given, sizeof given_size);
    memset(room, 0, size);
    memcpy(room, given, given_size < size ? given_size : size);
    return 1;
}

/* Writes a struct of ours to the caller's, whose size it keeps. */
static int write_struct(void *given, const void *ours, size_t size, size_t least)
{
    if (!rope_config_struct_fits(given, size, least))
        return 0;
    uint32_t given_size;
    memcpy(&given_size, given, sizeof given_size);
    const size_t known = given_size < size ? given_size : size;
    memcpy((char *)given + sizeof given_size, (const char *)ours + sizeof given_size,
           known - sizeof given_size);
    return 1;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

struct rope_config_memory {
    struct rope_config_memory *next;
    double aligned[];
};

void *rope_config_allocate(struct rope_config *config, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - sizeof(struct rope_config_memory)) / size)
        return NULL;
    struct rope_config_memory *memory = calloc(1, sizeof *memory + count * size);
    config->is_exhausted |= memory == NULL;
    if (memory == NULL)
        return NULL;
    memory->next = config->memory;
    config->memory = memory;
    return memory->aligned;
}

void rope_config_destroy(rope_config *config)
{
    if (config == NULL)
        return;
    struct rope_config_memory *memory = config->memory;
    while (memory != NULL) {
        struct rope_config_memory *next = memory->next;
        free(memory);
        memory = next;
    }
    free(config);
}

rope_status rope_config_open(const rope_config_options *options, struct rope_config **config)
{
    rope_config_options read = ROPE_CONFIG_OPTIONS_INIT;
    *config = NULL;
    if (options != NULL && !read_struct(options, &read, sizeof read, OPTIONS_SIZE_0_1))
        return ROPE_ERR_STRUCT;
    struct rope_config *made = calloc(1, sizeof *made);
    if (made == NULL)
        return ROPE_ERR_MEMORY;
    (void)fegetenv(&made->host);
    (void)fesetenv(FE_DFL_ENV);
    made->profile = read.profile;
    made->length = read.length;
    made->message = read.message;
    made->message_size = read.message_size;
    if (read.profile < ROPE_PROFILE_EXACT || read.profile > ROPE_PROFILE_GGML)
        return rope_config_close(
            made,
            rope_config_fail(made, ROPE_ERR_VALUE,
                             "options.profile: %d: must be a ROPE_PROFILE_* number",
                             (int)read.profile),
            config);
    *config = made;
    return ROPE_OK;
}

rope_status rope_config_close(struct rope_config *config, rope_status status, rope_config **result)
{
    (void)fesetenv(&config->host);
    if (config->is_exhausted)
        status = ROPE_ERR_MEMORY;
    if (status == ROPE_OK) {
        config->message = NULL;
        config->message_size = 0;
        *result = config;
        return ROPE_OK;
    }
    if (status == ROPE_ERR_MEMORY)
        (void)rope_config_fail(config, status, "out of memory");
    rope_config_destroy(config);
    *result = NULL;
    return status;
}

/* ---- Messages -------------------------------------------------------------------------------- */

const char *rope_config_shown(struct rope_config *config, const char *text)
{
    enum { ROOM = 64 };
    char *copy = rope_config_allocate(config, ROOM, 1);
    if (copy == NULL)
        return "?";
    for (size_t i = 0; i < ROOM - 1 && text[i] != '\0'; i++)
        copy[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    return copy;
}

rope_status rope_config_fail(struct rope_config *config, rope_status status, const char *format,
                             ...)
{
    if (config->message != NULL && config->message_size != 0) {
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(config->message, config->message_size, format, arguments);
        va_end(arguments);
    }
    return status;
}

int rope_config_warn(struct rope_config *config, const char *format, ...)
{
    enum { ROOM = 320 };
    char line[ROOM];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < config->warning_count; i++)
        if (strcmp(config->warnings[i], line) == 0)
            return 1;
    if (config->warning_count == ROPE_CONFIG_WARNINGS) {
        config->warnings[ROPE_CONFIG_WARNINGS - 1] = "more warnings than fit here";
        return 1;
    }
    char *copy = rope_config_allocate(config, strlen(line) + 1, 1);
    if (copy == NULL)
        return 0;
    memcpy(copy, line, strlen(line) + 1);
    config->warnings[config->warning_count++] = copy;
    return 1;
}

/* ---- Entries --------------------------------------------------------------------------------- */

rope_status rope_config_add(struct rope_config *config, rope_tower tower, rope_config_entry **entry,
                            rope_spec **spec)
{
    if (config->entry_count == ROPE_CONFIG_ENTRIES)
        return rope_config_fail(config, ROPE_ERR_VALUE, "more than %d kinds of layers",
                                ROPE_CONFIG_ENTRIES);
    *spec = rope_config_allocate(config, 1, sizeof **spec);
    if (*spec == NULL)
        return ROPE_ERR_MEMORY;
    (*spec)->struct_size = sizeof **spec;
    *entry = &config->entries[config->entry_count++];
    const rope_config_entry fresh = {.struct_size = sizeof fresh,
                                     .tower = tower,
                                     .path = "",
                                     .model_type = "",
                                     .layer_type = "",
                                     .spec = *spec,
                                     .position_scale = 1.0};
    **entry = fresh;
    return ROPE_OK;
}

rope_status rope_config_check(struct rope_config *config, const rope_spec *spec, const char *path)
{
    char line[256] = "";
    rope_spec checked = *spec;
    checked.angle = ROPE_ANGLE_F32; /* a plan without tables */
    checked.message = line;
    checked.message_size = sizeof line;
    rope_plan *plan;
    const rope_status status = rope_plan_create(&checked, &plan);
    rope_plan_destroy(plan);
    if (status == ROPE_OK || status == ROPE_ERR_ISA) /* the latter is no fault of the file */
        return ROPE_OK;
    return status == ROPE_ERR_MEMORY ? status
                                     : rope_config_fail(config, status, "%s%s%s", path,
                                                        path[0] != '\0' ? ": " : "", line);
}

size_t rope_config_entry_count(const rope_config *config)
{
    return config == NULL ? 0 : config->entry_count;
}

rope_status rope_config_get_entry(const rope_config *config, size_t index, rope_config_entry *entry)
{
    if (config == NULL || entry == NULL)
        return ROPE_ERR_NULL;
    if (index >= config->entry_count)
        return ROPE_ERR_VALUE;
    return write_struct(entry, &config->entries[index], sizeof *entry, ENTRY_SIZE_0_1)
               ? ROPE_OK
               : ROPE_ERR_STRUCT;
}

size_t rope_config_layer_count(const rope_config *config)
{
    return config == NULL ? 0 : config->layers.count;
}

int32_t rope_config_layer(const rope_config *config, size_t layer)
{
    if (config == NULL)
        return ROPE_LAYER_UNKNOWN;
    const struct rope_layers *layers = &config->layers;
    if (layer >= (layers->count != 0 ? layers->count : (size_t)ROPE_CONFIG_LAYERS_MAX))
        return ROPE_LAYER_UNKNOWN;
    if (layers->entries != NULL)
        return layers->entries[layer];
    return layers->period != 0 && layer % layers->period == layers->phase ? layers->special
                                                                          : layers->ordinary;
}

int32_t rope_config_find(const rope_config *config, rope_tower tower, const char *layer_type)
{
    if (config == NULL || layer_type == NULL)
        return ROPE_LAYER_UNKNOWN;
    for (size_t i = 0; i < config->entry_count; i++)
        if (config->entries[i].tower == tower &&
            strcmp(config->entries[i].layer_type, layer_type) == 0)
            return (int32_t)i;
    return ROPE_LAYER_UNKNOWN;
}

const char *rope_config_warning(const rope_config *config, size_t index)
{
    return config == NULL || index >= config->warning_count ? NULL : config->warnings[index];
}

/* ---- Query scale ----------------------------------------------------------------------------- */

rope_status rope_config_get_query_scale(const rope_config *config, size_t layer,
                                        rope_query_scale *scale)
{
    if (config == NULL || scale == NULL)
        return ROPE_ERR_NULL;
    const int32_t entry = rope_config_layer(config, layer);
    if (entry == ROPE_LAYER_UNKNOWN)
        return ROPE_ERR_VALUE;
    const rope_query_scale none = ROPE_QUERY_SCALE_INIT;
    const int scaled = !config->scale_without_rotation || entry == ROPE_LAYER_NO_ROTATION;
    return write_struct(scale, scaled ? &config->scale : &none, sizeof none, QUERY_SCALE_SIZE_0_1)
               ? ROPE_OK
               : ROPE_ERR_STRUCT;
}

double rope_query_scale_at(const rope_query_scale *scale, int64_t position)
{
    if (scale == NULL || position < 0)
        return 1.0;
    const double p = (double)position;
    switch (scale->kind) {
    case ROPE_QUERY_SCALE_LLAMA4:
        return 1.0 + scale->beta * log(floor((p + 1.0) / scale->length) + 1.0);
    case ROPE_QUERY_SCALE_MISTRAL:
        return 1.0 + scale->beta * log(1.0 + floor(p / scale->length));
    case ROPE_QUERY_SCALE_LOGN:
        return p + 1.0 > scale->length ? log(p + 1.0) / log(scale->length) : 1.0;
    default:
        return 1.0;
    }
}

/* ---- Plans ----------------------------------------------------------------------------------- */

rope_status rope_config_create_plans(const rope_config *config, rope_plan **plans, size_t count,
                                     char *message, size_t message_size)
{
    if (config == NULL || plans == NULL)
        return ROPE_ERR_NULL;
    if (count != config->entry_count)
        return ROPE_ERR_VALUE;
    rope_status status = ROPE_OK;
    for (size_t i = 0; i < count; i++)
        plans[i] = NULL;
    for (size_t i = 0; i < count && status == ROPE_OK; i++) {
        rope_spec spec = *config->entries[i].spec;
        spec.message = message;
        spec.message_size = message_size;
        status = rope_plan_create(&spec, &plans[i]);
    }
    for (size_t i = 0; i < count && status != ROPE_OK; i++) {
        rope_plan_destroy(plans[i]);
        plans[i] = NULL;
    }
    return status;
}
