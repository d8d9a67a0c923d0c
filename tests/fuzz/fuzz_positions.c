/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as rope_positions of every type and as rope_rows: rope_cos_sin.  The range of positions
 * is checked against sums in long double, one entry of a row against MPFR, whole rows against those
 * of the same positions given one by one; all of it between guard pages.
 */
#include "plans.h"
#include "reference.h"

#include <math.h>

enum { COS, SIN, POSITIONS, ARRAYS = POSITIONS + ROPE_AXES_MAX };
static struct array arrays[ARRAYS];
static int is_used[ARRAYS];
static struct descriptor rows_memory, positions_memory;

static struct {
    const struct fuzz_plan *plan;
    rope_rows rows;
    rope_positions positions[ROPE_AXES_MAX];
    int has_positions;
    size_t tokens;
} now;

static int has_two_arrays(void)
{
    return now.rows.layout != ROPE_ROWS_PACKED && now.rows.layout != ROPE_ROWS_PAIRS;
}

static size_t width(void)
{
    return now.rows.layout == ROPE_ROWS_SEPARATE ? now.plan->pairs : 2 * now.plan->pairs;
}

static ptrdiff_t stride(void)
{
    return now.rows.stride_row != 0 ? now.rows.stride_row : (ptrdiff_t)width();
}

static rope_status call(enum side side)
{
    arrays_place(arrays, is_used, ARRAYS, side);
    now.rows.cos = is_used[COS] ? arrays[COS].address : NULL;
    now.rows.sin = is_used[SIN] ? arrays[SIN].address : NULL;
    descriptor_write(&rows_memory, 0, &now.rows, sizeof now.rows);
    for (size_t axis = 0; now.has_positions && axis < now.plan->axes; axis++) {
        now.positions[axis].data =
            is_used[POSITIONS + axis] ? arrays[POSITIONS + axis].address : NULL;
        descriptor_write(&positions_memory, axis, &now.positions[axis], sizeof now.positions[axis]);
    }
    return rope_cos_sin(now.plan->plan,
                        now.has_positions ? (const void *)positions_memory.bytes : NULL, now.tokens,
                        (const void *)rows_memory.bytes);
}

static void read_input(struct input *input)
{
    memset(&now, 0, sizeof now);
    memset(is_used, 0, sizeof is_used);
    now.plan = fuzz_plan(take_byte(input));
    const unsigned tokens = take_byte(input);
    now.tokens = tokens < 0xf0 ? tokens % 24 : (size_t)take_word(input);
    descriptor_take(&rows_memory, input, 1);
    descriptor_read(&rows_memory, 0, &now.rows, sizeof now.rows);
    message_place(&now.rows.message, &now.rows.message_size);
    const double count = (double)now.tokens, row_stride = (double)stride();
    for (int i = COS; i <= SIN; i++)
        array_size(&arrays[i],
                   span_of((double)width(), fuzz_element(now.rows.dtype), 1, &count, &row_stride));
    is_used[COS] = now.rows.cos != NULL;
    is_used[SIN] = now.rows.sin != NULL;
    now.has_positions = take_byte(input) != 0xff;
    if (now.has_positions)
        descriptor_take(&positions_memory, input, now.plan->axes);
    for (size_t axis = 0; now.has_positions && axis < now.plan->axes; axis++) {
        rope_positions *const p = &now.positions[axis];
        descriptor_read(&positions_memory, axis, p, sizeof *p);
        array_size(&arrays[POSITIONS + axis], fuzz_positions_span(p, 1, now.tokens));
        is_used[POSITIONS + axis] = p->data != NULL;
    }
    for (int i = 0; i < ARRAYS; i++) {
        if (!is_used[i])
            continue;
        array_place(&arrays[i], AT_END);
        if (!arrays[i].fits)
            continue;
        if (i < POSITIONS)
            array_fill(&arrays[i], DT_F32, 1, FILL_BITS);
        else
            fuzz_fill_positions(&arrays[i], now.positions[i - POSITIONS].dtype, input, 0xe0);
    }
}

static int is_giant(void)
{
    int giant = 0;
    for (int i = 0; i < ARRAYS; i++)
        giant |= is_used[i] && !arrays[i].fits;
    return giant;
}

/* ---- Positions ------------------------------------------------------------------------------- */

/* 1 inside, 0 outside the range; -1 where there is no such type, or start and step go beyond what
 * f64 holds exactly. */
static int position_is_good(size_t axis, size_t token)
{
    const rope_positions *const p = &now.positions[axis];
    const long double moved = (long double)p->start + (long double)token * (long double)p->step;
    if (p->data != NULL && p->dtype != ROPE_I32 && p->dtype != ROPE_I64 && p->dtype != ROPE_F32 &&
        p->dtype != ROPE_F64)
        return -1;
    if ((p->dtype == ROPE_F32 || p->dtype == ROPE_F64) && fabsl(moved) > 0x1p53L)
        return -1;
    return fabs(fuzz_position(p, 0, token)) < 0x1p31;
}

static void check_range(rope_status status)
{
    int all_good = 1;
    if (now.tokens > 1000) /* more than rows have room for */
        return;
    for (size_t axis = 0; axis < now.plan->axes; axis++)
        for (size_t t = 0; t < now.tokens; t++) {
            const int good = position_is_good(axis, t);
            if (good < 0)
                return;
            all_good &= good;
        }
    REQUIRE(all_good ? status != ROPE_ERR_POSITION : status != ROPE_OK);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Entry i of a row of the layout: of its cosines or sines, copy 0 or 1. */
static double entry(size_t token, size_t i, int sine, int copy)
{
    const size_t pairs = now.plan->pairs;
    size_t at = i;
    switch (now.rows.layout) {
    case ROPE_ROWS_PACKED:
        at = sine ? pairs + i : i;
        break;
    case ROPE_ROWS_PAIRS:
        at = 2 * i + (size_t)sine;
        break;
    case ROPE_ROWS_DUP_HALF:
        at = copy ? pairs + i : i;
        break;
    case ROPE_ROWS_DUP_PAIRS:
        at = 2 * i + (size_t)copy;
        break;
    default:
        break;
    }
    const struct array *const array = &arrays[sine && has_two_arrays() ? SIN : COS];
    const enum dtype type = fuzz_dtype(now.rows.dtype);
    const ptrdiff_t offset =
        ((ptrdiff_t)token * stride() + (ptrdiff_t)at) * (ptrdiff_t)dtype_size(type);
    return dtype_load(type, array->low + (ptrdiff_t)array->before + offset, 0);
}

static double cos_scale(void)
{
    const double m = now.plan->spec.attention_factor;
    return now.rows.direction == ROPE_SHIFT     ? 1.0
           : now.rows.direction == ROPE_INVERSE ? 1.0 / m
                                                : m;
}

/* A row as f64 [cos | sin] rows of the positions alone. */
static void check_row(size_t token)
{
    static double alone[2 * 300];
    const enum dtype type = fuzz_dtype(now.rows.dtype);
    rope_positions one[ROPE_AXES_MAX];
    double value[ROPE_AXES_MAX];
    for (size_t axis = 0; axis < now.plan->axes; axis++) {
        value[axis] = fuzz_position(&now.positions[axis], 0, token);
        one[axis] = (rope_positions)ROPE_POSITIONS_INIT;
        if (value[axis] == floor(value[axis])) {
            one[axis].start = (int64_t)value[axis];
        } else {
            one[axis].dtype = ROPE_F64;
            one[axis].data = &value[axis];
        }
    }
    rope_rows rows = ROPE_ROWS_INIT;
    rows.dtype = now.rows.dtype;
    rows.direction = now.rows.direction;
    rows.cos = alone;
    rows.count = 1;
    REQUIRE(rope_cos_sin(now.plan->plan, one, 1, &rows) == ROPE_OK);
    for (size_t i = 0; i < now.plan->pairs; i++)
        for (int sine = 0; sine < 2; sine++) {
            const double right = dtype_load(type, alone, sine ? now.plan->pairs + i : i);
            for (int copy = 0; copy < 2; copy++)
                REQUIRE(entry(token, i, sine, copy) == right);
        }
}

/* One entry against the true value. */
static void check_entry(size_t token, size_t i, size_t axis)
{
    static double freq[300], tail[300];
    const enum dtype type = fuzz_dtype(now.rows.dtype);
    const int is_f32 = now.plan->spec.angle == ROPE_ANGLE_F32;
    const double position = fuzz_position(&now.positions[axis], 0, token);
    const double scale = cos_scale();
    const int backwards =
        now.rows.direction == ROPE_INVERSE || now.rows.direction == ROPE_TRANSPOSE;
    REQUIRE(rope_plan_inv_freq(now.plan->plan, freq, tail, now.plan->pairs) == ROPE_OK);
    mpfr_t frequency, angle;
    mpfr_inits2(REFERENCE_BITS, frequency, angle, (mpfr_ptr)NULL);
    mpfr_set_d(frequency, freq[i], MPFR_RNDN);
    mpfr_add_d(frequency, frequency, tail[i], MPFR_RNDN);
    reference_angle(angle, position, frequency, is_f32);
    struct reference_bounds bounds[2];
    reference_cos_sin(type, angle, scale, backwards ? -scale : scale, 1.0,
                      reference_slack(position, scale), bounds);
    mpfr_clears(frequency, angle, (mpfr_ptr)NULL);
    REQUIRE(reference_within(bounds[0], entry(token, i, 0, 0)));
    REQUIRE(reference_within(bounds[1], entry(token, i, 1, 0)));
}

static void check_writes(void)
{
    static unsigned char covered[SPAN_MAX];
    const size_t element = fuzz_element(now.rows.dtype);
    for (int i = 0; i < ARRAYS; i++) {
        if (!is_used[i])
            continue;
        if (i >= POSITIONS) {
            REQUIRE(array_is_kept(&arrays[i]));
            continue;
        }
        memset(covered, 0, arrays[i].size);
        for (size_t t = 0; t < now.tokens; t++)
            memset(covered +
                       ((ptrdiff_t)arrays[i].before + (ptrdiff_t)t * stride() * (ptrdiff_t)element),
                   1, width() * element);
        for (size_t b = 0; b < arrays[i].size; b++)
            REQUIRE(covered[b] || arrays[i].low[b] == arrays[i].kept[b]);
        REQUIRE(array_canaries_live(&arrays[i]));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char result[2][SPAN_MAX];
    struct input input = {data, size};
    const unsigned chosen = take_byte(&input), choice = take_byte(&input);
    read_input(&input);
    const int giant = is_giant();
    if (giant) /* after most measures, before any position is read */
        now.rows.direction = is_used[COS] && !arrays[COS].fits ? now.rows.direction : 99;
    if (giant && now.has_positions)
        now.positions[0].dtype = 99, is_used[POSITIONS] = 1;
    if (giant && !is_used[POSITIONS])
        return 0;
    const rope_status status = call(AT_END);
    message_check(status, now.rows.message, now.rows.message_size);
    REQUIRE(descriptor_is_kept(&rows_memory));
    if (giant || !now.has_positions)
        REQUIRE(status != ROPE_OK || (now.tokens == 0 && now.has_positions));
    else if (now.rows.struct_size != 0)
        check_range(status);
    if (status != ROPE_OK) {
        for (int i = 0; i < ARRAYS; i++)
            REQUIRE(!is_used[i] || !arrays[i].fits || array_is_kept(&arrays[i]));
        return 0;
    }
    check_writes();
    if (now.tokens == 0)
        return 0;
    const size_t token = chosen % now.tokens, pair = choice % now.plan->pairs;
    int is_exact = 1;
    for (size_t axis = 0; axis < now.plan->axes; axis++)
        is_exact &= position_is_good(axis, token) > 0;
    if (is_exact)
        check_row(token);
    for (size_t axis = 0; is_exact && axis < now.plan->axes; axis++)
        if (now.plan->plan->pair_axis[pair] == axis)
            check_entry(token, pair, axis);
    const enum dtype type = fuzz_dtype(now.rows.dtype);
    for (int i = COS; i <= SIN && is_used[i]; i++)
        memcpy(result[i], arrays[i].low, arrays[i].size);
    for (size_t set = 0; fuzz_kernels(set) != NULL; set++) { /* also at another alignment */
        now.plan->plan->kernels = fuzz_kernels(set);
        const rope_status other = call(AT_START);
        now.plan->plan->kernels = fuzz_kernels(0);
        REQUIRE(other == ROPE_OK);
        for (int i = COS; i <= SIN && is_used[i]; i++) {
            const size_t n = arrays[i].size / dtype_size(type);
            REQUIRE(image_differs(type, result[i], arrays[i].low, n, NULL) == n);
        }
    }
    return 0;
}
