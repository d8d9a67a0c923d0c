/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the machine itself can do with the same bytes: the yardsticks of the suite.  Integers only,
 * because a floating-point operation over bytes of another type would meet subnormals.
 */
#ifndef ROPE_BENCH_LIMIT_H
#define ROPE_BENCH_LIMIT_H

#include <cstddef>

/* Memory as a job sees it: `slices` pieces of `bytes`, `stride` bytes apart. */
struct region {
    char *base;
    size_t slices;
    size_t bytes;
    size_t stride;
};

/* One vector width.  Addresses that are written past the caches are multiples of 64. */
struct limits {
    void (*modify)(const region &region);       /* read, add 0, write back */
    void (*fill)(char *dst, size_t bytes);      /* through the caches */
    void (*fill_past)(char *dst, size_t bytes); /* past them */
    void (*copy)(char *dst, const char *src, size_t bytes);
    void (*copy_past)(char *dst, const char *src, size_t bytes);
};

/* The streams with the vectors of that set. */
const limits &limits_of(const char *isa);

extern const limits limits_scalar, limits_avx2, limits_avx512, limits_neon;

#endif
