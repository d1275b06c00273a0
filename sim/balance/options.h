/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of `lbsim balance` and `lbsim advise`. */
#ifndef LBM_SIM_BALANCE_OPTIONS_H
#define LBM_SIM_BALANCE_OPTIONS_H

#include "balance/policy.h"

struct balance_command {
    const char *hosts, *loads;
    struct lbm_balance_options run;
    int has_stop, has_bound, has_arrivals;
    struct lbm_arrivals arrivals;
    uint64_t runs;
    int schedule, trace, json, quiet, help;
};

enum balance_program { PROGRAM_BALANCE = 1, PROGRAM_ADVISE = 2 };

/* Read the arguments after the command's name.
 * Errors: LBM_E_SYNTAX, LBM_E_RANGE with the option in diag. */
enum lbm_err balance_options_read(enum balance_program program, int argc, char **argv,
                                  struct balance_command *out, struct lbm_diag *diag) LBM_MUST_CHECK;
/* A string of JSON on standard output. */
void balance_print_quoted(const char *text);

void balance_options_help(enum balance_program program);

#endif
