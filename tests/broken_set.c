/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel sets with a fault, for a librope that `rope check` must refuse: fused half-split
 * rotations of f32 data get the last bit of a head's last element wrong.  The linker puts these sets
 * in the place of the real ones (--wrap).
 */
#include "kernels.h"

#define BROKEN(set)                                                                            \
    extern const struct rope_kernels __real_rope_kernels_##set;                                \
    extern struct rope_kernels __wrap_rope_kernels_##set;                                      \
    struct rope_kernels __wrap_rope_kernels_##set;                                             \
    static void rotate_##set(const struct rope_rotate_args *args)                              \
    {                                                                                          \
        __real_rope_kernels_##set.rotate[RK_FUSED][RK_HALF][RK_F32](args);                     \
        ((unsigned char *)args->dst)[(args->dst_half + args->pairs - 1) * sizeof(float)] ^= 1; \
    }                                                                                          \
    __attribute__((constructor)) static void break_##set(void)                                 \
    {                                                                                          \
        __wrap_rope_kernels_##set = __real_rope_kernels_##set;                                 \
        __wrap_rope_kernels_##set.rotate[RK_FUSED][RK_HALF][RK_F32] = rotate_##set;            \
    }

#ifdef ROPE_HAVE_AVX2
BROKEN(avx2)
#endif
#ifdef ROPE_HAVE_AVX512
BROKEN(avx512)
#endif
#ifdef ROPE_HAVE_AVX512_BF16
BROKEN(avx512_bf16)
#endif
#ifdef ROPE_HAVE_NEON
BROKEN(neon)
#endif
