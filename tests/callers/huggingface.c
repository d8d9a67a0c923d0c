/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hugging Face's apply_rotary_pos_emb over librope: q and k [batch, head, token, head_dim] by any
 * strides, cos and sin duplicated to [batch or 1, token, head_dim], new tensors out, PyTorch
 * eager's bits.  The tensor struct stands in for torch's.
 */
#include "check.h"

struct tensor {
    void *data;
    rope_dtype dtype;
    int64_t size[4];
    int64_t stride[4]; /* elements */
};

/* ---- glue: what the runtime would carry ---- */

static rope_tensor tensor_of(const struct tensor *from, const struct tensor *to, int head_axis)
{
    const int token_axis = 3 - head_axis;
    rope_tensor tensor = ROPE_TENSOR_INIT;
    tensor.dtype = from->dtype;
    tensor.src = from->data;
    tensor.dst = to->data;
    tensor.heads = (size_t)from->size[head_axis];
    tensor.head_dim = (size_t)from->size[3];
    tensor.src_stride_batch = (ptrdiff_t)from->stride[0];
    tensor.src_stride_token = (ptrdiff_t)from->stride[token_axis];
    tensor.src_stride_head = (ptrdiff_t)from->stride[head_axis];
    tensor.dst_stride_batch = (ptrdiff_t)to->stride[0];
    tensor.dst_stride_token = (ptrdiff_t)to->stride[token_axis];
    tensor.dst_stride_head = (ptrdiff_t)to->stride[head_axis];
    return tensor;
}

static rope_status apply_rotary_pos_emb(const struct tensor *q, const struct tensor *k,
                                        const struct tensor *cos, const struct tensor *sin,
                                        int unsqueeze_dim, struct tensor *q_embed,
                                        struct tensor *k_embed)
{
    const rope_tensor q_job = tensor_of(q, q_embed, unsqueeze_dim);
    const rope_tensor k_job = tensor_of(k, k_embed, unsqueeze_dim);

    rope_rows rows = ROPE_ROWS_INIT;
    rows.dtype = cos->dtype;
    rows.layout = ROPE_ROWS_DUP_HALF;
    rows.cos = cos->data;
    rows.sin = sin->data;
    rows.count = (size_t)cos->size[1];
    rows.stride_row = (ptrdiff_t)cos->stride[1];
    rows.stride_batch = cos->size[0] == 1 ? 0 : (ptrdiff_t)cos->stride[0];

    rope_job job = ROPE_JOB_INIT;
    job.batch = (size_t)q->size[0];
    job.tokens = (size_t)q->size[3 - unsqueeze_dim];
    job.q = &q_job;
    job.k = &k_job;
    job.rows = &rows;
    job.arith = ROPE_ARITH_EAGER;
    job.rotary_dim = (size_t)cos->size[2];
    return rope_rotate(NULL, &job);
}

/* ---- check ---- */

enum { BATCH = 2, TOKENS = 3, Q_HEADS = 4, K_HEADS = 2, HEAD = 16 };
enum { ELEMENTS = BATCH * TOKENS * Q_HEADS * HEAD };

/*
 * Eager: both products and their sum rounded to the type.  f64 has more than twice the digits of
 * any of the types, so rounding its results once more gives the one rounding that is meant.
 */
static double eager_round(rope_dtype dtype, double value)
{
    char stored[8];
    check_store(stored, dtype, 0, value);
    return check_load(stored, dtype, 0);
}

static void check_tensor(const char *name, const struct tensor *from, const struct tensor *to,
                         const struct tensor *cos, const struct tensor *sin, int head_axis)
{
    const rope_dtype dtype = from->dtype;
    for (int64_t batch = 0; batch < from->size[0]; batch++) {
        for (int64_t token = 0; token < from->size[3 - head_axis]; token++) {
            for (int64_t head = 0; head < from->size[head_axis]; head++) {
                const ptrdiff_t in =
                    (ptrdiff_t)(batch * from->stride[0] + token * from->stride[3 - head_axis] +
                                head * from->stride[head_axis]);
                const ptrdiff_t out =
                    (ptrdiff_t)(batch * to->stride[0] + token * to->stride[3 - head_axis] +
                                head * to->stride[head_axis]);
                const ptrdiff_t row = (ptrdiff_t)((cos->size[0] == 1 ? 0 : batch * cos->stride[0]) +
                                                  token * cos->stride[1]);
                for (ptrdiff_t e = 0; e < HEAD; e++) {
                    const double v = check_load(from->data, dtype, in + e);
                    const double other = check_load(from->data, dtype, in + (e + HEAD / 2) % HEAD);
                    const double c = check_load(cos->data, dtype, row + e);
                    const double s = check_load(sin->data, dtype, row + e);
                    const double want = eager_round(
                        dtype, eager_round(dtype, v * c) +
                                   eager_round(dtype, (e < HEAD / 2 ? -other : other) * s));
                    const double got = check_load(to->data, dtype, out + e);
                    if (got != want) {
                        printf("%s: batch %d token %d head %d element %d: got %.9g, want %.9g\n",
                               name, (int)batch, (int)token, (int)head, (int)e, got, want);
                        check_failures++;
                    }
                }
            }
        }
    }
}

static struct tensor tensor_make(void *data, rope_dtype dtype, int heads, int head_axis,
                                 int token_major)
{
    struct tensor tensor = {data, dtype, {BATCH, heads, TOKENS, HEAD}, {0, 0, 0, 1}};
    tensor.size[head_axis] = heads;
    tensor.size[3 - head_axis] = TOKENS;
    tensor.stride[0] = TOKENS * heads * HEAD;
    tensor.stride[head_axis] = token_major ? HEAD : TOKENS * HEAD;
    tensor.stride[3 - head_axis] = token_major ? heads * HEAD : HEAD;
    return tensor;
}

/* cos_batch: 1 = shared rows; token_major: q and k are views of [batch, token, head, head_dim], as
 * models have them. */
static void check_variant(const char *name, rope_dtype dtype, int cos_batch, int head_axis,
                          int token_major)
{
    static const int positions[BATCH][TOKENS] = {{5, 6, 7}, {0, 4095, 1}};
    static float q_data[ELEMENTS], k_data[ELEMENTS], q_result[ELEMENTS], k_result[ELEMENTS];
    static float tables[2][BATCH * TOKENS * HEAD];
    const struct check_rotation rotation = {HEAD, ROPE_HALF, ROPE_HALF, 10000, 1, 1};
    for (ptrdiff_t index = 0; index < ELEMENTS; index++) {
        check_store(q_data, dtype, index, check_input((size_t)index));
        check_store(k_data, dtype, index, check_input((size_t)index + 1000));
    }
    for (ptrdiff_t row = 0; row < cos_batch * TOKENS; row++) {
        for (ptrdiff_t e = 0; e < HEAD; e++) {
            const long double angle = check_angle(&rotation, (size_t)e % (HEAD / 2),
                                                  positions[row / TOKENS][row % TOKENS]);
            check_store(tables[0], dtype, row * HEAD + e, (double)cosl(angle));
            check_store(tables[1], dtype, row * HEAD + e, (double)sinl(angle));
        }
    }
    memset(q_result, 0xff, sizeof q_result);
    memset(k_result, 0xff, sizeof k_result);

    const struct tensor q = tensor_make(q_data, dtype, Q_HEADS, head_axis, token_major);
    const struct tensor k = tensor_make(k_data, dtype, K_HEADS, head_axis, token_major);
    struct tensor q_embed = tensor_make(q_result, dtype, Q_HEADS, head_axis, 0);
    struct tensor k_embed = tensor_make(k_result, dtype, K_HEADS, head_axis, token_major);
    struct tensor cos = {tables[0], dtype, {cos_batch, TOKENS, HEAD}, {TOKENS * HEAD, HEAD, 1}};
    struct tensor sin = cos;
    sin.data = tables[1];
    check_status(name, apply_rotary_pos_emb(&q, &k, &cos, &sin, head_axis, &q_embed, &k_embed),
                 ROPE_OK);
    check_tensor(name, &q, &q_embed, &cos, &sin, head_axis);
    check_tensor(name, &k, &k_embed, &cos, &sin, head_axis);
}

int main(void)
{
    check_variant("f32 [b, h, t, d]", ROPE_F32, 1, 1, 0);
    check_variant("bf16 view, positions by batch", ROPE_BF16, BATCH, 1, 1);
    check_variant("bf16 view", ROPE_BF16, 1, 1, 1);
    check_variant("f32 [b, t, h, d], positions by batch", ROPE_F32, BATCH, 2, 1);
    return check_failures != 0;
}
