/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to see of a model's rotations, as numbers.  Prints and draws nothing. */
#include "view.h"
#include "say.h"
#include <math.h>
#include <stdlib.h>

#ifdef ROPE_TOOL_CONFIG

#define NAME(names, value) \
    ((value) >= 0 && (size_t)(value) < sizeof(names) / sizeof *(names) ? (names)[value] : "?")

const char *tool_scheme_name(rope_scheme scheme)
{
    static const char *const names[] = {"default",   "linear",       "custom",  "ntk",
                                        "ntk-mixed", "dynamic ntk",  "yarn",    "longrope",
                                        "llama3",    "proportional", "sinusoid"};
    return NAME(names, scheme);
}

const char *tool_tower_name(rope_tower tower)
{
    static const char *const names[] = {"text", "vision", "audio"};
    return NAME(names, tower);
}

const char *tool_layout_name(rope_axis_layout layout)
{
    static const char *const names[] = {"own map",     "sections",   "interleaved", "ggml mrope",
                                        "ggml imrope", "ernie",      "cyclic",      "restart",
                                        "pixtral",     "ggml vision"};
    return NAME(names, layout);
}

const char *tool_scaled_name(enum tool_scaled scaled)
{
    static const char *const names[] = {"kept", "blended", "interpolated", "not rotated"};
    return names[scaled];
}

/* The spec without its scaling: theta, width and axes alone. */
static rope_spec unscaled(const rope_spec *spec)
{
    rope_spec plain = ROPE_SPEC_INIT;
    plain.head_dim = spec->head_dim;
    plain.rotary_dim = spec->rotary_dim;
    plain.rotary_offset = spec->rotary_offset;
    plain.pairing = spec->pairing;
    plain.pairing_chunk = spec->pairing_chunk;
    plain.theta = spec->theta;
    plain.axis_layout = spec->axis_layout;
    plain.axes = spec->axes;
    plain.sections = spec->sections;
    plain.section_count = spec->section_count;
    plain.pair_axis = spec->pair_axis;
    plain.pair_freq = spec->pair_freq;
    if (spec->scheme == ROPE_SCHEME_CUSTOM) {
        plain.scheme = ROPE_SCHEME_CUSTOM;
        plain.inv_freq = spec->inv_freq;
        plain.inv_freq_count = spec->inv_freq_count;
    }
    return plain;
}

/* The axis of each pair: the one whose position turns it. */
static rope_status find_axes(struct tool_view *view, const rope_plan *plan)
{
    rope_positions positions[ROPE_AXES_MAX];
    rope_rows rows = ROPE_ROWS_INIT;
    rope_status status = ROPE_OK;
    double *const row = malloc(2 * view->count * sizeof *row);
    if (row == NULL)
        return ROPE_ERR_MEMORY;
    rows.dtype = ROPE_F64;
    rows.cos = row;
    rows.count = 1;
    for (size_t axis = 0; axis < view->info.axes && status == ROPE_OK; axis++) {
        for (size_t i = 0; i < view->info.axes; i++) {
            positions[i] = (rope_positions)ROPE_POSITIONS_INIT;
            positions[i].start = i == axis;
        }
        status = rope_cos_sin(plan, positions, 1, &rows);
        for (size_t i = 0; i < view->count && status == ROPE_OK; i++)
            if (row[view->count + i] != 0)
                view->pairs[i].axis = axis;
    }
    free(row);
    return status;
}

/* How much a frequency may be off the quotient f / s and still be called that. */
static const double tolerance = 1e-9;

static enum tool_scaled scaled(const struct tool_pair *pair, double factor)
{
    if (pair->after == 0)
        return TOOL_STILL;
    if (fabs(pair->after / pair->before - 1) < tolerance)
        return TOOL_KEPT;
    return fabs(pair->after / pair->before * factor - 1) < tolerance ? TOOL_INTERPOLATED
                                                                     : TOOL_BLENDED;
}

static rope_status fill(struct tool_view *view, const rope_plan *plan, const rope_plan *plain)
{
    const size_t count = view->count;
    double *const numbers = malloc(4 * count * sizeof *numbers);
    view->pairs = calloc(count, sizeof *view->pairs);
    rope_status status = numbers != NULL && view->pairs != NULL ? ROPE_OK : ROPE_ERR_MEMORY;
    if (status == ROPE_OK)
        status = rope_plan_inv_freq(plain, numbers, NULL, count);
    if (status == ROPE_OK)
        status = rope_plan_inv_freq(plan, numbers + count, NULL, count);
    if (status == ROPE_OK)
        status = rope_plan_wavelengths(plain, numbers + 2 * count, count);
    if (status == ROPE_OK)
        status = rope_plan_wavelengths(plan, numbers + 3 * count, count);
    for (size_t i = 0; i < count && status == ROPE_OK; i++) {
        struct tool_pair *const pair = &view->pairs[i];
        pair->before = numbers[i];
        pair->after = numbers[count + i];
        pair->wavelength_before = numbers[2 * count + i];
        pair->wavelength = numbers[3 * count + i];
        pair->scaled = scaled(pair, view->info.factor);
    }
    free(numbers);
    return status;
}

static rope_status make(struct tool_view *view, const rope_plan *plan)
{
    const rope_spec *const spec = view->entry.spec;
    rope_plan *plain = NULL;
    const rope_spec base = unscaled(spec);
    view->info = (rope_info)ROPE_INFO_INIT;
    rope_status status = rope_plan_info(plan, &view->info);
    view->count = view->info.rotary_dim / 2;
    if (status == ROPE_OK)
        status = rope_plan_create(&base, &plain);
    if (status == ROPE_OK)
        status = fill(view, plan, plain);
    if (status == ROPE_OK && view->info.axes > 1)
        status = find_axes(view, plan);
    rope_plan_destroy(plain);
    view->original = (double)spec->original_length;
    /* as far as most models are made for now, and as far as this one is */
    view->span = fmax(131072, fmax(view->original * view->info.factor, (double)spec->max_length));
    return status;
}

int tool_views_make(struct tool_views *views, const rope_config *config, const char *name)
{
    char message[256] = "";
    rope_plan *plans[TOOL_VIEWS] = {NULL};
    *views = (struct tool_views){.config = config, .name = name};
    const size_t count = rope_config_entry_count(config);
    if (count > TOOL_VIEWS)
        return tool_bad("%s: more than %d rotations", name, TOOL_VIEWS);
    rope_status status = rope_config_create_plans(config, plans, count, message, sizeof message);
    for (; views->count < count && status == ROPE_OK; views->count++) {
        struct tool_view *const view = &views->view[views->count];
        view->entry = (rope_config_entry)ROPE_CONFIG_ENTRY_INIT;
        status = rope_config_get_entry(config, views->count, &view->entry);
        if (status == ROPE_OK)
            status = make(view, plans[views->count]);
    }
    for (size_t i = 0; i < count; i++)
        rope_plan_destroy(plans[i]);
    return status == ROPE_OK
               ? TOOL_OK
               : tool_bad("%s: %s", name, *message != '\0' ? message : rope_status_string(status));
}

void tool_views_free(struct tool_views *views)
{
    for (size_t i = 0; i < views->count; i++)
        free(views->view[i].pairs);
    views->count = 0;
}

double tool_view_score(const struct tool_view *view, double distance, int before)
{
    double sum = 0;
    for (size_t i = 0; i < view->count; i++)
        sum += cos(distance * (before ? view->pairs[i].before : view->pairs[i].after));
    return sum / (double)view->count;
}

int tool_view_layers(const rope_config *config, size_t *first, size_t *last, int32_t *entry)
{
    const size_t count = rope_config_layer_count(config);
    if (*first >= count)
        return 0;
    *entry = rope_config_layer(config, *first);
    *last = *first;
    while (*last + 1 < count && rope_config_layer(config, *last + 1) == *entry)
        (*last)++;
    return 1;
}

#endif
