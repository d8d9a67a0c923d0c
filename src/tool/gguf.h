/* SPDX-License-Identifier: Apache-2.0 */
/* The metadata in front of a GGUF file.  Knows the format, not what the keys mean. */
#ifndef ROPE_TOOL_GGUF_H
#define ROPE_TOOL_GGUF_H

#include "rope/rope_config.h"

#include <stdio.h>

struct tool_gguf {
    rope_gguf_pair *pairs;
    size_t count;
    struct tool_gguf_block *blocks; /* what the pairs point to */
};

/* 1 if the file begins as a GGUF file does; leaves it at its start. */
int tool_gguf_is(FILE *file);

/*
 * Reads strings, numbers and lists of up to 65536 numbers, and the f32 tensors whose names begin
 * with "rope_". Everything else is passed over.  To be freed in any case.
 */
int tool_gguf_read(struct tool_gguf *gguf, FILE *file, const char *path);
void tool_gguf_free(struct tool_gguf *gguf);

#endif
