/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads JSON from memory in one pass and without allocating.  Keeps no tree and decodes no escapes.
 */
#ifndef ROPE_TOOL_JSON_H
#define ROPE_TOOL_JSON_H

#include <stddef.h>
#include <stdint.h>

/* Where reading stands.  Once it has failed, every call fails and `at` is the fault. */
struct tool_json {
    const char *at;
    const char *end;
    int failed;
};

/* A string between its quotes, with its escapes as they stand. */
struct tool_text {
    const char *at;
    size_t length;
};

/* 1 if the next value is of the kind that begins with `first`: { [ " */
int tool_json_is(struct tool_json *json, char first);

/*
 * Members of an object or an array: enter, then a call of next before each member until it is 0.
 * For objects next reads the name too; for arrays name is NULL.
 */
int tool_json_enter(struct tool_json *json, char open);
int tool_json_next(struct tool_json *json, struct tool_text *name);

int tool_json_text(struct tool_json *json, struct tool_text *text);
int tool_json_size(struct tool_json *json, uint64_t *number);
int tool_json_skip(struct tool_json *json); /* any value, at most 64 deep */
int tool_json_end(struct tool_json *json);  /* 1 if only blanks are left */

int tool_text_is(const struct tool_text *text, const char *word);

#endif
