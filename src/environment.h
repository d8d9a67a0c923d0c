/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's floating-point environment, set aside while something is made that lasts: no rounding
 * mode, flush-to-zero or trap of the moment becomes part of it.  Too slow for calls that rotate.
 */
#ifndef ROPE_ENVIRONMENT_H
#define ROPE_ENVIRONMENT_H

#include <fenv.h>

static inline void rope_environment_enter(fenv_t *host)
{
    (void)fegetenv(host);
    (void)fesetenv(FE_DFL_ENV);
}

static inline void rope_environment_leave(const fenv_t *host)
{
    (void)fesetenv(host);
}

#endif
