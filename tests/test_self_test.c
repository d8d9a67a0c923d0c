/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The self-test: it passes here, and finds and names every operation of a set that was broken on
 * purpose, whatever the condition under which it fails.
 */
#include "dispatch.h"
#include "self_test.h"
#include "support.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
static int no_memory;
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return no_memory ? NULL : __real_aligned_alloc(alignment, size);
}

static const struct rope_kernels *kernels; /* those in use */
static rope_isa isa;
/* Rows from angles are equal in all sets but on a CPU without FMA; kernels are their own reference here. */
enum { OF_EVERY_SET = 70, OF_ANGLES = 8 };

static uint32_t operations_of(const struct rope_kernels *set, int direct)
{
    return (uint32_t)(OF_EVERY_SET + (set->turns[0] != NULL ? 2 : 0) - (direct ? 0 : OF_ANGLES));
}

/* ---- Kernels that are wrong on purpose ----------------------------------------------------------- */

/* When a fault shows; of the words of a slot's arguments only those that it has. */
enum fault {
    ALWAYS,
    IN_PLACE,
    OUT_OF_PLACE,
    MANY_HEADS,
    BACKWARDS,      /* negative stride */
    BETWEEN_HALVES, /* src_half is not pairs */
    NEGATIVE_SINE,  /* takes its magnitude */
    ONE_PAIR,
    ODD_TAIL,        /* 67 pairs */
    WIDE,            /* RK_MAX_PAIRS */
    BEFORE_THE_ROW,  /* a store to the element before the first one */
    BEHIND_THE_ROW,  /* the same behind the last one */
    NAN_LOST,        /* 0 in its place */
    MINUS_ZERO_LOST, /* +0 in its place */
    SUBNORMAL_LOST,
    NAN_SIGN, /* allowed */
    ROTATE_FAULTS,
    LAYOUT_SEPARATE = ROTATE_FAULTS,
    LAYOUT_PAIRS,
    LAYOUT_DUP_HALF,
    LAYOUT_DUP_PAIRS,
    AXES,
    STREAM,
    SCALED,
    UNSCALED,
    FACTORS_1,
    FACTORS_2,
    FACTORS_3,
    FACTORS_4,
    ROWS_FAULTS,
    STEP_2 = ROWS_FAULTS,
    WITH_FACTOR,
    WITHOUT_FACTOR,
    LAST_STEP,
    SHARED,    /* a coarse factor of two rows */
    ZERO_SIGN, /* of powers: allowed */
    FAULTS
};

/* The slot that is broken. */
static struct {
    enum fault fault;
    int arith, pairing, type;
} bad;

static void flip(void *array, ptrdiff_t element)
{
    const size_t size = dtype_size((enum dtype)bad.type);
    ((unsigned char *)array)[element * (ptrdiff_t)size] ^= 1;
}

static uint64_t changed(uint64_t bits)
{
    const enum dtype type = (enum dtype)bad.type;
    const double value = dtype_from_bits(type, bits);
    const uint64_t sign = (uint64_t)1 << (8 * dtype_size(type) - 1);
    static const double least[] = {0x1p-126, 0x1p-1022, 0x1p-14, 0x1p-126};
    switch (bad.fault) {
    case NAN_LOST:
        return value != value ? 0 : bits;
    case NAN_SIGN:
        return value != value ? bits ^ sign : bits;
    case MINUS_ZERO_LOST:
        return bits == sign ? 0 : bits;
    case SUBNORMAL_LOST:
        return value < least[type] && value > -least[type] ? bits & sign : bits;
    default:
        return bits;
    }
}

static void bad_rotate(const struct rope_rotate_args *args)
{
    const enum dtype type = (enum dtype)bad.type;
    const size_t size = dtype_size(type), last = args->pairs - 1;
    rope_rotate_fn *const good = kernels->rotate[bad.arith][bad.pairing][type];
    if (bad.fault == NEGATIVE_SINE) {
        double sine[RK_MAX_PAIRS]; /* room for the larger type */
        for (size_t i = 0; i < args->pairs; i++) {
            const double value = dtype_load(dtype_real(type), args->sin, i);
            dtype_store(dtype_real(type), sine, i, value < 0 ? -value : value);
        }
        struct rope_rotate_args wrong = *args;
        wrong.sin = sine;
        good(&wrong);
        return;
    }
    const int in_place = args->src == args->dst;
    good(args);
    for (size_t head = 0; head < args->heads; head++) {
        unsigned char *first = (unsigned char *)args->dst + (ptrdiff_t)head * args->dst_stride;
        for (size_t i = 0; i < args->pairs; i++)
            for (int part = 0; part < 2; part++) {
                const size_t at =
                    bad.pairing % 2 ? 2 * i + (size_t)part : i + (size_t)part * args->dst_half;
                const uint64_t bits = changed(dtype_bits(type, first, at));
                memcpy(first + at * size, &bits, size); /* little endian */
            }
    }
    const ptrdiff_t end = (ptrdiff_t)(bad.pairing % 2 ? 2 * last + 1 : last + args->dst_half);
    if (bad.fault == ALWAYS || (bad.fault == IN_PLACE && in_place) ||
        (bad.fault == OUT_OF_PLACE && !in_place) || (bad.fault == MANY_HEADS && args->heads > 1) ||
        (bad.fault == BACKWARDS && args->src_stride < 0) ||
        (bad.fault == BETWEEN_HALVES && args->src_half != args->pairs) ||
        (bad.fault == ONE_PAIR && args->pairs == 1) || (bad.fault == ODD_TAIL && last == 66) ||
        (bad.fault == WIDE && args->pairs == RK_MAX_PAIRS))
        flip(args->dst, end);
    if (args->heads == 1 && bad.fault == BEFORE_THE_ROW)
        flip(args->dst, -1);
    if (args->heads == 1 && bad.fault == BEHIND_THE_ROW)
        flip(args->dst, end + 1);
}

static void bad_rows_of(const struct rope_rows_args *args, rope_rows_fn *good)
{
    good(args);
    const enum fault fault = bad.fault;
    const int unscaled = args->cos_scale == 1.0 && args->sin_scale == 1.0;
    if (fault == ALWAYS ||
        (fault >= LAYOUT_SEPARATE && fault <= LAYOUT_DUP_PAIRS &&
         args->layout == (enum rope_kernel_layout)(fault - LAYOUT_SEPARATE)) ||
        (fault == AXES && args->mix != NULL) || (fault == STREAM && args->stream) ||
        (fault == SCALED && !unscaled) || (fault == UNSCALED && unscaled) ||
        (fault >= FACTORS_1 && fault <= FACTORS_4 &&
         args->factors == 1 + (size_t)(fault - FACTORS_1)) ||
        (fault == ODD_TAIL && args->pairs == 67) || (fault == WIDE && args->pairs == RK_MAX_PAIRS))
        flip(args->layout == RK_PAIRS ? args->cos : args->sin, 0);
}

static void bad_rows(const struct rope_rows_args *args)
{
    bad_rows_of(args, kernels->rows[bad.type]);
}

static void bad_direct(const struct rope_rows_args *args)
{
    bad_rows_of(args, kernels->direct[bad.type]);
}

static void bad_direct_f32(const struct rope_rows_args *args)
{
    bad_rows_of(args, kernels->direct_f32[bad.type]);
}

static void bad_widen(float *dst, const void *src, size_t step, size_t n)
{
    kernels->widen[bad.type](dst, src, step, n);
    if ((bad.fault == ALWAYS || (bad.fault == STEP_2 && step == 2) ||
         (bad.fault == ODD_TAIL && n == 67)) &&
        n != 0)
        ((unsigned char *)dst)[4 * (n - 1)] ^= 1;
}

static void bad_powers(const struct rope_powers_args *args)
{
    kernels->powers(args);
    if (bad.fault == ALWAYS)
        flip(args->table_sin, (ptrdiff_t)((args->rows - 1) * args->row_stride + args->pairs - 1));
    if (bad.fault == LAST_STEP)
        flip(args->im_lo, (ptrdiff_t)args->pairs - 1);
    if (bad.fault == ZERO_SIGN) /* row 0 has the sines 0 */
        args->table_sin[0] = -args->table_sin[0];
}

static void bad_add(const struct rope_add_args *args)
{
    kernels->add[bad.type](args);
    const int in_place = args->src == args->dst;
    if (bad.fault == ALWAYS || (bad.fault == IN_PLACE && in_place) ||
        (bad.fault == OUT_OF_PLACE && !in_place) ||
        (bad.fault == WITH_FACTOR && args->factor != NULL) ||
        (bad.fault == WITHOUT_FACTOR && args->factor == NULL) ||
        (bad.fault == ODD_TAIL && args->n == 67))
        flip(args->dst, (ptrdiff_t)args->n - 1);
}

/* ---- Slots by number ------------------------------------------------------------------------------ */

enum {
    ROTATE,
    ROWS = 48,
    DIRECT = 52,
    DIRECT_F32 = 56,
    ADD = 60,
    WIDEN = 64,
    POWERS = 66,
    RUN = 67,
    TURNS = 70, /* of the sets that have them */
    SLOTS = 72
};

static int last_slot(void)
{
    return kernels->turns[0] != NULL ? SLOTS : TURNS;
}

static void bad_run(const struct rope_run_args *args)
{
    kernels->run[bad.type](args);
    if (bad.fault == ALWAYS || (bad.fault == STREAM && args->stream) ||
        (bad.fault == SCALED && !args->unit) || (bad.fault == UNSCALED && args->unit) ||
        (bad.fault == SHARED && args->rows > 1 && args->coarse[1] == args->coarse[args->rows - 1]))
        flip(args->sin, (ptrdiff_t)(args->rows - 1) * args->step /
                                (ptrdiff_t)dtype_size((enum dtype)bad.type) +
                            (ptrdiff_t)args->pairs - 1);
}

static void bad_turns(const struct rope_rotate_args *first, const struct rope_rotate_args *second)
{
    kernels->turns[bad.pairing](first, second);
    const struct rope_rotate_args *const last = bad.fault == MANY_HEADS ? first : second;
    if (bad.fault == ALWAYS || (bad.fault == IN_PLACE && first->src == first->dst) ||
        (bad.fault == OUT_OF_PLACE && first->src != first->dst) ||
        (bad.fault == MANY_HEADS && first->heads + second->heads == 4) ||
        (bad.fault == BACKWARDS && second->src_stride < 0) ||
        (bad.fault == BETWEEN_HALVES && first->src_half != first->pairs) ||
        (bad.fault == ONE_PAIR && first->pairs == 1) ||
        (bad.fault == ODD_TAIL && first->pairs == 67) ||
        (bad.fault == WIDE && first->pairs == RK_MAX_PAIRS))
        flip(last->dst, bad.pairing == RK_HALF ? (ptrdiff_t)(first->dst_half + first->pairs - 1)
                                               : (ptrdiff_t)(2 * first->pairs - 1));
}

/* A copy of the set with one slot broken, and the name that the self-test must give it. */
static struct rope_kernels broken_set(int slot, enum fault fault, char name[64])
{
    static const char *const ariths[] = {"fused", "eager", "unfused"};
    static const char *const pairings[] = {"half", "half to interleaved", "interleaved to half",
                                           "interleaved"};
    struct rope_kernels set = *kernels;
    bad.fault = fault;
    static const int run_types[] = {RK_F32, RK_F16, RK_BF16};
    bad.type = slot < WIDEN     ? slot % RK_DTYPES
               : slot >= TURNS  ? RK_F32
               : slot >= RUN    ? run_types[slot - RUN]
               : slot == POWERS ? RK_F64
                                : RK_F16 + slot - WIDEN;
    const char *const dtype = dtype_name((enum dtype)bad.type);
    if (slot < ROWS) {
        bad.pairing = slot / RK_DTYPES % RK_PAIRINGS;
        bad.arith = slot / RK_DTYPES / RK_PAIRINGS;
        set.rotate[bad.arith][bad.pairing][bad.type] = bad_rotate;
        snprintf(name, 64, "rotate %s, %s, %s", pairings[bad.pairing], ariths[bad.arith], dtype);
    } else if (slot < DIRECT) {
        set.rows[bad.type] = bad_rows;
        snprintf(name, 64, "rows from tables, %s", dtype);
    } else if (slot < DIRECT_F32) {
        set.direct[bad.type] = bad_direct;
        snprintf(name, 64, "rows from angles, %s", dtype);
    } else if (slot < ADD) {
        set.direct_f32[bad.type] = bad_direct_f32;
        snprintf(name, 64, "rows from f32 angles, %s", dtype);
    } else if (slot < WIDEN) {
        set.add[bad.type] = bad_add;
        snprintf(name, 64, "add, %s", dtype);
    } else if (slot < POWERS) {
        set.widen[bad.type] = bad_widen;
        snprintf(name, 64, "widen, %s", dtype);
    } else if (slot >= TURNS) {
        bad.pairing = slot - TURNS;
        set.turns[bad.pairing] = bad_turns;
        snprintf(name, 64, "turns, %s", pairings[3 * bad.pairing]);
    } else if (slot >= RUN) {
        set.run[bad.type] = bad_run;
        snprintf(name, 64, "run of rows, %s", dtype);
    } else {
        set.powers = bad_powers;
        snprintf(name, 64, "powers");
    }
    return set;
}

/* Breaks one slot and wants it found, it alone, with its name; or not, where `allowed`. */
static void check_broken(int slot, enum fault fault, int allowed)
{
    char name[64], text[4096], start[96];
    const struct rope_kernels set = broken_set(slot, fault, name);
    struct rope_self_test_counts counts = {77, 77};
    const rope_status status = rope_self_test_compare(
        "some set", &set, kernels, 1, (struct rope_message){text, sizeof text}, &counts);
    if (status != (allowed ? ROPE_OK : ROPE_ERR_DIFFERENCE) ||
        counts.operations != operations_of(kernels, 1) || counts.different != (allowed ? 0 : 1))
        fail_msg("%s, fault %d: status %d, %u of %u differ", name, (int)fault, (int)status,
                 (unsigned)counts.different, (unsigned)counts.operations);
    if (allowed)
        return;
    snprintf(start, sizeof start, "some set %s: ", name);
    if (strncmp(text, start, strlen(start)) != 0 || strchr(text, '\n') != NULL)
        fail_msg("%s, fault %d is reported as: %s", name, (int)fault, text);
    unsigned long long got, wanted;
    const char *const values = strstr(text, "] is ");
    assert_non_null(values);
    assert_int_equal(sscanf(values, "] is %llx, of scalar %llx", &got, &wanted), 2);
    if (fault != NAN_LOST && fault != MINUS_ZERO_LOST && fault != SUBNORMAL_LOST &&
        fault != NEGATIVE_SINE && (got ^ wanted) != 1)
        fail_msg("%s, fault %d: a flipped bit is reported as: %s", name, (int)fault, text);
}

static void test_every_slot(void **state)
{
    (void)state;
    for (int slot = 0; slot < last_slot(); slot += test_reduced() ? 33 : 1)
        check_broken(slot, ALWAYS, 0);
}

static void test_every_condition(void **state)
{
    (void)state;
    static const struct {
        int slot;
        enum fault first, end;
    } lists[] = {{ROTATE + RK_F32, IN_PLACE, NAN_SIGN},
                 {ROTATE + 16 + RK_BF16, IN_PLACE, NAN_SIGN},         /* eager */
                 {ROTATE + 44 + RK_F16, IN_PLACE, NAN_SIGN},          /* interleaved, unfused */
                 {ROTATE + 4 + RK_F64, OUT_OF_PLACE, BETWEEN_HALVES}, /* half to interleaved */
                 {ROWS + RK_F32, LAYOUT_SEPARATE, ROWS_FAULTS},
                 {ROWS + RK_BF16, LAYOUT_SEPARATE, ROWS_FAULTS},
                 {ROWS + RK_F16, ODD_TAIL, BEFORE_THE_ROW},
                 {DIRECT + RK_F64, LAYOUT_SEPARATE, STREAM},
                 {DIRECT + RK_F32, ODD_TAIL, WIDE},
                 {DIRECT_F32 + RK_F16, LAYOUT_SEPARATE, STREAM},
                 {WIDEN, STEP_2, WITH_FACTOR},
                 {WIDEN + 1, ODD_TAIL, WIDE},
                 {ADD + RK_F16, IN_PLACE, MANY_HEADS},
                 {ADD + RK_F64, WITH_FACTOR, LAST_STEP},
                 {ADD + RK_F32, ODD_TAIL, WIDE},
                 {RUN, STREAM, FACTORS_1},
                 {RUN + 2, STREAM, FACTORS_1},
                 {RUN + 1, SHARED, ZERO_SIGN},
                 {POWERS, LAST_STEP, SHARED}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i += test_reduced() ? 7 : 1)
        for (enum fault fault = lists[i].first; fault < lists[i].end;
             fault += test_reduced() ? 11 : 1)
            check_broken(lists[i].slot, fault, 0);
    if (kernels->turns[0] != NULL)
        for (enum fault fault = IN_PLACE; fault < BEFORE_THE_ROW; fault++)
            if (fault != NEGATIVE_SINE) {
                check_broken(TURNS, fault, 0);
                check_broken(TURNS + 1, fault, 0);
            }
    check_broken(ROTATE + RK_F32, NAN_SIGN, 1);
    check_broken(ROTATE + RK_BF16, NAN_SIGN, 1);
    check_broken(POWERS, ZERO_SIGN, 1);
}

/* Arithmetic that only differs in its roundings is told apart. */
static void test_other_arithmetic(void **state)
{
    (void)state;
    for (int pairing = 0; pairing < RK_PAIRINGS; pairing += test_reduced() ? 3 : 1)
        for (int type = 0; type < RK_DTYPES; type += test_reduced() ? 3 : 1) {
            struct rope_kernels set = *kernels;
            set.rotate[RK_FUSED][pairing][type] = kernels->rotate[RK_UNFUSED][pairing][type];
            set.rotate[RK_UNFUSED][pairing][type] = kernels->rotate[RK_FUSED][pairing][type];
            struct rope_self_test_counts counts;
            (void)rope_self_test_compare("x", &set, kernels, 0, (struct rope_message){NULL, 0},
                                         &counts);
            assert_int_equal(counts.different, 2);
            if (type != RK_F16 && type != RK_BF16)
                continue; /* rounding to the element type is no rounding more */
            set = *kernels;
            set.rotate[RK_EAGER][pairing][type] = kernels->rotate[RK_UNFUSED][pairing][type];
            (void)rope_self_test_compare("x", &set, kernels, 0, (struct rope_message){NULL, 0},
                                         &counts);
            assert_int_equal(counts.different, 1);
        }
}

/* ---- Known answers, where there is no other set -------------------------------------------------- */

static void bad_sine(const struct rope_rows_args *args)
{
    struct rope_rows_args wrong = *args;
    wrong.sin_scale = -args->sin_scale;
    (bad.fault == LAYOUT_SEPARATE ? kernels->direct : kernels->direct_f32)[RK_F64](&wrong);
}

/* Every set that runs here gives the known answers; a set with one slot broken does not, and that is said. */
static void test_known_answers(void **state)
{
    (void)state;
    struct rope_self_test_counts counts;
    char name[64], text[4096], start[96];
    const struct rope_message message = {text, sizeof text};
    const struct rope_kernel_set *known;
    for (size_t i = 0; (known = rope_kernel_set_at(i)) != NULL; i++) {
        if (!rope_kernel_set_runs(known))
            continue;
        strcpy(text, "");
        if (rope_self_test_compare("x", known->kernels, NULL, 1, message, &counts) != ROPE_OK)
            fail_msg("%s: %s", rope_isa_name(known->isa), text);
        assert_int_equal(counts.operations, operations_of(known->kernels, 1));
        assert_int_equal(counts.different, 0);
    }
    for (int slot = 0; slot < last_slot(); slot++) {
        struct rope_kernels set = broken_set(slot, ALWAYS, name);
        if (slot == DIRECT + RK_F64) { /* one bit is allowed: accurate to 1 ulp */
            bad.fault = LAYOUT_SEPARATE;
            set.direct[RK_F64] = bad_sine;
        } else if (slot == DIRECT_F32 + RK_F64) {
            bad.fault = LAYOUT_PAIRS;
            set.direct_f32[RK_F64] = bad_sine;
        }
        const rope_status status = rope_self_test_compare("x", &set, NULL, 1, message, &counts);
        snprintf(start, sizeof start, "x %s: 2 pairs: ", name);
        if (status != ROPE_ERR_DIFFERENCE || counts.different != 1 ||
            counts.operations != operations_of(kernels, 1) ||
            strncmp(text, start, strlen(start)) != 0 || strstr(text, ", must be 0x") == NULL)
            fail_msg("%s: status %d, %u of %u differ: %s", name, (int)status,
                     (unsigned)counts.different, (unsigned)counts.operations, text);
    }
    /* What is wrong in all sets alike, as a miscompiled core that is the only one. */
    struct rope_kernels set = *kernels;
    set.rotate[RK_FUSED][0][RK_F32] = kernels->rotate[RK_UNFUSED][0][RK_F32];
    set.rotate[RK_EAGER][3][RK_BF16] = kernels->rotate[RK_UNFUSED][3][RK_BF16];
    set.rotate[RK_UNFUSED][1][RK_F64] = kernels->rotate[RK_UNFUSED][0][RK_F64];
    assert_int_equal(rope_self_test_compare("x", &set, NULL, 0, message, &counts),
                     ROPE_ERR_DIFFERENCE);
    assert_int_equal(counts.operations, operations_of(kernels, 0));
    assert_int_equal(counts.different, 3);
}

/* ---- The message ---------------------------------------------------------------------------------- */

static void test_message_is_cut(void **state)
{
    (void)state;
    char name[64];
    struct rope_kernels set = broken_set(ROTATE, ALWAYS, name);
    set.rotate[RK_UNFUSED][1][RK_BF16] = kernels->rotate[RK_FUSED][1][RK_BF16];
    set.rotate[RK_EAGER][2][RK_F64] = kernels->rotate[RK_FUSED][2][RK_F64];
    char whole[4096];
    struct rope_self_test_counts counts;
    assert_int_equal(rope_self_test_compare("x", &set, kernels, 0,
                                            (struct rope_message){whole, sizeof whole}, &counts),
                     ROPE_ERR_DIFFERENCE);
    assert_int_equal(counts.operations, operations_of(kernels, 0));
    assert_int_equal(counts.different, 3);
    /* In the order of the dtypes, one line each, none behind the last. */
    const char *second = strchr(whole, '\n'), *third = second ? strchr(second + 1, '\n') : NULL;
    assert_non_null(third);
    assert_null(strchr(third + 1, '\n'));
    assert_int_equal(strncmp(whole, "x rotate half, fused, f32: ", 27), 0);
    assert_int_equal(strncmp(second + 1, "x rotate interleaved to half, eager, f64: ", 42), 0);
    assert_int_equal(strncmp(third + 1, "x rotate half to interleaved, unfused, bf16: ", 45), 0);

    struct guarded memory = guarded_make(sizeof whole);
    for (size_t size = 0; size <= strlen(whole) + 1; size += test_reduced() ? 150 : 29) {
        char *text = guarded_end(&memory, size, 0);
        memset(text, '#', size);
        assert_int_equal(rope_self_test_compare("x", &set, kernels, 0,
                                                (struct rope_message){text, size}, &counts),
                         ROPE_ERR_DIFFERENCE);
        assert_int_equal(counts.different, 3);
        if (size != 0) {
            assert_non_null(memchr(text, '\0', size));
            assert_int_equal(strncmp(whole, text, strlen(text)), 0);
            /* A line that does not fit is cut where the memory ends. */
            assert_int_equal(strlen(text), size - 1);
        }
    }
    guarded_free(&memory);
    assert_int_equal(
        rope_self_test_compare("x", &set, kernels, 0, (struct rope_message){NULL, 0}, &counts),
        ROPE_ERR_DIFFERENCE);
    assert_int_equal(counts.different, 3);
}

/* ---- The call itself ------------------------------------------------------------------------------ */

/* 1 if there is another set to compare with. */
static int has_other(void)
{
    if (isa != ROPE_ISA_SCALAR)
        return 1;
    int forms = 0;
    const struct rope_kernel_set *set;
    for (size_t i = 0; (set = rope_kernel_set_at(i)) != NULL; i++)
        forms += set->isa == ROPE_ISA_SCALAR && rope_kernel_set_runs(set);
    return forms > 1;
}

/* How many operations this build and CPU must compare: angles not between two scalar forms. */
static uint32_t expected_operations(void)
{
    return operations_of(kernels, isa != ROPE_ISA_SCALAR || !has_other());
}

static void check_passes(void)
{
    char text[256] = "####";
    rope_self_test_report report = ROPE_SELF_TEST_REPORT_INIT;
    report.message = text;
    report.message_size = sizeof text;
    const rope_status status = rope_self_test(&report);
    if (status != ROPE_OK)
        fail_msg("%s: %s", rope_status_string(status), text);
    assert_int_equal(report.isa, isa);
    assert_int_equal(report.operations, expected_operations());
    assert_int_equal(report.different, 0);
    assert_string_equal(text, "");
    assert_ptr_equal(report.message, text);
    assert_int_equal(report.message_size, sizeof text);
    assert_int_equal(report.struct_size, sizeof report);
}

static void test_passes(void **state)
{
    (void)state;
    check_passes();
    assert_int_equal(rope_self_test(NULL), ROPE_OK);
}

static void *pass(void *unused)
{
    (void)unused;
    check_passes();
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, pass, NULL), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void test_report_sizes(void **state)
{
    (void)state;
    struct {
        rope_self_test_report report;
        unsigned char tail[8];
    } larger = {ROPE_SELF_TEST_REPORT_INIT, {0}};
    assert_int_equal(sizeof larger, sizeof larger.report + sizeof larger.tail);
    char text[256] = "####";
    larger.report.message = text;
    larger.report.message_size = sizeof text;

    larger.report.struct_size = sizeof larger;
    assert_int_equal(rope_self_test(&larger.report), ROPE_OK);
    assert_int_equal(larger.report.isa, isa);
    assert_int_equal(larger.report.struct_size, sizeof larger);

    larger.report.isa = 77;
    larger.tail[7] = 1;
    assert_int_equal(rope_self_test(&larger.report), ROPE_ERR_STRUCT);
    char line[96];
    snprintf(line, sizeof line, "report.struct_size: %zu: must be %zu, or more with zeros behind",
             sizeof larger, sizeof larger.report);
    assert_string_equal(text, line);
    assert_int_equal(larger.report.isa, 77);

    strcpy(text, "####");
    larger.report.struct_size = sizeof larger.report - 1;
    assert_int_equal(rope_self_test(&larger.report), ROPE_ERR_STRUCT);
    assert_string_equal(text, "####"); /* too short to say where */
    assert_int_equal(larger.report.isa, 77);
}

static void test_no_memory(void **state)
{
    (void)state;
    if (!has_other())
        skip(); /* known answers need none */
    char text[256] = "####";
    rope_self_test_report report = {sizeof report, 77, 78, 79, text, sizeof text};
    no_memory = 1;
    const rope_status status = rope_self_test(&report);
    no_memory = 0;
    assert_int_equal(status, ROPE_ERR_MEMORY);
    assert_string_equal(text, "out of memory for the self-test");
    assert_int_equal(report.isa, 77);
    assert_int_equal(report.operations, 78);
    assert_int_equal(report.different, 79);
}

int main(void)
{
    kernels = rope_kernels_active(&isa);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes),           cmocka_unit_test(test_threads),
        cmocka_unit_test(test_every_slot),       cmocka_unit_test(test_every_condition),
        cmocka_unit_test(test_other_arithmetic), cmocka_unit_test(test_message_is_cut),
        cmocka_unit_test(test_report_sizes),     cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_known_answers),
    };
    if (kernels == NULL) {
        printf("ROPE_ISA names no set\n");
        return 1;
    }
    return cmocka_run_group_tests_name("self_test", tests, NULL, NULL);
}
