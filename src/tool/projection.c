/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows of which tensor of a checkpoint are rotated.  Reads names and shapes, no data. */
#include "projection.h"
#include "say.h"
#include <stdio.h>
#include <string.h>

#ifdef ROPE_TOOL_CONFIG

/* How the rows of a module lie. */
enum layout {
    NONE,
    QUERY,
    KEY,
    KEY_TAIL, /* behind the latent rows: MLA */
    QUERY_NORM,
    KEY_NORM,
    PARTS,  /* all queries, all keys, all values */
    GROUPS, /* for each key head: its queries, its key, its value */
    BY_TYPE /* one of the two, as the model type says */
};

/* Modules by their names in transformers and in the files that the authors of models published. */
static const struct {
    const char *name;
    enum layout layout;
} modules[] = {
    {"q_proj", QUERY},
    {"k_proj", KEY},
    {"wq", QUERY},
    {"wk", KEY},
    {"query", QUERY},
    {"key", KEY},
    {"q_b_proj", QUERY},
    {"wq_b", QUERY},
    {"kv_a_proj_with_mqa", KEY_TAIL},
    {"wkv_a", KEY_TAIL},
    {"q_norm", QUERY_NORM},
    {"k_norm", KEY_NORM},
    {"q_layernorm", QUERY_NORM},
    {"k_layernorm", KEY_NORM},
    {"query_layernorm", QUERY_NORM},
    {"key_layernorm", KEY_NORM},
    {"qkv_proj", PARTS},
    {"W_pack", PARTS},
    {"Wqkv", PARTS},
    {"c_attn", PARTS},
    {"wqkv", GROUPS},
    {"query_key_value", BY_TYPE},
};

static const char *const parents[] = {"self_attn", "attn", "attention", "self_attention", "self"};
static const char *const towers[] = {"vision", "visual", "audio", "image", "vit", "speech"};
static const char *const counters[] = {"layers", "layer", "h", "blocks", "block"};

enum { WORDS_MAX = 32 };
struct words {
    struct tool_text word[WORDS_MAX];
    size_t count;
};

static int is_among(const struct tool_text *word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tool_text_is(word, list[i]))
            return 1;
    return 0;
}
#define IS_AMONG(word, list) is_among(word, list, sizeof(list) / sizeof *(list))

static int begins_with(const struct tool_text *word, const char *start)
{
    const size_t length = strlen(start);
    return word->length >= length && memcmp(word->at, start, length) == 0;
}

/* Cuts a name at its dots; 0 where it has more words than any model. */
static int cut(const struct tool_text *name, struct words *words)
{
    const char *start = name->at;
    words->count = 0;
    for (const char *at = name->at;; at++) {
        if (at < name->at + name->length && *at != '.')
            continue;
        if (words->count == WORDS_MAX)
            return 0;
        words->word[words->count++] = (struct tool_text){start, (size_t)(at - start)};
        if (at == name->at + name->length)
            return 1;
        start = at + 1;
    }
}

/* The number of the layer, or SIZE_MAX. */
static size_t layer_of(const struct words *words)
{
    for (size_t i = 0; i + 1 < words->count; i++) {
        const struct tool_text *const word = &words->word[i + 1];
        if (!IS_AMONG(&words->word[i], counters) || word->length == 0 || word->length > 6)
            continue;
        size_t number = 0;
        size_t at = 0;
        for (; at < word->length && word->at[at] >= '0' && word->at[at] <= '9'; at++)
            number = number * 10 + (size_t)(word->at[at] - '0');
        if (at == word->length)
            return number;
    }
    return SIZE_MAX;
}

static int bad(const char *file, const struct tool_tensor *tensor, const char *problem)
{
    const int length = tensor->name.length < 200 ? (int)tensor->name.length : 200;
    return tool_bad("%s: tensor %.*s: %s", file, length, tensor->name.at, problem);
}

/* The rotation of the layer that a tensor is in, -1 = none. */
static int find_entry(const struct tool_projections *model, const char *file,
                      const struct tool_tensor *tensor, const struct words *words, int32_t *entry)
{
    const int extra = tool_text_is(&words->word[0], "mtp"); /* has layers of its own */
    const size_t layer = layer_of(words);
    *entry = ROPE_LAYER_UNKNOWN;
    if (layer != SIZE_MAX && !extra)
        *entry = rope_config_layer(model->config, layer);
    if (*entry == ROPE_LAYER_UNKNOWN)
        *entry = rope_config_find(model->config, ROPE_TOWER_TEXT, "");
    if (*entry == ROPE_LAYER_UNKNOWN && extra)
        *entry = rope_config_find(model->config, ROPE_TOWER_TEXT, "full_attention");
    if (*entry == ROPE_LAYER_UNKNOWN)
        return bad(file, tensor, "layer: the configuration does not say which rotation it has");
    return TOOL_OK;
}

/* PARTS or GROUPS for a fused module, NONE where nobody says. */
static enum layout by_type(enum layout layout, const char *type)
{
    static const char *const groups[] = {"gpt_neox", "gpt_neox_japanese", "persimmon", "falcon"};
    static const char *const parts[] = {"chatglm", "glm"};
    if (layout == PARTS && strcmp(type, "codegen") == 0)
        return NONE;
    if (layout != BY_TYPE)
        return layout;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strcmp(type, groups[i]) == 0)
            return GROUPS;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(type, parts[i]) == 0)
            return PARTS;
    return NONE;
}

/* The heads in all rows of a tensor; `rows` for normalisations are elements. */
static struct tool_heads all_heads(uint64_t rows, const rope_spec *spec)
{
    const uint64_t dim = spec->head_dim;
    return (struct tool_heads){0, dim, rows / dim, rows / dim, 0, dim, spec->rotary_dim, 0};
}

static int fused_heads(const struct tool_projections *model, const char *file,
                       const struct tool_tensor *tensor, enum layout layout, const rope_spec *spec,
                       struct tool_projection *result)
{
    const uint64_t dim = spec->head_dim;
    const uint64_t heads = model->heads;
    const uint64_t kv = model->falcon_kv_one ? 1 : model->kv_heads != 0 ? model->kv_heads : heads;
    if (heads == 0 || kv > heads || heads % kv != 0 || heads > tensor->rows)
        return bad(file, tensor,
                   "num_attention_heads, num_key_value_heads: the configuration must have both");
    if (tensor->rows != (heads + 2 * kv) * dim)
        return bad(file, tensor,
                   "shape: rows must be (heads + 2 key heads) head_dim of the configuration");
    const uint64_t group = heads / kv;
    const struct tool_heads all = all_heads(tensor->rows, spec);
    result->kinds = TOOL_QUERY | TOOL_KEY;
    result->parts = 2;
    result->heads[0] = result->heads[1] = all;
    result->heads[0].count = result->heads[0].group = heads;
    result->heads[1].count = result->heads[1].group = kv;
    result->heads[1].first = heads * dim;
    if (layout == GROUPS) {
        result->heads[0].group = group;
        result->heads[1].group = 1;
        result->heads[0].group_pitch = result->heads[1].group_pitch = (group + 2) * dim;
        result->heads[1].first = group * dim;
    }
    return TOOL_OK;
}

static int plain_heads(const struct tool_projections *model, const char *file,
                       const struct tool_tensor *tensor, enum layout layout,
                       const rope_config_entry *entry, struct tool_projection *result)
{
    char text[200];
    const int key = layout == KEY || layout == KEY_TAIL || layout == KEY_NORM;
    const int norm = layout == QUERY_NORM || layout == KEY_NORM;
    const uint64_t rows = norm ? tensor->count : tensor->rows;
    uint64_t dim = entry->spec->head_dim;
    uint64_t offset = entry->spec->rotary_offset;
    if (key && entry->k_head_dim != 0) {
        dim = entry->k_head_dim;
        offset = entry->k_rotary_offset;
    }
    result->kinds = key ? TOOL_KEY : TOOL_QUERY;
    result->parts = 1;
    struct tool_heads *const heads = &result->heads[0];
    if (layout == KEY_TAIL) {
        if (entry->k_head_dim == 0 || rows <= dim)
            return bad(file, tensor, "shape: the configuration describes no such key");
        *heads = (struct tool_heads){rows - dim, dim, 1, 1, 0, dim, 0, offset};
    } else {
        uint64_t pitch = dim;
        if (layout == QUERY && model->heads != 0 && rows == 2 * model->heads * dim &&
            (strncmp(entry->model_type, "qwen3_next", 10) == 0 ||
             strncmp(entry->model_type, "qwen3_5", 7) == 0))
            pitch = 2 * dim; /* each head has its gate behind it */
        if (rows == 0 || rows % pitch != 0 ||
            (layout == QUERY && model->heads != 0 && rows / pitch != model->heads)) {
            snprintf(text, sizeof text, "shape: %llu rows: must be %llu heads of %llu",
                     (unsigned long long)rows,
                     (unsigned long long)(layout == QUERY && model->heads != 0 ? model->heads
                                                                               : rows / dim),
                     (unsigned long long)dim);
            return bad(file, tensor, text);
        }
        *heads = (struct tool_heads){0, pitch, rows / pitch, rows / pitch, 0, dim, 0, offset};
    }
    heads->rotary_dim = entry->spec->rotary_dim;
    return TOOL_OK;
}

int tool_projection_of(const struct tool_projections *model, const char *file,
                       const struct tool_tensor *tensor, struct tool_projection *result)
{
    struct words words;
    *result = (struct tool_projection){0};
    if (!cut(&tensor->name, &words))
        return TOOL_OK;
    enum layout layout = NONE;
    size_t at = 1;
    for (; at < words.count && layout == NONE; at++) {
        for (size_t i = 0; i < sizeof towers / sizeof *towers; i++)
            if (begins_with(&words.word[at - 1], towers[i]))
                return TOOL_OK;
        if (IS_AMONG(&words.word[at - 1], parents))
            for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
                if (tool_text_is(&words.word[at], modules[i].name))
                    layout = modules[i].layout;
    }
    if (layout == NONE)
        return TOOL_OK;
    int32_t number;
    if (find_entry(model, file, tensor, &words, &number) != TOOL_OK)
        return TOOL_BAD;
    if (number < 0)
        return TOOL_OK;
    rope_config_entry entry = ROPE_CONFIG_ENTRY_INIT;
    if (rope_config_get_entry(model->config, (size_t)number, &entry) != ROPE_OK)
        return TOOL_BAD;

    /* What stands behind the module: weight, bias, or what adapters and normalisations have. */
    const struct tool_text *const last = &words.word[words.count - 1];
    const struct tool_text *const next = at < words.count ? &words.word[at] : last;
    if (tool_text_is(next, "lora_A"))
        return TOOL_OK; /* its rows are not those of the projection */
    if ((!tool_text_is(last, "weight") && !tool_text_is(last, "bias")) ||
        (at + 1 < words.count && !tool_text_is(next, "lora_B") &&
         !tool_text_is(next, "base_layer") && !tool_text_is(next, "norms")))
        return bad(file, tensor,
                   "is part of a quantized or unknown projection: cannot be permuted");
    if (tensor->dtype == 0)
        return bad(file, tensor, "dtype: of a projection must be F32, F64, F16 or BF16");
    if (entry.spec->pairing_chunk != 0)
        return bad(file, tensor, "is paired in chunks of a head: cannot be permuted");
    if (layout == QUERY_NORM || layout == KEY_NORM) {
        result->row = 1;
    } else {
        if (tensor->dimensions == 0 || tensor->dimensions > 2 || tensor->count == 0)
            return bad(file, tensor, "shape: of a projection must be [rows] or [rows, columns]");
        result->row = tensor->count / tensor->rows;
    }
    layout = by_type(layout, entry.model_type);
    if (layout == NONE)
        return bad(file, tensor,
                   "model_type: does not say how queries and keys lie in this tensor");
    return layout == PARTS || layout == GROUPS
               ? fused_heads(model, file, tensor, layout, entry.spec, result)
               : plain_heads(model, file, tensor, layout, &entry, result);
}

/* ---- Numbers of heads ------------------------------------------------------------------------ */

static int read_flag(struct tool_json *json, int *flag)
{
    *flag = tool_json_is(json, 't');
    return tool_json_skip(json);
}

static int read_number(struct tool_json *json, uint64_t *number)
{
    struct tool_json copy = *json;
    if (tool_json_size(&copy, number) && *number > 0 && *number <= 1 << 20) {
        *json = copy;
        return 1;
    }
    *number = 0;
    return tool_json_skip(json);
}

/* Reads an object, and below it the one that the path `inside` names. */
static int read_heads(struct tool_json *json, struct tool_projections *model, const char *inside)
{
    static const char *const heads[] = {"num_attention_heads", "n_head", "num_heads", "n_heads"};
    static const char *const kv_heads[] = {"num_key_value_heads", "num_kv_heads", "n_head_kv",
                                           "multi_query_group_num"};
    struct tool_text name;
    struct tool_projections deeper = {0};
    uint64_t kv = 0;
    int all_keys = 0; /* a kind of multi-query that is said to be off */
    int one_key = 0;
    int new_falcon = 0;
    const size_t step = strcspn(inside, ".");
    if (!tool_json_enter(json, '{'))
        return 0;
    while (tool_json_next(json, &name)) {
        int read;
        int flag = 0;
        if (step > 0 && name.length == step && memcmp(name.at, inside, step) == 0 &&
            tool_json_is(json, '{')) {
            read = read_heads(json, &deeper, inside + step + (inside[step] == '.'));
        } else if (IS_AMONG(&name, heads)) {
            read = read_number(json, &model->heads);
        } else if (IS_AMONG(&name, kv_heads)) {
            read = read_number(json, &kv);
        } else if (tool_text_is(&name, "multi_query_attention")) {
            read = read_flag(json, &flag);
            all_keys = !flag;
        } else if (tool_text_is(&name, "multi_query")) {
            read = read_flag(json, &one_key);
        } else if (tool_text_is(&name, "new_decoder_architecture")) {
            read = read_flag(json, &new_falcon);
        } else {
            read = tool_json_skip(json);
        }
        if (!read)
            return 0;
    }
    model->kv_heads = all_keys ? 0 : kv;
    model->falcon_kv_one = one_key && !new_falcon;
    if (deeper.heads != 0) {
        model->heads = deeper.heads;
        model->kv_heads = deeper.kv_heads;
        model->falcon_kv_one = deeper.falcon_kv_one;
    }
    return !json->failed;
}

int tool_projections_read(struct tool_projections *model, const char *text, size_t size,
                          const char *inside)
{
    struct tool_json json = {text, text + size, 0};
    model->heads = model->kv_heads = 0;
    model->falcon_kv_one = 0;
    if (!read_heads(&json, model, inside))
        return tool_bad("%s: is no config.json", model->path);
    return TOOL_OK;
}

#endif
