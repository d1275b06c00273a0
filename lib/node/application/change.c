/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An application changes the guest where it works on it (docs/adr/0009): vertices that it holds split, go,
 * get or lose edges. A change is looked at as a whole first; then it is carried out, stored, and sent to the
 * backup as a whole. Only the owner of a vertex changes it: what another host owns changes there when that
 * host hears of the edge (edges_heard.c). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "node/application/application.h"
#include "node/application/guest.h"
#include "node/core/core.h"
#include "node/exchange/exchange.h"
#include "node/local/local.h"
#include "node/migration/migration.h"
#include "node/records/record_batch.h"
#include "node/records/records.h"

/* What is stored of a change takes so much of a message, at most. */
enum { RECORD_BYTES = 96, HALF_BYTES = 16, EDGE_BYTES = 64 /* at both ends, and in their news */ };

struct plan {
    struct lbm_node *node;
    struct job *job;
    uint64_t client, request;
    const Lbm__ChangeRequest *change;
    size_t *payload_at;       /* [vertices of the change] */
    struct lbm_idmap row;     /* vertex: its place in the change */
    LBM_VEC(uint32_t) slots;  /* of the records that it has touched */
    struct lbm_idmap touched; /* vertices that it will touch, and has not yet */
    size_t bytes;
};

/* ---- what must hold ------------------------------------------------------------------------------------ */

/* What every check returns then: 0. */
#define REFUSE(plan, code, ...)                                                                              \
    (lbm_core_reply_error((plan)->node, (plan)->client, (plan)->request, code, __VA_ARGS__), 0)

static int
check_old(struct plan *plan, size_t i)
{
    const Lbm__ChangeRequest *c = plan->change;
    const struct lbm_vertex *vertex = lbm_records_of(plan->job, c->vertex[i]);
    if (vertex == NULL || vertex->running != c->token[i])
        return REFUSE(plan, LBM_E_STATE, "vertex %" PRIu32 " is not this application's any more",
                      c->vertex[i]);
    if (vertex->move_to != LBM_NONE)
        return REFUSE(plan, LBM_E_BUSY, "vertex %" PRIu32 " is asked for by another host: release it first",
                      vertex->id);
    if (lbm_records_is_undecided(plan->node, vertex) || (c->removed[i] && !vertex->fin))
        return REFUSE(plan, LBM_E_BUSY, "vertex %" PRIu32 " has just come, or changed: try again",
                      vertex->id);
    return 1;
}

static int
check_new(struct plan *plan, size_t i)
{
    const Lbm__ChangeRequest *c = plan->change;
    const struct lbm_vertex *near = lbm_records_of(plan->job, c->near[i]);
    if (lbm_idmap_get(&plan->job->new_ids, c->vertex[i]) == LBM_NONE)
        return REFUSE(plan, LBM_E_RANGE,
                      "vertex %" PRIu32 " cannot be added: its id was not given for that, or is used",
                      c->vertex[i]);
    if (near == NULL || near->running == 0)
        return REFUSE(plan, LBM_E_STATE,
                      "vertex %" PRIu32 ", where a new one begins, is not this application's", c->near[i]);
    if (c->removed[i] || c->work[i] == 0)
        return REFUSE(plan, LBM_E_RANGE, "vertex %" PRIu32 " is new: it needs a work of 1 or more",
                      c->vertex[i]);
    return 1;
}

static int
check_vertices(struct plan *plan)
{
    const Lbm__ChangeRequest *c = plan->change;
    if (!lbm_records_payload_fits(c->n_payload_len, c->payload_len, &c->payload))
        return REFUSE(plan, LBM_E_RANGE, "the payloads do not have the lengths that are told");
    size_t at = 0;
    for (size_t i = 0; i < c->n_vertex; i++) {
        plan->payload_at[i] = at;
        at += c->payload_len[i];
        if (lbm_idmap_get(&plan->row, c->vertex[i]) != LBM_NONE)
            return REFUSE(plan, LBM_E_RANGE, "vertex %" PRIu32 " is named twice", c->vertex[i]);
        if (lbm_idmap_put(&plan->row, c->vertex[i], (uint32_t)i) != LBM_OK) {
            lbm_core_fail(plan->node, LBM_E_NOMEM);
            return 0;
        }
        if (!(c->token[i] != 0 ? check_old(plan, i) : check_new(plan, i)))
            return 0;
    }
    return 1;
}

static int
is_removed(const struct plan *plan, uint32_t vertex)
{
    uint32_t row = lbm_idmap_get(&plan->row, vertex);
    return row != LBM_NONE && plan->change->removed[row];
}

static int
check_edges(struct plan *plan)
{
    const Lbm__ChangeRequest *c = plan->change;
    const struct lbm_job_entry *entry = lbm_view_job(&plan->node->view, plan->job->id);
    for (size_t i = 0; i < c->n_end; i++) {
        int is_new = lbm_idmap_get(&plan->row, c->other[i]) == LBM_NONE &&
                     lbm_idmap_get(&plan->job->new_ids, c->other[i]) != LBM_NONE;
        if (lbm_idmap_get(&plan->row, c->end[i]) == LBM_NONE || c->end[i] == c->other[i])
            return REFUSE(plan, LBM_E_RANGE,
                          "edge %zu, of vertices %" PRIu32 " and %" PRIu32
                          ": the first must be one that changes, the second another one",
                          i, c->end[i], c->other[i]);
        if (is_new || c->other[i] >= entry->ids || (is_removed(plan, c->other[i]) && c->weight[i] != 0) ||
            (is_removed(plan, c->end[i]) && c->weight[i] != 0))
            return REFUSE(plan, LBM_E_RANGE,
                          "edge %zu leads to vertex %" PRIu32 " or %" PRIu32 ", which is not there then", i,
                          c->end[i], c->other[i]);
    }
    return 1;
}

/* The record of a vertex that this change may touch as well, since it is here and nothing else is about to;
 * or NULL: then its owner is told of its edges. */
static struct lbm_vertex *
record_of(const struct plan *plan, uint32_t id)
{
    struct lbm_vertex *vertex = lbm_records_of(plan->job, id);
    int is_free = vertex != NULL && vertex->stage == LBM_STAGE_OWN && vertex->move_to == LBM_NONE &&
                  !lbm_records_is_undecided(plan->node, vertex);
    return is_free ? vertex : NULL;
}

static void
touch(struct plan *plan, uint32_t id)
{
    const struct lbm_vertex *vertex = record_of(plan, id);
    if (lbm_idmap_get(&plan->touched, id) != LBM_NONE)
        return;
    if (lbm_idmap_put(&plan->touched, id, 1) != LBM_OK)
        lbm_core_fail(plan->node, LBM_E_NOMEM);
    if (vertex != NULL)
        plan->bytes += HALF_BYTES * ((size_t)vertex->degree + vertex->n_news) + vertex->payload_len;
    plan->bytes += RECORD_BYTES;
}

/* All that goes to the backup at once fits a message. */
static int
check_size(struct plan *plan)
{
    const Lbm__ChangeRequest *c = plan->change;
    plan->bytes = c->payload.len + EDGE_BYTES * c->n_end;
    for (size_t i = 0; i < c->n_vertex && plan->node->failed == LBM_OK; i++) {
        touch(plan, c->vertex[i]);
        const struct lbm_vertex *vertex = c->removed[i] ? lbm_records_of(plan->job, c->vertex[i]) : NULL;
        for (uint32_t k = 0; vertex != NULL && k < vertex->degree; k++)
            if (record_of(plan, vertex->half[k].to) != NULL)
                touch(plan, vertex->half[k].to);
    }
    for (size_t i = 0; i < c->n_end && plan->node->failed == LBM_OK; i++) {
        const struct lbm_vertex *other = record_of(plan, c->other[i]), *end = record_of(plan, c->end[i]);
        if (other != NULL)
            touch(plan, c->other[i]);
        /* All edges of the change might be this vertex's. */
        if ((other != NULL && other->degree + c->n_end > LBM_DEGREE_MAX) ||
            (end != NULL && end->degree + c->n_end > LBM_DEGREE_MAX))
            return REFUSE(plan, LBM_E_LIMIT,
                          "vertex %" PRIu32 " or %" PRIu32 " would have more than %d neighbours", c->end[i],
                          c->other[i], LBM_DEGREE_MAX);
    }
    if (plan->touched.n > LBM_CHANGE_RECORDS_MAX || plan->bytes > LBM_CHANGE_BYTES_MAX)
        return REFUSE(plan, LBM_E_LIMIT,
                      "the change touches %zu vertices with %zu kB; at most %d with %u kB can change at once",
                      plan->touched.n, plan->bytes >> 10, LBM_CHANGE_RECORDS_MAX, LBM_CHANGE_BYTES_MAX >> 10);
    return plan->node->failed == LBM_OK;
}

/* ---- carrying it out ----------------------------------------------------------------------------------- */

/* The record has changed: it is stored with the others, once. */
static void
list(struct plan *plan, const struct lbm_vertex *vertex)
{
    if (lbm_idmap_get(&plan->touched, vertex->id) == LBM_NONE)
        return;
    lbm_idmap_remove(&plan->touched, vertex->id);
    if (lbm_vec_push(&plan->slots, (uint32_t)(vertex - plan->job->shard.vertices.at)) != LBM_OK)
        lbm_core_fail(plan->node, LBM_E_NOMEM);
}

static void
add(struct plan *plan, size_t i)
{
    const Lbm__ChangeRequest *c = plan->change;
    const struct lbm_vertex *near = lbm_records_of(plan->job, c->near[i]);
    struct lbm_row row = {.job = plan->job->id,
                          .vertex = c->vertex[i],
                          .epoch = lbm_transition_epoch(LBM_TRANSITION_BEGIN, 0),
                          .stage = LBM_STAGE_OWN,
                          .peer = LBM_NONE,
                          .work = c->work[i],
                          .pin = LBM_NONE,
                          .position = {near->x[0], near->x[1], near->x[2]},
                          .source = LBM_NONE,
                          .fin = 1,
                          .payload_len = c->payload_len[i]};
    lbm_idmap_remove(&plan->job->new_ids, c->vertex[i]);
    if (row.payload_len != 0)
        row.payload = lbm_copy(c->payload.data + plan->payload_at[i], row.payload_len, 1);
    row.half = lbm_alloc(0, sizeof *row.half);
    if ((row.payload_len != 0 && row.payload == NULL) || row.half == NULL ||
        lbm_shard_put(&plan->job->shard, &row) != LBM_OK) {
        lbm_row_free(&row);
        lbm_core_fail(plan->node, LBM_E_NOMEM);
    }
}

/* One end of an edge. */
static void
set_end(struct plan *plan, struct lbm_vertex *vertex, uint32_t to, uint32_t weight)
{
    if (lbm_application_edge_set(plan->job, vertex, to, weight, lbm_shard_where(&plan->job->shard, to)) !=
        LBM_OK)
        lbm_core_fail(plan->node, LBM_E_NOMEM);
    list(plan, vertex);
}

/* The other end: here, or wherever it is. */
static void
set_other_end(struct plan *plan, struct lbm_vertex *vertex, uint32_t to, uint32_t weight, uint32_t hint)
{
    struct lbm_vertex *other = record_of(plan, to);
    uint32_t host = lbm_shard_where(&plan->job->shard, to);
    if (other != NULL) {
        set_end(plan, other, vertex->id, weight);
        lbm_application_edge_agreed(other, vertex->id);
        lbm_application_edge_agreed(vertex, to);
    } else if (lbm_application_edge_note(vertex, to, weight, host != LBM_NONE ? host : hint) != LBM_OK) {
        lbm_core_fail(plan->node, LBM_E_NOMEM);
    }
}

static void
set_edge(struct plan *plan, size_t i)
{
    const Lbm__ChangeRequest *c = plan->change;
    struct lbm_vertex *vertex = lbm_records_of(plan->job, c->end[i]);
    uint32_t at = lbm_application_edge_find(vertex, c->other[i]);
    uint32_t hint = at != LBM_NONE ? vertex->half[at].host : LBM_NONE;
    if (at == LBM_NONE && c->weight[i] == 0)
        return; /* there is none */
    set_end(plan, vertex, c->other[i], c->weight[i]);
    set_other_end(plan, vertex, c->other[i], c->weight[i], hint);
}

/* A vertex that stays, or is new: its work and its payload. */
static void
keep(struct plan *plan, size_t i)
{
    const Lbm__ChangeRequest *c = plan->change;
    struct lbm_vertex *vertex = lbm_records_of(plan->job, c->vertex[i]);
    if (c->work[i] != 0 && c->token[i] != 0) {
        lbm_shard_set_work(&plan->job->shard, vertex, c->work[i]);
        vertex->reported = 0;
    }
    if (!c->keeps[i] && c->token[i] != 0) {
        uint8_t *payload = c->payload_len[i] != 0
                               ? lbm_copy(c->payload.data + plan->payload_at[i], c->payload_len[i], 1)
                               : NULL;
        if (c->payload_len[i] != 0 && payload == NULL)
            lbm_core_fail(plan->node, LBM_E_NOMEM);
        free(vertex->payload);
        vertex->payload = payload;
        vertex->payload_len = payload != NULL ? c->payload_len[i] : 0;
        vertex->is_blob = 0;
    }
    list(plan, vertex);
}

static void
take_away(struct plan *plan, size_t i)
{
    struct lbm_vertex *vertex = lbm_records_of(plan->job, plan->change->vertex[i]);
    for (uint32_t k = 0; k < vertex->degree && plan->node->failed == LBM_OK; k++) {
        const struct lbm_half half = vertex->half[k];
        set_other_end(plan, vertex, half.to, 0, half.host);
    }
    lbm_records_removed(plan->node, plan->job, vertex);
    list(plan, vertex);
}

static void
carry_out(struct plan *plan)
{
    const Lbm__ChangeRequest *c = plan->change;
    struct lbm_node *node = plan->node;
    for (size_t i = 0; i < c->n_vertex && node->failed == LBM_OK; i++)
        if (c->token[i] == 0)
            add(plan, i);
    for (size_t i = 0; i < c->n_end && node->failed == LBM_OK; i++)
        set_edge(plan, i);
    for (size_t i = 0; i < c->n_vertex && node->failed == LBM_OK; i++)
        if (c->removed[i])
            take_away(plan, i);
    for (size_t i = 0; i < c->n_vertex && node->failed == LBM_OK; i++)
        if (!c->removed[i])
            keep(plan, i);
    if (node->failed == LBM_OK)
        lbm_records_change_together(node, plan->job, plan->slots.at, plan->slots.n);
    lbm_exchange_load_drifts(node, plan->job);
    plan->job->rounds.has_changed = 1;
    if (c->n_end != 0)
        lbm_migration_throttle_look_again(node, plan->job);
    uint64_t seq = LBM_BUG(CHANGE_UNACKED) ? 0 : node->replication.seq;
    const struct checkpoint waiting = {plan->client, plan->request, seq};
    if (lbm_vec_push(&node->checkpoints, waiting) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

void
lbm_application_change(struct lbm_node *node, uint64_t client, uint64_t request,
                       const Lbm__ChangeRequest *change)
{
    struct plan plan = {.node = node,
                        .job = lbm_local_application_job(node, client),
                        .client = client,
                        .request = request,
                        .change = change};
    if (plan.job == NULL) {
        lbm_core_reply_error(node, client, request, LBM_E_STATE, "no job is served by this connection");
        return;
    }
    if (!lbm_local_lease_is_of(node, change->term)) {
        lbm_core_reply_error(node, client, request, LBM_E_STATE,
                             "the lease was over: what the application had is lost");
        return;
    }
    if (plan.job->phase < LBM_PHASE_MAPPING || !lbm_local_lease_holds(node)) {
        lbm_core_reply_error(node, client, request, LBM_E_BUSY,
                             "the job is not mapped yet, or there is no lease: try again");
        return;
    }
    plan.payload_at = lbm_alloc(change->n_vertex, sizeof *plan.payload_at);
    if (plan.payload_at == NULL)
        lbm_core_fail(node, LBM_E_NOMEM);
    else if (check_vertices(&plan) && check_edges(&plan) && check_size(&plan))
        carry_out(&plan);
    free(plan.payload_at);
    lbm_idmap_free(&plan.row);
    lbm_idmap_free(&plan.touched);
    lbm_vec_free(&plan.slots);
}
