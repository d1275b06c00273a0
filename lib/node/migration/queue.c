/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vertices whose target is another host, listed by target: a host that gives a large
 * guest away to many has room for more with every answer, and must not look at all its vertices each time. */
#include <stdlib.h>

#include "node/core/core.h"
#include "node/migration/internal.h"
#include "node/migration/migration.h"

enum { REQUEST_BYTES_MAX = 16 * LBM_BATCH_BYTES_MAX /* of payloads in flight to one host */ };

static int
is_target(const struct lbm_node *node, const struct lbm_vertex *vertex)
{
    return vertex->stage == LBM_STAGE_OWN && vertex->destination != LBM_NONE &&
           vertex->destination != node->host;
}

static struct destination_queue *
list_of(struct migration_queue *w, uint32_t host)
{
    size_t from = 0, to = w->lists.n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (w->lists.at[middle].host < host)
            from = middle + 1;
        else
            to = middle;
    }
    return from < w->lists.n && w->lists.at[from].host == host ? &w->lists.at[from] : NULL;
}

/* One list for each host that is the target of a vertex, by host id. In: count [n_ids] of targets. */
static enum lbm_err
make_lists(struct migration_queue *w, const uint32_t *count, uint32_t n_ids)
{
    uint32_t first = 0;
    enum lbm_err err = LBM_OK;
    w->lists.n = 0;
    for (uint32_t host = 0; host < n_ids && err == LBM_OK; host++) {
        struct destination_queue list = {.host = host, .first = first};
        if (count[host] != 0)
            err = lbm_vec_push(&w->lists, list);
        first += count[host];
    }
    w->slots.n = 0;
    return err == LBM_OK ? lbm_vec_reserve(&w->slots, first) : err;
}

/* One more is in progress to the host of the list. */
static void
goes_out(struct destination_queue *list, const struct lbm_vertex *vertex)
{
    list->in_flight++;
    list->bytes += vertex->payload_len;
}

/* Payloads may change on the way out: what is counted wrong does not stop the last one. */
static int
has_room(const struct destination_queue *list, uint32_t window)
{
    return list->in_flight == 0 || (list->in_flight < window && list->bytes < REQUEST_BYTES_MAX);
}

static void
list_targets(struct lbm_node *node, struct job *job)
{
    struct migration_queue *w = &job->queue;
    uint32_t n_ids = (uint32_t)node->view.place.n, *count = lbm_alloc(n_ids, sizeof *count);
    enum lbm_err err = count == NULL ? LBM_E_NOMEM : LBM_OK;
    for (size_t i = 0; i < job->shard.vertices.n && err == LBM_OK; i++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[i];
        if (is_target(node, vertex) && vertex->destination < n_ids)
            count[vertex->destination]++;
    }
    if (err == LBM_OK)
        err = make_lists(w, count, n_ids);
    for (size_t i = 0; i < job->shard.vertices.n && err == LBM_OK; i++) {
        const struct lbm_vertex *vertex = &job->shard.vertices.at[i];
        struct destination_queue *list = is_target(node, vertex) ? list_of(w, vertex->destination) : NULL;
        if (list != NULL)
            w->slots.at[list->first + list->n++] = (uint32_t)i;
        if (list != NULL && vertex->move_to == list->host)
            goes_out(list, vertex); /* its application is to let go of it */
    }
    for (size_t i = 0; i < job->out.n && err == LBM_OK; i++) {
        const struct lbm_vertex *vertex = &job->shard.vertices.at[job->out.at[i]];
        struct destination_queue *list = vertex->stage == LBM_STAGE_OUT ? list_of(w, vertex->peer) : NULL;
        if (list != NULL)
            goes_out(list, vertex);
    }
    free(count);
    w->are_listed = err == LBM_OK;
    if (err != LBM_OK)
        lbm_core_fail(node, err);
}

void
lbm_migration_queue_answered(struct job *job, const struct lbm_vertex *vertex)
{
    struct destination_queue *list = list_of(&job->queue, vertex->peer);
    if (list == NULL || list->in_flight == 0)
        return;
    list->in_flight--;
    list->bytes -= list->bytes < vertex->payload_len ? list->bytes : vertex->payload_len;
}

/* Nobody waits for a host that takes nothing any more. */
static void
give_up(struct job *job, struct destination_queue *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[job->queue.slots.at[list->first + i]];
        if (vertex->destination == list->host)
            vertex->destination = LBM_NONE;
    }
    list->n = 0;
}

/* Vertices that may not go now stay on the list and are passed over, each once: what they wait for does not
 * come meanwhile. Those that went, or target otherwise by now, are taken off. */
static void
pump_list(struct lbm_node *node, struct job *job, struct destination_queue *list, uint32_t window,
          uint32_t *room)
{
    uint32_t *slot = &job->queue.slots.at[list->first];
    for (uint32_t tries = list->n < 2 * window ? list->n : 2 * window;
         tries > 0 && list->n != 0 && has_room(list, window) && *room != 0 && node->failed == LBM_OK;
         tries--) {
        list->at = list->at < list->n ? list->at : 0;
        struct lbm_vertex *vertex = &job->shard.vertices.at[slot[list->at]];
        int is_here = is_target(node, vertex) && vertex->destination == list->host;
        const struct why why =
            is_here ? lbm_migration_move_reason(node, job, vertex, list->host) : (struct why){0};
        if (is_here && !lbm_migration_begin(node, job, vertex, list->host, &why)) {
            list->at++;
            continue;
        }
        if (is_here)
            goes_out(list, vertex);
        *room -= is_here && *room != UINT32_MAX;
        slot[list->at] = slot[--list->n];
    }
}

uint32_t
lbm_migration_queue_pump(struct lbm_node *node, struct job *job)
{
    struct migration_queue *w = &job->queue;
    uint32_t room = lbm_migration_throttle_budget(node, job);
    uint64_t waiting = 0;
    if (!w->are_listed)
        list_targets(node, job);
    const uint32_t window = lbm_migration_transfer_window(node, job);
    for (size_t i = 0; i < w->lists.n && node->failed == LBM_OK; i++) {
        struct destination_queue *list = &w->lists.at[i];
        const struct lbm_member *member = lbm_view_member(&node->view, list->host);
        if (node->caught_up &&
            (member == NULL || member->state != LBM_MEMBER_ACTIVE || member->maintenance_us != 0))
            give_up(job, list);
        else if (member != NULL)
            pump_list(node, job, list, window, &room);
        waiting += list->n;
    }
    return waiting < UINT32_MAX ? (uint32_t)waiting : UINT32_MAX;
}

void
lbm_migration_queue_free(struct migration_queue *w)
{
    lbm_vec_free(&w->lists);
    lbm_vec_free(&w->slots);
}
