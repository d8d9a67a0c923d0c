/* SPDX-License-Identifier: Apache-2.0 */
/* The AVX-512 set again for CPUs that round to bf16 in hardware; the bits are the same. */
#include "vec_avx512.h"
#ifndef __AVX512BF16__
#error "compile with -mavx512bf16"
#endif
#define ISA avx512_bf16
#include "kernel_set.inc.h"
