/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Body: a run of rows from two factors, a block of pairs after the other, so that a coarse factor that
 * rows share is read once.  Parameters: T, the dtype of the rows; KERNEL and V of kernel_set.inc.h;
 * rows.inc.h must be included before.
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

/* n <= WIDTH pairs from pair i on, of all rows. */
RV void KERNEL(run_step)(const struct rope_run_args *a, size_t i, size_t n, int unit, int stream)
{
    const size_t rows = a->rows, sin_at = a->sin_at;
    const ptrdiff_t step = a->step;
    char *cos_row = (char *)((V(elem) *)a->cos + i), *sin_row = (char *)((V(elem) *)a->sin + i);
    for (size_t r = 0; r < rows;) {
        const double *const coarse = a->coarse[r];
        rv_f64 c2[V(VECTORS)], s2[V(VECTORS)];
        KERNEL(run_load)(coarse + i, sin_at, n, c2, s2);
        do {
            rv_f64 c[V(VECTORS)], s[V(VECTORS)];
            KERNEL(run_load)(a->fine[r] + i, sin_at, n, c, s);
            for (size_t k = 0; k < V(VECTORS); k++) {
                KERNEL(rows_product)(&c[k], &s[k], c2[k], s2[k]);
                if (!unit) {
                    c[k] = rv_mul_f64(c[k], rv_set_f64(a->cos_scale));
                    s[k] = rv_mul_f64(s[k], rv_set_f64(a->sin_scale[r]));
                }
            }
            const V(block) cos_block = V(split)(V(narrow)(c)), sin_block = V(split)(V(narrow)(s));
            if (stream) {
                V(stream)((void *)cos_row, cos_block);
                V(stream)((void *)sin_row, sin_block);
            } else {
                V(store)((void *)cos_row, cos_block, n);
                V(store)((void *)sin_row, sin_block, n);
            }
            cos_row += step;
            sin_row += step;
            r++;
        } while (r < rows && a->coarse[r] == coarse);
    }
}

RV void KERNEL(run_any)(const struct rope_run_args *a, int unit, int stream)
{
    const size_t width = V(WIDTH);
    size_t i = 0;
    for (; i + width <= a->pairs; i += width)
        KERNEL(run_step)(a, i, width, unit, stream);
    if (i < a->pairs)
        KERNEL(run_step)(a, i, a->pairs - i, unit, stream);
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
