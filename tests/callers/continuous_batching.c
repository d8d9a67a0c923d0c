/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A continuously batching engine over librope: one flat list of tokens of many sequences, prefill
 * and decode mixed, one position each, padding marked with -1, q and k in place inside the packed
 * projection, cut for the engine's own threads.
 */
#include "check.h"

/* ---- glue: what the engine would carry ---- */

struct step {
    const rope_plan *plan;
    size_t tokens; /* of all sequences together, padding included */
    const int32_t *positions;
    void *qkv; /* bf16, [tokens, (q_heads + 2 kv_heads) head_dim] */
    size_t q_heads;
    size_t kv_heads;
    size_t head_dim;
};

static rope_status step_rotate(const struct step *step, size_t thread, size_t threads)
{
    const ptrdiff_t token_stride =
        (ptrdiff_t)((step->q_heads + 2 * step->kv_heads) * step->head_dim);
    rope_positions positions = ROPE_POSITIONS_INIT;
    positions.dtype = ROPE_I32;
    positions.data = step->positions;

    rope_tensor q = ROPE_TENSOR_INIT;
    q.dtype = ROPE_BF16;
    q.src = q.dst = step->qkv;
    q.heads = step->q_heads;
    q.src_stride_token = token_stride;
    q.src_stride_head = (ptrdiff_t)step->head_dim;
    rope_tensor k = q;
    k.src = k.dst = (uint16_t *)step->qkv + step->q_heads * step->head_dim;
    k.heads = step->kv_heads;

    rope_job job = ROPE_JOB_INIT;
    job.flags = ROPE_SKIP_NEGATIVE;
    job.tokens = step->tokens;
    job.q = &q;
    job.k = &k;
    job.positions = &positions;
    return rope_rotate_part(step->plan, &job, thread, threads);
}

/* ---- check ---- */

enum { TOKENS = 11, Q_HEADS = 4, KV_HEADS = 2, HEAD = 32, WIDTH = (Q_HEADS + 2 * KV_HEADS) * HEAD };

int main(void)
{
    /* a prefill of 3, padding, a chunk of a long prompt, decode steps, and two padded slots */
    static const int32_t positions[TOKENS] = {0, 1, 2, -1, 8190, 8191, 131071, 17, 0, -1, -1};
    static uint16_t qkv[TOKENS * WIDTH], original[TOKENS * WIDTH];
    const struct check_rotation rotation = {HEAD, ROPE_HALF, ROPE_HALF, 500000, 1, 1};
    for (ptrdiff_t index = 0; index < TOKENS * WIDTH; index++)
        check_store(qkv, ROPE_BF16, index, check_input((size_t)index));
    memcpy(original, qkv, sizeof original);

    rope_spec spec = ROPE_SPEC_INIT;
    spec.head_dim = HEAD;
    spec.theta = 500000;
    rope_plan *plan;
    check_status("plan", rope_plan_create(&spec, &plan), ROPE_OK);
    const struct step step = {plan, TOKENS, positions, qkv, Q_HEADS, KV_HEADS, HEAD};
    for (size_t thread = 0; thread < 4; thread++)
        check_status("step", step_rotate(&step, thread, 4), ROPE_OK);

    for (size_t token = 0; token < TOKENS; token++) {
        for (size_t head = 0; positions[token] >= 0 && head < Q_HEADS + KV_HEADS; head++) {
            const size_t at = token * WIDTH + head * HEAD;
            check_slice("step", &rotation, positions[token], original + at, qkv + at, ROPE_BF16, 0);
            memcpy(qkv + at, original + at, HEAD * sizeof *qkv);
        }
    }
    check_same("padding and values", qkv, original, sizeof qkv);
    rope_plan_destroy(plan);
    return check_failures != 0;
}
