/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ONNX operator RotaryEmbedding (opset 23) and com.microsoft's over librope, as the kernel
 * behind both in ONNX Runtime: BNSH and BSH, rows by position id, from an offset on
 * (com.microsoft), or one for each token, out of place.  The struct stands in for the runtime's
 * own, which its shape checks fill.
 */
#include "check.h"

struct rotary_parameters {
    int batch_size, sequence_length, num_heads, head_size;
    int rotary_embedding_dim;                  /* 0 = the whole head */
    int max_sequence_length;                   /* rows of the caches */
    int head_stride, seq_stride, batch_stride; /* elements of input and output */
    int position_ids_format;                   /* 0: one offset, 1: [batch, sequence] */
};

/* ---- glue: what an ONNX runtime would carry ---- */

static rope_status run_rotary_embedding(const struct rotary_parameters *parameters,
                                        rope_dtype dtype, const void *input,
                                        const int64_t *position_ids, const void *cos_cache,
                                        const void *sin_cache, void *output, int interleaved)
{
    rope_tensor tensor = ROPE_TENSOR_INIT;
    tensor.dtype = dtype;
    tensor.src = input;
    tensor.dst = output;
    tensor.heads = (size_t)parameters->num_heads;
    tensor.head_dim = (size_t)parameters->head_size;
    tensor.src_stride_batch = tensor.dst_stride_batch = parameters->batch_stride;
    tensor.src_stride_token = tensor.dst_stride_token = parameters->seq_stride;
    tensor.src_stride_head = tensor.dst_stride_head = parameters->head_stride;

    rope_job job = ROPE_JOB_INIT;
    job.batch = (size_t)parameters->batch_size;
    job.tokens = (size_t)parameters->sequence_length;
    job.q = &tensor;
    job.pairing = interleaved ? ROPE_INTERLEAVED : ROPE_HALF;
    job.rotary_dim = parameters->rotary_embedding_dim ? (size_t)parameters->rotary_embedding_dim
                                                      : (size_t)parameters->head_size;

    rope_rows rows = ROPE_ROWS_INIT;
    rows.dtype = dtype;
    rows.layout = ROPE_ROWS_SEPARATE;
    rows.cos = (void *)cos_cache;
    rows.sin = (void *)sin_cache;
    rows.count = (size_t)parameters->max_sequence_length;
    job.rows = &rows;

    rope_positions row_numbers = ROPE_POSITIONS_INIT;
    if (!position_ids) { /* the caches are [batch, sequence, pairs] */
        rows.stride_batch = parameters->sequence_length * (ptrdiff_t)(job.rotary_dim / 2);
    } else if (parameters->position_ids_format == 1) {
        row_numbers.dtype = ROPE_I64;
        row_numbers.data = position_ids;
        row_numbers.stride_batch = parameters->sequence_length;
        job.positions = &row_numbers;
    } else {
        row_numbers.start = *position_ids;
        job.positions = &row_numbers;
    }
    return rope_rotate(NULL, &job);
}

/* ---- check ---- */

enum { BATCH = 2, HEADS = 3, TOKENS = 4, HEAD = 12, ROWS = 40 };
enum { ELEMENTS = BATCH * HEADS * TOKENS * HEAD };
enum form { BY_ID, BY_OFFSET, BY_TOKEN };

struct variant {
    const char *name;
    rope_dtype dtype;
    int bnsh;
    enum form form;
    int interleaved;
    int rotary; /* 0 = whole head */
};

static void check_variant(const struct variant *variant)
{
    static const int64_t ids[BATCH * TOKENS] = {39, 0, 7, 7, 3, 2, 1, 20};
    static const int64_t offset = 17, negative = -1, beyond = ROWS - TOKENS + 1;
    static float input[ELEMENTS], output[ELEMENTS], untouched[ELEMENTS];
    static float caches[2][ROWS * HEAD / 2];
    const int by_token = variant->form == BY_TOKEN;
    const int rotary = variant->rotary ? variant->rotary : HEAD;
    const size_t element = check_size(variant->dtype);
    const rope_pairing pairing = variant->interleaved ? ROPE_INTERLEAVED : ROPE_HALF;
    const struct check_rotation rotation = {(size_t)rotary, pairing, pairing, 10000, 1, 1};
    struct rotary_parameters parameters = {
        .batch_size = BATCH,
        .sequence_length = TOKENS,
        .num_heads = HEADS,
        .head_size = HEAD,
        .rotary_embedding_dim = variant->rotary,
        .max_sequence_length = by_token ? TOKENS : ROWS,
        .head_stride = variant->bnsh ? TOKENS * HEAD : HEAD,
        .seq_stride = variant->bnsh ? HEAD : HEADS * HEAD,
        .batch_stride = HEADS * TOKENS * HEAD,
        .position_ids_format = variant->form == BY_ID,
    };
    for (ptrdiff_t row = 0; row < (by_token ? BATCH * TOKENS : ROWS); row++) {
        for (ptrdiff_t pair = 0; pair < rotary / 2; pair++) {
            const double position = (double)(by_token ? ids[row] : row);
            const long double angle = check_angle(&rotation, (size_t)pair, position);
            check_store(caches[0], variant->dtype, row * (rotary / 2) + pair, (double)cosl(angle));
            check_store(caches[1], variant->dtype, row * (rotary / 2) + pair, (double)sinl(angle));
        }
    }
    for (ptrdiff_t index = 0; index < ELEMENTS; index++)
        check_store(input, variant->dtype, index, check_input((size_t)index));
    memset(output, 0xff, sizeof output);
    memset(untouched, 0xff, sizeof untouched);
    check_status(variant->name,
                 run_rotary_embedding(&parameters, variant->dtype, input,
                                      by_token                 ? NULL
                                      : variant->form == BY_ID ? ids
                                                               : &offset,
                                      caches[0], caches[1], output, variant->interleaved),
                 ROPE_OK);
    for (int batch = 0; batch < BATCH; batch++) {
        for (int token = 0; token < TOKENS; token++) {
            for (int head = 0; head < HEADS; head++) {
                const size_t at =
                    (size_t)(batch * parameters.batch_stride + token * parameters.seq_stride +
                             head * parameters.head_stride) *
                    element;
                const double position = variant->form == BY_OFFSET
                                            ? (double)(offset + token)
                                            : (double)ids[batch * TOKENS + token];
                check_slice(variant->name, &rotation, position, (const char *)input + at,
                            (const char *)output + at, variant->dtype,
                            check_half_ulp(variant->dtype, 0.75));
                const size_t rest = at + (size_t)rotary * element;
                check_same(variant->name, (const char *)output + rest, (const char *)input + rest,
                           (size_t)(HEAD - rotary) * element);
            }
        }
    }

    if (by_token)
        return;
    int64_t outside[BATCH * TOKENS] = {0};
    outside[BATCH * TOKENS - 1] = variant->form == BY_ID ? ROWS : 0;
    memset(output, 0xff, sizeof output);
    check_status(variant->name,
                 run_rotary_embedding(&parameters, variant->dtype, input,
                                      variant->form == BY_ID ? outside : &negative, caches[0],
                                      caches[1], output, variant->interleaved),
                 ROPE_ERR_ROW);
    if (variant->form == BY_OFFSET)
        check_status(variant->name,
                     run_rotary_embedding(&parameters, variant->dtype, input, &beyond, caches[0],
                                          caches[1], output, variant->interleaved),
                     ROPE_ERR_ROW);
    check_same(variant->name, output, untouched, sizeof output);
}

int main(void)
{
    static const struct variant variants[] = {
        {"opset 23 BNSH by id", ROPE_F32, 1, BY_ID, 0, 0},
        {"opset 23 BSH by id, interleaved", ROPE_F16, 0, BY_ID, 1, 0},
        {"opset 23 BNSH by token, partial", ROPE_BF16, 1, BY_TOKEN, 0, 8},
        {"opset 23 BSH by token, interleaved, partial", ROPE_F32, 0, BY_TOKEN, 1, 4},
        {"com.microsoft BSH from offset", ROPE_F32, 0, BY_OFFSET, 0, 0},
        {"com.microsoft BNSH from offset, interleaved, partial", ROPE_F16, 1, BY_OFFSET, 1, 8},
        {"com.microsoft BSH by id, partial", ROPE_F32, 0, BY_ID, 0, 8},
    };
    for (size_t index = 0; index < sizeof variants / sizeof *variants; index++)
        check_variant(&variants[index]);
    return check_failures != 0;
}
