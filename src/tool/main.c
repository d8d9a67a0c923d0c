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
     "usage: rope info\n"
     "\n"
     "Prints the version, the instruction sets built in, those this machine can run,\n"
     "the active one, and the SLEEF it was built with. If ROPE_ISA names no set that\n"
     "can be had, the active one is \"none\", with the reason, and the exit code is\n"
     "still 0."},
    {"check", TOOL_CHECK, tool_check, "whether this machine computes what it should",
     "usage: rope check\n"
     "\n"
     "Compares every operation of the active instruction set with the scalar one, bit\n"
     "for bit, in a few milliseconds, and names those that differ. Exit code 1 if any\n"
     "does. ROPE_ISA=SET rope check tests another set."},
    {"table", TOOL_TABLE, tool_table, "rows of cos and sin",
     "usage: rope table --positions START:COUNT|FILE --rotary-dim N [OPTION]... OUT.npy\n\n"
     "Writes one row for each position; n = rotary_dim / 2.  Layouts:\n"
     "  packed     [rows, 2 n]     cos 0..n-1, then sin 0..n-1\n"
     "  pairs      [rows, 2 n]     cos 0, sin 0, cos 1, sin 1, ...\n"
     "  separate   [2, rows, n]    all cos, then all sin\n"
     "  dup-half   [2, rows, 2 n]  the same, each row twice in a row: v 0..n-1, v 0..n-1\n"
     "  dup-pairs  [2, rows, 2 n]  the same, each entry twice: v 0, v 0, v 1, v 1, ..."},
    {"apply", TOOL_APPLY, tool_apply, "rotates queries and keys",
     "usage: rope apply --q Q.npy --q-out OUT.npy [--k K.npy --k-out OUT.npy] [OPTION]...\n"
     "\n"
     "Rotates q and k, of <f2, <f4, <f8, or of bf16 in <u2 with --bf16. Outputs have\n"
     "the type and the shape of their inputs; all of them appear at the end, or none."},
    {"verify", TOOL_VERIFY, tool_verify, "checks a rotation, or compares two files",
     "usage: rope verify --q Q.npy --q-out OUT.npy [--k K.npy --k-out OUT.npy] [OPTION]...\n"
     "       rope verify [--bf16] [--max-ulp N] [--max-abs X] A.npy B.npy\n"
     "\n"
     "With the command line of rope apply: rotates the inputs again by a slow\n"
     "reference of its own, whose cos and sin come from 192-bit integers, and checks\n"
     "the outputs. rope.h gives every cos and sin some room: 1/2 ulp of their type\n"
     "(f64: 1 ulp) + 4e-16 m, or 8e-16 m from |position| = 2^20 on. An output is\n"
     "within the bound if some cos and sin in that room give it, all arithmetic behind\n"
     "them being exact to the bit; what is not rotated must be equal. So outputs\n"
     "differ from the reference only for f64, or where a cos or sin lies within 8e-16\n"
     "m of a rounding boundary.\n"
     "\n"
     "With two files: compares them value by value.\n"
     "\n"
     "One ulp is one step from a number to the next, -0 and +0 being neighbours; two\n"
     "NaN count as equal. --max-ulp and --max-abs each accept more values. Exit code 1\n"
     "if a value is neither within the bound nor accepted (\"refused\"), or if types or\n"
     "shapes differ."},
    {"config", TOOL_CONFIG, tool_config, "what the configuration of a model means",
     "usage: rope config [--profile PROFILE] [--length N] CONFIG.json|MODEL.gguf\n"
     "\n"
     "Prints as JSON the rotations that a Hugging Face config.json or the metadata of\n"
     "a GGUF file stand for, which layer takes which (null: none), and warnings where\n"
     "implementations disagree. Profiles: the meaning of the parameters, or that of\n"
     "one implementation, see rope_config.h."},
    {"inspect", TOOL_INSPECT, tool_inspect, "what happens to every pair of a model, and a page",
     "usage: rope inspect [-o PAGE.html] CONFIG.json|MODEL.gguf|MODEL-NAME\n"
     "\n"
     "Prints frequency and wavelength of every pair, with and without the scaling of\n"
     "the context, the axes and the layers, and warnings. The page has figures too; it\n"
     "is one file that needs no network. Names: llama-3.1-8b, qwen2-vl-7b, gemma-3-4b,\n"
     "deepseek-v3, gpt-oss-20b, phi-3-vision, glm-4-9b, smollm3-3b."},
    {"permute", TOOL_PERMUTE, tool_permute, "a checkpoint in the other pairing",
     "usage: rope permute --from PAIRING --to PAIRING --config CONFIG.json IN OUT\n"
     "\n"
     "Moves the rows of all query and key projections, their biases and their\n"
     "normalisations, so that rotations in the other pairing give the same scores:\n"
     "half is the order of Hugging Face's Llama, interleaved that of Meta's originals\n"
     "and of GGUF. All other bytes are copied, and the config stays as it is.\n"
     "\n"
     "IN and OUT are .safetensors files, or model.safetensors.index.json in two\n"
     "directories: then every file that it names is converted. Towers for images and\n"
     "sound are copied. Quantized projections are refused."},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void help(void)
{
    puts("usage: rope COMMAND [OPTION]...\n\nExact rotary position embeddings.  Commands:");
    for (size_t i = 0; i < COMMANDS; i++)
        printf("  %-8s %s\n", commands[i].name, commands[i].purpose);
    puts("\nrope COMMAND --help tells more; rope --version prints the version.\n"
         "Exit codes: 0 done or equal, 1 a difference was found, 2 usage or a bad file.\n"
         "When a command fails it writes no file.");
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
