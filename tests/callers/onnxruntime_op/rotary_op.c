/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ONNX Runtime custom-op library: the operator RotaryEmbedding of the domain "librope", in place of
 * com.microsoft's and of ONNX's own (opset 23).
 *
 *     inputs      input         [batch, tokens, heads * head_size] or [batch, heads, tokens, head_size],
 *                               float, float16, bfloat16 or double
 *                 position_ids  int64 [batch, tokens], or [1] or [], the position of the first token; optional
 *                               with caches: without them token t of batch b takes row [b, t]
 *                 cos_cache, sin_cache   of input's type, [rows, d/2], without position_ids
 *                               [batch, tokens, d/2]; both or neither
 *     output      as input
 *     attributes  interleaved (0), num_heads (0; needed for inputs of three dimensions without caches
 *                 of whole heads), rotary_embedding_dim = d (0 = the whole head)
 *                 theta (0): the base.  Instead of caches: rows of the true angles, made on the way,
 *                 at any position; rotary_embedding_dim must be given then
 *
 * The runtime's own threads do the work.  Whatever is wrong with shapes or positions is one status with
 * a message, and nothing has been written.
 */
#include <onnxruntime_c_api.h>
#include <rope/rope.h>
#include <stdlib.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

enum { INPUT, POSITION_IDS, COS_CACHE, SIN_CACHE, INPUTS };
enum { DIMENSIONS_MAX = 4, ELEMENTS_PER_PART = 1 << 15, PARTS_MAX = 256 };

static const OrtApi *ort;

/* One for each element type, all of one name: the runtime chooses by the types of a node. */
struct rotary_op {
    OrtCustomOp base; /* first: the runtime hands back a pointer to it */
    ONNXTensorElementDataType type;
    rope_dtype dtype;
};

/* A node of a graph. */
struct kernel {
    rope_dtype dtype;
    rope_pairing pairing;
    size_t num_heads;
    size_t rotary_dim;
    rope_plan *plan; /* without caches; else NULL */
};

struct operand {
    void *data; /* NULL: absent */
    size_t count;
    int64_t shape[DIMENSIONS_MAX];
};

static OrtStatusPtr invalid(const char *message)
{
    return ort->CreateStatus(ORT_INVALID_ARGUMENT, message);
}

static OrtStatusPtr read_operand(const OrtValue *value, struct operand *operand)
{
    *operand = (struct operand){0};
    if (!value)
        return NULL;
    OrtTensorTypeAndShapeInfo *info = NULL;
    OrtStatusPtr status = ort->GetTensorTypeAndShape(value, &info);
    if (!status)
        status = ort->GetDimensionsCount(info, &operand->count);
    if (!status && operand->count > DIMENSIONS_MAX)
        status = invalid("an input has more than four dimensions");
    if (!status)
        status = ort->GetDimensions(info, operand->shape, operand->count);
    if (!status) /* inputs are read only; the interface has no call that says so */
        status = ort->GetTensorMutableData((OrtValue *)(uintptr_t)value, &operand->data);
    if (info)
        ort->ReleaseTensorTypeAndShapeInfo(info);
    return status;
}

static OrtStatusPtr read_inputs(OrtKernelContext *context, struct operand operands[INPUTS])
{
    size_t count = 0;
    OrtStatusPtr status = ort->KernelContext_GetInputCount(context, &count);
    for (size_t index = 0; !status && index < INPUTS; index++) {
        const OrtValue *value = NULL;
        if (index < count)
            status = ort->KernelContext_GetInput(context, index, &value);
        if (!status)
            status = read_operand(value, &operands[index]);
    }
    return status;
}

/* ---- From a node's operands to a job ---- */

struct rotation {
    rope_job job;
    rope_tensor tensor;
    rope_positions positions;
    rope_rows rows;
};

static OrtStatusPtr describe_tensor(const struct kernel *kernel, const struct operand *input,
                                    const struct operand *cache, struct rotation *rotation)
{
    rope_tensor *tensor = &rotation->tensor;
    const int64_t *shape = input->shape;
    int64_t heads = (int64_t)kernel->num_heads, head = 0;
    *tensor = (rope_tensor)ROPE_TENSOR_INIT;
    tensor->dtype = kernel->dtype;
    tensor->src = input->data;
    if (input->count == 4) {
        heads = shape[1], head = shape[3];
        if (kernel->num_heads && heads != (int64_t)kernel->num_heads)
            return invalid("num_heads is not that of the input");
        rotation->job.tokens = (size_t)shape[2];
        tensor->src_stride_head = (ptrdiff_t)(shape[2] * head);
        tensor->src_stride_token = (ptrdiff_t)head;
        tensor->src_stride_batch = (ptrdiff_t)(heads * shape[2] * head);
    } else if (input->count == 3) {
        if (heads)
            head = shape[2] / heads;
        else if (!kernel->rotary_dim && cache->data) /* caches of whole heads tell their size */
            head = 2 * cache->shape[cache->count - 1];
        if (head > 0 && !heads)
            heads = shape[2] / head;
        if (heads * head != shape[2] || !head)
            return invalid("an input of three dimensions needs a num_heads that divides the last");
        rotation->job.tokens = (size_t)shape[1];
        tensor->src_stride_head = (ptrdiff_t)head;
        tensor->src_stride_token = (ptrdiff_t)shape[2];
        tensor->src_stride_batch = (ptrdiff_t)(shape[1] * shape[2]);
    } else {
        return invalid("the input must have three or four dimensions");
    }
    tensor->dst_stride_head = tensor->src_stride_head;
    tensor->dst_stride_token = tensor->src_stride_token;
    tensor->dst_stride_batch = tensor->src_stride_batch;
    tensor->heads = (size_t)heads;
    tensor->head_dim = (size_t)head;
    rotation->job.batch = (size_t)shape[0];
    return NULL;
}

static OrtStatusPtr describe_positions(const struct operand *ids, struct rotation *rotation)
{
    rope_positions *positions = &rotation->positions;
    const rope_job *job = &rotation->job;
    *positions = (rope_positions)ROPE_POSITIONS_INIT;
    if (ids->count == 2) {
        if (ids->shape[0] != (int64_t)job->batch || ids->shape[1] != (int64_t)job->tokens)
            return invalid("position_ids must be [batch, tokens]");
        positions->dtype = ROPE_I64;
        positions->data = ids->data;
        positions->stride_batch = (ptrdiff_t)job->tokens;
    } else if (ids->count == 0 || (ids->count == 1 && ids->shape[0] == 1)) {
        positions->start = *(const int64_t *)ids->data;
    } else {
        return invalid("position_ids must be [batch, tokens] or one number");
    }
    rotation->job.positions = positions;
    return NULL;
}

static OrtStatusPtr describe_caches(const struct kernel *kernel,
                                    const struct operand operands[INPUTS],
                                    struct rotation *rotation)
{
    const struct operand *cos = &operands[COS_CACHE], *sin = &operands[SIN_CACHE];
    const size_t dim = kernel->rotary_dim ? kernel->rotary_dim : rotation->tensor.head_dim;
    rope_rows *rows = &rotation->rows;
    *rows = (rope_rows)ROPE_ROWS_INIT;
    rows->dtype = kernel->dtype;
    rows->layout = ROPE_ROWS_SEPARATE;
    rows->cos = cos->data;
    rows->sin = sin->data;
    const int by_token = !operands[POSITION_IDS].data;
    const size_t count = by_token ? 3 : 2;
    if (!sin->data || cos->count != count || sin->count != count)
        return invalid(by_token ? "without position_ids caches must be [batch, tokens, d/2]"
                                : "caches must be [rows, d/2], both");
    for (size_t axis = 0; axis < count; axis++)
        if (cos->shape[axis] != sin->shape[axis])
            return invalid("cos_cache and sin_cache differ in shape");
    if (cos->shape[count - 1] != (int64_t)(dim / 2))
        return invalid("rows of the caches are not d/2 entries");
    if (by_token) {
        if (cos->shape[0] != (int64_t)rotation->job.batch ||
            cos->shape[1] != (int64_t)rotation->job.tokens)
            return invalid("without position_ids caches must be [batch, tokens, d/2]");
        rows->stride_batch = (ptrdiff_t)(rotation->job.tokens * (dim / 2));
    }
    rows->count = (size_t)cos->shape[count - 2];
    rotation->job.rows = rows;
    rotation->job.rotary_dim = dim;
    rotation->job.pairing = kernel->pairing;
    return NULL;
}

static OrtStatusPtr describe(const struct kernel *kernel, const struct operand operands[INPUTS],
                             struct rotation *rotation)
{
    rotation->job = (rope_job)ROPE_JOB_INIT;
    OrtStatusPtr status = describe_tensor(kernel, &operands[INPUT], &operands[COS_CACHE], rotation);
    rotation->job.q = &rotation->tensor;
    if (!status && operands[POSITION_IDS].data)
        status = describe_positions(&operands[POSITION_IDS], rotation);
    if (!status && operands[COS_CACHE].data)
        status = describe_caches(kernel, operands, rotation);
    else if (!status && !kernel->plan)
        status = invalid("neither caches nor theta and rotary_embedding_dim are given");
    else if (!status && !rotation->job.positions)
        status = invalid("theta needs position_ids");
    return status;
}

/* ---- The work, on the runtime's threads ---- */

struct work {
    const rope_plan *plan;
    const rope_job *job;
    size_t parts;
    rope_status status;
    char message[256];
};

static void do_part(void *user, size_t part)
{
    struct work *work = user;
    rope_job job = *work->job;
    if (part == 0) /* all parts say the same */
        job.message = work->message, job.message_size = sizeof work->message;
    const rope_status status = rope_rotate_part(work->plan, &job, part, work->parts);
    if (part == 0)
        work->status = status;
}

static OrtStatusPtr ORT_API_CALL compute(void *kernel_, OrtKernelContext *context)
{
    const struct kernel *kernel = kernel_;
    struct operand operands[INPUTS];
    struct rotation rotation;
    OrtStatusPtr status = read_inputs(context, operands);
    if (!status)
        status = describe(kernel, operands, &rotation);
    OrtValue *output = NULL;
    const struct operand *input = &operands[INPUT];
    if (!status)
        status = ort->KernelContext_GetOutput(context, 0, input->shape, input->count, &output);
    if (!status)
        status = ort->GetTensorMutableData(output, &rotation.tensor.dst);
    if (status)
        return status;

    const size_t elements =
        rotation.job.batch * rotation.job.tokens * rotation.tensor.heads * rotation.tensor.head_dim;
    struct work work = {.plan = rotation.job.rows ? NULL : kernel->plan,
                        .job = &rotation.job,
                        .parts = 1 + elements / ELEMENTS_PER_PART};
    if (work.parts > PARTS_MAX)
        work.parts = PARTS_MAX;
    if (work.parts == 1)
        do_part(&work, 0);
    else
        status = ort->KernelContext_ParallelFor(context, do_part, work.parts, 0, &work);
    if (!status && work.status != ROPE_OK)
        status = invalid(work.message);
    return status;
}

/* ---- A node's attributes ---- */

static int64_t integer(const OrtKernelInfo *info, const char *name)
{
    int64_t value = 0;
    OrtStatusPtr status = ort->KernelInfoGetAttribute_int64(info, name, &value);
    if (status) /* absent */
        ort->ReleaseStatus(status);
    return status ? 0 : value;
}

static double number(const OrtKernelInfo *info, const char *name)
{
    float value = 0;
    OrtStatusPtr status = ort->KernelInfoGetAttribute_float(info, name, &value);
    if (status)
        ort->ReleaseStatus(status);
    return status ? 0 : (double)value;
}

static void ORT_API_CALL destroy(void *kernel_)
{
    struct kernel *kernel = kernel_;
    if (kernel)
        rope_plan_destroy(kernel->plan);
    free(kernel);
}

static OrtStatusPtr ORT_API_CALL create(const OrtCustomOp *op, const OrtApi *api,
                                        const OrtKernelInfo *info, void **out)
{
    (void)api;
    const int64_t heads = integer(info, "num_heads"), dim = integer(info, "rotary_embedding_dim");
    const double theta = number(info, "theta");
    if (heads < 0 || dim < 0)
        return invalid("num_heads and rotary_embedding_dim must not be negative");
    struct kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel)
        return ort->CreateStatus(ORT_FAIL, "out of memory");
    kernel->dtype = ((const struct rotary_op *)op)->dtype;
    kernel->pairing = integer(info, "interleaved") ? ROPE_INTERLEAVED : ROPE_HALF;
    kernel->num_heads = (size_t)heads;
    kernel->rotary_dim = (size_t)dim;
    if (theta != 0) {
        char message[256] = "";
        rope_spec spec = ROPE_SPEC_INIT;
        spec.head_dim = kernel->rotary_dim; /* the job's tensor says how large a head is */
        spec.pairing = kernel->pairing;
        spec.theta = theta;
        spec.message = message;
        spec.message_size = sizeof message;
        if (rope_plan_create(&spec, &kernel->plan) != ROPE_OK) {
            destroy(kernel);
            return invalid(message);
        }
    }
    *out = kernel;
    return NULL;
}

/* ---- What the runtime asks about the operator ---- */

static const char *ORT_API_CALL name(const OrtCustomOp *op)
{
    (void)op;
    return "RotaryEmbedding";
}

static const char *ORT_API_CALL provider(const OrtCustomOp *op)
{
    (void)op;
    return NULL; /* the CPU */
}

static size_t ORT_API_CALL input_count(const OrtCustomOp *op)
{
    (void)op;
    return INPUTS;
}

static ONNXTensorElementDataType ORT_API_CALL input_type(const OrtCustomOp *op, size_t index)
{
    return index == POSITION_IDS ? ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64
                                 : ((const struct rotary_op *)op)->type;
}

static OrtCustomOpInputOutputCharacteristic ORT_API_CALL input_kind(const OrtCustomOp *op,
                                                                    size_t index)
{
    (void)op;
    return index == INPUT ? INPUT_OUTPUT_REQUIRED : INPUT_OUTPUT_OPTIONAL;
}

static OrtMemType ORT_API_CALL input_memory(const OrtCustomOp *op, size_t index)
{
    (void)op, (void)index;
    return OrtMemTypeDefault;
}

static size_t ORT_API_CALL output_count(const OrtCustomOp *op)
{
    (void)op;
    return 1;
}

static ONNXTensorElementDataType ORT_API_CALL output_type(const OrtCustomOp *op, size_t index)
{
    (void)index;
    return ((const struct rotary_op *)op)->type;
}

static OrtCustomOpInputOutputCharacteristic ORT_API_CALL output_kind(const OrtCustomOp *op,
                                                                     size_t index)
{
    (void)op, (void)index;
    return INPUT_OUTPUT_REQUIRED;
}

/* The output is as the input: the runtime can plan its memory. */
static OrtStatusPtr ORT_API_CALL infer(const OrtCustomOp *op, OrtShapeInferContext *context)
{
    (void)op;
    OrtTensorTypeAndShapeInfo *info = NULL;
    OrtStatusPtr status = ort->ShapeInferContext_GetInputTypeShape(context, INPUT, &info);
    return status ? status : ort->ShapeInferContext_SetOutputTypeShape(context, 0, info);
}

static int ORT_API_CALL first_version(const OrtCustomOp *op)
{
    (void)op;
    return 1;
}

static int ORT_API_CALL last_version(const OrtCustomOp *op)
{
    (void)op;
    return INT32_MAX;
}

#define ROTARY_OP(element, type_)                                       \
    {                                                                   \
        .base = {.version = ORT_API_VERSION,                            \
                 .GetName = name,                                       \
                 .GetExecutionProviderType = provider,                  \
                 .GetInputType = input_type,                            \
                 .GetInputTypeCount = input_count,                      \
                 .GetOutputType = output_type,                          \
                 .GetOutputTypeCount = output_count,                    \
                 .KernelDestroy = destroy,                              \
                 .GetInputCharacteristic = input_kind,                  \
                 .GetOutputCharacteristic = output_kind,                \
                 .GetInputMemoryType = input_memory,                    \
                 .CreateKernelV2 = create,                              \
                 .KernelComputeV2 = compute,                            \
                 .InferOutputShapeFn = infer,                           \
                 .GetStartVersion = first_version,                      \
                 .GetEndVersion = last_version},                        \
        .type = ONNX_TENSOR_ELEMENT_DATA_TYPE_##element, .dtype = type_ \
    }

/* The runtime finds this by its name. */
EXPORT OrtStatus *ORT_API_CALL RegisterCustomOps(OrtSessionOptions *options,
                                                 const OrtApiBase *base);

OrtStatus *ORT_API_CALL RegisterCustomOps(OrtSessionOptions *options, const OrtApiBase *base)
{
    static const struct rotary_op ops[] = {
        ROTARY_OP(FLOAT, ROPE_F32),
        ROTARY_OP(FLOAT16, ROPE_F16),
        ROTARY_OP(BFLOAT16, ROPE_BF16),
        ROTARY_OP(DOUBLE, ROPE_F64),
    };
    ort = base->GetApi(ORT_API_VERSION);
    if (!ort) /* every runtime has the table of version 1 */
        return base->GetApi(1)->CreateStatus(ORT_FAIL, "librope's operators need a newer runtime");
    OrtCustomOpDomain *domain = NULL; /* lives as long as the process, as its sessions may */
    OrtStatusPtr status = ort->CreateCustomOpDomain("librope", &domain);
    for (size_t i = 0; !status && i < sizeof ops / sizeof *ops; i++)
        status = ort->CustomOpDomain_Add(domain, &ops[i].base);
    return status ? status : ort->AddCustomOpDomain(options, domain);
}
