/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/numbers.h"
#include "sim/replay/replay.h"

static enum lbm_err
add_policy(struct replay_options *o, const char *name, size_t len, struct lbm_diag *diag)
{
    char word[LBM_TRACE_WORD_MAX + 1];
    if (o->n_policies == REPLAY_POLICIES_MAX)
        return lbm_diag_set(diag, LBM_E_LIMIT, "--policy", 0, "more than %d policies", REPLAY_POLICIES_MAX);
    snprintf(word, sizeof word, "%.*s", len < sizeof word ? (int)len : 0, name);
    uint32_t policy = lbm_job_policy_by_name(word);
    if (policy == LBM_JOB_POLICY_DEFAULT)
        return lbm_diag_set(diag, LBM_E_SYNTAX, "--policy", 0,
                            "%.60s is none; lbsim replay --help lists them", name);
    o->policy[o->n_policies++] = policy;
    return LBM_OK;
}

static enum lbm_err
set_policy(struct replay_options *o, const char *text, struct lbm_diag *diag)
{
    enum lbm_err err = LBM_OK;
    do {
        size_t len = strcspn(text, ",");
        err = add_policy(o, text, len, diag);
        text += len + (text[len] == ',');
    } while (err == LBM_OK && *text != '\0');
    return err;
}

static enum lbm_err
set_schedule(struct replay_options *o, const char *text, struct lbm_diag *diag)
{
    for (unsigned i = 0; i < LBM_SCHEDULE_COUNT; i++)
        if (strcmp(text, lbm_schedule_name((enum lbm_schedule)i)) == 0) {
            o->schedule = i + 1;
            return LBM_OK;
        }
    return lbm_diag_set(diag, LBM_E_SYNTAX, "--schedule", 0, "%.60s is not plain, overlapped or pipelined",
                        text);
}

static enum lbm_err
set_imbalance(struct replay_options *o, const char *text, struct lbm_diag *diag)
{
    return sim_read_real("--imbalance", text, 1e-6, 1e6, &o->imbalance, diag);
}

static enum lbm_err
set_rest(struct replay_options *o, const char *text, struct lbm_diag *diag)
{
    return sim_read_real("--rest", text, 0, 1e6, &o->rest_s, diag);
}

static enum lbm_err
set_cooldown(struct replay_options *o, const char *text, struct lbm_diag *diag)
{
    o->gates |= LBM_GATE_COOLDOWN;
    return sim_read_real("--cooldown", text, 0, LBM_GATE_SECONDS_MAX, &o->cooldown_s, diag);
}

static enum lbm_err
set_payback(struct replay_options *o, const char *text, struct lbm_diag *diag)
{
    o->gates |= LBM_GATE_PAYBACK;
    return sim_read_real("--payback", text, 0, LBM_GATE_SECONDS_MAX, &o->payback_s, diag);
}

static enum lbm_err
read_whole(const char *name, const char *text, double most, uint64_t *out, struct lbm_diag *diag)
{
    double value = 0;
    enum lbm_err err = sim_read_real(name, text, 0, most, &value, diag);
    if (err == LBM_OK && value > floor(value))
        err = lbm_diag_set(diag, LBM_E_SYNTAX, name, 0, "%.60s is not a whole number", text);
    if (err == LBM_OK)
        *out = (uint64_t)value;
    return err;
}

static enum lbm_err
set_budget(struct replay_options *o, const char *text, struct lbm_diag *diag)
{
    o->gates |= LBM_GATE_BYTES;
    return read_whole("--budget", text, LBM_GATE_BYTES_MAX, &o->bytes_per_s, diag);
}

static enum lbm_err
set_in_flight(struct replay_options *o, const char *text, struct lbm_diag *diag)
{
    o->gates |= LBM_GATE_IN_FLIGHT;
    return read_whole("--in-flight", text, LBM_VERTICES_MAX, &o->in_flight, diag);
}

static enum lbm_err
set_seed(struct replay_options *o, const char *text, struct lbm_diag *diag)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-')
        return lbm_diag_set(diag, LBM_E_SYNTAX, "--seed", 0, "%.60s is not a number", text);
    o->seed = value;
    o->has_seed = 1;
    return LBM_OK;
}

static enum lbm_err
set_start(struct replay_options *o, const char *text, struct lbm_diag *diag)
{
    o->start = LBM_START_COUNT;
    if (strcmp(text, "trace") == 0)
        return LBM_OK;
    for (unsigned i = 0; i < LBM_START_COUNT; i++)
        if (strcmp(text, lbm_start_name((enum lbm_start)i)) == 0) {
            o->start = (enum lbm_start)i;
            return LBM_OK;
        }
    return lbm_diag_set(diag, LBM_E_SYNTAX, "--start", 0, "%.60s is not trace, plan, centre, random or home",
                        text);
}

#define FLAG(field)                                                                                          \
    static enum lbm_err set_##field(struct replay_options *o, const char *text, struct lbm_diag *diag)       \
    {                                                                                                        \
        (void)text;                                                                                          \
        (void)diag;                                                                                          \
        o->field = 1;                                                                                        \
        return LBM_OK;                                                                                       \
    }
FLAG(phases)
FLAG(json)
FLAG(quiet)
FLAG(help)

static const struct {
    const char *name, *value, *text;
    enum lbm_err (*set)(struct replay_options *o, const char *text, struct lbm_diag *diag);
} rows[] = {
    {"--policy", "P[,P...]", "load policies, a line of the table each; as recorded unless told", set_policy},
    {"--schedule", "S", "how levelled loads are handed over: plain, overlapped or pipelined", set_schedule},
    {"--imbalance", "E", "bound of the job; as recorded unless told", set_imbalance},
    {"--cooldown", "S", "gates of the job, as for lbctl set: what was exchanged stays so long", set_cooldown},
    {"--payback", "S", "a move for J alone must save its own bytes in so long", set_payback},
    {"--budget", "BYTES", "a second that each host hands over at most; 0: no limit", set_budget},
    {"--in-flight", "N", "vertices of a host on their way at most; 0: no limit", set_in_flight},
    {"--start", "START", "trace: where vertices were (unless told); plan, centre, random, home", set_start},
    {"--rest", "S", "virtual seconds to settle in, before and behind the trace; 60 unless told", set_rest},
    {"--seed", "N", "of all that is drawn; the job's unless told", set_seed},
    {"--phases", NULL, "print each phase", set_phases},
    {"--json", NULL, "print the result as JSON", set_json},
    {"--quiet", NULL, "print only what is wrong", set_quiet},
    {"-q", NULL, NULL, set_quiet},
    {"--help", NULL, "print this text and exit", set_help},
    {"-h", NULL, NULL, set_help},
};

static enum lbm_err
read_argument(struct replay_options *o, int argc, char **argv, int *i, struct lbm_diag *diag)
{
    const char *name = argv[*i];
    size_t row = 0, n = sizeof rows / sizeof *rows;
    if (name[0] != '-' || name[1] == '\0') {
        if (o->file != NULL)
            return lbm_diag_set(diag, LBM_E_SYNTAX, name, 0, "one trace at a time");
        o->file = name;
        return LBM_OK;
    }
    while (row < n && strcmp(rows[row].name, name) != 0)
        row++;
    if (row == n)
        return lbm_diag_set(diag, LBM_E_SYNTAX, name, 0, "no such option; lbsim replay --help lists them");
    if (rows[row].value != NULL && *i + 1 == argc)
        return lbm_diag_set(diag, LBM_E_SYNTAX, name, 0, "needs %s", rows[row].value);
    return rows[row].set(o, rows[row].value != NULL ? argv[++*i] : NULL, diag);
}

enum lbm_err
replay_options_read(int argc, char **argv, struct replay_options *out, struct lbm_diag *diag)
{
    struct replay_options o = {.start = LBM_START_COUNT, .rest_s = 60};
    for (int i = 0; i < argc; i++) {
        enum lbm_err err = read_argument(&o, argc, argv, &i, diag);
        if (err != LBM_OK)
            return err;
    }
    if (o.file == NULL && !o.help)
        return lbm_diag_set(diag, LBM_E_SYNTAX, "", 0, "the trace is missing: lbsim replay FILE [options]");
    *out = o;
    return LBM_OK;
}

void
replay_options_help(void)
{
    printf(
        "usage: lbsim replay FILE [options]\n\nRuns the balancer over a trace of lbctl trace or lbsim "
        "import, "
        "in virtual time: the nodes of lbmapd with\nthe hosts, the guest and the loads that were recorded. "
        "Tells "
        "how even loads were, what the mapping\ncost, what moved and how long it took, and what the recorded "
        "cluster did. - is standard input.\n\noptions:\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].text != NULL)
            printf("  %-11s %-8s %s\n", rows[i].name, rows[i].value != NULL ? rows[i].value : "",
                   rows[i].text);
    printf("\npolicies:\n  none");
    for (uint32_t i = 0; i < LBM_POLICY_COUNT; i++)
        printf(", %s", lbm_job_policy_name(LBM_JOB_POLICY_FIRST + i));
    printf("\n\nexit status: 0 every job settles in the end, 1 one does not, 2 wrong usage or a trace that "
           "cannot be "
           "used\n");
}
