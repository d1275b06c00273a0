/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim replay: its command line. */
#include "base/limits.h"
#include "sim/command.h"
#include "sim/experiment/replay.h"

enum {
    REPLAY_POLICY,
    REPLAY_SCHEDULE,
    REPLAY_IMBALANCE,
    REPLAY_COOLDOWN,
    REPLAY_PAYBACK,
    REPLAY_BUDGET,
    REPLAY_IN_FLIGHT,
    REPLAY_START,
    REPLAY_REST,
    REPLAY_SEED,
    REPLAY_PHASES,
    REPLAY_JSON,
    REPLAY_OPTIONS
};

static const struct lbm_choice policies[] = {
    {"none", "exchange rounds alone"},
#define CHOICE(id, number, name, source, text) {name, text},
    LBM_POLICY_LIST(CHOICE)
#undef CHOICE
        {NULL, NULL},
};

#define CHOICE(id, number, name, text) {name, text},
static const struct lbm_choice schedules[] = {LBM_SCHEDULE_LIST(CHOICE){NULL, NULL}};
/* The last one is not of the list. */
static const struct lbm_choice starts[] = {LBM_START_LIST(CHOICE){"trace", "vertices begin where they were"},
                                           {NULL, NULL}};
#undef CHOICE
static const struct lbm_choice earlier_starts[] = LBM_START_EARLIER;

static const struct lbm_option options[] = {
    [REPLAY_POLICY] = LBM_TEXT_OPTION(
        "policy", "P[,P...]",
        "load policies, a line of the table each; as recorded unless told:", .choices = policies),
    [REPLAY_SCHEDULE] = LBM_CHOICE_OPTION("schedule", "SCHEDULE", schedules,
                                          "how balanced loads are handed over; as is usual unless told:"),
    [REPLAY_IMBALANCE] =
        LBM_SHARE_OPTION("imbalance", "E", 1e-6, 1, "bound of the job, 0.03 or 3%; as recorded unless told"),
    [REPLAY_COOLDOWN] = LBM_NUMBER_OPTION(
        "cooldown", "S", 0, LBM_GATE_SECONDS_MAX,
        "gates of the job, as for lbctl set: what was exchanged stays so long", .unit = "seconds"),
    [REPLAY_PAYBACK] =
        LBM_NUMBER_OPTION("payback", "S", 0, LBM_GATE_SECONDS_MAX,
                          "a move for J alone must save its own bytes in so long", .unit = "seconds"),
    [REPLAY_BUDGET] =
        LBM_INTEGER_OPTION("budget", "BYTES", 0, LBM_GATE_BYTES_MAX,
                           "that each host hands over at most; 0: no limit", .unit = "a second"),
    [REPLAY_IN_FLIGHT] = LBM_INTEGER_OPTION("in-flight", "N", 0, LBM_VERTICES_MAX,
                                            "vertices of a host on their way at most; 0: no limit"),
    [REPLAY_START] = LBM_CHOICE_OPTION(
        "start", "START", starts, "where vertices begin:", .earlier = earlier_starts, .fallback = "trace"),
    [REPLAY_REST] =
        LBM_NUMBER_OPTION("rest", "S", 0, 1e6, "virtual time to settle in, before and behind the trace",
                          .fallback = "60", .unit = "seconds"),
    [REPLAY_SEED] = LBM_INTEGER_OPTION("seed", "S", 0, LBM_OPTION_INTEGER_MAX,
                                       "of all that is drawn; the job's unless told"),
    [REPLAY_PHASES] = {.name = "phases", .text = "print each phase"},
    [REPLAY_JSON] = LBM_JSON_OPTION,
};

static const struct lbm_operand operands[] = {
    {.name = "TRACE", .text = "what lbctl trace or lbsim import wrote; \"-\" is standard input"},
};

static enum lbm_err
read_policies(const char *text, struct replay_options *o, struct lbm_diag *diag)
{
    static const struct lbm_option policy = {
        .type = LBM_OPTION_CHOICE, .value = "POLICY,...", .choices = policies};
    char word[LBM_OPTION_WORD_MAX];
    for (const char *rest = text; lbm_option_next_word(&rest, word);) {
        struct lbm_option_value value;
        enum lbm_err err = lbm_option_convert(&policy, word, "--policy", &value, diag);
        if (err == LBM_OK && o->n_policies == REPLAY_POLICIES_MAX)
            err =
                lbm_diag_set(diag, LBM_E_LIMIT, "--policy", 0, "more than %d policies", REPLAY_POLICIES_MAX);
        if (err != LBM_OK)
            return err;
        o->policy[o->n_policies++] = LBM_JOB_POLICY_NONE + (uint32_t)value.integer;
    }
    return LBM_OK;
}

static uint32_t
gates_given(const struct lbm_option_value *value)
{
    return (value[REPLAY_COOLDOWN].given ? LBM_GATE_COOLDOWN : 0) |
           (value[REPLAY_PAYBACK].given ? LBM_GATE_PAYBACK : 0) |
           (value[REPLAY_BUDGET].given ? LBM_GATE_BYTES : 0) |
           (value[REPLAY_IN_FLIGHT].given ? LBM_GATE_IN_FLIGHT : 0);
}

static enum lbm_status
run_replay(const struct lbm_cli *cli)
{
    const struct lbm_option_value *value = cli->value;
    struct replay_options o = {
        .file = cli->operand[0],
        .schedule = value[REPLAY_SCHEDULE].given ? 1 + (uint32_t)value[REPLAY_SCHEDULE].integer : 0,
        .gates = gates_given(value),
        .cooldown_s = value[REPLAY_COOLDOWN].number,
        .payback_s = value[REPLAY_PAYBACK].number,
        .bytes_per_s = value[REPLAY_BUDGET].integer,
        .in_flight = value[REPLAY_IN_FLIGHT].integer,
        .imbalance = value[REPLAY_IMBALANCE].number,
        .seed = value[REPLAY_SEED].integer,
        .has_seed = value[REPLAY_SEED].given,
        .start = (enum lbm_start)value[REPLAY_START].integer,
        .rest_s = value[REPLAY_REST].number,
        .phases = value[REPLAY_PHASES].given,
        .json = value[REPLAY_JSON].given,
        .quiet = lbm_cli_is_quiet(cli)};
    struct lbm_diag diag;
    if (value[REPLAY_POLICY].given && read_policies(value[REPLAY_POLICY].text, &o, &diag) != LBM_OK)
        return lbm_cli_refuse(cli, &diag);
    return replay_command(cli, &o);
}

const struct lbm_command command_replay = {
    .name = "replay",
    .text = "the balancer over a trace of a real cluster",
    .help = "Runs the balancer over a trace, in virtual time: the nodes of lbmapd with the hosts, the "
            "guest and the loads that were recorded. Tells how even loads were, what the mapping cost, "
            "what moved and how long it took, and what the recorded cluster did.",
    .options = options,
    .n_options = REPLAY_OPTIONS,
    .operands = operands,
    .n_operands = sizeof operands / sizeof *operands,
    .statuses =
        "0 every job settles in the end, 1 one does not, 2 wrong usage or a trace that cannot be used",
    .run = run_replay,
};
