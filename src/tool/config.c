/* SPDX-License-Identifier: Apache-2.0 */
/* rope config: prints what a configuration means, as JSON. */
#include "command.h"
#include "model.h"
#include "say.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef ROPE_TOOL_CONFIG

/* A value by its name; enumerations begin at 0. */
static const char *const towers[] = {"text", "vision", "audio"};
static const char *const pairings[] = {"half", "interleaved"};
static const char *const pairings_out[] = {"same", "half", "interleaved"};
static const char *const angles[] = {"exact", "f32"};
static const char *const directions[] = {"forward", "inverse", "transpose", "shift"};
static const char *const roundings[] = {"unknown", "eager", "f32-rows", "rounded-rows"};
static const char *const schemes[] = {"default", "linear", "custom",   "ntk",    "ntk-mixed",
                                      "dynamic", "yarn",   "longrope", "llama3", "proportional"};
static const char *const layouts[] = {"one",         "sections",   "interleaved", "ggml-mrope",
                                      "ggml-imrope", "ernie",      "cyclic",      "restart",
                                      "pixtral",     "ggml-vision"};
static const char *const scales[] = {"none", "llama4", "mistral", "logn"};
#define NAME(names, value) \
    ((value) >= 0 && (size_t)(value) < sizeof(names) / sizeof *(names) ? (names)[value] : "?")

/* Text of the library, which is printable ASCII. */
static void print_text(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('"');
}

static void print_pair(const char *name, const char *text)
{
    printf("      \"%s\": ", name);
    print_text(text);
    puts(",");
}

static int print_entry(const rope_config_entry *entry, const rope_plan *plan)
{
    rope_info info = ROPE_INFO_INIT;
    if (rope_plan_info(plan, &info) != ROPE_OK)
        return tool_bad("out of memory");
    const size_t pairs = info.rotary_dim / 2;
    double *const freq = malloc(pairs * sizeof *freq);
    if (freq == NULL || rope_plan_inv_freq(plan, freq, NULL, pairs) != ROPE_OK) {
        free(freq);
        return tool_bad("out of memory");
    }
    puts("    {");
    print_pair("tower", NAME(towers, entry->tower));
    print_pair("path", entry->path);
    print_pair("model_type", entry->model_type);
    print_pair("layer_type", entry->layer_type);
    print_pair("scheme", NAME(schemes, info.scheme));
    printf("      \"head_dim\": %zu,\n      \"rotary_dim\": %zu,\n      \"rotary_offset\": %zu,\n",
           info.head_dim, info.rotary_dim, info.rotary_offset);
    if (entry->k_head_dim != 0)
        printf("      \"k_head_dim\": %zu,\n      \"k_rotary_offset\": %zu,\n", entry->k_head_dim,
               entry->k_rotary_offset);
    print_pair("pairing", NAME(pairings, info.pairing));
    if (entry->spec->pairing_chunk != 0)
        printf("      \"pairing_chunk\": %zu,\n", entry->spec->pairing_chunk);
    print_pair("pairing_out", NAME(pairings_out, entry->pairing_out));
    print_pair("direction", NAME(directions, entry->direction));
    print_pair("angle", NAME(angles, info.angle));
    print_pair("rounding", NAME(roundings, entry->rounding));
    print_pair("axis_layout", NAME(layouts, entry->spec->axis_layout));
    printf("      \"axes\": %zu,\n      \"sections\": [", info.axes);
    for (size_t i = 0; i < entry->spec->section_count; i++)
        printf("%s%d", i > 0 ? ", " : "", (int)entry->spec->sections[i]);
    printf("],\n      \"theta\": %.17g,\n      \"factor\": %.17g,\n      \"attention_factor\": "
           "%.17g,\n",
           info.theta, info.factor, info.attention_factor);
    printf("      \"softmax_factor\": %.17g,\n",
           (entry->flags & ROPE_ENTRY_SOFTMAX_FACTOR) != 0 ? info.softmax_factor : 1.0);
    printf("      \"inverse_on_output\": %s,\n      \"is_rotation\": %s,\n      "
           "\"position_scale\": %.17g,\n",
           (entry->flags & ROPE_ENTRY_INVERSE_OUTPUT) != 0 ? "true" : "false",
           (entry->flags & ROPE_ENTRY_NO_ROTATION) != 0 ? "false" : "true", entry->position_scale);
    printf("      \"is_long\": %s,\n      \"inv_freq\": [", info.is_long != 0 ? "true" : "false");
    for (size_t i = 0; i < pairs; i++)
        printf("%s%.17g", i > 0 ? ", " : "", freq[i]);
    printf("]\n    }");
    free(freq);
    return TOOL_OK;
}

static int print_entries(const rope_config *config)
{
    enum { ENTRIES_MAX = 64 };
    char message[256] = "";
    rope_plan *plans[ENTRIES_MAX] = {NULL};
    const size_t count = rope_config_entry_count(config);
    if (count > ENTRIES_MAX)
        return tool_bad("more than %d rotations", ENTRIES_MAX);
    const rope_status made =
        rope_config_create_plans(config, plans, count, message, sizeof message);
    int status = made == ROPE_OK
                     ? TOOL_OK
                     : tool_bad("%s", *message != '\0' ? message : rope_status_string(made));
    if (status == TOOL_OK)
        printf("{\n  \"rotations\": [%s", count > 0 ? "\n" : "");
    for (size_t i = 0; i < count && status == TOOL_OK; i++) {
        rope_config_entry entry = ROPE_CONFIG_ENTRY_INIT;
        (void)rope_config_get_entry(config, i, &entry);
        status = print_entry(&entry, plans[i]);
        fputs(i + 1 < count ? ",\n" : "\n  ", stdout);
    }
    for (size_t i = 0; i < count; i++)
        rope_plan_destroy(plans[i]);
    if (status == TOOL_OK)
        fputs("],\n", stdout);
    return status;
}

/* The number of a layer's rotation, null where it has none. */
static void print_layers(const rope_config *config)
{
    const size_t count = rope_config_layer_count(config);
    printf("  \"layers\": [");
    for (size_t i = 0; i < count; i++) {
        const int32_t entry = rope_config_layer(config, i);
        if (entry < 0)
            printf("%snull", i > 0 ? ", " : "");
        else
            printf("%s%d", i > 0 ? ", " : "", (int)entry);
    }
    printf("],\n  \"query_scale\": [");
    for (size_t i = 0; i < count; i++) {
        rope_query_scale scale = ROPE_QUERY_SCALE_INIT;
        (void)rope_config_get_query_scale(config, i, &scale);
        printf("%s", i > 0 ? ", " : "");
        if (scale.kind == ROPE_QUERY_SCALE_NONE)
            printf("null");
        else
            printf("{\"kind\": \"%s\", \"beta\": %.17g, \"length\": %.17g}",
                   NAME(scales, scale.kind), scale.beta, scale.length);
    }
    puts("],");
}

static int print(const rope_config *config)
{
    const int status = print_entries(config);
    if (status != TOOL_OK)
        return status;
    print_layers(config);
    fputs("  \"warnings\": [", stdout);
    for (size_t i = 0; rope_config_warning(config, i) != NULL; i++) {
        fputs(i > 0 ? ",\n    " : "\n    ", stdout);
        print_text(rope_config_warning(config, i));
    }
    puts(rope_config_warning(config, 0) != NULL ? "\n  ]\n}" : "]\n}");
    return TOOL_OK;
}

#else

static int print(const rope_config *config)
{
    (void)config;
    return TOOL_BAD;
}

#endif

int tool_config(const struct tool_options *options)
{
    if (options->operand_count != 1)
        return tool_bad("exactly one config.json or GGUF file is required, see --help");
    rope_config *config;
    int status = tool_model_open(&config, options->operands[0], options);
    if (status == TOOL_OK)
        status = print(config);
    tool_model_close(config);
    return status;
}
