/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of every command, and the help text, from one table.  Opens no file and calls no
 * library. */
#ifndef ROPE_TOOL_OPTIONS_H
#define ROPE_TOOL_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Commands, as bits of the set of commands that know an option; TOOL_COMPARE is verify with two
 * files.
 */
enum tool_command {
    TOOL_INFO = 1,
    TOOL_TABLE = 2,
    TOOL_APPLY = 4,
    TOOL_VERIFY = 8,
    TOOL_COMPARE = 16,
    TOOL_CONFIG = 32,
    TOOL_INSPECT = 64,
    TOOL_PERMUTE = 128,
    TOOL_CHECK = 256
};

/* Zero or NULL where an option was not given, unless said otherwise.  Words are the ROPE_*
 * constants they stand for. */
struct tool_options {
    const char *operands[2]; /* table: the output; verify: two files to compare */
    size_t operand_count;
    int help;
    const char
        *not_compare; /* the name of an option given that TOOL_COMPARE does not know, or NULL */

    const char *q;
    const char *k;
    const char *q_out;
    const char *k_out;
    int bf16;
    const char *positions;
    size_t threads;

    size_t head_dim;
    size_t rotary_dim;
    size_t rotary_offset;
    size_t k_rotary_offset; /* SIZE_MAX where not given */
    double theta;
    int32_t scaling;
    double factor;
    const char *inv_freq;
    double attention_factor;
    int32_t angle;

    int32_t pairing;
    int32_t pairing_out;
    int32_t direction;
    int32_t arith;
    int32_t row_dtype;

    int32_t dtype;
    int32_t layout;

    const char *config;
    int32_t profile;
    size_t length;
    size_t layer; /* SIZE_MAX where not given */

    const char *output;
    int32_t from; /* -1 where not given */
    int32_t to;   /* the same */

    size_t max_ulp;
    double max_abs; /* -1 where not given */
};

/* Reads the arguments behind the name of the command. */
int tool_options_read(struct tool_options *options, enum tool_command command, int count,
                      char **arguments);

/* Prints the options that a command knows to standard output. */
void tool_options_help(enum tool_command command);

/* A whole number, with nothing behind it; 0 if `text` is none or does not fit. */
int tool_parse_size(const char *text, size_t *number);

#endif
