/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rope table, apply and verify share: from options and input files to a plan, positions and
 * the tensors of a job, all checked against each other.  Writes no file.
 */
#ifndef ROPE_TOOL_REQUEST_H
#define ROPE_TOOL_REQUEST_H

#include "npy.h"
#include "options.h"
#include "rope/rope_config.h"

/* Positions that a file names, or `start` and those that follow it. */
struct tool_positions {
    void *data;       /* NULL = start, start + 1, ... */
    rope_dtype dtype; /* of data */
    size_t rows;      /* 1, or one for each batch */
    size_t tokens;
    int64_t start;
};

/* Parses --positions START:COUNT|FILE of rope table. */
int tool_positions_read(struct tool_positions *positions, const char *text);
void tool_positions_free(struct tool_positions *positions);

/* The position of a token. */
double tool_position(const struct tool_positions *positions, size_t batch, size_t token);

/* The positions from a token on, for the library: the same for each of the ROPE_AXES_MAX axes. */
void tool_positions_from(rope_positions *from, const struct tool_positions *positions, size_t batch,
                         size_t token);

/* Prints what the library said about an error, or what the status alone says. */
int tool_library_error(rope_status status, const char *message);

/* A spec of the options, with `inv_freq` loaded (the caller frees it) and `message` for errors of
 * the library. */
int tool_spec_read(rope_spec *spec, const struct tool_options *options, size_t head_dim,
                   double **inv_freq, char *message, size_t message_size);

/* The rotation of --config instead; the caller closes the configuration in any case. */
int tool_spec_from_config(rope_spec *spec, const struct tool_options *options, rope_config **config,
                          rope_config_entry *entry, char *message, size_t message_size);

enum { TOOL_Q, TOOL_K, TOOL_TENSORS };

struct tool_tensor {
    const char *out_path; /* NULL = the tensor is absent */
    struct tool_npy in;
    rope_dtype dtype;
    size_t heads;
    size_t head_dim;
    size_t rotary_offset;
    size_t token_elements; /* heads * head_dim */
};

struct tool_request {
    struct tool_tensor tensor[TOOL_TENSORS];
    size_t batch;
    size_t tokens;
    size_t chunk;      /* tokens to work on at once */
    uint64_t elements; /* of all tensors */
    struct tool_positions positions;
    rope_spec spec;
    rope_plan *plan;
    rope_config *config; /* of --config, or NULL */
    rope_config_entry entry;
    double *inv_freq;
    char message[256];
};

/* Opens everything that a command line of rope apply or verify names, and makes the plan.  To be
 * closed in any case. */
int tool_request_open(struct tool_request *request, const struct tool_options *options);
void tool_request_close(struct tool_request *request);

/* Tokens of one batch, to be worked on at once.  All zero: before the first. */
struct tool_stretch {
    size_t batch;
    size_t token;
    size_t tokens;
};

/* Moves on to the next stretch of tokens, in the order of the files; 0 when there is none. */
int tool_request_next(const struct tool_request *request, struct tool_stretch *stretch);

/* Where the elements of a stretch start in a file of the tensor, and how many there are. */
size_t tool_stretch_first(const struct tool_request *request, const struct tool_tensor *tensor,
                          const struct tool_stretch *stretch);
size_t tool_stretch_count(const struct tool_tensor *tensor, const struct tool_stretch *stretch);

/* Memory for the elements of the longest stretch; NULL when there is none to be had. */
void *tool_stretch_alloc(const struct tool_request *request, const struct tool_tensor *tensor);

#endif
