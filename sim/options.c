/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "sim/faults.h"

enum { HOSTS_LEAST = 3, HOSTS_MOST = 64, HOSTS_LIMIT = 64, JOBS_MAX = 64 };

static enum lbm_err
read_number(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *out,
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
set_seeds(struct sim_options *o, const char *text, struct lbm_diag *diag)
{
    return read_number("--seeds", text, 1, UINT64_C(1) << 40, &o->seeds, diag);
}

static enum lbm_err
set_first(struct sim_options *o, const char *text, struct lbm_diag *diag)
{
    return read_number("--first", text, 0, UINT64_MAX >> 1, &o->first, diag);
}

static enum lbm_err
set_seed(struct sim_options *o, const char *text, struct lbm_diag *diag)
{
    o->one = 1;
    o->seeds = 1;
    return read_number("--seed", text, 0, UINT64_MAX >> 1, &o->first, diag);
}

static enum lbm_err
set_hosts(struct sim_options *o, const char *text, struct lbm_diag *diag)
{
    char least[24];
    const char *dots = strstr(text, "..");
    uint64_t low, high;
    size_t len = dots != NULL ? (size_t)(dots - text) : strlen(text);
    if (len >= sizeof least)
        return lbm_diag_set(diag, LBM_E_SYNTAX, "--hosts", 0, "%.60s is not LEAST..MOST", text);
    snprintf(least, sizeof least, "%.*s", (int)len, text);
    enum lbm_err err = read_number("--hosts", least, 2, HOSTS_LIMIT, &low, diag);
    if (err == LBM_OK)
        err = read_number("--hosts", dots != NULL ? dots + 2 : text, low, HOSTS_LIMIT, &high, diag);
    if (err != LBM_OK)
        return err;
    o->hosts_least = (uint32_t)low;
    o->hosts_most = (uint32_t)high;
    return LBM_OK;
}

static enum lbm_err
set_jobs(struct sim_options *o, const char *text, struct lbm_diag *diag)
{
    uint64_t jobs = o->jobs;
    enum lbm_err err = read_number("--jobs", text, 1, JOBS_MAX, &jobs, diag);
    o->jobs = (uint32_t)jobs;
    return err;
}

static enum lbm_err
set_time_limit(struct sim_options *o, const char *text, struct lbm_diag *diag)
{
    return read_number("--time-limit", text, 1, UINT64_C(1) << 31, &o->time_limit_s, diag);
}

static enum lbm_err
set_hashes(struct sim_options *o, const char *text, struct lbm_diag *diag)
{
    (void)diag;
    o->hashes = text;
    return LBM_OK;
}

static enum lbm_err
set_bug(struct sim_options *o, const char *text, struct lbm_diag *diag)
{
    (void)diag;
    o->bug = text;
    return LBM_OK;
}

static enum lbm_err
set_faults(struct sim_options *o, const char *text, struct lbm_diag *diag)
{
    o->list_faults = strcmp(text, "list") == 0;
    if (text[0] != '-')
        o->kinds = 0;
    while (*text != '\0' && !o->list_faults) {
        int not = *text == '-';
        text += not ;
        size_t len = strcspn(text, ","), k = 0;
        while (k < FAULT_COUNT &&
               (strncmp(fault_rows[k].name, text, len) != 0 || fault_rows[k].name[len] != '\0'))
            k++;
        if (k == FAULT_COUNT)
            return lbm_diag_set(diag, LBM_E_SYNTAX, "--faults", 0,
                                "%.*s is no fault; --faults list lists them", (int)(len < 60 ? len : 60),
                                text);
        if (not )
            o->kinds &= ~(UINT64_C(1) << k);
        else
            o->kinds |= UINT64_C(1) << k;
        text += len + (text[len] == ',');
    }
    return LBM_OK;
}

static enum lbm_err
set_without(struct sim_options *o, const char *text, struct lbm_diag *diag)
{
    char number[24];
    uint64_t fault = 0;
    while (*text != '\0') {
        size_t len = strcspn(text, ",");
        snprintf(number, sizeof number, "%.*s", (int)(len < 20 ? len : 20), text);
        enum lbm_err err = read_number("--without", number, 0, 63, &fault, diag);
        if (err != LBM_OK)
            return err;
        o->left_out |= UINT64_C(1) << fault;
        text += len + (text[len] == ',');
    }
    return LBM_OK;
}

#define FLAG(field)                                                                                          \
    static enum lbm_err set_##field(struct sim_options *o, const char *text, struct lbm_diag *diag)          \
    {                                                                                                        \
        (void)text;                                                                                          \
        (void)diag;                                                                                          \
        o->field = 1;                                                                                        \
        return LBM_OK;                                                                                       \
    }
FLAG(trace)
FLAG(shrink)
FLAG(json)
FLAG(quiet)
FLAG(help)
FLAG(version)

static const struct {
    const char *name, *value, *text;
    enum lbm_err (*set)(struct sim_options *o, const char *text, struct lbm_diag *diag);
} rows[] = {
    {"--seeds", "N", "so many seeds; 100 unless told", set_seeds},
    {"--first", "S", "from this one on; 1 unless told", set_first},
    {"--seed", "S", "this one alone", set_seed},
    {"--hosts", "LEAST..MOST", "so many hosts, mostly few; 3..64 unless told", set_hosts},
    {"--faults", "LIST", "only these, separated by commas, or all but -these; `list` lists them", set_faults},
    {"--without", "LIST", "leave out the faults of these numbers, to replay what --shrink found",
     set_without},
    {"--trace", NULL, "print what happens, line by line", set_trace},
    {"--shrink", NULL, "leave out faults of a seed that fails while it still does, and print the rest",
     set_shrink},
    {"--bug", "NAME", "plant a mistake, until it is found; `all` makes a table, `list` lists them", set_bug},
    {"--jobs", "N", "so many processes at a time; 2 unless told", set_jobs},
    {"--time-limit", "S", "begin no seed after so many seconds", set_time_limit},
    {"--hashes", "FILE", "write each seed and the hash of its trace there", set_hashes},
    {"--json", NULL, "print the summary as JSON", set_json},
    {"--quiet", NULL, "print failures alone", set_quiet},
    {"-q", NULL, NULL, set_quiet},
    {"--help", NULL, "print this text and exit", set_help},
    {"-h", NULL, NULL, set_help},
    {"--version", NULL, "print the version and exit", set_version},
    {"-V", NULL, NULL, set_version},
};

enum lbm_err
sim_options_read(int argc, char **argv, struct sim_options *out, struct lbm_diag *diag)
{
    struct sim_options o = {.seeds = 100,
                            .first = 1,
                            .hosts_least = HOSTS_LEAST,
                            .hosts_most = HOSTS_MOST,
                            .kinds = UINT64_MAX,
                            .jobs = 2};
    for (int i = 0; i < argc; i++) {
        size_t row = 0, n = sizeof rows / sizeof *rows;
        while (row < n && strcmp(rows[row].name, argv[i]) != 0)
            row++;
        if (row == n)
            return lbm_diag_set(diag, LBM_E_SYNTAX, argv[i], 0, "no such option; --help lists them");
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
sim_options_help(void)
{
    printf("usage: lbsim cluster [options]\n\nRuns clusters of nodes in virtual time under everything that "
           "may go "
           "wrong, and checks after every\nstep that no vertex is lost, doubled or changed. A seed is a "
           "story; the "
           "same seed is the same story.\n\noptions:\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].text != NULL)
            printf("  %-14s %-12s %s\n", rows[i].name, rows[i].value != NULL ? rows[i].value : "",
                   rows[i].text);
    printf("\nexit status: 0 nothing was violated, 1 something was, 2 wrong usage\n");
}
