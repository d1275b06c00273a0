/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim converge: its command line, and the table of delays and losses. */
#include <inttypes.h>
#include <stdio.h>

#include "sim/command.h"
#include "sim/experiment/converge.h"

enum {
    CONVERGE_HOSTS,
    CONVERGE_SIDE,
    CONVERGE_CELLS,
    CONVERGE_DELAY,
    CONVERGE_LOSS,
    CONVERGE_FOLLOW,
    CONVERGE_SEED,
    CONVERGE_JSON,
    CONVERGE_OPTIONS
};

/* The table's, unless one of each is asked for. */
static const double delays[] = {0, 1, 2, 3, 5, 7, 10}, losses[] = {0, 0.1, 0.2, 0.3, 0.4, 0.5};

enum { DELAYS = sizeof delays / sizeof *delays, LOSSES = sizeof losses / sizeof *losses };

static const struct lbm_option options[] = {
    [CONVERGE_HOSTS] = LBM_TEXT_OPTION("hosts", "SPEC", "the hosts, a topology of lbctl plan in the plane",
                                       .fallback = "mesh:4x4"),
    [CONVERGE_SIDE] =
        LBM_INTEGER_OPTION("side", "N", 4, 90, "the guest is a lattice of N x N", .fallback = "32"),
    [CONVERGE_CELLS] = LBM_NUMBER_OPTION("cells", "X", 0.07, 10, "until no vertex is farther from its place",
                                         .fallback = "0.1"),
    [CONVERGE_DELAY] =
        LBM_NUMBER_OPTION("delay", "D", 0, 100, "of messages, in sweeps [a column of the table each]"),
    [CONVERGE_LOSS] =
        LBM_SHARE_OPTION("loss", "P", 0, 0.9, "of ghosts: 0.1 or 10% [a row of the table each]"),
    [CONVERGE_FOLLOW] =
        LBM_FLAG_OPTION("follow", "vertices change hosts as they move, as in a job; else each is where it "
                                  "will lie from the start"),
    [CONVERGE_SEED] = SIM_SEED_OPTION,
    [CONVERGE_JSON] = LBM_JSON_OPTION,
};

static void
print_cell(int json, int is_first, double delay, double loss, const struct converge_result *r)
{
    if (json)
        printf("%s\n {\"delay\": %g, \"loss\": %g, \"converged\": %s, \"sweeps\": %" PRIu64
               ", \"error\": %.4f, \"virtual_s\": %.3f, \"why\": \"%s\"}",
               is_first ? "" : ",", delay, loss, r->converged ? "true" : "false", r->sweeps,
               r->error < 1e6 ? r->error : -1.0, r->virtual_s, r->why);
    else if (r->converged)
        printf("%8" PRIu64, r->sweeps);
    else
        printf("%8s", "-");
    fflush(stdout);
}

static void
print_head(const struct converge_options *o, const double *delay, size_t n)
{
    printf("sweeps until no vertex of a lattice %ux%u on %s is more than %g cells from its place\n%8s",
           o->side, o->side, o->hosts, o->cells, "loss");
    for (size_t i = 0; i < n; i++)
        printf("%6s%2g", i == 0 ? "delay" : "", delay[i]);
    printf("\n");
}

static enum lbm_status
run_converge(const struct lbm_cli *cli)
{
    const struct lbm_option_value *value = cli->value;
    const struct converge_options o = {.hosts = value[CONVERGE_HOSTS].text,
                                       .side = (uint32_t)value[CONVERGE_SIDE].integer,
                                       .cells = value[CONVERGE_CELLS].number,
                                       .follow = value[CONVERGE_FOLLOW].given,
                                       .seed = value[CONVERGE_SEED].integer};
    const double *delay = value[CONVERGE_DELAY].given ? &value[CONVERGE_DELAY].number : delays;
    const double *loss = value[CONVERGE_LOSS].given ? &value[CONVERGE_LOSS].number : losses;
    size_t n_delays = value[CONVERGE_DELAY].given ? 1 : DELAYS,
           n_losses = value[CONVERGE_LOSS].given ? 1 : LOSSES;
    int json = value[CONVERGE_JSON].given, failed = 0;
    for (size_t l = 0; l < n_losses; l++) {
        for (size_t d = 0; d < n_delays; d++) {
            struct converge_result result;
            struct lbm_diag diag;
            if (converge_run(&o, delay[d], loss[l], &result, &diag) != LBM_OK)
                return lbm_cli_refuse(cli, &diag);
            if (l == 0 && d == 0 && !json)
                print_head(&o, delay, n_delays);
            if (l == 0 && d == 0 && json)
                printf("[");
            if (d == 0 && !json)
                printf("%6g %%", 100 * loss[l]);
            print_cell(json, l == 0 && d == 0, delay[d], loss[l], &result);
            if (!result.converged && !json)
                lbm_cli_remark(cli, "delay %g, loss %g: %s", delay[d], loss[l], result.why);
            failed |= !result.converged;
        }
        if (!json)
            printf("\n");
    }
    if (json)
        printf("\n]\n");
    return failed ? LBM_STATUS_FAILED : LBM_STATUS_DONE;
}

const struct lbm_command command_converge = {
    .name = "converge",
    .text = "sweeps of diffusion by delay and loss",
    .help =
        "HEI97's model problem on real nodes in virtual time: a lattice whose perimeter is pinned is mapped "
        "from "
        "the centre while messages between hosts are late and ghosts are lost. Prints after how many sweeps "
        "every vertex is near its place, for each delay and loss.",
    .options = options,
    .n_options = CONVERGE_OPTIONS,
    .statuses = "0 it converges everywhere, 1 it does not, 2 wrong usage",
    .run = run_converge,
};
