/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the rows that rope_cos_sin makes against MPFR and fails where a bound of rope.h is
 * broken.  Uses the public interface alone.
 *
 *     accuracy [--entries N] [--seed S] [--threads N] [--dtype f32|f64|f16|bf16]
 *
 * At least N entries (cosines and sines) of every dtype, spread over all bases, widths, kinds of
 * positions and attention factors below; the numbers depend on N and the seed alone.  10^6 take
 * seconds and are the default; 10^8 take minutes and hold every position to 4,096.  The table has
 *
 *     ulp         largest |error| in units of the last place of the output; near the zeros of cos
 *                 and sin f64 entries have many, because their bound is an absolute one
 *     beyond      largest |error| - 1/2 ulp, for f64 largest |error|; in 1e-16 |m|
 *     misrounded  entries that are not the nearest number of their type
 *     broken      entries beyond the bound of rope.h
 *
 * Exit status: 0, 1 if a bound is broken, 2 for wrong usage or a call that fails.
 */
#include "rope/rope.h"

#include <math.h>
#include <mpfr.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- What is measured ---- */

static const double bases[] = {100, 10000, 150000, 500000, 1e6, 1e7};
static const size_t dims[] = {256, 128, 64, 32, 2}; /* the longest first, to keep threads busy */
static const double factors[] = {1.0, 1.1386294361119891}; /* none; YaRN's for a scale of 4 */

enum { MAX_DIM = 256, FACTORS = COUNT(factors), UNITS = COUNT(bases) * COUNT(dims) };

enum kind { DENSE, NEAR, FAR, HARD, FRACTION_F32, FRACTION_F64, ANGLE_F32, KINDS };

static const struct {
    const char *name;
    rope_dtype dtype;
    unsigned weight; /* share of the entries; dense gets what 10^8 entries need to be complete */
} kinds[KINDS] = {
    {"integer to 4,096", ROPE_I32, 2},    {"integer to 2^20", ROPE_I32, 1},
    {"integer to 2^31 - 1", ROPE_I64, 1}, {"near a zero", ROPE_I64, 1},
    {"fractional f32", ROPE_F32, 1},      {"fractional f64", ROPE_F64, 1},
    {"angle f32", ROPE_F64, 1},
};

enum { DENSE_LAST = 4096 };

static const struct format {
    const char *name;
    rope_dtype dtype;
    size_t size;
    int precision;    /* bits of the significand */
    int min_exponent; /* of normal numbers */
} formats[] = {
    {"f32", ROPE_F32, 4, 24, -126},
    {"f16", ROPE_F16, 2, 11, -14},
    {"bf16", ROPE_BF16, 2, 8, -126},
    {"f64", ROPE_F64, 8, 53, -1022},
};

enum { FORMATS = COUNT(formats) };

struct result {
    unsigned long long entries, misrounded, broken;
    double ulp, beyond;
};

static struct {
    unsigned long long entries, seed;
    size_t threads;
    const char *dtype; /* NULL = all */
} options = {1000000, 1, 1, NULL};

/* Shared by the threads, under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct result results[FORMATS][KINDS];
static size_t next_unit;
static unsigned long long positions_done, positions_total;

static void die(const char *message)
{
    fprintf(stderr, "accuracy: %s\n", message);
    exit(2);
}

/* ---- Random numbers ---- */

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014). */
static uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Uniform in [0, 1). */
static double random_unit(uint64_t *state)
{
    return (double)(random_bits(state) >> 11) * 0x1p-53;
}

/* A number below 2^31 in magnitude, its exponent uniform from `lowest` on. */
static double random_magnitude(uint64_t *state, int lowest)
{
    const int exponent = lowest + (int)(random_unit(state) * (31 - lowest));
    return ldexp(1.0 + random_unit(state), exponent);
}

/* How many positions of a kind every base and width gets. */
static size_t positions_of(enum kind kind)
{
    size_t per_position = 0; /* entries of one dtype */
    for (size_t n = 0; n < COUNT(dims); n++)
        per_position += dims[n] * FACTORS * COUNT(bases);
    unsigned weights = 0;
    for (size_t k = 0; k < KINDS; k++)
        weights += kinds[k].weight;
    const unsigned long long share = options.entries * kinds[kind].weight / weights;
    return (size_t)((share + per_position - 1) / per_position);
}

/* ---- The truth ---- */

enum { FREQUENCY_BITS = 320, ANGLE_BITS = 160, VALUE_BITS = 128 };

/* A value as the sum of two f64, good to 2^-106. */
struct truth {
    double hi, lo;
};

struct reference {
    size_t pairs;
    mpfr_t turns[MAX_DIM / 2];   /* per position */
    float freq_f32[MAX_DIM / 2]; /* radians per position, rounded to f32 */
    mpfr_t turn, angle, two_pi, cosine, sine;
};

/* f_i = base^(-2 i / d). */
static void reference_make(struct reference *reference, double base, size_t dim)
{
    reference->pairs = dim / 2;
    mpfr_inits2(FREQUENCY_BITS, reference->turn, reference->two_pi, (mpfr_ptr)NULL);
    mpfr_init2(reference->angle, ANGLE_BITS);
    mpfr_inits2(VALUE_BITS, reference->cosine, reference->sine, (mpfr_ptr)NULL);
    mpfr_const_pi(reference->two_pi, MPFR_RNDN);
    mpfr_mul_2ui(reference->two_pi, reference->two_pi, 1, MPFR_RNDN);
    for (size_t i = 0; i < reference->pairs; i++) {
        mpfr_ptr turns = reference->turns[i];
        mpfr_init2(turns, FREQUENCY_BITS);
        mpfr_set_si(turns, -2 * (long)i, MPFR_RNDN);
        mpfr_div_ui(turns, turns, dim, MPFR_RNDN);
        mpfr_set_d(reference->turn, base, MPFR_RNDN);
        mpfr_pow(turns, reference->turn, turns, MPFR_RNDN);
        reference->freq_f32[i] = mpfr_get_flt(turns, MPFR_RNDN);
        mpfr_div(turns, turns, reference->two_pi, MPFR_RNDN);
    }
}

static void reference_clear(struct reference *reference)
{
    for (size_t i = 0; i < reference->pairs; i++)
        mpfr_clear(reference->turns[i]);
    mpfr_clears(reference->turn, reference->angle, reference->two_pi, reference->cosine,
                reference->sine, (mpfr_ptr)NULL);
}

/* Spoils value. */
static struct truth split(mpfr_ptr value)
{
    const double hi = mpfr_get_d(value, MPFR_RNDN);
    mpfr_sub_d(value, value, hi, MPFR_RNDN);
    return (struct truth){hi, mpfr_get_d(value, MPFR_RNDN)};
}

/* A row [cos | sin] for m = 1. */
static void reference_row(struct reference *reference, enum kind kind, double position,
                          struct truth *row)
{
    for (size_t i = 0; i < reference->pairs; i++) {
        if (kind == ANGLE_F32) {
            const float angle = (float)position * reference->freq_f32[i];
            mpfr_set_flt(reference->angle, angle, MPFR_RNDN);
        } else { /* whole turns are dropped before the angle is formed */
            mpfr_mul_d(reference->turn, reference->turns[i], position, MPFR_RNDN);
            mpfr_frac(reference->turn, reference->turn, MPFR_RNDN);
            mpfr_mul(reference->angle, reference->turn, reference->two_pi, MPFR_RNDN);
        }
        mpfr_sin_cos(reference->sine, reference->cosine, reference->angle, MPFR_RNDN);
        row[i] = split(reference->cosine);
        row[reference->pairs + i] = split(reference->sine);
    }
}

static struct truth scale(struct truth value, double factor)
{
    const double product = value.hi * factor;
    const double rest = fma(value.hi, factor, -product) + value.lo * factor;
    const double hi = product + rest;
    return (struct truth){hi, rest - (hi - product)};
}

/* ---- Positions ---- */

/*
 * An integer position at which cos or sin of some pair is as near to 0 as 1e-9, so that an f32 entry
 * hides little of the error: a small multiple of the denominator of a convergent of the continued
 * fraction of the quarter turns per position.
 */
static double hard_position(struct reference *reference, uint64_t *state)
{
    const size_t pair = (size_t)(random_bits(state) % reference->pairs);
    const int terms = 1 + (int)(random_bits(state) % 24);
    mpfr_ptr rest = reference->turn;
    mpfr_mul_2ui(rest, reference->turns[pair], 2, MPFR_RNDN);
    mpfr_frac(rest, rest, MPFR_RNDN);
    double before = 0, denominator = 1;
    for (int term = 0; term < terms; term++) {
        mpfr_ui_div(rest, 1, rest, MPFR_RNDN);
        const double next = mpfr_get_d(rest, MPFR_RNDZ) < 0x1p31
                                ? floor(mpfr_get_d(rest, MPFR_RNDZ)) * denominator + before
                                : 0x1p31;
        if (next >= 0x1p31)
            break;
        before = denominator;
        denominator = next;
        mpfr_frac(rest, rest, MPFR_RNDN);
    }
    const double multiples = fmin(16.0, floor(0x1.fffffffcp30 / denominator));
    return denominator * (1 + floor(random_unit(state) * multiples));
}

/* Position number `index` of a kind; the borders of the ranges come first. */
static double make_position(struct reference *reference, enum kind kind, size_t index,
                            uint64_t *state)
{
    static const double near[] = {1048575, 65535, 65536, 65537, 1023, 1024, 1025};
    static const double far[] = {2147483647, 1048576, 16777217, 2147483646, 1073741824, 1048577};
    const double sign = random_bits(state) & 1 ? -1.0 : 1.0;
    switch (kind) {
    case DENSE:
        if (positions_of(DENSE) > DENSE_LAST && index <= DENSE_LAST)
            return sign * (double)index;
        return sign * floor(random_unit(state) * (DENSE_LAST + 1));
    case NEAR:
        return sign * (index < COUNT(near) ? near[index] : floor(random_unit(state) * 0x1p20));
    case FAR:
        return sign * (index < COUNT(far) ? far[index] : floor(random_unit(state) * 0x1p31));
    case HARD:
        return sign * hard_position(reference, state);
    case FRACTION_F32: { /* cut, not rounded up to 2^31 */
        const double magnitude = random_magnitude(state, -10);
        const double unit = ldexp(1.0, ilogb(magnitude) - 23);
        return sign * floor(magnitude / unit) * unit;
    }
    case FRACTION_F64:
        return sign * random_magnitude(state, -20);
    default: /* integers and fractions of all sizes */
        if (index % 2 == 0)
            return sign * floor(random_magnitude(state, 0));
        return sign * random_magnitude(state, -10);
    }
}

/* ---- Comparison ---- */

static double load(const struct format *format, const unsigned char *element)
{
    uint16_t half;
    float single;
    double value;
    switch (format->dtype) {
    case ROPE_F64:
        memcpy(&value, element, sizeof value);
        return value;
    case ROPE_F32:
        memcpy(&single, element, sizeof single);
        return single;
    default:
        memcpy(&half, element, sizeof half);
    }
    const int stored = format->precision - 1;
    const int exponent = (half & 0x7fff) >> stored;
    const int fraction = half & ((1 << stored) - 1);
    if (exponent == 0x7fff >> stored)
        return NAN;
    const double magnitude = exponent == 0 ? ldexp(fraction, format->min_exponent - stored)
                                           : ldexp(fraction + (1 << stored),
                                                   format->min_exponent + exponent - 1 - stored);
    return half & 0x8000 ? -magnitude : magnitude;
}

/* Distance of the numbers of a format around a value. */
static double unit_of(const struct format *format, double value)
{
    const int exponent = value == 0 ? format->min_exponent : ilogb(value);
    return ldexp(1.0, (exponent < format->min_exponent ? format->min_exponent : exponent) -
                          (format->precision - 1));
}

/* The number of the format nearest to hi + lo, ties to even. */
static double nearest(const struct format *format, struct truth truth)
{
    if (format->dtype == ROPE_F64)
        return truth.hi;
    /* hi rounded to odd keeps on which side of a tie the sum lies; it has 29 bits to spare. */
    uint64_t bits;
    double odd = truth.hi;
    memcpy(&bits, &odd, sizeof bits);
    if (truth.lo != 0 && (bits & 1) == 0)
        odd = nextafter(odd, truth.lo > 0 ? INFINITY : -INFINITY);
    const double unit = unit_of(format, truth.hi);
    return rint(odd / unit) * unit;
}

/* Adds an entry to a result.  Returns 0 if it breaks the bound. */
static int compare(struct result *result, const struct format *format, double value,
                   struct truth truth, double position, double factor)
{
    const double error = fabs((value - truth.hi) - truth.lo);
    const double unit = fmin(unit_of(format, value), unit_of(format, truth.hi));
    const double far = fabs(position) >= 0x1p20 ? 8e-16 : 4e-16;
    const double beyond = format->dtype == ROPE_F64 ? error : error - unit / 2;
    const double allowed = format->dtype == ROPE_F64 ? fmax(unit, 4e-16 * factor) : far * factor;
    result->entries++;
    result->misrounded += value != nearest(format, truth);
    result->ulp = fmax(result->ulp, error / unit);
    result->beyond = fmax(result->beyond, beyond / factor);
    if (beyond <= allowed) /* false for NaN */
        return 1;
    result->broken++;
    return 0;
}

/* ---- Work ---- */

enum { CHUNK = 64 }; /* positions of one call */

struct work {
    double base;
    size_t dim;
    rope_plan *plans[2][FACTORS]; /* by angle mode */
    struct reference reference;
    struct result results[FORMATS][KINDS];
    double positions[CHUNK];
    unsigned char stored[CHUNK * sizeof(double)]; /* positions in their dtype */
    struct truth truth[CHUNK * MAX_DIM];
    unsigned char rows[CHUNK * MAX_DIM * sizeof(double)];
};

static rope_plan *make_plan(double base, size_t dim, rope_angle angle, double factor)
{
    char message[200] = "";
    rope_spec spec = ROPE_SPEC_INIT;
    spec.head_dim = dim;
    spec.theta = base;
    spec.angle = angle;
    spec.attention_factor = factor;
    spec.message = message;
    spec.message_size = sizeof message;
    rope_plan *plan;
    const rope_status status = rope_plan_create(&spec, &plan);
    if (status != ROPE_OK)
        die(message[0] ? message : rope_status_string(status));
    return plan;
}

static void store_positions(struct work *work, rope_dtype dtype, size_t count)
{
    for (size_t t = 0; t < count; t++) {
        const int32_t i32 = dtype == ROPE_I32 ? (int32_t)work->positions[t] : 0;
        const int64_t i64 = (int64_t)work->positions[t];
        const float f32 = (float)work->positions[t];
        if (dtype == ROPE_I32)
            memcpy(work->stored + t * sizeof i32, &i32, sizeof i32);
        else if (dtype == ROPE_I64)
            memcpy(work->stored + t * sizeof i64, &i64, sizeof i64);
        else if (dtype == ROPE_F32)
            memcpy(work->stored + t * sizeof f32, &f32, sizeof f32);
        else
            memcpy(work->stored + t * sizeof(double), &work->positions[t], sizeof(double));
    }
}

static void report_broken(const struct work *work, enum kind kind, const struct format *format,
                          double factor, double position, size_t entry, double value,
                          struct truth truth)
{
    const size_t pairs = work->dim / 2;
    fprintf(stderr, "%s, %s: base %g, d %zu, m %.17g, position %.17g, %s %zu: %a, true %a %+a\n",
            format->name, kinds[kind].name, work->base, work->dim, factor, position,
            entry < pairs ? "cos" : "sin", entry % pairs, value, truth.hi, truth.lo);
}

/* Makes and compares the rows of `count` positions in one dtype. */
static void measure(struct work *work, enum kind kind, size_t format_index, size_t factor_index,
                    size_t count)
{
    const struct format *format = &formats[format_index];
    const double factor = factors[factor_index];
    struct result *result = &work->results[format_index][kind];
    char message[200] = "";
    rope_positions positions = ROPE_POSITIONS_INIT;
    positions.dtype = kinds[kind].dtype;
    positions.data = work->stored;
    rope_rows rows = ROPE_ROWS_INIT;
    rows.dtype = format->dtype;
    rows.cos = work->rows;
    rows.count = count;
    rows.message = message;
    rows.message_size = sizeof message;
    const rope_status status =
        rope_cos_sin(work->plans[kind == ANGLE_F32][factor_index], &positions, count, &rows);
    if (status != ROPE_OK)
        die(message[0] ? message : rope_status_string(status));
    for (size_t t = 0; t < count; t++)
        for (size_t entry = 0; entry < work->dim; entry++) {
            const size_t at = t * work->dim + entry;
            const struct truth truth = scale(work->truth[at], factor);
            const double value = load(format, work->rows + at * format->size);
            if (!compare(result, format, value, truth, work->positions[t], factor) &&
                result->broken <= 3)
                report_broken(work, kind, format, factor, work->positions[t], entry, value, truth);
        }
}

static void show_progress(size_t count)
{
    pthread_mutex_lock(&lock);
    const unsigned long long before = positions_done * 20 / positions_total;
    positions_done += count;
    const unsigned long long after = positions_done * 20 / positions_total;
    if (after != before && options.entries >= 10000000)
        fprintf(stderr, "accuracy: %llu %%\n", after * 5);
    pthread_mutex_unlock(&lock);
}

static void run_kind(struct work *work, enum kind kind, uint64_t *state)
{
    const size_t total = positions_of(kind);
    for (size_t done = 0; done < total;) {
        const size_t count = total - done < CHUNK ? total - done : CHUNK;
        for (size_t t = 0; t < count; t++) {
            work->positions[t] = make_position(&work->reference, kind, done + t, state);
            reference_row(&work->reference, kind, work->positions[t], work->truth + t * work->dim);
        }
        store_positions(work, kinds[kind].dtype, count);
        for (size_t format = 0; format < FORMATS; format++)
            if (options.dtype == NULL || strcmp(options.dtype, formats[format].name) == 0)
                for (size_t factor = 0; factor < FACTORS; factor++)
                    measure(work, kind, format, factor, count);
        done += count;
        show_progress(count * work->dim);
    }
}

/* One base and width, all kinds of positions. */
static void run_unit(struct work *work, size_t unit)
{
    work->base = bases[unit % COUNT(bases)];
    work->dim = dims[unit / COUNT(bases)];
    for (size_t factor = 0; factor < FACTORS; factor++) {
        work->plans[0][factor] =
            make_plan(work->base, work->dim, ROPE_ANGLE_EXACT, factors[factor]);
        work->plans[1][factor] = make_plan(work->base, work->dim, ROPE_ANGLE_F32, factors[factor]);
    }
    reference_make(&work->reference, work->base, work->dim);
    uint64_t state = options.seed * UNITS + unit;
    for (enum kind kind = 0; kind < KINDS; kind++)
        run_kind(work, kind, &state);
    reference_clear(&work->reference);
    for (size_t factor = 0; factor < FACTORS; factor++) {
        rope_plan_destroy(work->plans[0][factor]);
        rope_plan_destroy(work->plans[1][factor]);
    }
}

static void add_results(const struct work *work)
{
    for (size_t format = 0; format < FORMATS; format++)
        for (size_t kind = 0; kind < KINDS; kind++) {
            const struct result *from = &work->results[format][kind];
            struct result *to = &results[format][kind];
            to->entries += from->entries;
            to->misrounded += from->misrounded;
            to->broken += from->broken;
            to->ulp = fmax(to->ulp, from->ulp);
            to->beyond = fmax(to->beyond, from->beyond);
        }
}

static void *run_thread(void *unused)
{
    struct work *work = calloc(1, sizeof *work);
    if (work == NULL)
        die("out of memory");
    for (;;) {
        pthread_mutex_lock(&lock);
        const size_t unit = next_unit++;
        pthread_mutex_unlock(&lock);
        if (unit >= UNITS)
            break;
        run_unit(work, unit);
    }
    pthread_mutex_lock(&lock);
    add_results(work);
    pthread_mutex_unlock(&lock);
    free(work);
    mpfr_free_cache();
    return unused;
}

/* ---- Command line and table ---- */

static unsigned long long parse_count(const char *text)
{
    char *end;
    const unsigned long long count = strtoull(text, &end, 10);
    if (end == text || *end != '\0' || text[0] == '-')
        die("a count is needed: accuracy [--entries N] [--seed S] [--threads N] [--dtype NAME]");
    return count;
}

static void parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--entries") == 0)
            options.entries = parse_count(value);
        else if (strcmp(argv[i], "--seed") == 0)
            options.seed = parse_count(value);
        else if (strcmp(argv[i], "--threads") == 0)
            options.threads = (size_t)parse_count(value);
        else if (strcmp(argv[i], "--dtype") == 0)
            options.dtype = value;
        else
            die("usage: accuracy [--entries N] [--seed S] [--threads N] [--dtype NAME]");
    }
    int known = options.dtype == NULL;
    for (size_t format = 0; format < FORMATS; format++)
        known |= options.dtype != NULL && strcmp(options.dtype, formats[format].name) == 0;
    if (!known)
        die("--dtype must be f32, f64, f16 or bf16");
    if (options.entries == 0 || options.threads == 0 || options.threads > 256)
        die("--entries must be above 0, --threads 1..256");
}

/* Returns the number of entries that break a bound. */
static unsigned long long print_table(void)
{
    unsigned long long broken = 0;
    printf(
        "| rows | positions           | entries   | ulp          | beyond  | misrounded | fraction "
        "| broken |\n");
    printf(
        "|------|---------------------|-----------|--------------|---------|------------|----------"
        "|--------|\n");
    for (size_t format = 0; format < FORMATS; format++)
        for (size_t kind = 0; kind < KINDS; kind++) {
            const struct result *result = &results[format][kind];
            if (result->entries == 0)
                continue;
            broken += result->broken;
            printf("| %-4s | %-19s | %9llu | %12.7g | %7.3f | %10llu | %8.2g | %6llu |\n",
                   formats[format].name, kinds[kind].name, result->entries, result->ulp,
                   result->beyond * 1e16, result->misrounded,
                   (double)result->misrounded / (double)result->entries, result->broken);
        }
    return broken;
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    for (enum kind kind = 0; kind < KINDS; kind++)
        for (size_t unit = 0; unit < UNITS; unit++)
            positions_total += positions_of(kind) * dims[unit / COUNT(bases)];
    printf("librope %s, %s, seed %llu\n", rope_version_string(), rope_isa_name(rope_active_isa()),
           options.seed);
    pthread_t *threads = calloc(options.threads, sizeof *threads);
    if (threads == NULL)
        die("out of memory");
    for (size_t i = 0; i < options.threads; i++)
        if (pthread_create(&threads[i], NULL, run_thread, NULL) != 0)
            die("cannot start a thread");
    for (size_t i = 0; i < options.threads; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    return print_table() == 0 ? 0 : 1;
}
