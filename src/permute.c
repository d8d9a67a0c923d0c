/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rope_permute: reorders rows of projection matrices from one pairing to the other.  Moves bytes,
 * computes nothing.
 */
#include "check.h"
#include "region.h"

#include <assert.h>
#include <string.h>

#if UINTPTR_MAX == UINT64_MAX
static_assert(offsetof(rope_permutation, dtype) == 4 && offsetof(rope_permutation, from) == 8 &&
                  offsetof(rope_permutation, to) == 12 &&
                  offsetof(rope_permutation, matrices) == 16 &&
                  offsetof(rope_permutation, heads) == 24 &&
                  offsetof(rope_permutation, head_dim) == 32 &&
                  offsetof(rope_permutation, rotary_dim) == 40 &&
                  offsetof(rope_permutation, rotary_offset) == 48 &&
                  offsetof(rope_permutation, row_length) == 56 &&
                  offsetof(rope_permutation, src) == 64 && offsetof(rope_permutation, dst) == 72 &&
                  offsetof(rope_permutation, src_stride_matrix) == 80 &&
                  offsetof(rope_permutation, src_stride_head) == 88 &&
                  offsetof(rope_permutation, src_stride_row) == 96 &&
                  offsetof(rope_permutation, dst_stride_matrix) == 104 &&
                  offsetof(rope_permutation, dst_stride_head) == 112 &&
                  offsetof(rope_permutation, dst_stride_row) == 120 &&
                  offsetof(rope_permutation, message) == 128 &&
                  offsetof(rope_permutation, message_size) == 136 &&
                  sizeof(rope_permutation) == 144,
              "rope_permutation is frozen");
#endif
enum { PERMUTATION_SIZE_0_1 = offsetof(rope_permutation, message_size) + sizeof(size_t) };

enum { MATRIX, HEAD, ROW }; /* axes of a region */

/* In place, rows are moved this many bytes at a time. */
enum { BLOCK_BYTES = 1024 };

/* A permutation after its checks. */
struct move {
    size_t offset; /* rows before the rotated slice */
    size_t pairs;
    rope_pairing from, to;
    struct rope_region src, dst;
};

static rope_status check_shape(const rope_permutation *p, struct move *move,
                               struct rope_message message)
{
    if (rope_dtype_size(p->dtype) == 0)
        return rope_dtype_fail(message, "permutation", p->dtype);
    if ((p->from != ROPE_HALF && p->from != ROPE_INTERLEAVED) ||
        (p->to != ROPE_HALF && p->to != ROPE_INTERLEAVED))
        return rope_fail(message, ROPE_ERR_VALUE,
                         "permutation.from, to: %d, %d: must be ROPE_HALF or ROPE_INTERLEAVED",
                         (int)p->from, (int)p->to);
    if (p->head_dim < 2)
        return rope_fail(message, ROPE_ERR_VALUE, "permutation.head_dim: %zu: must be >= 2",
                         p->head_dim);
    if (p->rotary_offset > p->head_dim - 2)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "permutation.rotary_offset: %zu: must leave 2 of head_dim = %zu rows",
                         p->rotary_offset, p->head_dim);
    const size_t room = p->head_dim - p->rotary_offset;
    const size_t rotary_dim = p->rotary_dim != 0 ? p->rotary_dim : room;
    if (rotary_dim % 2 != 0 || rotary_dim > room || rotary_dim > ROPE_ROTARY_DIM_MAX)
        return rope_fail(message, ROPE_ERR_VALUE,
                         "permutation.rotary_dim: %zu: must be even and at most %d and head_dim - "
                         "rotary_offset = %zu",
                         rotary_dim, ROPE_ROTARY_DIM_MAX, room);
    move->offset = p->rotary_offset;
    move->pairs = rotary_dim / 2;
    move->from = p->from;
    move->to = p->to;
    return ROPE_OK;
}

static rope_status check_memory(const rope_permutation *p, struct move *move,
                                struct rope_message message)
{
    const size_t element = rope_dtype_size(p->dtype);
    ptrdiff_t src[ROPE_AXES] = {p->src_stride_matrix, p->src_stride_head, p->src_stride_row};
    ptrdiff_t dst[ROPE_AXES] = {p->dst_stride_matrix, p->dst_stride_head, p->dst_stride_row};
    const size_t head = p->head_dim * p->row_length, matrix = p->heads * head;
    const int too_many = rope_is_too_many(p->head_dim, p->row_length, p->heads) ||
                         rope_is_too_many(p->matrices, matrix, 1);
    const ptrdiff_t dense[ROPE_AXES] = {(ptrdiff_t)matrix, (ptrdiff_t)head,
                                        (ptrdiff_t)p->row_length};
    if (src[MATRIX] == 0 && src[HEAD] == 0 && src[ROW] == 0)
        memcpy(src, dense, sizeof src);
    if (dst[MATRIX] == 0 && dst[HEAD] == 0 && dst[ROW] == 0)
        memcpy(dst, p->src == p->dst ? src : dense, sizeof dst);
    move->src = (struct rope_region){.base = p->src,
                                     .length = p->row_length * element,
                                     .count = {p->matrices, p->heads, p->head_dim}};
    move->dst = move->src;
    move->dst.base = p->dst;
    if (too_many || !rope_region_strides(&move->src, src, element) ||
        !rope_region_strides(&move->dst, dst, element) || !rope_region_measure(&move->src) ||
        !rope_region_measure(&move->dst))
        return rope_fail(message, ROPE_ERR_SIZE,
                         "permutation: %zu x %zu x %zu x %zu elements by its strides: must stay in "
                         "the address space",
                         p->matrices, p->heads, p->head_dim, p->row_length);
    if (p->src == NULL || p->dst == NULL)
        return rope_fail(message, ROPE_ERR_NULL, "permutation.%s: NULL: must hold %zu rows",
                         p->src == NULL ? "src" : "dst", p->heads * p->head_dim);
    if (!rope_region_nests(&move->dst))
        return rope_fail(message, ROPE_ERR_STRIDE,
                         "permutation: dst strides %td, %td, %td: each must span the axes below it "
                         "and row_length = %zu",
                         dst[MATRIX], dst[HEAD], dst[ROW], p->row_length);
    if (!rope_regions_coincide(&move->src, &move->dst) &&
        rope_regions_overlap(&move->src, &move->dst))
        return rope_fail(message, ROPE_ERR_ALIAS,
                         "permutation.dst: overlaps src: must equal it, strides too, or lie apart");
    return ROPE_OK;
}

/* The component of pair i in a pairing stands at row `place`; these are each other's inverse. */
static size_t place_of(rope_pairing pairing, size_t pairs, size_t i, size_t part)
{
    return pairing == ROPE_HALF ? i + part * pairs : 2 * i + part;
}

/* The row of the source, counted within the slice, that comes to row `place` of the destination. */
static size_t source_of(const struct move *move, size_t place)
{
    const size_t pairs = move->pairs;
    const size_t part = move->to == ROPE_HALF ? place / pairs : place % 2;
    const size_t i = move->to == ROPE_HALF ? place % pairs : place / 2;
    return place_of(move->from, pairs, i, part);
}

static void copy_head(const struct move *move, const char *src, char *dst)
{
    const size_t rows = move->src.count[ROW];
    for (size_t row = 0; row < rows; row++) {
        const size_t place = row - move->offset; /* beyond the slice for rows before it as well */
        const size_t from = place < 2 * move->pairs ? move->offset + source_of(move, place) : row;
        memcpy(dst + (ptrdiff_t)row * move->dst.stride[ROW],
               src + (ptrdiff_t)from * move->src.stride[ROW], move->src.length);
    }
}

/* In place: follows each cycle of the permutation once, `bytes` of every row at a time. */
static void turn_cycles(const struct move *move, char *slice, size_t bytes)
{
    enum { WORD = 64 };
    char held[BLOCK_BYTES];
    uint64_t done[ROPE_ROTARY_DIM_MAX / WORD] = {0};
    const ptrdiff_t stride = move->dst.stride[ROW];
    for (size_t start = 0; start < 2 * move->pairs; start++) {
        if ((done[start / WORD] >> start % WORD & 1u) != 0)
            continue;
        memcpy(held, slice + (ptrdiff_t)start * stride, bytes);
        size_t to = start;
        for (size_t from = source_of(move, to); from != start; from = source_of(move, to)) {
            memcpy(slice + (ptrdiff_t)to * stride, slice + (ptrdiff_t)from * stride, bytes);
            to = from;
            done[to / WORD] |= UINT64_C(1) << to % WORD;
        }
        memcpy(slice + (ptrdiff_t)to * stride, held, bytes);
    }
}

static void permute_head(const struct move *move, const char *src, char *dst)
{
    if (src != dst) {
        copy_head(move, src, dst);
        return;
    }
    if (move->from == move->to)
        return;
    char *slice = dst + (ptrdiff_t)move->offset * move->dst.stride[ROW];
    for (size_t at = 0; at < move->dst.length; at += BLOCK_BYTES)
        turn_cycles(move, slice + at,
                    move->dst.length - at < BLOCK_BYTES ? move->dst.length - at : BLOCK_BYTES);
}

rope_status rope_permute(const rope_permutation *given)
{
    if (given == NULL)
        return ROPE_ERR_NULL;
    rope_permutation room;
    const rope_permutation *permutation =
        rope_descriptor(given, &room, sizeof room, PERMUTATION_SIZE_0_1);
    if (permutation == NULL)
        return rope_descriptor_refuse(given, "permutation", sizeof(rope_permutation),
                                      PERMUTATION_SIZE_0_1, offsetof(rope_permutation, message));
    const struct rope_message message = {permutation->message, permutation->message_size};
    struct move move;
    rope_status status = check_shape(permutation, &move, message);
    if (status != ROPE_OK || permutation->matrices == 0 || permutation->heads == 0 ||
        permutation->row_length == 0)
        return status;
    status = check_memory(permutation, &move, message);
    if (status != ROPE_OK)
        return status;
    char *dst = permutation->dst;
    for (size_t m = 0; m < permutation->matrices; m++)
        for (size_t h = 0; h < permutation->heads; h++)
            permute_head(&move,
                         move.src.base + (ptrdiff_t)m * move.src.stride[MATRIX] +
                             (ptrdiff_t)h * move.src.stride[HEAD],
                         dst + (ptrdiff_t)m * move.dst.stride[MATRIX] +
                             (ptrdiff_t)h * move.dst.stride[HEAD]);
    return ROPE_OK;
}
