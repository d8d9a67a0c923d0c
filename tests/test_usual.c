/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The usual way against the general one: it may take only jobs that the general way takes, must leave the
 * same bits in all memory, and must not touch what it declines.  And the jobs for which it was made do go
 * this way.  What is right is the matter of test_interface.c and the others.
 */
#include "job.h"
#include "support.h"
#include "usual.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    AXES = 3,
    HEAD_DIM = 8,
    TOKENS = 12,
    BYTES = 1 << 16,
    ROWS = 64,
    MARGIN = 4096,
    LIST = 1024
};

/* Everything that a job refers to, in one block, so that it can be compared whole. */
struct world {
    _Alignas(64) unsigned char data[BYTES];
    int32_t i32[2 * LIST]; /* positions from LIST on; strides reach to both sides */
    int64_t i64[2 * LIST];
};

struct trial {
    rope_tensor q, k;
    rope_positions positions[AXES];
    rope_rows rows;
    rope_job job;
    size_t part, parts;
};

/* Near and far, often where the digits of a position carry; a few dozen more are positions too. */
static int64_t make_position(struct rng *rng)
{
    static const int64_t carries[] = {0, 512, 1 << 20, (1 << 20) + 512, 1 << 26};
    const int64_t last = INT64_C(0x7fffffff) - 2 * LIST;
    int64_t position = 0;
    switch (rng_below(rng, 4)) {
    case 0:
        position = (int64_t)rng_below(rng, 1 << 20);
        break;
    case 1:
        position = carries[rng_below(rng, 5)] - (int64_t)rng_below(rng, TOKENS);
        break;
    case 2:
        position = (int64_t)rng_below(rng, (uint64_t)last);
        break;
    default:
        position = last - (int64_t)rng_below(rng, 600);
        break;
    }
    return rng_below(rng, 4) ? position : -position;
}

/* A job of the kind that runtimes bring. */
static void make_usual(struct world *world, struct rng *rng, struct trial *trial)
{
    static const rope_dtype dtypes[] = {ROPE_F32, ROPE_F16, ROPE_BF16};
    const rope_tensor tensor = ROPE_TENSOR_INIT;
    const rope_positions positions = ROPE_POSITIONS_INIT;
    const rope_rows rows = ROPE_ROWS_INIT;
    const rope_job job = ROPE_JOB_INIT;
    trial->q = trial->k = tensor;
    for (int axis = 0; axis < AXES; axis++)
        trial->positions[axis] = positions;
    trial->rows = rows;
    trial->job = job;
    trial->part = 0, trial->parts = 1;
    const size_t tokens = rng_below(rng, 2) ? 1 + rng_below(rng, TOKENS) : 1;
    trial->job.tokens = tokens;
    trial->job.q = &trial->q, trial->job.k = &trial->k;
    trial->q.heads = 1 + rng_below(rng, 4), trial->k.heads = 1 + rng_below(rng, 3);
    trial->q.dtype = dtypes[rng_below(rng, 3)], trial->k.dtype = dtypes[rng_below(rng, 3)];
    const int wide = rng_below(rng, 6) == 0; /* f64, which is usual by f64 rows alone */
    if (wide) {
        trial->q.dtype = ROPE_F64;
        trial->k.dtype = rng_below(rng, 4) ? ROPE_F64 : trial->k.dtype;
    }
    trial->q.src = trial->q.dst = world->data + MARGIN;
    trial->k.src = trial->k.dst = world->data + MARGIN + 8192;
    const size_t all = trial->q.heads + trial->k.heads;
    switch (rng_below(rng, 4)) {
    case 0: /* parts of one packed buffer */
        trial->k.dtype = trial->q.dtype;
        trial->k.src = trial->k.dst =
            world->data + trial->q.heads * HEAD_DIM * rope_dtype_size(trial->q.dtype);
        trial->q.src_stride_token = trial->q.dst_stride_token = (ptrdiff_t)(all * HEAD_DIM);
        trial->q.src_stride_head = trial->q.dst_stride_head = HEAD_DIM;
        trial->k.src_stride_token = trial->k.dst_stride_token = (ptrdiff_t)(all * HEAD_DIM);
        trial->k.src_stride_head = trial->k.dst_stride_head = HEAD_DIM;
        break;
    case 1: /* head-major, q out of place */
        trial->q.dst = world->data + MARGIN + 16384;
        trial->q.src_stride_head = (ptrdiff_t)(tokens * HEAD_DIM);
        trial->q.src_stride_token = HEAD_DIM;
        break;
    default:
        break;
    }
    trial->job.positions = trial->positions;
    trial->positions[0].start = make_position(rng);
    for (size_t t = 0; t < 2 * LIST; t++)
        world->i64[t] = world->i32[t] = (int32_t)rng_below(rng, ROWS);
    if (rng_below(rng, 2)) {
        trial->positions[0].start = 0;
        trial->positions[0].dtype = rng_below(rng, 2) ? ROPE_I32 : ROPE_I64;
        trial->positions[0].data =
            trial->positions[0].dtype == ROPE_I32 ? (void *)(world->i32 + LIST) : world->i64 + LIST;
    }
    if (rng_below(rng, wide ? 2 : 3) == 0) {
        trial->job.rows = &trial->rows;
        trial->rows.dtype = wide && rng_below(rng, 8) ? ROPE_F64 : ROPE_F32;
        trial->rows.count = ROWS;
        trial->rows.cos = world->data + 32768;
        trial->positions[0].start = 0;
        if (rng_below(rng, 2)) {
            trial->rows.layout = ROPE_ROWS_SEPARATE;
            trial->rows.sin = world->data + 32768 + 24576 / 2;
        }
        if (rng_below(rng, 2))
            trial->job.positions = NULL;
    } else {
        trial->job.direction = (rope_direction)rng_below(rng, 4);
        if (rng_below(rng, 2)) {
            const int64_t first = make_position(rng);
            for (size_t t = 0; t < 2 * LIST; t++)
                world->i64[t] = world->i32[t] =
                    (int32_t)(rng_below(rng, 8) ? first + (int64_t)rng_below(rng, 40)
                                                : make_position(rng));
        }
    }
    if (rng_below(rng, 4) == 0) {
        trial->parts = 1 + rng_below(rng, 5);
        trial->part = rng_below(rng, trial->parts);
    }
    if (rng_below(rng, 8) == 0)
        trial->job.k = NULL;
    else if (rng_below(rng, 4) == 0) /* a key of another width */
        trial->k.head_dim = 4 + rng_below(rng, 8), trial->k.rotary_offset = rng_below(rng, 4);
}

static const void *move(const void *pointer, ptrdiff_t bytes)
{
    return pointer == NULL ? NULL : (const char *)pointer + bytes;
}

/* Makes one field something else: wrong, or right and rare. */
static void spoil(struct world *world, struct rng *rng, struct trial *trial)
{
    rope_positions *const positions = &trial->positions[rng_below(rng, AXES)];
    static const ptrdiff_t strides[] = {0, 1, 7, 8, 9, 32, 64, -8, PTRDIFF_MAX, PTRDIFF_MIN};
    static const int64_t values[] = {-1,      1048575, 1048576,   -1048575,  -1048576,
                                     1 << 30, 0,       INT64_MAX, INT64_MIN, ROWS};
    rope_tensor *tensor = rng_below(rng, 2) ? &trial->q : &trial->k;
    ptrdiff_t *const stride_fields[] = {&tensor->src_stride_batch, &tensor->src_stride_token,
                                        &tensor->src_stride_head,  &tensor->dst_stride_batch,
                                        &tensor->dst_stride_token, &tensor->dst_stride_head,
                                        &trial->rows.stride_row,   &trial->rows.stride_batch,
                                        &positions->stride_token,  &positions->stride_batch};
    const int64_t position = values[rng_below(rng, 10)];
    switch (rng_below(rng, 24)) {
    case 0:
        *stride_fields[rng_below(rng, 10)] = strides[rng_below(rng, 10)];
        break;
    case 1:
        tensor->dtype = (rope_dtype)rng_below(rng, 8);
        break;
    case 2:
        tensor->heads = rng_below(rng, 2) ? 0 : SIZE_MAX / HEAD_DIM;
        break;
    case 3:
        tensor->head_dim = HEAD_DIM + rng_below(rng, 2);
        break;
    case 4:
        tensor->rotary_offset = 2;
        break;
    case 5:
        tensor->reserved = 1;
        break;
    case 6:
        tensor->src = rng_below(rng, 2) ? NULL : move(tensor->src, 4);
        break;
    case 7:
        tensor->dst = rng_below(rng, 2) ? NULL : world->data + MARGIN + 64 * rng_below(rng, 400);
        break;
    case 8:
        trial->job.tokens = rng_below(rng, 2) ? 0 : SIZE_MAX;
        break;
    case 9:
        trial->job.batch = rng_below(rng, 2) ? 0 : 2;
        break;
    case 10:
        trial->job.flags = 1u << rng_below(rng, 3);
        break;
    case 11:
        trial->job.direction = (rope_direction)((int)rng_below(rng, 7) - 1);
        break;
    case 12:
        trial->job.pairing_out = (rope_pairing_out)((int)rng_below(rng, 5) - 1);
        break;
    case 13:
        trial->job.arith = (rope_arith)((int)rng_below(rng, 5) - 1);
        break;
    case 14:
        trial->job.row_dtype = (rope_dtype)rng_below(rng, 8);
        break;
    case 15:
        trial->job.rotary_dim = HEAD_DIM;
        break;
    case 16:
        trial->job.xpos_center = 1.0;
        break;
    case 17:
        positions->start = position;
        break;
    case 18:
        positions->step = position;
        break;
    case 19: {
        const size_t at = LIST + rng_below(rng, TOKENS);
        world->i64[at] = position;
        world->i32[at] = (int32_t)position;
        break;
    }
    case 20:
        positions->dtype = (rope_dtype)rng_below(rng, 8);
        break;
    case 21: /* what is read lies in what is written */
        if (rng_below(rng, 2))
            trial->rows.cos = world->data + MARGIN + 64 * rng_below(rng, 128);
        else
            positions->data = world->data + MARGIN + 64 * rng_below(rng, 128);
        break;
    case 22:
        trial->rows.count = rng_below(rng, 3) ? rng_below(rng, ROWS) : SIZE_MAX;
        break;
    default: {
        uint32_t *const sizes[] = {&trial->job.struct_size, &tensor->struct_size,
                                   &positions->struct_size, &trial->rows.struct_size};
        *sizes[rng_below(rng, 4)] -= 8;
        break;
    }
    }
}

/* One trial in both ways; 1 if it was a usual one. */
static int try(const rope_plan *plan, struct world *world, const struct trial *trial)
{
    static struct world before, general;
    before = *world;
    const rope_status status = rope_rotate_any(plan, &trial->job, trial->part, trial->parts);
    general = *world;
    *world = before;
    const int usual = rope_usual_rotate(plan, &trial->job, trial->part, trial->parts);
    if (usual)
        assert_int_equal(status, ROPE_OK);
    if (memcmp(world, usual ? &general : &before, sizeof *world) != 0)
        fail_msg("%s job: other bytes, seed %#llx", usual ? "usual" : "declined",
                 (unsigned long long)test_seed());
    *world = before;
    return usual;
}

static rope_plan *make_plan(struct rng *rng)
{
    rope_spec spec = spec_default(HEAD_DIM, 10000);
    spec.pairing = rng_below(rng, 2) ? ROPE_HALF : ROPE_INTERLEAVED;
    if (rng_below(rng, 3) == 0)
        spec.attention_factor = 1.25;
    if (rng_below(rng, 3) == 0)
        spec.rotary_dim = 4, spec.rotary_offset = 2;
    if (rng_below(rng, 4) == 0)
        spec.angle = ROPE_ANGLE_F32;
    if (rng_below(rng, 3) == 0) {
        static const int32_t sections[2][AXES] = {{2, 1, 1}, {1, 1, 0}}; /* of 4 and of 2 pairs */
        spec.axis_layout = ROPE_AXES_SECTIONS;
        spec.sections = sections[spec.rotary_dim == 4];
        spec.section_count = AXES;
    }
    return plan_from(spec);
}

static struct world *make_world(struct rng *rng)
{
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    for (size_t i = 0; i < BYTES / 2; i++) /* finite in every type */
        dtype_store(DT_BF16, world->data, i, rng_real(rng, 2.0));
    return world;
}

static void test_against_general(void **state)
{
    (void)state;
    struct rng rng = rng_make(1);
    struct world *world = make_world(&rng);
    const int trials = test_reduced() ? 2000 : 60000;
    int usual = 0, spoiled = 0;
    rope_plan *plan = NULL;
    for (int i = 0; i < trials; i++) {
        struct trial trial;
        if (i % 100 == 0) {
            rope_plan_destroy(plan);
            plan = make_plan(&rng);
        }
        make_usual(world, &rng, &trial);
        if (rng_below(&rng, 3) != 0) {
            spoil(world, &rng, &trial);
            spoiled += try(plan, world, &trial);
        } else {
            usual += try(plan, world, &trial);
        }
    }
    rope_plan_destroy(plan);
    free(world);
    /* else this test says nothing; 32-bit platforms have the general way alone */
    if (sizeof(void *) >= 8) {
        assert_in_range(usual, trials / 8, trials);
        assert_in_range(spoiled, trials / 20, trials);
    }
}

/* Tables: what the usual way takes for right must be right, which full checks of the same say. */
static void test_tables(void **state)
{
    (void)state;
    struct rng rng = rng_make(3);
    struct world *world = make_world(&rng);
    const int trials = test_reduced() ? 2000 : 40000;
    int usual = 0;
    rope_plan *plan = NULL;
    for (int i = 0; i < trials; i++) {
        struct trial trial;
        if (i % 100 == 0) {
            rope_plan_destroy(plan);
            plan = make_plan(&rng);
        }
        make_usual(world, &rng, &trial);
        trial.rows.dtype = (rope_dtype)(1 + rng_below(&rng, 4));
        trial.rows.count = TOKENS + rng_below(&rng, 4);
        trial.rows.cos = world->data + 32768;
        trial.rows.direction = (rope_direction)rng_below(&rng, 4);
        if (rng_below(&rng, 2))
            trial.rows.stride_row = (ptrdiff_t)rng_below(&rng, 16);
        for (size_t n = rng_below(&rng, 3); n != 0; n--)
            spoil(world, &rng, &trial);
        /* With a descriptor that grew by a zero, which is not usual, the call makes all its checks. */
        struct {
            rope_rows rows;
            uint64_t grown;
        } larger = {trial.rows, 0};
        if (larger.rows.struct_size == sizeof(rope_rows))
            larger.rows.struct_size += 8;
        static struct world before, general;
        before = *world;
        const rope_status status =
            rope_cos_sin(plan, trial.positions, trial.job.tokens, &larger.rows);
        general = *world;
        *world = before;
        const rope_status given =
            rope_cos_sin(plan, trial.positions, trial.job.tokens, &trial.rows);
        assert_int_equal(given, status);
        assert_memory_equal(world, &general, sizeof *world);
        *world = before;
        const int taken = rope_usual_table(plan, trial.positions, trial.job.tokens, &trial.rows);
        assert_true(!taken || status == ROPE_OK);
        usual += taken;
    }
    rope_plan_destroy(plan);
    free(world);
    if (sizeof(void *) >= 8)
        assert_in_range(usual, trials / 10, trials);
}

/* What this way was made for goes it. */
static void test_is_usual(void **state)
{
    (void)state;
    enum { HEADS = 4, DIM = 128, LONG = 64 };
    struct rng rng = rng_make(2);
    struct world *world = make_world(&rng);
    rope_plan *plan = plan_from(spec_default(DIM, 500000));
    rope_tensor q = ROPE_TENSOR_INIT;
    rope_positions positions = ROPE_POSITIONS_INIT;
    rope_rows rows = ROPE_ROWS_INIT;
    rope_job job = ROPE_JOB_INIT;
    if (sizeof(void *) < 8) {
        print_message("skipped: sizes are checked the general way on 32-bit platforms\n");
        skip();
    }
    q.dtype = ROPE_BF16, q.heads = HEADS, q.src = q.dst = world->data;
    job.q = &q, job.positions = &positions;
    job.tokens = 1; /* decode */
    positions.start = 131071;
    assert_int_equal(rope_usual_rotate(plan, &job, 0, 1), 1);
    job.tokens = LONG; /* prefill */
    assert_int_equal(rope_usual_rotate(plan, &job, 0, 1), 1);
    for (size_t part = 0; part < 8; part++) /* in whole tokens */
        assert_int_equal(rope_usual_rotate(plan, &job, part, 8), 1);
    assert_int_equal(rope_usual_rotate(plan, &job, 0, 9), 0); /* in heads */
    assert_int_equal(rope_usual_rotate(plan, &job, 8, 8), 0);
    positions.start = INT64_C(0x7fffffff) - (LONG - 1);
    assert_int_equal(rope_usual_rotate(plan, &job, 0, 1), 1);
    positions.start++; /* 2^31 is no position */
    assert_int_equal(rope_usual_rotate(plan, &job, 0, 1), 0);
    positions.start = -LONG; /* a shift of cached keys */
    job.direction = ROPE_SHIFT;
    assert_int_equal(rope_usual_rotate(plan, &job, 0, 1), 1);
    job.direction = ROPE_FORWARD;
    rows.dtype = ROPE_F32, rows.cos = calloc(LONG, DIM * sizeof(float)), rows.count = LONG;
    assert_non_null(rows.cos);
    job.rows = &rows, job.positions = NULL;
    assert_int_equal(rope_usual_rotate(plan, &job, 0, 1), 1);
    q.dtype = ROPE_F64, job.tokens = LONG / 8; /* by rows of its own type alone */
    assert_int_equal(rope_usual_rotate(plan, &job, 0, 1), 0);
    rows.dtype = ROPE_F64, rows.count = LONG / 8;
    assert_int_equal(rope_usual_rotate(plan, &job, 0, 1), 1);
    job.rows = NULL, job.positions = &positions;
    assert_int_equal(rope_usual_rotate(plan, &job, 0, 1), 0);
    free(rows.cos);
    rope_plan_destroy(plan);
    free(world);
}

/* Results past the caches: a large job to other memory, and the same in place. */
static void test_streamed(void **state)
{
    (void)state;
    enum { HEADS = 8, KEYS = 2, DIM = 128, MANY = 4200 };
    const size_t q_bytes = (size_t)MANY * HEADS * DIM * 4, k_bytes = (size_t)MANY * KEYS * DIM * 4;
    struct rng rng = rng_make(4);
    char *from = aligned_alloc(64, q_bytes + k_bytes), *to = aligned_alloc(64, q_bytes + k_bytes);
    assert_non_null(from);
    assert_non_null(to);
    for (int pairing = 0; pairing < 2; pairing++) {
        rope_spec spec = spec_default(DIM, 10000);
        spec.pairing = pairing == 0 ? ROPE_HALF : ROPE_INTERLEAVED;
        rope_plan *plan = plan_from(spec);
        rope_positions positions = ROPE_POSITIONS_INIT;
        rope_tensor q = ROPE_TENSOR_INIT, k = ROPE_TENSOR_INIT;
        rope_job job = ROPE_JOB_INIT;
        for (size_t i = 0; i < (q_bytes + k_bytes) / 4; i++)
            ((float *)from)[i] = (float)rng_real(&rng, 2.0);
        q.dtype = k.dtype = ROPE_F32, q.heads = HEADS, k.heads = KEYS;
        q.src = from, q.dst = to;
        k.src = from + q_bytes, k.dst = to + q_bytes;
        job.q = &q, job.k = &k, job.tokens = MANY, job.positions = &positions;
        assert_int_equal(rope_rotate(plan, &job), ROPE_OK);
        q.dst = from, k.dst = from + q_bytes;
        assert_int_equal(rope_rotate(plan, &job), ROPE_OK);
        assert_memory_equal(from, to, q_bytes + k_bytes);
        rope_plan_destroy(plan);
    }
    free(from);
    free(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_general),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_is_usual),
        cmocka_unit_test(test_streamed),
    };
    return cmocka_run_group_tests_name("usual", tests, NULL, NULL);
}
