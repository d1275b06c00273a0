/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of the papers: what a paper prints, what we get, how far apart the two may be, and the verdict.
 *
 * Owns: the cells of a table and how they are judged. The numbers of a paper are data next to the code that
 * computes ours, one or more files a paper.  Never: prints. */
#ifndef LBM_PAPERS_TABLE_H
#define LBM_PAPERS_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"

enum relation { WITHIN, AT_MOST, AT_LEAST };

/* One number. A cell is right if ours fits what the paper prints (unless the paper errs) and what was
 * computed independently of this program (if it was). */
struct cell {
    char item[96];
    char note[192]; /* why the paper errs, or what else a reader must know */
    double ours;
    double paper, tolerance; /* NAN: the paper has no number */
    double computed, slack;  /* NAN: none */
    enum relation relation;  /* of ours to the paper's */
    int paper_errs;
    int not_reproduced; /* the paper's number does not follow from what it says of its experiment */
};

/* How much is to be computed. */
struct table_options {
    uint32_t runs; /* repetitions of random experiments; 0: each table's own number */
    uint64_t seed;
    int full;           /* more runs, and what takes minutes */
    const char *graphs; /* folder of guests that only some have, or NULL */
};

struct table_run {
    const struct table_options *options;
    LBM_VEC(struct cell) cells;
    struct lbm_diag diag; /* not LBM_OK: the table could not be computed; else text says what was skipped */
};

struct table {
    const char *name;
    const char *source; /* paper and place */
    const char *text;
    void (*run)(struct table_run *t);
};

/* Every table, ended by a row without name. */
extern const struct table tables[];

/* Nonzero if the name of a table or plot is what the user wrote: all, the name, or its beginning up to a
 * hyphen. */
int table_is_wanted(const char *name, const char *written);

/* Append a cell; the result is good until the next one. The others refine it and return it.
 * tolerance and slack are absolute. */
struct cell *table_cell(struct table_run *t, double ours, const char *fmt, ...) LBM_PRINTF(3, 4);
struct cell *cell_paper(struct cell *cell, double paper, double tolerance);
struct cell *cell_bound(struct cell *cell, enum relation relation, double paper);
struct cell *cell_computed(struct cell *cell, double computed, double slack);
struct cell *cell_paper_errs(struct cell *cell, const char *why);
/* The same verdict, in other words: nothing shows that the number is wrong. */
struct cell *cell_not_reproduced(struct cell *cell, const char *why);
struct cell *cell_note(struct cell *cell, const char *fmt, ...) LBM_PRINTF(2, 3);

/* Nonzero if the paper's number judges ours. */
int cell_is_by_paper(const struct cell *cell);

/* Nonzero if ours is right. */
int cell_ok(const struct cell *cell);

/* The table cannot be computed; the first reason stays. Value: 0, so that callers may return it. */
int table_fail(struct table_run *t, enum lbm_err err);

/* Some of the table cannot be computed here, and why. */
void table_skip(struct table_run *t, const char *what);

/* Repetitions: as the user wants, or as the table thinks fit. */
uint32_t table_runs(const struct table_run *t, uint32_t quick, uint32_t full);

#endif
