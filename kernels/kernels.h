/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door between src/ and kernels/: one table of functions per instruction set and the contract
 * of each slot. Kernels see pointers and counts that were checked before; they know no plan, no
 * status and no public type.
 *
 * Words used below.  An "element" has the dtype of the slot; a "real" is the type that computes:
 * f32 for f32, f16 and bf16 elements, f64 for f64.  All slots give the same bits in every set (NaN
 * only as NaN-ness), read and write exactly what their contract says, and need the alignment of the
 * element type only, unless said otherwise.
 */
#ifndef ROPE_KERNELS_H
#define ROPE_KERNELS_H

#include <stddef.h>

/* First index of most slots. */
enum rope_kernel_dtype { RK_F32, RK_F64, RK_F16, RK_BF16, RK_DTYPES };

/* Pairing of source and destination; RK_HALF and RK_INTERLEAVED combine as 2 * source +
 * destination. */
enum rope_kernel_pairing { RK_HALF, RK_INTERLEAVED, RK_PAIRINGS = 4 };

enum rope_kernel_arith { RK_FUSED, RK_EAGER, RK_UNFUSED, RK_ARITHS };

/* The most pairs that one call of a rotate slot takes; wider rows are cut by the caller. */
enum { RK_MAX_PAIRS = 256 };

/*
 * Some tokens, all their heads: pairs (x, y) -> (x c - y s, y c + x s).
 *   fused: fma(x, c, -(y s)), fma(x, s, y c) in reals, rounded once on store
 *   eager: both products and the sum rounded to the element type
 *   unfused: both products and the sum in reals, rounded once on store
 * dst may equal src when both pairings are equal; else the heads must not overlap.
 */
struct rope_rotate_args {
    const void *src; /* first element of the first pair of the first head */
    void *dst;
    ptrdiff_t src_stride; /* bytes from head to head */
    ptrdiff_t dst_stride;
    size_t heads;
    size_t tokens;
    ptrdiff_t src_step; /* bytes from token to token */
    ptrdiff_t dst_step;
    ptrdiff_t row_step; /* bytes from one token's row to the next one's, in cos and in sin */
    size_t pairs;       /* <= RK_MAX_PAIRS */
    size_t src_half;    /* half-split source: elements from x to y */
    size_t dst_half;    /* half-split destination: elements from x to y */
    /* bytes from a head to one to ask the caches for; 0: none.  A hint: the address need not exist */
    ptrdiff_t ahead;
    /* write past the caches, a hint too: dst, its stride and step are then multiples of 64 bytes, and so are
       the bytes of `pairs` elements; call fence after the last token */
    int stream;
    const void *cos; /* reals[pairs], of the first token */
    const void *sin;
};
typedef void rope_rotate_fn(const struct rope_rotate_args *args);

/*
 * Rotates the f32 heads of two tensors, fused, token by token.  Of `second` only src, dst, their strides and
 * steps, heads and ahead are read; tokens, rows and widths are those of `first`.  stream is 0.  Each tensor is
 * as for a rotate slot, and no head that is written overlaps a head of the other.
 */
typedef void rope_turns_fn(const struct rope_rotate_args *first,
                           const struct rope_rotate_args *second);

/*
 * How the two results of a rows slot are laid out.  Results are rounded once to the element type;
 * bf16 results below 2^-126 in magnitude may be rounded a second time, off by at most 2^-150.
 */
enum rope_kernel_layout {
    RK_SEPARATE, /* cos[i] and sin[i] */
    RK_PAIRS,    /* cos[2 i], cos[2 i + 1] = cosine, sine; sin unused */
    RK_DUP_HALF, /* as separate, and again dup elements further on */
    RK_DUP_PAIRS /* each value twice: cos[2 i] = cos[2 i + 1], and sin alike */
};

/*
 * One row: entries 0..pairs-1 of cos_scale cos(angle) and sin_scale sin(angle).
 *
 * rows:   the angle is a sum of angles whose cosines and sines stand in tables: the complex product
 * of `factors` (1 to 4) table rows, the last two first, then each by the one before it. direct: the
 * angle is `position` times turns_hi[i] + turns_lo[i] turns, reduced and evaluated at once.
 * direct_f32: the angle is (f32)(position * freq[i]) radians; position and freq[i] are f32 values.
 * |position| times the largest frequency stays below 2^51 radians.
 */
struct rope_rows_mix;
struct rope_rows_args {
    void *cos;
    void *sin;
    enum rope_kernel_layout layout;
    int stream; /* separate layout only: write past the caches.  cos and sin are then 64-byte
                   aligned and pairs fill whole 64-byte lines; call fence after the last row */
    size_t dup; /* RK_DUP_HALF */
    size_t pairs;
    double cos_scale;
    double sin_scale;
    size_t factors;             /* rows */
    const double *table_cos[4]; /* rows */
    const double *table_sin[4];
    double position;        /* direct, direct_f32 */
    const double *turns_hi; /* direct */
    const double *turns_lo;
    const double *freq; /* direct_f32 */
    const struct rope_rows_mix
        *mix; /* several axes, which take the place of sin_scale, table_* and position; or NULL */
};

/*
 * A run of rows as slot `rows` makes them from two factors, in the separate layout: nearly all rows are
 * these.  Row r is fine[r] times coarse[r], whose sines stand sin_at doubles behind their cosines; then
 * times cos_scale and sin_scale[r], unless `unit` says that all of these are 1.
 */
enum { RK_RUN = 16 };
struct rope_run_args {
    void *cos; /* of row 0 */
    void *sin;
    ptrdiff_t step; /* bytes from row to row */
    int stream;     /* as in rope_rows_args */
    int unit;
    size_t pairs;
    size_t rows; /* 1..RK_RUN */
    size_t sin_at;
    const double *fine[RK_RUN];
    const double *coarse[RK_RUN];
    double cos_scale;
    double sin_scale[RK_RUN];
};
typedef void rope_run_fn(const struct rope_run_args *args);

/*
 * Positions of several axes: each pair takes the tables, the sign of the sine and the position of
 * its own axis.  The arithmetic of an entry is that of one axis, so equal positions on all axes
 * give the bits of a row without mix.
 */
enum { RK_MAX_AXES = 8, RK_AXES_GROUP = 8 };
struct rope_rows_mix {
    size_t axes;
    size_t
        /* the plan's pair that entry 0 is; of the pointers only `present` counts from pair 0 */
        first;
    const unsigned char
        *present;        /* bit a of present[pair / RK_AXES_GROUP]: axis a occurs in this group */
    const double *masks; /* masks[a * mask_stride + i] < 0 where entry i takes axis a, else > 0 */
    size_t mask_stride;
    double sin_scale[RK_MAX_AXES];
    double position[RK_MAX_AXES];
    const double *table_cos[RK_MAX_AXES][4];
    const double *table_sin[RK_MAX_AXES][4];
};
typedef void rope_rows_fn(const struct rope_rows_args *args);

/* Widens n f16 or bf16 elements, which lie `step` (1 or 2) apart, to f32. */
typedef void rope_widen_fn(float *dst, const void *src, size_t step, size_t n);

/*
 * Fills a table with powers of a rotation: table row k, pair i becomes z_i^k rounded to f64, for k
 * = 0..rows-1, z_i = step of pair i in double-double (re = re_hi + re_lo, and im).  Row k starts k
 * * row_stride doubles behind table_cos and table_sin.  On return step holds z_i^rows, the step of
 * the next coarser table.
 */
struct rope_powers_args {
    double *table_cos;
    double *table_sin;
    size_t row_stride;
    size_t rows;
    size_t pairs;
    double *re_hi, *re_lo, *im_hi, *im_lo; /* [pairs] each; in and out */
};
typedef void rope_powers_fn(const struct rope_powers_args *args);

/*
 * dst[i] = src[i] + row[i], times factor[i] unless factor is NULL, in reals, rounded once on store.
 * dst may equal src, else they must not overlap.
 */
struct rope_add_args {
    const void *src;
    void *dst;
    const void *row;    /* reals[n] */
    const void *factor; /* reals[n] or NULL */
    size_t n;
};
typedef void rope_add_fn(const struct rope_add_args *args);

struct rope_kernels {
    rope_rotate_fn *rotate[RK_ARITHS][RK_PAIRINGS][RK_DTYPES];
    rope_turns_fn *turns[2]; /* half, interleaved; NULL where two rotate calls are as fast */
    rope_rows_fn *rows[RK_DTYPES];
    rope_run_fn *run[RK_DTYPES]; /* NULL for f64 */
    rope_rows_fn *direct[RK_DTYPES];
    rope_rows_fn *direct_f32[RK_DTYPES];
    rope_widen_fn *widen[RK_DTYPES]; /* f16 and bf16; NULL for f32 and f64 */
    rope_powers_fn *powers;
    rope_add_fn *add[RK_DTYPES];
    void (*fence)(void); /* orders streamed stores before later stores */
};

/* The sets.  Which of them exist is decided by the build (ROPE_HAVE_*); src/dispatch.c has the
 * list. */
extern const struct rope_kernels rope_kernels_scalar;
extern const struct rope_kernels rope_kernels_scalar_fma; /* x86 with FMA */
extern const struct rope_kernels rope_kernels_avx2;
extern const struct rope_kernels rope_kernels_avx512;
extern const struct rope_kernels rope_kernels_avx512_bf16; /* with AVX512_BF16 */
extern const struct rope_kernels rope_kernels_neon;

#endif
