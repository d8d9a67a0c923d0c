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
    return !(spec.struct_size == sizeof spec && info.struct_size == sizeof info &&
             positions.struct_size == sizeof positions && rows.struct_size == sizeof rows &&
             tensor.struct_size == sizeof tensor && job.struct_size == sizeof job);
}
