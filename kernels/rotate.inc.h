/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Body: tokens, all their heads.  A token's row stays in registers (or in a small local array) over the
 * heads. Parameters: T, the dtype; KERNEL and V of kernel_set.inc.h.
 *
 * What bounds it on Zen 5 (4 pipes, 2 of them multiply; one 64-byte or two 32-byte stores a cycle), a head of
 * 128, from the throughput of the same instructions without what makes one wait for another:
 *   f32, AVX-512   8 stores and 16 products: 8 cycles each, the limit itself; interleaved 16 shuffles more, which
 *                  with the products fill all 4 pipes for 8 cycles
 *   f32, AVX2      16 stores: 8 cycles; 32 products: 16.  Twice the limit while data are in L1, as any code;
 *                  interleaved 32 shuffles more, which with the products fill the pipes for 16; 21 are reached
 *   bf16, AVX-512  4 stores.  48 places of the pipes: 16 products, 8 to widen, 8 to narrow, 4 to interleave, 12 to
 *                  find the subnormals that the conversion takes for zeros: 12.6 cycles, 9 without the last.  That
 *                  is 2.3 of the limit in L2 (5.4 cycles) and 1.5 in L3 (8.5).  To look for zeros among the
 *                  results first takes 5 % less time, and 40 % more where a token is all zeros
 *   f16, AVX-512   48 places, 32 of them to convert: 12.6 cycles; interleaved 16.2
 * and a token, whatever its heads, its row: 8 lines of f32 out of L2 beside the 320 of 40 heads, 2.5 %, and as
 * much again where q and k do not take turns (turns.inc.h).  A bare loop with nothing but both comes to 1.04 of
 * the limit over 320 KiB, and so does this one, of interleaved pairs as well.
 */

/* x and y of n <= WIDTH pairs from pair i on. */
RV void KERNEL(rotate_load)(const V(elem) * src, size_t half, size_t i, size_t n, int from,
                            V(block) * x, V(block) * y)
{
    if (from == RK_HALF) {
        *x = V(load)(src + i, n);
        *y = V(load)(src + half + i, n);
    } else {
        V(load2)(src + 2 * i, x, y, n);
    }
    *x = V(hold)(*x);
    *y = V(hold)(*y);
}

/* Rotates x and y of n pairs; c and s stand in the order that the source pairing loads in. */
RV void KERNEL(rotate_pair)(V(block) * x, V(block) * y, V(block) c, V(block) s, size_t n, int from,
                            int to, int arith)
{
    V(block) first, second;
    if (arith == RK_FUSED) {
        first = V(fms)(*x, c, V(mul)(*y, s));
        second = V(fma)(*x, s, V(mul)(*y, c));
    } else if (arith == RK_UNFUSED) {
        first = V(sub)(V(mul)(*x, c), V(mul)(*y, s));
        second = V(add)(V(mul)(*y, c), V(mul)(*x, s));
    } else {
        first = V(sub)(V(round)(V(mul)(*x, c)), V(round)(V(mul)(*y, s)));
        second = V(add)(V(round)(V(mul)(*y, c)), V(round)(V(mul)(*x, s)));
    }
    if (from == RK_HALF && to == RK_INTERLEAVED) {
        first = V(mix)(V(join)(first, n));
        second = V(mix)(V(join)(second, n));
    } else if (from == RK_INTERLEAVED && to == RK_HALF) {
        first = V(split)(V(unmix)(first), n);
        second = V(split)(V(unmix)(second), n);
    }
    *x = first;
    *y = second;
}

RV void KERNEL(rotate_store)(V(elem) * dst, size_t half, size_t i, size_t n, int to, V(block) x,
                             V(block) y)
{
    if (to == RK_HALF) {
        V(store)(dst + i, x, n);
        V(store)(dst + half + i, y, n);
    } else {
        V(store2)(dst + 2 * i, x, y, n);
    }
}

/* A whole block, past the caches. */
RV void KERNEL(rotate_stream)(V(elem) * dst, size_t half, size_t i, int to, V(block) x, V(block) y)
{
    if (to == RK_HALF) {
        V(stream)(dst + i, x);
        V(stream)(dst + half + i, y);
    } else {
        V(stream2)(dst + 2 * i, x, y);
    }
}

RV void KERNEL(rotate_step)(const V(elem) * src, size_t src_half, V(elem) * dst, size_t dst_half,
                            size_t i, size_t n, V(block) c, V(block) s, int from, int to, int arith)
{
    V(block) x, y;
    KERNEL(rotate_load)(src, src_half, i, n, from, &x, &y);
    KERNEL(rotate_pair)(&x, &y, c, s, n, from, to, arith);
    KERNEL(rotate_store)(dst, dst_half, i, n, to, x, y);
}

/*
 * `blocks` whole blocks from pair i on, as many as registers hold: all reads first, in the order of memory,
 * then the writes, x and y of a block together.  The order is kept: where the compiler chose it, data of
 * L3 and DRAM took 3 to 10 % longer or shorter with every change elsewhere.
 */
RV void KERNEL(rotate_group)(const V(elem) * src, V(elem) * dst, size_t half, size_t i,
                             size_t blocks, const V(block) * c, const V(block) * s, int pairing,
                             int arith, int stream)
{
    const size_t width = V(WIDTH);
    V(block) x[V(TOGETHER)], y[V(TOGETHER)];
    if (pairing == RK_HALF) {
        RV_UNROLL
        for (size_t b = 0; b < blocks; b++)
            x[b] = V(hold)(V(load)(src + i + b * width, width));
        RV_UNROLL
        for (size_t b = 0; b < blocks; b++)
            y[b] = V(hold)(V(load)(src + half + i + b * width, width));
    } else {
        RV_UNROLL
        for (size_t b = 0; b < blocks; b++)
            KERNEL(rotate_load)(src, half, i + b * width, width, pairing, &x[b], &y[b]);
    }
    rv_order();
    RV_UNROLL
    for (size_t b = 0; b < blocks; b++)
        KERNEL(rotate_pair)(&x[b], &y[b], c[b], s[b], width, pairing, pairing, arith);
    RV_UNROLL
    for (size_t b = 0; b < blocks; b++, rv_order()) {
        if (stream)
            KERNEL(rotate_stream)(dst, half, i + b * width, pairing, x[b], y[b]);
        else
            KERNEL(rotate_store)(dst, half, i + b * width, width, pairing, x[b], y[b]);
    }
}

/* All whole blocks of a head. */
RV void KERNEL(rotate_groups)(const V(elem) * src, V(elem) * dst, size_t half, size_t blocks,
                              const V(block) * c, const V(block) * s, int pairing, int arith,
                              int stream)
{
    const size_t width = V(WIDTH), rest = blocks % V(TOGETHER);
    if (blocks > 8) {
        /* no set has registers for such a row: each block is read once, not by each product */
        for (size_t b = 0; b < blocks; b++) {
            const V(block) cosines = V(hold)(c[b]), sines = V(hold)(s[b]);
            KERNEL(rotate_group)
            (src, dst, half, b * width, 1, &cosines, &sines, pairing, arith, stream);
        }
        return;
    }
    RV_UNROLL
    for (size_t b = 0; b + V(TOGETHER) <= blocks; b += V(TOGETHER))
        KERNEL(rotate_group)
    (src, dst, half, b * width, V(TOGETHER), c + b, s + b, pairing, arith, stream);
    if (rest != 0) {
        const size_t b = blocks - rest;
        KERNEL(rotate_group)
        (src, dst, half, b * width, rest, c + b, s + b, pairing, arith, stream);
    }
}

/* Block b of a token's row, n pairs of it. */
RV void KERNEL(rotate_row)(const char *cos_row, const char *sin_row, size_t b, size_t n, int from,
                           V(block) * c, V(block) * s)
{
    const size_t at = b * V(WIDTH);
    /* held: else gcc sees a memcpy, 25 ns by rep movs */
    const V(block) cosines = V(hold)(V(loadrow)((const V(real) *)(const void *)cos_row + at, n));
    const V(block) sines = V(hold)(V(loadrow)((const V(real) *)(const void *)sin_row + at, n));
    c[b] = from == RK_HALF ? V(split)(cosines, n) : V(mix)(cosines);
    s[b] = from == RK_HALF ? V(split)(sines, n) : V(mix)(sines);
}

/* The row of a token. */
RV void KERNEL(rotate_rows)(const char *cos_row, const char *sin_row, size_t blocks, size_t tail,
                            int from, V(block) * c, V(block) * s)
{
    for (size_t b = 0; b < blocks; b++)
        KERNEL(rotate_row)(cos_row, sin_row, b, V(WIDTH), from, c, s);
    if (tail != 0)
        KERNEL(rotate_row)(cos_row, sin_row, blocks, tail, from, c, s);
}

/*
 * The heads of one token; blocks whole blocks and `tail` more pairs of each.  `fixed` says that both are
 * constants and that x and y stand `pairs` apart: the row then lives in registers.  `stream` needs it, and
 * tail = 0.
 */
struct KERNEL(heads) {
    const char *src;
    char *dst;
    ptrdiff_t src_stride, dst_stride, ahead;
    size_t count, src_half, dst_half;
};
RV void KERNEL(rotate_heads)(struct KERNEL(heads) h, const V(block) * c, const V(block) * s,
                             size_t blocks, size_t tail, int from, int to, int arith, int fixed,
                             int stream)
{
    const size_t width = V(WIDTH), pairs = blocks * width + tail;
    const size_t half_in = fixed ? pairs : h.src_half;
    const size_t half_out = fixed ? pairs : h.dst_half;
    const size_t span = (from == RK_HALF ? half_in + pairs : 2 * pairs) * sizeof(V(elem));
    for (; h.count != 0; h.count--) {
        V(elem) *dst = (void *)h.dst;
        const V(elem) *src = (const void *)h.src;
        if (RV_SPARE_LOADS || h.ahead != 0)
            for (size_t at = 0; at < span; at += 64)
                rv_prefetch(h.src, h.ahead + (ptrdiff_t)at);
        if (fixed)
            KERNEL(rotate_groups)(src, dst, half_in, blocks, c, s, from, arith, stream);
        for (size_t b = fixed ? blocks : 0; b < blocks; b++) {
            const size_t i = b * width;
            const V(block) cosines = V(hold)(c[b]), sines = V(hold)(s[b]);
            KERNEL(rotate_step)
            (src, half_in, dst, half_out, i, width, cosines, sines, from, to, arith);
        }
        if (tail != 0) {
            const size_t i = blocks * width;
            KERNEL(rotate_step)
            (src, half_in, dst, half_out, i, tail, c[blocks], s[blocks], from, to, arith);
        }
        h.src += h.src_stride;
        h.dst += h.dst_stride;
    }
}

RV void KERNEL(rotate_tokens)(const struct rope_rotate_args *a, size_t blocks, size_t tail,
                              int from, int to, int arith, int fixed, int stream)
{
    V(block) c[RK_MAX_PAIRS / V(WIDTH) + 1], s[RK_MAX_PAIRS / V(WIDTH) + 1];
    struct KERNEL(heads) h = {a->src,   a->dst,   a->src_stride, a->dst_stride,
                              a->ahead, a->heads, a->src_half,   a->dst_half};
    const char *cos_row = a->cos, *sin_row = a->sin;
    for (size_t tokens = a->tokens; tokens != 0; tokens--) {
        /* Read before the heads are written: behind them a load waits for a store at the same place of another
           page, of which the last 64 stores always have one.  13 ns a token. */
        const char *const next_src = h.src + a->src_step;
        char *const next_dst = h.dst + a->dst_step;
        const char *const next_cos = cos_row + a->row_step, *const next_sin = sin_row + a->row_step;
        KERNEL(rotate_rows)(cos_row, sin_row, blocks, tail, from, c, s);
        KERNEL(rotate_heads)(h, c, s, blocks, tail, from, to, arith, fixed, stream);
        h.src = next_src;
        h.dst = next_dst;
        cos_row = next_cos;
        sin_row = next_sin;
    }
}

/*
 * Heads of so many pairs, a constant.  Each is a function of its own, called by way of a table: inlined into
 * one, they take registers from each other, and a stride that lives in a vector register costs a fifth of the
 * speed.
 */
RV void KERNEL(rotate_fixed)(const struct rope_rotate_args *a, size_t pairs, int pairing,
                             int stream)
{
    const size_t width = V(WIDTH);
    if (width > 2 && (!stream || pairs % width == 0)) /* what else is never streamed */
        KERNEL(rotate_tokens)
    (a, pairs / width, pairs % width, pairing, pairing, RK_FUSED, 1, stream);
}
#define FIXED(pairs, way, pairing, stream)                                      \
    static void KERNEL(fixed_##way##_##pairs)(const struct rope_rotate_args *a) \
    {                                                                           \
        KERNEL(rotate_fixed)(a, pairs, pairing, stream);                        \
    }
#define ENTRY(pairs, way) [PASTE(at_##pairs, ISA)] = KERNEL(fixed_##way##_##pairs),
WIDTHS(FIXED, half, RK_HALF, 0)
WIDTHS(FIXED, interleaved, RK_INTERLEAVED, 0)
#if RV_STREAMS
WIDTHS(FIXED, half_streamed, RK_HALF, 1)
WIDTHS(FIXED, interleaved_streamed, RK_INTERLEAVED, 1)
#endif
/* [stream][pairing][place of the width] */
static rope_rotate_fn *const KERNEL(fixed)[RV_STREAMS + 1][2][PASTE(width_count, ISA)] = {
    {[RK_HALF] = {WIDTHS(ENTRY, half)}, [RK_INTERLEAVED] = {WIDTHS(ENTRY, interleaved)}},
#if RV_STREAMS
    {[RK_HALF] = {WIDTHS(ENTRY, half_streamed)},
     [RK_INTERLEAVED] = {WIDTHS(ENTRY, interleaved_streamed)}},
#endif
};
#undef FIXED
#undef ENTRY

/* The place of a width in the tables, if both halves of a head follow each other. */
RV size_t KERNEL(fixed_place)(const struct rope_rotate_args *a)
{
    return a->src_half == a->pairs && a->dst_half == a->pairs ? PASTE(place_of_pairs, ISA)[a->pairs]
                                                              : PASTE(at_none, ISA);
}

RV void KERNEL(rotate_any)(const struct rope_rotate_args *a, int from, int to, int arith)
{
    const size_t width = V(WIDTH);
    const size_t place = width > 2 && from == to && arith == RK_FUSED ? KERNEL(fixed_place)(a) : 0;
    if (place != PASTE(at_none, ISA))
        KERNEL(fixed)[RV_STREAMS ? a->stream : 0][from][place](a);
    else
        KERNEL(rotate_tokens)(a, a->pairs / width, a->pairs % width, from, to, arith, 0, 0);
}

static void KERNEL(rotate_half)(const struct rope_rotate_args *a)
{
    KERNEL(rotate_any)(a, RK_HALF, RK_HALF, RK_FUSED);
}
static void KERNEL(rotate_half_to_interleaved)(const struct rope_rotate_args *a)
{
    KERNEL(rotate_any)(a, RK_HALF, RK_INTERLEAVED, RK_FUSED);
}
static void KERNEL(rotate_interleaved_to_half)(const struct rope_rotate_args *a)
{
    KERNEL(rotate_any)(a, RK_INTERLEAVED, RK_HALF, RK_FUSED);
}
static void KERNEL(rotate_interleaved)(const struct rope_rotate_args *a)
{
    KERNEL(rotate_any)(a, RK_INTERLEAVED, RK_INTERLEAVED, RK_FUSED);
}
static void KERNEL(eager_half)(const struct rope_rotate_args *a)
{
    KERNEL(rotate_any)(a, RK_HALF, RK_HALF, RK_EAGER);
}
static void KERNEL(eager_half_to_interleaved)(const struct rope_rotate_args *a)
{
    KERNEL(rotate_any)(a, RK_HALF, RK_INTERLEAVED, RK_EAGER);
}
static void KERNEL(eager_interleaved_to_half)(const struct rope_rotate_args *a)
{
    KERNEL(rotate_any)(a, RK_INTERLEAVED, RK_HALF, RK_EAGER);
}
static void KERNEL(eager_interleaved)(const struct rope_rotate_args *a)
{
    KERNEL(rotate_any)(a, RK_INTERLEAVED, RK_INTERLEAVED, RK_EAGER);
}
static void KERNEL(unfused_half)(const struct rope_rotate_args *a)
{
    KERNEL(rotate_any)(a, RK_HALF, RK_HALF, RK_UNFUSED);
}
static void KERNEL(unfused_half_to_interleaved)(const struct rope_rotate_args *a)
{
    KERNEL(rotate_any)(a, RK_HALF, RK_INTERLEAVED, RK_UNFUSED);
}
static void KERNEL(unfused_interleaved_to_half)(const struct rope_rotate_args *a)
{
    KERNEL(rotate_any)(a, RK_INTERLEAVED, RK_HALF, RK_UNFUSED);
}
static void KERNEL(unfused_interleaved)(const struct rope_rotate_args *a)
{
    KERNEL(rotate_any)(a, RK_INTERLEAVED, RK_INTERLEAVED, RK_UNFUSED);
}
