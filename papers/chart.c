/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Line charts as SVG text. */
#include "papers/chart.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/check.h"

enum { WIDTH = 640, HEIGHT = 420, LEFT = 80, RIGHT = 20, TOP = 46, BOTTOM = 62, LEGEND_LINE = 18 };

/* Distinct for colour-blind readers too (Okabe and Ito), and by their marks. */
static const char *const colours[CHART_SERIES_MAX] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#e69f00", "#56b4e9", "#000000", "#999999"};

struct axis {
    double least, most; /* logarithms if log */
    int log, binary;
    double pixel_least, pixel_most;
};

struct series *
chart_series(struct chart *chart, const char *fmt, ...)
{
    LBM_ASSERT(chart->n < CHART_SERIES_MAX);
    struct series *series = &chart->series[chart->n++];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(series->name, sizeof series->name, fmt, ap);
    va_end(ap);
    return series;
}

void
series_add(struct series *series, double x, double y)
{
    LBM_ASSERT(series->n < CHART_POINTS_MAX);
    series->x[series->n] = x;
    series->y[series->n++] = y;
}

/* ---- axes ---------------------------------------------------------------------------------------------- */

static double
scale(const struct axis *axis, double value)
{
    return axis->log ? log10(value) : value;
}

static double
pixel(const struct axis *axis, double value)
{
    double part = (scale(axis, value) - axis->least) / (axis->most - axis->least);
    return axis->pixel_least + part * (axis->pixel_most - axis->pixel_least);
}

/* A step of 1, 2 or 5 times a power of ten that gives some five ticks. */
static double
step_of(double range)
{
    double raw = range / 5.0, power = pow(10.0, floor(log10(raw))), digit = raw / power;
    return power * (digit <= 1.0 ? 1.0 : digit <= 2.0 ? 2.0 : digit <= 5.0 ? 5.0 : 10.0);
}

static struct axis
make_axis(double least, double most, int is_log, int from_zero)
{
    struct axis axis = {.log = is_log};
    axis.least = is_log ? log10(least) : from_zero ? fmin(least, 0.0) : least;
    axis.most = is_log ? log10(most) : most;
    if (axis.most - axis.least < 1e-12)
        axis.most = axis.least + 1.0;
    double pad = 0.04 * (axis.most - axis.least);
    axis.most += pad;
    if (is_log || !from_zero)
        axis.least -= pad;
    return axis;
}

static void
text(struct lbm_buf *out, double x, double y, const char *anchor, const char *what)
{
    lbm_buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, what);
}

/* A tick with its grid line. */
static void
tick(struct lbm_buf *out, const struct axis *axis, int vertical, double value)
{
    char label[32];
    value = value == 0.0 ? 0.0 : value; /* not -0 */
    double at = pixel(axis, value);
    snprintf(label, sizeof label, fabs(value) >= 1e5 || (value != 0 && fabs(value) < 1e-3) ? "%.0e" : "%g",
             value);
    if (vertical) {
        lbm_buf_printf(out, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", LEFT, at,
                       WIDTH - RIGHT, at);
        text(out, LEFT - 8, at + 4, "end", label);
    } else {
        lbm_buf_printf(out, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#ddd\"/>\n", at, TOP,
                       at, HEIGHT - BOTTOM);
        text(out, at, HEIGHT - BOTTOM + 18, "middle", label);
    }
}

static void
draw_axis(struct lbm_buf *out, const struct axis *axis, int vertical)
{
    if (axis->log) {
        double base = axis->binary ? 2.0 : 10.0, per = log10(base);
        for (double e = ceil(axis->least / per - 1e-9); e * per <= axis->most; e += 1.0)
            tick(out, axis, vertical, pow(base, e));
        return;
    }
    double step = step_of(axis->most - axis->least);
    for (double i = ceil(axis->least / step - 1e-9); i * step <= axis->most; i += 1.0)
        tick(out, axis, vertical, i * step);
}

/* ---- series -------------------------------------------------------------------------------------------- */

/* Circles, squares, triangles, in turn. */
static void
mark(struct lbm_buf *out, size_t which, double x, double y)
{
    const char *colour = colours[which];
    if (which % 3 == 0)
        lbm_buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n", x, y, colour);
    else if (which % 3 == 1)
        lbm_buf_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"7\" height=\"7\" fill=\"%s\"/>\n", x - 3.5,
                       y - 3.5, colour);
    else
        lbm_buf_printf(out, "<path d=\"M%.1f %.1fl4.5 8h-9z\" fill=\"%s\"/>\n", x, y - 5, colour);
}

static void
draw_series(struct lbm_buf *out, const struct series *series, size_t which, const struct axis *x,
            const struct axis *y)
{
    lbm_buf_printf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\"%s points=\"",
                   colours[which], which % 2 != 0 ? " stroke-dasharray=\"6 3\"" : "");
    for (size_t i = 0; i < series->n; i++)
        lbm_buf_printf(out, "%.1f,%.1f ", pixel(x, series->x[i]), pixel(y, series->y[i]));
    lbm_buf_printf(out, "\"/>\n");
    for (size_t i = 0; i < series->n && series->n <= 40; i++)
        mark(out, which, pixel(x, series->x[i]), pixel(y, series->y[i]));
}

/* Points of a line, marks and what lies between them, within a rectangle. */
static size_t
covered_by(const struct series *series, const struct axis *x, const struct axis *y, double left, double top,
           double width, double height)
{
    enum { BETWEEN = 8 };
    size_t covered = 0;
    for (size_t i = 0; i + 1 < series->n * BETWEEN; i++) {
        size_t k = i / BETWEEN, next = k + 1 < series->n ? k + 1 : k;
        double part = (double)(i % BETWEEN) / BETWEEN;
        double px = (1.0 - part) * pixel(x, series->x[k]) + part * pixel(x, series->x[next]);
        double py = (1.0 - part) * pixel(y, series->y[k]) + part * pixel(y, series->y[next]);
        covered += px > left - 6 && px < left + width + 6 && py > top - 6 && py < top + height + 6;
    }
    return covered;
}

/* Of the four corners, and the middle, the one where the legend covers least. */
static void
place_legend(const struct chart *chart, const struct axis *x, const struct axis *y, double width,
             double *left, double *top)
{
    double height = LEGEND_LINE * (double)chart->n + 8;
    size_t fewest = SIZE_MAX;
    for (int place = 0; place < 6; place++) {
        double at_x = place % 2 ? LEFT + 8 : WIDTH - RIGHT - 8 - width;
        double at_y = place / 2 == 0   ? TOP + 8
                      : place / 2 == 1 ? HEIGHT - BOTTOM - 8 - height
                                       : 0.5 * (TOP + HEIGHT - BOTTOM - height);
        size_t covered = 0;
        for (size_t s = 0; s < chart->n; s++)
            covered += covered_by(&chart->series[s], x, y, at_x, at_y, width, height);
        if (covered >= fewest)
            continue;
        fewest = covered;
        *left = at_x;
        *top = at_y;
    }
}

static void
draw_legend(struct lbm_buf *out, const struct chart *chart, const struct axis *x, const struct axis *y)
{
    double width = 0.0, left = 0.0, top = 0.0;
    for (size_t s = 0; s < chart->n; s++)
        for (size_t len = 0; chart->series[s].name[len] != '\0'; len++)
            width = fmax(width, 46.0 + 7.2 * (double)(len + 1));
    place_legend(chart, x, y, width, &left, &top);
    lbm_buf_printf(
        out,
        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%zu\" fill=\"#fff\" fill-opacity=\".85\" "
        "stroke=\"#bbb\"/>\n",
        left, top, width, LEGEND_LINE * chart->n + 8);
    for (size_t s = 0; s < chart->n; s++) {
        double at = top + LEGEND_LINE * ((double)s + 0.5) + 4;
        lbm_buf_printf(
            out,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"1.8\"%s/>\n",
            left + 6, at, left + 32, at, colours[s], s % 2 != 0 ? " stroke-dasharray=\"6 3\"" : "");
        mark(out, s, left + 19, at);
        text(out, left + 38, at + 4, "start", chart->series[s].name);
    }
}

void
chart_draw(const struct chart *chart, struct lbm_buf *out)
{
    double least[2] = {HUGE_VAL, HUGE_VAL}, most[2] = {-HUGE_VAL, -HUGE_VAL};
    for (size_t s = 0; s < chart->n; s++)
        for (size_t i = 0; i < chart->series[s].n; i++) {
            least[0] = fmin(least[0], chart->series[s].x[i]);
            most[0] = fmax(most[0], chart->series[s].x[i]);
            least[1] = fmin(least[1], chart->series[s].y[i]);
            most[1] = fmax(most[1], chart->series[s].y[i]);
        }
    LBM_ASSERT(least[0] <= most[0]);
    struct axis x = make_axis(least[0], most[0], chart->x_log, 0),
                y = make_axis(least[1], most[1], chart->y_log, chart->from_zero);
    x.binary = chart->x_binary;
    x.pixel_least = LEFT;
    x.pixel_most = WIDTH - RIGHT;
    y.pixel_least = HEIGHT - BOTTOM;
    y.pixel_most = TOP;
    lbm_buf_printf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" "
        "fill=\"#fff\"/>\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT);
    lbm_buf_printf(out, "<text x=\"%d\" y=\"26\" text-anchor=\"middle\" font-size=\"15\">%s</text>\n",
                   WIDTH / 2, chart->title);
    draw_axis(out, &x, 0);
    draw_axis(out, &y, 1);
    lbm_buf_printf(out, "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#000\"/>\n", LEFT, TOP,
                   HEIGHT - BOTTOM, WIDTH - RIGHT);
    text(out, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 18, "middle", chart->x_label);
    lbm_buf_printf(out, "<text transform=\"translate(20 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
                   (TOP + HEIGHT - BOTTOM) / 2, chart->y_label);
    for (size_t s = 0; s < chart->n; s++)
        draw_series(out, &chart->series[s], s, &x, &y);
    draw_legend(out, chart, &x, &y);
    lbm_buf_printf(out, "</svg>\n");
}
