/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DeepSeek's multi-head latent attention over librope: 64 rotated elements behind 128 others in
 * each query head, one rotated key slice of its own that all heads share, interleaved in and
 * half-split out.
 */
#include "check.h"

enum { NOPE = 128, ROTARY = 64, HEAD = NOPE + ROTARY, LATENT = 512 };

/* ---- glue: what the runtime would carry ---- */

/* Once per model. */
static rope_status mla_plan(double theta, rope_plan **plan)
{
    rope_spec spec = ROPE_SPEC_INIT;
    spec.head_dim = HEAD;
    spec.rotary_dim = ROTARY;
    spec.rotary_offset = NOPE;
    spec.pairing = ROPE_INTERLEAVED;
    spec.theta = theta;
    return rope_plan_create(&spec, plan);
}

/*
 * q and queries are [tokens, heads, HEAD], compressed is [tokens, LATENT | ROTARY], keys is
 * [tokens, heads, HEAD], whose first NOPE elements are not touched.  The key slice lands in every
 * head: its source has a head stride of 0.
 */
static rope_status mla_rotate(const rope_plan *plan, size_t tokens, size_t heads,
                              const int64_t *positions, rope_dtype dtype, const void *q,
                              void *queries, const void *compressed, void *keys)
{
    const size_t element = check_size(dtype);
    rope_positions at = ROPE_POSITIONS_INIT;
    at.dtype = ROPE_I64;
    at.data = positions;

    rope_tensor query = ROPE_TENSOR_INIT;
    query.dtype = dtype;
    query.src = q;
    query.dst = queries;
    query.heads = heads;

    rope_tensor key = query;
    key.head_dim = ROTARY;
    key.src = (const char *)compressed + LATENT * element;
    key.dst = (char *)keys + NOPE * element;
    key.src_stride_token = LATENT + ROTARY;
    key.src_stride_head = 0;
    key.dst_stride_token = (ptrdiff_t)heads * HEAD;
    key.dst_stride_head = HEAD;

    rope_job job = ROPE_JOB_INIT;
    job.tokens = tokens;
    job.q = &query;
    job.k = &key;
    job.positions = &at;
    job.pairing_out = ROPE_OUT_HALF;
    return rope_rotate(plan, &job);
}

/* ---- check ---- */

enum { TOKENS = 4, HEADS = 3 };

static void check_variant(const char *name, rope_dtype dtype)
{
    static const int64_t positions[TOKENS] = {0, 9, 4096, 163839};
    static float q[TOKENS * HEADS * HEAD], queries[TOKENS * HEADS * HEAD];
    static float keys[TOKENS * HEADS * HEAD], untouched[NOPE];
    static float compressed[TOKENS * (LATENT + ROTARY)];
    const size_t element = check_size(dtype);
    const struct check_rotation rotation = {ROTARY, ROPE_INTERLEAVED, ROPE_HALF, 10000, 1, 1};
    for (ptrdiff_t index = 0; index < TOKENS * HEADS * HEAD; index++)
        check_store(q, dtype, index, check_input((size_t)index));
    for (ptrdiff_t index = 0; index < TOKENS * (LATENT + ROTARY); index++)
        check_store(compressed, dtype, index, check_input((size_t)index + 77777));
    memset(queries, 0xff, sizeof queries);
    memset(keys, 0xff, sizeof keys);
    memset(untouched, 0xff, sizeof untouched);

    rope_plan *plan;
    check_status(name, mla_plan(10000, &plan), ROPE_OK);
    check_status(name,
                 mla_rotate(plan, TOKENS, HEADS, positions, dtype, q, queries, compressed, keys),
                 ROPE_OK);
    for (size_t token = 0; token < TOKENS; token++) {
        const char *shared =
            (const char *)compressed + (token * (LATENT + ROTARY) + LATENT) * element;
        for (size_t head = 0; head < HEADS; head++) {
            const size_t at = (token * HEADS + head) * HEAD * element;
            const size_t slice = at + NOPE * element;
            check_same(name, (char *)queries + at, (char *)q + at, NOPE * element);
            check_slice(name, &rotation, (double)positions[token], (char *)q + slice,
                        (char *)queries + slice, dtype, 0);
            check_same(name, (char *)keys + at, untouched, NOPE * element);
            check_slice(name, &rotation, (double)positions[token], shared, (char *)keys + slice,
                        dtype, 0);
        }
    }
    rope_plan_destroy(plan);
}

int main(void)
{
    check_variant("f32", ROPE_F32);
    check_variant("bf16", ROPE_BF16);
    return check_failures != 0;
}
