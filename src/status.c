/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of statuses and the version. */
#include "rope/rope.h"

const char *rope_status_string(rope_status status)
{
    switch (status) {
    case ROPE_OK:
        return "success";
    case ROPE_ERR_NULL:
        return "required pointer is NULL";
    case ROPE_ERR_STRUCT:
        return "struct_size does not fit";
    case ROPE_ERR_VALUE:
        return "value out of its range";
    case ROPE_ERR_DTYPE:
        return "unsupported dtype";
    case ROPE_ERR_SIZE:
        return "size overflows";
    case ROPE_ERR_STRIDE:
        return "destination overlaps itself";
    case ROPE_ERR_ALIAS:
        return "destination overlaps another operand";
    case ROPE_ERR_POSITION:
        return "position out of range";
    case ROPE_ERR_ROW:
        return "row out of range";
    case ROPE_ERR_ISA:
        return "instruction set not available";
    case ROPE_ERR_MEMORY:
        return "out of memory";
    case ROPE_ERR_DIFFERENCE:
        return "instruction set computes other bits than it must";
    default:
        return "unknown status";
    }
}

#define TEXT_(number) #number
#define TEXT(number)  TEXT_(number)

uint32_t rope_version(void)
{
    return ROPE_VERSION_MAJOR * 10000 + ROPE_VERSION_MINOR * 100 + ROPE_VERSION_PATCH;
}

const char *rope_version_string(void)
{
    return TEXT(ROPE_VERSION_MAJOR) "." TEXT(ROPE_VERSION_MINOR) "." TEXT(ROPE_VERSION_PATCH);
}
