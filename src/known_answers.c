/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known answers: what each slot of a kernel set must make of two pairs, for the self-test where there is no
 * other set to compare with.  Exact rational arithmetic with the roundings that kernels.h says, and cosines
 * and sines of 600 bits; none of these is within 0.03 units in the last place of a tie.
 */
#include "known_answers.h"

#include <stdio.h>
#include <string.h>

enum {
    PAIRS = 2,
    N = 2 * PAIRS
}; /* arrays hold first 0, first 1, second 0, second 1 of the pairs */

static const unsigned char sizes[RK_DTYPES] = {4, 8, 2, 2};

/* Cosines and sines of 0.7 and 2.3; of 1.9 and -0.4; what z of powers has beyond the first. */
static const double row[N] = {0x1.87996529f9d92p-1, -0x1.5522217302fe2p-1, 0x1.49d6e694619b8p-1,
                              0x1.7dcd12d582f23p-1};
static const double second[N] = {-0x1.4b0c6b93445acp-2, 0x1.d7954e7dba2f8p-1, 0x1.e48171f1a3857p-1,
                                 -0x1.8ec3ae92b676ap-2};
static const double low[N] = {0x1.25b30bdf7b62ep-55, -0x1.ffb3322c847d3p-56, -0x1.9c4ca0397a026p-56,
                              -0x1.dd40578ae3aecp-56};
/* 1 and 0.01, as turns and as f32. */
static const double turns_hi[PAIRS] = {0x1.45f306dc9c883p-3, 0x1.a1371305e714bp-10};
static const double turns_lo[PAIRS] = {-0x1.6b01ec5417056p-57, 0x1.0f52503cfac5ap-66};
static const double freq[PAIRS] = {1.0, 0x1.47ae14p-7};
static const double position[2] = {-131070.75, 131071.0}; /* of direct, direct_f32 */
static const double scale[2] = {1.25, -1.25};             /* of rows: cos, sin */

/* Bits of elements: x of 175/128 and -93/64, y of -211/256 and 157/128. */
static const uint64_t elements[RK_DTYPES][N] = {
    {0x3faf0000, 0xbfba0000, 0xbf530000, 0x3f9d0000},
    {0x3ff5e00000000000, 0xbff7400000000000, 0xbfea600000000000, 0x3ff3a00000000000},
    {0x3d78, 0xbdd0, 0xba98, 0x3ce8},
    {0x3faf, 0xbfba, 0xbf53, 0x3f9d}};
static const uint64_t rotated[RK_ARITHS][RK_DTYPES][N] = {
    {{0x3fc9cff6, 0x3d5b408b, 0x3e80305e, 0xbff34e77},
     {0x3ff939fec2dd8050, 0x3fab680f813dbc36, 0x3fd0060c1ba89095, 0xbffe69cee32a9f9d},
     {0x3e4e, 0x2ada, 0x3402, 0xbf9a},
     {0x3fca, 0x3d5b, 0x3e80, 0xbff3}},
    {{0x3fc9cff6, 0x3d5b4090, 0x3e80305e, 0xbff34e78},
     {0x3ff939fec2dd8050, 0x3fab680f813dbc30, 0x3fd0060c1ba89096, 0xbffe69cee32a9f9c},
     {0x3e4e, 0x2ae0, 0x3402, 0xbf9b},
     {0x3fca, 0x3d60, 0x3e80, 0xbff4}},
    {{0x3fc9cff6, 0x3d5b4090, 0x3e80305e, 0xbff34e78},
     {0x3ff939fec2dd8050, 0x3fab680f813dbc30, 0x3fd0060c1ba89096, 0xbffe69cee32a9f9c},
     {0x3e4e, 0x2ada, 0x3402, 0xbf9a},
     {0x3fca, 0x3d5b, 0x3e80, 0xbff3}}};
enum { PRODUCT, DIRECT, DIRECT_F32, ROWS }; /* as kinds of rows are numbered */
static const uint64_t rows[ROWS][RK_DTYPES][N] = {
    {{0xbf891a2a, 0xbecee7c3, 0xbf24f5df, 0xbf976874},
     {0xbff123453a1098c5, 0xbfd9dcf867815718, 0xbfe49ebbea88a72b, 0xbff2ed0e73706336},
     {0xbc49, 0xb677, 0xb928, 0xbcbb},
     {0xbf89, 0xbecf, 0xbf25, 0xbf97}},
    {{0xbf6f53bc, 0xbf49b57e, 0x3eb5c0c9, 0x3f1da322},
     {0xbfedea77846bd296, 0xbfe936afb32d6acf, 0x3fd6b8191d525221, 0x3fe3b4644b902652},
     {0xbb7b, 0xba4e, 0x35ae, 0x38ed},
     {0xbf6f, 0xbf4a, 0x3eb6, 0x3f1e}},
    {{0xbf51675e, 0xbf495206, 0xbf13430a, 0xbf1e2217},
     {0xbfea2cebbb513e7c, 0xbfe92a40bb8f8f5a, 0xbfe268613f60babc, 0xbfe3c442d543a404},
     {0xba8b, 0xba4b, 0xb89a, 0xb8f1},
     {0xbf51, 0xbf49, 0xbf13, 0xbf1e}}};
static const uint64_t added[2][RK_DTYPES][N] = {
    {{0x4008732d, 0xc007a444, 0xbe385234, 0x3ffc7344},
     {0x40010e6594a7e764, 0xc000f48885cc0bf8, 0xbfc70a465ae79920, 0x3fff8e6896ac1792},
     {0x4044, 0xc03d, 0xb1c3, 0x3fe4},
     {0x4008, 0xc008, 0xbe38, 0x3ffc}},
    {{0xbf30738a, 0xbff9de55, 0xbe2e6c4f, 0xbf449e16},
     {0xbfe60e712ecc5763, 0xbfff3bcab4759e06, 0xbfc5cd89b94d0f0f, 0xbfe893c2cc658ed4},
     {0xb984, 0xbfcf, 0xb173, 0xba25},
     {0xbf30, 0xbffa, 0xbe2e, 0xbf45}}};
enum { POWERS = 4 };
static const uint64_t powers[POWERS][N] = {
    {0x3ff0000000000000, 0x3ff0000000000000, 0, 0},
    {0x3fe87996529f9d92, 0xbfe5522217302fe2, 0x3fe49d6e694619b8, 0x3fe7dcd12d582f23},
    {0x3fc5c17bbc13570a, 0xbfbcb6072b598da6, 0x3fef88cddf44e101, 0xbfefcc51135decb9},
    {0xbfe027b304989ec7, 0x3fea1a6b8672124c, 0x3feb9f693feb72fb, 0x3fe282941bd81abe}};

/* ---- Calls and comparisons ------------------------------------------------------------------- */

/* Room for a result of every type, filled with what no answer is. */
struct room {
    _Alignas(64) unsigned char bytes[POWERS * N * sizeof(double)];
};

static void blank(struct room *room)
{
    memset(room->bytes, 0x55, sizeof room->bytes);
}

/* Where entry k of an array of pairs stands. */
static size_t place_of(int interleaved, size_t k)
{
    return interleaved ? k % PAIRS * 2 + k / PAIRS : k;
}

/* Compares the entries, of which each may be `units` in the last place off. */
static int are_right(const struct room *room, enum rope_kernel_dtype type, int interleaved,
                     const uint64_t right[N], uint64_t units, struct rope_difference *difference)
{
    for (size_t k = 0; k < N; k++) {
        const size_t place = place_of(interleaved, k);
        const uint64_t got = rope_bits_at(room->bytes, sizes[type], place);
        if (got - right[k] + units <= 2 * units)
            continue;
        difference->array = 0;
        difference->element = (ptrdiff_t)place;
        difference->bits[ROPE_TESTED] = got;
        difference->bits[ROPE_REFERENCE] = right[k];
        (void)snprintf(difference->trial, sizeof difference->trial, "2 pairs");
        return 0;
    }
    return 1;
}

static void put_elements(void *array, enum rope_kernel_dtype type, int interleaved)
{
    for (size_t k = 0; k < N; k++)
        rope_put_bits(array, sizes[type], place_of(interleaved, k), elements[type][k]);
}

/* Numbers as the reals of a type. */
static const void *reals(enum rope_kernel_dtype type, const double numbers[N], float room[N])
{
    if (type == RK_F64)
        return numbers;
    for (size_t i = 0; i < N; i++)
        room[i] = (float)numbers[i];
    return room;
}

/* One head of one token. */
static struct rope_rotate_args one_head(const struct room *src, struct room *dst, const void *cos,
                                        enum rope_kernel_dtype type)
{
    return (struct rope_rotate_args){
        .src = src->bytes,
        .dst = dst->bytes,
        .heads = 1,
        .tokens = 1,
        .pairs = PAIRS,
        .src_half = PAIRS,
        .dst_half = PAIRS,
        .cos = cos,
        .sin = (const char *)cos + PAIRS * (type == RK_F64 ? sizeof(double) : sizeof(float))};
}

int rope_known_rotates(const struct rope_kernels *tested, int arith, int pairing,
                       enum rope_kernel_dtype type, struct rope_difference *difference)
{
    struct room src, dst;
    float narrow[N];
    blank(&dst);
    put_elements(src.bytes, type, pairing / 2);
    const struct rope_rotate_args args = one_head(&src, &dst, reals(type, row, narrow), type);
    tested->rotate[arith][pairing][type](&args);
    return are_right(&dst, type, pairing % 2, rotated[arith][type], 0, difference);
}

int rope_known_takes_turns(const struct rope_kernels *tested, int pairing,
                           struct rope_difference *difference)
{
    struct room src, dst[2];
    float narrow[N];
    const void *const cos = reals(RK_F32, row, narrow);
    blank(&dst[0]);
    blank(&dst[1]);
    put_elements(src.bytes, RK_F32, pairing);
    const struct rope_rotate_args q = one_head(&src, &dst[0], cos, RK_F32);
    const struct rope_rotate_args k = one_head(&src, &dst[1], cos, RK_F32);
    tested->turns[pairing](&q, &k);
    return are_right(&dst[0], RK_F32, pairing, rotated[RK_FUSED][RK_F32], 0, difference) &&
           are_right(&dst[1], RK_F32, pairing, rotated[RK_FUSED][RK_F32], 0, difference);
}

int rope_known_makes_rows(const struct rope_kernels *tested, int kind, enum rope_kernel_dtype type,
                          struct rope_difference *difference)
{
    struct room room;
    rope_rows_fn *const *const slots[ROWS] = {tested->rows, tested->direct, tested->direct_f32};
    /* an f64 row straight from its angle may be 1 ulp or 4e-16 off */
    const uint64_t units = kind != PRODUCT && type == RK_F64 ? 3 : 0;
    for (int in_pairs = 0; in_pairs < 2; in_pairs++) {
        blank(&room);
        const struct rope_rows_args args = {.cos = room.bytes,
                                            .sin = room.bytes + PAIRS * sizes[type],
                                            .layout = in_pairs ? RK_PAIRS : RK_SEPARATE,
                                            .pairs = PAIRS,
                                            .cos_scale = kind == PRODUCT ? scale[0] : 1.0,
                                            .sin_scale = kind == PRODUCT ? scale[1] : 1.0,
                                            .factors = 2,
                                            .table_cos = {row, second},
                                            .table_sin = {row + PAIRS, second + PAIRS},
                                            .position = position[kind == DIRECT_F32],
                                            .turns_hi = turns_hi,
                                            .turns_lo = turns_lo,
                                            .freq = freq};
        slots[kind][type](&args);
        if (!are_right(&room, type, in_pairs, rows[kind][type], units, difference))
            return 0;
    }
    return 1;
}

int rope_known_makes_run(const struct rope_kernels *tested, enum rope_kernel_dtype type,
                         struct rope_difference *difference)
{
    struct room room;
    blank(&room);
    const struct rope_run_args args = {.cos = room.bytes,
                                       .sin = room.bytes + PAIRS * sizes[type],
                                       .pairs = PAIRS,
                                       .rows = 1,
                                       .sin_at = PAIRS,
                                       .fine = {row},
                                       .coarse = {second},
                                       .cos_scale = scale[0],
                                       .sin_scale = {scale[1]}};
    tested->run[type](&args);
    return are_right(&room, type, 0, rows[PRODUCT][type], 0, difference);
}

int rope_known_adds(const struct rope_kernels *tested, enum rope_kernel_dtype type,
                    struct rope_difference *difference)
{
    struct room src, dst;
    float narrow[2][N];
    put_elements(src.bytes, type, 0);
    for (int with_factor = 0; with_factor < 2; with_factor++) {
        blank(&dst);
        const struct rope_add_args args = {.src = src.bytes,
                                           .dst = dst.bytes,
                                           .row = reals(type, row, narrow[0]),
                                           .factor =
                                               with_factor ? reals(type, second, narrow[1]) : NULL,
                                           .n = N};
        tested->add[type](&args);
        if (!are_right(&dst, type, 0, added[with_factor][type], 0, difference))
            return 0;
    }
    return 1;
}

/* The elements have the same values in all types. */
int rope_known_widens(const struct rope_kernels *tested, enum rope_kernel_dtype type,
                      struct rope_difference *difference)
{
    struct room src, dst;
    blank(&dst);
    put_elements(src.bytes, type, 0);
    tested->widen[type]((float *)(void *)dst.bytes, src.bytes, 1, N);
    return are_right(&dst, RK_F32, 0, elements[RK_F32], 0, difference);
}

int rope_known_makes_powers(const struct rope_kernels *tested, struct rope_difference *difference)
{
    struct room room;
    double z[2][N];
    blank(&room);
    memcpy(z[0], row, sizeof row);
    memcpy(z[1], low, sizeof low);
    double *const table = (double *)(void *)room.bytes;
    const struct rope_powers_args args = {.table_cos = table,
                                          .table_sin = table + PAIRS,
                                          .row_stride = N,
                                          .rows = POWERS,
                                          .pairs = PAIRS,
                                          .re_hi = z[0],
                                          .re_lo = z[1],
                                          .im_hi = z[0] + PAIRS,
                                          .im_lo = z[1] + PAIRS};
    tested->powers(&args);
    for (size_t k = 0; k < POWERS; k++) {
        struct room one;
        for (size_t i = 0; i < N; i++) {
            const double value = table[k * N + i] + 0.0; /* of -0: 0, either is right */
            memcpy(one.bytes + i * sizeof value, &value, sizeof value);
        }
        if (!are_right(&one, RK_F64, 0, powers[k], 0, difference))
            return 0;
    }
    return 1;
}
