/* SPDX-License-Identifier: Apache-2.0 */
/* Initialisers of rope_gguf_pair: a number, a text, an array of f64. */
#ifndef ROPE_TEST_GGUF_PAIRS_H
#define ROPE_TEST_GGUF_PAIRS_H

#include "rope/rope_config.h"
#include "support.h"

#define NUMBER(key, value)                                \
    {                                                     \
        sizeof(rope_gguf_pair), 0, key, NULL, NULL, value \
    }
#define TEXT(key, value)                                 \
    {                                                    \
        sizeof(rope_gguf_pair), 0, key, value, NULL, 0.0 \
    }
#define LIST(key, values)                                             \
    {                                                                 \
        sizeof(rope_gguf_pair), COUNT(values), key, NULL, values, 0.0 \
    }

#endif
