/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel sets under test: all that this build has, also those that dispatch hides behind a better one. */
#ifndef ROPE_TESTS_KERNEL_SETS_H
#define ROPE_TESTS_KERNEL_SETS_H

#include "dispatch.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct set {
    const char *name;
    rope_isa isa;
    const struct rope_kernels *kernels; /* NULL = cannot run here */
};
static struct set sets[2 * TEST_ISAS];

/* Fills sets, with a name for what this build does not have; returns how many. */
static int list_sets(void)
{
    int count = 0;
    for (int i = 0; i < TEST_ISAS; i++) {
        const int before = count;
        const struct rope_kernel_set *set;
        for (size_t k = 0; (set = rope_kernel_set_at(k)) != NULL; k++)
            if (set->isa == test_isas[i])
                sets[count++] = (struct set){set->name, set->isa,
                                             rope_kernel_set_runs(set) ? set->kernels : NULL};
        if (count == before)
            sets[count++] = (struct set){rope_isa_name(test_isas[i]), test_isas[i], NULL};
    }
    return count;
}

static const struct set *set_of(void **state)
{
    const struct set *set = *state;
    if (!set->kernels) {
        print_message("skipped: the set %s cannot run here\n", set->name);
        skip();
    }
    const char *wanted = getenv("ROPE_ISA");
    if (test_reduced() && wanted && strcmp(wanted, rope_isa_name(set->isa)) != 0) {
        print_message("skipped: the emulator is here for %s, not for %s\n", wanted, set->name);
        skip();
    }
    test_f16_ties_for(set->isa);
    return set;
}

#endif
