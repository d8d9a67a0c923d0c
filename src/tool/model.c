/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration of a model, from a config.json or a GGUF file.  Rotates nothing. */
#include "model.h"
#include "gguf.h"
#include "models.h"
#include "say.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef ROPE_TOOL_CONFIG

static const char *status_text(rope_status status)
{
    switch (status) {
    case ROPE_ERR_SYNTAX:
        return "no JSON object";
    case ROPE_ERR_UNSUPPORTED:
        return "a scheme that is not known";
    default:
        return rope_status_string(status);
    }
}

static rope_status read_text(rope_config **config, FILE *file, const rope_config_options *options)
{
    const size_t room = (size_t)ROPE_CONFIG_TEXT_MAX + 1;
    char *const text = malloc(room);
    if (text == NULL)
        return ROPE_ERR_MEMORY;
    const rope_status status = rope_config_parse(text, fread(text, 1, room, file), options, config);
    free(text);
    return status;
}

int tool_model_open(rope_config **config, const char *path, const struct tool_options *options)
{
    char message[256] = "";
    rope_config_options given = ROPE_CONFIG_OPTIONS_INIT;
    given.profile = options->profile;
    given.length = options->length;
    given.message = message;
    given.message_size = sizeof message;
    *config = NULL;
    FILE *const file = fopen(path, "rb");
    const struct tool_known *const known = file == NULL ? tool_known_model(path) : NULL;
    if (file == NULL && known == NULL)
        return tool_bad("%s: %s", path, strerror(errno));
    rope_status status;
    if (known != NULL) {
        status = rope_config_parse(known->text, strlen(known->text), &given, config);
    } else if (tool_gguf_is(file)) {
        struct tool_gguf gguf;
        const int read = tool_gguf_read(&gguf, file, path);
        status = read == TOOL_OK ? rope_config_from_gguf(gguf.pairs, gguf.count, &given, config)
                                 : ROPE_OK;
        tool_gguf_free(&gguf);
        if (read != TOOL_OK) {
            (void)fclose(file);
            return read;
        }
    } else {
        status = read_text(config, file, &given);
    }
    const int failed = file != NULL && ferror(file);
    if (file != NULL)
        (void)fclose(file);
    if (failed) {
        tool_model_close(*config);
        *config = NULL;
        return tool_bad("%s: cannot be read", path);
    }
    return status == ROPE_OK
               ? TOOL_OK
               : tool_bad("%s: %s", path, *message != '\0' ? message : status_text(status));
}

void tool_model_close(rope_config *config)
{
    rope_config_destroy(config);
}

int tool_model_entry(const rope_config *config, const struct tool_options *options,
                     rope_config_entry *entry)
{
    *entry = (rope_config_entry)ROPE_CONFIG_ENTRY_INIT;
    const size_t count = rope_config_entry_count(config);
    size_t index = 0;
    if (options->layer != SIZE_MAX) {
        const int32_t found = rope_config_layer(config, options->layer);
        if (found == ROPE_LAYER_NO_ROTATION)
            return tool_bad("--layer: %zu: this layer has no rotation", options->layer);
        if (found < 0)
            return tool_bad("--layer: %zu: the model has no such layer", options->layer);
        index = (size_t)found;
    } else if (count == 0) {
        return tool_bad("--config: %s: this model has no rotation", options->config);
    } else if (count > 1) {
        const int32_t found = rope_config_find(config, ROPE_TOWER_TEXT, "");
        if (found < 0)
            return tool_bad(
                "--layer: is required: the layers of this model have different rotations");
        index = (size_t)found;
    }
    return rope_config_get_entry(config, index, entry) == ROPE_OK ? TOOL_OK : TOOL_BAD;
}

#else

int tool_model_open(rope_config **config, const char *path, const struct tool_options *options)
{
    (void)options;
    *config = NULL;
    return tool_bad("%s: this tool was built without librope-config", path);
}

void tool_model_close(rope_config *config)
{
    (void)config;
}

int tool_model_entry(const rope_config *config, const struct tool_options *options,
                     rope_config_entry *entry)
{
    (void)config, (void)options, (void)entry;
    return TOOL_BAD;
}

#endif
