/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ghosts: what hosts must know of one another's boundary vertices. Stale, late, lost and repeated
 * batches are harmless (HEI97 section 7): the newest epoch and stamp win, changes alone are told when they
 * happen, and everything is told again from time to time. */
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/mapping/internal.h"
#include "node/mapping/mapping.h"
#include "node/records/records.h"

/* Rows of one message: about 40 bytes each. */
enum { GHOST_ROWS_MAX = 16384 };

struct batch {
    uint32_t host;
    LBM_VEC(uint32_t) vertex, work, toward;
    LBM_VEC(uint64_t) epoch;
    LBM_VEC(double) position;
};

static void
send_batch(struct lbm_node *node, const struct job *job, struct batch *batch)
{
    Lbm__Ghosts ghosts = LBM__GHOSTS__INIT;
    ghosts.job = job->id;
    ghosts.stamp = (uint64_t)node->now_us;
    ghosts.n_vertex = ghosts.n_epoch = ghosts.n_work = ghosts.n_toward = batch->vertex.n;
    ghosts.vertex = batch->vertex.at;
    ghosts.epoch = batch->epoch.at;
    ghosts.work = batch->work.at;
    ghosts.toward = batch->toward.at;
    ghosts.n_position = batch->position.n;
    ghosts.position = batch->position.at;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_GHOSTS;
    message.ghosts = &ghosts;
    if (batch->vertex.n != 0)
        lbm_core_send_stored_lossy(node, batch->host, &message);
    batch->vertex.n = batch->work.n = batch->toward.n = batch->epoch.n = batch->position.n = 0;
}

static void
add_row(struct lbm_node *node, const struct job *job, struct batch *batch, uint32_t row, uint32_t toward)
{
    const struct lbm_patch *patch = &job->shard.patch;
    const struct lbm_vertex *vertex = &job->shard.vertices.at[patch->vertex[row]];
    if (batch->vertex.n == GHOST_ROWS_MAX)
        send_batch(node, job, batch);
    enum lbm_err err = lbm_vec_push(&batch->vertex, vertex->id);
    err |= lbm_vec_push(&batch->epoch, vertex->epoch);
    err |= lbm_vec_push(&batch->work, vertex->work);
    err |= lbm_vec_push(&batch->toward, toward);
    for (unsigned k = 0; k < job->shard.m; k++)
        err |= lbm_vec_push(&batch->position, patch->x[(size_t)row * job->shard.m + k]);
    if (err != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

typedef LBM_VEC(struct batch) batch_list;

static struct batch *
batch_for(struct lbm_node *node, batch_list *batches, struct lbm_idmap *by_host, uint32_t host)
{
    uint32_t at = lbm_idmap_get(by_host, host);
    if (at != LBM_NONE)
        return &batches->at[at];
    struct batch batch = {.host = host};
    if (lbm_vec_push(batches, batch) != LBM_OK ||
        lbm_idmap_put(by_host, host, (uint32_t)batches->n - 1) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return NULL;
    }
    return &batches->at[batches->n - 1];
}

/* ---- owners -------------------------------------------------------------------------------------------- */

void
lbm_mapping_ghosts_tell_moved(struct lbm_node *node, uint64_t job, uint32_t to, size_t n, uint32_t *vertex,
                              uint64_t *epoch, uint32_t *host)
{
    Lbm__Moved moved = LBM__MOVED__INIT;
    moved.job = job;
    moved.n_vertex = moved.n_epoch = moved.n_host = n;
    moved.vertex = vertex;
    moved.epoch = epoch;
    moved.host = host;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_MOVED;
    message.moved = &moved;
    lbm_core_send_stored_lossy(node, to, &message);
}

/* What is told of the owners of vertices. */
struct owners {
    LBM_VEC(uint32_t) vertex, host;
    LBM_VEC(uint64_t) epoch;
};

static void
add_owner(struct lbm_node *node, struct owners *owners, uint32_t vertex, uint64_t epoch, uint32_t host)
{
    enum lbm_err err = lbm_vec_push(&owners->vertex, vertex);
    err |= lbm_vec_push(&owners->epoch, epoch);
    err |= lbm_vec_push(&owners->host, host);
    if (err != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

static void
tell_owners(struct lbm_node *node, uint64_t job, uint32_t to, struct owners *owners)
{
    if (owners->vertex.n != 0 && node->failed == LBM_OK)
        lbm_mapping_ghosts_tell_moved(node, job, to, owners->vertex.n, owners->vertex.at, owners->epoch.at,
                                      owners->host.at);
    lbm_vec_free(&owners->vertex);
    lbm_vec_free(&owners->host);
    lbm_vec_free(&owners->epoch);
}

/* Where a vertex of a finished record has gone, if that is known. */
static void
add_gone(struct lbm_node *node, struct owners *owners, const struct lbm_vertex *vertex)
{
    uint32_t host = lbm_records_moved_to(node, vertex);
    add_owner(node, owners, vertex->id, host != LBM_NONE ? vertex->epoch + 1 : 0, host);
}

static int
compare_askers(const void *a, const void *b)
{
    const struct asker *x = a, *y = b;
    return x->host != y->host ? (x->host > y->host) - (x->host < y->host)
                              : (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

/* Those who took vertices to be here that were on their way hear where they have gone once they have: else
 * hosts that were given neighbours at once would each have told a third one of theirs, and no other. */
static void
answer_askers(struct lbm_node *node, struct job *job)
{
    const struct asker *asker = job->askers.at;
    size_t n = job->askers.n, kept = 0;
    if (n != 0)
        qsort(job->askers.at, n, sizeof *asker, compare_askers);
    for (size_t i = 0; i < n;) {
        struct owners gone = {0};
        uint32_t host = asker[i].host, before = LBM_NONE;
        for (; i < n && asker[i].host == host; i++) {
            const struct lbm_vertex *vertex =
                asker[i].vertex != before ? lbm_records_of(job, asker[i].vertex) : NULL;
            before = asker[i].vertex;
            if (vertex != NULL && vertex->stage == LBM_STAGE_OUT)
                job->askers.at[kept++] = asker[i];
            else if (vertex != NULL && vertex->stage == LBM_STAGE_MOV)
                add_gone(node, &gone, vertex);
        }
        tell_owners(node, job->id, host, &gone);
    }
    job->askers.n = kept;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static int64_t
again_us(const struct job *job)
{
    return job->ghosts_all_us + (job->phase == LBM_PHASE_SETTLED ? GHOSTS_SETTLED_US : GHOSTS_AGAIN_US);
}

static void
all_is_told(struct lbm_shard *shard)
{
    for (size_t i = 0; i < shard->vertices.n; i++)
        shard->vertices.at[i].untold = 0;
    for (size_t i = 0; i < shard->ghosts.n; i++)
        shard->ghosts.at[i].unaware = 0;
}

/* Whom to tell of the neighbours of a vertex elsewhere: its host, or who took over from that. LBM_NONE:
 * nobody that this host knows of, or nobody yet (*is_lost 0). */
static uint32_t
teller_to(const struct lbm_node *node, const struct lbm_ghost *ghost, int *is_lost)
{
    const struct lbm_member *member =
        ghost->host != LBM_NONE ? lbm_view_member(&node->view, ghost->host) : NULL;
    uint32_t successor = LBM_NONE;
    uint64_t incarnation;
    *is_lost = member == NULL;
    if (member == NULL || lbm_view_participates(member))
        return ghost->host != node->host ? ghost->host : LBM_NONE;
    int known = lbm_view_successor(&node->view, member->host, member->incarnation, &successor, &incarnation);
    *is_lost = known && (successor == LBM_NONE || successor == node->host);
    return known && successor != node->host ? successor : LBM_NONE;
}

/* Where neighbours are of which nobody is known to know. In: the patch is valid. */
static void
ask_for_lost(struct lbm_node *node, struct job *job)
{
    const struct lbm_patch *patch = &job->shard.patch;
    LBM_VEC(uint32_t) lost = {0};
    for (uint32_t i = 0; i < patch->n_ghosts && node->failed == LBM_OK; i++) {
        int is_lost;
        const struct lbm_ghost *ghost = &job->shard.ghosts.at[patch->ghost[i]];
        (void)teller_to(node, ghost, &is_lost);
        if (is_lost && lbm_vec_push(&lost, ghost->id) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
    }
    if (node->failed == LBM_OK)
        lbm_mapping_ghosts_ask(node, job, lost.n, lost.at);
    lbm_vec_free(&lost);
}

/* The changes, or everything if that is due. */
static void
ghosts_send(struct lbm_node *node, struct job *job)
{
    answer_askers(node, job);
    int all = job->ghosts_due == GHOSTS_ALL || node->now_us >= again_us(job);
    job->ghosts_us = node->now_us;
    job->ghosts_all_us = all ? node->now_us : job->ghosts_all_us;
    job->ghosts_due = GHOSTS_NONE;
    job->ghosts_largest = 0;
    job->ghosts_rows = 0;
    struct lbm_shard *shard = &job->shard;
    if (lbm_shard_patch(shard) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    const struct lbm_patch *patch = &shard->patch;
    batch_list batches = {0};
    struct lbm_idmap by_host = {0};
    for (uint32_t row = 0; row < patch->g.n && node->failed == LBM_OK; row++)
        for (uint64_t e = patch->g.offset[row]; e < patch->g.offset[row + 1]; e++) {
            if (patch->g.target[e] < patch->g.n)
                continue;
            const struct lbm_ghost *ghost = &shard->ghosts.at[patch->ghost[patch->g.target[e] - patch->g.n]];
            int is_news = shard->vertices.at[patch->vertex[row]].untold || ghost->unaware, is_lost;
            if (!all && !is_news)
                continue;
            uint32_t host = teller_to(node, ghost, &is_lost);
            if (host == LBM_NONE)
                continue;
            struct batch *batch = batch_for(node, &batches, &by_host, host);
            job->ghosts_rows++;
            if (batch != NULL)
                add_row(node, job, batch, row, ghost->id);
        }
    for (size_t i = 0; i < batches.n; i++) {
        struct batch *batch = &batches.at[i];
        send_batch(node, job, batch);
        lbm_vec_free(&batch->vertex);
        lbm_vec_free(&batch->work);
        lbm_vec_free(&batch->toward);
        lbm_vec_free(&batch->epoch);
        lbm_vec_free(&batch->position);
    }
    if (all)
        ask_for_lost(node, job);
    lbm_vec_free(&batches);
    lbm_idmap_free(&by_host);
    all_is_told(shard);
}

/* Ghosts go by a patch that is made again after every change of owners: a large one less often. Where most
 * edges lead elsewhere there are many to tell, and hosts that told them as often as they can would do nothing
 * else. */
static int64_t
soon_us(const struct job *job)
{
    int is_slow = !job->shard.patch.valid && job->shard.n_own > GHOSTS_ROWS_FAST;
    int64_t rows = is_slow && job->shard.n_own > job->ghosts_rows ? job->shard.n_own : job->ghosts_rows;
    return rows * GHOSTS_ROW_US > GHOSTS_SOON_US ? rows * GHOSTS_ROW_US : GHOSTS_SOON_US;
}

int64_t
lbm_mapping_ghosts_deadline(const struct job *job)
{
    if (job->ghosts_due)
        return job->ghosts_us + soon_us(job);
    return again_us(job);
}

void
lbm_mapping_ghosts_timer(struct lbm_node *node, struct job *job)
{
    if (job->phase < LBM_PHASE_MAPPING)
        return;
    if (node->now_us >= lbm_mapping_ghosts_deadline(job))
        ghosts_send(node, job);
}

void
lbm_mapping_on_ghosts(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Ghosts *ghosts = message->ghosts;
    struct job *job = lbm_local_job(node, ghosts->job);
    if (job == NULL || ghosts->n_position != ghosts->n_vertex * job->shard.m)
        return;
    struct owners gone = {0};
    for (size_t i = 0; i < ghosts->n_vertex; i++) {
        const struct lbm_vertex *toward = lbm_records_of(job, ghosts->toward[i]);
        if (toward != NULL && lbm_shard_expect(&job->shard, ghosts->vertex[i], toward) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
        if (lbm_local_is_epoch_within_reach(node, message->src, job, ghosts->epoch[i]) &&
            lbm_shard_learn(&job->shard, ghosts->vertex[i], message->src, ghosts->epoch[i], ghosts->stamp,
                            ghosts->work[i], &ghosts->position[i * job->shard.m]))
            lbm_local_ghosts_due(job, GHOSTS_CHANGES); /* it is somewhere new and may not know our side */
        const struct asker asker = {.vertex = ghosts->toward[i], .host = message->src};
        if (toward == NULL)
            add_owner(node, &gone, ghosts->toward[i], 0, LBM_NONE);
        else if (toward->stage == LBM_STAGE_MOV || toward->stage == LBM_STAGE_REF)
            add_gone(node, &gone, toward);
        else if (toward->stage == LBM_STAGE_OUT && lbm_vec_push(&job->askers, asker) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
    }
    tell_owners(node, ghosts->job, message->src, &gone);
}

/* The sender knows nothing of these any more, and we have nobody else to ask: everybody, but seldom. */
void
lbm_mapping_ghosts_ask(struct lbm_node *node, struct job *job, size_t n, uint32_t *vertex)
{
    if (n == 0 || node->now_us < job->where_us)
        return;
    int64_t wait_us = (int64_t)node->view.members.n * WHERE_EACH_US;
    job->where_us = node->now_us + (wait_us < WHERE_US ? wait_us : WHERE_US);
    Lbm__Where where = LBM__WHERE__INIT;
    where.job = job->id;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_WHERE;
    message.where = &where;
    for (size_t at = 0; at < n; at += where.n_vertex) {
        where.n_vertex = n - at < LBM_BATCH_VERTICES_MAX ? n - at : LBM_BATCH_VERTICES_MAX;
        where.vertex = vertex + at;
        for (size_t i = 0; i < node->view.members.n; i++)
            if (node->view.members.at[i].host != node->host &&
                lbm_view_participates(&node->view.members.at[i]))
                lbm_core_send_lossy(node, node->view.members.at[i].host, &message);
    }
}

void
lbm_mapping_on_moved(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Moved *moved = message->moved;
    struct job *job = lbm_local_job(node, moved->job);
    LBM_VEC(uint32_t) lost = {0};
    for (size_t i = 0; job != NULL && i < moved->n_vertex; i++) {
        const struct lbm_ghost *ghost = lbm_shard_ghost(&job->shard, moved->vertex[i]);
        node->raise->application_edges_learn(job, moved->vertex[i], moved->host[i], message->src);
        if (moved->host[i] == LBM_NONE) {
            if (ghost != NULL && ghost->host == message->src && lbm_vec_push(&lost, ghost->id) != LBM_OK)
                lbm_core_fail(node, LBM_E_NOMEM);
        } else if (lbm_local_is_epoch_within_reach(node, message->src, job, moved->epoch[i]) &&
                   lbm_shard_learn(&job->shard, moved->vertex[i], moved->host[i], moved->epoch[i], 0, 0,
                                   NULL)) {
            lbm_local_ghosts_due(job, GHOSTS_CHANGES);
        }
    }
    if (job != NULL && node->failed == LBM_OK)
        lbm_mapping_ghosts_ask(node, job, lost.n, lost.at);
    lbm_vec_free(&lost);
}

void
lbm_mapping_on_where(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Where *where = message->where;
    struct job *job = lbm_local_job(node, where->job);
    struct owners here = {0};
    for (size_t i = 0; job != NULL && i < where->n_vertex; i++) {
        const struct lbm_vertex *own = lbm_records_of(job, where->vertex[i]);
        /* Records here say so. */
        int was_removed = own != NULL && own->stage == LBM_STAGE_MOV && own->peer == LBM_NONE;
        if (own != NULL && (own->stage == LBM_STAGE_OWN || own->stage == LBM_STAGE_OUT || was_removed))
            add_owner(node, &here, own->id, own->epoch, node->host);
    }
    tell_owners(node, where->job, message->src, &here);
}
