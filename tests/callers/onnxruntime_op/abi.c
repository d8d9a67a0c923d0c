/* SPDX-License-Identifier: Apache-2.0 */
/* Holds the numbers of the entries that rotary_op.c calls, so that the declarations here and the
 * header of ONNX Runtime cannot differ: either compiles with these only. */
#include <onnxruntime_c_api.h>
#include <stddef.h>

#define ENTRY(name, number)                                                     \
    _Static_assert(offsetof(OrtApi, name) == (number) * sizeof(void (*)(void)), \
                   "the entry " #name " of OrtApi has moved")
#define MEMBER(name, number)                                                         \
    _Static_assert(offsetof(OrtCustomOp, name) == (number) * sizeof(void (*)(void)), \
                   "the member " #name " of OrtCustomOp has moved")

ENTRY(CreateStatus, 0);
ENTRY(CreateCustomOpDomain, 26);
ENTRY(CustomOpDomain_Add, 27);
ENTRY(AddCustomOpDomain, 28);
ENTRY(GetTensorMutableData, 51);
ENTRY(GetDimensionsCount, 61);
ENTRY(GetDimensions, 62);
ENTRY(GetTensorTypeAndShape, 65);
ENTRY(KernelInfoGetAttribute_float, 85);
ENTRY(KernelInfoGetAttribute_int64, 86);
ENTRY(KernelContext_GetInputCount, 88);
ENTRY(KernelContext_GetInput, 90);
ENTRY(KernelContext_GetOutput, 91);
ENTRY(ReleaseStatus, 93);
ENTRY(ReleaseTensorTypeAndShapeInfo, 99);
ENTRY(ShapeInferContext_GetInputTypeShape, 268);
ENTRY(ShapeInferContext_SetOutputTypeShape, 270);
ENTRY(KernelContext_ParallelFor, 274);

MEMBER(CreateKernel, 1);
MEMBER(GetName, 2);
MEMBER(GetExecutionProviderType, 3);
MEMBER(GetInputType, 4);
MEMBER(GetInputTypeCount, 5);
MEMBER(GetOutputType, 6);
MEMBER(GetOutputTypeCount, 7);
MEMBER(KernelDestroy, 9);
MEMBER(GetInputCharacteristic, 10);
MEMBER(GetOutputCharacteristic, 11);
MEMBER(GetInputMemoryType, 12);
MEMBER(CreateKernelV2, 17);
MEMBER(KernelComputeV2, 18);
MEMBER(InferOutputShapeFn, 19);
MEMBER(GetStartVersion, 20);
MEMBER(GetEndVersion, 21);

_Static_assert(ORT_INVALID_ARGUMENT == 2 && ORT_FAIL == 1 && INPUT_OUTPUT_OPTIONAL == 1 &&
                   ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT == 1 &&
                   ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 == 7 &&
                   ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16 == 10 &&
                   ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE == 11 &&
                   ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16 == 16,
               "numbers of enumerations");
