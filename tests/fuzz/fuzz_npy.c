/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a .npy file.  What is accepted must account for every byte of the file, and must be
 * read back the same from a header that the tool writes.
 */
#include "fuzz.h"
#include "tool/element.h"
#include "tool/npy.h"
#include "tool/say.h"

#include <stdlib.h>

static void same_header(const struct tool_npy *array, const uint8_t *data)
{
    static uint8_t copy[1 << 20];
    char header[TOOL_NPY_HEADER];
    const size_t start = tool_npy_header(header, array->dtype, array->shape, array->dims);
    const size_t bytes = array->count * tool_element_size(array->dtype);
    REQUIRE(start < sizeof header && start % 64 == 0);
    if (start + bytes > sizeof copy)
        return;
    memcpy(copy, header, start);
    memcpy(copy + start, data, bytes);
    struct tool_npy again;
    REQUIRE(tool_npy_open(&again, fuzz_file(copy, start + bytes)) == TOOL_OK);
    REQUIRE(again.data == (int64_t)start && again.dtype == array->dtype);
    REQUIRE(again.dims == array->dims && again.count == array->count);
    REQUIRE(memcmp(again.shape, array->shape, array->dims * sizeof *array->shape) == 0);
    tool_npy_close(&again);
}

static void use_array(const struct tool_npy *array, const uint8_t *data, size_t size)
{
    const size_t element = tool_element_size(array->dtype);
    size_t count = 1;
    REQUIRE(array->dims <= TOOL_NPY_DIMS);
    for (size_t i = 0; i < array->dims; i++)
        count *= array->shape[i]; /* no overflow but where one is 0: the file is not as large */
    REQUIRE(count == array->count);
    REQUIRE(array->data >= 10 && (size_t)array->data + count * element == size);

    void *elements;
    REQUIRE(tool_npy_load(array, &elements) == TOOL_OK);
    REQUIRE(memcmp(elements, data + array->data, count * element) == 0);
    if (count != 0) { /* the last one alone */
        REQUIRE(tool_npy_read(array, count - 1, 1, elements) == TOOL_OK);
        REQUIRE(memcmp(elements, data + size - element, element) == 0);
    }
    free(elements);
    char shape[64];
    tool_npy_shape_print(shape, sizeof shape, array->shape, array->dims);
    REQUIRE(memchr(shape, '\0', sizeof shape) != NULL && shape[0] == '[');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tool_npy array;
    (void)fuzz_lines_said();
    const int status = tool_npy_open(&array, fuzz_file(data, size));
    if (status == TOOL_OK) {
        use_array(&array, data, size);
        same_header(&array, data + array.data);
    }
    REQUIRE(fuzz_lines_said() == (status == TOOL_OK ? 0 : 1));
    tool_npy_close(&array);
    REQUIRE(array.file == -1);
    return 0;
}
