/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ggml's rope op over librope: byte strides, int32 positions, ith/nth threads, q and k as separate
 * ops.  The structs stand in for ggml's own and have its fields; the values must be those of the
 * formulas.
 */
#include "check.h"

enum { GGML_TYPE_F32 = 0, GGML_TYPE_F16 = 1, GGML_OP_ROPE = 0, GGML_OP_ROPE_BACK = 1 };
enum { GGML_ROPE_TYPE_NORMAL = 0, GGML_ROPE_TYPE_NEOX = 2 };

struct ggml_tensor {
    int type;
    int op;
    int64_t ne[4]; /* head_dim, heads, tokens, batch */
    size_t nb[4];  /* strides in bytes */
    int32_t op_params[16];
    struct ggml_tensor *src[3]; /* a, positions, frequency factors */
    void *data;
    void *extra; /* the op's own context: the plan */
};

struct ggml_compute_params {
    int ith;
    int nth;
};

/* ---- glue: what ggml would carry ---- */

/* Once per op, when the graph is planned. */
static rope_status rope_op_init(struct ggml_tensor *dst)
{
    rope_spec spec = ROPE_SPEC_INIT;
    float base, scale, extrapolation, attention;
    memcpy(&base, &dst->op_params[5], sizeof base);
    memcpy(&scale, &dst->op_params[6], sizeof scale);
    memcpy(&extrapolation, &dst->op_params[7], sizeof extrapolation);
    memcpy(&attention, &dst->op_params[8], sizeof attention);
    if (extrapolation != 0 || dst->src[2] || (dst->op_params[2] & ~GGML_ROPE_TYPE_NEOX))
        return ROPE_ERR_VALUE; /* the op keeps its own code for these */
    spec.scheme = scale == 1 ? ROPE_SCHEME_DEFAULT : ROPE_SCHEME_LINEAR;
    spec.head_dim = (size_t)dst->ne[0];
    spec.rotary_dim = (size_t)dst->op_params[1];
    spec.rotary_offset = (size_t)dst->op_params[15];
    spec.pairing = dst->op_params[2] == GGML_ROPE_TYPE_NEOX ? ROPE_HALF : ROPE_INTERLEAVED;
    spec.theta = (double)base;
    spec.factor = scale == 1 ? 0 : 1 / (double)scale;
    spec.attention_factor = (double)attention;
    return rope_plan_create(&spec, (rope_plan **)&dst->extra);
}

static rope_status ggml_compute_forward_rope(const struct ggml_compute_params *params,
                                             struct ggml_tensor *dst)
{
    const struct ggml_tensor *src = dst->src[0];
    const size_t element = src->type == GGML_TYPE_F32 ? 4 : 2;
    rope_tensor tensor = ROPE_TENSOR_INIT;
    rope_positions positions = ROPE_POSITIONS_INIT;
    rope_job job = ROPE_JOB_INIT;
    for (int axis = 1; axis < 4; axis++)
        if (src->nb[axis] % element || dst->nb[axis] % element)
            return ROPE_ERR_STRIDE;
    tensor.dtype = src->type == GGML_TYPE_F32 ? ROPE_F32 : ROPE_F16;
    tensor.src = src->data;
    tensor.dst = dst->data;
    tensor.heads = (size_t)src->ne[1];
    tensor.src_stride_head = (ptrdiff_t)(src->nb[1] / element);
    tensor.src_stride_token = (ptrdiff_t)(src->nb[2] / element);
    tensor.src_stride_batch = (ptrdiff_t)(src->nb[3] / element);
    tensor.dst_stride_head = (ptrdiff_t)(dst->nb[1] / element);
    tensor.dst_stride_token = (ptrdiff_t)(dst->nb[2] / element);
    tensor.dst_stride_batch = (ptrdiff_t)(dst->nb[3] / element);
    positions.dtype = ROPE_I32;
    positions.data = dst->src[1]->data;
    job.batch = (size_t)src->ne[3];
    job.tokens = (size_t)src->ne[2];
    job.q = &tensor;
    job.positions = &positions;
    job.direction = dst->op == GGML_OP_ROPE_BACK ? ROPE_TRANSPOSE : ROPE_FORWARD;
    return rope_rotate_part(dst->extra, &job, (size_t)params->ith, (size_t)params->nth);
}

/* ---- check ---- */

enum { HEAD = 12, TOKENS = 5, BATCH = 2, HEADS_MAX = 3, ELEMENTS = 1024 };

struct variant {
    const char *name;
    int type;
    int mode;
    int op;
    int in_place;
    int heads;
    int offset;
    float scale;
};

static void check_variant(const struct variant *variant)
{
    static const int32_t position[TOKENS] = {0, 1, 40, 4095, 131071};
    static float source[ELEMENTS], result[ELEMENTS], original[ELEMENTS];
    const rope_dtype dtype = variant->type == GGML_TYPE_F32 ? ROPE_F32 : ROPE_F16;
    const size_t element = check_size(dtype);
    const float parameters[4] = {10000, variant->scale, 0, 1};
    struct ggml_tensor positions = {.ne = {TOKENS, 1, 1, 1}, .data = (void *)position};
    /* a view whose heads, tokens and batches have gaps, as in a fused projection */
    struct ggml_tensor a = {
        .type = variant->type, .ne = {HEAD, variant->heads, TOKENS, BATCH}, .data = source};
    a.nb[0] = element;
    a.nb[1] = (HEAD + 2) * element;
    a.nb[2] = a.nb[1] * (size_t)variant->heads + 4 * element;
    a.nb[3] = a.nb[2] * TOKENS + 6 * element;
    struct ggml_tensor dst = a;
    dst.op = variant->op;
    dst.src[0] = &a;
    dst.src[1] = &positions;
    dst.op_params[1] = 8;
    dst.op_params[2] = variant->mode;
    memcpy(&dst.op_params[5], parameters, sizeof parameters);
    dst.op_params[15] = variant->offset;
    if (!variant->in_place) { /* dense */
        dst.data = result;
        dst.nb[1] = HEAD * element;
        dst.nb[2] = dst.nb[1] * (size_t)variant->heads;
        dst.nb[3] = dst.nb[2] * TOKENS;
    }
    for (ptrdiff_t index = 0; index < ELEMENTS; index++)
        check_store(source, dtype, index, check_input((size_t)index));
    memcpy(original, source, sizeof original);
    memset(result, 0xff, sizeof result);

    check_status(variant->name, rope_op_init(&dst), ROPE_OK);
    for (int ith = 2; ith >= 0; ith--)
        check_status(variant->name,
                     ggml_compute_forward_rope(&(struct ggml_compute_params){ith, 3}, &dst),
                     ROPE_OK);

    const rope_pairing pairing =
        variant->mode == GGML_ROPE_TYPE_NEOX ? ROPE_HALF : ROPE_INTERLEAVED;
    const struct check_rotation rotation = {8,
                                            pairing,
                                            pairing,
                                            10000,
                                            1 / (double)variant->scale,
                                            variant->op == GGML_OP_ROPE_BACK ? -1 : 1};
    for (size_t batch = 0; batch < BATCH; batch++) {
        for (size_t token = 0; token < TOKENS; token++) {
            for (size_t head = 0; head < (size_t)variant->heads; head++) {
                const char *before =
                    (const char *)original + batch * a.nb[3] + token * a.nb[2] + head * a.nb[1];
                char *after =
                    (char *)dst.data + batch * dst.nb[3] + token * dst.nb[2] + head * dst.nb[1];
                const size_t begin = (size_t)variant->offset * element;
                check_slice(variant->name, &rotation, position[token], before + begin,
                            after + begin, dtype, 0);
                check_same(variant->name, after, before, begin);
                check_same(variant->name, after + begin + 8 * element, before + begin + 8 * element,
                           (HEAD - 8) * element - begin);
                memcpy(after, before, HEAD * element);
            }
        }
    }
    /* with the heads put back nothing else may differ */
    check_same(variant->name, source, original, sizeof source);
    rope_plan_destroy(dst.extra);
}

int main(void)
{
    static const struct variant variants[] = {
        {"q f32 normal", GGML_TYPE_F32, GGML_ROPE_TYPE_NORMAL, GGML_OP_ROPE, 0, 3, 0, 1},
        {"k f32 normal", GGML_TYPE_F32, GGML_ROPE_TYPE_NORMAL, GGML_OP_ROPE, 1, 1, 0, 1},
        {"q f32 neox", GGML_TYPE_F32, GGML_ROPE_TYPE_NEOX, GGML_OP_ROPE, 0, 3, 0, 1},
        {"q f32 neox scaled", GGML_TYPE_F32, GGML_ROPE_TYPE_NEOX, GGML_OP_ROPE, 1, 3, 0, 0.25f},
        {"q f32 neox offset", GGML_TYPE_F32, GGML_ROPE_TYPE_NEOX, GGML_OP_ROPE, 0, 3, 4, 1},
        {"q f32 back", GGML_TYPE_F32, GGML_ROPE_TYPE_NORMAL, GGML_OP_ROPE_BACK, 0, 3, 0, 1},
        {"q f16 normal", GGML_TYPE_F16, GGML_ROPE_TYPE_NORMAL, GGML_OP_ROPE, 1, 3, 0, 1},
        {"k f16 neox", GGML_TYPE_F16, GGML_ROPE_TYPE_NEOX, GGML_OP_ROPE, 0, 1, 0, 1},
    };
    for (size_t index = 0; index < sizeof variants / sizeof *variants; index++)
        check_variant(&variants[index]);
    return check_failures != 0;
}
