/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Positions of several axes, chunks of pairs, and pairs that do not turn, through the public
 * functions: every layout against a map written out by hand, angles against MPFR, rotations bit for
 * bit.  Sees rope.h alone.
 */
#include "reference.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 8, DIM = 2 * PAIRS, AXES = 4, BATCH = 2, TOKENS = 3 };

/* Pair i has the angle position[axis[i]] theta^(-2 num[i] / den[i]). */
struct map {
    const char *name;
    rope_axis_layout layout;
    int32_t sections[AXES];
    size_t section_count;
    int32_t axis[PAIRS], num[PAIRS], den[PAIRS];
    int own; /* the maps are given to the plan */
};

#define IN_ORDER               \
    {                          \
        0, 1, 2, 3, 4, 5, 6, 7 \
    }
#define OF_16                          \
    {                                  \
        16, 16, 16, 16, 16, 16, 16, 16 \
    }
#define OF_8                   \
    {                          \
        8, 8, 8, 8, 8, 8, 8, 8 \
    }

static const struct map maps[] = {
    {"one", ROPE_AXES_ONE, {0}, 0, {0, 0, 0, 0, 0, 0, 0, 0}, IN_ORDER, OF_16, 0},
    {"own", ROPE_AXES_ONE, {0}, 0, {2, 0, 1, 1, 0, 2, 2, 0}, {0, 0, 1, 1, 2, 7, 3, 3}, OF_16, 1},
    {"Qwen2-VL", ROPE_AXES_SECTIONS, {2, 3, 3}, 3, {0, 0, 1, 1, 1, 2, 2, 2}, IN_ORDER, OF_16, 0},
    {"four sections, one empty",
     ROPE_AXES_SECTIONS,
     {1, 0, 5, 2},
     4,
     {0, 2, 2, 2, 2, 2, 3, 3},
     IN_ORDER,
     OF_16,
     0},
    {"Qwen3-VL", ROPE_AXES_INTERLEAVED, {4, 2, 2}, 3, {0, 1, 2, 0, 1, 2, 0, 0}, IN_ORDER, OF_16, 0},
    {"ggml mrope",
     ROPE_AXES_GGML_MROPE,
     {2, 1, 1, 0},
     4,
     {0, 0, 1, 2, 0, 0, 1, 2},
     IN_ORDER,
     OF_16,
     0},
    {"ggml mrope, 4 axes",
     ROPE_AXES_GGML_MROPE,
     {1, 2, 2, 1},
     4,
     {0, 1, 1, 2, 2, 3, 0, 1},
     IN_ORDER,
     OF_16,
     0},
    {"ggml imrope",
     ROPE_AXES_GGML_IMROPE,
     {2, 1, 1, 1},
     4,
     {0, 1, 2, 0, 3, 0, 1, 2},
     IN_ORDER,
     OF_16,
     0},
    {"Ernie", ROPE_AXES_ERNIE, {3, 3, 2}, 3, {1, 2, 1, 2, 1, 2, 0, 0}, IN_ORDER, OF_16, 0},
    {"openPangu, 3 axes",
     ROPE_AXES_CYCLIC,
     {3, 3, 2},
     3,
     {0, 1, 2, 1, 0, 2, 1, 0},
     IN_ORDER,
     OF_16,
     0},
    {"openPangu, uneven",
     ROPE_AXES_CYCLIC,
     {5, 2, 1},
     3,
     {0, 1, 2, 0, 1, 0, 0, 0},
     IN_ORDER,
     OF_16,
     0},
    {"openPangu, 2 axes",
     ROPE_AXES_CYCLIC,
     {2, 6},
     2,
     {0, 1, 0, 1, 1, 1, 1, 1},
     IN_ORDER,
     OF_16,
     0},
    {"restart",
     ROPE_AXES_RESTART,
     {2, 3, 3},
     3,
     {0, 0, 1, 1, 1, 2, 2, 2},
     {0, 1, 0, 1, 2, 0, 1, 2},
     {4, 4, 6, 6, 6, 6, 6, 6},
     0},
    {"Pixtral",
     ROPE_AXES_PIXTRAL,
     {0},
     0,
     {0, 0, 0, 0, 1, 1, 1, 1},
     {0, 2, 4, 6, 1, 3, 5, 7},
     OF_16,
     0},
    {"ggml vision",
     ROPE_AXES_GGML_VISION,
     {4, 4, 0, 0},
     4,
     {0, 0, 0, 0, 1, 1, 1, 1},
     {0, 1, 2, 3, 0, 1, 2, 3},
     OF_8,
     0},
    {"ggml vision, wrapped",
     ROPE_AXES_GGML_VISION,
     {2, 3, 0, 0},
     4,
     {0, 0, 1, 1, 1, 0, 0, 1},
     {0, 1, 0, 1, 2, 0, 1, 0},
     OF_8,
     0},
};
enum { MAPS = sizeof maps / sizeof *maps };

/* Axes that a plan of the map must have. */
static size_t axes_of(const struct map *map)
{
    if (map->own)
        return 3;
    if (map->layout == ROPE_AXES_PIXTRAL)
        return 2;
    return map->section_count ? map->section_count : 1;
}

static rope_plan *create(rope_spec *spec)
{
    char message[256] = "";
    rope_plan *plan = NULL;
    spec->message = message;
    spec->message_size = sizeof message;
    const rope_status status = rope_plan_create(spec, &plan);
    if (status != ROPE_OK)
        fail_msg("rope_plan_create: %s: %s", rope_status_string(status), message);
    return plan;
}

static rope_plan *create_from(const struct map *map, rope_spec *spec)
{
    spec->axis_layout = map->layout;
    if (map->section_count) {
        spec->sections = map->sections;
        spec->section_count = map->section_count;
    }
    if (map->own) {
        spec->axes = 3;
        spec->pair_axis = map->axis;
        spec->pair_freq = map->num;
    }
    return create(spec);
}

/* ---- Positions ---- */

/* What to draw positions from: whole and small, whole and far, any. */
enum kind { SMALL, FAR, FRACTIONAL, KINDS };

static double draw(struct rng *rng, enum kind kind)
{
    static const double far[] = {2147483647.0, -2147483647.0, 1048576.0,
                                 -1048575.0,   67108864.0,    511.0};
    if (kind == SMALL)
        return (double)rng_below(rng, 3000) - 1000.0;
    if (kind == FAR)
        return rng_below(rng, 2) ? far[rng_below(rng, 6)] : trunc(rng_real(rng, 2147483647.0));
    return floor(rng_real(rng, 100000.0) * 4096.0) / 4096.0;
}

/* One position on each axis, as f64 data. */
static void place(rope_positions positions[AXES], const double values[AXES])
{
    const rope_positions init = ROPE_POSITIONS_INIT;
    for (size_t a = 0; a < AXES; a++) {
        positions[a] = init;
        positions[a].dtype = ROPE_F64;
        positions[a].data = &values[a];
    }
}

/* The row of positions `values` in a type, made alone; checked against MPFR. */
static void make_row(const rope_plan *plan, const struct map *map, const rope_spec *spec,
                     const double values[AXES], rope_direction direction, enum dtype type,
                     double *cos_row, double *sin_row)
{
    unsigned char packed[DIM * 8];
    char message[256] = "";
    rope_positions positions[AXES];
    rope_rows rows = ROPE_ROWS_INIT;
    place(positions, values);
    rows.dtype = (rope_dtype)type + ROPE_F32;
    rows.direction = direction;
    rows.cos = packed;
    rows.count = 1;
    rows.message = message;
    rows.message_size = sizeof message;
    const rope_status status = rope_cos_sin(plan, positions, 1, &rows);
    if (status != ROPE_OK)
        fail_msg("%s: rope_cos_sin: %s: %s", map->name, rope_status_string(status), message);
    mpfr_t frequency, angle;
    mpfr_inits2(REFERENCE_BITS, frequency, angle, (mpfr_ptr)NULL);
    for (size_t i = 0; i < PAIRS; i++) {
        struct reference_bounds bounds[2];
        const double position = values[map->axis[i]];
        const int back = direction == ROPE_TRANSPOSE || direction == ROPE_INVERSE;
        cos_row[i] = dtype_load(type, packed, i);
        sin_row[i] = dtype_load(type, packed, PAIRS + i);
        reference_frequency(frequency, spec->theta == 0.0 ? 10000.0 : spec->theta,
                            spec->factor == 0.0 ? 1.0 : spec->factor, (size_t)map->num[i],
                            (size_t)map->den[i]);
        reference_angle(angle, position, frequency, spec->angle == ROPE_ANGLE_F32);
        /* A far position on one axis may add a factor, and its error, to all entries of the row. */
        reference_cos_sin(type, angle, 1.0, back ? -1.0 : 1.0, 1.0, 8e-16, bounds);
        if (!reference_within(bounds[0], cos_row[i]) || !reference_within(bounds[1], sin_row[i]))
            fail_msg("%s, pair %zu, axis %d at %.17g, %s: cos %a not in %a..%a or sin %a not in "
                     "%a..%a, seed %#" PRIx64,
                     map->name, i, (int)map->axis[i], position, dtype_name(type), cos_row[i],
                     bounds[0].low, bounds[0].high, sin_row[i], bounds[1].low, bounds[1].high,
                     test_seed());
    }
    mpfr_clears(frequency, angle, (mpfr_ptr)NULL);
}

/* ---- Maps ---- */

static void test_maps(void **state)
{
    (void)state;
    struct rng rng = rng_make(1);
    test_f16_ties_for(rope_active_isa());
    for (size_t m = 0; m < MAPS; m++)
        for (int angle = 0; angle < 2; angle++) {
            const struct map *map = &maps[m];
            rope_spec spec = ROPE_SPEC_INIT;
            rope_info info = ROPE_INFO_INIT;
            double inv_freq[PAIRS], cos_row[PAIRS], sin_row[PAIRS];
            spec.head_dim = DIM;
            spec.angle = angle ? ROPE_ANGLE_F32 : ROPE_ANGLE_EXACT;
            if (m % 3 == 1) {
                spec.scheme = ROPE_SCHEME_LINEAR;
                spec.factor = 4.0;
            }
            rope_plan *plan = create_from(map, &spec);
            assert_int_equal(rope_plan_info(plan, &info), ROPE_OK);
            assert_int_equal(info.axes, axes_of(map));
            assert_int_equal(rope_plan_inv_freq(plan, inv_freq, NULL, PAIRS), ROPE_OK);
            mpfr_t frequency;
            mpfr_init2(frequency, REFERENCE_BITS);
            for (size_t i = 0; i < PAIRS; i++) {
                reference_frequency(frequency, 10000.0, spec.factor == 0.0 ? 1.0 : spec.factor,
                                    (size_t)map->num[i], (size_t)map->den[i]);
                if (inv_freq[i] != reference_f64(frequency))
                    fail_msg("%s, pair %zu: frequency %a, expected %a", map->name, i, inv_freq[i],
                             reference_f64(frequency));
            }
            mpfr_clear(frequency);
            for (int kind = 0; kind < KINDS; kind++)
                for (int type = 0; type < DTYPES; type++) {
                    double values[AXES];
                    for (size_t a = 0; a < AXES; a++)
                        values[a] = draw(&rng, (enum kind)kind);
                    if (type % 2) /* of different kinds */
                        values[0] = draw(&rng, FRACTIONAL);
                    make_row(plan, map, &spec, values, (rope_direction)rng_below(&rng, 4),
                             (enum dtype)type, cos_row, sin_row);
                }
            rope_plan_destroy(plan);
        }
    test_f16_ties_away(0);
}

/* The axes of models with 64 pairs, seen by the sine of a plan whose pairs all have frequency 1. */
static void test_model_maps(void **state)
{
    (void)state;
    static const struct {
        rope_axis_layout layout;
        int32_t sections[4];
        size_t section_count;
        const char *axes;
    } models[] = {
        {ROPE_AXES_SECTIONS,
         {16, 24, 24},
         3,
         "0000000000000000111111111111111111111111222222222222222222222222"},
        {ROPE_AXES_SECTIONS,
         {16, 16, 16, 16},
         4,
         "0000000000000000111111111111111122222222222222223333333333333333"},
        {ROPE_AXES_INTERLEAVED,
         {24, 20, 20},
         3,
         "0120120120120120120120120120120120120120120120120120120120120000"},
        {ROPE_AXES_GGML_IMROPE,
         {24, 20, 20, 0},
         4,
         "0120120120120120120120120120120120120120120120120120120120120330"},
        {ROPE_AXES_GGML_MROPE,
         {16, 24, 24, 0},
         4,
         "0000000000000000111111111111111111111111222222222222222222222222"},
        {ROPE_AXES_ERNIE,
         {22, 22, 20},
         3,
         "1212121212121212121212121212121212121212121200000000000000000000"},
        {ROPE_AXES_PIXTRAL,
         {0},
         0,
         "0000000000000000000000000000000011111111111111111111111111111111"},
    };
    double ones[64];
    for (size_t i = 0; i < 64; i++)
        ones[i] = 1.0;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        static const double values[AXES] = {0.0, 0.5, 1.0, 1.5};
        rope_spec spec = ROPE_SPEC_INIT;
        rope_positions positions[AXES];
        rope_rows rows = ROPE_ROWS_INIT;
        double row[128];
        spec.head_dim = 128;
        spec.scheme = ROPE_SCHEME_CUSTOM;
        spec.inv_freq = ones;
        spec.inv_freq_count = 64;
        spec.axis_layout = models[m].layout;
        spec.sections = models[m].section_count ? models[m].sections : NULL;
        spec.section_count = models[m].section_count;
        rope_plan *plan = create(&spec);
        place(positions, values);
        rows.dtype = ROPE_F64;
        rows.cos = row;
        rows.count = 1;
        assert_int_equal(rope_cos_sin(plan, positions, 1, &rows), ROPE_OK);
        for (size_t i = 0; i < 64; i++) {
            const double position = values[models[m].axes[i] - '0'];
            if (fabs(row[64 + i] - sin(position)) > 1e-12)
                fail_msg("layout %d, pair %zu: sine %g, expected that of axis %c, %g",
                         models[m].layout, i, row[64 + i], models[m].axes[i], sin(position));
        }
        rope_plan_destroy(plan);
    }
}

/* Equal positions on all axes: the bits of a plan of one axis, where frequencies are in order. */
static void test_equal_axes(void **state)
{
    (void)state;
    struct rng rng = rng_make(2);
    for (size_t m = 0; m < MAPS; m++) {
        const struct map *map = &maps[m];
        if (map->own || map->den[0] != DIM || map->num[1] != 1)
            continue;
        rope_spec spec = ROPE_SPEC_INIT, plain_spec = ROPE_SPEC_INIT;
        spec.head_dim = plain_spec.head_dim = DIM;
        rope_plan *plan = create_from(map, &spec);
        rope_plan *plain = create(&plain_spec);
        for (int round = 0; round < 60; round++) {
            const double position = draw(&rng, (enum kind)(round % KINDS));
            const double values[AXES] = {position, position, position, position};
            unsigned char several[DIM * 8], one[DIM * 8];
            rope_positions positions[AXES];
            rope_rows rows = ROPE_ROWS_INIT;
            const enum dtype type = (enum dtype)(round % DTYPES);
            place(positions, values);
            rows.dtype = (rope_dtype)type + ROPE_F32;
            rows.count = 1;
            rows.cos = several;
            assert_int_equal(rope_cos_sin(plan, positions, 1, &rows), ROPE_OK);
            rows.cos = one;
            assert_int_equal(rope_cos_sin(plain, positions, 1, &rows), ROPE_OK);
            if (memcmp(several, one, DIM * dtype_size(type)) != 0)
                fail_msg(
                    "%s: equal positions %.17g on all axes do not give the row of one axis, %s",
                    map->name, position, dtype_name(type));
        }
        rope_plan_destroy(plan);
        rope_plan_destroy(plain);
    }
}

/* ---- Rotation ---- */

enum { HEADS = 2, OFFSET = 1, HEAD_DIM = DIM + 3, ELEMENTS = BATCH * TOKENS * HEADS * HEAD_DIM };

struct job_case {
    const rope_plan *plan;
    const struct map *map;
    const rope_spec *spec;
    enum dtype type;
    int eager, in_place, to; /* to: pairing of the destination, 1 = interleaved */
    rope_direction direction;
    double values[BATCH][TOKENS][AXES];
};

/* Place of x (part 0) or y of pair i: half-split in chunks, or interleaved. */
static size_t chunk_place(int interleaved, size_t chunk, size_t i, int part)
{
    const size_t half = chunk / 2;
    if (interleaved)
        return 2 * i + (part ? 1 : 0);
    return i / half * chunk + i % half + (part ? half : 0);
}

typedef void row_fn(const struct job_case *c, size_t b, size_t t, double *cos_row, double *sin_row);

static void position_row(const struct job_case *c, size_t b, size_t t, double *cos_row,
                         double *sin_row)
{
    make_row(c->plan, c->map, c->spec, c->values[b][t], c->direction,
             c->eager ? c->type : dtype_real(c->type), cos_row, sin_row);
}

/*
 * Runs a job whole and in parts; `row` gives the row of each token, `stands` the pairs that are
 * left alone.
 */
static void check_job(const struct job_case *c, rope_job *job, struct rng *rng, row_fn *row,
                      const unsigned char *stands, const char *name)
{
    static unsigned char src[ELEMENTS * 8], dst[ELEMENTS * 8], image[ELEMENTS * 8];
    static unsigned char loose[ELEMENTS];
    char message[256] = "";
    const int from = c->spec->pairing == ROPE_INTERLEAVED;
    const size_t chunk = c->spec->pairing_chunk ? c->spec->pairing_chunk : DIM;
    const enum fill fill = (enum fill)rng_below(rng, FILLS);
    memset(loose, 0, sizeof loose);
    for (size_t i = 0; i < ELEMENTS; i++)
        dtype_store(c->type, src, i, rng_element(rng, c->type, fill));
    memcpy(image, src, sizeof image);
    for (size_t b = 0; b < BATCH; b++)
        for (size_t t = 0; t < TOKENS; t++) {
            double cos_row[PAIRS], sin_row[PAIRS];
            row(c, b, t, cos_row, sin_row);
            for (size_t h = 0; h < HEADS; h++)
                for (size_t i = 0; i < PAIRS; i++) {
                    const size_t head = ((b * TOKENS + t) * HEADS + h) * HEAD_DIM + OFFSET;
                    double out[2];
                    if (stands && stands[i])
                        continue;
                    reference_rotate(
                        c->type, c->eager,
                        dtype_load(c->type, src, head + chunk_place(from, chunk, i, 0)),
                        dtype_load(c->type, src, head + chunk_place(from, chunk, i, 1)), cos_row[i],
                        sin_row[i], out);
                    for (int part = 0; part < 2; part++) {
                        const size_t at = head + chunk_place(c->to, chunk, i, part);
                        dtype_store(c->type, image, at, out[part]);
                        loose[at] = 1;
                    }
                }
        }
    rope_tensor tensor = ROPE_TENSOR_INIT;
    tensor.dtype = (rope_dtype)c->type + ROPE_F32;
    tensor.heads = HEADS;
    tensor.src = c->in_place ? dst : src;
    tensor.dst = dst;
    job->batch = BATCH;
    job->tokens = TOKENS;
    job->q = &tensor;
    job->direction = c->direction;
    job->arith = c->eager ? ROPE_ARITH_EAGER : ROPE_ARITH_FUSED;
    job->pairing_out = c->to ? ROPE_OUT_INTERLEAVED : ROPE_OUT_HALF;
    job->message = message;
    job->message_size = sizeof message;
    for (size_t parts = 1; parts <= 13; parts += 4) {
        if (c->in_place)
            memcpy(dst, src, sizeof dst);
        else
            canary_fill(dst, sizeof dst);
        for (size_t part = parts; part-- > 0;) {
            const rope_status status = rope_rotate_part(c->plan, job, part, parts);
            if (status != ROPE_OK)
                fail_msg("%s: rope_rotate_part: %s: %s", name, rope_status_string(status), message);
        }
        const size_t i = image_differs(c->type, image, dst, ELEMENTS, loose);
        if (i != ELEMENTS)
            fail_msg("set %s, %s, %s, pairing %d to %d, direction %d%s%s, %zu parts: element %zu "
                     "(%s): expected %a, got %a, "
                     "seed %#" PRIx64,
                     rope_isa_name(rope_active_isa()), name, dtype_name(c->type), from, c->to,
                     c->direction, c->eager ? ", eager" : "", c->in_place ? ", in place" : "",
                     parts, i, loose[i] ? "rotated" : "to be left alone",
                     dtype_load(c->type, image, i), dtype_load(c->type, dst, i), test_seed());
    }
}

static void test_rotate(void **state)
{
    (void)state;
    struct rng rng = rng_make(3);
    test_f16_ties_for(rope_active_isa());
    for (size_t m = 0; m < MAPS; m++)
        for (int round = 0; round < (test_reduced() ? 1 : 24); round++) {
            /* Each axis has memory, dtype and strides of its own. */
            static int32_t narrow[BATCH * TOKENS];
            static int64_t wide[2 * BATCH * TOKENS];
            static double real[BATCH * TOKENS];
            rope_spec spec = ROPE_SPEC_INIT;
            rope_job job = ROPE_JOB_INIT;
            const rope_positions init = ROPE_POSITIONS_INIT;
            rope_positions positions[AXES] = {init, init, init, init};
            struct job_case c = {.map = &maps[m], .spec = &spec};
            spec.head_dim = HEAD_DIM;
            spec.rotary_dim = DIM;
            spec.rotary_offset = OFFSET;
            spec.pairing = round % 2 ? ROPE_INTERLEAVED : ROPE_HALF;
            rope_plan *plan = create_from(c.map, &spec);
            c.plan = plan;
            c.type = (enum dtype)rng_below(&rng, DTYPES);
            c.eager = rng_below(&rng, 3) == 0;
            c.direction = (rope_direction)rng_below(&rng, 4);
            c.to = (int)rng_below(&rng, 2);
            c.in_place = c.to == round % 2 && rng_below(&rng, 2);
            for (size_t b = 0; b < BATCH; b++)
                for (size_t t = 0; t < TOKENS; t++) {
                    const size_t at = b * TOKENS + t;
                    narrow[at] = (int32_t)draw(&rng, (enum kind)(round % 2));
                    wide[2 * at] = (int64_t)draw(&rng, FAR);
                    real[at] = draw(&rng, FRACTIONAL);
                    const double values[AXES] = {(double)narrow[at], (double)wide[2 * at],
                                                 round % 3 ? (double)(7 - (int)t) : real[at],
                                                 (double)narrow[b * TOKENS]};
                    memcpy(c.values[b][t], values, sizeof values);
                }
            positions[0].dtype = ROPE_I32;
            positions[0].data = narrow;
            positions[0].stride_batch = TOKENS;
            positions[1].dtype = ROPE_I64;
            positions[1].data = wide;
            positions[1].stride_batch = 2 * TOKENS;
            positions[1].stride_token = 2;
            if (round % 3) {
                positions[2].start = 7;
                positions[2].step = -1;
            } else {
                positions[2].dtype = ROPE_F64;
                positions[2].data = real;
                positions[2].stride_batch = TOKENS;
            }
            positions[3].dtype = ROPE_I32;
            positions[3].data = narrow;
            positions[3].stride_batch = TOKENS;
            positions[3].stride_token = 0;
            job.positions = positions;
            check_job(&c, &job, &rng, position_row, NULL, c.map->name);
            rope_plan_destroy(plan);
        }
    test_f16_ties_away(0);
}

/* Ready rows: every pair takes its entry from the row that the position on its axis names. */
static float ready[2][7 * DIM];

static void ready_row(const struct job_case *c, size_t b, size_t t, double *cos_row,
                      double *sin_row)
{
    for (size_t i = 0; i < PAIRS; i++) {
        const size_t row = (size_t)c->values[b][t][c->map->axis[i]];
        const double sign = c->direction == ROPE_TRANSPOSE ? -1.0 : 1.0;
        cos_row[i] = dtype_round(c->eager ? c->type : dtype_real(c->type),
                                 (double)ready[0][row * PAIRS + i]);
        sin_row[i] = sign * dtype_round(c->eager ? c->type : dtype_real(c->type),
                                        (double)ready[1][row * PAIRS + i]);
    }
}

static void test_rotate_by_rows(void **state)
{
    (void)state;
    struct rng rng = rng_make(4);
    test_f16_ties_for(rope_active_isa());
    for (size_t i = 0; i < 7 * PAIRS; i++)
        for (int sine = 0; sine < 2; sine++)
            ready[sine][i] = (float)rng_real(&rng, 1.0);
    for (size_t m = 0; m < MAPS; m++)
        for (int round = 0; round < (test_reduced() ? 1 : 12); round++) {
            static int64_t numbers[AXES][BATCH * TOKENS];
            rope_spec spec = ROPE_SPEC_INIT;
            rope_job job = ROPE_JOB_INIT;
            rope_rows rows = ROPE_ROWS_INIT;
            const rope_positions init = ROPE_POSITIONS_INIT;
            rope_positions positions[AXES] = {init, init, init, init};
            struct job_case c = {.map = &maps[m], .spec = &spec};
            spec.head_dim = HEAD_DIM;
            spec.rotary_dim = DIM;
            spec.rotary_offset = OFFSET;
            spec.pairing = round % 2 ? ROPE_INTERLEAVED : ROPE_HALF;
            rope_plan *plan = create_from(c.map, &spec);
            c.plan = plan;
            c.type = (enum dtype)rng_below(&rng, DTYPES);
            c.eager = rng_below(&rng, 3) == 0;
            c.direction = rng_below(&rng, 2) ? ROPE_FORWARD : ROPE_TRANSPOSE;
            c.to = (int)rng_below(&rng, 2);
            for (size_t a = 0; a < AXES; a++) {
                for (size_t at = 0; at < BATCH * TOKENS; at++) {
                    numbers[a][at] = (int64_t)rng_below(&rng, 7);
                    c.values[at / TOKENS][at % TOKENS][a] = (double)numbers[a][at];
                }
                positions[a].dtype = ROPE_I64;
                positions[a].data = numbers[a];
                positions[a].stride_batch = TOKENS;
            }
            rows.dtype = ROPE_F32;
            rows.layout = ROPE_ROWS_SEPARATE;
            rows.cos = ready[0];
            rows.sin = ready[1];
            rows.count = 7;
            job.positions = positions;
            job.rows = &rows;
            check_job(&c, &job, &rng, ready_row, NULL, c.map->name);
            rope_plan_destroy(plan);
        }
    test_f16_ties_away(0);
}

/* ---- Chunks ---- */

static void test_chunks(void **state)
{
    (void)state;
    struct rng rng = rng_make(5);
    static const size_t chunks[] = {2, 4, 8, 16};
    test_f16_ties_for(rope_active_isa());
    for (size_t k = 0; k < 4; k++)
        for (int round = 0; round < (test_reduced() ? 4 : 16); round++) {
            rope_spec spec = ROPE_SPEC_INIT;
            rope_job job = ROPE_JOB_INIT;
            rope_positions positions = ROPE_POSITIONS_INIT;
            struct job_case c = {.map = &maps[0], .spec = &spec};
            spec.head_dim = HEAD_DIM;
            spec.rotary_dim = DIM;
            spec.rotary_offset = OFFSET;
            spec.pairing_chunk = chunks[k];
            rope_plan *plan = create(&spec);
            c.plan = plan;
            c.type = (enum dtype)(round % DTYPES);
            c.eager = round % 3 == 0;
            c.to = round % 4 == 3;
            c.in_place = !c.to && round % 2;
            positions.start = 100;
            for (size_t b = 0; b < BATCH; b++)
                for (size_t t = 0; t < TOKENS; t++)
                    c.values[b][t][0] = 100.0 + (double)t;
            job.positions = &positions;
            check_job(&c, &job, &rng, position_row, NULL, "chunks");
            rope_plan_destroy(plan);
        }
    test_f16_ties_away(0);
}

/* ---- Pairs that do not turn ---- */

static const double *still_frequencies;
static double still_m;

/* All tokens stand at position 3. */
static void still_row(const struct job_case *c, size_t b, size_t t, double *cos_row,
                      double *sin_row)
{
    rope_positions positions = ROPE_POSITIONS_INIT;
    rope_rows rows = ROPE_ROWS_INIT;
    unsigned char packed[DIM * 8];
    const enum dtype type = c->eager ? c->type : dtype_real(c->type);
    (void)b;
    (void)t;
    positions.start = 3;
    rows.dtype = (rope_dtype)type + ROPE_F32;
    rows.direction = c->direction;
    rows.cos = packed;
    rows.count = 1;
    assert_int_equal(rope_cos_sin(c->plan, &positions, 1, &rows), ROPE_OK);
    const double m = c->direction == ROPE_SHIFT     ? 1.0
                     : c->direction == ROPE_INVERSE ? 1.0 / still_m
                                                    : still_m;
    for (size_t i = 0; i < PAIRS; i++) {
        cos_row[i] = dtype_load(type, packed, i);
        sin_row[i] = dtype_load(type, packed, PAIRS + i);
        if (still_frequencies[i] == 0.0) {
            assert_true(cos_row[i] == dtype_round(type, m));
            assert_true(sin_row[i] == 0.0);
        } else {
            assert_true(fabs(cos_row[i] - m * cos(3.0 * still_frequencies[i])) < 0.02);
        }
    }
}

static void test_still_pairs(void **state)
{
    (void)state;
    struct rng rng = rng_make(6);
    static const unsigned char masks[] = {0x00, 0x01, 0x07, 0x80, 0xe0, 0x18,
                                          0x55, 0xaa, 0x7e, 0xfe, 0xff};
    test_f16_ties_for(rope_active_isa());
    for (size_t k = 0; k < sizeof masks; k++)
        for (int round = 0; round < (test_reduced() ? 1 : 64); round++) {
            double frequencies[PAIRS];
            unsigned char stands[PAIRS];
            rope_spec spec = ROPE_SPEC_INIT;
            rope_job job = ROPE_JOB_INIT;
            rope_positions positions = ROPE_POSITIONS_INIT;
            struct job_case c = {.map = &maps[0], .spec = &spec};
            for (size_t i = 0; i < PAIRS; i++)
                frequencies[i] = masks[k] >> i & 1 ? 0.0 : 1.0 / (double)(i + 1);
            still_frequencies = frequencies;
            spec.head_dim = HEAD_DIM;
            spec.rotary_dim = DIM;
            spec.rotary_offset = OFFSET;
            spec.scheme = ROPE_SCHEME_CUSTOM;
            spec.inv_freq = frequencies;
            spec.inv_freq_count = PAIRS;
            spec.pairing = round % 2 ? ROPE_INTERLEAVED : ROPE_HALF;
            spec.attention_factor = still_m = round % 3 ? 1.0 : 1.25;
            rope_plan *plan = create(&spec);
            c.plan = plan;
            c.type = (enum dtype)rng_below(&rng, DTYPES);
            c.eager = rng_below(&rng, 3) == 0;
            c.direction = (rope_direction)rng_below(&rng, 4);
            c.to = rng_below(&rng, 4) ? round % 2 : 1 - round % 2;
            c.in_place = c.to == round % 2 && rng_below(&rng, 2);
            for (size_t i = 0; i < PAIRS; i++)
                stands[i] = frequencies[i] == 0.0 && c.to == round % 2 &&
                            (still_m == 1.0 || c.direction == ROPE_SHIFT);
            positions.start = 3;
            positions.dtype = ROPE_I32;
            static const int32_t zero;
            positions.data = &zero;
            positions.stride_token = 0;
            job.positions = &positions;
            check_job(&c, &job, &rng, still_row, stands, "pairs that stand still");
            rope_plan_destroy(plan);
        }
    test_f16_ties_away(0);
}

/* ---- Skipping, refusing ---- */

/* Pairs of even number have axis 0, the others axis 1. */
static rope_plan *create_skipping(rope_spec *spec)
{
    static const int32_t axis[PAIRS] = {0, 1, 0, 1, 0, 1, 0, 1};
    spec->head_dim = DIM;
    spec->axes = 2;
    spec->pair_axis = axis;
    return create(spec);
}

/* The head is `before` turned by the true angles of its positions on both axes. */
static void check_turned(const float *head, const float *before, double time, double height)
{
    mpfr_t frequency, angle;
    mpfr_inits2(REFERENCE_BITS, frequency, angle, (mpfr_ptr)NULL);
    for (size_t i = 0; i < PAIRS; i++) {
        const double place = i % 2 ? height : time;
        struct reference_bounds entry[2];
        reference_frequency(frequency, 10000.0, 1.0, i, DIM);
        reference_angle(angle, place, frequency, 0);
        reference_cos_sin(DT_F32, angle, 1.0, 1.0, 1.0, reference_slack(place, 1.0), entry);
        int found = 0;
        for (int corner = 0; corner < 4; corner++) { /* bounds are one value but next to a tie */
            double right[2];
            reference_rotate(DT_F32, REFERENCE_FUSED, (double)before[i], (double)before[PAIRS + i],
                             corner % 2 ? entry[0].low : entry[0].high,
                             corner / 2 ? entry[1].low : entry[1].high, right);
            found |= (double)head[i] == right[0] && (double)head[PAIRS + i] == right[1];
        }
        if (!found)
            fail_msg("pair %zu at (%g, %g): got %a and %a", i, time, height, (double)head[i],
                     (double)head[PAIRS + i]);
    }
    mpfr_clears(frequency, angle, (mpfr_ptr)NULL);
}

/* Axis 0 alone says what is skipped; a negative position on another one is a position. */
static void test_skip(void **state)
{
    (void)state;
    static const int32_t time[TOKENS] = {5, -1, 7}, height[TOKENS] = {-2, 3, 4};
    rope_spec spec = ROPE_SPEC_INIT;
    rope_job job = ROPE_JOB_INIT;
    rope_tensor tensor = ROPE_TENSOR_INIT;
    const rope_positions init = ROPE_POSITIONS_INIT;
    rope_positions positions[2] = {init, init};
    float data[TOKENS][DIM], before[TOKENS][DIM];
    rope_plan *plan = create_skipping(&spec);
    for (size_t i = 0; i < TOKENS * DIM; i++)
        before[i / DIM][i % DIM] = data[i / DIM][i % DIM] = (float)i + 1.0f;
    positions[0].dtype = positions[1].dtype = ROPE_I32;
    positions[0].data = time;
    positions[1].data = height;
    tensor.dtype = ROPE_F32;
    tensor.src = tensor.dst = data;
    tensor.heads = 1;
    job.tokens = TOKENS;
    job.q = &tensor;
    job.positions = positions;
    job.flags = ROPE_SKIP_NEGATIVE;
    assert_int_equal(rope_rotate(plan, &job), ROPE_OK);
    check_turned(data[0], before[0], 5.0, -2.0);
    assert_memory_equal(data[1], before[1], sizeof data[1]);
    check_turned(data[2], before[2], 7.0, 4.0);
    rope_plan_destroy(plan);
}

/* A job of two axes that takes its rows by number: 2 batches of 3 tokens. */
struct skipping {
    rope_job job;
    rope_tensor tensor;
    rope_rows rows;
    rope_positions positions[2];
    int64_t numbers[2][BATCH * TOKENS];
    float cos[7][DIM], sin[7][DIM]; /* duplicated; of row r: r + 1 and 10 - r */
    float data[BATCH * TOKENS][DIM];
    char message[256];
};

static void reset_skipping(struct skipping *s, rope_rows_layout layout)
{
    static const int64_t numbers[2][BATCH * TOKENS] = {{3, -1, 0, -7, 6, 2}, {0, -1, 5, 4, 2, 6}};
    const rope_positions positions = ROPE_POSITIONS_INIT;
    const rope_rows rows = ROPE_ROWS_INIT;
    const rope_job job = ROPE_JOB_INIT;
    const rope_tensor tensor = ROPE_TENSOR_INIT;
    s->job = job, s->rows = rows, s->tensor = tensor;
    memcpy(s->numbers, numbers, sizeof numbers);
    for (int axis = 0; axis < 2; axis++) {
        s->positions[axis] = positions;
        s->positions[axis].dtype = ROPE_I64;
        s->positions[axis].data = s->numbers[axis];
        s->positions[axis].stride_batch = TOKENS;
    }
    for (size_t i = 0; i < 7 * DIM; i++) {
        s->cos[i / DIM][i % DIM] = (float)(i / DIM + 1);
        s->sin[i / DIM][i % DIM] = 10.0f - (float)(i / DIM);
    }
    for (size_t i = 0; i < BATCH * TOKENS * DIM; i++)
        s->data[i / DIM][i % DIM] = (float)i + 1.0f;
    s->rows.dtype = ROPE_F32;
    s->rows.layout = layout;
    s->rows.cos = s->cos;
    s->rows.sin = s->sin;
    s->rows.count = 7;
    s->rows.stride_row = DIM;
    s->tensor.dtype = ROPE_F32;
    s->tensor.src = s->tensor.dst = s->data;
    s->tensor.heads = 1;
    s->job.batch = BATCH;
    s->job.tokens = TOKENS;
    s->job.flags = ROPE_SKIP_NEGATIVE;
    s->job.q = &s->tensor;
    s->job.positions = s->positions;
    s->job.rows = &s->rows;
    s->job.message = s->message;
    s->job.message_size = sizeof s->message;
}

/* The number of a row as the header defines it. */
static int64_t number_of(const struct skipping *s, int axis, size_t b, size_t t)
{
    const rope_positions *p = &s->positions[axis];
    if (p->data == NULL)
        return p->start + (int64_t)t;
    return s->numbers[axis][b * (size_t)p->stride_batch + t];
}

/* Every token is rotated by the rows of its axes, or left alone where axis 0 is negative. */
static void accept_skipping(const rope_plan *plan, struct skipping *s, const char *what)
{
    if (rope_rotate(plan, &s->job) != ROPE_OK)
        fail_msg("%s: refused: %s", what, s->message);
    for (size_t at = 0; at < BATCH * TOKENS * DIM; at++) {
        const size_t b = at / DIM / TOKENS, t = at / DIM % TOKENS, i = at % PAIRS;
        const float before = (float)at + 1.0f;
        float right = before;
        if (number_of(s, 0, b, t) >= 0) { /* whole numbers: exact */
            const float row = (float)number_of(s, (int)i % 2, b, t);
            const float c = row + 1.0f, sine = 10.0f - row;
            right = at % DIM < PAIRS ? before * c - (before + PAIRS) * sine
                                     : before * c + (before - PAIRS) * sine;
        }
        if (s->data[at / DIM][at % DIM] != right)
            fail_msg("%s: batch %zu, token %zu, element %zu: %g, expected %g", what, b, t, at % DIM,
                     (double)s->data[at / DIM][at % DIM], (double)right);
    }
}

static void refuse_skipping(const rope_plan *plan, struct skipping *s, const char *value,
                            const char *what)
{
    float before[BATCH * TOKENS][DIM];
    memcpy(before, s->data, sizeof before);
    for (size_t part = 0; part < 2; part++)
        if (rope_rotate_part(plan, &s->job, part, 2) != ROPE_ERR_ROW || !strstr(s->message, value))
            fail_msg("%s: not refused for %s: %s", what, value, s->message);
    assert_memory_equal(s->data, before, sizeof before);
}

/*
 * With rows too axis 0 alone says what is skipped, and then no number of another axis counts; of a
 * token that is not skipped every axis must name a row.
 */
static void test_skip_rows(void **state)
{
    (void)state;
    static const rope_rows_layout layouts[] = {ROPE_ROWS_SEPARATE, ROPE_ROWS_DUP_HALF,
                                               ROPE_ROWS_DUP_PAIRS};
    struct skipping s;
    rope_spec spec = ROPE_SPEC_INIT;
    rope_plan *plan = create_skipping(&spec);
    for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
        reset_skipping(&s, layouts[l]);
        accept_skipping(plan, &s, "padding");
        static const int64_t others[] = {-1, INT64_MIN, 7, INT64_MAX};
        for (size_t i = 0; i < 4; i++) {
            reset_skipping(&s, layouts[l]);
            s.numbers[1][1] = others[i];
            accept_skipping(plan, &s, "any number on axis 1 of a token left out");
            char value[40];
            snprintf(value, sizeof value, "positions.data[1, 2]: row %" PRId64, others[i]);
            s.numbers[1][5] = others[i];
            refuse_skipping(plan, &s, value, "axis 1 of a token that is rotated");
            reset_skipping(&s, layouts[l]);
            s.job.flags = 0;
            refuse_skipping(plan, &s, "positions.data[0, 1]: row -1", "no flag");
            for (size_t at = 0; at < BATCH * TOKENS; at++)
                s.numbers[0][at] = 1;
            refuse_skipping(plan, &s, "positions.data[0, 1]: row -1", "no flag, axis 1");
        }
    }

    reset_skipping(&s, ROPE_ROWS_SEPARATE); /* both batches have the same numbers on axis 1 */
    s.positions[1].stride_batch = 0;
    s.numbers[1][0] = -2, s.numbers[1][1] = 4;
    s.numbers[0][0] = -1;
    accept_skipping(plan, &s, "shared, left out in both");
    reset_skipping(&s, ROPE_ROWS_SEPARATE);
    s.positions[1].stride_batch = 0;
    s.numbers[1][0] = -2;
    s.numbers[0][0] = -1, s.numbers[0][3] = 3;
    refuse_skipping(plan, &s, "positions.data[1, 0]: row -2", "shared, left out in one");

    reset_skipping(&s, ROPE_ROWS_SEPARATE); /* the same without memory */
    s.positions[1].data = NULL, s.positions[1].dtype = 0, s.positions[1].start = -1;
    s.numbers[0][0] = -1;
    accept_skipping(plan, &s, "a range, left out in both");
    reset_skipping(&s, ROPE_ROWS_SEPARATE);
    s.positions[1].data = NULL, s.positions[1].dtype = 0, s.positions[1].start = -1;
    s.numbers[0][0] = -1, s.numbers[0][3] = 3;
    refuse_skipping(plan, &s, "positions.data[1, 0]: row -1", "a range, left out in one");

    reset_skipping(&s, ROPE_ROWS_DUP_HALF); /* what only a token left out names is not read */
    s.numbers[1][1] = 1;
    s.cos[1][0] = 77.0f;
    accept_skipping(plan, &s, "a row that is no duplicate, of a token left out");
    s.numbers[1][2] = 1;
    refuse_skipping(plan, &s, "rows.cos: row 1", "a row that is no duplicate");
    rope_plan_destroy(plan);
}

static void refuse_spec(rope_spec *spec, rope_status status, const char *field)
{
    char message[256] = "";
    rope_plan *plan = (rope_plan *)(void *)message;
    spec->message = message;
    spec->message_size = sizeof message;
    const rope_status got = rope_plan_create(spec, &plan);
    if (got != status || !strstr(message, field))
        fail_msg("expected \"%s\" about %s, got \"%s\": %s", rope_status_string(status), field,
                 rope_status_string(got), message);
    assert_null(plan);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        rope_axis_layout layout;
        int32_t sections[5];
        size_t section_count;
        const char *field;
    } bad[] = {
        {ROPE_AXES_SECTIONS, {2, 3, 2}, 3, "sections"}, /* sum 7 */
        {ROPE_AXES_SECTIONS, {2, 3, 4}, 3, "sections"}, /* sum 9 */
        {ROPE_AXES_SECTIONS, {-1, 5, 4}, 3, "sections[0]"},
        {ROPE_AXES_SECTIONS, {8}, 0, "section_count"},
        {ROPE_AXES_SECTIONS, {INT32_MAX, INT32_MAX, 10}, 3, "sections"},
        {ROPE_AXES_INTERLEAVED, {4, 4}, 2, "section_count"},
        {ROPE_AXES_INTERLEAVED, {4, 2, 1, 1}, 4, "section_count"},
        {ROPE_AXES_GGML_MROPE, {0, 0, 0, 0}, 4, "sections"},
        {ROPE_AXES_GGML_MROPE, {4, 4, 4, 0}, 4, "sections"}, /* sum 12 */
        {ROPE_AXES_GGML_MROPE, {1, -1, 0, 0}, 4, "sections[1]"},
        {ROPE_AXES_GGML_MROPE, {4, 2, 2}, 3, "section_count"},
        {ROPE_AXES_GGML_IMROPE, {0, 0, 0, 0}, 4, "sections"},
        {ROPE_AXES_ERNIE, {2, 4, 2}, 3, "sections"},
        {ROPE_AXES_CYCLIC, {2, 2, 2, 2}, 4, "section_count"},
        {ROPE_AXES_RESTART, {2, 3, 2}, 3, "sections"},
        {ROPE_AXES_GGML_VISION, {0, 0, 0, 0}, 4, "sections"},
        {ROPE_AXES_PIXTRAL, {8}, 1, "section"},
        {ROPE_AXES_ONE, {8}, 1, "section"},
        {-1, {0}, 0, "axis_layout"},
        {10, {0}, 0, "axis_layout"},
        {INT32_MIN, {0}, 0, "axis_layout"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rope_spec spec = ROPE_SPEC_INIT;
        spec.head_dim = DIM;
        spec.axis_layout = bad[i].layout;
        spec.sections = bad[i].section_count ? bad[i].sections : NULL;
        spec.section_count = bad[i].section_count;
        refuse_spec(&spec, ROPE_ERR_VALUE, bad[i].field);
    }
    int32_t map[PAIRS] = {0, 1, 2, 0, 1, 2, 0, 1};
    rope_spec spec = ROPE_SPEC_INIT;
    spec.head_dim = DIM;
    spec.axis_layout = ROPE_AXES_SECTIONS;
    spec.section_count = 3;
    refuse_spec(&spec, ROPE_ERR_NULL, "sections");
    spec.axis_layout = ROPE_AXES_ONE;
    spec.section_count = 0;
    spec.pair_axis = map;
    spec.axes = 2;
    refuse_spec(&spec, ROPE_ERR_VALUE, "pair_axis[2]");
    map[2] = -1;
    spec.axes = 3;
    refuse_spec(&spec, ROPE_ERR_VALUE, "pair_axis[2]");
    spec.axes = 9;
    refuse_spec(&spec, ROPE_ERR_VALUE, "axes");
    spec.axes = SIZE_MAX;
    refuse_spec(&spec, ROPE_ERR_VALUE, "axes");
    map[2] = PAIRS;
    spec.axes = 1;
    spec.pair_axis = NULL;
    spec.pair_freq = map;
    refuse_spec(&spec, ROPE_ERR_VALUE, "pair_freq[2]");
    spec.axis_layout = ROPE_AXES_PIXTRAL;
    spec.axes = 0;
    refuse_spec(&spec, ROPE_ERR_VALUE, "pair_freq");
    spec.pair_freq = NULL;
    spec.axes = 3;
    refuse_spec(&spec, ROPE_ERR_VALUE, "axes");

    static const size_t chunks[] = {1, 3, 6, 10, 12, 32, SIZE_MAX};
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        rope_spec chunked = ROPE_SPEC_INIT;
        chunked.head_dim = DIM;
        chunked.pairing_chunk = chunks[i];
        refuse_spec(&chunked, ROPE_ERR_VALUE, "pairing_chunk");
    }
}

/* Positions of all axes are checked: an error on the last one leaves no trace. */
static void test_bad_positions(void **state)
{
    (void)state;
    rope_spec spec = ROPE_SPEC_INIT;
    rope_job job = ROPE_JOB_INIT;
    rope_tensor tensor = ROPE_TENSOR_INIT;
    const rope_positions init = ROPE_POSITIONS_INIT;
    rope_positions positions[3] = {init, init, init};
    int64_t places[3][TOKENS] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    float data[TOKENS * DIM], before[TOKENS * DIM];
    static const int32_t sections[3] = {2, 3, 3};
    char message[256];
    spec.head_dim = DIM;
    spec.axis_layout = ROPE_AXES_SECTIONS;
    spec.sections = sections;
    spec.section_count = 3;
    rope_plan *plan = create(&spec);
    for (size_t i = 0; i < TOKENS * DIM; i++)
        before[i] = data[i] = 0.0f; /* good positions too, when read as such */
    for (int a = 0; a < 3; a++) {
        positions[a].dtype = ROPE_I64;
        positions[a].data = places[a];
    }
    tensor.dtype = ROPE_F32;
    tensor.src = tensor.dst = data;
    tensor.heads = 1;
    job.tokens = TOKENS;
    job.q = &tensor;
    job.positions = positions;
    job.message = message;
    job.message_size = sizeof message;
    for (int a = 0; a < 3; a++) {
        places[a][2] = INT64_C(1) << 31;
        message[0] = 0;
        assert_int_equal(rope_rotate(plan, &job), ROPE_ERR_POSITION);
        assert_non_null(strstr(message, "2147483648"));
        places[a][2] = 0;
        positions[a].struct_size--;
        assert_int_equal(rope_rotate(plan, &job), ROPE_ERR_STRUCT);
        positions[a].struct_size++;
        positions[a].dtype = ROPE_BF16;
        assert_int_equal(rope_rotate(plan, &job), ROPE_ERR_DTYPE);
        positions[a].dtype = ROPE_I64;
        positions[a].stride_token = PTRDIFF_MIN;
        assert_int_equal(rope_rotate(plan, &job), ROPE_ERR_SIZE);
        positions[a].stride_token = 1;
        positions[a].data = data; /* the destination */
        assert_int_equal(rope_rotate(plan, &job), ROPE_ERR_ALIAS);
        positions[a].data = places[a];
        assert_memory_equal(data, before, sizeof data);
    }
    assert_int_equal(rope_rotate(plan, &job), ROPE_OK);
    rope_plan_destroy(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maps),           cmocka_unit_test(test_model_maps),
        cmocka_unit_test(test_equal_axes),     cmocka_unit_test(test_rotate),
        cmocka_unit_test(test_rotate_by_rows), cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_still_pairs),    cmocka_unit_test(test_skip),
        cmocka_unit_test(test_skip_rows),      cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_bad_positions),
    };
    return cmocka_run_group_tests_name("axes", tests, NULL, NULL);
}
