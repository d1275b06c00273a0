/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbpapers list, lbpapers table: which tables, computed how, printed how. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "papers/command.h"
#include "papers/plots.h"
#include "papers/pool.h"
#include "papers/report.h"

enum { TABLE_RUNS, TABLE_SEED, TABLE_JOBS, TABLE_FULL, TABLE_GRAPHS, TABLE_JSON, TABLE_OPTIONS };

static const struct lbm_option options[] = {
    [TABLE_RUNS] = LBM_INTEGER_OPTION("runs", "N", 1, 1e6,
                                      "repetitions of random experiments instead of each table's own"),
    [TABLE_SEED] = PAPERS_SEED_OPTION,
    [TABLE_JOBS] = LBM_INTEGER_OPTION("jobs", "N", 1, 64, "number of tables at a time", .fallback = "2"),
    [TABLE_FULL] = {.name = "full", .text = "more repetitions, and what takes minutes"},
    [TABLE_GRAPHS] =
        LBM_TEXT_OPTION("graphs", "DIR", "folder of whitaker3, 3elt and uk (.graph.gz), for hei97-planar"),
    [TABLE_JSON] = LBM_JSON_OPTION,
};

static const struct lbm_operand operands[] = {
    {.name = "NAME", .text = "all, a paper (xl95), or a table that lbpapers list prints", .most = 64},
};

/* Tables that are computed. */
struct request {
    const struct table **table;
    struct table_run *run;
    size_t n;
};

static enum lbm_err
read_names(const struct lbm_cli *cli, struct request *request, struct lbm_diag *diag)
{
    size_t n = 0;
    while (tables[n].name != NULL)
        n++;
    request->table = lbm_alloc(n, sizeof *request->table);
    request->run = lbm_alloc(n, sizeof *request->run);
    if (request->table == NULL || request->run == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, "", 0, "no memory for the tables");
    for (size_t k = 0; k < cli->n_operands; k++) {
        int is_known = 0;
        for (size_t i = 0; i < n; i++)
            is_known = is_known || table_is_wanted(tables[i].name, cli->operand[k]);
        if (!is_known)
            return lbm_diag_set(diag, LBM_E_NOTFOUND, "", 0, "'%.60s' is no table; lbpapers list lists them",
                                cli->operand[k]);
    }
    for (size_t i = 0; i < n; i++) {
        int is_wanted = 0;
        for (size_t k = 0; k < cli->n_operands; k++)
            is_wanted = is_wanted || table_is_wanted(tables[i].name, cli->operand[k]);
        if (is_wanted)
            request->table[request->n++] = &tables[i];
    }
    return LBM_OK;
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static size_t wanted;

static void
show_begun(const struct table *table, size_t done)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%zu of %zu done, %s", done, wanted, table->name);
}

static void
show_end(void)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
}

static size_t
print_all(const struct lbm_cli *cli, const struct request *request)
{
    size_t cells = 0, wrong = 0;
    int json = cli->value[TABLE_JSON].given;
    if (json)
        report_json(request->table, request->run, request->n);
    for (size_t i = 0; i < request->n; i++) {
        if (!json)
            report_table(request->table[i], &request->run[i], lbm_cli_is_quiet(cli));
        cells += request->run[i].cells.n;
        wrong += report_wrong(&request->run[i]);
    }
    if (!json)
        printf("%zu tables, %zu numbers, %zu wrong\n", request->n, cells, wrong);
    return wrong;
}

static enum lbm_status
run_tables(const struct lbm_cli *cli)
{
    const struct table_options how = {.runs = (uint32_t)cli->value[TABLE_RUNS].integer,
                                      .seed = cli->value[TABLE_SEED].integer,
                                      .full = cli->value[TABLE_FULL].given,
                                      .graphs = cli->value[TABLE_GRAPHS].text};
    struct request request = {0};
    struct lbm_diag diag;
    size_t wrong = 0;
    enum lbm_err err = read_names(cli, &request, &diag);
    wanted = request.n;
    if (err == LBM_OK)
        err = pool_run(request.table, request.n, &how, (uint32_t)cli->value[TABLE_JOBS].integer, show_begun,
                       request.run, &diag);
    show_end();
    if (err == LBM_OK)
        wrong = print_all(cli, &request);
    for (size_t i = 0; i < request.n; i++)
        lbm_vec_free(&request.run[i].cells);
    free(request.run);
    free(request.table);
    if (err != LBM_OK)
        return lbm_cli_refuse(cli, &diag);
    return wrong == 0 ? LBM_STATUS_DONE : LBM_STATUS_FAILED;
}

const struct lbm_command command_table = {
    .name = "table",
    .text = "numbers of the papers, compared with ours",
    .help = "Computes tables and figures of the papers and compares each number. With --quiet, only "
            "numbers that are wrong are printed, and the summary.",
    .options = options,
    .n_options = TABLE_OPTIONS,
    .operands = operands,
    .n_operands = sizeof operands / sizeof *operands,
    .statuses = "0 all are right, 1 a number is wrong, 2 wrong usage",
    .run = run_tables,
};

/* ---- list ---------------------------------------------------------------------------------------------- */

static void
print_row(const struct lbm_cli *cli, const char *kind, const char *name, const char *source, const char *text)
{
    if (lbm_cli_is_quiet(cli))
        printf("%s\n", name);
    else
        printf("%-6s %-20s %-28s %s\n", kind, name, source, text);
}

static enum lbm_status
run_list(const struct lbm_cli *cli)
{
    for (const struct table *table = tables; table->name != NULL; table++)
        print_row(cli, "table", table->name, table->source, table->text);
    for (const struct plot *plot = plots; plot->name != NULL; plot++)
        print_row(cli, "plot", plot->name, plot->source, plot->text);
    return LBM_STATUS_DONE;
}

const struct lbm_command command_list = {
    .name = "list",
    .text = "the tables and plots",
    .help =
        "Lists what lbpapers table and lbpapers plot know: name, place in the papers, what it is about. With "
        "--quiet the names alone.",
    .run = run_list,
};
