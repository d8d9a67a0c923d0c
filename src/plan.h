/* SPDX-License-Identifier: Apache-2.0 */
/* The plan, and the row of one position made from it.  Internal to src/. */
#ifndef ROPE_PLAN_H
#define ROPE_PLAN_H

#include "check.h"
#include "kernels.h"
#include "region.h"
#include "scheme.h"

/*
 * |p| < 2^31 is cut into four digits, the finest first; each has a table of rows, and the row of p
 * is the complex product of the rows of its digits.  Two factors serve |p| < 2^20.  Sizes: the two
 * tables that a context of 131,072 positions touches (512 + 256 rows of 64 pairs, 768 KiB) stay in
 * an L2 of 1 MiB.
 */
enum { ROPE_LEVELS = 4 };
static const unsigned char rope_level_bits[ROPE_LEVELS] = {9, 11, 6, 5};

struct rope_plan {
    const struct rope_kernels *kernels;
    rope_isa isa;
    rope_scheme scheme;
    rope_pairing pairing;
    rope_angle angle;
    size_t head_dim;
    size_t rotary_dim;
    size_t rotary_offset;
    size_t pairs;
    struct rope_resolved resolved;
    /* All below point into one block of memory; pairs are padded to whole 64-byte lines. */
    size_t table_bytes;
    size_t
        row_stride; /* doubles from row to row of a table; sin starts row_stride / 2 behind cos */
    double *level[ROPE_LEVELS];  /* NULL under ROPE_ANGLE_F32 */
    double *freq_hi, *freq_lo;   /* f_i */
    double *turns_hi, *turns_lo; /* f_i / (2 pi) */
    double *freq_f32;            /* f_i rounded to f32 */
    /* Several axes: the axis of each pair, and the same as rope_rows_mix wants it. */
    size_t axes;
    unsigned char *pair_axis;
    unsigned char *present;
    double *masks; /* [axes][row_stride / 2] */
    /*
     * Pairs that turn at all, as runs of [begin, end): a pair of frequency 0 passes through exactly
     * where nothing but its angle of 0 would act on it.
     */
    size_t *runs;
    size_t run_count;
    size_t
        /*
         * half-split: pairs of a chunk (rope_spec.pairing_chunk / 2); all pairs if there is but one
         */
        chunk_pairs;
    size_t rows_at_once; /* by usual.c; 0: this plan is not one for it */
    /* xPos: log2(z_i) / S.  xpos_base 0: none */
    double xpos_base, xpos_gamma;
    double *xpos_hi, *xpos_lo;
    void *memory;
};

/* A position: whole numbers as sign and magnitude, any as f64. */
struct rope_place {
    double value;
    uint32_t magnitude;
    unsigned char negative;
    unsigned char whole;
};

/*
 * Reads an array of `axes` descriptors, which lie the struct_size of the first apart, into
 * pointers; room is for copies.
 */
rope_status rope_positions_read(const rope_positions *given, size_t axes,
                                const rope_positions **positions, rope_positions *room,
                                struct rope_message message);

/*
 * Checks a descriptor of positions for [batch, tokens]: fields, range of every position (row
 * numbers in 0..row_count-1 if row_count is not NULL, but for tokens whose number in `leave_out`,
 * checked before or the same, is negative), and sets *region to the memory that holds them.
 */
rope_status rope_positions_check(const rope_positions *positions, size_t batch, size_t tokens,
                                 const size_t *row_count, const rope_positions *leave_out,
                                 struct rope_region *region, struct rope_message message);

/* cos and sin scales of a direction: m, 1/m or 1, and the sign of the angle. */
void rope_direction_scales(const rope_plan *plan, rope_direction direction, double *cos_scale,
                           double *sin_scale);

/* Checks a rows descriptor but for its memory: dtype, layout, arrays. */
rope_status rope_rows_check(const rope_rows *rows, struct rope_message message);

/* Elements of a dense row, and of what one array of it spans. */
size_t rope_rows_width(const rope_rows *rows, size_t pairs);

/* The memory of `count` rows in `batch` blocks; second = 1 for the second array. */
rope_status rope_rows_region(const rope_rows *rows, size_t pairs, size_t batch, size_t count,
                             int second, struct rope_region *region, struct rope_message message);

/* Elements from row to row. */
ptrdiff_t rope_rows_stride(const rope_rows *rows, size_t pairs);

static inline enum rope_kernel_dtype rope_kernel_dtype_of(rope_dtype dtype)
{
    return (enum rope_kernel_dtype)(dtype - ROPE_F32); /* both lists: f32, f64, f16, bf16 */
}

static inline int rope_has_two_arrays(rope_rows_layout layout)
{
    return layout != ROPE_ROWS_PACKED && layout != ROPE_ROWS_PAIRS;
}

#endif
