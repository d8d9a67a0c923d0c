/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a text of HTML in memory.  Knows what must be escaped, nothing of rotations. */
#include "page.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `more` bytes and a terminator. */
static int grow(struct tool_page *page, size_t more)
{
    if (page->failed)
        return 0;
    if (page->room - page->size > more)
        return 1;
    const size_t room = 2 * page->room + more + 4096;
    char *const text = realloc(page->text, room);
    if (text == NULL) {
        page->failed = 1;
        return 0;
    }
    page->text = text;
    page->room = room;
    return 1;
}

void tool_page_add(struct tool_page *page, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0 || !grow(page, (size_t)length))
        return;
    va_start(arguments, format);
    vsnprintf(page->text + page->size, (size_t)length + 1, format, arguments);
    va_end(arguments);
    page->size += (size_t)length;
}

/* Bytes of the UTF-8 character at `at`, 0 where there is none. */
static size_t character(const char *at)
{
    const unsigned char *const byte = (const unsigned char *)at;
    if (byte[0] < 0x80)
        return byte[0] >= ' ' && byte[0] != 0x7f ? 1 : 0;
    const size_t length = byte[0] >= 0xc2 && byte[0] < 0xe0   ? 2
                          : byte[0] >= 0xe0 && byte[0] < 0xf0 ? 3
                          : byte[0] >= 0xf0 && byte[0] < 0xf5 ? 4
                                                              : 0;
    for (size_t i = 1; i < length; i++)
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
    if ((byte[0] == 0xe0 && byte[1] < 0xa0) || (byte[0] == 0xed && byte[1] >= 0xa0) ||
        (byte[0] == 0xf0 && byte[1] < 0x90) || (byte[0] == 0xf4 && byte[1] >= 0x90) ||
        (byte[0] == 0xc2 && byte[1] < 0xa0))
        return 0; /* too long, a surrogate, beyond Unicode, a control character */
    return length;
}

void tool_page_text(struct tool_page *page, const char *text)
{
    while (*text != '\0') {
        const size_t length = character(text);
        if (length == 0)
            tool_page_add(page, "&#xfffd;");
        else if (length == 1 && strchr("<>&\"'", *text) != NULL)
            tool_page_add(page, "&#%d;", *text);
        else
            tool_page_add(page, "%.*s", (int)length, text);
        text += length == 0 ? 1 : length;
    }
}
