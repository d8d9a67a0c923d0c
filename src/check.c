/* SPDX-License-Identifier: Apache-2.0 */
/* Reading descriptors, and error messages. */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

rope_status rope_fail(struct rope_message message, rope_status status, const char *format, ...)
{
    if (message.text != NULL && message.size != 0) {
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(message.text, message.size, format, arguments);
        va_end(arguments);
    }
    return status;
}

const void *rope_descriptor_copy(const void *given, void *room, size_t size, size_t least)
{
    uint32_t given_size;
    memcpy(&given_size, given, sizeof given_size);
    if (given_size < least)
        return NULL;
    const unsigned char *bytes = given;
    for (size_t i = size; i < given_size; i++)
        if (bytes[i] != 0)
            return NULL;
    memset(room, 0, size);
    memcpy(room, given, given_size < size ? given_size : size);
    return room;
}
