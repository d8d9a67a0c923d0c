/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads JSON from memory in one pass and without allocating.  Keeps no tree and decodes no escapes.
 */
#include "json.h"
#include <string.h>

enum { DEPTH_MAX = 64 };

static int fail(struct tool_json *json)
{
    json->failed = 1;
    return 0;
}

/* The next character behind blanks, 0 at the end. */
static char peek(struct tool_json *json)
{
    while (json->at < json->end &&
           (*json->at == ' ' || *json->at == '\t' || *json->at == '\n' || *json->at == '\r'))
        json->at++;
    return json->at < json->end && !json->failed ? *json->at : '\0';
}

static int take(struct tool_json *json, char wanted)
{
    if (peek(json) != wanted)
        return fail(json);
    json->at++;
    return 1;
}

int tool_json_is(struct tool_json *json, char first)
{
    return peek(json) == first;
}

int tool_json_enter(struct tool_json *json, char open)
{
    return take(json, open);
}

int tool_json_text(struct tool_json *json, struct tool_text *text)
{
    if (!take(json, '"'))
        return 0;
    text->at = json->at;
    for (; json->at < json->end && *json->at != '"'; json->at++) {
        if ((unsigned char)*json->at < ' ')
            return fail(json);
        if (*json->at == '\\' && ++json->at == json->end)
            return fail(json);
    }
    text->length = (size_t)(json->at - text->at);
    return take(json, '"');
}

int tool_json_next(struct tool_json *json, struct tool_text *name)
{
    /* What stands before tells the first member from the others. */
    const char before = json->at[-1];
    const char first = peek(json);
    if (first == (name != NULL ? '}' : ']')) {
        json->at++;
        return 0;
    }
    if (before != '{' && before != '[' && !take(json, ','))
        return 0;
    return name == NULL ? !json->failed : tool_json_text(json, name) && take(json, ':');
}

int tool_json_size(struct tool_json *json, uint64_t *number)
{
    uint64_t value = 0;
    char digit = peek(json);
    if (digit < '0' || digit > '9')
        return fail(json);
    const int leading_zero = digit == '0';
    size_t digits = 0;
    for (; digit >= '0' && digit <= '9'; digits++) {
        const uint64_t more = (uint64_t)(digit - '0');
        if (value > (UINT64_MAX - more) / 10)
            return fail(json);
        value = value * 10 + more;
        json->at++;
        digit = json->at < json->end ? *json->at : '\0';
    }
    if ((leading_zero && digits > 1) || digit == '.' || digit == 'e' || digit == 'E')
        return fail(json);
    *number = value;
    return 1;
}

/* A number, true, false or null; their letters are not looked at closely. */
static int skip_word(struct tool_json *json)
{
    const char *const start = json->at;
    while (json->at < json->end && *json->at != '\0' &&
           strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzEINT", *json->at) != NULL)
        json->at++;
    return json->at > start ? 1 : fail(json);
}

int tool_json_skip(struct tool_json *json)
{
    char closing[DEPTH_MAX];
    size_t depth = 0;
    struct tool_text text;
    for (;;) {
        const char first = peek(json);
        if (first == '{' || first == '[') {
            if (depth == DEPTH_MAX)
                return fail(json);
            closing[depth++] = first == '{' ? '}' : ']';
            json->at++;
        } else if (first == '"' ? !tool_json_text(json, &text) : !skip_word(json)) {
            return 0;
        }
        /* on to the next value, out of all that ends here */
        for (;;) {
            if (depth == 0)
                return 1;
            struct tool_text name;
            if (tool_json_next(json, closing[depth - 1] == '}' ? &name : NULL))
                break;
            if (json->failed)
                return 0;
            depth--;
        }
    }
}

int tool_json_end(struct tool_json *json)
{
    return peek(json) == '\0' && json->at == json->end && !json->failed;
}

int tool_text_is(const struct tool_text *text, const char *word)
{
    return text->length == strlen(word) && memcmp(text->at, word, text->length) == 0;
}
