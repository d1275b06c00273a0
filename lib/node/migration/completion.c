/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The end of handoffs. FIN says that its sender will never make an offer of that vertex up to that epoch
 * again; the sender's backup knows it too. Without FIN the receiver asks, by repeating its answer. A record
 * in MOV or REF whose source has finished answers no offer any more: after a while, in which MOV still tells
 * others where the vertex went, it is removed, sooner if there are many. A host without a record has
 * finished. */
#include <stdlib.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/migration/internal.h"
#include "node/migration/migration.h"
#include "node/records/records.h"

enum { ASK_MAX = 4096 }; /* answers repeated at a time */

int
lbm_migration_is_finished(const struct lbm_node *node, const struct job *job, uint32_t vertex, uint64_t epoch)
{
    const struct lbm_vertex *own = lbm_records_of(job, vertex);
    if (!lbm_local_takeovers_done(node) && !LBM_BUG(FIN_BEFORE_TAKEOVER))
        return 0; /* it may inherit an offer */
    if (!node->replication.compared && !lbm_local_is_alone(node))
        return 0; /* its disk may have lost that the vertex is on its way out; the backup has not told yet */
    if (own == NULL)
        return 1;
    int is_past = own->epoch >= epoch || own->stage == LBM_STAGE_MOV || own->stage == LBM_STAGE_REF;
    return is_past && (lbm_records_is_acked(node, own) || LBM_BUG(FIN_TOO_EARLY));
}

uint32_t
lbm_migration_completion_source(const struct lbm_node *node, const struct lbm_vertex *vertex, int *known)
{
    uint32_t source;
    uint64_t incarnation;
    *known = 1;
    if (vertex->source == LBM_NONE)
        return LBM_NONE;
    *known =
        lbm_view_successor(&node->view, vertex->source, vertex->source_incarnation, &source, &incarnation);
    if (!*known || source != node->host)
        return *known ? source : LBM_NONE;
    *known = lbm_local_takeovers_done(node); /* this host's own record has been merged with the offer */
    return LBM_NONE;
}

static void
ask_again(struct lbm_node *node, struct job *job)
{
    size_t kept = 0, asked = 0;
    for (size_t i = 0; i < job->unfinished.n; i++)
        job->shard.vertices.at[job->unfinished.at[i]].is_unfinished = 0;
    for (size_t i = 0; i < job->unfinished.n; i++) {
        uint32_t slot = job->unfinished.at[i];
        struct lbm_vertex *vertex = &job->shard.vertices.at[slot];
        int known;
        uint32_t source = lbm_migration_completion_source(node, vertex, &known);
        if (vertex->stage == LBM_STAGE_NONE || vertex->fin || vertex->is_unfinished)
            continue;
        if (known && source == LBM_NONE) {
            vertex->fin = 1;
            continue;
        }
        vertex->is_unfinished = 1;
        job->unfinished.at[kept++] = slot;
        if (!known || !lbm_records_is_acked(node, vertex) || node->now_us - vertex->since_us < FIN_RETRY_US ||
            asked++ >= ASK_MAX)
            continue;
        lbm_migration_due(node, vertex->stage == LBM_STAGE_REF ? DUE_REFUSE : DUE_ACK, job, source, vertex,
                          vertex->epoch);
    }
    job->unfinished.n = kept;
    job->finish_us = kept != 0 ? node->now_us + FIN_RETRY_US : INT64_MAX;
}

/* Remove what is finished, FORGET_MAX at a time: the rest of a long list is not even looked at. */
static void
collect(struct lbm_node *node, struct job *job)
{
    const int64_t least_us = lbm_records_completion_timeout_us(node, job);
    const size_t n = job->tombstones.n,
                 too_many = lbm_records_excess(job); /* the oldest of them come first */
    size_t i, kept = 0, gone = 0;
    for (i = 0; i < n && gone < FORGET_MAX && node->failed == LBM_OK; i++) {
        uint32_t slot = job->tombstones.at[i];
        struct lbm_vertex *vertex = &job->shard.vertices.at[slot];
        if (vertex->stage != LBM_STAGE_MOV && vertex->stage != LBM_STAGE_REF)
            continue;
        int64_t age_us = node->now_us - vertex->since_us;
        int is_old = age_us >= (i < too_many ? least_us : node->tombstone_us);
        int is_over = is_old && vertex->fin && vertex->n_news == 0;
        if (lbm_records_is_acked(node, vertex) && (is_over || LBM_BUG(COLLECT_UNFINISHED))) {
            lbm_records_forget(node, job, vertex);
            gone++;
        } else {
            job->tombstones.at[kept++] = slot;
        }
    }
    for (; i < n; i++)
        job->tombstones.at[kept++] = job->tombstones.at[i];
    job->tombstones.n = kept;
    int64_t again_us =
        gone == FORGET_MAX ? FORGET_AGAIN_US : lbm_records_completion_timeout_us(node, job) / 4;
    job->collect_us = kept != 0 ? node->now_us + again_us : INT64_MAX;
}

void
lbm_migration_completion_timer(struct lbm_node *node, struct job *job)
{
    if (node->now_us >= job->finish_us)
        ask_again(node, job);
    if (node->now_us >= job->collect_us)
        collect(node, job);
}

void
lbm_migration_on_fin(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Fin *fin = message->fin;
    struct job *job = lbm_local_job(node, fin->job);
    if (node->view.index < message->view && !LBM_BUG(FIN_OF_NEWER_VIEW))
        return; /* who speaks for the source may have changed: it is asked again later */
    for (size_t i = 0; job != NULL && i < fin->n_vertex; i++) {
        struct lbm_vertex *own = lbm_records_of(job, fin->vertex[i]);
        int known;
        if (own != NULL && (fin->epoch[i] >= own->offered || LBM_BUG(FIN_OF_OLDER_HANDOFF)) &&
            lbm_migration_completion_source(node, own, &known) == message->src)
            own->fin = 1;
    }
}
