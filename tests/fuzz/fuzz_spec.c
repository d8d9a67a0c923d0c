/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a rope_spec: rope_plan_create, what a plan says about itself, and rope_plan_between.
 * Lists are exactly as long as the spec says and end at guard pages.  Rows of an accepted plan must
 * have the length m, and the angle that its frequencies give.
 */
#include "fuzz.h"

#include <math.h>

/* Exact angles make tables, which takes a millisecond: for the sake of speed they are narrow here,
 * and few inputs have them. */
enum { EXACT_DIM_MAX = 16, ROTARY_DIM_MAX = 4096, PAIRS_MAX = ROTARY_DIM_MAX / 2 };

static struct descriptor descriptor;
static int is_slow; /* exact angles are made */

/* ---- Lists ----------------------------------------------------------------------------------- */

enum { INV_FREQ, SHORT, LONG, DIVISORS, SECTIONS, PAIR_AXIS, PAIR_FREQ, LISTS };
static struct array lists[LISTS];

/* The rotated width that the spec means, 0 where it means none. */
static size_t rotary_dim(const rope_spec *spec)
{
    if (spec->head_dim < 2 || spec->rotary_offset > spec->head_dim - 2)
        return 0;
    const size_t room = spec->head_dim - spec->rotary_offset;
    const size_t dim = spec->rotary_dim != 0 ? spec->rotary_dim : room;
    return dim % 2 == 0 && dim <= room && dim <= ROTARY_DIM_MAX ? dim : 0;
}

/* Room for `count` entries; a count that no plan can have gets none. */
static void *make_list(int list, size_t count, size_t element)
{
    array_size(&lists[list], span_of((double)count, element, 0, NULL, NULL));
    array_place(&lists[list], AT_END);
    return lists[list].address;
}

/* Numbers of the input as they stand, then ordinary ones. */
static const double *real_list(int list, size_t count, struct input *input)
{
    double *const values = make_list(list, count, sizeof *values);
    const int raw = take_byte(input) & 1;
    for (size_t i = 0; lists[list].fits && i < count; i++) {
        if (raw && input->left >= sizeof *values)
            take(input, &values[i], sizeof *values);
        else
            values[i] = 1.0 / (double)(i + 1);
    }
    return values;
}

/* Small numbers, of one byte each. */
static const int32_t *whole_list(int list, size_t count, struct input *input)
{
    int32_t *const values = make_list(list, count, sizeof *values);
    for (size_t i = 0; lists[list].fits && i < count; i++) {
        const unsigned byte = take_byte(input);
        values[i] = byte < 0xf0 ? (int32_t)byte : (int32_t)take_word(input);
    }
    return values;
}

static void make_lists(rope_spec *spec, struct input *input)
{
    const size_t pairs = rotary_dim(spec) / 2;
    for (int list = 0; list < LISTS; list++)
        lists[list].size = 0;
    if (spec->inv_freq != NULL)
        spec->inv_freq = real_list(INV_FREQ, spec->inv_freq_count, input);
    if (spec->short_factor != NULL)
        spec->short_factor = real_list(SHORT, spec->factor_count, input);
    if (spec->long_factor != NULL)
        spec->long_factor = real_list(LONG, spec->factor_count, input);
    if (spec->divisors != NULL)
        spec->divisors = real_list(DIVISORS, spec->divisor_count, input);
    if (spec->sections != NULL)
        spec->sections = whole_list(SECTIONS, spec->section_count, input);
    if (spec->pair_axis != NULL)
        spec->pair_axis = whole_list(PAIR_AXIS, pairs, input);
    if (spec->pair_freq != NULL)
        spec->pair_freq = whole_list(PAIR_FREQ, pairs, input);
    for (int list = 0; list < LISTS; list++)
        if (lists[list].size != 0)
            array_keep(&lists[list]);
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static rope_plan *const garbage = (rope_plan *)&descriptor;

/* The spec that the descriptor holds, with its lists and its message. */
static rope_plan *create(struct input *input, rope_spec *spec)
{
    descriptor_read(&descriptor, 0, spec, sizeof *spec);
    const size_t dim = rotary_dim(spec);
    if ((dim > EXACT_DIM_MAX || !is_slow) && spec->angle == ROPE_ANGLE_EXACT)
        spec->angle = ROPE_ANGLE_F32;
    make_lists(spec, input);
    message_place(&spec->message, &spec->message_size);
    descriptor_write(&descriptor, 0, spec, sizeof *spec);
    rope_plan *plan = garbage;
    const rope_status status = rope_plan_create((const void *)descriptor.bytes, &plan);
    REQUIRE(status >= ROPE_ERR_MEMORY && status <= ROPE_OK);
    REQUIRE((status == ROPE_OK) == (plan != NULL) && plan != garbage);
    message_check(status, spec->message, spec->message_size);
    REQUIRE(descriptor_is_kept(&descriptor));
    for (int list = 0; list < LISTS; list++)
        REQUIRE(lists[list].size == 0 ||
                memcmp(lists[list].low, lists[list].kept, lists[list].size) == 0);
    REQUIRE(status != ROPE_OK || dim != 0);
    return plan;
}

static rope_info check_info(const rope_plan *plan, const rope_spec *spec)
{
    rope_info info = ROPE_INFO_INIT;
    REQUIRE(rope_plan_info(plan, &info) == ROPE_OK);
    REQUIRE(info.scheme == spec->scheme && info.head_dim == spec->head_dim);
    REQUIRE(info.rotary_dim == rotary_dim(spec) && info.rotary_offset == spec->rotary_offset);
    REQUIRE(info.pairing == spec->pairing && info.angle == spec->angle);
    REQUIRE(isfinite(info.attention_factor) && info.attention_factor > 0.0);
    REQUIRE(spec->attention_factor == 0.0 || info.attention_factor == spec->attention_factor);
    REQUIRE(isfinite(info.theta) && isfinite(info.factor) && isfinite(info.softmax_factor));
    REQUIRE(info.axes >= 1 && info.axes <= ROPE_AXES_MAX && info.isa == rope_active_isa());
    return info;
}

/* Axis and frequency of each pair, where the spec says them. */
static void check_maps(const rope_spec *spec, size_t axes, size_t pairs)
{
    for (size_t i = 0; i < pairs; i++) {
        REQUIRE(spec->pair_axis == NULL ||
                (spec->pair_axis[i] >= 0 && (size_t)spec->pair_axis[i] < axes));
        REQUIRE(spec->pair_freq == NULL ||
                (spec->pair_freq[i] >= 0 && (size_t)spec->pair_freq[i] < pairs));
    }
}

/* e_i = theta^(-2 i / d) where the scheme is nothing else. */
static int has_plain_frequencies(const rope_spec *spec)
{
    return spec->scheme == ROPE_SCHEME_DEFAULT && spec->divisors == NULL &&
           spec->axis_layout == ROPE_AXES_ONE && spec->pair_freq == NULL;
}

static void check_frequencies(const rope_plan *plan, const rope_spec *spec, const double *freq,
                              size_t pairs)
{
    static double again[PAIRS_MAX], tail[PAIRS_MAX];
    REQUIRE(rope_plan_inv_freq(plan, again, tail, pairs + 1) == ROPE_ERR_VALUE);
    REQUIRE(rope_plan_inv_freq(plan, again, tail, pairs) == ROPE_OK);
    REQUIRE(memcmp(again, freq, pairs * sizeof *freq) == 0);
    const double theta = spec->theta != 0.0 ? spec->theta : 10000.0;
    for (size_t i = 0; i < pairs; i++) {
        REQUIRE(fabs(freq[i]) <= 0x1p20);
        /* a subnormal tail may be rounded up to half a unit of its frequency */
        REQUIRE(freq[i] + tail[i] == freq[i] || fabs(freq[i]) < 0x1p-960);
        if (has_plain_frequencies(spec) && i <= 64) {
            const double right = pow(theta, -(double)(2 * i) / (double)(2 * pairs));
            REQUIRE(fabs(freq[i] - right) <= 1e-12 * right);
        }
    }
    REQUIRE(rope_plan_wavelengths(plan, again, pairs) == ROPE_OK);
    for (size_t i = 0; i < pairs; i++) {
        const double turn = again[i] * fabs(freq[i]); /* 2 pi, where f64 has all its bits */
        REQUIRE(freq[i] != 0.0 || isinf(again[i]));
        REQUIRE(fabs(freq[i]) < 0x1p-1000 || fabs(turn - 6.283185307179586) < 1e-14);
    }
}

/* The rows of one position, all axes alike: their length, and their angle where f64 can tell it. */
static void check_rows(const rope_plan *plan, const rope_info *info, const double *freq,
                       int64_t position)
{
    static double row[ROTARY_DIM_MAX];
    const size_t pairs = info->rotary_dim / 2;
    rope_positions positions[ROPE_AXES_MAX];
    for (size_t axis = 0; axis < info->axes; axis++) {
        positions[axis] = (rope_positions)ROPE_POSITIONS_INIT;
        positions[axis].start = position;
    }
    rope_rows rows = ROPE_ROWS_INIT;
    rows.dtype = ROPE_F64;
    rows.cos = row;
    rows.count = 1;
    REQUIRE(rope_cos_sin(plan, positions, 1, &rows) == ROPE_OK);
    const double m = info->attention_factor;
    for (size_t i = 0; i < pairs && m > 1e-280; i++) {
        const double c = row[i] / m, s = row[pairs + i] / m;
        REQUIRE(fabs(hypot(c, s) - 1.0) < 1e-14);
        const double angle = (double)position * freq[i];
        if (info->angle == ROPE_ANGLE_EXACT && fabs(angle) < 1e4) {
            REQUIRE(fabs(c - cos(angle)) < 1e-11);
            REQUIRE(fabs(s - sin(angle)) < 1e-11);
        }
    }
}

/* The plan from one to the other turns by the difference. */
static void check_between(const rope_plan *from, const rope_plan *to)
{
    static double first[PAIRS_MAX], second[PAIRS_MAX], third[PAIRS_MAX];
    rope_plan *between = garbage;
    const rope_status status = rope_plan_between(from, to, &between);
    REQUIRE((status == ROPE_OK) == (between != NULL) && between != garbage);
    REQUIRE(status == ROPE_OK || status == ROPE_ERR_VALUE);
    if (between == NULL)
        return;
    rope_info a = ROPE_INFO_INIT, b = ROPE_INFO_INIT, c = ROPE_INFO_INIT;
    REQUIRE(rope_plan_info(from, &a) == ROPE_OK && rope_plan_info(to, &b) == ROPE_OK);
    REQUIRE(rope_plan_info(between, &c) == ROPE_OK && c.scheme == ROPE_SCHEME_CUSTOM);
    REQUIRE(c.attention_factor == b.attention_factor / a.attention_factor);
    REQUIRE(a.rotary_dim == b.rotary_dim && b.rotary_dim == c.rotary_dim);
    const size_t pairs = a.rotary_dim / 2;
    REQUIRE(rope_plan_inv_freq(from, first, NULL, pairs) == ROPE_OK);
    REQUIRE(rope_plan_inv_freq(to, second, NULL, pairs) == ROPE_OK);
    REQUIRE(rope_plan_inv_freq(between, third, NULL, pairs) == ROPE_OK);
    for (size_t i = 0; i < pairs; i++)
        REQUIRE(fabs(second[i] - first[i] - third[i]) <=
                4e-16 * fmax(fabs(first[i]), fabs(second[i])));
    rope_plan_destroy(between);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static double freq[PAIRS_MAX];
    struct input input = {data, size};
    int32_t position;
    take(&input, &position, sizeof position);
    const unsigned control = take_byte(&input), changes = control % 4;
    is_slow = control / 4 % 8 == 0;
    descriptor_take(&descriptor, &input, 1);
    rope_spec spec;
    rope_plan *const plan = create(&input, &spec);
    if (plan == NULL)
        return 0;
    const rope_info info = check_info(plan, &spec);
    const size_t pairs = info.rotary_dim / 2;
    check_maps(&spec, info.axes, pairs);
    REQUIRE(rope_plan_inv_freq(plan, freq, NULL, pairs) == ROPE_OK);
    check_frequencies(plan, &spec, freq, pairs);
    check_rows(plan, &info, freq, position != INT32_MIN ? position : 0);
    if (changes != 0) { /* a second plan: the same spec with some bytes changed */
        for (unsigned i = 0; i < changes; i++) {
            const unsigned at = 4 + take_byte(&input) * 2 + (take_byte(&input) & 1);
            const unsigned byte = take_byte(&input);
            if (at < descriptor.size)
                descriptor.bytes[at] = (unsigned char)byte;
        }
        rope_spec other;
        rope_plan *const second = create(&input, &other);
        if (second != NULL)
            check_between(plan, second);
        rope_plan_destroy(second);
    }
    rope_plan_destroy(plan);
    return 0;
}
