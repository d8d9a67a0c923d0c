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
    /* no compiler makes a struct that ends within a field: half a pointer is never followed */
    if (given_size < least || (given_size < size && given_size % sizeof(void *) != 0))
        return NULL;
    const unsigned char *bytes = given;
    for (size_t i = size; i < given_size; i++)
        if (bytes[i] != 0)
            return NULL;
    memset(room, 0, size);
    memcpy(room, given, given_size < size ? given_size : size);
    return room;
}

rope_status rope_descriptor_fail(struct rope_message message, const void *given, const char *name,
                                 size_t size)
{
    return rope_fail(message, ROPE_ERR_STRUCT,
                     "%s.struct_size: %u: must be %zu, or more with zeros behind", name,
                     (unsigned)*(const uint32_t *)given, size);
}

rope_status rope_descriptor_refuse(const void *given, const char *name, size_t size, size_t least,
                                   size_t message_at)
{
    if (*(const uint32_t *)given < least)
        return ROPE_ERR_STRUCT;
    struct rope_message message;
    memcpy(&message.text, (const char *)given + message_at, sizeof message.text);
    memcpy(&message.size, (const char *)given + message_at + sizeof message.text,
           sizeof message.size);
    return rope_descriptor_fail(message, given, name, size);
}

rope_status rope_dtype_fail(struct rope_message message, const char *name, rope_dtype dtype)
{
    return rope_fail(message, ROPE_ERR_DTYPE,
                     "%s.dtype: %d: must be ROPE_F32, ROPE_F64, ROPE_F16 or ROPE_BF16", name,
                     (int)dtype);
}
