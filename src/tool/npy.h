/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .npy files (NumPy, numpy.lib.format, versions 1.0 to 3.0): little-endian <f2 <f4 <f8 <u2 <i4 <i8
 * in C order, and nothing else.  Every claim of a header is checked against the file before memory
 * is sized by it.  Knows nothing of rotations.
 */
#ifndef ROPE_TOOL_NPY_H
#define ROPE_TOOL_NPY_H

#include <stddef.h>
#include <stdint.h>

#include "rope/rope.h"

enum {
    TOOL_NPY_DIMS = 8,
    TOOL_NPY_HEADER = 512 /* bytes that any header written here fits in */
};

struct tool_npy {
    const char *path;
    int file;         /* -1 = not open */
    rope_dtype dtype; /* TOOL_U16 for <u2 */
    size_t dims;
    size_t shape[TOOL_NPY_DIMS];
    size_t count; /* elements; their bytes fit size_t and int64_t */
    int64_t data; /* bytes before the first element */
};
#define TOOL_NPY_INIT             \
    {                             \
        NULL, -1, 0, 0, {0}, 0, 0 \
    }

/* Opens a file and reads its header; on failure says why and returns TOOL_BAD. */
int tool_npy_open(struct tool_npy *array, const char *path);

/* Reads `count` elements from element `first` on. */
int tool_npy_read(const struct tool_npy *array, size_t first, size_t count, void *elements);

/* The whole array in memory that the caller frees; never NULL on success. */
int tool_npy_load(const struct tool_npy *array, void **elements);

void tool_npy_close(struct tool_npy *array);

/* "[4096, 32, 128]" */
void tool_npy_shape_print(char *text, size_t size, const size_t *shape, size_t dims);

/* Writes a header of version 1.0, which ends on a multiple of 64, and returns its length. */
size_t tool_npy_header(char header[TOOL_NPY_HEADER], rope_dtype dtype, const size_t *shape,
                       size_t dims);

#endif
