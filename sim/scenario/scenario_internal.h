/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of lbsim scenario share. */
#ifndef LBM_SIM_SCENARIO_SCENARIO_INTERNAL_H
#define LBM_SIM_SCENARIO_SCENARIO_INTERNAL_H

#include "sim/run/run.h"

enum { SCENARIO_NUMBERS = 4, SCENARIO_WORDS = 10 };

struct scenario;

/* What a line says: the arguments of its form in order. Hosts, numbers, times (us) and choices (which one)
 * are numbers; at most one argument is a text. */
struct arguments {
    uint64_t number[SCENARIO_NUMBERS];
    char *text; /* owned; NULL: none */
};

enum needs { NEEDS_NOTHING, NEEDS_UP, NEEDS_DOWN }; /* of the first host of the line */

/* One thing that can be said. The form is what the line looks like: HOST, NUMBER, TIME (a number and us, ms
 * or s), TEXT (in quotes), KIND (of message), SPEC (a word), a|b|c (one of them); else the word itself. */
struct scenario_row {
    const char *form, *text;
    void (*run)(struct scenario *s, const struct arguments *arguments);
    /* Or, for what is settled before the cluster begins: */
    enum lbm_err (*set)(struct scenario *s, const struct arguments *arguments, struct lbm_diag *diag);
    enum needs needs;
};

extern const struct scenario_row scenario_rows[];
extern const size_t scenario_n_rows;

struct command {
    uint32_t line;
    char *said; /* the line itself, owned */
    const struct scenario_row *row;
    struct arguments arguments;
};

enum traced { TRACE_NOTHING, TRACE_WHAT_MATTERS, TRACE_ALL };

struct scenario {
    const char *file;
    enum traced traced;
    struct run run; /* its cluster, guest and verdict */
    struct run_result result;
    LBM_VEC(struct command) commands;
    struct lbm_buf lines; /* of the trace so far */
    const char *awaited;  /* pattern; NULL: nothing */
    int has_come;
    uint32_t line;        /* at work */
    uint32_t load_vertex; /* of which applications report the load below, after `load` */
    double load;
};

/* ---- scenario_read.c ----------------------------------------------------------------------------------- */

/* Read a whole file; carries out what is settled before the cluster begins.
 * Errors: LBM_E_NOTFOUND, LBM_E_IO, LBM_E_SYNTAX, LBM_E_RANGE: diag names file and line. */
enum lbm_err scenario_read(struct scenario *s, struct lbm_diag *diag) LBM_MUST_CHECK;

/* ---- scenario.c ---------------------------------------------------------------------------------------- */

/* The scenario has failed: `what` is an invariant, or "--". The first failure counts. */
void scenario_fails(struct scenario *s, const char *what, const char *fmt, ...) LBM_PRINTF(3, 4);
int scenario_is_well(const struct scenario *s);
/* Let time pass, until a line of the trace matches the pattern (NULL: nothing does). Nonzero if one did. */
int scenario_run(struct scenario *s, int64_t us, const char *pattern);
/* Nonzero if the pattern, in which * stands for anything, occurs in the text. */
int scenario_matches(const char *pattern, const char *text);

#endif
