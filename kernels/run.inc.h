/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Body: a run of rows from two factors, row after row: so tables and results are the streams that caches
 * like.  Parameters: T, the dtype of the rows; KERNEL and V of kernel_set.inc.h;
 * rows.inc.h must be included before.
 *
 * What bounds a row of 64 pairs of f32 on Zen 5: with AVX-512 32 products, 16 conversions of two places and 8
 * shuffles on 4 pipes, 32 loads and 8 stores, 21 cycles together, of which 28 are reached; with AVX2 twice as many of
 * each, 43 and 47.  Straight code over 4 blocks, pointers read once, a hint for the next row: no gain.  Beside
 * it stands the row of the fine table, 16 lines out of L2, or out of L3 where the data of a rotation stream
 * through L2.  To read them without any product takes 5 % of a token of 32 + 8 heads at 16 tokens and 8 % at 128:
 * rows made on the way cannot come nearer to ready ones, which are 8 lines.
 */

/* c and s: n <= WIDTH entries of a table row. */
RV void KERNEL(run_load)(const double *row, size_t sin_at, size_t n, rv_f64 *c, rv_f64 *s)
{
    for (size_t k = 0; k < V(VECTORS); k++) {
        const size_t lanes = KERNEL(rows_lanes)(n, k), at = lanes != 0 ? k * RV_F64_LANES : 0;
        c[k] = rv_load_f64(row + at, lanes);
        s[k] = rv_load_f64(row + sin_at + at, lanes);
    }
}

/* n <= WIDTH pairs of row r from pair i on. */
RV void KERNEL(run_step)(const struct rope_run_args *a, size_t r, V(elem) * cos_row,
                         V(elem) * sin_row, size_t i, size_t n, int unit, int stream)
{
    rv_f64 c[V(VECTORS)], s[V(VECTORS)], c2[V(VECTORS)], s2[V(VECTORS)];
    KERNEL(run_load)(a->fine[r] + i, a->sin_at, n, c, s);
    KERNEL(run_load)(a->coarse[r] + i, a->sin_at, n, c2, s2);
    for (size_t k = 0; k < V(VECTORS); k++) {
        KERNEL(rows_product)(&c[k], &s[k], c2[k], s2[k]);
        if (!unit) {
            c[k] = rv_mul_f64(c[k], rv_set_f64(a->cos_scale));
            s[k] = rv_mul_f64(s[k], rv_set_f64(a->sin_scale[r]));
        }
    }
    const V(block) cos_block = V(split)(V(narrow)(c), n), sin_block = V(split)(V(narrow)(s), n);
    if (stream) {
        V(stream)(cos_row + i, cos_block);
        V(stream)(sin_row + i, sin_block);
    } else {
        V(store)(cos_row + i, cos_block, n);
        V(store)(sin_row + i, sin_block, n);
    }
}

RV void KERNEL(run_any)(const struct rope_run_args *a, int unit, int stream)
{
    const size_t width = V(WIDTH), rows = a->rows, pairs = a->pairs;
    const ptrdiff_t step = a->step;
    char *cos_row = a->cos, *sin_row = a->sin;
    for (size_t r = 0; r < rows; r++) {
        size_t i = 0;
        for (; i + width <= pairs; i += width)
            KERNEL(run_step)
        (a, r, (void *)cos_row, (void *)sin_row, i, width, unit, stream);
        if (i < pairs)
            KERNEL(run_step)
        (a, r, (void *)cos_row, (void *)sin_row, i, pairs - i, unit, stream);
        cos_row += step;
        sin_row += step;
    }
}

static void KERNEL(run)(const struct rope_run_args *a)
{
    if (a->unit && !a->stream)
        KERNEL(run_any)(a, 1, 0);
    else if (a->unit)
        KERNEL(run_any)(a, 1, 1);
    else if (!a->stream)
        KERNEL(run_any)(a, 0, 0);
    else
        KERNEL(run_any)(a, 0, 1);
}
