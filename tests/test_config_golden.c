/* SPDX-License-Identifier: Apache-2.0 */
/*
 * librope-config against transformers: what the package made of each configuration in
 * config/huggingface.txt, in the published and in the present form.  Uses public headers only.
 */
#include "golden.h"
#include "rope/rope_config.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs setjmp.h, stdarg.h and stddef.h. */
#include <cmocka.h>

enum { PAIRS_MAX = 512, LINE_MAX_SIZE = 1 << 16, AXES_MAX = 8 };

struct golden {
    char id[64], tower[16], path[32], layer[32], pairing[16], out[16], rounding[4];
    size_t length, head_dim, rotary_dim, offset, k_head_dim, axes;
    int turns_back, no_rotation, scale;
    double attention;
    const char *json[2];
    int axis[PAIRS_MAX];
    double freq[PAIRS_MAX];
    int count; /* of values read last */
};

/* key=value of a case line into `room`. */
static void read_field(const char *line, const char *key, char *room, size_t size)
{
    const char *found = golden_field(line, key);
    if (found == NULL)
        fail_msg("no field %s in: %.60s", key, line);
    const size_t length = strcspn(found, " \n");
    assert_true(length < size);
    memcpy(room, found, length);
    room[length] = '\0';
}

static double read_number(const char *line, const char *key)
{
    char text[40];
    read_field(line, key, text, sizeof text);
    return strtod(text, NULL);
}

static void read_case(const char *line, struct golden *golden)
{
    memset(golden, 0, sizeof *golden);
    read_field(line, "id", golden->id, sizeof golden->id);
    read_field(line, "tower", golden->tower, sizeof golden->tower);
    read_field(line, "path", golden->path, sizeof golden->path);
    read_field(line, "layer", golden->layer, sizeof golden->layer);
    read_field(line, "pairing", golden->pairing, sizeof golden->pairing);
    read_field(line, "out", golden->out, sizeof golden->out);
    read_field(line, "rounding", golden->rounding, sizeof golden->rounding);
    golden->length = (size_t)read_number(line, "length");
    golden->head_dim = (size_t)read_number(line, "head_dim");
    golden->rotary_dim = (size_t)read_number(line, "rotary_dim");
    golden->offset = (size_t)read_number(line, "offset");
    golden->k_head_dim = (size_t)read_number(line, "k_head_dim");
    golden->axes = (size_t)read_number(line, "axes");
    golden->turns_back = (int)read_number(line, "turns_back");
    golden->no_rotation = (int)read_number(line, "no_rotation");
    golden->scale = (int)read_number(line, "scale");
    golden->attention = read_number(line, "attention");
}

static rope_config *parse(const char *json, rope_profile profile, size_t length)
{
    char message[200] = "";
    rope_config_options options = ROPE_CONFIG_OPTIONS_INIT;
    options.profile = profile;
    options.length = length;
    options.message = message;
    options.message_size = sizeof message;
    rope_config *config;
    const rope_status status = rope_config_parse(json, strlen(json), &options, &config);
    if (status != ROPE_OK)
        fail_msg("status %d: %s\n%.200s", (int)status, message, json);
    return config;
}

/* The entry of the case, of which there must be one. */
static rope_config_entry find_entry(const rope_config *config, const struct golden *golden,
                                    size_t *index)
{
    rope_config_entry found = ROPE_CONFIG_ENTRY_INIT;
    int count = 0;
    for (size_t i = 0; i < rope_config_entry_count(config); i++) {
        rope_config_entry entry = ROPE_CONFIG_ENTRY_INIT;
        assert_int_equal(rope_config_get_entry(config, i, &entry), ROPE_OK);
        const int vision = entry.tower == ROPE_TOWER_VISION;
        /*
         * a flat file of a model with towers has its text in text_config when it is written today
         */
        if (vision != (strcmp(golden->tower, "vision") == 0) ||
            (strcmp(entry.path, golden->path) != 0 && strcmp(entry.path, "text_config") != 0) ||
            (strcmp(entry.layer_type, golden->layer) != 0 && entry.layer_type[0] != '\0'))
            continue;
        count++;
        found = entry;
        *index = i;
    }
    if (count != 1)
        fail_msg("%s: %d entries instead of one", golden->id, count);
    return found;
}

static void check_axes(const rope_plan *plan, const struct golden *golden)
{
    static float row[2 * PAIRS_MAX];
    const size_t pairs = golden->rotary_dim / 2;
    rope_positions positions[AXES_MAX];
    for (size_t a = 0; a < golden->axes; a++) {
        const rope_positions at = ROPE_POSITIONS_INIT;
        positions[a] = at;
        positions[a].start = (int64_t)a + 1; /* axis a is at a + 1 */
    }
    rope_rows rows = ROPE_ROWS_INIT;
    rows.dtype = ROPE_F32;
    rows.layout = ROPE_ROWS_PACKED;
    rows.cos = row;
    rows.count = 1;
    assert_int_equal(rope_cos_sin(plan, positions, 1, &rows), ROPE_OK);
    for (size_t i = 0; i < pairs; i++) {
        const double angle = (golden->axis[i] + 1) * golden->freq[i];
        if (fabs(row[i] - golden->attention * cos(angle)) > 2e-6 ||
            fabs(row[pairs + i] - golden->attention * sin(angle)) > 2e-6)
            fail_msg("%s: pair %zu does not take axis %d", golden->id, i, golden->axis[i]);
    }
}

static void check_entry(const rope_config *config, const struct golden *golden, int in_package)
{
    size_t index = 0;
    const rope_config_entry entry = find_entry(config, golden, &index);
    const rope_spec *spec = entry.spec;
    rope_plan *plans[8] = {NULL};
    char message[200] = "";
    const size_t count = rope_config_entry_count(config);
    assert_true(count <= 8);
    if (rope_config_create_plans(config, plans, count, message, sizeof message) != ROPE_OK)
        fail_msg("%s: %s", golden->id, message);
    rope_info info = ROPE_INFO_INIT;
    assert_int_equal(rope_plan_info(plans[index], &info), ROPE_OK);

    if (info.head_dim != golden->head_dim || info.rotary_dim != golden->rotary_dim ||
        info.rotary_offset != golden->offset || entry.k_head_dim != golden->k_head_dim ||
        entry.k_rotary_offset != 0 || info.axes != golden->axes)
        fail_msg("%s: H %zu d %zu at %zu, k %zu, axes %zu; must be %zu %zu %zu %zu %zu", golden->id,
                 info.head_dim, info.rotary_dim, info.rotary_offset, entry.k_head_dim, info.axes,
                 golden->head_dim, golden->rotary_dim, golden->offset, golden->k_head_dim,
                 golden->axes);
    if ((info.pairing == ROPE_INTERLEAVED) != (strcmp(golden->pairing, "interleaved") == 0) ||
        (spec->pairing_chunk != 0) != (strcmp(golden->pairing, "chunks") == 0) ||
        (entry.pairing_out == ROPE_OUT_HALF) != (strcmp(golden->out, "half") == 0))
        fail_msg("%s: pairing %d, chunk %zu, out %d; must be %s to %s", golden->id,
                 (int)info.pairing, spec->pairing_chunk, (int)entry.pairing_out, golden->pairing,
                 golden->out);
    if ((entry.direction == ROPE_TRANSPOSE) != golden->turns_back ||
        ((entry.flags & ROPE_ENTRY_NO_ROTATION) != 0) != golden->no_rotation ||
        fabs(entry.position_scale - (golden->scale ? 8.0 * atan(1.0) : 1.0)) > 1e-15)
        fail_msg("%s: direction %d, flags %u, scale %g", golden->id, (int)entry.direction,
                 (unsigned)entry.flags, entry.position_scale);
    const char *rounding = "?EFG";
    if (golden->rounding[0] != '-' && rounding[entry.rounding] != golden->rounding[0])
        fail_msg("%s: rounding %c, must be %s", golden->id, rounding[entry.rounding],
                 golden->rounding);
    if (info.angle != (in_package ? ROPE_ANGLE_F32 : ROPE_ANGLE_EXACT))
        fail_msg("%s: angle %d", golden->id, (int)info.angle);

    /* the package rounds exponents and products in f64; its m by two more roundings */
    if (fabs(info.attention_factor / golden->attention - 1.0) > 4e-16)
        fail_msg("%s: m %.17g, must be %.17g", golden->id, info.attention_factor,
                 golden->attention);
    double freq[PAIRS_MAX];
    assert_int_equal(rope_plan_inv_freq(plans[index], freq, NULL, golden->rotary_dim / 2), ROPE_OK);
    for (size_t i = 0; i < golden->rotary_dim / 2; i++)
        if (fabs(freq[i] - golden->freq[i]) > 4e-15 * golden->freq[i])
            fail_msg("%s: f[%zu] %.17g, must be %.17g", golden->id, i, freq[i], golden->freq[i]);
    if (golden->axes > 1 && !golden->no_rotation)
        check_axes(plans[index], golden);
    for (size_t i = 0; i < count; i++)
        rope_plan_destroy(plans[i]);
}

/* Where EXACT means something else than this version of the package, on purpose. */
static int differs(const struct golden *golden)
{
    static const char *const ids[] = {"minimax_text_01", "nested_yarn_truncate_false",
                                      "phimoe_above"};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        if (strcmp(golden->id, ids[i]) == 0)
            return 1;
    return 0;
}

static int has_warning(const rope_config *config, const char *text)
{
    for (size_t i = 0; rope_config_warning(config, i) != NULL; i++)
        if (strstr(rope_config_warning(config, i), text) != NULL)
            return 1;
    return 0;
}

static size_t cases, forms, exact;

static void check_case(const struct golden *golden)
{
    assert_int_equal(golden->count, golden->rotary_dim / 2);
    assert_true(golden->rotary_dim / 2 <= PAIRS_MAX);
    cases++;
    for (size_t form = 0; form < 2 && golden->json[form] != NULL; form++) {
        rope_config *config = parse(golden->json[form], ROPE_PROFILE_TRANSFORMERS, golden->length);
        check_entry(config, golden, 1);
        if (has_warning(config, "unknown"))
            fail_msg("%s: something in a public configuration is unknown", golden->id);
        rope_config_destroy(config);
        forms++;
        config = parse(golden->json[form], ROPE_PROFILE_EXACT, golden->length);
        if (differs(golden)) {
            assert_true(has_warning(config, "implementations disagree: "));
        } else {
            check_entry(config, golden, 0);
            exact++;
        }
        rope_config_destroy(config);
    }
}

static void read_values(const char *line, struct golden *golden, int are_axes)
{
    const char *at = strchr(line, ' ');
    golden->count = 0;
    while (at != NULL && golden->count < PAIRS_MAX) {
        if (are_axes)
            golden->axis[golden->count++] = (int)strtol(at + 1, NULL, 10);
        else
            golden->freq[golden->count++] = strtod(at + 1, NULL);
        at = strchr(at + 1, ' ');
    }
}

static void test_goldens(void **state)
{
    (void)state;
    static char line[LINE_MAX_SIZE], texts[2][LINE_MAX_SIZE];
    static struct golden golden;
    FILE *file = fopen(ROPE_TEST_DATA "/huggingface.txt", "r");
    assert_non_null(file);
    size_t form = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        assert_non_null(strchr(line, '\n'));
        if (strncmp(line, "case ", 5) == 0) {
            read_case(line, &golden);
            form = 0;
        } else if (strncmp(line, "json ", 5) == 0) {
            assert_true(form < 2);
            strcpy(texts[form], line + 5);
            golden.json[form] = texts[form];
            form++;
        } else if (strncmp(line, "axis ", 5) == 0) {
            read_values(line, &golden, 1);
        } else if (strncmp(line, "freq ", 5) == 0) {
            read_values(line, &golden, 0);
            check_case(&golden);
        }
    }
    assert_int_equal(fclose(file), 0);
    /*
     * every case of the file, in each of its forms; three of them in EXACT as this library means
     * them
     */
    assert_int_equal(cases, 78);
    assert_int_equal(forms, 149);
    assert_int_equal(exact, 144);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_goldens)};
    return cmocka_run_group_tests_name("config_golden", tests, NULL, NULL);
}
