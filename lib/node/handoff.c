/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handoff of vertices (PROTOCOL section 4, without replication): OWN -> OUT, OFFER, OWN at the target,
 * ACK, MOV, FIN. Every answer leaves only after the record behind it is durable, so a crash at any
 * moment loses nothing and owns nothing twice. */
#include <stdlib.h>
#include <string.h>

#include "node/internal.h"

int
handoff_begin(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint32_t to)
{
    const struct lbm_member *target = lbm_view_member(&node->view, to);
    if (vertex->stage != LBM_STAGE_OWN || to == node->host || target == NULL ||
        target->state != LBM_MEMBER_ACTIVE)
        return 0;
    if (vertex->pin != LBM_NONE && vertex->pin != to)
        return 0;
    if (vertex->offered_us != 0 && node->now_us - vertex->offered_us < REFUSED_US)
        return 0;
    uint32_t slot = (uint32_t)(vertex - job->shard.vertices.at);
    if (lbm_vec_push(&job->out, slot) != LBM_OK ||
        lbm_shard_set_stage(&job->shard, vertex, LBM_STAGE_OUT, vertex->epoch, to, target->incarnation) !=
            LBM_OK) {
        fail(node, LBM_E_NOMEM);
        return 0;
    }
    vertex->offered_us = 0;
    persist_vertex(node, job, vertex);
    return 1;
}

static void
send_offer(struct lbm_node *node, struct job *job, uint32_t to, struct columns *columns)
{
    if (columns->vertex.n == 0)
        return;
    Lbm__Offer offer = LBM__OFFER__INIT;
    offer.job = job->id;
    columns_message(columns);
    offer.records = &columns->message;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_OFFER;
    message.offer = &offer;
    send_peer(node, to, &message);
    columns_free(columns);
    columns_init(columns);
}

/* Bytes a record may take in a message, generously. */
static size_t
record_bytes(const struct lbm_vertex *vertex)
{
    return 64 + 16 * (size_t)vertex->degree;
}

/* Offer to one host every vertex that is OUT to it and was not offered within the retry time. */
static void
offer_to(struct lbm_node *node, struct job *job, uint32_t to)
{
    struct columns columns;
    columns_init(&columns);
    size_t bytes = 0;
    for (size_t i = 0; i < job->out.n && node->failed == LBM_OK; i++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[job->out.at[i]];
        if (vertex->stage != LBM_STAGE_OUT || vertex->peer != to)
            continue;
        if (vertex->offered_us != 0 && node->now_us - vertex->offered_us < OFFER_RETRY_US)
            continue;
        vertex->offered_us = node->now_us;
        bytes += record_bytes(vertex);
        if (columns.vertex.n == LBM_BATCH_VERTICES_MAX ||
            (bytes > LBM_BATCH_BYTES_MAX && columns.vertex.n != 0)) {
            send_offer(node, job, to, &columns);
            bytes = record_bytes(vertex);
        }
        columns_add(node, &columns, job, vertex, vertex->epoch + 1, 1);
    }
    send_offer(node, job, to, &columns);
    columns_free(&columns);
}

void
handoff_offer(struct lbm_node *node, struct job *job)
{
    size_t kept = 0;
    for (size_t i = 0; i < job->out.n; i++)
        if (job->shard.vertices.at[job->out.at[i]].stage == LBM_STAGE_OUT)
            job->out.at[kept++] = job->out.at[i];
    job->out.n = kept;
    job->offers_us = kept == 0 ? INT64_MAX : node->now_us + OFFER_RETRY_US;
    for (size_t i = 0; i < node->view.members.n && kept != 0; i++)
        if (node->view.members.at[i].host != node->host)
            offer_to(node, job, node->view.members.at[i].host);
}

void
handoff_timer(struct lbm_node *node, struct job *job)
{
    if (node->now_us >= job->offers_us)
        handoff_offer(node, job);
}

/* Vertices out to a host, of all that are out. */
static uint32_t
outstanding(const struct job *job, uint32_t to)
{
    uint32_t n = 0;
    for (size_t i = 0; i < job->out.n; i++) {
        const struct lbm_vertex *vertex = &job->shard.vertices.at[job->out.at[i]];
        n += vertex->stage == LBM_STAGE_OUT && vertex->peer == to;
    }
    return n;
}

uint32_t
handoff_pump(struct lbm_node *node, struct job *job)
{
    const uint32_t window = HANDOFF_BATCHES * LBM_BATCH_VERTICES_MAX;
    size_t n_members = node->view.members.n, n = job->shard.vertices.n;
    uint32_t *room = lbm_alloc(LBM_HOSTS_MAX, sizeof *room);
    if (room == NULL) {
        fail(node, LBM_E_NOMEM);
        return 0;
    }
    uint64_t total = 0;
    for (size_t i = 0; i < n_members; i++) {
        uint32_t host = node->view.members.at[i].host, busy = outstanding(job, host);
        room[host] = busy < window ? window - busy : 0;
        total += host != node->host ? room[host] : 0;
    }
    uint32_t waiting = 0, begun = 0;
    size_t looked = 0;
    /* Without any room this only counts who waits. */
    for (; looked < n && (begun < total || total == 0) && node->failed == LBM_OK; looked++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[(job->pump_at + looked) % n];
        if (vertex->stage != LBM_STAGE_OWN || vertex->wish == LBM_NONE || vertex->wish == node->host)
            continue;
        uint32_t to = vertex->wish;
        if (to < LBM_HOSTS_MAX && room[to] != 0 && handoff_begin(node, job, vertex, to)) {
            room[to]--;
            begun++;
        } else {
            waiting++;
        }
    }
    if (n != 0)
        job->pump_at = (uint32_t)((job->pump_at + looked) % n);
    waiting += looked < n; /* there may be more */
    free(room);
    if (begun != 0)
        handoff_offer(node, job);
    return waiting;
}

/* ---- the target's side -------------------------------------------------------------------------------- */

static enum lbm_err
row_of(const Lbm__Offer *offer, size_t i, size_t halves_at, unsigned m, struct lbm_row *row)
{
    const Lbm__Records *r = offer->records;
    *row = (struct lbm_row){.job = offer->job,
                            .vertex = r->vertex[i],
                            .epoch = r->epoch[i],
                            .stage = LBM_STAGE_OWN,
                            .peer = LBM_NONE,
                            .work = r->work[i],
                            .pin = r->pin[i],
                            .anchored = r->anchored[i] != 0,
                            .degree = r->degree[i],
                            .half = lbm_alloc(r->degree[i], sizeof *row->half)};
    if (row->half == NULL)
        return LBM_E_NOMEM;
    memcpy(row->position, &r->position[i * m], m * sizeof(double));
    for (uint32_t k = 0; k < row->degree; k++)
        row->half[k] = (struct lbm_half){r->neighbour[halves_at + k], r->weight[halves_at + k],
                                         r->neighbour_host[halves_at + k]};
    return LBM_OK;
}

/* Take or refuse one offered vertex. Refusing keeps a record too: the offer may come again. */
static void
accept_one(struct lbm_node *node, struct job *job, const Lbm__Offer *offer, size_t i, size_t halves_at)
{
    struct lbm_row row;
    if (row_of(offer, i, halves_at, job->shard.m, &row) != LBM_OK) {
        fail(node, LBM_E_NOMEM);
        return;
    }
    if (node->vertices_max != 0 && job->shard.n_own >= node->vertices_max) {
        free(row.half);
        row.half = NULL;
        row.degree = 0;
        row.stage = LBM_STAGE_REF;
    }
    if (lbm_shard_put(&job->shard, &row) != LBM_OK) {
        free(row.half);
        fail(node, LBM_E_NOMEM);
        return;
    }
    persist_vertex(node, job, lbm_shard_vertex(&job->shard, offer->records->vertex[i]));
    job->ghosts_due = 1;
}

/* Records must fit this guest: nothing a peer sends may name a vertex that cannot exist. */
static int
fits_guest(const struct lbm_job_entry *entry, const Lbm__Records *r, unsigned m)
{
    if (r->n_degree != r->n_vertex || r->n_position != r->n_vertex * m)
        return 0;
    for (size_t i = 0; i < r->n_vertex; i++)
        if (r->vertex[i] >= entry->vertices || r->epoch[i] < 2)
            return 0;
    for (size_t k = 0; k < r->n_neighbour; k++)
        if (r->neighbour[k] >= entry->vertices)
            return 0;
    return 1;
}

void
on_offer(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Offer *offer = message->offer;
    const Lbm__Records *r = offer->records;
    struct job *job = job_of(node, offer->job);
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, offer->job);
    if (job == NULL || entry == NULL || !fits_guest(entry, r, job->shard.m))
        return; /* not known yet: the offer comes again */
    uint32_t *refused = lbm_alloc(r->n_vertex, sizeof *refused);
    if (refused == NULL) {
        fail(node, LBM_E_NOMEM);
        return;
    }
    size_t halves_at = 0;
    for (size_t i = 0; i < r->n_vertex && node->failed == LBM_OK; halves_at += r->degree[i++]) {
        const struct lbm_vertex *own = lbm_shard_vertex(&job->shard, r->vertex[i]);
        if (own == NULL || own->epoch < r->epoch[i])
            accept_one(node, job, offer, i, halves_at);
        own = lbm_shard_vertex(&job->shard, r->vertex[i]);
        refused[i] = own != NULL && own->stage == LBM_STAGE_REF && own->epoch == r->epoch[i];
        if (refused[i])
            session_arrived(node, job, r->vertex[i]); /* there will be no FIN */
    }
    Lbm__Answer answer = LBM__ANSWER__INIT;
    answer.job = offer->job;
    answer.n_vertex = answer.n_epoch = answer.n_refused = r->n_vertex;
    answer.vertex = r->vertex;
    answer.epoch = r->epoch;
    answer.refused = refused;
    Lbm__Peer out = LBM__PEER__INIT;
    out.body_case = LBM__PEER__BODY_ANSWER;
    out.answer = &answer;
    if (node->failed == LBM_OK)
        send_peer(node, message->src, &out);
    free(refused);
}

/* ---- the source's side -------------------------------------------------------------------------------- */

/* One answered vertex: nonzero if FIN is due. */
static int
settle_one(struct lbm_node *node, struct job *job, uint32_t id, uint64_t epoch, int refused)
{
    struct lbm_vertex *vertex = lbm_shard_vertex(&job->shard, id);
    if (vertex == NULL || vertex->epoch + 1 != epoch)
        return 0;
    if (vertex->stage == LBM_STAGE_MOV)
        return 1; /* the answer came twice, or FIN was lost */
    if (vertex->stage != LBM_STAGE_OUT)
        return 0;
    int in_session = vertex->in_session;
    vertex->in_session = 0;
    enum lbm_err err =
        refused ? lbm_shard_set_stage(&job->shard, vertex, LBM_STAGE_OWN, vertex->epoch + 2, LBM_NONE, 0)
                : lbm_shard_set_stage(&job->shard, vertex, LBM_STAGE_MOV, vertex->epoch, vertex->peer,
                                      vertex->peer_incarnation);
    if (err != LBM_OK) {
        fail(node, err);
        return 0;
    }
    vertex->offered_us = refused ? node->now_us : 0;
    persist_vertex(node, job, vertex);
    job->ghosts_due = 1;
    if (!refused) {
        job->moved++;
        node->n_handoffs++;
    }
    if (in_session)
        session_left(node, job);
    return !refused;
}

void
on_answer(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Answer *answer = message->answer;
    struct job *job = job_of(node, answer->job);
    if (job == NULL)
        return;
    LBM_VEC(uint32_t) vertex = {0};
    LBM_VEC(uint64_t) epoch = {0};
    for (size_t i = 0; i < answer->n_vertex && node->failed == LBM_OK; i++)
        if (settle_one(node, job, answer->vertex[i], answer->epoch[i], answer->refused[i] != 0) &&
            (lbm_vec_push(&vertex, answer->vertex[i]) != LBM_OK ||
             lbm_vec_push(&epoch, answer->epoch[i]) != LBM_OK))
            fail(node, LBM_E_NOMEM);
    if (vertex.n != 0 && node->failed == LBM_OK) {
        Lbm__Fin fin = LBM__FIN__INIT;
        fin.job = answer->job;
        fin.n_vertex = fin.n_epoch = vertex.n;
        fin.vertex = vertex.at;
        fin.epoch = epoch.at;
        Lbm__Peer out = LBM__PEER__INIT;
        out.body_case = LBM__PEER__BODY_FIN;
        out.fin = &fin;
        send_peer(node, message->src, &out);
    }
    lbm_vec_free(&vertex);
    lbm_vec_free(&epoch);
    if (job->phase == LBM_PHASE_PLACED && job->tick_us != INT64_MAX)
        job->tick_us = node->now_us; /* there is room for more */
}

void
on_fin(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Fin *fin = message->fin;
    struct job *job = job_of(node, fin->job);
    for (size_t i = 0; job != NULL && i < fin->n_vertex; i++)
        session_arrived(node, job, fin->vertex[i]);
}
