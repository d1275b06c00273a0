/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handoff of vertices (protocol.md section 6): OWN -> OUT, OFFER, OWN at the target, ACK, MOV, FIN. Nothing
 * is said of a record before the backup has it exactly so: whatever host is lost at whatever moment, the
 * vertex is owned once. */
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/membership/membership.h"
#include "node/migration/internal.h"
#include "node/migration/migration.h"
#include "node/records/blobs.h"
#include "node/records/record_batch.h"
#include "node/records/records.h"

enum { OFFER_BYTES_MAX = 16 << 20 /* to one host at a time */ };

/* ---- what is due --------------------------------------------------------------------------------------- */

static int
goes_with(const struct due *a, const struct due *b)
{
    return a->kind == b->kind && a->job == b->job && a->to == b->to && a->retargeted == b->retargeted;
}

/* Bytes a record may take in a message, generously. */
static size_t
record_bytes(const struct lbm_vertex *vertex)
{
    return 96 + 16 * (size_t)vertex->degree + vertex->payload_len;
}

/* Why the vertices of a batch go. */
struct reasons {
    size_t n, n_known;
    uint32_t reason[LBM_BATCH_VERTICES_MAX], is_known[LBM_BATCH_VERTICES_MAX];
    double gain[LBM_BATCH_VERTICES_MAX];
};

static void
add_reason(struct lbm_node *node, struct reasons *reasons, const struct job *job,
           const struct lbm_vertex *vertex)
{
    const struct why why = lbm_migration_move_sent(node, job, vertex);
    reasons->reason[reasons->n] = (uint32_t)why.reason;
    reasons->is_known[reasons->n] = why.gain_is_known != 0;
    reasons->gain[reasons->n++] = why.gain;
    reasons->n_known += why.gain_is_known != 0;
}

static void
send_offer(struct lbm_node *node, const struct due *first, struct columns *columns, struct reasons *reasons)
{
    Lbm__Offer offer = LBM__OFFER__INIT;
    offer.n_reason = offer.n_gain_is_known = reasons->n;
    offer.reason = reasons->reason;
    offer.gain_is_known = reasons->is_known;
    offer.n_gain = reasons->n_known != 0 ? reasons->n : 0;
    offer.gain = reasons->gain;
    offer.job = first->job;
    offer.retargeted = first->retargeted != 0;
    lbm_records_batch_message(columns);
    offer.records = &columns->message;
    Lbm__Peer message = LBM__PEER__INIT;
    message.body_case = LBM__PEER__BODY_OFFER;
    message.offer = &offer;
    if (columns->vertex.n != 0 && node->failed == LBM_OK)
        lbm_core_send(node, first->to, &message);
    lbm_records_batch_free(columns);
    lbm_records_batch_init(columns);
    reasons->n = reasons->n_known = 0;
}

/* What is too much for one connection at a time is offered again with the next repetition. */
static void
send_offers(struct lbm_node *node, struct job *job, const struct due *list, size_t n)
{
    struct columns columns;
    struct reasons reasons = {0};
    size_t bytes = 0, sent = 0;
    lbm_records_batch_init(&columns);
    for (size_t i = 0; i < n && sent <= OFFER_BYTES_MAX && node->failed == LBM_OK; i++) {
        const struct lbm_vertex *vertex = lbm_records_of(job, list[i].vertex);
        if (vertex == NULL || vertex->stage != LBM_STAGE_OUT || vertex->epoch + 1 != list[i].epoch)
            continue;
        bytes += record_bytes(vertex);
        if (columns.vertex.n == LBM_BATCH_VERTICES_MAX ||
            (bytes > LBM_BATCH_BYTES_MAX && columns.vertex.n != 0)) {
            send_offer(node, list, &columns, &reasons);
            sent += bytes - record_bytes(vertex);
            bytes = record_bytes(vertex);
        }
        lbm_records_batch_add(node, &columns, job, vertex, list[i].epoch, COLUMNS_WHOLE);
        add_reason(node, &reasons, job, vertex);
    }
    send_offer(node, list, &columns, &reasons);
    lbm_records_batch_free(&columns);
}

/* Up to one batch of answers or of FIN. */
static void
send_words(struct lbm_node *node, const struct due *list, size_t n)
{
    uint32_t vertex[LBM_BATCH_VERTICES_MAX], refused[LBM_BATCH_VERTICES_MAX];
    uint64_t epoch[LBM_BATCH_VERTICES_MAX];
    LBM_ASSERT(n <= LBM_BATCH_VERTICES_MAX);
    for (size_t i = 0; i < n; i++) {
        vertex[i] = list[i].vertex;
        epoch[i] = list[i].epoch;
        refused[i] = list[i].kind == DUE_REFUSE;
    }
    Lbm__Peer message = LBM__PEER__INIT;
    Lbm__Answer answer = LBM__ANSWER__INIT;
    Lbm__Fin fin = LBM__FIN__INIT;
    if (list->kind == DUE_FIN) {
        fin.job = list->job;
        fin.n_vertex = fin.n_epoch = n;
        fin.vertex = vertex;
        fin.epoch = epoch;
        message.body_case = LBM__PEER__BODY_FIN;
        message.fin = &fin;
    } else {
        answer.job = list->job;
        answer.n_vertex = answer.n_epoch = answer.n_refused = n;
        answer.vertex = vertex;
        answer.epoch = epoch;
        answer.refused = refused;
        message.body_case = LBM__PEER__BODY_ANSWER;
        message.answer = &answer;
    }
    lbm_core_send(node, list->to, &message);
}

/* Everything that became due in this step, in batches by what and to whom, each in the order it came. */
void
lbm_migration_flush(struct lbm_node *node)
{
    LBM_VEC(struct due) batch = {0};
    while (node->due.n != 0 && node->failed == LBM_OK) {
        struct due first = node->due.at[0];
        size_t kept = 0;
        batch.n = 0;
        for (size_t i = 0; i < node->due.n && node->failed == LBM_OK; i++) {
            if (!goes_with(&node->due.at[i], &first))
                node->due.at[kept++] = node->due.at[i];
            else if (lbm_vec_push(&batch, node->due.at[i]) != LBM_OK)
                lbm_core_fail(node, LBM_E_NOMEM);
        }
        node->due.n = kept;
        if (node->failed != LBM_OK)
            break;
        struct job *job = lbm_local_job(node, first.job);
        if (first.kind == DUE_OFFER && job != NULL)
            send_offers(node, job, batch.at, batch.n);
        for (size_t at = 0; first.kind != DUE_OFFER && at < batch.n; at += LBM_BATCH_VERTICES_MAX)
            send_words(node, &batch.at[at],
                       batch.n - at < LBM_BATCH_VERTICES_MAX ? batch.n - at : LBM_BATCH_VERTICES_MAX);
    }
    lbm_vec_free(&batch);
}

/* ---- the source's side --------------------------------------------------------------------------------- */

/* The member that a vertex may be handed to, or NULL: it is not ACTIVE, or the vertex is pinned elsewhere. */
static const struct lbm_member *
target_for(const struct lbm_node *node, const struct lbm_vertex *vertex, uint32_t to)
{
    const struct lbm_member *target = lbm_view_member(&node->view, to);
    const struct lbm_member *pinned =
        vertex->pin != LBM_NONE && vertex->pin != to ? lbm_view_member(&node->view, vertex->pin) : NULL;
    int is_pinned = pinned != NULL && pinned->state == LBM_MEMBER_ACTIVE;
    /* Its source must have finished: a vertex that comes and goes has one unanswered offer at most. */
    int fits = vertex->stage == LBM_STAGE_OWN && vertex->move_to == LBM_NONE && to != node->host &&
               target != NULL && target->state == LBM_MEMBER_ACTIVE && !is_pinned &&
               (vertex->fin || LBM_BUG(MOVE_UNFINISHED)) && vertex->n_news == 0;
    return fits ? target : NULL;
}

int
lbm_migration_begin(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint32_t to,
                    const struct why *why)
{
    const struct lbm_member *target = target_for(node, vertex, to);
    if (target == NULL || lbm_local_is_held(node, job) || !lbm_records_is_acked_but_for_work(node, vertex) ||
        (vertex->offered_us != 0 && node->now_us - vertex->offered_us < REFUSED_US))
        return 0;
    int goes = node->raise->application_release(node, job, vertex, to);
    if (goes || vertex->move_to == to) {
        lbm_migration_move_decided(node, job, vertex, to, why);
        lbm_migration_throttle_charge(node, job, vertex);
    }
    if (!goes)
        return vertex->move_to == to; /* it begins when the application has let go */
    lbm_records_stage(node, job, vertex, LBM_TRANSITION_RELEASE, to, target->incarnation);
    return 1;
}

int
lbm_migration_resume(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, uint32_t to)
{
    const struct lbm_member *target = target_for(node, vertex, to);
    if (target == NULL || lbm_local_is_held(node, job))
        return 0;
    lbm_migration_move_leaves(node, job, vertex);
    lbm_records_stage(node, job, vertex, LBM_TRANSITION_RELEASE, to, target->incarnation);
    return 1;
}

/* The vertex is ours again: its target is gone and never had it, or is this host's own inheritance. */
static void
take_back(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, enum lbm_transition transition)
{
    int in_round = vertex->in_round;
    vertex->in_round = 0;
    lbm_migration_queue_answered(job, vertex);
    lbm_migration_move_ends(node, job, vertex, vertex->peer, LBM_MOVE_TAKEN_BACK);
    lbm_records_stage(node, job, vertex, transition, LBM_NONE, 0);
    if (in_round)
        node->raise->exchange_vertex_left(node, job);
}

/* Offer an OUT vertex to whoever must answer for its target now. */
static void
offer(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex)
{
    const struct lbm_departed *gone = lbm_view_departed(&node->view, vertex->peer, vertex->peer_incarnation);
    uint32_t to = vertex->peer;
    uint64_t incarnation;
    if (gone != NULL) {
        if (!lbm_view_successor(&node->view, vertex->peer, vertex->peer_incarnation, &to, &incarnation))
            return; /* nobody has taken over yet; the target itself may come back */
        if (gone->evicted && gone->successor != to && LBM_BUG(SUCCESSOR_OF_SUCCESSOR_FORGOTTEN))
            to = gone->successor;
        if (to == LBM_NONE) {
            take_back(node, job, vertex, LBM_TRANSITION_TAKE_BACK);
            return;
        }
    }
    if (to == node->host) {
        if (lbm_local_takeovers_done(node) || LBM_BUG(INHERIT_BEFORE_MERGE))
            take_back(node, job, vertex, LBM_TRANSITION_INHERIT);
        return;
    }
    if (!lbm_records_is_acked(node, vertex) && !LBM_BUG(OFFER_UNACKED))
        return;
    if (vertex->offered_us != 0 && lbm_membership_is_behind(node, to))
        return; /* the last offer has not left yet */
    vertex->offered_us = node->now_us;
    struct due due = {.kind = DUE_OFFER,
                      .job = job->id,
                      .to = to,
                      .vertex = vertex->id,
                      .epoch = vertex->epoch + 1,
                      .retargeted = gone != NULL};
    if (lbm_vec_push(&node->due, due) != LBM_OK)
        lbm_core_fail(node, LBM_E_NOMEM);
}

void
lbm_migration_timer(struct lbm_node *node, struct job *job)
{
    if (node->now_us < job->offers_us)
        return;
    size_t kept = 0;
    for (size_t i = 0; i < job->out.n && node->failed == LBM_OK; i++) {
        uint32_t slot = job->out.at[i];
        struct lbm_vertex *vertex = &job->shard.vertices.at[slot];
        if (vertex->stage == LBM_STAGE_OUT &&
            (vertex->offered_us == 0 || node->now_us - vertex->offered_us >= OFFER_RETRY_US))
            offer(node, job, vertex);
        if (vertex->stage == LBM_STAGE_OUT)
            job->out.at[kept++] = slot;
    }
    job->out.n = kept;
    job->offers_us = kept == 0 ? INT64_MAX : node->now_us + OFFER_RETRY_US;
}

void
lbm_migration_view_changed(struct lbm_node *node, struct job *job)
{
    for (size_t i = 0; i < job->out.n; i++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[job->out.at[i]];
        if (lbm_view_departed(&node->view, vertex->peer, vertex->peer_incarnation) != NULL)
            vertex->offered_us = 0;
    }
    if (job->out.n != 0)
        job->offers_us = node->now_us;
}

void
lbm_migration_acked(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex)
{
    if (vertex->n_news != 0)
        lbm_local_edges_soon(node, job);
    switch (vertex->stage) {
    case LBM_STAGE_OWN:
    case LBM_STAGE_REF:
        if (vertex->answer_due) {
            int known;
            vertex->answer_due = 0;
            lbm_migration_due(node, vertex->stage == LBM_STAGE_REF ? DUE_REFUSE : DUE_ACK, job,
                              lbm_migration_completion_source(node, vertex, &known), vertex, vertex->epoch);
            node->raise->exchange_vertex_arrived(node, job, vertex->id);
        }
        if (vertex->fin_due) {
            vertex->fin_due = 0;
            lbm_migration_due(node, DUE_FIN, job, vertex->refuser, vertex, vertex->epoch - 1);
        }
        node->raise->application_ready(node, job);
        break;
    case LBM_STAGE_OUT:
        offer(node, job, vertex);
        break;
    case LBM_STAGE_MOV:
        lbm_migration_due(node, DUE_FIN, job, vertex->peer, vertex, vertex->epoch + 1);
        break;
    case LBM_STAGE_NONE:
    case LBM_STAGE_COUNT:
        break;
    }
}

static void
settle_out(struct lbm_node *node, struct job *job, struct lbm_vertex *vertex, const Lbm__Peer *from,
           int refused)
{
    int in_round = vertex->in_round;
    vertex->in_round = 0;
    lbm_migration_queue_answered(job, vertex);
    lbm_migration_move_ends(node, job, vertex, from->src, refused ? LBM_MOVE_REFUSED : LBM_MOVE_ARRIVED);
    if (refused) {
        lbm_records_stage(node, job, vertex, LBM_TRANSITION_RETURN, LBM_NONE, 0);
        vertex->offered_us = node->now_us;
        vertex->refuser = from->src;
        vertex->fin_due = 1;
    } else {
        lbm_records_stage(node, job, vertex, LBM_TRANSITION_MOVE, from->src, from->src_incarnation);
        job->moved++;
        node->n_handoffs++;
    }
    if (in_round)
        node->raise->exchange_vertex_left(node, job);
}

void
lbm_migration_on_answer(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__Answer *answer = message->answer;
    struct job *job = lbm_local_job(node, answer->job);
    if (job == NULL || node->view.index < message->view)
        return; /* it comes again */
    for (size_t i = 0; i < answer->n_vertex && node->failed == LBM_OK; i++) {
        struct lbm_vertex *vertex = lbm_records_of(job, answer->vertex[i]);
        struct due fin = {DUE_FIN, job->id, message->src, answer->vertex[i], answer->epoch[i], 0};
        if (vertex != NULL && vertex->stage == LBM_STAGE_OUT && vertex->epoch + 1 == answer->epoch[i])
            settle_out(node, job, vertex, message, answer->refused[i] != 0);
        else if (lbm_migration_is_finished(node, job, answer->vertex[i], answer->epoch[i]) &&
                 lbm_vec_push(&node->due, fin) != LBM_OK)
            lbm_core_fail(node, LBM_E_NOMEM);
    }
    if (job->phase == LBM_PHASE_PLACED && job->tick_us != INT64_MAX)
        job->tick_us = node->now_us; /* there is room for more */
    if (job->flow.state == FLOW_TRANSFER && job->flow.tick_us > node->now_us + TRANSFER_SOON_US)
        job->flow.tick_us = node->now_us + TRANSFER_SOON_US;
}

int
lbm_migration_waits(const struct lbm_node *node, const struct job *job)
{
    for (size_t i = 0; job->shard.n_out != 0 && i < job->out.n; i++) {
        const struct lbm_vertex *vertex = &job->shard.vertices.at[job->out.at[i]];
        int is_recent =
            node->now_us - vertex->since_us < EXCLUDE_US; /* its host need not be known to be there */
        if (vertex->stage == LBM_STAGE_OUT && (is_recent || !lbm_membership_is_excluded(node, vertex->peer)))
            return 1;
    }
    return 0;
}

void
lbm_migration_on_blob_have(struct lbm_node *node, const Lbm__Peer *message)
{
    const Lbm__BlobHave *have = message->blob_have;
    const struct lbm_blob_name name = lbm_blobs_name(have->job, &have->digest, have->length);
    struct job *job = lbm_local_job(node, have->job);
    for (size_t i = 0; job != NULL && i < job->out.n; i++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[job->out.at[i]];
        if (vertex->stage != LBM_STAGE_OUT || !lbm_blobs_is_of(vertex, &name))
            continue;
        vertex->offered_us = 0;
        job->offers_us = node->now_us;
    }
}
