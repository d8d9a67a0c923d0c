/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every public call needs at its door: reading descriptors by struct_size, error messages, and memory regions.
 * Decides nothing about rotations.
 */
#ifndef ROPE_CHECK_H
#define ROPE_CHECK_H

#include "rope/rope.h"

/* Where the caller wants its line of text; text may be NULL. */
struct rope_message {
    char *text;
    size_t size;
};

#if defined(__GNUC__)
#define ROPE_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define ROPE_PRINTF(text, first)
#endif

/* Writes the line and returns status. */
rope_status rope_fail(struct rope_message message, rope_status status, const char *format, ...)
    ROPE_PRINTF(3, 4);

/*
 * The descriptor as this library knows it: `given` itself when the caller's struct has our size, else a copy in `room`,
 * cut or filled with zeros.  NULL when struct_size is below `least` (the size of its first version) or unknown bytes are not
 * zero.  `given` starts with its struct_size.
 */
const void *rope_descriptor(const void *given, void *room, size_t size, size_t least);

/* Bytes of an element, 0 for what is no dtype.  Data types only: f32, f64, f16, bf16. */
size_t rope_dtype_size(rope_dtype dtype);

enum { ROPE_AXES = 3 };

/*
 * A strided set of contiguous runs of `length` bytes: base + sum of index[a] * stride[a], index[a] < count[a].
 * Empty when a count or length is 0.
 */
struct rope_region {
    const char *base;
    size_t length;
    size_t count[ROPE_AXES];
    ptrdiff_t stride[ROPE_AXES]; /* bytes */
    uintptr_t low, high; /* first address and the one behind the last; set by rope_region_measure */
};

/* Sets low and high.  0 if they are no addresses: the extent or the sum overflows. */
int rope_region_measure(struct rope_region *region);

/* Multiplies strides of elements to bytes.  0 on overflow. */
int rope_region_strides(struct rope_region *region, const ptrdiff_t *strides, size_t element);

/* 1 if no two runs of the region share a byte, judged axis by axis: each stride must span the axes below it. */
int rope_region_nests(const struct rope_region *region);

/*
 * 0 if the regions share no byte.  Exact for regions of equal strides (views of one packed buffer, for example); of others
 * only the extents are compared.
 */
int rope_regions_overlap(const struct rope_region *first, const struct rope_region *second);

#endif
