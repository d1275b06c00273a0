/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim advise: which policy, with which parameter, at what cost, and why. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "file/file.h"
#include "sim/balance/options.h"
#include "sim/command.h"

static double
gamma_of(const struct lbm_network *net, double alpha)
{
    return lbm_gamma_uniform(&net->laplacian, alpha);
}

static void
print_network(const struct balance_command *o, const struct lbm_network *net)
{
    const struct lbm_colouring *c = &net->colouring;
    printf("hosts       %s: %" PRIu32 " hosts, %" PRIu32 " links, largest degree %" PRIu32 "%s\n", o->hosts,
           net->h->n, c->n_links, c->degree, net->equal ? "" : ", unequal capacities");
    printf("colours     %" PRIu32 " (%s)\n", c->n_colours, lbm_colouring_method_text(c->method));
    printf("Laplacian   lambda_2 %.7g, largest %.7g (%s)\n", net->laplacian.lambda_2,
           net->laplacian.lambda_max, net->laplacian.closed_form ? "closed form" : "computed");
    printf(
        "alpha       %.7g optimal (gamma %.7g), %.7g feasible (CYB89 Lemma 2, gamma %.7g), %.7g safe (gamma "
        "%.7g)\n",
        lbm_alpha_optimal(&net->laplacian), gamma_of(net, lbm_alpha_optimal(&net->laplacian)),
        lbm_alpha_feasible(net), gamma_of(net, lbm_alpha_feasible(net)), lbm_alpha_safe(net->h),
        gamma_of(net, lbm_alpha_safe(net->h)));
    printf("diameter    %" PRIu32 ": XL95's counters tell the end at most %" PRIu32 " sweeps late\n\n",
           lbm_hosts_diameter_hops(net->h), lbm_hosts_diameter_hops(net->h) + 1);
}

static void
print_parameter(const struct lbm_rule *rule)
{
    if (rule->n_poles > 0)
        printf("%6" PRIu32 " %-11s", rule->n_poles, "steps");
    else if (rule->lambda > 0.0)
        printf("lambda = %-9.6g", rule->lambda);
    else if (rule->alpha > 0.0)
        printf("alpha  %s %-9.6g", rule->link_alpha != NULL ? "<" : "=", rule->alpha);
    else
        printf("%-18s", "");
}

static void
print_candidate(const struct lbm_candidate *c, const struct lbm_flow_size *least)
{
    printf("%-19s ", lbm_policy_name(c->rule.policy));
    print_parameter(&c->rule);
    printf(" %-12.8g %10.5g %10.5g %9.4g %12.6g", c->rule.gamma, c->steps, c->rounds, c->cost, c->messages);
    if (!c->tried)
        printf(" by the spectrum alone, with the least flow");
    else if (least->sum > 0.0)
        printf(" %9.4g %9.4g  %.3g and %.3g times the least", c->net.sum, c->net.busiest,
               c->net.sum / least->sum, c->net.busiest / least->busiest);
    else
        printf(" %9.4g %9.4g", c->net.sum, c->net.busiest);
    printf("\n");
}

static void
print_text(const struct balance_command *o, const struct lbm_network *net, const struct lbm_advice *advice)
{
    if (!o->quiet)
        print_network(o, net);
    const struct lbm_flow_size *least = &advice->least;
    printf("%-19s %-18s %-12s %10s %10s %9s %12s %9s %9s\n", "policy", "parameter", "gamma", "steps",
           "rounds", "cost", "messages", "net flow", "busiest");
    for (unsigned i = 0; i < advice->n; i++)
        print_candidate(&advice->candidate[i], least);
    if (!isnan(least->sum))
        printf("%-19s %74s %9.4g %9.4g\n", "the least", "", least->sum, least->busiest);
    printf("\ncost: rounds, and %g for each mean load over the busiest link (--transfer); net flow (sum over "
           "links) and busiest link\nin mean loads, and over the least that levels the same loads\n\n%s\n",
           advice->transfer, advice->why);
}

static void
print_json(const struct balance_command *o, const struct lbm_network *net, const struct lbm_advice *advice)
{
    printf("{\"hosts\": ");
    balance_print_quoted(o->hosts);
    printf(
        ", \"n\": %" PRIu32 ", \"links\": %" PRIu32 ", \"degree\": %" PRIu32 ", \"colours\": %" PRIu32
        ", \"lambda_2\": %.17g, \"lambda_max\": %.17g, "
        "\"alpha_optimal\": %.17g, \"alpha_feasible\": %.17g, \"alpha_safe\": %.17g, \"transfer\": %.17g, ",
        net->h->n, net->colouring.n_links, net->colouring.degree, net->colouring.n_colours,
        net->laplacian.lambda_2, net->laplacian.lambda_max, lbm_alpha_optimal(&net->laplacian),
        lbm_alpha_feasible(net), lbm_alpha_safe(net->h), advice->transfer);
    if (!isnan(advice->least.sum))
        printf("\"net_flow_least\": %.17g, \"net_flow_root_least\": %.17g, \"busiest_least\": %.17g, ",
               advice->least.sum, advice->least.root, advice->least.busiest);
    printf("\"candidates\": [");
    for (unsigned i = 0; i < advice->n; i++) {
        const struct lbm_candidate *c = &advice->candidate[i];
        printf(
            "%s{\"policy\": \"%s\", \"alpha\": %.17g, \"lambda\": %.17g, \"gamma\": %.17g, \"steps\": %.17g, "
            "\"sweeps\": %.17g, \"rounds\": %.17g, \"messages\": %.17g, \"cost\": %.17g, \"tried\": %s",
            i > 0 ? ", " : "", lbm_policy_name(c->rule.policy), c->rule.alpha, c->rule.lambda, c->rule.gamma,
            c->steps, c->sweeps, c->rounds, c->messages, c->cost, c->tried ? "true" : "false");
        if (c->tried)
            printf(", \"net_flow\": %.17g, \"net_flow_root\": %.17g, \"busiest\": %.17g", c->net.sum,
                   c->net.root, c->net.busiest);
        printf("}");
    }
    printf("], \"why\": ");
    balance_print_quoted(advice->why);
    printf("}\n");
}

static enum lbm_status
run_advise(const struct lbm_cli *cli)
{
    struct balance_command o;
    struct lbm_hosts h = {0};
    struct lbm_network net = {0};
    struct lbm_diag diag;
    if (balance_options_read(cli, &o, &diag) != LBM_OK)
        return lbm_cli_refuse(cli, &diag);
    struct lbm_advice *advice = lbm_alloc(1, sizeof *advice);
    enum lbm_err err = advice == NULL ? lbm_diag_set(&diag, LBM_E_NOMEM, o.hosts, 0, "no memory for advice")
                                      : lbm_file_hosts(o.hosts, &h, &diag);
    if (err == LBM_OK)
        err = lbm_network_make(&h, &net, &diag);
    if (err == LBM_OK)
        err = lbm_advise(&net, &o.run, advice, &diag);
    if (err == LBM_OK)
        (o.json ? print_json : print_text)(&o, &net, advice);
    lbm_network_free(&net);
    lbm_hosts_free(&h);
    free(advice);
    return err == LBM_OK ? LBM_STATUS_DONE : lbm_cli_refuse(cli, &diag);
}

const struct lbm_command command_advise = {
    .name = "advise",
    .text = "which load policy costs least on these hosts, and why",
    .help = "Says which load policy costs least on these hosts, with which parameter, what it costs, "
            "and why. With --quiet the table alone.",
    .options = balance_options,
    .n_options = ADVISE_OPTIONS,
    .run = run_advise,
};
