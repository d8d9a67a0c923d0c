/* SPDX-License-Identifier: Apache-2.0 */
/* The glue between ggml's tensors and librope's jobs. */
#include "rope_op.h"
#include <math.h>
#include <string.h>

enum { PAIRS_MAX = 512 };

rope_status rope_op_init(struct rope_op *op, const struct rope_op_parameters *parameters)
{
    const int multi = parameters->mode & GGML_ROPE_TYPE_MROPE; /* a bit of all three */
    const int vision = parameters->mode == GGML_ROPE_TYPE_VISION;
    const int yarn = parameters->ext_factor != 0;
    const size_t pairs = (size_t)parameters->n_dims / 2;
    *op = (struct rope_op){NULL, ROPE_OK, multi ? GGML_MROPE_SECTIONS : 1};
    if ((yarn && parameters->ext_factor != 1) || (vision && (yarn || parameters->freq_factors)))
        return ROPE_ERR_VALUE;

    rope_spec spec = ROPE_SPEC_INIT;
    spec.scheme = yarn                          ? ROPE_SCHEME_YARN
                  : parameters->freq_scale == 1 ? ROPE_SCHEME_DEFAULT
                                                : ROPE_SCHEME_LINEAR;
    /* Tensors name their own head_dim, so that the plan knows the rotated slice alone.  VISION
     * rotates pairs n_dims apart. */
    spec.head_dim = (size_t)parameters->n_dims * (vision ? 2 : 1);
    spec.pairing = parameters->mode == GGML_ROPE_TYPE_NORMAL ? ROPE_INTERLEAVED : ROPE_HALF;
    spec.theta = (double)parameters->freq_base;
    if (spec.scheme != ROPE_SCHEME_DEFAULT)
        spec.factor = 1 / (double)parameters->freq_scale;
    spec.attention_factor = (double)parameters->attn_factor;
    if (yarn) {
        spec.attention_factor *= 1 + 0.1 * log(spec.factor);
        spec.original_length = (size_t)parameters->n_ctx_orig;
        spec.beta_fast = (double)parameters->beta_fast;
        spec.beta_slow = (double)parameters->beta_slow;
    }
    int32_t sections[GGML_MROPE_SECTIONS];
    if (multi) {
        spec.axis_layout = vision                                      ? ROPE_AXES_GGML_VISION
                           : parameters->mode == GGML_ROPE_TYPE_IMROPE ? ROPE_AXES_GGML_IMROPE
                                                                       : ROPE_AXES_GGML_MROPE;
        for (int axis = 0; axis < GGML_MROPE_SECTIONS; axis++)
            sections[axis] = parameters->sections[axis];
        spec.sections = sections;
        spec.section_count = GGML_MROPE_SECTIONS;
    }
    double divisors[PAIRS_MAX];
    if (parameters->freq_factors) {
        if (pairs > PAIRS_MAX)
            return ROPE_ERR_VALUE;
        for (size_t pair = 0; pair < pairs; pair++)
            divisors[pair] = (double)parameters->freq_factors[pair];
        spec.divisors = divisors;
        spec.divisor_count = pairs;
    }
    return rope_plan_create(&spec, &op->plan);
}

void rope_op_free(struct rope_op *op)
{
    rope_plan_destroy(op->plan);
    op->plan = NULL;
}

/* Bytes to elements.  ggml's strides are whole elements for these types. */
static void describe(rope_tensor *tensor, const struct ggml_tensor *src,
                     const struct ggml_tensor *dst)
{
    const size_t element = ggml_type_size(src->type);
    tensor->dtype = src->type == GGML_TYPE_F32    ? ROPE_F32
                    : src->type == GGML_TYPE_F16  ? ROPE_F16
                    : src->type == GGML_TYPE_BF16 ? ROPE_BF16
                                                  : 0; /* ROPE_ERR_DTYPE */
    tensor->src = src->data;
    tensor->dst = dst->data;
    tensor->head_dim = (size_t)src->ne[0];
    tensor->heads = (size_t)src->ne[1];
    tensor->src_stride_head = (ptrdiff_t)(src->nb[1] / element);
    tensor->src_stride_token = (ptrdiff_t)(src->nb[2] / element);
    tensor->src_stride_batch = (ptrdiff_t)(src->nb[3] / element);
    tensor->dst_stride_head = (ptrdiff_t)(dst->nb[1] / element);
    tensor->dst_stride_token = (ptrdiff_t)(dst->nb[2] / element);
    tensor->dst_stride_batch = (ptrdiff_t)(dst->nb[3] / element);
}

/* What each of ggml's nth threads calls, ith from 0 on. */
static void compute(struct ggml_tensor *dst, int ith, int nth, void *userdata)
{
    struct rope_op *op = userdata;
    const struct ggml_tensor *a = dst->src[0];
    rope_tensor tensor = ROPE_TENSOR_INIT;
    describe(&tensor, a, dst);

    rope_positions positions[GGML_MROPE_SECTIONS];
    for (size_t axis = 0; axis < op->axes; axis++) {
        positions[axis] = (rope_positions)ROPE_POSITIONS_INIT;
        positions[axis].dtype = ROPE_I32;
        positions[axis].data = (const int32_t *)dst->src[1]->data + axis * (size_t)a->ne[2];
    }
    rope_job job = ROPE_JOB_INIT;
    job.batch = (size_t)a->ne[3];
    job.tokens = (size_t)a->ne[2];
    job.q = &tensor;
    job.positions = positions;
    const rope_status status = rope_rotate_part(op->plan, &job, (size_t)ith, (size_t)nth);
    if (status != ROPE_OK && ith == 0) /* it is the same for all */
        op->status = status;
}

struct ggml_tensor *rope_op(struct ggml_context *ctx, struct ggml_tensor *a,
                            struct ggml_tensor *positions, struct rope_op *op)
{
    struct ggml_tensor *arguments[] = {a, positions};
    return ggml_custom_4d(ctx, a->type, a->ne[0], a->ne[1], a->ne[2], a->ne[3], arguments, 2,
                          compute, GGML_N_TASKS_MAX, op);
}

struct ggml_tensor *rope_op_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                                    struct ggml_tensor *positions, struct rope_op *op)
{
    return ggml_custom_inplace(ctx, a, &positions, 1, compute, GGML_N_TASKS_MAX, op);
}
