/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every change of a vertex record: a higher rank, the next place in the replication log to the backup, stored
 * in the transaction of this step (protocol.md sections 3 and 6). */
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/records/record_packed.h"
#include "node/records/records.h"

struct lbm_vertex *
lbm_records_of(const struct job *job, uint32_t id)
{
    struct lbm_vertex *vertex = lbm_shard_vertex(&job->shard, id);
    return vertex != NULL && vertex->stage != LBM_STAGE_NONE ? vertex : NULL;
}

/* What was inherited of another may say that the vertex was given to this very host, once: that is past. */
uint32_t
lbm_records_moved_to(const struct lbm_node *node, const struct lbm_vertex *vertex)
{
    return vertex->stage == LBM_STAGE_MOV && vertex->peer != node->host ? vertex->peer : LBM_NONE;
}

int
lbm_records_is_acked(const struct lbm_node *node, const struct lbm_vertex *vertex)
{
    return lbm_local_is_alone(node) || vertex->seq <= node->replication.acked;
}

/* What a vertex costs is no reason to keep it: the record that says OUT tells it too, and nothing is offered
 * before the backup has that. */
int
lbm_records_is_acked_but_for_work(const struct lbm_node *node, const struct lbm_vertex *vertex)
{
    return lbm_records_is_acked(node, vertex) || vertex->seq == vertex->worked;
}

static int
is_tombstone(const struct lbm_vertex *vertex)
{
    return vertex->stage == LBM_STAGE_MOV || vertex->stage == LBM_STAGE_REF;
}

/* Lists may name a slot twice, or one that has changed since: whoever goes through one looks. */
static void
list(struct lbm_node *node, void *array, uint32_t slot)
{
    LBM_VEC(uint32_t) *slots = array;
    if (lbm_vec_push(slots, slot) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

void
lbm_records_list(struct lbm_node *node, struct job *job, uint32_t slot)
{
    struct lbm_vertex *vertex = &job->shard.vertices.at[slot];
    if (vertex->stage == LBM_STAGE_OWN && vertex->destination != LBM_NONE)
        lbm_local_queue_changed(job);
    if (vertex->stage == LBM_STAGE_OUT) {
        list(node, &job->out, slot);
        job->offers_us = node->now_us;
    }
    if (!vertex->fin) {
        if (!vertex->is_unfinished)
            list(node, &job->unfinished, slot);
        vertex->is_unfinished = 1;
        if (job->finish_us == INT64_MAX)
            job->finish_us = node->now_us + FIN_RETRY_US;
    }
    if (vertex->n_news != 0) {
        if (!vertex->news_listed)
            list(node, &job->news, slot);
        vertex->news_listed = 1;
        lbm_local_edges_soon(node, job);
    }
    if (is_tombstone(vertex)) {
        list(node, &job->tombstones, slot);
        int64_t collect_us = node->now_us + lbm_records_completion_timeout_us(node, job);
        job->collect_us = collect_us < job->collect_us ? collect_us : job->collect_us;
    }
}

int
lbm_records_is_undecided(const struct lbm_node *node, const struct lbm_vertex *vertex)
{
    return vertex->shares && !lbm_records_is_acked(node, vertex);
}

/* The record stands as it shall be stored, with that number: send it on its way, store it. */
static void
store(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint64_t seq)
{
    vertex->seq = seq;
    node->raise->replication_push(node, vertex->seq, job->id, vertex->id);
    lbm_records_persist_vertex(node, job, vertex);
    lbm_records_list(node, job, (uint32_t)(vertex - job->shard.vertices.at));
    vertex->untold = 1;
    lbm_local_ghosts_due(job, GHOSTS_CHANGES);
}

/* No backup has the content that the record has now. */
static void
uncover(struct lbm_vertex *vertex)
{
    memset(vertex->covered, 0, sizeof vertex->covered);
}

static void
changed(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex)
{
    LBM_ASSERT(!lbm_records_is_undecided(node, vertex)); /* or its backup would get a part of a change */
    vertex->shares = 0;
    store(node, job, vertex, ++node->replication.seq);
}

void
lbm_records_change_together(struct lbm_node *node, struct job *job, const uint32_t *slots, size_t n)
{
    uint64_t seq = ++node->replication.seq;
    for (size_t i = 0; i < n && node->failed == LBM_OK; i++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[slots[i]];
        LBM_ASSERT(!lbm_records_is_undecided(node, vertex));
        vertex->shares = n > 1;
        vertex->worked = 0;
        uncover(vertex);
        vertex->news_stamp = seq;
        vertex->news_us = 0;
        vertex->news_told = 0;
        vertex->news_asked = 0;
        store(node, job, vertex, seq);
    }
}

void
lbm_records_removed(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex)
{
    const struct lbm_transition_rule *rule = &lbm_transition_rules[LBM_TRANSITION_REMOVE];
    LBM_ASSERT(lbm_transition_allows(LBM_TRANSITION_REMOVE, vertex->stage) && vertex->fin);
    uint64_t epoch = lbm_transition_epoch(LBM_TRANSITION_REMOVE, vertex->epoch);
    if (lbm_shard_set_stage(&job->shard, vertex, rule->to, epoch, LBM_NONE, 0) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    vertex->running = 0;
    vertex->since_us = node->now_us;
    vertex->offered_us = 0;
    uncover(vertex);
}

void
lbm_records_news(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex)
{
    changed(node, job, vertex);
}

void
lbm_records_content(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex)
{
    uncover(vertex);
    changed(node, job, vertex);
}

struct lbm_vertex *
lbm_records_put(struct lbm_node *node, struct job *job, struct lbm_row *row, enum lbm_transition transition)
{
    const struct lbm_transition_rule *rule = &lbm_transition_rules[transition];
    struct lbm_vertex *before = lbm_records_of(job, row->vertex);
    uint32_t id = row->vertex;
    LBM_ASSERT(rule->base == LBM_EPOCH_OFFER || rule->base == LBM_EPOCH_REPLICA);
    LBM_ASSERT(lbm_transition_allows(transition, before != NULL ? before->stage : LBM_STAGE_NONE));
    row->stage = rule->to;
    row->epoch = lbm_transition_epoch(transition, row->epoch);
    if (before != NULL)
        node->raise->replication_covered(node,
                                         before); /* the old record goes; the new one counts by itself */
    if (lbm_shard_put(&job->shard, row) != LBM_OK) {
        lbm_row_free(row);
        lbm_core_fail(node, LBM_E_NOMEM);
        return NULL;
    }
    struct lbm_vertex *vertex = lbm_shard_vertex(&job->shard, id);
    vertex->since_us = node->now_us;
    changed(node, job, vertex);
    return vertex;
}

void
lbm_records_stage(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex,
                  enum lbm_transition transition, uint32_t peer, uint64_t peer_incarnation)
{
    const struct lbm_transition_rule *rule = &lbm_transition_rules[transition];
    LBM_ASSERT(rule->base == LBM_EPOCH_SELF && lbm_transition_allows(transition, vertex->stage));
    if (lbm_shard_set_stage(&job->shard, vertex, rule->to, lbm_transition_epoch(transition, vertex->epoch),
                            peer, peer_incarnation) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    vertex->since_us = node->now_us;
    vertex->move_to = LBM_NONE;
    vertex->offered_us = 0;
    if (is_tombstone(vertex))
        uncover(vertex); /* the backup drops the content too */
    changed(node, job, vertex);
}

void
lbm_records_payload(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint8_t *payload,
                    uint32_t len, int is_blob)
{
    LBM_ASSERT(vertex->stage == LBM_STAGE_OWN);
    free(vertex->payload);
    vertex->payload = payload;
    vertex->payload_len = len;
    vertex->is_blob = is_blob != 0;
    uncover(vertex);
    changed(node, job, vertex);
}

void
lbm_records_work(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint32_t work)
{
    int may_move = lbm_records_is_acked_but_for_work(node, vertex);
    lbm_shard_set_work(&job->shard, vertex, work);
    changed(node, job, vertex);
    vertex->worked = may_move ? vertex->seq : 0;
    job->rounds.has_changed = 1;
}

void
lbm_records_forget(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex)
{
    LBM_ASSERT(lbm_transition_allows(LBM_TRANSITION_COLLECT, vertex->stage));
    struct lbm_persist_op op = {.kind = LBM_PERSIST_ROW_DELETE, .job = job->id};
    op.as.gone.vertex = vertex->id;
    op.as.gone.seq = ++node->replication.seq;
    node->raise->replication_push(node, node->replication.seq, job->id, vertex->id);
    lbm_core_persist(node, op);
    uint64_t seq = node->replication.seq;
    node->raise->replication_covered(node, vertex);
    lbm_shard_forget(&job->shard, vertex);
    vertex->seq = seq;
}

void
lbm_records_drop_job(struct lbm_node *node, uint64_t job)
{
    struct lbm_persist_op op = {.kind = LBM_PERSIST_ROW_DELETE, .job = job};
    op.as.gone.vertex = LBM_NONE;
    op.as.gone.seq = ++node->replication.seq;
    lbm_core_persist(node, op);
    node->raise->replication_push(node, node->replication.seq, job, LBM_NONE);
}

void
lbm_records_persist_vertex(struct lbm_node *node, struct job *job, const struct lbm_vertex *vertex)
{
    struct lbm_persist_op op = {.kind = LBM_PERSIST_ROW, .job = job->id};
    enum lbm_err err = lbm_shard_row(&job->shard, job->id, vertex, &op.as.row);
    if (err != LBM_OK)
        lbm_core_fail(node, err);
    else
        lbm_core_persist(node, op);
}

/* That many finished records are more than have to stay for long. */
size_t
lbm_records_excess(const struct job *job)
{
    size_t few = job->shard.n_own / 4 + TOMBSTONES_FEW;
    return job->tombstones.n > few ? job->tombstones.n - few : 0;
}

int64_t
lbm_records_completion_timeout_us(const struct lbm_node *node, const struct job *job)
{
    return lbm_records_excess(job) != 0 && node->tombstone_us > TOMBSTONE_LEAST_US ? TOMBSTONE_LEAST_US
                                                                                   : node->tombstone_us;
}

/* ---- copies of others ---------------------------------------------------------------------------------- */

static const struct replica *
copy_of(const struct lbm_node *node, uint32_t owner, uint64_t incarnation)
{
    for (size_t i = 0; i < node->replicas.n; i++)
        if (node->replicas.at[i]->owner == owner && node->replicas.at[i]->incarnation == incarnation)
            return node->replicas.at[i];
    return NULL;
}

int
lbm_records_has_copy(const struct lbm_node *node, uint32_t owner, uint64_t incarnation)
{
    return copy_of(node, owner, incarnation) != NULL;
}

int
lbm_records_copy_owns(const struct lbm_node *node, uint32_t owner, uint64_t incarnation, uint64_t job,
                      uint32_t vertex)
{
    const struct replica *replica = copy_of(node, owner, incarnation);
    for (size_t j = 0; replica != NULL && j < replica->jobs.n; j++) {
        const struct replica_job *held = &replica->jobs.at[j];
        uint32_t at = held->job == job ? lbm_idmap_get(&held->index, vertex) : LBM_NONE;
        enum lbm_stage stage =
            at != LBM_NONE ? lbm_records_packed_head(held->rows.at[at]).stage : LBM_STAGE_MOV;
        if (stage == LBM_STAGE_OWN || stage == LBM_STAGE_OUT)
            return 1;
    }
    return 0;
}
