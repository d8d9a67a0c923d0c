/* SPDX-License-Identifier: Apache-2.0 */
/* rope table: rows of cos and sin, made chunk by chunk in constant memory. */
#include "command.h"
#include "element.h"
#include "model.h"
#include "npy.h"
#include "output.h"
#include "request.h"
#include "say.h"
#include <stdlib.h>

struct table {
    rope_plan *plan;
    const struct tool_positions *positions;
    rope_rows rows; /* dtype, layout, direction */
    size_t arrays;  /* 1, or 2: cos and sin */
    size_t width;   /* entries of a row of one array */
    size_t output;  /* number of the output file */
    int64_t data;   /* bytes before its first entry */
};

/* Makes and writes `count` rows from row `first` on; `memory` holds the rows of both arrays. */
static int write_rows(struct table *table, char *memory, size_t first, size_t count)
{
    char message[256] = "";
    const size_t row_bytes = table->width * tool_element_size(table->rows.dtype);
    rope_positions positions[ROPE_AXES_MAX];
    tool_positions_from(positions, table->positions, 0, first);
    rope_rows rows = table->rows;
    rows.cos = memory;
    rows.sin = table->arrays == 2 ? memory + count * row_bytes : NULL;
    rows.count = count;
    rows.message = message;
    rows.message_size = sizeof message;
    const rope_status made = rope_cos_sin(table->plan, positions, count, &rows);
    if (made != ROPE_OK)
        return tool_library_error(made, message);
    int status = TOOL_OK;
    for (size_t i = 0; i < table->arrays && status == TOOL_OK; i++)
        status = tool_output_write(
            table->output, memory + i * count * row_bytes, count * row_bytes,
            table->data + (int64_t)((i * table->positions->tokens + first) * row_bytes));
    return status;
}

static int write_table(struct table *table, const char *path)
{
    enum { CHUNK_BYTES = 1 << 22 };
    const size_t rows = table->positions->tokens;
    const size_t row_bytes = table->width * tool_element_size(table->rows.dtype);
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a row has a pair at least */
    if (rows > (size_t)INT64_MAX / 4 / row_bytes)
        return tool_bad("%s: shape: %zu rows are larger than an address can reach", path, rows);
    size_t chunk = CHUNK_BYTES / row_bytes + 1;
    chunk = chunk < rows ? chunk : rows;
    int status = tool_output_open(path, &table->output);
    if (status != TOOL_OK)
        return status;
    char header[TOOL_NPY_HEADER];
    const size_t shape[] = {table->arrays, rows, table->width};
    const size_t dims = table->arrays == 2 ? 3 : 2;
    table->data = (int64_t)tool_npy_header(header, table->rows.dtype, shape + 3 - dims, dims);
    status = tool_output_write(table->output, header, (size_t)table->data, 0);
    char *const memory = malloc(table->arrays * chunk * row_bytes + 1);
    if (memory == NULL)
        status = tool_bad("%s: out of memory", path);
    struct tool_progress progress;
    tool_progress_start(&progress, "table", rows);
    for (size_t first = 0; first < rows && status == TOOL_OK; first += chunk) {
        const size_t count = rows - first < chunk ? rows - first : chunk;
        status = write_rows(table, memory, first, count);
        tool_progress_add(&progress, count);
    }
    tool_progress_end(&progress);
    free(memory);
    return status;
}

int tool_table(const struct tool_options *options)
{
    char message[256] = "";
    double *inv_freq = NULL;
    rope_config *config = NULL;
    rope_config_entry entry;
    rope_spec spec;
    rope_info info = ROPE_INFO_INIT;
    struct tool_positions positions = {0};
    struct table table = {.positions = &positions, .rows = ROPE_ROWS_INIT};
    if (options->operand_count != 1)
        return tool_bad("exactly one output file is required, see --help");
    int status = tool_positions_read(&positions, options->positions);
    if (status == TOOL_OK)
        status = options->config != NULL ? tool_spec_from_config(&spec, options, &config, &entry,
                                                                 message, sizeof message)
                                         : tool_spec_read(&spec, options, options->head_dim,
                                                          &inv_freq, message, sizeof message);
    if (status == TOOL_OK) {
        const size_t rotated = spec.rotary_dim != 0 ? spec.rotary_dim : 2 * spec.inv_freq_count;
        if (spec.head_dim == 0 && rotated == 0)
            status = tool_bad("--rotary-dim or --head-dim: is required");
        else if (spec.head_dim == 0)
            spec.head_dim = spec.rotary_offset + rotated;
    }
    if (status == TOOL_OK) {
        rope_status made = rope_plan_create(&spec, &table.plan);
        if (made == ROPE_OK)
            made = rope_plan_info(table.plan, &info);
        if (made != ROPE_OK)
            status = tool_library_error(made, message);
    }
    if (status == TOOL_OK) {
        table.rows.dtype = options->dtype;
        table.rows.layout = options->layout;
        table.rows.direction = options->direction;
        table.arrays =
            options->layout == ROPE_ROWS_PACKED || options->layout == ROPE_ROWS_PAIRS ? 1 : 2;
        table.width = options->layout == ROPE_ROWS_SEPARATE ? info.rotary_dim / 2 : info.rotary_dim;
        status = write_table(&table, options->operands[0]);
    }
    status = tool_output_finish(status);
    rope_plan_destroy(table.plan);
    tool_model_close(config);
    free(inv_freq);
    tool_positions_free(&positions);
    return status;
}
