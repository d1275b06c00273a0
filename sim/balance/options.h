/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of `lbsim balance` and `lbsim advise`. */
#ifndef LBM_SIM_BALANCE_OPTIONS_H
#define LBM_SIM_BALANCE_OPTIONS_H

#include "balance/policy.h"
#include "cli/command.h"

struct balance_command {
    const char *hosts, *loads;
    const char *links; /* file of alphas, one a link, or NULL */
    struct lbm_balance_options run;
    int has_arrivals;
    struct lbm_arrivals arrivals;
    uint64_t runs;
    int schedule, trace, json, quiet;
};

/* The table: the first rows are those of both commands. */
enum {
    BALANCE_HOSTS,
    BALANCE_INTEGER,
    BALANCE_NONNEGATIVE,
    BALANCE_PORTS,
    BALANCE_BOUND,
    BALANCE_SEED,
    BALANCE_TRANSFER,
    BALANCE_JSON,
    BALANCE_DAEMONS,
    ADVISE_OPTIONS,
    BALANCE_POLICY = ADVISE_OPTIONS,
    BALANCE_LOADS,
    BALANCE_ALPHA,
    BALANCE_LAMBDA,
    BALANCE_CONSTANT,
    BALANCE_LOW,
    BALANCE_STOP,
    BALANCE_STEPS,
    BALANCE_RUNS,
    BALANCE_ARRIVALS,
    BALANCE_SCHEDULE,
    BALANCE_TRACE,
    BALANCE_OPTIONS
};

extern const struct lbm_option balance_options[BALANCE_OPTIONS];

/* What either command was told. Errors: LBM_E_SYNTAX, LBM_E_RANGE with the option in diag. */
enum lbm_err balance_options_read(const struct lbm_cli *cli, struct balance_command *out,
                                  struct lbm_diag *diag) LBM_MUST_CHECK;

/* A string of JSON on standard output. */
void balance_print_quoted(const char *text);

#endif
