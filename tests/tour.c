/* SPDX-License-Identifier: Apache-2.0 */
/* The list of calls of tour.h.  Sees public headers only. */
#include "tour.h"
#include "support.h"

#ifdef ROPE_TEST_CONFIG
#include "rope/rope_config.h"
#endif

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* WIDE: more pairs than a kernel takes at once. */
enum { PAIRS = 20, DIM = 2 * PAIRS, WIDE_PAIRS = 300, WIDE = 2 * WIDE_PAIRS };
enum { BATCH = 1, TOKENS = 3, Q_HEADS = 2, K_HEADS = 1, AXES = 3, ROWS = 5 };
enum { SIDE = TOKENS * Q_HEADS * WIDE * 8, TABLE = ROWS * WIDE * 8, EQUAL = ROWS * DIM * 8 };
enum { CALLS_MAX = 600, ROOM = 1 << 20 };

/* ---- Plans ----------------------------------------------------------------------------------- */

enum which {
    PLAN_HALF,
    PLAN_INTERLEAVED,
    PLAN_F32_ANGLE,
    PLAN_AXES,
    PLAN_XPOS,
    PLAN_SCALED, /* m is not 1 */
    PLAN_PART,   /* a slice within the head */
    PLAN_CHUNKS,
    PLAN_WIDE,
    PLAN_WIDE_XPOS,
    PLANS
};

struct tour_plans {
    rope_plan *plan[PLANS];
#ifdef ROPE_TEST_CONFIG
    rope_config *config;
#endif
};

static const int32_t sections[AXES] = {8, 6, 6};

static rope_spec spec_of(enum which which)
{
    const int wide = which == PLAN_WIDE || which == PLAN_WIDE_XPOS;
    rope_spec spec = spec_default(wide ? WIDE : DIM, 10000.0);
    switch (which) {
    case PLAN_INTERLEAVED:
        spec.pairing = ROPE_INTERLEAVED;
        break;
    case PLAN_F32_ANGLE:
        spec.angle = ROPE_ANGLE_F32;
        break;
    case PLAN_AXES:
        spec.axis_layout = ROPE_AXES_SECTIONS;
        spec.sections = sections;
        spec.section_count = AXES;
        break;
    case PLAN_XPOS:
    case PLAN_WIDE_XPOS:
        spec.xpos_base = 512.0;
        break;
    case PLAN_SCALED:
        spec.attention_factor = 1.25;
        break;
    case PLAN_PART:
        spec.head_dim = DIM + 13;
        spec.rotary_dim = DIM;
        spec.rotary_offset = 8;
        break;
    case PLAN_CHUNKS:
        spec.pairing_chunk = 8;
        break;
    default:
        break;
    }
    return spec;
}

#ifdef ROPE_TEST_CONFIG
/* The text goes 64 objects and arrays deep, as far as it may. */
#define DEEP8(c)  c c c c c c c c
#define DEEP31(c) DEEP8(c) DEEP8(c) DEEP8(c) c c c c c c c
static const char deep_text[] =
    "{\"head_dim\": 64, \"a\": " DEEP31("{\"a\": [") " [0.1] " DEEP31("]}") "}";

static const char config_text[] =
    "{\"model_type\": \"gemma3_text\", \"head_dim\": 16, \"num_hidden_layers\": 6, \"strange\": 1,"
    " \"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 8.1}, \"rope_theta\": 1000000.3}";
#endif

struct tour_plans *tour_plans_make(void)
{
    struct tour_plans *plans = calloc(1, sizeof *plans);
    assert_non_null(plans);
    for (enum which which = 0; which < PLANS; which++)
        plans->plan[which] = plan_from(spec_of(which));
#ifdef ROPE_TEST_CONFIG
    assert_int_equal(rope_config_parse(config_text, sizeof config_text - 1, NULL, &plans->config),
                     ROPE_OK);
#endif
    return plans;
}

void tour_plans_free(struct tour_plans *plans)
{
    for (enum which which = 0; which < PLANS; which++)
        rope_plan_destroy(plans->plan[which]);
#ifdef ROPE_TEST_CONFIG
    rope_config_destroy(plans->config);
#endif
    free(plans);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* All that calls read or write and a checksum sees. */
struct memory {
    _Alignas(64) unsigned char q[DTYPES][SIDE]; /* values of each type */
    unsigned char k[DTYPES][SIDE / 2];
    unsigned char cosines[DTYPES][TABLE], sines[DTYPES][TABLE];
    unsigned char equal[DTYPES][EQUAL]; /* one value throughout: rows of true duplicates */
    unsigned char out[2][SIDE];
    double answers[2][WIDE_PAIRS];
    double fractions[AXES][TOKENS];
    int64_t numbers[AXES][TOKENS]; /* of rows as well */
    float scales[TOKENS];
    char message[320];
    rope_info info;
#ifdef ROPE_TEST_CONFIG
    rope_query_scale query_scale;
#endif
};

struct tour {
    const struct tour_plans *plans;
    struct memory *now, *first;
    struct call *calls;
    size_t count;
    char *room; /* descriptors */
    size_t used;
    rope_plan *plan; /* what a call made, or is to destroy */
    rope_self_test_report report;
#ifdef ROPE_TEST_CONFIG
    rope_plan *config_plans[2];
    rope_config *config;
    rope_config_entry entry; /* has pointers, so is in no checksum */
#endif
};

static void *take(struct tour *tour, const void *init, size_t size)
{
    void *taken = tour->room + tour->used;
    tour->used += (size + 15) / 16 * 16;
    assert_true(tour->used <= ROOM);
    memcpy(taken, init, size);
    return taken;
}

static void fill_memory(struct memory *memory)
{
    struct rng rng = rng_make(77);
    for (int t = 0; t < DTYPES; t++) {
        const enum dtype type = (enum dtype)t;
        for (size_t i = 0; i < SIDE / 8; i++)
            dtype_store(type, memory->q[t], i, rng_real(&rng, 4.0));
        for (size_t i = 0; i < SIDE / 16; i++)
            dtype_store(type, memory->k[t], i, rng_real(&rng, 4.0));
        for (size_t i = 0; i < TABLE / 8; i++) {
            dtype_store(type, memory->cosines[t], i, rng_real(&rng, 1.0));
            dtype_store(type, memory->sines[t], i, rng_real(&rng, 1.0));
        }
        for (size_t i = 0; i < EQUAL / dtype_size(type); i++)
            dtype_store(type, memory->equal[t], i, 0.75);
    }
    for (size_t t = 0; t < TOKENS; t++) {
        memory->scales[t] = 1.0f + 0.25f * (float)t;
        for (size_t axis = 0; axis < AXES; axis++) {
            memory->numbers[axis][t] = (int64_t)(t + axis) % ROWS;
            memory->fractions[axis][t] = 1000.25 * (double)(t + 1) + (double)axis;
        }
    }
    canary_fill(memory->out, sizeof memory->out);
}

/* ---- The list -------------------------------------------------------------------------------- */

static struct call *add(struct tour *tour, const char *name, const char *what,
                        void (*function)(void), rope_status status)
{
    assert_true(tour->count < CALLS_MAX);
    struct call *call = &tour->calls[tour->count++];
    call->name = name;
    snprintf(call->what, sizeof call->what, "%s", what);
    call->function = function;
    call->status = status;
    return call;
}

#define ADD(name, what, status) add(tour, #name, what, (void (*)(void))name, status)

static uintptr_t address(const void *pointer)
{
    return (uintptr_t)pointer;
}

static rope_job *new_job(struct tour *tour)
{
    const rope_job init = ROPE_JOB_INIT;
    rope_job *job = take(tour, &init, sizeof init);
    job->batch = BATCH;
    job->tokens = TOKENS;
    job->message = tour->now->message;
    job->message_size = sizeof tour->now->message;
    return job;
}

/* One descriptor for each axis. */
static rope_positions *new_positions(struct tour *tour, int fractional)
{
    rope_positions positions[AXES];
    for (size_t axis = 0; axis < AXES; axis++) {
        const rope_positions init = ROPE_POSITIONS_INIT;
        positions[axis] = init;
        positions[axis].dtype = fractional ? ROPE_F64 : ROPE_I64;
        positions[axis].data = fractional ? (const void *)tour->now->fractions[axis]
                                          : (const void *)tour->now->numbers[axis];
        positions[axis].start = fractional ? -1 : (INT64_C(1) << 21) + 77; /* three factors */
    }
    return take(tour, positions, sizeof positions);
}

static rope_tensor *new_tensor(struct tour *tour, enum dtype type, int is_k, size_t dim, int out)
{
    const rope_tensor init = ROPE_TENSOR_INIT;
    rope_tensor *tensor = take(tour, &init, sizeof init);
    unsigned char *data = is_k ? tour->now->k[type] : tour->now->q[type];
    tensor->dtype = (rope_dtype)type + ROPE_F32;
    tensor->src = data;
    tensor->dst = out ? tour->now->out[is_k] : data;
    tensor->heads = is_k ? K_HEADS : Q_HEADS;
    tensor->head_dim = dim;
    return tensor;
}

static rope_rows *new_rows(struct tour *tour, enum dtype type, rope_rows_layout layout)
{
    const rope_rows init = ROPE_ROWS_INIT;
    rope_rows *rows = take(tour, &init, sizeof init);
    rows->dtype = (rope_dtype)type + ROPE_F32;
    rows->layout = layout;
    rows->cos = tour->now->cosines[type];
    rows->sin =
        layout == ROPE_ROWS_PACKED || layout == ROPE_ROWS_PAIRS ? NULL : tour->now->sines[type];
    rows->count = ROWS;
    rows->message = tour->now->message;
    rows->message_size = sizeof tour->now->message;
    return rows;
}

static void add_rotation(struct tour *tour, const char *what, enum which plan, rope_job *job)
{
    const rope_tensor *const sides[2] = {job->q, job->k};
    struct call *call = ADD(rope_rotate, what, ROPE_OK);
    call->arguments[0] = job->rotary_dim == 0 ? address(tour->plans->plan[plan]) : 0;
    call->arguments[1] = address(job);
    call->dtype = job->q->dtype;
    for (int side = 0; side < 2 && plan != PLAN_F32_ANGLE; side++)
        if (sides[side] != NULL && sides[side]->dtype == call->dtype) {
            call->results[side] = sides[side]->dst;
            call->counts[side] = TOKENS * sides[side]->heads * DIM;
        }
}

static rope_job *plain_job(struct tour *tour, enum dtype type, int out)
{
    rope_job *job = new_job(tour);
    job->q = new_tensor(tour, type, 0, 0, out);
    job->k = new_tensor(tour, type, 1, 0, out);
    job->positions = new_positions(tour, 0);
    return job;
}

/* Every rotation kernel: types, pairings, arithmetic. */
static void add_kernels(struct tour *tour)
{
    static const char *const ariths[] = {"fused", "eager", "unfused"};
    for (int t = 0; t < DTYPES; t++)
        for (rope_arith arith = ROPE_ARITH_FUSED; arith <= ROPE_ARITH_UNFUSED; arith++)
            for (int from = 0; from < 2; from++)
                for (int to = 0; to < 2; to++) {
                    char what[56];
                    snprintf(what, sizeof what, "%s %s %d to %d", dtype_name((enum dtype)t),
                             ariths[arith], from, to);
                    rope_job *job = plain_job(tour, (enum dtype)t, from != to);
                    job->arith = arith;
                    job->pairing_out = ROPE_OUT_HALF + to;
                    add_rotation(tour, what, from ? PLAN_INTERLEAVED : PLAN_HALF, job);
                }
}

/* Every way to a row: plans, kinds of positions, types of rows. */
static void add_ways(struct tour *tour)
{
    static const struct {
        const char *what;
        enum which plan;
    } ways[] = {{"plain", PLAN_HALF},         {"f32 angles", PLAN_F32_ANGLE},
                {"three axes", PLAN_AXES},    {"xPos", PLAN_XPOS},
                {"m", PLAN_SCALED},           {"a slice", PLAN_PART},
                {"chunks", PLAN_CHUNKS},      {"wide", PLAN_WIDE},
                {"wide xPos", PLAN_WIDE_XPOS}};
    for (size_t w = 0; w < COUNT(ways); w++)
        for (int t = 0; t < DTYPES; t++)
            for (int fractional = 0; fractional < 2; fractional++) {
                char what[56];
                snprintf(what, sizeof what, "%s %s%s", ways[w].what, dtype_name((enum dtype)t),
                         fractional ? " fractional" : "");
                rope_job *job = plain_job(tour, (enum dtype)t, fractional);
                rope_positions *positions = new_positions(tour, fractional);
                if (!fractional && spec_of(ways[w].plan).xpos_base != 0.0)
                    positions->start = 77; /* its powers stay in range */
                job->positions = positions;
                job->row_dtype = t == DT_F64 && fractional ? ROPE_BF16 : 0;
                add_rotation(tour, what, ways[w].plan, job);
            }
    for (rope_direction direction = ROPE_FORWARD; direction <= ROPE_SHIFT; direction++) {
        rope_job *job = plain_job(tour, DT_F32, 0);
        job->direction = direction;
        add_rotation(tour, "a direction", PLAN_SCALED, job);
    }
    for (int t = 0; t < 2; t++) {
        rope_job *job = plain_job(tour, t ? DT_BF16 : DT_F64, 0);
        rope_tensor *scaled = new_tensor(tour, t ? DT_BF16 : DT_F64, 0, 0, 0);
        scaled->scale = tour->now->scales;
        scaled->scale_dtype = ROPE_F32;
        job->q = scaled;
        job->arith = t ? ROPE_ARITH_EAGER : ROPE_ARITH_FUSED;
        job->row_dtype = t ? ROPE_F16 : 0;
        add_rotation(tour, "scales of tokens", PLAN_WIDE, job);
        job = plain_job(tour, t ? DT_BF16 : DT_F64, 0);
        job->k = new_tensor(tour, DT_F16, 1, 0, 1); /* a row of another type */
        job->flags = ROPE_SKIP_NEGATIVE;
        add_rotation(tour, "two types", PLAN_WIDE, job);
    }
}

/* Rows of the caller, of every type and layout, with a plan and without. */
static void add_rows(struct tour *tour)
{
    for (int t = 0; t < DTYPES; t++)
        for (rope_rows_layout layout = ROPE_ROWS_PACKED; layout <= ROPE_ROWS_DUP_PAIRS; layout++)
            for (int data = DT_F32; data <= DT_F64; data++) {
                char what[56];
                snprintf(what, sizeof what, "%s rows, layout %d, %s", dtype_name((enum dtype)t),
                         (int)layout, dtype_name((enum dtype)data));
                rope_job *job = plain_job(tour, (enum dtype)data, 0);
                rope_positions *numbers = new_positions(tour, 0);
                rope_rows *rows = new_rows(tour, (enum dtype)t, layout);
                numbers->start = 0;
                job->positions = numbers;
                job->rows = rows;
                job->k = NULL;
                if (layout % 2) {
                    job->rotary_dim = DIM;
                    job->q = new_tensor(tour, (enum dtype)data, 0, DIM, 0);
                }
                if (layout >= ROPE_ROWS_DUP_HALF)
                    rows->cos = rows->sin = tour->now->equal[t];
                add_rotation(tour, what, PLAN_HALF, job);
            }
    rope_job *job = plain_job(tour, DT_F32, 0);
    rope_positions *numbers = new_positions(tour, 0);
    for (size_t axis = 0; axis < AXES; axis++)
        numbers[axis].start = 0;
    job->positions = numbers;
    job->rows = new_rows(tour, DT_BF16, ROPE_ROWS_PAIRS);
    add_rotation(tour, "rows of three axes", PLAN_AXES, job);
}

static void add_parts(struct tour *tour)
{
    rope_job *job = plain_job(tour, DT_F32, 1);
    for (size_t part = 0; part < 2; part++) {
        struct call *call = ADD(rope_rotate_part, part ? "second" : "first", ROPE_OK);
        call->arguments[0] = address(tour->plans->plan[PLAN_HALF]);
        call->arguments[1] = address(job);
        call->arguments[2] = part;
        call->arguments[3] = 2;
    }
    for (int t = 0; t < DTYPES; t++) {
        struct call *call = ADD(rope_shift, dtype_name((enum dtype)t), ROPE_OK);
        call->arguments[0] = address(tour->plans->plan[PLAN_SCALED]);
        call->arguments[1] = address(plain_job(tour, (enum dtype)t, 0));
    }
}

static void add_tables(struct tour *tour)
{
    static const enum which plans[] = {PLAN_HALF, PLAN_F32_ANGLE, PLAN_AXES, PLAN_WIDE};
    for (size_t p = 0; p < COUNT(plans); p++)
        for (int t = 0; t < DTYPES; t++)
            for (rope_rows_layout layout = ROPE_ROWS_PACKED; layout <= ROPE_ROWS_DUP_PAIRS;
                 layout++) {
                char what[56];
                snprintf(what, sizeof what, "plan %zu, %s, layout %d", p, dtype_name((enum dtype)t),
                         (int)layout);
                rope_rows *rows = new_rows(tour, (enum dtype)t, layout);
                struct call *call = ADD(rope_cos_sin, what, ROPE_OK);
                call->arguments[0] = address(tour->plans->plan[plans[p]]);
                call->arguments[1] = address(new_positions(tour, layout == ROPE_ROWS_PAIRS));
                call->arguments[2] = TOKENS;
                call->arguments[3] = address(rows);
                call->dtype = rows->dtype;
                call->results[0] = rows->cos;
                call->counts[0] =
                    plans[p] == PLAN_F32_ANGLE
                        ? 0
                        : (size_t)TOKENS * (layout == ROPE_ROWS_SEPARATE ? PAIRS : DIM);
            }
}

static rope_sinusoid *new_sinusoid(struct tour *tour, enum dtype type, int table)
{
    const rope_sinusoid init = ROPE_SINUSOID_INIT;
    rope_sinusoid *sinusoid = take(tour, &init, sizeof init);
    sinusoid->dtype = (rope_dtype)type + ROPE_F32;
    sinusoid->tokens = TOKENS;
    sinusoid->positions = new_positions(tour, type == DT_F16);
    sinusoid->src = table ? NULL : tour->now->q[type];
    sinusoid->dst = table ? tour->now->out[0] : tour->now->q[type];
    sinusoid->dropout = table ? 0.0 : 0.25;
    sinusoid->message = tour->now->message;
    sinusoid->message_size = sizeof tour->now->message;
    return sinusoid;
}

static void add_sinusoids(struct tour *tour)
{
    static const enum which plans[] = {PLAN_HALF, PLAN_INTERLEAVED, PLAN_WIDE};
    for (size_t p = 0; p < COUNT(plans); p++)
        for (int t = 0; t < DTYPES; t++) {
            const uintptr_t plan = address(tour->plans->plan[plans[p]]);
            const char *what = dtype_name((enum dtype)t);
            struct call *sum = ADD(rope_sinusoid_add, what, ROPE_OK);
            sum->arguments[0] = plan;
            sum->arguments[1] = address(new_sinusoid(tour, (enum dtype)t, 0));
            struct call *table = ADD(rope_sinusoid_table, what, ROPE_OK);
            table->arguments[0] = plan;
            table->arguments[1] = address(new_sinusoid(tour, (enum dtype)t, 1));
            struct call *part = ADD(rope_sinusoid_add_part, what, ROPE_OK);
            rope_sinusoid *longer = new_sinusoid(tour, (enum dtype)t, 0);
            longer->dim = (plans[p] == PLAN_WIDE ? WIDE : DIM) + 5;
            part->arguments[0] = plan;
            part->arguments[1] = address(longer);
            part->arguments[2] = 1;
            part->arguments[3] = 2;
        }
}

static void add_permutations(struct tour *tour)
{
    for (int t = 0; t < DTYPES; t++)
        for (int out = 0; out < 2; out++) {
            const rope_permutation init = ROPE_PERMUTATION_INIT;
            rope_permutation *permutation = take(tour, &init, sizeof init);
            permutation->dtype = (rope_dtype)t + ROPE_F32;
            permutation->to = ROPE_INTERLEAVED;
            permutation->heads = 2;
            permutation->head_dim = 16;
            permutation->row_length = 112;
            permutation->src = tour->now->q[t];
            permutation->dst = out ? tour->now->out[0] : tour->now->q[t];
            ADD(rope_permute, out ? "out of place" : "in place", ROPE_OK)->arguments[0] =
                address(permutation);
        }
}

/* ---- Making plans ---------------------------------------------------------------------------- */

enum { FEW_PAIRS = 8, FEW = 2 * FEW_PAIRS };

static rope_spec *new_spec(struct tour *tour, rope_scheme scheme)
{
    static const double lists[3][FEW_PAIRS] = {
        {1.0, 0.5, 0.25, 0.125, 0.06, 0.03, 0.01, 0.0},
        {1.0, 1.0, 1.0, 1.5, 2.0, 4.0, 8.0, 64.0},
        {1.0, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6},
    };
    rope_spec init = spec_default(FEW, 10000.0);
    init.scheme = scheme;
    init.message = tour->now->message;
    init.message_size = sizeof tour->now->message;
    switch (scheme) {
    case ROPE_SCHEME_DEFAULT:
        init.divisors = lists[1];
        init.divisor_count = FEW_PAIRS;
        break;
    case ROPE_SCHEME_CUSTOM:
        init.theta = 0.0;
        init.inv_freq = lists[0];
        init.inv_freq_count = FEW_PAIRS;
        break;
    case ROPE_SCHEME_DYNAMIC_NTK:
        init.length = 9000;
        init.max_length = 4096;
        init.factor = 4.0;
        break;
    case ROPE_SCHEME_YARN:
        init.factor = 4.0;
        init.original_length = 4096;
        break;
    case ROPE_SCHEME_LONGROPE:
        init.factor = 4.0;
        init.original_length = 4096;
        init.length = 9000;
        init.short_factor = lists[2];
        init.long_factor = lists[1];
        init.factor_count = FEW_PAIRS;
        break;
    case ROPE_SCHEME_LLAMA3:
        init.factor = 8.0;
        init.original_length = 8192;
        init.low_freq_factor = 1.0;
        init.high_freq_factor = 4.0;
        break;
    case ROPE_SCHEME_PROPORTIONAL:
        init.active_pairs = 3;
        break;
    case ROPE_SCHEME_SINUSOID:
        init.shift = 1.0;
        break;
    default:
        init.factor = 2.5;
        break;
    }
    return take(tour, &init, sizeof init);
}

static void add_creation(struct tour *tour, const char *what, const rope_spec *spec)
{
    struct call *call = ADD(rope_plan_create, what, ROPE_OK);
    call->kind = CALL_CREATES;
    call->arguments[0] = address(spec);
    call->arguments[1] = address(&tour->plan);
}

static void add_creations(struct tour *tour)
{
    static const int32_t four[] = {2, 2, 2, 2}, three[] = {2, 3, 3}, equal[] = {3, 3, 2};
    static const int32_t axis_of[FEW_PAIRS] = {0, 1, 2, 0, 1, 2, 0, 1};
    static const int32_t freq_of[FEW_PAIRS] = {7, 6, 5, 4, 3, 2, 1, 0};
    char what[56];
    for (rope_scheme scheme = ROPE_SCHEME_DEFAULT; scheme <= ROPE_SCHEME_SINUSOID; scheme++) {
        snprintf(what, sizeof what, "scheme %d", (int)scheme);
        add_creation(tour, what, new_spec(tour, scheme));
    }
    for (rope_axis_layout layout = ROPE_AXES_ONE; layout <= ROPE_AXES_GGML_VISION; layout++) {
        rope_spec *spec = new_spec(tour, ROPE_SCHEME_LINEAR);
        const int is_ggml = layout == ROPE_AXES_GGML_MROPE || layout == ROPE_AXES_GGML_IMROPE ||
                            layout == ROPE_AXES_GGML_VISION;
        spec->axis_layout = layout;
        if (layout == ROPE_AXES_ONE) {
            spec->axes = AXES;
            spec->pair_axis = axis_of;
            spec->pair_freq = freq_of;
        } else if (layout != ROPE_AXES_PIXTRAL) {
            spec->sections = is_ggml ? four : layout == ROPE_AXES_ERNIE ? equal : three;
            spec->section_count = is_ggml ? 4 : 3;
        }
        snprintf(what, sizeof what, "axes %d", (int)layout);
        add_creation(tour, what, spec);
    }
    rope_spec *spec = new_spec(tour, ROPE_SCHEME_YARN);
    spec->angle = ROPE_ANGLE_F32;
    add_creation(tour, "f32 angles", spec);
    spec = new_spec(tour, ROPE_SCHEME_NTK);
    spec->xpos_base = 512.0;
    add_creation(tour, "xPos", spec);

    struct call *between = ADD(rope_plan_between, "", ROPE_OK);
    between->kind = CALL_CREATES;
    between->arguments[0] = address(tour->plans->plan[PLAN_HALF]);
    between->arguments[1] = address(tour->plans->plan[PLAN_SCALED]);
    between->arguments[2] = address(&tour->plan);
    ADD(rope_plan_destroy, "", ROPE_OK)->kind = CALL_DESTROYS;
}

/* ---- Refusals: each formats a message -------------------------------------------------------- */

static void add_refusals(struct tour *tour)
{
    rope_spec *spec = new_spec(tour, ROPE_SCHEME_LINEAR);
    spec->factor = -1.2345678901234567e-300;
    struct call *call = ADD(rope_plan_create, "refused", ROPE_ERR_VALUE);
    call->arguments[0] = address(spec);
    call->arguments[1] = address(&tour->plan);

    rope_job *job = plain_job(tour, DT_F32, 1);
    rope_tensor *tensor = new_tensor(tour, DT_F32, 0, 0, 1);
    tensor->dst_stride_head = DIM - 1;
    job->q = tensor;
    call = ADD(rope_rotate, "refused stride", ROPE_ERR_STRIDE);
    call->arguments[0] = address(tour->plans->plan[PLAN_HALF]);
    call->arguments[1] = address(job);
    job = plain_job(tour, DT_F32, 1);
    rope_positions *positions = new_positions(tour, 1);
    positions->start = INT64_C(1) << 40;
    job->positions = positions;
    call = ADD(rope_rotate, "refused position", ROPE_ERR_POSITION);
    call->arguments[0] = address(tour->plans->plan[PLAN_HALF]);
    call->arguments[1] = address(job);
    job = plain_job(tour, DT_F32, 1);
    job->struct_size += 16; /* reaches the struct behind it, whatever lies between */
    call = ADD(rope_shift, "refused size", ROPE_ERR_STRUCT); /* the message pointer lies behind */
    call->arguments[1] = address(job);

    rope_rows *rows = new_rows(tour, DT_F32, ROPE_ROWS_PACKED);
    rows->count = 1;
    call = ADD(rope_cos_sin, "refused", ROPE_ERR_VALUE);
    call->arguments[0] = address(tour->plans->plan[PLAN_HALF]);
    call->arguments[1] = address(new_positions(tour, 0));
    call->arguments[2] = TOKENS;
    call->arguments[3] = address(rows);

    rope_sinusoid *sinusoid = new_sinusoid(tour, DT_F32, 0);
    sinusoid->dropout = 1.5;
    call = ADD(rope_sinusoid_add, "refused", ROPE_ERR_VALUE);
    call->arguments[0] = address(tour->plans->plan[PLAN_HALF]);
    call->arguments[1] = address(sinusoid);

    const rope_permutation init = ROPE_PERMUTATION_INIT;
    rope_permutation *permutation = take(tour, &init, sizeof init);
    permutation->dtype = ROPE_I32;
    permutation->message = tour->now->message;
    permutation->message_size = sizeof tour->now->message;
    ADD(rope_permute, "refused", ROPE_ERR_DTYPE)->arguments[0] = address(permutation);
}

/* ---- Questions ------------------------------------------------------------------------------- */

static void add_questions(struct tour *tour)
{
    const uintptr_t plan = address(tour->plans->plan[PLAN_HALF]);
    struct call *call = ADD(rope_plan_info, "", ROPE_OK);
    call->arguments[0] = plan;
    call->arguments[1] = address(&tour->now->info);
    call = ADD(rope_plan_inv_freq, "", ROPE_OK);
    call->arguments[0] = plan;
    call->arguments[1] = address(tour->now->answers[0]);
    call->arguments[2] = address(tour->now->answers[1]);
    call->arguments[3] = PAIRS;
    call = ADD(rope_plan_wavelengths, "", ROPE_OK);
    call->arguments[0] = plan;
    call->arguments[1] = address(tour->now->answers[0]);
    call->arguments[2] = PAIRS;
    ADD(rope_status_string, "", 0)->kind = CALL_QUERY;
    ADD(rope_version, "", 0)->kind = CALL_QUERY;
    ADD(rope_version_string, "", 0)->kind = CALL_QUERY;
    ADD(rope_active_isa, "", 0)->kind = CALL_QUERY;
    ADD(rope_isa_available, "", 0)->kind = CALL_QUERY;
    ADD(rope_isa_name, "", 0)->kind = CALL_QUERY;
}

#ifdef ROPE_TEST_CONFIG
static struct call *add_config_query(struct tour *tour, struct call *call)
{
    call->kind = CALL_QUERY;
    call->arguments[0] = address(tour->plans->config);
    return call;
}

#if UINTPTR_MAX != UINT64_MAX
/* Not everything that it takes and returns stands in integer registers here. */
static uintptr_t scale_at(const rope_query_scale *scale, uintptr_t position)
{
    return (uintptr_t)rope_query_scale_at(scale, (int64_t)position);
}
#endif

static void add_config(struct tour *tour)
{
    static const char *const texts[] = {
        config_text,
        deep_text,
        "{\"model_type\": \"phi3\", \"head_dim\": 8, \"max_position_embeddings\": 131072, "
        "\"original_max_position_embeddings\": 4096, \"rope_scaling\": {\"type\": \"su\", "
        "\"short_factor\": [1, 1, 1, 1], \"long_factor\": [1, 4, 16.1, 64.7], \"strange\": 1}}",
        "{\"model_type\": \"deepseek_v4\", \"num_hidden_layers\": 3, \"compress_ratios\": "
        "[0, 4, 128], \"rope_scaling\": {\"type\": \"yarn\", \"factor\": 16, "
        "\"original_max_position_embeddings\": 65536}}",
    };
    static const double divisors[] = {1.0, 2.0, 3.0, 4.0};
    static const rope_gguf_pair pairs[] = {
        {sizeof pairs[0], 0, "general.architecture", "llama", NULL, 0.0},
        {sizeof pairs[0], 0, "llama.attention.key_length", NULL, NULL, 8.0},
        {sizeof pairs[0], 4, "rope_freqs.weight", NULL, divisors, 0.0},
    };
    rope_config_options options = ROPE_CONFIG_OPTIONS_INIT;
    options.message = tour->now->message;
    options.message_size = sizeof tour->now->message;
    rope_config_options *given = take(tour, &options, sizeof options);
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct call *call = ADD(rope_config_parse, "", ROPE_OK);
        call->kind = CALL_CREATES;
        call->arguments[0] = address(texts[i]);
        call->arguments[1] = strlen(texts[i]);
        call->arguments[2] = address(given);
        call->arguments[3] = address(&tour->config);
    }
    static const char wrong[] = "{\"head_dim\": 64, \"rope_theta\": -1.2345678901234567e-300}";
    struct call *call = ADD(rope_config_parse, "refused", ROPE_ERR_VALUE);
    call->arguments[0] = address(wrong);
    call->arguments[1] = sizeof wrong - 1;
    call->arguments[2] = address(given);
    call->arguments[3] = address(&tour->config);
    call = ADD(rope_config_from_gguf, "", ROPE_OK);
    call->kind = CALL_CREATES;
    call->arguments[0] = address(pairs);
    call->arguments[1] = COUNT(pairs);
    call->arguments[2] = address(given);
    call->arguments[3] = address(&tour->config);
    call = ADD(rope_config_create_plans, "", ROPE_OK);
    call->kind = CALL_CREATES;
    call->arguments[0] = address(tour->plans->config);
    call->arguments[1] = address(tour->config_plans);
    call->arguments[2] = COUNT(tour->config_plans);
    call->arguments[3] = address(tour->now->message);
    call->arguments[4] = sizeof tour->now->message;
    ADD(rope_config_destroy, "", ROPE_OK)->kind = CALL_DESTROYS;

    call = ADD(rope_config_get_entry, "", ROPE_OK);
    call->arguments[0] = address(tour->plans->config);
    call->arguments[2] = address(&tour->entry);
    call = ADD(rope_config_get_query_scale, "", ROPE_OK);
    call->arguments[0] = address(tour->plans->config);
    call->arguments[2] = address(&tour->now->query_scale);
    add_config_query(tour, ADD(rope_config_entry_count, "", 0));
    add_config_query(tour, ADD(rope_config_layer_count, "", 0));
    add_config_query(tour, ADD(rope_config_layer, "", 0))->arguments[1] = 1;
    add_config_query(tour, ADD(rope_config_find, "", 0))->arguments[2] = address("");
    add_config_query(tour, ADD(rope_config_warning, "", 0));
    const rope_query_scale scale = {sizeof scale, ROPE_QUERY_SCALE_LLAMA4, 0.1, 8192.0};
#if UINTPTR_MAX == UINT64_MAX
    call = ADD(rope_query_scale_at, "", 0);
#else
    call = add(tour, "rope_query_scale_at", "", (void (*)(void))scale_at, 0);
#endif
    call->kind = CALL_QUERY;
    call->arguments[0] = address(take(tour, &scale, sizeof scale));
    call->arguments[1] = 100000;
}
#endif

static void add_self_test(struct tour *tour)
{
    const rope_self_test_report report = ROPE_SELF_TEST_REPORT_INIT;
    tour->report = report;
    tour->report.message = tour->now->message;
    tour->report.message_size = sizeof tour->now->message;
    struct call *call = ADD(rope_self_test, "", ROPE_OK);
    call->kind = CALL_BORROWS;
    call->arguments[0] = address(&tour->report);
}

struct tour *tour_make(const struct tour_plans *plans)
{
    struct tour *tour = calloc(1, sizeof *tour);
    assert_non_null(tour);
    tour->plans = plans;
    tour->now = aligned_alloc(64, sizeof *tour->now);
    tour->first = aligned_alloc(64, sizeof *tour->first);
    tour->calls = calloc(CALLS_MAX, sizeof *tour->calls);
    tour->room = malloc(ROOM);
    assert_true(tour->now && tour->first && tour->calls && tour->room);
    memset(tour->first, 0, sizeof *tour->first);
    fill_memory(tour->first);
    const rope_info info = ROPE_INFO_INIT;
    tour->first->info = info;
    add_kernels(tour);
    add_ways(tour);
    add_rows(tour);
    add_parts(tour);
    add_tables(tour);
    add_sinusoids(tour);
    add_permutations(tour);
    add_creations(tour);
    add_refusals(tour);
    add_questions(tour);
#ifdef ROPE_TEST_CONFIG
    const rope_query_scale query_scale = ROPE_QUERY_SCALE_INIT;
    const rope_config_entry entry = ROPE_CONFIG_ENTRY_INIT;
    tour->first->query_scale = query_scale;
    tour->entry = entry;
    add_config(tour);
#endif
    add_self_test(tour);
    return tour;
}

void tour_free(struct tour *tour)
{
    free(tour->now);
    free(tour->first);
    free(tour->calls);
    free(tour->room);
    free(tour);
}

size_t tour_count(const struct tour *tour)
{
    return tour->count;
}

size_t tour_short(const struct tour *tour)
{
    return tour->count - (test_reduced() != 0);
}

const struct call *tour_call(const struct tour *tour, size_t i)
{
    return &tour->calls[i];
}

/* ---- One call -------------------------------------------------------------------------------- */

void tour_prepare(struct tour *tour, size_t i)
{
    struct call *call = &tour->calls[i];
    memcpy(tour->now, tour->first, sizeof *tour->now);
    for (int a = 0; a < CALL_ARGUMENTS; a++) { /* must be replaced, by NULL on error */
        if (call->arguments[a] == address(&tour->plan))
            tour->plan = (rope_plan *)(void *)tour;
#ifdef ROPE_TEST_CONFIG
        if (call->arguments[a] == address(&tour->config))
            tour->config = (rope_config *)(void *)tour;
        if (call->arguments[a] == address(tour->config_plans))
            tour->config_plans[0] = tour->config_plans[1] = (rope_plan *)(void *)tour;
#endif
    }
    if (call->kind != CALL_DESTROYS)
        return;
#ifdef ROPE_TEST_CONFIG
    if (call->function == (void (*)(void))rope_config_destroy) {
        assert_int_equal(
            rope_config_parse(config_text, sizeof config_text - 1, NULL, &tour->config), ROPE_OK);
        call->arguments[0] = address(tour->config);
        return;
    }
#endif
    tour->plan = plan_from(spec_of(PLAN_HALF));
    call->arguments[0] = address(tour->plan);
}

uintptr_t tour_run(const struct call *call)
{
    typedef uintptr_t any_function(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                                   uintptr_t);
    const uintptr_t *a = call->arguments;
    return ((any_function *)call->function)(a[0], a[1], a[2], a[3], a[4], a[5]);
}

int tour_is_clean(const struct tour *tour)
{
    struct memory *now = tour->now;
    const rope_plan *made[] = {tour->plan, NULL, NULL};
#ifdef ROPE_TEST_CONFIG
    made[1] = tour->config_plans[0];
    made[2] = tour->config_plans[1];
    if (tour->config != NULL)
        return 0;
#endif
    if (made[0] != NULL || made[1] != NULL || made[2] != NULL)
        return 0;
    char message[sizeof now->message];
    memcpy(message, now->message, sizeof message);
    memcpy(now->message, tour->first->message, sizeof message);
    const int same = memcmp(now, tour->first, sizeof *now) == 0;
    memcpy(now->message, message, sizeof message);
    return same && strnlen(message, sizeof message) < sizeof message;
}

int tour_is_right(const struct tour *tour, size_t i, uintptr_t returned)
{
    const struct call *call = &tour->calls[i];
    const int has_status = call->kind != CALL_QUERY && call->kind != CALL_DESTROYS;
    if (has_status && (rope_status)(uint32_t)returned != call->status)
        return 0;
    return call->status == ROPE_OK || tour_is_clean(tour);
}

void tour_check(const struct tour *tour, size_t i, uintptr_t returned)
{
    const struct call *call = &tour->calls[i];
    if (!tour_is_right(tour, i, returned))
        fail_msg("%s, %s: \"%s\", must be \"%s\"%s %s", call->name, call->what,
                 rope_status_string((rope_status)(uint32_t)returned),
                 rope_status_string(call->status),
                 call->status == ROPE_OK ? "" : " and nothing written", tour->now->message);
}

static uint64_t sum_of(uint64_t sum, const void *memory, size_t size)
{
    const unsigned char *bytes = memory;
    for (size_t at = 0; at + 8 <= size; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, 8);
        sum = (sum ^ word) * 0x100000001b3u;
        sum ^= sum >> 29;
    }
    return sum;
}

/* What a plan says of itself, and its row of a position that takes all tables. */
static uint64_t sum_of_plan(uint64_t sum, const rope_plan *plan)
{
    struct {
        rope_info info;
        double inv_freq[WIDE_PAIRS], tail[WIDE_PAIRS];
        float row[WIDE];
    } *seen = calloc(1, sizeof *seen);
    const rope_info init = ROPE_INFO_INIT;
    rope_positions positions[ROPE_AXES_MAX];
    rope_rows rows = ROPE_ROWS_INIT;
    assert_non_null(seen);
    seen->info = init;
    for (size_t axis = 0; axis < ROPE_AXES_MAX; axis++) {
        const rope_positions start = ROPE_POSITIONS_INIT;
        positions[axis] = start;
        positions[axis].start = INT32_MAX - (int64_t)axis;
    }
    rows.dtype = ROPE_F32;
    rows.cos = seen->row;
    rows.count = 1;
    assert_int_equal(rope_plan_info(plan, &seen->info), ROPE_OK);
    const size_t pairs = seen->info.rotary_dim / 2;
    assert_int_equal(rope_plan_inv_freq(plan, seen->inv_freq, seen->tail, pairs), ROPE_OK);
    assert_int_equal(rope_cos_sin(plan, positions, 1, &rows), ROPE_OK);
    sum = sum_of(sum, seen, sizeof *seen);
    free(seen);
    return sum;
}

uint64_t tour_finish(struct tour *tour, size_t i)
{
    uint64_t sum = sum_of(CHECKSUM_START, tour->now, sizeof *tour->now);
    if (tour->calls[i].kind == CALL_CREATES) {
        if (tour->plan != NULL)
            sum = sum_of_plan(sum, tour->plan);
        rope_plan_destroy(tour->plan);
#ifdef ROPE_TEST_CONFIG
        for (size_t p = 0; p < COUNT(tour->config_plans); p++) {
            if (tour->config_plans[p] != NULL)
                sum = sum_of_plan(sum, tour->config_plans[p]);
            rope_plan_destroy(tour->config_plans[p]);
        }
        for (size_t e = 0; e < rope_config_entry_count(tour->config); e++) {
            assert_int_equal(rope_config_get_entry(tour->config, e, &tour->entry), ROPE_OK);
            rope_plan *plan = plan_from(*tour->entry.spec);
            sum = sum_of_plan(sum, plan);
            rope_plan_destroy(plan);
        }
        rope_config_destroy(tour->config);
#endif
    }
    tour->plan = NULL;
#ifdef ROPE_TEST_CONFIG
    tour->config_plans[0] = tour->config_plans[1] = NULL;
    tour->config = NULL;
#endif
    return sum;
}

uint64_t *tour_sums(struct tour *tour)
{
    uint64_t *const sums = malloc(tour_count(tour) * sizeof *sums);
    assert_non_null(sums);
    for (size_t i = 0; i < tour_count(tour); i++) {
        tour_prepare(tour, i);
        tour_check(tour, i, tour_run(tour_call(tour, i)));
        sums[i] = tour_finish(tour, i);
    }
    return sums;
}
