/* SPDX-License-Identifier: Apache-2.0 */
/* The AVX-512 set. */
#include "vec_avx512.h"
#define ISA avx512
#include "kernel_set.inc.h"
