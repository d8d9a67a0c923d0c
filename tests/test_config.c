/* SPDX-License-Identifier: Apache-2.0 */
/*
 * librope-config: public faults of other systems that begin in a configuration, with their right
 * values; the profiles; layers; what classes add to silent files; GGUF metadata; the interface.
 * Uses public headers only.
 *
 * Tests named after a fault have the number of tests/test_cases.c.  MR03 (slices of planar
 * positions) is a matter of the caller's arrays and is tested there.
 */
#include "gguf_pairs.h"
#include "rope/rope_config.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs setjmp.h, stdarg.h and stddef.h. */
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
enum { PAIRS_MAX = 256, PLANS_MAX = 8, MESSAGE_SIZE = 300 };

/* ---- Helpers --------------------------------------------------------------------------------- */

static char message[MESSAGE_SIZE];

static rope_config *parse_as(rope_profile profile, size_t length, const char *json)
{
    rope_config_options options = ROPE_CONFIG_OPTIONS_INIT;
    options.profile = profile;
    options.length = length;
    options.message = message;
    options.message_size = sizeof message;
    message[0] = '\0';
    rope_config *config;
    const rope_status status = rope_config_parse(json, strlen(json), &options, &config);
    if (status != ROPE_OK)
        fail_msg("status %d: %s\n%s", (int)status, message, json);
    return config;
}

static rope_config *parse(const char *json)
{
    return parse_as(ROPE_PROFILE_EXACT, 0, json);
}

/* The text must be refused with this status, and the message name `text`. */
static void refuse(const char *json, rope_status status, const char *text)
{
    rope_config_options options = ROPE_CONFIG_OPTIONS_INIT;
    options.message = message;
    options.message_size = sizeof message;
    message[0] = '\0';
    rope_config *config = (rope_config *)&options; /* must be replaced */
    const rope_status given = rope_config_parse(json, strlen(json), &options, &config);
    if (given != status || config != NULL || strstr(message, text) == NULL)
        fail_msg("status %d, message \"%s\"; must be %d and name %s\n%s", (int)given, message,
                 (int)status, text, json);
}

static rope_config_entry entry_at(const rope_config *config, size_t index)
{
    rope_config_entry entry = ROPE_CONFIG_ENTRY_INIT;
    assert_int_equal(rope_config_get_entry(config, index, &entry), ROPE_OK);
    return entry;
}

struct rotation {
    rope_info info;
    double freq[PAIRS_MAX];
};

static struct rotation rotation_at(const rope_config *config, size_t index)
{
    struct rotation rotation = {.info = ROPE_INFO_INIT};
    rope_plan *plans[PLANS_MAX];
    const size_t count = rope_config_entry_count(config);
    assert_true(index < count && count <= PLANS_MAX);
    if (rope_config_create_plans(config, plans, count, message, sizeof message) != ROPE_OK)
        fail_msg("%s", message);
    assert_int_equal(rope_plan_info(plans[index], &rotation.info), ROPE_OK);
    assert_int_equal(
        rope_plan_inv_freq(plans[index], rotation.freq, NULL, rotation.info.rotary_dim / 2),
        ROPE_OK);
    for (size_t i = 0; i < count; i++)
        rope_plan_destroy(plans[i]);
    return rotation;
}

/* The only rotation of a text. */
static struct rotation rotation_of(rope_config *config)
{
    assert_int_equal(rope_config_entry_count(config), 1);
    const struct rotation rotation = rotation_at(config, 0);
    rope_config_destroy(config);
    return rotation;
}

static void near(double value, double right)
{
    if (!(fabs(value - right) <= 4e-15 * fabs(right)))
        fail_msg("%.17g, must be %.17g", value, right);
}

static int warns(const rope_config *config, const char *text)
{
    for (size_t i = 0; rope_config_warning(config, i) != NULL; i++)
        if (strstr(rope_config_warning(config, i), text) != NULL)
            return 1;
    return 0;
}

static void must_warn(const rope_config *config, const char *text)
{
    if (!warns(config, text))
        fail_msg("no warning has \"%s\"; the first is \"%s\"", text,
                 rope_config_warning(config, 0) != NULL ? rope_config_warning(config, 0) : "");
}

/* ---- Public faults --------------------------------------------------------------------------- */

#define LLAMA3                                                          \
    "\"factor\": 32, \"low_freq_factor\": 1, \"high_freq_factor\": 4, " \
    "\"original_max_position_embeddings\": 8192"

static void CF01(void **state)
{
    (void)state;
    static const char *const types[] = {"\"rope_type\": \"llama3\"", "\"type\": \"llama3\"",
                                        "\"type\": \"llama3\", \"rope_type\": \"llama3\"",
                                        "\"type\": \"default\", \"rope_type\": \"llama3\""};
    for (size_t i = 0; i < COUNT(types); i++) {
        char json[400];
        (void)snprintf(json, sizeof json,
                       "{\"head_dim\": 64, \"rope_theta\": 500000, \"rope_scaling\": {%s, " LLAMA3
                       "}}",
                       types[i]);
        near(rotation_of(parse(json)).freq[18], 0.000019461638184831124);
    }
    refuse("{\"head_dim\": 64, \"rope_scaling\": {\"factor\": 32}}", ROPE_ERR_VALUE,
           "rope_scaling.rope_type: missing");
    refuse("{\"head_dim\": 64, \"rope_scaling\": {\"rope_type\": \"lama3\", \"factor\": 32}}",
           ROPE_ERR_UNSUPPORTED, "lama3");
}

#define LISTS  "\"short_factor\": [1, 1, 1, 1], \"long_factor\": [1, 4, 16, 64]"
#define COMMON "\"max_position_embeddings\": 131072, \"head_dim\": 8, \"rope_theta\": 10000"

static void CF02(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{" COMMON
        ", \"original_max_position_embeddings\": 4096, \"rope_scaling\": {\"type\": \"su\", " LISTS
        "}}",
        "{" COMMON ", \"original_max_position_embeddings\": 4096, \"rope_scaling\": {\"type\": "
        "\"longrope\", " LISTS "}}",
        "{" COMMON ", \"rope_scaling\": {\"rope_type\": \"longrope\", "
        "\"original_max_position_embeddings\": 4096, " LISTS "}}",
        "{" COMMON ", \"original_max_position_embeddings\": 4096, \"rope_scaling\": {\"type\": "
        "\"longrope\", \"factor\": null, " LISTS "}}",
        /* a factor in the file is overruled by the lengths outside the block */
        "{" COMMON ", \"original_max_position_embeddings\": 4096, \"rope_scaling\": {\"type\": "
        "\"longrope\", \"factor\": 4, " LISTS "}}",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        const struct rotation rotation = rotation_of(parse(texts[i]));
        near(rotation.info.attention_factor, 1.1902380714238083);
        near(rotation.info.factor, 32.0);
        near(rotation.freq[1], 0.1);
    }
    /* transformers takes the factor: sqrt(1 + ln 4 / ln 4096) */
    rope_config *config = parse_as(ROPE_PROFILE_TRANSFORMERS, 0, texts[4]);
    must_warn(config, "implementations disagree: rope_scaling.factor");
    near(rotation_of(config).info.attention_factor, sqrt(1.0 + log(4.0) / log(4096.0)));
}

/* The length outside the block wins over the one in it, as in transformers. */
static void CF02_both(void **state)
{
    (void)state;
    rope_config *config = parse(
        "{" COMMON ", \"original_max_position_embeddings\": 4096, \"rope_scaling\": {\"type\": "
        "\"longrope\", \"original_max_position_embeddings\": 8192, " LISTS "}}");
    must_warn(config,
              "implementations disagree: rope_scaling.original_max_position_embeddings = 8192, and "
              "4096 outside the block");
    near(rotation_of(config).info.attention_factor, 1.1902380714238083);
}

static void CF03(void **state)
{
    (void)state;
    const struct rotation rotation =
        rotation_of(parse("{\"head_dim\": 64, \"rope_parameters\": {\"rope_theta\": 500000, "
                          "\"rope_type\": \"default\"}}"));
    near(rotation.info.theta, 500000.0);
    near(rotation.freq[31], 0.0000030138581521391711);
    near(rotation_of(parse("{\"head_dim\": 64, \"rope_theta\": 1000000, \"rope_scaling\": null}"))
             .info.theta,
         1e6);
    near(rotation_of(parse("{\"head_dim\": 64, \"rope_theta\": 1e6}")).info.theta, 1e6);
    near(rotation_of(parse("{\"head_dim\": 64, \"rope_theta\": 1000000.0}")).info.theta, 1e6);
    near(rotation_of(parse("{\"head_dim\": 64, \"rope_theta\": 10000, \"rope_parameters\": "
                           "{\"rope_theta\": 500000, "
                           "\"rope_type\": \"default\"}}"))
             .info.theta,
         500000.0);
    refuse("{\"head_dim\": 64, \"rope_theta\": \"1e6\"}", ROPE_ERR_VALUE,
           "rope_theta: must be a number");
    rope_config *config = parse("{\"head_dim\": 64}");
    must_warn(config, "default: rope_theta: missing: 10000 taken");
    near(rotation_of(config).info.theta, 10000.0);
}

static void CF05(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"rope_scaling\": {\"rope_theta\": 1000000, \"partial_rotary_factor\": 1.0, "
        "\"rope_type\": \"default\"}, "
        "\"head_dim\": 64, \"max_position_embeddings\": 202752}",
        "{\"rope_scaling\": null, \"rope_theta\": 1000000, \"head_dim\": 64}",
        "{\"rope_scaling\": {}, \"rope_theta\": 1000000, \"head_dim\": 64}"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        const struct rotation rotation = rotation_of(parse(texts[i]));
        near(rotation.freq[1], 0.64938163157621132);
        near(rotation.info.attention_factor, 1.0);
    }
    rope_config *config = parse(
        "{\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 2}, \"rope_theta\": 1000000, "
        "\"head_dim\": 64, \"max_position_embeddings\": 32768}");
    must_warn(config, "default: rope_scaling.original_max_position_embeddings: missing: "
                      "max_position_embeddings = 32768");
    near(rotation_of(config).freq[31], 0.00000076996326302974599);
    refuse("{\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": null}, \"rope_theta\": "
           "1000000, \"head_dim\": 64}",
           ROPE_ERR_VALUE, "rope_scaling.factor: missing");
    refuse("{\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 2}, \"head_dim\": 64}",
           ROPE_ERR_VALUE, "original_max_position_embeddings");
}

static void CF06(void **state)
{
    (void)state;
    rope_config *config = parse("{\"rope_parameters\": {\"full_attention\": {\"rope_type\": "
                                "\"yarn\", \"rope_theta\": 1000000, \"factor\": 4, "
                                "\"original_max_position_embeddings\": 8192}, "
                                "\"sliding_attention\": {\"rope_type\": \"default\", "
                                "\"rope_theta\": 10000}}, \"head_dim\": 64, \"layer_types\": "
                                "[\"sliding_attention\", \"full_attention\"]}");
    const int32_t sliding = rope_config_find(config, ROPE_TOWER_TEXT, "sliding_attention");
    const int32_t full = rope_config_find(config, ROPE_TOWER_TEXT, "full_attention");
    assert_int_equal(rope_config_find(config, ROPE_TOWER_TEXT, "chunked_attention"),
                     ROPE_LAYER_UNKNOWN);
    assert_int_equal(rope_config_find(config, ROPE_TOWER_VISION, "full_attention"),
                     ROPE_LAYER_UNKNOWN);
    assert_int_equal(rope_config_layer(config, 0), sliding);
    assert_int_equal(rope_config_layer(config, 1), full);
    assert_int_equal(rope_config_layer(config, 2), ROPE_LAYER_UNKNOWN);
    near(rotation_at(config, (size_t)sliding).freq[31], 0.0001333521432163324);
    near(rotation_at(config, (size_t)sliding).info.attention_factor, 1.0);
    near(rotation_at(config, (size_t)full).freq[31], 0.000000384981631514873);
    near(rotation_at(config, (size_t)full).info.attention_factor, 1.1386294361119891);
    rope_config_destroy(config);
    refuse("{\"rope_parameters\": {\"full_attention\": {\"rope_type\": \"default\"}, "
           "\"sliding_attention\": {}}, "
           "\"head_dim\": 64, \"layer_types\": [\"chunked_attention\"]}",
           ROPE_ERR_VALUE, "chunked_attention");
}

static void CF08(void **state)
{
    (void)state;
    rope_config *config =
        parse("{\"head_dim\": 128, \"rope_theta\": 1000000, \"max_position_embeddings\": 40960, "
              "\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4, "
              "\"original_max_position_embeddings\": 32768}}");
    must_warn(config,
              "implementations disagree: rope_scaling.factor = 4, max_position_embeddings / "
              "original_max_position_embeddings = 1.25; the former taken");
    const struct rotation rotation = rotation_of(config);
    near(rotation.freq[23], 0.0069783058485986634);
    near(rotation.freq[24], 0.0053753214907901015);
    near(rotation.freq[32], 0.00060294117647058824);
    near(rotation.freq[40], 0.00004445698525097307);
    near(rotation.freq[63], 0.00000031023444018792989);
    near(rotation.info.attention_factor, 1.1386294361119891);
}

static void LD01(void **state)
{
    (void)state;
    rope_config *config =
        parse("{\"head_dim\": 256, \"rope_theta\": 1000000, \"rope_local_base_freq\": 10000, "
              "\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 8}, "
              "\"sliding_window_pattern\": 6}");
    static const size_t layers[] = {0, 4, 5, 6, 11};
    static const char *const types[] = {"sliding_attention", "sliding_attention", "full_attention",
                                        "sliding_attention", "full_attention"};
    for (size_t i = 0; i < COUNT(layers); i++) {
        const int32_t entry = rope_config_layer(config, layers[i]);
        assert_true(entry >= 0);
        assert_string_equal(entry_at(config, (size_t)entry).layer_type, types[i]);
        near(1000.0 * rotation_at(config, (size_t)entry).freq[1],
             types[i][0] == 's' ? 930.57204092969898 : 112.21089155591427);
    }
    rope_config_destroy(config);
}

static void PD01(void **state)
{
    (void)state;
    const struct rotation rotation = rotation_of(
        parse("{\"head_dim\": 8, \"partial_rotary_factor\": 0.5, \"rope_theta\": 1000000}"));
    assert_int_equal(rotation.info.rotary_dim, 4);
    near(rotation.freq[0], 1.0);
    near(rotation.freq[1], 0.001);
}

static void PD02(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        size_t rotary_dim;
    } cases[] = {
        {"{\"head_dim\": 128, \"partial_rotary_factor\": 0.5}", 64},
        {"{\"head_dim\": 128, \"rotary_dim\": 64}", 64},
        {"{\"head_dim\": 128}", 128},
        {"{\"model_type\": \"gpt_neox\", \"hidden_size\": 512, \"num_attention_heads\": 8, "
         "\"rotary_pct\": 0.25}",
         16},
        {"{\"head_dim\": 128, \"rope_parameters\": {\"partial_rotary_factor\": 0.75, "
         "\"rope_theta\": 10000, "
         "\"rope_type\": \"default\"}}",
         96},
        {"{\"model_type\": \"glm\", \"head_dim\": 128, \"num_attention_heads\": 32}", 64},
        {"{\"head_dim\": 80, \"partial_rotary_factor\": 0.4}", 32},
        {"{\"head_dim\": 128, \"rope_pct\": 0.25}", 32},
        {"{\"head_dim\": 128, \"rope_percent\": 0.25}", 32},
        {"{\"head_dim\": 128, \"rotary_emb_fraction\": 0.25}", 32},
        {"{\"head_dim\": 128, \"attn_rotary_emb\": 64, \"partial_rotary_factor\": 0.5}", 64},
        {"{\"head_dim\": 128, \"partial_rotary_factor\": 0.25, \"rope_parameters\": "
         "{\"partial_rotary_factor\": 0.5}}",
         64},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct rotation rotation = rotation_of(parse(cases[i].json));
        if (rotation.info.rotary_dim != cases[i].rotary_dim)
            fail_msg("%s: %zu, must be %zu", cases[i].json, rotation.info.rotary_dim,
                     cases[i].rotary_dim);
    }
    refuse("{\"head_dim\": 128, \"rotary_dim\": 32, \"partial_rotary_factor\": 0.5}",
           ROPE_ERR_VALUE, "rotary_dim: 32: contradicts");
    refuse("{\"head_dim\": 128, \"rotary_pct\": 0.25, \"partial_rotary_factor\": 0.5}",
           ROPE_ERR_VALUE, "contradicts");
    refuse("{\"head_dim\": 128, \"rotary_dim\": 32, \"attn_rotary_emb\": 64}", ROPE_ERR_VALUE,
           "contradicts rotary_dim");
}

static void PD03(void **state)
{
    (void)state;
    refuse("{\"head_dim\": 4, \"rotary_pct\": 0.75}", ROPE_ERR_VALUE,
           "3 elements are rotated: must be even");
    refuse("{\"hidden_size\": 520, \"num_attention_heads\": 8}", ROPE_ERR_VALUE,
           "65 elements are rotated: must be even");
    refuse("{\"head_dim\": 64, \"rotary_dim\": 33}", ROPE_ERR_VALUE,
           "rotary_dim: 33 elements are rotated: must be even");
    refuse("{\"head_dim\": 10, \"partial_rotary_factor\": 0.3}", ROPE_ERR_VALUE, "must be even");
    const struct rotation rotation = rotation_of(parse("{\"head_dim\": 33, \"rotary_dim\": 32}"));
    assert_int_equal(rotation.info.head_dim, 33);
    assert_int_equal(rotation.info.rotary_dim, 32);
    refuse("{\"head_dim\": 64, \"rotary_dim\": 66}", ROPE_ERR_VALUE, "<= head_dim = 64");
    refuse("{\"head_dim\": 64, \"partial_rotary_factor\": 1.5}", ROPE_ERR_VALUE,
           "must be > 0 and <= 1");
    refuse("{\"head_dim\": 64, \"partial_rotary_factor\": 0}", ROPE_ERR_VALUE,
           "must be > 0 and <= 1");
    refuse("{\"hidden_size\": 100, \"num_attention_heads\": 8}", ROPE_ERR_VALUE,
           "must be a multiple");
}

static void PD04(void **state)
{
    (void)state;
    const struct rotation rotation =
        rotation_of(parse("{\"hidden_size\": 5120, \"num_attention_heads\": 32, \"head_dim\": 128, "
                          "\"rope_theta\": 1000000}"));
    assert_int_equal(rotation.info.head_dim, 128);
    near(rotation.freq[1], 0.80584218776148182);
    near(rotation.freq[63], 0.0000012409377607517196);
    assert_int_equal(
        rotation_of(parse("{\"hidden_size\": 512, \"num_attention_heads\": 8, \"head_dim\": null}"))
            .info.head_dim,
        64);
    /* null is as good as absent, where the class has a width of its own too */
    static const char *const qwen[] = {", \"head_dim\": null", ""};
    for (size_t i = 0; i < COUNT(qwen); i++) {
        char json[200];
        (void)snprintf(
            json, sizeof json,
            "{\"model_type\": \"qwen3\", \"hidden_size\": 512, \"num_attention_heads\": 8%s}",
            qwen[i]);
        assert_int_equal(rotation_of(parse(json)).info.head_dim, 128);
    }
    refuse("{\"rope_theta\": 10000}", ROPE_ERR_VALUE, "head_dim: missing");
}

/* cos and sin of pair i must be of the angle: the position of axis a is positions[a]. */
static void check_angles(const rope_config *config, size_t index, const double *positions,
                         const double *angles, size_t count)
{
    rope_plan *plans[PLANS_MAX];
    float row[2 * PAIRS_MAX];
    rope_positions given[8];
    assert_int_equal(rope_config_create_plans(config, plans, rope_config_entry_count(config),
                                              message, sizeof message),
                     ROPE_OK);
    for (size_t a = 0; a < COUNT(given); a++) {
        const rope_positions at = {sizeof at, ROPE_F64, &positions[a], 0, 0, 0, 0};
        given[a] = at;
    }
    rope_rows rows = ROPE_ROWS_INIT;
    rows.dtype = ROPE_F32;
    rows.layout = ROPE_ROWS_PACKED;
    rows.cos = row;
    rows.count = 1;
    assert_int_equal(rope_cos_sin(plans[index], given, 1, &rows), ROPE_OK);
    for (size_t i = 0; i < count; i++)
        if (fabs(row[i] - cos(angles[i])) > 1e-7 || fabs(row[count + i] - sin(angles[i])) > 1e-7)
            fail_msg("pair %zu: cos %.9g sin %.9g, angle must be %.17g", i, row[i], row[count + i],
                     angles[i]);
    for (size_t i = 0; i < rope_config_entry_count(config); i++)
        rope_plan_destroy(plans[i]);
}

static void MR01(void **state)
{
    (void)state;
    static const double positions[8] = {1, 2, 3, 0, 0, 0, 0, 0};
    static const double angles[2][6] = {{1, 0.43088693800637674, 0.13924766500838337, 0.01,
                                         0.0043088693800637674, 0.0013924766500838337},
                                        {1, 0.21544346900318837, 0.092831776672255578, 0.02,
                                         0.0064633040700956512, 0.0013924766500838337}};
    static const char *const texts[] = {
        "{\"head_dim\": 12, \"rope_theta\": 10000, \"rope_scaling\": {\"rope_type\": \"default\", "
        "\"mrope_section\": [2, 2, 2], "
        "\"mrope_interleaved\": true}}",
        "{\"head_dim\": 12, \"rope_theta\": 10000, \"rope_scaling\": {\"type\": \"mrope\", "
        "\"mrope_section\": [2, 2, 2], "
        "\"mrope_interleaved\": false}}"};
    for (size_t i = 0; i < 2; i++) {
        rope_config *config = parse(texts[i]);
        check_angles(config, 0, positions, angles[i], 6);
        rope_config_destroy(config);
    }
}

static void MR04(void **state)
{
    (void)state;
    static const double positions[8] = {3, 5, 0, 0, 0, 0, 0, 0};
    static const double angles[4] = {3, 0.03, 5, 0.05};
    rope_config *config =
        parse("{\"model_type\": \"qwen2_vl\", \"hidden_size\": 256, \"num_attention_heads\": 2, "
              "\"vision_config\": {\"embed_dim\": 16, \"num_heads\": 2, \"hidden_size\": 256}}");
    assert_int_equal(rope_config_entry_count(config), 2);
    const int32_t vision = rope_config_find(config, ROPE_TOWER_VISION, "");
    assert_true(vision >= 0);
    assert_string_equal(entry_at(config, (size_t)vision).path, "vision_config");
    assert_int_equal(entry_at(config, (size_t)vision).spec->head_dim, 8);
    check_angles(config, (size_t)vision, positions, angles, 4);
    rope_config_destroy(config);
}

static void MR06(void **state)
{
    (void)state;
    rope_config *config = parse("{\"head_dim\": 256, \"partial_rotary_factor\": 0.25, "
                                "\"rope_theta\": 10000000, \"rope_scaling\": {\"rope_type\": "
                                "\"yarn\", \"factor\": 4, \"original_max_position_embeddings\": "
                                "262144, \"mrope_section\": [11, 11, 10], "
                                "\"mrope_interleaved\": true}}");
    const struct rotation rotation = rotation_at(config, 0);
    assert_int_equal(rotation.info.rotary_dim, 64);
    assert_int_equal(rotation.info.axes, 3);
    near(rotation.info.attention_factor, 1.1386294361119891);
    static const struct {
        size_t pair, axis;
        double freq;
    } right[] = {{0, 0, 1},
                 {1, 1, 0.60429639023813282},
                 {2, 2, 0.36517412725483771},
                 {15, 0, 0.00047423982268010456},
                 {29, 2, 0.00000011328959094002045},
                 {30, 0, 6.8460490856609032e-8},
                 {31, 1, 4.1370427498579536e-8}};
    assert_int_equal(entry_at(config, 0).spec->axis_layout, ROPE_AXES_INTERLEAVED);
    for (size_t i = 0; i < COUNT(right); i++)
        near(rotation.freq[right[i].pair], right[i].freq);
    rope_config_destroy(config);
    refuse("{\"head_dim\": 256, \"rope_scaling\": {\"type\": \"mrope\", \"mrope_section\": [11, "
           "11, 10]}}",
           ROPE_ERR_VALUE, "sum 32: must be rotary_dim / 2 = 128");
}

static void DG02(void **state)
{
    (void)state;
    refuse("{\"head_dim\": 64, \"rotary_dim\": 0}", ROPE_ERR_VALUE, "rotary_dim: 0 elements");
    refuse("{\"head_dim\": 64, \"rope_theta\": 0}", ROPE_ERR_VALUE,
           "rope_theta: 0: must be finite and > 0");
    refuse("{\"head_dim\": 64, \"rope_theta\": -10000}", ROPE_ERR_VALUE, "rope_theta: -10000");
    refuse("{\"head_dim\": 64, \"rope_theta\": NaN}", ROPE_ERR_VALUE, "rope_theta");
    refuse("{\"head_dim\": 64, \"rope_theta\": Infinity}", ROPE_ERR_VALUE, "rope_theta");
    const struct rotation one = rotation_of(parse("{\"head_dim\": 64, \"rope_theta\": 1}"));
    for (size_t i = 0; i < 32; i++)
        assert_true(one.freq[i] == 1.0);
#define MROPE(sections)                                                                            \
    "{\"head_dim\": 128, \"rope_scaling\": {\"type\": \"mrope\", \"mrope_section\": " sections "}" \
    "}"
    refuse(MROPE("[]"), ROPE_ERR_VALUE, "mrope_section");
    refuse(MROPE("[0, 0, 0]"), ROPE_ERR_VALUE, "mrope_section: sum 0");
    refuse(MROPE("[40, 20, 20]"), ROPE_ERR_VALUE, "sum 80: must be rotary_dim / 2 = 64");
    refuse(MROPE("[-8, 36, 36]"), ROPE_ERR_VALUE, "mrope_section[0]: -8");
    refuse(MROPE("[16.5, 23.5, 24]"), ROPE_ERR_VALUE, "mrope_section[0]: 16.5");
    refuse(MROPE("[64]"), ROPE_ERR_VALUE, "1 sections");
    refuse("{\"head_dim\": 64, \"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 0}}",
           ROPE_ERR_VALUE, "factor: 0: must be finite and > 0");
    refuse("{\"head_dim\": 2, \"max_position_embeddings\": 2048, \"rope_scaling\": {\"rope_type\": "
           "\"dynamic\", "
           "\"factor\": 2}}",
           ROPE_ERR_VALUE, "d / (d - 2)");
}

static void AF01(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        double attention, softmax;
    } cases[] = {{", \"mscale\": 1.0, \"mscale_all_dim\": 1.0", 1.0, 1.8738542070926266},
                 {", \"mscale\": 0.707, \"mscale_all_dim\": 0.707", 1.0, 1.5896261651208735},
                 {", \"mscale\": null, \"mscale_all_dim\": null", 1.3688879454113936, 1.0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char json[400];
        (void)snprintf(json, sizeof json,
                       "{\"model_type\": \"deepseek_v3\", \"qk_nope_head_dim\": 128, "
                       "\"qk_rope_head_dim\": 64, "
                       "\"rope_theta\": 10000, \"max_position_embeddings\": 163840, "
                       "\"rope_scaling\": {\"type\": \"yarn\", "
                       "\"factor\": 40, \"original_max_position_embeddings\": 4096%s}}",
                       cases[i].keys);
        rope_config *config = parse(json);
        const rope_config_entry entry = entry_at(config, 0);
        assert_int_equal(entry.flags, ROPE_ENTRY_SOFTMAX_FACTOR);
        assert_int_equal(entry.k_head_dim, 64);
        assert_int_equal(entry.spec->rotary_offset, 128);
        const struct rotation rotation = rotation_of(config);
        near(rotation.info.attention_factor, cases[i].attention);
        near(rotation.info.softmax_factor, cases[i].softmax);
        near(rotation.info.softmax_factor / sqrt(192.0), cases[i].softmax * 0.072168783648703221);
    }
}

static void AF03(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        double attention;
    } cases[] = {{"\"factor\": 128, \"attention_factor\": 1.4852030263919618", 1.4852030263919618},
                 {"\"factor\": 64, \"attention_factor\": 1.0", 1.0},
                 {"\"factor\": 64", 1.4158883083359672},
                 {"\"factor\": 1", 1.0},
                 {"\"factor\": 0.5", 1.0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char json[300];
        (void)snprintf(json, sizeof json,
                       "{\"head_dim\": 128, \"rope_scaling\": {\"rope_type\": \"yarn\", "
                       "\"original_max_position_embeddings\": 4096, %s}}",
                       cases[i].keys);
        near(rotation_of(parse(json)).info.attention_factor, cases[i].attention);
    }
}

static void LR01(void **state)
{
    (void)state;
    const char *json =
        "{\"head_dim\": 8, \"rope_theta\": 10000, \"max_position_embeddings\": 131072, "
        "\"original_max_position_embeddings\": 4096, \"rope_scaling\": {\"rope_type\": "
        "\"longrope\", "
        "\"short_factor\": [1, 1.25, 1.5, 2], \"long_factor\": [1, 4, 16, 64]}}";
    static const size_t lengths[] = {0, 10, 4096, 4097, 131072};
    for (size_t i = 0; i < COUNT(lengths); i++) {
        const struct rotation rotation =
            rotation_of(parse_as(ROPE_PROFILE_EXACT, lengths[i], json));
        assert_int_equal(rotation.info.is_long, lengths[i] > 4096);
        near(rotation.freq[1], lengths[i] > 4096 ? 0.025 : 0.08);
        near(rotation.freq[3], lengths[i] > 4096 ? 0.000015625 : 0.0005);
        near(rotation.info.attention_factor, 1.1902380714238083);
    }
    /*
     * vLLM and llama.cpp choose by what they were set up for, max_position_embeddings where nothing
     * is said
     */
    assert_int_equal(rotation_of(parse_as(ROPE_PROFILE_VLLM, 0, json)).info.is_long, 1);
    assert_int_equal(rotation_of(parse_as(ROPE_PROFILE_VLLM, 4096, json)).info.is_long, 0);
    assert_int_equal(rotation_of(parse_as(ROPE_PROFILE_GGML, 0, json)).info.is_long, 1);
}

static void LR03(void **state)
{
    (void)state;
    static const size_t counts[] = {48, 64, 47};
    for (size_t c = 0; c < COUNT(counts); c++) {
        char list[400] = "[1", json[1200];
        for (size_t i = 1; i < counts[c]; i++)
            strcat(list, ", 1");
        (void)snprintf(
            json, sizeof json,
            "{\"head_dim\": 128, \"partial_rotary_factor\": 0.75, \"rope_theta\": 10000, "
            "\"max_position_embeddings\": 131072, \"original_max_position_embeddings\": 4096, "
            "\"rope_scaling\": {\"type\": \"longrope\", \"short_factor\": %s], \"long_factor\": "
            "%s]}}",
            list, list);
        if (c == 0)
            near(rotation_of(parse(json)).freq[47], 0.00012115276586285884);
        else
            refuse(json, ROPE_ERR_VALUE, "must be rotary_dim / 2 = 48");
    }
}

static void SF06(void **state)
{
    (void)state;
    const char *json =
        "{\"head_dim\": 64, \"rope_theta\": 10000, \"max_position_embeddings\": 2048, "
        "\"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 2}}";
    static const struct {
        size_t length;
        double theta, last;
    } cases[] = {{1, 10000, 0.0001333521432163324},
                 {2048, 10000, 0.0001333521432163324},
                 {3000, 19710.436456319733, 0.000069105564095913148},
                 {4096, 31082.236667168815, 0.000044450714405444134},
                 {6144, 52664.434336364522, 0.000026670428643266481}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct rotation rotation =
            rotation_of(parse_as(ROPE_PROFILE_TRANSFORMERS, cases[i].length, json));
        near(rotation.info.theta, cases[i].theta);
        near(rotation.freq[31], cases[i].last);
    }
    /* vLLM: one base, of max_position_embeddings times factor or of max_model_len; ggml: none */
    near(rotation_of(parse_as(ROPE_PROFILE_VLLM, 0, json)).info.theta, 31082.236667168815);
    near(rotation_of(parse_as(ROPE_PROFILE_VLLM, 3000, json)).info.theta, 19710.436456319733);
    near(rotation_of(parse_as(ROPE_PROFILE_GGML, 6144, json)).info.theta, 10000.0);
    refuse("{\"head_dim\": 64, \"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 2}}",
           ROPE_ERR_VALUE, "max_position_embeddings: missing");
}

/* ---- Profiles -------------------------------------------------------------------------------- */

static void test_profiles(void **state)
{
    (void)state;
    static const char *const angle = "{\"head_dim\": 64, \"rope_theta\": 10000}";
    static const rope_angle angles[] = {ROPE_ANGLE_EXACT, ROPE_ANGLE_F32, ROPE_ANGLE_F32,
                                        ROPE_ANGLE_EXACT};
    for (rope_profile profile = 0; profile < 4; profile++)
        assert_int_equal(rotation_of(parse_as(profile, 0, angle)).info.angle, angles[profile]);

    /* gpt-oss: f_17 with the ramp's ends as they are, and rounded (SF03) */
    const char *flat = "{\"model_type\": \"gpt_oss\", \"rope_theta\": 150000, \"head_dim\": 64, "
                       "\"num_hidden_layers\": 2, "
                       "\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 32, \"beta_fast\": "
                       "32, \"beta_slow\": 1, "
                       "\"original_max_position_embeddings\": 4096, \"truncate\": false}}";
    static const double whole = 0.00022794779579512526, exact = 0.00012931870124506272;
    static const double right_flat[] = {exact, exact, exact, whole};
    for (rope_profile profile = 0; profile < 4; profile++)
        near(rotation_of(parse_as(profile, 0, flat)).freq[17], right_flat[profile]);
    const char *nested =
        "{\"head_dim\": 64, \"rope_parameters\": {\"full_attention\": {\"rope_type\": \"yarn\", "
        "\"rope_theta\": 150000, \"factor\": 32, \"original_max_position_embeddings\": 4096, "
        "\"truncate\": false}}}";
    static const double right_nested[] = {exact, whole, exact, whole};
    for (rope_profile profile = 0; profile < 4; profile++)
        near(rotation_of(parse_as(profile, 0, nested)).freq[17], right_nested[profile]);

    /* below 1 */
    const char *short_yarn =
        "{\"head_dim\": 64, \"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 0.5, "
        "\"original_max_position_embeddings\": 4096}}";
    for (rope_profile profile = 0; profile < 4; profile++)
        near(rotation_of(parse_as(profile, 0, short_yarn)).info.attention_factor,
             profile == ROPE_PROFILE_GGML ? 1.0 + 0.1 * log(0.5) : 1.0);

    const char *proportional =
        "{\"head_dim\": 8, \"rope_theta\": 10000, \"rope_parameters\": {\"rope_type\": "
        "\"proportional\", \"partial_rotary_factor\": 0.5, \"factor\": 4}}";
    for (rope_profile profile = 0; profile < 4; profile++) {
        const struct rotation rotation = rotation_of(parse_as(profile, 0, proportional));
        assert_int_equal(rotation.info.rotary_dim, 8);
        near(rotation.freq[1], profile == ROPE_PROFILE_VLLM ? 0.1 : 0.025);
        assert_true(rotation.freq[2] == 0.0 && rotation.freq[3] == 0.0);
    }

    const char *triples = "{\"model_type\": \"qwen3_vl\", \"text_config\": {\"model_type\": "
                          "\"qwen3_vl_text\", \"head_dim\": 128, "
                          "\"rope_theta\": 5000000, \"rope_scaling\": {\"rope_type\": \"default\", "
                          "\"mrope_interleaved\": true, "
                          "\"mrope_section\": [24, 20, 20]}}}";
    for (rope_profile profile = 0; profile < 4; profile++) {
        rope_config *config = parse_as(profile, 0, triples);
        const rope_spec *spec = entry_at(config, 0).spec;
        must_warn(config, "implementations disagree: text_config.rope_scaling.mrope_section: ggml");
        assert_int_equal(spec->axis_layout, profile == ROPE_PROFILE_GGML ? ROPE_AXES_GGML_IMROPE
                                                                         : ROPE_AXES_INTERLEAVED);
        assert_int_equal(spec->section_count, profile == ROPE_PROFILE_GGML ? 4 : 3);
        assert_int_equal(spec->sections[1], 20);
        rope_config_destroy(config);
    }

    const char *minimax = "{\"model_type\": \"minimax\", \"head_dim\": 128, \"rotary_dim\": 64, "
                          "\"rope_theta\": 10000000, "
                          "\"num_hidden_layers\": 4}";
    for (rope_profile profile = 0; profile < 4; profile++)
        assert_int_equal(rotation_of(parse_as(profile, 0, minimax)).info.rotary_dim,
                         profile == ROPE_PROFILE_TRANSFORMERS ? 128 : 64);

    const char *phimoe =
        "{\"model_type\": \"phimoe\", \"head_dim\": 8, \"rope_theta\": 10000, "
        "\"max_position_embeddings\": 131072, \"original_max_position_embeddings\": 4096, "
        "\"rope_scaling\": {\"type\": \"longrope\", \"short_mscale\": 1.2, \"long_mscale\": "
        "1.3, " LISTS "}}";
    near(rotation_of(parse_as(ROPE_PROFILE_EXACT, 4096, phimoe)).info.attention_factor, 1.2);
    for (rope_profile profile = 0; profile < 2; profile++) {
        const struct rotation rotation = rotation_of(parse_as(profile, 4097, phimoe));
        near(rotation.info.attention_factor, 1.3);
        near(rotation.freq[1], profile == ROPE_PROFILE_EXACT ? 0.025 : 0.1);
    }

    /*
     * classes with two bases: an old name of the key that is not read, a base that is not passed on
     */
    static const char *const split = "{\"model_type\": \"gemma3_text\", \"rope_scaling\": "
                                     "{\"type\": \"linear\", \"factor\": 8}}";
    for (rope_profile profile = 0; profile < 4; profile++) {
        rope_config *gemma = parse_as(profile, 0, split);
        must_warn(gemma, "implementations disagree: rope_scaling.type");
        const int32_t full = rope_config_find(gemma, ROPE_TOWER_TEXT, "full_attention");
        near(rotation_at(gemma, (size_t)full).freq[0],
             profile == ROPE_PROFILE_TRANSFORMERS ? 1.0 : 0.125);
        rope_config_destroy(gemma);
        rope_config *olmo =
            parse_as(profile, 0, "{\"model_type\": \"olmo3\", \"rope_theta\": 123456}");
        const int32_t sliding = rope_config_find(olmo, ROPE_TOWER_TEXT, "sliding_attention");
        near(rotation_at(olmo, (size_t)sliding).info.theta,
             profile == ROPE_PROFILE_TRANSFORMERS ? 500000.0 : 123456.0);
        rope_config_destroy(olmo);
    }
    /* ModernBERT scales both kinds of layers */
    rope_config *bert = parse("{\"model_type\": \"modernbert\", \"rope_scaling\": {\"rope_type\": "
                              "\"linear\", \"factor\": 4}}");
    for (size_t i = 0; i < 2; i++)
        near(rotation_at(bert, i).freq[0], 0.25);
    rope_config_destroy(bert);

    rope_config_options options = ROPE_CONFIG_OPTIONS_INIT;
    options.profile = 4;
    options.message = message;
    options.message_size = sizeof message;
    rope_config *config;
    assert_int_equal(rope_config_parse(angle, strlen(angle), &options, &config), ROPE_ERR_VALUE);
    assert_non_null(strstr(message, "options.profile: 4"));
    assert_null(config);
}

/* ---- Layers ---------------------------------------------------------------------------------- */

/* R = rotates, - = does not, for the first layers. */
static void check_layers(const char *json, const char *right)
{
    rope_config *config = parse(json);
    char given[80] = "";
    for (size_t i = 0; i < strlen(right); i++) {
        const int32_t entry = rope_config_layer(config, i);
        given[i] = entry == ROPE_LAYER_NO_ROTATION ? '-'
                   : entry < 0                     ? '?'
                   : entry_at(config, (size_t)entry).layer_type[0] == '\0'
                       ? 'R'
                       : entry_at(config, (size_t)entry).layer_type[0];
    }
    rope_config_destroy(config);
    if (strcmp(given, right) != 0)
        fail_msg("%s, must be %s\n%s", given, right, json);
}

static void test_layers(void **state)
{
    (void)state;
#define HEAD "\"head_dim\": 64, \"rope_theta\": 10000, "
    check_layers("{\"model_type\": \"llama\", " HEAD "\"num_hidden_layers\": 2}", "RR?");
    check_layers("{\"model_type\": \"smollm3\", " HEAD "\"num_hidden_layers\": 8}", "RRR-RRR-?");
    check_layers("{\"model_type\": \"smollm3\", " HEAD
                 "\"num_hidden_layers\": 4, \"no_rope_layer_interval\": 2}",
                 "R-R-");
    check_layers("{\"model_type\": \"llama4_text\", " HEAD
                 "\"num_hidden_layers\": 4, \"no_rope_layers\": [0, 1, 1, 0]}",
                 "-RR-?");
    check_layers("{\"model_type\": \"llama4_text\", " HEAD
                 "\"num_hidden_layers\": 8, \"no_rope_layers\": []}",
                 "RRR-RRR-");
    check_layers("{\"model_type\": \"cohere2\", " HEAD "\"num_hidden_layers\": 8}", "RRR-RRR-");
    check_layers(
        "{\"model_type\": \"cohere2\", " HEAD
        "\"num_hidden_layers\": 2, \"layer_types\": [\"full_attention\", \"sliding_attention\"]}",
        "-R");
    check_layers("{\"model_type\": \"exaone4\", " HEAD
                 "\"num_hidden_layers\": 8, \"sliding_window\": 4096}",
                 "RRR-RRR-");
    check_layers("{\"model_type\": \"exaone4\", " HEAD
                 "\"num_hidden_layers\": 4, \"sliding_window\": null}",
                 "RRRR");
    check_layers(
        "{\"model_type\": \"exaone4\", " HEAD
        "\"num_hidden_layers\": 8, \"sliding_window\": 4096, \"sliding_window_pattern\": \"LLLG\"}",
        "RRR-RRR-");
    check_layers("{\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 7}", "sssssfs");
    check_layers("{\"model_type\": \"gemma3n_text\", \"num_hidden_layers\": 6}", "ssssfs");
    check_layers("{\"model_type\": \"olmo3\", " HEAD "\"num_hidden_layers\": 5}", "sssfs");
    check_layers("{\"model_type\": \"modernbert\", \"num_hidden_layers\": 4}", "fssf");
    check_layers("{\"model_type\": \"modernbert\", \"num_hidden_layers\": 4, "
                 "\"global_attn_every_n_layers\": 2}",
                 "fsfs");
    check_layers("{\"model_type\": \"qwen3_next\", \"num_hidden_layers\": 5}", "---R-");
    check_layers("{\"model_type\": \"qwen3_next\", \"num_hidden_layers\": 4, "
                 "\"full_attention_interval\": 2}",
                 "-R-R");
    check_layers("{\"model_type\": \"minimax\", " HEAD "\"num_hidden_layers\": 4}", "R-R-");
    check_layers("{\"model_type\": \"recurrent_gemma\", \"num_hidden_layers\": 6}", "--R--R");
    check_layers("{\"model_type\": \"recurrent_gemma\", \"num_hidden_layers\": 3, \"block_types\": "
                 "[\"attention\", "
                 "\"recurrent\"]}",
                 "R-R");
    check_layers("{\"model_type\": \"bamba\", " HEAD
                 "\"num_hidden_layers\": 4, \"attn_layer_indices\": [2]}",
                 "--R-");
    check_layers(
        "{\"model_type\": \"lfm2\", " HEAD
        "\"num_hidden_layers\": 3, \"layer_types\": [\"conv\", \"conv\", \"full_attention\"]}",
        "--R");
    check_layers("{\"model_type\": \"granite_swa\", " HEAD
                 "\"num_hidden_layers\": 3, \"layer_rope_theta\": [10000, 0, 10000]}",
                 "R-R");
    check_layers("{\"model_type\": \"deepseek_v4\", \"num_hidden_layers\": 3, \"compress_ratios\": "
                 "[0, 4, 128]}",
                 "mcc");
    check_layers("{\"model_type\": \"deepseek_v4\", \"num_hidden_layers\": 3}", "ccc");
    check_layers("{\"model_type\": \"esm\", " HEAD "\"num_hidden_layers\": 2}", "--?");
    check_layers("{\"model_type\": \"esm\", " HEAD
                 "\"num_hidden_layers\": 2, \"position_embedding_type\": \"rotary\"}",
                 "RR");
    check_layers("{\"model_type\": \"falcon\", " HEAD "\"num_hidden_layers\": 2, \"alibi\": true}",
                 "--");
    check_layers("{\"model_type\": \"zamba2\", " HEAD
                 "\"num_hidden_layers\": 2, \"use_mem_rope\": true}",
                 "RR");
    check_layers("{\"model_type\": \"gpt2\", \"n_layer\": 2}", "--?");
    check_layers("{\"model_type\": \"minimax_text_01\", " HEAD
                 "\"num_hidden_layers\": 4, \"attn_type_list\": [0, 0, 0, 1]}",
                 "---R");
    /* types that are not known, by their keys */
    check_layers("{" HEAD "\"num_hidden_layers\": 8, \"no_rope_layer_interval\": 4}", "RRR-RRR-");
    check_layers("{" HEAD "\"num_hidden_layers\": 4, \"full_attention_interval\": 2}", "-R-R");
    check_layers("{" HEAD "\"num_hidden_layers\": 4, \"rope_local_base_freq\": 100, "
                 "\"global_attn_every_n_layers\": 2}",
                 "fsfs");
    check_layers("{" HEAD "\"num_hidden_layers\": 2, \"rope_local_base_freq\": 100}", "??");
    /* a type whose parameters are null does not rotate */
    check_layers("{" HEAD "\"rope_parameters\": {\"sliding_attention\": {\"rope_type\": "
                 "\"default\"}, \"full_attention\": "
                 "null}, \"layer_types\": [\"sliding_attention\", \"full_attention\"]}",
                 "s-?");
    refuse("{" HEAD "\"num_hidden_layers\": 3, \"layer_types\": [\"full_attention\"]}",
           ROPE_ERR_VALUE, "layer_types: 1 types: must be one for each of 3 layers");
    refuse("{" HEAD "\"num_hidden_layers\": 1, \"layer_types\": [7]}", ROPE_ERR_VALUE,
           "layer_types");
    refuse("{" HEAD "\"num_hidden_layers\": 2, \"no_rope_layers\": [1]}", ROPE_ERR_VALUE,
           "no_rope_layers");
    refuse("{" HEAD "\"num_hidden_layers\": 2, \"no_rope_layers\": [1, 2]}", ROPE_ERR_VALUE,
           "no_rope_layers[1]: 2");
    refuse("{" HEAD "\"num_hidden_layers\": 1000000}", ROPE_ERR_VALUE,
           "num_hidden_layers: 1000000: must be at most 65536");
    refuse("{" HEAD "\"num_hidden_layers\": -1}", ROPE_ERR_VALUE, "num_hidden_layers");
    refuse("{" HEAD "\"num_hidden_layers\": 1.5}", ROPE_ERR_VALUE, "num_hidden_layers");
    refuse("{\"model_type\": \"exaone4\", " HEAD "\"sliding_window_pattern\": \"LXG\"}",
           ROPE_ERR_VALUE, "sliding_window_pattern");
}

static void check_scale(const rope_config *config, size_t layer, int64_t position, double right)
{
    rope_query_scale scale = ROPE_QUERY_SCALE_INIT;
    assert_int_equal(rope_config_get_query_scale(config, layer, &scale), ROPE_OK);
    if (fabs(rope_query_scale_at(&scale, position) - right) > 1e-7)
        fail_msg("layer %zu, position %lld: %.9g, must be %.9g", layer, (long long)position,
                 rope_query_scale_at(&scale, position), right);
}

static void test_query_scales(void **state)
{
    (void)state;
    rope_config *config = parse("{\"model_type\": \"llama4_text\", \"num_hidden_layers\": 8}");
    check_scale(config, 3, 8190,
                1.0); /* 1 + 0.1 ln(floor((p + 1) / 8192) + 1), where there is no rotation */
    check_scale(config, 3, 8191, 1.0693147);
    check_scale(config, 3, 16383, 1.1098612);
    check_scale(config, 0, 16383, 1.0);
    rope_config_destroy(config);
    config = parse("{\"model_type\": \"llama4_text\", \"num_hidden_layers\": 8, "
                   "\"attn_temperature_tuning\": false}");
    check_scale(config, 3, 16383, 1.0);
    rope_config_destroy(config);

    config = parse("{\"model_type\": \"ministral3\", \"num_hidden_layers\": 2, "
                   "\"max_position_embeddings\": 262144}");
    must_warn(config, "default: rope_parameters: missing: that of the class taken");
    check_scale(config, 1, 16383, 1.0); /* 1 + 0.1 ln(1 + floor(p / 16384)) */
    check_scale(config, 1, 16384, 1.0693147);
    rope_config_destroy(config);

    config = parse("{\"model_type\": \"qwen\", \"num_hidden_layers\": 2, \"seq_length\": 2048, "
                   "\"use_logn_attn\": true, "
                   "\"kv_channels\": 128}");
    check_scale(config, 0, 2047, 1.0); /* ln(p + 1) / ln 2048 where p + 1 > 2048 */
    check_scale(config, 0, 4095, 12.0 / 11.0);
    rope_config_destroy(config);

    config = parse("{\"model_type\": \"llama\", \"num_hidden_layers\": 2}");
    check_scale(config, 0, 1 << 30, 1.0);
    rope_query_scale scale = ROPE_QUERY_SCALE_INIT;
    assert_int_equal(rope_config_get_query_scale(config, 2, &scale), ROPE_ERR_VALUE);
    assert_int_equal(rope_config_get_query_scale(NULL, 0, &scale), ROPE_ERR_NULL);
    assert_int_equal(rope_config_get_query_scale(config, 0, NULL), ROPE_ERR_NULL);
    scale.struct_size = 4;
    assert_int_equal(rope_config_get_query_scale(config, 0, &scale), ROPE_ERR_STRUCT);
    assert_true(rope_query_scale_at(NULL, 5) == 1.0);
    rope_config_destroy(config);
}

/* ---- What files leave out -------------------------------------------------------------------- */

static void test_classes(void **state)
{
    (void)state;
    /* the published google/gemma-3-4b-it says little more than this */
    rope_config *config = parse(
        "{\"model_type\": \"gemma3\", \"text_config\": {\"hidden_size\": 2560, \"model_type\": "
        "\"gemma3_text\", "
        "\"num_hidden_layers\": 34, \"rope_scaling\": {\"factor\": 8.0, \"rope_type\": "
        "\"linear\"}, "
        "\"sliding_window\": 1024}, \"vision_config\": {\"hidden_size\": 1152, \"model_type\": "
        "\"siglip_vision_model\"}}");
    must_warn(config, "default: text_config.head_dim: missing: 256 of the class taken");
    must_warn(config, "vision_config: siglip_vision_model: no rotation known");
    assert_int_equal(rope_config_layer_count(config), 34);
    const int32_t full = rope_config_find(config, ROPE_TOWER_TEXT, "full_attention");
    const int32_t sliding = rope_config_find(config, ROPE_TOWER_TEXT, "sliding_attention");
    assert_string_equal(entry_at(config, (size_t)full).path, "text_config");
    near(rotation_at(config, (size_t)full).info.theta, 1e6);
    near(rotation_at(config, (size_t)full).info.factor, 8.0);
    near(rotation_at(config, (size_t)sliding).info.theta, 1e4);
    near(rotation_at(config, (size_t)sliding).info.factor, 1.0);
    assert_int_equal(rotation_at(config, (size_t)sliding).info.head_dim, 256);
    rope_config_destroy(config);

    /* full layers of Gemma 4 are twice as wide, by the file or by the class */
    config = parse("{\"model_type\": \"gemma4_text\", \"num_hidden_layers\": 6}");
    assert_int_equal(rotation_at(config, (size_t)rope_config_layer(config, 5)).info.head_dim, 512);
    assert_int_equal(rotation_at(config, (size_t)rope_config_layer(config, 4)).info.head_dim, 256);
    assert_true(rotation_at(config, (size_t)rope_config_layer(config, 5)).freq[64] == 0.0);
    assert_true(rotation_at(config, (size_t)rope_config_layer(config, 5)).freq[63] > 0.0);
    rope_config_destroy(config);
    config = parse(
        "{\"model_type\": \"gemma4_text\", \"num_hidden_layers\": 6, \"global_head_dim\": 320}");
    assert_int_equal(rotation_at(config, (size_t)rope_config_layer(config, 5)).info.head_dim, 320);
    rope_config_destroy(config);

    near(
        rotation_of(
            parse("{\"model_type\": \"dbrx\", \"d_model\": 6144, \"n_heads\": 48, \"n_layers\": 2, "
                  "\"attn_config\": {\"rope_theta\": 500000}}"))
            .info.theta,
        500000.0);
    const struct rotation chatglm =
        rotation_of(parse("{\"model_type\": \"chatglm\", \"kv_channels\": 128, \"rope_ratio\": "
                          "500, \"num_layers\": 2}"));
    near(chatglm.info.theta, 5e6);
    assert_int_equal(chatglm.info.rotary_dim, 64);
    assert_int_equal(chatglm.info.pairing, ROPE_INTERLEAVED);
    /* GPT-J: 64 of the class where the key is absent, the whole head where it is null */
    assert_int_equal(rotation_of(parse("{\"model_type\": \"gptj\"}")).info.rotary_dim, 64);
    assert_int_equal(
        rotation_of(parse("{\"model_type\": \"gptj\", \"rotary_dim\": null}")).info.rotary_dim,
        256);
    /* rope_interleave turns DeepSeek-V3 into half-split */
    config = parse("{\"model_type\": \"deepseek_v3\", \"rope_interleave\": false}");
    assert_int_equal(entry_at(config, 0).pairing_out, ROPE_OUT_SAME);
    assert_int_equal(rotation_of(config).info.pairing, ROPE_HALF);
    config = parse("{\"model_type\": \"deepseek_v3\"}");
    assert_int_equal(entry_at(config, 0).pairing_out, ROPE_OUT_HALF);
    assert_int_equal(rotation_of(config).info.pairing, ROPE_INTERLEAVED);
    /* Phi-3 calls longrope su, and once yarn */
    config = parse("{\"model_type\": \"phi3\", " COMMON
                   ", \"original_max_position_embeddings\": 4096, \"rope_scaling\": {\"type\": "
                   "\"yarn\", " LISTS "}}");
    near(rotation_of(config).info.attention_factor, 1.1902380714238083);
    /* MLA of a type that is not known */
    config = parse("{\"model_type\": \"new\", \"qk_nope_head_dim\": 32, \"qk_rope_head_dim\": 16}");
    must_warn(config, "unknown model_type new");
    assert_int_equal(entry_at(config, 0).k_head_dim, 16);
    assert_int_equal(entry_at(config, 0).rounding, ROPE_ROUNDING_UNKNOWN);
    assert_int_equal(rotation_of(config).info.rotary_offset, 32);
    /* DeepSeek-VL2 tiny has no latent heads */
    config =
        parse("{\"model_type\": \"deepseek_v2\", \"qk_nope_head_dim\": 0, \"qk_rope_head_dim\": 0, "
              "\"hidden_size\": 1280, \"num_attention_heads\": 10}");
    assert_int_equal(entry_at(config, 0).k_head_dim, 0);
    assert_int_equal(entry_at(config, 0).spec->pairing, ROPE_HALF);
    assert_int_equal(rotation_of(config).info.rotary_dim, 128);
    /* Qwen 1: alpha = 2^ceil(log2(n / L) + 1) - 1 */
    const char *qwen = "{\"model_type\": \"qwen\", \"kv_channels\": 128, \"seq_length\": 2048, "
                       "\"use_dynamic_ntk\": true}";
    static const struct {
        size_t length;
        double alpha;
    } alphas[] = {{2048, 1}, {2049, 3}, {4096, 3}, {4097, 7}};
    for (size_t i = 0; i < COUNT(alphas); i++)
        near(rotation_of(parse_as(ROPE_PROFILE_EXACT, alphas[i].length, qwen)).info.theta,
             10000.0 * pow(alphas[i].alpha, 128.0 / 126.0));
    /* Qwen-7B: the two lengths are not the same, and neither is of the other's kind */
    config =
        parse("{\"model_type\": \"qwen\", \"hidden_size\": 4096, \"num_attention_heads\": 32, "
              "\"kv_channels\": 128, \"max_position_embeddings\": 32768, \"seq_length\": 8192, "
              "\"rotary_emb_base\": 10000, \"rotary_pct\": 1.0, \"use_dynamic_ntk\": true, "
              "\"use_logn_attn\": true, \"num_hidden_layers\": 2}");
    check_scale(config, 0, 8191, 1.0);
    check_scale(config, 0, 8192, log(8193.0) / log(8192.0));
    rope_config_destroy(config);
    /* towers within towers */
    config = parse("{\"model_type\": \"qwen2_5_omni\", \"thinker_config\": {\"model_type\": "
                   "\"qwen2_5_omni_thinker\", "
                   "\"text_config\": {\"model_type\": \"qwen2_5_omni_text\", "
                   "\"num_hidden_layers\": 3}, \"vision_config\": "
                   "{\"model_type\": \"qwen2_5_omni_vision_encoder\", \"hidden_size\": 1280, "
                   "\"num_heads\": 16}}}");
    assert_int_equal(rope_config_entry_count(config), 2);
    assert_int_equal(rope_config_layer_count(config), 3);
    assert_int_equal(entry_at(config, 1).tower, ROPE_TOWER_VISION);
    assert_int_equal(entry_at(config, 1).spec->head_dim, 80);
    assert_string_equal(entry_at(config, 1).path, "thinker_config.vision_config");
    rope_config_destroy(config);
}

static void test_warnings(void **state)
{
    (void)state;
    rope_config *config = parse(
        "{\"model_type\": \"llama\", \"rope_theta\": 10000, \"rope_thetta\": 5, \"max_rotary\": 1, "
        "\"hidden_size\": 4096, \"num_attention_heads\": 32, \"num_hidden_layers\": 2, "
        "\"vocab_size\": 9, "
        "\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 2, \"beta_fast\": 32, "
        "\"sharpness\": 1, "
        "\"mscale\": null}}");
    must_warn(config, "unknown key rope_thetta: ignored");
    must_warn(config, "unknown key max_rotary: ignored");
    must_warn(config, "unknown key rope_scaling.sharpness: ignored");
    must_warn(config, "key rope_scaling.beta_fast: ignored by linear");
    assert_false(warns(config, "vocab_size"));
    assert_false(warns(config, "mscale"));
    assert_null(rope_config_warning(config, 4));
    assert_null(rope_config_warning(config, SIZE_MAX));
    assert_null(rope_config_warning(NULL, 0));
    rope_config_destroy(config);
    config = parse("{\"model_type\": \"brand_new\", \"head_dim\": 64, \"rope_theta\": 10000}");
    must_warn(config,
              "unknown model_type brand_new: read by its ordinary keys, with half-split pairs");
    rope_config_destroy(config);
    /*
     * escapes: a letter, and characters of 2, 3 and 4 bytes, each of which is shown as a question
     * mark
     */
    config = parse("{\"\\u0068ead_dim\": 64, \"rope_theta\": 10000, \"model_type\": "
                   "\"a\\\"\\u00e9\\u20AC\\ud83d\\ude00\"}");
    must_warn(config, "unknown model_type a\"?????????: read");
    rope_config_destroy(config);
    config = parse("{\"head_dim\": 64, \"rope_theta\": 10000, \"rope_scaling\": {\"type\": "
                   "\"linear\", \"factor\": 2}, "
                   "\"rope_parameters\": {\"rope_type\": \"linear\", \"factor\": 4}}");
    must_warn(config, "key rope_parameters: ignored beside rope_scaling");
    near(rotation_of(config).info.factor, 2.0);
}

static void test_refused(void **state)
{
    (void)state;
#define SCALED(keys) \
    "{\"head_dim\": 64, \"max_position_embeddings\": 4096, \"rope_scaling\": {" keys "}}"
    refuse(SCALED("\"rope_type\": \"llama3\", \"factor\": 8, \"low_freq_factor\": 4, "
                  "\"high_freq_factor\": 1, "
                  "\"original_max_position_embeddings\": 8192"),
           ROPE_ERR_VALUE, "high_freq_factor: 1: must be >= low_freq_factor = 4");
    refuse(SCALED("\"rope_type\": \"llama3\", \"factor\": 8, \"high_freq_factor\": 1"),
           ROPE_ERR_VALUE, "low_freq_factor: missing");
    refuse(SCALED("\"rope_type\": \"yarn\", \"factor\": 4, \"attention_factor\": 0"),
           ROPE_ERR_VALUE, "attention_factor: 0: must be finite and > 0");
    refuse(SCALED("\"rope_type\": \"yarn\", \"factor\": {\"__float__\": \"Infinity\"}"),
           ROPE_ERR_VALUE, "factor: inf: must be finite");
    refuse(SCALED("\"rope_type\": \"yarn\", \"factor\": 4, \"truncate\": 1"), ROPE_ERR_VALUE,
           "truncate: must be true or false");
    refuse(
        SCALED("\"rope_type\": \"yarn\", \"factor\": 4, \"original_max_position_embeddings\": 0"),
        ROPE_ERR_VALUE, "original_max_position_embeddings");
    refuse(SCALED("\"rope_type\": \"yarn\", \"factor\": 4, \"rope_theta\": 1"), ROPE_ERR_VALUE,
           "must be > 1 with yarn");
    refuse(SCALED("\"rope_type\": \"yarn\", \"factor\": 4, \"beta_fast\": 1, \"beta_slow\": 32"),
           ROPE_ERR_VALUE, "rope_scaling: spec.beta");
    refuse(SCALED("\"rope_type\": \"longrope\", \"short_factor\": [1]"), ROPE_ERR_VALUE,
           "short_factor: 1 numbers");
    refuse(SCALED("\"rope_type\": \"longrope\""), ROPE_ERR_VALUE, "short_factor");
    refuse(SCALED("\"rope_type\": 5"), ROPE_ERR_VALUE, "rope_type: must be a string");
    refuse(SCALED("\"rope_type\": \"linear\", \"factor\": \"4\""), ROPE_ERR_VALUE,
           "factor: must be a number");
    refuse(SCALED("\"rope_type\": \"linear\", \"factor\": true"), ROPE_ERR_VALUE,
           "factor: must be a number");
    refuse(SCALED("\"rope_type\": \"linear\", \"factor\": [4]"), ROPE_ERR_VALUE,
           "factor: must be a number");
    refuse(SCALED("\"type\": \"dynamic\", \"alpha\": \"x\""), ROPE_ERR_VALUE,
           "alpha: must be a number");
    refuse(SCALED("\"rope_type\": \"fope\""), ROPE_ERR_UNSUPPORTED, "fope: no known scheme");
    refuse("{\"head_dim\": 64, \"rope_scaling\": \"linear\"}", ROPE_ERR_VALUE,
           "rope_scaling: must be an object");
    refuse("{\"head_dim\": 64, \"rope_parameters\": [1]}", ROPE_ERR_VALUE,
           "rope_parameters: must be an object");
    refuse("{\"head_dim\": 64, \"rope_theta\": 10000, \"rotary_emb_base\": 20000}", ROPE_ERR_VALUE,
           "rotary_emb_base: contradicts rope_theta");
    refuse("{\"head_dim\": 1, \"rope_theta\": 10000}", ROPE_ERR_VALUE, "head_dim: 1");
    refuse("{\"head_dim\": 1e9}", ROPE_ERR_VALUE, "head_dim");
    refuse("{\"model_type\": 5, \"head_dim\": 64}", ROPE_ERR_VALUE, "model_type: must be a string");
    refuse("{\"text_config\": 5}", ROPE_ERR_VALUE, "text_config: must be an object");
    refuse("{\"head_dim\": 64, \"rope_local_base_freq\": -1}", ROPE_ERR_VALUE,
           "rope_local_base_freq");
    refuse("{\"model_type\": \"pixtral\", \"head_dim\": 6}", ROPE_ERR_VALUE,
           "as many pairs for each of 2 axes");
    refuse("{\"model_type\": \"deepseek_v3\", \"qk_rope_head_dim\": 63}", ROPE_ERR_VALUE,
           "qk_rope_head_dim");
}

/* ---- GGUF ------------------------------------------------------------------------------------ */

static rope_config *read_gguf(rope_profile profile, const rope_gguf_pair *pairs, size_t count)
{
    rope_config_options options = ROPE_CONFIG_OPTIONS_INIT;
    options.profile = profile;
    options.message = message;
    options.message_size = sizeof message;
    rope_config *config;
    const rope_status status = rope_config_from_gguf(pairs, count, &options, &config);
    if (status != ROPE_OK)
        fail_msg("status %d: %s", (int)status, message);
    return config;
}

static void refuse_gguf(const rope_gguf_pair *pairs, size_t count, rope_status status,
                        const char *text)
{
    rope_config_options options = ROPE_CONFIG_OPTIONS_INIT;
    options.message = message;
    options.message_size = sizeof message;
    rope_config *config = (rope_config *)&options;
    const rope_status given = rope_config_from_gguf(pairs, count, &options, &config);
    if (given != status || config != NULL || strstr(message, text) == NULL)
        fail_msg("status %d, message \"%s\"; must be %d and name %s", (int)given, message,
                 (int)status, text);
}

#define GGUF(...)                                                        \
    read_gguf(ROPE_PROFILE_EXACT, (const rope_gguf_pair[]){__VA_ARGS__}, \
              COUNT(((const rope_gguf_pair[]){__VA_ARGS__})))

static void CF07(void **state)
{
    (void)state;
    near(16.0 * rotation_of(parse("{\"head_dim\": 64, \"rope_theta\": 10000, \"rope_scaling\": "
                                  "{\"type\": \"linear\", "
                                  "\"factor\": 4}}"))
                    .freq[0],
         4.0);
    near(16.0 * rotation_of(GGUF(NUMBER("attention.key_length", 64),
                                 TEXT("rope.scaling.type", "linear"),
                                 NUMBER("rope.scaling.factor", 4)))
                    .freq[0],
         4.0);
    near(16.0 *
             rotation_of(GGUF(NUMBER("attention.key_length", 64), NUMBER("rope.scale_linear", 4)))
                 .freq[0],
         4.0);
    /* zero is not given */
    const struct rotation zero =
        rotation_of(GGUF(NUMBER("attention.key_length", 64), NUMBER("rope.freq_base", 0),
                         NUMBER("rope.scaling.factor", 0)));
    near(zero.info.theta, 10000.0);
    near(zero.freq[0], 1.0);
    near(16.0 *
             rotation_of(GGUF(NUMBER("attention.key_length", 64), TEXT("rope.scaling.type", "none"),
                              NUMBER("rope.scaling.factor", 4)))
                 .freq[0],
         16.0);
}

static void AF04(void **state)
{
    (void)state;
#define YARN16                                                                                 \
    TEXT("general.architecture", "mistral3"), NUMBER("mistral3.attention.key_length", 128),    \
        NUMBER("mistral3.context_length", 262144), TEXT("mistral3.rope.scaling.type", "yarn"), \
        NUMBER("mistral3.rope.scaling.factor", 16),                                            \
        NUMBER("mistral3.rope.scaling.original_context_length", 16384)
    near(rotation_of(GGUF(YARN16)).info.attention_factor, 1.2772588722239781);
    near(rotation_of(GGUF(YARN16, NUMBER("mistral3.rope.scaling.yarn_log_multiplier", 1)))
             .info.attention_factor,
         1.0);
    near(rotation_of(GGUF(YARN16, NUMBER("mistral3.rope.scaling.attn_factor", 0.5)))
             .info.attention_factor,
         0.5 * 1.2772588722239781);
    near(rotation_of(GGUF(YARN16, NUMBER("mistral3.rope.scaling.yarn_ext_factor", 0)))
             .info.attention_factor,
         1.0);
    /* deepseek2 stores a tenth */
    rope_config *config = GGUF(
        TEXT("general.architecture", "deepseek2"), NUMBER("deepseek2.attention.key_length", 576),
        NUMBER("deepseek2.attention.key_length_mla", 192),
        NUMBER("deepseek2.rope.dimension_count", 64), TEXT("deepseek2.rope.scaling.type", "yarn"),
        NUMBER("deepseek2.rope.scaling.factor", 40),
        NUMBER("deepseek2.rope.scaling.original_context_length", 4096),
        NUMBER("deepseek2.rope.scaling.yarn_log_multiplier", 0.1));
    assert_int_equal(entry_at(config, 0).k_head_dim, 64);
    assert_int_equal(entry_at(config, 0).flags, ROPE_ENTRY_SOFTMAX_FACTOR);
    const struct rotation rotation = rotation_of(config);
    assert_int_equal(rotation.info.rotary_offset, 128);
    assert_int_equal(rotation.info.pairing, ROPE_INTERLEAVED);
    near(rotation.info.attention_factor, 1.0);
    near(rotation.info.softmax_factor, 1.8738542070926266);
}

static void test_gguf(void **state)
{
    (void)state;
    /* SF08: rope_freqs, the divisors of Llama 3.2 */
    static const double divisors[32] = {1,
                                        1,
                                        1,
                                        1,
                                        1,
                                        1,
                                        1,
                                        1,
                                        1,
                                        1,
                                        1,
                                        1,
                                        1,
                                        1,
                                        1,
                                        1.6513292457638984,
                                        3.292262102940884,
                                        9.6667289787532905,
                                        32,
                                        32,
                                        32,
                                        32,
                                        32,
                                        32,
                                        32,
                                        32,
                                        32,
                                        32,
                                        32,
                                        32,
                                        32,
                                        32};
    rope_config *config =
        GGUF(TEXT("general.architecture", "llama"), NUMBER("llama.embedding_length", 2048),
             NUMBER("llama.attention.head_count", 32), NUMBER("llama.block_count", 16),
             NUMBER("llama.rope.dimension_count", 64), NUMBER("llama.rope.freq_base", 500000),
             LIST("rope_freqs.weight", divisors));
    assert_int_equal(rope_config_layer_count(config), 16);
    assert_int_equal(rope_config_layer(config, 15), 0);
    assert_int_equal(rope_config_layer(config, 16), ROPE_LAYER_UNKNOWN);
    struct rotation rotation = rotation_of(config);
    assert_int_equal(rotation.info.pairing, ROPE_INTERLEAVED);
    near(rotation.freq[14], 0.003211445994752591);
    near(rotation.freq[15], 0.0012905479282092638);
    near(rotation.freq[17], 0.000097082878026276723);
    near(rotation.freq[31], 9.4183067254349098e-8);

    rotation = rotation_of(
        GGUF(TEXT("general.architecture", "qwen2"), NUMBER("qwen2.embedding_length", 3584),
             NUMBER("qwen2.attention.head_count", 28), NUMBER("qwen2.rope.freq_base", 1000000)));
    assert_int_equal(rotation.info.pairing, ROPE_HALF);
    assert_int_equal(rotation.info.head_dim, 128);

    /* two bases; only full layers are scaled */
    config =
        GGUF(TEXT("general.architecture", "gemma3"), NUMBER("gemma3.attention.key_length", 256),
             NUMBER("gemma3.block_count", 12), NUMBER("gemma3.rope.freq_base", 1000000),
             TEXT("gemma3.rope.scaling.type", "linear"), NUMBER("gemma3.rope.scaling.factor", 8));
    assert_string_equal(entry_at(config, (size_t)rope_config_layer(config, 5)).layer_type,
                        "full_attention");
    near(rotation_at(config, (size_t)rope_config_layer(config, 5)).freq[0], 0.125);
    near(rotation_at(config, (size_t)rope_config_layer(config, 4)).info.theta, 10000.0);
    near(rotation_at(config, (size_t)rope_config_layer(config, 4)).freq[0], 1.0);
    rope_config_destroy(config);

    /* layers without rotation; a list of windows */
    static const double windows[3] = {1, 0, 1};
    config = GGUF(TEXT("general.architecture", "cohere2"),
                  NUMBER("cohere2.attention.key_length", 128), NUMBER("cohere2.block_count", 3),
                  LIST("cohere2.attention.sliding_window_pattern", windows));
    assert_int_equal(rope_config_layer(config, 0), 0);
    assert_int_equal(rope_config_layer(config, 1), ROPE_LAYER_NO_ROTATION);
    rope_config_destroy(config);
    config =
        GGUF(TEXT("general.architecture", "smollm3"), NUMBER("smollm3.attention.key_length", 128));
    assert_int_equal(rope_config_layer(config, 2), 0);
    assert_int_equal(rope_config_layer(config, 3), ROPE_LAYER_NO_ROTATION);
    rope_config_destroy(config);
    config = GGUF(TEXT("general.architecture", "mamba"), NUMBER("mamba.block_count", 2));
    assert_int_equal(rope_config_entry_count(config), 0);
    assert_int_equal(rope_config_layer(config, 1), ROPE_LAYER_NO_ROTATION);
    assert_int_equal(rope_config_create_plans(config, (rope_plan *[1]){NULL}, 0, NULL, 0), ROPE_OK);
    rope_config_destroy(config);

    /* axes */
    static const double sections[4] = {24, 20, 20, 0}, contiguous[4] = {16, 24, 24, 0},
                        few[4] = {16, 24, 0, 0};
    const rope_gguf_pair vl[] = {TEXT("general.architecture", "qwen3vl"),
                                 NUMBER("qwen3vl.attention.key_length", 128),
                                 LIST("qwen3vl.rope.dimension_sections", sections)};
    for (rope_profile profile = 0; profile < 4; profile++) {
        config = read_gguf(profile, vl, COUNT(vl));
        assert_int_equal(entry_at(config, 0).spec->axis_layout, profile == ROPE_PROFILE_GGML
                                                                    ? ROPE_AXES_GGML_IMROPE
                                                                    : ROPE_AXES_INTERLEAVED);
        assert_int_equal(rotation_of(config).info.axes, profile == ROPE_PROFILE_GGML ? 4 : 3);
    }
    config =
        GGUF(TEXT("general.architecture", "qwen2vl"), NUMBER("qwen2vl.attention.key_length", 128),
             LIST("qwen2vl.rope.dimension_sections", contiguous));
    assert_int_equal(entry_at(config, 0).spec->axis_layout, ROPE_AXES_SECTIONS);
    assert_int_equal(rotation_of(config).info.axes, 3);
    config =
        GGUF(TEXT("general.architecture", "qwen2vl"), NUMBER("qwen2vl.attention.key_length", 128),
             LIST("qwen2vl.rope.dimension_sections", few)); /* begins again: no other layout does */
    assert_int_equal(entry_at(config, 0).spec->axis_layout, ROPE_AXES_GGML_MROPE);
    assert_int_equal(rotation_of(config).info.axes, 4);
    config = GGUF(TEXT("general.architecture", "glm4"), NUMBER("glm4.attention.key_length", 128));
    assert_int_equal(rotation_of(config).info.pairing, ROPE_INTERLEAVED);

    /* longrope by its tensors */
    static const double shorter[4] = {1, 1.25, 1.5, 2}, longer[4] = {1, 4, 16, 64};
    const rope_gguf_pair phi3[] = {TEXT("general.architecture", "phi3"),
                                   NUMBER("phi3.attention.key_length", 8),
                                   NUMBER("phi3.context_length", 131072),
                                   NUMBER("phi3.rope.scaling.original_context_length", 4096),
                                   NUMBER("phi3.rope.scaling.attn_factor", 1.1902380714238083),
                                   LIST("rope_factors_long.weight", longer),
                                   LIST("rope_factors_short.weight", shorter)};
    rotation = rotation_of(read_gguf(ROPE_PROFILE_EXACT, phi3, COUNT(phi3)));
    near(rotation.freq[1], 0.08);
    near(rotation.info.attention_factor, 1.1902380714238083);
    near(rotation_of(read_gguf(ROPE_PROFILE_GGML, phi3, COUNT(phi3))).freq[1], 0.025);

    refuse_gguf(phi3, 6, ROPE_ERR_VALUE, "rope_factors_short.weight: missing");
#define REFUSE(status, text, ...)                      \
    refuse_gguf((const rope_gguf_pair[]){__VA_ARGS__}, \
                COUNT(((const rope_gguf_pair[]){__VA_ARGS__})), status, text)
    REFUSE(ROPE_ERR_VALUE, "attention.key_length", TEXT("general.architecture", "llama"));
    REFUSE(ROPE_ERR_UNSUPPORTED, "rope.scaling.type: other", NUMBER("attention.key_length", 64),
           TEXT("rope.scaling.type", "other"));
    REFUSE(ROPE_ERR_VALUE, "rope.scaling.type: must be a string",
           NUMBER("attention.key_length", 64), NUMBER("rope.scaling.type", 1));
    REFUSE(ROPE_ERR_VALUE, "rope.dimension_count: 63", NUMBER("attention.key_length", 64),
           NUMBER("rope.dimension_count", 63));
    REFUSE(ROPE_ERR_VALUE, "rope.freq_base: nan", NUMBER("attention.key_length", 64),
           NUMBER("rope.freq_base", (double)NAN));
    REFUSE(ROPE_ERR_VALUE, "rope.freq_base: -1", NUMBER("attention.key_length", 64),
           NUMBER("rope.freq_base", -1));
    REFUSE(ROPE_ERR_VALUE, "rope_freqs.weight", NUMBER("attention.key_length", 32),
           LIST("rope_freqs.weight", divisors));
    REFUSE(ROPE_ERR_VALUE, "general.architecture", NUMBER("general.architecture", 1));
    REFUSE(ROPE_ERR_VALUE, "block_count", NUMBER("attention.key_length", 64),
           NUMBER("block_count", 1e6));
    REFUSE(ROPE_ERR_UNSUPPORTED, "yarn_ext_factor: 0.5", NUMBER("attention.key_length", 64),
           NUMBER("context_length", 4096), TEXT("rope.scaling.type", "yarn"),
           NUMBER("rope.scaling.factor", 4), NUMBER("rope.scaling.yarn_ext_factor", 0.5));
}

/* ---- The interface --------------------------------------------------------------------------- */

static void test_interface(void **state)
{
    (void)state;
    const char *json = "{\"head_dim\": 64, \"rope_theta\": 10000}";
    rope_config *config;
    assert_int_equal(rope_config_parse(json, strlen(json), NULL, &config), ROPE_OK);

    /*
     * entries grow at their end: one of an older caller is refused below the first version, one of a
     * newer caller where it has something behind ours
     */
    struct {
        rope_config_entry entry;
        unsigned char more[16];
    } longer;
    memset(&longer, 0, sizeof longer);
    longer.entry.struct_size = sizeof longer;
    assert_int_equal(rope_config_get_entry(config, 0, &longer.entry), ROPE_OK);
    assert_int_equal(longer.entry.struct_size, sizeof longer);
    for (size_t i = 0; i < sizeof longer.more; i++)
        assert_int_equal(longer.more[i], 0);
    longer.more[15] = 1;
    assert_int_equal(rope_config_get_entry(config, 0, &longer.entry), ROPE_ERR_STRUCT);
    rope_config_entry entry = ROPE_CONFIG_ENTRY_INIT;
    entry.struct_size = sizeof entry - 1;
    assert_int_equal(rope_config_get_entry(config, 0, &entry), ROPE_ERR_STRUCT);
    entry.struct_size = sizeof entry;
    assert_int_equal(rope_config_get_entry(config, 1, &entry), ROPE_ERR_VALUE);
    assert_int_equal(rope_config_get_entry(NULL, 0, &entry), ROPE_ERR_NULL);
    assert_int_equal(rope_config_get_entry(config, 0, NULL), ROPE_ERR_NULL);

    rope_plan *plans[2] = {NULL, (rope_plan *)&entry};
    assert_int_equal(rope_config_create_plans(NULL, plans, 1, NULL, 0), ROPE_ERR_NULL);
    assert_int_equal(rope_config_create_plans(config, NULL, 1, NULL, 0), ROPE_ERR_NULL);
    assert_int_equal(rope_config_create_plans(config, plans, 2, NULL, 0), ROPE_ERR_VALUE);
    assert_int_equal(rope_config_create_plans(config, plans, 1, NULL, 0), ROPE_OK);
    rope_plan_destroy(plans[0]);

    assert_int_equal(rope_config_layer(NULL, 0), ROPE_LAYER_UNKNOWN);
    assert_int_equal(rope_config_find(config, INT32_MIN, ""), ROPE_LAYER_UNKNOWN);
    assert_int_equal(rope_config_get_entry(config, SIZE_MAX, &entry), ROPE_ERR_VALUE);
    assert_int_equal(rope_config_create_plans(config, plans, SIZE_MAX, NULL, 0), ROPE_ERR_VALUE);
    assert_int_equal(rope_config_layer_count(NULL), 0);
    assert_int_equal(rope_config_entry_count(NULL), 0);
    assert_int_equal(rope_config_find(NULL, ROPE_TOWER_TEXT, ""), ROPE_LAYER_UNKNOWN);
    assert_int_equal(rope_config_find(config, ROPE_TOWER_TEXT, NULL), ROPE_LAYER_UNKNOWN);
    assert_int_equal(rope_config_find(config, ROPE_TOWER_TEXT, ""), 0);
    /* the number of layers is not known: any may be asked for */
    assert_int_equal(rope_config_layer_count(config), 0);
    assert_int_equal(rope_config_layer(config, 65535), 0);
    assert_int_equal(rope_config_layer(config, 65536), ROPE_LAYER_UNKNOWN);
    rope_config_destroy(config);
    rope_config_destroy(NULL);

    config = (rope_config *)&entry;
    assert_int_equal(rope_config_parse(NULL, 0, NULL, &config), ROPE_ERR_NULL);
    assert_null(config);
    assert_int_equal(rope_config_parse(json, strlen(json), NULL, NULL), ROPE_ERR_NULL);
    assert_int_equal(rope_config_from_gguf(NULL, 1, NULL, &config), ROPE_ERR_NULL);
    assert_int_equal(rope_config_from_gguf(NULL, 0, NULL, NULL), ROPE_ERR_NULL);
    rope_gguf_pair pair = ROPE_GGUF_PAIR_INIT;
    assert_int_equal(rope_config_from_gguf(&pair, 1, NULL, &config), ROPE_ERR_NULL);
    pair.key = "x";
    pair.struct_size = 8;
    assert_int_equal(rope_config_from_gguf(&pair, 1, NULL, &config), ROPE_ERR_STRUCT);

    /* options: unknown trailing bytes must be zero, the size at least that of the first version */
    struct {
        rope_config_options options;
        unsigned char more[8];
    } grown = {.options = ROPE_CONFIG_OPTIONS_INIT};
    grown.options.struct_size = sizeof grown;
    assert_int_equal(rope_config_parse(json, strlen(json), &grown.options, &config), ROPE_OK);
    rope_config_destroy(config);
    grown.more[7] = 1;
    assert_int_equal(rope_config_parse(json, strlen(json), &grown.options, &config),
                     ROPE_ERR_STRUCT);
    grown.options.struct_size = 8;
    assert_int_equal(rope_config_parse(json, strlen(json), &grown.options, &config),
                     ROPE_ERR_STRUCT);

    /* the message is cut to its buffer and terminated */
    char small[8];
    memset(small, 'x', sizeof small);
    rope_config_options options = ROPE_CONFIG_OPTIONS_INIT;
    options.message = small;
    options.message_size = sizeof small;
    assert_int_equal(rope_config_parse("[]", 2, &options, &config), ROPE_ERR_SYNTAX);
    assert_string_equal(small, "line 1,");
}

int main(void)
{
#define TEST_(name) cmocka_unit_test(name)
    const struct CMUnitTest tests[] = {
        TEST_(CF01),           TEST_(CF02),
        TEST_(CF02_both),      TEST_(CF03),
        TEST_(CF05),           TEST_(CF06),
        TEST_(CF07),           TEST_(CF08),
        TEST_(LD01),           TEST_(PD01),
        TEST_(PD02),           TEST_(PD03),
        TEST_(PD04),           TEST_(MR01),
        TEST_(MR04),           TEST_(MR06),
        TEST_(DG02),           TEST_(AF01),
        TEST_(AF03),           TEST_(AF04),
        TEST_(LR01),           TEST_(LR03),
        TEST_(SF06),           TEST_(test_profiles),
        TEST_(test_layers),    TEST_(test_query_scales),
        TEST_(test_classes),   TEST_(test_warnings),
        TEST_(test_refused),   TEST_(test_gguf),
        TEST_(test_interface),
    };
    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
