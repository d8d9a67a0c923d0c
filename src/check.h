/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every public call needs at its door: reading descriptors by struct_size, and error messages.
 * Decides nothing about rotations.
 */
#ifndef ROPE_CHECK_H
#define ROPE_CHECK_H

#include "rope/rope.h"

/* The smallest size that is accepted, that of the first form: of descriptors that several files read. */
enum {
    ROPE_JOB_SIZE_0_1 = offsetof(rope_job, xpos_center),
    ROPE_ROWS_SIZE_0_1 = offsetof(rope_rows, message_size) + sizeof(size_t)
};

/* Of plans and permutations.  Keeps the tables of a hostile spec below 90 MiB; models have 512 at
 * most. */
enum { ROPE_ROTARY_DIM_MAX = 4096 };

/* Where the caller wants its line of text; text may be NULL. */
struct rope_message {
    char *text;
    size_t size;
};

#if defined(__GNUC__)
#define ROPE_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define ROPE_PRINTF(text, first)
#endif

/* Writes the line and returns status. */
rope_status rope_fail(struct rope_message message, rope_status status, const char *format, ...)
    ROPE_PRINTF(3, 4);

/* The descriptor of another size, for rope_descriptor alone. */
const void *rope_descriptor_copy(const void *given, void *room, size_t size, size_t least);

/*
 * The descriptor as this library knows it: `given` itself when the caller's struct has our size,
 * else a copy in `room`, cut or filled with zeros.  NULL when struct_size is below `least` (the
 * size of its first version), ends within a field, or unknown bytes are not zero.  `given` starts with its struct_size.
 */
static inline const void *rope_descriptor(const void *given, void *room, size_t size, size_t least)
{
    return *(const uint32_t *)given == size ? given
                                            : rope_descriptor_copy(given, room, size, least);
}

/* The division of a call among threads. */
static inline rope_status rope_part_check(size_t part, size_t parts, struct rope_message message)
{
    return part < parts ? ROPE_OK
                        : rope_fail(message, ROPE_ERR_VALUE, "part: %zu: must be < parts = %zu",
                                    part, parts);
}

/* Where part `part` of `parts` begins among `units`. */
static inline size_t rope_part_begin(size_t units, size_t part, size_t parts)
{
    const size_t rest = units % parts;
    return units / parts * part + (part < rest ? part : rest);
}

/* Refuses a descriptor for which rope_descriptor had NULL; `size` is that of this library. */
rope_status rope_descriptor_fail(struct rope_message message, const void *given, const char *name,
                                 size_t size);

/*
 * The same where the message is to go where the descriptor itself says: text and size lie
 * message_at bytes behind its start.  One below `least` is too short to say it.
 */
rope_status rope_descriptor_refuse(const void *given, const char *name, size_t size, size_t least,
                                   size_t message_at);

/* Bytes of an element, 0 for what is no dtype.  Data types only: f32, f64, f16, bf16. */
static inline size_t rope_dtype_size(rope_dtype dtype)
{
    static const unsigned char sizes[] = {
        [ROPE_F32] = 4, [ROPE_F64] = 8, [ROPE_F16] = 2, [ROPE_BF16] = 2};
    return dtype >= 0 && dtype <= ROPE_BF16 ? sizes[dtype] : 0;
}

/* Refuses the dtype of a descriptor for which rope_dtype_size had 0. */
rope_status rope_dtype_fail(struct rope_message message, const char *name, rope_dtype dtype);

#endif
