/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbpapers plot: figures of the papers as SVG files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "papers/command.h"
#include "papers/plots.h"
#include "papers/save.h"

enum { PLOT_DIR, PLOT_FULL, PLOT_SEED, PLOT_OPTIONS };

static const struct lbm_option options[] = {
    [PLOT_DIR] = LBM_TEXT_OPTION("dir", "DIR", "where the files go; made if it is missing", .fallback = "."),
    [PLOT_FULL] = {.name = "full", .text = "more repetitions"},
    [PLOT_SEED] = PAPERS_SEED_OPTION,
};

static const struct lbm_operand operands[] = {
    {.name = "NAME", .text = "all, a paper (rjk03), or a plot that lbpapers list prints", .most = 64},
};

static enum lbm_err
check_names(const struct lbm_cli *cli, struct lbm_diag *diag)
{
    for (size_t k = 0; k < cli->n_operands; k++) {
        int is_known = 0;
        for (size_t i = 0; plots[i].name != NULL; i++)
            is_known = is_known || table_is_wanted(plots[i].name, cli->operand[k]);
        if (!is_known)
            return lbm_diag_set(diag, LBM_E_NOTFOUND, "", 0, "'%.60s' is no plot; lbpapers list lists them",
                                cli->operand[k]);
    }
    return LBM_OK;
}

static enum lbm_err
draw(const struct lbm_cli *cli, const struct plot *plot, struct lbm_diag *diag)
{
    const struct table_options how = {.seed = cli->value[PLOT_SEED].integer,
                                      .full = cli->value[PLOT_FULL].given};
    struct table_run run = {.options = &how};
    struct chart *chart = lbm_alloc(1, sizeof *chart);
    struct lbm_buf out = {0};
    if (chart == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s", plot->name);
    plot->run(&run, chart);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
    enum lbm_err err = run.diag.code;
    if (err == LBM_OK) {
        chart_draw(chart, &out);
        err = save_svg(cli->value[PLOT_DIR].text, plot->name, &out, !lbm_cli_is_quiet(cli), diag);
    } else {
        *diag = run.diag;
    }
    lbm_buf_free(&out);
    free(chart);
    return err;
}

static enum lbm_status
run_plot(const struct lbm_cli *cli)
{
    struct lbm_diag diag;
    enum lbm_err err = check_names(cli, &diag);
    if (err == LBM_OK)
        err = save_make_dir(cli->value[PLOT_DIR].text, &diag);
    for (size_t i = 0; plots[i].name != NULL && err == LBM_OK; i++) {
        int is_wanted = 0;
        for (size_t k = 0; k < cli->n_operands; k++)
            is_wanted = is_wanted || table_is_wanted(plots[i].name, cli->operand[k]);
        if (is_wanted)
            err = draw(cli, &plots[i], &diag);
    }
    return err == LBM_OK ? LBM_STATUS_DONE : lbm_cli_refuse(cli, &diag);
}

const struct lbm_command command_plot = {
    .name = "plot",
    .text = "curves of the papers, from our data",
    .help = "Draws figures of the papers from our data, one SVG file each, and prints their names.",
    .options = options,
    .n_options = PLOT_OPTIONS,
    .operands = operands,
    .n_operands = sizeof operands / sizeof *operands,
    .run = run_plot,
};
