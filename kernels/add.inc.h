/* SPDX-License-Identifier: Apache-2.0 */
/* Body: adds a row to elements.  Parameters: T, the dtype; KERNEL and V of kernel_set.inc.h. */
RV void KERNEL(add_step)(const struct rope_add_args *a, size_t i, size_t n, int with_factor)
{
    const V(elem) *src = a->src;
    const V(real) *row = a->row, *factor = a->factor;
    V(elem) *dst = a->dst;
    V(block) sum = V(add)(V(load)(src + i, n), V(split)(V(loadrow)(row + i, n), n));
    if (with_factor)
        sum = V(mul)(sum, V(split)(V(loadrow)(factor + i, n), n));
    V(store)(dst + i, sum, n);
}

RV void KERNEL(add_any)(const struct rope_add_args *a, int with_factor)
{
    const size_t width = V(WIDTH);
    size_t i = 0;
    for (; i + width <= a->n; i += width)
        KERNEL(add_step)(a, i, width, with_factor);
    if (i < a->n)
        KERNEL(add_step)(a, i, a->n - i, with_factor);
}

static void KERNEL(add_row)(const struct rope_add_args *a)
{
    if (a->factor != NULL)
        KERNEL(add_any)(a, 1);
    else
        KERNEL(add_any)(a, 0);
}
