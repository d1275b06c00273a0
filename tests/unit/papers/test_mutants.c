/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Do the tables of the papers notice mistakes of the library? Each row of lib/base/mutants.h is planted in
 * turn, and the tables named for it must have a wrong number. The same tables must be right without it. A
 * table that does not end is stopped after CPU_SECONDS and counts as noticed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/mutants.h"
#include "papers/pool.h"
#include "papers/report.h"

enum lbm_mutant lbm_mutant; /* the libraries that were built for this test read it */

enum { CPU_SECONDS = 10, SEED = 1 };

/* The table that must notice a mutant, and its runs; 0: as many as the table thinks fit. */
static const struct row {
    enum lbm_mutant mutant;
    const char *table;
    uint32_t runs;
} rows[] = {
    {LBM_MUTANT_RANDOM_LOAD_LINE, "san-constant", 4},
    {LBM_MUTANT_RANDOM_LOAD_PLANE, "san-constant", 4},
    {LBM_MUTANT_RANDOM_LOAD_FORM, "san-constant", 4},
    {LBM_MUTANT_GDE_FLOW, "cyb89-theorem-4", 0},
    {LBM_MUTANT_GDE_ROUNDING, "xl95-table-3", 50},
    {LBM_MUTANT_GDE_BAND, "xl95-table-3", 50},
    {LBM_MUTANT_DIFFUSION_FLOW, "policies-modes", 0},
    {LBM_MUTANT_ALPHA_OPTIMAL, "xl95-table-1", 0},
    {LBM_MUTANT_ALPHA_SAFE, "cyb89-table-1", 0},
    {LBM_MUTANT_SECOND_ORDER_BETA, "policies-modes", 0},
    {LBM_MUTANT_CHEBYSHEV_FIRST, "policies-modes", 0},
    {LBM_MUTANT_OEM_ODD, "rjk03-pairs", 0},
    {LBM_MUTANT_DEM_ODD, "rjk03-pairs", 0},
    {LBM_MUTANT_DEM_TABLE_BAND, "rjk03-table-1", 0},
    {LBM_MUTANT_CWA_FLOOR, "rjk03-pairs", 0},
    {LBM_MUTANT_CWA_QUOTA, "rjk03-schedules", 0},
    {LBM_MUTANT_CWA_COLLECTION, "rjk03-table-2", 20},
    {LBM_MUTANT_HYBRID_ORDER, "rjk03-hybrid", 100},
    {LBM_MUTANT_EDGE_REMAP_BRANCH, "hei97-fig-9", 6},
    {LBM_MUTANT_TERMINATION_STEP, "xl95-termination", 5},
    {LBM_MUTANT_TERMINATION_EARLY, "xl95-termination", 5},
    {LBM_MUTANT_THEOREM_1_CONNECTED, "cyb89-theorem-1", 0},
    {LBM_MUTANT_THEOREM_1_OWN, "cyb89-theorem-1", 0},
    {LBM_MUTANT_THEOREM_1_BIPARTITE, "cyb89-theorem-1", 0},
    {LBM_MUTANT_LEMMA_2_FEASIBLE, "cyb89-lemma-2", 0},
    {LBM_MUTANT_LAMBDA_SCAN, "xl95-open", 0},
    {LBM_MUTANT_LAMBDA_REFINED, "xl95-open", 0},
    {LBM_MUTANT_LAMBDA_RING, "xl95-theorem-4-1", 0},
    {LBM_MUTANT_GAMMA_AXIS, "xl95-gamma", 0},
    {LBM_MUTANT_GAMMA_ODD, "xl95-lambda", 0},
    {LBM_MUTANT_LAPLACIAN_ODD, "xl95-table-1", 0},
    {LBM_MUTANT_VARIANCE_DIFFUSION, "cyb89-table-2", 0},
    {LBM_MUTANT_VARIANCE_BOUND, "cyb89-theorem-2", 100},
    {LBM_MUTANT_VARIANCE_EXCHANGE, "cyb89-table-2", 0},
    {LBM_MUTANT_OVERLAP, "rjk03-schedules", 0},
    {LBM_MUTANT_PIPELINE, "rjk03-schedules", 0},
    {LBM_MUTANT_STOP_LEVEL, "policies-steps", 10},
    {LBM_MUTANT_STOP_NEIGHBOURS, "xl95-fig-6", 0},
    {LBM_MUTANT_FIELD_BORDER, "san-closed-forms", 0},
    {LBM_MUTANT_WALK_REFLECTION, "san-closed-forms", 0},
    {LBM_MUTANT_WALK_PLANE, "san-closed-forms", 0},
    {LBM_MUTANT_KERNEL_MEAN, "hei97-normalization", 0},
    {LBM_MUTANT_KERNEL_JACOBI, "hei97-fig-6", 0},
    {LBM_MUTANT_ORDER_REPLACEMENT, "hei97-sweeps", 1},
    {LBM_MUTANT_START_CENTRE, "hei97-fig-6", 0},
    {LBM_MUTANT_PIN_PERIMETER, "hei97-fig-6", 0},
    {LBM_MUTANT_WHITEN_VARIANCE, "hei97-renormalize", 0},
    {LBM_MUTANT_WHITEN_SHEAR, "hei97-renormalize", 0},
    {LBM_MUTANT_CELL_WEIGHT, "hei97-regions", 0},
    {LBM_MUTANT_CELL_GAIN, "hei97-regions", 0},
    {LBM_MUTANT_CELL_SHARE, "hei97-regions", 0},
    {LBM_MUTANT_LATTICE_FACTOR, "hei97-spectrum", 0},
    {LBM_MUTANT_LATTICE_DECAY, "hei97-normalization", 0},
};

enum { ROWS = sizeof rows / sizeof *rows };

static const char *const texts[LBM_MUTANT_COUNT] = {
#define MUTANT_TEXT(id, text) [LBM_MUTANT_##id] = text,
    LBM_MUTANT_LIST(MUTANT_TEXT)
#undef MUTANT_TEXT
};

static void
ignore(const struct table *table, size_t done)
{
    (void)table;
    (void)done;
}

/* Numbers that are wrong; -1 if the table could not be run at all. */
static long
wrong_numbers(const struct row *row, enum lbm_mutant mutant)
{
    const struct table *table = tables;
    while (table->name != NULL && strcmp(table->name, row->table) != 0)
        table++;
    if (table->name == NULL)
        return -1;
    struct table_options options = {.runs = row->runs, .seed = SEED};
    struct table_run run = {0};
    struct lbm_diag diag;
    lbm_mutant = mutant;
    long wrong = -1;
    if (pool_run(&table, 1, &options, 1, ignore, &run, &diag) == LBM_OK)
        wrong = (long)report_wrong(&run);
    for (size_t i = 0; mutant == LBM_MUTANT_NONE && i < run.cells.n; i++)
        if (!cell_ok(&run.cells.at[i]))
            printf("  %s: %s: %g\n", row->table, run.cells.at[i].item, run.cells.at[i].ours);
    lbm_vec_free(&run.cells);
    return wrong;
}

static int
is_done(size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(rows[k].table, rows[i].table) == 0 && rows[k].runs == rows[i].runs)
            return 1;
    return 0;
}

int
main(void)
{
    const struct rlimit limit = {CPU_SECONDS, CPU_SECONDS + 5};
    int failed = 0, planted[LBM_MUTANT_COUNT] = {0}, killed = 0;
    if (setrlimit(RLIMIT_CPU, &limit) != 0)
        printf("no limit of processor time: %s\n", strerror(errno));
    for (size_t i = 0; i < ROWS; i++)
        if (!is_done(i) && wrong_numbers(&rows[i], LBM_MUTANT_NONE) != 0) {
            printf("%s with %u runs is wrong without a mutant\n", rows[i].table, rows[i].runs);
            failed = 1;
        }
    for (size_t i = 0; i < ROWS; i++) {
        long wrong = wrong_numbers(&rows[i], rows[i].mutant);
        printf("%-9s %-72s %s: %ld wrong\n", wrong > 0 ? "killed" : "SURVIVES", texts[rows[i].mutant],
               rows[i].table, wrong);
        planted[rows[i].mutant] = 1;
        killed += wrong > 0;
        failed |= wrong <= 0;
    }
    for (int mutant = LBM_MUTANT_NONE + 1; mutant < LBM_MUTANT_COUNT; mutant++)
        if (!planted[mutant]) {
            printf("no table is named for: %s\n", texts[mutant]);
            failed = 1;
        }
    printf("%d of %d mutants killed\n", killed, (int)ROWS);
    return failed;
}
