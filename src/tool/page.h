/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a text of HTML in memory.  Knows what must be escaped, nothing of rotations. */
#ifndef ROPE_TOOL_PAGE_H
#define ROPE_TOOL_PAGE_H

#include <stddef.h>

struct tool_page {
    char *text;
    size_t size;
    size_t room;
    int failed; /* out of memory: all further calls do nothing */
};

/* Markup, by printf's rules.  Text from outside must go through tool_page_text. */
void tool_page_add(struct tool_page *page, const char *format, ...);

/* Text of anybody: markup in it is shown as it is, bytes that are no UTF-8 as U+FFFD. */
void tool_page_text(struct tool_page *page, const char *text);

#endif
