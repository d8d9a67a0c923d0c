/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rotary_op.c uses of ONNX Runtime's C interface, where no package brings the header of this name:
 * the wheel has none, Debian has libonnxruntime-dev from 13 on, and CMakeLists.txt takes that if it is
 * there.  The runtime keeps every version of its table of functions: entries are only appended, so
 * that an entry's number is its ABI.  abi.c checks these numbers, whichever header is in use.
 */
#ifndef ROPE_ONNXRUNTIME_C_API_H
#define ROPE_ONNXRUNTIME_C_API_H

#include <stddef.h>
#include <stdint.h>

#define ORT_API_VERSION 17
#define ORT_API_CALL

typedef struct OrtStatus OrtStatus;
typedef OrtStatus *OrtStatusPtr; /* NULL is success */
typedef struct OrtValue OrtValue;
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtCustomOpDomain OrtCustomOpDomain;
typedef struct OrtTensorTypeAndShapeInfo OrtTensorTypeAndShapeInfo;
typedef struct OrtKernelInfo OrtKernelInfo;
typedef struct OrtKernelContext OrtKernelContext;
typedef struct OrtShapeInferContext OrtShapeInferContext;
typedef struct OrtApi OrtApi;
typedef struct OrtCustomOp OrtCustomOp;

typedef enum { ORT_FAIL = 1, ORT_INVALID_ARGUMENT = 2 } OrtErrorCode;
typedef enum ONNXTensorElementDataType {
    ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT = 1,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 = 7,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16 = 10,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE = 11,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16 = 16
} ONNXTensorElementDataType;
typedef enum {
    INPUT_OUTPUT_REQUIRED = 0,
    INPUT_OUTPUT_OPTIONAL = 1
} OrtCustomOpInputOutputCharacteristic;
typedef enum { OrtMemTypeDefault = 0 } OrtMemType;

typedef struct OrtApiBase {
    const OrtApi *(*GetApi)(uint32_t version); /* NULL: the runtime is older */
    const char *(*GetVersionString)(void);
} OrtApiBase;

/* The table; the comments give the numbers of the entries. */
struct OrtApi {
    OrtStatus *(*CreateStatus)(OrtErrorCode code, const char *message); /* 0 */
    void *from_1[25];
    OrtStatusPtr (*CreateCustomOpDomain)(const char *domain, OrtCustomOpDomain **out); /* 26 */
    OrtStatusPtr (*CustomOpDomain_Add)(OrtCustomOpDomain *domain, const OrtCustomOp *op);
    OrtStatusPtr (*AddCustomOpDomain)(OrtSessionOptions *options, OrtCustomOpDomain *domain);
    void *from_29[22];
    OrtStatusPtr (*GetTensorMutableData)(OrtValue *value, void **out); /* 51 */
    void *from_52[8];
    OrtStatusPtr (*GetTensorElementType)(const OrtTensorTypeAndShapeInfo *info,
                                         enum ONNXTensorElementDataType *out); /* 60 */
    OrtStatusPtr (*GetDimensionsCount)(const OrtTensorTypeAndShapeInfo *info, size_t *out);
    OrtStatusPtr (*GetDimensions)(const OrtTensorTypeAndShapeInfo *info, int64_t *out,
                                  size_t count);
    void *from_63[2];
    OrtStatusPtr (*GetTensorTypeAndShape)(const OrtValue *value,
                                          OrtTensorTypeAndShapeInfo **out); /* 65 */
    void *from_66[19];
    OrtStatusPtr (*KernelInfoGetAttribute_float)(const OrtKernelInfo *info, const char *name,
                                                 float *out); /* 85 */
    OrtStatusPtr (*KernelInfoGetAttribute_int64)(const OrtKernelInfo *info, const char *name,
                                                 int64_t *out);
    void *from_87[1];
    OrtStatusPtr (*KernelContext_GetInputCount)(const OrtKernelContext *context,
                                                size_t *out); /* 88 */
    OrtStatusPtr (*KernelContext_GetOutputCount)(const OrtKernelContext *context, size_t *out);
    OrtStatusPtr (*KernelContext_GetInput)(const OrtKernelContext *context, size_t index,
                                           const OrtValue **out);
    OrtStatusPtr (*KernelContext_GetOutput)(OrtKernelContext *context, size_t index,
                                            const int64_t *dimensions, size_t count,
                                            OrtValue **out);
    void *from_92[1];
    void (*ReleaseStatus)(OrtStatus *status); /* 93 */
    void *from_94[5];
    void (*ReleaseTensorTypeAndShapeInfo)(OrtTensorTypeAndShapeInfo *info); /* 99 */
    void *from_100[168];
    OrtStatusPtr (*ShapeInferContext_GetInputTypeShape)(const OrtShapeInferContext *context,
                                                        size_t index,
                                                        OrtTensorTypeAndShapeInfo **out); /* 268 */
    void *from_269[1];
    OrtStatusPtr (*ShapeInferContext_SetOutputTypeShape)(
        const OrtShapeInferContext *context, size_t index,
        const OrtTensorTypeAndShapeInfo *info); /* 270 */
    void *from_271[3];
    OrtStatusPtr (*KernelContext_ParallelFor)(const OrtKernelContext *context,
                                              void (*function)(void *, size_t), size_t total,
                                              size_t batches, void *user); /* 274 */
};

/* A custom op; members up to what its version says. */
struct OrtCustomOp {
    uint32_t version;
    void *(*CreateKernel)(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info);
    const char *(*GetName)(const OrtCustomOp *op);
    const char *(*GetExecutionProviderType)(const OrtCustomOp *op);
    ONNXTensorElementDataType (*GetInputType)(const OrtCustomOp *op, size_t index);
    size_t (*GetInputTypeCount)(const OrtCustomOp *op);
    ONNXTensorElementDataType (*GetOutputType)(const OrtCustomOp *op, size_t index);
    size_t (*GetOutputTypeCount)(const OrtCustomOp *op);
    void (*KernelCompute)(void *kernel, OrtKernelContext *context);
    void (*KernelDestroy)(void *kernel);
    OrtCustomOpInputOutputCharacteristic (*GetInputCharacteristic)(const OrtCustomOp *op,
                                                                   size_t index);
    OrtCustomOpInputOutputCharacteristic (*GetOutputCharacteristic)(const OrtCustomOp *op,
                                                                    size_t index);
    OrtMemType (*GetInputMemoryType)(const OrtCustomOp *op, size_t index);
    int (*GetVariadicInputMinArity)(const OrtCustomOp *op);
    int (*GetVariadicInputHomogeneity)(const OrtCustomOp *op);
    int (*GetVariadicOutputMinArity)(const OrtCustomOp *op);
    int (*GetVariadicOutputHomogeneity)(const OrtCustomOp *op);
    OrtStatusPtr (*CreateKernelV2)(const OrtCustomOp *op, const OrtApi *api,
                                   const OrtKernelInfo *info, void **kernel);
    OrtStatusPtr (*KernelComputeV2)(void *kernel, OrtKernelContext *context);
    OrtStatusPtr (*InferOutputShapeFn)(const OrtCustomOp *op, OrtShapeInferContext *context);
    int (*GetStartVersion)(const OrtCustomOp *op);
    int (*GetEndVersion)(const OrtCustomOp *op);
};

#endif
