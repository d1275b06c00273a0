/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells and their verdicts. */
#include "papers/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

static struct cell no_cell; /* what is written to when memory is short */

struct cell *
table_cell(struct table_run *t, double ours, const char *fmt, ...)
{
    struct cell cell = {.ours = ours, .paper = nan(""), .computed = nan("")};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(cell.item, sizeof cell.item, fmt, ap);
    va_end(ap);
    if (lbm_vec_push(&t->cells, cell) != LBM_OK) {
        table_fail(t, LBM_E_NOMEM);
        return &no_cell;
    }
    return &t->cells.at[t->cells.n - 1];
}

struct cell *
cell_paper(struct cell *cell, double paper, double tolerance)
{
    LBM_ASSERT(tolerance >= 0.0);
    cell->paper = paper;
    cell->tolerance = tolerance;
    return cell;
}

struct cell *
cell_bound(struct cell *cell, enum relation relation, double paper)
{
    cell->relation = relation;
    return cell_paper(cell, paper, 0.0);
}

struct cell *
cell_computed(struct cell *cell, double computed, double slack)
{
    LBM_ASSERT(slack >= 0.0);
    cell->computed = computed;
    cell->slack = slack;
    return cell;
}

struct cell *
cell_paper_errs(struct cell *cell, const char *why)
{
    cell->paper_errs = 1;
    return cell_note(cell, "%s", why);
}

struct cell *
cell_not_reproduced(struct cell *cell, const char *why)
{
    cell->not_reproduced = 1;
    return cell_note(cell, "%s", why);
}

int
cell_is_by_paper(const struct cell *cell)
{
    return !isnan(cell->paper) && !cell->paper_errs && !cell->not_reproduced;
}

struct cell *
cell_note(struct cell *cell, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(cell->note, sizeof cell->note, fmt, ap);
    va_end(ap);
    return cell;
}

static int
fits(enum relation relation, double ours, double theirs, double tolerance)
{
    switch (relation) {
    case AT_MOST:
        return ours <= theirs + tolerance;
    case AT_LEAST:
        return ours >= theirs - tolerance;
    case WITHIN:
        return fabs(ours - theirs) <= tolerance;
    }
    return 0;
}

int
cell_ok(const struct cell *cell)
{
    int by_paper = cell_is_by_paper(cell), by_computed = !isnan(cell->computed);
    if (!isfinite(cell->ours) || (!by_paper && !by_computed))
        return 0;
    if (by_paper && !fits(cell->relation, cell->ours, cell->paper, cell->tolerance))
        return 0;
    return !by_computed || fits(WITHIN, cell->ours, cell->computed, cell->slack);
}

int
table_fail(struct table_run *t, enum lbm_err err)
{
    if (t->diag.code == LBM_OK)
        (void)lbm_diag_set(&t->diag, err, NULL, 0, "%s", lbm_err_text(err));
    return 0;
}

void
table_skip(struct table_run *t, const char *what)
{
    if (t->diag.code == LBM_OK)
        snprintf(t->diag.text, sizeof t->diag.text, "%s", what);
}

uint32_t
table_runs(const struct table_run *t, uint32_t quick, uint32_t full)
{
    if (t->options->runs != 0)
        return t->options->runs;
    return t->options->full ? full : quick;
}

int
table_is_wanted(const char *name, const char *written)
{
    size_t len = strlen(written);
    return strcmp(written, "all") == 0 ||
           (strncmp(name, written, len) == 0 && (name[len] == '\0' || name[len] == '-'));
}
