/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/balance/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/command.h"

static const struct lbm_choice policies[] = {
#define CHOICE(id, number, name, source, text) {name, text " (" source ")"},
    LBM_POLICY_LIST(CHOICE)
#undef CHOICE
        {NULL, NULL},
};

static const struct lbm_choice ports[] = {
    [LBM_PORTS_ONE] = {"one", "a host talks to one neighbour at a time"},
    [LBM_PORTS_ALL] = {"all", "to all at once"},
    {NULL, NULL},
};

static const struct lbm_choice stops[] = {
    [LBM_STOP_BALANCED] = {"balanced", "no host is further from its share than a part of the mean"},
    [LBM_STOP_NEIGHBOURS] = {"neighbours", "no two linked hosts are further apart than some units"},
    [LBM_STOP_QUIESCENT] = {"quiescent", "nothing moves in a sweep"},
    {NULL, NULL},
};

static const struct lbm_choice earlier_stops[] = {
    {"level", "balanced"}, {"quiet", "quiescent"}, {NULL, NULL}};

const struct lbm_option balance_options[BALANCE_OPTIONS] = {
    [BALANCE_HOSTS] = LBM_TEXT_OPTION(
        "hosts", "SPEC", "the host graph, as lbctl plan has it; file:PATH and @cap=FILE too", .required = 1),
    [BALANCE_INTEGER] = {.name = "integer", .text = "whole units"},
    [BALANCE_NONNEGATIVE] = {.name = "nonnegative",
                             .text = "auto leaves out what may take more from a host than there is"},
    [BALANCE_PORTS] =
        LBM_CHOICE_OPTION("ports", "PORTS", ports, "what a host does at a time:", .fallback = "one"),
    [BALANCE_BOUND] =
        LBM_NUMBER_OPTION("bound", "B", 0, 1e15,
                          "of balanced: over the mean load, 0.01 unless told; of neighbours: in units, 1"),
    [BALANCE_SEED] = SIM_SEED_OPTION,
    [BALANCE_TRANSFER] =
        LBM_NUMBER_OPTION("transfer", "ROUNDS", 0, 1e9,
                          "the mean load takes as long over a link as that many rounds; 128 unless told, "
                          "0: rounds alone count"),
    [BALANCE_JSON] = LBM_JSON_OPTION,
    [BALANCE_DAEMONS] = {.name = "daemons",
                         .text =
                             "auto takes what daemons can run, and loads of any fraction for whole units"},
    [BALANCE_POLICY] =
        LBM_CHOICE_OPTION("policy", "POLICY", policies, "how loads are balanced:", .fallback = "auto"),
    [BALANCE_LOADS] =
        LBM_TEXT_OPTION("loads", "SPEC",
                        "uniform:MEAN, point:LOAD[,HOST], list:A,B,.. or file:PATH; uniform:1, of whole "
                        "units uniform:128, unless told"),
    [BALANCE_ALPHA] =
        LBM_TEXT_OPTION("alpha", "A",
                        "of diffusion: optimal, safe, feasible, metropolis, optimized, a number from 0 to "
                        "1, or file:PATH, lines of two hosts and the alpha of their link",
                        .fallback = "optimal"),
    [BALANCE_LAMBDA] = LBM_NUMBER_OPTION("lambda", "L", 1e-6, 1, "of gde; the best unless told"),
    [BALANCE_CONSTANT] =
        LBM_NUMBER_OPTION("constant", "C", 0.01, 100, "of random-load; the best for the bound unless told"),
    [BALANCE_LOW] =
        LBM_INTEGER_OPTION("low", "D", 0, 32, "of cwa: dimensions that OEM levels first (RJK03 section 5.5)"),
    [BALANCE_STOP] = LBM_CHOICE_OPTION(
        "stop", "WHEN", stops,
        "the end; balanced, of whole units quiescent, unless told:", .earlier = earlier_stops),
    [BALANCE_STEPS] =
        LBM_INTEGER_OPTION("steps", "N", 1, 1e9, "at most that many; measured that many with --arrivals"),
    [BALANCE_RUNS] = LBM_INTEGER_OPTION(
        "runs", "N", 1, 1e6, "mean of that many runs, each with a seed of its own", .fallback = "1"),
    [BALANCE_ARRIVALS] = LBM_TEXT_OPTION("arrivals", "M,D,C",
                                         "work arrives, mean M and deviation D, and C is done, each step"),
    [BALANCE_SCHEDULE] = {.name = "schedule", .text = "predict the transfers of whole units in time"},
    [BALANCE_TRACE] = {.name = "trace", .text = "print every step"},
};

static enum lbm_err
read_alpha(const char *text, struct lbm_balance_options *run, struct lbm_diag *diag)
{
    static const struct lbm_option number = {.type = LBM_OPTION_NUMBER, .value = "A", .max = 1};
    struct lbm_option_value value = {0};
    static const struct {
        const char *name;
        enum lbm_alpha rule;
    } words[] = {{"optimal", LBM_ALPHA_OPTIMAL},
                 {"safe", LBM_ALPHA_SAFE},
                 {"feasible", LBM_ALPHA_FEASIBLE},
                 {"metropolis", LBM_ALPHA_METROPOLIS},
                 {"optimized", LBM_ALPHA_OPTIMIZED}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i].name) == 0) {
            run->alpha_rule = words[i].rule;
            return LBM_OK;
        }
    run->alpha_rule = LBM_ALPHA_GIVEN;
    enum lbm_err err = lbm_option_convert(&number, text, "--alpha", &value, diag);
    run->alpha = value.number;
    return err == LBM_E_SYNTAX
               ? lbm_diag_set(diag, err, "--alpha", 0,
                              "'%.60s' is not optimal, safe, feasible, metropolis, optimized, a "
                              "number from 0 to 1, or file:PATH",
                              text)
               : err;
}

static enum lbm_err
read_arrivals(const char *text, struct lbm_arrivals *arrivals, struct lbm_diag *diag)
{
    static const struct lbm_option number = {
        .type = LBM_OPTION_NUMBER, .value = "MEAN,DEVIATION,SERVICE", .max = 1e15};
    double *const parts[] = {&arrivals->mean, &arrivals->deviation, &arrivals->service};
    char word[LBM_OPTION_WORD_MAX];
    const char *rest = text;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct lbm_option_value value;
        if (!lbm_option_next_word(&rest, word))
            return lbm_diag_set(diag, LBM_E_SYNTAX, "--arrivals", 0, "'%.60s' is not %s", text, number.value);
        enum lbm_err err = lbm_option_convert(&number, word, "--arrivals", &value, diag);
        if (err != LBM_OK)
            return err;
        *parts[i] = value.number;
    }
    return rest == NULL ? LBM_OK
                        : lbm_diag_set(diag, LBM_E_SYNTAX, "--arrivals", 0, "'%.60s' is more than %s", text,
                                       number.value);
}

static void
read_run(const struct lbm_option_value *value, struct lbm_balance_options *run)
{
    *run = (struct lbm_balance_options){.policy = LBM_POLICY_AUTO,
                                        .ports = (enum lbm_ports)value[BALANCE_PORTS].integer,
                                        .integer = value[BALANCE_INTEGER].given,
                                        .nonnegative = value[BALANCE_NONNEGATIVE].given,
                                        .constant = value[BALANCE_CONSTANT].number,
                                        .low = (uint32_t)value[BALANCE_LOW].integer,
                                        .steps_max = value[BALANCE_STEPS].integer,
                                        .seed = value[BALANCE_SEED].integer,
                                        .daemons = value[BALANCE_DAEMONS].given};
    if (value[BALANCE_TRANSFER].given)
        run->transfer = value[BALANCE_TRANSFER].number > 0.0 ? value[BALANCE_TRANSFER].number : -1.0;
    if (value[BALANCE_POLICY].given)
        run->policy = (enum lbm_policy)value[BALANCE_POLICY].integer;
    run->stop = run->integer ? LBM_STOP_QUIESCENT : LBM_STOP_BALANCED;
    if (value[BALANCE_STOP].given)
        run->stop = (enum lbm_stop)value[BALANCE_STOP].integer;
    run->bound = run->stop == LBM_STOP_BALANCED ? 0.01 : 1.0;
    if (value[BALANCE_BOUND].given)
        run->bound = value[BALANCE_BOUND].number;
    if (value[BALANCE_LAMBDA].given) {
        /* Decimals are kept as a fraction: whole units are rounded by the digits that were written. */
        run->lambda_denominator = 1000000;
        run->lambda_numerator = (uint32_t)lround(value[BALANCE_LAMBDA].number * run->lambda_denominator);
    }
}

enum lbm_err
balance_options_read(const struct lbm_cli *cli, struct balance_command *out, struct lbm_diag *diag)
{
    const struct lbm_option_value *value = cli->value;
    struct balance_command o = {.hosts = value[BALANCE_HOSTS].text,
                                .loads = value[BALANCE_LOADS].text,
                                .has_arrivals = value[BALANCE_ARRIVALS].given,
                                .runs = value[BALANCE_RUNS].integer,
                                .schedule = value[BALANCE_SCHEDULE].given,
                                .trace = value[BALANCE_TRACE].given,
                                .json = value[BALANCE_JSON].given,
                                .quiet = lbm_cli_is_quiet(cli)};
    enum lbm_err err = LBM_OK;
    read_run(value, &o.run);
    if (o.loads == NULL)
        o.loads = o.run.integer ? "uniform:128" : "uniform:1";
    if (value[BALANCE_ALPHA].given && strncmp(value[BALANCE_ALPHA].text, "file:", 5) == 0) {
        o.links = value[BALANCE_ALPHA].text + 5;
        o.run.alpha_rule = LBM_ALPHA_LINKS;
    } else if (value[BALANCE_ALPHA].given)
        err = read_alpha(value[BALANCE_ALPHA].text, &o.run, diag);
    if (err == LBM_OK && o.has_arrivals)
        err = read_arrivals(value[BALANCE_ARRIVALS].text, &o.arrivals, diag);
    if (err == LBM_OK && o.schedule && (!o.run.integer || o.runs != 1))
        err = lbm_diag_set(diag, LBM_E_SYNTAX, "--schedule", 0, "needs --integer, and one run");
    *out = o;
    return err;
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
