/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exchange rounds (protocol.md section 13): every host meets its linked neighbours one after the other in
 * the order of the edge colours; a sweep meets each once. A colour waits for its partner alone, so neighbours
 * stay within a sweep of one another and the asynchronous run equals a synchronous one; what is skipped
 * by a timeout counts as a disturbance. Who takes no part is passed over, and visited once it does again.
 * XL95's counters tell when all is stable, in a large cluster all within LBM_VIEW_HORIZON. A host that has
 * settled opens no rounds but visits, and answers those of its neighbours; only if something moves it
 * sweeps again. So what a change costs does not grow with the cluster. */
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

static void open_colour(struct lbm_node *node, struct job *job);
static void notify_neighbours(struct lbm_node *node, const struct job *job, enum lbm_notice kind);

/* The partner of this host at a colour, or LBM_NONE. */
static uint32_t
partner_at(const struct lbm_node *node, uint32_t colour)
{
    const struct lbm_hosts *h = &node->view.hosts;
    uint32_t self = lbm_view_number(&node->view, node->host);
    for (uint32_t e = h->offset[self]; e < h->offset[self + 1]; e++)
        if (node->view.colour[e] == colour)
            return lbm_view_host(&node->view, h->target[e]);
    return LBM_NONE;
}

/* Note this host's links and their colours. Nonzero if they are others than when this was last done. */
int
lbm_exchange_links_changed(struct lbm_node *node)
{
    const struct lbm_hosts *h = &node->view.hosts;
    uint32_t self = lbm_membership_is_routable(node) ? lbm_view_number(&node->view, node->host) : LBM_NONE;
    uint32_t n = self != LBM_NONE ? h->offset[self + 1] - h->offset[self] : 0;
    int changed = n != node->met.n;
    if (lbm_vec_reserve(&node->met, n) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t e = h->offset[self] + i;
        struct met_link link = {lbm_view_host(&node->view, h->target[e]), node->view.colour[e]};
        changed |=
            i >= node->met.n || node->met.at[i].host != link.host || node->met.at[i].colour != link.colour;
        node->met.at[i] = link;
    }
    node->met.n = n;
    return changed;
}

static const struct residual no_residual = {
    .best.hops = RESIDUAL_HOPS_MAX, .via = LBM_NONE, .other.hops = RESIDUAL_HOPS_MAX};

static struct residual_hop
one_hop_more(const struct lbm_node *node, struct residual_hop way)
{
    return (struct residual_hop){way.hops + 1 < node->view.hosts.n ? way.hops + 1 : RESIDUAL_HOPS_MAX,
                                 way.room};
}

/* A round with that host is not possible at present. */
static int
is_unavailable(const struct lbm_node *node, uint32_t partner)
{
    return lbm_membership_has_lost_backup(node) || lbm_view_is_in_maintenance(&node->view, node->host) ||
           lbm_membership_is_unavailable(node, partner) || lbm_membership_offers_wait(node, node->host) ||
           lbm_membership_offers_wait(node, partner);
}

/* ---- one colour after the other --------------------------------------------------------------------- */

/* Timeouts, and what moves must gain, count from here on. */
static void
begin_again(const struct lbm_node *node, struct rounds *s)
{
    s->woken = s->sweep;
    s->woken_us = node->now_us;
}

void
lbm_exchange_round_begin_visit(const struct lbm_node *node, struct rounds *s)
{
    begin_again(node, s);
    s->residual_heard = no_residual;
}

/* A job that has not settled yet: some vertices may not move again just now, since whoever gave them has not
 * finished, or the backup has not got them. Rounds have not seen all they can do. */
static int
has_just_come(const struct lbm_node *node, const struct job *job)
{
    int comes = !job->was_settled && lbm_local_replication_lag(node) != 0;
    for (size_t i = 0; !job->was_settled && i < job->unfinished.n && !comes; i++) {
        const struct lbm_vertex *vertex = &job->shard.vertices.at[job->unfinished.at[i]];
        comes = vertex->stage == LBM_STAGE_OWN && !vertex->fin;
    }
    return comes;
}

/* Nonzero if vertices may go in a moment: when whoever gave them has finished, or, of what is too much here,
 * when their records are safe with the backup, a lease of before is over, or the budget allows. That nothing
 * moves now is no rest. */
static int
is_held_up(const struct lbm_node *node, struct job *job)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    int is_patient = node->now_us - job->rounds.woken_us <= HELD_UP_US;
    if (is_patient && has_just_come(node, job))
        return 1;
    if (lbm_local_load(job) <= lbm_local_limit(node, entry, node->host))
        return 0;
    if (lbm_migration_throttle_was_exhausted(node, job)) {
        begin_again(node, &job->rounds); /* it takes its time, and gains count from the start again */
        return 1;
    }
    return is_patient && (lbm_local_replication_lag(node) != 0 || node->lease.fence_us != 0);
}

/* What is too much stays when no vertex fits, or none may go because applications have refused, or room was
 * not where it was said to be until its timeout. It is tried again while loads drift, or if
 * a vertex as light as the lightest there was would be a step in the right direction. */
static void
settle(struct lbm_node *node, struct job *job)
{
    lbm_exchange_stop(job);
    node->raise->job_enter(node, job, LBM_PHASE_SETTLED);
    lbm_exchange_settled_weigh(node, job);
    uint64_t over = job->weighed_load > job->weighed_limit ? job->weighed_load - job->weighed_limit : 0;
    int again = over != 0 && (job->drifts || over >= job->shard.work_least);
    job->n_overloads = again ? job->n_overloads + 1 : 0;
    job->overload_us = again && job->n_overloads <= OVERLOADS_MAX
                           ? node->now_us + ((int64_t)OVERLOAD_US << (job->n_overloads - 1))
                           : INT64_MAX;
    notify_neighbours(node, job, NOTICE_SETTLED);
    lbm_exchange_settled_receive_next(node, job);
}

/* That many links around this host must be stable before it settles. One that was woken and has not too much
 * need not know of hosts far away: what reaches it later wakes it again. */
static uint32_t
reach(const struct lbm_node *node, const struct job *job)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    int is_converged = job->was_settled && lbm_local_load(job) <= lbm_local_limit(node, entry, node->host);
    return is_converged && node->view.diameter > REACH_AGAIN ? REACH_AGAIN : node->view.diameter;
}

/* Nonzero if all partners that take part are further than this host: then it passes over the sweeps in which
 * it would meet none of them. */
static int
catch_up(const struct lbm_node *node, struct rounds *s)
{
    uint64_t nearest = UINT64_MAX;
    for (size_t i = 0; i < node->met.n; i++) {
        uint32_t host = node->met.at[i].host;
        if (is_unavailable(node, host) || lbm_membership_is_straggler(node, host))
            continue;
        const struct early_open *early = lbm_exchange_early_known(s, host);
        if (early == NULL || !early->set || lbm_exchange_round_compare(s, early->sweep, early->colour) <= 0)
            return 0;
        nearest = early->sweep < nearest ? early->sweep : nearest;
    }
    if (nearest == UINT64_MAX)
        return 0;
    s->sweep = nearest;
    return 1;
}

/* The sweep is over: count stability, and how far the nearest host with room is. Nonzero: go on now. */
static int
end_sweep(struct lbm_node *node, struct job *job)
{
    struct rounds *s = &job->rounds;
    s->residual = (struct residual){.via = LBM_NONE};
    if (lbm_exchange_residual_here(node, job) == 0)
        s->residual = (struct residual){.best = one_hop_more(node, s->residual_heard.best),
                                        .via = s->residual_heard.via,
                                        .other = one_hop_more(node, s->residual_heard.other)};
    s->residual_heard = no_residual;
    lbm_exchange_netting_sweep(node, s);
    int is_alone = node->view.n_colours != 0 && s->n_met == 0;
    lbm_termination_sweep(&s->termination);
    if (s->was_unreachable && s->n_unreachable == 0)
        begin_again(node, s); /* who was missing is back: gains count from the start again */
    s->was_unreachable = s->n_unreachable != 0;
    s->n_met = s->n_unreachable = 0;
    s->sweep++;
    s->colour = 0;
    int pause = is_alone && !catch_up(node, s);
    int is_done = lbm_termination_done(&s->termination, reach(node, job));
    if (is_done && !is_held_up(node, job)) {
        settle(node, job);
        return 0;
    }
    if (is_done) {
        lbm_termination_reset(&s->termination);
        pause = 1;
    }
    if (pause) {
        s->retry_us = node->now_us + SWEEP_PAUSE_US;
        return 0;
    }
    return 1;
}

/* Nonzero if the partner of this colour is not met: it or this host takes no part at present, it is too slow
 * to wait for, or it is known to be further already. */
static int
is_passed_over(struct lbm_node *node, struct rounds *s)
{
    int away = is_unavailable(node, s->partner);
    if (away || lbm_membership_is_straggler(node, s->partner)) {
        s->n_unreachable += away != 0;
        lbm_exchange_settled_skipped(node, s, s->partner);
        lbm_exchange_netting_set(node, s, s->partner, 0);
        return 1;
    }
    const struct early_open *early = lbm_exchange_round_early(node, s, s->partner);
    int is_ahead =
        early != NULL && early->set && lbm_exchange_round_compare(s, early->sweep, early->colour) > 0;
    if (is_ahead)
        lbm_termination_disturb(&s->termination);
    return is_ahead;
}

/* The partner waits to be asked. */
static int
is_settled(const struct job *job, const struct rounds *s, uint32_t host)
{
    const struct load_report *load_report = lbm_local_report_known(job, host);
    const struct early_open *early = lbm_exchange_early_known(s, host);
    return (early != NULL && early->settled) ||
           (load_report != NULL && load_report->phase == LBM_PHASE_SETTLED);
}

/* Begin the round of the present colour, passing colours without a partner and ends of sweeps. */
static void
open_colour(struct lbm_node *node, struct job *job)
{
    struct rounds *s = &job->rounds;
    s->state = ROUND_NONE;
    s->retry_us = INT64_MAX;
    if (!lbm_membership_is_routable(node) || lbm_view_number(&node->view, node->host) == LBM_NONE)
        return; /* the log's next word on that begins again */
    for (;; s->colour++) {
        while (s->colour >= node->view.n_colours)
            if (!end_sweep(node, job))
                return;
        s->partner = partner_at(node, s->colour);
        if (s->partner == LBM_NONE)
            continue;
        if (!is_passed_over(node, s))
            break;
    }
    s->started_us = node->now_us;
    s->deadline_us = node->now_us + lbm_membership_wait_us(node, s->partner);
    if (node->host < s->partner || is_settled(job, s, s->partner)) {
        s->state = ROUND_OPENED;
        lbm_exchange_pair_open(node, job);
        if (node->host < s->partner)
            return;
    } else {
        s->state = ROUND_AWAITED;
    }
    struct early_open *early = lbm_exchange_round_early(node, s, s->partner);
    if (early != NULL && early->set && early->is_open &&
        lbm_exchange_round_compare(s, early->sweep, early->colour) == 0) {
        early->set = 0;
        lbm_exchange_pair_answer(node, job, early);
    }
}

void
lbm_exchange_round_next(struct lbm_node *node, struct job *job)
{
    job->rounds.colour++;
    open_colour(node, job);
}

static void
notify_neighbours(struct lbm_node *node, const struct job *job, enum lbm_notice kind)
{
    const struct lbm_hosts *h = &node->view.hosts;
    uint32_t self = lbm_view_number(&node->view, node->host);
    if (!lbm_membership_is_routable(node) || self == LBM_NONE)
        return;
    for (uint32_t e = h->offset[self]; e < h->offset[self + 1]; e++)
        lbm_exchange_round_notice(node, job, lbm_view_host(&node->view, h->target[e]), kind);
}

/* Leave the present place for one that a partner has reached already. The other partners hear of it, so
 * that none waits for a round that was passed over. */
void
lbm_exchange_round_jump(struct lbm_node *node, struct job *job, uint64_t sweep, uint32_t colour)
{
    job->rounds.sweep = sweep;
    job->rounds.colour = colour;
    lbm_termination_reset(&job->rounds.termination);
    lbm_termination_disturb(&job->rounds.termination);
    notify_neighbours(node, job, NOTICE_AHEAD);
    open_colour(node, job);
}

void
lbm_exchange_start(struct lbm_node *node, struct job *job)
{
    struct rounds *s = &job->rounds;
    (void)lbm_exchange_links_changed(node);
    lbm_exchange_netting_begin(s);
    lbm_termination_reset(&s->termination);
    begin_again(node, s);
    s->colour = 0;
    s->n_met = s->n_unreachable = 0;
    s->residual_heard = no_residual;
    if (!job->was_settled)
        s->residual = no_residual; /* else what was known of room: nothing is passed on at random meanwhile */
    s->state = ROUND_NONE;
    s->retry_us = node->now_us; /* from the timer: the caller may be inside a handler */
}

/* Forget what is in flight; handoffs that have begun run to their end by themselves. */
void
lbm_exchange_stop(struct job *job)
{
    struct rounds *s = &job->rounds;
    for (size_t i = 0; i < job->out.n; i++)
        job->shard.vertices.at[job->out.at[i]].in_round = 0;
    for (size_t i = 0; i < job->releasing.n; i++)
        job->shard.vertices.at[job->releasing.at[i]].in_round = 0;
    s->state = ROUND_NONE;
    s->retry_us = INT64_MAX;
    s->leaving = 0;
    s->arriving.n = 0;
}

void
lbm_exchange_round_finish_if_over(struct lbm_node *node, struct job *job)
{
    struct rounds *s = &job->rounds;
    if (s->state == ROUND_MOVING && s->leaving == 0 && s->arriving.n == 0)
        lbm_exchange_round_next(node, job);
}

void
lbm_exchange_vertex_left(struct lbm_node *node, struct job *job)
{
    if (job->rounds.leaving != 0)
        job->rounds.leaving--;
    lbm_exchange_round_finish_if_over(node, job);
}

void
lbm_exchange_vertex_arrived(struct lbm_node *node, struct job *job, uint32_t vertex)
{
    struct rounds *s = &job->rounds;
    for (size_t i = 0; i < s->arriving.n; i++)
        if (s->arriving.at[i] == vertex) {
            s->arriving.at[i] = s->arriving.at[--s->arriving.n];
            break;
        }
    lbm_exchange_round_finish_if_over(node, job);
}

void
lbm_exchange_round_give_up(struct lbm_node *node, struct job *job)
{
    struct rounds *s = &job->rounds;
    uint32_t partner = s->partner;
    lbm_exchange_stop(job);
    if (is_unavailable(node, partner) || lbm_membership_is_straggler(node, partner))
        lbm_exchange_settled_skipped(node, s, partner);
    else
        lbm_termination_disturb(&s->termination);
    lbm_exchange_round_next(node, job);
    if (!lbm_membership_is_unreachable(node, partner, UNREACHABLE_US))
        lbm_exchange_round_notice(node, job, partner,
                                  NOTICE_AHEAD); /* else it may answer later, and wait for the plan */
}

/* The partner is late. One that is alive is asked again and waited for, since it may itself wait for
 * somebody: only the neighbours of a dead host pass it over, the others keep in step. */
static void
late(struct lbm_node *node, struct job *job)
{
    struct rounds *s = &job->rounds;
    uint32_t partner = s->partner;
    int away = is_unavailable(node, partner);
    int waits = (s->state == ROUND_OPENED || s->state == ROUND_AWAITED) && !away &&
                !lbm_membership_is_straggler(node, partner) && node->now_us - s->started_us < PAIR_TIMEOUT_US;
    if (waits) {
        s->deadline_us = node->now_us + lbm_membership_wait_us(node, partner);
        if (s->state == ROUND_OPENED)
            lbm_exchange_pair_open(node, job);
        else
            lbm_exchange_round_notice(node, job, partner, NOTICE_ASK); /* it may have settled without us */
        return;
    }
    if (s->state == ROUND_MOVING && !away &&
        node->now_us - s->started_us < PAIR_MOVING_US) { /* an application takes its time to let go */
        s->deadline_us = node->now_us + PAIR_HANDOFF_US;
        return;
    }
    lbm_exchange_round_give_up(node, job);
}

/* ---- other topologies, time ---------------------------------------------------------------------------- */

/* Nonzero if the entry at hand is about this host, or one that it is linked to. */
static int
is_near(const struct lbm_node *node, int all)
{
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    int near = all || self == NULL;
    for (size_t i = 0; i < node->view.touched.n && !near; i++) {
        const struct lbm_member *other = lbm_view_member(&node->view, node->view.touched.at[i]);
        near = other == self;
        for (size_t k = 0; k < self->n_links; k++)
            near |= self->links[k].q == other->host;
        for (size_t k = 0; k < other->n_links; k++)
            near |= other->links[k].q == self->host;
    }
    return near;
}

/* A host that is far from what changed, and keeps its links and their colours, takes no notice. */
void
lbm_exchange_topology_changed(struct lbm_node *node, struct job *job, int all, int links_changed)
{
    int near = is_near(node, all);
    const uint64_t woken = job->rounds.woken;
    const int64_t woken_us = job->rounds.woken_us;
    if (job->phase < LBM_PHASE_BALANCING || (!near && !links_changed && job->flow.state == FLOW_NONE))
        return;
    lbm_exchange_stop(job);
    lbm_exchange_flow_stop(job);
    for (size_t i = 0; i < job->rounds.early.n; i++)
        job->rounds.early.at[i].set = 0; /* colours are others now */
    job->rounds.has_changed |= near;
    if (near)
        lbm_exchange_settled_number(&job->rounds);
    if (job->phase == LBM_PHASE_BALANCING || near)
        node->raise->job_enter(node, job, LBM_PHASE_BALANCING);
    if (!near) { /* timeouts and gains count from where they did */
        job->rounds.woken = woken;
        job->rounds.woken_us = woken_us;
    }
}

void
lbm_exchange_timer(struct lbm_node *node, struct job *job)
{
    struct rounds *s = &job->rounds;
    if (job->phase == LBM_PHASE_SETTLED) {
        lbm_exchange_settled_timer(node, job);
        return;
    }
    if (s->state == ROUND_NONE) {
        if (node->now_us >= s->retry_us)
            open_colour(node, job);
        return;
    }
    if (!lbm_membership_is_routable(node) || lbm_view_number(&node->view, node->host) == LBM_NONE)
        return;
    if (node->now_us >= s->deadline_us || is_unavailable(node, s->partner))
        late(node, job);
    else if (s->state == ROUND_OPENED && node->now_us >= s->retry_us)
        lbm_exchange_pair_open(node, job);
}
