/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Body: tokens, the heads of two tensors in turn.  A row is read once for both, and all that a turn needs is in
 * registers before the heads of the turn before are written: a load behind them waits for a store at the same
 * place of another page, of which the last 64 stores always have one.  General registers are too few for that,
 * so that what waits stands in vector registers; so does the next token's row, if it is no wider than four
 * blocks.  Parameters: T, the dtype; KERNEL and V of kernel_set.inc.h.
 *
 * Time over that of one tensor after the other, Zen 5, 32 + 8 heads of 128, f32: one token 0.95, interleaved 0.92;
 * 16 tokens 0.94 and 0.91; 2,048 tokens 0.93 and 0.97.  bf16, f16 and f64, which arithmetic bounds: 0.99 to 1.02.
 */

struct KERNEL(turn) {
    rv_two at;     /* src, dst */
    rv_two step;   /* to those of the next token */
    rv_two stride; /* to those of the next head */
    rv_two rest;   /* ahead, heads */
};

RV struct KERNEL(turn) KERNEL(turn_of)(const struct rope_rotate_args *a)
{
    const struct KERNEL(turn) turn = {
        rv_two_of((ptrdiff_t)(uintptr_t)a->src, (ptrdiff_t)(uintptr_t)a->dst),
        rv_two_of(a->src_step, a->dst_step),
        rv_two_of(a->src_stride, a->dst_stride),
        rv_two_of(a->ahead, (ptrdiff_t)a->heads),
    };
    return turn;
}

/* The row of a token, straight into registers. */
RV void KERNEL(turn_row)(const char *cos_row, const char *sin_row, size_t blocks, size_t tail,
                         int pairing, V(block) * c, V(block) * s)
{
    RV_UNROLL
    for (size_t b = 0; b < blocks + (tail != 0); b++)
        KERNEL(rotate_row)(cos_row, sin_row, b, b < blocks ? V(WIDTH) : tail, pairing, c, s);
}

/*
 * Interleaved pairs as they stand: x c - y s in even lanes, y c + x s in odd ones, rounded as by rotate_pair.  The
 * row of `blocks` blocks takes twice the registers, with c, s, c, s in `own` and s, c, s, c in `other`; the
 * shuffles are not fewer, but the heads need neither two vectors at once nor their sums mixed.  Out of L1 and
 * L2 0.92 and 0.95 of the time, where the hints of larger jobs cost 15 %.
 */
RV void KERNEL(woven_heads)(struct KERNEL(heads) h, const V(block) * own, const V(block) * other,
                            size_t blocks)
{
    const size_t width = V(WIDTH);
    for (; h.count != 0; h.count--) {
        V(elem) *dst = (void *)h.dst;
        const V(elem) *src = (const void *)h.src;
        RV_UNROLL
        for (size_t b = 0; b < 2 * blocks; b += 2) {
            V(block) v[2];
            RV_UNROLL
            for (size_t k = 0; k < 2; k++)
                v[k] = V(hold)(V(load)(src + (b + k) * width, width));
            rv_order();
            RV_UNROLL
            for (size_t k = 0; k < 2; k++, rv_order())
                V(store)
            (dst + (b + k) * width,
             V(fms_fma)(V(evens)(v[k]), own[b + k], V(mul)(V(odds)(v[k]), other[b + k])), width);
        }
        h.src += h.src_stride;
        h.dst += h.dst_stride;
    }
}

RV void KERNEL(take_turns)(const struct rope_rotate_args *first,
                           const struct rope_rotate_args *second, size_t pairs, int pairing,
                           int woven)
{
    const size_t blocks = pairs / V(WIDTH), tail = pairs % V(WIDTH);
    const size_t vectors = blocks + (tail != 0);
    const int early = vectors <= V(TOGETHER); /* registers hold the next row as well */
    V(block) c[RK_MAX_PAIRS / V(WIDTH) + 1], s[RK_MAX_PAIRS / V(WIDTH) + 1];
    V(block) next_c[V(TOGETHER)], next_s[V(TOGETHER)];
    V(block) own[2 * V(TOGETHER)], other[2 * V(TOGETHER)];
    const int order = woven ? RK_HALF : pairing; /* of the row's entries */
    struct KERNEL(turn) turns[2] = {KERNEL(turn_of)(first), KERNEL(turn_of)(second)};
    struct KERNEL(heads) h = {first->src,   first->dst,   first->src_stride, first->dst_stride,
                              first->ahead, first->heads, first->pairs,      first->pairs};
    const char *cos_row = first->cos, *sin_row = first->sin;
    const ptrdiff_t row_step = first->row_step;
    if (early)
        KERNEL(turn_row)(cos_row, sin_row, blocks, tail, order, next_c, next_s);
    for (size_t tokens = first->tokens; tokens != 0; tokens--) {
        if (early) {
            RV_UNROLL
            for (size_t b = 0; b < vectors; b++)
                c[b] = next_c[b], s[b] = next_s[b];
        } else {
            KERNEL(rotate_rows)(cos_row, sin_row, blocks, tail, order, c, s);
        }
        if (woven) {
            RV_UNROLL
            for (size_t b = 0; b < blocks; b++) {
                V(weave)(c[b], s[b], &own[2 * b], &own[2 * b + 1]);
                V(weave)(s[b], c[b], &other[2 * b], &other[2 * b + 1]);
            }
        }
        cos_row += row_step;
        sin_row += row_step;
        RV_UNROLL
        for (int t = 0; t < 2; t++) {
            struct KERNEL(turn) *const now = &turns[t], *const next = &turns[1 - t];
            now->at = rv_add_two(now->at, now->step);
            next->at = rv_hold_two(next->at);
            const ptrdiff_t src = rv_hold_number(rv_first(next->at));
            const ptrdiff_t dst = rv_hold_number(rv_second(next->at));
            if (t == 1 && early && tokens > 1) {
                KERNEL(turn_row)(cos_row, sin_row, blocks, tail, order, next_c, next_s);
                rv_order();
            }
            if (woven)
                KERNEL(woven_heads)(h, own, other, blocks);
            else
                KERNEL(rotate_heads)
            (h, c, s, blocks, tail, pairing, pairing, RK_FUSED, 1, 0);
            next->stride = rv_hold_two(next->stride);
            next->rest = rv_hold_two(next->rest);
            h.src = (const char *)(uintptr_t)src;
            h.dst = (char *)(uintptr_t)dst;
            h.src_stride = rv_first(next->stride);
            h.dst_stride = rv_second(next->stride);
            h.ahead = rv_first(next->rest);
            h.count = (size_t)rv_second(next->rest);
        }
    }
}

#define TURNS(pairs, way, pairing, woven)                                            \
    static void KERNEL(turns_##way##_##pairs)(const struct rope_rotate_args *first,  \
                                              const struct rope_rotate_args *second) \
    {                                                                                \
        KERNEL(take_turns)(first, second, pairs, pairing, woven);                    \
    }
#define ENTRY(pairs, way) [PASTE(at_##pairs, ISA)] = KERNEL(turns_##way##_##pairs),
#define WOVEN(one, ...) \
    one(16, __VA_ARGS__) one(32, __VA_ARGS__) one(48, __VA_ARGS__) one(64, __VA_ARGS__)
WIDTHS(TURNS, half, RK_HALF, 0)
WIDTHS(TURNS, interleaved, RK_INTERLEAVED, 0)
WOVEN(TURNS, woven, RK_INTERLEAVED, 1)
/* [way][place of the width]: half, interleaved, interleaved and woven */
static rope_turns_fn *const KERNEL(turns)[3][PASTE(width_count, ISA)] = {
    {WIDTHS(ENTRY, half)},
    {WIDTHS(ENTRY, interleaved)},
    {WOVEN(ENTRY, woven)},
};
#undef WOVEN
#undef TURNS
#undef ENTRY

RV void KERNEL(turns_any)(const struct rope_rotate_args *first,
                          const struct rope_rotate_args *second, int pairing, rope_rotate_fn *one)
{
    const size_t place = KERNEL(fixed_place)(first);
    if (place != PASTE(at_none, ISA)) {
        const int woven = pairing == RK_INTERLEAVED && first->ahead == 0 && second->ahead == 0 &&
                          KERNEL(turns)[2][place] != NULL;
        KERNEL(turns)[woven ? 2 : pairing][place](first, second);
        return;
    }
    struct rope_rotate_args other = *first;
    other.src = second->src;
    other.dst = second->dst;
    other.src_stride = second->src_stride;
    other.dst_stride = second->dst_stride;
    other.src_step = second->src_step;
    other.dst_step = second->dst_step;
    other.heads = second->heads;
    other.ahead = second->ahead;
    one(first);
    one(&other);
}

static void KERNEL(turns_half)(const struct rope_rotate_args *first,
                               const struct rope_rotate_args *second)
{
    KERNEL(turns_any)(first, second, RK_HALF, KERNEL(rotate_half));
}
static void KERNEL(turns_interleaved)(const struct rope_rotate_args *first,
                                      const struct rope_rotate_args *second)
{
    KERNEL(turns_any)(first, second, RK_INTERLEAVED, KERNEL(rotate_interleaved));
}
