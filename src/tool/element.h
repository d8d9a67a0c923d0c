/* SPDX-License-Identifier: Apache-2.0 */
/* One array element: its types, its value, its bits, and rounding to it.  Knows nothing of files or
 * rotations. */
#ifndef ROPE_TOOL_ELEMENT_H
#define ROPE_TOOL_ELEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "rope/rope.h"

/* A 16-bit word of a .npy file, which has no bf16, before --bf16 has said what it is.  Besides the
 * ROPE_* dtypes. */
enum { TOOL_U16 = 16 };

size_t tool_element_size(rope_dtype dtype);
const char *tool_element_name(rope_dtype dtype);

/* Element `index` of an array, as a word. */
uint64_t tool_element_bits(rope_dtype dtype, const void *array, size_t index);

/* The number that a word stands for; 64-bit integers are rounded to f64. */
double tool_element_value(rope_dtype dtype, uint64_t bits);

/* The value rounded once, to nearest even, to a floating-point dtype, and the word of such a value.
 */
double tool_element_round(rope_dtype dtype, double value);
uint64_t tool_element_encode(rope_dtype dtype, double rounded);

int tool_element_is_integer(rope_dtype dtype);
int tool_element_is_nan(rope_dtype dtype, uint64_t bits);

/* Steps from one word to the other in the order of their values, -0 below +0; UINT64_MAX if just
 * one is NaN, 0 if both. */
uint64_t tool_element_distance(rope_dtype dtype, uint64_t a, uint64_t b);

/* The value, with digits enough to tell it from its neighbours. */
void tool_element_print(char *text, size_t size, rope_dtype dtype, uint64_t bits);

#endif
