/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and resolves the maps from pairs to axes and frequencies; each layout is one function. */
#include "axes.h"

/* ---- Checks ---------------------------------------------------------------------------------- */

/* What a layout asks for. */
struct layout_rule {
    size_t fewest, most; /* sections; 0 = none at all */
    size_t axes;         /* 0 = as many as sections */
    int exact;           /* the sections sum to d/2 exactly; else to 1..d/2 */
};

static const struct layout_rule rules[] = {
    [ROPE_AXES_ONE] = {0, 0, 1, 0},         [ROPE_AXES_SECTIONS] = {1, ROPE_AXES_MAX, 0, 1},
    [ROPE_AXES_INTERLEAVED] = {3, 3, 3, 1}, [ROPE_AXES_GGML_MROPE] = {4, 4, 4, 0},
    [ROPE_AXES_GGML_IMROPE] = {4, 4, 4, 0}, [ROPE_AXES_ERNIE] = {3, 3, 3, 1},
    [ROPE_AXES_CYCLIC] = {2, 3, 0, 1},      [ROPE_AXES_RESTART] = {1, ROPE_AXES_MAX, 0, 1},
    [ROPE_AXES_PIXTRAL] = {0, 0, 2, 0},     [ROPE_AXES_GGML_VISION] = {4, 4, 4, 0},
};
enum { LAYOUTS = sizeof rules / sizeof rules[0] };

static rope_status check_sections(const rope_spec *spec, size_t pairs, struct rope_message message)
{
    const struct layout_rule *rule = &rules[spec->axis_layout];
    if (spec->section_count < rule->fewest || spec->section_count > rule->most)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.section_count: %zu: must be %zu..%zu in axis_layout %d",
                         spec->section_count, rule->fewest, rule->most, (int)spec->axis_layout);
    if (spec->section_count == 0)
        return spec->sections == NULL
                   ? ROPE_OK
                   : rope_fail(message, ROPE_ERR_VALUE,
                               "spec.sections: not NULL: must be NULL in axis_layout %d",
                               (int)spec->axis_layout);
    if (spec->sections == NULL)
        return rope_fail(message, ROPE_ERR_NULL,
                         "spec.sections: NULL: must hold %zu numbers of pairs",
                         spec->section_count);
    uint64_t sum = 0;
    for (size_t i = 0; i < spec->section_count; i++) {
        if (spec->sections[i] < 0)
            return rope_fail(message, ROPE_ERR_VALUE, "spec.sections[%zu]: %d: must be >= 0", i,
                             (int)spec->sections[i]);
        sum += (uint64_t)spec->sections[i];
    }
    if (rule->exact ? sum != pairs : sum == 0 || sum > pairs)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.sections: sum %llu: must be %srotary_dim / 2 = %zu",
                         (unsigned long long)sum, rule->exact ? "" : "1..", pairs);
    if (spec->axis_layout == ROPE_AXES_ERNIE && spec->sections[0] != spec->sections[1])
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.sections[1]: %d: must equal sections[0] = %d",
                         (int)spec->sections[1], (int)spec->sections[0]);
    for (size_t i = 0; spec->axis_layout == ROPE_AXES_GGML_VISION && i < spec->section_count; i++)
        if ((size_t)spec->sections[i] > pairs / 2)
            return rope_fail(message, ROPE_ERR_VALUE,
                             "spec.sections[%zu]: %d: must be <= rotary_dim / 4 = %zu", i,
                             (int)spec->sections[i], pairs / 2);
    return ROPE_OK;
}

static rope_status check_map(const int32_t *map, size_t pairs, size_t limit, const char *name,
                             struct rope_message message)
{
    for (size_t i = 0; map != NULL && i < pairs; i++)
        if (map[i] < 0 || (size_t)map[i] >= limit)
            return rope_fail(message, ROPE_ERR_VALUE, "spec.%s[%zu]: %d: must be 0..%zu", name, i,
                             (int)map[i], limit - 1);
    return ROPE_OK;
}

/* Schemes whose frequencies can start again for each axis. */
static int can_restart(const rope_spec *spec)
{
    return spec->divisors == NULL &&
           (spec->scheme == ROPE_SCHEME_DEFAULT || spec->scheme == ROPE_SCHEME_LINEAR ||
            spec->scheme == ROPE_SCHEME_NTK ||
            (spec->scheme == ROPE_SCHEME_CUSTOM && spec->axis_layout == ROPE_AXES_RESTART));
}

rope_status rope_axes_check(const rope_spec *spec, size_t pairs, struct rope_axes *axes,
                            struct rope_message message)
{
    if (spec->axis_layout < 0 || spec->axis_layout >= LAYOUTS)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.axis_layout: %d: must be a ROPE_AXES_* number",
                         (int)spec->axis_layout);
    rope_status status = check_sections(spec, pairs, message);
    if (status != ROPE_OK)
        return status;

    const int own_maps = spec->axis_layout == ROPE_AXES_ONE;
    if (!own_maps && (spec->pair_axis != NULL || spec->pair_freq != NULL))
        return rope_fail(
            message, ROPE_ERR_VALUE, "spec.%s: not NULL: must be NULL in axis_layout %d",
            spec->pair_axis != NULL ? "pair_axis" : "pair_freq", (int)spec->axis_layout);
    const struct layout_rule *rule = &rules[spec->axis_layout];
    const size_t implied = rule->axes != 0 ? rule->axes : spec->section_count;
    axes->axes = spec->axes != 0 ? spec->axes : implied;
    if (own_maps ? axes->axes > ROPE_AXES_MAX : axes->axes != implied)
        return rope_fail(message, ROPE_ERR_VALUE, "spec.axes: %zu: must be %zu%s", spec->axes,
                         own_maps ? (size_t)ROPE_AXES_MAX : implied,
                         own_maps ? " at most" : " or 0");
    status = check_map(spec->pair_axis, pairs, axes->axes, "pair_axis", message);
    if (status == ROPE_OK)
        status = check_map(spec->pair_freq, pairs, pairs, "pair_freq", message);
    if (status != ROPE_OK)
        return status;
    if (spec->axis_layout == ROPE_AXES_PIXTRAL && pairs % 2 != 0)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.rotary_dim: %zu: must be a multiple of 4 for Pixtral", 2 * pairs);

    axes->groups = 1;
    axes->group_pairs[0] = pairs;
    const int restarts =
        spec->axis_layout == ROPE_AXES_RESTART || spec->axis_layout == ROPE_AXES_GGML_VISION;
    if (restarts && !can_restart(spec))
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.scheme: %d: must be DEFAULT, LINEAR or NTK where frequencies start "
                         "again per axis",
                         (int)spec->scheme);
    if (spec->axis_layout == ROPE_AXES_RESTART) {
        axes->groups = spec->section_count;
        for (size_t i = 0; i < axes->groups; i++)
            axes->group_pairs[i] = (size_t)spec->sections[i];
    } else if (spec->axis_layout == ROPE_AXES_GGML_VISION) {
        if (pairs < 2)
            return rope_fail(message, ROPE_ERR_VALUE,
                             "spec.rotary_dim: %zu: must be >= 4 for ggml vision", 2 * pairs);
        axes->group_pairs[0] = pairs / 2;
    }
    return ROPE_OK;
}

/* ---- Layouts --------------------------------------------------------------------------------- */

/* The section that place `at` falls in; *within: how far. */
static size_t section_of(const rope_spec *spec, size_t at, size_t *within)
{
    size_t section = 0;
    while (at >= (size_t)spec->sections[section])
        at -= (size_t)spec->sections[section++];
    *within = at;
    return section;
}

/*
 * Qwen3-VL and ggml IMROPE: pairs take t h w in turn while i < 3 sections[axis]; the rest takes
 * `leftover`.
 */
static size_t interleaved_axis(const rope_spec *spec, size_t at, size_t leftover, int limit_t)
{
    const size_t turn = at % 3;
    if (turn == 0 && !limit_t)
        return 0;
    return at < 3 * (size_t)spec->sections[turn] ? turn : leftover;
}

/*
 * openPangu: the axis that has had the smallest share of its pairs so far, but not twice the same
 * in a row if another is left; ties go to the lower axis.  With three axes the last pair is kept
 * for axis 0. vLLM, mrope_interleaved.py, get_mrope_interleaved_id_list.
 */
static void fill_cyclic(const rope_spec *spec, size_t pairs, unsigned char *axis)
{
    size_t total[3] = {0}, placed[3] = {0};
    for (size_t a = 0; a < spec->section_count; a++)
        total[a] = (size_t)spec->sections[a];
    const int keep_last = spec->section_count == 3 && total[0] != 0;
    if (keep_last)
        total[0]--;
    size_t before = 3;
    for (size_t i = 0; i < pairs - (keep_last ? 1 : 0); i++) {
        size_t best = 3;
        for (int again = 0; again < 2 && best == 3; again++)
            for (size_t a = 0; a < 3; a++)
                if (placed[a] < total[a] && (a != before || again) &&
                    (best == 3 || placed[a] * total[best] < placed[best] * total[a]))
                    best = a;
        placed[best]++;
        axis[i] = (unsigned char)best;
        before = best;
    }
    if (keep_last)
        axis[pairs - 1] = 0;
}

void rope_axes_fill(const rope_spec *spec, size_t pairs, unsigned char *axis, size_t *freq)
{
    size_t sum = 0;
    for (size_t i = 0; i < spec->section_count; i++)
        sum += (size_t)spec->sections[i];
    if (spec->axis_layout == ROPE_AXES_CYCLIC)
        fill_cyclic(spec, pairs, axis);
    for (size_t i = 0; i < pairs; i++) {
        size_t a = 0, within = 0;
        freq[i] = i;
        switch (spec->axis_layout) {
        case ROPE_AXES_ONE:
            a = spec->pair_axis != NULL ? (size_t)spec->pair_axis[i] : 0;
            freq[i] = spec->pair_freq != NULL ? (size_t)spec->pair_freq[i] : i;
            break;
        case ROPE_AXES_SECTIONS:
        case ROPE_AXES_RESTART: /* the groups stand in the order of the pairs */
            a = section_of(spec, i, &within);
            break;
        case ROPE_AXES_INTERLEAVED:
            a = interleaved_axis(spec, i, 0, 0);
            break;
        case ROPE_AXES_GGML_MROPE:
            /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): sections of 0 in all are refused */
            a = section_of(spec, i % sum, &within);
            break;
        case ROPE_AXES_GGML_VISION:
            /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): sections of 0 in all are refused */
            a = section_of(spec, i % sum, &within);
            freq[i] = within;
            break;
        case ROPE_AXES_GGML_IMROPE:
            /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): sections of 0 in all are refused */
            a = interleaved_axis(spec, i % sum, 3, 1);
            break;
        case ROPE_AXES_ERNIE: /* sections h, w, t; axes t, h, w */
            a = i >= 2 * (size_t)spec->sections[0] ? 0 : 1 + i % 2;
            break;
        case ROPE_AXES_PIXTRAL:
            a = i >= pairs / 2;
            freq[i] = a == 0 ? 2 * i : 2 * (i - pairs / 2) + 1;
            break;
        default: /* CYCLIC */
            a = axis[i];
            break;
        }
        axis[i] = (unsigned char)a;
    }
}
