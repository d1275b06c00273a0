/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim drift: its command line. */
#include "sim/experiment/drift.h"

#include <string.h>

#include "sim/command.h"

enum {
    DRIFT_HOSTS,
    DRIFT_GUEST,
    DRIFT_RAMPS,
    DRIFT_STEPS,
    DRIFT_SECONDS,
    DRIFT_PLANS,
    DRIFT_FRESH,
    DRIFT_STILL,
    DRIFT_NOISY,
    DRIFT_NOISE,
    DRIFT_IMBALANCE,
    DRIFT_REMAP,
    DRIFT_MAPS,
    DRIFT_SEED,
    DRIFT_JSON,
    DRIFT_OPTIONS
};

enum { RAMPS_MAX = 40, STEPS_MAX = 100, SECONDS_MAX = 86400 };

static const struct lbm_option options[] = {
    [DRIFT_HOSTS] = {.name = "hosts",
                     .type = LBM_OPTION_TEXT,
                     .value = "SPEC",
                     .fallback = "mesh:4x4",
                     .text = "graph of the hosts, as lbctl plan has it"},
    [DRIFT_GUEST] = {.name = "guest",
                     .type = LBM_OPTION_TEXT,
                     .value = "GUEST",
                     .fallback = "tri:16000",
                     .text = "graph of the job, a file or what lbctl gen makes; each vertex weighs 100"},
    [DRIFT_RAMPS] = {.name = "ramps",
                     .type = LBM_OPTION_INTEGER,
                     .value = "N",
                     .max = RAMPS_MAX,
                     .fallback = "4",
                     .text = "a corner gets twice as expensive, then the next one instead, so often"},
    [DRIFT_STEPS] = {.name = "steps",
                     .type = LBM_OPTION_INTEGER,
                     .value = "N",
                     .min = 1,
                     .max = STEPS_MAX,
                     .fallback = "10",
                     .text = "of a ramp"},
    [DRIFT_SECONDS] = {.name = "seconds",
                       .type = LBM_OPTION_NUMBER,
                       .value = "S",
                       .min = 0.1,
                       .max = SECONDS_MAX,
                       .fallback = "6",
                       .text = "that a step takes"},
    [DRIFT_PLANS] = {.name = "plans",
                     .type = LBM_OPTION_INTEGER,
                     .value = "N",
                     .max = STEPS_MAX,
                     .fallback = "5",
                     .text = "compare J with that of fresh plans every N steps of a ramp, 0: never"},
    [DRIFT_FRESH] = {.name = "fresh",
                     .type = LBM_OPTION_INTEGER,
                     .value = "N",
                     .min = 1,
                     .max = DRIFT_FRESH_MAX,
                     .fallback = "5",
                     .text = "number of fresh plans, each from another seed, of which the middle one counts"},
    [DRIFT_STILL] = {.name = "still",
                     .type = LBM_OPTION_NUMBER,
                     .value = "S",
                     .max = SECONDS_MAX,
                     .fallback = "300",
                     .text = "then that many seconds with constant loads"},
    [DRIFT_NOISY] = {.name = "noisy",
                     .type = LBM_OPTION_NUMBER,
                     .value = "S",
                     .max = SECONDS_MAX,
                     .fallback = "180",
                     .text = "then that many seconds with noise on each report"},
    [DRIFT_NOISE] = {.name = "noise",
                     .type = LBM_OPTION_NUMBER,
                     .value = "X",
                     .max = 1,
                     .fallback = "0.1",
                     .text = "of a load, at most"},
    [DRIFT_IMBALANCE] = {.name = "imbalance",
                         .type = LBM_OPTION_SHARE,
                         .value = "EPS",
                         .min = 0.001,
                         .max = 1,
                         .fallback = "0.03",
                         .text = "bound of the job: 0.03 or 3%"},
    [DRIFT_REMAP] = {.name = "remap",
                     .type = LBM_OPTION_NUMBER,
                     .value = "COST",
                     .max = 1e9,
                     .text = "no cluster: each step is planned from the mapping there is, at that migration "
                             "cost of lbctl plan; 0: the usual one"},
    [DRIFT_MAPS] = {.name = "maps",
                    .type = LBM_OPTION_TEXT,
                    .value = "DIR",
                    .text = "write the mapping there at first and after each step"},
    [DRIFT_SEED] = SIM_SEED_OPTION,
    [DRIFT_JSON] = LBM_JSON_OPTION,
};

static enum lbm_status
run_drift(const struct lbm_cli *cli)
{
    const struct lbm_option_value *value = cli->value;
    const struct drift_options o = {.hosts = value[DRIFT_HOSTS].text,
                                    .guest = value[DRIFT_GUEST].text,
                                    .ramps = (uint32_t)value[DRIFT_RAMPS].integer,
                                    .steps = (uint32_t)value[DRIFT_STEPS].integer,
                                    .seconds = value[DRIFT_SECONDS].number,
                                    .plans = (uint32_t)value[DRIFT_PLANS].integer,
                                    .fresh = (uint32_t)value[DRIFT_FRESH].integer,
                                    .still_s = value[DRIFT_STILL].number,
                                    .noisy_s = value[DRIFT_NOISY].number,
                                    .noise = value[DRIFT_NOISE].number,
                                    .imbalance = value[DRIFT_IMBALANCE].number,
                                    .remap = value[DRIFT_REMAP].given,
                                    .cost = value[DRIFT_REMAP].number,
                                    .maps = value[DRIFT_MAPS].text,
                                    .seed = value[DRIFT_SEED].integer,
                                    .json = value[DRIFT_JSON].given,
                                    .quiet = lbm_cli_is_quiet(cli)};
    static struct drift_result result;
    struct lbm_diag diag = {0};
    if (drift_run(&o, &result, &diag) != LBM_OK)
        return lbm_cli_refuse(cli, &diag);
    drift_print(&o, &result);
    return result.why[0] == '\0' ? LBM_STATUS_DONE : LBM_STATUS_FAILED;
}

const struct lbm_command command_drift = {
    .name = "drift",
    .text = "loads that drift, and what follows them",
    .help =
        "Loads that drift in a cluster in virtual time: applications report what vertices cost; a corner of "
        "the "
        "hosts gets twice as expensive in steps, then the next one instead. Tells how soon loads are even "
        "again, "
        "how much moves, and J compared with fresh plans; then what moves while loads are constant, and with "
        "noise.",
    .options = options,
    .n_options = DRIFT_OPTIONS,
    .statuses = "0 done, 1 the cluster fails, 2 wrong usage or input",
    .run = run_drift,
};
