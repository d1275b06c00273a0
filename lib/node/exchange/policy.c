/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which load policy a job has: chosen, and its parameters computed, once by the host that is asked; the
 * control log tells all others, so that both ends of a link compute the same. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/exchange/exchange.h"
#include "node/exchange/internal.h"
#include "node/membership/membership.h"

/* Spectra and trials on that many hosts take no longer than a ping may wait; where they have closed forms, on
 * more. */
enum { SPECTRUM_HOSTS_MAX = 128, CLOSED_HOSTS_MAX = 1024 };

/* H of the view as policies see it: known by name if its hosts are numbered so. Borrows the view's. */
struct lbm_hosts
lbm_exchange_policy_hosts(const struct lbm_node *node)
{
    struct lbm_hosts h = node->view.hosts;
    lbm_hosts_recognise(&h);
    return h;
}

/* Too many hosts for trials: sweeps of exchange need no more than a colouring. */
static void
choose_cheaply(const struct lbm_hosts *h, struct lbm_job_policy *out)
{
    double lambda;
    int exact;
    out->rule = (struct lbm_rule){.policy = LBM_POLICY_GDE, .lambda = 0.5, .gamma = (double)NAN};
    if (lbm_lambda_closed(h, &lambda, &exact) && lambda > 0.5)
        out->rule.lambda = lambda;
    out->rule.lambda_denominator = 1000000;
    out->rule.lambda_numerator = (uint32_t)lround(out->rule.lambda * 1e6);
    snprintf(out->why, sizeof out->why, "auto: gde, lambda = %.5g: that many hosts are not tried",
             out->rule.lambda);
}

static enum lbm_err
choose(const struct lbm_hosts *h, enum lbm_policy policy, struct lbm_job_policy *out, struct lbm_diag *diag)
{
    struct lbm_network net;
    enum lbm_err err = lbm_network_make(h, &net, diag);
    if (err != LBM_OK)
        return err;
    struct lbm_balance_options options = {
        .policy = policy,
        .ports = LBM_PORTS_ALL, /* words are small and go to all neighbours at once */
        .integer = policy == LBM_POLICY_AUTO || lbm_policy_is_integer(policy),
        .stop = LBM_STOP_QUIESCENT,
        .daemons = 1,
    };
    if (policy != LBM_POLICY_AUTO) {
        err = lbm_rule_make(&net, &options, &out->rule, diag);
    } else {
        struct lbm_advice *advice = lbm_alloc(1, sizeof *advice);
        err = advice != NULL ? lbm_advise(&net, &options, advice, diag) : LBM_E_NOMEM;
        if (err == LBM_OK) {
            out->rule = advice->candidate[0].rule;
            snprintf(out->why, sizeof out->why, "%.*s", LBM_DIAG_TEXT_MAX - 1, advice->why);
        }
        free(advice);
    }
    lbm_network_free(&net);
    return err;
}

/* Errors: LBM_E_UNSUPPORTED, LBM_E_LIMIT, LBM_E_STATE: diag says why the policy cannot run here. */
enum lbm_err
lbm_exchange_policy_choose(struct lbm_node *node, uint32_t asked, uint32_t schedule,
                           struct lbm_job_policy *out, struct lbm_diag *diag)
{
    *out = (struct lbm_job_policy){.policy = LBM_JOB_POLICY_NONE};
    if (asked == LBM_JOB_POLICY_DEFAULT)
        asked = node->policy;
    if (schedule == 0)
        schedule = node->schedule;
    if (asked >= LBM_JOB_POLICY_FIRST + LBM_POLICY_COUNT || schedule > LBM_SCHEDULE_COUNT)
        return lbm_diag_set(diag, LBM_E_RANGE, "policy", 0, "this daemon does not know it");
    out->asked = asked;
    out->schedule = schedule != 0 ? (enum lbm_schedule)(schedule - 1) : LBM_SCHEDULE_PIPELINED;
    if (asked <= LBM_JOB_POLICY_NONE)
        return LBM_OK;
    if (!lbm_membership_is_routable(node))
        return lbm_diag_set(diag, LBM_E_STATE, "cluster", 0, "%s", node->view.unroutable);
    struct lbm_hosts h = lbm_exchange_policy_hosts(node);
    enum lbm_policy policy = (enum lbm_policy)(asked - LBM_JOB_POLICY_FIRST);
    enum lbm_err err = LBM_OK;
    if (policy != LBM_POLICY_AUTO && !lbm_policy_is_local(policy))
        return lbm_diag_set(
            diag, LBM_E_UNSUPPORTED, lbm_policy_name(policy), 0,
            "needs what no host knows, all loads or a number for each link (%s): hosts know their "
            "neighbours alone; "
            "try it with lbsim balance",
            lbm_policy_source(policy));
    if (h.n < 2)
        return LBM_OK; /* nobody to balance with */
    uint32_t most = h.topology <= LBM_TOPOLOGY_HYPERCUBE ? CLOSED_HOSTS_MAX : SPECTRUM_HOSTS_MAX;
    if (h.n <= most)
        err = choose(&h, policy, out, diag);
    else if (policy == LBM_POLICY_AUTO)
        choose_cheaply(&h, out);
    else
        err = lbm_diag_set(
            diag, LBM_E_LIMIT, lbm_policy_name(policy), 0,
            "its parameters are not computed for more than %" PRIu32 " hosts; give auto or none", most);
    if (err == LBM_OK) {
        out->policy = LBM_JOB_POLICY_FIRST + out->rule.policy;
        out->topology = node->view.topology;
    }
    return err;
}

/* ---- on the wire --------------------------------------------------------------------------------------- */

/* Nonzero if this program knows the policy, and the parameters fit it. */
static int
is_sound(const struct lbm_rule *rule)
{
    if (rule->policy >= LBM_POLICY_COUNT || rule->policy == LBM_POLICY_AUTO)
        return 0;
    switch (lbm_policy_turns(rule->policy)) {
    case LBM_TURNS_ALL:
        return lbm_policy_is_local(rule->policy) && rule->alpha > 0 &&
               (rule->policy == LBM_POLICY_DIFFUSION || rule->gamma < 1);
    case LBM_TURNS_MATCHED:
    case LBM_TURNS_COLOURS:
        return lbm_policy_ends_in_a_sweep(rule->policy) ||
               (rule->lambda_denominator > 0 && rule->lambda_numerator <= rule->lambda_denominator);
    case LBM_TURNS_DRAWN:
        return 1;
    default:
        return 0;
    }
}

int
lbm_job_policy_runs(const struct lbm_job_policy *policy)
{
    return policy->policy > LBM_JOB_POLICY_NONE && is_sound(&policy->rule);
}

uint32_t
lbm_job_start(const struct lbm_job_entry *entry)
{
    if (entry->start == LBM_START_COARSE)
        return LBM_START_DIFFUSE;
    return entry->start < LBM_START_COUNT ? entry->start : LBM_START_PLAN;
}

void
lbm_exchange_policy_tell_unknown(struct lbm_node *node, const struct lbm_job_entry *entry)
{
    const struct lbm_job_policy *policy = &entry->policy;
    if (policy->policy > LBM_JOB_POLICY_NONE && !lbm_job_policy_runs(policy))
        lbm_core_note(node, LBM_NOTE_WARNING,
                      "job %s: load policy %" PRIu32
                      " (%s) is not known here: this host balances by exchange rounds "
                      "alone; run the version that the other hosts run",
                      entry->name, policy->policy, lbm_job_policy_name(policy->policy));
    if (policy->schedule != lbm_job_policy_schedule(policy))
        lbm_core_note(node, LBM_NOTE_WARNING, "job %s: schedule %u is not known here: this host uses %s",
                      entry->name, (unsigned)policy->schedule, lbm_schedule_name(LBM_SCHEDULE_PIPELINED));
    if (entry->start >= LBM_START_COUNT && entry->coordinator == node->host)
        lbm_core_note(node, LBM_NOTE_WARNING, "job %s: start %" PRIu32 " is not known here: it is planned",
                      entry->name, entry->start);
}

/* ---- another policy, or gates, for a job that runs ----------------------------------------------------- */

void
lbm_exchange_policy_change(struct lbm_node *node, const struct client *client,
                           const struct lbm_job_entry *entry, const Lbm__JobChange *change)
{
    struct lbm_job_policy policy = entry->policy;
    struct lbm_diag diag = {0};
    enum lbm_err err = LBM_OK;
    if (!change->keeps_policy)
        err = lbm_exchange_policy_choose(node, change->policy, change->schedule, &policy, &diag);
    if (err != LBM_OK) {
        lbm_core_reply_error(node, client->id, client->request, err, "%s: %s", diag.where, diag.text);
        return;
    }
    Lbm__JobPolicy packed;
    Lbm__JobSet set = LBM__JOB_SET__INIT;
    Lbm__Command command = LBM__COMMAND__INIT;
    lbm_job_policy_put(&policy, &packed);
    set.job = entry->job;
    set.policy = change->keeps_policy ? NULL : &packed;
    set.gates = change->gates;
    if (set.policy == NULL && set.gates == NULL) {
        lbm_core_reply_error(node, client->id, client->request, LBM_E_SYNTAX, "nothing to change");
        return;
    }
    command.what_case = LBM__COMMAND__WHAT_JOB_SET;
    command.job_set = &set;
    node->raise->client_propose(node, client, &command);
}
