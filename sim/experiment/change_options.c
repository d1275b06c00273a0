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
    [CHANGE_HOSTS] = LBM_TEXT_OPTION("hosts", "SPEC", "graph of the hosts, a topology of lbctl plan",
                                     .fallback = "mesh:16x16"),
    [CHANGE_GUEST] =
        LBM_TEXT_OPTION("guest", "SPEC", "graph of the job, as lbctl gen has it; each vertex weighs 100",
                        .fallback = "lattice:128x128"),
    [CHANGE_MAP] = LBM_TEXT_OPTION(
        "map", "FILE", "mapping to begin with, instead of a plan: a host of each vertex, one a line"),
    [CHANGE_FACTOR] =
        LBM_NUMBER_OPTION("factor", "F", 0.1, 100, "by which the load of a host grows", .fallback = "1.1"),
    [CHANGE_HOST] = LBM_INTEGER_OPTION("host", "P", 0, LBM_HOSTS_MAX - 1,
                                       "which host is the first; the one in the middle unless told"),
    [CHANGE_CHANGES] =
        LBM_INTEGER_OPTION("changes", "N", 1, CHANGES_MAX,
                           "that many, each on another host; all but the first are drawn", .fallback = "1"),
    [CHANGE_APART] =
        LBM_INTEGER_OPTION("apart", "N", 1, LBM_HOSTS_MAX,
                           "number of links from one of these hosts to another, at least", .fallback = "1"),
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
