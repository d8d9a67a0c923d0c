/* SPDX-License-Identifier: Apache-2.0 */
/* How programs take in the goldens: files linked into them, one case to a line of " key=value". */
#ifndef ROPE_TESTS_GOLDEN_H
#define ROPE_TESTS_GOLDEN_H

#include <string.h>

/* Links a file into the program, with a NUL behind it. */
#define EMBED(name, file)                                                      \
    __asm__(".pushsection .rodata\n.balign 16\n.globl " #name "\n" #name ":\n" \
            ".incbin \"" file "\"\n.byte 0\n.popsection\n");                   \
    extern const char name[]

/* The value behind " key=" in a line, up to a blank or the line's end; NULL if it is not there. */
static inline const char *golden_field(const char *line, const char *key)
{
    const size_t length = strlen(key);
    const char *end = strchr(line, '\n');
    for (const char *at = line; (at = strchr(at, ' ')) != NULL && at < end;) {
        at++;
        if (strncmp(at, key, length) == 0 && at[length] == '=')
            return at + length + 1;
    }
    return NULL;
}

#endif
