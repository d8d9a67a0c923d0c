/* SPDX-License-Identifier: Apache-2.0 */
/* The scalar set again for x86 CPUs with FMA: fma is an instruction there, not a call, and the bits
 * are the same. */
#include "vec_scalar.h"
#ifndef __FMA__
#error "compile with -mfma"
#endif
#define ISA scalar_fma
#include "kernel_set.inc.h"
