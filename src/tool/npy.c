/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and making .npy headers, reading elements.  Believes nothing that a header says; must not
 * write files. */
#define _XOPEN_SOURCE     700
#define _FILE_OFFSET_BITS 64
#include "npy.h"
#include "element.h"
#include "say.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "elements are used as they lie in the file, which is little-endian"
#endif

enum {
    PREFIX_BYTES = 12,    /* magic, version, header length of versions 2 and 3 */
    HEADER_LIMIT = 65536, /* NumPy's own headers stay below 10,000 bytes */
    SHOWN = 60            /* characters of a wrong value that a message quotes */
};

static const struct {
    const char *descr;
    rope_dtype dtype;
} descrs[] = {{"<f2", ROPE_F16}, {"<f4", ROPE_F32}, {"<f8", ROPE_F64},
              {"<u2", TOOL_U16}, {"<i4", ROPE_I32}, {"<i8", ROPE_I64}};
enum { DESCRS = sizeof descrs / sizeof *descrs };

/* The text of a header while it is parsed. */
struct text {
    const char *path;
    const char *at;
    const char *end;
};

/* "rope: PATH: FIELD: VALUE: RULE"; VALUE is what stands from `value` on, to the end of a tuple or
 * to a comma. */
static int bad_field(const struct text *text, const char *field, const char *value,
                     const char *rule)
{
    const size_t rest = (size_t)(text->end - value);
    const int tuple = rest > 0 && *value == '(';
    const char *const last = rest > 0 ? memchr(value, tuple ? ')' : ',', rest) : NULL;
    size_t length = last == NULL ? rest : (size_t)(last - value) + (size_t)tuple;
    while (length > 0 && (value[length - 1] == '\n' || value[length - 1] == ' '))
        length--;
    return tool_bad("%s: %s: %.*s%s: %s", text->path, field, (int)(length > SHOWN ? SHOWN : length),
                    value,
                    length > SHOWN ? "..."
                    : length == 0  ? "nothing"
                                   : "",
                    rule);
}

static void skip_space(struct text *text)
{
    while (text->at < text->end &&
           (*text->at == ' ' || *text->at == '\t' || *text->at == '\n' || *text->at == '\r'))
        text->at++;
}

static int accept(struct text *text, char wanted)
{
    skip_space(text);
    if (text->at == text->end || *text->at != wanted)
        return 0;
    text->at++;
    return 1;
}

static int accept_word(struct text *text, const char *word)
{
    const size_t length = strlen(word);
    skip_space(text);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0)
        return 0;
    text->at += length;
    return 1;
}

/* A quoted string without escapes; returns its length, or -1 and stays where it is. */
static ptrdiff_t accept_string(struct text *text, const char **string)
{
    skip_space(text);
    if (text->at == text->end || (*text->at != '\'' && *text->at != '"'))
        return -1;
    const char *const first = text->at + 1;
    const char *const last = memchr(first, *text->at, (size_t)(text->end - first));
    if (last == NULL || memchr(first, '\\', (size_t)(last - first)) != NULL)
        return -1;
    *string = first;
    text->at = last + 1;
    return last - first;
}

static int parse_descr(struct text *text, struct tool_npy *array)
{
    skip_space(text);
    const char *const value = text->at;
    const char *string;
    const ptrdiff_t length = accept_string(text, &string);
    if (length < 0)
        return bad_field(text, "descr", value, "must be a string such as '<f4'");
    for (size_t i = 0; i < DESCRS; i++)
        if (strlen(descrs[i].descr) == (size_t)length &&
            memcmp(string, descrs[i].descr, (size_t)length) == 0) {
            array->dtype = descrs[i].dtype;
            return TOOL_OK;
        }
    return tool_bad("%s: descr: '%.*s': only <f2 <f4 <f8 <u2 <i4 <i8 are read", text->path,
                    (int)(length > SHOWN ? SHOWN : length), string);
}

static int parse_order(struct text *text)
{
    skip_space(text);
    const char *const value = text->at;
    if (accept_word(text, "False"))
        return TOOL_OK;
    if (accept_word(text, "True"))
        return tool_bad("%s: fortran_order: True: only C order is read", text->path);
    return bad_field(text, "fortran_order", value, "must be False");
}

static int parse_shape(struct text *text, struct tool_npy *array)
{
    static const char rule[] = "must be a tuple of whole numbers >= 0, such as (4096, 32, 128)";
    skip_space(text);
    const char *const value = text->at;
    if (!accept(text, '('))
        return bad_field(text, "shape", value, rule);
    int comma = 1; /* (5) is a number in Python, not a tuple */
    while (!accept(text, ')')) {
        size_t size = 0;
        if (!comma || text->at == text->end || *text->at < '0' || *text->at > '9')
            return bad_field(text, "shape", value, rule);
        if (array->dims == TOOL_NPY_DIMS)
            return bad_field(text, "shape", value, "has more than 8 dimensions");
        for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++) {
            const size_t digit = (size_t)(*text->at - '0');
            if (size > (SIZE_MAX - digit) / 10)
                return bad_field(text, "shape", value, "is larger than an address can reach");
            size = size * 10 + digit;
        }
        array->shape[array->dims++] = size;
        comma = accept(text, ',');
    }
    if (array->dims == 1 && !comma)
        return bad_field(text, "shape", value, rule);
    return TOOL_OK;
}

/* {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, the keys in any order. */
static int parse_header(struct text *text, struct tool_npy *array)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    enum { KEYS = sizeof keys / sizeof *keys };
    int seen[KEYS] = {0};
    const char *value = text->at;
    if (!accept(text, '{'))
        return bad_field(text, "header", value, "must be a Python dict");
    int comma = 1;
    while (!accept(text, '}')) {
        const char *string;
        value = text->at;
        const ptrdiff_t length = comma ? accept_string(text, &string) : -1;
        if (length < 0)
            return bad_field(text, "header", value,
                             "must be a Python dict with the keys descr, fortran_order, shape");
        size_t key = 0;
        while (key < KEYS && (strlen(keys[key]) != (size_t)length ||
                              memcmp(keys[key], string, (size_t)length) != 0))
            key++;
        if (key == KEYS)
            return tool_bad("%s: header: '%.*s': unknown key", text->path,
                            (int)(length > SHOWN ? SHOWN : length), string);
        if (seen[key])
            return tool_bad("%s: header: '%s': key given twice", text->path, keys[key]);
        seen[key] = 1;
        if (!accept(text, ':'))
            return bad_field(text, "header", text->at, "':' expected");
        const int status = key == 0   ? parse_descr(text, array)
                           : key == 1 ? parse_order(text)
                                      : parse_shape(text, array);
        if (status != TOOL_OK)
            return status;
        comma = accept(text, ',');
    }
    skip_space(text);
    if (text->at != text->end)
        return bad_field(text, "header", text->at, "text after the dict");
    for (size_t key = 0; key < KEYS; key++)
        if (!seen[key])
            return tool_bad("%s: header: '%s': key missing", text->path, keys[key]);
    return TOOL_OK;
}

/* Reads exactly `bytes` bytes; 0 when the file has less or cannot be read. */
static int read_exactly(int file, void *to, size_t bytes, int64_t offset)
{
    char *at = to;
    while (bytes > 0) {
        const ssize_t got =
            pread(file, at, bytes < (size_t)1 << 30 ? bytes : (size_t)1 << 30, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        at += got;
        offset += got;
        bytes -= (size_t)got;
    }
    return 1;
}

/* Compares what the shape needs with what the file has. */
static int check_size(struct tool_npy *array, int64_t held)
{
    char shape[TOOL_NPY_HEADER];
    const size_t size = tool_element_size(array->dtype);
    int empty = 0;
    tool_npy_shape_print(shape, sizeof shape, array->shape, array->dims);
    for (size_t i = 0; i < array->dims; i++)
        empty |= array->shape[i] == 0;
    array->count = empty ? 0 : 1;
    const uint64_t limit =
        (uint64_t)SIZE_MAX < (uint64_t)INT64_MAX ? SIZE_MAX : (uint64_t)INT64_MAX;
    for (size_t i = 0; i < array->dims && !empty; i++) {
        if (array->shape[i] > limit / size / array->count)
            return tool_bad(
                "%s: shape: %s: is larger than an address can reach, and the file holds %" PRId64
                " bytes",
                array->path, shape, held);
        array->count *= array->shape[i];
    }
    const int64_t needed = (int64_t)(array->count * size);
    if (needed != held)
        return tool_bad("%s: shape: %s: needs %" PRId64 " bytes, but the file holds %" PRId64,
                        array->path, shape, needed, held);
    return TOOL_OK;
}

static int read_header(struct tool_npy *array, int64_t file_bytes)
{
    unsigned char prefix[PREFIX_BYTES] = {0};
    if (file_bytes < 10 ||
        !read_exactly(array->file, prefix, file_bytes < 12 ? (size_t)file_bytes : 12, 0))
        return tool_bad("%s: size: %" PRId64 " bytes: too short for a .npy header", array->path,
                        file_bytes);
    if (memcmp(prefix, "\x93NUMPY", 6) != 0)
        return tool_bad("%s: magic: %02x %02x %02x %02x %02x %02x: not a .npy file", array->path,
                        prefix[0], prefix[1], prefix[2], prefix[3], prefix[4], prefix[5]);
    if (prefix[6] < 1 || prefix[6] > 3 || prefix[7] != 0)
        return tool_bad("%s: version: %u.%u: only 1.0, 2.0 and 3.0 are read", array->path,
                        prefix[6], prefix[7]);
    int64_t length = prefix[8] | prefix[9] << 8;
    int64_t start = 10;
    if (prefix[6] > 1) {
        length |= (int64_t)prefix[10] << 16 | (int64_t)prefix[11] << 24;
        start = PREFIX_BYTES;
    }
    if (length > file_bytes - start)
        return tool_bad("%s: header_len: %" PRId64 ": the file has only %" PRId64 " bytes",
                        array->path, length, file_bytes);
    if (length > HEADER_LIMIT)
        return tool_bad("%s: header_len: %" PRId64 ": must be at most %d", array->path, length,
                        HEADER_LIMIT);
    char *const header = malloc((size_t)length + 1);
    if (header == NULL)
        return tool_bad("%s: out of memory", array->path);
    int status = TOOL_OK;
    if (!read_exactly(array->file, header, (size_t)length, start))
        status = tool_bad("%s: cannot be read: %s", array->path, strerror(errno));
    struct text text = {array->path, header, header + length};
    if (status == TOOL_OK)
        status = parse_header(&text, array);
    free(header);
    array->data = start + length;
    return status == TOOL_OK ? check_size(array, file_bytes - array->data) : status;
}

static const char *file_type(mode_t mode)
{
    return S_ISDIR(mode)    ? "directory"
           : S_ISFIFO(mode) ? "pipe"
           : S_ISCHR(mode)  ? "character device"
           : S_ISBLK(mode)  ? "block device"
                            : "special file";
}

int tool_npy_open(struct tool_npy *array, const char *path)
{
    struct stat facts;
    *array = (struct tool_npy)TOOL_NPY_INIT;
    array->path = path;
    array->file =
        open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe without a writer must not block */
    if (array->file < 0 || fstat(array->file, &facts) != 0) {
        const int status = tool_bad("%s: cannot be opened: %s", path, strerror(errno));
        tool_npy_close(array);
        return status;
    }
    const int status =
        S_ISREG(facts.st_mode)
            ? read_header(array, (int64_t)facts.st_size)
            : tool_bad("%s: type: %s: only regular files are read", path, file_type(facts.st_mode));
    if (status != TOOL_OK)
        tool_npy_close(array);
    return status;
}

int tool_npy_read(const struct tool_npy *array, size_t first, size_t count, void *elements)
{
    const size_t size = tool_element_size(array->dtype);
    errno = 0;
    if (read_exactly(array->file, elements, count * size, array->data + (int64_t)(first * size)))
        return TOOL_OK;
    return tool_bad("%s: cannot be read: %s", array->path,
                    errno != 0 ? strerror(errno) : "it has become shorter");
}

int tool_npy_load(const struct tool_npy *array, void **elements)
{
    const size_t bytes = array->count * tool_element_size(array->dtype);
    *elements = malloc(bytes > 0 ? bytes : 1);
    if (*elements == NULL)
        return tool_bad("%s: out of memory for %zu bytes", array->path, bytes);
    const int status = tool_npy_read(array, 0, array->count, *elements);
    if (status != TOOL_OK) {
        free(*elements);
        *elements = NULL;
    }
    return status;
}

void tool_npy_close(struct tool_npy *array)
{
    if (array->file >= 0)
        close(array->file);
    array->file = -1;
}

void tool_npy_shape_print(char *text, size_t size, const size_t *shape, size_t dims)
{
    size_t used = (size_t)snprintf(text, size, "[");
    for (size_t i = 0; i < dims && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%zu", i == 0 ? "" : ", ", shape[i]);
    if (used < size)
        snprintf(text + used, size - used, "]");
}

size_t tool_npy_header(char header[TOOL_NPY_HEADER], rope_dtype dtype, const size_t *shape,
                       size_t dims)
{
    enum { START = 10 };
    const rope_dtype stored = dtype == ROPE_BF16 ? TOOL_U16 : dtype;
    const char *descr = "";
    for (size_t i = 0; i < DESCRS; i++)
        if (descrs[i].dtype == stored)
            descr = descrs[i].descr;
    int used = snprintf(header + START, TOOL_NPY_HEADER - START,
                        "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (size_t i = 0; i < dims; i++)
        used += snprintf(header + START + used, (size_t)(TOOL_NPY_HEADER - START - used), "%s%zu%s",
                         i == 0 ? "" : " ", shape[i], dims == 1 || i + 1 < dims ? "," : "");
    used += snprintf(header + START + used, (size_t)(TOOL_NPY_HEADER - START - used), "), }");
    const size_t length = ((size_t)(START + used) / 64 + 1) * 64; /* room for the newline */
    memset(header + START + used, ' ', length - START - (size_t)used);
    header[length - 1] = '\n';
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)((length - START) & 0xff);
    header[9] = (char)((length - START) >> 8);
    return length;
}
