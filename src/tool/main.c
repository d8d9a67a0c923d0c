/* SPDX-License-Identifier: Apache-2.0 */
/* Which command, its help, its exit code.  Does no work of its own. */
#include "command.h"
#include "rope/rope.h"
#include "say.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    enum tool_command command;
    int (*run)(const struct tool_options *options);
    const char *purpose;
    const char *usage;
} commands[] = {
    {"info", TOOL_INFO, tool_info, "what this library is and which instruction set it uses",
     "usage: rope info\n\n"
     "Prints the version, the instruction sets built in, those this machine can run, the active "
     "one, and\n"
     "the SLEEF it was built with.  If ROPE_ISA names no set that can be had, the active one is "
     "\"none\", with\n"
     "the reason, and the exit code is still 0."},
    {"table", TOOL_TABLE, tool_table, "rows of cos and sin",
     "usage: rope table --positions START:COUNT|FILE --rotary-dim N [OPTION]... OUT.npy\n\n"
     "Writes one row for each position; n = rotary_dim / 2.  Layouts:\n"
     "  packed     [rows, 2 n]     cos 0..n-1, then sin 0..n-1\n"
     "  pairs      [rows, 2 n]     cos 0, sin 0, cos 1, sin 1, ...\n"
     "  separate   [2, rows, n]    all cos, then all sin\n"
     "  dup-half   [2, rows, 2 n]  the same, each row twice in a row: v 0..n-1, v 0..n-1\n"
     "  dup-pairs  [2, rows, 2 n]  the same, each entry twice: v 0, v 0, v 1, v 1, ..."},
    {"apply", TOOL_APPLY, tool_apply, "rotates queries and keys",
     "usage: rope apply --q Q.npy --q-out OUT.npy [--k K.npy --k-out OUT.npy] [OPTION]...\n\n"
     "Rotates q and k, of <f2, <f4, <f8, or of bf16 in <u2 with --bf16.  Outputs have the type and "
     "the shape\n"
     "of their inputs; all of them appear at the end, or none."},
    {"verify", TOOL_VERIFY, tool_verify, "checks a rotation, or compares two files",
     "usage: rope verify --q Q.npy --q-out OUT.npy [--k K.npy --k-out OUT.npy] [OPTION]...\n"
     "       rope verify [--bf16] [--max-ulp N] [--max-abs X] A.npy B.npy\n\n"
     "With the command line of rope apply: rotates again by a slow reference of its own and checks "
     "the outputs.\n"
     "The reference has cos and sin from 192-bit integer arithmetic.  Bound: the outputs lie where "
     "exact\n"
     "evaluation of the formulas in rope.h puts them for some cos and sin within the bound that "
     "rope.h states for\n"
     "rows: 1/2 ulp of the type of the rows (f64: 1 ulp) + 4e-16 m, 8e-16 m from |position| = 2^20 "
     "on; what is not\n"
     "rotated is equal.  So values can differ from the reference only where a cos or sin lies "
     "within 8e-16 m of a\n"
     "rounding boundary, or for f64.\n"
     "With two files: compares them value by value.\n"
     "One ulp is one step from a number to the next, -0 and +0 being neighbours; two NaN count as "
     "equal.  A value\n"
     "is accepted when it is within --max-ulp or within --max-abs.\n"
     "Exit code 1 if a value is outside the bound or not accepted, or if types or shapes differ."},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void help(void)
{
    puts("usage: rope COMMAND [OPTION]...\n\nExact rotary position embeddings.  Commands:");
    for (size_t i = 0; i < COMMANDS; i++)
        printf("  %-8s %s\n", commands[i].name, commands[i].purpose);
    puts("\nrope COMMAND --help tells more; rope --version prints the version.\n"
         "Exit codes: 0 done or equal, 1 a difference was found, 2 wrong usage or a bad file "
         "(nothing is written).");
}

static int run(int count, char **arguments)
{
    if (count < 2)
        return tool_bad("no command, see rope --help");
    const char *const name = arguments[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        help();
        return TOOL_OK;
    }
    if (strcmp(name, "--version") == 0) {
        printf("rope %s\n", rope_version_string());
        return TOOL_OK;
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(name, commands[i].name) != 0)
            continue;
        struct tool_options options;
        const int status =
            tool_options_read(&options, commands[i].command, count - 2, arguments + 2);
        if (status != TOOL_OK)
            return status;
        if (!options.help)
            return commands[i].run(&options);
        puts(commands[i].usage);
        tool_options_help(commands[i].command);
        return TOOL_OK;
    }
    return tool_bad("%s: unknown command, see rope --help", name);
}

int main(int count, char **arguments)
{
    const int status = run(count, arguments);
    if (fflush(stdout) != 0 || ferror(stdout))
        return tool_bad("standard output: cannot be written");
    return status;
}
