/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim balance: one policy on loads, one or many times. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance/schedule.h"
#include "balance/whole.h"
#include "base/mem.h"
#include "file/file.h"
#include "sim/balance/loads.h"
#include "sim/balance/options.h"
#include "sim/command.h"

/* Units that --schedule follows one by one. */
static const double UNITS_MAX = 5e7;

struct rounds {
    struct balance_command o;
    struct lbm_hosts h;
    struct lbm_network net;
    struct lbm_rule rule;         /* of many runs */
    double *load, *flow, *before; /* flow [n_links]; before [n] the loads at first */
    double *link_alpha;           /* [n_links] --alpha file: */
    struct lbm_flow_size least; /* of the last run: that any flow has to the same loads; sum < 0: not known */
    double bound, departure;    /* whole-diffusion: RSW98's, and what it was; bound < 0: not known */
    uint64_t *start;            /* [n] the loads before, for --schedule */
    LBM_VEC(struct lbm_transfer) transfers;
    int failed;                       /* memory was short */
    struct lbm_balance_result result; /* of the last run */
    struct lbm_schedule_result schedule[LBM_SCHEDULE_COUNT];
    double total_before, total_after;
    double steps, rounds, cost, steps_2; /* sums over the runs */
    uint64_t settled;
    struct lbm_service_result service;
};

/* ---- while it runs ------------------------------------------------------------------------------- */

static void
print_step(const struct rounds *s, const struct lbm_balance_step *step)
{
    double least = HUGE_VAL, largest = -HUGE_VAL;
    for (uint32_t p = 0; p < s->h.n; p++) {
        least = fmin(least, step->load[p]);
        largest = fmax(largest, step->load[p]);
    }
    fprintf(s->o.json ? stderr : stdout, "%8" PRIu64 "  deviation %-12.6g moved %-12.6g loads %.6g .. %.6g\n",
            step->step, step->deviation, step->moved, least, largest);
}

static void
record(struct rounds *s, const struct lbm_balance_step *step)
{
    const struct lbm_colouring *c = &s->net.colouring;
    for (uint32_t i = 0; i < c->n_links; i++) {
        double f = step->flow[i];
        const struct lbm_link *l = &c->link[i];
        struct lbm_transfer t = {.from = f > 0.0 ? l->p : l->q,
                                 .to = f > 0.0 ? l->q : l->p,
                                 .round = (uint32_t)step->step,
                                 .units = (uint64_t)fabs(f)};
        if (f != 0.0 && lbm_vec_push(&s->transfers, t) != LBM_OK)
            s->failed = 1;
    }
}

static void
take_step(void *arg, const struct lbm_balance_step *step)
{
    struct rounds *s = arg;
    if (s->o.trace)
        print_step(s, step);
    if (s->o.schedule)
        record(s, step);
}

/* ---- what is printed ----------------------------------------------------------------------------- */

static const char *
ports_text(const struct rounds *s)
{
    return s->o.run.ports == LBM_PORTS_ONE ? "one" : "all";
}

static double
over(double part, double whole)
{
    return whole > 0.0 ? part / whole : 1.0;
}

static void
print_flow(const struct rounds *s)
{
    const struct lbm_balance_result *r = &s->result;
    if (s->least.sum >= 0.0)
        printf("net flow    %.9g units times links, %.4g times the least; root of squares %.6g, %.4g times\n"
               "busiest     %.9g units over one link, %.4g times the least\n",
               r->net.sum, over(r->net.sum, s->least.sum), r->net.root, over(r->net.root, s->least.root),
               r->net.busiest, over(r->net.busiest, s->least.busiest));
    else
        printf(
            "net flow    %.9g units times links, root of squares %.6g; the least of that many hosts is not "
            "computed\nbusiest     %.9g units over one link\n",
            r->net.sum, r->net.root, r->net.busiest);
    printf("cost        %.6g rounds, transfers of the busiest link included (--transfer)\n", r->cost);
    if (s->bound >= 0.0)
        printf("rounding    whole units were at most %.4g off loads of any fraction; at most %.4g on these "
               "hosts (Rabani et al. 1998)\n",
               s->departure, s->bound);
}

static void
print_text(const struct rounds *s)
{
    const struct lbm_balance_result *r = &s->result;
    printf("policy      %s (%s)\n", lbm_policy_name(r->rule.policy), lbm_policy_source(r->rule.policy));
    if (r->rule.n_poles > 0)
        printf("alpha       1 / lambda, one eigenvalue a step, %" PRIu32 " steps\n", r->rule.n_poles);
    else if (r->rule.alpha > 0.0)
        printf("alpha       %s%.7g, gamma %.9g a step\n",
               r->rule.link_alpha != NULL ? "of each link, up to " : "", r->rule.alpha, r->rule.gamma);
    if (r->rule.lambda > 0.0)
        printf("lambda      %.7g, gamma %.9g a %s\n", r->rule.lambda, r->rule.gamma,
               r->rule.policy == LBM_POLICY_RANDOM_MATCHING ? "step" : "sweep");
    printf("%s\nsteps       %" PRIu64 ", %.4g sweeps, %.6g rounds (%s port)\n",
           r->settled ? "settled     yes" : "settled     no", r->steps, r->sweeps, r->rounds, ports_text(s));
    if (s->o.runs > 1)
        printf("of %-8" PRIu64 " %.6g steps, %.6g rounds, cost %.6g on average, deviation %.4g; %" PRIu64
               " settled\n",
               s->o.runs, s->steps / (double)s->o.runs, s->rounds / (double)s->o.runs,
               s->cost / (double)s->o.runs, sqrt(s->steps_2), s->settled);
    if (r->detected > 0)
        printf("detected    after sweep %" PRIu64 ", by counters\n", r->detected);
    printf("messages    %" PRIu64 "\nmoved       %.9g units times links, %" PRIu64 " transfers\n",
           r->messages, r->moved, r->moves);
    if (r->collection > 0.0)
        printf("collection  %g of the rounds, before the first step\n", r->collection);
    print_flow(s);
    printf("deviation   %.6g of the mean; linked hosts differ by at most %.6g\n", r->deviation,
           r->difference);
    printf("max - min   %.6g\n", r->spread);
    printf("total       %.17g before, %.17g after\n", s->total_before, s->total_after);
    if (r->largest_negative > 1e-12)
        printf("below zero  a load fell to %.4g on the way\n", -r->largest_negative);
    for (unsigned i = 0; s->o.schedule && i < LBM_SCHEDULE_COUNT; i++) {
        static const char *const names[] = {
#define NAME(id, number, name, text) [number] = name ": ",
            LBM_SCHEDULE_LIST(NAME)
#undef NAME
        };
        printf("%-12s%" PRIu64 " units of time in %" PRIu64 " phases\n", names[i], s->schedule[i].time,
               s->schedule[i].phases);
    }
    printf("why         %s\n", r->why);
}

static void
print_json_flow(const struct rounds *s)
{
    const struct lbm_balance_result *r = &s->result;
    printf("\"net_flow\": %.17g, \"net_flow_root\": %.17g, \"busiest\": %.17g, \"cost\": %.17g, ", r->net.sum,
           r->net.root, r->net.busiest, r->cost);
    if (s->least.sum >= 0.0)
        printf("\"net_flow_least\": %.17g, \"net_flow_root_least\": %.17g, \"busiest_least\": %.17g, ",
               s->least.sum, s->least.root, s->least.busiest);
    if (s->bound >= 0.0)
        printf("\"rounding\": %.17g, \"rounding_bound\": %.17g, ", s->departure, s->bound);
}

static void
print_json(const struct rounds *s)
{
    const struct lbm_balance_result *r = &s->result;
    printf("{\"hosts\": ");
    balance_print_quoted(s->o.hosts);
    printf(", \"policy\": \"%s\", \"alpha\": %.17g, \"lambda\": %.17g, ", lbm_policy_name(r->rule.policy),
           r->rule.alpha, r->rule.lambda);
    if (!isnan(r->rule.gamma))
        printf("\"gamma\": %.17g, ", r->rule.gamma);
    printf("\"ports\": \"%s\", \"settled\": %s, \"steps\": %" PRIu64
           ", \"sweeps\": %.17g, \"rounds\": %.17g, ",
           ports_text(s), r->settled ? "true" : "false", r->steps, r->sweeps, r->rounds);
    printf("\"runs\": %" PRIu64
           ", \"steps_mean\": %.17g, \"steps_deviation\": %.17g, \"rounds_mean\": %.17g, "
           "\"cost_mean\": %.17g, \"runs_settled\": %" PRIu64 ", ",
           s->o.runs, s->steps / (double)s->o.runs, sqrt(s->steps_2), s->rounds / (double)s->o.runs,
           s->cost / (double)s->o.runs, s->settled);
    printf("\"detected\": %" PRIu64 ", \"messages\": %" PRIu64 ", \"moved\": %.17g, \"transfers\": %" PRIu64
           ", ",
           r->detected, r->messages, r->moved, r->moves);
    print_json_flow(s);
    printf("\"deviation\": %.17g, \"difference\": %.17g, \"spread\": %.17g, \"collection\": %.17g, "
           "\"below_zero\": %.17g, ",
           r->deviation, r->difference, r->spread, r->collection, r->largest_negative);
    if (s->o.schedule)
        printf("\"plain\": %" PRIu64 ", \"overlapped\": %" PRIu64 ", \"pipelined\": %" PRIu64 ", ",
               s->schedule[LBM_SCHEDULE_PLAIN].time, s->schedule[LBM_SCHEDULE_OVERLAPPED].time,
               s->schedule[LBM_SCHEDULE_PIPELINED].time);
    printf("\"total_before\": %.17g, \"total_after\": %.17g, \"why\": ", s->total_before, s->total_after);
    balance_print_quoted(r->why);
    printf("}\n");
}

/* ---- running ------------------------------------------------------------------------------------- */

static double
sum(const double *x, uint32_t n)
{
    double total = 0.0;
    for (uint32_t i = 0; i < n; i++)
        total += x[i];
    return total;
}

static enum lbm_err
predict_schedules(struct rounds *s, struct lbm_diag *diag)
{
    if (s->failed)
        return lbm_diag_set(diag, LBM_E_NOMEM, "--schedule", 0, "no memory for the transfers");
    if (s->result.moved > UNITS_MAX)
        return lbm_diag_set(diag, LBM_E_LIMIT, "--schedule", 0,
                            "%g units times links, at most %g are followed", s->result.moved, UNITS_MAX);
    for (unsigned i = 0; i < LBM_SCHEDULE_COUNT; i++)
        if (lbm_schedule_predict((enum lbm_schedule)i, s->h.n, s->start, s->transfers.at, s->transfers.n,
                                 &s->schedule[i]) != LBM_OK)
            return lbm_diag_set(
                diag, LBM_E_STATE, "--schedule", 0,
                "some host gives away units before it has them, the transfers cannot be ordered");
    return LBM_OK;
}

static enum lbm_err
run_once(struct rounds *s, uint64_t index, struct lbm_diag *diag)
{
    struct lbm_balance_options options = s->o.run;
    options.seed += index;
    options.trace = s->o.trace || s->o.schedule ? take_step : NULL;
    options.trace_arg = s;
    enum lbm_err err = loads_make(s->o.loads, s->h.n, options.integer, options.seed, s->load, diag);
    if (err != LBM_OK)
        return err;
    for (uint32_t p = 0; p < s->h.n; p++)
        s->start[p] = (uint64_t)s->load[p];
    s->total_before = sum(s->load, s->h.n);
    s->transfers.n = 0;
    memcpy(s->before, s->load, s->h.n * sizeof *s->load);
    err = lbm_balance_run(&s->net, &options, s->load, s->flow, &s->result, diag);
    s->total_after = sum(s->load, s->h.n);
    if (err == LBM_OK)
        s->cost += s->result.cost;
    return err == LBM_OK && s->o.schedule ? predict_schedules(s, diag) : err;
}

/* Of the last run: the least flow to the same loads, and how far rounding led whole units away. */
static enum lbm_err
compare(struct rounds *s, struct lbm_diag *diag)
{
    const struct lbm_rule *rule = &s->result.rule;
    s->least.sum = s->bound = -1.0;
    double *excess = lbm_copy(s->before, s->h.n, sizeof *excess);
    enum lbm_err err = excess == NULL ? LBM_E_NOMEM : LBM_OK;
    for (uint32_t p = 0; err == LBM_OK && p < s->h.n; p++)
        excess[p] -= s->load[p];
    if (err == LBM_OK)
        err = lbm_flow_least(&s->net.colouring, excess, &s->least);
    free(excess);
    if ((err == LBM_OK || err == LBM_E_LIMIT) && rule->policy == LBM_POLICY_WHOLE_DIFFUSION) {
        err = lbm_whole_bound(&s->net, rule, &s->bound);
        if (err == LBM_OK)
            err = lbm_whole_departure(&s->net, rule, s->before, s->result.steps, &s->departure);
    }
    return err == LBM_E_NOMEM ? lbm_diag_set(diag, err, "balance", 0, "no memory for the least flow")
                              : LBM_OK;
}

static enum lbm_err
run_all(struct rounds *s, struct lbm_diag *diag)
{
    double mean = 0.0, square = 0.0;
    enum lbm_err err = LBM_OK;
    if (s->o.runs > 1) { /* chosen and computed once */
        err = lbm_rule_make(&s->net, &s->o.run, &s->rule, diag);
        s->o.run.rule = &s->rule;
    }
    for (uint64_t i = 0; err == LBM_OK && i < s->o.runs; i++) {
        err = run_once(s, i, diag);
        double steps = (double)s->result.steps, off = steps - mean;
        mean += off / (double)(i + 1);
        square += off * (steps - mean);
        s->steps += steps;
        s->rounds += s->result.rounds;
        s->settled += (uint64_t)s->result.settled;
    }
    s->steps_2 = s->o.runs > 1 ? square / (double)(s->o.runs - 1) : 0.0;
    return err == LBM_OK ? compare(s, diag) : err;
}

static enum lbm_err
serve(struct rounds *s, struct lbm_diag *diag)
{
    uint64_t steps = s->o.run.steps_max > 0 ? s->o.run.steps_max : 10000;
    enum lbm_err err =
        lbm_balance_serve(&s->net, &s->o.run, &s->o.arrivals, steps / 10, steps, &s->service, diag);
    if (err != LBM_OK)
        return err;
    const struct lbm_service_result *r = &s->service;
    if (s->o.json) {
        printf("{\"hosts\": ");
        balance_print_quoted(s->o.hosts);
        printf(", \"steps\": %" PRIu64 ", \"variance\": %.17g", steps, r->variance);
        if (!isnan(r->bound))
            printf(", \"bound\": %.17g", r->bound);
        printf("}\n");
        return LBM_OK;
    }
    printf("variance    %.6g, the mean of ||w - balanced||^2 over %" PRIu64 " steps\n", r->variance, steps);
    if (!isnan(r->bound))
        printf("bound       %.6g (CYB89 Theorem 2)\n", r->bound);
    return LBM_OK;
}

static enum lbm_err
open_round(struct rounds *s, struct lbm_diag *diag)
{
    enum lbm_err err = lbm_file_hosts(s->o.hosts, &s->h, diag);
    if (err != LBM_OK)
        return err;
    s->load = lbm_alloc(s->h.n, sizeof *s->load);
    s->start = lbm_alloc(s->h.n, sizeof *s->start);
    if (s->load == NULL || s->start == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, s->o.hosts, 0, "no memory for the loads");
    err = lbm_network_make(&s->h, &s->net, diag);
    if (err != LBM_OK)
        return err;
    s->before = lbm_alloc(s->h.n, sizeof *s->before);
    s->flow = lbm_alloc(s->net.colouring.n_links, sizeof *s->flow);
    s->link_alpha = lbm_alloc(s->net.colouring.n_links, sizeof *s->link_alpha);
    if (s->before == NULL || s->flow == NULL || s->link_alpha == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, s->o.hosts, 0, "no memory for the flows");
    s->o.run.link_alpha = s->link_alpha;
    return s->o.links == NULL ? LBM_OK : links_read(s->o.links, &s->net.colouring, s->link_alpha, diag);
}

static void
close_round(struct rounds *s)
{
    lbm_network_free(&s->net);
    lbm_hosts_free(&s->h);
    lbm_vec_free(&s->transfers);
    free(s->load);
    free(s->before);
    free(s->flow);
    free(s->link_alpha);
    free(s->start);
}

static enum lbm_status
run_balance(const struct lbm_cli *cli)
{
    struct rounds s = {0};
    struct lbm_diag diag;
    if (balance_options_read(cli, &s.o, &diag) != LBM_OK)
        return lbm_cli_refuse(cli, &diag);
    enum lbm_status status = LBM_STATUS_DONE;
    enum lbm_err err = open_round(&s, &diag);
    if (err == LBM_OK && s.o.has_arrivals) {
        err = serve(&s, &diag);
    } else if (err == LBM_OK) {
        err = run_all(&s, &diag);
        if (err == LBM_OK && !s.o.quiet)
            (s.o.json ? print_json : print_text)(&s);
        status = s.settled == s.o.runs ? LBM_STATUS_DONE : LBM_STATUS_FAILED;
    }
    close_round(&s);
    return err == LBM_OK ? status : lbm_cli_refuse(cli, &diag);
}

const struct lbm_command command_balance = {
    .name = "balance",
    .text = "a load policy on any hosts",
    .help =
        "Runs a load policy on loads until they are level; says how long it took, or why it does not settle.",
    .options = balance_options,
    .n_options = BALANCE_OPTIONS,
    .statuses = "0 it settled, 1 it did not, 2 wrong usage or a policy that does not fit",
    .run = run_balance,
};
