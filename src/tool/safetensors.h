/* SPDX-License-Identifier: Apache-2.0 */
/* Reads safetensors files whose headers nobody vouches for.  Knows no model and writes nothing. */
#ifndef ROPE_TOOL_SAFETENSORS_H
#define ROPE_TOOL_SAFETENSORS_H

#include "json.h"
#include "rope/rope.h"

/* What the reference implementation accepts as well. */
enum { TOOL_HEADER_MAX = 100000000 };

struct tool_tensor {
    struct tool_text name;
    struct tool_text type; /* as the file has it: "BF16" */
    rope_dtype dtype;      /* 0 where librope has no such type */
    size_t dimensions;
    uint64_t rows;  /* the first dimension, 1 without any */
    uint64_t count; /* elements */
    uint64_t begin; /* bytes of the file */
    uint64_t end;
};

struct tool_safetensors {
    const char *path;
    int file;
    char *header;
    uint64_t header_size;
    uint64_t size;  /* of the file */
    uint64_t start; /* of the data, from the beginning of the file */
    size_t tensors;
    struct tool_json json;
};

/* Opens a file and checks all of its header: types, products of shapes, and that tensors cover the
 * data without holes or overlaps.  Close it in any case. */
int tool_safetensors_open(struct tool_safetensors *safetensors, const char *path);
void tool_safetensors_close(struct tool_safetensors *safetensors);

/* The next tensor in the order of the header; 0 behind the last, from where it starts again. */
int tool_safetensors_next(struct tool_safetensors *safetensors, struct tool_tensor *tensor);

/* Reads bytes of the file; an end of the file before them is an error. */
int tool_safetensors_read(const struct tool_safetensors *safetensors, void *data, size_t bytes,
                          uint64_t offset);

#endif
