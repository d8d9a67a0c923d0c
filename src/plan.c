/* SPDX-License-Identifier: Apache-2.0 */
/* Makes plans: reads and checks the spec, resolves frequencies, fills the tables. */
#include "plan.h"
#include "axes.h"
#include "dispatch.h"
#include "environment.h"
#include "frequency.h"
#include "magnitude.h"
#include "usual.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The layout on 64-bit platforms, frozen: fields are appended behind these. */
#if UINTPTR_MAX == UINT64_MAX
static_assert(
    offsetof(rope_spec, scheme) == 4 && offsetof(rope_spec, head_dim) == 8 &&
        offsetof(rope_spec, rotary_dim) == 16 && offsetof(rope_spec, rotary_offset) == 24 &&
        offsetof(rope_spec, pairing) == 32 && offsetof(rope_spec, angle) == 36 &&
        offsetof(rope_spec, theta) == 40 && offsetof(rope_spec, factor) == 48 &&
        offsetof(rope_spec, attention_factor) == 56 && offsetof(rope_spec, inv_freq) == 64 &&
        offsetof(rope_spec, inv_freq_count) == 72 && offsetof(rope_spec, message) == 80 &&
        offsetof(rope_spec, message_size) == 88 && offsetof(rope_spec, length) == 96 &&
        offsetof(rope_spec, max_length) == 104 && offsetof(rope_spec, original_length) == 112 &&
        offsetof(rope_spec, ntk_exponent) == 120 && offsetof(rope_spec, beta_fast) == 128 &&
        offsetof(rope_spec, beta_slow) == 136 && offsetof(rope_spec, mscale) == 144 &&
        offsetof(rope_spec, mscale_all_dim) == 152 && offsetof(rope_spec, mscale_log) == 160 &&
        offsetof(rope_spec, low_freq_factor) == 168 &&
        offsetof(rope_spec, high_freq_factor) == 176 && offsetof(rope_spec, short_factor) == 184 &&
        offsetof(rope_spec, long_factor) == 192 && offsetof(rope_spec, factor_count) == 200 &&
        offsetof(rope_spec, divisors) == 208 && offsetof(rope_spec, divisor_count) == 216 &&
        offsetof(rope_spec, active_pairs) == 224 && offsetof(rope_spec, no_truncate) == 232 &&
        offsetof(rope_spec, axis_layout) == 236 && offsetof(rope_spec, axes) == 240 &&
        offsetof(rope_spec, sections) == 248 && offsetof(rope_spec, section_count) == 256 &&
        offsetof(rope_spec, pair_axis) == 264 && offsetof(rope_spec, pair_freq) == 272 &&
        offsetof(rope_spec, pairing_chunk) == 280 && offsetof(rope_spec, shift) == 288 &&
        offsetof(rope_spec, position_scale) == 296 && offsetof(rope_spec, xpos_base) == 304 &&
        offsetof(rope_spec, xpos_gamma) == 312 && sizeof(rope_spec) == 320,
    "rope_spec is frozen");
static_assert(offsetof(rope_info, scheme) == 4 && offsetof(rope_info, head_dim) == 8 &&
                  offsetof(rope_info, rotary_dim) == 16 &&
                  offsetof(rope_info, rotary_offset) == 24 && offsetof(rope_info, pairing) == 32 &&
                  offsetof(rope_info, angle) == 36 && offsetof(rope_info, theta) == 40 &&
                  offsetof(rope_info, factor) == 48 &&
                  offsetof(rope_info, attention_factor) == 56 &&
                  offsetof(rope_info, table_bytes) == 64 && offsetof(rope_info, isa) == 72 &&
                  offsetof(rope_info, reserved) == 76 &&
                  offsetof(rope_info, softmax_factor) == 80 && offsetof(rope_info, axes) == 88 &&
                  offsetof(rope_info, is_long) == 96 && offsetof(rope_info, reserved2) == 100 &&
                  sizeof(rope_info) == 104,
              "rope_info is frozen");
#endif
enum {
    SPEC_SIZE_0_1 = offsetof(rope_spec, length),
    INFO_SIZE_0_1 = offsetof(rope_info, softmax_factor)
};

/* ---- Checking the spec ----------------------------------------------------------------------- */

static rope_status check_shape(const rope_spec *spec, rope_plan *plan, struct rope_message message)
{
    if (spec->head_dim < 2)
        return rope_fail(message, ROPE_ERR_VALUE, "spec.head_dim: %zu: must be >= 2",
                         spec->head_dim);
    if (spec->rotary_offset > spec->head_dim - 2)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.rotary_offset: %zu: must leave 2 of head_dim = %zu elements",
                         spec->rotary_offset, spec->head_dim);
    const size_t room = spec->head_dim - spec->rotary_offset;
    const size_t rotary_dim = spec->rotary_dim != 0 ? spec->rotary_dim : room;
    if (rotary_dim % 2 != 0)
        return rope_fail(message, ROPE_ERR_VALUE, "spec.rotary_dim: %zu: must be even", rotary_dim);
    if (rotary_dim > room)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.rotary_dim: %zu: must be <= head_dim - rotary_offset = %zu",
                         rotary_dim, room);
    if (rotary_dim > ROPE_ROTARY_DIM_MAX)
        return rope_fail(message, ROPE_ERR_VALUE, "spec.rotary_dim: %zu: must be <= %d", rotary_dim,
                         ROPE_ROTARY_DIM_MAX);
    if (spec->pairing != ROPE_HALF && spec->pairing != ROPE_INTERLEAVED)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.pairing: %d: must be ROPE_HALF or ROPE_INTERLEAVED",
                         (int)spec->pairing);
    if (spec->angle != ROPE_ANGLE_EXACT && spec->angle != ROPE_ANGLE_F32)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.angle: %d: must be ROPE_ANGLE_EXACT or ROPE_ANGLE_F32",
                         (int)spec->angle);
    const size_t chunk = spec->pairing_chunk;
    if (chunk != 0 && (spec->pairing != ROPE_HALF || chunk % 2 != 0 || rotary_dim % chunk != 0))
        return rope_fail(
            message, ROPE_ERR_VALUE,
            "spec.pairing_chunk: %zu: must be even, divide rotary_dim = %zu, and go with ROPE_HALF",
            chunk, rotary_dim);
    plan->chunk_pairs = (chunk != 0 ? chunk : rotary_dim) / 2;
    plan->head_dim = spec->head_dim;
    plan->rotary_dim = rotary_dim;
    plan->rotary_offset = spec->rotary_offset;
    plan->pairs = rotary_dim / 2;
    plan->scheme = spec->scheme;
    plan->pairing = spec->pairing;
    plan->angle = spec->angle;
    return ROPE_OK;
}

static rope_status check_xpos(const rope_spec *spec, rope_plan *plan, struct rope_message message)
{
    if (spec->xpos_base != 0.0 && !(isfinite(spec->xpos_base) && spec->xpos_base > 0.0))
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.xpos_base: %g: must be finite and > 0, or 0", spec->xpos_base);
    if (spec->xpos_gamma != 0.0 &&
        !(isfinite(spec->xpos_gamma) && spec->xpos_gamma > 0.0 && spec->xpos_base != 0.0))
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.xpos_gamma: %g: must be finite and > 0, or 0, as without xpos_base",
                         spec->xpos_gamma);
    if (spec->xpos_base != 0.0 && plan->axes != 1)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "spec.xpos_base: %g: must be 0 with positions of %zu axes",
                         spec->xpos_base, plan->axes);
    plan->xpos_base = spec->xpos_base;
    plan->xpos_gamma = spec->xpos_gamma != 0.0 ? spec->xpos_gamma : 0.4;
    return ROPE_OK;
}

/* ---- Filling the plan ------------------------------------------------------------------------ */

/*
 * hi + lo to f32 with one rounding: hi made odd where lo is lost, so that (float) cannot round
 * twice.
 */
static double round_to_f32(rope_dd value)
{
    double odd = value.hi;
    uint64_t bits;
    memcpy(&bits, &odd, sizeof bits);
    if (value.lo != 0.0 && (bits & 1) == 0)
        odd = nextafter(odd, value.lo > 0.0 ? INFINITY : -INFINITY);
    return (double)(float)odd;
}

/* One block of memory for all arrays: f64 first, each on a 64-byte line, then sizes, then bytes. */
static rope_status take_memory(rope_plan *plan, struct rope_message message)
{
    const size_t padded = (plan->pairs + 7) / 8 * 8;
    const size_t masks = plan->axes > 1 ? plan->axes : 0;
    size_t doubles = (7 + masks) * padded;
    plan->row_stride = 2 * padded;
    if (plan->angle == ROPE_ANGLE_EXACT)
        for (int level = 0; level < ROPE_LEVELS; level++)
            doubles += plan->row_stride << rope_level_bits[level];

    const size_t most_runs = plan->pairs / 2 + 1;
    const size_t bytes = doubles * sizeof(double) + 2 * most_runs * sizeof(size_t) + 2 * padded;
    plan->table_bytes = (bytes + 63) / 64 * 64;
    plan->memory = aligned_alloc(64, plan->table_bytes);
    if (plan->memory == NULL)
        return rope_fail(message, ROPE_ERR_MEMORY,
                         "spec.rotary_dim: %zu: no memory for %zu bytes of tables",
                         plan->rotary_dim, plan->table_bytes);
    double *next = plan->memory;
    double **const arrays[] = {&plan->freq_hi,  &plan->freq_lo, &plan->turns_hi, &plan->turns_lo,
                               &plan->freq_f32, &plan->xpos_hi, &plan->xpos_lo};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++, next += padded)
        *arrays[i] = next;
    plan->masks = next;
    next += masks * padded;
    for (int level = 0; level < ROPE_LEVELS; level++) {
        plan->level[level] = plan->angle == ROPE_ANGLE_EXACT ? next : NULL;
        next += plan->angle == ROPE_ANGLE_EXACT ? plan->row_stride << rope_level_bits[level] : 0;
    }
    plan->runs = (void *)next;
    plan->pair_axis = (void *)(plan->runs + 2 * most_runs);
    plan->present = plan->pair_axis + padded;
    return ROPE_OK;
}

/*
 * Frequencies of all groups behind each other; a group is the scheme over its own number of pairs.
 */
static rope_status group_frequencies(const rope_spec *spec, const struct rope_axes *axes,
                                     rope_dd *freq, struct rope_message message)
{
    size_t done = 0;
    rope_status status = ROPE_OK;
    for (size_t group = 0; status == ROPE_OK && group < axes->groups; group++) {
        const size_t pairs = axes->group_pairs[group];
        if (pairs == 0)
            continue;
        rope_spec part = *spec;
        if (axes->groups > 1 && part.inv_freq != NULL) {
            part.inv_freq += done;
            part.inv_freq_count = pairs;
        }
        struct rope_resolved resolved;
        status = rope_scheme_check(&part, 2 * pairs, &resolved, message);
        if (status == ROPE_OK)
            status = rope_scheme_frequencies(&part, 2 * pairs, &resolved, freq + done, message);
        done += pairs;
    }
    return status;
}

static void fill_frequencies(rope_plan *plan, const rope_dd *freq, const size_t *freq_of_pair)
{
    for (size_t i = 0; i < plan->pairs; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.ArraySubscript): each pair has its frequency */
        const rope_dd own = freq[freq_of_pair[i]];
        const rope_dd turns = rope_frequency_turns(own);
        plan->freq_hi[i] = own.hi;
        plan->freq_lo[i] = own.lo;
        plan->turns_hi[i] = turns.hi;
        plan->turns_lo[i] = turns.lo;
        plan->freq_f32[i] = round_to_f32(own);
    }
}

static void fill_axes(rope_plan *plan)
{
    const size_t stride = plan->row_stride / 2;
    memset(plan->present, 0, stride);
    for (size_t i = 0; i < plan->pairs; i++) {
        plan->present[i / RK_AXES_GROUP] |= (unsigned char)(1u << plan->pair_axis[i]);
        for (size_t axis = 0; plan->axes > 1 && axis < plan->axes; axis++)
            plan->masks[axis * stride + i] = plan->pair_axis[i] == axis ? -1.0 : 1.0;
    }
}

static void fill_runs(rope_plan *plan)
{
    plan->run_count = 0;
    for (size_t i = 0; i < plan->pairs; i++) {
        if (plan->freq_hi[i] == 0.0)
            continue;
        if (plan->run_count == 0 || plan->runs[2 * plan->run_count - 1] != i) {
            plan->runs[2 * plan->run_count] = i;
            plan->run_count++;
        }
        plan->runs[2 * plan->run_count - 1] = i + 1;
    }
}

/* Each table holds the powers of one step; its last power but one more is the step of the next. */
static void fill_tables(rope_plan *plan, double *steps)
{
    struct rope_powers_args args = {
        .row_stride = plan->row_stride,
        .pairs = plan->pairs,
        .re_hi = steps,
        .re_lo = steps + plan->pairs,
        .im_hi = steps + 2 * plan->pairs,
        .im_lo = steps + 3 * plan->pairs,
    };
    for (size_t i = 0; i < plan->pairs; i++) {
        const rope_dd turns = {plan->turns_hi[i], plan->turns_lo[i]};
        rope_dd c, s;
        rope_frequency_rotation(turns, &c, &s);
        args.re_hi[i] = c.hi, args.re_lo[i] = c.lo;
        args.im_hi[i] = s.hi, args.im_lo[i] = s.lo;
    }
    for (int level = 0; level < ROPE_LEVELS; level++) {
        args.table_cos = plan->level[level];
        args.table_sin = plan->level[level] + plan->row_stride / 2;
        args.rows = (size_t)1 << rope_level_bits[level];
        plan->kernels->powers(&args);
    }
}

/* Memory that is needed only while a plan is made. */
struct draft_memory {
    double *steps;        /* [4 pairs] */
    rope_dd *freq;        /* [pairs] */
    size_t *freq_of_pair; /* [pairs] */
};

static rope_status take_draft(const rope_plan *plan, struct draft_memory *draft,
                              struct rope_message message)
{
    *draft = (struct draft_memory){
        .steps = malloc(plan->pairs * 4 * sizeof(double)),
        .freq = malloc(plan->pairs * sizeof(rope_dd)),
        .freq_of_pair = malloc(plan->pairs * sizeof(size_t)),
    };
    if (draft->steps == NULL || draft->freq == NULL || draft->freq_of_pair == NULL)
        return rope_fail(message, ROPE_ERR_MEMORY,
                         "spec.rotary_dim: %zu: no memory for its frequencies", plan->rotary_dim);
    return ROPE_OK;
}

static void free_draft(struct draft_memory *draft)
{
    free(draft->steps);
    free(draft->freq);
    free(draft->freq_of_pair);
}

/* All that follows from the frequencies and the axes of the pairs. */
static void fill_from(rope_plan *plan, const struct draft_memory *draft)
{
    fill_frequencies(plan, draft->freq, draft->freq_of_pair);
    fill_axes(plan);
    fill_runs(plan);
    rope_magnitude_fill(plan);
    if (plan->angle == ROPE_ANGLE_EXACT)
        fill_tables(plan, draft->steps);
    plan->rows_at_once = rope_usual_rows(plan);
}

static rope_status fill_plan(const rope_spec *spec, const struct rope_axes *axes, rope_plan *plan,
                             struct rope_message message)
{
    rope_status status = take_memory(plan, message);
    if (status != ROPE_OK)
        return status;
    struct draft_memory draft;
    status = take_draft(plan, &draft, message);
    if (status == ROPE_OK)
        status = group_frequencies(spec, axes, draft.freq, message);
    if (status == ROPE_OK) {
        rope_axes_fill(spec, plan->pairs, plan->pair_axis, draft.freq_of_pair);
        fill_from(plan, &draft);
    }
    free_draft(&draft);
    return status;
}

static rope_status create_plan(const rope_spec *given, rope_plan **out_plan)
{
    if (out_plan == NULL)
        return ROPE_ERR_NULL;
    *out_plan = NULL;
    if (given == NULL)
        return ROPE_ERR_NULL;
    rope_spec room;
    const rope_spec *spec = rope_descriptor(given, &room, sizeof room, SPEC_SIZE_0_1);
    if (spec == NULL)
        return rope_descriptor_refuse(given, "spec", sizeof(rope_spec), SPEC_SIZE_0_1,
                                      offsetof(rope_spec, message));
    const struct rope_message message = {spec->message, spec->message_size};

    rope_plan draft = {.head_dim = 0};
    rope_status status = check_shape(spec, &draft, message);
    if (status == ROPE_OK)
        status = rope_scheme_check(spec, draft.rotary_dim, &draft.resolved, message);
    struct rope_axes axes = {.axes = 0};
    if (status == ROPE_OK)
        status = rope_axes_check(spec, draft.pairs, &axes, message);
    draft.axes = axes.axes;
    if (status == ROPE_OK)
        status = check_xpos(spec, &draft, message);
    if (status != ROPE_OK)
        return status;
    draft.kernels = rope_kernels_active(&draft.isa);
    if (draft.kernels == NULL)
        return rope_fail(message, ROPE_ERR_ISA,
                         "ROPE_ISA: \"%.32s\": must name a set that this CPU and build have",
                         getenv("ROPE_ISA") != NULL ? getenv("ROPE_ISA") : "");

    rope_plan *plan = malloc(sizeof *plan);
    if (plan == NULL)
        return rope_fail(message, ROPE_ERR_MEMORY, "spec: no memory for a plan");
    *plan = draft;
    status = fill_plan(spec, &axes, plan, message);
    if (status != ROPE_OK) {
        rope_plan_destroy(plan);
        return status;
    }
    *out_plan = plan;
    return ROPE_OK;
}

rope_status rope_plan_create(const rope_spec *spec, rope_plan **out_plan)
{
    fenv_t host;
    rope_environment_enter(&host);
    const rope_status status = create_plan(spec, out_plan);
    rope_environment_leave(&host);
    return status;
}

void rope_plan_destroy(rope_plan *plan)
{
    if (plan == NULL)
        return;
    free(plan->memory);
    free(plan);
}

/* ---- From one plan to another ---------------------------------------------------------------- */

static int have_same_pairs(const rope_plan *a, const rope_plan *b)
{
    return a->head_dim == b->head_dim && a->rotary_dim == b->rotary_dim &&
           a->rotary_offset == b->rotary_offset && a->pairing == b->pairing &&
           a->chunk_pairs == b->chunk_pairs && a->axes == b->axes && a->xpos_base == b->xpos_base &&
           a->xpos_gamma == b->xpos_gamma && memcmp(a->pair_axis, b->pair_axis, a->pairs) == 0;
}

/* Differences of the frequencies; 0 if one is too large. */
static int subtract_frequencies(const rope_plan *from, const rope_plan *to,
                                struct draft_memory *draft)
{
    for (size_t i = 0; i < to->pairs; i++) {
        const rope_dd new = {to->freq_hi[i], to->freq_lo[i]};
        const rope_dd old = {-from->freq_hi[i], -from->freq_lo[i]};
        draft->freq[i] = rope_dd_add(new, old);
        draft->freq_of_pair[i] = i;
        if (fabs(draft->freq[i].hi) > rope_scheme_freq_limit)
            return 0;
    }
    return 1;
}

static rope_status create_between(const rope_plan *from, const rope_plan *to, rope_plan **out_plan)
{
    if (out_plan == NULL)
        return ROPE_ERR_NULL;
    *out_plan = NULL;
    if (from == NULL || to == NULL)
        return ROPE_ERR_NULL;
    const double factor = to->resolved.attention_factor / from->resolved.attention_factor;
    if (!have_same_pairs(from, to) || from->angle != ROPE_ANGLE_EXACT ||
        to->angle != ROPE_ANGLE_EXACT || !isfinite(factor) || factor <= 0.0)
        return ROPE_ERR_VALUE;

    const struct rope_message message = {NULL, 0};
    rope_plan *plan = malloc(sizeof *plan);
    if (plan == NULL)
        return ROPE_ERR_MEMORY;
    *plan = *to;
    plan->memory = NULL;
    plan->scheme = ROPE_SCHEME_CUSTOM;
    plan->xpos_base = 0.0; /* the same magnitudes before and after */
    plan->resolved =
        (struct rope_resolved){.factor = 1.0, .attention_factor = factor, .softmax_factor = 1.0};
    rope_status status = take_memory(plan, message);
    if (status == ROPE_OK) {
        struct draft_memory draft;
        status = take_draft(plan, &draft, message);
        if (status == ROPE_OK && !subtract_frequencies(from, to, &draft))
            status = ROPE_ERR_VALUE;
        if (status == ROPE_OK) {
            memcpy(plan->pair_axis, to->pair_axis, plan->pairs);
            fill_from(plan, &draft);
        }
        free_draft(&draft);
    }
    if (status != ROPE_OK) {
        rope_plan_destroy(plan);
        return status;
    }
    *out_plan = plan;
    return ROPE_OK;
}

rope_status rope_plan_between(const rope_plan *from, const rope_plan *to, rope_plan **out_plan)
{
    fenv_t host;
    rope_environment_enter(&host);
    const rope_status status = create_between(from, to, out_plan);
    rope_environment_leave(&host);
    return status;
}

/* ---- Reading it back ------------------------------------------------------------------------- */

rope_status rope_plan_info(const rope_plan *plan, rope_info *info)
{
    if (plan == NULL || info == NULL)
        return ROPE_ERR_NULL;
    rope_info room;
    if (rope_descriptor(info, &room, sizeof room, INFO_SIZE_0_1) == NULL)
        return ROPE_ERR_STRUCT;
    const rope_info answer = {
        .struct_size = info->struct_size,
        .scheme = plan->scheme,
        .head_dim = plan->head_dim,
        .rotary_dim = plan->rotary_dim,
        .rotary_offset = plan->rotary_offset,
        .pairing = plan->pairing,
        .angle = plan->angle,
        .theta = plan->resolved.theta,
        .factor = plan->resolved.factor,
        .attention_factor = plan->resolved.attention_factor,
        .table_bytes = plan->table_bytes,
        .isa = plan->isa,
        .axes = plan->axes,
        .softmax_factor = plan->resolved.softmax_factor,
        .is_long = plan->resolved.is_long,
    };
    memcpy(info, &answer, info->struct_size < sizeof answer ? info->struct_size : sizeof answer);
    return ROPE_OK;
}

rope_status rope_plan_inv_freq(const rope_plan *plan, double *inv_freq, double *tail, size_t count)
{
    if (plan == NULL || inv_freq == NULL)
        return ROPE_ERR_NULL;
    if (count != plan->pairs)
        return ROPE_ERR_VALUE;
    memcpy(inv_freq, plan->freq_hi, count * sizeof(double));
    if (tail != NULL)
        memcpy(tail, plan->freq_lo, count * sizeof(double));
    return ROPE_OK;
}

rope_status rope_plan_wavelengths(const rope_plan *plan, double *wavelengths, size_t count)
{
    if (plan == NULL || wavelengths == NULL)
        return ROPE_ERR_NULL;
    if (count != plan->pairs)
        return ROPE_ERR_VALUE;
    for (size_t i = 0; i < count; i++) {
        const rope_dd turns = {plan->turns_hi[i], plan->turns_lo[i]};
        wavelengths[i] = turns.hi == 0.0 ? (double)INFINITY
                                         : fabs(rope_dd_divide((rope_dd){1.0, 0.0}, turns).hi);
    }
    return ROPE_OK;
}
