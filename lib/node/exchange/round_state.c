/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of this room ask of a job's rounds: limits, residual capacity, colours, messages that came
 * early. */
#include "node/core/core.h"
#include "node/exchange/decision.h"
#include "node/exchange/exchange.h"
#include "node/exchange/internal.h"
#include "node/local/local.h"
#include "node/membership/membership.h"

/* The colour of the link to a host, or LBM_NONE. */
uint32_t
lbm_exchange_round_colour(struct lbm_node *node, uint32_t host)
{
    const struct lbm_hosts *h = &node->view.hosts;
    uint32_t self = lbm_membership_is_routable(node) ? lbm_view_number(&node->view, node->host) : LBM_NONE;
    for (uint32_t e = self != LBM_NONE ? h->offset[self] : 0; self != LBM_NONE && e < h->offset[self + 1];
         e++)
        if (lbm_view_host(&node->view, h->target[e]) == host)
            return node->view.colour[e];
    return LBM_NONE;
}

int
lbm_exchange_spares(const struct lbm_node *node, const struct job *job)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    return job->drifts || entry->imbalance * (double)node->view.active.n < 1;
}

/* What a host may have after a round that has `load`. One that had settled leaves a part of the residual
 * capacity free: a host above its limit gives so much more, and none takes it up; so the next vertex that
 * comes, or the next host that joins and lowers the limits of all, does not wake it again. Between both it
 * keeps what it has. */
uint64_t
lbm_exchange_limit(const struct lbm_node *node, const struct job *job, uint32_t host, uint64_t load,
                   int had_settled)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    uint64_t limit = lbm_local_limit(node, entry, host);
    double target = lbm_local_target(node, entry, host);
    double margin =
        ((double)limit - target) * (lbm_exchange_spares(node, job) ? MARGIN_SPARING : MARGIN_QUARTERS) / 4;
    if (!had_settled || margin < lbm_local_load_mean(node, entry))
        return limit;
    uint64_t less = limit - (uint64_t)margin;
    return load > limit || load < less ? less : load;
}

/* What this host could take; 0: not even a vertex as light as the lightest that was ever here. */
uint64_t
lbm_exchange_residual_here(const struct lbm_node *node, const struct job *job)
{
    uint32_t least = job->shard.work_least != LBM_NONE ? job->shard.work_least : 1;
    uint64_t load = lbm_local_load(job),
             limit = lbm_exchange_limit(node, job, node->host, load, job->was_settled);
    return load + least <= limit ? limit - load : 0;
}

struct residual_hop
lbm_exchange_round_residual(const struct lbm_node *node, const struct job *job, uint32_t partner)
{
    const struct residual *residual = &job->rounds.residual;
    uint64_t room = lbm_exchange_residual_here(node, job);
    if (job->phase == LBM_PHASE_SETTLED && room != 0)
        return (struct residual_hop){.room = room};
    struct residual_hop way = partner == residual->via ? residual->other : residual->best;
    return way.hops != 0 ? way : (struct residual_hop){.room = room};
}

/* Negative, 0 or positive: where a message stands against this round's place. */
int
lbm_exchange_round_compare(const struct rounds *s, uint64_t sweep, uint32_t colour)
{
    if (sweep != s->sweep)
        return sweep < s->sweep ? -1 : 1;
    return colour < s->colour ? -1 : colour > s->colour;
}

void
lbm_exchange_round_notice(struct lbm_node *node, const struct job *job, uint32_t host, enum lbm_notice kind)
{
    Lbm__PairNotice notice = LBM__PAIR_NOTICE__INIT;
    notice.job = job->id;
    notice.kind = kind;
    notice.sweep = job->rounds.sweep;
    notice.colour = job->rounds.colour;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_PAIR_NOTICE;
    message.pair_notice = &notice;
    lbm_core_send(node, host, &message);
}

struct early_open *
lbm_exchange_early_known(const struct rounds *s, uint32_t host)
{
    for (size_t i = 0; i < s->early.n; i++)
        if (s->early.at[i].host == host)
            return &s->early.at[i];
    return NULL;
}

struct early_open *
lbm_exchange_round_early(struct lbm_node *node, struct rounds *s, uint32_t host)
{
    struct early_open *known = lbm_exchange_early_known(s, host);
    if (known != NULL)
        return known;
    struct early_open early = {.host = host};
    if (lbm_vec_push(&s->early, early) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return NULL;
    }
    return &s->early.at[s->early.n - 1];
}

int
lbm_exchange_is_granular(const struct lbm_node *node, const struct job *job)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    double residual =
        (double)lbm_local_limit(node, entry, node->host) - lbm_local_target(node, entry, node->host);
    return job->was_settled && residual >= lbm_local_load_mean(node, entry);
}

struct unchanged *
lbm_exchange_pair_unchanged(struct lbm_node *node, struct rounds *s, uint32_t host)
{
    struct unchanged fresh = {.host = host};
    for (size_t i = 0; i < s->unchanged.n; i++)
        if (s->unchanged.at[i].host == host)
            return &s->unchanged.at[i];
    if (lbm_vec_push(&s->unchanged, fresh) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return NULL;
    }
    return &s->unchanged.at[s->unchanged.n - 1];
}
