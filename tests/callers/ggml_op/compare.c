/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the custom op with ggml's own rope, both as nodes of one graph over one input, and both with
 * the exact rotation.  Prints a table; fails where the two differ by more than ggml's own test of its
 * backends allows (NMSE 1e-7 at positions below 512), or the custom op is not exact at any position.
 */
#include "rope_op.h"
#include <ggml-cpu.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 128, HEADS = 4, TOKENS = 256, BATCH = 2, PAIRS_MAX = HEAD / 2, THREADS = 3 };
enum { VALUES = HEAD * HEADS * TOKENS * BATCH };
enum { PLAIN, IN_PLACE, PACKED }; /* PACKED: a view of one of three projections in one tensor */

static const double nmse_allowed = 1e-7; /* of ggml's test-backend-ops */

struct variant {
    const char *name;
    enum ggml_type type;
    int form;
    int factors;
    struct rope_op_parameters parameters;
};

static float factors[PAIRS_MAX];
static int failures;

static void fail(const char *name, const char *what)
{
    printf("%s: %s\n", name, what);
    failures++;
}

/* ---- The exact rotation, from the formulas in ggml.h ---- */

/* The angle of a pair at the positions p of its token, one for each axis. */
static long double exact_angle(const struct variant *variant, int pair, const int32_t *p)
{
    const struct rope_op_parameters *o = &variant->parameters;
    const long double n = o->n_dims, base = o->freq_base;
    int axis = 0, place = pair;
    if (o->mode & GGML_ROPE_TYPE_MROPE) {
        const int *s = o->sections;
        const int sector = pair % (s[0] + s[1] + s[2] + s[3]);
        int start = 0;
        for (axis = 0; axis < 3 && sector >= start + s[axis]; axis++)
            start += s[axis];
        if (o->mode == GGML_ROPE_TYPE_IMROPE) {
            axis = sector % 3;
            if (sector >= 3 * s[axis])
                axis = 3;
        } else if (o->mode == GGML_ROPE_TYPE_VISION) {
            place = sector - start;
        }
    }
    long double frequency = powl(base, -2 * place / n);
    if (variant->factors)
        frequency /= factors[pair];
    long double mix = 0; /* 1 where YaRN leaves the pair alone */
    if (o->ext_factor != 0) {
        const long double two_pi = 2 * acosl(-1.0L), context = o->n_ctx_orig;
        const long double fast = logl(context / (o->beta_fast * two_pi)) * n / (2 * logl(base));
        const long double slow = logl(context / (o->beta_slow * two_pi)) * n / (2 * logl(base));
        const long double low = fmaxl(0, floorl(fast)), high = fminl(n - 1, ceill(slow));
        mix = 1 - fminl(1, fmaxl(0, (pair - low) / fmaxl(0.001L, high - low)));
    }
    return p[axis] * frequency * (mix + o->freq_scale * (1 - mix));
}

static double magnitude(const struct variant *variant)
{
    const struct rope_op_parameters *o = &variant->parameters;
    const double attention = (double)o->attn_factor;
    return o->ext_factor != 0 ? attention * (1 - 0.1 * log((double)o->freq_scale)) : attention;
}

/* exact [batch, tokens, heads, HEAD], and the error allowed for each element. */
static void rotate_exactly(const struct variant *variant, const float *input,
                           const int32_t *positions, double *exact, double *allowed)
{
    const int vision = variant->parameters.mode == GGML_ROPE_TYPE_VISION;
    const int pairs = variant->parameters.n_dims / (vision ? 1 : 2);
    const int normal = variant->parameters.mode == GGML_ROPE_TYPE_NORMAL;
    const int precision = variant->type == GGML_TYPE_F16    ? 11
                          : variant->type == GGML_TYPE_BF16 ? 8
                                                            : 24;
    const double m = magnitude(variant);
    for (int i = 0; i < VALUES; i++)
        exact[i] = input[i], allowed[i] = 0;
    for (int row = 0; row < BATCH * TOKENS; row++) {
        const int token = row % TOKENS;
        int32_t p[GGML_MROPE_SECTIONS];
        for (int axis = 0; axis < GGML_MROPE_SECTIONS; axis++)
            p[axis] = positions[axis * TOKENS + token];
        for (int pair = 0; pair < pairs; pair++) {
            const long double angle = exact_angle(variant, pair, p);
            const long double c = m * cosl(angle), s = m * sinl(angle);
            for (int head = 0; head < HEADS; head++) {
                const int start = (row * HEADS + head) * HEAD;
                const int at[2] = {start + (normal ? 2 * pair : pair),
                                   start + (normal ? 2 * pair + 1 : pair + pairs)};
                const double x = (double)input[at[0]], y = (double)input[at[1]];
                exact[at[0]] = (double)(x * c - y * s);
                exact[at[1]] = (double)(y * c + x * s);
                for (int part = 0; part < 2; part++) {
                    /* a rounding to f32 of cos and sin, of a product and of the sum; then half a
                     * unit of the type */
                    int exponent;
                    (void)frexp(exact[at[part]], &exponent);
                    allowed[at[part]] = 3 * 0x1p-24 * m * (fabs(x) + fabs(y));
                    if (precision < 24)
                        allowed[at[part]] += 1.0001 * ldexp(0.5, exponent - precision);
                }
            }
        }
    }
}

/* ---- One graph ---- */

static float load(enum ggml_type type, const void *at)
{
    ggml_fp16_t f16;
    ggml_bf16_t bf16;
    float f32;
    if (type == GGML_TYPE_F16)
        return memcpy(&f16, at, sizeof f16), ggml_fp16_to_fp32(f16);
    if (type == GGML_TYPE_BF16)
        return memcpy(&bf16, at, sizeof bf16), ggml_bf16_to_fp32(bf16);
    return memcpy(&f32, at, sizeof f32), f32;
}

static void read_tensor(const struct ggml_tensor *tensor, float *values)
{
    for (int64_t i = 0; i < VALUES; i++) {
        const size_t offset = (size_t)(i % HEAD) * tensor->nb[0] +
                              (size_t)(i / HEAD % HEADS) * tensor->nb[1] +
                              (size_t)(i / HEAD / HEADS % TOKENS) * tensor->nb[2] +
                              (size_t)(i / HEAD / HEADS / TOKENS) * tensor->nb[3];
        values[i] = load(tensor->type, (const char *)tensor->data + offset);
    }
}

/* Multiples of 1/64 below 2 in magnitude, exact in every type but bf16, which rounds them first. */
static void fill(struct ggml_tensor *tensor)
{
    uint32_t state = 1;
    for (int64_t i = 0; i < ggml_nelements(tensor); i++) {
        state = state * 1664525u + 1013904223u;
        const float value = ((float)(state >> 24) - 127.5f) / 64;
        const ggml_fp16_t f16 = ggml_fp32_to_fp16(value);
        const ggml_bf16_t bf16 = ggml_fp32_to_bf16(value);
        const size_t element = ggml_type_size(tensor->type);
        memcpy((char *)tensor->data + (size_t)i * element,
               tensor->type == GGML_TYPE_F32   ? (const void *)&value
               : tensor->type == GGML_TYPE_F16 ? (const void *)&f16
                                               : (const void *)&bf16,
               element);
    }
}

static struct ggml_tensor *own_rope(struct ggml_context *ctx, struct ggml_tensor *a,
                                    struct ggml_tensor *positions, struct ggml_tensor *divisors,
                                    const struct variant *variant)
{
    const struct rope_op_parameters *o = &variant->parameters;
    int sections[GGML_MROPE_SECTIONS];
    memcpy(sections, o->sections, sizeof sections);
    if (o->mode & GGML_ROPE_TYPE_MROPE)
        return ggml_rope_multi(ctx, a, positions, divisors, o->n_dims, sections, o->mode,
                               o->n_ctx_orig, o->freq_base, o->freq_scale, o->ext_factor,
                               o->attn_factor, o->beta_fast, o->beta_slow);
    return (variant->form == IN_PLACE ? ggml_rope_ext_inplace : ggml_rope_ext)(
        ctx, a, positions, divisors, o->n_dims, o->mode, o->n_ctx_orig, o->freq_base, o->freq_scale,
        o->ext_factor, o->attn_factor, o->beta_fast, o->beta_slow);
}

static float input[VALUES], theirs[VALUES], ours[VALUES];

/* Fills the three arrays above; 0 where ggml has no rope of this type. */
static int run_graph(const struct variant *variant, struct rope_op *op, const int32_t *positions)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){(size_t)64 << 20, NULL, false});
    const int64_t planes = (int64_t)op->axes;
    struct ggml_tensor *p = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, TOKENS * planes);
    memcpy(p->data, positions, (size_t)(TOKENS * planes) * sizeof *positions);
    struct ggml_tensor *divisors = NULL;
    if (variant->factors) {
        divisors = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, variant->parameters.n_dims / 2);
        memcpy(divisors->data, factors, ggml_nbytes(divisors));
    }
    const int packed = variant->form == PACKED ? 3 : 1;
    struct ggml_tensor *a =
        ggml_new_tensor_4d(ctx, variant->type, HEAD, HEADS * packed, TOKENS, BATCH);
    fill(a);
    if (variant->form == PACKED)
        a = ggml_view_4d(ctx, a, HEAD, HEADS, TOKENS, BATCH, a->nb[1], a->nb[2], a->nb[3],
                         HEADS * a->nb[1]);
    read_tensor(a, input);

    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    const int in_place = variant->form == IN_PLACE; /* of a copy each: the input serves both */
    struct ggml_tensor *mine =
        in_place ? rope_op_inplace(ctx, ggml_dup(ctx, a), p, op) : rope_op(ctx, a, p, op);
    ggml_build_forward_expand(graph, mine);
    const int has_own = variant->type != GGML_TYPE_BF16;
    struct ggml_tensor *own = NULL;
    if (has_own) {
        own = own_rope(ctx, in_place ? ggml_dup(ctx, a) : a, p, divisors, variant);
        ggml_build_forward_expand(graph, own);
    }
    if (ggml_graph_compute_with_ctx(ctx, graph, THREADS) != GGML_STATUS_SUCCESS)
        fail(variant->name, "the graph failed");
    if (op->status != ROPE_OK)
        fail(variant->name, rope_status_string(op->status));
    read_tensor(mine, ours);
    if (has_own)
        read_tensor(own, theirs);
    ggml_free(ctx);
    return has_own;
}

/* ---- Comparison ---- */

static double largest(const float *values, const double *exact)
{
    double worst = 0;
    for (int i = 0; i < VALUES; i++)
        worst = fmax(worst, fabs((double)values[i] - exact[i]));
    return worst;
}

static void check_exact(const char *name, const double *exact, const double *allowed)
{
    for (int i = 0; i < VALUES; i++) {
        if (!(fabs((double)ours[i] - exact[i]) <= allowed[i])) {
            printf("%s: element %d is %.9g, exactly %.12g, allowed %.3g\n", name, i,
                   (double)ours[i], exact[i], allowed[i]);
            failures++;
            return;
        }
    }
}

static void compare(const struct variant *variant)
{
    static double exact[VALUES], allowed[VALUES];
    static int32_t positions[GGML_MROPE_SECTIONS * TOKENS];
    struct rope_op_parameters parameters = variant->parameters;
    parameters.freq_factors = variant->factors ? factors : NULL;
    struct rope_op op;
    if (rope_op_init(&op, &parameters) != ROPE_OK) {
        fail(variant->name, "refused");
        return;
    }
    /* an image at h, w behind t, as M-RoPE has it; other modes read the first plane alone */
    for (int axis = 0; axis < GGML_MROPE_SECTIONS; axis++)
        for (int token = 0; token < TOKENS; token++)
            positions[axis * TOKENS + token] = axis == 0   ? 2 * token
                                               : axis == 1 ? token / 16 + 7
                                                           : token % 16 * axis;
    printf("| %s |", variant->name);
    const int has_own = run_graph(variant, &op, positions);
    rotate_exactly(variant, input, positions, exact, allowed);
    double square = 0, norm = 0, difference = 0;
    for (int i = 0; has_own && i < VALUES; i++) {
        const double own = (double)theirs[i], off = (double)ours[i] - own;
        difference = fmax(difference, fabs(off));
        square += off * off;
        norm += own * own;
    }
    if (has_own)
        printf(" %.1e | %.1e |", difference, square / norm);
    else
        printf(" | |");
    const int near_enough = !has_own || square <= nmse_allowed * norm;
    check_exact(variant->name, exact, allowed);

    for (int i = 0; i < GGML_MROPE_SECTIONS * TOKENS; i++)
        positions[i] += 131072 - 2 * TOKENS;
    run_graph(variant, &op, positions);
    rotate_exactly(variant, input, positions, exact, allowed);
    if (has_own)
        printf(" %.1e |", largest(theirs, exact));
    else
        printf(" none |");
    printf(" %.1e |\n", largest(ours, exact));
    check_exact(variant->name, exact, allowed);
    if (!near_enough)
        fail(variant->name, "differs from ggml's by more than its test allows");
    rope_op_free(&op);
}

/* What the op must refuse, and how. */
static void refusals(void)
{
    static int32_t positions[GGML_MROPE_SECTIONS * TOKENS];
    struct variant variant = {
        "refusals",
        GGML_TYPE_F32,
        IN_PLACE,
        0,
        {.n_dims = HEAD, .freq_base = 10000, .freq_scale = 1, .attn_factor = 1}};
    struct rope_op op;
    variant.parameters.ext_factor = 0.5f;
    if (rope_op_init(&op, &variant.parameters) != ROPE_ERR_VALUE)
        fail(variant.name, "half an ext_factor was taken");
    variant.parameters.ext_factor = 0;
    if (rope_op_init(&op, &variant.parameters) != ROPE_OK)
        fail(variant.name, "no plan");
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){(size_t)16 << 20, NULL, false});
    struct ggml_tensor *p = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, TOKENS);
    positions[TOKENS - 1] = INT32_MIN; /* -2^31 is the one int32 that is out of range */
    memcpy(p->data, positions, ggml_nbytes(p));
    struct ggml_tensor *a = ggml_new_tensor_4d(ctx, GGML_TYPE_F32, HEAD, HEADS, TOKENS, BATCH);
    fill(a);
    read_tensor(a, input);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(graph, rope_op_inplace(ctx, a, p, &op));
    (void)ggml_graph_compute_with_ctx(ctx, graph, THREADS);
    read_tensor(a, ours);
    if (op.status != ROPE_ERR_POSITION || memcmp(input, ours, sizeof ours) != 0)
        fail(variant.name, "a position out of range was not refused");
    ggml_free(ctx);
    rope_op_free(&op);
}

int main(void)
{
    static const struct variant variants[] = {
        {"f32 NORMAL",
         GGML_TYPE_F32,
         PLAIN,
         0,
         {.n_dims = 128, .freq_base = 500000, .freq_scale = 1, .attn_factor = 1}},
        {"f32 NEOX",
         GGML_TYPE_F32,
         PLAIN,
         0,
         {.n_dims = 128,
          .mode = GGML_ROPE_TYPE_NEOX,
          .freq_base = 10000,
          .freq_scale = 1,
          .attn_factor = 1}},
        {"f32 NEOX in place",
         GGML_TYPE_F32,
         IN_PLACE,
         0,
         {.n_dims = 128,
          .mode = GGML_ROPE_TYPE_NEOX,
          .freq_base = 10000,
          .freq_scale = 1,
          .attn_factor = 1}},
        {"f32 NEOX of a packed q, k, v",
         GGML_TYPE_F32,
         PACKED,
         0,
         {.n_dims = 128,
          .mode = GGML_ROPE_TYPE_NEOX,
          .freq_base = 10000,
          .freq_scale = 1,
          .attn_factor = 1}},
        {"f32 NORMAL, 64 of 128",
         GGML_TYPE_F32,
         PLAIN,
         0,
         {.n_dims = 64, .freq_base = 10000, .freq_scale = 1, .attn_factor = 1}},
        {"f32 NEOX, 32 of 128, in place",
         GGML_TYPE_F32,
         IN_PLACE,
         0,
         {.n_dims = 32,
          .mode = GGML_ROPE_TYPE_NEOX,
          .freq_base = 10000,
          .freq_scale = 1,
          .attn_factor = 1}},
        {"f32 NEOX, linear 4",
         GGML_TYPE_F32,
         PLAIN,
         0,
         {.n_dims = 128,
          .mode = GGML_ROPE_TYPE_NEOX,
          .freq_base = 10000,
          .freq_scale = 0.25f,
          .attn_factor = 1}},
        {"f32 NORMAL, freq_factors (Llama 3.1)",
         GGML_TYPE_F32,
         PLAIN,
         1,
         {.n_dims = 128, .freq_base = 500000, .freq_scale = 1, .attn_factor = 1}},
        {"f32 NEOX, YaRN 4",
         GGML_TYPE_F32,
         PLAIN,
         0,
         {.n_dims = 128,
          .mode = GGML_ROPE_TYPE_NEOX,
          .n_ctx_orig = 32768,
          .freq_base = 1000000,
          .freq_scale = 0.25f,
          .ext_factor = 1,
          .attn_factor = 1,
          .beta_fast = 32,
          .beta_slow = 1}},
        {"f32 NORMAL, 64 of 128, YaRN 40",
         GGML_TYPE_F32,
         PLAIN,
         0,
         {.n_dims = 64,
          .n_ctx_orig = 4096,
          .freq_base = 10000,
          .freq_scale = 0.025f,
          .ext_factor = 1,
          .attn_factor = 0.75f,
          .beta_fast = 32,
          .beta_slow = 1}},
        {"f32 NEOX, YaRN 32, freq_factors",
         GGML_TYPE_F32,
         PLAIN,
         1,
         {.n_dims = 64,
          .mode = GGML_ROPE_TYPE_NEOX,
          .n_ctx_orig = 4096,
          .freq_base = 150000,
          .freq_scale = 0.03125f,
          .ext_factor = 1,
          .attn_factor = 1,
          .beta_fast = 32,
          .beta_slow = 1}},
        {"f32 MROPE",
         GGML_TYPE_F32,
         PLAIN,
         0,
         {.n_dims = 128,
          .mode = GGML_ROPE_TYPE_MROPE,
          .sections = {16, 24, 24, 0},
          .freq_base = 1000000,
          .freq_scale = 1,
          .attn_factor = 1}},
        {"f32 IMROPE",
         GGML_TYPE_F32,
         PLAIN,
         0,
         {.n_dims = 128,
          .mode = GGML_ROPE_TYPE_IMROPE,
          .sections = {24, 20, 20, 0},
          .freq_base = 5000000,
          .freq_scale = 1,
          .attn_factor = 1}},
        {"f32 VISION",
         GGML_TYPE_F32,
         PLAIN,
         0,
         {.n_dims = 64,
          .mode = GGML_ROPE_TYPE_VISION,
          .sections = {32, 32, 0, 0},
          .freq_base = 10000,
          .freq_scale = 1,
          .attn_factor = 1}},
        {"f16 NORMAL",
         GGML_TYPE_F16,
         PLAIN,
         0,
         {.n_dims = 128, .freq_base = 500000, .freq_scale = 1, .attn_factor = 1}},
        {"f16 NEOX, 64 of 128, in place",
         GGML_TYPE_F16,
         IN_PLACE,
         0,
         {.n_dims = 64,
          .mode = GGML_ROPE_TYPE_NEOX,
          .freq_base = 10000,
          .freq_scale = 1,
          .attn_factor = 1}},
        {"f16 NEOX, YaRN 4",
         GGML_TYPE_F16,
         PLAIN,
         0,
         {.n_dims = 128,
          .mode = GGML_ROPE_TYPE_NEOX,
          .n_ctx_orig = 32768,
          .freq_base = 1000000,
          .freq_scale = 0.25f,
          .ext_factor = 1,
          .attn_factor = 1,
          .beta_fast = 32,
          .beta_slow = 1}},
        {"f16 MROPE",
         GGML_TYPE_F16,
         PLAIN,
         0,
         {.n_dims = 128,
          .mode = GGML_ROPE_TYPE_MROPE,
          .sections = {16, 24, 24, 0},
          .freq_base = 1000000,
          .freq_scale = 1,
          .attn_factor = 1}},
        {"bf16 NEOX",
         GGML_TYPE_BF16,
         PLAIN,
         0,
         {.n_dims = 128,
          .mode = GGML_ROPE_TYPE_NEOX,
          .freq_base = 10000,
          .freq_scale = 1,
          .attn_factor = 1}},
    };
    /* a ramp like that of Llama 3.1's rope_freqs, whose entries are 1 to 8 */
    for (int pair = 0; pair < PAIRS_MAX; pair++)
        factors[pair] = fminf(8, fmaxf(1, (float)pair / 4 - 6));
    printf("ggml %s, librope %s (%s)\n\n", ggml_version(), rope_version_string(),
           rope_isa_name(rope_active_isa()));
    printf("| | largest difference, p < 512 | NMSE | ggml off exact, p < 131,072 | librope |\n");
    printf("|---|--:|--:|--:|--:|\n");
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        compare(&variants[i]);
    refusals();
    printf("\n%s\n", failures ? "FAILED" : "all within NMSE 1e-7 of ggml's rope, and exact");
    return failures != 0;
}
