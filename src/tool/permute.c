/* SPDX-License-Identifier: Apache-2.0 */
/* rope permute: a checkpoint with its query and key projections in the other pairing.  All bytes
 * but the rows that move are copied as they are, headers and indexes too. */
#define _XOPEN_SOURCE     700
#define _FILE_OFFSET_BITS 64
#include "command.h"
#include "model.h"
#include "output.h"
#include "projection.h"
#include "say.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifdef ROPE_TOOL_CONFIG

enum {
    BUFFER_BYTES = 1 << 24,
    HEAD_MAX = 1 << 16,
    INDEX_MAX = 1 << 26,
    SHARDS_MAX = TOOL_OUTPUTS - 1,
    SHARD_NAME_MAX = 200
};

/* One conversion. */
struct work {
    const struct tool_options *options;
    struct tool_projections model;
    char *buffer;
    size_t queries; /* weights and biases that were permuted */
    size_t keys;
    uint64_t tensors;
    struct tool_progress progress;
};

static char *read_whole(const char *path, size_t most, size_t *size)
{
    FILE *const file = fopen(path, "rb");
    if (file == NULL) {
        (void)tool_bad("%s: %s", path, strerror(errno));
        return NULL;
    }
    size_t room = 1 << 16;
    char *text = malloc(room);
    *size = 0;
    while (text != NULL && *size <= most) {
        *size += fread(text + *size, 1, room - *size, file);
        if (*size < room)
            break;
        char *const more = realloc(text, room *= 2);
        if (more == NULL)
            free(text);
        text = more;
    }
    const int failed = ferror(file);
    (void)fclose(file);
    if (text != NULL && !failed && *size <= most)
        return text;
    (void)tool_bad("%s: %s", path,
                   text == NULL ? "out of memory"
                   : failed     ? "cannot be read"
                                : "is too long");
    free(text);
    return NULL;
}

/* Bytes from `begin` to `end` of the input to the same place of the output. */
static int copy(struct work *work, const struct tool_safetensors *input, size_t output,
                uint64_t begin, uint64_t end)
{
    while (begin < end) {
        const size_t bytes = end - begin < BUFFER_BYTES ? (size_t)(end - begin) : BUFFER_BYTES;
        if (tool_safetensors_read(input, work->buffer, bytes, begin) != TOOL_OK ||
            tool_output_write(output, work->buffer, bytes, (int64_t)begin) != TOOL_OK)
            return TOOL_BAD;
        begin += bytes;
        tool_progress_add(&work->progress, bytes);
    }
    return TOOL_OK;
}

/* One head, as many columns at a time as the buffer takes. */
static int permute_head(struct work *work, const struct tool_safetensors *input, size_t output,
                        const struct tool_tensor *tensor, const struct tool_heads *heads,
                        uint64_t row, uint64_t first)
{
    char message[256] = "";
    const size_t element = (size_t)((tensor->end - tensor->begin) / tensor->count);
    const size_t dim = (size_t)heads->head_dim;
    const uint64_t room = BUFFER_BYTES / (dim * element);
    const uint64_t start = tensor->begin + first * row * element;
    rope_permutation permutation = ROPE_PERMUTATION_INIT;
    permutation.dtype = tensor->dtype;
    permutation.from = work->options->from;
    permutation.to = work->options->to;
    permutation.heads = 1;
    permutation.head_dim = dim;
    permutation.rotary_dim = (size_t)heads->rotary_dim;
    permutation.rotary_offset = (size_t)heads->rotary_offset;
    permutation.src = permutation.dst = work->buffer;
    permutation.message = message;
    permutation.message_size = sizeof message;
    for (uint64_t column = 0; column < row; column += room) {
        const size_t columns = (size_t)(row - column < room ? row - column : room);
        const size_t bytes = columns * element;
        /* whole rows lie behind each other and are one piece */
        const size_t pieces = columns == row ? 1 : dim;
        const size_t piece = columns == row ? bytes * dim : bytes;
        const uint64_t at = start + column * element;
        permutation.row_length = columns;
        for (size_t i = 0; i < pieces; i++)
            if (tool_safetensors_read(input, work->buffer + i * piece, piece,
                                      at + i * row * element) != TOOL_OK)
                return TOOL_BAD;
        const rope_status status = rope_permute(&permutation);
        if (status != ROPE_OK)
            return tool_bad("%s: %s", input->path,
                            *message != '\0' ? message : rope_status_string(status));
        for (size_t i = 0; i < pieces; i++)
            if (tool_output_write(output, work->buffer + i * piece, piece,
                                  (int64_t)(at + i * row * element)) != TOOL_OK)
                return TOOL_BAD;
        tool_progress_add(&work->progress, dim * bytes);
    }
    return TOOL_OK;
}

static int permute_tensor(struct work *work, const struct tool_safetensors *input, size_t output,
                          const struct tool_tensor *tensor,
                          const struct tool_projection *projection)
{
    uint64_t rotated = 0;
    for (size_t i = 0; i < projection->parts; i++)
        rotated += projection->heads[i].count * projection->heads[i].head_dim * projection->row;
    if (rotated < tensor->count) { /* the rest too; what is rotated is written once more */
        if (copy(work, input, output, tensor->begin, tensor->end) != TOOL_OK)
            return TOOL_BAD;
        work->progress.total += (tensor->end - tensor->begin) / tensor->count * rotated;
    }
    for (size_t i = 0; i < projection->parts; i++) {
        const struct tool_heads *const heads = &projection->heads[i];
        if (heads->head_dim > HEAD_MAX)
            return tool_bad("%s: head_dim: %llu: must be at most %d", work->model.path,
                            (unsigned long long)heads->head_dim, HEAD_MAX);
        for (uint64_t head = 0; head < heads->count; head++)
            if (permute_head(work, input, output, tensor, heads, projection->row,
                             heads->first + head / heads->group * heads->group_pitch +
                                 head % heads->group * heads->pitch) != TOOL_OK)
                return TOOL_BAD;
    }
    work->queries += (projection->kinds & TOOL_QUERY) != 0;
    work->keys += (projection->kinds & TOOL_KEY) != 0;
    return TOOL_OK;
}

/* Refuses what cannot be permuted before anything is written. */
static int look_through(struct work *work, struct tool_safetensors *input)
{
    struct tool_tensor tensor;
    struct tool_projection projection;
    int status = TOOL_OK;
    while (tool_safetensors_next(input, &tensor))
        if (status == TOOL_OK)
            status = tool_projection_of(&work->model, input->path, &tensor, &projection);
    return status;
}

static int convert(struct work *work, const char *from, const char *to)
{
    struct tool_safetensors input;
    size_t output;
    int status = tool_safetensors_open(&input, from);
    if (status == TOOL_OK)
        status = look_through(work, &input);
    if (status == TOOL_OK)
        status = tool_output_open(to, &output);
    if (status == TOOL_OK) {
        struct tool_tensor tensor;
        struct tool_projection projection;
        tool_progress_start(&work->progress, from, input.size);
        status = copy(work, &input, output, 0, input.start);
        while (tool_safetensors_next(&input, &tensor)) {
            if (status == TOOL_OK)
                status = tool_projection_of(&work->model, from, &tensor, &projection);
            if (status == TOOL_OK)
                status = projection.kinds == 0
                             ? copy(work, &input, output, tensor.begin, tensor.end)
                             : permute_tensor(work, &input, output, &tensor, &projection);
        }
        tool_progress_end(&work->progress);
        if (status == TOOL_OK)
            status = tool_output_close(output);
        work->tensors += input.tensors;
    }
    tool_safetensors_close(&input);
    return status;
}

/* ---- Sharded checkpoints --------------------------------------------------------------------- */

struct shards {
    struct tool_text names[SHARDS_MAX];
    char *outputs[SHARDS_MAX]; /* paths, kept until all outputs are renamed */
    size_t count;
    uint64_t tensors; /* of the weight map */
};

/* The part of a path up to its last slash, with `name` behind it. */
static char *beside(const char *path, const struct tool_text *name)
{
    const char *const slash = strrchr(path, '/');
    const size_t directory = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    char *const result = malloc(directory + name->length + 1);
    if (result == NULL) {
        (void)tool_bad("%s: out of memory", path);
        return NULL;
    }
    memcpy(result, path, directory);
    memcpy(result + directory, name->at, name->length);
    result[directory + name->length] = '\0';
    return result;
}

static int add_shard(struct shards *shards, const char *path, const struct tool_text *name)
{
    shards->tensors++;
    for (size_t i = shards->count; i-- > 0;)
        if (shards->names[i].length == name->length &&
            memcmp(shards->names[i].at, name->at, name->length) == 0)
            return TOOL_OK;
    int plain = name->length > 12 && name->length <= SHARD_NAME_MAX && *name->at != '.' &&
                memcmp(name->at + name->length - 12, ".safetensors", 12) == 0;
    for (size_t i = 0; i < name->length; i++)
        plain &= name->at[i] != '/' && name->at[i] != '\\';
    if (!plain)
        return tool_bad("%s: weight_map: %.*s: must be the plain name of a .safetensors file", path,
                        name->length < SHARD_NAME_MAX ? (int)name->length : SHARD_NAME_MAX,
                        name->at);
    if (shards->count == SHARDS_MAX)
        return tool_bad("%s: weight_map: more than %d files", path, SHARDS_MAX);
    shards->names[shards->count++] = *name;
    return TOOL_OK;
}

static int read_map(struct shards *shards, const char *path, struct tool_json *json)
{
    struct tool_text name;
    struct tool_text file;
    if (!tool_json_enter(json, '{'))
        return TOOL_OK;
    while (tool_json_next(json, &name))
        if (!tool_json_text(json, &file))
            return TOOL_OK;
        else if (add_shard(shards, path, &file) != TOOL_OK)
            return TOOL_BAD;
    return TOOL_OK;
}

static int read_index(struct shards *shards, const char *path, const char *text, size_t size)
{
    struct tool_json json = {text, text + size, 0};
    struct tool_text name;
    int maps = 0;
    int status = TOOL_OK;
    (void)tool_json_enter(&json, '{');
    while (status == TOOL_OK && !json.failed && tool_json_next(&json, &name)) {
        if (tool_text_is(&name, "weight_map")) {
            maps++;
            status = read_map(shards, path, &json);
        } else {
            (void)tool_json_skip(&json);
        }
    }
    if (status != TOOL_OK)
        return status;
    if (!tool_json_end(&json))
        return tool_bad("%s: byte %zu: is no JSON of an index", path, (size_t)(json.at - text));
    if (maps != 1 || shards->count == 0)
        return tool_bad("%s: weight_map: must be there once and name a file", path);
    return TOOL_OK;
}

/* Files are renamed one by one, so old and new ones must never stand beside each other. */
static int check_directories(const char *from, const char *to)
{
    static const struct tool_text here = {".", 1};
    struct stat facts[2];
    char *const paths[2] = {beside(from, &here), beside(to, &here)};
    int status = paths[0] != NULL && paths[1] != NULL ? TOOL_OK : TOOL_BAD;
    for (size_t i = 0; i < 2 && status == TOOL_OK; i++)
        if (stat(paths[i], &facts[i]) != 0)
            status = tool_bad("%s: %s", paths[i], strerror(errno));
    if (status == TOOL_OK && facts[0].st_dev == facts[1].st_dev &&
        facts[0].st_ino == facts[1].st_ino)
        status = tool_bad("%s: directory: must not be that of %s: a checkpoint of several files is "
                          "not replaced in one step",
                          to, from);
    free(paths[0]);
    free(paths[1]);
    return status;
}

static int convert_shards(struct work *work, const char *from, const char *to,
                          struct shards *shards)
{
    size_t size;
    size_t output;
    char *const text = read_whole(from, INDEX_MAX, &size);
    if (text == NULL)
        return TOOL_BAD;
    int status = read_index(shards, from, text, size);
    if (status == TOOL_OK)
        status = check_directories(from, to);
    for (size_t i = 0; i < shards->count && status == TOOL_OK; i++) {
        char *const input = beside(from, &shards->names[i]);
        shards->outputs[i] = beside(to, &shards->names[i]);
        status = input != NULL && shards->outputs[i] != NULL
                     ? convert(work, input, shards->outputs[i])
                     : TOOL_BAD;
        free(input);
    }
    if (status == TOOL_OK && work->tensors != shards->tensors)
        status = tool_bad("%s: weight_map: %llu tensors: the files have %llu", from,
                          (unsigned long long)shards->tensors, (unsigned long long)work->tensors);
    if (status == TOOL_OK) /* the last to be renamed: what it names is then there */
        status = tool_output_open(to, &output);
    if (status == TOOL_OK)
        status = tool_output_write(output, text, size, 0);
    free(text);
    return status;
}

/* ---- The command ----------------------------------------------------------------------------- */

static int ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text);
    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

/* The object of the config that the text tower is in. */
static const char *text_object(const rope_config *config)
{
    for (size_t i = 0; i < rope_config_entry_count(config); i++) {
        rope_config_entry entry = ROPE_CONFIG_ENTRY_INIT;
        if (rope_config_get_entry(config, i, &entry) == ROPE_OK && entry.tower == ROPE_TOWER_TEXT)
            return entry.path;
    }
    return "";
}

static int permute(struct work *work, struct shards *shards)
{
    const char *const from = work->options->operands[0];
    const char *const to = work->options->operands[1];
    size_t size;
    char *const text = read_whole(work->model.path, ROPE_CONFIG_TEXT_MAX, &size);
    if (text == NULL)
        return TOOL_BAD;
    int status = tool_projections_read(&work->model, text, size, text_object(work->model.config));
    free(text);
    if (status == TOOL_OK)
        status = ends_with(from, ".json") ? convert_shards(work, from, to, shards)
                                          : convert(work, from, to);
    if (status == TOOL_OK && (work->queries == 0 || work->keys == 0))
        status = tool_bad("%s: no %s projection of a rotated layer is known by its name", from,
                          work->queries == 0 ? "query" : "key");
    return tool_output_finish(status);
}

int tool_permute(const struct tool_options *options)
{
    struct work work = {.options = options, .model.path = options->config};
    if (options->operand_count != 2)
        return tool_bad("an input and an output are required, see --help");
    if (options->config == NULL)
        return tool_bad("--config: is required");
    if (options->from < 0 || options->to < 0 || options->from == options->to)
        return tool_bad("--from, --to: one must be half and the other interleaved");
    rope_config *config;
    int status = tool_model_open(&config, options->config, options);
    struct shards *const shards = calloc(1, sizeof *shards);
    work.model.config = config;
    work.buffer = malloc(BUFFER_BYTES);
    if (status == TOOL_OK)
        status = shards != NULL && work.buffer != NULL ? permute(&work, shards)
                                                       : tool_bad("out of memory");
    if (status == TOOL_OK)
        printf("%zu query and %zu key tensors permuted, of %llu\n", work.queries, work.keys,
               (unsigned long long)work.tensors);
    for (size_t i = 0; shards != NULL && i < shards->count; i++)
        free(shards->outputs[i]);
    free(shards);
    free(work.buffer);
    tool_model_close(config);
    return status;
}

#else

int tool_permute(const struct tool_options *options)
{
    (void)options;
    return tool_bad("this tool was built without librope-config");
}

#endif
