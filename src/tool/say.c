/* SPDX-License-Identifier: Apache-2.0 */
/* One-line errors and progress on standard error.  Never writes to standard output. */
#define _XOPEN_SOURCE 700
#include "say.h"
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* Control characters, which a path may hold, would reach the terminal. */
static void make_printable(char *line)
{
    for (char *at = line; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
}

int tool_bad(const char *format, ...)
{
    char line[8192]; /* two paths of PATH_MAX do not fit, every message with one does */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    make_printable(line);
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
    const double seconds = difftime(time(NULL), progress->started);
    if (progress->done == 0 || seconds < 2.0 || !isatty(STDERR_FILENO))
        return;
    const double part = (double)progress->done / (double)progress->total;
    const int percent = (int)(100.0 * part);
    if (percent == progress->shown)
        return;
    progress->shown = percent;
    static const char bar[] = "########################";
    const int width = (int)sizeof bar - 1;
    char line[160];
    snprintf(line, sizeof line, "[%-*.*s] %3d %%, %.0f s left, %s", width, (int)(width * part), bar,
             percent, seconds * (1.0 - part) / part, progress->what);
    make_printable(line);
    fprintf(stderr, "\r%.79s\033[K", line);
}

void tool_progress_end(struct tool_progress *progress)
{
    if (progress->shown >= 0)
        fputs("\r\033[K", stderr);
    progress->shown = -1;
}
