/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One round of two hosts in an exchange round (protocol.md section 13): the opener says its load, the
 * other answers with its own and its band of vertices, the opener decides what moves (exchange.c) and tells;
 * both hand over. Which host meets which, and when, is rounds.c. */
#include <math.h>
#include <stdlib.h>

#include "node/core/core.h"
#include "node/exchange/decision.h"
#include "node/exchange/exchange.h"
#include "node/exchange/internal.h"
#include "node/local/local.h"
#include "node/membership/membership.h"
#include "node/migration/migration.h"
#include "node/records/record_batch.h"
#include "node/records/records.h"

enum { ROUND_BYTES_MAX = 16 * LBM_BATCH_BYTES_MAX /* of payloads that go to the partner */ };

static void
residual_hear(struct rounds *s, uint32_t from, struct residual_hop way)
{
    struct residual *heard = &s->residual_heard;
    if (way.hops < heard->best.hops)
        *heard = (struct residual){.best = way, .via = from, .other = heard->best};
    else if (way.hops < heard->other.hops)
        heard->other = way;
}

static void
hear_change_clock(struct rounds *s, uint64_t change_clock)
{
    s->change_clock = change_clock > s->change_clock ? change_clock : s->change_clock;
}

/* A number that changes whenever this host might decide otherwise than before: with vertices that come and
 * go, and with records that become free to move; 0 while it has too much. That they have is what wakes a host
 * that has settled: to say so to a visitor is not enough. */
static uint64_t
fingerprint_of(const struct lbm_node *node, struct job *job)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    if (job->phase != LBM_PHASE_SETTLED)
        lbm_migration_throttle_look(node, job);
    if (lbm_local_load(job) > lbm_local_limit(node, entry, node->host))
        return 0;
    uint64_t state[] = {job->shard.version,
                        job->shard.n_out,
                        job->unfinished.n,
                        job->releasing.n,
                        (uint64_t)lbm_local_netting_sum(&job->rounds),
                        lbm_local_replication_lag(node) != 0 ? node->replication.acked : UINT64_MAX,
                        lbm_migration_throttle_cooled(node, job)};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof state / sizeof *state; i++)
        hash = (hash ^ state[i]) * 0x9e3779b97f4a7c15; /* two states are alike by chance only */
    return hash | 1;
}

/* Nonzero if nothing moved between both as they stand, and would not now. */
static int
is_unchanged(struct lbm_node *node, struct job *job)
{
    struct rounds *s = &job->rounds;
    const struct unchanged *unchanged = lbm_exchange_pair_unchanged(node, s, s->partner);
    uint32_t times = job->was_settled ? 1 : UNMOVED_TIMES;
    return unchanged != NULL && s->fingerprint != 0 && s->fingerprint_heard != 0 &&
           unchanged->own == s->fingerprint && unchanged->theirs == s->fingerprint_heard &&
           unchanged->times >= times;
}

/* The round in flight has moved nothing. */
static void
remember_unchanged(struct lbm_node *node, struct rounds *s)
{
    struct unchanged *unchanged = lbm_exchange_pair_unchanged(node, s, s->partner);
    if (unchanged == NULL)
        return;
    int same = unchanged->own == s->fingerprint && unchanged->theirs == s->fingerprint_heard;
    unchanged->times = same ? unchanged->times + 1 : 1;
    unchanged->own = s->fingerprint;
    unchanged->theirs = s->fingerprint_heard;
}

/* The last round with that host was left to a plan, or was not. The partner takes it for one that moved
 * nothing. */
static void
remember_open(struct lbm_node *node, struct rounds *s, uint32_t host, int is_open)
{
    struct unchanged *unchanged = lbm_exchange_pair_unchanged(node, s, host);
    if (unchanged != NULL)
        unchanged->is_open = is_open;
}

static int
is_left_open(struct lbm_node *node, struct rounds *s, uint32_t host)
{
    const struct unchanged *unchanged = lbm_exchange_pair_unchanged(node, s, host);
    return unchanged != NULL && unchanged->is_open;
}

void
lbm_exchange_pair_open(struct lbm_node *node, struct job *job)
{
    struct rounds *s = &job->rounds;
    Lbm__PairOpen open = LBM__PAIR_OPEN__INIT;
    open.job = job->id;
    open.sweep = s->sweep;
    open.colour = s->colour;
    open.load = lbm_local_load(job);
    open.counter = s->termination.counter;
    const struct residual_hop residual = lbm_exchange_round_residual(node, job, s->partner);
    open.residual_hops = residual.hops;
    open.residual_load = residual.room;
    open.fingerprint = s->fingerprint = is_left_open(node, s, s->partner) ? 0 : fingerprint_of(node, job);
    open.change_clock = s->change_clock;
    int64_t outstanding = lbm_exchange_netting_outstanding(s, s->partner);
    open.numbers = lbm_exchange_netting_possible(node, job, s->partner) != 0;
    open.gives = outstanding > 0 ? (uint64_t)outstanding : 0;
    open.takes = outstanding < 0 ? (uint64_t)-outstanding : 0;
    open.due = lbm_exchange_netting_due(s, s->partner) != 0;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_PAIR_OPEN;
    message.pair_open = &open;
    lbm_core_send(node, s->partner, &message);
    s->retry_us = INT64_MAX;
}

void
lbm_exchange_pair_answer(struct lbm_node *node, struct job *job, const struct early_open *open)
{
    struct rounds *s = &job->rounds;
    struct columns columns;
    slot_list band = {0};
    lbm_records_batch_init(&columns);
    lbm_termination_hear(&s->termination, open->counter);
    residual_hear(s, s->partner, open->residual);
    hear_change_clock(s, open->change_clock);
    s->fingerprint = fingerprint_of(node, job);
    s->fingerprint_heard = open->fingerprint;
    s->round_kind = lbm_exchange_netting_round(node, job, open);
    if (s->round_kind == ROUND_KIND_EXCHANGE)
        lbm_exchange_netting_set(node, s, s->partner, 0);
    int64_t outstanding = lbm_exchange_netting_outstanding(s, s->partner);
    int same = s->round_kind == ROUND_KIND_EXCHANGE && is_unchanged(node, job);
    if (!same && s->round_kind != ROUND_KIND_NUMBERS &&
        lbm_exchange_band(node, job, s->partner, &band) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    for (size_t i = 0; i < band.n && node->failed == LBM_OK; i++) {
        const struct lbm_vertex *vertex = &job->shard.vertices.at[band.at[i]];
        lbm_records_batch_add(node, &columns, job, vertex, vertex->epoch, COLUMNS_ADJACENCY);
    }
    lbm_records_batch_message(&columns);
    Lbm__PairAccept accept = LBM__PAIR_ACCEPT__INIT;
    accept.job = job->id;
    accept.sweep = s->sweep;
    accept.colour = s->colour;
    accept.load = lbm_local_load(job);
    int settled = job->phase == LBM_PHASE_SETTLED;
    accept.counter = settled ? node->view.diameter + 1 : s->termination.counter;
    const struct residual_hop residual = lbm_exchange_round_residual(node, job, s->partner);
    accept.residual_hops = residual.hops;
    accept.residual_load = residual.room;
    accept.band = &columns.message;
    accept.fingerprint = s->fingerprint;
    accept.change_clock = s->change_clock;
    accept.same = same != 0;
    accept.round_kind = s->round_kind;
    accept.first = !job->was_settled;
    if (s->round_kind == ROUND_KIND_NUMBERS) {
        const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
        uint64_t given = (uint64_t)lbm_exchange_netting_given(s, s->partner),
                 netted = outstanding > 0 ? (uint64_t)outstanding : 0;
        double over = fmax(0, (double)lbm_local_load(job) - lbm_local_target(node, entry, node->host));
        uint64_t all =
            lbm_exchange_movable(node, job, given + netted + (uint64_t)over + 1); /* more is not asked for */
        accept.free = all > given ? all - given : 0;
        accept.least = job->shard.work_least;
    }
    accept.gives = outstanding > 0 ? (uint64_t)outstanding : 0;
    accept.takes = outstanding < 0 ? (uint64_t)-outstanding : 0;
    uint32_t room = lbm_migration_throttle_budget(node, job);
    accept.room = room < UINT32_MAX ? room + 1 : 0;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_PAIR_ACCEPT;
    message.pair_accept = &accept;
    if (node->failed == LBM_OK)
        lbm_core_send(node, s->partner, &message);
    lbm_records_batch_free(&columns);
    lbm_vec_free(&band);
    s->n_met++;
    s->state = ROUND_ANSWERED;
    s->retry_us = INT64_MAX;
    s->deadline_us = node->now_us + PAIR_HANDOFF_US;
}

/* ---- messages ---------------------------------------------------------------------------------------- */

void
lbm_exchange_on_pair_open(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__PairOpen *open = message->pair_open;
    struct job *job = lbm_local_job(node, open->job);
    const uint32_t colour = lbm_exchange_round_colour(node, message->src);
    if (job == NULL || colour == LBM_NONE || colour != open->colour ||
        !lbm_local_within_reach(node, message->src, "sweep", open->sweep, job->rounds.sweep,
                                LBM_SWEEP_STEP) ||
        !lbm_local_within_reach(node, message->src, "change", open->change_clock, job->rounds.change_clock,
                                LBM_SWEEP_STEP))
        return;
    struct rounds *s = &job->rounds;
    if (job->phase < LBM_PHASE_BALANCING || job->flow.state != FLOW_NONE) {
        lbm_exchange_round_notice(node, job, message->src, NOTICE_NOT_READY);
        return;
    }
    int place = lbm_exchange_round_compare(s, open->sweep, open->colour);
    struct early_open *early = lbm_exchange_round_early(node, s, message->src);
    if (early == NULL)
        return;
    *early = (struct early_open){.host = message->src,
                                 .set = 1,
                                 .is_open = 1,
                                 .sweep = open->sweep,
                                 .colour = open->colour,
                                 .load = open->load,
                                 .counter = open->counter,
                                 .residual = {open->residual_hops, open->residual_load},
                                 .fingerprint = open->fingerprint,
                                 .change_clock = open->change_clock,
                                 .numbers = open->numbers != 0,
                                 .due = open->due != 0,
                                 .outstanding = lbm_exchange_netting_heard(open->gives, open->takes),
                                 .heard_us = node->now_us};
    int awaits = s->state == ROUND_AWAITED || (s->state == ROUND_OPENED && message->src < node->host);
    if (job->phase == LBM_PHASE_SETTLED) {
        int comes_first = s->state == ROUND_OPENED && node->host < message->src; /* both visit each other */
        if (s->state != ROUND_NONE && s->partner != message->src &&
            lbm_membership_is_straggler(node, s->partner))
            lbm_exchange_stop(job); /* a visit over a slow link gives way */
        if (s->state == ROUND_NONE || (s->partner == message->src && !comes_first))
            lbm_exchange_settled_receive(node, job, early);
    } else if (lbm_membership_is_straggler(node, message->src)) {
        early->set = 0;
        lbm_exchange_round_notice(node, job, message->src, NOTICE_NOT_READY);
    } else if (place < 0) {
        early->set = 0;
        lbm_exchange_round_notice(node, job, message->src, NOTICE_AHEAD);
    } else if (place == 0 && awaits && s->partner == message->src) {
        early->set = 0;
        lbm_exchange_pair_answer(node, job, early);
    } else if (s->partner == message->src &&
               (s->state == ROUND_ANSWERED || (s->state == ROUND_MOVING && s->leaving == 0))) {
        /* It has given up the round that this host answered, or what it was to give. */
        lbm_exchange_stop(job);
        if (place > 0) {
            lbm_exchange_round_jump(node, job, open->sweep, open->colour);
        } else {
            early->set = 0;
            lbm_exchange_pair_answer(node, job, early);
        }
    } else if ((awaits && s->partner == message->src) || /* it does not come back to where it is awaited */
               (open->sweep > s->sweep + 1 &&
                (s->state == ROUND_NONE || s->state == ROUND_OPENED || s->state == ROUND_AWAITED))) {
        lbm_exchange_round_jump(node, job, open->sweep, open->colour);
    }
}

/* The partner need not wait for those in the round of that place. */
static void
tell_stays(struct lbm_node *node, const struct job *job, uint32_t to, uint64_t sweep, uint32_t colour,
           size_t n, uint32_t *vertex)
{
    Lbm__PairNotice notice = LBM__PAIR_NOTICE__INIT;
    notice.job = job->id;
    notice.kind = NOTICE_STAYS;
    notice.sweep = sweep;
    notice.colour = colour;
    notice.n_stays = n;
    notice.stays = vertex;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_PAIR_NOTICE;
    message.pair_notice = &notice;
    if (n != 0 && node->failed == LBM_OK)
        lbm_core_send(node, to, &message);
}

/* Vertices that were to come do not. */
static void
on_stays(struct lbm_node *node, struct job *job, uint32_t from, const Lbm__PairNotice *notice)
{
    struct rounds *s = &job->rounds;
    size_t kept = 0;
    if (s->state != ROUND_MOVING || s->partner != from ||
        lbm_exchange_round_compare(s, notice->sweep, notice->colour) != 0)
        return;
    for (size_t i = 0; i < s->arriving.n; i++) {
        size_t k = 0;
        while (k < notice->n_stays && notice->stays[k] != s->arriving.at[i])
            k++;
        if (k == notice->n_stays)
            s->arriving.at[kept++] = s->arriving.at[i];
    }
    s->arriving.n = kept;
    lbm_exchange_round_finish_if_over(node, job);
}

/* Hand over the vertices of a plan's list that are still ours; records them as part of the round. Gains:
 * NULL if the partner did not tell. */
static void
give_away(struct lbm_node *node, struct job *job, uint32_t to, size_t n, const uint32_t *vertex,
          const uint64_t *epoch, struct why why, const double *gain)
{
    LBM_VEC(uint32_t) stays = {0};
    size_t bytes = 0; /* of payloads; what is too much stays for another round */
    why.gain_is_known = gain != NULL;
    for (size_t i = 0; i < n && node->failed == LBM_OK; i++) {
        struct lbm_vertex *own = lbm_shard_vertex(&job->shard, vertex[i]);
        why.gain = gain != NULL ? gain[i] : 0;
        if (own == NULL || own->epoch != epoch[i] || bytes > ROUND_BYTES_MAX ||
            !lbm_migration_begin(node, job, own, to, &why)) {
            if (lbm_vec_push(&stays, vertex[i]) != LBM_OK)
                lbm_core_fail(node, LBM_E_NOMEM);
            continue;
        }
        bytes += own->payload_len;
        own->in_round = 1;
        job->rounds.leaving++;
    }
    tell_stays(node, job, to, job->rounds.sweep, job->rounds.colour, stays.n, stays.at);
    lbm_vec_free(&stays);
}

static void
start_moving(struct lbm_node *node, struct job *job, size_t n_arriving, const uint32_t *arriving)
{
    struct rounds *s = &job->rounds;
    s->arriving.n = 0;
    for (size_t i = 0; i < n_arriving; i++)
        if (lbm_vec_push(&s->arriving, arriving[i]) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
    s->state = ROUND_MOVING;
    s->deadline_us = node->now_us + PAIR_HANDOFF_US;
    lbm_termination_disturb(&s->termination);
}

/* Something moves: from here on a host that had settled sweeps again, with this round as the first. */
static void
wake(struct lbm_node *node, struct job *job)
{
    struct rounds *s = &job->rounds;
    const uint32_t colour = s->colour;
    const struct residual heard = s->residual_heard;
    if (job->phase != LBM_PHASE_SETTLED)
        return;
    node->raise->job_enter(node, job, LBM_PHASE_BALANCING);
    s->colour = colour;
    s->residual_heard = heard;
    s->n_met = 1;
    s->retry_us = INT64_MAX;
}

/* Nothing moves: the next one, please. */
static void
pass_on(struct lbm_node *node, struct job *job)
{
    if (job->phase != LBM_PHASE_SETTLED) {
        lbm_exchange_round_next(node, job);
        return;
    }
    lbm_exchange_stop(job);
    lbm_exchange_settled_receive_next(node, job);
}

static enum lbm_err
send_plan(struct lbm_node *node, struct job *job, const struct exchange *exchange, const Lbm__Records *band,
          uint64_t *give_epoch)
{
    uint64_t *take_epoch = lbm_alloc(exchange->take.n, sizeof *take_epoch);
    if (take_epoch == NULL)
        return LBM_E_NOMEM;
    for (size_t i = 0; i < exchange->take.n; i++)
        for (size_t k = 0; k < band->n_vertex; k++)
            if (band->vertex[k] == exchange->take.at[i])
                take_epoch[i] = band->epoch[k];
    Lbm__PairPlan plan = LBM__PAIR_PLAN__INIT;
    plan.job = job->id;
    plan.sweep = job->rounds.sweep;
    plan.colour = job->rounds.colour;
    plan.n_give = plan.n_give_epoch = exchange->give.n;
    plan.give = exchange->give.at;
    plan.give_epoch = give_epoch;
    plan.n_take = plan.n_take_epoch = exchange->take.n;
    plan.take = exchange->take.at;
    plan.take_epoch = take_epoch;
    plan.n_take_gain = exchange->take_gain.n;
    plan.take_gain = exchange->take_gain.at;
    plan.take_reason = exchange->take_reason;
    plan.load = lbm_local_load(job);
    int64_t outstanding = lbm_exchange_netting_outstanding(&job->rounds, job->rounds.partner);
    plan.gives = outstanding > 0 ? (uint64_t)outstanding : 0;
    plan.takes = outstanding < 0 ? (uint64_t)-outstanding : 0;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_PAIR_PLAN;
    message.pair_plan = &plan;
    lbm_core_send(node, job->rounds.partner, &message);
    free(take_epoch);
    return LBM_OK;
}

/* What was netted has moved, or cannot. */
static void
delivered(struct lbm_node *node, struct rounds *s, size_t n_moved)
{
    if (n_moved == 0)
        lbm_exchange_netting_undelivered(node, s, s->partner);
    lbm_exchange_netting_set(node, s, s->partner, 0);
}

/* The opener decides, tells, and both sides hand over. */
static void
carry_out(struct lbm_node *node, struct job *job, const struct exchange *exchange,
          const Lbm__PairAccept *accept)
{
    uint32_t partner = job->rounds.partner;
    const struct why why = {.reason = exchange->give_reason,
                            .share = {lbm_migration_move_share(node, job, node->host, lbm_local_load(job)),
                                      lbm_migration_move_share(node, job, partner, accept->load)},
                            .together = (uint32_t)(exchange->give.n + exchange->take.n)};
    uint64_t *give_epoch = lbm_alloc(exchange->give.n, sizeof *give_epoch);
    if (give_epoch == NULL) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    for (size_t i = 0; i < exchange->give.n; i++)
        give_epoch[i] = lbm_shard_vertex(&job->shard, exchange->give.at[i])->epoch;
    if (send_plan(node, job, exchange, accept->band, give_epoch) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    if (exchange->give.n + exchange->take.n != 0) {
        wake(node, job);
        start_moving(node, job, exchange->take.n, exchange->take.at);
        give_away(node, job, partner, exchange->give.n, exchange->give.at, give_epoch, why,
                  exchange->give_gain.at);
        lbm_exchange_round_finish_if_over(node, job);
    } else {
        pass_on(node, job);
    }
    free(give_epoch);
}

/* The opener decides what both netted amount from now on, and tells. */
static void
agree(struct lbm_node *node, struct job *job, const Lbm__PairAccept *accept)
{
    struct rounds *s = &job->rounds;
    const struct exchange nothing = {0};
    int64_t before = lbm_exchange_netting_outstanding(s, s->partner), outstanding = 0;
    if (before == -lbm_exchange_netting_heard(accept->gives, accept->takes))
        outstanding = lbm_exchange_net(node, job, s->partner, accept, before);
    if (outstanding != before)
        wake(node, job);
    lbm_exchange_netting_set(node, s, s->partner, outstanding);
    carry_out(node, job, &nothing, accept);
}

void
lbm_exchange_on_pair_accept(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__PairAccept *accept = message->pair_accept;
    struct job *job = lbm_local_job(node, accept->job);
    if (job == NULL || accept->band == NULL || job->phase < LBM_PHASE_BALANCING ||
        job->rounds.state != ROUND_OPENED || job->rounds.partner != message->src ||
        lbm_exchange_round_compare(&job->rounds, accept->sweep, accept->colour) != 0)
        return;
    /* A visit goes on when the log changes something far away; the host graph is another one then. */
    if (!lbm_membership_is_routable(node) || lbm_view_number(&node->view, node->host) == LBM_NONE ||
        lbm_view_number(&node->view, message->src) == LBM_NONE)
        return;
    struct rounds *s = &job->rounds;
    s->n_met++;
    s->retry_us = INT64_MAX;
    lbm_exchange_settled_met(s, message->src);
    lbm_termination_hear(&s->termination, accept->counter);
    residual_hear(s, message->src, (struct residual_hop){accept->residual_hops, accept->residual_load});
    hear_change_clock(s, accept->change_clock);
    struct exchange exchange = {0};
    s->fingerprint_heard = accept->fingerprint;
    if (accept->round_kind == ROUND_KIND_NUMBERS) {
        agree(node, job, accept);
        return;
    }
    if (accept->round_kind != ROUND_KIND_DELIVERY)
        lbm_exchange_netting_set(node, s, message->src, 0);
    int64_t outstanding = lbm_exchange_netting_outstanding(s, message->src);
    int is_withheld = outstanding == 0 && node->raise->mapping_remap_withholds(node, job);
    remember_open(node, s, message->src, is_withheld);
    if (is_withheld) {
        carry_out(node, job, &exchange, accept);
    } else if (!accept->same &&
               lbm_exchange_decide(node, job, message->src, accept, outstanding, &exchange) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
    } else {
        size_t n_moved = exchange.give.n + exchange.take.n;
        if (accept->round_kind == ROUND_KIND_DELIVERY)
            delivered(node, s, n_moved);
        else if (n_moved == 0)
            remember_unchanged(node, s);
        carry_out(node, job, &exchange, accept);
    }
    lbm_vec_free(&exchange.give);
    lbm_vec_free(&exchange.take);
    lbm_vec_free(&exchange.give_gain);
    lbm_vec_free(&exchange.take_gain);
}

void
lbm_exchange_on_pair_plan(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__PairPlan *plan = message->pair_plan;
    struct job *job = lbm_local_job(node, plan->job);
    if (job == NULL)
        return;
    struct rounds *s = &job->rounds;
    if (job->phase < LBM_PHASE_BALANCING || s->state != ROUND_ANSWERED || s->partner != message->src ||
        lbm_exchange_round_compare(s, plan->sweep, plan->colour) != 0) {
        /* This host has begun again since it answered: the log's last word came here later than there. */
        tell_stays(node, job, message->src, plan->sweep, plan->colour, plan->n_take, plan->take);
        return;
    }
    lbm_exchange_settled_met(s, message->src);
    if (s->round_kind == ROUND_KIND_NUMBERS) {
        int64_t outstanding = -lbm_exchange_netting_heard(plan->gives, plan->takes);
        if (outstanding != lbm_exchange_netting_outstanding(s, s->partner))
            wake(node, job);
        lbm_exchange_netting_set(node, s, s->partner, outstanding);
        pass_on(node, job);
        return;
    }
    if (s->round_kind == ROUND_KIND_DELIVERY)
        delivered(node, s, plan->n_give + plan->n_take);
    if (plan->n_give + plan->n_take == 0) {
        if (s->round_kind == ROUND_KIND_EXCHANGE)
            remember_unchanged(node, s);
        pass_on(node, job);
        return;
    }
    wake(node, job);
    const struct why why = {.reason = plan->take_reason < LBM_MOVE_REASON_COUNT
                                          ? (enum lbm_move_reason)plan->take_reason
                                          : LBM_MOVE_UNKNOWN,
                            .share = {lbm_migration_move_share(node, job, node->host, lbm_local_load(job)),
                                      lbm_migration_move_share(node, job, message->src, plan->load)},
                            .together = (uint32_t)(plan->n_give + plan->n_take)};
    start_moving(node, job, plan->n_give, plan->give);
    give_away(node, job, message->src, plan->n_take, plan->take, plan->take_epoch, why,
              plan->n_take_gain == plan->n_take ? plan->take_gain : NULL);
    lbm_exchange_round_finish_if_over(node, job);
}

/* A partner is further than this host, or was passed over: follow it if it is the one waited for, else
 * remember. */
static void
on_ahead(struct lbm_node *node, struct job *job, uint32_t from, const Lbm__PairNotice *notice)
{
    struct rounds *s = &job->rounds;
    if (lbm_exchange_round_compare(s, notice->sweep, notice->colour) <= 0 ||
        !lbm_local_within_reach(node, from, "sweep", notice->sweep, s->sweep, LBM_SWEEP_STEP))
        return;
    int is_over = s->state == ROUND_OPENED || s->state == ROUND_AWAITED || s->state == ROUND_ANSWERED;
    if (is_over && s->partner == from) {
        lbm_exchange_stop(job);
        if (job->phase == LBM_PHASE_SETTLED) {
            s->sweep = notice->sweep;
            lbm_exchange_settled_receive_next(node, job);
        } else {
            lbm_exchange_round_jump(node, job, notice->sweep, notice->colour);
        }
        return;
    }
    struct early_open *early = lbm_exchange_round_early(node, s, from);
    if (early != NULL && (!early->set || lbm_exchange_round_compare(s, early->sweep, early->colour) <= 0))
        *early =
            (struct early_open){.host = from, .set = 1, .sweep = notice->sweep, .colour = notice->colour};
}

void
lbm_exchange_on_pair_notice(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__PairNotice *notice = message->pair_notice;
    struct job *job = lbm_local_job(node, notice->job);
    if (job == NULL || job->phase < LBM_PHASE_BALANCING)
        return;
    struct rounds *s = &job->rounds;
    int is_opened = s->state == ROUND_OPENED && s->partner == message->src;
    switch ((enum lbm_notice)notice->kind) {
    case NOTICE_NOT_READY:
        if (is_opened && job->phase == LBM_PHASE_SETTLED)
            pass_on(node, job); /* it is visited again later */
        else if (is_opened)
            s->retry_us = node->now_us + NOTICE_RETRY_US;
        break;
    case NOTICE_AHEAD:
        on_ahead(node, job, message->src, notice);
        break;
    case NOTICE_SETTLED:
        if (lbm_exchange_round_early(node, s, message->src) != NULL)
            lbm_exchange_round_early(node, s, message->src)->settled = 1;
        if (job->phase == LBM_PHASE_BALANCING && s->state == ROUND_AWAITED && s->partner == message->src) {
            s->state = ROUND_OPENED;
            lbm_exchange_pair_open(node, job);
        }
        break;
    case NOTICE_ASK:
        if (job->phase == LBM_PHASE_SETTLED)
            lbm_exchange_round_notice(node, job, message->src, NOTICE_SETTLED);
        else if (s->state == ROUND_MOVING && s->partner == message->src &&
                 lbm_exchange_round_compare(s, notice->sweep, notice->colour) >= 0)
            lbm_exchange_round_give_up(node,
                                       job); /* it has begun again, and knows no more of what was to move */
        else if (lbm_exchange_round_compare(s, notice->sweep, notice->colour) < 0)
            lbm_exchange_round_notice(node, job, message->src,
                                      NOTICE_AHEAD); /* it waits for a round that is over */
        break;
    case NOTICE_STAYS:
        on_stays(node, job, message->src, notice);
        break;
    }
}
