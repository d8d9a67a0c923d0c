/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a safetensors file.  The tensors of an accepted file must cover its data exactly,
 * each byte once, and be given out the same a second time.
 */
#include "fuzz.h"
#include "tool/safetensors.h"
#include "tool/say.h"

#include <stdlib.h>

/* Bits of an element of the types of the format's description. */
static unsigned bits_of(const struct tool_text *type)
{
    static const struct {
        const char *name;
        unsigned bits;
    } types[] = {{"BOOL", 8}, {"U8", 8},      {"I8", 8},      {"F8_E4M3", 8}, {"F8_E5M2", 8},
                 {"I16", 16}, {"F8_E8M0", 8}, {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F4", 4},
                 {"U16", 16}, {"F16", 16},    {"BF16", 16},   {"I32", 32},    {"U32", 32},
                 {"F32", 32}, {"F64", 64},    {"I64", 64},    {"U64", 64},    {"C64", 64}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == type->length &&
            memcmp(types[i].name, type->at, type->length) == 0)
            return types[i].bits;
    const int is_known_type = 0;
    REQUIRE(is_known_type);
    return 0;
}

static void use_tensor(const struct tool_safetensors *st, const struct tool_tensor *tensor,
                       const uint8_t *data, uint8_t *covered)
{
    const char *const header_end = st->header + st->header_size;
    REQUIRE(tensor->name.at > st->header && tensor->name.at + tensor->name.length < header_end);
    REQUIRE(tensor->begin >= st->start && tensor->begin <= tensor->end && tensor->end <= st->size);
    const uint64_t bytes = tensor->end - tensor->begin;
    REQUIRE(tensor->count * bits_of(&tensor->type) == 8 * bytes);
    REQUIRE(tensor->count == 0 || tensor->rows == 0 || tensor->count % tensor->rows == 0);
    REQUIRE(tensor->dtype == 0 ||
            dtype_size((enum dtype)(tensor->dtype - 1)) * tensor->count == bytes);
    for (uint64_t i = tensor->begin; i < tensor->end; i++)
        REQUIRE(covered[i]++ == 0);
    if (bytes == 0)
        return;
    uint8_t last;
    REQUIRE(tool_safetensors_read(st, &last, 1, tensor->end - 1) == TOOL_OK);
    REQUIRE(last == data[tensor->end - 1]);
}

static void use_file(struct tool_safetensors *st, const uint8_t *data, size_t size)
{
    uint8_t *const covered = calloc(size, 1);
    REQUIRE(covered != NULL && st->size == size && st->start == 8 + st->header_size);
    struct tool_tensor tensor, first;
    size_t count = 0;
    while (tool_safetensors_next(st, &tensor)) {
        if (count++ == 0)
            first = tensor;
        use_tensor(st, &tensor, data, covered);
    }
    REQUIRE(count == st->tensors);
    for (size_t i = (size_t)st->start; i < size; i++)
        REQUIRE(covered[i] == 1);
    REQUIRE(tool_safetensors_next(st, &tensor) == (count != 0));
    REQUIRE(count == 0 || (tensor.begin == first.begin && tensor.name.at == first.name.at));
    free(covered);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tool_safetensors st;
    (void)fuzz_lines_said();
    const int status = tool_safetensors_open(&st, fuzz_file(data, size));
    if (status == TOOL_OK)
        use_file(&st, data, size);
    REQUIRE(fuzz_lines_said() == (status == TOOL_OK ? 0 : 1));
    tool_safetensors_close(&st);
    return 0;
}
