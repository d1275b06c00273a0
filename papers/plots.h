/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of the papers that are curves, drawn from our data. */
#ifndef LBM_PAPERS_PLOTS_H
#define LBM_PAPERS_PLOTS_H

#include "papers/chart.h"
#include "papers/table.h"

struct plot {
    const char *name, *source, *text;
    void (*run)(struct table_run *t, struct chart *chart);
};

/* Every plot, ended by a row without name. */
extern const struct plot plots[];

#endif
