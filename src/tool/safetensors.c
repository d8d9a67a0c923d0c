/* SPDX-License-Identifier: Apache-2.0 */
/* Reads safetensors files whose headers nobody vouches for.  Knows no model and writes nothing. */
#define _XOPEN_SOURCE     700
#define _FILE_OFFSET_BITS 64
#include "safetensors.h"
#include "say.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned bits;
    rope_dtype dtype;
} types[] = {
    {"F32", 32, ROPE_F32}, {"BF16", 16, ROPE_BF16},
    {"F16", 16, ROPE_F16}, {"F64", 64, ROPE_F64},
    {"BOOL", 8, 0},        {"U8", 8, 0},
    {"I8", 8, 0},          {"U16", 16, 0},
    {"I16", 16, 0},        {"U32", 32, 0},
    {"I32", 32, 0},        {"U64", 64, 0},
    {"I64", 64, 0},        {"C64", 64, 0},
    {"F8_E4M3", 8, 0},     {"F8_E5M2", 8, 0},
    {"F8_E8M0", 8, 0},     {"F6_E2M3", 6, 0},
    {"F6_E3M2", 6, 0},     {"F4", 4, 0},
};
enum { TYPES = sizeof types / sizeof *types, NAME_SHOWN = 200 };

/* "PATH: NAME: " in every message about a tensor. */
static int bad_tensor(const struct tool_safetensors *st, const struct tool_text *name,
                      const char *problem)
{
    const int length = name->length < NAME_SHOWN ? (int)name->length : NAME_SHOWN;
    return tool_bad("%s: tensor %.*s: %s", st->path, length, name->at, problem);
}

static int bad_header(const struct tool_safetensors *st)
{
    return tool_bad("%s: header: byte %zu: is no JSON of a safetensors file", st->path,
                    (size_t)(st->json.at - st->header) + 8);
}

int tool_safetensors_read(const struct tool_safetensors *st, void *data, size_t bytes,
                          uint64_t offset)
{
    char *at = data;
    while (bytes > 0) {
        const size_t most = (size_t)1 << 30;
        const ssize_t got = pread(st->file, at, bytes < most ? bytes : most, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return tool_bad("%s: cannot be read at byte %llu: %s", st->path,
                            (unsigned long long)offset,
                            got < 0 ? strerror(errno) : "the file has become shorter");
        at += got;
        offset += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return TOOL_OK;
}

/*
 * The array of a shape: rows, count and dimensions.  A product beyond 2^64 is kept as UINT64_MAX.
 */
static int read_shape(struct tool_json *json, struct tool_tensor *tensor)
{
    int empty = 0;
    tensor->rows = 1;
    tensor->count = 1;
    tensor->dimensions = 0;
    if (!tool_json_enter(json, '['))
        return 0;
    while (tool_json_next(json, NULL)) {
        uint64_t length;
        if (!tool_json_size(json, &length))
            return 0;
        if (tensor->dimensions++ == 0)
            tensor->rows = length;
        empty |= length == 0;
        if (length != 0)
            tensor->count =
                tensor->count > UINT64_MAX / length ? UINT64_MAX : tensor->count * length;
    }
    if (empty)
        tensor->count = 0;
    return !json->failed;
}

static int read_offsets(struct tool_json *json, struct tool_tensor *tensor)
{
    return tool_json_enter(json, '[') && tool_json_next(json, NULL) &&
           tool_json_size(json, &tensor->begin) && tool_json_next(json, NULL) &&
           tool_json_size(json, &tensor->end) && !tool_json_next(json, NULL) && !json->failed;
}

/* The object of one tensor; *seen are the fields that it has. */
static int read_tensor(struct tool_json *json, struct tool_tensor *tensor, unsigned *seen)
{
    struct tool_text field;
    *seen = 0;
    if (!tool_json_enter(json, '{'))
        return 0;
    while (tool_json_next(json, &field)) {
        unsigned bit = 0;
        int read;
        if (tool_text_is(&field, "dtype")) {
            bit = 1;
            read = tool_json_text(json, &tensor->type);
        } else if (tool_text_is(&field, "shape")) {
            bit = 2;
            read = read_shape(json, tensor);
        } else if (tool_text_is(&field, "data_offsets")) {
            bit = 4;
            read = read_offsets(json, tensor);
        } else {
            read = tool_json_skip(json);
        }
        if (!read || (*seen & bit) != 0)
            return 0;
        *seen |= bit;
    }
    return !json->failed;
}

static int check_tensor(const struct tool_safetensors *st, struct tool_tensor *tensor,
                        unsigned seen)
{
    char text[256];
    static const char *const fields[] = {"dtype", "shape", "data_offsets"};
    for (unsigned i = 0; i < 3; i++) {
        if ((seen >> i & 1U) == 0) {
            snprintf(text, sizeof text, "%s: is missing", fields[i]);
            return bad_tensor(st, &tensor->name, text);
        }
    }
    if (memchr(tensor->name.at, '\\', tensor->name.length) != NULL)
        return bad_tensor(st, &tensor->name, "name: must have no escape");
    size_t type = 0;
    while (type < TYPES && !tool_text_is(&tensor->type, types[type].name))
        type++;
    if (type == TYPES) {
        snprintf(text, sizeof text, "dtype: %.*s: is not known",
                 tensor->type.length < 40 ? (int)tensor->type.length : 40, tensor->type.at);
        return bad_tensor(st, &tensor->name, text);
    }
    tensor->dtype = types[type].dtype;
    const uint64_t data = st->size - st->start;
    if (tensor->begin > tensor->end || tensor->end > data) {
        snprintf(text, sizeof text,
                 "data_offsets: [%llu, %llu]: must lie within the %llu bytes of data",
                 (unsigned long long)tensor->begin, (unsigned long long)tensor->end,
                 (unsigned long long)data);
        return bad_tensor(st, &tensor->name, text);
    }
    const uint64_t bytes = tensor->end - tensor->begin;
    if (tensor->count > UINT64_MAX / 64 || tensor->count * types[type].bits % 8 != 0 ||
        tensor->count * types[type].bits / 8 != bytes) {
        snprintf(text, sizeof text,
                 "shape: %s%llu elements of %s: must fill the %llu bytes of data_offsets",
                 tensor->count == UINT64_MAX ? "over " : "", (unsigned long long)tensor->count,
                 types[type].name, (unsigned long long)bytes);
        return bad_tensor(st, &tensor->name, text);
    }
    tensor->begin += st->start;
    tensor->end += st->start;
    return TOOL_OK;
}

static void rewind_header(struct tool_safetensors *st)
{
    st->json = (struct tool_json){st->header, st->header + st->header_size, 0};
    (void)tool_json_enter(&st->json, '{');
}

int tool_safetensors_next(struct tool_safetensors *st, struct tool_tensor *tensor)
{
    unsigned seen;
    while (tool_json_next(&st->json, &tensor->name)) {
        if (tool_text_is(&tensor->name, "__metadata__")) {
            (void)tool_json_skip(&st->json);
            continue;
        }
        if (!read_tensor(&st->json, tensor, &seen) || check_tensor(st, tensor, seen) != TOOL_OK)
            break;
        return 1;
    }
    rewind_header(st);
    return 0;
}

/* What is compared between tensors. */
struct extent {
    struct tool_text name;
    uint64_t begin;
    uint64_t end;
};

static int by_begin(const void *left, const void *right)
{
    const struct extent *const a = left;
    const struct extent *const b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->end < b->end ? -1 : a->end > b->end;
}

static int by_name(const void *left, const void *right)
{
    const struct extent *const a = left;
    const struct extent *const b = right;
    const size_t common = a->name.length < b->name.length ? a->name.length : b->name.length;
    const int order = memcmp(a->name.at, b->name.at, common);
    if (order != 0)
        return order;
    return a->name.length < b->name.length ? -1 : a->name.length > b->name.length;
}

static int check_extents(const struct tool_safetensors *st, struct extent *extents, size_t count)
{
    if (count > 0)
        qsort(extents, count, sizeof *extents, by_begin);
    uint64_t end = st->start;
    for (size_t i = 0; i < count; i++) {
        if (extents[i].begin != end)
            return bad_tensor(st, &extents[i].name,
                              extents[i].begin < end
                                  ? "data_offsets: overlap those of another tensor"
                                  : "data_offsets: leave a hole before them");
        end = extents[i].end;
    }
    if (end != st->size)
        return tool_bad("%s: data: %llu bytes: belong to no tensor at the end", st->path,
                        (unsigned long long)(st->size - end));
    if (count > 0)
        qsort(extents, count, sizeof *extents, by_name);
    for (size_t i = 1; i < count; i++)
        if (by_name(&extents[i - 1], &extents[i]) == 0)
            return bad_tensor(st, &extents[i].name, "name: is there twice");
    return TOOL_OK;
}

/* A first pass over the header that checks everything. */
static int check_header(struct tool_safetensors *st)
{
    struct extent *extents = NULL;
    size_t room = 0, count = 0;
    struct tool_tensor tensor;
    int status = TOOL_OK;
    st->json = (struct tool_json){st->header, st->header + st->header_size, 0};
    if (st->header[0] != '{' || !tool_json_enter(&st->json, '{'))
        return bad_header(st);
    while (status == TOOL_OK && tool_json_next(&st->json, &tensor.name)) {
        unsigned seen;
        if (tool_text_is(&tensor.name, "__metadata__")) {
            if (!tool_json_is(&st->json, '{') || !tool_json_skip(&st->json))
                break;
            continue;
        }
        if (!read_tensor(&st->json, &tensor, &seen)) {
            status = bad_header(st);
            break;
        }
        status = check_tensor(st, &tensor, seen);
        if (count == room) {
            room = room == 0 ? 64 : 2 * room;
            struct extent *const more = realloc(extents, room * sizeof *extents);
            if (more == NULL) {
                status = tool_bad("%s: out of memory", st->path);
                break;
            }
            extents = more;
        }
        if (status == TOOL_OK)
            extents[count++] = (struct extent){tensor.name, tensor.begin, tensor.end};
    }
    if (status == TOOL_OK && !tool_json_end(&st->json))
        status = bad_header(st);
    if (status == TOOL_OK)
        status = check_extents(st, extents, count);
    free(extents);
    st->tensors = count;
    return status;
}

int tool_safetensors_open(struct tool_safetensors *st, const char *path)
{
    *st = (struct tool_safetensors){.path = path, .file = -1};
    st->file = open(path, O_RDONLY | O_NONBLOCK);
    struct stat facts;
    if (st->file < 0 || fstat(st->file, &facts) != 0)
        return tool_bad("%s: %s", path, strerror(errno));
    if (!S_ISREG(facts.st_mode))
        return tool_bad("%s: is no regular file", path);
    st->size = (uint64_t)facts.st_size;
    unsigned char length[8];
    if (st->size < sizeof length)
        return tool_bad("%s: size: %llu bytes: is too short for a safetensors file", path,
                        (unsigned long long)st->size);
    if (tool_safetensors_read(st, length, sizeof length, 0) != TOOL_OK)
        return TOOL_BAD;
    for (size_t i = sizeof length; i-- > 0;)
        st->header_size = st->header_size << 8 | length[i];
    if (st->header_size > st->size - sizeof length || st->header_size < 2 ||
        st->header_size > TOOL_HEADER_MAX)
        return tool_bad("%s: header length: %llu: must be 2..%d and within the file of %llu bytes",
                        path, (unsigned long long)st->header_size, TOOL_HEADER_MAX,
                        (unsigned long long)st->size);
    st->start = sizeof length + st->header_size;
    st->header = malloc((size_t)st->header_size);
    if (st->header == NULL)
        return tool_bad("%s: out of memory", path);
    if (tool_safetensors_read(st, st->header, (size_t)st->header_size, sizeof length) != TOOL_OK ||
        check_header(st) != TOOL_OK)
        return TOOL_BAD;
    rewind_header(st);
    return TOOL_OK;
}

void tool_safetensors_close(struct tool_safetensors *st)
{
    if (st->file >= 0)
        (void)close(st->file);
    free(st->header);
    st->file = -1;
    st->header = NULL;
}
