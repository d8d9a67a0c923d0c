/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output files that are there whole or not at all: a temporary file in the same directory, renamed
 * at the end, removed on any failure and on SIGINT, SIGTERM and SIGHUP.  Knows nothing of .npy or
 * rotations.
 */
#ifndef ROPE_TOOL_OUTPUT_H
#define ROPE_TOOL_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

enum { TOOL_OUTPUTS = 1025 };

/* Opens the next output (at most TOOL_OUTPUTS).  *number receives its number. */
int tool_output_open(const char *path, size_t *number);

/* Writes at a byte offset; may leave gaps that are filled later. */
int tool_output_write(size_t number, const void *data, size_t bytes, int64_t offset);

/* Closes an output that is complete, so that many can be made one after the other. */
int tool_output_close(size_t number);

/* Ends all outputs: closes all, then renames all.  If the status is not TOOL_OK or anything fails,
 * removes all. */
int tool_output_finish(int status);

#endif
