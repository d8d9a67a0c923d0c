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

RV void KERNEL(take_turns)(const struct rope_rotate_args *first,
                           const struct rope_rotate_args *second, size_t quarters, int pairing)
{
    const size_t blocks = quarters / 4, tail = quarters % 4 * V(WIDTH) / 4;
    const size_t vectors = blocks + (tail != 0);
    const int early = vectors <= V(TOGETHER); /* registers hold the next row as well */
    V(block) c[RK_MAX_PAIRS / V(WIDTH) + 1], s[RK_MAX_PAIRS / V(WIDTH) + 1];
    V(block) next_c[V(TOGETHER)], next_s[V(TOGETHER)];
    struct KERNEL(turn) turns[2] = {KERNEL(turn_of)(first), KERNEL(turn_of)(second)};
    struct KERNEL(heads) h = {first->src,   first->dst,   first->src_stride, first->dst_stride,
                              first->ahead, first->heads, first->pairs,      first->pairs};
    const char *cos_row = first->cos, *sin_row = first->sin;
    const ptrdiff_t row_step = first->row_step;
    if (early)
        KERNEL(turn_row)(cos_row, sin_row, blocks, tail, pairing, next_c, next_s);
    for (size_t tokens = first->tokens; tokens != 0; tokens--) {
        if (early) {
            RV_UNROLL
            for (size_t b = 0; b < vectors; b++)
                c[b] = next_c[b], s[b] = next_s[b];
        } else {
            KERNEL(rotate_rows)(cos_row, sin_row, blocks, tail, pairing, c, s);
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
                KERNEL(turn_row)(cos_row, sin_row, blocks, tail, pairing, next_c, next_s);
                rv_order();
            }
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

#define TURNS(quarters, way, pairing)                                                   \
    static void KERNEL(turns_##way##_##quarters)(const struct rope_rotate_args *first,  \
                                                 const struct rope_rotate_args *second) \
    {                                                                                   \
        KERNEL(take_turns)(first, second, quarters, pairing);                           \
    }
#define ENTRY(quarters, way) [quarters] = KERNEL(turns_##way##_##quarters),
WHOLES(TURNS, half, RK_HALF)
PARTS(TURNS, half, RK_HALF)
WHOLES(TURNS, interleaved, RK_INTERLEAVED)
PARTS(TURNS, interleaved, RK_INTERLEAVED)
/* [pairing][quarters] */
static rope_turns_fn *const KERNEL(turns)[2][65] = {
    [RK_HALF] = {WHOLES(ENTRY, half) PARTS(ENTRY, half)},
    [RK_INTERLEAVED] = {WHOLES(ENTRY, interleaved) PARTS(ENTRY, interleaved)},
};
#undef TURNS
#undef ENTRY

RV void KERNEL(turns_any)(const struct rope_rotate_args *first,
                          const struct rope_rotate_args *second, int pairing, rope_rotate_fn *one)
{
    const size_t quarters = first->pairs * 4 / V(WIDTH);
    if (first->pairs * 4 % V(WIDTH) == 0 && first->src_half == first->pairs &&
        first->dst_half == first->pairs && quarters <= 64 &&
        KERNEL(turns)[pairing][quarters] != NULL) {
        KERNEL(turns)[pairing][quarters](first, second);
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
