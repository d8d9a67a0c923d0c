/* SPDX-License-Identifier: Apache-2.0 */
/* rope check: the library's self-test, for people. */
#include "command.h"
#include "rope/rope.h"
#include "say.h"
#include <stdio.h>

int tool_check(const struct tool_options *options)
{
    if (options->operand_count > 0)
        return tool_bad("%s: no operand expected, see --help", options->operands[0]);
    char lines[32 * 1024]; /* a line for every operation */
    rope_self_test_report report = ROPE_SELF_TEST_REPORT_INIT;
    report.message = lines;
    report.message_size = sizeof lines;
    const rope_status status = rope_self_test(&report);
    if (status != ROPE_OK && status != ROPE_ERR_DIFFERENCE)
        return tool_bad("%s", lines);
    printf("active     %s\n", rope_isa_name(report.isa));
    printf("compared   %u operations with %s\n", (unsigned)report.operations,
           report.isa == ROPE_ISA_SCALAR ? "those of its other form, or known answers"
                                         : "those of scalar");
    if (status == ROPE_OK) {
        puts("result     equal to the bit");
        return TOOL_OK;
    }
    printf("result     %u differ:\n%s\n", (unsigned)report.different, lines);
    return TOOL_DIFFERENCE;
}
