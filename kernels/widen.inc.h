/* SPDX-License-Identifier: Apache-2.0 */
/* Body: 16-bit elements to f32.  Parameters: T, f16 or bf16; KERNEL and V of kernel_set.inc.h. */
static void KERNEL(widen)(float *dst, const void *src, size_t step, size_t n)
{
    const V(elem) *from = src;
    const size_t width = step == 1 ? V(WIDTH) : 1;
    for (size_t i = 0; i < n; i += width) {
        const size_t lanes = n - i < width ? n - i : width;
        rv_storerow_f32x2(dst + i, V(join)(V(load)(from + i * step, lanes), lanes), lanes);
    }
}
