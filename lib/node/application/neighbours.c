/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an application hears of the edges of its vertices, if it asked for that: all edges of a vertex when it
 * is given, and again whenever they have changed, whoever changed them. The last that was said is how it is:
 * nothing is to be merged. */
#include <stdlib.h>

#include "node/application/application.h"
#include "node/application/guest.h"
#include "node/core/core.h"

enum { MOVES_US = 100000 }; /* between looks at where neighbours are */

enum lbm_err
lbm_application_neighbours_changed(struct job *job, struct lbm_vertex *vertex)
{
    if (vertex->running == 0 || vertex->edges_due)
        return LBM_OK;
    vertex->edges_due = 1;
    return lbm_vec_push(&job->edges_due, (uint32_t)(vertex - job->shard.vertices.at));
}

/* Where the other end of an edge is: what the shard knows is newer than the record's hint. */
static uint32_t
where(const struct job *job, const struct lbm_half *half)
{
    uint32_t host = lbm_shard_where(&job->shard, half->to);
    return host != LBM_NONE ? host : half->host;
}

void
lbm_application_neighbours_add(struct lbm_node *node, struct neighbours *list, const struct job *job,
                               struct lbm_vertex *vertex)
{
    enum lbm_err err = lbm_vec_push(&list->vertex, vertex->id);
    err |= lbm_vec_push(&list->token, vertex->epoch);
    err |= lbm_vec_push(&list->degree, vertex->degree);
    for (uint32_t k = 0; k < vertex->degree; k++) {
        vertex->half[k].host = where(job, &vertex->half[k]);
        err |= lbm_vec_push(&list->neighbour, vertex->half[k].to);
        err |= lbm_vec_push(&list->weight, vertex->half[k].weight);
        err |= lbm_vec_push(&list->host, vertex->half[k].host);
    }
    if (err != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

size_t
lbm_application_neighbours_bytes(const struct neighbours *list)
{
    return 24 * list->vertex.n + 15 * list->neighbour.n;
}

Lbm__Neighbours
lbm_application_neighbours_message(const struct neighbours *list)
{
    Lbm__Neighbours message = LBM__NEIGHBOURS__INIT;
    message.n_vertex = message.n_token = message.n_degree = list->vertex.n;
    message.n_neighbour = message.n_weight = message.n_host = list->neighbour.n;
    message.vertex = list->vertex.at;
    message.token = list->token.at;
    message.degree = list->degree.at;
    message.neighbour = list->neighbour.at;
    message.weight = list->weight.at;
    message.host = list->host.at;
    return message;
}

void
lbm_application_neighbours_free(struct neighbours *list)
{
    lbm_vec_free(&list->vertex);
    lbm_vec_free(&list->token);
    lbm_vec_free(&list->degree);
    lbm_vec_free(&list->neighbour);
    lbm_vec_free(&list->weight);
    lbm_vec_free(&list->host);
}

/* Not before it is stored: what an application hears stands, or is said again by whoever has the vertex next.
 */
static void
send(struct lbm_node *node, const struct application *application, struct neighbours *list)
{
    Lbm__Neighbours neighbours = lbm_application_neighbours_message(list);
    Lbm__Response response = LBM__RESPONSE__INIT;
    response.what_case = LBM__RESPONSE__WHAT_NEIGHBOURS;
    response.neighbours = &neighbours;
    if (list->vertex.n != 0 && node->failed == LBM_OK)
        lbm_core_reply_stored(node, application->client, application->request, 0, &response);
    lbm_application_neighbours_free(list);
}

void
lbm_application_neighbours_timer(struct lbm_node *node, const struct application *application,
                                 struct job *job)
{
    struct neighbours list = {0};
    for (size_t i = 0; i < job->edges_due.n && node->failed == LBM_OK; i++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[job->edges_due.at[i]];
        int is_due = vertex->edges_due && vertex->running != 0 && application->wants_edges;
        vertex->edges_due = 0;
        if (is_due)
            lbm_application_neighbours_add(node, &list, job, vertex);
        if (lbm_application_neighbours_bytes(&list) > LBM_BATCH_BYTES_MAX)
            send(node, application, &list);
    }
    job->edges_due.n = 0;
    send(node, application, &list);
}

void
lbm_application_neighbours_moved(struct lbm_node *node, struct application *application, struct job *job)
{
    if (!application->wants_moves || application->moves == job->shard.version ||
        node->now_us < application->moves_us)
        return;
    application->moves = job->shard.version;
    application->moves_us = node->now_us + MOVES_US;
    for (size_t i = 0; i < job->shard.vertices.n; i++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[i];
        int has_moved = 0;
        for (uint32_t k = 0; k < vertex->degree && vertex->running != 0 && !has_moved; k++)
            has_moved = where(job, &vertex->half[k]) != vertex->half[k].host;
        if (has_moved && lbm_application_neighbours_changed(job, vertex) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
    }
}
