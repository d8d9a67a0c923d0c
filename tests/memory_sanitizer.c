/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For builds with MemorySanitizer: SLEEF, which is not compiled with it, returns vectors through
 * memory of its caller.  The linker puts these functions in place of those of SLEEF that kernels
 * call; they tell the sanitizer what is written.
 */
#include <immintrin.h>
#include <sanitizer/msan_interface.h>
#include <sleef.h>

Sleef___m256d_2 __real_Sleef_finz_sincospid4_u05avx2(__m256d x);
Sleef___m256d_2 __wrap_Sleef_finz_sincospid4_u05avx2(__m256d x);
Sleef___m512d_2 __real_Sleef_finz_sincospid8_u05avx512f(__m512d x);
Sleef___m512d_2 __wrap_Sleef_finz_sincospid8_u05avx512f(__m512d x);

/* Every lane of an argument must be known: tails are filled. */
Sleef___m256d_2 __wrap_Sleef_finz_sincospid4_u05avx2(__m256d x)
{
    Sleef___m256d_2 both = __real_Sleef_finz_sincospid4_u05avx2(x);
    __msan_check_mem_is_initialized(&x, sizeof x);
    __msan_unpoison(&both, sizeof both);
    return both;
}

Sleef___m512d_2 __wrap_Sleef_finz_sincospid8_u05avx512f(__m512d x)
{
    Sleef___m512d_2 both = __real_Sleef_finz_sincospid8_u05avx512f(x);
    __msan_check_mem_is_initialized(&x, sizeof x);
    __msan_unpoison(&both, sizeof both);
    return both;
}
