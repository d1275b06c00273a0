/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The other end of an edge that an application has changed (edges.c tells it): what the record here says from
 * then on, and the answer, which leaves once the backup has it; and at the end that was changed, what becomes
 * of that answer. Never: answers by the number of a change, which a later one may have overtaken. */
#include <stdlib.h>

#include "node/application/application.h"
#include "node/application/guest.h"
#include "node/core/core.h"
#include "node/local/local.h"
#include "node/mapping/mapping.h"
#include "node/migration/migration.h"
#include "node/records/records.h"

/* ---- hearing ------------------------------------------------------------------------------------------- */

/* What becomes of an edge that the owner of one end has changed, at the other end. */
enum heard {
    HEARD_DONE,    /* its record says the same, and is with the backup */
    HEARD_CHANGED, /* it does now; the answer waits for the backup */
    HEARD_AGAIN,   /* it said so already, and the backup has yet to get it */
    HEARD_GONE,    /* that vertex was removed, or has no room: there is no such edge */
    HEARD_LATER,   /* not now: the sender asks again */
    HEARD_MOVED,   /* another host has that vertex */
    HEARD_UNKNOWN, /* who has it is not known here */
};

/* What an edge is to be here when its other end says `weight`. Of two ends that change it at the same time
 * the one that takes it away is right, else the one with the lower id. Whoever is right, what is left to tell
 * here is told until the other end has answered: what it says may have been on its way for long, and what it
 * said after that, before it heard of the change here, is yet to come. */
static uint32_t
agree(struct lbm_vertex *own, const struct edge_answer *edge, uint32_t present)
{
    uint32_t at = lbm_application_edge_news(own, edge->vertex);
    if (at == LBM_NONE)
        return edge->weight;
    int is_theirs = edge->weight == 0 || (own->news[at].weight != 0 && edge->vertex < edge->toward);
    if (!is_theirs || LBM_BUG(EDGES_BOTH_RIGHT))
        return present;
    own->news[at].weight = edge->weight;
    return edge->weight;
}

static enum heard
hear(struct lbm_node *node, struct job *job, uint32_t from, const struct edge_answer *edge, uint64_t epoch)
{
    struct lbm_vertex *own = lbm_records_of(job, edge->toward);
    const struct lbm_ghost *ghost = lbm_shard_ghost(&job->shard, edge->vertex);
    if (own == NULL || own->stage == LBM_STAGE_REF)
        return HEARD_UNKNOWN;
    if (own->stage == LBM_STAGE_MOV && own->peer == LBM_NONE)
        return lbm_records_is_acked(node, own) ? HEARD_GONE : HEARD_LATER;
    if (own->stage == LBM_STAGE_MOV)
        return lbm_records_moved_to(node, own) != LBM_NONE ? HEARD_MOVED : HEARD_UNKNOWN;
    /* The vertex is another host's by now. */
    int is_stale = from != node->host && ghost != NULL && ghost->epoch > epoch;
    if (own->stage == LBM_STAGE_OUT || lbm_records_is_undecided(node, own) || is_stale)
        return HEARD_LATER;
    uint32_t at = lbm_application_edge_find(own, edge->vertex);
    uint32_t present = at != LBM_NONE ? own->half[at].weight : 0, weight = agree(own, edge, present);
    if (weight != 0 && at == LBM_NONE && own->degree == LBM_DEGREE_MAX)
        return HEARD_GONE; /* it has as many as it may */
    if (weight != present && lbm_application_edge_set(job, own, edge->vertex, weight, from) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return HEARD_LATER;
    }
    if (weight != present) {
        lbm_records_content(node, job, own);
        lbm_migration_throttle_look_again(node, job);
    }
    if (lbm_records_is_acked(node, own) || LBM_BUG(EDGES_HEARD_UNACKED))
        return HEARD_DONE;
    return weight != present ? HEARD_CHANGED : HEARD_AGAIN;
}

static int
goes_with(const struct edge_answer *a, const struct edge_answer *b)
{
    return a->job == b->job && a->to == b->to;
}

/* The backup gets what the record says now, and then whoever told this hears so. Edges are told again and
 * again while the backup is unreachable: the answer waits but once. */
static enum lbm_err
answer_once_acked(struct lbm_node *node, const struct edge_answer *edge, enum heard heard)
{
    for (size_t i = 0; heard == HEARD_AGAIN && i < node->edge_answers.n; i++) {
        struct edge_answer *waiting = &node->edge_answers.at[i];
        if (waiting->vertex != edge->vertex || waiting->toward != edge->toward || !goes_with(waiting, edge))
            continue;
        if (waiting->stamp != edge->stamp || waiting->weight != edge->weight)
            *waiting = *edge;
        return LBM_OK;
    }
    return lbm_vec_push(&node->edge_answers, *edge);
}

void
lbm_application_edge_heard_here(struct lbm_node *node, struct job *job, const struct edge_answer *told,
                                uint64_t epoch)
{
    struct edge_answer edge = *told;
    enum heard heard = hear(node, job, node->host, &edge, epoch);
    edge.gone = heard == HEARD_GONE;
    if (heard == HEARD_DONE || heard == HEARD_GONE)
        lbm_application_edge_done(node, job, &edge);
    else if ((heard == HEARD_CHANGED || heard == HEARD_AGAIN) &&
             answer_once_acked(node, &edge, heard) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

static void
send_done(struct lbm_node *node, uint32_t to, const struct edge_answer *list, size_t n)
{
    Lbm__EdgesDone edges = LBM__EDGES_DONE__INIT;
    LBM_VEC(uint32_t) vertex = {0}, toward = {0}, weight = {0}, gone = {0};
    LBM_VEC(uint64_t) stamp = {0};
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; i < n; i++) {
        err |= lbm_vec_push(&vertex, list[i].vertex);
        err |= lbm_vec_push(&toward, list[i].toward);
        err |= lbm_vec_push(&weight, list[i].weight);
        err |= lbm_vec_push(&gone, list[i].gone);
        err |= lbm_vec_push(&stamp, list[i].stamp);
    }
    edges.job = n != 0 ? list->job : 0;
    edges.n_vertex = edges.n_toward = edges.n_weight = edges.n_gone = edges.n_stamp = n;
    edges.vertex = vertex.at;
    edges.toward = toward.at;
    edges.weight = weight.at;
    edges.gone = gone.at;
    edges.stamp = stamp.at;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_EDGES_DONE;
    message.edges_done = &edges;
    if (err != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    if (n != 0 && node->failed == LBM_OK)
        lbm_core_send(node, to, &message);
    lbm_vec_free(&vertex);
    lbm_vec_free(&toward);
    lbm_vec_free(&weight);
    lbm_vec_free(&gone);
    lbm_vec_free(&stamp);
}

void
lbm_application_on_edges(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Edges *edges = message->edges;
    struct job *job = lbm_local_job(node, edges->job);
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, edges->job);
    LBM_VEC(struct edge_answer) known = {0};
    LBM_VEC(uint32_t) moved = {0}, host = {0};
    LBM_VEC(uint64_t) epoch = {0};
    enum lbm_err err = LBM_OK;
    if (job == NULL || entry == NULL || node->view.index < message->view)
        return; /* it comes again */
    for (size_t i = 0; i < edges->n_vertex && node->failed == LBM_OK; i++) {
        struct edge_answer edge = {.job = job->id,
                                   .stamp = edges->stamp[i],
                                   .to = message->src,
                                   .vertex = edges->vertex[i],
                                   .toward = edges->toward[i],
                                   .weight = edges->weight[i]};
        if (edge.vertex >= entry->ids || edge.toward >= entry->ids || edge.vertex == edge.toward)
            continue;
        enum heard heard = hear(node, job, message->src, &edge, edges->epoch[i]);
        const struct lbm_vertex *own = lbm_records_of(job, edge.toward);
        edge.gone = heard == HEARD_GONE;
        if (heard == HEARD_DONE || heard == HEARD_GONE) {
            err |= lbm_vec_push(&known, edge);
        } else if (heard == HEARD_CHANGED || heard == HEARD_AGAIN) {
            err |= answer_once_acked(node, &edge, heard);
        } else if (heard != HEARD_LATER) {
            err |= lbm_vec_push(&moved, edge.toward);
            err |= lbm_vec_push(&epoch, heard == HEARD_MOVED ? own->epoch + 1 : 0);
            err |= lbm_vec_push(&host, heard == HEARD_MOVED ? lbm_records_moved_to(node, own) : LBM_NONE);
        }
    }
    if (err != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
    send_done(node, message->src, known.at, known.n);
    if (moved.n != 0 && node->failed == LBM_OK)
        lbm_mapping_ghosts_tell_moved(node, job->id, message->src, moved.n, moved.at, epoch.at, host.at);
    lbm_vec_free(&known);
    lbm_vec_free(&moved);
    lbm_vec_free(&host);
    lbm_vec_free(&epoch);
}

/* ---- the end ------------------------------------------------------------------------------------------- */

void
lbm_application_edge_done(struct lbm_node *node, struct job *job, const struct edge_answer *answer)
{
    struct lbm_vertex *vertex = lbm_records_of(job, answer->vertex);
    if (vertex == NULL || lbm_records_is_undecided(node, vertex))
        return;
    uint32_t at = lbm_application_edge_news(vertex, answer->toward);
    if (at == LBM_NONE)
        return;
    int is_of_this = vertex->news_stamp == answer->stamp && vertex->news[at].weight == answer->weight;
    if (!is_of_this && !LBM_BUG(EDGES_OF_OLDER_CHANGE))
        return;
    lbm_application_edge_agreed(vertex, answer->toward);
    if (answer->gone && answer->weight != 0 && vertex->stage == LBM_STAGE_OWN &&
        lbm_application_edge_find(vertex, answer->toward) != LBM_NONE) {
        if (lbm_application_edge_set(job, vertex, answer->toward, 0, LBM_NONE) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
        else
            lbm_records_content(node, job, vertex);
    } else if (vertex->n_news == 0) {
        lbm_records_news(node, job, vertex);
    }
}

void
lbm_application_on_edges_done(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__EdgesDone *edges = message->edges_done;
    struct job *job = lbm_local_job(node, edges->job);
    for (size_t i = 0; job != NULL && i < edges->n_vertex && node->failed == LBM_OK; i++) {
        const struct edge_answer answer = {.job = job->id,
                                           .stamp = edges->stamp[i],
                                           .vertex = edges->vertex[i],
                                           .toward = edges->toward[i],
                                           .weight = edges->weight[i],
                                           .gone = edges->gone[i]};
        lbm_application_edge_done(node, job, &answer);
    }
}

/* The backup has what the record says of that edge: it has the record as it is. That it acknowledges the
 * change of then does not say so, since it gets none that a later one has overtaken; in between it has an
 * older record. */
static int
is_with_backup(const struct lbm_node *node, const struct edge_answer *answer)
{
    const struct job *job = lbm_local_job(node, answer->job);
    const struct lbm_vertex *own = job != NULL ? lbm_records_of(job, answer->toward) : NULL;
    return own == NULL || lbm_records_is_acked(node, own); /* NULL: it has gone on, or its job is no more */
}

/* What the backup has by now is told, in messages by whom and what job it is about. */
void
lbm_application_edges_acked(struct lbm_node *node)
{
    LBM_VEC(struct edge_answer) batch = {0};
    for (size_t first = 0; first < node->edge_answers.n && node->failed == LBM_OK;) {
        const struct edge_answer next = node->edge_answers.at[first];
        if (!is_with_backup(node, &next)) {
            first++;
            continue;
        }
        size_t kept = first;
        batch.n = 0;
        for (size_t i = first; i < node->edge_answers.n; i++) {
            const struct edge_answer answer = node->edge_answers.at[i];
            if (batch.n == EDGES_TOLD_MAX || !goes_with(&answer, &next) || !is_with_backup(node, &answer))
                node->edge_answers.at[kept++] = answer;
            else if (lbm_vec_push(&batch, answer) != LBM_OK)
                lbm_core_fail(node, LBM_E_NOMEM);
        }
        node->edge_answers.n = kept;
        struct job *job = lbm_local_job(node, next.job);
        if (next.to != node->host)
            send_done(node, next.to, batch.at, batch.n);
        for (size_t i = 0; job != NULL && next.to == node->host && i < batch.n; i++)
            lbm_application_edge_done(node, job, &batch.at[i]);
    }
    lbm_vec_free(&batch);
}
