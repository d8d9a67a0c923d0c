/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rope apply: rotates files stretch by stretch in constant memory, each stretch shared by threads.
 */
#define _XOPEN_SOURCE 700
#include "command.h"
#include "element.h"
#include "npy.h"
#include "output.h"
#include "request.h"
#include "say.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* One thread's share of a stretch. */
struct part {
    pthread_t thread;
    int started;
    const rope_plan *plan;
    rope_job job; /* own copy: each part has its own message */
    size_t part;
    size_t parts;
    rope_status status;
    char message[256];
};

/* One tensor on its way from file to file. */
struct stream {
    rope_tensor tensor;
    void *src;
    void *dst;
    size_t output;
    size_t header_bytes;
};

static void *rotate_part(void *argument)
{
    struct part *const part = argument;
    part->status = rope_rotate_part(part->plan, &part->job, part->part, part->parts);
    return NULL;
}

/*
 * Runs a job on `count` threads, this one among them; a thread that cannot be started costs time
 * only.
 */
static int rotate(const rope_plan *plan, const rope_job *job, struct part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct part *const part = &parts[i];
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no part is rotated without memory for it */
        part->plan = plan;
        part->job = *job;
        part->job.message = part->message;
        part->job.message_size = sizeof part->message;
        part->part = i;
        part->parts = count;
        part->started =
            i + 1 < count && pthread_create(&part->thread, NULL, rotate_part, part) == 0;
        if (!part->started)
            rotate_part(part);
    }
    int status = TOOL_OK;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].started)
            pthread_join(parts[i].thread, NULL);
        if (parts[i].status != ROPE_OK && status == TOOL_OK)
            status = tool_library_error(parts[i].status, parts[i].message);
    }
    return status;
}

static int open_stream(struct stream *stream, const struct tool_request *request,
                       const struct tool_tensor *tensor)
{
    stream->tensor = (rope_tensor)ROPE_TENSOR_INIT;
    stream->tensor.dtype = tensor->dtype;
    stream->tensor.heads = tensor->heads;
    stream->tensor.head_dim = tensor->head_dim;
    stream->tensor.rotary_offset = tensor->rotary_offset;
    stream->tensor.src = stream->src = tool_stretch_alloc(request, tensor);
    stream->tensor.dst = stream->dst = tool_stretch_alloc(request, tensor);
    if (stream->src == NULL || stream->dst == NULL)
        return tool_bad("%s: out of memory", tensor->in.path);
    const int status = tool_output_open(tensor->out_path, &stream->output);
    if (status != TOOL_OK)
        return status;
    char header[TOOL_NPY_HEADER];
    stream->header_bytes =
        tool_npy_header(header, tensor->dtype, tensor->in.shape, tensor->in.dims);
    return tool_output_write(stream->output, header, stream->header_bytes, 0);
}

static int rotate_stretch(const struct tool_request *request, const struct tool_stretch *stretch,
                          const rope_job *whole, struct stream *streams, struct part *parts,
                          size_t threads)
{
    int status = TOOL_OK;
    rope_positions positions[ROPE_AXES_MAX];
    tool_positions_from(positions, &request->positions, stretch->batch, stretch->token);
    rope_job job = *whole;
    job.tokens = stretch->tokens;
    job.positions = positions;
    for (size_t i = 0; i < TOOL_TENSORS && status == TOOL_OK; i++) {
        const struct tool_tensor *const tensor = &request->tensor[i];
        if (tensor->out_path != NULL)
            status = tool_npy_read(&tensor->in, tool_stretch_first(request, tensor, stretch),
                                   tool_stretch_count(tensor, stretch), streams[i].src);
    }
    if (status == TOOL_OK)
        status = rotate(request->plan, &job, parts, threads);
    for (size_t i = 0; i < TOOL_TENSORS && status == TOOL_OK; i++) {
        const struct tool_tensor *const tensor = &request->tensor[i];
        const size_t size = tool_element_size(tensor->dtype);
        if (tensor->out_path != NULL)
            status = tool_output_write(
                streams[i].output, streams[i].dst, tool_stretch_count(tensor, stretch) * size,
                (int64_t)(streams[i].header_bytes +
                          tool_stretch_first(request, tensor, stretch) * size));
    }
    return status;
}

static int apply(const struct tool_request *request, const struct tool_options *options,
                 struct stream *streams)
{
    const size_t threads = options->threads > 0 ? options->threads : 1;
    rope_job job = ROPE_JOB_INIT;
    /* zero where there is no --config, and where it says nothing of it */
    job.direction = options->direction != 0 ? options->direction : request->entry.direction;
    job.pairing_out = options->pairing_out != 0 ? options->pairing_out : request->entry.pairing_out;
    job.arith = options->arith;
    job.row_dtype = options->row_dtype;
    int status = TOOL_OK;
    for (size_t i = 0; i < TOOL_TENSORS && status == TOOL_OK; i++) {
        if (request->tensor[i].out_path == NULL)
            continue;
        status = open_stream(&streams[i], request, &request->tensor[i]);
        *(i == TOOL_Q ? &job.q : &job.k) = &streams[i].tensor;
    }
    struct part *const parts = calloc(threads, sizeof *parts);
    if (parts == NULL && status == TOOL_OK)
        status = tool_bad("--threads: %zu: out of memory", threads);
    struct tool_progress progress;
    tool_progress_start(&progress, "apply", request->batch * request->tokens);
    for (struct tool_stretch stretch = {0};
         status == TOOL_OK && tool_request_next(request, &stretch);) {
        status = rotate_stretch(request, &stretch, &job, streams, parts, threads);
        tool_progress_add(&progress, stretch.tokens);
    }
    tool_progress_end(&progress);
    free(parts);
    return status;
}

int tool_apply(const struct tool_options *options)
{
    struct tool_request request;
    struct stream streams[TOOL_TENSORS];
    memset(streams, 0, sizeof streams);
    int status = tool_request_open(&request, options);
    if (status == TOOL_OK && options->q_out != NULL && options->k_out != NULL &&
        strcmp(options->q_out, options->k_out) == 0)
        status = tool_bad("--k-out: %s: is --q-out too", options->k_out);
    if (status == TOOL_OK)
        status = apply(&request, options, streams);
    status = tool_output_finish(status);
    for (size_t i = 0; i < TOOL_TENSORS; i++) {
        free(streams[i].src);
        free(streams[i].dst);
    }
    tool_request_close(&request);
    return status;
}
