/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel sets of this build and the choice among them.  Knows CPUs only through cpu.h. */
#ifndef ROPE_DISPATCH_H
#define ROPE_DISPATCH_H

#include "kernels.h"
#include "rope/rope.h"

/* The kernels of a set, or NULL if it is not built in or this CPU cannot run it.  Ignores ROPE_ISA. */
const struct rope_kernels *rope_kernels_for(rope_isa isa);

/* The kernels that new plans use; NULL when ROPE_ISA asks for what cannot be had.  *isa receives the set's name. */
const struct rope_kernels *rope_kernels_active(rope_isa *isa);

#endif
