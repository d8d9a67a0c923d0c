/* SPDX-License-Identifier: Apache-2.0 */
/* A job after its checks: all that the walk over its tokens needs.  Internal to src/. */
#ifndef ROPE_JOB_H
#define ROPE_JOB_H

#include "row.h"

enum { ROPE_BATCH, ROPE_TOKEN, ROPE_HEAD }; /* axes of a region */

/* One tensor of a job after its checks. */
struct rope_side {
    size_t heads; /* 0: absent or empty */
    size_t head_bytes;
    size_t slice_bytes; /* offset of the rotated slice */
    size_t element;     /* bytes */
    int in_place;
    rope_rotate_fn *rotate;
    rope_dtype real;     /* ROPE_F32 or ROPE_F64: the type of its rows */
    rope_dtype round[2]; /* rows are rounded to these types, one after the other; 0 = not */
    struct rope_region src, dst;
    /* magnitudes beside m; without has_magnitude nothing of them is read */
    int has_magnitude;
    int power;         /* xPos: 1 multiplies, -1 divides, 0 = none */
    const void *scale; /* of each token, or NULL */
    rope_dtype scale_dtype;
    ptrdiff_t scale_stride[2]; /* elements: ROPE_BATCH, ROPE_TOKEN */
};

/* A job after its checks. */
struct rope_walk {
    const rope_plan *plan; /* may be NULL, with rows */
    const struct rope_kernels *kernels;
    size_t axes; /* descriptors of positions; 0 = rows in order of the tokens */
    const rope_positions *positions[ROPE_AXES_MAX];
    const rope_rows *rows; /* may be NULL, with positions */
    struct rope_message message;
    size_t batch;
    size_t tokens;
    size_t pairs;
    int skip_negative;
    double xpos_center;
    int backwards;        /* rows given: sin counts negative */
    rope_pairing pairing; /* of src */
    rope_pairing to;      /* of dst */
    rope_direction direction;
    double cos_scale, sin_scale; /* of a positive position */
    size_t chunk_pairs;          /* half-split: pairs of a chunk */
    const size_t *runs;          /* pairs to rotate, as [begin, end); the others pass through */
    size_t run_count;
    struct rope_side sides[2];
    /* copies of descriptors of another size */
    rope_job job_room;
    rope_tensor tensor_rooms[2];
    rope_positions positions_room[ROPE_AXES_MAX];
    size_t own_run[2];
    rope_rows rows_room;
};

/* 1 if the tensor says that it is rotated in place: dst is src, its strides those of src or all 0. */
static inline int rope_tensor_is_in_place(const rope_tensor *tensor)
{
    const ptrdiff_t any =
        tensor->dst_stride_batch | tensor->dst_stride_token | tensor->dst_stride_head;
    return tensor->src == tensor->dst &&
           (any == 0 || (tensor->src_stride_batch == tensor->dst_stride_batch &&
                         tensor->src_stride_token == tensor->dst_stride_token &&
                         tensor->src_stride_head == tensor->dst_stride_head));
}

/* The general way of a rotation, which takes every job. */
rope_status rope_rotate_any(const rope_plan *plan, const rope_job *job, size_t part, size_t parts);

/* Checks everything before the first write and fills *walk; plan may be NULL. */
rope_status rope_walk_set(struct rope_walk *walk, const rope_plan *plan, const rope_job *job);

/* 1 if ROPE_SKIP_NEGATIVE leaves the token out: by its place on axis 0, whatever the others are. */
int rope_is_left_out(const struct rope_walk *walk, size_t batch, size_t token);

/* The number of the caller's row that a token takes on an axis; any where it is left out. */
int64_t rope_row_number(const struct rope_walk *walk, size_t axis, size_t batch, size_t token);

/* Entry 0 of a row in one of the caller's arrays. */
const char *rope_row_at(const rope_rows *rows, const void *array, size_t pairs, size_t batch,
                        int64_t row);

#endif
