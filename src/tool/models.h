/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations of some public models by name. */
#ifndef ROPE_TOOL_MODELS_H
#define ROPE_TOOL_MODELS_H

#include <stddef.h>

struct tool_known {
    const char *name;
    const char *source; /* the repository that it is from */
    const char *text;   /* JSON */
};

/* The model of this name, or NULL. */
const struct tool_known *tool_known_model(const char *name);

/* All of them. */
const struct tool_known *tool_known_models(size_t *count);

#endif
