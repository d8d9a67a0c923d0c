/* SPDX-License-Identifier: Apache-2.0 */
/* What the tool says to people: one-line errors, progress, exit codes.  Knows nothing of files or
 * rotations. */
#ifndef ROPE_TOOL_SAY_H
#define ROPE_TOOL_SAY_H

#include <stdint.h>
#include <time.h>

/* Exit codes, and the result of every function of the tool that can fail. */
enum { TOOL_OK = 0, TOOL_DIFFERENCE = 1, TOOL_BAD = 2 };

/* Prints "rope: ..." as exactly one line to standard error, whatever bytes the arguments hold.
 * Returns TOOL_BAD. */
int tool_bad(const char *format, ...);

/* Progress of long work, shown on standard error when that is a terminal and the work takes over a
 * second. */
struct tool_progress {
    const char *what;
    uint64_t total;
    uint64_t done;
    time_t started;
    int shown; /* the percentage on the screen, -1 = none */
};
void tool_progress_start(struct tool_progress *progress, const char *what, uint64_t total);
void tool_progress_add(struct tool_progress *progress, uint64_t done);
void tool_progress_end(struct tool_progress *progress);

#endif
