/* SPDX-License-Identifier: Apache-2.0 */
/* Implements support.h.  Must not use any code of the library but its public header. */
#define _DEFAULT_SOURCE

#include "support.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- Settings ---- */

uint64_t test_seed(void)
{
    const char *text = getenv("ROPE_TEST_SEED");
    return text && *text ? strtoull(text, NULL, 0) : 0x524f5045;
}

int test_reduced(void)
{
    const char *text = getenv("ROPE_TEST_REDUCED");
    return text && *text && strcmp(text, "0") != 0;
}

const rope_isa test_isas[TEST_ISAS] = {ROPE_ISA_SCALAR, ROPE_ISA_AVX2, ROPE_ISA_AVX512,
                                       ROPE_ISA_NEON};

void test_require_isa(rope_isa isa)
{
    if (!rope_isa_available(isa)) {
        print_message("skipped: the set %s cannot run here\n", rope_isa_name(isa));
        skip();
    }
}

/* ---- Plans ---- */

rope_spec spec_default(size_t head_dim, double theta)
{
    rope_spec spec = ROPE_SPEC_INIT;
    spec.head_dim = head_dim;
    spec.theta = theta;
    return spec;
}

rope_plan *plan_from(rope_spec spec)
{
    char message[200] = "";
    rope_plan *plan;
    spec.message = message;
    spec.message_size = sizeof message;
    if (rope_plan_create(&spec, &plan) != ROPE_OK)
        fail_msg("plan refused: %s", message);
    return plan;
}

/* ---- Random numbers ---- */

struct rng rng_make(uint64_t stream)
{
    struct rng rng = {test_seed() ^ (stream * 0xd1342543de82ef95u)};
    rng_next(&rng);
    return rng;
}

/* Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014, figure 17 with
 * mix 13 of Stafford. */
uint64_t rng_next(struct rng *rng)
{
    uint64_t z = rng->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

size_t rng_below(struct rng *rng, size_t n)
{
    return (size_t)(rng_next(rng) % n);
}

size_t rng_maybe(struct rng *rng, size_t n)
{
    return rng_below(rng, 2) ? rng_below(rng, n) : 0;
}

double rng_real(struct rng *rng, double bound)
{
    return bound * ((double)(rng_next(rng) >> 11) * 0x1p-52 - 1.0);
}

/* ---- Element types ---- */

/* IEEE 754-2019, table 3.5: precision with the hidden bit, and the largest exponent. */
static const struct {
    const char *name;
    size_t size;
    int precision;
    int emax;
} formats[DTYPES] = {
    {"f32", 4, 24, 127}, {"f64", 8, 53, 1023}, {"f16", 2, 11, 15}, {"bf16", 2, 8, 127}};

static int ties_away;

size_t dtype_size(enum dtype type)
{
    return formats[type].size;
}

const char *dtype_name(enum dtype type)
{
    return formats[type].name;
}

enum dtype dtype_real(enum dtype type)
{
    return type == DT_F64 ? DT_F64 : DT_F32;
}

/* 2^exponent for exponents of normal f64 numbers; ldexp is slow, above all in emulators. */
static double power_of_2(int exponent)
{
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Exponent of the last place of a finite value: of its binade, or of the subnormals. */
static int last_place(enum dtype type, double value)
{
    const int precision = formats[type].precision;
    const int smallest = 1 - formats[type].emax - (precision - 1);
    int exponent = 0;
    if (value == 0.0)
        return smallest;
    frexp(value, &exponent);
    return exponent - precision > smallest ? exponent - precision : smallest;
}

double dtype_round(enum dtype type, double value)
{
    if (type == DT_F64 || isnan(value) || isinf(value) || value == 0.0)
        return value;
    if (type == DT_F32)
        return (float)value; /* C11, annex F: the same rounding */
    const int place = last_place(type, value);
    const double scaled = fabs(value) * power_of_2(-place); /* exact, below 2^24 */
    double whole = floor(scaled);
    const double rest = scaled - whole;
    const int odd = (int)whole & 1;
    if (rest > 0.5 || (rest == 0.5 && (odd || (type == DT_F16 && ties_away))))
        whole += 1.0;
    double rounded = whole * power_of_2(place);
    if (rounded >= power_of_2(formats[type].emax + 1))
        rounded = INFINITY;
    return copysign(rounded, value);
}

double dtype_from_bits(enum dtype type, uint64_t bits)
{
    const int fraction_bits = formats[type].precision - 1;
    const int exponent_bits = (int)(8 * formats[type].size) - 1 - fraction_bits;
    const uint64_t hidden = UINT64_C(1) << fraction_bits;
    const uint64_t fraction = bits & (hidden - 1);
    const int exponent = (int)((bits >> fraction_bits) & ((UINT64_C(1) << exponent_bits) - 1));
    const int smallest = 1 - formats[type].emax - fraction_bits;
    double magnitude;
    if (type == DT_F64) {
        memcpy(&magnitude, &bits, sizeof magnitude);
        return magnitude;
    }
    if (exponent == (1 << exponent_bits) - 1)
        magnitude = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        magnitude = (double)fraction * power_of_2(smallest);
    else
        magnitude = (double)(fraction + hidden) * power_of_2(smallest + exponent - 1);
    return bits >> (8 * formats[type].size - 1) ? -magnitude : magnitude;
}

/* The bits of a value that the type can hold. */
static uint64_t encode(enum dtype type, double value)
{
    const int fraction_bits = formats[type].precision - 1;
    const uint64_t sign = (uint64_t)(signbit(value) != 0) << (8 * formats[type].size - 1);
    const uint64_t infinity = (uint64_t)(2 * formats[type].emax + 1) << fraction_bits;
    if (isnan(value))
        return sign | infinity | UINT64_C(1) << (fraction_bits - 1);
    if (isinf(value))
        return sign | infinity;
    if (type == DT_F64) {
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    const int place = last_place(type, value);
    const int binade = place - (1 - formats[type].emax - fraction_bits);
    /* The hidden bit of a normal number adds 1 to the exponent field, that of a subnormal is not
     * there. */
    return sign |
           (((uint64_t)binade << fraction_bits) + (uint64_t)(fabs(value) * power_of_2(-place)));
}

uint64_t dtype_bits(enum dtype type, const void *array, size_t index)
{
    uint64_t bits64;
    uint32_t bits32;
    uint16_t bits16;
    switch (dtype_size(type)) {
    case 8:
        memcpy(&bits64, (const char *)array + 8 * index, 8);
        return bits64;
    case 4:
        memcpy(&bits32, (const char *)array + 4 * index, 4);
        return bits32;
    default:
        memcpy(&bits16, (const char *)array + 2 * index, 2);
        return bits16;
    }
}

double dtype_load(enum dtype type, const void *array, size_t index)
{
    const uint64_t bits = dtype_bits(type, array, index);
    const uint32_t bits32 = (uint32_t)bits;
    float single;
    double value;
    switch (type) {
    case DT_F32:
        memcpy(&single, &bits32, 4);
        return single;
    case DT_F64:
        memcpy(&value, &bits, 8);
        return value;
    default:
        return dtype_from_bits(type, bits);
    }
}

void dtype_store(enum dtype type, void *array, size_t index, double value)
{
    const uint64_t bits = encode(type, dtype_round(type, value));
    const uint32_t bits32 = (uint32_t)bits;
    const uint16_t bits16 = (uint16_t)bits;
    switch (dtype_size(type)) {
    case 8:
        memcpy((char *)array + 8 * index, &bits, 8);
        break;
    case 4:
        memcpy((char *)array + 4 * index, &bits32, 4);
        break;
    default:
        memcpy((char *)array + 2 * index, &bits16, 2);
        break;
    }
}

/* The place of a value in the order of all values of its type; -0 and 0 share one. */
static int64_t ordinal(enum dtype type, double value)
{
    const int64_t magnitude = (int64_t)encode(type, fabs(dtype_round(type, value)));
    return signbit(value) ? -magnitude : magnitude;
}

uint64_t dtype_ulps(enum dtype type, double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? 0 : UINT64_MAX;
    const int64_t first = ordinal(type, a);
    const int64_t second = ordinal(type, b);
    return first > second ? (uint64_t)first - (uint64_t)second : (uint64_t)second - (uint64_t)first;
}

double dtype_ulp(enum dtype type, double value)
{
    return ldexp(1.0, last_place(type, value));
}

int test_f16_ties_probe(void)
{
#if defined(__x86_64__)
    if (rope_isa_available(ROPE_ISA_AVX2)) {
        uint32_t bits = 0x3e821000; /* halfway between f16 0x3410 and 0x3411 */
        __asm__ volatile("vmovd %0, %%xmm0\n\tvcvtps2ph $0, %%xmm0, %%xmm0\n\tvmovd %%xmm0, %0"
                         : "+r"(bits)
                         :
                         : "xmm0");
        return (bits & 0xffff) == 0x3411;
    }
#endif
    return 0;
}

void test_f16_ties_away(int away)
{
    ties_away = away;
}

void test_f16_ties_for(rope_isa isa)
{
    test_f16_ties_away((isa == ROPE_ISA_AVX2 || isa == ROPE_ISA_AVX512) && test_f16_ties_probe());
}

int test_fma_loses_bits(void)
{
    const volatile double a = 0x1.048dc0457cb5p+19;
    const volatile double b = 0x1.0afc9271b3702p-8;
    const volatile double product = a * b;
    return fma(a, b, -product) == 0.0; /* the product is not exact */
}

double rng_element(struct rng *rng, enum dtype type, enum fill fill)
{
    const int fraction_bits = formats[type].precision - 1;
    const uint64_t one = (uint64_t)formats[type].emax << fraction_bits;
    const uint64_t infinity = (uint64_t)(2 * formats[type].emax + 1) << fraction_bits;
    const uint64_t normal = UINT64_C(1) << fraction_bits;
    const uint64_t magnitudes[] = {0,
                                   1,
                                   2,
                                   normal - 1,
                                   normal,
                                   one - 1,
                                   one,
                                   one + 1,
                                   one + 2,
                                   one / 2,
                                   infinity - 1,
                                   infinity,
                                   infinity + normal / 2};
    const uint64_t sign = (rng_next(rng) >> 63) << (8 * formats[type].size - 1);
    switch (fill) {
    case FILL_SPECIAL:
        return dtype_from_bits(
            type, sign | magnitudes[rng_below(rng, sizeof magnitudes / sizeof *magnitudes)]);
    case FILL_BITS:
        return dtype_from_bits(type, sign | (rng_next(rng) >> (65 - 8 * formats[type].size)));
    default:
        return dtype_round(type, rng_real(rng, 4.0));
    }
}

/* ---- Memory between guard pages ---- */

struct guarded guarded_make(size_t at_least)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t size = (at_least + page - 1) / page * page;
    unsigned char *map = mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect(map + page, size, PROT_READ | PROT_WRITE) != 0)
        fail_msg("no memory for %zu guarded bytes", size);
    return (struct guarded){map + page, size};
}

void guarded_free(struct guarded *memory)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap(memory->base - page, memory->size + 2 * page);
    memory->base = NULL;
}

void *guarded_end(const struct guarded *memory, size_t bytes, size_t gap)
{
    if (bytes + gap > memory->size)
        fail_msg("%zu + %zu bytes do not fit %zu", bytes, gap, memory->size);
    return memory->base + memory->size - gap - bytes;
}

void *guarded_start(const struct guarded *memory, size_t bytes, size_t gap)
{
    if (bytes + gap > memory->size)
        fail_msg("%zu + %zu bytes do not fit %zu", bytes, gap, memory->size);
    return memory->base + gap;
}

/* ---- Images ---- */

void canary_fill(void *memory, size_t bytes)
{
    memset(memory, 0xa5, bytes);
}

size_t image_differs(enum dtype type, const void *expected, const void *actual, size_t n,
                     const unsigned char *loose)
{
    if (memcmp(expected, actual, n * dtype_size(type)) == 0)
        return n;
    for (size_t i = 0; i < n; i++) {
        if (dtype_bits(type, expected, i) == dtype_bits(type, actual, i))
            continue;
        const int both_nan =
            isnan(dtype_load(type, expected, i)) && isnan(dtype_load(type, actual, i));
        if (!both_nan || (loose && !loose[i]))
            return i;
    }
    return n;
}

uint64_t checksum_add(uint64_t sum, const void *bytes, size_t n)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ byte[i]) * 0x100000001b3u;
    return sum;
}
