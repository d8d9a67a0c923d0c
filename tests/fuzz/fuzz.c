/* SPDX-License-Identifier: Apache-2.0 */
/* Implements fuzz.h.  Must not use any code of the library. */
#include "fuzz.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_broken(const char *file, int line, const char *promise)
{
    fflush(stderr);
    char text[512];
    const int length = snprintf(text, sizeof text, "%s:%d: broken: %s\n", file, line, promise);
    if (write(STDERR_FILENO, text, (size_t)length) < 0)
        _Exit(1);
    abort();
}

/* ---- The input ------------------------------------------------------------------------------- */

void take(struct input *input, void *bytes, size_t size)
{
    const size_t now = size < input->left ? size : input->left;
    memset(bytes, 0, size);
    if (now != 0)
        memcpy(bytes, input->at, now);
    input->at += now;
    input->left -= now;
}

unsigned take_byte(struct input *input)
{
    uint8_t byte;
    take(input, &byte, 1);
    return byte;
}

uint64_t take_word(struct input *input)
{
    uint64_t word;
    take(input, &word, sizeof word);
    return word;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

struct span span_of(double length, size_t element, int axes, const double *count,
                    const double *stride)
{
    struct span span = {0.0, length};
    int empty = length == 0.0;
    for (int axis = 0; axis < axes; axis++) {
        const double reach = (count[axis] - 1.0) * stride[axis];
        empty |= count[axis] == 0.0;
        span.low += reach < 0.0 ? reach : 0.0;
        span.high += reach < 0.0 ? 0.0 : reach;
    }
    if (empty)
        return (struct span){0.0, 0.0};
    span.low *= (double)element;
    span.high *= (double)element;
    return span;
}

struct span span_union(struct span a, struct span b)
{
    return (struct span){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

/* Bytes beside an array that are looked at, where the guard page is on its other side. */
enum { MARGIN = 64 };

void array_size(struct array *array, struct span span)
{
    if (array->memory.base == NULL)
        array->memory = guarded_make(SPAN_MAX + MARGIN);
    array->fits = span.high - span.low <= SPAN_MAX;
    array->size = array->fits ? (size_t)(span.high - span.low) : 0;
    array->before = array->fits ? (size_t)-span.low : 0;
}

void array_place(struct array *array, enum side side)
{
    unsigned char *const end = array->memory.base + array->memory.size;
    array->low = side == AT_END ? end - array->size : array->memory.base;
    array->address = array->fits ? array->low + array->before : end; /* the guard page */
}

/* Ordinary elements: both signs, magnitudes from 1 to 2, every fraction. */
static void fill_plain(enum dtype type, uint64_t *words, size_t n, struct rng *rng)
{
    static const uint64_t mask[DTYPES] = {0x807fffff807fffffu, 0x800fffffffffffffu,
                                          0x83ff83ff83ff83ffu, 0x807f807f807f807fu};
    static const uint64_t one[DTYPES] = {0x3f8000003f800000u, 0x3ff0000000000000u,
                                         0x3c003c003c003c00u, 0x3f803f803f803f80u};
    for (size_t i = 0; i < n; i++)
        words[i] = (rng_next(rng) & mask[type]) | one[type];
}

void array_fill(struct array *array, enum dtype type, uint64_t seed, enum fill fill)
{
    enum { WORDS = SPAN_MAX / 8 };
    static uint64_t words[WORDS];
    struct rng rng = {seed};
    const size_t n = (array->size + 7) / 8;
    if (fill == FILL_PLAIN) {
        fill_plain(type, words, n, &rng);
    } else if (fill == FILL_BITS) {
        for (size_t i = 0; i < n; i++)
            words[i] = rng_next(&rng);
    } else {
        enum { PERIOD = 64 * 8 }; /* bytes that repeat themselves */
        for (size_t i = 0; i < PERIOD / dtype_size(type) && i < array->size; i++)
            dtype_store(type, words, i, rng_element(&rng, type, FILL_SPECIAL));
        for (size_t i = PERIOD / 8; i < n; i++)
            words[i] = words[i - PERIOD / 8];
    }
    if (array->size != 0)
        memcpy(array->kept, words, array->size);
    array_restore(array);
}

static unsigned char *margin_of(const struct array *array)
{
    return array->low == array->memory.base ? array->low + array->size : array->low - MARGIN;
}

void array_keep(struct array *array)
{
    if (array->size != 0)
        memcpy(array->kept, array->low, array->size);
}

void array_restore(struct array *array)
{
    if (array->size != 0)
        memcpy(array->low, array->kept, array->size);
    canary_fill(margin_of(array), MARGIN);
}

int array_is_kept(const struct array *array)
{
    return array_canaries_live(array) && memcmp(array->low, array->kept, array->size) == 0;
}

int array_canaries_live(const struct array *array)
{
    static unsigned char canaries[MARGIN];
    if (canaries[0] == 0)
        canary_fill(canaries, MARGIN);
    return memcmp(margin_of(array), canaries, MARGIN) == 0;
}

void arrays_place(struct array *arrays, const int *is_used, size_t count, enum side side)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_used[i])
            continue;
        array_place(&arrays[i], side);
        if (arrays[i].fits)
            array_restore(&arrays[i]);
    }
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

void descriptor_take(struct descriptor *descriptor, struct input *input, size_t count)
{
    uint32_t size;
    take(input, &size, sizeof size);
    size %= DESCRIPTOR_MAX;
    if (count > 1)
        size -= size % 8; /* no struct of several has another size */
    if (descriptor->memory.base == NULL)
        descriptor->memory = guarded_make(DESCRIPTOR_MAX * ROPE_AXES_MAX);
    const size_t each = size < sizeof size ? sizeof size : size;
    const size_t room = (count * each + 7) / 8 * 8; /* aligned as the host's compiler would */
    descriptor->bytes = descriptor->memory.base + descriptor->memory.size - room;
    descriptor->size = size;
    descriptor->count = count;
    memset(descriptor->bytes, 0xa5, room);
    memcpy(descriptor->bytes, &size, sizeof size);
    take(input, descriptor->bytes + sizeof size, each - sizeof size);
    for (size_t i = 1; i < count; i++)
        take(input, descriptor->bytes + i * each, each);
    memcpy(descriptor->kept, descriptor->bytes, count * size);
}

void descriptor_read(const struct descriptor *descriptor, size_t index, void *room, size_t size)
{
    memset(room, 0, size);
    memcpy(room, descriptor->bytes + index * descriptor->size,
           descriptor->size < size ? descriptor->size : size);
}

void descriptor_write(struct descriptor *descriptor, size_t index, const void *known, size_t size)
{
    memcpy(descriptor->bytes + index * descriptor->size, known,
           descriptor->size < size ? descriptor->size : size);
    memcpy(descriptor->kept, descriptor->bytes, descriptor->count * descriptor->size);
}

int descriptor_is_kept(const struct descriptor *descriptor)
{
    return memcmp(descriptor->bytes, descriptor->kept, descriptor->count * descriptor->size) == 0;
}

enum { MESSAGE_MAX = 320 };
static struct guarded message_memory;

void message_place(char **text, size_t *size)
{
    if (*text == NULL)
        return;
    if (message_memory.base == NULL)
        message_memory = guarded_make(MESSAGE_MAX);
    *size = *size < MESSAGE_MAX ? *size : *size % MESSAGE_MAX;
    *text = guarded_end(&message_memory, *size, 0);
    canary_fill(*text, *size);
}

void message_check(rope_status status, const char *text, size_t size)
{
    if (text == NULL || size == 0)
        return;
    const char *const end = memchr(text, '\0', size);
    if (end == NULL) { /* not written at all */
        REQUIRE(status == ROPE_OK || status == ROPE_ERR_STRUCT);
        for (size_t i = 0; i < size; i++)
            REQUIRE((unsigned char)text[i] == 0xa5);
        return;
    }
    REQUIRE(status != ROPE_OK);
    REQUIRE(size == 1 || end != text);
    for (const char *c = text; c != end; c++)
        REQUIRE(*c >= ' ' && *c <= '~');
}

/* ---- Files ----------------------------------------------------------------------------------- */

const char *fuzz_file(const uint8_t *data, size_t size)
{
    static int file = -1;
    static char path[64];
    if (file < 0) {
        file = memfd_create("input", MFD_CLOEXEC);
        REQUIRE(file >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    REQUIRE(ftruncate(file, 0) == 0);
    REQUIRE(size == 0 || pwrite(file, data, size, 0) == (ssize_t)size);
    return path;
}

int fuzz_lines_said(void)
{
    static char said[1 << 16];
    static FILE *screen;
    if (screen == NULL) { /* from now on the tool's lines go there */
        screen = fmemopen(said, sizeof said, "w");
        REQUIRE(screen != NULL);
        stderr = screen;
    }
    fflush(screen);
    const long length = ftell(screen);
    int lines = 0;
    for (long i = 0; i < length; i++) {
        lines += said[i] == '\n';
        REQUIRE(said[i] == '\n' || (said[i] >= ' ' && said[i] != 0x7f) || said[i] < 0);
    }
    REQUIRE(length == 0 || (strncmp(said, "rope: ", 6) == 0 && said[length - 1] == '\n'));
    rewind(screen);
    return lines;
}
