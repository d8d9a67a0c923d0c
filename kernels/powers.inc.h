/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Body: powers of a rotation in double-double, rounded to f64 row by row.  Errors grow by about
 * 2^-103 a multiplication, far below the rounding of the entries.  Parameters: T = f64; KERNEL and
 * V of kernel_set.inc.h.
 */
typedef struct {
    rv_f64 hi, lo;
} PASTE(dd, ISA);

RV PASTE(dd, ISA) KERNEL(dd_sum)(rv_f64 large, rv_f64 small) /* |large| >= |small| */
{
    const rv_f64 hi = rv_add_f64(large, small);
    const PASTE(dd, ISA) sum = {hi, rv_sub_f64(small, rv_sub_f64(hi, large))};
    return sum;
}

RV PASTE(dd, ISA) KERNEL(dd_add)(PASTE(dd, ISA) x, PASTE(dd, ISA) y)
{
    const rv_f64 hi = rv_add_f64(x.hi, y.hi);
    const rv_f64 back = rv_sub_f64(hi, x.hi);
    const rv_f64 error = rv_add_f64(rv_sub_f64(x.hi, rv_sub_f64(hi, back)), rv_sub_f64(y.hi, back));
    return KERNEL(dd_sum)(hi, rv_add_f64(error, rv_add_f64(x.lo, y.lo)));
}

RV PASTE(dd, ISA) KERNEL(dd_mul)(PASTE(dd, ISA) x, PASTE(dd, ISA) y)
{
    const rv_f64 hi = rv_mul_f64(x.hi, y.hi);
    const rv_f64 error = rv_fms_f64(x.hi, y.hi, hi);
    return KERNEL(dd_sum)(hi, rv_fma_f64(x.hi, y.lo, rv_fma_f64(x.lo, y.hi, error)));
}

RV PASTE(dd, ISA) KERNEL(dd_neg)(PASTE(dd, ISA) x)
{
    const rv_f64 zero = rv_set_f64(0.0);
    const PASTE(dd, ISA) negative = {rv_sub_f64(zero, x.hi), rv_sub_f64(zero, x.lo)};
    return negative;
}

RV void KERNEL(powers_step)(const struct rope_powers_args *a, size_t i, size_t n)
{
    const PASTE(dd, ISA) re1 = {rv_load_f64(a->re_hi + i, n), rv_load_f64(a->re_lo + i, n)};
    const PASTE(dd, ISA) im1 = {rv_load_f64(a->im_hi + i, n), rv_load_f64(a->im_lo + i, n)};
    PASTE(dd, ISA) re = {rv_set_f64(1.0), rv_set_f64(0.0)};
    PASTE(dd, ISA) im = {rv_set_f64(0.0), rv_set_f64(0.0)};
    for (size_t row = 0; row < a->rows; row++) {
        rv_store_f64(a->table_cos + row * a->row_stride + i, re.hi, n);
        rv_store_f64(a->table_sin + row * a->row_stride + i, im.hi, n);
        const PASTE(dd, ISA) re_next =
            KERNEL(dd_add)(KERNEL(dd_mul)(re, re1), KERNEL(dd_neg)(KERNEL(dd_mul)(im, im1)));
        im = KERNEL(dd_add)(KERNEL(dd_mul)(re, im1), KERNEL(dd_mul)(im, re1));
        re = re_next;
    }
    rv_store_f64(a->re_hi + i, re.hi, n);
    rv_store_f64(a->re_lo + i, re.lo, n);
    rv_store_f64(a->im_hi + i, im.hi, n);
    rv_store_f64(a->im_lo + i, im.lo, n);
}

static void KERNEL(powers)(const struct rope_powers_args *a)
{
    const size_t width = V(WIDTH);
    size_t i = 0;
    for (; i + width <= a->pairs; i += width)
        KERNEL(powers_step)(a, i, width);
    if (i < a->pairs)
        KERNEL(powers_step)(a, i, a->pairs - i);
}
