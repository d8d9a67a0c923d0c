/* SPDX-License-Identifier: Apache-2.0 */
/* The NEON set. */
#include "vec_neon.h"
#define ISA neon
#include "kernel_set.inc.h"
