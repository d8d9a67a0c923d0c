/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration under construction: memory, messages, entries, layers.  Knows no file format.
 */
#ifndef ROPE_CONFIG_CONFIG_H
#define ROPE_CONFIG_CONFIG_H

#include "rope/rope_config.h"

#include <fenv.h>

#if defined(__GNUC__)
#define ROPE_CONFIG_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define ROPE_CONFIG_PRINTF(text, first)
#endif

enum { ROPE_CONFIG_ENTRIES = 32, ROPE_CONFIG_WARNINGS = 64, ROPE_CONFIG_PAIRS_MAX = 2048 };

/* Which entry a layer of the text tower takes. */
struct rope_layers {
    size_t count;           /* 0 = not known */
    const int32_t *entries; /* of each layer, or NULL: then by the pattern */
    size_t period;          /* layer i is special where i % period == phase; 0 = none is */
    size_t phase;
    int32_t special;
    int32_t ordinary;
};

struct rope_config {
    struct rope_config_memory *memory;
    int is_exhausted; /* an allocation failed: ROPE_ERR_MEMORY, whatever else was found */
    rope_profile profile;
    size_t length;
    /* of the call that makes the configuration: its message and its floating-point environment,
       which is set aside so that its rounding mode does not become part of the result */
    char *message;
    size_t message_size;
    fenv_t host;
    rope_config_entry entries[ROPE_CONFIG_ENTRIES];
    size_t entry_count;
    struct rope_layers layers;
    rope_query_scale scale;
    int scale_without_rotation; /* only layers without rotation are scaled (Llama 4) */
    const char *warnings[ROPE_CONFIG_WARNINGS + 1];
    size_t warning_count;
};

/*
 * 1 if the caller's struct, which starts with its struct_size, is at least `least` long and has no
 * byte behind our `size` that is not zero.
 */
int rope_config_struct_fits(const void *given, size_t size, size_t least);

/* A configuration with the options in it; checks them. */
rope_status rope_config_open(const rope_config_options *options, struct rope_config **config);

/* Ends construction: forgets the caller's message, or frees everything if status is not ROPE_OK. */
rope_status rope_config_close(struct rope_config *config, rope_status status, rope_config **result);

/* Zeroed memory that lives as long as the configuration; NULL when there is none. */
void *rope_config_allocate(struct rope_config *config, size_t count, size_t size);

/*
 * A copy of at most 63 bytes of text from a file, fit to be shown: everything but printable ASCII
 * becomes '?'.
 */
const char *rope_config_shown(struct rope_config *config, const char *text);

/* Writes the caller's message and returns status. */
rope_status rope_config_fail(struct rope_config *config, rope_status status, const char *format,
                             ...) ROPE_CONFIG_PRINTF(3, 4);

/*
 * Adds a warning once; false is out of memory.  Past ROPE_CONFIG_WARNINGS one line says that there
 * are more.
 */
int rope_config_warn(struct rope_config *config, const char *format, ...) ROPE_CONFIG_PRINTF(2, 3);

/* Adds an entry with a zeroed spec of its own, which *spec points to. */
rope_status rope_config_add(struct rope_config *config, rope_tower tower, rope_config_entry **entry,
                            rope_spec **spec);

/* Whether a plan can be made of the spec; the message names the object that it comes from. */
rope_status rope_config_check(struct rope_config *config, const rope_spec *spec, const char *path);

#endif
