/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary files, renaming and cleaning up.  Its list of files is global because signal handlers
 * need it. */
#define _XOPEN_SOURCE     700
#define _FILE_OFFSET_BITS 64
#include "output.h"
#include "say.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    const char *path;
    char *temporary; /* NULL = there is none */
    int file;        /* -1 = closed */
} outputs[TOOL_OUTPUTS];
static size_t output_count;

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof *signals };

/* Holds the signals back (SIG_BLOCK) or lets them through (SIG_UNBLOCK), so that a handler never
 * sees half a change. */
static void hold_signals(int how)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < SIGNALS; i++)
        sigaddset(&set, signals[i]);
    sigprocmask(how, &set, NULL);
}

static void remove_and_die(int number)
{
    for (size_t i = 0; i < TOOL_OUTPUTS; i++)
        if (outputs[i].temporary != NULL)
            unlink(outputs[i].temporary);
    signal(number, SIG_DFL);
    raise(number); /* comes through when this handler returns */
}

static void catch_signals(void)
{
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the size limit is then an error like any other */
    for (size_t i = 0; i < SIGNALS; i++) {
        struct sigaction action;
        if (sigaction(signals[i], NULL, &action) != 0 || action.sa_handler == SIG_IGN)
            continue; /* nohup and the like stand */
        memset(&action, 0, sizeof action);
        action.sa_handler = remove_and_die;
        sigfillset(&action.sa_mask);
        sigaction(signals[i], &action, NULL);
    }
}

/* A name for a temporary file beside `path`. */
static char *temporary_name(const char *path)
{
    static const char tail[] = ".rope-XXXXXX";
    const char *const slash = strrchr(path, '/');
    const size_t directory = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    char *const name = malloc(directory + sizeof tail);
    if (name != NULL) {
        memcpy(name, path, directory);
        memcpy(name + directory, tail, sizeof tail);
    }
    return name;
}

int tool_output_open(const char *path, size_t *number)
{
    struct stat facts;
    mode_t mode = umask(0);
    umask(mode);
    mode = 0666 & ~mode;
    if (lstat(path, &facts) == 0) {
        if (!S_ISREG(facts.st_mode))
            return tool_bad("%s: type: %s: only a regular file is replaced", path,
                            S_ISDIR(facts.st_mode)   ? "directory"
                            : S_ISLNK(facts.st_mode) ? "symbolic link"
                                                     : "special file");
        mode = facts.st_mode & 0777;
    }
    char *const temporary = temporary_name(path);
    if (temporary == NULL)
        return tool_bad("%s: out of memory", path);
    if (output_count == 0)
        catch_signals();
    hold_signals(SIG_BLOCK);
    const int file = mkstemp(temporary);
    const int reason = errno;
    if (file >= 0) {
        outputs[output_count].path = path;
        outputs[output_count].temporary = temporary;
        outputs[output_count].file = file;
        *number = output_count++;
    }
    hold_signals(SIG_UNBLOCK);
    if (file < 0) {
        free(temporary);
        return tool_bad("%s: cannot be written: %s", path, strerror(reason));
    }
    if (fchmod(file, mode) != 0)
        return tool_bad("%s: cannot be written: %s", path, strerror(errno));
    return TOOL_OK;
}

int tool_output_write(size_t number, const void *data, size_t bytes, int64_t offset)
{
    const char *at = data;
    while (bytes > 0) {
        const size_t most = (size_t)1 << 30;
        const ssize_t put =
            pwrite(outputs[number].file, at, bytes < most ? bytes : most, (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return tool_bad("%s: cannot be written: %s", outputs[number].path,
                            strerror(put < 0 ? errno : ENOSPC));
        at += put;
        offset += put;
        bytes -= (size_t)put;
    }
    return TOOL_OK;
}

int tool_output_close(size_t number)
{
    const int file = outputs[number].file;
    outputs[number].file = -1;
    return file < 0 || close(file) == 0
               ? TOOL_OK
               : tool_bad("%s: cannot be written: %s", outputs[number].path, strerror(errno));
}

int tool_output_finish(int status)
{
    for (size_t i = 0; i < output_count; i++) {
        if (status == TOOL_OK)
            status = tool_output_close(i);
        else if (outputs[i].file >= 0)
            (void)close(outputs[i].file);
        outputs[i].file = -1;
    }
    hold_signals(SIG_BLOCK);
    for (size_t i = 0; i < output_count; i++) {
        if (status == TOOL_OK && rename(outputs[i].temporary, outputs[i].path) != 0)
            status = tool_bad("%s: cannot be replaced: %s", outputs[i].path, strerror(errno));
        if (status != TOOL_OK)
            unlink(outputs[i].temporary);
        free(outputs[i].temporary);
        outputs[i].temporary = NULL;
    }
    output_count = 0;
    hold_signals(SIG_UNBLOCK);
    return status;
}
