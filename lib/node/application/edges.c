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

uint32_t
lbm_application_edge_news(const struct lbm_vertex *vertex, uint32_t to)
{
    return find(vertex->news, vertex->n_news, to);
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
    uint32_t at = lbm_application_edge_news(vertex, to);
    if (at != LBM_NONE)
        forget_news(vertex, at);
}

enum lbm_err
lbm_application_edge_note(struct lbm_vertex *vertex, uint32_t to, uint32_t weight, uint32_t host)
{
    uint32_t at = lbm_application_edge_news(vertex, to);
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

/* The other end is here as well. */
static void
tell_self(struct lbm_node *node, struct job *job, const struct lbm_vertex *vertex,
          const struct lbm_half *news)
{
    const struct edge_answer edge = {.job = job->id,
                                     .stamp = vertex->news_stamp,
                                     .to = node->host,
                                     .vertex = vertex->id,
                                     .toward = news->to,
                                     .weight = news->weight};
    lbm_application_edge_heard_here(node, job, &edge, vertex->epoch);
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
    lbm_application_edge_done(node, job, &answer);
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
    if (told->vertex.n == EDGES_TOLD_MAX)
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
        uint32_t at = lbm_application_edge_news(vertex, id);
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
