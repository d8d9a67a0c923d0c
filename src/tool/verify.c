/* SPDX-License-Identifier: Apache-2.0 */
/* rope verify: outputs against the reference, or one file against another.  Writes no file. */
#include "command.h"
#include "element.h"
#include "expected.h"
#include "npy.h"
#include "request.h"
#include "say.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A place where two arrays differ. */
struct place {
    size_t index; /* SIZE_MAX = none */
    uint64_t found;
    uint64_t wanted;
};

struct tally {
    const struct tool_npy *array;
    rope_dtype dtype;
    size_t max_ulp_accepted;
    double max_abs_accepted;
    size_t differ;
    size_t refused;
    double max_abs;
    uint64_t max_ulp;
    struct place first; /* the first that is refused or, while none is, the first that differs */
};

static void tally_start(struct tally *tally, const struct tool_npy *array, rope_dtype dtype,
                        const struct tool_options *options)
{
    memset(tally, 0, sizeof *tally);
    tally->array = array;
    tally->dtype = dtype;
    tally->max_ulp_accepted = options->max_ulp;
    tally->max_abs_accepted = options->max_abs;
    tally->first.index = SIZE_MAX;
}

/* Counts an element that differs; `in_bound`: it need not be equal. */
static void tally_difference(struct tally *tally, size_t index, uint64_t found, uint64_t wanted,
                             int in_bound)
{
    const uint64_t ulp = tool_element_distance(tally->dtype, found, wanted);
    if (ulp == 0)
        return;
    double apart =
        fabs(tool_element_value(tally->dtype, found) - tool_element_value(tally->dtype, wanted));
    if (isnan(apart))
        apart = (double)INFINITY;
    if (tool_element_is_integer(tally->dtype))
        apart = (double)ulp; /* the values may not fit an f64 */
    const int refused =
        !in_bound && ulp > tally->max_ulp_accepted && !(apart <= tally->max_abs_accepted);
    const int sooner = index < tally->first.index;
    if (refused ? sooner || tally->refused == 0 : sooner && tally->refused == 0)
        tally->first = (struct place){index, found, wanted};
    tally->differ++;
    tally->refused += (size_t)refused;
    tally->max_abs = fmax(tally->max_abs, apart);
    tally->max_ulp = ulp > tally->max_ulp ? ulp : tally->max_ulp;
}

static int tally_report(const struct tally *tally, const char *reference)
{
    char shape[TOOL_NPY_HEADER];
    tool_npy_shape_print(shape, sizeof shape, tally->array->shape, tally->array->dims);
    printf("%s: %s %s\n", tally->array->path, tool_element_name(tally->dtype), shape);
    printf("  differ    %zu of %zu\n", tally->differ, tally->array->count);
    printf("  refused   %zu\n", tally->refused);
    printf("  max abs   %.9g\n", tally->max_abs);
    if (tally->max_ulp == UINT64_MAX)
        printf("  max ulp   NaN\n");
    else
        printf("  max ulp   %" PRIu64 "\n", tally->max_ulp);
    if (tally->differ > 0) {
        char found[64], wanted[64];
        size_t index[TOOL_NPY_DIMS];
        size_t rest = tally->first.index;
        for (size_t i = tally->array->dims; i-- > 0;) {
            index[i] = rest % tally->array->shape[i];
            rest /= tally->array->shape[i];
        }
        tool_npy_shape_print(shape, sizeof shape, index, tally->array->dims);
        tool_element_print(found, sizeof found, tally->dtype, tally->first.found);
        tool_element_print(wanted, sizeof wanted, tally->dtype, tally->first.wanted);
        printf("  first     %s: %s, %s: %s\n", shape, found, reference, wanted);
    }
    return tally->refused > 0 ? TOOL_DIFFERENCE : TOOL_OK;
}

/* ---- Two files ---- */

static int compare_arrays(const struct tool_npy *arrays, const struct tool_options *options,
                          rope_dtype dtype)
{
    enum { CHUNK = 1 << 19 };
    static uint64_t memory[2][CHUNK]; /* elements of any type */
    struct tally tally;
    struct tool_progress progress;
    int status = TOOL_OK;
    tally_start(&tally, &arrays[0], dtype, options);
    tool_progress_start(&progress, "verify", arrays[0].count);
    for (size_t first = 0; first < arrays[0].count && status == TOOL_OK; first += CHUNK) {
        const size_t left = arrays[0].count - first;
        const size_t count = left < CHUNK ? left : CHUNK;
        for (size_t i = 0; i < 2 && status == TOOL_OK; i++)
            status = tool_npy_read(&arrays[i], first, count, memory[i]);
        for (size_t i = 0; i < count && status == TOOL_OK; i++) {
            const uint64_t a = tool_element_bits(dtype, memory[0], i);
            const uint64_t b = tool_element_bits(dtype, memory[1], i);
            if (a != b)
                tally_difference(&tally, first + i, a, b, 0);
        }
        tool_progress_add(&progress, count);
    }
    tool_progress_end(&progress);
    return status == TOOL_OK ? tally_report(&tally, arrays[1].path) : status;
}

static int compare_files(const struct tool_options *options)
{
    struct tool_npy arrays[2] = {TOOL_NPY_INIT, TOOL_NPY_INIT};
    int status = TOOL_OK;
    for (size_t i = 0; i < 2 && status == TOOL_OK; i++)
        status = tool_npy_open(&arrays[i], options->operands[i]);
    if (status == TOOL_OK) {
        char shapes[2][TOOL_NPY_HEADER];
        for (size_t i = 0; i < 2; i++)
            tool_npy_shape_print(shapes[i], sizeof shapes[i], arrays[i].shape, arrays[i].dims);
        if (arrays[0].dtype != arrays[1].dtype || strcmp(shapes[0], shapes[1]) != 0) {
            printf("%s: %s %s\n%s: %s %s\n  differ in type or shape\n", arrays[0].path,
                   tool_element_name(arrays[0].dtype), shapes[0], arrays[1].path,
                   tool_element_name(arrays[1].dtype), shapes[1]);
            status = TOOL_DIFFERENCE;
        } else if (options->bf16 && arrays[0].dtype != TOOL_U16) {
            status = tool_bad("--bf16: no file is <u2");
        } else {
            status = compare_arrays(arrays, options, options->bf16 ? ROPE_BF16 : arrays[0].dtype);
        }
    }
    for (size_t i = 0; i < 2; i++)
        tool_npy_close(&arrays[i]);
    return status;
}

/* ---- A rotation ---- */

/* One tensor, its output, and what of them is in memory. */
struct subject {
    const struct tool_tensor *tensor;
    struct tool_npy out;
    struct tool_arith arith;
    void *before;
    void *after;
    struct tool_expected_pair *row; /* rounded for this tensor */
    size_t source[2];               /* from pair to pair, from x to y */
    size_t result[2];
    struct tally tally;
};

static int open_subject(struct subject *subject, const struct tool_request *request,
                        const struct tool_tensor *tensor, const struct tool_options *options,
                        size_t pairs)
{
    int status = tool_npy_open(&subject->out, tensor->out_path);
    if (status != TOOL_OK)
        return status;
    char shape[TOOL_NPY_HEADER], wanted[TOOL_NPY_HEADER];
    tool_npy_shape_print(shape, sizeof shape, subject->out.shape, subject->out.dims);
    tool_npy_shape_print(wanted, sizeof wanted, tensor->in.shape, tensor->in.dims);
    if (subject->out.dtype != tensor->in.dtype || strcmp(shape, wanted) != 0) {
        printf("%s: %s %s\n%s: %s %s\n  differ in type or shape\n", tensor->in.path,
               tool_element_name(tensor->in.dtype), wanted, subject->out.path,
               tool_element_name(subject->out.dtype), shape);
        return TOOL_DIFFERENCE;
    }
    const int half = options->pairing == ROPE_HALF;
    const int half_out =
        options->pairing_out == ROPE_OUT_SAME ? half : options->pairing_out == ROPE_OUT_HALF;
    subject->tensor = tensor;
    subject->arith = (struct tool_arith){tensor->dtype, options->arith, options->row_dtype};
    subject->source[0] = half ? 1 : 2;
    subject->source[1] = half ? pairs : 1;
    subject->result[0] = half_out ? 1 : 2;
    subject->result[1] = half_out ? pairs : 1;
    subject->before = tool_stretch_alloc(request, tensor);
    subject->after = tool_stretch_alloc(request, tensor);
    subject->row = calloc(pairs, sizeof *subject->row);
    if (subject->before == NULL || subject->after == NULL || subject->row == NULL)
        return tool_bad("%s: out of memory", tensor->in.path);
    tally_start(&subject->tally, &subject->out, tensor->dtype, options);
    return TOOL_OK;
}

static void close_subject(struct subject *subject)
{
    tool_npy_close(&subject->out);
    free(subject->before);
    free(subject->after);
    free(subject->row);
}

/* `at` counts elements in memory, `index` the same element in the file. */
static void check_value(struct subject *subject, size_t at, size_t index,
                        const struct tool_range *range)
{
    const rope_dtype dtype = subject->arith.dtype;
    const uint64_t found = tool_element_bits(dtype, subject->after, at);
    const double value = tool_element_value(dtype, found);
    if (value == range->value && value != 0)
        return;
    tally_difference(&subject->tally, index, found, tool_element_encode(dtype, range->value),
                     value >= range->low && value <= range->high);
}

/* What is not rotated must be equal to the bit. */
static void check_copy(struct subject *subject, size_t at, size_t index, size_t count)
{
    const rope_dtype dtype = subject->arith.dtype;
    for (size_t i = 0; i < count; i++) {
        const uint64_t found = tool_element_bits(dtype, subject->after, at + i);
        const uint64_t wanted = tool_element_bits(dtype, subject->before, at + i);
        if (found != wanted)
            tally_difference(&subject->tally, index + i, found, wanted, 0);
    }
}

/* One head, which starts at element `at` in memory and `index` in the file. */
static void check_head(struct subject *subject, size_t pairs, size_t at, size_t index)
{
    const rope_dtype dtype = subject->arith.dtype;
    const size_t offset = subject->tensor->rotary_offset;
    const size_t behind = offset + 2 * pairs;
    check_copy(subject, at, index, offset);
    check_copy(subject, at + behind, index + behind, subject->tensor->head_dim - behind);
    for (size_t i = 0; i < pairs; i++) {
        const size_t source = at + offset + i * subject->source[0];
        const size_t result = offset + i * subject->result[0];
        struct tool_range x, y;
        tool_expected_rotate(
            &subject->arith, &subject->row[i],
            tool_element_value(dtype, tool_element_bits(dtype, subject->before, source)),
            tool_element_value(
                dtype, tool_element_bits(dtype, subject->before, source + subject->source[1])),
            &x, &y);
        check_value(subject, at + result, index + result, &x);
        check_value(subject, at + result + subject->result[1], index + result + subject->result[1],
                    &y);
    }
}

static int check_stretch(struct subject *subjects, const struct tool_request *request,
                         const struct tool_stretch *stretch, const struct tool_expected *expected,
                         struct tool_expected_pair *row)
{
    int status = TOOL_OK;
    for (size_t i = 0; i < TOOL_TENSORS && status == TOOL_OK; i++) {
        const struct tool_tensor *const tensor = subjects[i].tensor;
        if (tensor == NULL)
            continue;
        const size_t first = tool_stretch_first(request, tensor, stretch);
        const size_t count = tool_stretch_count(tensor, stretch);
        status = tool_npy_read(&tensor->in, first, count, subjects[i].before);
        if (status == TOOL_OK)
            status = tool_npy_read(&subjects[i].out, first, count, subjects[i].after);
    }
    for (size_t token = 0; token < stretch->tokens && status == TOOL_OK; token++) {
        tool_expected_row(
            expected, tool_position(&request->positions, stretch->batch, stretch->token + token),
            row);
        for (size_t i = 0; i < TOOL_TENSORS; i++) {
            struct subject *const subject = &subjects[i];
            if (subject->tensor == NULL)
                continue;
            for (size_t pair = 0; pair < expected->pairs; pair++)
                subject->row[pair] = tool_expected_round(&subject->arith, row[pair]);
            const size_t first = tool_stretch_first(request, subject->tensor, stretch);
            for (size_t head = 0; head < subject->tensor->heads; head++) {
                const size_t at =
                    token * subject->tensor->token_elements + head * subject->tensor->head_dim;
                check_head(subject, expected->pairs, at, first + at);
            }
        }
    }
    return status;
}

/* The rules that the library would hold a job to. */
static int check_slices(const struct tool_request *request, const struct tool_expected *expected)
{
    for (size_t i = 0; i < TOOL_TENSORS; i++) {
        const struct tool_tensor *const tensor = &request->tensor[i];
        if (tensor->out_path != NULL &&
            (tensor->rotary_offset > tensor->head_dim ||
             tensor->head_dim - tensor->rotary_offset < 2 * expected->pairs))
            return tool_bad("%s: shape: a head of %zu has no %zu elements to rotate from %zu on",
                            tensor->in.path, tensor->head_dim, 2 * expected->pairs,
                            tensor->rotary_offset);
    }
    return TOOL_OK;
}

static int check_rotation(const struct tool_request *request, const struct tool_options *options,
                          struct subject *subjects, struct tool_expected *expected)
{
    int status = tool_expected_open(expected, &request->spec, options->direction);
    if (status == TOOL_OK)
        status = check_slices(request, expected);
    for (size_t i = 0; i < TOOL_TENSORS && status == TOOL_OK; i++)
        if (request->tensor[i].out_path != NULL)
            status =
                open_subject(&subjects[i], request, &request->tensor[i], options, expected->pairs);
    if (status != TOOL_OK)
        return status;
    struct tool_expected_pair *const row = calloc(expected->pairs, sizeof *row);
    if (row == NULL)
        return tool_bad("out of memory for %zu pairs", expected->pairs);
    struct tool_progress progress;
    tool_progress_start(&progress, "verify", request->batch * request->tokens);
    for (struct tool_stretch stretch = {0};
         status == TOOL_OK && tool_request_next(request, &stretch);) {
        status = check_stretch(subjects, request, &stretch, expected, row);
        tool_progress_add(&progress, stretch.tokens);
    }
    tool_progress_end(&progress);
    free(row);
    if (status != TOOL_OK)
        return status;
    puts("bound: cos and sin within 1/2 ulp of their type + 4e-16 m (8e-16 m from |position| = "
         "2^20 on; f64: 1 ulp if\n"
         "that is more); the arithmetic behind them, and what is not rotated, equal to the bit");
    for (size_t i = 0; i < TOOL_TENSORS; i++)
        if (subjects[i].tensor != NULL && tally_report(&subjects[i].tally, "reference") != TOOL_OK)
            status = TOOL_DIFFERENCE;
    return status;
}

int tool_verify(const struct tool_options *options)
{
    struct tool_request request;
    struct tool_expected expected;
    struct subject subjects[TOOL_TENSORS];
    if (options->operand_count == 2)
        return options->not_compare == NULL
                   ? compare_files(options)
                   : tool_bad("--%s: does not go with two files", options->not_compare);
    if (options->operand_count == 1)
        return tool_bad("%s: a second file is required", options->operands[0]);
    memset(&expected, 0, sizeof expected);
    memset(subjects, 0, sizeof subjects);
    for (size_t i = 0; i < TOOL_TENSORS; i++)
        subjects[i].out = (struct tool_npy)TOOL_NPY_INIT;
    int status = tool_request_open(&request, options);
    if (status == TOOL_OK)
        status = check_rotation(&request, options, subjects, &expected);
    for (size_t i = 0; i < TOOL_TENSORS; i++)
        close_subject(&subjects[i]);
    tool_expected_close(&expected);
    tool_request_close(&request);
    return status;
}
