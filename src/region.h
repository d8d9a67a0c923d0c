/* SPDX-License-Identifier: Apache-2.0 */
/* Strided regions of memory: their extent, and whether they share bytes.  Every call passes here,
 * so the common answers are inline and the rest stands in region.c. */
#ifndef ROPE_REGION_H
#define ROPE_REGION_H

#include <stddef.h>
#include <stdint.h>

enum { ROPE_AXES = 3 };

/*
 * A strided set of contiguous runs of `length` bytes: base + sum of index[a] * stride[a], index[a]
 * < count[a]. Empty when a count or length is 0.
 */
struct rope_region {
    const char *base;
    size_t length;
    size_t count[ROPE_AXES];
    ptrdiff_t stride[ROPE_AXES]; /* bytes */
    uintptr_t low, high; /* first address and the one behind the last; set by rope_region_measure */
};

/* 1 when a * b * c elements cannot be addressed. */
static inline int rope_is_too_many(size_t a, size_t b, size_t c)
{
    const size_t most = PTRDIFF_MAX / 8;
    return (a != 0 && b > most / a) || (a * b != 0 && c > most / (a * b));
}

/* Three such numbers multiply to less than 2^57. */
static inline int rope_is_small(size_t value)
{
    return value < (size_t)1 << 19;
}

/* For the functions below. */
int rope_region_strides_slow(struct rope_region *region, const ptrdiff_t *strides, size_t element);
int rope_region_measure_slow(struct rope_region *region);
int rope_region_nests_slow(const struct rope_region *region);
int rope_regions_overlap_slow(const struct rope_region *first, const struct rope_region *second);

/* Counts and strides (bytes) whose products and sums cannot overflow 64 bits. */
static inline int rope_is_modest(size_t count, ptrdiff_t stride)
{
    return sizeof(ptrdiff_t) == 8 && count - 1 < (size_t)1 << 30 && stride < (ptrdiff_t)1 << 30 &&
           stride > -((ptrdiff_t)1 << 30);
}

static inline int rope_region_is_modest(const struct rope_region *region, const ptrdiff_t *strides)
{
    return rope_is_modest(region->count[0], strides[0]) &&
           rope_is_modest(region->count[1], strides[1]) &&
           rope_is_modest(region->count[2], strides[2]);
}

/* Sets the strides, given in elements; those of axes with one index become 0.  0 on overflow. */
static inline int rope_region_strides(struct rope_region *region, const ptrdiff_t *strides,
                                      size_t element)
{
    if (!rope_region_is_modest(region, strides))
        return rope_region_strides_slow(region, strides, element);
    for (int axis = 0; axis < ROPE_AXES; axis++)
        region->stride[axis] = region->count[axis] == 1 ? 0 : strides[axis] * (ptrdiff_t)element;
    return 1;
}

/* Sets low and high.  0 if they are no addresses: the extent or the sum overflows. */
static inline int rope_region_measure(struct rope_region *region)
{
    const uintptr_t base = (uintptr_t)region->base;
    if (!rope_region_is_modest(region, region->stride) || (uint64_t)region->length >> 40 != 0 ||
        (uint64_t)base >> 63 != 0)
        return rope_region_measure_slow(region);
    ptrdiff_t below = 0, above = (ptrdiff_t)region->length;
    for (int axis = 0; axis < ROPE_AXES; axis++) {
        const ptrdiff_t reach = (ptrdiff_t)(region->count[axis] - 1) * region->stride[axis];
        below += reach < 0 ? reach : 0;
        above += reach < 0 ? 0 : reach;
    }
    region->low = base - (uintptr_t)-below;
    region->high = base + (uintptr_t)above;
    return (uintptr_t)-below <= base;
}

/*
 * 1 if no two runs of the region share a byte, judged axis by axis: each stride must span the axes
 * below it.
 */
static inline int rope_region_nests(const struct rope_region *region)
{
    size_t extent = region->length; /* the usual order: the last axis is the innermost */
    for (int axis = ROPE_AXES - 1; axis >= 0; axis--) {
        if (region->count[axis] == 1)
            continue;
        if (!rope_is_modest(region->count[axis], region->stride[axis]) ||
            region->stride[axis] < 0 || (size_t)region->stride[axis] < extent)
            return rope_region_nests_slow(region);
        extent += (size_t)region->stride[axis] * (region->count[axis] - 1);
    }
    return 1;
}

/*
 * 0 if the regions share no byte.  Exact for regions of equal strides (views of one packed buffer,
 * for example); of others only the extents are compared.
 */
static inline int rope_regions_overlap(const struct rope_region *first,
                                       const struct rope_region *second)
{
    return first->high > second->low && second->high > first->low &&
           rope_regions_overlap_slow(first, second);
}

/* 1 if both have the same runs in the same order, their counts and lengths being equal. */
static inline int rope_regions_coincide(const struct rope_region *first,
                                        const struct rope_region *second)
{
    return first->base == second->base && first->stride[0] == second->stride[0] &&
           first->stride[1] == second->stride[1] && first->stride[2] == second->stride[2];
}

#endif
