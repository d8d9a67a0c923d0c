/* SPDX-License-Identifier: Apache-2.0 */
/* Which streams belong to which set.  Has none itself. */
#include "limit.h"
#include <cstring>

const limits &limits_of(const char *isa)
{
#if defined(__x86_64__)
    if (std::strcmp(isa, "avx512") == 0)
        return limits_avx512;
    if (std::strcmp(isa, "avx2") == 0)
        return limits_avx2;
#elif defined(__aarch64__)
    if (std::strcmp(isa, "neon") == 0)
        return limits_neon;
#endif
    return limits_scalar;
}
