/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A host that has settled. It opens no rounds but answers those of its neighbours, and wakes when it comes
 * to have too much. Who did not take part while the others settled is visited once it does again: the one
 * round that a settled host opens. If that moves nothing, both stay as they are (ADR 12). */
#include <math.h>
#include <string.h>

#include "node/core/core.h"
#include "node/exchange/exchange.h"
#include "node/exchange/internal.h"
#include "node/local/local.h"
#include "node/membership/membership.h"
#include "node/migration/migration.h"

void
lbm_exchange_settled_weigh(const struct lbm_node *node, struct job *job)
{
    job->weighed_load = lbm_local_load(job);
    job->weighed_seen = (double)job->weighed_load + job->lag;
    job->weighed_limit = lbm_local_limit(node, lbm_view_job(&node->view, job->id), node->host);
}

/* Take part in the round that a neighbour opens. */
void
lbm_exchange_settled_receive(struct lbm_node *node, struct job *job, struct early_open *visitor)
{
    struct rounds *s = &job->rounds;
    s->sweep = visitor->sweep;
    s->colour = visitor->colour;
    s->partner = visitor->host;
    s->started_us = node->now_us;
    lbm_exchange_round_begin_visit(node, s);
    visitor->set = 0;
    lbm_exchange_pair_answer(node, job, visitor);
    s->deadline_us = node->now_us + lbm_membership_wait_us(node, visitor->host);
}

/* The neighbour that has waited longest, if one still does: who waits asks again. */
void
lbm_exchange_settled_receive_next(struct lbm_node *node, struct job *job)
{
    struct rounds *s = &job->rounds;
    struct early_open *next = NULL;
    for (size_t i = 0; i < s->early.n; i++) {
        struct early_open *early = &s->early.at[i];
        if (early->set && early->is_open && node->now_us - early->heard_us < PAIR_WAIT_US &&
            (next == NULL || early->heard_us < next->heard_us))
            next = early;
    }
    if (next != NULL && lbm_membership_is_routable(node) &&
        lbm_view_number(&node->view, next->host) != LBM_NONE)
        lbm_exchange_settled_receive(node, job, next);
}

/* How much more than its limit wakes this host: a third of what the limit allows where so little does not
 * last. Loads that are measured go up and down; a host that stands right below that would give a vertex away
 * whenever they are up, so their noise comes on top, up to as much again. In a large cluster others come and
 * go all the time, and the limits of all with them: each of those that stand near theirs would give a few
 * vertices away, and could have kept them a moment later. There it may stay for a while. */
static double
little_more(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    int is_over = job->weighed_load > job->weighed_limit, again = node->now_us >= job->overload_us;
    double little = ((double)job->weighed_limit - lbm_local_target(node, entry, node->host)) / LITTLE_PARTS;
    if (job->drifts)
        return little + fmin(little, NOISE_ERRORS * job->noise);
    if (!is_over)
        job->overload_us = INT64_MAX;
    if (again || !lbm_membership_is_large(node))
        return 0;
    if (is_over && job->overload_us == INT64_MAX)
        job->overload_us = node->now_us + LITTLE_US;
    return little;
}

/* More has come than this host should have, or its share has become smaller. Rounds go by records, which
 * are noisier than what reports say by then, and behind it: both must say that it is too much. */
static int
is_overloaded(struct lbm_node *node, struct job *job)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    const uint64_t before[2] = {job->weighed_load, job->weighed_limit};
    const double seen_before = job->weighed_seen;
    lbm_exchange_settled_weigh(node, job);
    uint64_t load = job->weighed_load, limit = job->weighed_limit;
    int is_due = load > before[0] || limit < before[1] || job->weighed_seen > seen_before ||
                 node->now_us >= job->overload_us;
    double more = little_more(node, job, entry);
    if (!is_due || load <= limit || job->weighed_seen <= (double)limit + more)
        return 0;
    node->raise->mapping_remap_look(node, job);
    if (!node->raise->mapping_remap_holds(node, job))
        return 1;
    job->weighed_load = before[0]; /* it is compared again later */
    job->weighed_limit = before[1];
    job->weighed_seen = seen_before;
    return 0;
}

/* ---- hosts that were passed over ----------------------------------------------------------------------- */

static size_t
place_of(const struct rounds *s, uint32_t host)
{
    size_t at = 0;
    while (at < s->skipped.n && s->skipped.at[at] != host)
        at++;
    return at;
}

void
lbm_exchange_settled_skipped(struct lbm_node *node, struct rounds *s, uint32_t host)
{
    if (place_of(s, host) == s->skipped.n && lbm_vec_push(&s->skipped, host) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

void
lbm_exchange_settled_met(struct rounds *s, uint32_t host)
{
    size_t at = place_of(s, host);
    if (at == s->skipped.n)
        return;
    memmove(&s->skipped.at[at], &s->skipped.at[at + 1], (s->skipped.n - at - 1) * sizeof *s->skipped.at);
    s->skipped.n--;
}

/* The next that takes part again, or LBM_NONE; it goes to the end of the list. Those that no link leads to
 * any more are dropped. */
static uint32_t
to_visit(struct lbm_node *node, struct rounds *s)
{
    uint32_t next = LBM_NONE;
    size_t kept = 0;
    for (size_t i = 0; i < s->skipped.n; i++) {
        uint32_t host = s->skipped.at[i];
        if (lbm_exchange_round_colour(node, host) == LBM_NONE)
            continue;
        if (next == LBM_NONE && !lbm_membership_is_unavailable(node, host) &&
            !lbm_membership_offers_wait(node, host))
            next = host;
        else
            s->skipped.at[kept++] = host;
    }
    s->skipped.n = kept;
    if (next != LBM_NONE)
        lbm_exchange_settled_skipped(node, s, next);
    return next;
}

static void
visit(struct lbm_node *node, struct job *job)
{
    struct rounds *s = &job->rounds;
    s->visit_us = node->now_us + VISIT_US;
    int stays = lbm_membership_has_lost_backup(node) || lbm_membership_offers_wait(node, node->host);
    uint32_t host = stays ? LBM_NONE : to_visit(node, s);
    if (host == LBM_NONE)
        return;
    s->partner = host;
    s->colour = lbm_exchange_round_colour(node, host);
    s->state = ROUND_OPENED;
    s->started_us = node->now_us;
    lbm_exchange_round_begin_visit(node, s);
    s->deadline_us = node->now_us + lbm_membership_wait_us(node, host);
    lbm_exchange_pair_open(node, job);
}

void
lbm_exchange_settled_number(struct rounds *s)
{
    if (s->has_changed && s->change_clock < UINT64_MAX)
        s->change_clock++;
    s->has_changed = 0;
}

void
lbm_exchange_settled_timer(struct lbm_node *node, struct job *job)
{
    struct rounds *s = &job->rounds;
    int meets = s->state != ROUND_NONE, is_late = meets && node->now_us >= s->deadline_us;
    if (meets && !is_late && !lbm_membership_is_straggler(node, s->partner))
        return;
    if (is_late) {
        lbm_exchange_stop(job); /* the other one has gone */
        lbm_exchange_settled_receive_next(node, job);
    } else if (is_overloaded(node, job) || node->now_us >= job->cool_us) {
        if (meets)
            lbm_exchange_stop(job); /* what goes over a slow link gives way */
        lbm_migration_throttle_look(node, job);
        lbm_exchange_settled_number(s);
        node->raise->job_enter(node, job, LBM_PHASE_BALANCING);
    } else if (!meets && s->skipped.n != 0 && node->now_us >= s->visit_us) {
        visit(node, job);
    }
}
