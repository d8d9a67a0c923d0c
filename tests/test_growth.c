/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors of another size than the library's, each of them: of an old program, whose struct is
 * shorter and ends where its memory ends, and of a new program with this library, whose struct is longer.
 * Results must be the bits of the plain call.
 */
#include "rope/rope.h"
#ifdef ROPE_TEST_CONFIG
#include "rope/rope_config.h"
#endif
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TOKENS = 3, HEADS = 2, HEAD_DIM = 32, PAIRS = HEAD_DIM / 2, RESULT = 4096, LONGER = 24 };
static unsigned char result[RESULT]; /* what a call wrote */

/* ---- The calls: each takes one descriptor from the test and makes all others itself ---- */

static const rope_spec default_spec = {.struct_size = sizeof(rope_spec), .head_dim = HEAD_DIM};

static rope_status rotate_with(const rope_positions *positions, const rope_rows *rows,
                               const rope_tensor *q, const rope_job *given)
{
    static const float data[TOKENS][HEADS][HEAD_DIM] = {{{1, 2, 3}, {4, 5}}, {{0.5f, -3}}, {{7}}};
    rope_spec spec = default_spec;
    rope_plan *plan;
    assert_int_equal(rope_plan_create(&spec, &plan), ROPE_OK);
    rope_positions own_positions = ROPE_POSITIONS_INIT;
    own_positions.start = 5;
    rope_tensor own_q = ROPE_TENSOR_INIT;
    own_q.dtype = ROPE_F32;
    own_q.src = data;
    own_q.dst = result;
    own_q.heads = HEADS;
    rope_job job = ROPE_JOB_INIT;
    job.tokens = TOKENS;
    job.q = q != NULL ? q : &own_q;
    job.positions = rows != NULL ? NULL : positions != NULL ? positions : &own_positions;
    job.rows = rows;
    if (given != NULL) { /* the fields that the caller's struct must have */
        rope_job *const own = (rope_job *)(uintptr_t)given;
        own->q = &own_q;
        own->positions = &own_positions;
    }
    const rope_status status = rope_rotate(plan, given != NULL ? given : &job);
    rope_plan_destroy(plan);
    return status;
}

static const float tensor_data[TOKENS][HEADS][HEAD_DIM] = {{{1, 2, 3}}, {{4, 5}, {6}}};

static void make_spec(void *room)
{
    rope_spec *spec = room;
    spec->head_dim = HEAD_DIM;
    spec->scheme = ROPE_SCHEME_LINEAR;
    spec->theta = 500;
    spec->factor = 4;
    spec->attention_factor = 1.5;
}

static rope_status call_spec(void *given)
{
    rope_plan *plan;
    const rope_status status = rope_plan_create(given, &plan);
    if (status == ROPE_OK)
        assert_int_equal(rope_plan_inv_freq(plan, (double *)(void *)result, NULL, PAIRS), ROPE_OK);
    rope_plan_destroy(plan);
    return status;
}

static void make_nothing(void *room)
{
    (void)room;
}

static rope_status call_info(void *given)
{
    rope_spec spec = default_spec;
    rope_plan *plan;
    assert_int_equal(rope_plan_create(&spec, &plan), ROPE_OK);
    const rope_status status = rope_plan_info(plan, given);
    rope_plan_destroy(plan);
    return status;
}

static void make_positions(void *room)
{
    rope_positions *positions = room;
    positions->start = 1000;
    positions->step = 3;
}

static rope_status call_positions(void *given)
{
    return rotate_with(given, NULL, NULL, NULL);
}

static rope_status call_positions_of_rows(void *given)
{
    rope_spec spec = default_spec;
    rope_plan *plan;
    assert_int_equal(rope_plan_create(&spec, &plan), ROPE_OK);
    rope_rows rows = ROPE_ROWS_INIT;
    rows.dtype = ROPE_F32;
    rows.cos = result;
    rows.count = TOKENS;
    const rope_status status = rope_cos_sin(plan, given, TOKENS, &rows);
    rope_plan_destroy(plan);
    return status;
}

static void make_rows(void *room)
{
    rope_rows *rows = room;
    rows->dtype = ROPE_F32;
    rows->cos = result;
    rows->count = TOKENS;
}

static rope_status call_rows(void *given)
{
    rope_spec spec = default_spec;
    rope_plan *plan;
    assert_int_equal(rope_plan_create(&spec, &plan), ROPE_OK);
    rope_positions positions = ROPE_POSITIONS_INIT;
    const rope_status status = rope_cos_sin(plan, &positions, TOKENS, given);
    rope_plan_destroy(plan);
    return status;
}

static void make_rows_of_job(void *room)
{
    static float memory[TOKENS][HEAD_DIM];
    for (int i = 0; i < HEAD_DIM; i++)
        memory[0][i] = memory[1][i] = memory[2][i] = 0.25f * (float)i;
    make_rows(room);
    ((rope_rows *)room)->cos = memory;
}

static rope_status call_rows_of_job(void *given)
{
    return rotate_with(NULL, given, NULL, NULL);
}

static void make_tensor(void *room)
{
    rope_tensor *tensor = room;
    tensor->dtype = ROPE_F32;
    tensor->src = tensor_data;
    tensor->dst = result;
    tensor->heads = HEADS;
}

static rope_status call_tensor(void *given)
{
    return rotate_with(NULL, NULL, given, NULL);
}

static void make_job(void *room)
{
    rope_job *job = room;
    job->batch = 1;
    job->tokens = TOKENS;
}

static rope_status call_job(void *given)
{
    return rotate_with(NULL, NULL, NULL, given);
}

static void make_sinusoid(void *room)
{
    static rope_positions positions = ROPE_POSITIONS_INIT;
    rope_sinusoid *sinusoid = room;
    sinusoid->dtype = ROPE_F32;
    sinusoid->batch = 1;
    sinusoid->tokens = TOKENS;
    sinusoid->positions = &positions;
    sinusoid->dst = result;
}

static rope_status call_sinusoid(void *given)
{
    rope_spec spec = default_spec;
    rope_plan *plan;
    assert_int_equal(rope_plan_create(&spec, &plan), ROPE_OK);
    const rope_status status = rope_sinusoid_table(plan, given);
    rope_plan_destroy(plan);
    return status;
}

static void make_permutation(void *room)
{
    rope_permutation *permutation = room;
    permutation->dtype = ROPE_F32;
    permutation->to = ROPE_INTERLEAVED;
    permutation->matrices = 1;
    permutation->heads = HEADS;
    permutation->head_dim = HEAD_DIM;
    permutation->row_length = TOKENS;
    permutation->src = tensor_data;
    permutation->dst = result;
}

static rope_status call_permutation(void *given)
{
    return rope_permute(given);
}

static rope_status call_report(void *given)
{
    return rope_self_test(given);
}

#ifdef ROPE_TEST_CONFIG
static const char json[] = "{\"head_dim\": 32, \"rope_theta\": 500, \"num_hidden_layers\": 2}";

static rope_config *configuration(void)
{
    rope_config *config;
    assert_int_equal(rope_config_parse(json, sizeof json - 1, NULL, &config), ROPE_OK);
    return config;
}

static void make_options(void *room)
{
    ((rope_config_options *)room)->profile = ROPE_PROFILE_TRANSFORMERS; /* whose angles are f32 */
}

static rope_status call_options(void *given)
{
    rope_config *config;
    const rope_status status = rope_config_parse(json, sizeof json - 1, given, &config);
    if (status == ROPE_OK) {
        rope_config_entry entry = ROPE_CONFIG_ENTRY_INIT;
        assert_int_equal(rope_config_get_entry(config, 0, &entry), ROPE_OK);
        memcpy(result, &entry.spec->angle, sizeof entry.spec->angle);
    }
    rope_config_destroy(config);
    return status;
}

static void make_pair(void *room)
{
    rope_gguf_pair *pair = room;
    pair->key = "general.architecture";
    pair->text = "llama";
}

static rope_status call_pair(void *given)
{
    rope_config *config;
    const rope_status status = rope_config_from_gguf(given, 1, NULL, &config);
    rope_config_destroy(config);
    /* What is missing in one pair is an error that comes behind the size. */
    return status == ROPE_ERR_VALUE ? ROPE_OK : status;
}

static rope_status call_entry(void *given)
{
    rope_config *config = configuration();
    const rope_status status = rope_config_get_entry(config, 0, given);
    if (status == ROPE_OK) /* pointers into the configuration differ from call to call */
        ((rope_config_entry *)given)->spec = NULL, ((rope_config_entry *)given)->path = NULL,
                            ((rope_config_entry *)given)->model_type =
                                ((rope_config_entry *)given)->layer_type = NULL;
    rope_config_destroy(config);
    return status;
}

static rope_status call_scale(void *given)
{
    rope_config *config = configuration();
    const rope_status status = rope_config_get_query_scale(config, 0, given);
    rope_config_destroy(config);
    return status;
}
#endif

/* ---- The descriptors ---- */

static const struct subject {
    const char *name;
    size_t size;  /* in this release */
    size_t first; /* in its first one, on 64-bit platforms: numbers that never change */
    void (*make)(void *room);
    rope_status (*call)(void *given);
    int written; /* the call writes the descriptor */
} subjects[] = {
    {"spec", sizeof(rope_spec), 96, make_spec, call_spec, 0},
    {"info", sizeof(rope_info), 80, make_nothing, call_info, 1},
    {"positions", sizeof(rope_positions), 48, make_positions, call_positions, 0},
    {"positions of rows", sizeof(rope_positions), 48, make_positions, call_positions_of_rows, 0},
    {"rows", sizeof(rope_rows), 72, make_rows, call_rows, 0},
    {"rows of a job", sizeof(rope_rows), 72, make_rows_of_job, call_rows_of_job, 0},
    {"tensor", sizeof(rope_tensor), 96, make_tensor, call_tensor, 0},
    {"job", sizeof(rope_job), 104, make_job, call_job, 0},
    {"sinusoid", sizeof(rope_sinusoid), 144, make_sinusoid, call_sinusoid, 0},
    {"permutation", sizeof(rope_permutation), 144, make_permutation, call_permutation, 0},
    {"report", sizeof(rope_self_test_report), 32, make_nothing, call_report, 1},
#ifdef ROPE_TEST_CONFIG
    {"options", sizeof(rope_config_options), 32, make_options, call_options, 0},
    {"pair", sizeof(rope_gguf_pair), 40, make_pair, call_pair, 0},
    {"entry", sizeof(rope_config_entry), 80, make_nothing, call_entry, 1},
    {"query scale", sizeof(rope_query_scale), 24, make_nothing, call_scale, 1},
#endif
};

static struct guarded memory;

/* A descriptor of so many bytes that ends at the guard page. */
static void *descriptor(const struct subject *subject, size_t size)
{
    unsigned char room[1024] = {0};
    _Alignas(16) unsigned char made[1024] = {0};
    subject->make(made);
    memcpy(room, made, subject->size);
    const uint32_t struct_size = (uint32_t)size;
    memcpy(room, &struct_size, sizeof struct_size);
    void *given = guarded_end(&memory, size, 0);
    memcpy(given, room, size);
    return given;
}

/* The call must succeed and give what the plain one gave. */
static void check_equal(const struct subject *subject, size_t size)
{
    static unsigned char expected[RESULT], written[1024];
    memset(result, 0x55, RESULT);
    void *given = descriptor(subject, subject->size);
    assert_int_equal(subject->call(given), ROPE_OK);
    memcpy(expected, result, RESULT);
    memcpy(written, given, subject->size);

    memset(result, 0x55, RESULT);
    given = descriptor(subject, size);
    const rope_status status = subject->call(given);
    if (status != ROPE_OK)
        fail_msg("%s of %zu bytes: %s", subject->name, size, rope_status_string(status));
    if (memcmp(result, expected, RESULT) != 0)
        fail_msg("%s of %zu bytes gives other bits", subject->name, size);
    if (!subject->written)
        return;
    uint32_t kept;
    memcpy(&kept, given, sizeof kept);
    assert_int_equal(kept, size);
    const size_t known = size < subject->size ? size : subject->size;
    assert_memory_equal((unsigned char *)given + 4, written + 4, known - 4);
    for (size_t i = known; i < size; i++) /* what only the newer program knows */
        assert_int_equal(((unsigned char *)given)[i], 0);
}

static void test_old_program(void **state)
{
    const struct subject *subject = *state;
    if (sizeof(void *) != 8)
        skip();
    if (test_reduced() && subject->call == call_report)
        skip(); /* a second each under an emulator */
    check_equal(subject, subject->first);
    /* Every size between, as other releases may have had it. */
    for (size_t size = subject->first; size <= subject->size; size += 8)
        check_equal(subject, size);
    /* Shorter than any release: refused, without a look behind its end. */
    const size_t shorter[] = {subject->first - 1, subject->first - 8, 4};
    for (size_t i = 0; i < sizeof shorter / sizeof *shorter; i++) {
        unsigned char *given = guarded_start(&memory, subject->size, 0);
        memcpy(given, descriptor(subject, subject->size), subject->size);
        const uint32_t size = (uint32_t)shorter[i];
        memcpy(given, &size, sizeof size);
        memset(result, 0x55, RESULT);
        assert_int_equal(subject->call(given), ROPE_ERR_STRUCT);
        for (size_t k = 0; k < RESULT; k++)
            assert_int_equal(result[k], 0x55);
    }
}

static void test_new_program(void **state)
{
    const struct subject *subject = *state;
    check_equal(subject, subject->size + 8);
    check_equal(subject, subject->size + LONGER);
    for (size_t at = 0; at < LONGER; at += LONGER - 1) {
        unsigned char *given = descriptor(subject, subject->size + LONGER);
        given[subject->size + at] = 1; /* asks for what this library does not have */
        memset(result, 0x55, RESULT);
        const rope_status status = subject->call(given);
        if (status != ROPE_ERR_STRUCT)
            fail_msg("%s with a byte unknown here: %s", subject->name, rope_status_string(status));
        for (size_t k = 0; k < RESULT; k++)
            assert_int_equal(result[k], 0x55);
        assert_int_equal(given[subject->size + at], 1);
    }
}

int main(void)
{
    enum { SUBJECTS = sizeof subjects / sizeof *subjects };
    static char names[2 * SUBJECTS][64];
    struct CMUnitTest tests[2 * SUBJECTS];
    for (int i = 0; i < 2 * SUBJECTS; i++) {
        const struct subject *subject = &subjects[i / 2];
        snprintf(names[i], sizeof names[i], "%s program, %s", i % 2 ? "new" : "old", subject->name);
        tests[i] = (struct CMUnitTest){.name = names[i],
                                       .test_func = i % 2 ? test_new_program : test_old_program,
                                       .initial_state = (void *)(uintptr_t)subject};
    }
    memory = guarded_make(4096);
    const int failed = cmocka_run_group_tests_name("growth", tests, NULL, NULL);
    guarded_free(&memory);
    return failed;
}
