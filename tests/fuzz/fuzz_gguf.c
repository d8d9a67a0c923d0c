/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a GGUF file: the tool's reader against a second reading of the format, written here
 * from its description alone; then its pairs as a configuration, in every profile.
 */
#include "fuzz.h"
#include "tool/gguf.h"
#include "tool/say.h"
#include "use_config.h"

#include <stdio.h>

/* ---- The second reading ---------------------------------------------------------------------- */

/* The file; `left` is how much of it has not been read. */
struct walk {
    const uint8_t *file;
    size_t size, at;
    int failed;
    size_t pairs; /* strings, numbers and lists of numbers; tensors of divisors */
    double alignment;
    int has_alignment;
};

static uint64_t whole(struct walk *walk, size_t size)
{
    uint64_t value = 0;
    if (walk->failed || walk->size - walk->at < size) {
        walk->failed = 1;
        return 0;
    }
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)walk->file[walk->at++] << 8 * i;
    return value;
}

static void pass_over(struct walk *walk, uint64_t count, uint64_t size)
{
    if (walk->failed || (size != 0 && count > (walk->size - walk->at) / size))
        walk->failed = 1;
    else
        walk->at += (size_t)(count * size);
}

/* A key or name: its bytes, and how many there are before the first NUL. */
static const char *text(struct walk *walk, size_t *length)
{
    const uint64_t size = whole(walk, 8);
    const char *const start = (const char *)walk->file + walk->at;
    pass_over(walk, size, 1);
    if (walk->failed || size > 65535) {
        walk->failed = 1;
        *length = 0;
        return "";
    }
    const char *const end = memchr(start, '\0', (size_t)size);
    *length = end == NULL ? (size_t)size : (size_t)(end - start);
    return start;
}

enum { BOOL = 7, STRING, ARRAY, TYPES = 13 };
static const unsigned char sizes[TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

/* A number of every type, as f64. */
static double number(uint64_t type, uint64_t bits)
{
    const double sign_bit[] = {[1] = 0x1p8, [3] = 0x1p16, [5] = 0x1p32, [11] = 0x1p64};
    float single;
    double twice;
    const uint32_t word = (uint32_t)bits;
    switch (type) {
    case 1:
    case 3:
    case 5:
    case 11:
        if ((bits >> (8 * sizes[type] - 1) & 1) == 0)
            return (double)bits;
        return type == 11 ? -(double)(UINT64_C(0) - bits) : (double)bits - sign_bit[type];
    case 6:
        memcpy(&single, &word, sizeof single);
        return (double)single;
    case 12:
        memcpy(&twice, &bits, sizeof twice);
        return twice;
    default:
        return (double)bits;
    }
}

static void walk_pair(struct walk *walk)
{
    size_t length;
    const char *const key = text(walk, &length);
    const uint64_t type = whole(walk, 4);
    if (type == STRING) {
        const uint64_t size = whole(walk, 8);
        walk->pairs += size <= 65535;
        pass_over(walk, size, 1);
    } else if (type == ARRAY) {
        const uint64_t element = whole(walk, 4), count = whole(walk, 8);
        if (element >= TYPES || element == ARRAY)
            walk->failed = 1;
        if (walk->failed)
            return;
        for (uint64_t i = 0; element == STRING && i < count && !walk->failed; i++)
            pass_over(walk, whole(walk, 8), 1);
        if (element != STRING) {
            walk->pairs += count <= 65536;
            pass_over(walk, count, sizes[element]);
        }
    } else if (type < TYPES) {
        const uint64_t bits = whole(walk, sizes[type]);
        walk->pairs++;
        if (length == 17 && memcmp(key, "general.alignment", 17) == 0 && !walk->has_alignment) {
            walk->has_alignment = 1;
            walk->alignment = number(type, bits);
        }
        return;
    } else {
        walk->failed = 1;
    }
    /* one that is no number counts as the number 0 */
    if (length == 17 && memcmp(key, "general.alignment", 17) == 0)
        walk->has_alignment = 1;
}

static void walk_tensors(struct walk *walk, uint64_t count)
{
    uint64_t places[8][2]; /* offset and elements of the divisors */
    size_t kept = 0;
    walk->failed |= count > 1 << 20;
    for (uint64_t i = 0; i < count && !walk->failed; i++) {
        size_t length;
        const char *const name = text(walk, &length);
        const uint64_t dimensions = whole(walk, 4);
        double elements = 1.0; /* exact where it is small */
        walk->failed |= dimensions > 4;
        for (uint64_t d = 0; d < dimensions && !walk->failed; d++)
            elements *= (double)whole(walk, 8);
        const uint64_t type = whole(walk, 4), offset = whole(walk, 8);
        if (length >= 5 && memcmp(name, "rope_", 5) == 0 && type == 0 && elements <= 65536.0 &&
            kept < 8) {
            places[kept][0] = offset;
            places[kept++][1] = (uint64_t)elements;
        }
    }
    walk->failed |= !(walk->alignment >= 1.0 && walk->alignment <= 65536.0);
    if (walk->failed)
        return;
    const uint64_t step = (uint64_t)walk->alignment;
    const uint64_t start = (walk->at + step - 1) / step * step;
    for (size_t i = 0; i < kept; i++) {
        walk->failed |= start > walk->size;
        walk->at = walk->failed ? walk->size : (size_t)start;
        pass_over(walk, places[i][0], 1);
        pass_over(walk, places[i][1], 4);
    }
    walk->pairs += kept;
}

static struct walk walk_file(const uint8_t *data, size_t size)
{
    struct walk walk = {.file = data, .size = size, .alignment = 32.0};
    (void)whole(&walk, 4);
    const uint64_t version = whole(&walk, 4), tensors = whole(&walk, 8), pairs = whole(&walk, 8);
    walk.failed |= (version != 2 && version != 3) || pairs > 65536;
    for (uint64_t i = 0; i < pairs && !walk.failed; i++)
        walk_pair(&walk);
    if (!walk.failed)
        walk_tensors(&walk, tensors);
    return walk;
}

/* ---- The target ------------------------------------------------------------------------------ */

static void configure(const struct tool_gguf *gguf)
{
    for (rope_profile profile = ROPE_PROFILE_EXACT; profile <= ROPE_PROFILE_GGML; profile++) {
        char message[64] = "";
        rope_config_options options = ROPE_CONFIG_OPTIONS_INIT;
        options.profile = profile;
        options.message = message;
        options.message_size = sizeof message;
        rope_config *config;
        const rope_status status =
            rope_config_from_gguf(gguf->pairs, gguf->count, &options, &config);
        REQUIRE((status == ROPE_OK) == (config != NULL));
        REQUIRE((status == ROPE_OK) == (message[0] == '\0'));
        if (config != NULL)
            use(config);
        rope_config_destroy(config);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tool_gguf gguf;
    (void)fuzz_lines_said();
    FILE *const file = fopen(fuzz_file(data, size), "rb");
    REQUIRE(file != NULL);
    REQUIRE(tool_gguf_is(file) == (size >= 4 && memcmp(data, "GGUF", 4) == 0));
    const int status = tool_gguf_read(&gguf, file, "input");
    REQUIRE(fuzz_lines_said() == (status == TOOL_OK ? 0 : 1));
    const struct walk walk = walk_file(data, size);
    REQUIRE((status == TOOL_OK) == !walk.failed);
    if (status == TOOL_OK) {
        REQUIRE(gguf.count == walk.pairs);
        configure(&gguf);
    }
    tool_gguf_free(&gguf);
    fclose(file);
    return 0;
}
