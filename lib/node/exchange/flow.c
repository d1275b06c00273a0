/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads are balanced on numbers before anything moves (XL95's two phases): neighbour tells neighbour, as
 * lib/balance/flow_computation.h has it; here are the messages, whom a host waits for, and when it begins. A
 * run belongs to one host graph and one entry of the log; whoever hears of a run takes part in it. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/exchange/exchange.h"
#include "node/exchange/internal.h"
#include "node/local/local.h"
#include "node/membership/membership.h"
#include "node/migration/migration.h"

static struct flow_run
present_run(const struct lbm_node *node, const struct lbm_job_entry *entry)
{
    return (struct flow_run){node->view.topology, entry->policy.view};
}

static int
is_same(struct flow_run a, struct flow_run b)
{
    return a.topology == b.topology && a.policy_view == b.policy_view;
}

/* ---- beginning ----------------------------------------------------------------------------------------- */

/* Numbers of all links, in the order of their lower ends and then of their upper ones. Rows are sorted, so
 * that the lower ends of a row come first and in the same order.  Out: number [offset[n]] by direction. */
static enum lbm_err
number_links(const struct lbm_hosts *h, uint32_t *number)
{
    uint32_t *next = lbm_copy(h->offset, h->n, sizeof *next), n = 0;
    if (next == NULL)
        return LBM_E_NOMEM;
    for (uint32_t p = 0; p < h->n; p++)
        for (uint32_t e = h->offset[p]; e < h->offset[p + 1]; e++)
            if (h->target[e] > p)
                number[e] = number[next[h->target[e]]++] = n++;
    free(next);
    return LBM_OK;
}

/* The other links at either end of a link. Out: rival.  Returns how many. */
static uint32_t
list_rivals(const struct lbm_hosts *h, const uint32_t *number, uint32_t p, uint32_t q, uint32_t own,
            uint32_t *rival)
{
    const uint32_t ends[2] = {p, q};
    uint32_t n = 0;
    for (int k = 0; k < 2; k++)
        for (uint32_t e = h->offset[ends[k]]; e < h->offset[ends[k] + 1]; e++)
            if (number[e] != own)
                rival[n++] = number[e];
    return n;
}

/* What a host computes of its links before it levels. */
struct link_list {
    const struct lbm_hosts *h;
    const struct lbm_rule *rule;
    const uint32_t *colour;
    uint32_t *number, *rival; /* [offset[n]]; of all links of this host, one after the other */
    double *share;
    struct lbm_flow_link *link;
};

static uint32_t
degree_of(const struct lbm_hosts *h, uint32_t p)
{
    return h->offset[p + 1] - h->offset[p];
}

/* What the links of this host are in the whole: host ids into flow->links. */
static enum lbm_err
list_links(struct lbm_node *node, struct flow_computation *flow, struct link_list *list)
{
    const struct lbm_hosts *h = list->h;
    uint32_t self = lbm_view_number(&node->view, node->host), n = 0, n_rivals = 0;
    flow->links.n = 0;
    for (uint32_t e = h->offset[self]; e < h->offset[self + 1]; e++) {
        uint32_t other = h->target[e], p = self < other ? self : other, q = self < other ? other : self;
        struct transfer_link link = {.host = lbm_view_host(&node->view, other)};
        struct lbm_flow_link *l = &list->link[n++];
        *l = (struct lbm_flow_link){.number = list->number[e],
                                    .colour = list->colour[e],
                                    .is_lower = p == self,
                                    .share = list->share[other],
                                    .alpha = lbm_rule_alpha(list->rule, 0, degree_of(h, p), degree_of(h, q),
                                                            list->share[p], list->share[q])};
        if (lbm_policy_turns(list->rule->policy) == LBM_TURNS_MATCHED) {
            l->rival = &list->rival[n_rivals];
            l->n_rivals = list_rivals(h, list->number, p, q, l->number, &list->rival[n_rivals]);
            n_rivals += l->n_rivals;
        }
        if (lbm_vec_push(&flow->links, link) != LBM_OK)
            return LBM_E_NOMEM;
    }
    return LBM_OK;
}

/* Ids of rivals that the links of a host have together, at most. */
static size_t
rivals_most(const struct lbm_hosts *h, uint32_t self)
{
    size_t sum = 0;
    for (uint32_t e = h->offset[self]; e < h->offset[self + 1]; e++)
        sum += degree_of(h, self) + degree_of(h, h->target[e]);
    return sum;
}

static void
scale_shares(const struct lbm_hosts *h, double *share)
{
    double sum = 0;
    int equal = 1;
    for (uint32_t p = 0; p < h->n; p++) {
        sum += h->capacity[p];
        equal = equal && h->capacity[p] == h->capacity[0];
    }
    for (uint32_t p = 0; p < h->n; p++)
        share[p] = equal ? 1.0 : h->capacity[p] * h->n / sum;
}

/* The rule as it was chosen, or what of it fits a host graph that has become another one. */
static struct lbm_rule
present_rule(const struct lbm_node *node, const struct lbm_job_entry *entry, const struct lbm_hosts *h)
{
    struct lbm_rule rule = entry->policy.rule;
    if (entry->policy.topology == node->view.topology)
        return rule;
    if (lbm_policy_ends_in_a_sweep(rule.policy)) {
        rule = (struct lbm_rule){.policy = LBM_POLICY_DIMENSION_EXCHANGE, .lambda = 0.5};
        rule.lambda_numerator = 1;
        rule.lambda_denominator = 2;
    }
    double safe = lbm_alpha_safe(h);
    rule.alpha = rule.alpha < safe ? rule.alpha : safe;
    return rule;
}

static enum lbm_err
make_list(const struct lbm_hosts *h, uint32_t self, uint32_t *colour, struct link_list *list)
{
    uint32_t directions = h->offset[h->n];
    list->colour = colour;
    list->number = lbm_alloc(directions, sizeof *list->number);
    list->rival = lbm_alloc(rivals_most(h, self), sizeof *list->rival);
    list->share = lbm_alloc(h->n, sizeof *list->share);
    list->link = lbm_alloc(degree_of(h, self), sizeof *list->link);
    if (colour == NULL || !list->number || !list->rival || !list->share || !list->link)
        return LBM_E_NOMEM;
    scale_shares(h, list->share);
    return number_links(h, list->number);
}

static enum lbm_err
start_numbers(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct flow_computation *flow = &job->flow;
    struct lbm_hosts h = lbm_exchange_policy_hosts(node);
    struct lbm_rule rule = present_rule(node, entry, &h);
    uint32_t self = lbm_view_number(&node->view, node->host), directions = h.offset[h.n];
    uint32_t *colour = lbm_alloc(directions, sizeof *colour);
    struct link_list list = {.h = &h, .rule = &rule};
    enum lbm_err err = make_list(&h, self, colour, &list);
    uint32_t n_colours = err == LBM_OK ? lbm_hosts_colour(&h, colour) : 0;
    if (n_colours == 0 && directions != 0)
        err = LBM_E_NOMEM;
    if (err == LBM_OK)
        err = list_links(node, flow, &list);
    if (err == LBM_OK) {
        double vertex = floor((double)entry->work / entry->vertices),
               part = floor((double)entry->work / h.n / 64);
        struct lbm_flow_config config = {.rule = &rule,
                                         .n_colours = n_colours,
                                         .n_all_links = directions / 2,
                                         .diameter = node->view.diameter,
                                         .share = list.share[self],
                                         .target = lbm_local_target(node, entry, node->host),
                                         .limit = (double)lbm_local_limit(node, entry, node->host),
                                         .unit = fmax(fmax(vertex, part), 1),
                                         .seed = entry->seed};
        err = lbm_flow_start(&flow->numbers, &config, (double)lbm_local_load(job), list.link, flow->links.n);
    }
    free(colour);
    free(list.number);
    free(list.rival);
    free(list.share);
    free(list.link);
    return err;
}

/* ---- going on ------------------------------------------------------------------------------------------ */

static void
send_words(struct lbm_node *node, struct job *job)
{
    struct flow_computation *flow = &job->flow;
    for (size_t i = 0; i < flow->numbers.outbox.n; i++) {
        const struct lbm_flow_said *said = &flow->numbers.outbox.at[i];
        Lbm__Flow word = LBM__FLOW__INIT;
        word.job = job->id;
        word.topology = flow->run.topology;
        word.policy_view = flow->run.policy_view;
        word.exchange = said->word.exchange;
        word.load = said->word.load;
        word.counter = said->word.counter;
        word.has_changed = said->word.has_changed != 0;
        word.final = said->word.final != 0;
        word.again = said->word.again != 0;
        word.life = flow->life;
        Lbm__Peer message = LBM__PEER__INIT;
        message.body_case = LBM__PEER__BODY_FLOW;
        message.flow = &word;
        lbm_core_send_now(node, flow->links.at[said->link].host, &message);
    }
    flow->words += flow->numbers.outbox.n;
    flow->numbers.outbox.n = 0;
}

static void
end_run(struct lbm_node *node, struct job *job)
{
    struct flow_computation *flow = &job->flow;
    flow->state = FLOW_NONE;
    flow->over = flow->run;
    flow->tick_us = INT64_MAX;
    if (job->phase == LBM_PHASE_BALANCING)
        lbm_exchange_start(node, job);
}

/* Say what is to be said; if numbers are flow, go on to vertices. */
static void
go_on(struct lbm_node *node, struct job *job, enum lbm_err err)
{
    struct flow_computation *flow = &job->flow;
    if (err != LBM_OK) {
        lbm_core_fail(node, err);
        return;
    }
    send_words(node, job);
    if (flow->state != FLOW_NUMBERS || flow->numbers.is_running)
        return;
    flow->sweeps = flow->numbers.sweep;
    flow->state = FLOW_TRANSFER;
    flow->tick_us = node->now_us; /* from the timer: the caller may be inside a handler */
    lbm_migration_transfer_start(node, job);
}

int
lbm_exchange_flow_begin(struct lbm_node *node, struct job *job)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    struct flow_computation *flow = &job->flow;
    int forced = flow->forced;
    flow->forced = 0;
    if (flow->state != FLOW_NONE && entry != NULL && is_same(flow->run, present_run(node, entry)))
        return 1;
    lbm_exchange_flow_stop(job);
    if (entry == NULL || !lbm_job_policy_runs(&entry->policy) || !lbm_membership_is_routable(node) ||
        lbm_view_number(&node->view, node->host) == LBM_NONE || is_same(flow->over, present_run(node, entry)))
        return 0;
    /* A change that concerns few is a matter of rounds, and so is one of hosts: whoever joins has not seen
     * the job settled, and would flow among all what its neighbours can give it. */
    if (!forced && (job->was_settled || job->heard_phase == LBM_PHASE_SETTLED ||
                    entry->policy.topology != node->view.topology))
        return 0;
    flow->state = FLOW_NUMBERS;
    flow->life = lbm_rng_next(&node->rng) | 1;
    flow->run = present_run(node, entry);
    flow->progress_us = node->now_us;
    flow->started_us = node->now_us;
    flow->tick_us = node->now_us + FLOW_SOON_US;
    go_on(node, job, start_numbers(node, job, entry));
    return 1;
}

void
lbm_exchange_flow_stop(struct job *job)
{
    if (job->flow.state == FLOW_TRANSFER)
        lbm_migration_transfer_stop(job);
    job->flow.state = FLOW_NONE;
    job->flow.tick_us = INT64_MAX;
}

void
lbm_exchange_flow_free(struct flow_computation *flow)
{
    lbm_flow_free(&flow->numbers);
    lbm_vec_free(&flow->links);
    lbm_vec_free(&flow->entries);
}

/* Pass over who is unreachable, and who is alive but says nothing of this for too long. */
static enum lbm_err
close_the_unreachable(struct lbm_node *node, struct job *job)
{
    struct flow_computation *flow = &job->flow;
    enum lbm_err err = LBM_OK;
    for (uint32_t i = 0; err == LBM_OK && i < flow->links.n; i++) {
        uint32_t host = flow->links.at[i].host;
        const struct load_report *load_report = lbm_local_report_known(job, host);
        int is_ready = load_report != NULL && load_report->phase >= LBM_PHASE_BALANCING;
        if (lbm_flow_waits(&flow->numbers, i) &&
            (lbm_membership_is_unavailable(node, host) || lbm_membership_is_straggler(node, host) ||
             (is_ready && node->now_us - flow->progress_us >= FLOW_TIMEOUT_US)))
            err = lbm_flow_close(&flow->numbers, i);
    }
    return err;
}

void
lbm_exchange_flow_timer(struct lbm_node *node, struct job *job)
{
    struct flow_computation *flow = &job->flow;
    if (node->now_us < flow->tick_us)
        return;
    if (flow->state == FLOW_TRANSFER) {
        flow->tick_us = node->now_us + TRANSFER_TICK_US;
        if (!lbm_migration_transfer_timer(node, job))
            return;
        lbm_core_note(node, LBM_NOTE_DEBUG, "job %s: flows carried out in %.3f s, %" PRIu32 " vertices here",
                      lbm_view_job(&node->view, job->id)->name, (double)flow->transfer_us / 1e6,
                      job->shard.n_own);
        end_run(node, job);
        return;
    }
    /* At first the others may not have come so far. */
    flow->tick_us =
        node->now_us + (node->now_us - flow->started_us < FLOW_REPEAT_US ? FLOW_SOON_US : FLOW_REPEAT_US);
    enum lbm_err err = close_the_unreachable(node, job);
    go_on(node, job, err == LBM_OK ? lbm_flow_repeat(&flow->numbers) : err);
}

/* ---- what others say ----------------------------------------------------------------------------------- */

/* Take part in the present run, whatever this host is doing. */
static void
join(struct lbm_node *node, struct job *job)
{
    lbm_exchange_stop(job);
    job->flow.forced = 1;
    node->raise->job_enter(node, job, LBM_PHASE_BALANCING);
}

void
lbm_exchange_flow_policy_changed(struct lbm_node *node, uint64_t id)
{
    struct job *job = lbm_local_job(node, id);
    if (node->starting || job == NULL || job->phase < LBM_PHASE_BALANCING)
        return;
    join(node, job);
}

void
lbm_exchange_on_flow(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Flow *heard = message->flow;
    struct job *job = lbm_local_job(node, heard->job);
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, heard->job);
    struct flow_run run = {heard->topology, heard->policy_view};
    if (job == NULL || entry == NULL || job->phase < LBM_PHASE_BALANCING ||
        !lbm_job_policy_runs(&entry->policy) || !lbm_membership_is_routable(node) ||
        !is_same(run, present_run(node, entry)))
        return; /* it is said again */
    struct flow_computation *flow = &job->flow;
    if (!is_same(run, flow->run) || (flow->state == FLOW_NONE && !is_same(run, flow->over)))
        join(node, job);
    if (!is_same(run, flow->run) || node->failed != LBM_OK)
        return;
    struct lbm_flow_word word = {.exchange = heard->exchange,
                                 .load = heard->load,
                                 .counter = heard->counter,
                                 .has_changed = heard->has_changed != 0,
                                 .final = heard->final != 0,
                                 .again = heard->again != 0};
    for (uint32_t i = 0; i < flow->links.n; i++)
        if (flow->links.at[i].host == message->src) {
            struct transfer_link *link = &flow->links.at[i];
            int again = link->life != 0 && link->life != heard->life;
            link->life = link->life != 0 ? link->life : heard->life;
            uint64_t met = flow->numbers.links.at[i].met;
            if (!again)
                go_on(node, job, lbm_flow_hear(&flow->numbers, i, &word));
            else if (!word.final) /* it has forgotten what was agreed: it is passed over */
                go_on(node, job, lbm_flow_refuse(&flow->numbers, i));
            if (flow->numbers.links.at[i].met != met)
                flow->progress_us = node->now_us;
            return;
        }
}
