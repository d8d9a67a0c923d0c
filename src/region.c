/* SPDX-License-Identifier: Apache-2.0 */
/* Strided regions of memory, in full: any count, stride and order of axes, without overflow. */
#include "region.h"

static size_t magnitude(ptrdiff_t stride)
{
    return stride < 0 ? (size_t)0 - (size_t)stride : (size_t)stride;
}

static int is_empty(const struct rope_region *region)
{
    return region->length == 0 || region->count[0] == 0 || region->count[1] == 0 ||
           region->count[2] == 0;
}

/* How far an axis reaches, in bytes; 0 on overflow past PTRDIFF_MAX. */
static int axis_reach(size_t count, ptrdiff_t stride, size_t *reach)
{
    const size_t step = magnitude(stride), last = count - 1;
    if (last != 0 && step > (size_t)PTRDIFF_MAX / last)
        return 0;
    *reach = last * step;
    return 1;
}

int rope_region_strides_slow(struct rope_region *region, const ptrdiff_t *strides, size_t element)
{
    for (int axis = 0; axis < ROPE_AXES; axis++) {
        if (region->count[axis] <= 1) { /* never used, whatever it says */
            region->stride[axis] = 0;
        } else if (magnitude(strides[axis]) > (size_t)PTRDIFF_MAX / 8) {
            return 0;
        } else {
            region->stride[axis] = strides[axis] * (ptrdiff_t)element;
        }
    }
    return 1;
}

int rope_region_measure_slow(struct rope_region *region)
{
    region->low = region->high = (uintptr_t)region->base;
    if (is_empty(region))
        return 1;
    size_t below = 0, above = 0, reach = 0;
    for (int axis = 0; axis < ROPE_AXES; axis++) {
        if (region->count[axis] == 1)
            continue;
        if (!axis_reach(region->count[axis], region->stride[axis], &reach))
            return 0;
        size_t *side = region->stride[axis] < 0 ? &below : &above;
        if (reach > (size_t)PTRDIFF_MAX - *side)
            return 0;
        *side += reach;
    }
    if (region->length > (size_t)PTRDIFF_MAX - above)
        return 0;
    above += region->length;
    if (below > region->low || above > UINTPTR_MAX - region->low)
        return 0;
    region->low -= below;
    region->high += above;
    return 1;
}

/* Axes of more than one index, the largest stride first. */
static int sorted_axes(const size_t *count, const ptrdiff_t *stride, int *axes)
{
    int used = 0;
    for (int axis = 0; axis < ROPE_AXES; axis++) {
        if (count[axis] <= 1)
            continue;
        int at = used++;
        for (; at > 0 && magnitude(stride[axes[at - 1]]) < magnitude(stride[axis]); at--)
            axes[at] = axes[at - 1];
        axes[at] = axis;
    }
    return used;
}

int rope_region_nests_slow(const struct rope_region *region)
{
    if (is_empty(region))
        return 1;
    int axes[ROPE_AXES];
    const int used = sorted_axes(region->count, region->stride, axes);
    size_t extent = region->length;
    for (int at = used - 1; at >= 0; at--) {
        const size_t step = magnitude(region->stride[axes[at]]);
        if (step < extent)
            return 0;
        extent += step * (region->count[axes[at]] - 1);
    }
    return 1;
}

/* A search for index differences that bring two regions of equal strides onto each other. */
struct search {
    int axes;
    ptrdiff_t stride[ROPE_AXES]; /* > 0, largest first */
    ptrdiff_t lowest[ROPE_AXES]; /* smallest and largest index difference */
    ptrdiff_t highest[ROPE_AXES];
    ptrdiff_t least, most; /* the byte offset must end between these */
    int budget;
};

static ptrdiff_t divide_down(ptrdiff_t value, ptrdiff_t divisor)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a stride of 0 ends the search before */
    const ptrdiff_t quotient = value / divisor;
    return value % divisor < 0 ? quotient - 1 : quotient;
}

static int search_from(struct search *s, int axis, ptrdiff_t offset)
{
    if (axis == s->axes)
        return offset >= s->least && offset <= s->most;
    ptrdiff_t down = 0, up = 0; /* how far the axes behind this one can move the offset */
    for (int a = axis + 1; a < s->axes; a++) {
        down += s->lowest[a] * s->stride[a];
        up += s->highest[a] * s->stride[a];
    }
    const ptrdiff_t stride = s->stride[axis];
    ptrdiff_t first = -divide_down(-(s->least - up - offset), stride);
    ptrdiff_t last = divide_down(s->most - down - offset, stride);
    first = first < s->lowest[axis] ? s->lowest[axis] : first;
    last = last > s->highest[axis] ? s->highest[axis] : last;
    for (ptrdiff_t difference = first; difference <= last; difference++) {
        if (s->budget-- == 0)
            return 1; /* too tangled to be told apart */
        if (search_from(s, axis + 1, offset + difference * stride))
            return 1;
    }
    return 0;
}

int rope_regions_overlap_slow(const struct rope_region *first, const struct rope_region *second)
{
    if (is_empty(first) || is_empty(second) || first->high <= second->low ||
        second->high <= first->low)
        return 0;

    struct search s = {.budget = 256};
    size_t count[ROPE_AXES];
    ptrdiff_t stride[ROPE_AXES];
    for (int axis = 0; axis < ROPE_AXES; axis++) {
        const size_t n1 = first->count[axis], n2 = second->count[axis];
        if (n1 > 1 && n2 > 1 && first->stride[axis] != second->stride[axis])
            return 1;
        stride[axis] = n1 > 1 ? first->stride[axis] : second->stride[axis];
        count[axis] = n1 > n2 ? n1 : n2;
        /* offsets stay below twice an extent, which rope_region_measure holds under PTRDIFF_MAX */
        if ((first->high - first->low) > PTRDIFF_MAX / 4 ||
            (second->high - second->low) > PTRDIFF_MAX / 4)
            return 1;
    }
    int axes[ROPE_AXES];
    s.axes = sorted_axes(count, stride, axes);
    for (int at = 0; at < s.axes; at++) {
        const int axis = axes[at];
        const ptrdiff_t more = (ptrdiff_t)first->count[axis] - 1;
        const ptrdiff_t less = (ptrdiff_t)second->count[axis] - 1;
        const int backwards = stride[axis] < 0;
        if (stride[axis] == 0) /* a source that repeats itself */
            return 1;
        s.stride[at] = backwards ? -stride[axis] : stride[axis];
        s.lowest[at] = backwards ? -more : -less;
        s.highest[at] = backwards ? less : more;
    }
    s.least = 1 - (ptrdiff_t)first->length;
    s.most = (ptrdiff_t)second->length - 1;
    const uintptr_t a = (uintptr_t)first->base, b = (uintptr_t)second->base;
    return search_from(&s, 0, a >= b ? (ptrdiff_t)(a - b) : -(ptrdiff_t)(b - a));
}
