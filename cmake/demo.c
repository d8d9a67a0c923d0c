/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rotates Q and K of Llama-3.1-8B's shape, compares every element with the formulas and sets the
 * speed beside that of reading and writing the same memory.  Knows the library by rope.h only.
 */
#define _POSIX_C_SOURCE 200809L
#include "rope/rope.h"
#include "rope/rope_config.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HEAD_DIM 128
#define PAIRS    (HEAD_DIM / 2)
#define Q_HEADS  32
#define K_HEADS  8
#define HEADS    (Q_HEADS + K_HEADS)
#define THETA    500000.0
/* of the scheme llama3 */
#define FACTOR    8.0
#define LOW_FREQ  1.0
#define HIGH_FREQ 4.0
#define ORIGINAL  8192
/* the runs */
#define PREFILL        4096
#define DECODE         64
#define CONTEXT        131072
#define SAMPLES        15
#define SAMPLE_SECONDS 0.005

static const char llama[] =
    "Llama-3.1-8B: theta 500000, scheme llama3 (8, 1, 4, 8192), head_dim 128, 32 query and 8 key "
    "heads";

/* One measured case.  Every token has its query heads, then its key heads, as a packed projection
 * leaves them. */
struct run {
    const char *name;
    size_t tokens;
    const int64_t *positions; /* NULL: 0, 1, ... */
    rope_dtype dtype;
};

static uint64_t random_state = 1;

static uint64_t random_word(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- Elements ------------------------------------------------------------------------------- */

static size_t element_size(rope_dtype dtype)
{
    return dtype == ROPE_F32 ? 4 : 2;
}

static double element(const void *data, rope_dtype dtype, size_t i)
{
    uint32_t bits;
    float value;
    if (dtype == ROPE_F32)
        bits = ((const uint32_t *)data)[i];
    else
        bits = (uint32_t)((const uint16_t *)data)[i] << 16;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* Random values in -4..4; bf16 takes the upper half of an f32. */
static void fill(void *data, rope_dtype dtype, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const float value = (float)(random_word() >> 40) * 0x1p-21f - 4.0f;
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        if (dtype == ROPE_F32)
            ((uint32_t *)data)[i] = bits;
        else
            ((uint16_t *)data)[i] = (uint16_t)(bits >> 16);
    }
}

/* ---- The check ------------------------------------------------------------------------------ */

/*
 * The bound for one output x c - y s (the other is alike).  In f32, with u = 2^-24: cos and sin are
 * off by u/2 and 4e-16, the inner product is rounded once (u |y|) and so is the sum (u (|x| +
 * |y|)). bf16 adds half a unit of its last place.
 */
static double bound(rope_dtype dtype, double x, double y, double exact)
{
    const double size = fabs(x) + fabs(y);
    const double f32 = (2.5 * 0x1p-24 * (1 + 0x1p-20) + 4e-16) * size;
    if (dtype == ROPE_F32)
        return f32;
    int exponent;
    frexp(fabs(exact) + f32, &exponent);
    return f32 + ldexp(1.0, exponent - 9);
}

struct errors {
    double largest; /* error itself */
    double share;   /* error as a share of its bound */
};

static void compare(struct errors *errors, rope_dtype dtype, long double x, long double y,
                    long double exact, double actual)
{
    const double error = (double)fabsl((long double)actual - exact);
    const double share = error / bound(dtype, (double)x, (double)y, (double)exact);
    if (!(error <= errors->largest)) /* a NaN becomes the largest */
        errors->largest = error;
    if (!(share <= errors->share))
        errors->share = share;
}

/* theta^(-2 i / d), divided by the factor where a wave is long beside the original context, blended
 * in between. */
static long double llama_frequency(size_t i)
{
    const long double frequency = powl(THETA, -2.0L * (long double)i / HEAD_DIM);
    const long double turns = ORIGINAL * frequency / 6.28318530717958647692528676655900577L;
    if (turns <= LOW_FREQ)
        return frequency / FACTOR;
    if (turns >= HIGH_FREQ)
        return frequency;
    const long double kept = (turns - LOW_FREQ) / (HIGH_FREQ - LOW_FREQ);
    return (1 - kept) * frequency / FACTOR + kept * frequency;
}

static struct errors check(const struct run *run, const void *before, const void *after)
{
    struct errors errors = {0, 0};
    long double frequency[PAIRS];
    for (size_t i = 0; i < PAIRS; i++)
        frequency[i] = llama_frequency(i);

    for (size_t token = 0; token < run->tokens; token++) {
        const int64_t position = run->positions ? run->positions[token] : (int64_t)token;
        for (size_t i = 0; i < PAIRS; i++) {
            const long double angle = (long double)position * frequency[i];
            const long double c = cosl(angle), s = sinl(angle);
            for (size_t head = 0; head < HEADS; head++) {
                const size_t at = (token * HEADS + head) * HEAD_DIM + i;
                const long double x = element(before, run->dtype, at);
                const long double y = element(before, run->dtype, at + PAIRS);
                compare(&errors, run->dtype, x, y, x * c - y * s, element(after, run->dtype, at));
                compare(&errors, run->dtype, x, y, y * c + x * s,
                        element(after, run->dtype, at + PAIRS));
            }
        }
    }
    return errors;
}

/* ---- The limit ------------------------------------------------------------------------------ */

#if defined(__x86_64__) && defined(__gnu_linux__)
#define WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDEST __attribute__((noinline))
#endif

/* Reads and writes everything; the caller's zero, which the compiler cannot know, changes nothing.
 */
WIDEST static void read_modify_write(uint64_t *words, size_t count, uint64_t zero)
{
    for (size_t i = 0; i < count; i++)
        words[i] ^= zero;
}

static volatile uint64_t volatile_zero = 0;

/* ---- One run -------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, ascending);
    return values[count / 2];
}

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void rotate(const rope_plan *plan, const rope_job *job)
{
    const rope_status status = rope_rotate(plan, job);
    if (status != ROPE_OK)
        fail("rope_rotate", job->message[0] ? job->message : rope_status_string(status));
}

static int perform(const struct run *run, const rope_plan *plan)
{
    const size_t count = run->tokens * HEADS * HEAD_DIM;
    const size_t bytes = count * element_size(run->dtype);
    char *before = aligned_alloc(64, bytes), *data = aligned_alloc(64, bytes);
    if (before == NULL || data == NULL)
        fail("memory", "none left");
    fill(before, run->dtype, count);
    memcpy(data, before, bytes);

    char message[200] = "";
    rope_positions positions = ROPE_POSITIONS_INIT;
    if (run->positions != NULL) {
        positions.dtype = ROPE_I64;
        positions.data = run->positions;
    }
    rope_tensor q = ROPE_TENSOR_INIT;
    q.dtype = run->dtype;
    q.src = q.dst = data;
    q.heads = Q_HEADS;
    q.src_stride_token = HEADS * HEAD_DIM;
    q.src_stride_head = HEAD_DIM;
    q.src_stride_batch = (ptrdiff_t)count;
    rope_tensor k = q;
    k.src = k.dst = data + Q_HEADS * HEAD_DIM * element_size(run->dtype);
    k.heads = K_HEADS;
    rope_job job = ROPE_JOB_INIT;
    job.tokens = run->tokens;
    job.q = &q;
    job.k = &k;
    job.positions = &positions;
    job.message = message;
    job.message_size = sizeof message;

    rotate(plan, &job);
    const struct errors errors = check(run, before, data);

    /* Both sides of a sample do the same number of passes, next to each other in time. */
    double rope[SAMPLES], limit[SAMPLES], share[SAMPLES];
    size_t passes = 1;
    for (;;) {
        const double start = seconds();
        for (size_t pass = 0; pass < passes; pass++)
            rotate(plan, &job);
        if (seconds() - start >= SAMPLE_SECONDS)
            break;
        passes *= 2;
    }
    for (size_t sample = 0; sample < SAMPLES; sample++) {
        const double start = seconds();
        for (size_t pass = 0; pass < passes; pass++)
            rotate(plan, &job);
        const double between = seconds();
        for (size_t pass = 0; pass < passes; pass++)
            read_modify_write((uint64_t *)(void *)data, bytes / 8, volatile_zero);
        const double end = seconds();
        rope[sample] = (between - start) / (double)passes;
        limit[sample] = (end - between) / (double)passes;
        share[sample] = limit[sample] / rope[sample];
    }
    const double time = median(rope, SAMPLES);
    printf("%-22s %-5s %8.2f %8.2f %6.2f %10.1f   %.2e %8.3f %s\n", run->name,
           run->dtype == ROPE_F32 ? "f32" : "bf16", 2e-9 * (double)bytes / time,
           2e-9 * (double)bytes / median(limit, SAMPLES), median(share, SAMPLES),
           1e9 * time / (double)run->tokens, errors.largest, errors.share,
           errors.share <= 1 ? "within" : "EXCEEDED");
    fflush(stdout);
    free(before);
    free(data);
    return errors.share <= 1;
}

/* The plan of a model with one rotation, from its config.json. */
static rope_plan *plan_of(const char *path)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "rb");
    const size_t size = file != NULL ? fread(text, 1, sizeof text, file) : 0;
    if (file == NULL || fclose(file) != 0 || size == 0 || size == sizeof text)
        fail(path, "cannot be read");

    char message[200] = "";
    rope_config_options options = ROPE_CONFIG_OPTIONS_INIT;
    options.message = message;
    options.message_size = sizeof message;
    rope_config *config = NULL;
    rope_plan *plan = NULL;
    rope_status status = rope_config_parse(text, size, &options, &config);
    if (status == ROPE_OK)
        status = rope_config_create_plans(config, &plan, 1, message, sizeof message);
    if (status != ROPE_OK)
        fail(path, message[0] ? message : rope_status_string(status));
    rope_config_destroy(config);
    return plan;
}

int main(int count, char **arguments)
{
    static int64_t scattered[DECODE];
    scattered[0] = CONTEXT - 1;
    for (size_t i = 1; i < DECODE; i++)
        scattered[i] = (int64_t)(random_word() % CONTEXT);

    if (count != 2)
        fail("usage", "demo CONFIG.JSON");
    rope_plan *plan = plan_of(arguments[1]);

    printf("%s\nlibrope %s, instruction set %s, one thread, in place\n\n", llama,
           rope_version_string(), rope_isa_name(rope_active_isa()));
    printf("%-22s %-5s %8s %8s %6s %10s   %-8s %8s\n", "", "type", "GB/s", "limit", "ratio",
           "ns/token", "error", "of bound");
    const struct run runs[] = {
        {"prefill, 4096 tokens", PREFILL, NULL, ROPE_F32},
        {"prefill, 4096 tokens", PREFILL, NULL, ROPE_BF16},
        {"decode, 64 sequences", DECODE, scattered, ROPE_F32},
        {"decode, 64 sequences", DECODE, scattered, ROPE_BF16},
    };
    int within = 1;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        within &= perform(&runs[i], plan);
    rope_plan_destroy(plan);

    printf("\nGB/s     bytes read and written by the rotation; medians of %d interleaved samples\n"
           "limit    the same memory read, modified and written by a plain loop\n"
           "error    largest over all elements, against the formulas in long double; decode has\n"
           "         positions up to %d\n"
           "bound    f32: 2.5 x 2^-24 (|x| + |y|) for the pair (x, y); bf16: half a unit in the\n"
           "         last place more\n",
           SAMPLES, CONTEXT - 1);
    if (!within)
        fail("demo", "an error exceeds its bound");
    return 0;
}
