/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim plot: figures of the papers as SVG files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/tables/command.h"
#include "sim/tables/plots.h"
#include "sim/tables/save.h"

struct request {
    const char *dir;
    int wanted[64]; /* by row of plots */
    int any, help;
    struct table_options options;
};

static enum lbm_err
want(struct request *request, const char *name, struct lbm_diag *diag)
{
    size_t len = strlen(name);
    int known = 0;
    for (size_t i = 0; plots[i].name != NULL; i++)
        if (strcmp(name, "all") == 0 || (strncmp(plots[i].name, name, len) == 0 &&
                                         (plots[i].name[len] == '\0' || plots[i].name[len] == '-')))
            known = request->wanted[i] = request->any = 1;
    if (known)
        return LBM_OK;
    return lbm_diag_set(diag, LBM_E_NOTFOUND, "lbsim plot", 0, "%.60s is no plot; lbsim list lists them",
                        name);
}

static enum lbm_err
read_arguments(int argc, char **argv, struct request *request, struct lbm_diag *diag)
{
    enum lbm_err err = LBM_OK;
    for (int i = 0; i < argc && err == LBM_OK; i++) {
        char *end = NULL;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            request->help = 1;
        else if (strcmp(argv[i], "--full") == 0)
            request->options.full = 1;
        else if (strcmp(argv[i], "--dir") == 0 && i + 1 < argc)
            request->dir = argv[++i];
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
            request->options.seed = strtoull(argv[++i], &end, 10);
            if (*argv[i] < '0' || *argv[i] > '9' || *end != '\0')
                err = lbm_diag_set(diag, LBM_E_SYNTAX, "--seed", 0, "%.60s is not a number", argv[i]);
        } else if (argv[i][0] == '-')
            err = lbm_diag_set(diag, LBM_E_SYNTAX, "lbsim plot", 0, "%.60s is no option, or needs a value",
                               argv[i]);
        else
            err = want(request, argv[i], diag);
    }
    if (err == LBM_OK && !request->any && !request->help)
        err = lbm_diag_set(diag, LBM_E_SYNTAX, "lbsim plot", 0,
                           "which plot? all, a paper (rjk03), or a name that lbsim list prints");
    return err;
}

static enum lbm_err
draw(const struct plot *plot, const struct request *request, struct lbm_diag *diag)
{
    struct table_run run = {.options = &request->options};
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
        err = save_svg(request->dir, plot->name, &out, diag);
    } else {
        *diag = run.diag;
    }
    lbm_buf_free(&out);
    free(chart);
    return err;
}

enum lbm_err
plot_command(int argc, char **argv, int *status, struct lbm_diag *diag)
{
    struct request request = {.dir = ".", .options = {.seed = 1}};
    enum lbm_err err = read_arguments(argc, argv, &request, diag);
    if (err == LBM_OK && request.help)
        printf("usage: lbsim plot NAME...|all [--dir DIR] [--full] [--seed S]\n"
               "Draw figures of the papers from our data, one SVG file each; lbsim list lists them.\n"
               "  --dir DIR    where to; made if it is missing; default: here\n"
               "  --full       more repetitions\n"
               "  --seed S     seed of all random numbers; default 1\n");
    else if (err == LBM_OK)
        err = save_make_dir(request.dir, diag);
    for (size_t i = 0; plots[i].name != NULL && err == LBM_OK && !request.help; i++)
        if (request.wanted[i])
            err = draw(&plots[i], &request, diag);
    *status = EXIT_SUCCESS;
    return err;
}
