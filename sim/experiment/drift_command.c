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
    [DRIFT_HOSTS] =
        LBM_TEXT_OPTION("hosts", "SPEC", "graph of the hosts, as lbctl plan has it", .fallback = "mesh:4x4"),
    [DRIFT_GUEST] = LBM_TEXT_OPTION(
        "guest", "GUEST", "graph of the job, a file or what lbctl gen makes; each vertex weighs 100",
        .fallback = "tri:16000"),
    [DRIFT_RAMPS] = LBM_INTEGER_OPTION(
        "ramps", "N", 0, RAMPS_MAX, "a corner gets twice as expensive, then the next one instead, so often",
        .fallback = "4"),
    [DRIFT_STEPS] = LBM_INTEGER_OPTION("steps", "N", 1, STEPS_MAX, "of a ramp", .fallback = "10"),
    [DRIFT_SECONDS] =
        LBM_NUMBER_OPTION("seconds", "S", 0.1, SECONDS_MAX, "that a step takes", .fallback = "6"),
    [DRIFT_PLANS] = LBM_INTEGER_OPTION("plans", "N", 0, STEPS_MAX,
                                       "compare J with that of fresh plans every N steps of a ramp, 0: never",
                                       .fallback = "5"),
    [DRIFT_FRESH] = LBM_INTEGER_OPTION(
        "fresh", "N", 1, DRIFT_FRESH_MAX,
        "number of fresh plans, each from another seed, of which the middle one counts", .fallback = "5"),
    [DRIFT_STILL] = LBM_NUMBER_OPTION("still", "S", 0, SECONDS_MAX,
                                      "then that many seconds with constant loads", .fallback = "300"),
    [DRIFT_NOISY] = LBM_NUMBER_OPTION("noisy", "S", 0, SECONDS_MAX,
                                      "then that many seconds with noise on each report", .fallback = "180"),
    [DRIFT_NOISE] = LBM_NUMBER_OPTION("noise", "X", 0, 1, "of a load, at most", .fallback = "0.1"),
    [DRIFT_IMBALANCE] =
        LBM_SHARE_OPTION("imbalance", "EPS", 0.001, 1, "bound of the job: 0.03 or 3%", .fallback = "0.03"),
    [DRIFT_REMAP] =
        LBM_NUMBER_OPTION("remap", "COST", 0, 1e9,
                          "no cluster: each step is planned from the mapping there is, at that migration "
                          "cost of lbctl plan; 0: the usual one"),
    [DRIFT_MAPS] = LBM_TEXT_OPTION("maps", "DIR", "write the mapping there at first and after each step"),
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
