/* SPDX-License-Identifier: Apache-2.0 */
/* The AVX2 set. */
#include "vec_avx2.h"
#define ISA avx2
#include "kernel_set.inc.h"
