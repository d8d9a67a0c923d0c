/* SPDX-License-Identifier: Apache-2.0 */
/* rope inspect: what a configuration makes of every pair, as tables of 80 columns and as a page. */
#include "command.h"
#include "model.h"
#include "models.h"
#include "say.h"
#include "view.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef ROPE_TOOL_CONFIG

enum { COLUMNS = 79 };

/* Text from a file: one printable character for each byte that is not ASCII. */
static void print_text(const char *text)
{
    for (; *text != '\0'; text++)
        putchar((unsigned char)*text < ' ' || (unsigned char)*text > '~' ? '?' : *text);
}

/* Text cut at blanks, its first line behind `lead`, the others behind as many blanks. */
static void print_wrapped(const char *lead, const char *text)
{
    const size_t indent = strlen(lead);
    size_t column = indent;
    fputs(lead, stdout);
    while (*text != '\0') {
        const size_t word = strcspn(text, " ");
        if (column > indent && column + 1 + word > COLUMNS) {
            printf("\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            putchar(' ');
            column++;
        }
        for (size_t i = 0; i < word; i++)
            putchar((unsigned char)text[i] < ' ' || (unsigned char)text[i] > '~' ? '?' : text[i]);
        column += word;
        text += word + (text[word] == ' ');
    }
    putchar('\n');
}

static void print_spec(const struct tool_view *view, size_t number)
{
    const rope_config_entry *const entry = &view->entry;
    const rope_info *const info = &view->info;
    printf("\nrotation %zu: %s", number, tool_tower_name(entry->tower));
    if (*entry->layer_type != '\0') {
        fputs(", ", stdout);
        print_text(entry->layer_type);
    }
    if (*entry->path != '\0') {
        fputs(", of ", stdout);
        print_text(entry->path);
    }
    printf("\n  scheme            %s", tool_scheme_name(info->scheme));
    if (info->scheme == ROPE_SCHEME_LONGROPE)
        fputs(info->is_long != 0 ? ", long list" : ", short list", stdout);
    printf("\n  theta             %.10g\n", info->theta);
    if (info->factor != 1)
        printf("  factor            %.10g\n", info->factor);
    if (view->original > 0)
        printf("  trained on        %.10g tokens\n", view->original);
    printf("  attention factor  %.10g\n", info->attention_factor);
    if ((entry->flags & ROPE_ENTRY_SOFTMAX_FACTOR) != 0)
        printf("  softmax factor    %.10g\n", info->softmax_factor);
    printf("  head              %zu elements, %zu rotated", info->head_dim, info->rotary_dim);
    if (info->rotary_offset != 0)
        printf(" from %zu on", info->rotary_offset);
    printf("\n  pairs             %s", info->pairing == ROPE_HALF ? "half-split" : "interleaved");
    if (entry->pairing_out != ROPE_OUT_SAME)
        printf(", left %s", entry->pairing_out == ROPE_OUT_HALF ? "half-split" : "interleaved");
    putchar('\n');
    if (entry->k_head_dim != 0)
        printf("  key head          %zu elements, rotated from %zu on\n", entry->k_head_dim,
               entry->k_rotary_offset);
    if (info->axes > 1) {
        printf("  axes              %zu, %s", info->axes,
               tool_layout_name(entry->spec->axis_layout));
        for (size_t i = 0; i < entry->spec->section_count; i++)
            printf("%s%d", i == 0 ? ": " : " ", (int)entry->spec->sections[i]);
        putchar('\n');
    }
    if (entry->direction == ROPE_TRANSPOSE)
        puts("  direction         backwards");
}

static void print_pairs(const struct tool_view *view)
{
    const int axes = view->info.axes > 1;
    printf("\n%6s%s %15s %15s %15s %9s  %s\n", "pair", axes ? " axis" : "", "frequency",
           "wavelength", "unscaled", "times", "");
    for (size_t i = 0; i < view->count; i++) {
        const struct tool_pair *const pair = &view->pairs[i];
        printf("%6zu", i);
        if (axes)
            printf(" %4zu", pair->axis);
        printf(" %15.9g %15.9g %15.9g", pair->after, pair->wavelength, pair->wavelength_before);
        if (pair->after != 0)
            printf(" %9.4f", pair->before / pair->after);
        else
            printf(" %9s", "-");
        printf("  %s\n", tool_scaled_name(pair->scaled));
    }
}

static void print_layers(const rope_config *config)
{
    size_t first = 0;
    size_t last;
    int32_t entry;
    int column = COLUMNS;
    if (rope_config_layer_count(config) > 0)
        printf("\nlayers");
    for (; tool_view_layers(config, &first, &last, &entry); first = last + 1) {
        char text[80];
        int length = snprintf(text, sizeof text, first == last ? "%zu" : "%zu-%zu", first, last);
        length += entry >= 0 ? snprintf(text + length, sizeof text - (size_t)length,
                                        ": rotation %d", (int)entry)
                             : snprintf(text + length, sizeof text - (size_t)length, ": none");
        if (column + 3 + length > COLUMNS) {
            fputs("\n  ", stdout);
            column = 2;
        } else {
            fputs(",  ", stdout);
            column += 3;
        }
        fputs(text, stdout);
        column += length;
    }
    if (first > 0)
        putchar('\n');
}

static void print_warnings(const rope_config *config)
{
    if (rope_config_warning(config, 0) != NULL)
        puts("\nwarnings");
    for (size_t i = 0; rope_config_warning(config, i) != NULL; i++)
        print_wrapped("  - ", rope_config_warning(config, i));
}

static int inspect(const rope_config *config, const struct tool_options *options)
{
    static struct tool_views views;
    int status = tool_views_make(&views, config, options->operands[0]);
    if (status == TOOL_OK && options->output != NULL)
        status = tool_page_write(&views, options->output);
    if (status == TOOL_OK) {
        print_text(views.name);
        const struct tool_known *const known = tool_known_model(views.name);
        if (known != NULL)
            printf(" (%s)", known->source);
        printf(": %zu rotation%s\n", views.count, views.count == 1 ? "" : "s");
        for (size_t i = 0; i < views.count; i++) {
            print_spec(&views.view[i], i);
            print_pairs(&views.view[i]);
        }
        print_layers(config);
        print_warnings(config);
    }
    tool_views_free(&views);
    return status;
}

#else

static int inspect(const rope_config *config, const struct tool_options *options)
{
    (void)config, (void)options;
    return TOOL_BAD;
}

#endif

int tool_inspect(const struct tool_options *options)
{
    if (options->operand_count != 1)
        return tool_bad("exactly one config.json, GGUF file or name of a model is required, see "
                        "--help");
    rope_config *config;
    int status = tool_model_open(&config, options->operands[0], options);
    if (status == TOOL_OK)
        status = inspect(config, options);
    tool_model_close(config);
    return status;
}
