/* SPDX-License-Identifier: Apache-2.0 */
/* One-line errors and progress on standard error.  Never writes to standard output. */
#define _XOPEN_SOURCE 700
#include "say.h"
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

int tool_bad(const char *format, ...)
{
    char line[8192]; /* two paths of PATH_MAX do not fit, every message with one does */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (char *at = line; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    fprintf(stderr, "rope: %s\n", line);
    return TOOL_BAD;
}

void tool_progress_start(struct tool_progress *progress, const char *what, uint64_t total)
{
    progress->what = what;
    progress->total = total;
    progress->done = 0;
    progress->started = time(NULL);
    progress->shown = -1;
}

void tool_progress_add(struct tool_progress *progress, uint64_t done)
{
    progress->done += done;
    const int percent = (int)(100.0 * (double)progress->done / (double)progress->total);
    if (percent == progress->shown || time(NULL) - progress->started < 2 || !isatty(STDERR_FILENO))
        return;
    progress->shown = percent;
    fprintf(stderr, "\rrope: %s: %3d %%", progress->what, percent);
}

void tool_progress_end(struct tool_progress *progress)
{
    if (progress->shown >= 0)
        fputs("\r                              \r", stderr);
    progress->shown = -1;
}
