/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration of a model, from a config.json or a GGUF file.  Rotates nothing. */
#ifndef ROPE_TOOL_MODEL_H
#define ROPE_TOOL_MODEL_H

#include "options.h"
#include "rope/rope_config.h"

/* Opens a file, or where there is none the model that models.c knows by this name, by --profile and
 * --length; *config is NULL on error. */
int tool_model_open(rope_config **config, const char *path, const struct tool_options *options);
void tool_model_close(rope_config *config);

/*
 * The rotation that --layer names; without it the only one of the language model, or the only one.
 */
int tool_model_entry(const rope_config *config, const struct tool_options *options,
                     rope_config_entry *entry);

#endif
