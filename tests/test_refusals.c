/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the public functions refuse, and that a refusal leaves no trace but its message; and the
 * neighbouring cases that they must accept.  Values are the business of test_interface.c.
 */
#define _DEFAULT_SOURCE

#include "support.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZE_MAX_TEXT (sizeof(size_t) == 8 ? "18446744073709551615" : "4294967295")

/* ---- One valid job of everything, to be spoiled field by field ---- */

enum { BATCH = 2, TOKENS = 3, Q_HEADS = 2, K_HEADS = 1, DIM = 8, PAIRS = 4, ROWS = 5 };

/* Memory that jobs read and write; compared as a whole. */
struct data {
    float q[BATCH * TOKENS * Q_HEADS * DIM];
    float q_out[BATCH * TOKENS * Q_HEADS * DIM];
    float k[BATCH * TOKENS * K_HEADS * DIM];
    float k_out[BATCH * TOKENS * K_HEADS * DIM];
    float cos[ROWS * 2 * PAIRS], behind_cos[128]; /* room for a tensor that starts in the row */
    float sin[ROWS * 2 * PAIRS], behind_sin[128];
    int64_t places[BATCH * TOKENS], behind_places[64];
};

/* A descriptor of a newer caller: the same fields, and more behind them. */
#define LONGER(type)              \
    struct {                      \
        type given;               \
        unsigned char behind[24]; \
    }

static struct data data, before;
static char message[256];
static LONGER(rope_job) job;
static LONGER(rope_tensor) q;
static LONGER(rope_tensor) k;
static LONGER(rope_positions) positions;
static LONGER(rope_rows) rows;
static LONGER(rope_spec) spec;
static rope_plan *plan, *scaled_plan; /* m = 1 and m = 2 */
static const rope_plan *plan_used;

static void reset(void)
{
    const rope_job job_init = ROPE_JOB_INIT;
    const rope_tensor tensor_init = ROPE_TENSOR_INIT;
    const rope_positions positions_init = ROPE_POSITIONS_INIT;
    const rope_rows rows_init = ROPE_ROWS_INIT;
    const rope_spec spec_init = ROPE_SPEC_INIT;
    struct rng rng = rng_make(1);
    memset(&job, 0, sizeof job);
    memset(&q, 0, sizeof q);
    memset(&k, 0, sizeof k);
    memset(&positions, 0, sizeof positions);
    memset(&rows, 0, sizeof rows);
    memset(&spec, 0, sizeof spec);
    job.given = job_init;
    q.given = tensor_init;
    k.given = tensor_init;
    positions.given = positions_init;
    rows.given = rows_init;
    spec.given = spec_init;
    for (size_t i = 0; i < sizeof data / sizeof(float); i++)
        dtype_store(DT_F32, &data, i, rng_real(&rng, 2.0));
    for (int i = 0; i < BATCH * TOKENS; i++)
        data.places[i] = i % ROWS;
    for (size_t row = 0; row < ROWS; row++) /* duplicated rows, in layout DUP_HALF */
        for (size_t i = 0; i < PAIRS; i++) {
            data.cos[row * 2 * PAIRS + PAIRS + i] = data.cos[row * 2 * PAIRS + i];
            data.sin[row * 2 * PAIRS + PAIRS + i] = data.sin[row * 2 * PAIRS + i];
        }

    q.given.dtype = ROPE_F32;
    q.given.src = data.q;
    q.given.dst = data.q_out;
    q.given.heads = Q_HEADS;
    k.given.dtype = ROPE_F32;
    k.given.src = data.k;
    k.given.dst = data.k_out;
    k.given.heads = K_HEADS;
    positions.given.dtype = ROPE_I64;
    positions.given.data = data.places;
    positions.given.stride_batch = TOKENS;
    job.given.batch = BATCH;
    job.given.tokens = TOKENS;
    job.given.q = &q.given;
    job.given.k = &k.given;
    job.given.positions = &positions.given;
    job.given.message = message;
    job.given.message_size = sizeof message;
    rows.given.dtype = ROPE_F32;
    rows.given.layout = ROPE_ROWS_DUP_HALF;
    rows.given.cos = data.cos;
    rows.given.sin = data.sin;
    rows.given.count = ROWS;
    rows.given.message = message;
    rows.given.message_size = sizeof message;
    spec.given.head_dim = DIM;
    spec.given.message = message;
    spec.given.message_size = sizeof message;
    plan_used = plan;
}

/* The same job by rows that positions number. */
static void reset_rows(void)
{
    reset();
    job.given.rows = &rows.given;
}

/* The same job by rows without a plan. */
static void reset_bare(void)
{
    reset_rows();
    plan_used = NULL;
    job.given.rotary_dim = 2 * PAIRS;
    q.given.head_dim = DIM;
    k.given.head_dim = DIM;
}

static int make_plans(void **state)
{
    (void)state;
    reset();
    if (rope_plan_create(&spec.given, &plan) != ROPE_OK)
        return -1;
    spec.given.attention_factor = 2.0;
    return rope_plan_create(&spec.given, &scaled_plan) == ROPE_OK ? 0 : -1;
}

static int free_plans(void **state)
{
    (void)state;
    rope_plan_destroy(plan);
    rope_plan_destroy(scaled_plan);
    rope_plan_destroy(NULL);
    return 0;
}

/* ---- Expectations ---- */

/* The line in `message` must name a field, and a value where one is given. */
static void check_message(const char *field, const char *value)
{
    const size_t length = strnlen(message, sizeof message);
    assert_true(length > 0 && length < sizeof message);
    assert_null(strchr(message, '\n'));
    if (!strstr(message, field))
        fail_msg("the message does not name %s: %s", field, message);
    if (value && !strstr(message, value))
        fail_msg("the message does not name the value %s: %s", value, message);
}

typedef rope_status call_fn(void);

/*
 * The call must return the status, with that message, and change nothing; message buffers of any
 * size get as much of the line as fits, and no byte more.
 */
static void expect_refusal(call_fn *call, rope_status status, char **text, size_t *text_size,
                           const char *field, const char *value)
{
    memcpy(&before, &data, sizeof data);
    memset(message, 'x', sizeof message);
    const rope_status got = call();
    if (got != status)
        fail_msg("%s%s%s: expected \"%s\", got \"%s\"%s%.200s", field, value ? " " : "",
                 value ? value : "", rope_status_string(status), rope_status_string(got),
                 got == ROPE_OK ? "" : ": ", got == ROPE_OK ? "" : message);
    assert_memory_equal(&data, &before, sizeof data);
    if (!*text || *text_size == 0)
        return;
    check_message(field, value);

    char whole[sizeof message];
    memcpy(whole, message, sizeof whole);
    const size_t length = strlen(whole);
    const size_t sizes[] = {0, 1, 2, length, length + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(message, 'x', sizeof message);
        *text_size = sizes[i];
        assert_int_equal(call(), status);
        const size_t kept = sizes[i] == 0 ? 0 : sizes[i] - 1 < length ? sizes[i] - 1 : length;
        assert_memory_equal(message, whole, kept);
        if (sizes[i] > 0)
            assert_int_equal(message[kept], 0);
        for (size_t at = sizes[i]; at < sizeof message; at++)
            assert_int_equal(message[at], 'x');
    }
    *text = NULL; /* a size without a buffer */
    *text_size = sizeof message;
    assert_int_equal(call(), status);
    *text = message;
    assert_memory_equal(&data, &before, sizeof data);
}

static rope_status call_rotate(void)
{
    return rope_rotate(plan_used, &job.given);
}

static rope_status call_part(void)
{
    return rope_rotate_part(plan_used, &job.given, 1, 3);
}

static void refuse(rope_status status, const char *field, const char *value)
{
    expect_refusal(call_rotate, status, &job.given.message, &job.given.message_size, field, value);
    expect_refusal(call_part, status, &job.given.message, &job.given.message_size, field, value);
}

static void accept(void)
{
    memset(message, 0, sizeof message);
    const rope_status status = rope_rotate(plan_used, &job.given);
    if (status != ROPE_OK)
        fail_msg("must be accepted: %s: %s", rope_status_string(status), message);
}

/* Accepted, and not a byte written. */
static void accept_empty(void)
{
    memcpy(&before, &data, sizeof data);
    accept();
    assert_memory_equal(&data, &before, sizeof data);
    assert_int_equal(rope_rotate_part(plan_used, &job.given, 2, 3), ROPE_OK);
    assert_memory_equal(&data, &before, sizeof data);
}

static size_t table_tokens;

static rope_status call_cos_sin(void)
{
    return rope_cos_sin(plan_used, &positions.given, table_tokens, &rows.given);
}

static void refuse_table(rope_status status, const char *field, const char *value)
{
    expect_refusal(call_cos_sin, status, &rows.given.message, &rows.given.message_size, field,
                   value);
}

static rope_status call_create(void)
{
    rope_plan *made = scaled_plan;
    const rope_status status = rope_plan_create(&spec.given, &made);
    if (status != ROPE_OK)
        assert_null(made);
    rope_plan_destroy(made);
    return status;
}

static void refuse_spec(rope_status status, const char *field, const char *value)
{
    expect_refusal(call_create, status, &spec.given.message, &spec.given.message_size, field,
                   value);
}

static void accept_spec(void)
{
    message[0] = 0;
    const rope_status status = call_create();
    if (status != ROPE_OK)
        fail_msg("must be accepted: %s: %s", rope_status_string(status), message);
}

/* ---- Jobs: NULL ---- */

static void test_null(void **state)
{
    (void)state;
    reset();
    accept();
    assert_int_equal(rope_rotate(plan, NULL), ROPE_ERR_NULL);
    assert_int_equal(rope_rotate_part(plan, NULL, 0, 1), ROPE_ERR_NULL);
    plan_used = NULL;
    refuse(ROPE_ERR_NULL, "plan", "NULL");
    reset();
    job.given.positions = NULL;
    refuse(ROPE_ERR_NULL, "positions", "NULL");
    reset();
    q.given.src = NULL;
    refuse(ROPE_ERR_NULL, "q.src", "NULL");
    reset();
    q.given.dst = NULL;
    refuse(ROPE_ERR_NULL, "q.dst", "NULL");
    reset();
    k.given.src = NULL;
    refuse(ROPE_ERR_NULL, "k.src", "NULL");
    reset();
    k.given.dst = NULL;
    refuse(ROPE_ERR_NULL, "k.dst", "NULL");
    reset();
    positions.given.data = NULL;
    refuse(ROPE_ERR_NULL, "positions.data", "NULL");
    reset_rows();
    accept();
    rows.given.cos = NULL;
    refuse(ROPE_ERR_NULL, "rows.cos", "NULL");
    reset_bare();
    accept();
    rows.given.sin = NULL;
    refuse(ROPE_ERR_NULL, "rows.sin", "NULL");
}

/* ---- Sizes of descriptors ---- */

/* Spoils the size of one descriptor in every way; longer ones with zeros behind are fine. */
static void check_sizes(uint32_t *struct_size, size_t least, unsigned char *behind,
                        const char *field)
{
    const uint32_t size = *struct_size;
    char value[16];
    const uint32_t shorter[] = {0, 1, 4, (uint32_t)least - 1};
    *struct_size = (uint32_t)least; /* of a caller who does not know the fields behind */
    accept();
    for (size_t i = 0; i < sizeof shorter / sizeof *shorter; i++) {
        *struct_size = shorter[i];
        snprintf(value, sizeof value, "%" PRIu32, shorter[i]);
        if (struct_size == &job.given.struct_size) { /* its message cannot be found then */
            memcpy(&before, &data, sizeof data);
            assert_int_equal(rope_rotate(plan_used, &job.given), ROPE_ERR_STRUCT);
            assert_memory_equal(&data, &before, sizeof data);
        } else {
            refuse(ROPE_ERR_STRUCT, field, value);
        }
    }
    for (uint32_t more = 1; more <= 24; more += 23) {
        *struct_size = size + more;
        snprintf(value, sizeof value, "%" PRIu32, size + more);
        accept();
        behind[more - 1] = 1;
        refuse(ROPE_ERR_STRUCT, field, value);
        behind[more - 1] = 0;
    }
    *struct_size = size;
    behind[0] = 1; /* not part of a descriptor of this size */
    accept();
    behind[0] = 0;
}

static void test_struct_sizes(void **state)
{
    (void)state;
    reset_rows();
    check_sizes(&job.given.struct_size, offsetof(rope_job, xpos_center), job.behind,
                "job.struct_size");
    check_sizes(&q.given.struct_size, offsetof(rope_tensor, scale), q.behind, "q.struct_size");
    check_sizes(&k.given.struct_size, offsetof(rope_tensor, scale), k.behind, "k.struct_size");
    check_sizes(&positions.given.struct_size, sizeof(rope_positions), positions.behind,
                "struct_size");
    check_sizes(&rows.given.struct_size, sizeof(rope_rows), rows.behind, "rows.struct_size");
}

/* ---- Jobs: values of fields ---- */

static void test_values(void **state)
{
    (void)state;
    char value[32];
    reset();
    job.given.flags = 2;
    refuse(ROPE_ERR_VALUE, "job.flags", "2");
    job.given.flags = 0x80000001;
    refuse(ROPE_ERR_VALUE, "job.flags", "80000001");
    const int32_t bad[] = {-1, 4, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < 4; i++) {
        snprintf(value, sizeof value, "%" PRId32, bad[i]);
        reset();
        job.given.direction = bad[i];
        refuse(ROPE_ERR_VALUE, "job.direction", value);
        reset();
        job.given.pairing_out = bad[i];
        refuse(ROPE_ERR_VALUE, "job.pairing_out", value);
        reset();
        job.given.arith = bad[i];
        refuse(ROPE_ERR_VALUE, "job.arith", value);
        reset_bare();
        job.given.pairing = bad[i];
        refuse(ROPE_ERR_VALUE, "job.pairing", value);
        reset_rows();
        rows.given.direction = bad[i];
        refuse(ROPE_ERR_VALUE, "rows.direction", value);
    }
    reset();
    job.given.reserved = 7;
    refuse(ROPE_ERR_VALUE, "job.reserved", "7");
    reset();
    job.given.rotary_dim = 8; /* the plan has it */
    refuse(ROPE_ERR_VALUE, "job.rotary_dim", "8");
    reset();
    job.given.pairing = ROPE_INTERLEAVED;
    refuse(ROPE_ERR_VALUE, "job.pairing", "1");

    const size_t dims[] = {0, 1, 3, 7, SIZE_MAX, SIZE_MAX - 1};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        snprintf(value, sizeof value, "%zu", dims[i]);
        reset_bare();
        job.given.rotary_dim = dims[i];
        refuse(ROPE_ERR_VALUE, "rotary_dim", i == 0 ? "0" : value);
    }
    reset_bare();
    q.given.head_dim = 0;
    refuse(ROPE_ERR_VALUE, "q.head_dim", "0");
    reset_bare();
    k.given.head_dim = DIM - 1;
    refuse(ROPE_ERR_VALUE, "k.head_dim", "7");
    reset();
    q.given.head_dim = 7;
    refuse(ROPE_ERR_VALUE, "q.head_dim", "7");
    reset();
    q.given.head_dim = DIM;
    q.given.rotary_offset = 1;
    refuse(ROPE_ERR_VALUE, "rotary_offset", "1");
    q.given.rotary_offset = SIZE_MAX;
    refuse(ROPE_ERR_VALUE, "rotary_offset", SIZE_MAX_TEXT);
    q.given.head_dim = 0;
    q.given.rotary_offset = 3;
    refuse(ROPE_ERR_VALUE, "q.rotary_offset", "3");

    reset_rows();
    rows.given.direction = ROPE_TRANSPOSE; /* belongs to the job */
    refuse(ROPE_ERR_VALUE, "rows.direction", "2");
    const int32_t layouts[] = {-1, 5, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < 4; i++) {
        snprintf(value, sizeof value, "%" PRId32, layouts[i]);
        reset_rows();
        rows.given.layout = layouts[i];
        refuse(ROPE_ERR_VALUE, "rows.layout", value);
    }
    reset_rows();
    rows.given.layout = ROPE_ROWS_PACKED;
    refuse(ROPE_ERR_VALUE, "rows.sin", NULL);
    rows.given.layout = ROPE_ROWS_PAIRS;
    refuse(ROPE_ERR_VALUE, "rows.sin", NULL);
    rows.given.sin = NULL;
    accept();
    reset_rows();
    job.given.positions = NULL;
    rows.given.count = TOKENS;
    accept();
    rows.given.count = TOKENS - 1;
    refuse(ROPE_ERR_VALUE, "rows.count", "2");
    rows.given.count = 0;
    refuse(ROPE_ERR_VALUE, "rows.count", "0");
}

/* Directions that rows can serve. */
static void test_directions_of_rows(void **state)
{
    (void)state;
    for (rope_direction direction = ROPE_FORWARD; direction <= ROPE_SHIFT; direction++) {
        char value[4];
        const int plain = direction == ROPE_FORWARD || direction == ROPE_TRANSPOSE;
        snprintf(value, sizeof value, "%d", (int)direction);
        reset_rows();
        job.given.direction = direction;
        accept();
        plan_used = scaled_plan;
        if (plain)
            accept();
        else
            refuse(ROPE_ERR_VALUE, "job.direction", value);
        reset_bare();
        job.given.direction = direction;
        if (plain)
            accept();
        else
            refuse(ROPE_ERR_VALUE, "job.direction", value);
    }
}

static void test_pairing_in_place(void **state)
{
    (void)state;
    reset();
    q.given.dst = data.q;
    job.given.pairing_out = ROPE_OUT_HALF; /* no change */
    accept();
    job.given.pairing_out = ROPE_OUT_INTERLEAVED;
    refuse(ROPE_ERR_VALUE, "job.pairing_out", "2");
    q.given.dst = data.q_out;
    accept();
    k.given.dst = data.k;
    refuse(ROPE_ERR_VALUE, "job.pairing_out", "2");
}

static void test_parts(void **state)
{
    (void)state;
    static const size_t parts[][2] = {{0, 0}, {1, 1}, {2, 1}, {SIZE_MAX, SIZE_MAX}, {3, 0}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char value[32];
        reset();
        memcpy(&before, &data, sizeof data);
        memset(message, 'x', sizeof message);
        snprintf(value, sizeof value, "%zu", parts[i][0]);
        assert_int_equal(rope_rotate_part(plan, &job.given, parts[i][0], parts[i][1]),
                         ROPE_ERR_VALUE);
        check_message("part", value);
        assert_memory_equal(&data, &before, sizeof data);
    }
    reset(); /* more parts than there is work, up to the largest number */
    memcpy(&before, &data, sizeof data);
    assert_int_equal(rope_rotate_part(plan, &job.given, SIZE_MAX - 1, SIZE_MAX), ROPE_OK);
    assert_memory_equal(&data, &before, sizeof data);
}

/* ---- dtypes ---- */

static void test_dtypes(void **state)
{
    (void)state;
    static const rope_dtype none[] = {-1, 0, ROPE_I32, ROPE_I64, 7, INT32_MAX, INT32_MIN};
    char value[16];
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        snprintf(value, sizeof value, "%" PRId32, none[i]);
        reset();
        q.given.dtype = none[i];
        refuse(ROPE_ERR_DTYPE, "q.dtype", value);
        reset();
        k.given.dtype = none[i];
        refuse(ROPE_ERR_DTYPE, "k.dtype", value);
        reset_rows();
        rows.given.dtype = none[i];
        refuse(ROPE_ERR_DTYPE, "rows.dtype", value);
        if (none[i] == 0)
            continue;
        reset();
        job.given.row_dtype = none[i];
        refuse(ROPE_ERR_DTYPE, "job.row_dtype", value);
    }
    reset();
    job.given.row_dtype = ROPE_F64;
    refuse(ROPE_ERR_DTYPE, "job.row_dtype", "2");
    static const rope_dtype no_position[] = {-1, 0, ROPE_F16, ROPE_BF16, 7, INT32_MIN};
    for (size_t i = 0; i < sizeof no_position / sizeof *no_position; i++) {
        snprintf(value, sizeof value, "%" PRId32, no_position[i]);
        reset();
        positions.given.dtype = no_position[i];
        refuse(ROPE_ERR_DTYPE, "positions", value);
        reset_rows();
        positions.given.dtype = no_position[i];
        refuse(ROPE_ERR_DTYPE, "positions", value);
    }
    reset_rows(); /* numbers of rows are integers */
    positions.given.dtype = ROPE_F64;
    refuse(ROPE_ERR_DTYPE, "positions", "2");
    positions.given.dtype = ROPE_F32;
    refuse(ROPE_ERR_DTYPE, "positions", "1");
}

/* ---- Sizes and strides ---- */

static void test_sizes(void **state)
{
    (void)state;
    static const size_t huge[] = {SIZE_MAX,     SIZE_MAX / 2 + 1, SIZE_MAX / 4,
                                  SIZE_MAX / 8, SIZE_MAX / 32,    SIZE_MAX / 4 + 1};
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
        for (int own = 0; own < 2; own++) {
            reset();
            positions.given.data = NULL;
            positions.given.dtype = 0;
            job.given.flags = 0;
            q.given.heads = huge[i];
            if (own)
                q.given.src_stride_head = q.given.dst_stride_head = DIM;
            refuse(ROPE_ERR_SIZE, "q", NULL);
            reset();
            k.given.heads = huge[i];
            if (own)
                k.given.src_stride_head = k.given.dst_stride_head = DIM;
            refuse(ROPE_ERR_SIZE, "k", NULL);
            reset();
            job.given.batch = huge[i];
            positions.given.stride_batch = 0;
            if (own) {
                q.given.src_stride_batch = q.given.dst_stride_batch = DIM * Q_HEADS * TOKENS;
                q.given.src_stride_token = q.given.dst_stride_token = DIM * Q_HEADS;
                q.given.src_stride_head = q.given.dst_stride_head = DIM;
            }
            refuse(ROPE_ERR_SIZE, "q", NULL);
        }
        reset_rows(); /* positions of so many tokens would be out of range before */
        positions.given.stride_token = 0;
        job.given.tokens = huge[i];
        refuse(ROPE_ERR_SIZE, "q", NULL);
        reset();
        q.given.head_dim = huge[i];
        refuse(ROPE_ERR_SIZE, "q", NULL);
        reset_rows();
        rows.given.count = huge[i];
        refuse(ROPE_ERR_SIZE, "rows", NULL);
    }
    static const ptrdiff_t far[] = {PTRDIFF_MAX, PTRDIFF_MIN, PTRDIFF_MAX / 4, PTRDIFF_MIN / 4,
                                    PTRDIFF_MIN + 1};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        ptrdiff_t *const strides[] = {&q.given.src_stride_batch, &q.given.src_stride_token,
                                      &q.given.src_stride_head,  &q.given.dst_stride_batch,
                                      &q.given.dst_stride_token, &q.given.dst_stride_head};
        for (int s = 0; s < 6; s++) {
            reset();
            *strides[s] = far[i];
            refuse(ROPE_ERR_SIZE, "q", NULL);
        }
        reset();
        positions.given.stride_batch = far[i];
        refuse(ROPE_ERR_SIZE, "positions", NULL);
        reset();
        positions.given.stride_token = far[i];
        refuse(ROPE_ERR_SIZE, "positions", NULL);
        reset_rows();
        rows.given.stride_row = far[i];
        refuse(ROPE_ERR_SIZE, "rows", NULL);
        reset_rows();
        rows.given.stride_batch = far[i];
        refuse(ROPE_ERR_SIZE, "rows", NULL);
    }
    /* A stride that no index is multiplied with may be anything. */
    reset();
    job.given.batch = 1;
    q.given.src_stride_batch = PTRDIFF_MIN;
    q.given.src_stride_token = Q_HEADS * DIM;
    q.given.src_stride_head = DIM;
    k.given.dst_stride_batch = PTRDIFF_MAX;
    k.given.dst_stride_token = DIM;
    k.given.dst_stride_head = 1; /* of one head */
    positions.given.stride_batch = PTRDIFF_MIN;
    accept();
}

static void test_strides(void **state)
{
    (void)state;
    static const ptrdiff_t bad[][3] = {
        /* batch, token, head of a destination of 2 x 3 x 2 heads of 8 */
        {48, 16, 7}, {48, 16, -7}, {48, 15, 8}, {47, 16, 8}, {-47, 16, 8}, {48, 0, 8},
        {0, 16, 8},  {48, 16, 0},  {16, 16, 8}, {48, 8, 8},  {8, 16, 48},  {1, 1, 1},
    };
    static const ptrdiff_t good[][3] = {{48, 16, 8}, {-48, 16, 8}, {48, -16, 8}, {48, 16, -8},
                                        {24, 8, 48}, {8, 16, 48},  {8, 32, 16}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char value[16];
        if (i == 10) /* is good: batches inside tokens inside heads */
            continue;
        reset();
        q.given.dst_stride_batch = bad[i][0];
        q.given.dst_stride_token = bad[i][1];
        q.given.dst_stride_head = bad[i][2];
        snprintf(value, sizeof value, "%td", bad[i][i == 2 ? 1 : i == 3 || i == 4 ? 0 : 2]);
        refuse(ROPE_ERR_STRIDE, "q", value);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        reset();
        size_t first = 0;
        const size_t last[3] = {BATCH - 1, TOKENS - 1, Q_HEADS - 1};
        for (int axis = 0; axis < 3; axis++)
            first += good[i][axis] < 0 ? last[axis] * (size_t)-good[i][axis] : 0;
        q.given.dst = data.q_out + first;
        q.given.dst_stride_batch = good[i][0];
        q.given.dst_stride_token = good[i][1];
        q.given.dst_stride_head = good[i][2];
        accept();
    }
    reset(); /* sources may repeat */
    q.given.src_stride_head = DIM;
    accept();
}

/* ---- Aliasing ---- */

static void test_aliases(void **state)
{
    (void)state;
    const size_t last = sizeof data.q / sizeof *data.q - 1;
    reset(); /* in place */
    q.given.dst = data.q;
    k.given.dst = data.k;
    accept();
    q.given.src_stride_batch = TOKENS * Q_HEADS * DIM;
    q.given.src_stride_token = Q_HEADS * DIM;
    q.given.src_stride_head = DIM;
    accept(); /* destination strides of three zeros are those of the source */
    q.given.dst_stride_batch = TOKENS * Q_HEADS * DIM;
    q.given.dst_stride_token = Q_HEADS * DIM;
    q.given.dst_stride_head = DIM;
    accept();
    q.given.dst_stride_token = DIM; /* the same memory in another order */
    q.given.dst_stride_head = TOKENS * DIM;
    refuse(ROPE_ERR_ALIAS, "q.dst", NULL);

    reset();
    q.given.dst = data.q + 1;
    refuse(ROPE_ERR_ALIAS, "q.dst", "q.src");
    q.given.dst = data.q + DIM;
    refuse(ROPE_ERR_ALIAS, "q.dst", "q.src");
    q.given.dst = data.q + last;
    refuse(ROPE_ERR_ALIAS, "q.dst", "q.src");
    q.given.dst = data.q + last + 1; /* neighbours */
    accept();
    q.given.src = data.q_out;
    q.given.dst = data.q;
    accept();

    reset();
    k.given.dst = data.q_out;
    refuse(ROPE_ERR_ALIAS, "dst", NULL);
    k.given.dst = data.q_out + last;
    refuse(ROPE_ERR_ALIAS, "dst", NULL);
    reset();
    k.given.dst = data.q; /* q's source */
    refuse(ROPE_ERR_ALIAS, "k.dst", "q.src");
    reset();
    q.given.dst = data.q_out + last;       /* runs on into k */
    refuse(ROPE_ERR_ALIAS, "q.dst", "k."); /* of k both source and destination */
    reset();
    k.given.src = data.q; /* the same source twice is read only */
    accept();

    reset();
    q.given.dst = data.places;
    refuse(ROPE_ERR_ALIAS, "q.dst", "positions");
    reset();
    k.given.dst = &data.places[BATCH * TOKENS - 1];
    refuse(ROPE_ERR_ALIAS, "k.dst", "positions");
    reset_rows();
    q.given.dst = data.cos;
    refuse(ROPE_ERR_ALIAS, "q.dst", "rows.cos");
    reset_rows();
    k.given.dst = data.sin + 3;
    refuse(ROPE_ERR_ALIAS, "k.dst", "rows.sin");
    reset_rows(); /* both copies of a duplicated row may be one memory */
    rows.given.sin = data.cos;
    accept();

    /* Views of one buffer that take turns, token by token and head by head. */
    static float packed[TOKENS * 2 * Q_HEADS * DIM];
    reset();
    job.given.batch = 1;
    job.given.k = NULL;
    q.given.src = packed;
    q.given.src_stride_token = q.given.dst_stride_token = 2 * Q_HEADS * DIM;
    q.given.src_stride_head = q.given.dst_stride_head = DIM;
    q.given.dst = packed + Q_HEADS * DIM;
    accept();
    q.given.dst = packed + Q_HEADS * DIM - 1;
    refuse(ROPE_ERR_ALIAS, "q.dst", "q.src");
    q.given.dst = packed + DIM;
    refuse(ROPE_ERR_ALIAS, "q.dst", "q.src");
    q.given.src_stride_head = q.given.dst_stride_head = 2 * DIM;
    accept();
    q.given.dst = packed + DIM + 1;
    q.given.heads = 1;
    accept();
}

/*
 * Elements of a tensor's source or destination in `room`: bit k of used[i] tells that operand k has
 * element i.
 */
static void mark(unsigned char *used, int bit, const float *room, const void *start,
                 const ptrdiff_t *stride, const size_t *count, size_t dim)
{
    for (size_t b = 0; b < count[0]; b++)
        for (size_t t = 0; t < count[1]; t++)
            for (size_t h = 0; h < count[2]; h++)
                for (size_t e = 0; e < dim; e++) {
                    ptrdiff_t at = (const float *)start - room + (ptrdiff_t)e;
                    at += (ptrdiff_t)b * stride[0] + (ptrdiff_t)t * stride[1] +
                          (ptrdiff_t)h * stride[2];
                    used[at] |= (unsigned char)(1 << bit);
                }
}

static void random_strides(struct rng *rng, const size_t *count, size_t dim, ptrdiff_t *stride)
{
    size_t step = dim + rng_maybe(rng, 2 * dim);
    const size_t turn = rng_below(rng, 3);
    for (size_t i = 0; i < 3; i++) {
        const size_t axis = (i + turn) % 3;
        stride[axis] = rng_below(rng, 3) ? (ptrdiff_t)step : -(ptrdiff_t)step;
        step = step * count[axis] + rng_maybe(rng, 2 * dim);
    }
}

/* On axes that both walk along, the strides must be equal for the library to see exactly. */
static int same_strides(const size_t *count_a, const ptrdiff_t *a, const size_t *count_b,
                        const ptrdiff_t *b)
{
    for (int axis = 0; axis < 3; axis++)
        if (count_a[axis] > 1 && count_b[axis] > 1 && a[axis] != b[axis])
            return 0;
    return 1;
}

/*
 * Random views of one small memory, against a map of its elements.  What overlaps must be refused;
 * what does not must be accepted where all strides are equal, as views of one packed buffer have
 * them.
 */
static void test_overlaps(void **state)
{
    (void)state;
    enum { ROOM = 4000, MIDDLE = ROOM / 2 };
    static float room[ROOM];
    static unsigned char used[ROOM];
    struct rng rng = rng_make(2);
    int accepted = 0, refused = 0;
    for (int round = 0; round < (test_reduced() ? 3000 : 60000); round++) {
        rope_tensor *const tensors[2] = {&q.given, &k.given};
        size_t count[2][3];
        ptrdiff_t stride[4][3]; /* q src, q dst, k src, k dst */
        const void *start[4];
        int in_place[2];
        const size_t dim = 2 + rng_below(&rng, 3);
        const int packed = rng_below(&rng, 2) == 0;
        reset_bare();
        job.given.batch = 1 + rng_below(&rng, 3);
        job.given.tokens = 1 + rng_below(&rng, 3);
        job.given.rotary_dim = 2;
        rows.given.layout = ROPE_ROWS_PACKED;
        rows.given.sin = NULL;
        positions.given.stride_batch = 0;
        positions.given.stride_token = 0;
        memset(used, 0, sizeof used);
        for (int side = 0; side < 2; side++) {
            count[side][0] = job.given.batch;
            count[side][1] = job.given.tokens;
            count[side][2] = 1 + rng_below(&rng, 3);
            for (int dst = 0; dst < 2; dst++) {
                ptrdiff_t *own = stride[2 * side + dst];
                if (packed && 2 * side + dst > 0) {
                    memcpy(own, stride[0], sizeof stride[0]);
                    count[side][2] =
                        count[0][2] > 1 && side ? 1 + rng_below(&rng, count[0][2]) : count[0][2];
                } else {
                    random_strides(&rng, count[side], dim, own);
                }
                start[2 * side + dst] = room + MIDDLE + rng_below(&rng, packed ? 40 : 300);
            }
            if (rng_below(&rng, 3) == 0)
                start[2 * side + 1] = start[2 * side];
            tensors[side]->src = start[2 * side];
            tensors[side]->dst = room + ((const float *)start[2 * side + 1] - room);
            tensors[side]->heads = count[side][2];
            tensors[side]->head_dim = dim;
            tensors[side]->src_stride_batch = stride[2 * side][0];
            tensors[side]->src_stride_token = stride[2 * side][1];
            tensors[side]->src_stride_head = stride[2 * side][2];
            tensors[side]->dst_stride_batch = stride[2 * side + 1][0];
            tensors[side]->dst_stride_token = stride[2 * side + 1][1];
            tensors[side]->dst_stride_head = stride[2 * side + 1][2];
            in_place[side] =
                start[2 * side] == start[2 * side + 1] &&
                same_strides(count[side], stride[2 * side], count[side], stride[2 * side + 1]);
            mark(used, 2 * side, room, start[2 * side], stride[2 * side], count[side], dim);
            mark(used, 2 * side + 1, room, start[2 * side + 1], stride[2 * side + 1], count[side],
                 dim);
        }
        int overlap = 0;
        for (size_t i = 0; i < ROOM; i++) {
            const int q_src = used[i] & 1, q_dst = used[i] & 2, k_src = used[i] & 4,
                      k_dst = used[i] & 8;
            overlap |= (q_dst && ((q_src && !in_place[0]) || k_src || k_dst)) ||
                       (k_dst && ((k_src && !in_place[1]) || q_src));
        }
        int equal = 1;
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < a; b++)
                equal &= same_strides(count[a / 2], stride[a], count[b / 2], stride[b]);
        const rope_status status = rope_rotate(NULL, &job.given);
        const int right =
            status == ROPE_OK ? !overlap : status == ROPE_ERR_ALIAS && (overlap || !equal);
        accepted += status == ROPE_OK;
        refused += status != ROPE_OK;
        if (!right)
            fail_msg("round %d: batch %zu, tokens %zu, heads %zu and %zu of %zu: %s, but elements "
                     "%s, seed %#" PRIx64,
                     round, job.given.batch, job.given.tokens, count[0][2], count[1][2], dim,
                     status == ROPE_OK ? "accepted" : message,
                     overlap ? "overlap" : "of equal strides lie apart", test_seed());
    }
    assert_true(accepted > 200 && refused > 200);
}

/* ---- Positions ---- */

static void test_positions(void **state)
{
    (void)state;
    static const int64_t out[] = {INT64_C(2147483648), INT64_C(-2147483648), INT64_MAX, INT64_MIN,
                                  INT64_C(1) << 32};
    char value[40];
    for (int last = 0; last < 3;
         last++) { /* the first token, a middle one, the last of the last batch */
        const size_t at = last == 0 ? 0 : last == 1 ? 2 : BATCH * TOKENS - 1;
        for (size_t i = 0; i < sizeof out / sizeof *out; i++) {
            snprintf(value, sizeof value, "%" PRId64, out[i]);
            for (unsigned flags = 0; flags < 2; flags++) {
                reset();
                job.given.flags = flags;
                data.places[at] = out[i];
                refuse(ROPE_ERR_POSITION, "positions", value);
            }
            reset(); /* not dense */
            positions.given.stride_token = -1;
            positions.given.data = data.places + TOKENS - 1;
            data.places[at] = out[i];
            refuse(ROPE_ERR_POSITION, "positions", value);
        }
        const double no_number[] = {NAN, INFINITY, -INFINITY, 0x1p31, -0x1p31, 1e300, -1e300};
        for (size_t i = 0; i < sizeof no_number / sizeof *no_number; i++) {
            for (int wide = 0; wide < 2; wide++) {
                reset();
                positions.given.dtype = wide ? ROPE_F64 : ROPE_F32;
                for (size_t t = 0; t < BATCH * TOKENS; t++)
                    dtype_store(wide ? DT_F64 : DT_F32, data.places, t,
                                t == at ? no_number[i] : 1.5);
                refuse(ROPE_ERR_POSITION, "positions", NULL);
            }
        }
        reset();
        int32_t narrow[BATCH * TOKENS] = {0};
        positions.given.dtype = ROPE_I32;
        positions.given.data = narrow;
        narrow[at] = INT32_MIN;
        refuse(ROPE_ERR_POSITION, "positions", "-2147483648");
        narrow[at] = INT32_MIN + 1;
        accept();
        narrow[at] = INT32_MAX;
        accept();
        positions.given.start = 1;
        refuse(ROPE_ERR_POSITION, "positions", "2147483648");
        positions.given.start = 0;
        positions.given.step = at % TOKENS ? 1 : 0;
        if (positions.given.step)
            refuse(ROPE_ERR_POSITION, "positions", NULL);
    }
    /* start and step alone, and sums that overflow */
    static const struct {
        int64_t start, step;
        int good;
    } lines[] = {
        {2147483645, 1, 1},        {2147483645, 0, 1},        {2147483646, 1, 0},
        {-2147483645, -1, 1},      {-2147483646, -1, 0},      {0, 1073741823, 1},
        {0, 1073741824, 0},        {INT64_MAX, 1, 0},         {INT64_MIN, -1, 0},
        {INT64_MAX, INT64_MAX, 0}, {INT64_MIN, INT64_MIN, 0}, {0, INT64_MIN, 0},
        {0, INT64_MAX, 0},         {INT64_MIN, INT64_MAX, 0}, {INT64_MIN, 0, 0},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (unsigned flags = 0; flags < 2; flags++) {
            reset();
            job.given.flags = flags;
            positions.given.data = NULL;
            positions.given.dtype = 0;
            positions.given.start = lines[i].start;
            positions.given.step = lines[i].step;
            if (lines[i].good)
                accept();
            else
                refuse(ROPE_ERR_POSITION, "positions", NULL);
        }
    reset();
    positions.given.start = INT64_MIN;
    data.places[0] = -1;
    refuse(ROPE_ERR_POSITION, "positions", NULL);
    positions.given.start = INT64_MAX;
    data.places[0] = 1;
    refuse(ROPE_ERR_POSITION, "positions", NULL);
    reset(); /* a sum that comes back into the range */
    for (size_t t = 0; t < BATCH * TOKENS; t++)
        data.places[t] = INT64_MAX - 5;
    positions.given.start = -INT64_MAX;
    accept();
}

/* ---- Numbers of rows ---- */

static void test_rows(void **state)
{
    (void)state;
    static const int64_t out[] = {ROWS, ROWS + 1, INT64_MAX, INT64_C(1) << 32, -1, INT64_MIN};
    char value[40];
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        for (int bare = 0; bare < 2; bare++) {
            if (bare)
                reset_bare();
            else
                reset_rows();
            snprintf(value, sizeof value, "%" PRId64, out[i]);
            data.places[BATCH * TOKENS - 1] = out[i];
            refuse(ROPE_ERR_ROW, "positions", value);
            job.given.flags = ROPE_SKIP_NEGATIVE;
            if (out[i] >= 0)
                refuse(ROPE_ERR_ROW, "positions", value);
            else
                accept();
        }
    reset_rows(); /* positions without data */
    positions.given.data = NULL;
    positions.given.dtype = 0;
    positions.given.start = ROWS - TOKENS;
    accept();
    positions.given.start++;
    refuse(ROPE_ERR_ROW, "positions", "5");
    positions.given.start = -1;
    refuse(ROPE_ERR_ROW, "positions", "-1");
    job.given.flags = ROPE_SKIP_NEGATIVE;
    accept();
    positions.given.start = INT64_MAX;
    refuse(ROPE_ERR_ROW, "positions", NULL);
    positions.given.start = 0;
    positions.given.step = INT64_MAX;
    refuse(ROPE_ERR_ROW, "positions", NULL);

    /* Duplicated rows that are none, in one entry of a row that is used. */
    for (int pairs = 0; pairs < 2; pairs++)
        for (int sine = 0; sine < 2; sine++) {
            reset_rows();
            float *array = sine ? data.sin : data.cos;
            if (pairs) {
                rows.given.layout = ROPE_ROWS_DUP_PAIRS;
                for (size_t i = 0; i < ROWS * PAIRS; i++) {
                    data.cos[2 * i + 1] = data.cos[2 * i];
                    data.sin[2 * i + 1] = data.sin[2 * i];
                }
            }
            accept();
            array[2 * 2 * PAIRS + 2 * PAIRS - 1] += 1.0f; /* the last entry of row 2 */
            refuse(ROPE_ERR_ROW, sine ? "rows.sin" : "rows.cos", "2");
            for (int i = 0; i < BATCH * TOKENS; i++)
                data.places[i] = i % 2; /* row 2 is not used */
            accept();
        }
}

/* ---- Nothing to do ---- */

static void forget_memory(void)
{
    q.given.src = q.given.dst = NULL;
    k.given.src = k.given.dst = NULL;
    positions.given.data = NULL;
    rows.given.cos = rows.given.sin = NULL;
}

static void test_empty(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++)
        for (int without = 0; without < 4; without++)
            for (int huge = 0; huge < 2; huge++) {
                if (kind == 0)
                    reset();
                else if (kind == 1)
                    reset_rows();
                else
                    reset_bare();
                if (huge) { /* sizes of an empty job do not matter either */
                    job.given.batch = SIZE_MAX;
                    job.given.tokens = SIZE_MAX;
                    job.given.flags = ROPE_SKIP_NEGATIVE;
                    rows.given.count = SIZE_MAX;
                }
                switch (without) {
                case 0:
                    job.given.tokens = 0;
                    break;
                case 1:
                    job.given.batch = 0;
                    break;
                case 2:
                    q.given.heads = k.given.heads = 0;
                    break;
                default:
                    job.given.q = job.given.k = NULL;
                    break;
                }
                accept_empty();
                forget_memory();
                accept_empty();
            }
    reset(); /* an empty q beside a full k */
    q.given.heads = 0;
    q.given.src = q.given.dst = NULL;
    memcpy(&before, &data, sizeof data);
    accept();
    assert_memory_not_equal(data.k_out, before.k_out, sizeof data.k_out);
    assert_memory_equal(data.q_out, before.q_out, sizeof data.q_out);
}

/* ---- rope_cos_sin ---- */

static void test_tables(void **state)
{
    (void)state;
    char value[40];
    table_tokens = TOKENS;
    reset();
    assert_int_equal(call_cos_sin(), ROPE_OK);
    assert_int_equal(rope_cos_sin(plan, &positions.given, TOKENS, NULL), ROPE_ERR_NULL);
    reset();
    plan_used = NULL;
    refuse_table(ROPE_ERR_NULL, "plan", "NULL");
    reset();
    memset(message, 0, sizeof message);
    assert_int_equal(rope_cos_sin(plan, NULL, TOKENS, &rows.given), ROPE_ERR_NULL);
    check_message("positions", "NULL");
    reset();
    rows.given.cos = NULL;
    refuse_table(ROPE_ERR_NULL, "rows.cos", "NULL");
    reset();
    rows.given.sin = NULL;
    refuse_table(ROPE_ERR_NULL, "rows.sin", "NULL");
    reset();
    positions.given.data = NULL;
    refuse_table(ROPE_ERR_NULL, "positions.data", "NULL");

    reset();
    positions.given.struct_size--;
    refuse_table(ROPE_ERR_STRUCT, "struct_size", NULL);
    positions.given.struct_size += 9;
    assert_int_equal(call_cos_sin(), ROPE_OK);
    positions.behind[7] = 1;
    refuse_table(ROPE_ERR_STRUCT, "struct_size", NULL);
    reset();
    rows.given.struct_size += 8;
    assert_int_equal(call_cos_sin(), ROPE_OK);
    rows.behind[7] = 1;
    refuse_table(ROPE_ERR_STRUCT, "rows.struct_size", NULL);
    reset();
    rows.given.struct_size--;
    memcpy(&before, &data, sizeof data);
    assert_int_equal(call_cos_sin(), ROPE_ERR_STRUCT);
    assert_memory_equal(&data, &before, sizeof data);

    reset();
    rows.given.count = TOKENS - 1;
    refuse_table(ROPE_ERR_VALUE, "rows.count", "2");
    const int32_t bad[] = {-1, 5, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < 4; i++) {
        snprintf(value, sizeof value, "%" PRId32, bad[i]);
        reset();
        rows.given.layout = bad[i];
        refuse_table(ROPE_ERR_VALUE, "rows.layout", value);
        reset();
        rows.given.direction = bad[i];
        refuse_table(ROPE_ERR_VALUE, "rows.direction", value);
        reset();
        rows.given.dtype = bad[i];
        refuse_table(ROPE_ERR_DTYPE, "rows.dtype", value);
        reset();
        positions.given.dtype = bad[i] == 5 ? ROPE_F16 : bad[i];
        refuse_table(ROPE_ERR_DTYPE, "positions", NULL);
    }
    reset();
    rows.given.layout = ROPE_ROWS_PACKED;
    refuse_table(ROPE_ERR_VALUE, "rows.sin", NULL);

    const size_t huge[] = {SIZE_MAX, SIZE_MAX / 8, SIZE_MAX / 4 + 1};
    for (size_t i = 0; i < 3; i++) {
        reset();
        positions.given.stride_token = 0;
        rows.given.count = table_tokens = huge[i];
        refuse_table(ROPE_ERR_SIZE, "rows", NULL);
    }
    table_tokens = TOKENS;
    const ptrdiff_t far[] = {PTRDIFF_MAX, PTRDIFF_MIN, PTRDIFF_MIN / 4};
    for (size_t i = 0; i < 3; i++) {
        reset();
        rows.given.stride_row = far[i];
        refuse_table(ROPE_ERR_SIZE, "rows", NULL);
        reset();
        positions.given.stride_token = far[i];
        refuse_table(ROPE_ERR_SIZE, "positions", NULL);
    }
    reset();
    rows.given.stride_row = 2 * PAIRS - 1;
    refuse_table(ROPE_ERR_STRIDE, "rows.stride_row", "7");
    rows.given.stride_row = -1;
    refuse_table(ROPE_ERR_STRIDE, "rows.stride_row", "-1");
    rows.given.stride_row = -2 * PAIRS;
    rows.given.cos = data.cos + (TOKENS - 1) * 2 * PAIRS;
    rows.given.sin = data.sin + (TOKENS - 1) * 2 * PAIRS;
    assert_int_equal(call_cos_sin(), ROPE_OK);

    reset();
    rows.given.sin = data.cos;
    refuse_table(ROPE_ERR_ALIAS, "rows.sin", "rows.cos");
    rows.given.sin = data.cos + TOKENS * 2 * PAIRS - 1;
    refuse_table(ROPE_ERR_ALIAS, "rows.sin", "rows.cos");
    rows.given.sin = data.cos + TOKENS * 2 * PAIRS;
    assert_int_equal(call_cos_sin(), ROPE_OK);
    reset();
    rows.given.cos = data.places;
    refuse_table(ROPE_ERR_ALIAS, "rows.cos", "positions");
    reset();
    rows.given.sin = &data.places[TOKENS - 1];
    refuse_table(ROPE_ERR_ALIAS, "rows.sin", "positions");
    reset();
    data.places[TOKENS - 1] = INT64_C(1) << 31;
    refuse_table(ROPE_ERR_POSITION, "positions", "2147483648");
    data.places[TOKENS - 1] = -(INT64_C(1) << 31);
    refuse_table(ROPE_ERR_POSITION, "positions", "-2147483648");

    reset(); /* no tokens */
    forget_memory();
    table_tokens = 0;
    rows.given.count = 0;
    memcpy(&before, &data, sizeof data);
    assert_int_equal(call_cos_sin(), ROPE_OK);
    assert_memory_equal(&data, &before, sizeof data);
}

/* ---- Plans ---- */

static void test_specs(void **state)
{
    (void)state;
    rope_plan *made = scaled_plan;
    double frequencies[PAIRS + 1] = {1.0, 0.5, 0.25, 0.0, 9.0};
    char value[32];
    reset();
    accept_spec();
    assert_int_equal(rope_plan_create(NULL, &made), ROPE_ERR_NULL);
    assert_null(made);
    assert_int_equal(rope_plan_create(&spec.given, NULL), ROPE_ERR_NULL);

    const size_t dims[] = {0, 1};
    for (size_t i = 0; i < 2; i++) {
        reset();
        spec.given.head_dim = dims[i];
        snprintf(value, sizeof value, "%zu", dims[i]);
        refuse_spec(ROPE_ERR_VALUE, "spec.head_dim", value);
    }
    reset();
    spec.given.head_dim = 7; /* odd: all of it cannot be rotated */
    refuse_spec(ROPE_ERR_VALUE, "spec.rotary_dim", "7");
    spec.given.rotary_dim = 6;
    accept_spec();
    const size_t rotary[] = {1, 3, 10, SIZE_MAX, SIZE_MAX - 1};
    for (size_t i = 0; i < sizeof rotary / sizeof *rotary; i++) {
        reset();
        spec.given.rotary_dim = rotary[i];
        snprintf(value, sizeof value, "%zu", rotary[i]);
        refuse_spec(ROPE_ERR_VALUE, "spec.rotary_dim", value);
    }
    reset();
    spec.given.rotary_offset = 6;
    accept_spec(); /* the last two */
    spec.given.rotary_offset = 7;
    refuse_spec(ROPE_ERR_VALUE, "spec.rotary_offset", "7");
    spec.given.rotary_offset = SIZE_MAX;
    refuse_spec(ROPE_ERR_VALUE, "spec.rotary_offset", SIZE_MAX_TEXT);
    spec.given.rotary_offset = 4;
    spec.given.rotary_dim = 6;
    refuse_spec(ROPE_ERR_VALUE, "spec.rotary_dim", "6");

    const int32_t bad[] = {-1, 2, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < 4; i++) {
        snprintf(value, sizeof value, "%" PRId32, bad[i]);
        reset();
        spec.given.pairing = bad[i];
        refuse_spec(ROPE_ERR_VALUE, "spec.pairing", value);
        reset();
        spec.given.angle = bad[i];
        refuse_spec(ROPE_ERR_VALUE, "spec.angle", value);
        reset();
        spec.given.scheme = bad[i] == 2 ? 1000 : bad[i];
        refuse_spec(ROPE_ERR_VALUE, "spec.scheme", bad[i] == 2 ? "1000" : value);
    }
    const double no_theta[] = {-1.0, -0.5, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof no_theta / sizeof *no_theta; i++) {
        snprintf(value, sizeof value, "%g", no_theta[i]);
        reset();
        spec.given.theta = no_theta[i];
        refuse_spec(ROPE_ERR_VALUE, "spec.theta", value);
        reset();
        spec.given.attention_factor = no_theta[i];
        refuse_spec(ROPE_ERR_VALUE, "spec.attention_factor", value);
        reset();
        spec.given.scheme = ROPE_SCHEME_LINEAR;
        spec.given.factor = no_theta[i];
        refuse_spec(ROPE_ERR_VALUE, "spec.factor", value);
    }
    reset();
    spec.given.scheme = ROPE_SCHEME_LINEAR; /* without its factor */
    refuse_spec(ROPE_ERR_VALUE, "spec.factor", "0");
    spec.given.factor = 0.25;
    accept_spec();
    spec.given.factor = 0x1p-21; /* f_0 = 2^21 */
    refuse_spec(ROPE_ERR_VALUE, "2^20", NULL);
    spec.given.factor = 0x1p-20;
    accept_spec();
    reset();
    spec.given.factor = 2.0;
    refuse_spec(ROPE_ERR_VALUE, "spec.factor", "2");
    reset();
    spec.given.theta = 1e-30; /* f_3 = 10^22.5 */
    refuse_spec(ROPE_ERR_VALUE, "spec.theta", NULL);
    spec.given.theta = 1e300;
    accept_spec();

    reset();
    spec.given.scheme = ROPE_SCHEME_CUSTOM;
    spec.given.inv_freq_count = PAIRS;
    refuse_spec(ROPE_ERR_NULL, "spec.inv_freq", "NULL");
    spec.given.inv_freq = frequencies;
    accept_spec();
    spec.given.inv_freq_count = PAIRS - 1;
    refuse_spec(ROPE_ERR_VALUE, "spec.inv_freq_count", "3");
    spec.given.inv_freq_count = PAIRS + 1;
    refuse_spec(ROPE_ERR_VALUE, "spec.inv_freq_count", "5");
    spec.given.inv_freq_count = PAIRS;
    spec.given.theta = 10000.0;
    refuse_spec(ROPE_ERR_VALUE, "spec.theta", "10000");
    spec.given.theta = 0.0;
    spec.given.factor = 3.0;
    refuse_spec(ROPE_ERR_VALUE, "spec.factor", "3");
    spec.given.factor = 0.0;
    const double no_frequency[] = {NAN, INFINITY, -INFINITY, 0x1.0000001p20, -1e300};
    for (size_t i = 0; i < sizeof no_frequency / sizeof *no_frequency; i++) {
        frequencies[2] = no_frequency[i];
        refuse_spec(ROPE_ERR_VALUE, "spec.inv_freq", "2");
    }
    frequencies[2] = -0x1p20;
    accept_spec();
    reset();
    spec.given.inv_freq = frequencies;
    refuse_spec(ROPE_ERR_VALUE, "spec.inv_freq", NULL);
    reset();
    spec.given.inv_freq_count = 4;
    refuse_spec(ROPE_ERR_VALUE, "spec.inv_freq_count", "4");

    reset();
    const uint32_t size = spec.given.struct_size;
    spec.given.struct_size = size + 24;
    accept_spec();
    spec.behind[23] = 1;
    refuse_spec(ROPE_ERR_STRUCT, "spec.struct_size", NULL);
    const uint32_t shorter[] = {0, 4, offsetof(rope_spec, message_size)};
    for (size_t i = 0; i < 3; i++) {
        spec.given.struct_size = shorter[i];
        assert_int_equal(call_create(), ROPE_ERR_STRUCT);
    }
}

/* Fields whose rules lean on others. */
static void test_specs_together(void **state)
{
    (void)state;
    static const int32_t three[3] = {2, 1, 1}, maps[PAIRS] = {0};
    reset();
    spec.given.head_dim = 5000, spec.given.rotary_dim = 4096;
    accept_spec();
    spec.given.rotary_dim = 4098;
    refuse_spec(ROPE_ERR_VALUE, "spec.rotary_dim", "4098");
    reset();
    spec.given.pairing_chunk = 4;
    spec.given.pairing = ROPE_INTERLEAVED;
    refuse_spec(ROPE_ERR_VALUE, "spec.pairing_chunk", "4");
    spec.given.pairing = ROPE_HALF;
    accept_spec();
    spec.given.pairing_chunk = 6; /* no divisor of 8 */
    refuse_spec(ROPE_ERR_VALUE, "spec.pairing_chunk", "6");
    reset();
    spec.given.xpos_gamma = 0.4; /* without a base */
    refuse_spec(ROPE_ERR_VALUE, "spec.xpos_gamma", "0.4");
    spec.given.xpos_base = 512;
    accept_spec();
    spec.given.xpos_gamma = -0.4;
    refuse_spec(ROPE_ERR_VALUE, "spec.xpos_gamma", "-0.4");
    reset();
    spec.given.axis_layout = ROPE_AXES_PIXTRAL;
    accept_spec();
    spec.given.rotary_dim = 6; /* 3 pairs */
    refuse_spec(ROPE_ERR_VALUE, "spec.rotary_dim", NULL);
    reset();
    spec.given.axis_layout = ROPE_AXES_SECTIONS;
    spec.given.sections = three, spec.given.section_count = 3;
    accept_spec();
    spec.given.pair_axis = maps;
    refuse_spec(ROPE_ERR_VALUE, "spec.pair_axis", NULL);
    spec.given.pair_axis = NULL, spec.given.pair_freq = maps;
    refuse_spec(ROPE_ERR_VALUE, "spec.pair_freq", NULL);
    const rope_scheme restarts[] = {ROPE_SCHEME_DEFAULT, ROPE_SCHEME_LINEAR, ROPE_SCHEME_NTK};
    for (size_t i = 0; i < 3; i++) {
        static const int32_t halves[2] = {2, 2};
        reset();
        spec.given.axis_layout = ROPE_AXES_RESTART;
        spec.given.sections = halves, spec.given.section_count = 2;
        spec.given.scheme = restarts[i];
        spec.given.factor = restarts[i] == ROPE_SCHEME_DEFAULT ? 0 : 2;
        accept_spec();
    }
}

/* Plans between plans that have not the same pairs, or no number between them. */
static void test_between(void **state)
{
    (void)state;
    static const int32_t first[PAIRS] = {0, 0, 1, 1}, second[PAIRS] = {1, 0, 1, 0};
    enum { SAME, ROTARY, OFFSET, INTERLEAVED, CHUNK, AXES, XPOS, GAMMA, MAP, F32, KINDS };
    rope_plan *plans[KINDS];
    for (int i = 0; i < KINDS; i++) {
        rope_spec own = ROPE_SPEC_INIT;
        own.head_dim = 12, own.rotary_dim = 2 * PAIRS;
        own.rotary_dim = i == ROTARY ? 2 * PAIRS - 2 : own.rotary_dim;
        own.rotary_offset = i == OFFSET ? 2 : 0;
        own.pairing = i == INTERLEAVED ? ROPE_INTERLEAVED : ROPE_HALF;
        own.pairing_chunk = i == CHUNK ? PAIRS : 0;
        own.axes = i == AXES || i == MAP ? 2 : 0;
        own.pair_axis = i == AXES ? first : i == MAP ? second : NULL;
        own.xpos_base = i == XPOS || i == GAMMA ? 512 : 0;
        own.xpos_gamma = i == GAMMA ? 0.5 : 0;
        own.angle = i == F32 ? ROPE_ANGLE_F32 : ROPE_ANGLE_EXACT;
        assert_int_equal(rope_plan_create(&own, &plans[i]), ROPE_OK);
    }
    for (int i = 0; i < KINDS; i++) {
        for (int j = 0; j < KINDS; j++) {
            rope_plan *made = plans[0];
            const int fits = i == j && i != F32; /* no two of them have the same pairs */
            assert_int_equal(rope_plan_between(plans[i], plans[j], &made),
                             fits ? ROPE_OK : ROPE_ERR_VALUE);
            if (!fits)
                assert_null(made);
            rope_plan_destroy(made);
        }
    }
    for (int i = 0; i < KINDS; i++)
        rope_plan_destroy(plans[i]);

    /* 2^20 - (-2^20) is beyond the limit of a frequency, 1e300 / 1e-300 beyond f64 */
    const double up[1] = {0x1p20}, down[1] = {-0x1p20};
    rope_plan *made = NULL, *ends[2];
    for (int big = 0; big < 2; big++) {
        for (int i = 0; i < 2; i++) {
            rope_spec own = ROPE_SPEC_INIT;
            own.scheme = ROPE_SCHEME_CUSTOM;
            own.head_dim = 2;
            own.inv_freq = big || i == 0 ? up : down, own.inv_freq_count = 1;
            own.attention_factor = big ? (i == 0 ? 1e-300 : 1e300) : 0;
            assert_int_equal(rope_plan_create(&own, &ends[i]), ROPE_OK);
        }
        for (int i = 0; i < 2; i++) { /* to 0 as well as to infinity */
            made = ends[0];
            assert_int_equal(rope_plan_between(ends[i], ends[1 - i], &made), ROPE_ERR_VALUE);
            assert_null(made);
        }
        rope_plan_destroy(ends[0]);
        rope_plan_destroy(ends[1]);
    }
}

static void test_plan_questions(void **state)
{
    (void)state;
    struct {
        rope_info info;
        unsigned char behind[16];
    } asked;
    const rope_info init = ROPE_INFO_INIT;
    memset(&asked, 0, sizeof asked);
    asked.info = init;
    assert_int_equal(rope_plan_info(NULL, &asked.info), ROPE_ERR_NULL);
    assert_int_equal(rope_plan_info(plan, NULL), ROPE_ERR_NULL);
    asked.info.struct_size = 4;
    assert_int_equal(rope_plan_info(plan, &asked.info), ROPE_ERR_STRUCT);
    assert_int_equal(asked.info.head_dim, 0);
    asked.info.struct_size = sizeof asked.info + 16;
    assert_int_equal(rope_plan_info(plan, &asked.info), ROPE_OK);
    assert_int_equal(asked.info.struct_size, sizeof asked.info + 16);
    assert_int_equal(asked.info.head_dim, DIM);
    asked.info = init;
    asked.info.struct_size = sizeof asked.info + 16;
    asked.behind[15] = 1;
    assert_int_equal(rope_plan_info(plan, &asked.info), ROPE_ERR_STRUCT);
    assert_int_equal(asked.info.head_dim, 0);
    asked.info.struct_size = sizeof asked.info;
    memset(asked.behind, 0x5a, sizeof asked.behind);
    assert_int_equal(rope_plan_info(plan, &asked.info), ROPE_OK);
    for (size_t i = 0; i < sizeof asked.behind; i++)
        assert_int_equal(asked.behind[i], 0x5a);

    double frequencies[PAIRS + 1] = {7.0, 7.0, 7.0, 7.0, 7.0};
    assert_int_equal(rope_plan_inv_freq(NULL, frequencies, NULL, PAIRS), ROPE_ERR_NULL);
    assert_int_equal(rope_plan_inv_freq(plan, NULL, NULL, PAIRS), ROPE_ERR_NULL);
    assert_int_equal(rope_plan_inv_freq(plan, frequencies, NULL, PAIRS - 1), ROPE_ERR_VALUE);
    assert_int_equal(rope_plan_inv_freq(plan, frequencies, NULL, PAIRS + 1), ROPE_ERR_VALUE);
    assert_int_equal(rope_plan_inv_freq(plan, frequencies, NULL, SIZE_MAX), ROPE_ERR_VALUE);
    assert_true(frequencies[0] == 7.0);
}

/* ---- Every size and stride at its ends ------------------------------------------------------- */

/* A field of a descriptor, as what the call must refuse whatever its other fields say. */
struct field {
    const char *name;
    size_t at;
    int is_stride;
};
#define SIZE_FIELD(type, name)         \
    {                                  \
#name, offsetof(type, name), 0 \
    }
#define STRIDE_FIELD(type, name)       \
    {                                  \
#name, offsetof(type, name), 1 \
    }

static const size_t far_sizes[] = {SIZE_MAX,     SIZE_MAX - 1,     SIZE_MAX / 2 + 1, SIZE_MAX / 2,
                                   SIZE_MAX / 4, SIZE_MAX / 8 + 1, SIZE_MAX / 16,    SIZE_MAX / 32};
static const ptrdiff_t far_strides[] = {PTRDIFF_MAX,     PTRDIFF_MIN,         PTRDIFF_MIN + 1,
                                        PTRDIFF_MAX / 4, PTRDIFF_MIN / 4 - 1, PTRDIFF_MAX / 8 + 1};

/* Sets each of the fields to each of the ends; all else of the descriptor is as before. */
static void check_ends(void *descriptor, const struct field *fields, size_t count, call_fn *call)
{
    for (size_t f = 0; f < count; f++) {
        unsigned char *field = (unsigned char *)descriptor + fields[f].at, old[sizeof(size_t)];
        memcpy(old, field, sizeof old);
        const size_t ends = fields[f].is_stride ? sizeof far_strides / sizeof *far_strides
                                                : sizeof far_sizes / sizeof *far_sizes;
        for (size_t i = 0; i < ends; i++) {
            if (fields[f].is_stride)
                memcpy(field, &far_strides[i], sizeof old);
            else
                memcpy(field, &far_sizes[i], sizeof old);
            memcpy(&before, &data, sizeof data);
            const rope_status status = call();
            if (status != ROPE_ERR_SIZE)
                fail_msg("%s, end %zu: \"%s\"", fields[f].name, i, rope_status_string(status));
            assert_memory_equal(&data, &before, sizeof data);
        }
        memcpy(field, old, sizeof old);
    }
}

static rope_sinusoid sinusoid;
static int is_table;

static rope_status call_sinusoid(void)
{
    return is_table ? rope_sinusoid_table(plan, &sinusoid) : rope_sinusoid_add(plan, &sinusoid);
}

static rope_status call_sinusoid_part(void)
{
    return rope_sinusoid_add_part(plan, &sinusoid, 1, 2);
}

static void test_ends_of_sinusoids(void **state)
{
    (void)state;
    static const struct field fields[] = {
        SIZE_FIELD(rope_sinusoid, batch),
        SIZE_FIELD(rope_sinusoid, tokens),
        SIZE_FIELD(rope_sinusoid, dim),
        STRIDE_FIELD(rope_sinusoid, dst_stride_batch),
        STRIDE_FIELD(rope_sinusoid, dst_stride_token),
        STRIDE_FIELD(rope_sinusoid, src_stride_batch), /* a table has none */
        STRIDE_FIELD(rope_sinusoid, src_stride_token),
    };
    const size_t count = sizeof fields / sizeof *fields;
    reset();
    positions.given.stride_token = 0; /* of any number of tokens */
    positions.given.stride_batch = 0;
    for (int variant = 0; variant < 4; variant++) {
        const rope_sinusoid init = ROPE_SINUSOID_INIT;
        sinusoid = init;
        sinusoid.dtype = ROPE_F32;
        sinusoid.batch = BATCH;
        sinusoid.tokens = TOKENS;
        sinusoid.positions = &positions.given;
        sinusoid.src = data.q;
        sinusoid.dst = variant % 2 ? data.q : data.q_out;
        if (variant / 2) { /* strides that do not grow with a size */
            sinusoid.src_stride_batch = sinusoid.dst_stride_batch = TOKENS * DIM;
            sinusoid.src_stride_token = sinusoid.dst_stride_token = DIM;
        }
        is_table = 0;
        assert_int_equal(call_sinusoid(), ROPE_OK);
        check_ends(&sinusoid, fields, count, call_sinusoid);
        check_ends(&sinusoid, fields, count, call_sinusoid_part);
        is_table = 1;
        sinusoid.src = NULL;
        assert_int_equal(call_sinusoid(), ROPE_OK);
        check_ends(&sinusoid, fields, count - 2, call_sinusoid);
    }
    assert_int_equal(rope_sinusoid_add_part(plan, NULL, 0, 1), ROPE_ERR_NULL);
    is_table = 0; /* positions at their ends, too */
    sinusoid.src = data.q;
    sinusoid.dst = data.q_out;
    positions.given.stride_batch = TOKENS;
    positions.given.stride_token = 1;
    const int64_t out[] = {INT64_MAX, INT64_MIN, INT64_C(1) << 31, -(INT64_C(1) << 31)};
    for (size_t i = 0; i < sizeof out / sizeof *out; i++) {
        data.places[BATCH * TOKENS - 1] = out[i];
        memcpy(&before, &data, sizeof data);
        assert_int_equal(call_sinusoid(), ROPE_ERR_POSITION);
        assert_memory_equal(&data, &before, sizeof data);
    }
}

static rope_permutation permutation;

static rope_status call_permute(void)
{
    return rope_permute(&permutation);
}

static void test_ends_of_permutations(void **state)
{
    (void)state;
    static const struct field fields[] = {
        SIZE_FIELD(rope_permutation, matrices),
        SIZE_FIELD(rope_permutation, heads),
        SIZE_FIELD(rope_permutation, head_dim),
        SIZE_FIELD(rope_permutation, row_length),
        STRIDE_FIELD(rope_permutation, src_stride_matrix),
        STRIDE_FIELD(rope_permutation, src_stride_head),
        STRIDE_FIELD(rope_permutation, src_stride_row),
        STRIDE_FIELD(rope_permutation, dst_stride_matrix),
        STRIDE_FIELD(rope_permutation, dst_stride_head),
        STRIDE_FIELD(rope_permutation, dst_stride_row),
    };
    reset();
    const rope_permutation init = ROPE_PERMUTATION_INIT;
    permutation = init;
    permutation.dtype = ROPE_F32;
    permutation.matrices = 2;
    permutation.heads = 2;
    permutation.head_dim = 8;
    permutation.rotary_dim = 8;
    permutation.row_length = 3;
    for (int variant = 0; variant < 4; variant++) {
        permutation.src = data.q;
        permutation.dst = variant % 2 ? data.q : data.q_out;
        permutation.to = ROPE_INTERLEAVED;
        if (variant / 2) { /* strides that do not grow with a size */
            permutation.src_stride_matrix = permutation.dst_stride_matrix = 48;
            permutation.src_stride_head = permutation.dst_stride_head = 24;
            permutation.src_stride_row = permutation.dst_stride_row = 3;
        }
        assert_int_equal(rope_permute(&permutation), ROPE_OK);
        check_ends(&permutation, fields, sizeof fields / sizeof *fields, call_permute);
    }
    for (size_t i = 0; i < sizeof far_sizes / sizeof *far_sizes; i++)
        for (int offset = 0; offset < 2; offset++) {
            permutation.rotary_dim = offset ? 8 : far_sizes[i];
            permutation.rotary_offset = offset ? far_sizes[i] : 0;
            memcpy(&before, &data, sizeof data);
            assert_int_equal(rope_permute(&permutation), ROPE_ERR_VALUE);
            assert_memory_equal(&data, &before, sizeof data);
        }
}

static void test_ends_of_tensors(void **state)
{
    (void)state;
    static const struct field fields[] = {
        SIZE_FIELD(rope_tensor, heads),
        SIZE_FIELD(rope_tensor, head_dim),
        STRIDE_FIELD(rope_tensor, src_stride_batch),
        STRIDE_FIELD(rope_tensor, src_stride_token),
        STRIDE_FIELD(rope_tensor, dst_stride_batch),
        STRIDE_FIELD(rope_tensor, dst_stride_token),
        STRIDE_FIELD(rope_tensor, scale_stride_batch),
        STRIDE_FIELD(rope_tensor, scale_stride_token),
        STRIDE_FIELD(rope_tensor, src_stride_head), /* k has but one head */
        STRIDE_FIELD(rope_tensor, dst_stride_head),
    };
    const size_t count = sizeof fields / sizeof *fields;
    static const float scales[BATCH * TOKENS] = {1, 1, 1, 1, 1, 1};
    rope_tensor *const tensors[2] = {&q.given, &k.given};
    reset();
    for (int side = 0; side < 2; side++) {
        tensors[side]->head_dim = DIM;
        tensors[side]->scale = scales;
        tensors[side]->scale_dtype = ROPE_F32;
    }
    accept();
    for (int side = 0; side < 2; side++) {
        check_ends(tensors[side], fields, side ? count - 2 : count, call_rotate);
        check_ends(tensors[side], fields, side ? count - 2 : count, call_part);
    }
    /* a scale within a destination, its own and the other one */
    k.given.scale = data.q_out + 5;
    refuse(ROPE_ERR_ALIAS, "q.dst", "scale");
    k.given.scale = data.k_out;
    refuse(ROPE_ERR_ALIAS, "k.dst", "scale");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_struct_sizes),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_directions_of_rows),
        cmocka_unit_test(test_pairing_in_place),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_dtypes),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_strides),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_overlaps),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_specs),
        cmocka_unit_test(test_plan_questions),
        cmocka_unit_test(test_ends_of_sinusoids),
        cmocka_unit_test(test_ends_of_permutations),
        cmocka_unit_test(test_ends_of_tensors),
        cmocka_unit_test(test_specs_together),
        cmocka_unit_test(test_between),
    };
    alarm(test_reduced() ? 300 : 60); /* a walk over 2^64 tokens must fail, not hang */
    return cmocka_run_group_tests_name("refusals", tests, make_plans, free_plans);
}
