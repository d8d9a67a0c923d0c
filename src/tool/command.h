/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of the tool.  Each takes its options and returns the exit code. */
#ifndef ROPE_TOOL_COMMAND_H
#define ROPE_TOOL_COMMAND_H

#include "options.h"

int tool_info(const struct tool_options *options);
int tool_check(const struct tool_options *options);
int tool_table(const struct tool_options *options);
int tool_apply(const struct tool_options *options);
int tool_verify(const struct tool_options *options);
int tool_config(const struct tool_options *options);
int tool_inspect(const struct tool_options *options);
int tool_permute(const struct tool_options *options);

#endif
