/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ggml's rope as a custom op over librope: what a program on ggml adds to have exact rotations, with
 * no change of ggml itself.
 *
 *     struct rope_op op;               // one for each kind of layer, as long as graphs use it
 *     rope_op_init(&op, &parameters);  // not ROPE_OK: ggml_rope_ext does what this does not
 *     q = rope_op(ctx, q, positions, &op);            // in place of ggml_rope_ext
 *     k = rope_op_inplace(ctx, k, positions, &op);    // and of ggml_rope_ext_inplace
 *     ggml_backend_graph_compute(backend, graph);
 *     if (op.status != ROPE_OK) ...    // a position out of range: that op has written nothing
 *     rope_op_free(&op);
 */
#ifndef ROPE_OP_H
#define ROPE_OP_H

#include <ggml.h>
#include <rope/rope.h>

/* The arguments of ggml_rope_ext and ggml_rope_multi. */
struct rope_op_parameters {
    int n_dims;
    int mode;                          /* GGML_ROPE_TYPE_*, NORMAL or NEOX among them */
    int sections[GGML_MROPE_SECTIONS]; /* MROPE, IMROPE, VISION */
    int n_ctx_orig;
    float freq_base, freq_scale, ext_factor, attn_factor, beta_fast, beta_slow;
    const float *freq_factors; /* n_dims / 2 divisors, or NULL; read by rope_op_init alone */
};

struct rope_op {
    rope_plan *plan;
    rope_status status; /* of the last call that failed; set it to ROPE_OK to go on */
    size_t axes;        /* planes of positions: 4 for MROPE, IMROPE and VISION, else 1 */
};

/* ROPE_ERR_VALUE where parameters mean something that librope does not do: ext_factor other than 0 and 1. */
rope_status rope_op_init(struct rope_op *op, const struct rope_op_parameters *parameters);
void rope_op_free(struct rope_op *op);

/* a [head_dim, heads, tokens, batch] in f32, f16 or bf16, strided as it likes; positions int32,
 * [tokens * axes]. */
struct ggml_tensor *rope_op(struct ggml_context *ctx, struct ggml_tensor *a,
                            struct ggml_tensor *positions, struct rope_op *op);
struct ggml_tensor *rope_op_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                                    struct ggml_tensor *positions, struct rope_op *op);

#endif
