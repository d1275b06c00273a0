/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/balance/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/numbers.h"

/* ---- values -------------------------------------------------------------------------------------- */

static enum lbm_err
read_count(const char *name, const char *text, uint64_t most, uint64_t *out, struct lbm_diag *diag)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-')
        return lbm_diag_set(diag, LBM_E_SYNTAX, name, 0, "%.60s is not a number", text);
    if (value > most)
        return lbm_diag_set(diag, LBM_E_RANGE, name, 0, "%.60s is more than %llu", text,
                            (unsigned long long)most);
    *out = value;
    return LBM_OK;
}

static enum lbm_err
read_word(const char *name, const char *text, const char *const *words, unsigned n, unsigned *out,
          struct lbm_diag *diag)
{
    char known[256] = "";
    for (unsigned i = 0; i < n; i++) {
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return LBM_OK;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", words[i]);
    }
    return lbm_diag_set(diag, LBM_E_SYNTAX, name, 0, "%.40s is not known; there are %s", text, known);
}

/* ---- setters ------------------------------------------------------------------------------------- */

#define SETTER(name)                                                                                         \
    static enum lbm_err name(struct balance_command *o, const char *text, struct lbm_diag *diag)

SETTER(set_hosts)
{
    (void)diag;
    o->hosts = text;
    return LBM_OK;
}

SETTER(set_loads)
{
    (void)diag;
    o->loads = text;
    return LBM_OK;
}

SETTER(set_policy)
{
    const char *words[LBM_POLICY_COUNT];
    unsigned found = 0;
    for (unsigned i = 0; i < LBM_POLICY_COUNT; i++)
        words[i] = lbm_policy_name((enum lbm_policy)i);
    enum lbm_err err = read_word("--policy", text, words, LBM_POLICY_COUNT, &found, diag);
    o->run.policy = (enum lbm_policy)found;
    return err;
}

SETTER(set_ports)
{
    static const char *const words[] = {"one", "all"};
    unsigned found = 0;
    enum lbm_err err = read_word("--ports", text, words, 2, &found, diag);
    o->run.ports = (enum lbm_ports)found;
    return err;
}

SETTER(set_stop)
{
    static const char *const words[] = {"level", "neighbours", "quiet"};
    unsigned found = 0;
    enum lbm_err err = read_word("--stop", text, words, 3, &found, diag);
    o->run.stop = (enum lbm_stop)found;
    o->has_stop = 1;
    return err;
}

SETTER(set_bound)
{
    o->has_bound = 1;
    return sim_read_real("--bound", text, 0.0, 1e15, &o->run.bound, diag);
}

SETTER(set_alpha)
{
    o->run.alpha_rule = strcmp(text, "optimal") == 0 ? LBM_ALPHA_OPTIMAL
                        : strcmp(text, "safe") == 0  ? LBM_ALPHA_SAFE
                                                     : LBM_ALPHA_GIVEN;
    if (o->run.alpha_rule != LBM_ALPHA_GIVEN)
        return LBM_OK;
    return sim_read_real("--alpha", text, 0.0, 1.0, &o->run.alpha, diag);
}

/* Decimals are kept as a fraction: whole units are rounded by the digits that were written. */
SETTER(set_lambda)
{
    double value;
    enum lbm_err err = sim_read_real("--lambda", text, 1e-6, 1.0, &value, diag);
    if (err == LBM_OK) {
        o->run.lambda_denominator = 1000000;
        o->run.lambda_numerator = (uint32_t)lround(value * o->run.lambda_denominator);
    }
    return err;
}

SETTER(set_constant)
{
    return sim_read_real("--constant", text, 0.01, 100.0, &o->run.constant, diag);
}

SETTER(set_steps)
{
    return read_count("--steps", text, 1000000000, &o->run.steps_max, diag);
}

SETTER(set_runs)
{
    return read_count("--runs", text, 1000000, &o->runs, diag);
}

SETTER(set_seed)
{
    return read_count("--seed", text, UINT64_MAX, &o->run.seed, diag);
}

SETTER(set_arrivals)
{
    struct lbm_arrivals a;
    char beyond;
    if (sscanf(text, "%lf,%lf,%lf%c", &a.mean, &a.deviation, &a.service, &beyond) != 3)
        return lbm_diag_set(diag, LBM_E_SYNTAX, "--arrivals", 0, "%.60s is not MEAN,DEVIATION,SERVICE", text);
    o->arrivals = a;
    o->has_arrivals = 1;
    return LBM_OK;
}

#define FLAG(name, field)                                                                                    \
    SETTER(name)                                                                                             \
    {                                                                                                        \
        (void)text;                                                                                          \
        (void)diag;                                                                                          \
        o->field = 1;                                                                                        \
        return LBM_OK;                                                                                       \
    }
FLAG(set_integer, run.integer)
FLAG(set_nonnegative, run.nonnegative)
FLAG(set_schedule, schedule)
FLAG(set_trace, trace)
FLAG(set_json, json)
FLAG(set_quiet, quiet)
FLAG(set_help, help)

/* ---- the table ----------------------------------------------------------------------------------- */

enum { BOTH = PROGRAM_BALANCE | PROGRAM_ADVISE };

static const struct {
    const char *name, *value, *text;
    enum lbm_err (*set)(struct balance_command *o, const char *text, struct lbm_diag *diag);
    int programs;
} rows[] = {
    {"--hosts", "SPEC", "the host graph, as lbctl has it; file:PATH and @cap=FILE too", set_hosts, BOTH},
    {"--policy", "NAME", "one of the policies below; auto unless told", set_policy, PROGRAM_BALANCE},
    {"--loads", "SPEC", "uniform:MEAN, point:LOAD[,HOST], list:A,B,.. or file:PATH", set_loads,
     PROGRAM_BALANCE},
    {"--integer", NULL, "whole units", set_integer, BOTH},
    {"--nonnegative", NULL, "auto leaves out what may take more than there is", set_nonnegative, BOTH},
    {"--ports", "one|all", "a host talks to one neighbour at a time, or to all; one unless told", set_ports,
     BOTH},
    {"--alpha", "A", "of diffusion: optimal (unless told), safe, or a number", set_alpha, PROGRAM_BALANCE},
    {"--lambda", "L", "of gde; the best unless told", set_lambda, PROGRAM_BALANCE},
    {"--constant", "C", "of random-load; .75, from two dimensions on .3", set_constant, PROGRAM_BALANCE},
    {"--stop", "WHEN", "level, neighbours or quiet; level, of integers quiet", set_stop, PROGRAM_BALANCE},
    {"--bound", "B", "of level: over the mean load, 0.01; of neighbours: in units, 1", set_bound, BOTH},
    {"--steps", "N", "at most so many; measured so many with --arrivals", set_steps, PROGRAM_BALANCE},
    {"--runs", "N", "mean of so many runs, each with a seed of its own", set_runs, PROGRAM_BALANCE},
    {"--arrivals", "M,D,C", "work arrives, mean M and deviation D, and C is done, each step", set_arrivals,
     PROGRAM_BALANCE},
    {"--schedule", NULL, "predict the transfers of whole units in time", set_schedule, PROGRAM_BALANCE},
    {"--seed", "S", "of all that is drawn; 1 unless told", set_seed, BOTH},
    {"--trace", NULL, "print every step", set_trace, PROGRAM_BALANCE},
    {"--json", NULL, "print the result as JSON", set_json, BOTH},
    {"--quiet", NULL, "print only what is wrong", set_quiet, BOTH},
    {"-q", NULL, NULL, set_quiet, BOTH},
    {"--help", NULL, "print this text and exit", set_help, BOTH},
    {"-h", NULL, NULL, set_help, BOTH},
};

/* What was not told. */
static void
set_defaults(struct balance_command *o)
{
    if (!o->has_stop)
        o->run.stop = o->run.integer ? LBM_STOP_QUIET : LBM_STOP_LEVEL;
    if (!o->has_bound)
        o->run.bound = o->run.stop == LBM_STOP_LEVEL ? 0.01 : 1.0;
    if (o->loads == NULL)
        o->loads = o->run.integer ? "uniform:128" : "uniform:1";
}

enum lbm_err
balance_options_read(enum balance_program program, int argc, char **argv, struct balance_command *out,
                     struct lbm_diag *diag)
{
    const char *name = program == PROGRAM_BALANCE ? "balance" : "advise";
    struct balance_command o = {.run = {.policy = LBM_POLICY_AUTO, .seed = 1}, .runs = 1};
    for (int i = 0; i < argc; i++) {
        size_t row = 0, n = sizeof rows / sizeof *rows;
        while (row < n && (strcmp(rows[row].name, argv[i]) != 0 || !(rows[row].programs & (int)program)))
            row++;
        if (row == n)
            return lbm_diag_set(diag, LBM_E_SYNTAX, argv[i], 0, "no such option; lbsim %s --help lists them",
                                name);
        if (rows[row].value != NULL && i + 1 == argc)
            return lbm_diag_set(diag, LBM_E_SYNTAX, argv[i], 0, "needs %s", rows[row].value);
        enum lbm_err err = rows[row].set(&o, rows[row].value != NULL ? argv[++i] : NULL, diag);
        if (err != LBM_OK)
            return err;
    }
    if (o.hosts == NULL && !o.help)
        return lbm_diag_set(diag, LBM_E_SYNTAX, "--hosts", 0,
                            "is missing; for example lbsim %s --hosts torus:16x16", name);
    set_defaults(&o);
    *out = o;
    return LBM_OK;
}

void
balance_print_quoted(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++)
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            printf("\\u%04x", (unsigned)*text);
        else
            putchar(*text);
    putchar('"');
}

void
balance_options_help(enum balance_program program)
{
    if (program == PROGRAM_BALANCE)
        printf("usage: lbsim balance --hosts SPEC [options]\n\nRuns a load policy on loads until they are "
               "level; "
               "says how long it took, or why it does not settle.\n\noptions:\n");
    else
        printf("usage: lbsim advise --hosts SPEC [options]\n\nSays which load policy is the fastest on these "
               "hosts, "
               "with which parameter, what it costs, and why.\n\noptions:\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].text != NULL && (rows[i].programs & (int)program))
            printf("  %-13s %-8s %s\n", rows[i].name, rows[i].value != NULL ? rows[i].value : "",
                   rows[i].text);
    if (program == PROGRAM_BALANCE) {
        printf("\npolicies:\n");
        for (unsigned i = 0; i < LBM_POLICY_COUNT; i++)
            printf("  %-19s %s (%s)\n", lbm_policy_name((enum lbm_policy)i),
                   lbm_policy_text((enum lbm_policy)i), lbm_policy_source((enum lbm_policy)i));
        printf("\nexit status: 0 it settled, 1 it did not, 2 wrong usage or a policy that does not fit\n");
    } else {
        printf("\nexit status: 0 done, 1 failed, 2 wrong usage\n");
    }
}
