/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a JSON text within bounds, and typed values out of it.  Knows no key of any model. */
#include "document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The text --------------------------------------------------------------------------------- */

/*
 * Python writes NaN and infinity as words that JSON has not.  In the copy they become strings of the same length,
 * so that lines and columns of jansson's errors stay right.
 */
static const struct {
    const char *word;
    const char *string;
    double value;
} words[] = {
    {"-Infinity", "\"__-inf_\"", -INFINITY},
    {"Infinity", "\"__inf_\"", INFINITY},
    {"NaN", "\"_\"", NAN},
};
enum { WORDS = sizeof words / sizeof words[0] };

/* Replaces the words, and refuses what is nested too deep: jansson's own limit is 2048 recursions. */
static rope_status prepare(struct rope_config *config, char *text, size_t size)
{
    size_t depth = 0;
    int in_string = 0;
    for (size_t i = 0; i < size; i++) {
        const char byte = text[i];
        if (in_string) {
            if (byte == '\\')
                i++;
            else if (byte == '"')
                in_string = 0;
        } else if (byte == '"') {
            in_string = 1;
        } else if (byte == '{' || byte == '[') {
            if (++depth > ROPE_CONFIG_DEPTH_MAX)
                return rope_config_fail(
                    config, ROPE_ERR_SYNTAX,
                    "byte %zu: more than %d objects and arrays within each other", i,
                    ROPE_CONFIG_DEPTH_MAX);
        } else if (byte == '}' || byte == ']') {
            depth -= depth > 0;
        } else if (byte == '-' || byte == 'I' || byte == 'N') {
            for (size_t w = 0; w < WORDS; w++) {
                const size_t length = strlen(words[w].word);
                if (length <= size - i && memcmp(text + i, words[w].word, length) == 0) {
                    memcpy(text + i, words[w].string, length);
                    i += length - 1;
                    break;
                }
            }
        }
    }
    return ROPE_OK;
}

rope_status rope_document_load(struct rope_config *config, const char *text, size_t size,
                               json_t **root)
{
    *root = NULL;
    if (size > ROPE_CONFIG_TEXT_MAX)
        return rope_config_fail(config, ROPE_ERR_SYNTAX, "size: %zu: must be at most %d bytes",
                                size, ROPE_CONFIG_TEXT_MAX);
    char *copy = malloc(size + 1);
    if (copy == NULL)
        return ROPE_ERR_MEMORY;
    memcpy(copy, text, size);
    rope_status status = prepare(config, copy, size);
    if (status == ROPE_OK) {
        json_error_t error;
        *root = json_loadb(copy, size, JSON_REJECT_DUPLICATES, &error);
        if (*root == NULL && json_error_code(&error) == json_error_out_of_memory)
            status = ROPE_ERR_MEMORY;
        else if (*root == NULL)
            status = rope_config_fail(config, ROPE_ERR_SYNTAX, "line %d, column %d: %s", error.line,
                                      error.column, rope_config_shown(config, error.text));
        else if (!json_is_object(*root))
            status = rope_config_fail(config, ROPE_ERR_SYNTAX, "the text must be one JSON object");
    }
    free(copy);
    if (status != ROPE_OK) {
        json_decref(*root);
        *root = NULL;
    }
    return status;
}

/* ---- Values ----------------------------------------------------------------------------------- */

int rope_json_number(const json_t *json, double *value)
{
    if (json_is_number(json)) {
        *value = json_number_value(json);
        return 1;
    }
    const char *text = json_string_value(json); /* a word of the text, replaced above */
    for (size_t w = 0; text != NULL && w < WORDS; w++)
        if (strlen(text) + 2 == strlen(words[w].string) &&
            memcmp(text, words[w].string + 1, strlen(text)) == 0) {
            *value = words[w].value;
            return 1;
        }
    if (!json_is_object(json) ||
        json_object_size(json) != 1) /* {"__float__": "Infinity"} of transformers 5 */
        return 0;
    text = json_string_value(json_object_get(json, "__float__"));
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
        number != floor(number))
        return wrong_type(config, object, name, "a whole number, 0..2^53");
    *value = (size_t)number;
    return ROPE_OK;
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
    const char *name;
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
