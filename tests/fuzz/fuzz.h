/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fuzz targets share: reading an input piece by piece, arrays and descriptors that lie
 * between guard pages, inputs as files, and the loud end of a broken promise.  A target is one file
 * fuzz_<name>.c with LLVMFuzzerTestOneInput, which libFuzzer or replay.c calls.
 */
#ifndef ROPE_FUZZ_H
#define ROPE_FUZZ_H

#include "support.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program with the place and the words of a broken promise, in every build. */
#define REQUIRE(promise) ((promise) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #promise))
_Noreturn void fuzz_broken(const char *file, int line, const char *promise);

/* ---- The input ------------------------------------------------------------------------------- */

struct input {
    const uint8_t *at;
    size_t left;
};

/* The next bytes; zeros where the input has ended. */
void take(struct input *input, void *bytes, size_t size);
unsigned take_byte(struct input *input);
uint64_t take_word(struct input *input);

/* ---- Arrays of the host ---------------------------------------------------------------------- */

enum { SPAN_MAX = 1 << 14 };

/* Bytes around an address, from `low` (<= 0) to `high`.  f64: exact where they matter, and nothing
 * overflows. */
struct span {
    double low, high;
};

/* The bytes of runs of `length` elements, `count` of them along each axis. */
struct span span_of(double length, size_t element, int axes, const double *count,
                    const double *stride);
struct span span_union(struct span a, struct span b);

/*
 * An array: `size` bytes between guard pages, that end at the rear one or start at the front one.
 * One that is larger than SPAN_MAX lies where nobody may touch it.
 */
enum side { AT_END, AT_START };
struct array {
    struct guarded memory;
    unsigned char *low; /* first byte */
    void *address;      /* what the library is told */
    size_t size, before;
    int fits;
    _Alignas(8) unsigned char kept[SPAN_MAX];
};
void array_size(struct array *array, struct span span);
void array_place(struct array *array, enum side side);

/* Fills it with elements that the seed makes; the bytes around it become canaries. */
void array_fill(struct array *array, enum dtype type, uint64_t seed, enum fill fill);

/* Remembers the bytes; puts them back, with new canaries; 1 if they and the canaries are as they
 * were. */
void array_keep(struct array *array);
void array_restore(struct array *array);
int array_is_kept(const struct array *array);
int array_canaries_live(const struct array *array);

/* Places those of the arrays that are used, with the bytes that were kept. */
void arrays_place(struct array *arrays, const int *is_used, size_t count, enum side side);

/* ---- Descriptors ----------------------------------------------------------------------------- */

/*
 * One descriptor or an array of them that ends at a guard page: the struct_size that the first four
 * bytes of the input name, modulo DESCRIPTOR_MAX, and as many bytes; those of the others follow.
 */
enum { DESCRIPTOR_MAX = 1024 };
struct descriptor {
    struct guarded memory;
    unsigned char *bytes;
    uint32_t size; /* of each */
    size_t count;
    unsigned char kept[DESCRIPTOR_MAX * ROPE_AXES_MAX];
};
void descriptor_take(struct descriptor *descriptor, struct input *input, size_t count);

/* What a library that knows `size` bytes reads of the index-th: zeros behind its end. */
void descriptor_read(const struct descriptor *descriptor, size_t index, void *room, size_t size);
/* Writes back as much of it as there is, and remembers all bytes. */
void descriptor_write(struct descriptor *descriptor, size_t index, const void *known, size_t size);
int descriptor_is_kept(const struct descriptor *descriptor);

/* Makes the message buffer that a descriptor asks for: what it says is cut to what there is. */
void message_place(char **text, size_t *size);
/* What a call of this status may have left there. */
void message_check(rope_status status, const char *text, size_t size);

/* ---- Files ----------------------------------------------------------------------------------- */

/* A path under which the bytes can be opened until the next call. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* The lines that the tool has printed on standard error since the last call. */
int fuzz_lines_said(void);

#endif
