/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rope info.  What the build chose comes from the build system as ROPE_TOOL_*; everything else from
 * the library.
 */
#include "command.h"
#include "rope/rope.h"
#include "say.h"
#include <stdio.h>
#include <stdlib.h>

#ifndef ROPE_TOOL_SETS
#define ROPE_TOOL_SETS "unknown"
#endif
#ifndef ROPE_TOOL_SLEEF
#define ROPE_TOOL_SLEEF "unknown"
#endif

int tool_info(const struct tool_options *options)
{
    if (options->operand_count > 0)
        return tool_bad("%s: no operand expected, see --help", options->operands[0]);
    printf("version    %s\n", rope_version_string());
    printf("built      %s\n", ROPE_TOOL_SETS);
    printf("available ");
    for (rope_isa isa = ROPE_ISA_SCALAR; isa <= ROPE_ISA_NEON; isa++)
        if (rope_isa_available(isa))
            printf(" %s", rope_isa_name(isa));
    printf("\nactive     %s", rope_isa_name(rope_active_isa()));
    if (rope_active_isa() == ROPE_ISA_NONE) {
        const char *const wanted = getenv("ROPE_ISA");
        printf(" (ROPE_ISA is \"%s\", which is not available)", wanted != NULL ? wanted : "");
    }
    printf("\nsleef      %s\n", ROPE_TOOL_SLEEF);
    return TOOL_OK;
}
