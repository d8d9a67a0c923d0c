/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a JSON text within bounds, and typed values out of it.  Knows no key of any model. */
#ifndef ROPE_CONFIG_DOCUMENT_H
#define ROPE_CONFIG_DOCUMENT_H

#include "config.h"

#include <jansson.h>

/* An object of the file and its name, "" or "text_config.rope_scaling". */
struct rope_object {
    const json_t *json; /* NULL: an object without members */
    const char *path;
};

/* Several names of one key, for the readers below; valid to the end of the block. */
#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The tree of a text; the caller releases it with json_decref. */
rope_status rope_document_load(struct rope_config *config, const char *text, size_t size,
                               json_t **root);

/*
 * The member that the first of `names` (ended by NULL) finds, NULL where all are absent or null.
 * Of several that are present all must be equal: else ROPE_ERR_VALUE.  *name is the one found; may
 * be NULL.
 */
rope_status rope_object_find(struct rope_config *config, const struct rope_object *object,
                             const char *const *names, const json_t **value, const char **name);

/* "rope_scaling.factor" as the message calls it. */
const char *rope_object_name(struct rope_config *config, const struct rope_object *object,
                             const char *name);

/* The member as a type; *found is 0 and the value is kept where it is absent or null. */
rope_status rope_object_number(struct rope_config *config, const struct rope_object *object,
                               const char *const *names, double *value, int *found);
rope_status rope_object_count(struct rope_config *config, const struct rope_object *object,
                              const char *const *names, size_t *value, int *found);
/*
 * The count of the first name that is there, whatever the others say: lengths and widths have many
 * names, and not all of them mean the same in one file.
 */
rope_status rope_object_first_count(struct rope_config *config, const struct rope_object *object,
                                    const char *const *names, size_t *value, int *found);
rope_status rope_object_flag(struct rope_config *config, const struct rope_object *object,
                             const char *const *names, int *value, int *found);
rope_status rope_object_text(struct rope_config *config, const struct rope_object *object,
                             const char *const *names, const char **value, int *found);

/* A list of numbers, copied; *count 0 and *values NULL where it is absent or null. */
rope_status rope_object_numbers(struct rope_config *config, const struct rope_object *object,
                                const char *const *names, const double **values, size_t *count);

/* A member that is an object; json is NULL where it is absent or null. */
rope_status rope_object_inside(struct rope_config *config, const struct rope_object *object,
                               const char *const *names, struct rope_object *inside);

/* 1 if the value is a number, or {"__float__": "Infinity"} and the like. */
int rope_json_number(const json_t *json, double *value);

#endif
