/* SPDX-License-Identifier: Apache-2.0 */
/* The page of rope inspect: one file without scripts or references, figures as inline SVG, and the
 * numbers of each figure as a table below it.  Computes no frequency. */
#include "models.h"
#include "output.h"
#include "page.h"
#include "say.h"
#include "view.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef ROPE_TOOL_CONFIG

/* Figures have 380 units by 286; where the plot lies in them. */
enum { LEFT = 54, RIGHT = 334, TOP = 12, BOTTOM = 246, COLORS = 8 };

static const char style[] =
    ":root{color-scheme:light dark;--back:#fff;--card:#f6f7f9;--line:#d5d9e0;--text:#1b1f27;"
    "--soft:#5a6372;--c0:#2460d0;--c1:#9f5204;--c2:#b0259b;--c3:#0f7f5c;--c4:#c22f2f;--c5:#0a7c93;"
    "--c6:#587a0a;--c7:#6d4bd0}"
    "@media(prefers-color-scheme:dark){:root{--back:#12151b;--card:#1b2029;--line:#39414f;"
    "--text:#e7eaf0;--soft:#a3adbd;--c0:#79a8ff;--c1:#f0a94b;--c2:#f08be0;--c3:#53d3a4;--c4:#"
    "ff8a80;"
    "--c5:#5cd0e8;--c6:#b3d65a;--c7:#b9a3ff}}"
    "*{box-sizing:border-box}"
    "body{margin:0 auto;max-width:1560px;padding:16px;background:var(--back);color:var(--text);"
    "font:15px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}"
    "h1{font-size:26px;line-height:1.25;margin:8px 0}h2{font-size:20px;margin:32px 0 8px}"
    "p{margin:6px 0;max-width:75ch}.soft{color:var(--soft)}"
    ".figures{display:grid;gap:16px;grid-template-columns:repeat(auto-fill,minmax(min(100%,420px),"
    "1fr))}"
    "figure{margin:0;padding:12px;background:var(--card);border:1px solid var(--line);"
    "border-radius:8px;min-width:0}"
    "figcaption{font-weight:600}"
    "svg{display:block;width:100%;height:auto;margin:6px 0}"
    "svg text{font:13px system-ui,sans-serif;fill:var(--soft)}svg .on{fill:var(--text)}"
    ".grid{stroke:var(--line);stroke-width:1}.mark{stroke:var(--soft);stroke-dasharray:2 3}"
    ".curve{fill:none;stroke-width:2}.before{stroke-dasharray:5 4;stroke-width:1.5}"
    ".key{display:inline-flex;align-items:center;margin-right:14px;font-size:13px;color:var(--soft)"
    "}"
    ".key svg{width:18px;height:12px;margin:0 5px 0 0}"
    "details{margin-top:8px}summary{cursor:pointer;color:var(--soft);font-size:14px}"
    ".scroll{overflow-x:auto}"
    "table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}"
    "th,td{padding:2px 10px 2px 0;text-align:right;white-space:nowrap;"
    "border-bottom:1px solid var(--line)}th{color:var(--soft);font-weight:600}"
    "td.left,th.left{text-align:left;white-space:normal}"
    "dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:2px 16px;margin:6px 0 "
    "14px}"
    "dt{color:var(--soft)}dd{margin:0}"
    "ul.warnings{padding-left:20px;max-width:100ch}";

/* ---- Plots ----------------------------------------------------------------------------------- */

/* A plot: what its edges stand for; decades where it is logarithmic. */
struct plot {
    struct tool_page *page;
    double x[2];
    double y[2];
    int x_log;
    int y_log;
};

static double place(double value, const double *ends, int is_log)
{
    return is_log ? log(value / ends[0]) / log(ends[1] / ends[0])
                  : (value - ends[0]) / (ends[1] - ends[0]);
}

static double at_x(const struct plot *plot, double x)
{
    return LEFT + (RIGHT - LEFT) * place(x, plot->x, plot->x_log);
}

static double at_y(const struct plot *plot, double y)
{
    return BOTTOM - (BOTTOM - TOP) * place(y, plot->y, plot->y_log);
}

/* 0.001, 1, 10k, 1M, 1e-5: short names for ticks. */
static void add_tick(struct tool_page *page, double value)
{
    const double size = fabs(value);
    if (size >= 1e9 || (size > 0 && size < 1e-3))
        tool_page_add(page, "1e%d", (int)lround(log10(size)));
    else if (size >= 1e6)
        tool_page_add(page, "%gM", value / 1e6);
    else if (size >= 1e3)
        tool_page_add(page, "%gk", value / 1e3);
    else
        tool_page_add(page, "%g", value);
}

static void add_line(const struct plot *plot, const char *class, double x1, double y1, double x2,
                     double y2)
{
    tool_page_add(plot->page,
                  "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", class, x1,
                  y1, x2, y2);
}

static void add_label(const struct plot *plot, double x, double y, const char *anchor,
                      const char *text)
{
    tool_page_add(plot->page, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>", x, y,
                  anchor, text);
}

/* Tick labels that are numbers. */
static void add_number(const struct plot *plot, double x, double y, const char *anchor,
                       double value)
{
    tool_page_add(plot->page, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    add_tick(plot->page, value);
    tool_page_add(plot->page, "</text>");
}

/* Whole steps along an axis: decades, or fifths of a round range.  0 behind the last. */
static double tick(const double *ends, int is_log, int number)
{
    if (is_log) {
        const double first = ceil(log10(ends[0]) - 1e-9);
        const double span = floor(log10(ends[1]) + 1e-9) - first;
        const double step = span > 8 ? ceil(span / 6) : 1;
        const double power = first + step * number;
        return power <= log10(ends[1]) + 1e-9 ? pow(10, power) : NAN;
    }
    const double raw = (ends[1] - ends[0]) / 5;
    const double unit = pow(10, floor(log10(raw)));
    const double step = unit * (raw / unit > 5 ? 10 : raw / unit > 2 ? 5 : raw / unit > 1 ? 2 : 1);
    const double value = (ceil(ends[0] / step - 1e-9) + number) * step;
    return value <= ends[1] * (1 + 1e-9) ? value : NAN;
}

static void begin_plot(const struct plot *plot, const char *x_name, const char *y_name)
{
    enum { TICKS_MAX = 24 };
    tool_page_add(plot->page, "<svg viewBox=\"0 0 380 286\" role=\"img\">");
    for (int i = 0; i < TICKS_MAX; i++) {
        const double value = tick(plot->x, plot->x_log, i);
        if (isnan(value))
            break;
        add_line(plot, "grid", at_x(plot, value), TOP, at_x(plot, value), BOTTOM);
        add_number(plot, at_x(plot, value), BOTTOM + 17, "middle", value);
    }
    for (int i = 0; i < TICKS_MAX; i++) {
        const double value = tick(plot->y, plot->y_log, i);
        if (isnan(value))
            break;
        add_line(plot, "grid", LEFT, at_y(plot, value), RIGHT, at_y(plot, value));
        add_number(plot, LEFT - 5, at_y(plot, value) + 4, "end", fabs(value) < 1e-12 ? 0 : value);
    }
    add_label(plot, (LEFT + RIGHT) / 2.0, BOTTOM + 35, "middle", x_name);
    tool_page_add(
        plot->page,
        "<text transform=\"translate(12 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>",
        (TOP + BOTTOM) / 2, y_name);
}

static void begin_figure(struct tool_page *page, const char *title, const char *text)
{
    tool_page_add(page, "<figure><figcaption>%s</figcaption><p class=\"soft\">%s</p>", title, text);
}

static void add_key(struct tool_page *page, const char *kind, int color, const char *name)
{
    tool_page_add(page, "<span class=\"key\"><svg viewBox=\"0 0 18 12\" aria-hidden=\"true\">");
    if (*kind == 'd')
        tool_page_add(page, "<circle cx=\"9\" cy=\"6\" r=\"4\" fill=\"var(--c%d)\"/>", color);
    else
        tool_page_add(page, "<path class=\"curve%s\" d=\"M0 6H18\" stroke=\"var(--%s)\"/>",
                      *kind == 'b' ? " before" : "", *kind == 'b' ? "soft" : "c0");
    tool_page_add(page, "</svg>%s</span>", name);
}

static void begin_table(struct tool_page *page)
{
    tool_page_add(page, "<details><summary>Numbers</summary><div class=\"scroll\"><table>");
}

static void end_figure(struct tool_page *page)
{
    tool_page_add(page, "</table></div></details></figure>\n");
}

/* ---- Figures --------------------------------------------------------------------------------- */

static int is_scaled(const struct tool_view *view)
{
    for (size_t i = 0; i < view->count; i++)
        if (view->pairs[i].scaled != TOOL_KEPT)
            return 1;
    return 0;
}

/* Powers of ten around all finite wavelengths. */
static void wavelength_range(const struct tool_view *view, double *ends)
{
    ends[0] = INFINITY;
    ends[1] = 0;
    for (size_t i = 0; i < view->count; i++) {
        const double both[2] = {view->pairs[i].wavelength, view->pairs[i].wavelength_before};
        for (size_t j = 0; j < 2; j++) {
            if (isfinite(both[j])) {
                ends[0] = fmin(ends[0], both[j]);
                ends[1] = fmax(ends[1], both[j]);
            }
        }
    }
    ends[0] = ends[1] > 0 ? pow(10, floor(log10(ends[0]))) : 1;
    ends[1] = ends[1] > 0 ? pow(10, ceil(log10(ends[1]) + 1e-12)) : 10;
    if (ends[1] <= ends[0])
        ends[1] = 10 * ends[0];
}

static const int state_colors[] = {0, 1, 2, 7};

static void draw_wavelengths(struct tool_page *page, const struct tool_view *view)
{
    const double two_pi = 6.283185307179586;
    struct plot plot = {.page = page, .y_log = 1};
    plot.x[1] = view->count > 1 ? (double)(view->count - 1) : 1;
    wavelength_range(view, plot.y);
    begin_figure(page, "Wavelength and frequency of each pair",
                 "Left: positions per turn. Right: radians per position.");
    begin_plot(&plot, "pair", "wavelength");
    const double frequencies[2] = {two_pi / plot.y[1], two_pi / plot.y[0]};
    for (int i = 0; i < 24; i++) {
        const double value = tick(frequencies, 1, i);
        if (isnan(value))
            break;
        add_number(&plot, RIGHT + 5, at_y(&plot, two_pi / value) + 4, "start", value);
    }
    if (view->original > plot.y[0] && view->original < plot.y[1]) {
        add_line(&plot, "mark", LEFT, at_y(&plot, view->original), RIGHT,
                 at_y(&plot, view->original));
        tool_page_add(page, "<text class=\"on\" x=\"%d\" y=\"%.1f\">trained on %.10g tokens</text>",
                      LEFT + 6, at_y(&plot, view->original) - 5, view->original);
    }
    if (is_scaled(view)) {
        int pen_down = 0;
        tool_page_add(page, "<path class=\"curve before\" stroke=\"var(--soft)\" d=\"");
        for (size_t i = 0; i < view->count; i++) {
            if (isfinite(view->pairs[i].wavelength_before))
                tool_page_add(page, "%s%.1f %.1f", pen_down ? "L" : "M", at_x(&plot, (double)i),
                              at_y(&plot, view->pairs[i].wavelength_before));
            pen_down = isfinite(view->pairs[i].wavelength_before);
        }
        tool_page_add(page, "\"/>");
    }
    for (size_t i = 0; i < view->count; i++) {
        const struct tool_pair *const pair = &view->pairs[i];
        if (!isfinite(pair->wavelength))
            continue;
        tool_page_add(page,
                      "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" fill=\"var(--c%d)\">"
                      "<title>pair %zu: wavelength %.6g, %s</title></circle>",
                      at_x(&plot, (double)i), at_y(&plot, pair->wavelength),
                      view->count > 100 ? "2" : "2.8", state_colors[pair->scaled], i,
                      pair->wavelength, tool_scaled_name(pair->scaled));
    }
    tool_page_add(page, "</svg>");
    for (int state = TOOL_KEPT; state <= TOOL_STILL; state++) {
        size_t number = 0;
        for (size_t i = 0; i < view->count; i++)
            number += view->pairs[i].scaled == (enum tool_scaled)state;
        if (number > 0) {
            add_key(page, "dot", state_colors[state], tool_scaled_name((enum tool_scaled)state));
        }
    }
    if (is_scaled(view))
        add_key(page, "before", 0, "before scaling");
    begin_table(page);
    tool_page_add(page,
                  "<tr><th>pair</th>%s<th>frequency</th><th>before scaling</th>"
                  "<th>wavelength</th><th>before scaling</th><th>times</th>"
                  "<th class=\"left\">state</th></tr>",
                  view->info.axes > 1 ? "<th>axis</th>" : "");
    for (size_t i = 0; i < view->count; i++) {
        const struct tool_pair *const pair = &view->pairs[i];
        tool_page_add(page, "<tr><td>%zu</td>", i);
        if (view->info.axes > 1)
            tool_page_add(page, "<td>%zu</td>", pair->axis);
        tool_page_add(page, "<td>%.9g</td><td>%.9g</td>", pair->after, pair->before);
        if (pair->after != 0)
            tool_page_add(page, "<td>%.9g</td><td>%.9g</td><td>%.4f</td>", pair->wavelength,
                          pair->wavelength_before, pair->before / pair->after);
        else
            tool_page_add(page, "<td>&#8734;</td><td>%.9g</td><td>&#8211;</td>",
                          pair->wavelength_before);
        tool_page_add(page, "<td class=\"left\">%s</td></tr>", tool_scaled_name(pair->scaled));
    }
    end_figure(page);
}

/* Five pairs that turn, from the first to the last. */
static size_t choose_pairs(const struct tool_view *view, size_t *chosen)
{
    size_t count = 0;
    size_t turning = 0;
    for (size_t i = 0; i < view->count; i++)
        turning += view->pairs[i].after != 0;
    for (size_t wanted = 0; wanted < 5 && turning > 0; wanted++) {
        size_t skip = wanted * (turning - 1) / 4;
        for (size_t i = 0; i < view->count; i++) {
            if (view->pairs[i].after == 0 || skip-- > 0)
                continue;
            if (count == 0 || chosen[count - 1] != i)
                chosen[count++] = i;
            break;
        }
    }
    return count;
}

/* Turns f p / (2 pi) against p: a straight line, cut at the lower edge. */
static void draw_angle(const struct plot *plot, double wavelength, int color, int before)
{
    const double start = fmax(plot->x[0], plot->y[0] * wavelength);
    if (start >= plot->x[1])
        return;
    tool_page_add(plot->page,
                  "<path class=\"curve%s\" stroke=\"var(--c%d)\" d=\"M%.1f %.1fL%.1f %.1f\"/>",
                  before ? " before" : "", color, at_x(plot, start), at_y(plot, start / wavelength),
                  at_x(plot, plot->x[1]), at_y(plot, plot->x[1] / wavelength));
}

static void draw_angles(struct tool_page *page, const struct tool_view *view)
{
    size_t chosen[5];
    const size_t count = choose_pairs(view, chosen);
    struct plot plot = {.page = page, .x = {1, view->span}, .y = {1e-4, 1}, .x_log = 1, .y_log = 1};
    for (size_t i = 0; i < count; i++)
        plot.y[1] = fmax(plot.y[1], view->span / view->pairs[chosen[i]].wavelength);
    for (size_t i = 0; i < count; i++)
        plot.y[1] = fmax(plot.y[1], view->span / view->pairs[chosen[i]].wavelength_before);
    begin_figure(page, "Rotation against position",
                 "Turns of five pairs. Above 1 the same angle comes back.");
    begin_plot(&plot, "position", "turns");
    add_line(&plot, "mark", LEFT, at_y(&plot, 1), RIGHT, at_y(&plot, 1));
    double last = -20;
    for (size_t i = 0; i < count; i++) {
        const struct tool_pair *const pair = &view->pairs[chosen[i]];
        if (pair->scaled != TOOL_KEPT)
            draw_angle(&plot, pair->wavelength_before, (int)i, 1);
        draw_angle(&plot, pair->wavelength, (int)i, 0);
        const double turns = fmax(view->span / pair->wavelength, plot.y[0]);
        const double y = fmax(at_y(&plot, turns) + 4, last + 13);
        last = y;
        tool_page_add(page, "<text x=\"%d\" y=\"%.1f\" style=\"fill:var(--c%zu)\">%zu</text>",
                      RIGHT + 5, y, i, chosen[i]);
    }
    add_label(&plot, RIGHT + 5, BOTTOM + 35, "start", "pair");
    tool_page_add(page, "</svg>");
    add_key(page, "line", 0, is_scaled(view) ? "after scaling" : "no scaling");
    if (is_scaled(view))
        add_key(page, "before", 0, "before scaling");
    begin_table(page);
    tool_page_add(page, "<tr><th>position</th>");
    for (size_t i = 0; i < count; i++)
        tool_page_add(page, "<th>pair %zu</th><th>before</th>", chosen[i]);
    tool_page_add(page, "</tr>");
    for (double position = 1;; position *= 10) {
        const double p = fmin(position, view->span);
        tool_page_add(page, "<tr><td>%.10g</td>", p);
        for (size_t i = 0; i < count; i++)
            tool_page_add(page, "<td>%.6g</td><td>%.6g</td>", p / view->pairs[chosen[i]].wavelength,
                          p / view->pairs[chosen[i]].wavelength_before);
        tool_page_add(page, "</tr>");
        if (position >= view->span)
            break;
    }
    end_figure(page);
}

/* Distances that a curve is drawn through, evenly spaced on the logarithmic axis. */
enum { SAMPLES = 320 };
static double sample(const struct tool_view *view, int i)
{
    return floor(pow(view->span, (double)i / SAMPLES) + 0.5);
}

static void draw_score(const struct plot *plot, const struct tool_view *view, int before)
{
    double last = 0;
    tool_page_add(plot->page, "<path class=\"curve%s\" stroke=\"var(--%s)\" d=\"",
                  before ? " before" : "", before ? "soft" : "c0");
    for (int i = 0; i <= SAMPLES; i++) {
        const double distance = sample(view, i);
        if (distance == last)
            continue;
        tool_page_add(plot->page, "%s%.1f %.1f", last == 0 ? "M" : "L", at_x(plot, distance),
                      at_y(plot, tool_view_score(view, distance, before)));
        last = distance;
    }
    tool_page_add(plot->page, "\"/>");
}

static void draw_scores(struct tool_page *page, const struct tool_view *view)
{
    struct plot plot = {.page = page, .x = {1, view->span}, .y = {0, 1}, .x_log = 1};
    const int both = is_scaled(view);
    for (int i = 0; i <= SAMPLES; i++)
        plot.y[0] = fmin(plot.y[0], fmin(tool_view_score(view, sample(view, i), 0),
                                         tool_view_score(view, sample(view, i), 1)));
    plot.y[0] = floor(plot.y[0] * 5) / 5;
    begin_figure(
        page, "Mean score against distance",
        view->info.axes > 1
            ? "Mean over the pairs of cos(distance &times; frequency), all axes that far apart."
            : "Mean over the pairs of cos(distance &times; frequency).");
    begin_plot(&plot, "distance", "score");
    if (both)
        draw_score(&plot, view, 1);
    draw_score(&plot, view, 0);
    tool_page_add(page, "</svg>");
    add_key(page, "line", 0, both ? "after scaling" : "no scaling");
    if (both)
        add_key(page, "before", 0, "before scaling");
    begin_table(page);
    tool_page_add(page, "<tr><th>distance</th><th>score</th><th>before scaling</th></tr>");
    static const double steps[] = {1, 2, 5};
    for (int i = -1;; i++) {
        const double distance = i < 0 ? 0 : steps[i % 3] * pow(10, i / 3);
        const double shown = fmin(distance, view->span);
        tool_page_add(page, "<tr><td>%.10g</td><td>%.6f</td><td>%.6f</td></tr>", shown,
                      tool_view_score(view, shown, 0), tool_view_score(view, shown, 1));
        if (distance >= view->span)
            break;
    }
    end_figure(page);
}

static void draw_axes(struct tool_page *page, const struct tool_view *view)
{
    const double width = 368.0 / (double)view->count;
    begin_figure(page, "Axis of each pair", "");
    tool_page_add(page, "<svg viewBox=\"0 0 380 74\" role=\"img\">");
    for (size_t i = 0; i < view->count; i++)
        tool_page_add(page,
                      "<rect x=\"%.2f\" y=\"8\" width=\"%.2f\" height=\"40\" fill=\"var(--c%zu)\">"
                      "<title>pair %zu: axis %zu</title></rect>",
                      6 + (double)i * width, width > 3 ? width - 1 : width,
                      view->pairs[i].axis % COLORS, i, view->pairs[i].axis);
    tool_page_add(page,
                  "<text x=\"6\" y=\"66\">pair 0</text>"
                  "<text x=\"374\" y=\"66\" text-anchor=\"end\">%zu</text></svg>",
                  view->count - 1);
    for (size_t axis = 0; axis < view->info.axes; axis++) {
        char name[32];
        snprintf(name, sizeof name, "axis %zu", axis);
        add_key(page, "dot", (int)(axis % COLORS), name);
    }
    begin_table(page);
    tool_page_add(page, "<tr><th>axis</th><th>pairs</th><th class=\"left\">which</th></tr>");
    for (size_t axis = 0; axis < view->info.axes; axis++) {
        size_t number = 0;
        for (size_t i = 0; i < view->count; i++)
            number += view->pairs[i].axis == axis;
        tool_page_add(page, "<tr><td>%zu</td><td>%zu</td><td class=\"left\">", axis, number);
        for (size_t i = 0; i < view->count; i++)
            if (view->pairs[i].axis == axis)
                tool_page_add(page, "%zu ", i);
        tool_page_add(page, "</td></tr>");
    }
    end_figure(page);
}

static void draw_layers(struct tool_page *page, const struct tool_views *views)
{
    enum { COLUMNS = 16, CELL = 26, DRAWN_MAX = 1000 };
    const size_t count = rope_config_layer_count(views->config);
    const size_t drawn = count < DRAWN_MAX ? count : DRAWN_MAX;
    const size_t columns = COLUMNS;
    int with_none = 0;
    tool_page_add(page, "<h2>Layers</h2><div class=\"figures\">");
    begin_figure(page, "Rotation of each layer", "Numbers are those of the layers.");
    tool_page_add(page, "<svg viewBox=\"0 0 %d %zu\" role=\"img\">", COLUMNS * CELL,
                  (drawn + columns - 1) / columns * CELL);
    for (size_t i = 0; i < drawn; i++) {
        const int32_t entry = rope_config_layer(views->config, i);
        const size_t x = i % columns * CELL;
        const size_t y = i / columns * CELL;
        with_none |= entry < 0;
        if (entry < 0)
            tool_page_add(
                page,
                "<rect x=\"%zu\" y=\"%zu\" width=\"%d\" height=\"%d\" rx=\"3\" fill=\"none\" "
                "stroke=\"var(--soft)\" stroke-dasharray=\"3 2\"/>",
                x + 1, y + 1, CELL - 3, CELL - 3);
        else
            tool_page_add(page,
                          "<rect x=\"%zu\" y=\"%zu\" width=\"%d\" height=\"%d\" rx=\"3\" "
                          "fill=\"var(--c%d)\"/>",
                          x + 1, y + 1, CELL - 3, CELL - 3, (int)(entry % COLORS));
        tool_page_add(page,
                      "<text x=\"%zu\" y=\"%zu\" text-anchor=\"middle\" style=\"font-size:12.5px;"
                      "fill:var(--%s)\">%zu</text>",
                      x + CELL / 2, y + CELL / 2 + 4, entry < 0 ? "soft" : "back", i);
    }
    tool_page_add(page, "</svg>");
    if (drawn < count)
        tool_page_add(page, "<p>%zu more layers are in the table.</p>", count - drawn);
    for (size_t i = 0; i < views->count && i < COLORS; i++) {
        char name[32];
        if (views->view[i].entry.tower != ROPE_TOWER_TEXT)
            continue;
        snprintf(name, sizeof name, "rotation %zu", i);
        add_key(page, "dot", (int)i, name);
    }
    if (with_none)
        tool_page_add(page, "<span class=\"key\">dashed: no rotation</span>");
    begin_table(page);
    tool_page_add(page, "<tr><th>layers</th><th class=\"left\">rotation</th></tr>");
    size_t first = 0;
    size_t last;
    int32_t entry;
    for (; tool_view_layers(views->config, &first, &last, &entry); first = last + 1) {
        tool_page_add(page, "<tr><td>%zu", first);
        if (last > first)
            tool_page_add(page, "&#8211;%zu", last);
        if (entry < 0 || (size_t)entry >= views->count) {
            tool_page_add(page, "</td><td class=\"left\">none</td></tr>");
            continue;
        }
        tool_page_add(page, "</td><td class=\"left\">%d ", (int)entry);
        tool_page_text(page, views->view[entry].entry.layer_type);
        tool_page_add(page, "</td></tr>");
    }
    end_figure(page);
    tool_page_add(page, "</div>");
}

/* ---- The page -------------------------------------------------------------------------------- */

static void add_spec(struct tool_page *page, const struct tool_view *view, size_t number)
{
    const rope_config_entry *const entry = &view->entry;
    const rope_info *const info = &view->info;
    tool_page_add(page, "<h2>Rotation %zu: %s", number, tool_tower_name(entry->tower));
    if (*entry->layer_type != '\0') {
        tool_page_add(page, ", ");
        tool_page_text(page, entry->layer_type);
    }
    tool_page_add(page, "</h2><dl><dt>scheme</dt><dd>%s%s</dd>", tool_scheme_name(info->scheme),
                  info->scheme != ROPE_SCHEME_LONGROPE ? ""
                  : info->is_long != 0                 ? ", long list"
                                                       : ", short list");
    tool_page_add(page, "<dt>theta</dt><dd>%.10g</dd>", info->theta);
    if (info->factor != 1)
        tool_page_add(page, "<dt>factor</dt><dd>%.10g</dd>", info->factor);
    if (view->original > 0)
        tool_page_add(page, "<dt>trained on</dt><dd>%.10g tokens</dd>", view->original);
    tool_page_add(page, "<dt>attention factor</dt><dd>%.10g</dd>", info->attention_factor);
    if ((entry->flags & ROPE_ENTRY_SOFTMAX_FACTOR) != 0)
        tool_page_add(page, "<dt>softmax factor</dt><dd>%.10g</dd>", info->softmax_factor);
    tool_page_add(page, "<dt>head</dt><dd>%zu elements, %zu rotated", info->head_dim,
                  info->rotary_dim);
    if (info->rotary_offset != 0)
        tool_page_add(page, " from %zu on", info->rotary_offset);
    tool_page_add(page, "</dd><dt>pairs</dt><dd>%s%s</dd>",
                  info->pairing == ROPE_HALF ? "half-split" : "interleaved",
                  entry->pairing_out == ROPE_OUT_HALF          ? ", left half-split"
                  : entry->pairing_out == ROPE_OUT_INTERLEAVED ? ", left interleaved"
                                                               : "");
    if (info->axes > 1) {
        tool_page_add(page, "<dt>axes</dt><dd>%zu, %s", info->axes,
                      tool_layout_name(entry->spec->axis_layout));
        for (size_t i = 0; i < entry->spec->section_count; i++)
            tool_page_add(page, "%s%d", i == 0 ? ": " : ", ", (int)entry->spec->sections[i]);
        tool_page_add(page, "</dd>");
    }
    if (*entry->model_type != '\0') {
        tool_page_add(page, "<dt>model type</dt><dd>");
        tool_page_text(page, entry->model_type);
        tool_page_add(page, "</dd>");
    }
    if (*entry->path != '\0') {
        tool_page_add(page, "<dt>object of the file</dt><dd>");
        tool_page_text(page, entry->path);
        tool_page_add(page, "</dd>");
    }
    tool_page_add(page, "</dl>\n");
}

static void add_page(struct tool_page *page, const struct tool_views *views)
{
    /* the first rule forbids scripts and everything that would have to be fetched */
    tool_page_add(page, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                        "<meta http-equiv=\"Content-Security-Policy\" "
                        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
                        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
                        "<title>Rotations of ");
    tool_page_text(page, views->name);
    tool_page_add(page, "</title><style>%s</style></head><body><main>\n<h1>Rotations of ", style);
    tool_page_text(page, views->name);
    tool_page_add(page, "</h1><p class=\"soft\">");
    const struct tool_known *const known = tool_known_model(views->name);
    if (known != NULL) {
        tool_page_add(page, "Configuration of ");
        tool_page_text(page, known->source);
        tool_page_add(page, ". ");
    }
    tool_page_add(page, "Made by rope inspect, librope %s.</p>\n", rope_version_string());
    if (views->count == 0)
        tool_page_add(page, "<p>This model has no rotation.</p>");
    if (rope_config_warning(views->config, 0) != NULL) {
        tool_page_add(page, "<h2>Warnings</h2><ul class=\"warnings\">");
        for (size_t i = 0; rope_config_warning(views->config, i) != NULL; i++) {
            tool_page_add(page, "<li>");
            tool_page_text(page, rope_config_warning(views->config, i));
            tool_page_add(page, "</li>");
        }
        tool_page_add(page, "</ul>\n");
    }
    for (size_t i = 0; i < views->count; i++) {
        const struct tool_view *const view = &views->view[i];
        add_spec(page, view, i);
        tool_page_add(page, "<div class=\"figures\">\n");
        draw_wavelengths(page, view);
        draw_angles(page, view);
        draw_scores(page, view);
        if (view->info.axes > 1)
            draw_axes(page, view);
        tool_page_add(page, "</div>\n");
    }
    if (rope_config_layer_count(views->config) > 0)
        draw_layers(page, views);
    tool_page_add(page, "</main></body></html>\n");
}

int tool_page_write(const struct tool_views *views, const char *path)
{
    struct tool_page page = {0};
    size_t number = 0;
    add_page(&page, views);
    int status =
        page.failed ? tool_bad("%s: out of memory", path) : tool_output_open(path, &number);
    if (status == TOOL_OK)
        status = tool_output_write(number, page.text, page.size, 0);
    free(page.text);
    return tool_output_finish(status);
}

#endif
