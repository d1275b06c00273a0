/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim advise: which policy, with which parameter, at what cost, and why. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "file/file.h"
#include "sim/balance/options.h"
#include "sim/command.h"

static void
print_network(const struct balance_command *o, const struct lbm_network *net)
{
    const struct lbm_colouring *c = &net->colouring;
    printf("hosts       %s: %" PRIu32 " hosts, %" PRIu32 " links, largest degree %" PRIu32 "%s\n", o->hosts,
           net->h->n, c->n_links, c->degree, net->equal ? "" : ", unequal capacities");
    printf("colours     %" PRIu32 " (%s)\n", c->n_colours, lbm_colouring_method_text(c->method));
    printf("Laplacian   lambda_2 %.7g, largest %.7g (%s)\n", net->laplacian.lambda_2,
           net->laplacian.lambda_max, net->laplacian.closed_form ? "closed form" : "computed");
    printf("diameter    %" PRIu32 ": XL95's counters tell the end at most %" PRIu32 " sweeps late\n\n",
           lbm_hosts_diameter_hops(net->h), lbm_hosts_diameter_hops(net->h) + 1);
}

static void
print_text(const struct balance_command *o, const struct lbm_network *net, const struct lbm_advice *advice)
{
    if (!o->quiet)
        print_network(o, net);
    printf("%-19s %-18s %-12s %10s %10s %10s %12s\n", "policy", "parameter", "gamma", "steps", "sweeps",
           "rounds", "messages");
    for (unsigned i = 0; i < advice->n; i++) {
        const struct lbm_candidate *c = &advice->candidate[i];
        int exchange = c->rule.lambda > 0.0;
        printf("%-19s %-6s = %-9.6g %-12.8g %10.5g %10.4g %10.5g %12.6g%s\n", lbm_policy_name(c->rule.policy),
               exchange ? "lambda" : "alpha", exchange ? c->rule.lambda : c->rule.alpha, c->rule.gamma,
               c->steps, c->sweeps, c->rounds, c->messages, c->tried ? "" : "  by the spectrum alone");
    }
    printf("\n%s\n", advice->why);
}

static void
print_json(const struct balance_command *o, const struct lbm_network *net, const struct lbm_advice *advice)
{
    printf("{\"hosts\": ");
    balance_print_quoted(o->hosts);
    printf(", \"n\": %" PRIu32 ", \"links\": %" PRIu32 ", \"degree\": %" PRIu32 ", \"colours\": %" PRIu32
           ", \"lambda_2\": %.17g, \"lambda_max\": %.17g, \"candidates\": [",
           net->h->n, net->colouring.n_links, net->colouring.degree, net->colouring.n_colours,
           net->laplacian.lambda_2, net->laplacian.lambda_max);
    for (unsigned i = 0; i < advice->n; i++) {
        const struct lbm_candidate *c = &advice->candidate[i];
        printf(
            "%s{\"policy\": \"%s\", \"alpha\": %.17g, \"lambda\": %.17g, \"gamma\": %.17g, \"steps\": %.17g, "
            "\"sweeps\": %.17g, \"rounds\": %.17g, \"messages\": %.17g, \"tried\": %s}",
            i > 0 ? ", " : "", lbm_policy_name(c->rule.policy), c->rule.alpha, c->rule.lambda, c->rule.gamma,
            c->steps, c->sweeps, c->rounds, c->messages, c->tried ? "true" : "false");
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
    .text = "which load policy is the fastest on these hosts, and why",
    .help = "Says which load policy is the fastest on these hosts, with which parameter, what it costs, "
            "and why. With --quiet the table alone.",
    .options = balance_options,
    .n_options = ADVISE_OPTIONS,
    .run = run_advise,
};
