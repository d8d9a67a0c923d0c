/* SPDX-License-Identifier: Apache-2.0 */
/* The table of options, its reader and its printer.  A value's meaning is left to whoever uses it.
 */
#include "options.h"
#include "rope/rope_config.h"
#include "say.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { FLAG, TEXT, SIZE, REAL, POSITIVE, WORD };

struct word {
    const char *text;
    int32_t value;
};

static const struct word scalings[] = {
    {"default", ROPE_SCHEME_DEFAULT}, {"linear", ROPE_SCHEME_LINEAR}, {NULL, 0}};
static const struct word angles[] = {
    {"exact", ROPE_ANGLE_EXACT}, {"f32", ROPE_ANGLE_F32}, {NULL, 0}};
static const struct word pairings[] = {
    {"half", ROPE_HALF}, {"interleaved", ROPE_INTERLEAVED}, {NULL, 0}};
static const struct word pairings_out[] = {{"same", ROPE_OUT_SAME},
                                           {"half", ROPE_OUT_HALF},
                                           {"interleaved", ROPE_OUT_INTERLEAVED},
                                           {NULL, 0}};
static const struct word directions[] = {{"forward", ROPE_FORWARD},
                                         {"inverse", ROPE_INVERSE},
                                         {"transpose", ROPE_TRANSPOSE},
                                         {"shift", ROPE_SHIFT},
                                         {NULL, 0}};
static const struct word ariths[] = {{"fused", ROPE_ARITH_FUSED},
                                     {"eager", ROPE_ARITH_EAGER},
                                     {"unfused", ROPE_ARITH_UNFUSED},
                                     {NULL, 0}};
static const struct word row_dtypes[] = {
    {"none", 0}, {"f32", ROPE_F32}, {"f16", ROPE_F16}, {"bf16", ROPE_BF16}, {NULL, 0}};
static const struct word dtypes[] = {
    {"f32", ROPE_F32}, {"f64", ROPE_F64}, {"f16", ROPE_F16}, {"bf16", ROPE_BF16}, {NULL, 0}};
static const struct word layouts[] = {
    {"packed", ROPE_ROWS_PACKED},       {"separate", ROPE_ROWS_SEPARATE},
    {"pairs", ROPE_ROWS_PAIRS},         {"dup-half", ROPE_ROWS_DUP_HALF},
    {"dup-pairs", ROPE_ROWS_DUP_PAIRS}, {NULL, 0}};

static const struct word profiles[] = {{"exact", ROPE_PROFILE_EXACT},
                                       {"transformers", ROPE_PROFILE_TRANSFORMERS},
                                       {"vllm", ROPE_PROFILE_VLLM},
                                       {"ggml", ROPE_PROFILE_GGML},
                                       {NULL, 0}};

enum {
    ROTATION = TOOL_APPLY | TOOL_VERIFY,
    PLAN = TOOL_TABLE | ROTATION,
    MODEL = TOOL_TABLE | TOOL_APPLY
};

#define AT(field) offsetof(struct tool_options, field)

static const struct option {
    const char *name;
    unsigned commands;
    enum kind kind;
    size_t field;
    const struct word *words;
    const char *argument;
    const char *help;
} table[] = {
    {"q", ROTATION, TEXT, AT(q), NULL, "FILE",
     "queries, [tokens, heads, head_dim] or [batch, tokens, heads, head_dim]"},
    {"k", ROTATION, TEXT, AT(k), NULL, "FILE",
     "keys, same batch and tokens; either of --q and --k may be absent"},
    {"q-out", ROTATION, TEXT, AT(q_out), NULL, "FILE", "the rotated queries"},
    {"k-out", ROTATION, TEXT, AT(k_out), NULL, "FILE", "the rotated keys"},
    {"bf16", ROTATION | TOOL_COMPARE, FLAG, AT(bf16), NULL, "",
     "<u2 files hold bf16, which .npy has no name for"},
    {"positions", ROTATION, TEXT, AT(positions), NULL, "START|FILE",
     "first position (default 0), or a file of i4 i8 f4 f8, [tokens] or [batch, tokens]"},
    {"positions", TOOL_TABLE, TEXT, AT(positions), NULL, "START:COUNT|FILE",
     "one row for each; a file holds i4 i8 f4 f8, [rows]"},
    {"config", TOOL_PERMUTE, TEXT, AT(config), NULL, "FILE", "config.json of the model (required)"},
    {"config", MODEL, TEXT, AT(config), NULL, "FILE",
     "config.json or GGUF file of a model, instead of --head-dim to --angle and --pairing"},
    {"layer", MODEL, SIZE, AT(layer), NULL, "N", "layer whose rotation it is, from 0 on"},
    {"profile", MODEL | TOOL_CONFIG | TOOL_INSPECT, WORD, AT(profile), profiles, "",
     "whose meaning of the configuration"},
    {"length", MODEL | TOOL_CONFIG | TOOL_INSPECT, SIZE, AT(length), NULL, "N",
     "tokens of the sequence, for schemes that depend on it (default: short)"},
    {"head-dim", TOOL_TABLE, SIZE, AT(head_dim), NULL, "N",
     "elements of a head (default: those rotated)"},
    {"rotary-dim", PLAN, SIZE, AT(rotary_dim), NULL, "N",
     "rotated elements of a head (default: all from the offset on)"},
    {"rotary-offset", PLAN, SIZE, AT(rotary_offset), NULL, "N",
     "first rotated element of a head (default 0)"},
    {"k-rotary-offset", ROTATION, SIZE, AT(k_rotary_offset), NULL, "N",
     "that of the keys (default: --rotary-offset)"},
    {"theta", PLAN, POSITIVE, AT(theta), NULL, "X",
     "base of the inverse frequencies (default 10000)"},
    {"scaling", PLAN, WORD, AT(scaling), scalings, "",
     "theta^(-2 i / rotary_dim), or that divided by --factor"},
    {"factor", PLAN, POSITIVE, AT(factor), NULL, "X", "divisor of --scaling linear"},
    {"inv-freq", PLAN, TEXT, AT(inv_freq), NULL, "FILE",
     "own inverse frequencies, f4 or f8, [rotary_dim / 2], instead of --theta and --scaling"},
    {"attention-factor", PLAN, POSITIVE, AT(attention_factor), NULL, "X",
     "m, by which cos and sin are multiplied (default 1)"},
    {"angle", PLAN, WORD, AT(angle), angles, "",
     "true angle, or position times frequency rounded to f32"},
    {"direction", PLAN, WORD, AT(direction), directions, "",
     "inverse undoes forward, transpose is its gradient"},
    {"pairing", ROTATION, WORD, AT(pairing), pairings, "", "which elements form a pair"},
    {"out-pairing", ROTATION, WORD, AT(pairing_out), pairings_out, "", "pairing of the result"},
    {"arith", ROTATION, WORD, AT(arith), ariths, "",
     "in f32 (f64) with fused multiply-add, or every step rounded to the type of the data"},
    {"row-dtype", ROTATION, WORD, AT(row_dtype), row_dtypes, "",
     "type that cos and sin are rounded to before they are used"},
    {"threads", ROTATION, SIZE, AT(threads), NULL, "N",
     "threads that share the work, 1..256 (default 1; verify uses one)"},
    {"dtype", TOOL_TABLE, WORD, AT(dtype), dtypes, "",
     "type of the entries; bf16 is written as <u2"},
    {"layout", TOOL_TABLE, WORD, AT(layout), layouts, "", "layout of the rows, see above"},
    {"max-ulp", TOOL_VERIFY | TOOL_COMPARE, SIZE, AT(max_ulp), NULL, "N",
     "accept values up to N steps apart (default 0)"},
    {"max-abs", TOOL_VERIFY | TOOL_COMPARE, REAL, AT(max_abs), NULL, "X",
     "accept values up to X apart (0: -0 for +0)"},
    {"output", TOOL_INSPECT, TEXT, AT(output), NULL, "FILE",
     "a page for browsers to write, too; -o FILE is the same"},
    {"from", TOOL_PERMUTE, WORD, AT(from), pairings, "", "pairing of the input (required)"},
    {"to", TOOL_PERMUTE, WORD, AT(to), pairings, "", "pairing of the output (required)"},
    {"help", ~0U, FLAG, AT(help), NULL, "", "print this and exit"},
};
enum { OPTIONS = sizeof table / sizeof *table };

int tool_parse_size(const char *text, size_t *number)
{
    size_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        const size_t digit = (size_t)(*at - '0');
        if (value > (SIZE_MAX - digit) / 10)
            return 0;
        value = value * 10 + digit;
    }
    *number = value;
    return at != text && *at == '\0';
}

static int parse_real(const char *text, double *number)
{
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*number);
}

static int parse_word(const struct option *option, const char *text, int32_t *value)
{
    char choice[128] = "";
    for (const struct word *word = option->words; word->text != NULL; word++) {
        if (strcmp(word->text, text) == 0) {
            *value = word->value;
            return TOOL_OK;
        }
        strcat(strcat(choice, " "), word->text);
    }
    return tool_bad("--%s: %s: must be one of%s", option->name, text, choice);
}

static int set(const struct option *option, struct tool_options *options, const char *text)
{
    void *const field = (char *)options + option->field;
    switch (option->kind) {
    case FLAG:
        *(int *)field = 1;
        return TOOL_OK;
    case TEXT:
        *(const char **)field = text;
        return *text != '\0' ? TOOL_OK : tool_bad("--%s: '': is empty", option->name);
    case SIZE:
        return tool_parse_size(text, field)
                   ? TOOL_OK
                   : tool_bad("--%s: %s: must be a whole number", option->name, text);
    case REAL:
        return parse_real(text, field) && *(double *)field >= 0
                   ? TOOL_OK
                   : tool_bad("--%s: %s: must be a finite number, 0 or more", option->name, text);
    case POSITIVE: /* to the library 0 would mean the default */
        return parse_real(text, field) && *(double *)field > 0
                   ? TOOL_OK
                   : tool_bad("--%s: %s: must be a finite number above 0", option->name, text);
    default:
        return parse_word(option, text, field);
    }
}

/* The option that `name` of `length` names for the command, or NULL. */
static const struct option *find(enum tool_command command, const char *name, size_t length)
{
    for (size_t i = 0; i < OPTIONS; i++)
        if (table[i].commands & command && strlen(table[i].name) == length &&
            memcmp(table[i].name, name, length) == 0)
            return &table[i];
    return NULL;
}

int tool_options_read(struct tool_options *options, enum tool_command command, int count,
                      char **arguments)
{
    int given[OPTIONS] = {0};
    memset(options, 0, sizeof *options);
    options->k_rotary_offset = SIZE_MAX;
    options->layer = SIZE_MAX;
    options->from = options->to = -1;
    options->dtype = ROPE_F32;
    options->max_abs = -1;
    for (int i = 0; i < count; i++) {
        const char *const argument = strcmp(arguments[i], "-o") == 0 ? "--output" : arguments[i];
        if (strcmp(argument, "-h") == 0) {
            options->help = 1;
            continue;
        }
        if (*argument == '-' && argument[1] != '-')
            return tool_bad("%s: unknown option, see --help", argument);
        if (*argument != '-') {
            if (options->operand_count == sizeof options->operands / sizeof *options->operands)
                return tool_bad("%s: one operand too many", argument);
            options->operands[options->operand_count++] = argument;
            continue;
        }
        const size_t length = strcspn(argument + 2, "=");
        const struct option *const option = find(command, argument + 2, length);
        if (option == NULL)
            return tool_bad("--%.*s: unknown option, see --help", (int)length, argument + 2);
        if (given[option - table]++)
            return tool_bad("--%s: given twice", option->name);
        if (!(option->commands & TOOL_COMPARE))
            options->not_compare = option->name;
        const char *value = argument[2 + length] == '=' ? argument + 2 + length + 1 : NULL;
        if (option->kind == FLAG && value != NULL)
            return tool_bad("--%s: %s: takes no value", option->name, value);
        if (option->kind != FLAG && value == NULL && ++i == count)
            return tool_bad("--%s: value missing", option->name);
        const int status = set(option, options, value != NULL ? value : arguments[i]);
        if (status != TOOL_OK)
            return status;
    }
    return TOOL_OK;
}

void tool_options_help(enum tool_command command)
{
    enum { HELP_COLUMN = 32 };
    puts("\nOptions (--name VALUE or --name=VALUE; the first of several words is the default):");
    for (size_t i = 0; i < OPTIONS; i++) {
        if (!(table[i].commands & command))
            continue;
        int column = printf("  --%s ", table[i].name) + printf("%s", table[i].argument);
        for (const struct word *word = table[i].words; word != NULL && word->text != NULL; word++)
            column += printf("%s%s", word == table[i].words ? "" : "|", word->text);
        if (column >= HELP_COLUMN) {
            putchar('\n');
            column = 0;
        }
        printf("%*s%s\n", HELP_COLUMN - column, "", table[i].help);
    }
}
