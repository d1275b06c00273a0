/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim scale: its command line. */
#include "sim/command.h"
#include "sim/experiment/scale.h"

enum {
    SCALE_HOSTS,
    SCALE_GUEST,
    SCALE_START,
    SCALE_HOLDERS,
    SCALE_SCATTER,
    SCALE_COPIES,
    SCALE_PERCENT,
    SCALE_FORMED,
    SCALE_MINUTES,
    SCALE_LOSS,
    SCALE_SEED,
    SCALE_JSON,
    SCALE_OPTIONS
};

static const struct lbm_choice starts[] = {
#define START_CHOICE(id, number, name, text) {name, text},
    LBM_START_LIST(START_CHOICE)
#undef START_CHOICE
        {NULL, NULL},
};

static const struct lbm_option options[] = {
    [SCALE_HOSTS] = LBM_TEXT_OPTION(
        "hosts", "SPEC", "graph of all hosts that take part at some time, a topology of lbctl plan",
        .fallback = "mesh:8x8"),
    [SCALE_GUEST] = LBM_TEXT_OPTION("guest", "SPEC", "graph of the job, as lbctl gen has it, or a file",
                                    .fallback = "lattice:250x250"),
    [SCALE_START] = LBM_CHOICE_OPTION("start", "START", starts, "how the vertices start", .fallback = "plan"),
    [SCALE_HOLDERS] = LBM_INTEGER_OPTION("holders", "N", 1, LBM_HOSTS_MAX,
                                         "hosts that the guest comes in at, a slice each", .fallback = "1"),
    [SCALE_SCATTER] = LBM_FLAG_OPTION("scatter", "number the guest at random: slices hold few neighbours"),
    [SCALE_COPIES] = LBM_INTEGER_OPTION("copies", "N", 1, LBM_COPIES_MAX,
                                        "other hosts that have a copy of each record", .fallback = "1"),
    [SCALE_PERCENT] = LBM_NUMBER_OPTION("churn", "PERCENT", 0, 40,
                                        "share of the hosts that join, and that leave", .fallback = "10"),
    [SCALE_FORMED] = LBM_FLAG_OPTION("formed", "hosts are members from the beginning, and none joins"),
    [SCALE_MINUTES] =
        LBM_NUMBER_OPTION("minutes", "M", 0, 600, "within that many virtual minutes", .fallback = "10"),
    [SCALE_LOSS] =
        LBM_SHARE_OPTION("loss", "P", 0, 0.9, "of ghosts and other messages that may be lost: 0.1 or 10%",
                         .fallback = "0.001"),
    [SCALE_SEED] = SIM_SEED_OPTION,
    [SCALE_JSON] = LBM_JSON_OPTION,
};

static enum lbm_status
run_scale(const struct lbm_cli *cli)
{
    const struct lbm_option_value *value = cli->value;
    const struct scale_options o = {.hosts = value[SCALE_HOSTS].text,
                                    .guest = value[SCALE_GUEST].text,
                                    .start = (enum lbm_start)value[SCALE_START].integer,
                                    .holders = (uint32_t)value[SCALE_HOLDERS].integer,
                                    .is_scattered = value[SCALE_SCATTER].given,
                                    .copies = (uint32_t)value[SCALE_COPIES].integer,
                                    .is_formed = value[SCALE_FORMED].given,
                                    .churn = value[SCALE_PERCENT].number / 100,
                                    .minutes = value[SCALE_MINUTES].number,
                                    .loss = value[SCALE_LOSS].number,
                                    .seed = value[SCALE_SEED].integer,
                                    .json = value[SCALE_JSON].given,
                                    .quiet = lbm_cli_is_quiet(cli)};
    struct scale_result result;
    struct lbm_diag diag;
    if (scale_run(&o, &result, &diag) != LBM_OK)
        return lbm_cli_refuse(cli, &diag);
    scale_print(&o, &result);
    return result.settled && result.imbalance <= 0.05 ? LBM_STATUS_DONE : LBM_STATUS_FAILED;
}

const struct lbm_command command_scale = {
    .name = "scale",
    .text = "one large cluster, measured",
    .help = "Runs one large cluster in virtual time: its hosts join, a job is submitted and settles, then "
            "hosts join, leave and are lost. Tells whether the job settles again, how well it is balanced, "
            "and what each host had to do.",
    .options = options,
    .n_options = SCALE_OPTIONS,
    .statuses = "0 it settles and is balanced within 5 %, 1 it does not or is not, 2 wrong usage",
    .run = run_scale,
};
