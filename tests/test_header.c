/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public header alone, and every initialiser of it, in whatever language and standard the
 * compiler is told. Compiled only, by test_header.sh; must not include anything else.
 */
#include "rope/rope.h"

int main(void);
int main(void)
{
    const rope_spec spec = ROPE_SPEC_INIT;
    const rope_info info = ROPE_INFO_INIT;
    const rope_positions positions = ROPE_POSITIONS_INIT;
    const rope_rows rows = ROPE_ROWS_INIT;
    const rope_tensor tensor = ROPE_TENSOR_INIT;
    const rope_job job = ROPE_JOB_INIT;
    const rope_sinusoid sinusoid = ROPE_SINUSOID_INIT;
    const rope_permutation permutation = ROPE_PERMUTATION_INIT;
    const rope_self_test_report report = ROPE_SELF_TEST_REPORT_INIT;
    return !(spec.struct_size == sizeof spec && info.struct_size == sizeof info &&
             positions.struct_size == sizeof positions && rows.struct_size == sizeof rows &&
             tensor.struct_size == sizeof tensor && job.struct_size == sizeof job &&
             sinusoid.struct_size == sizeof sinusoid &&
             permutation.struct_size == sizeof permutation && report.struct_size == sizeof report);
}
