/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel sets of this build and the choice among them.  Knows CPUs only through cpu.h. */
#ifndef ROPE_DISPATCH_H
#define ROPE_DISPATCH_H

#include "kernels.h"
#include "rope/rope.h"

/* A set of this build: a name of rope_isa may stand for several, of which the best runs. */
struct rope_kernel_set {
    const char *name; /* as in rope_kernels_<name> */
    rope_isa isa;
    uint32_t needs; /* feature bits of cpu.h */
    const struct rope_kernels *kernels;
};

/*
 * All sets of this build, best first; NULL behind the last.  For tests, which must run every one of
 * them.
 */
const struct rope_kernel_set *rope_kernel_set_at(size_t index);

/* 1 if this CPU can run the set. */
int rope_kernel_set_runs(const struct rope_kernel_set *set);

/*
 * The kernels of a set, or NULL if it is not built in or this CPU cannot run it.  Ignores ROPE_ISA.
 */
const struct rope_kernels *rope_kernels_for(rope_isa isa);

/*
 * The kernels that new plans use; NULL when ROPE_ISA asks for what cannot be had.  *isa receives
 * the set's name.
 */
const struct rope_kernels *rope_kernels_active(rope_isa *isa);

#endif
