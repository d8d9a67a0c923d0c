/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the paths for one token and one row, to be counted by callgrind (instructions.sh): a count of
 * instructions is the same on a busy machine.  Measures no time.
 */
#include "rope/rope.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 64, WARM = 4, HEADS_Q = 32, HEADS_K = 8, HEAD_DIM = 128 };

static const int64_t positions[CALLS] = {
    0,     1,     2,     3,      511,    512,   1023,  1024,  4095,   4096,   8191,   8192,  32767,
    32768, 65535, 65536, 131071, 131072, 77,    12345, 99999, 54321,  1,      2,      3,     4,
    5,     6,     7,     8,      9,      10,    11,    100,   200,    300,    400,    500,   600,
    700,   800,   900,   1000,   2000,   3000,  4000,  5000,  6000,   7000,   8000,   9000,  10000,
    20000, 30000, 40000, 50000,  60000,  70000, 80000, 90000, 100000, 110000, 120000, 130000};

static const struct path {
    const char *name;
    rope_dtype dtype;
    rope_pairing pairing;
    int ready;  /* by rows made before */
    int is_row; /* rope_cos_sin instead of rope_rotate */
} paths[] = {
    {"token_f32_half", ROPE_F32, ROPE_HALF, 0, 0},
    {"token_f32_interleaved", ROPE_F32, ROPE_INTERLEAVED, 0, 0},
    {"token_bf16_half", ROPE_BF16, ROPE_HALF, 0, 0},
    {"token_bf16_interleaved", ROPE_BF16, ROPE_INTERLEAVED, 0, 0},
    {"token_f16_half", ROPE_F16, ROPE_HALF, 0, 0},
    {"token_f32_half_ready_row", ROPE_F32, ROPE_HALF, 1, 0},
    {"row_f32", ROPE_F32, ROPE_HALF, 0, 1},
    {"row_bf16", ROPE_BF16, ROPE_HALF, 0, 1},
};

struct call {
    const rope_plan *plan;
    rope_job job;
    rope_positions positions;
    rope_rows rows;
    int is_row;
};

/* The functions that callgrind counts in: their own few instructions are the same on every run. */
__attribute__((noinline)) static rope_status counted(struct call *call)
{
    rope_status status = ROPE_OK;
    for (size_t i = 0; i < CALLS && status == ROPE_OK; i++) {
        call->positions.start = positions[i];
        status = call->is_row ? rope_cos_sin(call->plan, &call->positions, 1, &call->rows)
                              : rope_rotate(call->plan, &call->job);
    }
    return status;
}

__attribute__((noinline)) static rope_status warm_up(struct call *call)
{
    rope_status status = ROPE_OK;
    for (size_t i = 0; i < WARM && status == ROPE_OK; i++)
        status = call->is_row ? rope_cos_sin(call->plan, &call->positions, 1, &call->rows)
                              : rope_rotate(call->plan, &call->job);
    return status;
}

/* Static, so that no address of the heap has a part in the count. */
static _Alignas(64) unsigned char q_data[HEADS_Q * HEAD_DIM * 4], k_data[HEADS_K * HEAD_DIM * 4];
static _Alignas(64) float row_data[HEAD_DIM];

static rope_status run(const struct path *path)
{
    rope_spec spec = ROPE_SPEC_INIT;
    spec.head_dim = HEAD_DIM;
    spec.theta = 500000;
    spec.pairing = path->pairing;
    rope_plan *plan;
    rope_status status = rope_plan_create(&spec, &plan);
    if (status != ROPE_OK)
        return status;

    rope_tensor q = ROPE_TENSOR_INIT, k = ROPE_TENSOR_INIT;
    q.dtype = k.dtype = path->dtype;
    q.heads = HEADS_Q, q.src = q.dst = q_data;
    k.heads = HEADS_K, k.src = k.dst = k_data;
    struct call call = {plan, ROPE_JOB_INIT, ROPE_POSITIONS_INIT, ROPE_ROWS_INIT, path->is_row};
    call.rows.dtype = path->is_row ? path->dtype : ROPE_F32;
    call.rows.cos = row_data;
    call.rows.count = 1;
    call.job.tokens = 1, call.job.q = &q, call.job.k = &k;
    if (path->ready) {
        status = rope_cos_sin(plan, &call.positions, 1, &call.rows);
        call.job.rows = &call.rows;
    } else {
        call.job.positions = &call.positions;
    }
    if (status == ROPE_OK)
        status = warm_up(&call);
    if (status == ROPE_OK)
        status = counted(&call);
    rope_plan_destroy(plan);
    return status;
}

/* Without an argument: the names.  With one: that path. */
int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (argc < 2) {
            printf("%s %d\n", paths[i].name, CALLS);
        } else if (strcmp(argv[1], paths[i].name) == 0) {
            const rope_status status = run(&paths[i]);
            if (status != ROPE_OK)
                fprintf(stderr, "%s: %s\n", argv[1], rope_status_string(status));
            return status != ROPE_OK;
        }
    }
    return argc >= 2;
}
