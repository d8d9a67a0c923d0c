/* SPDX-License-Identifier: Apache-2.0 */
/*
 * librope-config against files that mean harm: every one is refused or read within bounds, memory
 * that runs out at any place is an error, and nothing leaks.  Linked with --wrap for the allocator;
 * jansson gets the same one.
 */
#include "allocations.h"
#include "rope/rope_config.h"
#include "support.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs setjmp.h, stdarg.h and stddef.h. */
#include <cmocka.h>

#include "fuzz/fuzz_config.c"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- Texts ----------------------------------------------------------------------------------- */

static char message[200];

static rope_status status_of(const char *text, size_t size)
{
    rope_config_options options = ROPE_CONFIG_OPTIONS_INIT;
    options.message = message;
    options.message_size = sizeof message;
    message[0] = '\0';
    rope_config *config;
    allocations_start(0);
    const rope_status status = rope_config_parse(text, size, &options, &config);
    if (config != NULL)
        use(config);
    rope_config_destroy(config);
    if (allocations_end() != 0)
        fail_msg("%zu allocations are left\n%.200s", allocations.live, text);
    for (const char *c = message; *c != '\0'; c++)
        if (*c < ' ' || *c > '~')
            fail_msg("the message is not one line of ASCII: %s", message);
    return status;
}

static void check(const char *text, size_t size, rope_status right)
{
    const rope_status status = status_of(text, size);
    if (status != right)
        fail_msg("status %d, must be %d: %s\n%.200s", (int)status, (int)right, message, text);
    assert_true((right == ROPE_OK) == (message[0] == '\0'));
}

static void test_syntax(void **state)
{
    (void)state;
#define BYTES(literal) literal, sizeof literal - 1
    static const struct {
        const char *text;
        size_t size;
        rope_status right;
    } cases[] = {
        {BYTES(""), ROPE_ERR_SYNTAX},
        {BYTES(" "), ROPE_ERR_SYNTAX},
        {BYTES("[]"), ROPE_ERR_SYNTAX},
        {BYTES("5"), ROPE_ERR_SYNTAX},
        {BYTES("null"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": 64}, {}"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": 64}]"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": 64}], ["), ROPE_ERR_SYNTAX},
        {BYTES("\"{\\"), ROPE_ERR_SYNTAX},
        {BYTES("{"), ROPE_ERR_SYNTAX},
        {BYTES("}"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": 64"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": 64}}"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": 64} x"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": 64,}"), ROPE_ERR_SYNTAX},
        {BYTES("{'head_dim': 64}"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": 64 /* comment */}"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": 64, \"head_dim\": 64}"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": 64, \"rope_scaling\": {\"factor\": 2, \"factor\": 2}}"),
         ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": 1e999}"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": 100000000000000000000000000000000}"), ROPE_ERR_VALUE},
        {BYTES("{\"head_dim\": 064}"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": +64}"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": NaNa}"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": nan}"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": 64, \"a\": \"\xff\"}"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": 64, \"a\": \"\xc0\x80\"}"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": 64, \"a\": \"\xed\xa0\x80\"}"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": 64, \"a\": \"\\ud800\"}"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": 64, \"a\": \"\\u0000\"}"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": 64, \"a\": \"\n\"}"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": 64\0}"), ROPE_ERR_SYNTAX},
        {BYTES("\xef\xbb\xbf{\"head_dim\": 64}"), ROPE_ERR_SYNTAX},
        {BYTES("{\"head_dim\": NaN}"), ROPE_ERR_VALUE},
        {BYTES("{\"head_dim\": -Infinity}"), ROPE_ERR_VALUE},
        {BYTES("{\"head_dim\": {\"__float__\": \"NaN\"}}"), ROPE_ERR_VALUE},
        {BYTES("{\"head_dim\": {\"__float__\": 64}}"), ROPE_ERR_VALUE},
        {BYTES("{\"head_dim\": -64}"), ROPE_ERR_VALUE},
        {BYTES("{\"head_dim\": 64.5}"), ROPE_ERR_VALUE},
        {BYTES("{\"head_dim\": true}"), ROPE_ERR_VALUE},
        {BYTES("{\"head_dim\": []}"), ROPE_ERR_VALUE},
        {BYTES("{}"), ROPE_ERR_VALUE},
        /* as Python writes them, where nothing depends on it; in strings they are text */
        {BYTES("{\"head_dim\": 64, \"time_step_limit\": [0.0, Infinity], \"a\": -Infinity, \"b\": "
               "NaN}"),
         ROPE_OK},
        {BYTES("{\"head_dim\": 64, \"a\": \"NaN\", \"b\": \"\\\"NaN\\\\\", \"-Infinity\": 1}"),
         ROPE_OK},
        {BYTES("{\"head_dim\": 64, \"\xc3\xa4\": \"\xe2\x82\xac\"}"), ROPE_OK},
        {BYTES("{\"head_dim\": 64, \"rope_\x7f\xc3\xa4\\n\\u001b\": 1}"), ROPE_OK},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check(cases[i].text, cases[i].size, cases[i].right);
}

/* prefix, `count` times `part`, suffix; to be freed. */
static char *repeat(const char *prefix, const char *part, size_t count, const char *suffix)
{
    const size_t length = strlen(part);
    char *text = malloc(strlen(prefix) + count * length + strlen(suffix) + 1);
    assert_non_null(text);
    char *end = text + strlen(prefix);
    memcpy(text, prefix, strlen(prefix));
    for (size_t i = 0; i < count; i++, end += length)
        memcpy(end, part, length);
    strcpy(end, suffix);
    return text;
}

static void check_repeated(const char *prefix, const char *part, size_t count, const char *suffix,
                           rope_status right)
{
    char *text = repeat(prefix, part, count, suffix);
    check(text, strlen(text), right);
    free(text);
}

static void test_size(void **state)
{
    (void)state;
    /* depth: the object itself is the first of 64 */
    for (size_t depth = 62; depth <= 65; depth++) {
        char *inner = repeat("{\"head_dim\": 64, \"a\": ", "[", depth, "");
        check_repeated(inner, "]", depth, "}", depth < 64 ? ROPE_OK : ROPE_ERR_SYNTAX);
        free(inner);
    }
    check_repeated("{\"a\": ", "[", 1000000, "", ROPE_ERR_SYNTAX);
    check_repeated("", "{\"a\":", 200000, "", ROPE_ERR_SYNTAX);
    /* brackets in strings are text */
    check_repeated("{\"head_dim\": 64, \"a\": \"", "[{", 1000, "\"}", ROPE_OK);

    /* length */
    check_repeated("{\"head_dim\": 64}", " ", ROPE_CONFIG_TEXT_MAX - 16, "", ROPE_OK);
    check_repeated("{\"head_dim\": 64}", " ", ROPE_CONFIG_TEXT_MAX - 15, "", ROPE_ERR_SYNTAX);
    check("{\"head_dim\": 64}", (size_t)-1 / 2, ROPE_ERR_SYNTAX);
    /* the most objects that fit, and the longest string */
    check_repeated("{\"head_dim\": 64, \"a\": [0", ",{}", ROPE_CONFIG_TEXT_MAX / 3 - 20, "]}",
                   ROPE_OK);
    check_repeated("{\"head_dim\": 64, \"model_type\": \"", "x", 1000000, "\"}", ROPE_OK);
    check_repeated("{\"head_dim\": 64, \"rope_", "x", 1000000, "\": 1}", ROPE_OK);
    check_repeated("{\"head_dim\": 64, \"rope_scaling\": {\"rope_type\": \"", "x", 1000000, "\"}}",
                   ROPE_ERR_UNSUPPORTED);
    check_repeated("{\"head_dim\": ", "9", 1000000, "}", ROPE_ERR_SYNTAX);
    check_repeated("{\"head_dim\": 64, \"rope_theta\": 0.", "1", 1000000, "}", ROPE_OK);

    /* lists */
    check_repeated("{\"head_dim\": 64, \"layer_types\": [\"full_attention\"", ",\"full_attention\"",
                   65535, "]}", ROPE_OK);
    check_repeated("{\"head_dim\": 64, \"layer_types\": [\"full_attention\"", ",\"full_attention\"",
                   65536, "]}", ROPE_ERR_VALUE);
    check_repeated(
        "{\"head_dim\": 64, \"rope_scaling\": {\"type\": \"mrope\", \"mrope_section\": [0", ",0",
        200000, "]}}", ROPE_ERR_VALUE);
    check_repeated("{\"head_dim\": 64, \"max_position_embeddings\": 8, \"rope_scaling\": "
                   "{\"type\": \"longrope\", "
                   "\"short_factor\": [1",
                   ",1", 200000, "]}}", ROPE_ERR_VALUE);
    check_repeated("{\"head_dim\": 64, \"no_rope_layers\": [1", ",1", 200000, "]}", ROPE_ERR_VALUE);
    check(BYTES("{\"head_dim\": 64, \"num_hidden_layers\": 1000000}"), ROPE_ERR_VALUE);
    check(BYTES("{\"head_dim\": 64, \"num_hidden_layers\": 9007199254740993}"), ROPE_ERR_VALUE);

    /* many unknown keys: the warnings have an end */
    char *text = malloc(1 << 20), *end = text;
    end += sprintf(end, "{\"head_dim\": 64");
    for (int i = 0; i < 20000; i++)
        end += sprintf(end, ", \"rope_%d\": 1", i);
    strcpy(end, "}");
    check(text, strlen(text), ROPE_OK);
    /* many kinds of layers */
    for (int count = 32; count <= 33; count++) {
        end = text + sprintf(text, "{\"head_dim\": 64, \"rope_parameters\": {\"t0\": {}");
        for (int i = 1; i < count; i++)
            end += sprintf(end, ", \"t%d\": {}", i);
        strcpy(end, "}}");
        check(text, strlen(text), count == 32 ? ROPE_OK : ROPE_ERR_VALUE);
    }
    free(text);
}

/* Configurations that together go through all readers. */
static const char *const seeds[] = {
    "{\"model_type\": \"llama\", \"hidden_size\": 4096, \"num_attention_heads\": 32, "
    "\"num_hidden_layers\": 2, "
    "\"rope_theta\": 500000.0, \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8.0, "
    "\"low_freq_factor\": 1.0, "
    "\"high_freq_factor\": 4.0, \"original_max_position_embeddings\": 8192}}",
    "{\"model_type\": \"phi3\", \"head_dim\": 8, \"max_position_embeddings\": 131072, "
    "\"original_max_position_embeddings\": 4096, \"rope_scaling\": {\"type\": \"su\", "
    "\"short_factor\": [1, 1, 1, 1], "
    "\"long_factor\": [1, 4, 16, 64], \"short_mscale\": 1.2, \"long_mscale\": 1.3, \"strange\": "
    "1}}",
    "{\"model_type\": \"gemma3\", \"text_config\": {\"model_type\": \"gemma3_text\", "
    "\"num_hidden_layers\": 6, "
    "\"rope_scaling\": {\"factor\": 8.0, \"rope_type\": \"linear\"}}, \"vision_config\": "
    "{\"model_type\": \"siglip\"}}",
    "{\"model_type\": \"qwen2_vl\", \"hidden_size\": 1024, \"num_attention_heads\": 8, "
    "\"rope_scaling\": {\"type\": \"mrope\", "
    "\"mrope_section\": [16, 24, 24]}, \"vision_config\": {\"embed_dim\": 1280, \"num_heads\": "
    "16}}",
    "{\"model_type\": \"gemma4_text\", \"num_hidden_layers\": 6, \"per_layer_config\": {\"05\": "
    "{\"head_dim\": 512}}}",
    "{\"model_type\": \"deepseek_v4\", \"num_hidden_layers\": 3, \"compress_ratios\": [0, 4, 128], "
    "\"rope_scaling\": {\"type\": "
    "\"yarn\", \"factor\": 16, \"original_max_position_embeddings\": 65536}}",
    "{\"model_type\": \"olmo3\", \"head_dim\": 16, \"num_hidden_layers\": 2, \"layer_types\": "
    "[\"full_attention\", "
    "\"sliding_attention\"], \"rope_parameters\": {\"full_attention\": {\"rope_type\": \"yarn\", "
    "\"factor\": 8, "
    "\"truncate\": false, \"original_max_position_embeddings\": 8192}, \"sliding_attention\": "
    "{\"rope_type\": \"default\"}}}",
    "{\"model_type\": \"exaone4\", \"head_dim\": 16, \"num_hidden_layers\": 8, \"sliding_window\": "
    "4, "
    "\"sliding_window_pattern\": \"LLLG\", \"max_position_embeddings\": 4096, \"rope_scaling\": "
    "{\"type\": \"dynamic\", "
    "\"factor\": 2}}",
    "{\"model_type\": \"bamba\", \"head_dim\": 16, \"num_hidden_layers\": 4, "
    "\"attn_layer_indices\": [2], \"rope_theta\": NaN}",
    "{\"model_type\": \"llama4_text\", \"num_hidden_layers\": 4, \"no_rope_layers\": [1, 1, 1, 0]}",
};

static void test_memory(void **state)
{
    (void)state;
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
    size_t failures = 0;
    for (size_t s = 0; s < COUNT(seeds); s++) {
        for (size_t n = 1;; n++) {
            rope_config_options options = ROPE_CONFIG_OPTIONS_INIT;
            options.message = message;
            options.message_size = sizeof message;
            message[0] = '\0';
            rope_config *config = (rope_config *)&options; /* must be replaced */
            allocations_start(n);
            const rope_status status =
                rope_config_parse(seeds[s], strlen(seeds[s]), &options, &config);
            const size_t needed = allocations.made;
            rope_config_destroy(config);
            if (allocations_end() != 0)
                fail_msg("seed %zu, allocation %zu: %zu are left", s, n, allocations.live);
            if (n > needed)
                break; /* it was never reached: all have failed once */
            failures++;
            if (status != ROPE_ERR_MEMORY || config != NULL)
                fail_msg("seed %zu, allocation %zu of %zu: status %d", s, n, needed, (int)status);
        }
    }
    json_set_alloc_funcs(malloc, free);
    assert_true(failures > 500); /* the allocator was ours */
}

static void test_gguf_memory(void **state)
{
    (void)state;
    static const double divisors[4] = {1, 2, 3, 4}, windows[2] = {1, 0};
    const rope_gguf_pair pairs[] = {
        {sizeof pairs[0], 0, "general.architecture", "gemma3", NULL, 0.0},
        {sizeof pairs[0], 0, "gemma3.attention.key_length", NULL, NULL, 8},
        {sizeof pairs[0], 4, "rope_freqs.weight", NULL, divisors, 0.0},
        {sizeof pairs[0], 2, "gemma3.attention.sliding_window_pattern", NULL, windows, 0.0},
    };
    for (size_t n = 1;; n++) {
        rope_config *config;
        allocations_start(n);
        const rope_status status = rope_config_from_gguf(pairs, COUNT(pairs), NULL, &config);
        const size_t needed = allocations.made;
        rope_config_destroy(config);
        assert_int_equal(allocations_end(), 0);
        if (n > needed) {
            assert_int_equal(status, ROPE_OK);
            assert_true(n > 8);
            break;
        }
        assert_int_equal(status, ROPE_ERR_MEMORY);
    }
}

/* All plans or none. */
static void test_plans_memory(void **state)
{
    (void)state;
    const char *json =
        "{\"model_type\": \"gemma3_text\", \"head_dim\": 8, \"num_hidden_layers\": 6}";
    for (size_t n = 1;; n++) {
        rope_config *config;
        rope_plan *plans[2] = {(rope_plan *)&config, (rope_plan *)&config};
        assert_int_equal(rope_config_parse(json, strlen(json), NULL, &config), ROPE_OK);
        allocations_start(n);
        const rope_status status =
            rope_config_create_plans(config, plans, 2, message, sizeof message);
        const size_t needed = allocations.made;
        const int all = plans[0] != NULL && plans[1] != NULL,
                  none = plans[0] == NULL && plans[1] == NULL;
        rope_plan_destroy(plans[0]);
        rope_plan_destroy(plans[1]);
        assert_int_equal(allocations_end(), 0);
        rope_config_destroy(config);
        assert_true(status == ROPE_OK ? all : none);
        if (n > needed)
            break;
        assert_int_equal(status, ROPE_ERR_MEMORY);
    }
}

/* ---- Chance ---------------------------------------------------------------------------------- */

static void test_mutations(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "null", "-1",   "0",    "1e308", "NaN", "Infinity", "[]",
        "{}",   "\"\"", "true", ",",     ":",   "{",        "}",
        "[",    "]",    "\"",   "65537", "3",   "\xff",     "{\"__float__\": \"NaN\"}"};
    struct rng rng = rng_make(31);
    char text[2048];
    const size_t rounds = test_reduced() ? 300 : 20000;
    for (size_t round = 0; round < rounds; round++) {
        const char *seed = seeds[rng_below(&rng, COUNT(seeds))];
        size_t size = strlen(seed);
        memcpy(text, seed, size);
        for (size_t changes = 1 + rng_below(&rng, 3); changes > 0; changes--) {
            const size_t at = rng_below(&rng, size);
            if (rng_below(&rng, 4) == 0) { /* one byte */
                text[at] = (char)rng_below(&rng, 256);
                continue;
            }
            /* a value, or anything else, in place of up to eight bytes */
            const char *piece = pieces[rng_below(&rng, COUNT(pieces))];
            const size_t length = strlen(piece),
                         gone = rng_below(&rng, size - at < 8 ? size - at : 8);
            memmove(text + at + length, text + at + gone, size - at - gone);
            memcpy(text + at, piece, length);
            size += length - gone;
        }
        LLVMFuzzerTestOneInput((const uint8_t *)text, size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_syntax),       cmocka_unit_test(test_size),
        cmocka_unit_test(test_memory),       cmocka_unit_test(test_gguf_memory),
        cmocka_unit_test(test_plans_memory), cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests_name("config_hostile", tests, NULL, NULL);
}
