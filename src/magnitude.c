/* SPDX-License-Identifier: Apache-2.0 */
/* Scales of tokens and powers of xPos: their checks and their values.  Makes no rows. */
#include "magnitude.h"
#include "wide.h"

#include <math.h>

/* ---- xPos ------------------------------------------------------------------------------------ */

/* log2 of z_i^(1 / S), z_i = (2 i / d + g) / (1 + g) = (2 i + g d) / (d + g d). */
void rope_magnitude_fill(rope_plan *plan)
{
    const rope_dd width = {(double)plan->rotary_dim, 0.0};
    const rope_dd shifted = rope_dd_multiply((rope_dd){plan->xpos_gamma, 0.0}, width);
    for (size_t i = 0; i < plan->pairs; i++) {
        plan->xpos_hi[i] = plan->xpos_lo[i] = 0.0;
        if (plan->xpos_base == 0.0)
            continue;
        const rope_dd place = {2.0 * (double)i, 0.0};
        const rope_wide log2_z =
            rope_wide_add(rope_wide_log2_dd(rope_dd_add(place, shifted)),
                          rope_wide_negate(rope_wide_log2_dd(rope_dd_add(width, shifted))));
        const rope_dd step =
            rope_dd_divide(rope_wide_to_dd(log2_z), (rope_dd){plan->xpos_base, 0.0});
        plan->xpos_hi[i] = step.hi;
        plan->xpos_lo[i] = step.lo;
    }
}

/*
 * 2^(hi + lo) with a relative error below 2^-52: 2^k e^z, |z| <= ln 2 / 2, by the Taylor series of
 * e^z up to z^14 / 14!, whose rest is below 2^-62.  Plain operations and exact functions of libm:
 * the same bits everywhere.
 */
static double exp2_of(double hi, double lo)
{
    static const double ln2_hi = 0x1.62e42fefa39efp-1, ln2_lo = 0x1.abc9e3b39803fp-56;
    const double limit = 4096.0; /* far beyond the range of f64 */
    hi = hi > limit ? limit : hi < -limit ? -limit : hi;
    const double k = rint(hi), r = hi - k;
    const double z = r * ln2_hi;
    const double rest = fma(r, ln2_hi, -z) + (r * ln2_lo + lo * ln2_hi);
    double sum = 0.0;
    for (int n = 14; n >= 2; n--) {
        static const double inverse_factorial[] = {1.0,
                                                   1.0,
                                                   1.0 / 2,
                                                   1.0 / 6,
                                                   1.0 / 24,
                                                   1.0 / 120,
                                                   1.0 / 720,
                                                   1.0 / 5040,
                                                   1.0 / 40320,
                                                   1.0 / 362880,
                                                   1.0 / 3628800,
                                                   1.0 / 39916800,
                                                   1.0 / 479001600,
                                                   1.0 / 6227020800,
                                                   1.0 / 87178291200};
        sum = sum * z + inverse_factorial[n];
    }
    return ldexp(1.0 + (z + (rest + z * z * sum)), (int)k);
}

void rope_magnitude_powers(const struct rope_walk *walk, const struct rope_side *side,
                           double position, size_t first, size_t n, double *powers)
{
    const rope_plan *plan = walk->plan;
    const double distance = walk->direction == ROPE_SHIFT ? position : position - walk->xpos_center;
    const int backwards = walk->direction == ROPE_INVERSE;
    const double x = (side->power > 0) != backwards ? distance : -distance;
    for (size_t i = 0; i < n; i++) {
        const double step = plan->xpos_hi[first + i];
        const double exponent = x * step;
        powers[i] = exp2_of(exponent, fma(x, step, -exponent) + x * plan->xpos_lo[first + i]);
    }
}

/* ---- Checks ---------------------------------------------------------------------------------- */

rope_status rope_magnitude_check_job(struct rope_walk *walk, const rope_job *job)
{
    const int has_xpos = walk->plan != NULL && walk->plan->xpos_base != 0.0;
    if (!isfinite(job->xpos_center) || (!has_xpos && job->xpos_center != 0.0))
        return rope_fail(walk->message, ROPE_ERR_VALUE, "job.xpos_center: %g: must be %s",
                         job->xpos_center, has_xpos ? "finite" : "0 without a plan of xpos_base");
    if (has_xpos && job->rows != NULL)
        return rope_fail(
            walk->message, ROPE_ERR_VALUE,
            "job.rows: must be NULL with a plan of xpos_base, whose magnitudes rows do "
            "not carry");
    walk->xpos_center = job->xpos_center;
    return ROPE_OK;
}

rope_status rope_magnitude_check_tensor(const struct rope_walk *walk, const rope_tensor *tensor,
                                        struct rope_side *side, const char *name)
{
    const int has_xpos = walk->plan != NULL && walk->plan->xpos_base != 0.0;
    side->power = !has_xpos ? 0 : side == &walk->sides[0] ? 1 : -1;
    side->scale = tensor->scale;
    side->has_magnitude = has_xpos || tensor->scale != NULL;
    if (tensor->reserved != 0)
        return rope_fail(walk->message, ROPE_ERR_VALUE, "%s.reserved: %u: must be 0", name,
                         (unsigned)tensor->reserved);
    if (tensor->scale == NULL && tensor->scale_dtype == 0)
        return ROPE_OK;
    if (tensor->scale == NULL)
        return rope_fail(walk->message, ROPE_ERR_NULL, "%s.scale: NULL: must not be with dtype %d",
                         name, (int)tensor->scale_dtype);
    if (tensor->scale_dtype != ROPE_F32 && tensor->scale_dtype != ROPE_F64)
        return rope_fail(walk->message, ROPE_ERR_DTYPE,
                         "%s.scale_dtype: %d: must be ROPE_F32 or ROPE_F64", name,
                         (int)tensor->scale_dtype);
    if (walk->direction == ROPE_SHIFT)
        return rope_fail(walk->message, ROPE_ERR_VALUE,
                         "%s.scale: must be NULL with ROPE_SHIFT: cached keys carry theirs already",
                         name);
    side->scale_dtype = tensor->scale_dtype;
    side->scale_stride[ROPE_BATCH] = tensor->scale_stride_batch;
    side->scale_stride[ROPE_TOKEN] = tensor->scale_stride_token;
    return ROPE_OK;
}

static double scale_at(const struct rope_side *side, size_t batch, size_t token)
{
    const ptrdiff_t index = (ptrdiff_t)batch * side->scale_stride[ROPE_BATCH] +
                            (ptrdiff_t)token * side->scale_stride[ROPE_TOKEN];
    return side->scale_dtype == ROPE_F64 ? ((const double *)side->scale)[index]
                                         : (double)((const float *)side->scale)[index];
}

rope_status rope_magnitude_check_memory(const struct rope_walk *walk, int s,
                                        struct rope_region *region)
{
    const struct rope_side *side = &walk->sides[s];
    const char *name = s == 0 ? "q" : "k";
    const size_t size = rope_dtype_size(side->scale_dtype);
    const ptrdiff_t strides[ROPE_AXES] = {side->scale_stride[ROPE_BATCH],
                                          side->scale_stride[ROPE_TOKEN], 0};
    *region = (struct rope_region){
        .base = side->scale, .length = size, .count = {walk->batch, walk->tokens, 1}};
    if (!rope_region_strides(region, strides, size) || !rope_region_measure(region))
        return rope_fail(
            walk->message, ROPE_ERR_SIZE,
            "%s.scale: strides %td, %td over %zu x %zu: must stay in the address space", name,
            strides[0], strides[1], walk->batch, walk->tokens);
    for (size_t b = 0; b < walk->batch; b++)
        for (size_t t = 0; t < walk->tokens; t++) {
            const double scale = scale_at(side, b, t);
            if ((!isfinite(scale) || scale == 0.0) && !rope_is_left_out(walk, b, t))
                return rope_fail(walk->message, ROPE_ERR_VALUE,
                                 "%s.scale[%zu, %zu]: %g: must be finite and not 0", name, b, t,
                                 scale);
        }
    return ROPE_OK;
}

double rope_magnitude_scale(const struct rope_walk *walk, const struct rope_side *side,
                            size_t batch, size_t token)
{
    if (side->scale == NULL)
        return 1.0;
    const double scale = scale_at(side, batch, token);
    return walk->direction == ROPE_INVERSE ? 1.0 / scale : scale;
}
