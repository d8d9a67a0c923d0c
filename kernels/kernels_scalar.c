/* SPDX-License-Identifier: Apache-2.0 */
/* The scalar set: runs on every CPU of the architecture and is the reference for all others. */
#include "vec_scalar.h"
#define ISA scalar
#include "kernel_set.inc.h"
