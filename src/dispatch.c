/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of kernel sets, and the choice among them: made once, without a lock, by whoever asks
 * first.
 */
#if defined(__GLIBC__) || defined(__linux__)
#define _GNU_SOURCE /* secure_getenv */
#endif
#include "dispatch.h"
#include "cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Best first.  A set that appears twice is taken in the first form that the CPU can run. */
static const struct rope_kernel_set sets[] = {
#ifdef ROPE_HAVE_AVX512_BF16
    {"avx512_bf16", ROPE_ISA_AVX512, ROPE_CPU_AVX512 | ROPE_CPU_BF16, &rope_kernels_avx512_bf16},
#endif
#ifdef ROPE_HAVE_AVX512
    {"avx512", ROPE_ISA_AVX512, ROPE_CPU_AVX512, &rope_kernels_avx512},
#endif
#ifdef ROPE_HAVE_AVX2
    {"avx2", ROPE_ISA_AVX2, ROPE_CPU_AVX2, &rope_kernels_avx2},
#endif
#ifdef ROPE_HAVE_NEON
    {"neon", ROPE_ISA_NEON, ROPE_CPU_NEON, &rope_kernels_neon},
#endif
#ifdef ROPE_HAVE_SCALAR_FMA
    {"scalar_fma", ROPE_ISA_SCALAR, ROPE_CPU_FMA, &rope_kernels_scalar_fma},
#endif
    {"scalar", ROPE_ISA_SCALAR, 0, &rope_kernels_scalar},
};
enum { SETS = sizeof sets / sizeof sets[0] };

/* The outcome of a failed choice is published like any other. */
static const struct rope_kernel_set no_set = {"none", ROPE_ISA_NONE, 0, NULL};

static _Atomic(const struct rope_kernel_set *) active;

static const char *const names[] = {"none", "scalar", "avx2", "avx512", "neon"};
enum { NAMES = sizeof names / sizeof names[0] };

/* The best set that runs here; of `isa` alone unless that is ROPE_ISA_NONE. */
static const struct rope_kernel_set *best_set(rope_isa isa)
{
    const uint32_t features = rope_cpu_features();
    for (size_t i = 0; i < SETS; i++)
        if ((isa == ROPE_ISA_NONE || sets[i].isa == isa) && (sets[i].needs & ~features) == 0)
            return &sets[i];
    return &no_set;
}

static const struct rope_kernel_set *chosen_set(void)
{
#if defined(__GLIBC__)
    const char *wanted = secure_getenv("ROPE_ISA");
#else
    const char *wanted = getenv("ROPE_ISA");
#endif
    if (wanted == NULL || wanted[0] == '\0')
        return best_set(ROPE_ISA_NONE);
    for (rope_isa isa = 1; isa < NAMES; isa++)
        if (strcmp(wanted, names[isa]) == 0)
            return best_set(isa);
    return &no_set;
}

/* Racing first callers find the same set and store the same pointer. */
static const struct rope_kernel_set *active_set(void)
{
    const struct rope_kernel_set *set = atomic_load_explicit(&active, memory_order_acquire);
    if (set == NULL) {
        set = chosen_set();
        atomic_store_explicit(&active, set, memory_order_release);
    }
    return set;
}

const struct rope_kernel_set *rope_kernel_set_at(size_t index)
{
    return index < SETS ? &sets[index] : NULL;
}

int rope_kernel_set_runs(const struct rope_kernel_set *set)
{
    return (set->needs & ~rope_cpu_features()) == 0;
}

const struct rope_kernels *rope_kernels_for(rope_isa isa)
{
    return isa == ROPE_ISA_NONE ? NULL : best_set(isa)->kernels;
}

const struct rope_kernels *rope_kernels_active(rope_isa *isa)
{
    const struct rope_kernel_set *set = active_set();
    *isa = set->isa;
    return set->kernels;
}

rope_isa rope_active_isa(void)
{
    return active_set()->isa;
}

int rope_isa_available(rope_isa isa)
{
    return rope_kernels_for(isa) != NULL;
}

const char *rope_isa_name(rope_isa isa)
{
    return isa > 0 && isa < NAMES ? names[isa] : names[0];
}
