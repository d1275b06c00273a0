/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim change: its command line. */
#include "base/limits.h"
#include "sim/command.h"
#include "sim/experiment/change.h"

enum {
    CHANGE_HOSTS,
    CHANGE_GUEST,
    CHANGE_MAP,
    CHANGE_FACTOR,
    CHANGE_HOST,
    CHANGE_CHANGES,
    CHANGE_APART,
    CHANGE_SEED,
    CHANGE_JSON,
    CHANGE_OPTIONS
};

static const struct lbm_option options[] = {
    [CHANGE_HOSTS] = {.name = "hosts",
                      .type = LBM_OPTION_TEXT,
                      .value = "SPEC",
                      .fallback = "mesh:16x16",
                      .text = "graph of the hosts, a topology of lbctl plan"},
    [CHANGE_GUEST] = {.name = "guest",
                      .type = LBM_OPTION_TEXT,
                      .value = "SPEC",
                      .fallback = "lattice:128x128",
                      .text = "graph of the job, as lbctl gen has it; each vertex weighs 100"},
    [CHANGE_MAP] = {.name = "map",
                    .type = LBM_OPTION_TEXT,
                    .value = "FILE",
                    .text = "mapping to begin with, instead of a plan: a host of each vertex, one a line"},
    [CHANGE_FACTOR] = {.name = "factor",
                       .type = LBM_OPTION_NUMBER,
                       .value = "F",
                       .min = 0.1,
                       .max = 100,
                       .fallback = "1.1",
                       .text = "by which the load of a host grows"},
    [CHANGE_HOST] = {.name = "host",
                     .type = LBM_OPTION_INTEGER,
                     .value = "P",
                     .max = LBM_HOSTS_MAX - 1,
                     .text = "which host is the first; the one in the middle unless told"},
    [CHANGE_CHANGES] = {.name = "changes",
                        .type = LBM_OPTION_INTEGER,
                        .value = "N",
                        .min = 1,
                        .max = CHANGES_MAX,
                        .fallback = "1",
                        .text = "that many, each on another host; all but the first are drawn"},
    [CHANGE_APART] = {.name = "apart",
                      .type = LBM_OPTION_INTEGER,
                      .value = "N",
                      .min = 1,
                      .max = LBM_HOSTS_MAX,
                      .fallback = "1",
                      .text = "number of links from one of these hosts to another, at least"},
    [CHANGE_SEED] = SIM_SEED_OPTION,
    [CHANGE_JSON] = LBM_JSON_OPTION,
};

static enum lbm_status
run_change(const struct lbm_cli *cli)
{
    const struct lbm_option_value *value = cli->value;
    const struct change_options o = {.hosts = value[CHANGE_HOSTS].text,
                                     .guest = value[CHANGE_GUEST].text,
                                     .map = value[CHANGE_MAP].given ? value[CHANGE_MAP].text : NULL,
                                     .factor = value[CHANGE_FACTOR].number,
                                     .host = value[CHANGE_HOST].given ? (uint32_t)value[CHANGE_HOST].integer
                                                                      : LBM_NONE,
                                     .changes = (uint32_t)value[CHANGE_CHANGES].integer,
                                     .apart = (uint32_t)value[CHANGE_APART].integer,
                                     .seed = value[CHANGE_SEED].integer,
                                     .json = value[CHANGE_JSON].given,
                                     .quiet = lbm_cli_is_quiet(cli)};
    static struct change_result result;
    struct lbm_diag diag;
    if (change_run(&o, &result, &diag) != LBM_OK)
        return lbm_cli_refuse(cli, &diag);
    change_print(&o, &result);
    return result.settled ? LBM_STATUS_DONE : LBM_STATUS_FAILED;
}

const struct lbm_command command_change = {
    .name = "change",
    .text = "one change in a large cluster, and whom it concerns",
    .help = "One change in a large cluster at rest: the load of one host grows. Tells how many hosts have "
            "to do with it, and the messages and bytes that it costs.",
    .options = options,
    .n_options = CHANGE_OPTIONS,
    .statuses = "0 it settles, 1 it does not, 2 wrong usage",
    .run = run_change,
};
