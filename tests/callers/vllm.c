/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vLLM's CPU operator rotary_embedding over librope: int64 positions, packed [cos | sin] cache in
 * the data's own type, in place, key may be absent.  The tensor struct stands in for torch's.
 */
#include "check.h"

struct tensor {
    void *data;
    rope_dtype dtype;
    int64_t size[2];   /* tokens (or rows), width */
    int64_t stride[2]; /* elements */
};

/* ---- glue: what vLLM would carry ---- */

static rope_tensor heads_of(const struct tensor *tensor, int64_t head_size, int64_t rope_dim_offset)
{
    rope_tensor heads = ROPE_TENSOR_INIT;
    heads.dtype = tensor->dtype;
    heads.src = tensor->data;
    heads.dst = tensor->data;
    heads.heads = (size_t)(tensor->size[1] / head_size);
    heads.head_dim = (size_t)head_size;
    heads.rotary_offset = (size_t)rope_dim_offset;
    heads.src_stride_token = (ptrdiff_t)tensor->stride[0];
    heads.src_stride_head = (ptrdiff_t)head_size;
    return heads;
}

static rope_status rotary_embedding(const int64_t *positions, const struct tensor *query,
                                    const struct tensor *key, int64_t head_size,
                                    const struct tensor *cos_sin_cache, int is_neox,
                                    int64_t rope_dim_offset, int inverse)
{
    rope_positions row_numbers = ROPE_POSITIONS_INIT;
    row_numbers.dtype = ROPE_I64;
    row_numbers.data = positions;

    rope_rows rows = ROPE_ROWS_INIT;
    rows.dtype = cos_sin_cache->dtype;
    rows.layout = ROPE_ROWS_PACKED;
    rows.cos = cos_sin_cache->data;
    rows.count = (size_t)cos_sin_cache->size[0];
    rows.stride_row = (ptrdiff_t)cos_sin_cache->stride[0];

    const rope_tensor q = heads_of(query, head_size, rope_dim_offset);
    const rope_tensor k = key ? heads_of(key, head_size, rope_dim_offset) : q;
    rope_job job = ROPE_JOB_INIT;
    job.tokens = (size_t)query->size[0];
    job.q = &q;
    job.k = key ? &k : NULL;
    job.positions = &row_numbers;
    job.rows = &rows;
    job.rotary_dim = (size_t)cos_sin_cache->size[1];
    job.pairing = is_neox ? ROPE_HALF : ROPE_INTERLEAVED;
    job.direction = inverse ? ROPE_TRANSPOSE : ROPE_FORWARD;
    return rope_rotate(NULL, &job);
}

/* ---- check ---- */

enum { HEAD = 16, Q_HEADS = 4, KV_HEADS = 2, TOKENS = 6, ROWS = 512, ROTARY_MAX = HEAD };
enum { TOKEN_STRIDE = (Q_HEADS + 2 * KV_HEADS) * HEAD };

static void check_heads(const char *name, const struct check_rotation *rotation,
                        const int64_t *positions, const void *before, const void *after,
                        rope_dtype dtype, int first, int heads, int offset)
{
    const size_t element = check_size(dtype);
    /* the cache holds cos and sin rounded to the data's type: half an ulp of values up to 1 */
    const double row_error = check_half_ulp(dtype, 0.75);
    for (int token = 0; token < TOKENS; token++) {
        for (int head = first; head < first + heads; head++) {
            const size_t at = (size_t)(token * TOKEN_STRIDE + head * HEAD + offset) * element;
            check_slice(name, rotation, (double)positions[token], (const char *)before + at,
                        (const char *)after + at, dtype, row_error);
        }
    }
}

static void check_variant(const char *name, rope_dtype dtype, int is_neox, int rotary, int offset,
                          int with_key, int inverse)
{
    static const int64_t positions[TOKENS] = {511, 0, 7, 7, 100, 300};
    static float qkv[TOKENS * TOKEN_STRIDE], original[TOKENS * TOKEN_STRIDE];
    static float rows[ROWS * ROTARY_MAX];
    const rope_pairing pairing = is_neox ? ROPE_HALF : ROPE_INTERLEAVED;
    const struct check_rotation forward = {(size_t)rotary, pairing, pairing, 10000, 1, 1};
    struct check_rotation rotation = forward;
    rotation.sign = inverse ? -1 : 1;
    for (ptrdiff_t row = 0; row < ROWS; row++) {
        for (ptrdiff_t pair = 0; pair < rotary / 2; pair++) {
            const long double angle = check_angle(&forward, (size_t)pair, (double)row);
            check_store(rows, dtype, row * rotary + pair, (double)cosl(angle));
            check_store(rows, dtype, row * rotary + rotary / 2 + pair, (double)sinl(angle));
        }
    }
    for (ptrdiff_t index = 0; index < TOKENS * TOKEN_STRIDE; index++)
        check_store(qkv, dtype, index, check_input((size_t)index));
    memcpy(original, qkv, sizeof original);

    const size_t element = check_size(dtype);
    const struct tensor query = {qkv, dtype, {TOKENS, Q_HEADS * HEAD}, {TOKEN_STRIDE, 1}};
    const struct tensor key = {(char *)qkv + Q_HEADS * HEAD * element,
                               dtype,
                               {TOKENS, KV_HEADS * HEAD},
                               {TOKEN_STRIDE, 1}};
    const struct tensor cache = {rows, dtype, {ROWS, rotary}, {rotary, 1}};
    check_status(name,
                 rotary_embedding(positions, &query, with_key ? &key : NULL, HEAD, &cache, is_neox,
                                  offset, inverse),
                 ROPE_OK);
    check_heads(name, &rotation, positions, original, qkv, dtype, 0, Q_HEADS, offset);
    if (with_key)
        check_heads(name, &rotation, positions, original, qkv, dtype, Q_HEADS, KV_HEADS, offset);
    /* everything outside the slices of q and k, the values above all, is as it was */
    for (int token = 0; token < TOKENS; token++) {
        for (int head = 0; head < Q_HEADS + (with_key ? KV_HEADS : 0); head++) {
            const size_t at = (size_t)(token * TOKEN_STRIDE + head * HEAD + offset) * element;
            memcpy((char *)qkv + at, (char *)original + at, (size_t)rotary * element);
        }
    }
    check_same(name, qkv, original, sizeof qkv);

    const int64_t beyond[TOKENS] = {0, 1, 2, 3, 4, ROWS};
    check_status(name, rotary_embedding(beyond, &query, &key, HEAD, &cache, is_neox, offset, 0),
                 ROPE_ERR_ROW);
    check_same(name, qkv, original, sizeof qkv);
}

int main(void)
{
    check_variant("bf16 neox", ROPE_BF16, 1, HEAD, 0, 1, 0);
    check_variant("f16 gpt-j", ROPE_F16, 0, HEAD, 0, 1, 0);
    check_variant("f32 neox partial", ROPE_F32, 1, 8, 0, 1, 0);
    check_variant("bf16 gpt-j without key", ROPE_BF16, 0, 12, 0, 0, 0);
    check_variant("f32 gpt-j offset inverse", ROPE_F32, 0, 8, 8, 1, 1);
    return check_failures != 0;
}
