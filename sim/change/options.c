/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/change/change.h"
#include "sim/numbers.h"

static enum lbm_err
read_count(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *out,
           struct lbm_diag *diag)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-')
        return lbm_diag_set(diag, LBM_E_SYNTAX, name, 0, "%.60s is not a number", text);
    if (value < least || value > most)
        return lbm_diag_set(diag, LBM_E_RANGE, name, 0, "%.60s is not in %" PRIu64 " .. %" PRIu64, text,
                            least, most);
    *out = value;
    return LBM_OK;
}

static enum lbm_err
set_hosts(struct change_options *o, const char *text, struct lbm_diag *diag)
{
    (void)diag;
    o->hosts = text;
    return LBM_OK;
}

static enum lbm_err
set_guest(struct change_options *o, const char *text, struct lbm_diag *diag)
{
    (void)diag;
    o->guest = text;
    return LBM_OK;
}

static enum lbm_err
set_factor(struct change_options *o, const char *text, struct lbm_diag *diag)
{
    return sim_read_real("--factor", text, 0.1, 100, &o->factor, diag);
}

static enum lbm_err
set_host(struct change_options *o, const char *text, struct lbm_diag *diag)
{
    uint64_t value = 0;
    enum lbm_err err = read_count("--host", text, 0, LBM_HOSTS_MAX - 1, &value, diag);
    o->host = (uint32_t)value;
    return err;
}

static enum lbm_err
set_changes(struct change_options *o, const char *text, struct lbm_diag *diag)
{
    uint64_t value = 0;
    enum lbm_err err = read_count("--changes", text, 1, CHANGES_MAX, &value, diag);
    o->changes = (uint32_t)value;
    return err;
}

static enum lbm_err
set_seed(struct change_options *o, const char *text, struct lbm_diag *diag)
{
    return read_count("--seed", text, 0, UINT64_MAX, &o->seed, diag);
}

#define FLAG(field)                                                                                          \
    static enum lbm_err set_##field(struct change_options *o, const char *text, struct lbm_diag *diag)       \
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
    enum lbm_err (*set)(struct change_options *o, const char *text, struct lbm_diag *diag);
} rows[] = {
    {"--hosts", "SPEC", "graph of the hosts; mesh:16x16 unless told", set_hosts},
    {"--guest", "SPEC", "graph of the job, each vertex weighs 100; lattice:128x128 unless told", set_guest},
    {"--factor", "F", "by which the load of a host grows; 1.1 unless told", set_factor},
    {"--host", "P", "which host is the first; the one in the middle unless told", set_host},
    {"--changes", "N", "so many, each on another host; all but the first are drawn; 1 unless told",
     set_changes},
    {"--seed", "S", "of all that is drawn; 1 unless told", set_seed},
    {"--json", NULL, "print the result as JSON", set_json},
    {"--quiet", NULL, "print only what is wrong", set_quiet},
    {"-q", NULL, NULL, set_quiet},
    {"--help", NULL, "print this text and exit", set_help},
    {"-h", NULL, NULL, set_help},
};

enum lbm_err
change_options_read(int argc, char **argv, struct change_options *out, struct lbm_diag *diag)
{
    struct change_options o = {.hosts = "mesh:16x16",
                               .guest = "lattice:128x128",
                               .factor = 1.1,
                               .host = LBM_NONE,
                               .changes = 1,
                               .seed = 1};
    for (int i = 0; i < argc; i++) {
        size_t row = 0, n = sizeof rows / sizeof *rows;
        while (row < n && strcmp(rows[row].name, argv[i]) != 0)
            row++;
        if (row == n)
            return lbm_diag_set(diag, LBM_E_SYNTAX, argv[i], 0,
                                "no such option; lbsim change --help lists them");
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
change_options_help(void)
{
    printf("usage: lbsim change [options]\n\nOne change in a large cluster at rest: the load of one host "
           "grows. Tells "
           "how many hosts have to do with\nit, and the messages and bytes that it costs.\n\noptions:\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].text != NULL)
            printf("  %-10s %-5s %s\n", rows[i].name, rows[i].value != NULL ? rows[i].value : "",
                   rows[i].text);
    printf("\nexit status: 0 it settles, 1 it does not, 2 wrong usage\n");
}
