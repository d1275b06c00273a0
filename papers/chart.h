/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Line charts as SVG text: axes with ticks and units, a legend, one line a series. */
#ifndef LBM_PAPERS_CHART_H
#define LBM_PAPERS_CHART_H

#include "base/mem.h"

enum { CHART_SERIES_MAX = 8, CHART_POINTS_MAX = 128 };

struct series {
    char name[64];
    size_t n;
    double x[CHART_POINTS_MAX], y[CHART_POINTS_MAX];
};

struct chart {
    char title[128], x_label[64], y_label[64];
    int x_log, y_log; /* decades */
    int x_binary;     /* with x_log: powers of 2 as ticks */
    int from_zero;    /* the vertical axis begins at 0 */
    size_t n;
    struct series series[CHART_SERIES_MAX];
};

struct series *chart_series(struct chart *chart, const char *fmt, ...) LBM_PRINTF(2, 3);
void series_add(struct series *series, double x, double y);

/* Append the drawing. In: at least one point; all positive where an axis is logarithmic. */
void chart_draw(const struct chart *chart, struct lbm_buf *out);

#endif
