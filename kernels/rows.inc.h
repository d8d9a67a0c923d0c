/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies: one row of cosines and sines, from tables or straight from the angle.  All work is in
 * f64, rounded once on store. Parameters: T, the dtype of the row; KERNEL and V of
 * kernel_set.inc.h.
 */

/* Rounds and stores n <= WIDTH entries from entry i on; c and s are VECTORS vectors each.
 */
RV void KERNEL(rows_store)(const struct rope_rows_args *a, size_t i, size_t n, rv_f64 *c, rv_f64 *s)
{
    const V(block) cos_block = V(narrow)(c), sin_block = V(narrow)(s);
    V(elem) *cos_row = a->cos, *sin_row = a->sin;
    switch (a->layout) {
    case RK_SEPARATE:
        if (a->stream) {
            V(stream)(cos_row + i, V(split)(cos_block, V(WIDTH)));
            V(stream)(sin_row + i, V(split)(sin_block, V(WIDTH)));
        } else {
            V(store)(cos_row + i, V(split)(cos_block, n), n);
            V(store)(sin_row + i, V(split)(sin_block, n), n);
        }
        break;
    case RK_PAIRS:
        V(store2)(cos_row + 2 * i, V(mix)(cos_block), V(mix)(sin_block), n);
        break;
    case RK_DUP_HALF:
        V(store)(cos_row + i, V(split)(cos_block, n), n);
        V(store)(cos_row + a->dup + i, V(split)(cos_block, n), n);
        V(store)(sin_row + i, V(split)(sin_block, n), n);
        V(store)(sin_row + a->dup + i, V(split)(sin_block, n), n);
        break;
    case RK_DUP_PAIRS:
        V(store2)(cos_row + 2 * i, V(mix)(cos_block), V(mix)(cos_block), n);
        V(store2)(sin_row + 2 * i, V(mix)(sin_block), V(mix)(sin_block), n);
        break;
    }
}

/* How many of n entries fall into f64 vector k of a block. */
RV size_t KERNEL(rows_lanes)(size_t n, size_t k)
{
    const size_t lanes = RV_F64_LANES, before = k * lanes;
    return n <= before ? 0 : n - before < lanes ? n - before : lanes;
}

/*
 * What each of the pairs from `at` on takes of its axis, blended together: entry f of `tables`, or
 * one of `values` if tables is NULL.
 */
RV rv_f64 KERNEL(rows_mixed)(const struct rope_rows_mix *mix, const double *const (*tables)[4],
                             size_t f, const double *values, size_t at, size_t lanes)
{
    const size_t pair = mix->first + at, last = pair + (lanes != 0 ? lanes - 1 : 0);
    const unsigned present =
        mix->present[pair / RK_AXES_GROUP] | mix->present[last / RK_AXES_GROUP];
    rv_f64 result = rv_set_f64(0.0);
    int started = 0;
    for (size_t axis = 0; axis < mix->axes; axis++) {
        if ((present >> axis & 1u) == 0)
            continue;
        const rv_f64 value =
            tables != NULL ? rv_load_f64(tables[axis][f] + at, lanes) : rv_set_f64(values[axis]);
        const rv_f64 mask = rv_load_f64(mix->masks + axis * mix->mask_stride + at, lanes);
        result = started ? rv_blend_f64(result, value, mask) : value;
        started = 1;
    }
    return result;
}

/* Magnitude and sign. */
RV void KERNEL(rows_scale)(const struct rope_rows_args *a, size_t at, size_t lanes, int mixed,
                           rv_f64 *c, rv_f64 *s)
{
    const rv_f64 sin_scale = mixed
                                 ? KERNEL(rows_mixed)(a->mix, NULL, 0, a->mix->sin_scale, at, lanes)
                                 : rv_set_f64(a->sin_scale);
    *c = rv_mul_f64(*c, rv_set_f64(a->cos_scale));
    *s = rv_mul_f64(*s, sin_scale);
}

/* Row of factor f. */
RV void KERNEL(rows_factor)(const struct rope_rows_args *a, size_t f, size_t at, size_t lanes,
                            int mixed, rv_f64 *c, rv_f64 *s)
{
    const struct rope_rows_mix *mix = a->mix;
    *c = mixed ? KERNEL(rows_mixed)(mix, mix->table_cos, f, NULL, at, lanes)
               : rv_load_f64(a->table_cos[f] + at, lanes);
    *s = mixed ? KERNEL(rows_mixed)(mix, mix->table_sin, f, NULL, at, lanes)
               : rv_load_f64(a->table_sin[f] + at, lanes);
}

/* Complex product of table rows: c = c1 c2 - s1 s2, s = s1 c2 + c1 s2. */
RV void KERNEL(rows_product)(rv_f64 *c, rv_f64 *s, rv_f64 c2, rv_f64 s2)
{
    const rv_f64 c1 = *c, s1 = *s;
    *c = rv_fms_f64(c1, c2, rv_mul_f64(s1, s2));
    *s = rv_fma_f64(s1, c2, rv_mul_f64(c1, s2));
}

/* The first factor by the product of all behind it, as in run.inc.h. */
RV void KERNEL(rows_step)(const struct rope_rows_args *a, size_t i, size_t n, int mixed)
{
    rv_f64 c[V(VECTORS)], s[V(VECTORS)];
    for (size_t k = 0; k < V(VECTORS); k++) {
        const size_t lanes = KERNEL(rows_lanes)(n, k), at = lanes != 0 ? i + k * RV_F64_LANES : 0;
        KERNEL(rows_factor)(a, a->factors - 1, at, lanes, mixed, &c[k], &s[k]);
        for (size_t f = a->factors - 1; f-- > 0;) {
            const rv_f64 c2 = c[k], s2 = s[k];
            KERNEL(rows_factor)(a, f, at, lanes, mixed, &c[k], &s[k]);
            KERNEL(rows_product)(&c[k], &s[k], c2, s2);
        }
        KERNEL(rows_scale)(a, at, lanes, mixed, &c[k], &s[k]);
    }
    KERNEL(rows_store)(a, i, n, c, s);
}

RV void KERNEL(rows_any)(const struct rope_rows_args *a, int mixed)
{
    const size_t width = V(WIDTH);
    size_t i = 0;
    for (; i + width <= a->pairs; i += width)
        KERNEL(rows_step)(a, i, width, mixed);
    if (i < a->pairs)
        KERNEL(rows_step)(a, i, a->pairs - i, mixed);
}

static void KERNEL(rows)(const struct rope_rows_args *args)
{
    const struct rope_rows_args a = *args;
    if (a.mix != NULL)
        KERNEL(rows_any)(&a, 1);
    else
        KERNEL(rows_any)(&a, 0);
}

/*
 * cos and sin of 2 pi q (hi + lo) for one vector.  q hi is split exactly, whole turns are dropped
 * exactly, and what does not fit the argument of sincospi comes back by its first-order term: c - s
 * e, s + c e, |e| < 2^-53.
 */
RV void KERNEL(direct_turns)(rv_f64 q, rv_f64 hi, rv_f64 lo, rv_f64 *c, rv_f64 *s)
{
    const rv_f64 product = rv_mul_f64(q, hi);
    const rv_f64 error = rv_fma_f64(q, lo, rv_fms_f64(q, hi, product));
    const rv_f64 part = rv_sub_f64(product, rv_rint_f64(product)); /* exact */
    const rv_f64 sum = rv_add_f64(part, error);
    const rv_f64 back = rv_sub_f64(sum, part);
    const rv_f64 rest =
        rv_add_f64(rv_sub_f64(part, rv_sub_f64(sum, back)), rv_sub_f64(error, back)); /* two-sum */
    const rv_f64 turn = rv_sub_f64(sum, rv_rint_f64(sum));                            /* exact */
    const rv_f64 e = rv_mul_f64(rest, rv_set_f64(6.283185307179586));
    rv_f64 s0, c0;
    rv_sincospi_f64(rv_add_f64(turn, turn), &s0, &c0);
    *c = rv_sub_f64(c0, rv_mul_f64(s0, e));
    *s = rv_fma_f64(c0, e, s0);
}

RV void KERNEL(direct_step)(const struct rope_rows_args *a, size_t i, size_t n, int f32_angle,
                            int mixed)
{
    /* 1 / (2 pi) in double-double */
    const double inv_2pi_hi = 0x1.45f306dc9c883p-3, inv_2pi_lo = -0x1.6b01ec5417056p-57;
    rv_f64 c[V(VECTORS)], s[V(VECTORS)];
    for (size_t k = 0; k < V(VECTORS); k++) {
        const size_t lanes = KERNEL(rows_lanes)(n, k), at = lanes != 0 ? i + k * RV_F64_LANES : 0;
        const rv_f64 position =
            mixed ? KERNEL(rows_mixed)(a->mix, NULL, 0, a->mix->position, at, lanes)
                  : rv_set_f64(a->position);
        if (f32_angle) {
            /* the product of two f32 values is exact in f64 */
            const rv_f64 freq = rv_load_f64(a->freq + at, lanes);
            const rv_f64 angle = rv_round_f32_f64(rv_mul_f64(position, freq));
            KERNEL(direct_turns)
            (angle, rv_set_f64(inv_2pi_hi), rv_set_f64(inv_2pi_lo), &c[k], &s[k]);
        } else {
            KERNEL(direct_turns)
            (position, rv_load_f64(a->turns_hi + at, lanes), rv_load_f64(a->turns_lo + at, lanes),
             &c[k], &s[k]);
        }
        KERNEL(rows_scale)(a, at, lanes, mixed, &c[k], &s[k]);
    }
    KERNEL(rows_store)(a, i, n, c, s);
}

RV void KERNEL(direct_any)(const struct rope_rows_args *a, int f32_angle, int mixed)
{
    const size_t width = V(WIDTH);
    size_t i = 0;
    for (; i + width <= a->pairs; i += width)
        KERNEL(direct_step)(a, i, width, f32_angle, mixed);
    if (i < a->pairs)
        KERNEL(direct_step)(a, i, a->pairs - i, f32_angle, mixed);
}

static void KERNEL(direct)(const struct rope_rows_args *args)
{
    const struct rope_rows_args a = *args;
    if (a.mix != NULL)
        KERNEL(direct_any)(&a, 0, 1);
    else
        KERNEL(direct_any)(&a, 0, 0);
}

static void KERNEL(direct_f32)(const struct rope_rows_args *args)
{
    const struct rope_rows_args a = *args;
    if (a.mix != NULL)
        KERNEL(direct_any)(&a, 1, 1);
    else
        KERNEL(direct_any)(&a, 1, 0);
}
