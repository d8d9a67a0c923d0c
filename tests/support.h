/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests share: repeatable random numbers, memory between guard pages, the element types by
 * their IEEE definition, and comparison of memory images.  Must not use any code of the library but
 * its public header.
 */
#ifndef ROPE_TEST_SUPPORT_H
#define ROPE_TEST_SUPPORT_H

#include "rope/rope.h"

#include <stddef.h>
#include <stdint.h>

/* 1 where a sanitizer is compiled in. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
    __has_feature(thread_sanitizer)
#define TEST_SANITIZED 1
#endif
#endif
#ifndef TEST_SANITIZED
#define TEST_SANITIZED 0
#endif

/* ---- Settings from the environment ---- */

/* ROPE_TEST_SEED, or a fixed number.  Every failure message must contain it. */
uint64_t test_seed(void);

/* 1 if ROPE_TEST_REDUCED is set to anything but 0: an emulator runs the tests, so shapes are few.
 */
int test_reduced(void);

/* Every set that a build can have, with its public name; rope_isa_available() says which can run.
 */
#define TEST_ISAS 4
extern const rope_isa test_isas[TEST_ISAS];

/* Skips the running CMocka test with a line that names the set, if this CPU or build does not have
 * it. */
void test_require_isa(rope_isa isa);

/* The default scheme, everything else 0. */
rope_spec spec_default(size_t head_dim, double theta);

/* The plan of a spec; fails the running CMocka test with the message where there is none. */
rope_plan *plan_from(rope_spec spec);

/* ---- Random numbers (splitmix64); one call to an expression, C leaves the order open ---- */

struct rng {
    uint64_t state;
};
struct rng rng_make(uint64_t stream); /* the stream-th generator of test_seed() */
uint64_t rng_next(struct rng *rng);
size_t rng_below(struct rng *rng, size_t n);    /* 0..n-1 */
size_t rng_maybe(struct rng *rng, size_t n);    /* 0 every second time, else 0..n-1 */
double rng_real(struct rng *rng, double bound); /* -bound..bound */

/* ---- Element types ---- */

/* In the order of rope_kernel_dtype and, plus one, of rope_dtype. */
enum dtype { DT_F32, DT_F64, DT_F16, DT_BF16, DTYPES };

size_t dtype_size(enum dtype type);
const char *dtype_name(enum dtype type);
enum dtype dtype_real(enum dtype type); /* the type that computes: f64 for f64, else f32 */

/* value rounded once, to nearest even, to the type; the value as a double. */
double dtype_round(enum dtype type, double value);

double dtype_load(enum dtype type, const void *array, size_t index);
void dtype_store(enum dtype type, void *array, size_t index, double value);

uint64_t dtype_bits(enum dtype type, const void *array, size_t index);
double dtype_from_bits(enum dtype type, uint64_t bits);

/* Distance of two values of the type in units of the last place; 0 for two NaN, UINT64_MAX for one.
 */
uint64_t dtype_ulps(enum dtype type, double a, double b);

/* Distance to the next value of the type away from zero. */
double dtype_ulp(enum dtype type, double value);

/*
 * Debian's Bochs 2.7 rounds exact ties of the hardware f32 -> f16 conversion away from zero.  The
 * probe executes that instruction and tells; where it says 1, tests of the sets that use the
 * instruction call test_f16_ties_away(1) and the types above follow the emulator for ties, and for
 * nothing else.
 */
int test_f16_ties_probe(void);
void test_f16_ties_away(int away);

/* Calls test_f16_ties_away() as the probe and the set demand. */
void test_f16_ties_for(rope_isa isa);

/*
 * Debian's Bochs 2.7 also loses what an f64 fused multiply-add leaves when the sum cancels the
 * product to below 2^-62 of it: the result is 0.  1 if this CPU does that.  Exact products are then
 * a little off, and tests say so where they skip or allow for it.
 */
int test_fma_loses_bits(void);

/* What an array is filled with. */
enum fill {
    FILL_PLAIN,   /* -4..4 */
    FILL_SPECIAL, /* zeros, subnormals, smallest, largest, infinities, NaN and neighbours of 1 */
    FILL_BITS,    /* any bit pattern */
    FILLS
};
double rng_element(struct rng *rng, enum dtype type, enum fill fill);

/* ---- Memory between guard pages ---- */

/* `size` bytes of whole pages with an inaccessible page on both sides. */
struct guarded {
    unsigned char *base;
    size_t size;
};
struct guarded guarded_make(size_t at_least);
void guarded_free(struct guarded *memory);

/* `bytes` bytes that end `gap` bytes before the rear guard page, or start `gap` bytes behind the
 * front one. */
void *guarded_end(const struct guarded *memory, size_t bytes, size_t gap);
void *guarded_start(const struct guarded *memory, size_t bytes, size_t gap);

/* ---- Images ---- */

/* Fills with a pattern that is no NaN in any type. */
void canary_fill(void *memory, size_t bytes);

/*
 * First index at which n elements differ in their bits, or n.  Where loose is NULL or loose[i] is
 * not 0, two NaN are equal whatever their bits.
 */
size_t image_differs(enum dtype type, const void *expected, const void *actual, size_t n,
                     const unsigned char *loose);

/* FNV-1a of bytes, to compare runs with each other; NaN must be made equal by the caller. */
uint64_t checksum_add(uint64_t sum, const void *bytes, size_t n);
#define CHECKSUM_START 0xcbf29ce484222325u

#endif
