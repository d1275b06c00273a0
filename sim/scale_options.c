/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/numbers.h"
#include "sim/scale.h"

static enum lbm_err
set_hosts(struct scale_options *o, const char *text, struct lbm_diag *diag)
{
    (void)diag;
    o->hosts = text;
    return LBM_OK;
}

static enum lbm_err
set_guest(struct scale_options *o, const char *text, struct lbm_diag *diag)
{
    (void)diag;
    o->guest = text;
    return LBM_OK;
}

static enum lbm_err
set_churn(struct scale_options *o, const char *text, struct lbm_diag *diag)
{
    double percent = 0;
    enum lbm_err err = sim_read_real("--churn", text, 0, 40, &percent, diag);
    o->churn = percent / 100;
    return err;
}

static enum lbm_err
set_minutes(struct scale_options *o, const char *text, struct lbm_diag *diag)
{
    return sim_read_real("--minutes", text, 0, 600, &o->minutes, diag);
}

static enum lbm_err
set_seed(struct scale_options *o, const char *text, struct lbm_diag *diag)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-')
        return lbm_diag_set(diag, LBM_E_SYNTAX, "--seed", 0, "%.60s is not a number", text);
    o->seed = value;
    return LBM_OK;
}

#define FLAG(field)                                                                                          \
    static enum lbm_err set_##field(struct scale_options *o, const char *text, struct lbm_diag *diag)        \
    {                                                                                                        \
        (void)text;                                                                                          \
        (void)diag;                                                                                          \
        o->field = 1;                                                                                        \
        return LBM_OK;                                                                                       \
    }
FLAG(json)
FLAG(quiet)
FLAG(help)

static const struct {
    const char *name, *value, *text;
    enum lbm_err (*set)(struct scale_options *o, const char *text, struct lbm_diag *diag);
} rows[] = {
    {"--hosts", "SPEC", "graph of all hosts that take part at some time; mesh:8x8 unless told", set_hosts},
    {"--guest", "SPEC", "graph of the job; lattice:250x250 unless told", set_guest},
    {"--churn", "PERCENT", "so many of the hosts join, and as many leave; 10 unless told", set_churn},
    {"--minutes", "M", "within so many virtual minutes; 10 unless told", set_minutes},
    {"--seed", "S", "of all that is drawn; 1 unless told", set_seed},
    {"--json", NULL, "print the result as JSON", set_json},
    {"--quiet", NULL, "print only what is wrong", set_quiet},
    {"-q", NULL, NULL, set_quiet},
    {"--help", NULL, "print this text and exit", set_help},
    {"-h", NULL, NULL, set_help},
};

enum lbm_err
scale_options_read(int argc, char **argv, struct scale_options *out, struct lbm_diag *diag)
{
    struct scale_options o = {
        .hosts = "mesh:8x8", .guest = "lattice:250x250", .churn = 0.1, .minutes = 10, .seed = 1};
    for (int i = 0; i < argc; i++) {
        size_t row = 0, n = sizeof rows / sizeof *rows;
        while (row < n && strcmp(rows[row].name, argv[i]) != 0)
            row++;
        if (row == n)
            return lbm_diag_set(diag, LBM_E_SYNTAX, argv[i], 0,
                                "no such option; lbsim scale --help lists them");
        if (rows[row].value != NULL && i + 1 == argc)
            return lbm_diag_set(diag, LBM_E_SYNTAX, argv[i], 0, "needs %s", rows[row].value);
        enum lbm_err err = rows[row].set(&o, rows[row].value != NULL ? argv[++i] : NULL, diag);
        if (err != LBM_OK)
            return err;
    }
    *out = o;
    return LBM_OK;
}

void
scale_options_help(void)
{
    printf(
        "usage: lbsim scale [options]\n\nRuns one large cluster in virtual time: its hosts join, a job is "
        "submitted and settles, then hosts\njoin, leave and are lost. Tells whether the job settles again, "
        "how well it is balanced, and what\neach host had to do.\n\noptions:\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].text != NULL)
            printf("  %-10s %-8s %s\n", rows[i].name, rows[i].value != NULL ? rows[i].value : "",
                   rows[i].text);
    printf(
        "\nexit status: 0 it settles and is balanced within 5 %%, 1 it does not or is not, 2 wrong usage\n");
}
