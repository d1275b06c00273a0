/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim cluster: its options. */
#include "sim/run/options.h"

#include <string.h>

#include "sim/command.h"
#include "sim/faults/faults.h"
#include "sim/run/report.h"
#include "sim/run/seed_sweep.h"

enum {
    CLUSTER_SEEDS,
    CLUSTER_FIRST,
    CLUSTER_SEED,
    CLUSTER_HOSTS,
    CLUSTER_COPIES,
    CLUSTER_PROGRAMS,
    CLUSTER_FAULTS,
    CLUSTER_WITHOUT,
    CLUSTER_TRACE,
    CLUSTER_SHRINK,
    CLUSTER_BUG,
    CLUSTER_JOBS,
    CLUSTER_TIME_LIMIT,
    CLUSTER_HASHES,
    CLUSTER_JSON,
    CLUSTER_OPTIONS
};

static const struct lbm_option options[] = {
    [CLUSTER_SEEDS] = LBM_INTEGER_OPTION("seeds", "N", 1, 1e12, "number of seeds", .fallback = "100"),
    [CLUSTER_FIRST] =
        LBM_INTEGER_OPTION("first", "S", 0, LBM_OPTION_INTEGER_MAX, "from this one on", .fallback = "1"),
    [CLUSTER_SEED] = LBM_INTEGER_OPTION("seed", "S", 0, LBM_OPTION_INTEGER_MAX, "this one alone"),
    [CLUSTER_HOSTS] =
        LBM_TEXT_OPTION("hosts", "LEAST..MOST", "number of hosts, mostly few", .fallback = "3..64"),
    [CLUSTER_COPIES] = LBM_INTEGER_OPTION("copies", "N", 1, LBM_COPIES_MAX,
                                          "copies of each record in every run; else two in some"),
    [CLUSTER_PROGRAMS] = LBM_TEXT_OPTION(
        "programs", "KIND", "programs of the library, `steps` or `send`, in place of models of applications"),
    [CLUSTER_FAULTS] = LBM_TEXT_OPTION(
        "faults", "LIST", "only these, separated by commas, or all but --faults=-THESE; `list` lists them"),
    [CLUSTER_WITHOUT] = LBM_TEXT_OPTION(
        "without", "LIST", "leave out the faults of these numbers, to replay what --shrink found"),
    [CLUSTER_TRACE] = {.name = "trace", .text = "with --seed: print what happens, line by line"},
    [CLUSTER_SHRINK] = {.name = "shrink",
                        .text =
                            "leave out faults of a seed that fails while it still does, and print the rest"},
    [CLUSTER_BUG] = LBM_TEXT_OPTION(
        "bug", "NAME", "plant a mistake, until it is found; `all` makes a table, `list` lists them"),
    [CLUSTER_JOBS] = LBM_INTEGER_OPTION("jobs", "N", 1, 64, "number of processes at a time", .fallback = "2"),
    [CLUSTER_TIME_LIMIT] =
        LBM_INTEGER_OPTION("time-limit", "S", 1, 1e9, "begin no seed later", .unit = "seconds"),
    [CLUSTER_HASHES] = LBM_TEXT_OPTION("hashes", "FILE", "write each seed and the hash of its trace there"),
    [CLUSTER_JSON] = LBM_JSON_OPTION,
};

/* LEAST..MOST, or one number. */
static enum lbm_err
read_hosts(const char *text, struct sim_options *o, struct lbm_diag *diag)
{
    struct lbm_option number = {
        .type = LBM_OPTION_INTEGER, .value = "LEAST..MOST", .min = 2, .max = 64, .unit = "hosts"};
    struct lbm_option_value value;
    char least[LBM_OPTION_WORD_MAX];
    const char *dots = strstr(text, "..");
    size_t len = dots != NULL ? (size_t)(dots - text) : strlen(text);
    snprintf(least, sizeof least, "%.*s", len < sizeof least ? (int)len : (int)sizeof least - 1, text);
    enum lbm_err err = lbm_option_convert(&number, least, "--hosts", &value, diag);
    if (err != LBM_OK)
        return err;
    o->hosts_least = (uint32_t)value.integer;
    number.min = value.number;
    err = lbm_option_convert(&number, dots != NULL ? dots + 2 : least, "--hosts", &value, diag);
    o->hosts_most = (uint32_t)value.integer;
    return err;
}

static enum lbm_err
read_programs(const char *text, struct sim_options *o, struct lbm_diag *diag)
{
    if (strcmp(text, "steps") == 0)
        o->programs = CLUSTER_PROGRAMS_STEPS;
    else if (strcmp(text, "send") == 0)
        o->programs = CLUSTER_PROGRAMS_SEND;
    else
        return lbm_diag_set(diag, LBM_E_SYNTAX, "--programs", 0, "'%.60s' is no kind: give steps or send",
                            text);
    return LBM_OK;
}

/* Names; one with a minus is taken away. */
static enum lbm_err
read_faults(const char *text, struct sim_options *o, struct lbm_diag *diag)
{
    char word[LBM_OPTION_WORD_MAX];
    o->kinds = text[0] == '-' ? UINT64_MAX : 0;
    for (const char *rest = text; lbm_option_next_word(&rest, word);) {
        int is_taken_away = word[0] == '-';
        size_t k = 0;
        while (k < FAULT_COUNT && strcmp(fault_rows[k].name, word + is_taken_away) != 0)
            k++;
        if (k == FAULT_COUNT)
            return lbm_diag_set(diag, LBM_E_SYNTAX, "--faults", 0,
                                "'%s' is no fault; --faults list lists them", word + is_taken_away);
        if (is_taken_away)
            o->kinds &= ~(UINT64_C(1) << k);
        else
            o->kinds |= UINT64_C(1) << k;
    }
    return LBM_OK;
}

static enum lbm_err
read_without(const char *text, struct sim_options *o, struct lbm_diag *diag)
{
    static const struct lbm_option number = {.type = LBM_OPTION_INTEGER, .value = "NUMBER,...", .max = 63};
    char word[LBM_OPTION_WORD_MAX];
    for (const char *rest = text; lbm_option_next_word(&rest, word);) {
        struct lbm_option_value value;
        enum lbm_err err = lbm_option_convert(&number, word, "--without", &value, diag);
        if (err != LBM_OK)
            return err;
        o->left_out |= UINT64_C(1) << value.integer;
    }
    return LBM_OK;
}

static enum lbm_err
read_options(const struct lbm_cli *cli, struct sim_options *o, struct lbm_diag *diag)
{
    const struct lbm_option_value *value = cli->value;
    *o = (struct sim_options){.seeds = value[CLUSTER_SEEDS].integer,
                              .first = value[CLUSTER_FIRST].integer,
                              .one = value[CLUSTER_SEED].given,
                              .copies = (uint32_t)value[CLUSTER_COPIES].integer,
                              .kinds = UINT64_MAX,
                              .jobs = (uint32_t)value[CLUSTER_JOBS].integer,
                              .time_limit_s = value[CLUSTER_TIME_LIMIT].integer,
                              .hashes = value[CLUSTER_HASHES].text,
                              .bug = value[CLUSTER_BUG].text,
                              .trace = value[CLUSTER_TRACE].given,
                              .shrink = value[CLUSTER_SHRINK].given,
                              .json = value[CLUSTER_JSON].given,
                              .quiet = lbm_cli_is_quiet(cli)};
    if (o->one) {
        if (value[CLUSTER_SEEDS].given || value[CLUSTER_FIRST].given)
            return lbm_diag_set(diag, LBM_E_SYNTAX, "--seed", 0,
                                "it runs alone: leave out --seeds and --first");
        o->first = value[CLUSTER_SEED].integer;
        o->seeds = 1;
    }
    if (o->trace && !o->one)
        return lbm_diag_set(diag, LBM_E_SYNTAX, "--trace", 0, "of one run: give its --seed");
    if (o->bug != NULL && !o->one && (value[CLUSTER_TIME_LIMIT].given || o->json))
        return lbm_diag_set(diag, LBM_E_SYNTAX, o->json ? "--json" : "--time-limit", 0,
                            "not where mistakes are looked for: --seeds limits that, and it prints a table");
    enum lbm_err err = read_hosts(value[CLUSTER_HOSTS].text, o, diag);
    if (err == LBM_OK && value[CLUSTER_PROGRAMS].given)
        err = read_programs(value[CLUSTER_PROGRAMS].text, o, diag);
    if (err == LBM_OK && value[CLUSTER_FAULTS].given)
        err = read_faults(value[CLUSTER_FAULTS].text, o, diag);
    if (err == LBM_OK && value[CLUSTER_WITHOUT].given)
        err = read_without(value[CLUSTER_WITHOUT].text, o, diag);
    return err;
}

static enum lbm_status
run_cluster(const struct lbm_cli *cli)
{
    struct sim_options o;
    struct lbm_diag diag;
    const struct lbm_option_value *faults = &cli->value[CLUSTER_FAULTS];
    if (faults->given && strcmp(faults->text, "list") == 0) {
        print_faults();
        return LBM_STATUS_DONE;
    }
    if (read_options(cli, &o, &diag) != LBM_OK)
        return lbm_cli_refuse(cli, &diag);
    return seed_sweep_run(cli, &o);
}

const struct lbm_command command_cluster = {
    .name = "cluster",
    .text = "clusters under everything that may go wrong",
    .help = "Runs clusters of nodes in virtual time under everything that may go wrong, and checks after "
            "every step that no vertex is lost, doubled or changed. A seed is a run; the same seed is "
            "the same run.",
    .options = options,
    .n_options = CLUSTER_OPTIONS,
    .statuses = "0 nothing was violated, 1 something was, 2 wrong usage",
    .run = run_cluster,
};
