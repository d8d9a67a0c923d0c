/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, reading and checking the inputs of a rotation.  Leaves the rules of a spec to the
 * library's own messages. */
#include "request.h"
#include "element.h"
#include "model.h"
#include "say.h"
#include <stdlib.h>
#include <string.h>

static const double position_limit = 0x1p31; /* rope.h: -2^31 < p < 2^31 */

enum { CHUNK_BYTES = 1 << 22 }; /* large enough to keep a disk busy, small enough for any memory */

void tool_positions_free(struct tool_positions *positions)
{
    free(positions->data);
    positions->data = NULL;
}

double tool_position(const struct tool_positions *positions, size_t batch, size_t token)
{
    if (positions->data == NULL)
        return (double)(positions->start + (int64_t)token);
    const size_t row = positions->rows == 1 ? 0 : batch;
    return tool_element_value(positions->dtype, tool_element_bits(positions->dtype, positions->data,
                                                                  row * positions->tokens + token));
}

void tool_positions_from(rope_positions *from, const struct tool_positions *positions, size_t batch,
                         size_t token)
{
    rope_positions axis = ROPE_POSITIONS_INIT;
    if (positions->data == NULL) {
        axis.start = positions->start + (int64_t)token;
    } else {
        const size_t row = positions->rows == 1 ? 0 : batch;
        axis.dtype = positions->dtype;
        axis.data = (const char *)positions->data +
                    (row * positions->tokens + token) * tool_element_size(positions->dtype);
    }
    for (size_t a = 0; a < ROPE_AXES_MAX; a++)
        from[a] = axis;
}

/* A whole number with an optional minus, up to the character `end`; |number| < 2^31. */
static int parse_start(const char *text, char end, int64_t *start, const char **behind)
{
    char *stop;
    const int minus = *text == '-';
    if (text[minus] < '0' || text[minus] > '9')
        return 0;
    const double value = strtod(text, &stop);
    if (strspn(text + minus, "0123456789") != (size_t)(stop - text) - (size_t)minus ||
        *stop != end || !(value < position_limit && value > -position_limit))
        return 0;
    *start = (int64_t)value;
    *behind = stop + (end != '\0');
    return 1;
}

static int check_range(const struct tool_positions *positions, const char *text)
{
    const int64_t last = positions->start + (int64_t)positions->tokens - 1;
    if (positions->tokens > (size_t)1 << 31 || last >= (int64_t)position_limit)
        return tool_bad("--positions: %s: %zu positions reach beyond 2^31 - 1", text,
                        positions->tokens);
    return TOOL_OK;
}

/* Reads and checks a file of positions; wants [tokens] or, where `batch` is not 0, [batch, tokens].
 */
static int load_positions(struct tool_positions *positions, const char *path, size_t batch)
{
    struct tool_npy array;
    int status = tool_npy_open(&array, path);
    if (status != TOOL_OK)
        return status;
    char shape[TOOL_NPY_HEADER];
    tool_npy_shape_print(shape, sizeof shape, array.shape, array.dims);
    if (array.dtype == TOOL_U16 || array.dtype == ROPE_F16)
        status = tool_bad("%s: descr: %s: positions must be <i4 <i8 <f4 or <f8", path,
                          tool_element_name(array.dtype));
    else if (batch == 0 && array.dims != 1)
        status = tool_bad("%s: shape: %s: positions must be [rows]", path, shape);
    else if (batch != 0 && !(array.dims == 1 && array.shape[0] == positions->tokens) &&
             !(array.dims == 2 && array.shape[0] == batch && array.shape[1] == positions->tokens))
        status = tool_bad("%s: shape: %s: positions must be [%zu] or [%zu, %zu]", path, shape,
                          positions->tokens, batch, positions->tokens);
    if (status == TOOL_OK)
        status = tool_npy_load(&array, &positions->data);
    positions->dtype = array.dtype;
    positions->rows = array.dims == 2 ? array.shape[0] : 1;
    positions->tokens = array.dims > 0 ? array.shape[array.dims - 1] : 0;
    for (size_t i = 0; i < array.count && status == TOOL_OK; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): count is a product with it */
        const double value = tool_position(positions, i / positions->tokens, i % positions->tokens);
        if (value < position_limit && value > -position_limit)
            continue;
        char text[64];
        tool_element_print(text, sizeof text, array.dtype,
                           tool_element_bits(array.dtype, positions->data, i));
        const size_t index[] = {i / positions->tokens, i % positions->tokens};
        tool_npy_shape_print(shape, sizeof shape, index + 2 - array.dims, array.dims);
        status = tool_bad("%s: %s: %s: a position must be finite and inside -2^31 < p < 2^31", path,
                          shape, text);
    }
    tool_npy_close(&array);
    return status;
}

int tool_positions_read(struct tool_positions *positions, const char *text)
{
    const char *count;
    if (text == NULL)
        return tool_bad("--positions: is required");
    if (!parse_start(text, ':', &positions->start, &count))
        return load_positions(positions, text, 0);
    if (!tool_parse_size(count, &positions->tokens))
        return tool_bad("--positions: %s: must be START:COUNT or a file", text);
    positions->rows = 1;
    return check_range(positions, text);
}

/* --positions of apply and verify; the number of tokens is known. */
static int read_positions(struct tool_request *request, const char *text)
{
    struct tool_positions *const positions = &request->positions;
    const char *behind;
    positions->rows = 1;
    positions->tokens = request->tokens;
    if (text == NULL)
        text = "0";
    return parse_start(text, '\0', &positions->start, &behind)
               ? check_range(positions, text)
               : load_positions(positions, text, request->batch);
}

static int load_inv_freq(double **inv_freq, size_t *count, const char *path)
{
    struct tool_npy array;
    void *elements = NULL;
    int status = tool_npy_open(&array, path);
    if (status != TOOL_OK)
        return status;
    char shape[TOOL_NPY_HEADER];
    tool_npy_shape_print(shape, sizeof shape, array.shape, array.dims);
    if (array.dtype != ROPE_F32 && array.dtype != ROPE_F64)
        status = tool_bad("%s: descr: %s: inverse frequencies must be <f4 or <f8", path,
                          tool_element_name(array.dtype));
    else if (array.dims != 1 || array.count == 0)
        status =
            tool_bad("%s: shape: %s: inverse frequencies must be [rotary_dim / 2]", path, shape);
    if (status == TOOL_OK)
        status = tool_npy_load(&array, &elements);
    if (status == TOOL_OK) {
        *count = array.count;
        /* NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI): a count of 0 is refused above */
        *inv_freq = calloc(array.count, sizeof **inv_freq);
        if (*inv_freq == NULL)
            status = tool_bad("%s: out of memory", path);
        else
            for (size_t i = 0; i < array.count; i++)
                (*inv_freq)[i] =
                    tool_element_value(array.dtype, tool_element_bits(array.dtype, elements, i));
    }
    free(elements);
    tool_npy_close(&array);
    return status;
}

int tool_library_error(rope_status status, const char *message)
{
    return tool_bad("%s", *message != '\0' ? message : rope_status_string(status));
}

int tool_spec_read(rope_spec *spec, const struct tool_options *options, size_t head_dim,
                   double **inv_freq, char *message, size_t message_size)
{
    if (options->layer != SIZE_MAX || options->profile != 0 || options->length != 0)
        return tool_bad("--layer, --profile and --length: go with --config");
    *spec = (rope_spec)ROPE_SPEC_INIT;
    spec->scheme = options->scaling;
    spec->head_dim = head_dim;
    spec->rotary_dim = options->rotary_dim;
    spec->rotary_offset = options->rotary_offset;
    spec->pairing = options->pairing;
    spec->angle = options->angle;
    spec->theta = options->theta;
    spec->factor = options->factor;
    spec->attention_factor = options->attention_factor;
    spec->message = message;
    spec->message_size = message_size;
    if (options->inv_freq == NULL)
        return TOOL_OK;
    if (options->scaling != ROPE_SCHEME_DEFAULT)
        return tool_bad("--scaling: does not go with --inv-freq");
    spec->scheme = ROPE_SCHEME_CUSTOM;
    const int status = load_inv_freq(inv_freq, &spec->inv_freq_count, options->inv_freq);
    spec->inv_freq = *inv_freq;
    return status;
}

int tool_spec_from_config(rope_spec *spec, const struct tool_options *options, rope_config **config,
                          rope_config_entry *entry, char *message, size_t message_size)
{
    *config = NULL;
    if (options->head_dim != 0 || options->rotary_dim != 0 || options->rotary_offset != 0 ||
        options->k_rotary_offset != SIZE_MAX || options->theta != 0 || options->scaling != 0 ||
        options->factor != 0 || options->inv_freq != NULL || options->attention_factor != 0 ||
        options->angle != 0 || options->pairing != 0)
        return tool_bad("--config: gives --head-dim to --angle and --pairing, none of which may be "
                        "given beside it");
    int status = tool_model_open(config, options->config, options);
    if (status == TOOL_OK)
        status = tool_model_entry(*config, options, entry);
    if (status != TOOL_OK)
        return status;
    *spec = *entry->spec;
    spec->message = message;
    spec->message_size = message_size;
    return TOOL_OK;
}

/* The spec of --config, which says what the heads of q and k must be. */
static int read_config(struct tool_request *request, const struct tool_options *options)
{
    rope_config_entry *const entry = &request->entry;
    const int status = tool_spec_from_config(&request->spec, options, &request->config, entry,
                                             request->message, sizeof request->message);
    for (size_t i = 0; i < TOOL_TENSORS && status == TOOL_OK; i++) {
        struct tool_tensor *const tensor = &request->tensor[i];
        const int own = i == TOOL_K && entry->k_head_dim != 0;
        const size_t head_dim = own ? entry->k_head_dim : request->spec.head_dim;
        tensor->rotary_offset = own ? entry->k_rotary_offset : request->spec.rotary_offset;
        if (tensor->out_path != NULL && tensor->head_dim != head_dim)
            return tool_bad("%s: shape: heads of %zu elements: %s says %zu", tensor->in.path,
                            tensor->head_dim, options->config, head_dim);
    }
    return status;
}

static int open_tensor(struct tool_request *request, size_t which,
                       const struct tool_options *options)
{
    static const char *const names[] = {"q", "k"};
    const char *const path = which == TOOL_Q ? options->q : options->k;
    const char *const out_path = which == TOOL_Q ? options->q_out : options->k_out;
    struct tool_tensor *const tensor = &request->tensor[which];
    struct tool_npy *const in = &tensor->in;
    if (path == NULL && out_path == NULL)
        return TOOL_OK;
    if (path == NULL || out_path == NULL)
        return tool_bad("--%s and --%s-out: go together", names[which], names[which]);
    const int status = tool_npy_open(in, path);
    if (status != TOOL_OK)
        return status;
    if (in->dtype == ROPE_I32 || in->dtype == ROPE_I64)
        return tool_bad("%s: descr: %s: must be <f2 <f4 <f8, or <u2 with --bf16", path,
                        tool_element_name(in->dtype));
    if (in->dtype == TOOL_U16 && !options->bf16)
        return tool_bad("%s: descr: <u2: is read as bf16, with --bf16 only", path);
    if (in->dims != 3 && in->dims != 4) {
        char shape[TOOL_NPY_HEADER];
        tool_npy_shape_print(shape, sizeof shape, in->shape, in->dims);
        return tool_bad(
            "%s: shape: %s: must be [tokens, heads, head_dim] or [batch, tokens, heads, head_dim]",
            path, shape);
    }
    const size_t *const last = in->shape + in->dims - 3;
    tensor->out_path = out_path;
    tensor->dtype = in->dtype == TOOL_U16 ? ROPE_BF16 : in->dtype;
    tensor->heads = last[1];
    tensor->head_dim = last[2];
    tensor->token_elements = in->count == 0 ? 0 : last[1] * last[2];
    tensor->rotary_offset = which == TOOL_K && options->k_rotary_offset != SIZE_MAX
                                ? options->k_rotary_offset
                                : options->rotary_offset;
    return TOOL_OK;
}

/* Batch and tokens, which q and k must share, and how many tokens fit a chunk. */
static int set_extent(struct tool_request *request, const struct tool_options *options)
{
    size_t largest = 1;
    const struct tool_tensor *first = NULL;
    for (size_t i = 0; i < TOOL_TENSORS; i++) {
        const struct tool_tensor *const tensor = &request->tensor[i];
        if (tensor->out_path == NULL)
            continue;
        const struct tool_npy *const in = &tensor->in;
        const size_t batch = in->dims == 4 ? in->shape[0] : 1;
        const size_t tokens = in->shape[in->dims - 3];
        if (first != NULL &&
            (batch != request->batch || tokens != request->tokens || in->dims != first->in.dims)) {
            char shape[TOOL_NPY_HEADER];
            char other[TOOL_NPY_HEADER];
            tool_npy_shape_print(shape, sizeof shape, in->shape, in->dims);
            tool_npy_shape_print(other, sizeof other, first->in.shape, first->in.dims);
            return tool_bad("%s: shape: %s: batch and tokens differ from those of %s, %s", in->path,
                            shape, first->in.path, other);
        }
        first = first != NULL ? first : tensor;
        request->batch = batch;
        request->tokens = tokens;
        request->elements += in->count;
        const size_t bytes = tensor->token_elements * tool_element_size(tensor->dtype);
        largest = bytes > largest ? bytes : largest;
    }
    if (first == NULL)
        return tool_bad("--q and --q-out, or --k and --k-out: are required");
    if (options->bf16 && request->tensor[TOOL_Q].dtype != ROPE_BF16 &&
        request->tensor[TOOL_K].dtype != ROPE_BF16)
        return tool_bad("--bf16: no file is <u2");
    const size_t threads = options->threads > 0 ? options->threads : 1;
    request->chunk = CHUNK_BYTES * threads / largest + 1;
    if (request->chunk > request->tokens)
        request->chunk = request->tokens;
    return TOOL_OK;
}

int tool_request_open(struct tool_request *request, const struct tool_options *options)
{
    memset(request, 0, sizeof *request);
    for (size_t i = 0; i < TOOL_TENSORS; i++)
        request->tensor[i].in = (struct tool_npy)TOOL_NPY_INIT;
    if (options->operand_count > 0)
        return tool_bad("%s: no operand expected, see --help", options->operands[0]);
    if (options->threads > 256)
        return tool_bad("--threads: %zu: must be 1..256", options->threads);
    int status = TOOL_OK;
    for (size_t i = 0; i < TOOL_TENSORS && status == TOOL_OK; i++)
        status = open_tensor(request, i, options);
    if (status == TOOL_OK)
        status = set_extent(request, options);
    if (status == TOOL_OK)
        status = read_positions(request, options->positions);
    if (status != TOOL_OK)
        return status;
    const struct tool_tensor *const tensor =
        &request->tensor[request->tensor[TOOL_Q].out_path == NULL];
    if (options->config != NULL) {
        status = read_config(request, options);
    } else {
        status = tool_spec_read(&request->spec, options, tensor->head_dim, &request->inv_freq,
                                request->message, sizeof request->message);
        request->spec.rotary_offset = tensor->rotary_offset;
    }
    if (status != TOOL_OK)
        return status;
    const rope_status created = rope_plan_create(&request->spec, &request->plan);
    return created == ROPE_OK ? TOOL_OK : tool_library_error(created, request->message);
}

void tool_request_close(struct tool_request *request)
{
    for (size_t i = 0; i < TOOL_TENSORS; i++)
        tool_npy_close(&request->tensor[i].in);
    tool_positions_free(&request->positions);
    rope_plan_destroy(request->plan);
    tool_model_close(request->config);
    free(request->inv_freq);
}

int tool_request_next(const struct tool_request *request, struct tool_stretch *stretch)
{
    if (request->elements == 0)
        return 0;
    stretch->token += stretch->tokens;
    if (stretch->token == request->tokens) {
        stretch->batch++;
        stretch->token = 0;
    }
    const size_t left = request->tokens - stretch->token;
    stretch->tokens = left < request->chunk ? left : request->chunk;
    return stretch->batch < request->batch;
}

size_t tool_stretch_first(const struct tool_request *request, const struct tool_tensor *tensor,
                          const struct tool_stretch *stretch)
{
    return (stretch->batch * request->tokens + stretch->token) * tensor->token_elements;
}

size_t tool_stretch_count(const struct tool_tensor *tensor, const struct tool_stretch *stretch)
{
    return stretch->tokens * tensor->token_elements;
}

void *tool_stretch_alloc(const struct tool_request *request, const struct tool_tensor *tensor)
{
    const size_t bytes = request->chunk * tensor->token_elements * tool_element_size(tensor->dtype);
    return malloc(bytes > 0 ? bytes : 1);
}
