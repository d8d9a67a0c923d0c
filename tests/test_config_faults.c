/* SPDX-License-Identifier: Apache-2.0 */
/*
 * librope-config with one thing wrong at a time, in every place there is: each allocation fails, and
 * each value of a configuration is another, for all of config/huggingface.txt and for the metadata of
 * GGUF files.  Whatever is wrong is either taken whole or refused with a status of the header and a
 * message, nothing in between, and nothing leaks.  Linked with --wrap for the allocator.
 */
#include "allocations.h"
#include "gguf_pairs.h"
#include "rope/rope_config.h"
#include "support.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs setjmp.h, stdarg.h and stddef.h. */
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- One reading ----------------------------------------------------------------------------- */

static rope_config_options options_of(char *message, size_t size, rope_profile profile)
{
    rope_config_options options = ROPE_CONFIG_OPTIONS_INIT;
    options.profile = profile;
    options.length = 70000;
    options.message = message;
    options.message_size = size;
    message[0] = '\0';
    return options;
}

static void check_whole(const rope_config *config)
{
    const size_t entries = rope_config_entry_count(config);
    for (size_t i = 0; i < entries; i++) {
        rope_config_entry entry = ROPE_CONFIG_ENTRY_INIT;
        assert_int_equal(rope_config_get_entry(config, i, &entry), ROPE_OK);
        assert_non_null(entry.spec);
        assert_true(entry.spec->head_dim >= 2 && entry.spec->rotary_dim % 2 == 0);
        assert_true(entry.spec->rotary_offset + entry.spec->rotary_dim <= entry.spec->head_dim);
    }
    for (size_t layer = 0; layer < rope_config_layer_count(config); layer++) {
        const int32_t entry = rope_config_layer(config, layer);
        assert_true(entry == ROPE_LAYER_NO_ROTATION || entry == ROPE_LAYER_UNKNOWN ||
                    (entry >= 0 && (size_t)entry < entries));
    }
}

/* What a reading gave, whatever it read. */
static void check_reading(rope_status status, rope_config *config, const char *message,
                          const char *what)
{
    if (status == ROPE_OK) {
        assert_non_null(config);
        check_whole(config);
        rope_config_destroy(config);
    } else if ((status != ROPE_ERR_VALUE && status != ROPE_ERR_UNSUPPORTED &&
                status != ROPE_ERR_SYNTAX) ||
               config != NULL || message[0] == '\0') {
        fail_msg("status %d, \"%s\": %s", (int)status, message, what);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

typedef void on_text(const char *text);

/* Each configuration of the file, every `step`-th. */
static void for_each_text(on_text *run, size_t step)
{
    static char line[1 << 16];
    FILE *file = fopen(ROPE_TEST_DATA "/huggingface.txt", "r");
    assert_non_null(file);
    size_t texts = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "json ", 5) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        if (texts++ % step == 0)
            run(line + 5);
    }
    assert_int_equal(fclose(file), 0);
    assert_true(texts > 100);
}

static size_t failures;

static void fail_allocations(const char *text, rope_profile profile)
{
    char message[200];
    const rope_config_options options = options_of(message, sizeof message, profile);
    for (size_t n = 1;; n++) {
        rope_config *config = (rope_config *)(uintptr_t)text; /* must be replaced */
        allocations_start(n);
        const rope_status status = rope_config_parse(text, strlen(text), &options, &config);
        const size_t needed = allocations.made;
        rope_config_destroy(config);
        if (allocations_end() != 0)
            fail_msg("allocation %zu: %zu are left: %.200s", n, allocations.live, text);
        if (n > needed)
            break; /* it was never reached: all have failed once */
        failures++;
        if (status != ROPE_ERR_MEMORY || config != NULL)
            fail_msg("allocation %zu of %zu: status %d: %.200s", n, needed, (int)status, text);
    }
}

static void fail_its_allocations(const char *text)
{
    for (rope_profile profile = ROPE_PROFILE_EXACT; profile <= ROPE_PROFILE_GGML; profile++)
        fail_allocations(text, profile);
}

static void test_allocations(void **state)
{
    (void)state;
    failures = 0;
    for_each_text(fail_its_allocations, test_reduced() ? 11 : 4);
    assert_true(failures > 1000); /* the allocator was ours */
}

/* What is JSON and what is not, as jansson reads it.  It knows no NaN and no Infinity. */
static void compare_with_jansson(const char *text, size_t size, int is_json)
{
    char plain[1024];
    memcpy(plain, text, size);
    for (size_t i = 1; i + 8 <= size; i++) {
        const int begins = strchr("[,: \t\r\n", text[i - 1]) != NULL;
        if ((begins || text[i - 1] == '-') && memcmp(text + i, "Infinity", 8) == 0)
            memcpy(plain + i, "1.000000", 8);
        else if (begins && memcmp(text + i, "NaN", 3) == 0)
            memcpy(plain + i, "1.0", 3);
    }
    json_t *json = json_loadb(plain, size, JSON_REJECT_DUPLICATES, NULL);
    if (is_json != (json != NULL))
        fail_msg("%s for jansson: %.*s", json != NULL ? "JSON" : "no JSON", (int)size, text);
    json_decref(json);
}

/* Every byte of a text with everything that JSON has is another, and the text ends before it. */
static void test_bytes(void **state)
{
    (void)state;
    static const char text[] =
        "{\"head_dim\":\t8,\r\n\"a\":\"\\u00e9\\uD83D\\uDe00\\n\\\"\\\\\\/ \xc3\xa9 \xe0\xa4\x85 "
        "\xed\x9f\xbf "
        "\xe8\xaa\x9e \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf\",\"b\" : [1e5, -2E+5 ,0.5e-3,{},[ ],true,"
        "false,null,NaN,-Infinity],\"rope_theta\":1e4}";
    static const unsigned char others[] = "\0\1\x7f\x80\x9f\xa0\xbf\xc0\xc2\xe0\xed\xf0\xf4\xf5\xff"
                                          "\t\n\r 019aAdDeEfFguU\"'\\/{}[](),:.-+";
    char changed[sizeof text];
    size_t accepted = 0;
    failures = 0;
    for (size_t at = 0; at < sizeof text; at++) {
        for (size_t i = 0; i < sizeof others; i++) {
            memcpy(changed, text, sizeof text);
            size_t size = sizeof text - 1;
            if (at == size || i == sizeof others - 1)
                size = at; /* ends here, or is as it was */
            else
                changed[at] = (char)others[i];
            char message[200];
            const rope_config_options options =
                options_of(message, sizeof message, ROPE_PROFILE_EXACT);
            rope_config *config;
            const rope_status status = rope_config_parse(changed, size, &options, &config);
            if (at == sizeof text - 1)
                assert_int_equal(status, ROPE_OK);
            check_reading(status, config, message, changed);
            failures += status != ROPE_OK;
            accepted += status == ROPE_OK;
            if (memchr(changed, '\0', size) == NULL) /* which jansson takes for an end */
                compare_with_jansson(changed, size, status != ROPE_ERR_SYNTAX);
        }
    }
    assert_true(failures > 5000 && accepted > 500);
}

/* The end of the value that starts at `at`. */
static const char *value_end(const char *at)
{
    int depth = 0, quoted = 0;
    for (; *at != '\0'; at++) {
        if (*at == '"' && at[-1] != '\\')
            quoted = !quoted;
        if (quoted)
            continue;
        if (depth == 0 && strchr(",}]", *at) != NULL)
            return at;
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
    }
    return at;
}

static const char *const others[] = {"null", "true",  "-1", "0",     "0.5", "1e308", "NaN", "4097",
                                     "\"\"", "\"x\"", "[]", "[1,2]", "{}",  "65537", "[-1]"};

static void change_values(const char *text)
{
    static char changed[1 << 16];
    static size_t number;
    for (const char *colon = text; (colon = strchr(colon, ':')) != NULL; colon++) {
        if (colon[-1] != '"') /* within a string */
            continue;
        const char *value = colon + 1, *end = value_end(value);
        for (size_t i = 0; i < COUNT(others); i++) {
            if (number++ % (test_reduced() ? 15 : 3) != 0)
                continue;
            snprintf(changed, sizeof changed, "%.*s%s%s", (int)(value - text), text, others[i],
                     end);
            char message[200];
            const rope_profile profile = (rope_profile)(ROPE_PROFILE_EXACT + (int)(number++ % 4));
            const rope_config_options options = options_of(message, sizeof message, profile);
            rope_config *config;
            const rope_status status =
                rope_config_parse(changed, strlen(changed), &options, &config);
            const int warned = rope_config_warning(config, 0) != NULL;
            check_reading(status, config, message, changed);
            failures += status != ROPE_OK;
            if (warned && number % 7 == 0)
                fail_allocations(changed, profile);
        }
    }
}

static void test_values(void **state)
{
    (void)state;
    failures = 0;
    for_each_text(change_values, 1);
    assert_true(failures > 500);
}

/* ---- GGUF ------------------------------------------------------------------------------------ */

static const double four[4] = {1, 2, 4, 8}, sections[4] = {2, 1, 1, 0}, windows[2] = {1, 0};

/* Pairs that are read whatever the architecture; the first names it. */
static const rope_gguf_pair metadata[] = {
    TEXT("general.architecture", "llama"),
    NUMBER("block_count", 2),
    NUMBER("context_length", 65536),
    NUMBER("embedding_length", 16),
    NUMBER("attention.head_count", 2),
    NUMBER("attention.key_length", 8),
    NUMBER("attention.key_length_mla", 8),
    NUMBER("attention.key_length_swa", 8),
    NUMBER("rope.dimension_count", 8),
    NUMBER("rope.dimension_count_swa", 8),
    NUMBER("rope.freq_base", 10000),
    NUMBER("rope.freq_base_swa", 10000),
    NUMBER("rope.scale_linear", 2),
    TEXT("rope.scaling.type", "yarn"),
    NUMBER("rope.scaling.factor", 4),
    NUMBER("rope.scaling.original_context_length", 16384),
    NUMBER("rope.scaling.attn_factor", 1),
    NUMBER("rope.scaling.yarn_ext_factor", 1),
    NUMBER("rope.scaling.yarn_attn_factor", 1),
    NUMBER("rope.scaling.yarn_beta_fast", 32),
    NUMBER("rope.scaling.yarn_beta_slow", 1),
    NUMBER("rope.scaling.yarn_log_multiplier", 0.1),
    LIST("rope_freqs.weight", four),
    LIST("rope_factors_long.weight", four),
    LIST("rope_factors_short.weight", four),
    LIST("rope.dimension_sections", sections),
    LIST("attention.sliding_window_pattern", windows),
    NUMBER("attention.sliding_window", 4096),
};

static const char *const architectures[] = {
    "llama",           "gemma3", "phi3",    "qwen2vl", "deepseek2", "gpt-oss",
    "modern-bert",     "llama4", "exaone4", "cohere2", "qwen3vl",   "unheard-of",
    "gemma-embedding", "glm4",   "olmo2",   "smollm3"};
static const char *const schemes[] = {"none", "linear", "yarn", "longrope"};

/* The pairs for an architecture and a scheme; kept[i] = 0 leaves pair i out. */
static size_t make_pairs(rope_gguf_pair *pairs, const char *architecture, const char *scheme,
                         const int *kept)
{
    size_t count = 0;
    for (size_t i = 0; i < COUNT(metadata); i++) {
        pairs[count] = metadata[i];
        if (i == 0)
            pairs[count].text = architecture;
        else if (strcmp(metadata[i].key, "rope.scaling.type") == 0)
            pairs[count].text = scheme;
        count += kept == NULL || kept[i];
    }
    return count;
}

/* In one profile after the other. */
static void read_pairs(const rope_gguf_pair *pairs, size_t count, const char *what)
{
    static size_t number;
    const rope_profile profile = (rope_profile)(ROPE_PROFILE_EXACT + (int)(number++ % 4));
    char message[200];
    const rope_config_options options = options_of(message, sizeof message, profile);
    rope_config *config;
    const rope_status status = rope_config_from_gguf(pairs, count, &options, &config);
    check_reading(status, config, message, what);
    failures += status != ROPE_OK;
}

/* One pair gone, one pair of another kind or value, each allocation gone. */
static void test_gguf(void **state)
{
    (void)state;
    static const double none[1] = {-1}, wild[5] = {0, 0.5, 1e300, NAN, -2};
    const rope_gguf_pair wrong[] = {NUMBER("", -1),    NUMBER("", 0),   NUMBER("", 0.5),
                                    NUMBER("", 1e300), NUMBER("", NAN), NUMBER("", 7),
                                    TEXT("", ""),      TEXT("", "x"),   LIST("", none),
                                    LIST("", wild),    LIST("", four)};
    rope_gguf_pair pairs[COUNT(metadata)];
    char what[200];
    failures = 0;
    for (size_t a = 0; a < COUNT(architectures); a++) {
        for (size_t s = 0; s < COUNT(schemes); s++) {
            const size_t all = make_pairs(pairs, architectures[a], schemes[s], NULL);
            for (size_t i = 0; i < all; i++) {
                int kept[COUNT(metadata)];
                for (size_t j = 0; j < all; j++)
                    kept[j] = j != i;
                snprintf(what, sizeof what, "%s %s without %s", architectures[a], schemes[s],
                         metadata[i].key);
                read_pairs(pairs, make_pairs(pairs, architectures[a], schemes[s], kept), what);
                for (size_t w = 0; w < COUNT(wrong); w++) {
                    make_pairs(pairs, architectures[a], schemes[s], NULL);
                    const char *key = pairs[i].key;
                    pairs[i] = wrong[w];
                    pairs[i].key = key;
                    snprintf(what, sizeof what, "%s %s: %s is wrong %zu", architectures[a],
                             schemes[s], key, w);
                    read_pairs(pairs, all, what);
                }
            }
            make_pairs(pairs, architectures[a], schemes[s], NULL);
            for (size_t n = 1;; n++) {
                rope_config *config;
                allocations_start(n);
                const rope_status status = rope_config_from_gguf(pairs, all, NULL, &config);
                const size_t needed = allocations.made;
                rope_config_destroy(config);
                assert_int_equal(allocations_end(), 0);
                if (n > needed)
                    break;
                assert_int_equal(status, ROPE_ERR_MEMORY);
                assert_null(config);
            }
        }
    }
    assert_true(failures > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_gguf),
    };
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
    return cmocka_run_group_tests_name("config_faults", tests, NULL, NULL);
}
