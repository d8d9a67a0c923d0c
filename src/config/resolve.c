/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a config.json to rotations: which object describes which tower, which block which kind of
 * layer.
 */
#include "tower.h"

#include <math.h>
#include <string.h>

/* ---- Small readers --------------------------------------------------------------------------- */

rope_status rope_tower_count(struct rope_config *config, const struct rope_config_tower *tower,
                             const char *const *names, size_t of_class, size_t *value)
{
    int found = 0;
    *value = of_class;
    const rope_status status =
        rope_object_first_count(config, &tower->object, names, value, &found);
    if (status == ROPE_OK && !found && of_class != 0 &&
        !rope_config_warn(config, "default: %s: missing: %zu of the class taken",
                          rope_object_name(config, &tower->object, names[0]), of_class))
        return ROPE_ERR_MEMORY;
    return status;
}

rope_status rope_tower_fail(struct rope_config *config, const struct rope_config_tower *tower,
                            const char *key, const char *rule)
{
    return rope_config_fail(config, ROPE_ERR_VALUE, "%s: %s",
                            rope_object_name(config, &tower->object, key), rule);
}

/* ---- The model type -------------------------------------------------------------------------- */

static const struct rope_family *find_with(const char *type, const char *suffix)
{
    char joined[96];
    const size_t length = strlen(type);
    if (length == 0 || length + strlen(suffix) >= sizeof joined)
        return NULL;
    memcpy(joined, type, length);
    strcpy(joined + length, suffix);
    return rope_family_find(joined);
}

static int is_of(const struct rope_family *family, rope_tower kind)
{
    return family != NULL && (family->tower == ROPE_TOWER_VISION) == (kind == ROPE_TOWER_VISION);
}

/*
 * The row of a tower: of its own type, which may be that of the whole model, else of the model's
 * type.
 */
static const struct rope_family *find_family(const struct rope_config_tower *tower,
                                             const char *parent, int is_root)
{
    const char *suffix = tower->kind == ROPE_TOWER_VISION ? "_vision" : "_text";
    const char *names[] = {tower->type, parent};
    for (size_t i = 0; i < 2; i++) {
        const struct rope_family *family = find_with(names[i], "");
        if (is_of(family, tower->kind) || (is_root && family != NULL))
            return family;
        family = find_with(names[i], suffix);
        if (is_of(family, tower->kind))
            return family;
    }
    return NULL;
}

/* Whether this model rotates at all. */
static rope_status read_gate(struct rope_config *config, const struct rope_config_tower *tower,
                             int *rotates)
{
    const char *text = "";
    int flag = 0, found = 0;
    rope_status status = ROPE_OK;
    *rotates = 1;
    switch (tower->family.gate) {
    case GATE_ROTARY:
        status = rope_object_text(config, &tower->object,
                                  NAMES("position_embedding_type", "position_embeddings_type"),
                                  &text, &found);
        *rotates = strcmp(text, "rotary") == 0 || strcmp(text, "rope") == 0;
        break;
    case GATE_ALIBI:
        status = rope_object_flag(config, &tower->object, NAMES("alibi"), &flag, &found);
        *rotates = !flag;
        break;
    case GATE_MEMORY:
        status = rope_object_flag(config, &tower->object, NAMES("use_mem_rope"), &flag, &found);
        *rotates = flag;
        break;
    case GATE_NEVER:
        *rotates = 0;
        break;
    default:
        break;
    }
    return status;
}

/* ---- Widths and bases ------------------------------------------------------------------------ */

static rope_status read_latent(struct rope_config *config, struct rope_config_tower *tower)
{
    struct rope_family *family = &tower->family;
    size_t nope = family->nope_dim, rope = family->rope_dim;
    int has_nope = 0, has_rope = 0;
    rope_status status =
        rope_object_count(config, &tower->object, NAMES("qk_nope_head_dim"), &nope, &has_nope);
    if (status == ROPE_OK)
        status =
            rope_object_count(config, &tower->object, NAMES("qk_rope_head_dim"), &rope, &has_rope);
    if (status != ROPE_OK)
        return status;
    if (has_nope && has_rope && nope == 0 && rope == 0) { /* DeepSeek-VL2 tiny: heads as in Llama */
        family->shape = SHAPE_HEAD;
        family->pairing = ROPE_HALF;
        family->pairing_out = ROPE_OUT_SAME;
        family->rope_dim = 0;
        return ROPE_OK;
    }
    if (family->shape == SHAPE_HEAD && has_nope && has_rope)
        family->shape = SHAPE_MLA;
    if (family->shape != SHAPE_MLA)
        return ROPE_OK;
    if (rope < 2 || rope % 2 != 0 || rope > ROPE_CONFIG_PAIRS_MAX * 2)
        return rope_tower_fail(config, tower, "qk_rope_head_dim", "must be even and >= 2");
    if (nope > UINT16_MAX)
        return rope_tower_fail(config, tower, "qk_nope_head_dim", "must be at most 65535");
    family->nope_dim = (uint16_t)nope;
    family->rope_dim = (uint16_t)rope;
    return ROPE_OK;
}

static rope_status read_head_dim(struct rope_config *config, struct rope_config_tower *tower)
{
    const struct rope_family *family = &tower->family;
    if (family->shape == SHAPE_MLA) {
        tower->head_dim = (size_t)family->nope_dim + family->rope_dim;
        return ROPE_OK;
    }
    size_t head_dim = 0, width = 0, heads = 0;
    int found = 0;
    rope_status status = rope_object_first_count(
        config, &tower->object, NAMES("head_dim", "kv_channels", "attention_head_dim", "head_size"),
        &head_dim, &found);
    if (status != ROPE_OK)
        return status;
    if (!found && family->head_dim != 0) { /* null is as good as absent */
        head_dim = family->head_dim;
        if (!rope_config_warn(config, "default: %s: missing: %zu of the class taken",
                              rope_object_name(config, &tower->object, "head_dim"), head_dim))
            return ROPE_ERR_MEMORY;
    }
    if (!found && head_dim == 0) {
        status = family->flags & EMBED_WIDTH
                     ? rope_tower_count(config, tower, NAMES("embed_dim"), 1280, &width)
                     : rope_tower_count(config, tower, NAMES("hidden_size", "n_embd", "d_model"),
                                        family->hidden, &width);
        if (status == ROPE_OK)
            status = rope_tower_count(config, tower,
                                      NAMES("num_attention_heads", "n_head", "n_heads", "num_heads",
                                            "decoder_num_attention_heads"),
                                      family->heads, &heads);
        if (status != ROPE_OK)
            return status;
        if (width == 0 || heads == 0)
            return rope_tower_fail(config, tower, "head_dim",
                                   "missing, and hidden_size with num_attention_heads too");
        if (width % heads != 0)
            return rope_config_fail(
                config, ROPE_ERR_VALUE, "%s: %zu: must be a multiple of num_attention_heads = %zu",
                rope_object_name(config, &tower->object, "hidden_size"), width, heads);
        head_dim = width / heads;
    }
    if (head_dim < 2 || head_dim > ROPE_CONFIG_PAIRS_MAX * 2)
        return rope_config_fail(config, ROPE_ERR_VALUE, "%s: %zu: must be 2..%d",
                                rope_object_name(config, &tower->object, "head_dim"), head_dim,
                                ROPE_CONFIG_PAIRS_MAX * 2);
    tower->head_dim = head_dim;
    return ROPE_OK;
}

static rope_status read_thetas(struct rope_config *config, struct rope_config_tower *tower)
{
    struct rope_object attention;
    double ratio = 1.0;
    int found = 0, local = 0, scaled = 0;
    tower->theta = tower->family.theta != 0.0 ? tower->family.theta : 10000.0;
    rope_status status =
        rope_object_number(config, &tower->object,
                           NAMES("rope_theta", "rotary_emb_base", "rotary_embedding_base",
                                 "rotary_base", "rope_base", "rope_freq_base", "global_rope_theta"),
                           &tower->theta, &found);
    if (status == ROPE_OK && !found) { /* DBRX */
        status = rope_object_inside(config, &tower->object, NAMES("attn_config"), &attention);
        if (status == ROPE_OK)
            status =
                rope_object_number(config, &attention, NAMES("rope_theta"), &tower->theta, &found);
    }
    if (status == ROPE_OK && !found) /* ChatGLM */
        status = rope_object_number(config, &tower->object, NAMES("rope_ratio"), &ratio, &scaled);
    if (status == ROPE_OK)
        status =
            rope_object_number(config, &tower->object,
                               NAMES("rope_local_base_freq", "local_rope_theta", "swa_rope_theta"),
                               &tower->local_theta, &local);
    tower->theta *= ratio;
    tower->theta_is_default = !found && !scaled;
    if (status == ROPE_OK && local && (!isfinite(tower->local_theta) || tower->local_theta <= 0.0))
        return rope_tower_fail(config, tower, "rope_local_base_freq", "must be finite and > 0");
    return status;
}

/* rope_scaling where it says anything, else rope_parameters, else what the class has. */
static rope_status read_block(struct rope_config *config, struct rope_config_tower *tower,
                              json_t *of_class)
{
    struct rope_object scaling, parameters;
    rope_status status =
        rope_object_inside(config, &tower->object, NAMES("rope_scaling"), &scaling);
    if (status == ROPE_OK)
        status = rope_object_inside(config, &tower->object, NAMES("rope_parameters"), &parameters);
    if (status != ROPE_OK)
        return status;
    const int has_scaling = json_object_size(scaling.json) != 0,
              has_parameters = json_object_size(parameters.json) != 0;
    if (has_scaling && has_parameters && !json_equal(scaling.json, parameters.json) &&
        !rope_config_warn(config, "key %s: ignored beside rope_scaling", parameters.path))
        return ROPE_ERR_MEMORY;
    tower->block = has_scaling ? scaling : parameters;
    if (!has_scaling && !has_parameters && of_class != NULL) {
        tower->block.json = of_class;
        tower->block.path = rope_object_name(config, &tower->object, "rope_parameters");
        if (!rope_config_warn(config, "default: %s: missing: that of the class taken",
                              tower->block.path))
            return ROPE_ERR_MEMORY;
    }
    if (tower->block.json == NULL)
        tower->block.path = rope_object_name(config, &tower->object, "rope_parameters");
    return ROPE_OK;
}

static rope_status read_pairing(struct rope_config *config, struct rope_config_tower *tower)
{
    struct rope_family *family = &tower->family;
    int interleaved = 1, found = 0;
    if ((family->flags & INTERLEAVE_KEY) != 0) {
        const rope_status status = rope_object_flag(config, &tower->object,
                                                    NAMES("rope_interleave"), &interleaved, &found);
        if (status != ROPE_OK)
            return status;
        if (!interleaved) {
            family->pairing = ROPE_HALF;
            family->pairing_out = ROPE_OUT_SAME;
        }
        return ROPE_OK;
    }
    const rope_status status = rope_object_flag(
        config, &tower->object, NAMES("rotary_emb_interleaved"), &interleaved, &found);
    if (found)
        family->pairing = interleaved ? ROPE_INTERLEAVED : ROPE_HALF;
    return status;
}

/* Warns of keys that look like ours and are not. */
static rope_status warn_of_keys(struct rope_config *config, const struct rope_config_tower *tower)
{
    static const char *const known[] = {
        "rope_theta",
        "rope_scaling",
        "rope_parameters",
        "rotary_emb_base",
        "rotary_embedding_base",
        "rotary_base",
        "rope_base",
        "rope_freq_base",
        "global_rope_theta",
        "local_rope_theta",
        "rope_local_base_freq",
        "swa_rope_theta",
        "compress_rope_theta",
        "rope_ratio",
        "rotary_dim",
        "rotary_pct",
        "rope_pct",
        "rope_percent",
        "rotary_emb_fraction",
        "rotary_ndims",
        "attn_rotary_emb",
        "partial_rotary_factor",
        "qk_rope_head_dim",
        "rope_interleave",
        "no_rope_layers",
        "no_rope_layer_interval",
        "use_mem_rope",
        "rotary",
        "rotary_value",
        "rotary_emb_interleaved",
        "layer_rope_theta",
        "original_rope",
    };
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)tower->object.json, key, value)
    {
        int is_known =
            json_is_null(value) || (strstr(key, "rope") == NULL && strstr(key, "rotary") == NULL);
        for (size_t i = 0; !is_known && i < sizeof known / sizeof known[0]; i++)
            is_known = strcmp(key, known[i]) == 0;
        if (!is_known && !rope_config_warn(config, "unknown key %s: ignored",
                                           rope_object_name(config, &tower->object,
                                                            rope_config_shown(config, key))))
            return ROPE_ERR_MEMORY;
    }
    return ROPE_OK;
}

/* ---- Entries --------------------------------------------------------------------------------- */

/* Heads of full_attention layers of Gemma 4. */
static rope_status read_global_head_dim(struct rope_config *config,
                                        const struct rope_config_tower *tower, size_t *head_dim)
{
    int found = 0;
    *head_dim = 512;
    rope_status status =
        rope_object_count(config, &tower->object, NAMES("global_head_dim"), head_dim, &found);
    if (status != ROPE_OK || found)
        return status;
    struct rope_object layers;
    status = rope_object_inside(config, &tower->object, NAMES("per_layer_config"), &layers);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)layers.json, key, value)
    {
        const struct rope_object layer = {json_is_object(value) ? value : NULL, layers.path};
        if (status == ROPE_OK)
            status = rope_object_count(config, &layer, NAMES("head_dim"), head_dim, &found);
    }
    if (status == ROPE_OK && (*head_dim < 2 || *head_dim > ROPE_CONFIG_PAIRS_MAX * 2))
        return rope_tower_fail(config, tower, "global_head_dim", "must be 2..4096");
    return status;
}

/*
 * Qwen 1: a base that grows with the length in powers of two, where the class is not told
 * otherwise.
 */
static rope_status read_powers(struct rope_config *config, const struct rope_config_tower *tower,
                               rope_spec *spec)
{
    size_t trained = 0;
    int grows = 0, found = 0;
    rope_status status =
        rope_object_flag(config, &tower->object, NAMES("use_dynamic_ntk"), &grows, &found);
    if (status == ROPE_OK)
        status = rope_object_count(config, &tower->object, NAMES("seq_length"), &trained, &found);
    if (status != ROPE_OK || !grows || trained == 0 || config->length <= trained ||
        spec->rotary_dim == 2)
        return status;
    spec->scheme = ROPE_SCHEME_NTK;
    spec->factor = exp2(ceil(log2((double)config->length / (double)trained) + 1.0)) - 1.0;
    return ROPE_OK;
}

static rope_status add_entry(struct rope_config *config, struct rope_config_tower *tower,
                             const char *layer_type, const struct rope_object *block,
                             const struct rope_object *outer, double theta, int theta_is_default)
{
    static const struct rope_object nothing = {NULL, ""};
    const struct rope_family *family = &tower->family;
    rope_config_entry *entry;
    rope_spec *spec;
    rope_status status = rope_config_add(config, tower->kind, &entry, &spec);
    if (status != ROPE_OK)
        return status;
    struct rope_block read = {.model = tower->object,
                              .block = block != NULL ? *block : nothing,
                              .outer = outer != NULL ? *outer : nothing,
                              .family = family,
                              .head_dim = tower->head_dim,
                              .theta = theta,
                              .theta_is_default = theta_is_default};
    if (block == NULL)
        read.block.path = tower->object.path;
    if ((family->flags & GLOBAL_HEAD_DIM) != 0 && strcmp(layer_type, FULL_ATTENTION) == 0)
        status = read_global_head_dim(config, tower, &read.head_dim);
    if (status == ROPE_OK)
        status = rope_block_read(config, &read, spec);
    if (status == ROPE_OK && (family->flags & LOGN_SCALE) != 0)
        status = read_powers(config, tower, spec);
    if (status == ROPE_OK)
        status = rope_config_check(config, spec, read.block.path);
    if (status != ROPE_OK)
        return status;

    spec->pairing = family->pairing;
    const int in_f32 =
        config->profile == ROPE_PROFILE_TRANSFORMERS || config->profile == ROPE_PROFILE_VLLM;
    spec->angle = in_f32 ? ROPE_ANGLE_F32 : ROPE_ANGLE_EXACT;
    entry->path = tower->object.path;
    entry->model_type = rope_config_shown(config, tower->type);
    entry->layer_type = layer_type;
    if (family->shape == SHAPE_MLA)
        entry->k_head_dim = family->rope_dim;
    entry->pairing_out = family->pairing_out;
    entry->direction = (family->flags & TURNS_BACK) != 0 ? ROPE_TRANSPOSE : ROPE_FORWARD;
    if (tower->is_known && family->rounding != UINT8_MAX)
        entry->rounding = family->rounding != 0 ? family->rounding : ROPE_ROUNDING_EAGER;
    entry->flags = ((family->flags & SOFTMAX_FACTOR) != 0 ? ROPE_ENTRY_SOFTMAX_FACTOR : 0u) |
                   ((family->flags & INVERSE_OUTPUT) != 0 ? ROPE_ENTRY_INVERSE_OUTPUT : 0u) |
                   ((family->flags & NO_ROTATION) != 0 ? ROPE_ENTRY_NO_ROTATION : 0u);
    if ((family->flags & TWO_PI) != 0)
        entry->position_scale = 6.283185307179586;
    if ((family->flags & NO_ROTATION) != 0 &&
        !rope_config_warn(
            config,
            "implementations disagree: %s: transformers turns the two components of a pair by "
            "different angles, which is no rotation",
            entry->model_type))
        return ROPE_ERR_MEMORY;
    return ROPE_OK;
}

static int is_nested(const struct rope_object *block)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)block->json, key, value)
    {
        double number;
        if (json_is_object(value) && !rope_json_number(value, &number))
            return 1;
    }
    return 0;
}

/* One entry for each object in the block; null and absent types do not rotate. */
static rope_status add_nested(struct rope_config *config, struct rope_config_tower *tower)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)tower->block.json, key, value)
    {
        const char *shown = rope_config_shown(config, key);
        const char *path = rope_object_name(config, &tower->block, shown);
        if (!json_is_object(value)) {
            if (!json_is_null(value) && strcmp(key, "truncate") != 0 &&
                !rope_config_warn(config, "key %s: ignored beside the blocks of layer types", path))
                return ROPE_ERR_MEMORY;
            continue;
        }
        const struct rope_object block = {value, path};
        const int local = strcmp(key, SLIDING_ATTENTION) == 0 && tower->local_theta != 0.0;
        const rope_status status = add_entry(config, tower, shown, &block, &tower->block,
                                             local ? tower->local_theta : tower->theta,
                                             local ? 0 : tower->theta_is_default);
        if (status != ROPE_OK)
            return status;
    }
    return ROPE_OK;
}

/*
 * DeepSeek-V4 in its published form: the block is of the compressed layers, which have a base of
 * their own.
 */
static rope_status add_compressed(struct rope_config *config, struct rope_config_tower *tower)
{
    double theta = 160000.0;
    int found = 0;
    rope_status status =
        rope_object_number(config, &tower->object, NAMES("compress_rope_theta"), &theta, &found);
    if (status == ROPE_OK)
        status =
            add_entry(config, tower, "main", NULL, NULL, tower->theta, tower->theta_is_default);
    if (status == ROPE_OK)
        status = add_entry(config, tower, "compress", &tower->block, NULL, theta, !found);
    return status;
}

static rope_status add_entries(struct rope_config *config, struct rope_config_tower *tower)
{
    tower->first = config->entry_count;
    if (is_nested(&tower->block))
        return add_nested(config, tower);
    if ((tower->family.flags & COMPRESSED) != 0)
        return add_compressed(config, tower);
    if ((tower->family.flags & SPLIT_THETA) == 0 && tower->local_theta == 0.0)
        return add_entry(config, tower, "", &tower->block, NULL, tower->theta,
                         tower->theta_is_default);
    rope_status status = add_entry(config, tower, FULL_ATTENTION, &tower->block, NULL, tower->theta,
                                   tower->theta_is_default);
    if (status != ROPE_OK)
        return status;
    const double theta = config->entries[tower->first].spec->theta;
    double local = theta;
    if (tower->local_theta != 0.0) {
        local = tower->local_theta;
    } else if (tower->family.local_theta != 0.0) {
        local = tower->family.local_theta;
    } else if (tower->is_known && tower->family.theta != theta) { /* OLMo 3 */
        if (!rope_config_warn(config,
                              "implementations disagree: %s = %g: in sliding layers transformers "
                              "takes that of the class, %g",
                              rope_object_name(config, &tower->object, "rope_theta"), theta,
                              tower->family.theta))
            return ROPE_ERR_MEMORY;
        if (config->profile == ROPE_PROFILE_TRANSFORMERS)
            local = tower->family.theta;
    }
    const int scaled = (tower->family.flags & LOCAL_SCALED) != 0;
    return add_entry(config, tower, SLIDING_ATTENTION, scaled ? &tower->block : NULL, NULL, local,
                     0);
}

/* ---- Towers ---------------------------------------------------------------------------------- */

static rope_status read_rotations(struct rope_config *config, struct rope_config_tower *tower,
                                  json_t *of_class)
{
    int rotates = 1;
    rope_status status = read_gate(config, tower, &rotates);
    if (status == ROPE_OK && rotates) {
        status = read_latent(config, tower);
        if (status == ROPE_OK)
            status = read_head_dim(config, tower);
        if (status == ROPE_OK)
            status = read_thetas(config, tower);
        if (status == ROPE_OK)
            status = read_block(config, tower, of_class);
        if (status == ROPE_OK)
            status = read_pairing(config, tower);
        if (status == ROPE_OK)
            status = add_entries(config, tower);
        if (status == ROPE_OK)
            status = warn_of_keys(config, tower);
    }
    if (status == ROPE_OK && !rotates &&
        !rope_config_warn(config, "default: this model has no rotation"))
        return ROPE_ERR_MEMORY;
    return status;
}

/* Reads one tower; `leads` where its layers are those of the model. */
static rope_status read_tower(struct rope_config *config, rope_tower kind,
                              struct rope_object object, const char *parent, int is_root, int leads)
{
    static const struct rope_family unknown = {.type = ""};
    struct rope_config_tower tower = {
        .kind = kind, .object = object, .type = "", .first = config->entry_count};
    int found = 0;
    rope_status status =
        rope_object_text(config, &object, NAMES("model_type"), &tower.type, &found);
    if (status != ROPE_OK)
        return status;
    const struct rope_family *family = find_family(&tower, parent, is_root);
    if (family == NULL && kind != ROPE_TOWER_TEXT)
        return rope_config_warn(config, "%s: %s: no rotation known for it", object.path,
                                rope_config_shown(config, tower.type))
                   ? ROPE_OK
                   : ROPE_ERR_MEMORY;
    if (family == NULL &&
        !rope_config_warn(config, "%s %s: read by its ordinary keys, with half-split pairs",
                          found ? "unknown model_type" : "no model_type",
                          rope_config_shown(config, tower.type)))
        return ROPE_ERR_MEMORY;
    tower.is_known = family != NULL;
    tower.family = family != NULL ? *family : unknown;
    if (tower.family.tower == ROPE_TOWER_VISION)
        tower.kind = ROPE_TOWER_VISION;

    json_t *of_class = NULL;
    if (tower.family.block != NULL)
        status =
            rope_document_load(config, tower.family.block, strlen(tower.family.block), &of_class);
    if (status == ROPE_OK)
        status = read_rotations(config, &tower, of_class);
    if (status == ROPE_OK && leads)
        status = rope_tower_layers(config, &tower);
    if (status == ROPE_OK && leads)
        status = rope_tower_query_scale(config, &tower);
    json_decref(of_class);
    return status;
}

/*
 * The towers of a model: the language model, which may be the object itself, then the others beside
 * it.
 */
static rope_status read_model(struct rope_config *config, struct rope_object object,
                              const char *parent, int is_root)
{
    struct rope_object inside;
    const char *type = parent;
    int found = 0;
    rope_status status = rope_object_text(config, &object, NAMES("model_type"), &type, &found);
    if (status == ROPE_OK)
        status = rope_object_inside(config, &object,
                                    NAMES("text_config", "llm_config", "language_config",
                                          "thinker_config", "decoder", "decoder_config"),
                                    &inside);
    if (status != ROPE_OK)
        return status;
    status = inside.json != NULL ? read_model(config, inside, type, 0)
                                 : read_tower(config, ROPE_TOWER_TEXT, object, parent, is_root, 1);
    if (status == ROPE_OK)
        status = rope_object_inside(config, &object, NAMES("vision_config", "vit_config"), &inside);
    if (status == ROPE_OK && inside.json != NULL)
        status = read_tower(config, ROPE_TOWER_VISION, inside, type, 0, 0);
    if (status == ROPE_OK)
        status = rope_object_inside(config, &object, NAMES("audio_config"), &inside);
    if (status == ROPE_OK && inside.json != NULL)
        status = read_tower(config, ROPE_TOWER_AUDIO, inside, "", 0, 0);
    return status;
}

rope_status rope_config_parse(const char *text, size_t size, const rope_config_options *options,
                              rope_config **config)
{
    if (config == NULL)
        return ROPE_ERR_NULL;
    *config = NULL;
    if (text == NULL)
        return ROPE_ERR_NULL;
    struct rope_config *made;
    rope_status status = rope_config_open(options, &made);
    if (status != ROPE_OK)
        return status;
    json_t *root;
    status = rope_document_load(made, text, size, &root);
    if (status == ROPE_OK)
        status = read_model(made, (struct rope_object){root, ""}, "", 1);
    json_decref(root);
    return rope_config_close(made, status, config);
}
