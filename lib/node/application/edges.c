/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Edges that applications change (docs/adr/0009). An edge is in the records of both its ends. Who changes it
 * at one end keeps with that record what the owner of the other end has yet to hear, and tells it, once its
 * own backup has the record, until it hears that the other record says so too and is with the backup there.
 * Meanwhile the vertex stays where it is. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "node/application/application.h"
#include "node/application/guest.h"
#include "node/core/core.h"
#include "node/local/local.h"
#include "node/mapping/mapping.h"
#include "node/membership/membership.h"
#include "node/migration/migration.h"
#include "node/records/records.h"

/* ---- records ------------------------------------------------------------------------------------------- */

static uint32_t
find(const struct lbm_half *half, uint32_t n, uint32_t to)
{
    uint32_t i = 0;
    while (i < n && half[i].to != to)
        i++;
    return i < n ? i : LBM_NONE;
}

uint32_t
lbm_application_edge_find(const struct lbm_vertex *vertex, uint32_t to)
{
    return find(vertex->half, vertex->degree, to);
}

enum lbm_err
lbm_application_edge_set(struct job *job, struct lbm_vertex *vertex, uint32_t to, uint32_t weight,
                         uint32_t host)
{
    uint32_t at = lbm_application_edge_find(vertex, to), degree = vertex->degree, kept = 0;
    if (at == LBM_NONE && weight == 0)
        return LBM_OK;
    struct lbm_half *half = lbm_alloc((size_t)degree + 1, sizeof *half);
    if (half == NULL)
        return LBM_E_NOMEM;
    for (uint32_t i = 0; i < degree; i++) {
        half[kept] = vertex->half[i];
        half[kept].weight = i == at ? weight : half[kept].weight;
        kept += i != at || weight != 0;
    }
    if (at == LBM_NONE)
        half[kept++] = (struct lbm_half){to, weight, host};
    lbm_shard_set_neighbours(&job->shard, vertex, half, kept);
    return lbm_application_neighbours_changed(job, vertex);
}

static void
forget_news(struct lbm_vertex *vertex, uint32_t at)
{
    vertex->n_news--;
    memmove(&vertex->news[at], &vertex->news[at + 1], (vertex->n_news - at) * sizeof *vertex->news);
    if (vertex->n_news != 0)
        return;
    free(vertex->news);
    vertex->news = NULL;
}

void
lbm_application_edge_agreed(struct lbm_vertex *vertex, uint32_t to)
{
    uint32_t at = find(vertex->news, vertex->n_news, to);
    if (at != LBM_NONE)
        forget_news(vertex, at);
}

enum lbm_err
lbm_application_edge_note(struct lbm_vertex *vertex, uint32_t to, uint32_t weight, uint32_t host)
{
    uint32_t at = find(vertex->news, vertex->n_news, to);
    if (at == LBM_NONE) {
        struct lbm_half *news = lbm_alloc((size_t)vertex->n_news + 1, sizeof *news);
        if (news == NULL)
            return LBM_E_NOMEM;
        if (vertex->n_news != 0)
            memcpy(news, vertex->news, vertex->n_news * sizeof *news);
        free(vertex->news);
        vertex->news = news;
        at = vertex->n_news++;
    }
    vertex->news[at] = (struct lbm_half){to, weight, host};
    return LBM_OK;
}

/* Rows of one message about edges, or of its answer. */
enum { TOLD_MAX = LBM_ROWS_MAX / 8 };

/* ---- telling ------------------------------------------------------------------------------------------- */

/* What one host is to hear. */
struct told {
    uint32_t host;
    LBM_VEC(uint32_t) vertex, toward, weight;
    LBM_VEC(uint64_t) epoch, stamp;
};

typedef LBM_VEC(struct told) told_list;

static struct told *
told_for(struct lbm_node *node, told_list *list, uint32_t host)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->at[i].host == host)
            return &list->at[i];
    struct told told = {.host = host};
    if (lbm_vec_push(list, told) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return NULL;
    }
    return &list->at[list->n - 1];
}

static void
send_told(struct lbm_node *node, const struct job *job, struct told *told)
{
    Lbm__Edges edges = LBM__EDGES__INIT;
    edges.job = job->id;
    edges.n_vertex = edges.n_toward = edges.n_weight = edges.n_epoch = edges.n_stamp = told->vertex.n;
    edges.vertex = told->vertex.at;
    edges.toward = told->toward.at;
    edges.weight = told->weight.at;
    edges.epoch = told->epoch.at;
    edges.stamp = told->stamp.at;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_EDGES;
    message.edges = &edges;
    if (told->vertex.n != 0 && node->failed == LBM_OK)
        lbm_core_send(node, told->host, &message);
    told->vertex.n = told->toward.n = told->weight.n = told->epoch.n = told->stamp.n = 0;
}

static void
told_free(told_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        lbm_vec_free(&list->at[i].vertex);
        lbm_vec_free(&list->at[i].toward);
        lbm_vec_free(&list->at[i].weight);
        lbm_vec_free(&list->at[i].epoch);
        lbm_vec_free(&list->at[i].stamp);
    }
    lbm_vec_free(list);
}

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

static enum heard hear(struct lbm_node *node, struct job *job, uint32_t from, const struct edge_answer *edge,
                       uint64_t epoch);
static void done(struct lbm_node *node, struct job *job, const struct edge_answer *answer);

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

/* The other end is here as well. */
static void
tell_self(struct lbm_node *node, struct job *job, const struct lbm_vertex *vertex,
          const struct lbm_half *news)
{
    struct edge_answer edge = {.job = job->id,
                               .stamp = vertex->news_stamp,
                               .to = node->host,
                               .vertex = vertex->id,
                               .toward = news->to,
                               .weight = news->weight};
    enum heard heard = hear(node, job, node->host, &edge, vertex->epoch);
    edge.gone = heard == HEARD_GONE;
    if (heard == HEARD_DONE || heard == HEARD_GONE) {
        done(node, job, &edge);
    } else if ((heard == HEARD_CHANGED || heard == HEARD_AGAIN) &&
               answer_once_acked(node, &edge, heard) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
    }
}

/* Nobody is away who could own a vertex, or inherit it. */
static int
everybody_is_heard(const struct lbm_node *node)
{
    for (size_t i = 0; i < node->view.departed.n; i++)
        if (node->view.departed.at[i].evicted && !node->view.departed.at[i].taken_over)
            return 0;
    for (size_t i = 0; i < node->view.members.n; i++) {
        const struct lbm_member *member = &node->view.members.at[i];
        if (lbm_view_participates(member) && lbm_membership_is_overdue(node, member))
            return 0;
    }
    return lbm_local_takeovers_done(node);
}

/* Everybody was asked again and again: the other end was removed long ago. */
static void
give_up(struct lbm_node *node, struct job *job, const struct lbm_vertex *vertex, const struct lbm_half *news)
{
    const struct edge_answer answer = {.stamp = vertex->news_stamp,
                                       .vertex = vertex->id,
                                       .toward = news->to,
                                       .weight = news->weight,
                                       .gone = 1};
    lbm_core_note(node, LBM_NOTE_WARNING, "nobody owns vertex %" PRIu32 ": it has no edge to vertex %" PRIu32,
                  news->to, vertex->id);
    done(node, job, &answer);
}

/* Who is to hear of a changed edge; LBM_NONE: not known. What was heard of the vertex on that account is
 * newer than what ghosts say. */
static uint32_t
listener(const struct lbm_node *node, const struct job *job, const struct lbm_half *news)
{
    const struct lbm_vertex *own = lbm_records_of(job, news->to);
    int was_removed = own != NULL && own->stage == LBM_STAGE_MOV && own->peer == LBM_NONE;
    if (own != NULL && (own->stage == LBM_STAGE_OWN || own->stage == LBM_STAGE_OUT || was_removed))
        return node->host;
    const struct lbm_member *member = lbm_view_member(&node->view, news->host);
    if (member == NULL || member->host == node->host || !lbm_view_participates(member))
        return LBM_NONE;
    return member->host;
}

static void
tell_row(struct lbm_node *node, const struct job *job, told_list *list, uint32_t host,
         const struct lbm_vertex *vertex, const struct lbm_half *news)
{
    struct told *told = told_for(node, list, host);
    if (told == NULL)
        return;
    if (told->vertex.n == TOLD_MAX)
        send_told(node, job, told);
    enum lbm_err err = lbm_vec_push(&told->vertex, vertex->id);
    err |= lbm_vec_push(&told->toward, news->to);
    err |= lbm_vec_push(&told->weight, news->weight);
    err |= lbm_vec_push(&told->epoch, vertex->epoch);
    err |= lbm_vec_push(&told->stamp, vertex->news_stamp);
    if (err != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

/* Of the vertices that are told of at once. */
struct telling {
    told_list list;            /* to hosts */
    LBM_VEC(uint32_t) lost;    /* everybody is asked for them */
    int is_asked_of_everybody; /* and nobody is away */
};

/* Everybody is asked for all that is left to tell of this vertex. While somebody is to be told some of it,
 * that counts again: who does not answer may be gone the next moment, and its successor was not asked yet.
 * When somebody is away it does not count, but what was asked before still does: where pings are lost,
 * somebody of many is missed every few seconds. */
static void
count_asked(const struct lbm_node *node, const struct job *job, struct lbm_vertex *vertex,
            const struct telling *telling)
{
    for (uint32_t i = 0; i < vertex->n_news; i++)
        if (listener(node, job, &vertex->news[i]) != LBM_NONE) {
            vertex->news_asked = 0;
            return;
        }
    vertex->news_asked += telling->is_asked_of_everybody;
}

/* All that is to be told of one vertex. */
static void
tell_vertex(struct lbm_node *node, struct job *job, uint32_t slot, struct telling *telling)
{
    struct lbm_vertex *vertex = &job->shard.vertices.at[slot];
    uint32_t id = vertex->id;
    vertex->news_us = node->now_us;
    vertex->news_told += vertex->news_told < UINT8_MAX;
    count_asked(node, job, vertex, telling);
    for (uint32_t i = vertex->n_news; i-- > 0;) {
        struct lbm_half news = vertex->news[i];
        uint32_t host = listener(node, job, &news);
        if (host == node->host)
            tell_self(node, job, vertex, &news);
        else if (host != LBM_NONE)
            tell_row(node, job, &telling->list, host, vertex, &news);
        else if (vertex->news_asked > EDGES_ASKED_MAX || LBM_BUG(EDGES_GIVEN_UP))
            give_up(node, job, vertex, &news);
        else if (lbm_vec_push(&telling->lost, news.to) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
        vertex = lbm_records_of(job, id);
        if (vertex == NULL || i > vertex->n_news)
            return; /* some of it is settled already: the rest at the next look */
    }
}

/* When it is told (again). The owner of the other end may have changes of its own on their way to its backup,
 * or nobody could be asked yet who that is: both are over soon. */
static int64_t
tell_at(const struct lbm_vertex *vertex)
{
    if (vertex->news_us == 0)
        return 0;
    if (LBM_BUG(EDGES_TOLD_ONCE))
        return INT64_MAX;
    int64_t wait_us = EDGES_AGAIN_US;
    for (unsigned i = 1; i < vertex->news_told && wait_us < EDGES_RETRY_US; i++)
        wait_us *= 2;
    return vertex->news_us + (wait_us < EDGES_RETRY_US ? wait_us : EDGES_RETRY_US);
}

static int
is_to_tell(const struct lbm_node *node, const struct lbm_vertex *vertex)
{
    return node->now_us >= tell_at(vertex) &&
           (lbm_records_is_acked(node, vertex) || LBM_BUG(EDGES_TOLD_UNACKED));
}

void
lbm_application_edges_timer(struct lbm_node *node, struct job *job)
{
    if (node->now_us < job->news_us || node->starting)
        return;
    struct telling telling = {0};
    telling.is_asked_of_everybody = node->now_us >= job->where_us && everybody_is_heard(node);
    size_t kept = 0, n = job->news.n;
    int64_t next_us = node->now_us + EDGES_RETRY_US;
    job->news_us = INT64_MAX;
    for (size_t i = 0; i < n && node->failed == LBM_OK; i++) {
        uint32_t slot = job->news.at[i];
        if (job->shard.vertices.at[slot].n_news != 0 && is_to_tell(node, &job->shard.vertices.at[slot]))
            tell_vertex(node, job, slot, &telling);
        if (job->shard.vertices.at[slot].n_news == 0) {
            job->shard.vertices.at[slot].news_listed = 0;
            continue;
        }
        int64_t when = tell_at(&job->shard.vertices.at[slot]);
        next_us = when > node->now_us && when < next_us ? when : next_us;
        job->news.at[kept++] = slot;
    }
    for (size_t i = n; i < job->news.n; i++) /* meanwhile */
        job->news.at[kept++] = job->news.at[i];
    job->news.n = kept;
    if (kept != 0 && job->news_us == INT64_MAX)
        job->news_us = next_us;
    for (size_t i = 0; i < telling.list.n; i++)
        send_told(node, job, &telling.list.at[i]);
    lbm_mapping_ghosts_ask(node, job, telling.lost.n, telling.lost.at);
    lbm_vec_free(&telling.lost);
    told_free(&telling.list);
}

int64_t
lbm_application_edges_deadline(const struct job *job)
{
    return job->news_us;
}

void
lbm_application_edges_learn(struct job *job, uint32_t id, uint32_t host, uint32_t from)
{
    for (size_t i = 0; i < job->news.n; i++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[job->news.at[i]];
        uint32_t at = find(vertex->news, vertex->n_news, id);
        if (at == LBM_NONE || (host == LBM_NONE && vertex->news[at].host != from))
            continue;
        if (vertex->news[at].host == host)
            continue; /* nothing new, so no reason to tell it at once: two hosts could go on so for ever */
        vertex->news[at].host = host;
        vertex->news_asked = 0;
        vertex->news_told = 0;
        vertex->news_us = 0;
        job->news_us = 0;
    }
}

/* ---- hearing ------------------------------------------------------------------------------------------- */

/* What an edge is to be here when its other end says `weight`. Of two ends that change it at the same time
 * the one that takes it away is right, else the one with the lower id. Whoever is right, what is left to tell
 * here is told until the other end has answered: what it says may have been on its way for long, and what it
 * said after that, before it heard of the change here, is yet to come. */
static uint32_t
agree(struct lbm_vertex *own, const struct edge_answer *edge, uint32_t present)
{
    uint32_t at = find(own->news, own->n_news, edge->vertex);
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

/* The owner of the other end knows. What is stored of this record says more than is left to tell, until all
 * is told. */
static void
done(struct lbm_node *node, struct job *job, const struct edge_answer *answer)
{
    struct lbm_vertex *vertex = lbm_records_of(job, answer->vertex);
    if (vertex == NULL || lbm_records_is_undecided(node, vertex))
        return;
    uint32_t at = find(vertex->news, vertex->n_news, answer->toward);
    if (at == LBM_NONE)
        return;
    int is_of_this = vertex->news_stamp == answer->stamp && vertex->news[at].weight == answer->weight;
    if (!is_of_this && !LBM_BUG(EDGES_OF_OLDER_CHANGE))
        return;
    forget_news(vertex, at);
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
        done(node, job, &answer);
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
            if (batch.n == TOLD_MAX || !goes_with(&answer, &next) || !is_with_backup(node, &answer))
                node->edge_answers.at[kept++] = answer;
            else if (lbm_vec_push(&batch, answer) != LBM_OK)
                lbm_core_fail(node, LBM_E_NOMEM);
        }
        node->edge_answers.n = kept;
        struct job *job = lbm_local_job(node, next.job);
        if (next.to != node->host)
            send_done(node, next.to, batch.at, batch.n);
        for (size_t i = 0; job != NULL && next.to == node->host && i < batch.n; i++)
            done(node, job, &batch.at[i]);
    }
    lbm_vec_free(&batch);
}
