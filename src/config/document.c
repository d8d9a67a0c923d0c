/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a JSON text within bounds, and typed values out of it.  Knows no key of any model. */
#include "document.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The text -------------------------------------------------------------------------------- */

/*
 * jansson holds the tree, but its parser does not read the text: where its buffer of a token cannot
 * grow, version 2.14 drops a byte and goes on, so that memory that runs out changes a number or
 * makes it run past the end of a string.
 */
struct reader {
    struct rope_config *config;
    const char *text;
    size_t size, at;
    size_t depth;
    char *room; /* for one string or number, decoded */
    rope_status status;
};

/*
 * Numbers that JSON has not, as Python writes them; the tree has them in the form of transformers
 * 5.
 */
static const struct {
    const char *word;
    double value;
} words[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
enum { WORDS = sizeof words / sizeof words[0] };

static json_t *read_value(struct reader *reader);

/* Notes the first error; NULL, so that readers can return it. */
static json_t *stop(struct reader *reader, const char *rule)
{
    size_t line = 1, column = 1;
    if (reader->status != ROPE_OK)
        return NULL;
    for (size_t i = 0; i < reader->at && i < reader->size; i++) {
        column = reader->text[i] == '\n' ? 1 : column + 1;
        line += reader->text[i] == '\n';
    }
    reader->status = rope_config_fail(reader->config, ROPE_ERR_SYNTAX, "line %zu, column %zu: %s",
                                      line, column, rule);
    return NULL;
}

/* A value made by jansson, which makes none only where memory has run out. */
static json_t *made(struct reader *reader, json_t *value)
{
    if (value == NULL && reader->status == ROPE_OK)
        reader->status = ROPE_ERR_MEMORY;
    return value;
}

static int next(const struct reader *reader)
{
    return reader->at < reader->size ? (unsigned char)reader->text[reader->at] : -1;
}

static int skip_blanks(struct reader *reader)
{
    while (next(reader) == ' ' || next(reader) == '\t' || next(reader) == '\n' ||
           next(reader) == '\r')
        reader->at++;
    return next(reader);
}

static int take(struct reader *reader, const char *word)
{
    const size_t length = strlen(word);
    if (length > reader->size - reader->at || memcmp(reader->text + reader->at, word, length) != 0)
        return 0;
    reader->at += length;
    return 1;
}

/* Well-formed UTF-8 without NUL: Unicode 15, table 3-7. */
static int is_utf8(const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        const unsigned char lead = (unsigned char)text[i++];
        if (lead == 0)
            return 0;
        if (lead < 0x80)
            continue;
        const size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
        if (lead < 0xC2 || lead > 0xF4 || more > size - i)
            return 0;
        const unsigned char second = (unsigned char)text[i];
        if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
            (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F))
            return 0;
        for (size_t k = 0; k < more; k++)
            if (((unsigned char)text[i++] & 0xC0) != 0x80)
                return 0;
    }
    return 1;
}

/* Four hexadecimal digits, or -1. */
static long read_hex(struct reader *reader)
{
    long code = 0;
    for (int i = 0; i < 4; i++) {
        const int c = next(reader);
        if (c >= '0' && c <= '9')
            code = code * 16 + (c - '0');
        else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
            code = code * 16 + (c | 0x20) - 'a' + 10;
        else
            return -1;
        reader->at++;
    }
    return code;
}

/* What follows \u, as UTF-8; its length, or 0 where it is no character. */
static size_t read_unicode(struct reader *reader, char *bytes)
{
    long code = read_hex(reader);
    if (code >= 0xD800 && code <= 0xDBFF) {
        const long low = take(reader, "\\u") ? read_hex(reader) : -1;
        if (low < 0xDC00 || low > 0xDFFF)
            return 0;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code <= 0 || (code >= 0xDC00 && code <= 0xDFFF)) {
        return 0;
    }
    if (code < 0x80) {
        bytes[0] = (char)code;
        return 1;
    }
    const size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3F));
    bytes[0] = (char)((0xF00 >> length & 0xF0) | code);
    return length;
}

/* Decodes a string into the room; 0 on error. */
static int read_string(struct reader *reader)
{
    static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char *end = reader->room;
    for (reader->at++; next(reader) != '"';) {
        const int c = next(reader);
        if (c < ' ') {
            (void)stop(reader, c < 0 ? "the string has no end" : "a control character in a string");
            return 0;
        }
        reader->at++;
        if (c != '\\') {
            *end++ = (char)c;
            continue;
        }
        const int letter = next(reader);
        const char *found = letter > 0 ? strchr(escapes, letter) : NULL;
        if (found != NULL) {
            *end++ = meanings[found - escapes];
            reader->at++;
            continue;
        }
        const size_t length = take(reader, "u") ? read_unicode(reader, end) : 0;
        if (length == 0) {
            (void)stop(reader, "no such escape in a string");
            return 0;
        }
        end += length;
    }
    reader->at++;
    *end = '\0';
    return 1;
}

static size_t skip_digits(struct reader *reader)
{
    const size_t start = reader->at;
    while (next(reader) >= '0' && next(reader) <= '9')
        reader->at++;
    return reader->at - start;
}

static json_t *read_number(struct reader *reader)
{
    const size_t start = reader->at;
    size_t point = 0;
    (void)take(reader, "-");
    const int zero = next(reader) == '0';
    const size_t digits = skip_digits(reader);
    if (digits == 0 || (zero && digits > 1))
        return stop(reader, "neither a value nor a number");
    if (next(reader) == '.') {
        point = reader->at++;
        if (skip_digits(reader) == 0)
            return stop(reader, "digits must follow the point");
    }
    if (next(reader) == 'e' || next(reader) == 'E') {
        reader->at++;
        if (!take(reader, "+"))
            (void)take(reader, "-");
        if (skip_digits(reader) == 0)
            return stop(reader, "an exponent must have digits");
    }
    /* strtod wants the point of the locale */
    const char *local = point != 0 ? localeconv()->decimal_point : "";
    const size_t length = strlen(local) <= 8 ? strlen(local) : 0;
    const size_t before = (point != 0 ? point : reader->at) - start;
    memcpy(reader->room, reader->text + start, before);
    memcpy(reader->room + before, local, length);
    char *end = reader->room + before + length;
    if (point != 0) {
        memcpy(end, reader->text + point + 1, reader->at - point - 1);
        end += reader->at - point - 1;
    }
    *end = '\0';
    const double value = strtod(reader->room, NULL);
    return isfinite(value) ? made(reader, json_real(value))
                           : stop(reader, "the number is too large");
}

static json_t *read_word(struct reader *reader)
{
    if (take(reader, "true"))
        return json_true();
    if (take(reader, "false"))
        return json_false();
    if (take(reader, "null"))
        return json_null();
    for (size_t w = 0; w < WORDS; w++)
        if (take(reader, words[w].word))
            return made(reader, json_pack("{s:s}", "__float__", words[w].word));
    return read_number(reader);
}

static json_t *read_array(struct reader *reader)
{
    json_t *array = made(reader, json_array());
    reader->at++;
    if (array != NULL && skip_blanks(reader) == ']') {
        reader->at++;
        return array;
    }
    while (array != NULL) {
        json_t *value = read_value(reader);
        if (value == NULL)
            break;
        if (json_array_append_new(array, value) != 0) {
            reader->status = ROPE_ERR_MEMORY;
            break;
        }
        const int c = skip_blanks(reader);
        if (c != ',' && c != ']') {
            (void)stop(reader, "a comma or ] must follow");
            break;
        }
        reader->at++;
        if (c == ']')
            return array;
    }
    json_decref(array);
    return NULL;
}

/* A member, from its key on; 0 on error. */
static int read_member(struct reader *reader, json_t *object)
{
    if (skip_blanks(reader) != '"') {
        (void)stop(reader, "a key in quotes must follow");
        return 0;
    }
    const size_t start = reader->at;
    if (!read_string(reader))
        return 0;
    if (json_object_get(object, reader->room) != NULL) {
        reader->at = start;
        (void)stop(reader, "this key is given twice");
        return 0;
    }
    char *key = malloc(strlen(reader->room) + 1);
    if (key == NULL) {
        reader->status = ROPE_ERR_MEMORY;
        return 0;
    }
    strcpy(key, reader->room);
    json_t *value = NULL;
    if (skip_blanks(reader) != ':') {
        (void)stop(reader, "a colon must follow");
    } else {
        reader->at++;
        value = read_value(reader);
    }
    const int failed = value == NULL || json_object_set_new_nocheck(object, key, value) != 0;
    if (failed && reader->status == ROPE_OK)
        reader->status = ROPE_ERR_MEMORY;
    free(key);
    return !failed;
}

static json_t *read_object(struct reader *reader)
{
    json_t *object = made(reader, json_object());
    reader->at++;
    if (object != NULL && skip_blanks(reader) == '}') {
        reader->at++;
        return object;
    }
    while (object != NULL && read_member(reader, object)) {
        const int c = skip_blanks(reader);
        if (c != ',' && c != '}') {
            (void)stop(reader, "a comma or } must follow");
            break;
        }
        reader->at++;
        if (c == '}')
            return object;
    }
    json_decref(object);
    return NULL;
}

/* The value at this place, or NULL and a status. */
static json_t *read_value(struct reader *reader)
{
    const int c = skip_blanks(reader);
    if (c == '"')
        return read_string(reader) ? made(reader, json_string_nocheck(reader->room)) : NULL;
    if (c != '{' && c != '[')
        return read_word(reader);
    if (reader->depth == ROPE_CONFIG_DEPTH_MAX)
        return stop(reader, "too many objects and arrays within each other");
    reader->depth++;
    json_t *value = c == '{' ? read_object(reader) : read_array(reader);
    reader->depth--;
    return value;
}

rope_status rope_document_load(struct rope_config *config, const char *text, size_t size,
                               json_t **root)
{
    enum { MARGIN = 16 }; /* a point of several bytes, and the end */
    *root = NULL;
    if (size > ROPE_CONFIG_TEXT_MAX)
        return rope_config_fail(config, ROPE_ERR_SYNTAX, "size: %zu: must be at most %d bytes",
                                size, ROPE_CONFIG_TEXT_MAX);
    if (!is_utf8(text, size))
        return rope_config_fail(config, ROPE_ERR_SYNTAX, "the text is not UTF-8, or has a NUL");
    struct reader reader = {.config = config, .text = text, .size = size};
    reader.room = malloc(size + MARGIN);
    if (reader.room == NULL)
        return ROPE_ERR_MEMORY;
    if (skip_blanks(&reader) != '{')
        (void)stop(&reader, "the text must be one JSON object");
    else
        *root = read_value(&reader);
    if (*root != NULL && skip_blanks(&reader) >= 0)
        (void)stop(&reader, "the text must end behind its object");
    free(reader.room);
    if (reader.status != ROPE_OK) {
        json_decref(*root);
        *root = NULL;
    }
    return reader.status;
}

/* ---- Values ---------------------------------------------------------------------------------- */

int rope_json_number(const json_t *json, double *value)
{
    if (json_is_number(json)) {
        *value = json_number_value(json);
        return 1;
    }
    if (!json_is_object(json) || json_object_size(json) != 1)
        return 0;
    const char *text = json_string_value(json_object_get(json, "__float__"));
    for (size_t w = 0; text != NULL && w < WORDS; w++)
        if (strcmp(text, words[w].word) == 0) {
            *value = words[w].value;
            return 1;
        }
    return 0;
}

const char *rope_object_name(struct rope_config *config, const struct rope_object *object,
                             const char *name)
{
    const size_t length = strlen(object->path);
    char *joined = rope_config_allocate(config, length + strlen(name) + 2, 1);
    if (joined == NULL)
        return name;
    if (length != 0) {
        memcpy(joined, object->path, length);
        joined[length] = '.';
    }
    strcpy(joined + length + (length != 0), name);
    return joined;
}

rope_status rope_object_find(struct rope_config *config, const struct rope_object *object,
                             const char *const *names, const json_t **value, const char **name)
{
    const char *first = NULL;
    *value = NULL;
    for (; *names != NULL; names++) {
        const json_t *member = json_object_get(object->json, *names);
        if (member == NULL || json_is_null(member))
            continue;
        if (*value == NULL) {
            *value = member;
            first = *names;
            continue;
        }
        double a = 0.0, b = 0.0;
        const int equal = rope_json_number(*value, &a) && rope_json_number(member, &b)
                              ? a == b
                              : json_equal(*value, member);
        if (!equal)
            return rope_config_fail(config, ROPE_ERR_VALUE, "%s: contradicts %s",
                                    rope_object_name(config, object, *names), first);
    }
    if (name != NULL)
        *name = first;
    return ROPE_OK;
}

static rope_status wrong_type(struct rope_config *config, const struct rope_object *object,
                              const char *name, const char *rule)
{
    return rope_config_fail(config, ROPE_ERR_VALUE, "%s: must be %s",
                            rope_object_name(config, object, name), rule);
}

rope_status rope_object_number(struct rope_config *config, const struct rope_object *object,
                               const char *const *names, double *value, int *found)
{
    const json_t *json;
    const char *name;
    const rope_status status = rope_object_find(config, object, names, &json, &name);
    *found = status == ROPE_OK && json != NULL;
    if (!*found)
        return status;
    return rope_json_number(json, value) ? ROPE_OK : wrong_type(config, object, name, "a number");
}

rope_status rope_object_count(struct rope_config *config, const struct rope_object *object,
                              const char *const *names, size_t *value, int *found)
{
    const json_t *json;
    const char *name;
    double number = 0.0;
    const rope_status status = rope_object_find(config, object, names, &json, &name);
    *found = status == ROPE_OK && json != NULL;
    if (!*found)
        return status;
    if (!rope_json_number(json, &number) || !(number >= 0.0) || number > 0x1p53 ||
        number > (double)SIZE_MAX || number != floor(number))
        return wrong_type(config, object, name, "a whole number, 0..2^53");
    *value = (size_t)number;
    return ROPE_OK;
}

rope_status rope_object_first_count(struct rope_config *config, const struct rope_object *object,
                                    const char *const *names, size_t *value, int *found)
{
    rope_status status = ROPE_OK;
    *found = 0;
    for (; *names != NULL && status == ROPE_OK && !*found; names++)
        status = rope_object_count(config, object, NAMES(*names), value, found);
    return status;
}

rope_status rope_object_flag(struct rope_config *config, const struct rope_object *object,
                             const char *const *names, int *value, int *found)
{
    const json_t *json;
    const char *name;
    const rope_status status = rope_object_find(config, object, names, &json, &name);
    *found = status == ROPE_OK && json != NULL;
    if (!*found)
        return status;
    if (!json_is_boolean(json))
        return wrong_type(config, object, name, "true or false");
    *value = json_is_true(json);
    return ROPE_OK;
}

rope_status rope_object_text(struct rope_config *config, const struct rope_object *object,
                             const char *const *names, const char **value, int *found)
{
    const json_t *json;
    const char *name;
    const rope_status status = rope_object_find(config, object, names, &json, &name);
    *found = status == ROPE_OK && json != NULL;
    if (!*found)
        return status;
    if (!json_is_string(json))
        return wrong_type(config, object, name, "a string");
    *value = json_string_value(json);
    return ROPE_OK;
}

rope_status rope_object_numbers(struct rope_config *config, const struct rope_object *object,
                                const char *const *names, const double **values, size_t *count)
{
    const json_t *json;
    const char *name;
    const rope_status status = rope_object_find(config, object, names, &json, &name);
    *values = NULL;
    *count = 0;
    if (status != ROPE_OK || json == NULL)
        return status;
    if (!json_is_array(json) || json_array_size(json) == 0 ||
        json_array_size(json) > ROPE_CONFIG_LAYERS_MAX)
        return wrong_type(config, object, name, "a list of numbers");
    double *copy = rope_config_allocate(config, json_array_size(json), sizeof *copy);
    if (copy == NULL)
        return ROPE_ERR_MEMORY;
    for (size_t i = 0; i < json_array_size(json); i++)
        if (!rope_json_number(json_array_get(json, i), &copy[i]))
            return wrong_type(config, object, name, "a list of numbers");
    *values = copy;
    *count = json_array_size(json);
    return ROPE_OK;
}

rope_status rope_object_inside(struct rope_config *config, const struct rope_object *object,
                               const char *const *names, struct rope_object *inside)
{
    const json_t *json;
    const char *name = "";
    const rope_status status = rope_object_find(config, object, names, &json, &name);
    inside->json = NULL;
    inside->path = "";
    if (status != ROPE_OK || json == NULL)
        return status;
    if (!json_is_object(json))
        return wrong_type(config, object, name, "an object");
    inside->json = json;
    inside->path = rope_object_name(config, object, name);
    return ROPE_OK;
}
