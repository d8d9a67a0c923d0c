/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to see of a model's rotations, as numbers.  Prints and draws nothing. */
#ifndef ROPE_TOOL_VIEW_H
#define ROPE_TOOL_VIEW_H

#include "rope/rope_config.h"

/* What scaling has made of the frequency of a pair. */
enum tool_scaled { TOOL_KEPT, TOOL_BLENDED, TOOL_INTERPOLATED, TOOL_STILL };

struct tool_pair {
    double before; /* frequencies, radians per position */
    double after;
    double wavelength_before; /* positions per turn */
    double wavelength;
    size_t axis;
    enum tool_scaled scaled;
};

struct tool_view {
    rope_config_entry entry;
    rope_info info;
    size_t count;
    struct tool_pair *pairs;
    double span;     /* positions that pictures go to */
    double original; /* tokens that the model was trained on before it was scaled; 0 = not known */
};

enum { TOOL_VIEWS = 64 };
struct tool_views {
    const rope_config *config;
    const char *name; /* what the user called the model */
    size_t count;
    struct tool_view view[TOOL_VIEWS];
};

int tool_views_make(struct tool_views *views, const rope_config *config, const char *name);
void tool_views_free(struct tool_views *views);

/* Mean over the pairs of cos(distance f_i): the score of two vectors whose components are all equal
 * and of length 1, that far apart. */
double tool_view_score(const struct tool_view *view, double distance, int before);

/* Words for enumerations; never NULL. */
const char *tool_scheme_name(rope_scheme scheme);
const char *tool_tower_name(rope_tower tower);
const char *tool_layout_name(rope_axis_layout layout);
const char *tool_scaled_name(enum tool_scaled scaled);

/* The same rotation holds for layers first..last: 0 behind the last run.  *entry as
 * rope_config_layer says. */
int tool_view_layers(const rope_config *config, size_t *first, size_t *last, int32_t *entry);

/* The page. */
int tool_page_write(const struct tool_views *views, const char *path);

#endif
