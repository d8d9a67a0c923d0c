/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metadata in front of a GGUF file, versions 2 and 3, little-endian.  Knows the format, not
 * what the keys mean. Source: the description of the format in ggml, docs/gguf.md.
 */
#include "gguf.h"
#include "say.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS_MAX = 65536, NUMBERS_MAX = 65536, TEXT_MAX = 65535, ALIGNMENT = 32 };

enum type { U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64, TYPES };
static const unsigned sizes[TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

struct tool_gguf_block {
    struct tool_gguf_block *next;
    double aligned[];
};

struct reader {
    struct tool_gguf *gguf;
    FILE *file;
    const char *path;
    uint64_t size; /* of the file */
    uint64_t left; /* of it behind where reading stands */
    int status;
};

/* The first error is the one that is shown; 0, so that readers can return it. */
static int stop(struct reader *reader, const char *what)
{
    if (reader->status == TOOL_OK)
        reader->status = tool_bad("%s: %s", reader->path, what);
    return 0;
}

static void *allocate(struct reader *reader, size_t size)
{
    struct tool_gguf_block *block = malloc(sizeof *block + size);
    if (block == NULL) {
        (void)stop(reader, "out of memory");
        return NULL;
    }
    block->next = reader->gguf->blocks;
    reader->gguf->blocks = block;
    return block->aligned;
}

static int read_bytes(struct reader *reader, void *bytes, size_t size)
{
    if (size > reader->left || fread(bytes, 1, size, reader->file) != size)
        return stop(reader, "ends within its metadata");
    reader->left -= size;
    return 1;
}

static int skip(struct reader *reader, uint64_t bytes)
{
    if (bytes > reader->left) /* seeking would go there all the same */
        return stop(reader, "ends within its metadata");
    if (fseek(reader->file, (long)bytes, SEEK_CUR) != 0)
        return stop(reader, "cannot be read");
    reader->left -= bytes;
    return 1;
}

static int read_whole(struct reader *reader, unsigned size, uint64_t *value)
{
    unsigned char bytes[8] = {0};
    if (!read_bytes(reader, bytes, size))
        return 0;
    *value = 0;
    for (unsigned i = size; i-- > 0;)
        *value = *value << 8 | bytes[i];
    return 1;
}

static double number_of(enum type type, uint64_t bits)
{
    float single;
    double twice;
    const uint32_t word = (uint32_t)bits;
    switch (type) {
    case I8:
        return (double)(int8_t)bits;
    case I16:
        return (double)(int16_t)bits;
    case I32:
        return (double)(int32_t)bits;
    case I64:
        return (double)(int64_t)bits;
    case F32:
        memcpy(&single, &word, sizeof single);
        return (double)single;
    case F64:
        memcpy(&twice, &bits, sizeof twice);
        return twice;
    default:
        return (double)bits;
    }
}

/* The bytes of a string behind its length, at most TEXT_MAX; or NULL. */
static char *read_text(struct reader *reader, uint64_t length)
{
    char *text = allocate(reader, (size_t)length + 1);
    if (text == NULL || !read_bytes(reader, text, (size_t)length))
        return NULL;
    text[length] = '\0';
    return text;
}

/* A key or the name of a tensor, or NULL; longer than TEXT_MAX is an error. */
static char *read_name(struct reader *reader)
{
    uint64_t length;
    if (!read_whole(reader, 8, &length))
        return NULL;
    if (length > TEXT_MAX) {
        (void)stop(reader, "a key or name is longer than 65535 bytes");
        return NULL;
    }
    return read_text(reader, length);
}

static int skip_text(struct reader *reader)
{
    uint64_t length;
    return read_whole(reader, 8, &length) && skip(reader, length);
}

static int read_array(struct reader *reader, rope_gguf_pair *pair)
{
    uint64_t type, count;
    if (!read_whole(reader, 4, &type) || !read_whole(reader, 8, &count))
        return 0;
    if (type >= TYPES || type == ARRAY)
        return stop(reader, "a list of an unknown type");
    if (type == STRING) { /* tokens and merges */
        for (uint64_t i = 0; i < count; i++)
            if (!skip_text(reader))
                return 0;
        return 1;
    }
    if (count > reader->left / sizes[type])
        return stop(reader, "ends within its metadata");
    if (count > NUMBERS_MAX)
        return skip(reader, count * sizes[type]);
    double *numbers = allocate(reader, (size_t)count * sizeof *numbers);
    if (numbers == NULL)
        return 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        if (!read_whole(reader, sizes[type], &bits))
            return 0;
        numbers[i] = number_of((enum type)type, bits);
    }
    pair->numbers = numbers;
    pair->count = (uint32_t)count;
    return 1;
}

/* One key with its value; values that are passed over stay the number 0 and are dropped. */
static int read_pair(struct reader *reader)
{
    rope_gguf_pair pair = ROPE_GGUF_PAIR_INIT;
    uint64_t type, bits;
    pair.key = read_name(reader);
    if (pair.key == NULL || !read_whole(reader, 4, &type))
        return 0;
    if (type >= TYPES)
        return stop(reader, "a value of an unknown type");
    if (type == STRING) {
        uint64_t length;
        if (!read_whole(reader, 8, &length))
            return 0;
        if (length > TEXT_MAX) /* a chat template, say */
            return skip(reader, length);
        pair.text = read_text(reader, length);
        if (pair.text == NULL)
            return 0;
    } else if (type == ARRAY) {
        if (!read_array(reader, &pair))
            return 0;
        if (pair.numbers == NULL)
            return 1;
    } else {
        if (!read_whole(reader, sizes[type], &bits))
            return 0;
        pair.number = number_of((enum type)type, bits);
    }
    reader->gguf->pairs[reader->gguf->count++] = pair;
    return 1;
}

/* A tensor of divisors, noted with the place of its data. */
struct tensor {
    const char *name;
    uint64_t count, offset;
};
enum { TENSORS = 8, TENSORS_MAX = 1 << 20, DIMENSIONS = 4, TYPE_F32 = 0 };

static int read_tensor(struct reader *reader, struct tensor *kept, size_t *kept_count)
{
    uint64_t dimensions, size, type, elements = 1;
    struct tensor tensor = {.name = read_name(reader)};
    if (tensor.name == NULL || !read_whole(reader, 4, &dimensions))
        return 0;
    if (dimensions > DIMENSIONS)
        return stop(reader, "a tensor of more than 4 dimensions");
    for (uint64_t i = 0; i < dimensions; i++) {
        if (!read_whole(reader, 8, &size))
            return 0;
        elements = size != 0 && elements > UINT64_MAX / size ? UINT64_MAX : elements * size;
    }
    if (!read_whole(reader, 4, &type) || !read_whole(reader, 8, &tensor.offset))
        return 0;
    tensor.count = elements;
    if (strncmp(tensor.name, "rope_", 5) == 0 && type == TYPE_F32 && elements <= NUMBERS_MAX &&
        *kept_count < TENSORS)
        kept[(*kept_count)++] = tensor;
    return 1;
}

static int read_tensors(struct reader *reader, uint64_t count)
{
    struct tensor kept[TENSORS];
    size_t kept_count = 0;
    double alignment = ALIGNMENT;
    if (count > TENSORS_MAX)
        return stop(reader, "more than 2^20 tensors");
    for (uint64_t i = 0; i < count; i++)
        if (!read_tensor(reader, kept, &kept_count))
            return 0;
    for (size_t i = 0; i < reader->gguf->count; i++)
        if (strcmp(reader->gguf->pairs[i].key, "general.alignment") == 0)
            alignment = reader->gguf->pairs[i].number;
    if (!(alignment >= 1.0 && alignment <= 65536.0))
        return stop(reader, "general.alignment must be 1..65536");
    const uint64_t step = (uint64_t)alignment;
    const uint64_t data = (reader->size - reader->left + step - 1) / step * step;
    for (size_t t = 0; t < kept_count; t++) {
        if (data > reader->size || kept[t].offset > reader->size - data)
            return stop(reader, "a tensor lies outside the file");
        reader->left = reader->size - data - kept[t].offset;
        if (kept[t].count > reader->left / 4)
            return stop(reader, "ends within its metadata");
        if (fseek(reader->file, (long)(data + kept[t].offset), SEEK_SET) != 0)
            return stop(reader, "cannot be read");
        rope_gguf_pair pair = ROPE_GGUF_PAIR_INIT;
        double *numbers = allocate(reader, (size_t)kept[t].count * sizeof *numbers);
        if (numbers == NULL)
            return 0;
        for (size_t i = 0; i < kept[t].count; i++) {
            uint64_t bits;
            if (!read_whole(reader, 4, &bits))
                return 0;
            numbers[i] = number_of(F32, bits);
        }
        pair.key = kept[t].name;
        pair.numbers = numbers;
        pair.count = (uint32_t)kept[t].count;
        reader->gguf->pairs[reader->gguf->count++] = pair;
    }
    return 1;
}

int tool_gguf_is(FILE *file)
{
    char magic[4];
    const int is =
        fread(magic, 1, sizeof magic, file) == sizeof magic && memcmp(magic, "GGUF", 4) == 0;
    rewind(file);
    return is;
}

int tool_gguf_read(struct tool_gguf *gguf, FILE *file, const char *path)
{
    struct reader reader = {gguf, file, path, 0, 0, TOOL_OK};
    uint64_t magic, version, tensors, pairs;
    memset(gguf, 0, sizeof *gguf);
    const long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size < 0)
        return tool_bad("%s: cannot be read", path);
    rewind(file);
    reader.size = reader.left = (uint64_t)size;
    if (!read_whole(&reader, 4, &magic) || !read_whole(&reader, 4, &version) ||
        !read_whole(&reader, 8, &tensors) || !read_whole(&reader, 8, &pairs))
        return reader.status;
    if (version != 2 && version != 3)
        return tool_bad("%s: GGUF version %u: must be 2 or 3, little-endian", path,
                        (unsigned)version);
    if (pairs > PAIRS_MAX)
        return tool_bad("%s: more than 65536 keys", path);
    gguf->pairs = calloc((size_t)pairs + TENSORS, sizeof *gguf->pairs);
    if (gguf->pairs == NULL)
        return tool_bad("%s: out of memory", path);
    for (uint64_t i = 0; i < pairs; i++)
        if (!read_pair(&reader))
            return reader.status;
    (void)read_tensors(&reader, tensors);
    return reader.status;
}

void tool_gguf_free(struct tool_gguf *gguf)
{
    while (gguf->blocks != NULL) {
        struct tool_gguf_block *next = gguf->blocks->next;
        free(gguf->blocks);
        gguf->blocks = next;
    }
    free(gguf->pairs);
    memset(gguf, 0, sizeof *gguf);
}
