/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slots of operations beside the rotation in every kernel set, bit for bit against their contract, between guard
 * pages; and the generator of dropout against its published vectors.  Must not go through the public functions.
 */
#include "kernel_sets.h"
#include "support.h"

#include "dispatch.h"
#include "kernels.h"
#include "philox.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- add ---- */

/* src + row, times factor, in the type that computes. */
static double sum_of(enum dtype type, double src, double row, const double *factor)
{
    if (type == DT_F64)
        return factor ? (src + row) * *factor : src + row;
    const float sum = (float)src + (float)row;
    return (double)(factor ? sum * (float)*factor : sum);
}

struct add_case {
    enum dtype type;
    enum fill fill;
    size_t n, gap;
    int at_end, in_place, with_factor;
};

enum { SRC, DST, ROW, FACTOR, OPERANDS };
static struct guarded memory[OPERANDS];
enum { MEMORY_BYTES = 1 << 16, MARGIN = 64 };

static void check_add(const struct set *set, const struct add_case *c, struct rng *rng)
{
    static unsigned char expected[MEMORY_BYTES];
    const enum dtype real = dtype_real(c->type);
    void *data[OPERANDS];
    for (int i = 0; i < OPERANDS; i++) {
        const size_t size = dtype_size(i < ROW ? c->type : real);
        canary_fill(memory[i].base, memory[i].size);
        data[i] = c->at_end ? guarded_end(&memory[i], c->n * size, c->gap * size)
                            : guarded_start(&memory[i], c->n * size, c->gap * size);
    }
    if (c->in_place)
        data[DST] = data[SRC];
    const double factors[] = {0.0, 1.0, 1.0 / 0.9, 2.0};
    for (size_t i = 0; i < c->n; i++) {
        const enum fill row_fill = c->fill == FILL_SPECIAL ? FILL_SPECIAL : FILL_PLAIN;
        dtype_store(c->type, data[SRC], i, rng_element(rng, c->type, c->fill));
        dtype_store(real, data[ROW], i, rng_element(rng, real, row_fill));
        dtype_store(real, data[FACTOR], i, factors[rng_below(rng, 4)]);
    }
    const struct guarded *target = &memory[c->in_place ? SRC : DST];
    const size_t at = (size_t)((unsigned char *)data[DST] - target->base);
    memcpy(expected, target->base, target->size);
    for (size_t i = 0; i < c->n; i++) {
        const double factor = dtype_load(real, data[FACTOR], i);
        dtype_store(c->type, expected + at, i,
                    sum_of(c->type, dtype_load(c->type, data[SRC], i),
                           dtype_load(real, data[ROW], i), c->with_factor ? &factor : NULL));
    }
    const struct rope_add_args args = {.src = data[SRC],
                                       .dst = data[DST],
                                       .row = data[ROW],
                                       .factor = c->with_factor ? data[FACTOR] : NULL,
                                       .n = c->n};
    set->kernels->add[c->type](&args);
    const size_t differs = image_differs(c->type, expected + at, data[DST], c->n, NULL);
    if (differs != c->n || memcmp(expected, target->base, at) != 0 ||
        memcmp(expected + at + c->n * dtype_size(c->type),
               (unsigned char *)data[DST] + c->n * dtype_size(c->type),
               target->size - at - c->n * dtype_size(c->type)) != 0)
        fail_msg("set %s, slot add, %s, n %zu, fill %d%s%s%s: element %zu, seed %#" PRIx64,
                 set->name, dtype_name(c->type), c->n, (int)c->fill, c->at_end ? ", at end" : "",
                 c->in_place ? ", in place" : "", c->with_factor ? ", factors" : "", differs,
                 test_seed());
}

static void test_add(void **state)
{
    const struct set *set = set_of(state);
    struct rng rng = rng_make(40);
    for (size_t n = 1; n <= 68; n++)
        for (int variant = 0; variant < DTYPES * FILLS * 8; variant++) {
            const struct add_case c = {.type = (enum dtype)(variant % DTYPES),
                                       .fill = (enum fill)(variant / DTYPES % FILLS),
                                       .n = n == 68 ? 512 : n,
                                       .gap = rng_below(&rng, 2) * rng_below(&rng, 64),
                                       .at_end = variant / DTYPES / FILLS & 1,
                                       .in_place = variant / DTYPES / FILLS >> 1 & 1,
                                       .with_factor = variant / DTYPES / FILLS >> 2};
            if (test_reduced() && (n + (size_t)variant) % 7 != 0)
                continue;
            check_add(set, &c, &rng);
        }
}

/* ---- Philox ---- */

/* Random123 1.14.0, tests/kat_vectors (D. E. Shaw Research): philox4x32, 10 rounds. */
static void test_philox(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } vectors[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        uint32_t out[4];
        rope_philox(vectors[i].counter, vectors[i].key, out);
        assert_memory_equal(out, vectors[i].out, sizeof out);
    }
}

static int make_memory(void **state)
{
    (void)state;
    for (int i = 0; i < OPERANDS; i++)
        memory[i] = guarded_make(MEMORY_BYTES);
    return 0;
}

static int free_memory(void **state)
{
    (void)state;
    for (int i = 0; i < OPERANDS; i++)
        guarded_free(&memory[i]);
    return 0;
}

int main(void)
{
    static char names[2 * TEST_ISAS][32];
    struct CMUnitTest tests[2 * TEST_ISAS + 1] = {cmocka_unit_test(test_philox)};
    const int count = list_sets();
    for (int i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "add/%s", sets[i].name);
        tests[i + 1] =
            (struct CMUnitTest){.name = names[i], .test_func = test_add, .initial_state = &sets[i]};
    }
    return cmocka_run_group_tests_name("kernels_operations", tests, make_memory, free_memory);
}
